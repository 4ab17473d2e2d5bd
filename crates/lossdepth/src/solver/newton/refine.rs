//! Refinement of a solution in the coordinates as given.

use super::Newton;
use crate::certify::given::Given;
use crate::certify::smooth;
use crate::loss::{Dual, Smooth};
use crate::problem::{Outcome, Task, Variant};

/// The best of a solution and what refinement in the coordinates as given makes of it, if need be with damped steps in the axes
/// in between.
pub(crate) fn refine<L: Smooth + Dual>(
    loss: &L,
    given: &Given<'_>,
    task: &Task,
    outcome: &Outcome,
    cancelled: &dyn Fn() -> bool,
) -> Outcome {
    let (mut best, mut theta, mut iterations) = (outcome.clone(), outcome.theta.clone(), outcome.iterations);
    let mut newton = Newton::new(loss, given.features, task);
    let constrained = matches!(task.variant, Variant::Constrained { .. });
    for last in [false, true] {
        let found = smooth::certify_or_refine(loss, given, task, &theta, iterations, cancelled);
        best = best.better(&found, task);
        let met = best.error <= task.tol && best.gap <= task.gap_tol;
        if last || met || constrained || found.iterations >= task.max_iter || cancelled() {
            break;
        }
        let damped = newton.damped(given.coordinates, found.theta, found.iterations);
        (theta, iterations) = (damped.theta, damped.iterations);
    }
    if task.stderr && best.theta != outcome.theta {
        best.stderr = newton.standard_error(given.coordinates, &best.theta, task.reg);
    }
    best
}
