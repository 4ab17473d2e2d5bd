//! The sample, made ready for any query: merged, brought to whole masses, reduced to the columns it needs.

use super::cloud::{Bounds, Cloud, Plane};
use super::cones::{self, Purse, rotation};
use super::exact::{Exact, Span};
use super::high_dimension::{self, Frame};
use super::plane::Fan;
use super::search::{self, Sky, scale_to_unit};
use crate::data::{Mass, Reference};
use crate::numerics::linalg::{dot, norm};

/// What all queries of a halfspace depth share.
#[derive(Debug, Clone)]
pub struct Sample {
    /// A power of two for every column, which brings its largest number to about 1: exact.
    scale: Vec<f64>,
    /// Distinct points in lexicographic order, all columns.
    points: Vec<f64>,
    masses: Vec<u64>,
    total: u64,
    /// Which point every row of the reference is; rows without weight are none.
    origin: Vec<Option<u32>>,
    weights: Vec<f64>,
    mass: Mass,
    /// How far rounding to whole masses moves a depth at most.
    rounding: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    span: Span,
    /// Columns in which the points differ as much as in all.
    columns: Vec<usize>,
    /// The points in these columns.
    narrow: Vec<f64>,
    /// One direction a row, in which the sample is round.
    frame: Vec<f64>,
    /// In many columns: the points in the frame, measured from their mean, one coordinate after the other,
    turned: Vec<f64>,
    /// and the largest sum of the sizes of the terms of a coordinate.
    reach: Vec<f64>,
    mean: Vec<f64>,
    /// In two columns: one after the other.
    flat: Vec<f64>,
    /// In one column: the mass up to and including every point.
    below: Vec<u64>,
}

/// Scratch memory of one worker.
#[derive(Default)]
pub(super) struct Bench {
    fan: Fan,
    exact: Exact,
    cloud: Cloud,
}

/// One query's answer.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) lower: u64,
    pub(super) upper: u64,
    /// In the columns of the reference.
    pub(super) direction: Vec<f64>,
    pub(super) spent: u64,
}

impl Sample {
    pub(super) fn new(reference: &Reference) -> Self {
        let (rows, d) = (reference.rows(), reference.width());
        let scale: Vec<f64> = (0..d)
            .map(|k| {
                let largest = rows.iter().fold(0.0f64, |m, x| m.max(x[k].abs()));
                if largest > 1e-290 { 2f64.powi(-exponent(largest)) } else { 1.0 }
            })
            .collect();
        let scaled: Vec<f64> =
            rows.iter().flat_map(|x| x.iter().zip(&scale).map(|(x, s)| x * s + 0.0)).collect();
        let row = |i: usize| &scaled[i * d..(i + 1) * d];
        let (units, total, rounding) = whole_masses(reference);

        let mut order: Vec<usize> = (0..reference.len()).filter(|&i| units[i] > 0).collect();
        let compare = |i: usize, j: usize| {
            let pairs = row(i).iter().zip(row(j));
            pairs.map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        };
        order.sort_by(|&i, &j| compare(i, j));
        let (mut points, mut masses) = (Vec::<f64>::new(), Vec::<u64>::new());
        let mut origin = vec![None; reference.len()];
        for &i in &order {
            let same = points.len() >= d && points[points.len() - d..] == *row(i);
            if !same {
                points.extend_from_slice(row(i));
                masses.push(0);
            }
            let last = masses.len() - 1;
            masses[last] += units[i];
            origin[i] = u32::try_from(last).ok();
        }
        let each = || points.chunks_exact(d);
        let low = (0..d).map(|k| each().fold(f64::INFINITY, |m, x| m.min(x[k]))).collect();
        let high = (0..d).map(|k| each().fold(f64::NEG_INFINITY, |m, x| m.max(x[k]))).collect();
        let span = Span::new(each().skip(1), &points[..d]);
        let columns = span.columns();
        let narrow: Vec<f64> = each().flat_map(|x| columns.iter().map(|&k| x[k])).collect();
        let (frame, mean) = round_frame(&narrow, &masses, columns.len());
        let (turned, reach) = turn(&narrow, &frame, &mean);
        let flat = match columns.len() {
            2 => [0, 1].into_iter().flat_map(|k| narrow.iter().skip(k).step_by(2).copied()).collect(),
            _ => Vec::new(),
        };
        let mut sum = 0;
        let below = masses
            .iter()
            .map(|m| {
                sum += m;
                sum
            })
            .collect();
        Self {
            scale,
            points,
            masses,
            total,
            origin,
            weights: reference.weights().to_vec(),
            mass: reference.mass(),
            rounding,
            low,
            high,
            span,
            columns,
            narrow,
            frame,
            turned,
            reach,
            mean,
            flat,
            below,
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn rounding(&self) -> f64 {
        self.rounding
    }

    fn width(&self) -> usize {
        self.scale.len()
    }

    /// The least mass of a closed halfspace that holds the query.
    pub(super) fn solve(
        &self,
        query: &[f64],
        enough: u64,
        purse: &mut Purse<'_>,
        bench: &mut Bench,
    ) -> Answer {
        let z: Vec<f64> = query.iter().zip(&self.scale).map(|(z, s)| z * s + 0.0).collect();
        let d = self.width();
        // Beyond the sample in one column: nothing to search.
        if let Some(k) = (0..d).find(|&k| z[k] < self.low[k] || z[k] > self.high[k]) {
            let mut direction = vec![0.0; d];
            direction[k] = if z[k] > self.high[k] { 1.0 } else { -1.0 };
            return Answer { lower: 0, upper: 0, direction, spent: 1 };
        }
        let (columns, bounds, here) = match self.span.outside(&z) {
            Some(column) => self.beside(&z, column, purse),
            None if self.columns.is_empty() => (Vec::new(), Bounds::default(), self.total),
            None if self.columns.len() == 1 => self.on_a_line(z[self.columns[0]]),
            None if self.columns.len() == 2 => {
                purse.spent += 8 * self.masses.len() as u64;
                let n = self.masses.len();
                let plane = Plane {
                    columns: [&self.flat[..n], &self.flat[n..]],
                    masses: &self.masses,
                    stretch: self.frame[0],
                };
                let z = [z[self.columns[0]], z[self.columns[1]]];
                let (bounds, here) = plane.least(z, &mut bench.fan, &mut bench.exact);
                (self.columns.clone(), bounds, here)
            }
            None => self.within(&z, enough, purse, bench),
        };
        let mut direction = vec![0.0; d];
        for (&k, u) in columns.iter().zip(&bounds.direction) {
            direction[k] = u * self.scale[k];
        }
        if direction.iter().all(|u| *u == 0.0) {
            direction[0] = 1.0;
        }
        let (lower, upper) = (bounds.lower + here, bounds.upper + here);
        Answer { lower, upper, direction, spent: purse.spent.max(1) }
    }

    /// The distinct points of a sample with two columns.
    pub(super) fn in_the_plane(&self) -> Vec<[f64; 2]> {
        self.points.chunks_exact(2).map(|p| [p[0], p[1]]).collect()
    }

    /// The masses of the distinct points.
    pub(super) fn masses(&self) -> &[u64] {
        &self.masses
    }

    /// Which distinct point every row of the reference is.
    pub(super) fn origin(&self) -> &[Option<u32>] {
        &self.origin
    }

    /// The power of two that every column was scaled by.
    pub(super) fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// One column: the points are sorted.
    fn on_a_line(&self, z: f64) -> (Vec<usize>, Bounds, u64) {
        let at = |i: usize| self.narrow[i];
        let (mut first, mut end) = (0, self.masses.len());
        let smaller = {
            let (mut low, mut high) = (first, end);
            while low < high {
                let middle = low.midpoint(high);
                if at(middle) < z { low = middle + 1 } else { high = middle }
            }
            low
        };
        first = smaller;
        end = if first < end && at(first) == z { first + 1 } else { first };
        let up_to = |i: usize| if i == 0 { 0 } else { self.below[i - 1] };
        let (below, here, above) = (up_to(first), up_to(end) - up_to(first), self.total - up_to(end));
        let (mass, u) = if above <= below { (above, 1.0) } else { (below, -1.0) };
        (self.columns.clone(), Bounds { lower: mass, upper: mass, direction: vec![u] }, here)
    }

    /// Off the span of the sample: one more column, and a depth of 0.
    fn beside(&self, z: &[f64], column: usize, purse: &mut Purse<'_>) -> (Vec<usize>, Bounds, u64) {
        let d = self.width();
        let mut columns = self.columns.clone();
        columns.push(column);
        columns.sort_unstable();
        let all = Cloud { dim: d, x: Vec::new(), z: z.to_vec(), masses: self.masses.clone() };
        let cloud = Cloud { x: self.points.clone(), ..all }.part(0..self.masses.len(), &columns);
        let (n, r) = (cloud.len(), cloud.dim);
        let y = |i: usize, k: usize| cloud.point(i)[k] - cloud.z[k];
        let sizes: Vec<f64> = (0..r)
            .map(|k| (0..n).fold(0.0f64, |m, i| m.max(y(i, k).abs())))
            .map(|size| if size > 0.0 { 1.0 / size } else { 1.0 })
            .collect();
        let columns_of = (0..r * n).map(|at| y(at % n, at / n) * sizes[at / n]).collect();
        let sky = Sky { len: n, dim: r, columns: columns_of };
        let mut bounds = high_dimension::solve(
            &cloud,
            sky,
            &vec![4.0 * f64::EPSILON; n],
            &Frame::Diagonal(&sizes),
            0,
            purse,
        );
        // The direction may be out of reach of floating-point numbers; that there is one is proven.
        (bounds.lower, bounds.upper) = (0, 0);
        (columns, bounds, 0)
    }

    fn within(
        &self,
        z: &[f64],
        enough: u64,
        purse: &mut Purse<'_>,
        bench: &mut Bench,
    ) -> (Vec<usize>, Bounds, u64) {
        let r = self.columns.len();
        let cloud = &mut bench.cloud;
        cloud.dim = r;
        cloud.z.clear();
        cloud.z.extend(self.columns.iter().map(|&k| z[k]));
        cloud.x.clear();
        cloud.masses.clear();
        let mut here = 0;
        let mut here_rows = Vec::new();
        for (i, (x, &mass)) in self.narrow.chunks_exact(r).zip(&self.masses).enumerate() {
            if x == cloud.z {
                here += mass;
                here_rows.push(i);
            } else {
                cloud.x.extend_from_slice(x);
                cloud.masses.push(mass);
            }
        }
        let bounds = if r <= cones::WIDEST {
            cones::solve(cloud, &self.frame, enough, purse)
        } else {
            let (sky, blur) = self.sky(cloud, &here_rows, purse);
            high_dimension::solve(cloud, sky, &blur, &Frame::Full(&self.frame), enough, purse)
        };
        (self.columns.clone(), bounds, here)
    }

    /// The differences in the frame, one coordinate after the other, and how far each may be off.
    fn sky(&self, cloud: &Cloud, left_out: &[usize], purse: &mut Purse<'_>) -> (Sky, Vec<f64>) {
        let (n, r, all) = (cloud.len(), cloud.dim, self.masses.len());
        let z: Vec<f64> = cloud.z.iter().zip(&self.mean).map(|(z, m)| z - m).collect();
        let mut columns = Vec::with_capacity(n * r);
        let mut reach = 0.0f64;
        for (row, turned) in self.frame.chunks_exact(r).zip(self.turned.chunks_exact(all)) {
            let at = dot(row, &z);
            reach = reach.max(row.iter().zip(&z).map(|(b, z)| (b * z).abs()).sum());
            columns.extend(
                turned.iter().enumerate().filter(|(i, _)| !left_out.contains(i)).map(|(_, t)| t - at),
            );
        }
        purse.spent += (r * r + r * n) as u64;
        let rounding = (r as f64 + 4.0) * f64::EPSILON;
        let kept = self.reach.iter().enumerate().filter(|(i, _)| !left_out.contains(i));
        let blur = kept.map(|(_, own)| rounding * (own + reach)).collect();
        (Sky { len: n, dim: r, columns }, blur)
    }

    /// Which rows of the reference lie in the closed halfspace, and the mass of all that do.
    pub(super) fn inside(&self, query: &[f64], direction: &[f64], bench: &mut Bench) -> (Vec<bool>, u64) {
        let z: Vec<f64> = query.iter().zip(&self.scale).map(|(z, s)| z * s + 0.0).collect();
        let u: Vec<f64> = direction.iter().zip(&self.scale).map(|(u, s)| u / s).collect();
        let mut mass = 0;
        let points: Vec<bool> = self
            .points
            .chunks_exact(self.width())
            .zip(&self.masses)
            .map(|(x, m)| {
                let inside = super::cloud::side(&u, x, &z, &mut bench.exact).is_ge();
                mass += if inside { *m } else { 0 };
                inside
            })
            .collect();
        let rows = self.origin.iter().map(|o| o.is_some_and(|i| points[i as usize])).collect();
        (rows, mass)
    }

    /// The direction as a unit vector that attains the depth, and the rows in its halfspace.
    ///
    /// Rounding may have moved it onto a point or beyond: then small pushes are tried.
    pub(super) fn attained(
        &self,
        query: &[f64],
        answer: &Answer,
        bench: &mut Bench,
    ) -> (Vec<f64>, Vec<bool>) {
        let mut u = answer.direction.clone();
        scale_to_unit(&mut u);
        let (mut rows, mut mass) = self.inside(query, &u, bench);
        let d = u.len();
        if mass <= answer.upper || d > 64 {
            return (u, rows);
        }
        let pushes = rotation(d);
        for step in 2..52 {
            for k in 0..2 * d {
                let size = 0.5f64.powi(step) * if k < d { 1.0 } else { -1.0 };
                let push = &pushes[(k % d) * d..(k % d + 1) * d];
                let mut v: Vec<f64> = answer
                    .direction
                    .iter()
                    .zip(push)
                    .zip(&self.scale)
                    .map(|((u, p), s)| u + size * p * s)
                    .collect();
                scale_to_unit(&mut v);
                let (inside, less) = self.inside(query, &v, bench);
                if less < mass {
                    (u, rows, mass) = (v, inside, less);
                }
                if mass <= answer.upper {
                    return (u, rows);
                }
            }
        }
        (u, rows)
    }

    /// The sampling standard error of the mass of a halfspace.
    pub(super) fn standard_error(&self, depth: f64, inside: impl FnOnce() -> Vec<bool>) -> f64 {
        match self.mass {
            Mass::Counts(n) => (depth * (1.0 - depth) / n).sqrt(),
            Mass::Importance => {
                let halves: Vec<f64> = self.weights.iter().map(|w| 0.5 * w).collect();
                let indicator: Vec<f64> = inside().iter().map(|i| f64::from(u8::from(*i))).collect();
                self.mass.standard_error(&indicator, &halves)
            }
        }
    }
}

/// $e$ with $2^e \le |v| < 2^{e+1}$, for a normal number.
fn exponent(value: f64) -> i32 {
    i32::try_from(value.to_bits() >> 52 & 0x7ff).unwrap_or(1023) - 1023
}

/// Weights as whole numbers, their sum, and how far that moves a depth at most.
///
/// Whole-number weights are what they are. Others are rounded to multiples of $2^{-50}$ of their sum, so that sums of
/// them are exact in any order.
fn whole_masses(reference: &Reference) -> (Vec<u64>, u64, f64) {
    let n = reference.len();
    let (unit, counted) = match reference.mass() {
        Mass::Counts(sum) if sum < 2f64.powi(50) => (sum, true),
        _ => (2f64.powi(50), false),
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded, positive, below 2^53"
    )]
    let whole = |w: f64| if w > 0.0 { ((w * unit).round() as u64).max(1) } else { 0 };
    let units: Vec<u64> = reference.weights().iter().map(|&w| whole(w)).collect();
    let total = units.iter().sum();
    (units, total, if counted { 0.0 } else { n as f64 * 2f64.powi(-50) })
}

/// Directions in which the sample has unit variance and no correlation, turned so that no axis is special. In the
/// plane: the power of two that brings the second column to the size of the first.
fn round_frame(narrow: &[f64], masses: &[u64], r: usize) -> (Vec<f64>, Vec<f64>) {
    if r < 2 {
        return (vec![1.0; r], vec![0.0; r]);
    }
    let total: f64 = masses.iter().map(|m| *m as f64).sum();
    let mut mean = vec![0.0; r];
    for (x, m) in narrow.chunks_exact(r).zip(masses) {
        mean.iter_mut().zip(x).for_each(|(s, x)| *s += *m as f64 / total * x);
    }
    let mut sizes = vec![0.0; r];
    for (x, m) in narrow.chunks_exact(r).zip(masses) {
        for k in 0..r {
            sizes[k] += *m as f64 / total * (x[k] - mean[k]) * (x[k] - mean[k]);
        }
    }
    for s in &mut sizes {
        *s = if *s > 0.0 { s.sqrt() } else { 1.0 };
    }
    if r == 2 {
        return (vec![2f64.powi((exponent(sizes[0]) - exponent(sizes[1])).clamp(-1000, 1000))], mean);
    }
    let turn = if r > cones::WIDEST {
        (0..r * r).map(|at| if at / r == at % r { 1.0 } else { 0.0 }).collect()
    } else {
        rotation(r)
    };
    let frame = search::whitening(narrow, masses, &mean, &sizes, &turn);
    // Cones need directions that span the space, exactly.
    let origin = vec![0.0; r];
    if r <= cones::WIDEST && Span::new(frame.chunks_exact(r), &origin).rank() < r {
        let plain = turn.iter().enumerate().map(|(at, v)| v / sizes[at % r]).collect();
        return (plain, mean);
    }
    (frame, mean)
}

/// The points in the frame, measured from their mean; only where there are many columns.
fn turn(narrow: &[f64], frame: &[f64], mean: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let r = mean.len();
    if r <= cones::WIDEST {
        return (Vec::new(), Vec::new());
    }
    let n = narrow.len() / r;
    let centred: Vec<f64> = narrow.iter().enumerate().map(|(at, x)| x - mean[at % r]).collect();
    let mut turned = Vec::with_capacity(n * r);
    let mut longest = 0.0f64;
    for row in frame.chunks_exact(r) {
        longest = longest.max(norm(row));
        turned.extend(centred.chunks_exact(r).map(|x| dot(row, x)));
    }
    // No sum of |bₖ xₖ| is larger, by Cauchy and Schwarz.
    let reach = centred.chunks_exact(r).map(|x| longest * norm(x)).collect();
    (turned, reach)
}
