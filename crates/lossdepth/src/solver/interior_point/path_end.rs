//! Where a path ends, and what follows: the answer, another kind of path, or under a constraint another penalty.

use super::certificate::PathCertificate;
use super::{
    Attempt, Block, Iterate, PATH_LENGTH, PROGRESS, RADIUS_STEPS, ROUNDED_STALLS, SAME_PENALTY, STALLS,
};
use crate::certify::gap::{Certificate, risk_error};
use crate::numerics::linalg::norm;
use crate::problem::{ErrorBudget, Stop, Variant};
use crate::solver::radius::scale_to_sphere;

impl Block<'_> {
    /// Whether a query is done, its path or its search for a penalty at an end.
    pub(super) fn check(&mut self, k: usize) -> Option<Iterate> {
        let lane = &self.lanes[k];
        let broken = lane.factor.is_none() || lane.theta.iter().any(|t| !t.is_finite());
        let end = if broken { self.retry(k) } else { self.path_check(k) };
        self.end_of_path(k, end?)
    }

    /// No progress: the next kind of path, or the end.
    fn retry(&mut self, k: usize) -> Option<Iterate> {
        let next = match self.lanes[k].attempt {
            Attempt::Mehrotra => Attempt::Centred,
            Attempt::Centred => Attempt::WeightedRows,
            Attempt::WeightedRows => return Some(self.path_end(k, Stop::Stalled)),
        };
        let best = self.lanes[k].best.take();
        self.lanes[k].restart();
        (self.lanes[k].best, self.lanes[k].attempt) = (best, next);
        None
    }

    /// What the end of a path means: the answer, or under a constraint perhaps another penalty.
    pub(super) fn end_of_path(&mut self, k: usize, end: Iterate) -> Option<Iterate> {
        match self.task.variant {
            Variant::Constrained { radius } => self.next_penalty(k, end, radius),
            _ => Some(end),
        }
    }

    /// Certifies the newest point of a path, and says whether the path ends there.
    fn path_check(&mut self, k: usize) -> Option<Iterate> {
        let free = self.features.free;
        let lane = &self.lanes[k];
        let dual: Vec<f64> = lane.rows.dual.iter().map(|a| a.clamp(0.0, 1.0)).collect();
        let (theta, margin) = (lane.theta.clone(), lane.rows.margin.clone());
        let (reg, stop) = (lane.reg, Stop::Converged);
        let certificate = Certificate::NOTHING;
        let mut iterate = Iterate { theta, margin, dual, reg, certificate, error: f64::INFINITY, stop };
        self.refresh(k, &mut iterate);
        let gathered = self.gathered.col(k).to_vec();
        let PathCertificate { given, own, fenchel } = self.certify(k, &mut iterate, &gathered, None);
        let length = norm(&iterate.theta[free..]);
        let risk = risk_error(own.gap, reg, length) + own.rounding;
        iterate.certificate = given;
        iterate.error = if self.task.variant == Variant::Objective { own.gap + own.rounding } else { risk };
        let mu = self.lanes[k].rows.complementarity(&self.masses, 0.0);

        let lane = &mut self.lanes[k];
        let before = lane.best.as_ref().map_or(f64::INFINITY, |b| b.error);
        let progress = iterate.error < PROGRESS.0 * before || mu < PROGRESS.1 * lane.nearest;
        lane.stalls = if progress { 0 } else { lane.stalls + 1 };
        lane.nearest = lane.nearest.min(mu);
        // A constraint follows the minimiser itself, so a small error of the objective is not enough. A bound
        // on the distance is of the order of the root of rounding; complementarity is tighter, and the scaled point has its own certificate.
        let complementary = risk_error(mu, reg, length) <= ErrorBudget::new(self.task.tol).complementarity();
        let arrived = own.gap + own.rounding <= self.task.tol && complementary;
        let met = if lane.search.is_some() {
            risk <= self.task.tol || arrived
        } else {
            iterate.error <= self.task.tol
        };
        if iterate.error < before {
            lane.best = Some(iterate);
        }
        if met {
            return Some(self.path_end(k, Stop::Converged));
        }
        // Complementary, but not within the tolerance because of rounding: the certificate a posteriori handles that.
        let rounded = self.lanes[k].search.is_none()
            && self.lanes[k].attempt != Attempt::WeightedRows
            && risk_error(fenchel, reg, length) <= self.task.tol;
        if rounded && self.lanes[k].stalls > ROUNDED_STALLS {
            return Some(self.path_end(k, Stop::Stalled));
        }
        if self.lanes[k].stalls > STALLS {
            return self.retry(k);
        }
        let out = self.lanes[k].path >= PATH_LENGTH || self.lanes[k].iterations >= self.task.max_iter;
        out.then(|| self.path_end(k, Stop::IterationLimit))
    }

    /// The best point of the path.
    fn path_end(&mut self, k: usize, stop: Stop) -> Iterate {
        let (rows, width) = (self.masses.len(), self.features.query_width());
        let lane = &mut self.lanes[k];
        let reg = lane.reg;
        let origin = || Iterate {
            theta: vec![0.0; width],
            margin: vec![0.0; rows],
            dual: vec![1.0; rows],
            reg,
            certificate: Certificate::NOTHING,
            error: f64::INFINITY,
            stop,
        };
        let mut iterate = lane.best.take().unwrap_or_else(origin);
        iterate.stop = stop;
        iterate
    }

    /// Keeps the best feasible point and moves on to the next penalty, or ends the search.
    fn next_penalty(&mut self, k: usize, end: Iterate, radius: f64) -> Option<Iterate> {
        let free = self.features.free;
        let length = norm(&end.theta[free..]);
        let (reg, stop) = (end.reg, end.stop);
        // On the sphere, and where it is already inside the ball also as it is.
        let mut scaled = end.clone();
        if length > 0.0 {
            scale_to_sphere(&mut scaled.theta[free..], length, radius);
            self.refresh(k, &mut scaled);
        }
        for mut iterate in [scaled].into_iter().chain((length <= radius).then_some(end)) {
            let gathered = self.gather(&iterate.dual);
            iterate.certificate = self.certify(k, &mut iterate, &gathered, Some(radius)).given;
            iterate.error = iterate.certificate.error;
            if self.lanes[k].feasible.as_ref().is_none_or(|f| iterate.error < f.error) {
                self.lanes[k].feasible = Some(iterate);
            }
        }
        let lane = &mut self.lanes[k];
        lane.steps += 1;
        let best = lane.feasible.as_ref().map_or(f64::INFINITY, |f| f.error);
        let next = lane.search.as_mut().and_then(|search| {
            let over = best <= self.task.tol || length == 0.0 || search.inactive(reg, length);
            let next = search.next(reg, length);
            let out = lane.steps >= RADIUS_STEPS || lane.iterations >= self.task.max_iter;
            (!over && !out && (next - reg).abs() > SAME_PENALTY * reg).then_some(next)
        });
        let Some(next) = next else {
            return lane.feasible.take().map(|iterate| Iterate { stop, ..iterate });
        };
        lane.reg = next;
        lane.restart();
        None
    }
}
