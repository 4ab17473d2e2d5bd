//! A constraint $\|w\| \le W$: a search for the penalty whose minimiser has that norm.

use super::precision::Precision;
use super::{Block, End, Stage};
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{axpy, dot, norm};
use crate::problem::Variant;
use crate::solver::radius::scale_to_sphere;

/// How accurately the penalised problem is solved, relative to the penalty's part of the gradient, before its norm is
/// compared with the radius; and by how much more accurately each time that proves too coarse (heuristic).
pub(super) const INNER_TOL: f64 = 1e-2;
const TIGHTER: f64 = 0.1;

impl<L: Smooth + Dual, T: Precision> Block<'_, L, T> {
    /// Under a constraint: once the penalised problem is solved to the inner tolerance, compare its norm with the radius.
    pub(super) fn follow_radius(&mut self, k: usize) -> Option<End> {
        let free = self.features.free;
        let lane = &mut self.lanes[k];
        let length = norm(&lane.theta[free..]);
        let solved = norm(&lane.gradient) <= lane.inner_tol * 2.0 * lane.reg * length;
        let Some(search) = lane.radius.as_mut() else { return self.next_iteration(k) };
        let Variant::Constrained { radius } = self.task.variant else { return self.next_iteration(k) };
        if length == 0.0 {
            // The origin is the minimiser: nothing to follow.
            axpy(-2.0 * lane.reg, &lane.theta[free..], &mut lane.gradient[free..]);
            return self.check_radius(k);
        }
        if !solved {
            return self.next_iteration(k);
        }
        let off = length / radius - 1.0;
        if search.inactive(lane.reg, length) || off.abs() <= lane.inner_tol {
            if off > 0.0 || !search.inactive(lane.reg, length) {
                scale_to_sphere(&mut lane.theta[free..], length, radius);
            }
            lane.stage = Stage::Rescale;
            return None;
        }
        if off < 0.0 {
            // Inside the ball: a small penalty leaves a small gap, and may do as it is.
            axpy(-2.0 * lane.reg, &lane.theta[free..], &mut lane.gradient[free..]);
            if self.certified(k, self.task.tol) {
                return self.converged(k);
            }
            let lane = &mut self.lanes[k];
            axpy(2.0 * lane.reg, &lane.theta[free..], &mut lane.gradient[free..]);
        }
        let lane = &mut self.lanes[k];
        let Some(search) = lane.radius.as_mut() else { return self.next_iteration(k) };
        let next = search.next(lane.reg, length);
        self.change_penalty(k, next);
        self.next_iteration(k)
    }

    fn change_penalty(&mut self, k: usize, next: f64) {
        let (free, lane) = (self.features.free, &mut self.lanes[k]);
        let delta = next - lane.reg;
        axpy(2.0 * delta, &lane.theta[free..], &mut lane.gradient[free..]);
        lane.memory.shift_penalty(delta, free);
        lane.reg = next;
    }

    /// Under a constraint, at a feasible point with the gradient of the bare risk: is it good enough?
    pub(super) fn check_radius(&mut self, k: usize) -> Option<End> {
        let free = self.features.free;
        if self.certified(k, self.task.tol) {
            return self.converged(k);
        }
        let lane = &mut self.lanes[k];
        lane.inner_tol *= TIGHTER;
        let length = norm(&lane.theta[free..]);
        axpy(2.0 * lane.reg, &lane.theta[free..], &mut lane.gradient[free..]);
        lane.stage = Stage::Descend;
        // At a stationary direction the multiplier follows from the gradient itself.
        let (w, g) = (&lane.theta[free..], &lane.gradient[free..]);
        let multiplier = lane.reg - dot(w, g) / (2.0 * length * length);
        if multiplier > 0.0 && multiplier.is_finite() {
            self.change_penalty(k, multiplier);
        }
        self.next_iteration(k)
    }
}
