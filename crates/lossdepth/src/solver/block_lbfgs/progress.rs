//! What a lane does after the products of an iteration: certify its iterate, go on, or end.

use super::lane::{Lane, Stage};
use super::precision::Precision;
use super::{Block, End, STALLED_ITERATIONS};
use crate::certify::axes::{AxesCertificate, Candidate};
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::norm;
use crate::problem::ErrorBudget;

impl<L: Smooth + Dual, T: Precision> Block<'_, L, T> {
    /// Reads the products' outcome and decides what a lane does next.
    pub(super) fn advance(&mut self, k: usize) -> Option<End> {
        match self.lanes[k].stage {
            Stage::Idle => None,
            Stage::Descend if self.lanes[k].step.is_none() => self.restart(k),
            Stage::Descend => {
                let lane = &mut self.lanes[k];
                lane.iterations += 1;
                std::mem::swap(&mut lane.gradient, &mut lane.change);
                self.find_gradient(k, self.lanes[k].reg);
                let lane = &mut self.lanes[k];
                let step = lane.step.unwrap_or(0.0);
                lane.direction.iter_mut().for_each(|p| *p *= step);
                lane.change.iter_mut().zip(&lane.gradient).for_each(|(c, g)| *c = g - *c);
                // The warm start says nothing about the curvature at its end.
                if lane.iterations > 1 || !lane.warm_started {
                    lane.memory.push(&lane.direction, &lane.change);
                }
                if lane.radius.is_some() { self.follow_radius(k) } else { self.check(k) }
            }
            Stage::Rescale => {
                self.lanes[k].iterations += 1;
                self.find_gradient(k, 0.0);
                self.check_radius(k)
            }
            Stage::Influence => self.follow_influence(k),
            Stage::Verify => self.verify(k),
        }
    }

    /// No progress along the last direction: restart from the metric alone.
    fn restart(&mut self, k: usize) -> Option<End> {
        let lane = &mut self.lanes[k];
        let warm_started = lane.iterations == 0 && lane.warm_started;
        if lane.memory.is_empty() && !warm_started {
            return Some(T::hand_over(self, k));
        }
        lane.memory.clear();
        lane.iterations += 1;
        self.next_iteration(k)
    }

    /// Certifies in double precision what single precision has found.
    fn verify(&mut self, k: usize) -> Option<End> {
        self.lanes[k].iterations += 1;
        self.find_gradient(k, self.lanes[k].reg);
        if self.certified(k, self.task.tol) && self.lanes[k].has_influence {
            self.lanes[k].depth = self.depth(k, self.lanes[k].depth);
            return Some(T::finish(self, k));
        }
        let lane = &mut self.lanes[k];
        // What single precision makes of a point that is not good enough is not good enough either.
        lane.has_influence = false;
        self.evaluate_at_theta(k);
        self.check(k)
    }

    fn candidate<'s>(&'s self, lane: &'s Lane) -> Candidate<'s> {
        let Lane { theta, gradient, query, value, slope_mass, smallest_margin, .. } = lane;
        Candidate {
            features: self.features,
            theta,
            gradient,
            query,
            value: *value,
            slope_mass: *slope_mass,
            smallest_margin: *smallest_margin,
            margin_error: (
                self.features.margin_rounding(lane.term_sizes, lane.steps),
                self.features.margin_rounding(norm(query) * norm(theta), 1),
            ),
        }
    }

    /// Certifies the candidate of a lane; whether its error in the axes is at most `tol`.
    pub(super) fn certified(&mut self, k: usize, tol: f64) -> bool {
        let reg = self.lanes[k].reg;
        let AxesCertificate { given, own_error } =
            self.candidate(&self.lanes[k]).certify(self.loss, reg, self.task, tol);
        let lane = &mut self.lanes[k];
        (lane.certificate, lane.error) = (given, own_error);
        own_error <= tol && given.gap <= self.task.gap_tol
    }

    /// Certifies a candidate: converged, handed over, or one more iteration.
    fn check(&mut self, k: usize) -> Option<End> {
        let (before, tol) = (self.lanes[k].error, T::tolerance(self.task));
        let met = self.certified(k, tol);
        let error = self.lanes[k].error;
        let candidate = self.candidate(&self.lanes[k]);
        let rounded = !T::EXACT && !met && candidate.gradient_is_rounding(self.loss, f64::from(f32::EPSILON));
        let lane = &mut self.lanes[k];
        if error < 0.5 * lane.best {
            (lane.best, lane.best_at) = (error, lane.iterations);
        }
        if met {
            return self.converged(k);
        }
        if rounded {
            return Some(T::hand_over(self, k));
        }
        // If the next step does as much as this one did it is the last, and double precision certifies it anyway.
        let predicted = error / before * error;
        if !T::EXACT && before.is_finite() && predicted <= ErrorBudget::new(tol).predicted_step() {
            self.find_direction(k);
            let Lane { predicted_step, direction, .. } = &mut self.lanes[k];
            predicted_step.clone_from(direction);
            return self.converged(k);
        }
        self.next_iteration(k)
    }

    /// One more direction, unless that has gone on for too long.
    pub(super) fn next_iteration(&mut self, k: usize) -> Option<End> {
        let Lane { iterations, best_at, .. } = self.lanes[k];
        let stuck = self.lanes[k].radius.is_none() && iterations >= best_at + STALLED_ITERATIONS;
        if stuck || iterations >= self.iteration_limit || iterations >= self.task.max_iter {
            return Some(T::hand_over(self, k));
        }
        self.find_direction(k);
        None
    }
}
