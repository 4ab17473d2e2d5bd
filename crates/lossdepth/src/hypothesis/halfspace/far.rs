//! Many dimensions: good directions from above, disjoint simplices from below.
//!
//! Directions come from descent along great circles ([`Search`]) and from hyperplanes that separate the query from all
//! points but a few. If the query lies in the simplex of some points, every closed halfspace at it holds one of them;
//! so every simplex of a disjoint family adds the least mass of its points to the lower bound. Wolfe's algorithm for
//! the point of a hull that is nearest to the query finds the one or the other: a separating hyperplane, or a simplex.
//! When the interval is still open, one of the points of a simplex is counted, and the rest is searched in turn: a tree
//! that is small where the depth is.
//!
//! A direction counts with its exact mass. A simplex counts if rounding cannot have moved the query out of it: an
//! approximate inverse bounds how far its weights may be off.

use super::cloud::{Bounds, Cloud};
use super::cones::Purse;
use super::exact::Exact;
use super::search::{Search, Sky, scale_to_unit};
use crate::linalg::{axpy, dot};

/// So many new starts without a better direction end the search.
const STARTS: u32 = 16;

/// How a direction in the coordinates of the sky is written in the columns of the cloud: rows of a frame.
pub(super) enum Frame<'a> {
    /// Any matrix, one row a coordinate.
    Full(&'a [f64]),
    /// A factor for every column.
    Diagonal(&'a [f64]),
}

impl Frame<'_> {
    fn direction(&self, c: &[f64]) -> Vec<f64> {
        let mut u = match self {
            Self::Full(rows) => {
                let mut u = vec![0.0; c.len()];
                rows.chunks_exact(c.len()).zip(c).for_each(|(row, c)| axpy(*c, row, &mut u));
                u
            }
            Self::Diagonal(factors) => c.iter().zip(*factors).map(|(c, f)| c * f).collect(),
        };
        scale_to_unit(&mut u);
        u
    }
}

/// The interval around the least mass, as narrow as the purse allows.
///
/// `sky` are the differences in the coordinates of `frame`, before they are scaled to unit length; `blur` says how far
/// each may be off.
pub(super) fn solve(
    cloud: &Cloud,
    mut sky: Sky,
    blur: &[f64],
    frame: &Frame<'_>,
    enough: u64,
    purse: &mut Purse<'_>,
) -> Bounds {
    let blur = to_unit_length(&mut sky, blur);
    let mut hunt = Hunt {
        cloud,
        sky,
        blur,
        frame,
        exact: Exact::default(),
        upper: u64::MAX,
        direction: Vec::new(),
        products: Vec::new(),
    };
    let lower = hunt.run(enough, purse);
    Bounds { lower: lower.min(hunt.upper), upper: hunt.upper, direction: hunt.direction }
}

fn to_unit_length(sky: &mut Sky, blur: &[f64]) -> Vec<f64> {
    let n = sky.len;
    let mut lengths = vec![0.0; n];
    for column in sky.columns.chunks_exact(n.max(1)) {
        lengths.iter_mut().zip(column).for_each(|(l, v)| *l += v * v);
    }
    for l in &mut lengths {
        *l = if *l > 0.0 { l.sqrt() } else { 1.0 };
    }
    for column in sky.columns.chunks_exact_mut(n.max(1)) {
        column.iter_mut().zip(&lengths).for_each(|(v, l)| *v /= l);
    }
    blur.iter().zip(&lengths).map(|(b, l)| b / l + 2.0 * f64::EPSILON).collect()
}

/// The largest upper bound, in units of the least mass, that is searched as a tree: also a bound on the depth of the tree. The
/// number is a heuristic.
const MOST_LEVELS: u64 = 12;

struct Hunt<'a> {
    cloud: &'a Cloud,
    sky: Sky,
    /// How far a coordinate of a unit vector may be off.
    blur: Vec<f64>,
    frame: &'a Frame<'a>,
    exact: Exact,
    upper: u64,
    direction: Vec<f64>,
    products: Vec<f64>,
}

/// What Wolfe's algorithm found among some points.
enum Nearest {
    /// A direction with all of them below, up to rounding.
    Separated(Vec<f64>),
    /// A simplex around the query: proven.
    Simplex(Vec<usize>),
    /// Too close to call, or no work left.
    Unknown,
}

impl Hunt<'_> {
    fn run(&mut self, enough: u64, purse: &mut Purse<'_>) -> u64 {
        let (n, d) = (self.sky.len, self.sky.dim);
        let masses = &self.cloud.masses;
        let whole: Vec<f64> = masses.iter().map(|m| *m as f64).collect();
        let mean: Vec<f64> = (0..d).map(|j| -dot(&whole, &self.sky.columns[j * n..(j + 1) * n])).collect();
        let mut search = Search::default();
        let mut best = search.descend(&self.sky, masses, mean, 6, &mut purse.spent, purse.budget);
        self.evaluate(&best.u, purse);
        if self.upper <= enough {
            return 0;
        }
        // A quarter of the work for simplices, the tree gets what is left in the end.
        let whole = purse.budget;
        purse.budget = purse.spent + (whole - purse.spent.min(whole)) / 4;
        let alive: Vec<u64> = masses.clone();
        let (mut lower, _) = self.pack(alive.clone(), 0, u64::MAX, enough, purse);
        purse.budget = whole;
        // Where few points decide, the tree may close the interval; else the work is for better directions.
        if self.upper > lower.saturating_add(enough) && self.few(lower) {
            purse.budget = purse.spent + (whole - purse.spent.min(whole)) / 2;
            if self.branch(&alive, &mut vec![false; n], 0, enough, purse) {
                lower = lower.max(self.upper.saturating_sub(enough));
            }
            purse.budget = whole;
        }
        let mut seed = 0x9e37_79b9_7f4a_7c15u64;
        let mut idle = 0;
        while idle < STARTS
            && self.upper > lower.saturating_add(enough)
            && purse.spent < purse.budget
            && !(purse.cancelled)()
        {
            // From the best direction, pushed aside; every fourth time from anywhere.
            let fresh = (seed >> 40).is_multiple_of(4);
            let push = if fresh { 1e3 } else { 1.0 / (d as f64).sqrt() };
            let start: Vec<f64> = best.u.iter().map(|u| u + push * wave(&mut seed)).collect();
            let next =
                search.descend(&self.sky, &self.cloud.masses, start, 3, &mut purse.spent, purse.budget);
            idle += 1;
            if next.mass < best.mass {
                self.evaluate(&next.u, purse);
                (best, idle) = (next, 0);
            }
        }
        lower
    }

    /// Whether the gap is so small that a tree over it is worth its while.
    fn few(&self, lower: u64) -> bool {
        let least = self.cloud.masses.iter().copied().min().unwrap_or(1).max(1);
        (self.upper - lower) / least <= 4 && self.upper / least <= MOST_LEVELS
    }

    /// The exact mass of a direction and its opposite.
    fn evaluate(&mut self, c: &[f64], purse: &mut Purse<'_>) {
        let u = self.frame.direction(c);
        if !u.iter().all(|u| u.is_finite()) {
            return;
        }
        let split = self.cloud.split(&u, &mut self.exact);
        purse.spent += (2 * self.cloud.len() * self.cloud.dim) as u64;
        for (mass, sign) in [(split.closed(), 1.0), (split.opposite(), -1.0)] {
            if mass < self.upper || self.direction.is_empty() {
                self.upper = mass;
                self.direction = u.iter().map(|v| sign * v).collect();
            }
        }
    }

    /// Disjoint simplices among the masses left, until they and what is counted reach the goal; the bound, and the
    /// first simplex.
    fn pack(
        &mut self,
        mut left: Vec<u64>,
        counted: u64,
        most: u64,
        enough: u64,
        purse: &mut Purse<'_>,
    ) -> (u64, Option<Vec<usize>>) {
        let (mut proven, mut first) = (counted, None);
        while proven.saturating_add(enough) < self.upper.min(most) {
            match self.nearest(&left, purse) {
                Nearest::Separated(u) => {
                    self.evaluate(&u, purse);
                    break;
                }
                Nearest::Simplex(points) => {
                    let least = points.iter().map(|&i| left[i]).min().unwrap_or(0);
                    for &i in &points {
                        left[i] -= least;
                    }
                    proven += least;
                    first = first.or(Some(points));
                }
                Nearest::Unknown => break,
            }
        }
        (proven, first)
    }

    /// Whether no direction counts less than the best known, given that the mass `counted` is in and the points that
    /// are `out` are not.
    ///
    /// Every level of the recursion adds the mass of a point to `counted` and ends where that reaches `upper`, so there are at
    /// most [`MOST_LEVELS`] + 1 levels if [`few`](Self::few) holds at the first, whatever the budget.
    fn branch(
        &mut self,
        left: &[u64],
        out: &mut [bool],
        counted: u64,
        enough: u64,
        purse: &mut Purse<'_>,
    ) -> bool {
        if counted.saturating_add(enough) >= self.upper {
            return true;
        }
        let (proven, simplex) = self.pack(left.to_vec(), counted, u64::MAX, enough, purse);
        if proven.saturating_add(enough) >= self.upper {
            return true;
        }
        let Some(simplex) = simplex else {
            // Separated: then the direction was evaluated, and has what is counted or less.
            return self.upper <= counted.saturating_add(enough);
        };
        let mut ours = Vec::new();
        let mut complete = true;
        for &i in &simplex {
            if out[i] {
                continue;
            }
            if purse.spent >= purse.budget || (purse.cancelled)() {
                complete = false;
                break;
            }
            let mut rest = left.to_vec();
            let mass = std::mem::take(&mut rest[i]);
            if !self.branch(&rest, out, counted + mass, enough, purse) {
                complete = false;
                break;
            }
            out[i] = true;
            ours.push(i);
        }
        for &i in &ours {
            out[i] = false;
        }
        complete
    }

    fn row(&self, i: usize) -> Vec<f64> {
        (0..self.sky.dim).map(|j| self.sky.columns[j * self.sky.len + i]).collect()
    }

    /// Wolfe's algorithm: the point nearest to the origin in the hull of the points with mass left.
    fn nearest(&mut self, left: &[u64], purse: &mut Purse<'_>) -> Nearest {
        let (n, d) = (self.sky.len, self.sky.dim);
        let Some(start) = left.iter().position(|m| *m > 0) else { return Nearest::Unknown };
        let mut members = vec![start];
        let mut rows = vec![self.row(start)];
        let mut weights = vec![1.0];
        let mut x = rows[0].clone();
        self.products.resize(n, 0.0);
        for _ in 0..20 * (d + 2) {
            if purse.spent >= purse.budget || (purse.cancelled)() {
                return Nearest::Unknown;
            }
            let size = dot(&x, &x);
            if size < 1e-18 {
                return self.certified(members, &rows, &weights, purse);
            }
            self.products.fill(0.0);
            for (j, v) in x.iter().enumerate() {
                axpy(*v, &self.sky.columns[j * n..(j + 1) * n], &mut self.products);
            }
            purse.spent += (n * d) as u64;
            let entering = (0..n)
                .filter(|&i| left[i] > 0)
                .min_by(|&i, &j| self.products[i].total_cmp(&self.products[j]))
                .unwrap_or(start);
            let least = self.products[entering];
            // All on one side already: no need to find the nearest point.
            if least > 1e-13 {
                return Nearest::Separated(x.iter().map(|v| -v).collect());
            }
            if members.contains(&entering) || least > size - 1e-14 {
                return if size < 1e-14 {
                    self.certified(members, &rows, &weights, purse)
                } else {
                    Nearest::Unknown
                };
            }
            members.push(entering);
            rows.push(self.row(entering));
            weights.push(0.0);
            // Towards the nearest point of the affine hull, dropping members whose weight would become negative.
            loop {
                let Some(target) = nearest_affine(&rows) else {
                    return self.certified(members, &rows, &weights, purse);
                };
                purse.spent += (rows.len() * rows.len() * (rows.len() / 3 + d) / 2) as u64;
                if target.iter().all(|w| *w > 1e-14) {
                    weights = target;
                    break;
                }
                let step = weights
                    .iter()
                    .zip(&target)
                    .filter(|(_, t)| **t <= 1e-14)
                    .map(|(w, t)| w / (w - t).max(f64::MIN_POSITIVE))
                    .fold(1.0f64, f64::min);
                for (w, t) in weights.iter_mut().zip(&target) {
                    *w += step * (t - *w);
                }
                let mut k = 0;
                let keep: Vec<bool> = weights.iter().map(|w| *w > 1e-14).collect();
                members.retain(|_| {
                    k += 1;
                    keep[k - 1]
                });
                k = 0;
                rows.retain(|_| {
                    k += 1;
                    keep[k - 1]
                });
                weights.retain(|w| *w > 1e-14);
                if members.is_empty() {
                    return Nearest::Unknown;
                }
            }
            x.fill(0.0);
            rows.iter().zip(&weights).for_each(|(row, w)| axpy(*w, row, &mut x));
        }
        Nearest::Unknown
    }

    /// A simplex that surely holds the query: with $M$ the points over a row of ones, $M \lambda = (0, 1)$ has a positive
    /// solution. For an approximate inverse $R$ and weights $\tilde\lambda$,
    /// $|\lambda - \tilde\lambda| \le \|R\| \|(0, 1) - M \tilde\lambda\| / (1 - \|I - R M\|)$ in the norm of the largest entry.
    fn certified(
        &self,
        members: Vec<usize>,
        rows: &[Vec<f64>],
        weights: &[f64],
        purse: &mut Purse<'_>,
    ) -> Nearest {
        let d = self.sky.dim;
        let size = members.len();
        if size != d + 1 {
            return Nearest::Unknown;
        }
        let m: Vec<Vec<f64>> =
            (0..size).map(|j| rows.iter().map(|row| if j < d { row[j] } else { 1.0 }).collect()).collect();
        purse.spent += (2 * size * size * size) as u64;
        let Some(inverse) = invert(&m) else { return Nearest::Unknown };
        let blur = members.iter().map(|&i| self.blur[i]).sum::<f64>();
        let rounding = 4.0 * size as f64 * f64::EPSILON;
        let mut reach = 0.0f64;
        let mut defect = 0.0f64;
        for (i, r) in inverse.iter().enumerate() {
            let sum: f64 = r.iter().map(|v| v.abs()).sum();
            reach = reach.max(sum);
            // A row of I - R M.
            let mut product = vec![0.0; size];
            r.iter().zip(&m).for_each(|(r, row)| axpy(*r, row, &mut product));
            product[i] -= 1.0;
            defect = defect.max(
                product.iter().map(|v| v.abs()).sum::<f64>() + size as f64 * sum * rounding + sum * blur,
            );
        }
        let residual = m
            .iter()
            .enumerate()
            .map(|(j, row)| {
                let target = if j < d { 0.0 } else { 1.0 };
                (target - dot(row, weights)).abs() + rounding
            })
            .fold(0.0f64, f64::max)
            + blur;
        let off = 1.01 * reach * residual / (1.0 - defect);
        let sound = reach.is_finite() && inverse.iter().flatten().all(|v| v.is_finite());
        if sound && defect < 0.5 && weights.iter().all(|w| *w > off) {
            Nearest::Simplex(members)
        } else {
            Nearest::Unknown
        }
    }
}

/// A number between -1 and 1 that looks random.
fn wave(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Weights, summing to 1, of the point nearest to the origin in the affine hull of the rows; `None` if they are
/// dependent.
fn nearest_affine(rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let s = rows.len();
    // (G + 1) a = 1, then scaled: G + 1 is positive definite where the rows are affinely independent.
    let mut l = vec![0.0; s * s];
    for i in 0..s {
        for j in 0..=i {
            l[i * s + j] = dot(&rows[i], &rows[j]) + 1.0;
        }
    }
    for j in 0..s {
        let (head, tail) = l.split_at_mut((j + 1) * s);
        let row = &mut head[j * s..];
        let pivot = row[j] - dot(&row[..j], &row[..j]);
        if pivot < 1e-13 {
            return None;
        }
        let pivot = pivot.sqrt();
        row[j] = pivot;
        for other in tail.chunks_exact_mut(s) {
            other[j] = (other[j] - dot(&other[..j], &row[..j])) / pivot;
        }
    }
    let mut a = vec![1.0; s];
    for i in 0..s {
        a[i] = (a[i] - dot(&l[i * s..i * s + i], &a[..i])) / l[i * s + i];
    }
    for i in (0..s).rev() {
        let below: f64 = (i + 1..s).map(|k| l[k * s + i] * a[k]).sum();
        a[i] = (a[i] - below) / l[i * s + i];
    }
    let sum: f64 = a.iter().sum();
    (sum > 0.0 && sum.is_finite()).then(|| a.iter().map(|v| v / sum).collect())
}

/// The inverse by elimination with row exchanges.
fn invert(m: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let s = m.len();
    let mut a = m.to_vec();
    let mut inverse: Vec<Vec<f64>> =
        (0..s).map(|i| (0..s).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    for p in 0..s {
        let best = (p..s).max_by(|&i, &j| a[i][p].abs().total_cmp(&a[j][p].abs()))?;
        a.swap(p, best);
        inverse.swap(p, best);
        let pivot = a[p][p];
        if pivot.abs() < 1e-12 {
            return None;
        }
        a[p].iter_mut().for_each(|v| *v /= pivot);
        inverse[p].iter_mut().for_each(|v| *v /= pivot);
        let (row, unit) = (a[p].clone(), inverse[p].clone());
        for i in 0..s {
            if i != p && a[i][p] != 0.0 {
                let factor = a[i][p];
                axpy(-factor, &row, &mut a[i]);
                axpy(-factor, &unit, &mut inverse[i]);
            }
        }
    }
    Some(inverse)
}
