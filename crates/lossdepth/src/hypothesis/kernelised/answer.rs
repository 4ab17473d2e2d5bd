//! From what the solver found in the shared coordinates to an answer, in coordinates of the query's own where those are too coarse.

use super::aside::Sight;
use super::doubt::is_inside;
use super::{Factored, Kernelised};
use crate::depth::Fit;
use crate::error::Result;
use crate::hypothesis::linear::{Features, slots};
use crate::linalg::{COLUMN_GROUP, Matrix};
use crate::loss::{Dual, Smooth};
use crate::rows::Rows;
use crate::solver::Task;
use crate::solver::quasi_newton::{self, Outcome, Queue};

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
    /// The sample with the query's own direction as one more coordinate, and the query.
    fn with_own(&self, sight: &Sight, free_intercept: bool) -> (Features, Vec<f64>) {
        let Self { space, factor, features, aside } = self;
        let (n, rank) = (space.len(), factor.pivots.len());
        let mut points = Matrix::zeros(n, rank + 1);
        for (row, column) in factor.pivots.iter().enumerate() {
            (0..=row).for_each(|j| points.set(*column, j, factor.triangle.at(row, j)));
        }
        for (j, &i) in aside.points.iter().enumerate() {
            aside.coordinates.col(j).iter().enumerate().for_each(|(k, x)| points.set(i, k, *x));
            points.set(i, rank, sight.parts[j]);
        }
        let weights: Vec<f64> = features.half_weights.iter().map(|c| 2.0 * c).collect();
        let own = Features::of_points(points, &weights, space.squares(), space.mass(), free_intercept);
        let query = Matrix::from_fn(rank + 1, COLUMN_GROUP, |i, j| match (i, j) {
            (_, 1..) => 0.0,
            (i, _) if i == rank => sight.beyond,
            (i, _) => sight.point.at(i, 0),
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
        query: Rows<'_>,
        outcome: Outcome,
        task: &Task,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Answer> {
        let Factored { space, factor, features, aside } = prepared;
        let (tol, free) = (self.task.tol, features.free);
        let doubt =
            self.doubt(prepared, space.own(query.row(0))?, &outcome).bound(&self.task, free, &outcome);
        let mut answer = Answer { outcome, doubt, own: None };
        if doubt <= tol - task.tol {
            return Ok(answer);
        }
        let sight = aside.look(space, factor, query)?;
        let located = features.place(sight.point.clone(), &[sight.beyond]);
        let slack = aside.slack(space, factor, sight.own).max(sight.lost);
        let at = (features, located.col(0));
        let closer = self.closer(prepared, at, sight.own, slack, &sight.sizes, &answer.outcome);
        answer.doubt = closer.bound(&self.task, free, &answer.outcome).min(doubt);
        // Only a solution that is good enough in its coordinates can be so in better ones.
        if answer.error() <= tol || answer.outcome.error > tol || is_inside(&answer.outcome) {
            return Ok(answer);
        }
        let (own, located) = prepared.with_own(&sight, free == 1);
        let mut alone = Alone { query: Some(located.clone()), found: None, cancelled };
        quasi_newton::solve(&self.loss, &own, task, slots(&own, 1, 1), &mut alone);
        let Some(mut outcome) = alone.found else { return Ok(answer) };
        let nothing = vec![0.0; aside.points.len()];
        // Products of parts that are rounded, and no larger than the distances.
        let slack = 3.0 * slack;
        let closer = self.closer(prepared, (&own, &located), sight.own, slack, &nothing, &outcome);
        let doubt = closer.bound(&self.task, free, &outcome);
        outcome.iterations += answer.outcome.iterations;
        let other = Answer { outcome, doubt, own: Some((own, located)) };
        Ok(if other.error() < answer.error() { other } else { answer })
    }
}
