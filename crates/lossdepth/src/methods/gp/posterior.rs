//! What is asked of a mode: the depth with its error, and how it reacts to more mass at each point.

use super::basis::Place;
use super::dense_variance;
use super::laplace_mode::{Done, Walker};
use super::probit_mixture::{LEAST, Slope, losses, uncertainty};
use super::solve::Solver;
use super::variance::{Shared, apply, row_products};
use super::{Posterior, Problem};
use crate::numerics::linalg::{Matrix, axpy, dot, hadamard, multiply, multiply_symmetric, norm};
use crate::numerics::simd::sum_of;
use crate::problem::Stop;
use std::f64::consts::LOG2_E;

/// The covariance of the latent function at a mode, as far as influences need it.
enum Covariance {
    /// Within the leading directions: $A = (I + T^\top W T)^{-1}$, and $A$ times the query's coordinates.
    Within { inverse: Matrix, at: Vec<f64> },
    /// That of the points and the query, last: the lower triangle.
    Whole(Matrix<f32>),
}

impl Solver<'_> {
    /// Everything that is asked of a mode; `shared` is what was computed for the whole group.
    pub(super) fn posterior(&mut self, walker: &Walker, shared: &Shared<'_>) -> Posterior {
        let (n, problem) = (self.basis.len(), self.problem);
        let Walker { place, f, slopes, done, .. } = walker;
        let Walker { at_query, pull, iterations, .. } = *walker;
        let Done { delta, drift, stop } =
            done.unwrap_or(Done { delta: f64::INFINITY, drift: 0.0, stop: Stop::Stalled });
        let root = self.basis.largest.max(norm(&place.coordinates).powi(2)).sqrt();
        // Kernel values that are off by so much are off by that times the sum of the coefficients in f, which the mode answers as
        // it does a drift: with all points and the query it has the mass 2 N.
        let spread = 1.0 + 0.25 * (2.0 * problem.total).sqrt() * root;
        let rounding = spread * place.slack * (slopes.iter().sum::<f64>() + pull.abs());
        let shift = delta * root + drift + rounding;
        let (mut variances, covariance, found) = self.variances(walker, shared);
        let (losses, loss_query, error) = variances.losses(f, at_query, problem, shift);
        // Nothing is known about variances that could not be computed.
        let error = if found || !problem.averaged { error } else { f64::INFINITY };
        let half = &problem.half_weights;
        let depth = sum_of(n, |i| half[i] * losses[i].value) + 0.5 * loss_query.value;
        let influence = problem
            .influence
            .then(|| self.influence(walker, &losses, loss_query, &covariance, &variances.around));
        Posterior {
            depth,
            error,
            influence,
            f: f.clone(),
            at_query,
            slopes: slopes.clone(),
            pull,
            iterations,
            stop,
        }
    }

    /// The variances at a mode, the covariance they are from, and whether they were found.
    fn variances(&mut self, walker: &Walker, shared: &Shared<'_>) -> (Variances, Covariance, bool) {
        let Walker { place, curvatures, bend, .. } = walker;
        if let Some((gram, whole)) = self.basis.gram.as_ref().zip(self.whole.as_mut())
            && let Some(variances) = whole.variances(gram, walker)
        {
            let lower =
                if self.problem.influence { whole.covariance(&variances) } else { Matrix::zeros(0, 0) };
            return (variances, Covariance::Whole(lower), true);
        }
        let width = self.basis.width() + 1;
        let factor = self.factor(&place.own, &place.coordinates, curvatures, *bend);
        let found = factor.is_some() && self.whole.is_none();
        let inverse = factor.map_or_else(
            || Matrix::from_fn(width, width, |i, j| f64::from(u8::from(i == j))),
            |factor| factor.inverse(width),
        );
        // T A, row by row: base = t A t.
        multiply(&mut self.turned, &self.own, &inverse);
        let base = row_products(&self.turned, &self.own);
        let at = apply(&inverse, &place.coordinates);
        let mut variances = Variances::new(base, dot(&at, &place.coordinates));
        if self.problem.averaged && !self.basis.rest.is_nothing() && self.whole.is_none() {
            self.correct(&mut variances, walker, shared, &inverse, &at);
        }
        let largest = curvatures.iter().fold(*bend, |m, w| m.max(*w));
        variances.doubt = Doubt { kernel: place.slack * (self.basis.len() + 1) as f64, curvature: largest };
        (variances, Covariance::Within { inverse, at }, found)
    }

    /// How the depth reacts to more mass at each point, per unit: directly, through the mode and through the variances.
    fn influence(
        &mut self,
        walker: &Walker,
        losses: &[Slope],
        loss_query: Slope,
        covariance: &Covariance,
        around: &[f64],
    ) -> Vec<f64> {
        let Walker { place, f, curvatures, at_query, bend, .. } = walker;
        let (n, problem) = (self.basis.len(), self.problem);
        let (half, total) = (&problem.half_weights, problem.total);
        // b = −Σ a C², where a are the slopes of the depth in the variances and C the posterior covariance.
        let mut slopes: Vec<f64> = half.iter().zip(losses).map(|(c, l)| c * l.variance).collect();
        slopes.push(0.5 * loss_query.variance);
        let squares: Vec<f64> = match covariance {
            _ if !problem.averaged => vec![0.0; n + 1],
            Covariance::Within { at, .. } => self.squares_within(place, at, &slopes, around),
            Covariance::Whole(lower) => dense_variance::apply(lower, &slopes, true),
        };
        let through: Vec<f64> = squares.iter().map(|sum| -sum).collect();
        // s: the slopes of the depth in f, with what f does to W; then C s.
        let tilt = |f: f64| (0.5 * f).tanh();
        let mut s: Vec<f64> =
            (0..n).map(|i| half[i] * losses[i].mean - through[i] * curvatures[i] * tilt(f[i])).collect();
        s.push(0.5 * loss_query.mean - through[n] * bend * tilt(*at_query));
        let response = match covariance {
            Covariance::Within { inverse, .. } => self.apply_within(place, inverse, &s, around),
            Covariance::Whole(lower) => dense_variance::apply(lower, &s, false),
        };
        (0..n)
            .map(|i| {
                let right = 0.5 * (1.0 + (0.5 * f[i]).tanh());
                let wrong = 1.0 - right;
                0.5 * losses[i].value + total * (wrong * response[i] + through[i] * right * wrong)
            })
            .collect()
    }

    /// $\sum_j a_j C_{ij}^2$ for every point and, last, for the query: within the leading directions, and for the point itself what
    /// the rest adds to its variance.
    fn squares_within(&mut self, place: &Place, at: &[f64], slopes: &[f64], around: &[f64]) -> Vec<f64> {
        let (n, m) = (self.basis.len(), self.basis.width());
        // Single precision is enough: these are influences.
        let mut moments = if let Some(single) = &mut self.single {
            single.products(&place.own, &slopes[..n])
        } else {
            for j in 0..=m {
                hadamard(self.own.col(j), &slopes[..n], self.weighted.col_mut(j));
            }
            let mut moments = Matrix::zeros(m + 1, m + 1);
            multiply_symmetric(&mut moments, &self.weighted, &self.own);
            moments
        };
        for j in 0..=m {
            axpy(slopes[n] * place.coordinates[j], &place.coordinates, moments.col_mut(j));
            for i in 0..j {
                let x = moments.at(j, i);
                moments.set(i, j, x);
            }
        }
        let mut squares = if let Some(single) = &mut self.single {
            single.forms(&self.turned, &moments)
        } else {
            multiply(&mut self.again, &self.turned, &moments);
            row_products(&self.again, &self.turned)
        };
        let base = row_products(&self.turned, &self.own);
        for i in 0..n {
            squares[i] += slopes[i] * around[i] * (2.0 * base[i] + around[i]);
        }
        squares.push(dot(at, &apply(&moments, at)));
        squares
    }

    /// $\sum_j C_{ij} s_j$ for every point, the same way.
    fn apply_within(&self, place: &Place, inverse: &Matrix, s: &[f64], around: &[f64]) -> Vec<f64> {
        let (n, m) = (self.basis.len(), self.basis.width());
        let mut gathered: Vec<f64> = (0..=m).map(|j| dot(self.own.col(j), &s[..n])).collect();
        axpy(s[n], &place.coordinates, &mut gathered);
        let moved = apply(inverse, &gathered);
        let mut response: Vec<f64> = (0..n).map(|i| around[i] * s[i]).collect();
        for j in 0..=m {
            axpy(moved[j], self.own.col(j), &mut response);
        }
        response
    }
}

/// The posterior variances of the latent function at the sample and at the query, each between two bounds.
pub(super) struct Variances {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// What the rest adds, about.
    pub(super) around: Vec<f64>,
    pub(super) low_query: f64,
    pub(super) high_query: f64,
    /// What is not in the bounds yet.
    doubt: Doubt,
}

/// What a kernel matrix that is off does to variances.
///
/// $\Sigma(K) = (K^{-1} + W)^{-1}$ grows with $K$ and is concave in it, so that for $\|D\| \le p$ each $v_i$ grows by at most
/// $p \|e_i - W \Sigma e_i\|^2 \le p (1 + \sqrt{w v_i})^2$ if $K$ becomes $K + D$, where $w$ is the largest curvature, since
/// $\Sigma W \Sigma \preceq \Sigma$; and by as much, with the new $v_i$, it was larger before if it falls.
#[derive(Debug, Clone, Copy, Default)]
struct Doubt {
    /// A bound on the norm of what the matrix is off by.
    kernel: f64,
    curvature: f64,
}

impl Doubt {
    fn widen(self, low: f64, high: f64) -> (f64, f64) {
        let more = |v: f64| {
            let root = 1.0 + (self.curvature * v.max(0.0)).sqrt();
            self.kernel * root * root
        };
        let high = high + more(high);
        ((low - more(high)).max(0.0), high)
    }
}

impl Variances {
    /// Those within the leading directions.
    pub(super) fn new(base: Vec<f64>, query: f64) -> Self {
        Self {
            around: vec![0.0; base.len()],
            high: base.clone(),
            low: base,
            low_query: query,
            high_query: query,
            doubt: Doubt::default(),
        }
    }

    /// Those known to be between two bounds each.
    pub(super) fn between(bounds: impl Iterator<Item = (f64, f64)>, query: (f64, f64)) -> Self {
        let (low, high): (Vec<f64>, Vec<f64>) = bounds.unzip();
        let (around, doubt) = (vec![0.0; low.len()], Doubt::default());
        Self { around, low, high, low_query: query.0, high_query: query.1, doubt }
    }

    /// The middle of the bounds of a point, or of the query after the last of them.
    pub(super) fn middle(&self, i: usize) -> f64 {
        let bounds = self.low.get(i).zip(self.high.get(i));
        let (low, high) = bounds.unwrap_or((&self.low_query, &self.high_query));
        0.5 * (low + high)
    }

    pub(super) fn add(&mut self, i: usize, (low, high): (f64, f64)) {
        self.around[i] = 0.5 * (low + high);
        self.low[i] += low;
        self.high[i] += high;
    }

    pub(super) fn add_to_query(&mut self, (low, high): (f64, f64)) {
        self.low_query += low;
        self.high_query += high;
    }

    /// The losses, and a bound on the error of the depth they make if the mode is off by `shift`.
    fn losses(
        &mut self,
        f: &[f64],
        at_query: f64,
        problem: &Problem<'_>,
        shift: f64,
    ) -> (Vec<Slope>, Slope, f64) {
        let n = f.len();
        let (mut sample, mut query) = (vec![Slope::default(); n], [Slope::default()]);
        if !problem.averaged {
            for (out, f) in sample.iter_mut().zip(f) {
                *out = plain(*f);
            }
            query[0] = plain(-at_query);
            query[0].mean = -query[0].mean;
            // The loss has slope at most log₂ e on either side.
            return (sample, query[0], LOG2_E * shift + 8.0 * f64::EPSILON);
        }
        let middle: Vec<f64> = (0..n).map(|i| self.middle(i)).collect();
        losses(f, &middle, false, problem.influence, &mut sample);
        losses(&[at_query], &[self.middle(n)], true, problem.influence, &mut query);
        // The 2e-16 of each error function, times coefficients of up to 4e3; and the variances' own rounding.
        let rounding = 1e-13 * middle.iter().fold(1.0f64, |m, v| m.max(*v));
        let stretch = shift.exp();
        let doubt = self.doubt;
        let bounds = |low: f64, high: f64| {
            let (low, high) = doubt.widen(low, high);
            ((low / stretch - rounding).max(0.0), high * stretch + rounding)
        };
        for (low, high) in self.low.iter_mut().zip(&mut self.high) {
            (*low, *high) = bounds(*low, *high);
        }
        let (low, high) = bounds(self.low_query, self.high_query);
        let error = uncertainty(f, (&self.low, &self.high), shift, false, &sample, problem.half_weights)
            + uncertainty(&[at_query], (&[low], &[high]), shift, true, &query, &[0.5]);
        let error = error + cancellation(&sample, problem.half_weights) + cancellation(&query, &[0.5]);
        let error = if error.is_nan() { f64::INFINITY } else { error };
        (sample, query[0], error + 2e-12)
    }
}

/// What rounding does to losses: probabilities are differences of error functions times up to 4e3, so that small ones have
/// few digits.
fn cancellation(losses: &[Slope], weights: &[f64]) -> f64 {
    const NOISE: f64 = 4e-12;
    let off = |loss: &Slope| LOG2_E * NOISE / ((-loss.value).exp2() - NOISE).max(LEAST);
    losses.iter().zip(weights).map(|(loss, w)| w * off(loss)).sum()
}

/// The loss at the mode itself.
fn plain(f: f64) -> Slope {
    let wrong = 0.5 * (1.0 - (0.5 * f).tanh());
    let value = LOG2_E * ((-f).max(0.0) + (-f.abs()).exp().ln_1p());
    Slope { value, mean: -LOG2_E * wrong, variance: 0.0 }
}
