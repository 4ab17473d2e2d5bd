//! The sample prepared for any query: merged rows, integer masses, only the columns that add to the rank.

use super::circular_sweep::CircularSweep;
use super::cones::{self, generic_rotation};
use super::expansions::ExactPredicates;
use super::great_circle_descent::{UnitVectors, scale_to_unit};
use super::modular_rank::ExactSpan;
use super::simplex_search::{self, CoordinateFrame};
use super::weighted_points::{MassBounds, PlanarPoints, WeightedPoints};
use super::whitening::{exponent, whiten, whitening_frame};
use super::work_budget::WorkBudget;
use crate::data::{Mass, Reference};
use crate::numerics::linalg::dot;
use crate::numerics::whole_part;

/// What all queries of a halfspace depth share.
#[derive(Debug, Clone)]
pub struct PreparedSample {
    /// A power of two for every column, which scales its largest number to about 1 exactly.
    scale: Vec<f64>,
    /// Distinct points in lexicographic order, all columns.
    points: Vec<f64>,
    masses: Vec<u64>,
    total: u64,
    /// The point of every row of the reference; `None` for rows without weight.
    point_of_row: Vec<Option<u32>>,
    weights: Vec<f64>,
    mass: Mass,
    /// A bound on what rounding to integer masses changes in a depth (H3).
    rounding: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    span: ExactSpan,
    /// Columns in which the points have full rank.
    columns: Vec<usize>,
    /// The points in these columns.
    reduced: Vec<f64>,
    /// A frame in which the sample is round, one direction a row.
    frame: Vec<f64>,
    /// In more than two columns: the points in the frame, relative to their mean, one coordinate after the other,
    whitened: Vec<f64>,
    /// and a bound on the sum of the absolute terms of a coordinate, for every point.
    whitened_norms: Vec<f64>,
    mean: Vec<f64>,
    /// In two columns: the first column, then the second.
    planar: Vec<f64>,
    /// In one column: the mass up to and including every point.
    cumulative: Vec<u64>,
}

/// Scratch memory of one worker.
#[derive(Default)]
pub(super) struct HalfspaceScratch {
    sweep: CircularSweep,
    exact: ExactPredicates,
    points: WeightedPoints,
}

/// The interval of one query's depth, as masses.
#[derive(Debug, Clone)]
pub(super) struct DepthInterval {
    pub(super) lower: u64,
    pub(super) upper: u64,
    /// In the columns of the reference.
    pub(super) direction: Vec<f64>,
    pub(super) spent: u64,
}

impl PreparedSample {
    pub(super) fn new(reference: &Reference) -> Self {
        let (rows, d) = (reference.rows(), reference.width());
        let scale: Vec<f64> = (0..d)
            .map(|k| {
                let largest = rows.iter().fold(0.0f64, |m, x| m.max(x[k].abs()));
                // Subnormal numbers only come close to 1.
                if largest > 0.0 { 2f64.powi((-exponent(largest)).min(1000)) } else { 1.0 }
            })
            .collect();
        let scaled: Vec<f64> =
            rows.iter().flat_map(|x| x.iter().zip(&scale).map(|(x, s)| x * s + 0.0)).collect();
        let row = |i: usize| &scaled[i * d..(i + 1) * d];
        let (units, total, rounding) = integer_masses(reference);

        let mut order: Vec<usize> = (0..reference.len()).filter(|&i| units[i] > 0).collect();
        let compare = |i: usize, j: usize| {
            let pairs = row(i).iter().zip(row(j));
            pairs.map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        };
        order.sort_by(|&i, &j| compare(i, j));
        let (mut points, mut masses) = (Vec::<f64>::new(), Vec::<u64>::new());
        let mut point_of_row = vec![None; reference.len()];
        for &i in &order {
            let same = points.len() >= d && points[points.len() - d..] == *row(i);
            if !same {
                points.extend_from_slice(row(i));
                masses.push(0);
            }
            let last = masses.len() - 1;
            masses[last] += units[i];
            point_of_row[i] = u32::try_from(last).ok();
        }
        let each = || points.chunks_exact(d);
        let low = (0..d).map(|k| each().fold(f64::INFINITY, |m, x| m.min(x[k]))).collect();
        let high = (0..d).map(|k| each().fold(f64::NEG_INFINITY, |m, x| m.max(x[k]))).collect();
        let span = ExactSpan::new(each().skip(1), &points[..d]);
        let columns = span.columns();
        let reduced: Vec<f64> = each().flat_map(|x| columns.iter().map(|&k| x[k])).collect();
        let (frame, mean) = whitening_frame(&reduced, &masses, columns.len());
        let (whitened, whitened_norms) = whiten(&reduced, &frame, &mean);
        let planar = match columns.len() {
            2 => [0, 1].into_iter().flat_map(|k| reduced.iter().skip(k).step_by(2).copied()).collect(),
            _ => Vec::new(),
        };
        let cumulative = masses.iter().scan(0, |sum, m| {
            *sum += m;
            Some(*sum)
        });
        let cumulative = cumulative.collect();
        Self {
            scale,
            points,
            masses,
            total,
            point_of_row,
            weights: reference.weights().to_vec(),
            mass: reference.mass(),
            rounding,
            low,
            high,
            span,
            columns,
            reduced,
            frame,
            whitened,
            whitened_norms,
            mean,
            planar,
            cumulative,
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// How many numbers the points have.
    pub(super) fn numbers(&self) -> u64 {
        (self.masses.len() * self.columns.len().max(1)) as u64
    }

    pub(super) fn rounding(&self) -> f64 {
        self.rounding
    }

    fn width(&self) -> usize {
        self.scale.len()
    }

    /// The least mass of a closed halfspace that contains the query.
    pub(super) fn solve(
        &self,
        query: &[f64],
        mass_tol: u64,
        work: &mut WorkBudget<'_>,
        scratch: &mut HalfspaceScratch,
    ) -> DepthInterval {
        let z: Vec<f64> = query.iter().zip(&self.scale).map(|(z, s)| z * s + 0.0).collect();
        let d = self.width();
        // Outside the range of a column: the depth is 0.
        if let Some(k) = (0..d).find(|&k| z[k] < self.low[k] || z[k] > self.high[k]) {
            let mut direction = vec![0.0; d];
            direction[k] = if z[k] > self.high[k] { 1.0 } else { -1.0 };
            return DepthInterval { lower: 0, upper: 0, direction, spent: 1 };
        }
        let (columns, bounds, at_query) = match self.span.outside(&z) {
            Some(column) => self.outside_span(&z, column, work),
            None if self.columns.is_empty() => (Vec::new(), MassBounds::default(), self.total),
            None if self.columns.len() == 1 => self.on_line(z[self.columns[0]]),
            None if self.columns.len() == 2 => {
                work.spent += 8 * self.masses.len() as u64;
                let n = self.masses.len();
                let plane = PlanarPoints {
                    columns: [&self.planar[..n], &self.planar[n..]],
                    masses: &self.masses,
                    column_ratio: self.frame[0],
                };
                let z = [z[self.columns[0]], z[self.columns[1]]];
                let (bounds, at_query) = plane.minimum(z, &mut scratch.sweep, &mut scratch.exact);
                (self.columns.clone(), bounds, at_query)
            }
            None => self.in_span(&z, mass_tol, work, scratch),
        };
        let mut direction = vec![0.0; d];
        for (&k, u) in columns.iter().zip(&bounds.direction) {
            direction[k] = u * self.scale[k];
        }
        if direction.iter().all(|u| *u == 0.0) {
            direction[0] = 1.0;
        }
        let (lower, upper) = (bounds.lower + at_query, bounds.upper + at_query);
        DepthInterval { lower, upper, direction, spent: work.spent.max(1) }
    }

    /// The distinct points of a sample with two columns.
    pub(super) fn planar_points(&self) -> Vec<[f64; 2]> {
        self.points.chunks_exact(2).map(|p| [p[0], p[1]]).collect()
    }

    /// The masses of the distinct points.
    pub(super) fn masses(&self) -> &[u64] {
        &self.masses
    }

    /// Which distinct point every row of the reference is.
    pub(super) fn point_of_row(&self) -> &[Option<u32>] {
        &self.point_of_row
    }

    /// The power of two that every column was scaled by.
    pub(super) fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// One column: a binary search in the sorted points.
    fn on_line(&self, z: f64) -> (Vec<usize>, MassBounds, u64) {
        let first = self.reduced.partition_point(|x| *x < z);
        let end = first + usize::from(self.reduced.get(first) == Some(&z));
        let up_to = |i: usize| if i == 0 { 0 } else { self.cumulative[i - 1] };
        let (below, at_query, above) = (up_to(first), up_to(end) - up_to(first), self.total - up_to(end));
        let (mass, u) = if above <= below { (above, 1.0) } else { (below, -1.0) };
        (self.columns.clone(), MassBounds { lower: mass, upper: mass, direction: vec![u] }, at_query)
    }

    /// Outside the span of the sample the depth is 0; one more column gives a direction.
    fn outside_span(
        &self,
        z: &[f64],
        column: usize,
        work: &mut WorkBudget<'_>,
    ) -> (Vec<usize>, MassBounds, u64) {
        let d = self.width();
        let mut columns = self.columns.clone();
        columns.push(column);
        columns.sort_unstable();
        let all = WeightedPoints { dim: d, x: Vec::new(), z: z.to_vec(), masses: self.masses.clone() };
        let points = WeightedPoints { x: self.points.clone(), ..all }.part(0..self.masses.len(), &columns);
        let (n, r) = (points.len(), points.dim);
        let y = |i: usize, k: usize| points.point(i)[k] - points.z[k];
        let sizes: Vec<f64> = (0..r)
            .map(|k| (0..n).fold(0.0f64, |m, i| m.max(y(i, k).abs())))
            .map(|size| if size > 0.0 { 1.0 / size } else { 1.0 })
            .collect();
        let columns_of = (0..r * n).map(|at| y(at % n, at / n) * sizes[at / n]).collect();
        let vectors = UnitVectors { len: n, dim: r, columns: columns_of };
        let mut bounds = simplex_search::solve(
            &points,
            vectors,
            &vec![4.0 * f64::EPSILON; n],
            &CoordinateFrame::Diagonal(&sizes),
            0,
            work,
        );
        // That a direction exists is proven; it need not be representable.
        (bounds.lower, bounds.upper) = (0, 0);
        (columns, bounds, 0)
    }

    fn in_span(
        &self,
        z: &[f64],
        mass_tol: u64,
        work: &mut WorkBudget<'_>,
        scratch: &mut HalfspaceScratch,
    ) -> (Vec<usize>, MassBounds, u64) {
        let r = self.columns.len();
        let points = &mut scratch.points;
        points.dim = r;
        points.z.clear();
        points.z.extend(self.columns.iter().map(|&k| z[k]));
        points.x.clear();
        points.masses.clear();
        let mut at_query = 0;
        let mut rows_at_query = Vec::new();
        for (i, (x, &mass)) in self.reduced.chunks_exact(r).zip(&self.masses).enumerate() {
            if x == points.z {
                at_query += mass;
                rows_at_query.push(i);
            } else {
                points.x.extend_from_slice(x);
                points.masses.push(mass);
            }
        }
        let bounds = if r <= cones::MAX_CONE_DIMENSION && !work.approximate {
            cones::solve(points, &self.frame, mass_tol, work)
        } else {
            let (vectors, error) = self.difference_vectors(points, &rows_at_query, work);
            simplex_search::solve(
                points,
                vectors,
                &error,
                &CoordinateFrame::Full(&self.frame),
                mass_tol,
                work,
            )
        };
        (self.columns.clone(), bounds, at_query)
    }

    /// The differences in the frame, one coordinate after the other, and bounds on their rounding errors.
    fn difference_vectors(
        &self,
        points: &WeightedPoints,
        left_out: &[usize],
        work: &mut WorkBudget<'_>,
    ) -> (UnitVectors, Vec<f64>) {
        let (n, r, all) = (points.len(), points.dim, self.masses.len());
        let z: Vec<f64> = points.z.iter().zip(&self.mean).map(|(z, m)| z - m).collect();
        let mut columns = Vec::with_capacity(n * r);
        let mut query_norm = 0.0f64;
        for (row, whitened) in self.frame.chunks_exact(r).zip(self.whitened.chunks_exact(all)) {
            let at = dot(row, &z);
            query_norm = query_norm.max(row.iter().zip(&z).map(|(b, z)| (b * z).abs()).sum());
            columns.extend(
                whitened.iter().enumerate().filter(|(i, _)| !left_out.contains(i)).map(|(_, t)| t - at),
            );
        }
        work.spent += (r * r + r * n) as u64;
        let rounding = (r as f64 + 4.0) * f64::EPSILON;
        let kept = self.whitened_norms.iter().enumerate().filter(|(i, _)| !left_out.contains(i));
        let error = kept.map(|(_, own)| rounding * (own + query_norm)).collect();
        (UnitVectors { len: n, dim: r, columns }, error)
    }

    /// The rows of the reference in the closed halfspace, and their mass.
    pub(super) fn inside(
        &self,
        query: &[f64],
        direction: &[f64],
        scratch: &mut HalfspaceScratch,
    ) -> (Vec<bool>, u64) {
        let z: Vec<f64> = query.iter().zip(&self.scale).map(|(z, s)| z * s + 0.0).collect();
        let u: Vec<f64> = direction.iter().zip(&self.scale).map(|(u, s)| u / s).collect();
        let mut mass = 0;
        let points: Vec<bool> = self
            .points
            .chunks_exact(self.width())
            .zip(&self.masses)
            .map(|(x, m)| {
                let inside = super::weighted_points::side(&u, x, &z, &mut scratch.exact).is_ge();
                mass += if inside { *m } else { 0 };
                inside
            })
            .collect();
        let rows = self.point_of_row.iter().map(|o| o.is_some_and(|i| points[i as usize])).collect();
        (rows, mass)
    }

    /// The direction as a unit vector that attains the depth, and the rows in its halfspace.
    ///
    /// Rounding may have moved it onto or past a point: then small perturbations are tried.
    pub(super) fn attained(
        &self,
        query: &[f64],
        interval: &DepthInterval,
        scratch: &mut HalfspaceScratch,
    ) -> (Vec<f64>, Vec<bool>) {
        let mut u = interval.direction.clone();
        scale_to_unit(&mut u);
        let (mut rows, mut mass) = self.inside(query, &u, scratch);
        let d = u.len();
        if mass <= interval.upper || d > 64 {
            return (u, rows);
        }
        let perturbations = generic_rotation(d);
        for step in 2..52 {
            for k in 0..2 * d {
                let size = 0.5f64.powi(step) * if k < d { 1.0 } else { -1.0 };
                let perturbation = &perturbations[(k % d) * d..(k % d + 1) * d];
                let mut v: Vec<f64> = interval
                    .direction
                    .iter()
                    .zip(perturbation)
                    .zip(&self.scale)
                    .map(|((u, p), s)| u + size * p * s)
                    .collect();
                scale_to_unit(&mut v);
                let (inside, smaller_mass) = self.inside(query, &v, scratch);
                if smaller_mass < mass {
                    (u, rows, mass) = (v, inside, smaller_mass);
                }
                if mass <= interval.upper {
                    return (u, rows);
                }
            }
        }
        (u, rows)
    }

    /// The sampling standard error of the mass of a halfspace.
    pub(super) fn standard_error(&self, depth: f64, inside: impl FnOnce() -> Vec<bool>) -> f64 {
        match self.mass {
            Mass::Counts(n) | Mass::Effective(n) => binomial(depth, n),
            Mass::Importance => {
                let halves: Vec<f64> = self.weights.iter().map(|w| 0.5 * w).collect();
                let indicator: Vec<f64> = inside().iter().map(|i| f64::from(u8::from(*i))).collect();
                // So many equal weights would have the same sum of squares.
                let equal = self.weights.iter().map(|w| w * w).sum::<f64>().recip();
                self.mass.standard_error(&indicator, &halves).max(binomial(depth, equal))
            }
        }
    }
}

/// The standard error (H10) of a share of `n` observations, with two more inside and two more outside (Agresti and Coull
/// 1998): a share of 0 is not known without error.
fn binomial(share: f64, n: f64) -> f64 {
    let p = (n * share + 2.0) / (n + 4.0);
    (p * (1.0 - p) / (n + 4.0)).sqrt()
}

/// Weights as integers, their sum, and a bound on what that changes in a depth (H3).
///
/// Counts are kept. Other weights are rounded to multiples of $2^{-50}$ of their sum, so that sums of them
/// are exact in any order.
pub(in crate::methods) fn integer_masses(reference: &Reference) -> (Vec<u64>, u64, f64) {
    let n = reference.len();
    let (unit, counted) = match reference.mass() {
        Mass::Counts(sum) if sum < 2f64.powi(50) => (sum, true),
        _ => (2f64.powi(50), false),
    };
    let whole = |w: f64| if w > 0.0 { whole_part((w * unit).round()).max(1) } else { 0 };
    let units: Vec<u64> = reference.weights().iter().map(|&w| whole(w)).collect();
    let total = units.iter().sum();
    (units, total, if counted { 0.0 } else { n as f64 * 2f64.powi(-50) })
}
