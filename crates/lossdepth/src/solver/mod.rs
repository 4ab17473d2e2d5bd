//! Solvers: they improve a point and report what is proven about it.
//!
//! Every query asks for the minimum of
//!
//! $$ F(\theta) = \tfrac12 \sum_i \omega_i \ell(\langle \theta, t_i \rangle)
//!    + \tfrac12 \ell(-\langle \theta, \hat z \rangle) + \lambda \|w\|^2, $$
//!
//! where only $\hat z$ differs from one query to the next. [`quasi_newton`] solves many of them side
//! by side with two matrix products an iteration; [`newton`] finishes the few that are too
//! ill-conditioned for it; [`interior`] is for the hinge, which has no second derivative; [`active_set`] for the hinge with a
//! kernel.
//! [`certificate`] turns a point and its gradient into a proven bound.

pub(crate) mod active_set;
mod balance;
pub(crate) mod central_path;
pub(crate) mod certificate;
pub(crate) mod descent;
pub(crate) mod gram;
pub(crate) mod interior;
pub(crate) mod lbfgs;
pub(crate) mod line_search;
pub(crate) mod newton;
pub(crate) mod quasi_newton;
pub(crate) mod radius;
pub(crate) mod warm_start;

use crate::linalg::axpy;
use crate::penalty::Variant;
use serde::{Deserialize, Serialize};

/// Why a solver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The proven error is within the tolerance.
    Converged,
    /// The iterations ran out first; the proven error still holds.
    IterationLimit,
    /// Rounding prevents further progress; the proven error still holds.
    Stalled,
}

impl Stop {
    /// The name used in tables and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::IterationLimit => "iteration-limit",
            Self::Stalled => "stalled",
        }
    }
}

impl Stop {
    /// What to report for a proven error: success is success, however it came about, and nothing else is.
    pub(crate) fn judge(self, error: f64, tol: f64) -> Self {
        match self {
            _ if error <= tol => Self::Converged,
            Self::Converged => Self::Stalled,
            other => other,
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

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
