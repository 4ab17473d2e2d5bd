//! Sweeps in single precision come close at twice the speed; those in double precision have the last word.

use super::{End, Slot, Stage, Sweep};
use crate::certify::gap::Certificate;
use crate::loss::{Dual, Smooth, Walk};
use crate::numerics::linalg::{Matrix, Real};
use crate::problem::Features;
use crate::problem::{ErrorBudget, Outcome, Stop, Task};
use crate::solver::newton;

/// The sample as a sweep sees it.
pub(super) struct Sample<'a, T: Real> {
    pub(super) tall: &'a Matrix<T>,
    pub(super) wide: &'a Matrix<T>,
    pub(super) half_weights: &'a [T],
}

/// The numbers in the columns of a [`Sweep`]. What has as many entries as a query has coordinates is always in double
/// precision.
pub(super) trait Precision: Real {
    /// Whether a gradient in this precision proves anything.
    const EXACT: bool;
    /// The error to reach in this precision.
    fn tolerance(task: &Task) -> f64;

    /// The sample and the loss in this precision, if they have one.
    fn sample<'a, L: Smooth>(loss: &L, features: &'a Features) -> Option<Sample<'a, Self>>;
    /// See [`Smooth::walk`].
    fn walk<L: Smooth>(
        loss: &L,
        m: &[Self],
        d: &[Self],
        step: f64,
        weights: &[Self],
        slopes: &mut [Self],
    ) -> Walk;
    /// See [`Smooth::settle`]; only in double precision there are losses.
    fn settle<L: Smooth>(
        loss: &L,
        m: &[Self],
        weights: &[Self],
        losses: &mut [f64],
        curvatures: &mut [Self],
    ) -> f64;
    /// See [`Smooth::assess`]; in double precision only.
    fn assess<L: Smooth>(
        loss: &L,
        m: &[Self],
        weights: &[Self],
        losses: &mut [f64],
        slopes: &mut [Self],
    ) -> f64;
    /// What to do with a query that has come as far as it should.
    fn finish<L: Smooth + Dual>(sweep: &mut Sweep<'_, L, Self>, k: usize) -> End;
    /// What to do with one that does not get there.
    fn give_up<L: Smooth + Dual>(sweep: &mut Sweep<'_, L, Self>, k: usize) -> End;
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

    fn walk<L: Smooth>(
        loss: &L,
        m: &[Self],
        d: &[Self],
        step: f64,
        weights: &[Self],
        slopes: &mut [Self],
    ) -> Walk {
        loss.walk(m, d, step, weights, slopes)
    }

    fn settle<L: Smooth>(
        loss: &L,
        m: &[Self],
        weights: &[Self],
        losses: &mut [f64],
        curvatures: &mut [Self],
    ) -> f64 {
        loss.settle(m, weights, losses, curvatures)
    }

    fn assess<L: Smooth>(
        loss: &L,
        m: &[Self],
        weights: &[Self],
        losses: &mut [f64],
        slopes: &mut [Self],
    ) -> f64 {
        loss.assess(m, weights, losses, slopes)
    }

    /// Reports.
    fn finish<L: Smooth + Dual>(sweep: &mut Sweep<'_, L, Self>, k: usize) -> End {
        let slot = &mut sweep.slots[k];
        let stderr = if sweep.task.stderr {
            // Conjugate gradients have overwritten the slopes, and saved them before.
            let slopes = if slot.influenced { sweep.slopes.col(k) } else { sweep.margins.col(k) };
            sweep.task.functional.weigh(sweep.losses.col_mut(k));
            sweep.features.standard_error(sweep.losses.col_mut(k), slopes, sweep.shift.col(k))
        } else {
            f64::NAN
        };
        slot.stage = Stage::Idle;
        let Slot { depth, iterations, value, certificate: Certificate { gap, error, .. }, .. } = *slot;
        let (stop, theta, dual) = (Stop::Converged, slot.theta.clone(), Vec::new());
        End::Done(slot.id, Outcome { depth, error, gap, stderr, iterations, stop, theta, value, dual })
    }

    /// Hands a stubborn query to Newton's method.
    fn give_up<L: Smooth + Dual>(sweep: &mut Sweep<'_, L, Self>, k: usize) -> End {
        let slot = &mut sweep.slots[k];
        slot.stage = Stage::Idle;
        let mut problem = newton::Newton::new(sweep.loss, sweep.features, sweep.task);
        End::Done(slot.id, problem.finish(&slot.query, slot.theta.clone(), slot.iterations))
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

    fn walk<L: Smooth>(
        loss: &L,
        m: &[Self],
        d: &[Self],
        step: f64,
        weights: &[Self],
        slopes: &mut [Self],
    ) -> Walk {
        loss.single().map_or_else(Walk::default, |single| {
            single.walk_single(m, d, Self::rounded(step), weights, slopes)
        })
    }

    fn settle<L: Smooth>(
        loss: &L,
        m: &[Self],
        weights: &[Self],
        _: &mut [f64],
        curvatures: &mut [Self],
    ) -> f64 {
        if let Some(single) = loss.single() {
            single.curvatures_single(m, weights, curvatures);
        }
        f64::NAN
    }

    fn assess<L: Smooth>(_: &L, _: &[Self], _: &[Self], _: &mut [f64], _: &mut [Self]) -> f64 {
        f64::NAN
    }

    /// Passes it on, with the shifts for its standard error.
    fn finish<L: Smooth + Dual>(sweep: &mut Sweep<'_, L, Self>, k: usize) -> End {
        let slot = &mut sweep.slots[k];
        let Slot { leap, theta, shift, .. } = &mut *slot;
        leap.drain(..).zip(theta).for_each(|(step, theta)| *theta += step);
        shift.clear();
        if sweep.task.stderr {
            shift.extend_from_slice(sweep.shift.col(k));
        }
        slot.influenced = true;
        End::Draft
    }

    /// Passes it on as it is.
    fn give_up<L: Smooth + Dual>(_: &mut Sweep<'_, L, Self>, _: usize) -> End {
        End::Draft
    }
}
