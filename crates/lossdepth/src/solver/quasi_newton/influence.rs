//! The standard error of a risk: how the minimiser reacts to the sample, by conjugate gradients in the same sweeps.

use super::{Outcome, Stage, Sweep};
use crate::linalg::{axpy, dot};
use crate::loss::{Dual, Smooth};
use crate::penalty::Variant;
use crate::solver::Stop;
use crate::solver::lbfgs::Metric;

/// Conjugate gradients stop at this relative residual: a standard error needs no more.
const INFLUENCE_TOL: f64 = 1e-2;
const INFLUENCE_STEPS: usize = 60;
/// Conjugate gradients for $H q = 2 \lambda w$.
#[derive(Default)]
pub(super) struct Influence {
    solution: Vec<f64>,
    residual: Vec<f64>,
    /// ⟨residual, preconditioned residual⟩, and where to stop.
    energy: f64,
    target: f64,
    steps: usize,
    started: bool,
}

impl<L: Smooth + Dual> Sweep<'_, L> {
    /// The depth stands; the standard error of a risk takes a few more sweeps.
    pub(super) fn converged(&mut self, k: usize) -> Option<(usize, Outcome)> {
        let free = self.features.free;
        let (losses, curvatures) = (self.losses.col_mut(k), self.curvatures.col_mut(k));
        let total = self.loss.settle(self.margins.col(k), &self.features.half_weights, losses, curvatures);
        let slot = &mut self.slots[k];
        let w = &slot.theta[free..];
        let penalty = if self.task.variant == Variant::Objective { slot.reg * dot(w, w) } else { 0.0 };
        slot.depth = total + 0.5 * self.loss.value(-slot.value) + penalty;
        // From here on the margins are not needed, but the slopes at them are.
        self.margins.col_mut(k).copy_from_slice(self.slopes.col(k));
        if self.task.variant != Variant::Risk {
            self.shift.col_mut(k).fill(0.0);
            return Some(self.finish(k, Stop::Converged));
        }
        self.precondition(k);
        let slot = &mut self.slots[k];
        slot.stage = Stage::Influence;
        let mut rhs = slot.theta.clone();
        rhs[..free].fill(0.0);
        for w in &mut rhs {
            *w *= 2.0 * slot.reg;
        }
        let metric = Metric { diagonal: &self.diagonal, query: &slot.query, curvature: slot.query_curvature };
        let mut guess = rhs.clone();
        slot.memory.apply(&mut guess, &metric);
        let target = INFLUENCE_TOL * INFLUENCE_TOL * dot(&rhs, &guess).max(0.0);
        slot.influence = Influence { residual: rhs, target, ..Influence::default() };
        slot.direction.clone_from(&guess);
        slot.influence.solution = guess;
        None
    }

    /// One step of conjugate gradients, or the first residual.
    pub(super) fn follow_influence(&mut self, k: usize) -> Option<(usize, Outcome)> {
        self.precondition(k);
        let free = self.features.free;
        let slot = &mut self.slots[k];
        let Influence { solution, residual, energy, target, steps, started } = &mut slot.influence;
        let mut product: Vec<f64> = self.gradients.col(k).iter().chain([&0.0]).copied().collect();
        axpy(slot.query_curvature * dot(&slot.query, &slot.direction), &slot.query, &mut product);
        axpy(2.0 * slot.reg, &slot.direction[free..], &mut product[free..]);
        let metric = Metric { diagonal: &self.diagonal, query: &slot.query, curvature: slot.query_curvature };
        let (along, shift) = (self.along.col(k), self.shift.col_mut(k));
        if *started {
            let length = *energy / dot(&slot.direction, &product);
            if !length.is_finite() {
                return Some(self.finish(k, Stop::Converged));
            }
            axpy(length, &slot.direction, solution);
            axpy(length, along, shift);
            axpy(-length, &product, residual);
        } else {
            shift.copy_from_slice(along);
            axpy(-1.0, &product, residual);
        }
        let mut conditioned = residual.clone();
        slot.memory.apply(&mut conditioned, &metric);
        let fresh = dot(residual, &conditioned);
        *steps += 1;
        if fresh <= *target || *steps > INFLUENCE_STEPS || !fresh.is_finite() {
            return Some(self.finish(k, Stop::Converged));
        }
        let keep = if *started { fresh / *energy } else { 0.0 };
        (*energy, *started) = (fresh, true);
        for (p, c) in slot.direction.iter_mut().zip(&conditioned) {
            *p = keep * *p + c;
        }
        None
    }
}
