//! From the solver's outcome to that of a kernel depth; a query whose coordinates are too coarse is solved again.

use super::non_pivots::{QueryCoordinates, QueryResidual};
use super::{FactoredSample, Kernelised};
use crate::certify::given::Given;
use crate::data::Rows;
use crate::error::Result;
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{COLUMN_GROUP, Matrix};
use crate::problem::features::{Features, block_width};
use crate::problem::{Fit, Outcome, Queue, Task};
use crate::solver::{block_lbfgs, newton};

/// The outcome of a query, with the error of its coordinates.
pub(super) struct KernelOutcome {
    pub(super) outcome: Outcome,
    kernel_error: f64,
    /// The coordinates of the sample and of the query, if it was solved again in its own.
    pub(super) own: Option<(Features, Vec<f64>)>,
}

impl KernelOutcome {
    pub(super) fn fit(&self, tol: f64) -> Fit {
        let mut fit = self.outcome.fit();
        fit.error += self.kernel_error;
        fit.stop = fit.stop.for_error(fit.error, tol);
        fit
    }

    fn error(&self) -> f64 {
        self.outcome.error + self.kernel_error
    }
}

/// A queue of one query.
struct SingleQuery<'a> {
    query: Option<Vec<f64>>,
    outcome: Option<Outcome>,
    cancelled: &'a dyn Fn() -> bool,
}

impl Queue for SingleQuery<'_> {
    fn next(&mut self, most: usize) -> Vec<(usize, Vec<f64>)> {
        if most == 0 { Vec::new() } else { self.query.take().map(|query| (0, query)).into_iter().collect() }
    }

    fn done(&mut self, _: usize, outcome: Outcome) {
        self.outcome = Some(outcome);
    }

    fn cancelled(&self) -> bool {
        (self.cancelled)()
    }
}

impl FactoredSample {
    /// The sample with the direction of a query outside of the span as one more coordinate, $e_i$ of (K13), and the query.
    fn with_own_direction(&self, located: &QueryCoordinates, free_intercept: bool) -> (Features, Vec<f64>) {
        let Self { space, factor, features, non_pivots } = self;
        let (n, rank, distance) = (space.len(), factor.pivots.len(), located.queries[0].distance);
        let mut points = Matrix::zeros(n, rank + 1);
        for (row, &i) in factor.pivots.iter().enumerate() {
            (0..=row).for_each(|j| points.set(i, j, factor.triangle.at(row, j)));
        }
        for (row, &i) in non_pivots.points.iter().enumerate() {
            (0..rank).for_each(|j| points.set(i, j, non_pivots.coordinates.at(row, j)));
            points.set(i, rank, located.residuals.at(row, 0) / distance);
        }
        let weights: Vec<f64> = features.half_weights.iter().map(|c| 2.0 * c).collect();
        let own = Features::of_points(points, &weights, space.squares(), space.mass(), free_intercept);
        let query = Matrix::from_fn(rank + 1, COLUMN_GROUP, |i, j| match (i, j) {
            (_, 1..) => 0.0,
            (i, _) if i == rank => distance,
            (i, _) => located.coordinates.at(i, 0),
        });
        let coordinates = own.query_coordinates(query, &[0.0]).col(0).to_vec();
        (own, coordinates)
    }
}

impl<L: Smooth + Dual> Kernelised<L> {
    /// Adds the error of the coordinates: the bound for any classifier if that is small enough, else the bound at this one.
    /// If that is above the tolerance, the query is solved again in its own coordinates.
    pub(super) fn with_kernel_error(
        &self,
        prepared: &FactoredSample,
        (query, residual): (Rows<'_>, &QueryResidual),
        outcome: &Outcome,
        task: &Task,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<KernelOutcome> {
        let FactoredSample { features, non_pivots, .. } = prepared;
        let outcome = if outcome.error > task.tol {
            let located = prepared.solver_coordinates(&prepared.locate(query)?);
            newton::refine(&self.loss, &Given::new(features, &[], located.col(0)), task, outcome, cancelled)
        } else {
            outcome.clone()
        };
        let (tol, free) = (self.task.tol, features.free);
        let any = self.perturbation(prepared, residual).error(&self.task, free, &outcome);
        let mut shared = KernelOutcome { outcome, kernel_error: any, own: None };
        if any <= tol - task.tol {
            return Ok(shared);
        }
        let query = prepared.locate(query)?;
        let located = prepared.solver_coordinates(&query);
        let kernel_error = residual.kernel_error(non_pivots.kernel_error);
        let components: Vec<f64> =
            query.residuals.col(0).iter().map(|p| residual.component_bound(*p)).collect();
        let at = (features, located.col(0));
        let (diagonal, solved) = (residual.diagonal, &shared.outcome);
        let perturbation = self.perturbation_at(prepared, at, diagonal, kernel_error, &components, solved);
        shared.kernel_error = perturbation.error(&self.task, free, solved).min(any);
        // Other coordinates help only if the solver's error is small enough and there is a direction to add.
        let useless = shared.outcome.error > tol || residual.distance == 0.0;
        if shared.error() <= tol || useless {
            return Ok(shared);
        }
        let (own, located) = prepared.with_own_direction(&query, free == 1);
        let mut single = SingleQuery { query: Some(located.clone()), outcome: None, cancelled };
        block_lbfgs::solve(&self.loss, &own, task, block_width(&own, 1, 1), &mut single);
        let Some(mut outcome) = single.outcome else { return Ok(shared) };
        if outcome.error > task.tol {
            outcome = newton::refine(&self.loss, &Given::new(&own, &[], &located), task, &outcome, cancelled);
        }
        // The new coordinate adds e_i e_j to the kernel of the sample.
        let component = components.iter().fold(0.0f64, |m, e| m.max(*e));
        let (kernel_error, none) = (kernel_error + component * component, vec![0.0; components.len()]);
        let at = (&own, &located[..]);
        let perturbation = self.perturbation_at(prepared, at, diagonal, kernel_error, &none, &outcome);
        let kernel_error = perturbation.error(&self.task, free, &outcome);
        outcome.iterations += shared.outcome.iterations;
        let again = KernelOutcome { outcome, kernel_error, own: Some((own, located)) };
        Ok(if again.error() < shared.error() { again } else { shared })
    }
}
