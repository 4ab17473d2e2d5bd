//! One row on the central path: $a s = (1 - a) \xi = \mu$ with $m + \xi - s = 1$.
//!
//! Everything the interior-point method does to a row is here, as plain arithmetic on a few numbers; the loops over
//! rows are compiled for wide vectors. The query is the last row.

use crate::numerics::simd::{LANES, sum_rows, vectorised};

/// The slack every row starts with: roomy, so that the first steps are long.
const SLACK: f64 = 10.0;

/// Numbers for every row of one query, the query itself last.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    /// $m$: the margin.
    pub(crate) margin: Vec<f64>,
    /// $a$: the multiplier.
    pub(crate) dual: Vec<f64>,
    /// $s$: by how much the margin exceeds what is asked.
    over: Vec<f64>,
    /// $\xi$: by how much it falls short.
    short: Vec<f64>,
    /// The change of the margin along the direction.
    pub(crate) moved: Vec<f64>,
    /// $1 / (s / a + \xi / (1 - a))$: how willingly the multiplier gives way.
    pub(crate) give: Vec<f64>,
    wanted: Vec<f64>,
    /// The direction: changes of dual, over and short.
    turn: Vec<f64>,
    rise: Vec<f64>,
    fall: Vec<f64>,
}

impl Rows {
    /// The middle of everything.
    pub(crate) fn new(rows: usize) -> Self {
        let fill = |x: f64| vec![x; rows];
        Self {
            margin: fill(0.0),
            dual: fill(0.5),
            over: fill(SLACK - 1.0),
            short: fill(SLACK),
            moved: fill(0.0),
            give: fill(0.0),
            wanted: fill(0.0),
            turn: fill(0.0),
            rise: fill(0.0),
            fall: fill(0.0),
        }
    }

    pub(crate) fn reset(&mut self) {
        self.margin.fill(0.0);
        self.dual.fill(0.5);
        self.over.fill(SLACK - 1.0);
        self.short.fill(SLACK);
    }

    /// $\frac12 \sum_j c_j (a_j s_j + (1 - a_j) \xi_j)$ after a step of this length along the direction.
    pub(crate) fn complementarity(&self, masses: &[f64], step: f64) -> f64 {
        let n = masses.len();
        let (a, s, x) = (&self.dual[..n], &self.over[..n], &self.short[..n]);
        let (da, ds, dx) = (&self.turn[..n], &self.rise[..n], &self.fall[..n]);
        let sum = vectorised(
            #[inline(always)]
            || {
                sum_rows(
                    n,
                    #[inline(always)]
                    |j| {
                        let dual = a[j] + step * da[j];
                        masses[j] * (dual * (s[j] + step * ds[j]) + (1.0 - dual) * (x[j] + step * dx[j]))
                    },
                )
            },
        );
        0.5 * sum
    }

    /// Sets up the predictor, which aims at $\mu = 0$: writes the curvatures and the pulls
    /// $c_j (a_j + \text{wanted}_j \cdot \text{give}_j)$ of the sample; the query's own are returned.
    pub(crate) fn predict(
        &mut self,
        masses: &[f64],
        curvatures: &mut [f64],
        pulls: &mut [f64],
    ) -> (f64, f64) {
        let rows = masses.len();
        let (m, a) = (&self.margin[..rows], &self.dual[..rows]);
        let (s, x) = (&self.over[..rows], &self.short[..rows]);
        let (give, wanted) = (&mut self.give[..rows], &mut self.wanted[..rows]);
        vectorised(
            #[inline(always)]
            || {
                for j in 0..rows {
                    let inside = a[j] * (1.0 - a[j]);
                    give[j] = inside / (s[j] * (1.0 - a[j]) + x[j] * a[j]);
                    wanted[j] = 1.0 - m[j];
                }
                let n = curvatures.len();
                let (c, give, wanted, a) = (&masses[..n], &give[..n], &wanted[..n], &a[..n]);
                let pulls = &mut pulls[..n];
                for j in 0..n {
                    curvatures[j] = c[j] * give[j];
                    pulls[j] = c[j] * (a[j] + wanted[j] * give[j]);
                }
            },
        );
        let last = rows - 1;
        let pull = masses[last] * (self.dual[last] + self.wanted[last] * self.give[last]);
        (masses[last] * self.give[last], pull)
    }

    /// Sets up the corrector, which aims at `center` and allows for the predictor's own curvature, or for a `share`
    /// of it.
    pub(crate) fn correct(&mut self, masses: &[f64], center: f64, share: f64, pulls: &mut [f64]) -> f64 {
        let rows = masses.len();
        let (m, a) = (&self.margin[..rows], &self.dual[..rows]);
        let (s, x) = (&self.over[..rows], &self.short[..rows]);
        let (turn, give, wanted) = (&self.turn[..rows], &self.give[..rows], &mut self.wanted[..rows]);
        let (rise, fall) = (&mut self.rise[..rows], &mut self.fall[..rows]);
        vectorised(
            #[inline(always)]
            || {
                for j in 0..rows {
                    let b = 1.0 - a[j];
                    // What the products still lack; kept in place of the predictor's own changes.
                    let first = center - share * turn[j] * rise[j] - a[j] * s[j];
                    let second = center + share * turn[j] * fall[j] - b * x[j];
                    (rise[j], fall[j]) = (first, second);
                    wanted[j] = 1.0 - (m[j] + x[j] - s[j]) + (first * b - second * a[j]) / (a[j] * b);
                }
                let n = pulls.len();
                let (c, give, wanted, a) = (&masses[..n], &give[..n], &wanted[..n], &a[..n]);
                for j in 0..n {
                    pulls[j] = c[j] * (a[j] + wanted[j] * give[j]);
                }
            },
        );
        let last = rows - 1;
        masses[last] * (self.dual[last] + self.wanted[last] * self.give[last])
    }

    /// Turns the change of the margins into a direction, the predictor's if `predicted`, and returns the longest
    /// step that keeps every number inside its bounds.
    pub(crate) fn direct(&mut self, predicted: bool) -> f64 {
        let rows = self.moved.len();
        let (a, moved) = (&self.dual[..rows], &self.moved[..rows]);
        let (s, x) = (&self.over[..rows], &self.short[..rows]);
        let (give, wanted) = (&self.give[..rows], &self.wanted[..rows]);
        let turn = &mut self.turn[..rows];
        let (rise, fall) = (&mut self.rise[..rows], &mut self.fall[..rows]);
        let fastest = vectorised(
            #[inline(always)]
            || {
                if predicted {
                    for j in 0..rows {
                        (rise[j], fall[j]) = (-a[j] * s[j], -(1.0 - a[j]) * x[j]);
                    }
                }
                for j in 0..rows {
                    let b = 1.0 - a[j];
                    let da = (wanted[j] - moved[j]) * give[j];
                    turn[j] = da;
                    rise[j] = (rise[j] - s[j] * da) / a[j];
                    fall[j] = (fall[j] + x[j] * da) / b;
                }
                // The largest relative decrease is the reciprocal of the longest step.
                largest_row(
                    rows,
                    #[inline(always)]
                    |j| {
                        let bound = larger(-turn[j] / a[j], turn[j] / (1.0 - a[j]));
                        larger(bound, larger(-rise[j] / s[j], -fall[j] / x[j]))
                    },
                )
            },
        );
        1.0 / fastest.max(f64::MIN_POSITIVE)
    }

    /// Moves along the direction.
    pub(crate) fn step(&mut self, length: f64) {
        crate::numerics::linalg::axpy(length, &self.moved, &mut self.margin);
        crate::numerics::linalg::axpy(length, &self.turn, &mut self.dual);
        crate::numerics::linalg::axpy(length, &self.rise, &mut self.over);
        crate::numerics::linalg::axpy(length, &self.fall, &mut self.short);
    }
}

/// The larger of two numbers, without the care for NaN that keeps `f64::max` from being vectorised.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The largest over the rows, or 0.
#[inline(always)]
fn largest_row(rows: usize, row: impl Fn(usize) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let body = rows - rows % LANES;
    for start in (0..body).step_by(LANES) {
        for (k, lane) in lanes.iter_mut().enumerate() {
            *lane = larger(row(start + k), *lane);
        }
    }
    let most = lanes.iter().fold(0.0, |m, x| larger(*x, m));
    (body..rows).fold(most, |m, j| larger(row(j), m))
}
