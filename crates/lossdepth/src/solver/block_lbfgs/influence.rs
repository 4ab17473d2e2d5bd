//! The standard error of a risk: how the minimiser reacts to the sample, by conjugate gradients in the same sweeps.

use super::precision::Precision;
use super::{End, Slot, Stage, Sweep};
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{axpy, dot};
use crate::problem::Variant;
use crate::solver::lbfgs::Metric;

/// Conjugate gradients stop at this relative residual: a standard error needs no more.
const INFLUENCE_TOL: f64 = 1e-2;
const INFLUENCE_STEPS: usize = 60;
/// Conjugate gradients for $H q = -\nabla(\text{depth})$.
#[derive(Default)]
pub(super) struct Influence {
    residual: Vec<f64>,
    scratch: Vec<f64>,
    /// ⟨residual, preconditioned residual⟩, and where to stop.
    energy: f64,
    target: f64,
    steps: usize,
    started: bool,
}

impl<L: Smooth + Dual, T: Precision> Sweep<'_, L, T> {
    /// The depth stands; the standard error of a risk takes a few more sweeps.
    pub(super) fn converged(&mut self, k: usize) -> Option<End> {
        if !T::EXACT && !self.task.stderr {
            // All that follows is for the standard error: the depth itself is for double precision to find.
            return Some(T::finish(self, k));
        }
        let free = self.features.free;
        let (losses, curvatures) = (self.losses.col_mut(k), self.curvatures.col_mut(k));
        let weights = self.sample.half_weights;
        let total = T::settle(self.loss, self.margins.col(k), weights, losses, curvatures);
        self.slots[k].depth = self.depth(k, total);
        if T::EXACT {
            // From here on the margins are not needed, but the slopes at them are.
            self.margins.col_mut(k).copy_from_slice(self.slopes.col(k));
        }
        if self.task.variant != Variant::Risk || !self.task.stderr {
            self.shift.col_mut(k).fill(T::default());
            return Some(T::finish(self, k));
        }
        self.precondition(k);
        let slot = &mut self.slots[k];
        slot.stage = Stage::Influence;
        let Slot { theta, influence, direction, memory, reg, .. } = slot;
        influence.residual.clone_from(theta);
        let at_query = -0.5 * self.loss.grad(-slot.value);
        self.task.functional.descent(&mut influence.residual, *reg, free, at_query, &slot.query);
        let metric = Metric { diagonal: &self.diagonal, query: &slot.query, curvature: slot.query_curvature };
        direction.clone_from(&influence.residual);
        memory.apply(direction, &metric);
        let energy = dot(&influence.residual, direction).max(0.0);
        influence.target = INFLUENCE_TOL * INFLUENCE_TOL * energy;
        (influence.steps, influence.started) = (0, false);
        None
    }

    /// One step of conjugate gradients, or the first residual.
    pub(super) fn follow_influence(&mut self, k: usize) -> Option<End> {
        self.precondition(k);
        let free = self.features.free;
        let slot = &mut self.slots[k];
        let Influence { residual, scratch, energy, target, steps, started } = &mut slot.influence;
        let product = scratch;
        product.clear();
        product.extend(self.gradients.col(k).iter().map(|g| g.widened()).chain([0.0]));
        axpy(slot.query_curvature * dot(&slot.query, &slot.direction), &slot.query, product);
        axpy(2.0 * slot.reg, &slot.direction[free..], &mut product[free..]);
        let metric = Metric { diagonal: &self.diagonal, query: &slot.query, curvature: slot.query_curvature };
        let (along, shift) = (self.along.col(k), self.shift.col_mut(k));
        if *started {
            let length = *energy / dot(&slot.direction, product);
            if !length.is_finite() {
                return Some(T::finish(self, k));
            }
            axpy(T::rounded(length), along, shift);
            axpy(-length, product, residual);
        } else {
            shift.copy_from_slice(along);
            axpy(-1.0, product, residual);
        }
        let conditioned = product;
        conditioned.clone_from(residual);
        slot.memory.apply(conditioned, &metric);
        let fresh = dot(residual, conditioned);
        *steps += 1;
        if fresh <= *target || *steps > INFLUENCE_STEPS || !fresh.is_finite() {
            return Some(T::finish(self, k));
        }
        let keep = if *started { fresh / *energy } else { 0.0 };
        (*energy, *started) = (fresh, true);
        for (p, c) in slot.direction.iter_mut().zip(&*conditioned) {
            *p = keep * *p + c;
        }
        None
    }
}
