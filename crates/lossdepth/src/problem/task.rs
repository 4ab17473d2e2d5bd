//! What to solve, how accurately, and the iteration limit.

use super::Variant;
use crate::numerics::linalg::axpy;

/// What to solve, how accurately, and the iteration limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Task {
    pub(crate) reg: f64,
    pub(crate) variant: Variant,
    /// The error of the depth to reach, and the duality gap.
    pub(crate) tol: f64,
    pub(crate) gap_tol: f64,
    pub(crate) max_iter: usize,
    /// Whether standard errors are asked for, and of what.
    pub(crate) stderr: bool,
    pub(crate) functional: Functional,
    /// Whether outcomes keep the multipliers of the hinge, one number for each row.
    pub(crate) multipliers: bool,
}

impl Task {
    /// The bare risk with `reg` 1, a tolerance of 1e-6, and standard errors.
    pub(crate) const DEFAULT: Self = Self {
        reg: 1.0,
        variant: Variant::Risk,
        tol: 1e-6,
        gap_tol: f64::INFINITY,
        max_iter: 1000,
        stderr: true,
        functional: Functional::RISK,
        multipliers: false,
    };
}

/// A linear combination of the sample's and the query's part of the risk, whose standard error is asked for.
///
/// It may differ from the risk itself for [`Variant::Risk`] only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Functional {
    pub(crate) sample: f64,
    pub(crate) query: f64,
}

impl Functional {
    /// The risk.
    pub(crate) const RISK: Self = Self { sample: 1.0, query: 1.0 };

    /// Replaces the parameters of the minimiser by minus the gradient of the functional there; `slope` times `query` is
    /// the gradient of the query's part.
    ///
    /// At the minimum the gradients of both parts and of the penalty, $2 \lambda w$, sum to zero.
    pub(crate) fn descent(self, theta: &mut [f64], reg: f64, free: usize, slope: f64, query: &[f64]) {
        theta[..free].fill(0.0);
        for w in &mut *theta {
            *w *= 2.0 * reg * self.sample;
        }
        if self != Self::RISK {
            axpy((self.sample - self.query) * slope, query, theta);
        }
    }

    /// Multiplies the losses of the sample by their factor.
    pub(crate) fn scale_losses(self, losses: &mut [f64]) {
        if self != Self::RISK {
            for loss in losses {
                *loss *= self.sample;
            }
        }
    }
}
