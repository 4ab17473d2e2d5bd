//! From a mode to the depth and its error.

use super::influence::Covariance;
use super::laplace_mode::{ModeOutcome, ModeSearch};
use super::matrix_ops::{row_products, symmetric_times};
use super::residual_variance::GroupProducts;
use super::solver::PosteriorSolver;
use super::variance_bounds::{VarianceBounds, VariancePerturbation};
use crate::numerics::linalg::{Matrix, dot, multiply, norm};
use crate::numerics::simd::sum_of;
use crate::problem::Stop;

/// Laplace's approximation for one query, as far as anything follows from it.
pub(super) struct Posterior {
    pub(super) depth: f64,
    pub(super) error: f64,
    /// The influence of each point up to a constant (G17), if asked for.
    pub(super) influence: Option<Vec<f64>>,
    /// The mode at the sample and at the query.
    pub(super) f: Vec<f64>,
    pub(super) f_query: f64,
    /// The coefficients of the mode: $f = \sum_i \alpha_i k(\cdot, x_i) + \alpha_z k(\cdot, z)$.
    pub(super) alpha: Vec<f64>,
    pub(super) alpha_query: f64,
    pub(super) iterations: usize,
    pub(super) stop: Stop,
}

impl PosteriorSolver<'_> {
    /// The posterior at a mode; `shared` was computed for the whole group.
    pub(super) fn posterior(&mut self, mode: &ModeSearch, shared: &GroupProducts<'_>) -> Posterior {
        let (n, problem) = (self.split.len(), self.problem);
        let (query, likelihood) = (&mode.query, &mode.likelihood);
        let unknown = ModeOutcome { delta: f64::INFINITY, remainder_error: 0.0, stop: Stop::Stalled };
        let ModeOutcome { delta, remainder_error, stop } = mode.outcome.unwrap_or(unknown);
        let max_norm = self.split.max_diagonal.max(norm(&query.coordinates).powi(2)).sqrt();
        // (G8) for kernel values that are off by `kernel_error`.
        let amplification = 1.0 + 0.25 * (2.0 * problem.total).sqrt() * max_norm;
        let alpha_sum = likelihood.alpha.iter().sum::<f64>() + likelihood.alpha_query.abs();
        let kernel_part = amplification * query.kernel_error * alpha_sum;
        let f_error = delta * max_norm + remainder_error + kernel_part;
        let (mut variances, covariance, found) = self.variances(mode, shared);
        let losses = variances.losses(likelihood, problem, f_error);
        let half = &problem.half_weights;
        let depth = sum_of(n, |i| half[i] * losses.sample[i].value) + 0.5 * losses.query.value;
        // Nothing is known about variances that could not be computed.
        let error = if found || !problem.averaged { losses.error } else { f64::INFINITY };
        // The rounding of n products, a few for each loss, and their sum: all terms are positive.
        let rounding = (n + 8) as f64 * f64::EPSILON;
        let error = error * (1.0 + rounding) + rounding * depth;
        let influence =
            problem.influence.then(|| self.influence(mode, &losses, &covariance, &variances.residual_part));
        Posterior {
            depth,
            error,
            influence,
            f: likelihood.f.clone(),
            f_query: likelihood.f_query,
            alpha: likelihood.alpha.clone(),
            alpha_query: likelihood.alpha_query,
            iterations: mode.iterations,
            stop,
        }
    }

    /// Bounds on the variances at a mode, the covariance they are from, and whether they could be computed.
    fn variances(
        &mut self,
        mode: &ModeSearch,
        shared: &GroupProducts<'_>,
    ) -> (VarianceBounds, Covariance, bool) {
        let (query, likelihood) = (&mode.query, &mode.likelihood);
        if let Some((gram, dense)) = self.split.gram.as_ref().zip(self.dense_variance.as_mut())
            && let Some(variances) = dense.variances(gram, mode)
        {
            let lower =
                if self.problem.influence { dense.covariance(&variances) } else { Matrix::zeros(0, 0) };
            return (variances, Covariance::Dense(lower), true);
        }
        let width = self.split.width() + 1;
        let hessian = self.hessian(query, likelihood);
        let found = hessian.is_some() && self.dense_variance.is_none();
        let inverse = hessian.map_or_else(
            || Matrix::from_fn(width, width, |i, j| f64::from(u8::from(i == j))),
            |hessian| hessian.inverse(width),
        );
        // tᵀA t for every row t of T.
        multiply(&mut self.ta, &self.t, &inverse);
        let within = row_products(&self.ta, &self.t);
        let a_query = symmetric_times(&inverse, &query.coordinates);
        let mut variances = VarianceBounds::new(within, dot(&a_query, &query.coordinates));
        if self.problem.averaged && !self.split.residual.is_zero() && self.dense_variance.is_none() {
            self.add_residual_variance(&mut variances, mode, shared, &inverse, &a_query);
        }
        variances.kernel_perturbation = VariancePerturbation {
            norm: query.kernel_error * (self.split.len() + 1) as f64,
            max_w: likelihood.max_w(),
        };
        (variances, Covariance::Projected { inverse, a_query }, found)
    }
}
