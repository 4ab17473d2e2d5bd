//! The classifier of one query, and its depth.

use crate::problem::{Fit, Stop};

/// A query's classifier $f = (\sum_i \beta_i k(x_i, \cdot) + \beta_z k(z, \cdot)) / s + b$ with its depth.
#[derive(Debug, Clone)]
pub(super) struct SvmSolution {
    /// The dual variables, the query's last; `None` in the closed form, where all are at their outer bounds.
    pub(super) beta: Option<Vec<f64>>,
    /// $s$: $2 \lambda$, or the multiplier that takes its place under a constraint.
    pub(super) scale: f64,
    /// $f$ at the sample points; empty in the closed form.
    pub(super) values: Vec<f64>,
    /// $f(z)$.
    pub(super) query_value: f64,
    pub(super) intercept: f64,
    pub(super) norm: f64,
    pub(super) depth: f64,
    pub(super) error: f64,
    pub(super) iterations: usize,
    pub(super) stop: Stop,
}

impl SvmSolution {
    pub(super) fn fit(&self, stderr: f64) -> Fit {
        let Self { depth, error, iterations, stop, .. } = *self;
        if depth.is_nan() || error.is_nan() {
            // After an overflow only the range of a depth is known.
            return Fit { depth: 1.0, error: 1.0, stderr, iterations, stop: Stop::Stalled };
        }
        let depth = depth.clamp(0.0, 1.0);
        Fit { depth, error: (error + 8.0 * f64::EPSILON * depth).min(1.0), stderr, iterations, stop }
    }
}
