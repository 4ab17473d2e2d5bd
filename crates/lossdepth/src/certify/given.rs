//! The problem of one query in the coordinates as given, in double-double arithmetic.
//!
//! Margins, residuals and sums have twice the digits, with a bound on their rounding (C13). The principal axes serve
//! as coordinates for the steps of a refinement only: they are no part of a proof.

use super::gap::{ROUNDED_UP, at_least_zero};
use crate::numerics::double_double::{Twofold, TwofoldVector, two_product, two_sum, twofold_rounding};
use crate::numerics::linalg::{axpy, dot, norm};
use crate::numerics::simd::vectorised;
use crate::problem::features::Features;

/// A $w$ shorter than the radius by no more than this share is taken to be meant for the sphere (heuristic).
const ON_SPHERE: f64 = 1e-6;

/// One query and the sample, as given.
pub(crate) struct Given<'a> {
    pub(crate) features: &'a Features,
    /// The query's coordinates in the axes.
    pub(crate) coordinates: &'a [f64],
    /// The query: (1, z − c) if the intercept is free, z − c otherwise.
    query: TwofoldVector,
    query_norm: f64,
    /// The largest norm of such a row of the sample.
    largest_norm: f64,
    /// The unit vector along what the axes leave of the query, if anything.
    outside: Option<Vec<f64>>,
}

/// The margins of a candidate, the query's last, with bounds on their rounding.
#[derive(Debug, Clone, Default)]
pub(crate) struct Margins {
    pub(crate) high: Vec<f64>,
    pub(crate) low: Vec<f64>,
    pub(crate) error: Vec<f64>,
}

/// Masses $\alpha_j = c_j a_j$ of a dual point, the query's last: they define the multipliers $a_j$.
pub(crate) type DualMasses = TwofoldVector;

/// $v(a) - 2 \lambda w$, behind $\sum_j \alpha_j y_j$ if the intercept is free.
pub(crate) struct Residual {
    pub(crate) value: Vec<f64>,
    /// Bound on the norm of its error.
    pub(crate) error: f64,
}

impl<'a> Given<'a> {
    pub(crate) fn new(features: &'a Features, query: &[f64], coordinates: &'a [f64]) -> Self {
        let row = features.given_query(query, coordinates);
        let (mut high, mut low) = (Vec::new(), Vec::new());
        let mut largest_norm = 0.0f64;
        for i in 0..features.len() {
            features.given_row(i, &mut high, &mut low);
            largest_norm = largest_norm.max(norm(&high));
        }
        let along = coordinates[coordinates.len() - 1];
        let outside = (along > 0.0).then(|| outside_of_axes(features, &row.high[features.free..])).flatten();
        let query_norm = ROUNDED_UP * norm(&row.high);
        Self {
            features,
            coordinates,
            query: row,
            query_norm,
            largest_norm: ROUNDED_UP * largest_norm,
            outside,
        }
    }

    /// How many parameters a candidate has.
    pub(crate) fn width(&self) -> usize {
        self.query.high.len()
    }

    pub(crate) fn free(&self) -> usize {
        self.features.free
    }

    /// The masses $c_j$, to twice the digits; row `len()` is the query.
    pub(crate) fn mass(&self, j: usize) -> (f64, f64) {
        if j < self.features.len() { self.features.half_weight(j) } else { (0.5, 0.0) }
    }

    /// $\alpha_j = c_j (a_j + \sigma_j)$ for multipliers $a_j$ and their shifts $\sigma_j$.
    pub(crate) fn dual_masses(&self, multipliers: impl Iterator<Item = (f64, f64)>) -> DualMasses {
        let mut masses = DualMasses::default();
        for (j, (a, shift)) in multipliers.enumerate() {
            let (c, c_low) = self.mass(j);
            let (product, rest) = two_product(c, a);
            let (high, low) = two_sum(product, rest + c_low * a + c * shift);
            masses.high.push(high);
            masses.low.push(low);
        }
        masses
    }

    /// From parameters in the axes to a vector in the coordinates as given.
    pub(crate) fn vector_of_axes(&self, theta: &[f64]) -> Vec<f64> {
        let free = self.free();
        let Some(axes) = self.features.axes() else { return theta.to_vec() };
        let mut out = vec![0.0; self.width()];
        out[..free].copy_from_slice(&theta[..free]);
        let along = theta[theta.len() - 1];
        for (axis, t) in axes.zip(&theta[free..]) {
            axpy(*t, axis, &mut out[free..]);
        }
        if let Some(outside) = &self.outside {
            axpy(along, outside, &mut out[free..]);
        }
        out
    }

    /// The coordinates of a vector in the axes.
    pub(crate) fn to_axes(&self, x: &[f64]) -> Vec<f64> {
        let free = self.free();
        let Some(axes) = self.features.axes() else { return x.to_vec() };
        let along = self.outside.as_ref().map_or(0.0, |outside| dot(outside, &x[free..]));
        let inside = axes.map(|axis| dot(axis, &x[free..]));
        x[..free].iter().copied().chain(inside).chain([along]).collect()
    }

    /// What the axes leave of a vector; none if they span everything.
    pub(crate) fn beyond_axes(&self, x: &[f64]) -> Option<Vec<f64>> {
        let free = self.free();
        let rank = self.features.axes()?.len() + usize::from(self.outside.is_some());
        if rank >= x.len() - free {
            return None;
        }
        let mut left = x.to_vec();
        left[..free].fill(0.0);
        // Twice: the first time leaves rounding of what was taken off.
        for _ in 0..2 {
            let mut inside = self.to_axes(&left);
            inside[..free].fill(0.0);
            axpy(-1.0, &self.vector_of_axes(&inside), &mut left);
        }
        Some(left)
    }

    /// $m_j = y_j \langle \theta, x_j \rangle$ for all rows.
    pub(crate) fn margins(&self, at: &TwofoldVector) -> Margins {
        let n = self.features.len();
        let rounding = twofold_rounding(2 * self.width() + 4);
        let (mut high, mut low) = (Vec::new(), Vec::new());
        let mut out = Margins::default();
        for j in 0..=n {
            let sum = if j < n {
                self.features.given_row(j, &mut high, &mut low);
                product(&high, &low, at)
            } else {
                high.clone_from(&self.query.high);
                product(&self.query.high, &self.query.low, at)
            };
            let sign = if j < n { 1.0 } else { -1.0 };
            let (value, rest) = sum.parts();
            out.high.push(sign * value);
            out.low.push(sign * rest);
            let sizes: f64 = high.iter().zip(&at.high).map(|(x, t)| (x * t).abs()).sum();
            out.error.push(rounding * sizes);
        }
        out
    }

    /// $\sum_j \alpha_j y_j x_j - 2 \lambda w$ with `penalty` $2 \lambda$.
    pub(crate) fn residual(&self, masses: &DualMasses, at: &TwofoldVector, penalty: f64) -> Residual {
        let (n, width, free) = (self.features.len(), self.width(), self.free());
        let (mut sum, mut rest) = (vec![0.0; width], vec![0.0; width]);
        let (mut high, mut low) = (Vec::new(), Vec::new());
        let mut sizes = 0.0;
        for j in 0..n {
            let mass = (masses.high[j], masses.low[j]);
            if mass == (0.0, 0.0) {
                continue;
            }
            self.features.given_row(j, &mut high, &mut low);
            accumulate(&mut sum, &mut rest, mass, &high, &low);
            sizes += mass.0.abs() + mass.1.abs();
        }
        let mass = (-masses.high[n], -masses.low[n]);
        accumulate(&mut sum, &mut rest, mass, &self.query.high, &self.query.low);
        let penalised = free..width;
        let (w, w_low) = (&at.high[penalised.clone()], &at.low[penalised.clone()]);
        accumulate(&mut sum[penalised.clone()], &mut rest[penalised], (-penalty, 0.0), w, w_low);
        let value: Vec<f64> = sum.iter().zip(&rest).map(|(s, r)| s + r).collect();
        let sizes = sizes * self.largest_norm
            + (mass.0.abs() + mass.1.abs()) * self.query_norm
            + penalty * norm(&at.high);
        let error = twofold_rounding(2 * n + 8) * sizes + 2.0 * f64::EPSILON * norm(&value[free..]);
        Residual { value, error }
    }

    /// The query's mass that balances those of the sample where the intercept is free, and a bound on its error.
    pub(crate) fn balance(&self, masses: &mut DualMasses) -> f64 {
        let n = self.features.len();
        let (mut sum, mut sizes) = (Twofold::default(), 0.0);
        for j in 0..n {
            sum.add_parts((masses.high[j], masses.low[j]));
            sizes += masses.high[j].abs() + masses.low[j].abs();
        }
        (masses.high[n], masses.low[n]) = sum.parts();
        twofold_rounding(2 * n) * sizes
    }

    /// The query's row, rounded.
    pub(crate) fn query_row(&self) -> &[f64] {
        &self.query.high
    }

    /// The norm of the query's row.
    pub(crate) fn query_norm(&self) -> f64 {
        self.query_norm
    }

    /// Scales $w$ to the radius of a constraint if it is longer, or shorter by no more than a solver's accuracy. Then $\|w\| \le W$.
    pub(crate) fn scale_to_ball(&self, at: &mut TwofoldVector, radius: f64) {
        let length = self.square(at).value().sqrt();
        if length > radius * (1.0 - ON_SPHERE) {
            at.scale(self.free()..self.width(), radius / length * (1.0 - 2.0 * f64::EPSILON));
        }
    }

    /// $\|w\|^2$ with twice the digits.
    pub(crate) fn square(&self, at: &TwofoldVector) -> Twofold {
        let mut sum = Twofold::default();
        for (high, low) in at.high.iter().zip(&at.low).skip(self.free()) {
            sum.add_product(*high, *high);
            sum.add_product(2.0 * high, *low);
        }
        sum
    }
}

/// The dot product of a row with parameters.
fn product(high: &[f64], low: &[f64], at: &TwofoldVector) -> Twofold {
    let mut sum = at.dot(high);
    sum.add(dot(low, &at.high));
    sum
}

/// Adds a mass times a row to sums with twice the digits.
fn accumulate(sum: &mut [f64], rest: &mut [f64], mass: (f64, f64), high: &[f64], low: &[f64]) {
    let n = high.len().min(sum.len());
    let (sum, rest) = (&mut sum[..n], &mut rest[..n]);
    let (high, low) = (&high[..n], &low[..n]);
    vectorised!({
        for k in 0..n {
            let (term, below) = two_product(mass.0, high[k]);
            let (total, lost) = two_sum(sum[k], term);
            sum[k] = total;
            rest[k] += lost + below + mass.0.mul_add(low[k], mass.1 * high[k]);
        }
    });
}

/// The direction of what the axes leave of a row.
fn outside_of_axes(features: &Features, row: &[f64]) -> Option<Vec<f64>> {
    let mut left = row.to_vec();
    for _ in 0..2 {
        let along: Vec<f64> = features.axes()?.map(|axis| dot(axis, &left)).collect();
        features.axes()?.zip(along).for_each(|(axis, t)| axpy(-t, axis, &mut left));
    }
    let length = norm(&left);
    (length > 0.0).then(|| left.iter().map(|x| x / length).collect())
}

/// $W \|v\| - \langle w, v \rangle = \frac{\|v\|}{2 W} \left( \|w - W v / \|v\|\|^2 + W^2 - \|w\|^2 \right)$ of (C11), for a
/// $v$ known up to `error` and $\|w\| \le W$.
pub(super) fn constraint_part(
    given: &Given<'_>,
    at: &TwofoldVector,
    v: &[f64],
    error: f64,
    radius: f64,
) -> f64 {
    let (length, w) = (norm(v), &at.high[given.free()..]);
    if length <= 2.0 * error || length == 0.0 {
        return 2.0 * radius * (length + error);
    }
    let apart: Vec<f64> = w.iter().zip(v).map(|(w, v)| w - radius * (v / length)).collect();
    let apart = norm(&apart) + radius * (4.0 * error / length + 8.0 * f64::EPSILON);
    let mut short = given.square(at);
    short.add_product(-radius, radius);
    let short = at_least_zero(-short.value()) + 8.0 * f64::EPSILON * f64::EPSILON * radius * radius;
    (length + error) / (2.0 * radius) * (apart * apart + short)
}
