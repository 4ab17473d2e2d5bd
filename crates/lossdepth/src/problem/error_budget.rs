//! How a tolerance is shared among the sources of error of a depth.

use super::Variant;

/// The tolerance of a depth, and the share of each source of error in it.
///
/// The shares decide which path is tried and when a solver stops. They do not enter a proof: the error that is reported
/// is the sum of what was proven for each source. All of them are heuristics, with these reasons.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ErrorBudget {
    tol: f64,
}

/// Rotation to the principal axes: its a-priori bound (C18) is about 1e-12 of the data's size, far below usual
/// tolerances, and a solver that gains digits with every iteration does not notice 0.1 %.
const ROTATION: f64 = 1e-3;
/// Rounding of kernel values: a depth of usual size has a bound (C22) of 1e-10 or less; 10 % leaves room for small penalties.
const KERNEL_ROUNDING: f64 = 0.1;
/// The same under a constraint, where the bound (C23) is up to the square root of that.
const KERNEL_ROUNDING_CONSTRAINED: f64 = 0.5;
/// An iterate in single precision: a little below the tolerance, so that it holds up in double precision too.
const SINGLE_PRECISION: f64 = 0.8;
/// The error that a last single-precision step is predicted to leave before it is taken unchecked: predictions are
/// right to a small factor, and double precision checks the result.
const PREDICTED_STEP: f64 = 0.25;
/// The penalty that stands for an inactive constraint, times the squared radius: its effect must not be seen.
const INACTIVE_CONSTRAINT: f64 = 1e-4;
/// Complementarity of an interior point that counts as its optimum where rounding prevents a tighter gap.
const COMPLEMENTARITY: f64 = 1e-2;
/// The gap of a support vector machine before the rounding of its kernel is added.
const DUAL_ACTIVE_SET: f64 = 0.25;
/// The Laplace mode of a Gaussian process, where its posterior variance is exact, and where that is approximated.
const LAPLACE_MODE: f64 = 0.5;
const LAPLACE_MODE_APPROXIMATE: f64 = 0.05;
/// What a low-rank posterior may leave, on average over the sample, and at any of its points.
const LOW_RANK_MEAN: f64 = 0.3;
const LOW_RANK_MAXIMUM: f64 = 3.0;
/// What a trial of a low-rank posterior may show before it is taken for all queries.
const LOW_RANK_TRIAL: f64 = 0.75;

impl ErrorBudget {
    pub(crate) const fn new(tol: f64) -> Self {
        Self { tol }
    }

    /// For the solver of a linear depth, which works on rotated rows.
    pub(crate) fn linear_solver(self) -> f64 {
        (1.0 - ROTATION) * self.tol
    }

    /// For the solver of a kernel depth with a smooth loss.
    pub(crate) fn kernel_solver(self, variant: Variant) -> f64 {
        let rounding = match variant {
            Variant::Constrained { .. } => KERNEL_ROUNDING_CONSTRAINED,
            _ => KERNEL_ROUNDING,
        };
        (1.0 - rounding) * self.tol
    }

    /// For an iterate in single precision.
    pub(crate) fn single_precision(self) -> f64 {
        SINGLE_PRECISION * self.tol
    }

    /// For the error that is predicted after one more step in single precision.
    pub(crate) fn predicted_step(self) -> f64 {
        PREDICTED_STEP * self.tol
    }

    /// For the penalty that stands for an inactive constraint.
    pub(crate) fn inactive_constraint(self) -> f64 {
        INACTIVE_CONSTRAINT * self.tol
    }

    /// For the complementarity of an interior point.
    pub(crate) fn complementarity(self) -> f64 {
        COMPLEMENTARITY * self.tol
    }

    /// For the gap of a support vector machine.
    pub(crate) fn dual_active_set(self) -> f64 {
        DUAL_ACTIVE_SET * self.tol
    }

    /// For the Laplace mode of a Gaussian process.
    pub(crate) fn laplace_mode(self, exact_variance: bool) -> f64 {
        (if exact_variance { LAPLACE_MODE } else { LAPLACE_MODE_APPROXIMATE }) * self.tol
    }

    /// For what a low-rank posterior leaves: on average, and at most.
    pub(crate) fn low_rank(self) -> (f64, f64) {
        (LOW_RANK_MEAN * self.tol, LOW_RANK_MAXIMUM * self.tol)
    }

    /// For the errors in a trial of a low-rank posterior.
    pub(crate) fn low_rank_trial(self) -> f64 {
        LOW_RANK_TRIAL * self.tol
    }
}
