//! Bounds on the posterior variances, and the error of the depth that follows from them.

use super::LaplaceProblem;
use super::likelihood::Likelihood;
use super::probit_mixture::{LossDerivatives, loss_error, losses};
use std::f64::consts::LOG2_E;

/// The rounding of the computed variances, as a share of the largest of them and 1.
///
/// A heuristic: the a-priori bound for $t^\top A t$ from a Cholesky factor grows with $N k(x, x)$ and is far from what is observed.
const VARIANCE_ROUNDING: f64 = 1e-13;

/// The posterior variances of the latent function at the sample and at the query, each between two bounds.
pub(super) struct VarianceBounds {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// An estimate of the residual's part in each.
    pub(super) residual_part: Vec<f64>,
    pub(super) low_query: f64,
    pub(super) high_query: f64,
    /// An error of the kernel matrix that is not in the bounds yet.
    pub(super) kernel_perturbation: VariancePerturbation,
}

/// What an error of the kernel matrix does to variances.
///
/// $C(K) = (K^{-1} + W)^{-1}$ is increasing and concave in $K$. So for $\|D\| \le p$ each $v_i$ grows by at most $p \|e_i - W C e_i\|^2 \le
/// p (1 + \sqrt{W_{\max} v_i})^2$ if $K$ becomes $K + D$, since $C W C \preceq C$; and if it decreases, it was larger before by as much, with
/// the new $v_i$ (G15).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct VariancePerturbation {
    /// A bound on $\|D\|$.
    pub(super) norm: f64,
    pub(super) max_w: f64,
}

impl VariancePerturbation {
    fn widen(self, low: f64, high: f64) -> (f64, f64) {
        let change = |v: f64| {
            let root = 1.0 + (self.max_w * v.max(0.0)).sqrt();
            self.norm * root * root
        };
        let high = high + change(high);
        ((low - change(high)).max(0.0), high)
    }
}

/// The losses of the sample and the query, and a bound on the error of the depth they add up to.
pub(super) struct Losses {
    pub(super) sample: Vec<LossDerivatives>,
    pub(super) query: LossDerivatives,
    pub(super) error: f64,
}

impl VarianceBounds {
    /// Exactly these.
    pub(super) fn new(variances: Vec<f64>, query: f64) -> Self {
        Self {
            residual_part: vec![0.0; variances.len()],
            high: variances.clone(),
            low: variances,
            low_query: query,
            high_query: query,
            kernel_perturbation: VariancePerturbation::default(),
        }
    }

    /// From a lower and an upper bound each.
    pub(super) fn between(bounds: impl Iterator<Item = (f64, f64)>, query: (f64, f64)) -> Self {
        let (low, high): (Vec<f64>, Vec<f64>) = bounds.unzip();
        let kernel_perturbation = VariancePerturbation::default();
        let residual_part = vec![0.0; low.len()];
        Self { residual_part, low, high, low_query: query.0, high_query: query.1, kernel_perturbation }
    }

    /// The middle of the bounds of point `i`, or of the query after the last point.
    pub(super) fn middle(&self, i: usize) -> f64 {
        let bounds = self.low.get(i).zip(self.high.get(i));
        let (low, high) = bounds.unwrap_or((&self.low_query, &self.high_query));
        0.5 * (low + high)
    }

    /// Adds the residual's part, between two bounds, to the variance of point `i`.
    pub(super) fn add(&mut self, i: usize, (low, high): (f64, f64)) {
        self.residual_part[i] = 0.5 * (low + high);
        self.low[i] += low;
        self.high[i] += high;
    }

    /// The same for the query.
    pub(super) fn add_to_query(&mut self, (low, high): (f64, f64)) {
        self.low_query += low;
        self.high_query += high;
    }

    /// The losses at a mode whose latent function is off by at most `f_error`; widens the bounds by all errors.
    pub(super) fn losses(
        &mut self,
        likelihood: &Likelihood,
        problem: &LaplaceProblem<'_>,
        f_error: f64,
    ) -> Losses {
        let (f, f_query) = (&likelihood.f[..], likelihood.f_query);
        let n = f.len();
        if !problem.averaged {
            let sample = f.iter().map(|f| loss_at_mode(*f)).collect();
            let mut query = loss_at_mode(-f_query);
            query.d_mean = -query.d_mean;
            // The slope of the loss is at most log₂ e; the rounding of the losses, 8 ε, is a heuristic.
            return Losses { sample, query, error: LOG2_E * f_error + 8.0 * f64::EPSILON };
        }
        let (mut sample, mut query) = (vec![LossDerivatives::default(); n], [LossDerivatives::default()]);
        let middle: Vec<f64> = (0..n).map(|i| self.middle(i)).collect();
        losses(f, &middle, false, problem.influence, &mut sample);
        losses(&[f_query], &[self.middle(n)], true, problem.influence, &mut query);
        let rounding = VARIANCE_ROUNDING * middle.iter().fold(1.0f64, |m, v| m.max(*v));
        // (G14).
        let factor = f_error.exp();
        let perturbation = self.kernel_perturbation;
        let bounds = |low: f64, high: f64| {
            let (low, high) = perturbation.widen(low, high);
            ((low / factor - rounding).max(0.0), high * factor + rounding)
        };
        for (low, high) in self.low.iter_mut().zip(&mut self.high) {
            (*low, *high) = bounds(*low, *high);
        }
        let (low, high) = bounds(self.low_query, self.high_query);
        let half = problem.half_weights;
        let error = loss_error(f, (&self.low, &self.high), f_error, false, &sample, half)
            + loss_error(&[f_query], (&[low], &[high]), f_error, true, &query, &[0.5]);
        let error = if error.is_nan() { f64::INFINITY } else { error };
        Losses { sample, query: query[0], error }
    }
}

/// The loss at the mode itself, without averaging.
fn loss_at_mode(f: f64) -> LossDerivatives {
    let sigma = 0.5 * (1.0 - (0.5 * f).tanh());
    let value = LOG2_E * ((-f).max(0.0) + (-f.abs()).exp().ln_1p());
    LossDerivatives { value, d_mean: -LOG2_E * sigma, d_variance: 0.0 }
}
