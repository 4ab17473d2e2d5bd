//! One row on the central path (L13): $a s = (1 - a) \xi = \mu$ with $m + \xi - s = 1$; the steps are (L14) and (L15).
//!
//! Everything the interior-point method does to a row is here, as plain arithmetic on a few numbers; the loops over
//! rows are compiled for wide vectors. The query is the last row.

use crate::numerics::linalg::axpy;
use crate::numerics::simd::{LANES, sum_rows, vectorised};

/// The slack every row starts with: large, so that the first steps are long (heuristic).
const SLACK: f64 = 10.0;

/// Numbers for every row of one query, the query itself last.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathRows {
    /// $m$: the margin.
    pub(crate) margin: Vec<f64>,
    /// $a$: the multiplier.
    pub(crate) dual: Vec<f64>,
    /// $s$: by how much the margin exceeds what is asked.
    over: Vec<f64>,
    /// $\xi$: by how much it falls short.
    short: Vec<f64>,
    /// The change of the margin along the direction.
    pub(crate) margin_step: Vec<f64>,
    /// $1 / (s / a + \xi / (1 - a))$: the change of the multiplier per unit of margin.
    stiffness: Vec<f64>,
    target_change: Vec<f64>,
    /// The direction: changes of dual, over and short.
    dual_step: Vec<f64>,
    over_step: Vec<f64>,
    short_step: Vec<f64>,
}

impl PathRows {
    /// The start of a path: every multiplier one half, every slack the same.
    pub(crate) fn new(rows: usize) -> Self {
        let zeros = || vec![0.0; rows];
        let mut start = Self {
            margin: zeros(),
            dual: zeros(),
            over: zeros(),
            short: zeros(),
            margin_step: zeros(),
            stiffness: zeros(),
            target_change: zeros(),
            dual_step: zeros(),
            over_step: zeros(),
            short_step: zeros(),
        };
        start.reset();
        start
    }

    /// Back to the start of the path.
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
        let (da, ds, dx) = (&self.dual_step[..n], &self.over_step[..n], &self.short_step[..n]);
        let sum = vectorised!({
            sum_rows(
                n,
                #[inline(always)]
                |j| {
                    let dual = a[j] + step * da[j];
                    masses[j] * (dual * (s[j] + step * ds[j]) + (1.0 - dual) * (x[j] + step * dx[j]))
                },
            )
        });
        0.5 * sum
    }

    /// Sets up the predictor, which aims at $\mu = 0$: writes the curvatures and the right-hand sides
    /// $c_j (a_j + \text{target}_j \cdot \text{stiffness}_j)$ of the sample; the query's own are returned.
    pub(crate) fn predict(&mut self, masses: &[f64], curvatures: &mut [f64], rhs: &mut [f64]) -> (f64, f64) {
        let rows = masses.len();
        let (m, a) = (&self.margin[..rows], &self.dual[..rows]);
        let (s, x) = (&self.over[..rows], &self.short[..rows]);
        let (stiffness, target_change) = (&mut self.stiffness[..rows], &mut self.target_change[..rows]);
        vectorised!({
            for j in 0..rows {
                let inside = a[j] * (1.0 - a[j]);
                stiffness[j] = inside / (s[j] * (1.0 - a[j]) + x[j] * a[j]);
                target_change[j] = 1.0 - m[j];
            }
            let n = curvatures.len();
            let (c, stiffness, target_change, a) =
                (&masses[..n], &stiffness[..n], &target_change[..n], &a[..n]);
            let rhs = &mut rhs[..n];
            for j in 0..n {
                curvatures[j] = c[j] * stiffness[j];
                rhs[j] = c[j] * (a[j] + target_change[j] * stiffness[j]);
            }
        });
        let last = rows - 1;
        let query_rhs = masses[last] * (self.dual[last] + self.target_change[last] * self.stiffness[last]);
        (masses[last] * self.stiffness[last], query_rhs)
    }

    /// Sets up the corrector, which aims at `center` and allows for the predictor's own curvature, or for a `share`
    /// of it.
    pub(crate) fn correct(&mut self, masses: &[f64], center: f64, share: f64, rhs: &mut [f64]) -> f64 {
        let rows = masses.len();
        let (m, a) = (&self.margin[..rows], &self.dual[..rows]);
        let (s, x) = (&self.over[..rows], &self.short[..rows]);
        let (dual_step, stiffness, target_change) =
            (&self.dual_step[..rows], &self.stiffness[..rows], &mut self.target_change[..rows]);
        let (over_step, short_step) = (&mut self.over_step[..rows], &mut self.short_step[..rows]);
        vectorised!({
            for j in 0..rows {
                let b = 1.0 - a[j];
                // What the products still lack; kept in place of the predictor's own changes.
                let first = center - share * dual_step[j] * over_step[j] - a[j] * s[j];
                let second = center + share * dual_step[j] * short_step[j] - b * x[j];
                (over_step[j], short_step[j]) = (first, second);
                target_change[j] = 1.0 - (m[j] + x[j] - s[j]) + (first * b - second * a[j]) / (a[j] * b);
            }
            let n = rhs.len();
            let (c, stiffness, target_change, a) =
                (&masses[..n], &stiffness[..n], &target_change[..n], &a[..n]);
            for j in 0..n {
                rhs[j] = c[j] * (a[j] + target_change[j] * stiffness[j]);
            }
        });
        let last = rows - 1;
        masses[last] * (self.dual[last] + self.target_change[last] * self.stiffness[last])
    }

    /// Turns the change of the margins into a direction, the predictor's if `predicted`, and returns the longest
    /// step that keeps every number inside its bounds.
    pub(crate) fn direct(&mut self, predicted: bool) -> f64 {
        let rows = self.margin_step.len();
        let (a, margin_step) = (&self.dual[..rows], &self.margin_step[..rows]);
        let (s, x) = (&self.over[..rows], &self.short[..rows]);
        let (stiffness, target_change) = (&self.stiffness[..rows], &self.target_change[..rows]);
        let dual_step = &mut self.dual_step[..rows];
        let (over_step, short_step) = (&mut self.over_step[..rows], &mut self.short_step[..rows]);
        let fastest = vectorised!({
            if predicted {
                for j in 0..rows {
                    (over_step[j], short_step[j]) = (-a[j] * s[j], -(1.0 - a[j]) * x[j]);
                }
            }
            for j in 0..rows {
                let b = 1.0 - a[j];
                let da = (target_change[j] - margin_step[j]) * stiffness[j];
                dual_step[j] = da;
                over_step[j] = (over_step[j] - s[j] * da) / a[j];
                short_step[j] = (short_step[j] + x[j] * da) / b;
            }
            // The largest relative decrease is the reciprocal of the longest step.
            largest_row(
                rows,
                #[inline(always)]
                |j| {
                    let bound = larger(-dual_step[j] / a[j], dual_step[j] / (1.0 - a[j]));
                    larger(bound, larger(-over_step[j] / s[j], -short_step[j] / x[j]))
                },
            )
        });
        1.0 / fastest.max(f64::MIN_POSITIVE)
    }

    /// Moves along the direction.
    pub(crate) fn step(&mut self, length: f64) {
        axpy(length, &self.margin_step, &mut self.margin);
        axpy(length, &self.dual_step, &mut self.dual);
        axpy(length, &self.over_step, &mut self.over);
        axpy(length, &self.short_step, &mut self.short);
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
