//! The standard error of a risk: how the minimiser reacts to the sample, by conjugate gradients in the same iterations.

use super::precision::Precision;
use super::{Block, End, Lane, Stage};
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{axpy, dot};
use crate::problem::Variant;
use crate::solver::lbfgs::Metric;

/// Conjugate gradients stop at this relative residual, or after so many steps: a standard error needs no more (heuristic).
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
    /// $q$.
    pub(super) solution: Vec<f64>,
}

impl<L: Smooth + Dual, T: Precision> Block<'_, L, T> {
    /// The depth has converged; the standard error of a risk takes a few more iterations.
    pub(super) fn converged(&mut self, k: usize) -> Option<End> {
        if !T::EXACT && !self.task.stderr {
            // The rest is for the standard error; the depth itself is computed in double precision.
            return Some(T::finish(self, k));
        }
        let free = self.features.free;
        let (losses, curvatures) = (self.losses.col_mut(k), self.curvatures.col_mut(k));
        let at = (self.margins.col(k), self.sample.half_weights);
        let total = T::losses_and_curvatures(self.loss, at, losses, curvatures);
        self.lanes[k].depth = self.depth(k, total);
        if T::EXACT {
            // From here on the margins are not needed, but the slopes at them are.
            self.margins.col_mut(k).copy_from_slice(self.slopes.col(k));
        }
        if self.task.variant != Variant::Risk || !self.task.stderr {
            self.shift.col_mut(k).fill(T::default());
            return Some(T::finish(self, k));
        }
        self.precondition(k);
        let lane = &mut self.lanes[k];
        lane.stage = Stage::Influence;
        let Lane { theta, influence, direction, memory, reg, .. } = lane;
        influence.residual.clone_from(theta);
        let at_query = -0.5 * self.loss.grad(-lane.value);
        self.task.functional.descent(&mut influence.residual, *reg, free, at_query, &lane.query);
        let metric = Metric { diagonal: &self.diagonal, query: &lane.query, curvature: lane.query_curvature };
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
        let lane = &mut self.lanes[k];
        let Influence { residual, scratch, energy, target, steps, started, solution } = &mut lane.influence;
        let product = scratch;
        product.clear();
        product.extend(self.gradients.col(k).iter().map(|g| g.widened()).chain([0.0]));
        axpy(lane.query_curvature * dot(&lane.query, &lane.direction), &lane.query, product);
        axpy(2.0 * lane.reg, &lane.direction[free..], &mut product[free..]);
        let metric = Metric { diagonal: &self.diagonal, query: &lane.query, curvature: lane.query_curvature };
        let (along, shift) = (self.along.col(k), self.shift.col_mut(k));
        if *started {
            let length = *energy / dot(&lane.direction, product);
            if !length.is_finite() {
                return Some(T::finish(self, k));
            }
            axpy(T::rounded(length), along, shift);
            axpy(length, &lane.direction, solution);
            axpy(-length, product, residual);
        } else {
            shift.copy_from_slice(along);
            solution.clone_from(&lane.direction);
            axpy(-1.0, product, residual);
        }
        let conditioned = product;
        conditioned.clone_from(residual);
        lane.memory.apply(conditioned, &metric);
        let fresh = dot(residual, conditioned);
        *steps += 1;
        if fresh <= *target || *steps > INFLUENCE_STEPS || !fresh.is_finite() {
            return Some(T::finish(self, k));
        }
        let keep = if *started { fresh / *energy } else { 0.0 };
        (*energy, *started) = (fresh, true);
        for (p, c) in lane.direction.iter_mut().zip(&*conditioned) {
            *p = keep * *p + c;
        }
        None
    }
}
