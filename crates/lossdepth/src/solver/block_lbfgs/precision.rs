//! Iterations in single precision cost half as much; double precision certifies their result.

use super::{Block, End, Lane, Stage};
use crate::certify::gap::Certificate;
use crate::loss::{Dual, LineSums, Smooth};
use crate::numerics::linalg::{Matrix, Real, norm};
use crate::problem::features::{Reaction, ShiftResponse};
use crate::problem::{ErrorBudget, Features, Functional, Outcome, Stop, Task, Variant};
use crate::solver::newton;

/// The sample in one precision.
pub(super) struct Sample<'a, T: Real> {
    pub(super) tall: &'a Matrix<T>,
    pub(super) wide: &'a Matrix<T>,
    pub(super) half_weights: &'a [T],
}

/// Margins, and how they change along a step.
pub(super) struct Line<'a, T> {
    pub(super) margins: &'a [T],
    pub(super) direction: &'a [T],
    pub(super) step: f64,
}

/// Margins and the weights of their rows.
pub(super) type Weighted<'a, T> = (&'a [T], &'a [T]);

/// The numbers in the columns of a [`Block`]. What has as many entries as a query has coordinates is always in double
/// precision.
pub(super) trait Precision: Real {
    /// Whether a gradient in this precision proves anything.
    const EXACT: bool;
    /// The error to reach in this precision.
    fn tolerance(task: &Task) -> f64;

    /// The sample and the loss in this precision, if they have one.
    fn sample<'a, L: Smooth>(loss: &L, features: &'a Features) -> Option<Sample<'a, Self>>;
    /// See [`Smooth::slopes_along`].
    fn slopes_along<L: Smooth>(loss: &L, line: Line<'_, Self>, w: &[Self], out: &mut [Self]) -> LineSums;
    /// See [`Smooth::losses_and_curvatures`]; only in double precision there are losses.
    fn losses_and_curvatures<L: Smooth>(
        loss: &L,
        at: Weighted<'_, Self>,
        losses: &mut [f64],
        out: &mut [Self],
    ) -> f64;
    /// See [`Smooth::losses_and_slopes`]; in double precision only.
    fn losses_and_slopes<L: Smooth>(
        loss: &L,
        at: Weighted<'_, Self>,
        losses: &mut [f64],
        out: &mut [Self],
    ) -> f64;
    /// Ends a query that has converged in this precision.
    fn finish<L: Smooth + Dual>(block: &mut Block<'_, L, Self>, k: usize) -> End;
    /// Ends a query that does not converge in this precision.
    fn hand_over<L: Smooth + Dual>(block: &mut Block<'_, L, Self>, k: usize) -> End;
}

impl Precision for f64 {
    const EXACT: bool = true;

    fn tolerance(task: &Task) -> f64 {
        task.tol
    }

    fn sample<'a, L: Smooth>(_: &L, features: &'a Features) -> Option<Sample<'a, Self>> {
        let Features { tall, wide, half_weights, .. } = features;
        Some(Sample { tall, wide, half_weights })
    }

    fn slopes_along<L: Smooth>(loss: &L, line: Line<'_, Self>, w: &[Self], out: &mut [Self]) -> LineSums {
        loss.slopes_along(line.margins, line.direction, line.step, w, out)
    }

    fn losses_and_curvatures<L: Smooth>(
        loss: &L,
        at: Weighted<'_, Self>,
        losses: &mut [f64],
        out: &mut [Self],
    ) -> f64 {
        loss.losses_and_curvatures(at.0, at.1, losses, out)
    }

    fn losses_and_slopes<L: Smooth>(
        loss: &L,
        at: Weighted<'_, Self>,
        losses: &mut [f64],
        out: &mut [Self],
    ) -> f64 {
        loss.losses_and_slopes(at.0, at.1, losses, out)
    }

    /// Reports.
    fn finish<L: Smooth + Dual>(block: &mut Block<'_, L, Self>, k: usize) -> End {
        let lane = &mut block.lanes[k];
        let stderr = if block.task.stderr {
            // Conjugate gradients have overwritten the slopes, and saved them before.
            let slopes = if lane.has_influence { block.slopes.col(k) } else { block.margins.col(k) };
            block.task.functional.scale_losses(block.losses.col_mut(k));
            // H is at least 2 reg J, so q of the risk is no longer than w; where it is, conjugate gradients broke down by rounding.
            let (free, solution) = (block.features.free, &lane.influence.solution[..]);
            let sound = |q: &&[f64]| {
                let longest = 2.0 * norm(&lane.theta[free..]);
                block.task.functional != Functional::RISK || norm(&q[free..]) <= longest
            };
            let q = (block.task.variant == Variant::Risk).then_some(solution).filter(sound);
            let shift = if block.features.learns_shift() {
                newton::shift_response(block.loss, block.features, block.task, (&lane.query, &lane.theta, q))
            } else {
                ShiftResponse::default()
            };
            let reaction = Some(Reaction { theta: &lane.theta, q, reg: lane.reg, shift });
            block.features.standard_error(block.losses.col_mut(k), slopes, block.shift.col(k), reaction)
        } else {
            f64::NAN
        };
        lane.stage = Stage::Idle;
        let Lane { depth, iterations, value, certificate: Certificate { gap, error, .. }, .. } = *lane;
        let (stop, theta, multipliers) = (Stop::Converged, lane.theta.clone(), None);
        let outcome = Outcome { depth, error, gap, stderr, iterations, stop, theta, value, multipliers };
        End::Done(lane.id, outcome)
    }

    /// Hands the query to Newton's method.
    fn hand_over<L: Smooth + Dual>(block: &mut Block<'_, L, Self>, k: usize) -> End {
        let lane = &mut block.lanes[k];
        lane.stage = Stage::Idle;
        let mut problem = newton::Newton::new(block.loss, block.features, block.task);
        End::Done(lane.id, problem.finish(&lane.query, lane.theta.clone(), lane.iterations))
    }
}

impl Precision for f32 {
    const EXACT: bool = false;

    fn tolerance(task: &Task) -> f64 {
        ErrorBudget::new(task.tol).single_precision()
    }

    fn sample<'a, L: Smooth>(loss: &L, features: &'a Features) -> Option<Sample<'a, Self>> {
        loss.single()?;
        let single = features.single()?;
        Some(Sample { tall: &single.tall, wide: &single.wide, half_weights: &single.half_weights })
    }

    fn slopes_along<L: Smooth>(loss: &L, line: Line<'_, Self>, w: &[Self], out: &mut [Self]) -> LineSums {
        let (Line { margins, direction, step }, Some(single)) = (line, loss.single()) else {
            return LineSums::default();
        };
        single.slopes_along_single(margins, direction, Self::rounded(step), w, out)
    }

    fn losses_and_curvatures<L: Smooth>(
        loss: &L,
        at: Weighted<'_, Self>,
        _: &mut [f64],
        out: &mut [Self],
    ) -> f64 {
        if let Some(single) = loss.single() {
            single.curvatures_single(at.0, at.1, out);
        }
        f64::NAN
    }

    fn losses_and_slopes<L: Smooth>(_: &L, _: Weighted<'_, Self>, _: &mut [f64], _: &mut [Self]) -> f64 {
        f64::NAN
    }

    /// Passes it on, with the shifts for its standard error.
    fn finish<L: Smooth + Dual>(block: &mut Block<'_, L, Self>, k: usize) -> End {
        let lane = &mut block.lanes[k];
        let Lane { predicted_step, theta, shift, .. } = &mut *lane;
        predicted_step.drain(..).zip(theta).for_each(|(step, theta)| *theta += step);
        shift.clear();
        if block.task.stderr {
            shift.extend_from_slice(block.shift.col(k));
        }
        lane.has_influence = true;
        End::Draft
    }

    /// Passes it on as it is.
    fn hand_over<L: Smooth + Dual>(_: &mut Block<'_, L, Self>, _: usize) -> End {
        End::Draft
    }
}
