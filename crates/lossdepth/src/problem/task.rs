//! What to solve, how well, and how long to try.

use super::Variant;
use crate::numerics::linalg::axpy;

/// What to solve, how well, and how long to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Task {
    pub(crate) reg: f64,
    pub(crate) variant: Variant,
    pub(crate) shares: Shares,
    pub(crate) tol: f64,
    pub(crate) max_iter: usize,
    /// Whether standard errors are asked for.
    pub(crate) stderr: bool,
    /// Whether outcomes keep the multipliers of the hinge, one number for each row.
    pub(crate) multipliers: bool,
}

impl Task {
    /// The bare risk with `reg` 1, a tolerance of 1e-6, and standard errors.
    pub(crate) const DEFAULT: Self = Self {
        reg: 1.0,
        variant: Variant::Risk,
        shares: Shares::RISK,
        tol: 1e-6,
        max_iter: 1000,
        stderr: true,
        multipliers: false,
    };
}

/// What the losses of the sample and of the query count for in the depth, relative to what they count for in the risk.
///
/// Only for [`Variant::Risk`] they may be anything but 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shares {
    pub(crate) sample: f64,
    pub(crate) query: f64,
}

impl Shares {
    /// The risk as it is.
    pub(crate) const RISK: Self = Self { sample: 1.0, query: 1.0 };

    /// Turns the parameters of the minimiser into minus the gradient of the depth there; `slope` times `query` is the
    /// gradient of the query's term.
    ///
    /// At the minimum the gradients of the sample's term, of the query's and of the penalty, $2 \lambda w$, sum to zero.
    pub(crate) fn pull(self, theta: &mut [f64], reg: f64, free: usize, slope: f64, query: &[f64]) {
        theta[..free].fill(0.0);
        for w in &mut *theta {
            *w *= 2.0 * reg * self.sample;
        }
        if self != Self::RISK {
            axpy((self.sample - self.query) * slope, query, theta);
        }
    }

    /// Turns losses of the sample into what they count for.
    pub(crate) fn weigh(self, losses: &mut [f64]) {
        if self != Self::RISK {
            for loss in losses {
                *loss *= self.sample;
            }
        }
    }
}
