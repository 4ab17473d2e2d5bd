//! A constraint $\|w\| \le W$: the sweeps follow the penalty until its minimiser reaches the radius.

use super::precision::Precision;
use super::{End, Stage, Sweep};
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{axpy, dot, norm};
use crate::problem::Variant;

impl<L: Smooth + Dual, T: Precision> Sweep<'_, L, T> {
    /// Under a constraint: once the penalised problem is solved well enough, look at its norm.
    pub(super) fn follow_radius(&mut self, k: usize) -> Option<End> {
        let free = self.features.free;
        let slot = &mut self.slots[k];
        let length = norm(&slot.theta[free..]);
        let solved = norm(&slot.gradient) <= slot.looseness * 2.0 * slot.reg * length;
        let Some(search) = slot.radius.as_mut() else { return self.go_on(k) };
        let Variant::Constrained { radius } = self.task.variant else { return self.go_on(k) };
        if length == 0.0 {
            // The origin is the minimiser: nothing to follow.
            axpy(-2.0 * slot.reg, &slot.theta[free..], &mut slot.gradient[free..]);
            return self.check_radius(k);
        }
        if !solved {
            return self.go_on(k);
        }
        let off = length / radius - 1.0;
        if search.inactive(slot.reg, length) || off.abs() <= slot.looseness {
            if off > 0.0 || !search.inactive(slot.reg, length) {
                let scale = radius / length * (1.0 - f64::EPSILON);
                slot.theta[free..].iter_mut().for_each(|w| *w *= scale);
            }
            slot.stage = Stage::Rescale;
            return None;
        }
        if off < 0.0 {
            // Inside the ball: a small penalty leaves a small gap, and may do as it is.
            axpy(-2.0 * slot.reg, &slot.theta[free..], &mut slot.gradient[free..]);
            if self.certified(k, self.task.tol) {
                return self.converged(k);
            }
            let slot = &mut self.slots[k];
            axpy(2.0 * slot.reg, &slot.theta[free..], &mut slot.gradient[free..]);
        }
        let slot = &mut self.slots[k];
        let Some(search) = slot.radius.as_mut() else { return self.go_on(k) };
        let next = search.next(slot.reg, length);
        self.change_penalty(k, next);
        self.go_on(k)
    }

    fn change_penalty(&mut self, k: usize, next: f64) {
        let (free, slot) = (self.features.free, &mut self.slots[k]);
        let delta = next - slot.reg;
        axpy(2.0 * delta, &slot.theta[free..], &mut slot.gradient[free..]);
        slot.memory.shift_penalty(delta, free);
        slot.reg = next;
    }

    /// Under a constraint, at a feasible point with the gradient of the bare risk: is it good enough?
    pub(super) fn check_radius(&mut self, k: usize) -> Option<End> {
        let free = self.features.free;
        if self.certified(k, self.task.tol) {
            return self.converged(k);
        }
        let slot = &mut self.slots[k];
        slot.looseness *= 0.1;
        let length = norm(&slot.theta[free..]);
        axpy(2.0 * slot.reg, &slot.theta[free..], &mut slot.gradient[free..]);
        slot.stage = Stage::Descend;
        // At a stationary direction the multiplier follows from the gradient itself.
        let (w, g) = (&slot.theta[free..], &slot.gradient[free..]);
        let multiplier = slot.reg - dot(w, g) / (2.0 * length * length);
        if multiplier > 0.0 && multiplier.is_finite() {
            self.change_penalty(k, multiplier);
        }
        self.go_on(k)
    }
}
