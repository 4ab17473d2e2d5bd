//! From what the solver found in the shared coordinates to an answer, in coordinates of the query's own where those are too coarse.

use super::non_pivots::{Place, Sight};
use super::{Factored, Kernelised};
use crate::certify::given::Given;
use crate::data::Rows;
use crate::error::Result;
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{COLUMN_GROUP, Matrix};
use crate::problem::Fit;
use crate::problem::Task;
use crate::problem::features::{Features, slots};
use crate::problem::{Outcome, Queue};
use crate::solver::block_lbfgs;
use crate::solver::newton;

/// What was found for a query.
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    /// What the coordinates may have done to the depth.
    doubt: f64,
    /// The coordinates of the sample and of the query, unless it is the shared ones that they were found in.
    pub(super) own: Option<(Features, Vec<f64>)>,
}

impl Answer {
    pub(super) fn fit(&self, tol: f64) -> Fit {
        let mut fit = self.outcome.fit();
        fit.error += self.doubt;
        fit.stop = fit.stop.judge(fit.error, tol);
        fit
    }

    fn error(&self) -> f64 {
        self.outcome.error + self.doubt
    }
}

/// One query, and what became of it.
struct Alone<'a> {
    query: Option<Vec<f64>>,
    found: Option<Outcome>,
    cancelled: &'a dyn Fn() -> bool,
}

impl Queue for Alone<'_> {
    fn next(&mut self, most: usize) -> Vec<(usize, Vec<f64>)> {
        if most == 0 { Vec::new() } else { self.query.take().map(|query| (0, query)).into_iter().collect() }
    }

    fn done(&mut self, _: usize, outcome: Outcome) {
        self.found = Some(outcome);
    }

    fn cancelled(&self) -> bool {
        (self.cancelled)()
    }
}

impl Factored {
    /// The sample with the direction of a query outside of the span as one more coordinate, and the query.
    fn with_own(&self, sight: &Sight, free_intercept: bool) -> (Features, Vec<f64>) {
        let Self { space, factor, features, aside } = self;
        let (n, rank, beyond) = (space.len(), factor.pivots.len(), sight.places[0].beyond);
        let mut points = Matrix::zeros(n, rank + 1);
        for (row, &i) in factor.pivots.iter().enumerate() {
            (0..=row).for_each(|j| points.set(i, j, factor.triangle.at(row, j)));
        }
        for (row, &i) in aside.points.iter().enumerate() {
            (0..rank).for_each(|j| points.set(i, j, aside.coordinates.at(row, j)));
            points.set(i, rank, sight.parts.at(row, 0) / beyond);
        }
        let weights: Vec<f64> = features.half_weights.iter().map(|c| 2.0 * c).collect();
        let own = Features::of_points(points, &weights, space.squares(), space.mass(), free_intercept);
        let query = Matrix::from_fn(rank + 1, COLUMN_GROUP, |i, j| match (i, j) {
            (_, 1..) => 0.0,
            (i, _) if i == rank => beyond,
            (i, _) => sight.found.at(i, 0),
        });
        let located = own.place(query, &[0.0]).col(0).to_vec();
        (own, located)
    }
}

impl<L: Smooth + Dual> Kernelised<L> {
    /// Bounds what the coordinates may have done to a depth, first from what is known of any classifier, then from a look at this one;
    /// and if that is more than the tolerance allows, solves the query in coordinates of its own.
    pub(super) fn answer(
        &self,
        prepared: &Factored,
        (query, place): (Rows<'_>, &Place),
        outcome: Outcome,
        task: &Task,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Answer> {
        let Factored { features, aside, .. } = prepared;
        let outcome = if outcome.error > task.tol {
            let located = prepared.located(&prepared.look(query)?);
            newton::refine(&self.loss, &Given::new(features, &[], located.col(0)), task, &outcome, cancelled)
        } else {
            outcome
        };
        let (tol, free) = (self.task.tol, features.free);
        let doubt = self.doubt(prepared, place).bound(&self.task, free, &outcome);
        let mut answer = Answer { outcome, doubt, own: None };
        if doubt <= tol - task.tol {
            return Ok(answer);
        }
        let sight = prepared.look(query)?;
        let (located, slack) = (prepared.located(&sight), place.slack(aside.square));
        let seen: Vec<f64> = sight.parts.col(0).iter().map(|part| place.seen(*part)).collect();
        let at = (features, located.col(0));
        let closer = self.closer(prepared, at, place.own, slack, &seen, &answer.outcome);
        answer.doubt = closer.bound(&self.task, free, &answer.outcome).min(doubt);
        // Only a solution that is good enough in its coordinates can be so in better ones.
        let hopeless = answer.outcome.error > tol || place.beyond == 0.0;
        if answer.error() <= tol || hopeless {
            return Ok(answer);
        }
        let (own, located) = prepared.with_own(&sight, free == 1);
        let mut alone = Alone { query: Some(located.clone()), found: None, cancelled };
        block_lbfgs::solve(&self.loss, &own, task, slots(&own, 1, 1), &mut alone);
        let Some(mut outcome) = alone.found else { return Ok(answer) };
        if outcome.error > task.tol {
            outcome = newton::refine(&self.loss, &Given::new(&own, &[], &located), task, &outcome, cancelled);
        }
        // The new coordinate adds products of two parts to the kernel of the sample.
        let most = seen.iter().fold(0.0f64, |m, e| m.max(*e));
        let (slack, nothing) = (slack + most * most, vec![0.0; seen.len()]);
        let closer = self.closer(prepared, (&own, &located), place.own, slack, &nothing, &outcome);
        let doubt = closer.bound(&self.task, free, &outcome);
        outcome.iterations += answer.outcome.iterations;
        let other = Answer { outcome, doubt, own: Some((own, located)) };
        Ok(if other.error() < answer.error() { other } else { answer })
    }
}
