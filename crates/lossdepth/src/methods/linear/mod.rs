//! Linear classifiers $f(x) = \langle w, x \rangle + b$ with penalty $\|w\|^2$.

mod paper_code;
pub(crate) mod passes;

use super::Hypothesis;
use super::setters::{self, convex_setters, setters};
use crate::certify::given::Given;
use crate::certify::hinge;
use crate::data::{Reference, Rows};
use crate::error::{DepthError, Result};
use crate::loss::{Dual, Hinge, Logistic, Loss, Smooth};
use crate::methods::explanation::Explanation;
use crate::numerics::linalg::{COLUMN_GROUP, Matrix};
use crate::problem::features::{Features, block_width};
use crate::problem::{
    Batch, ErrorBudget, Fit, Intercept, Outcome, Queue, Reported, Run, Task, Ticket, Variant,
};
use crate::solver::block_lbfgs;
use crate::solver::interior_point::{self, influence::influence};
use crate::solver::newton::{self, Newton};
use std::borrow::Cow;

/// The linear depths: which loss, and how it is penalised.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::Linear, loss::SquaredHinge};
/// let sample = Reference::new(&[[0.0], [1.0], [2.0]])?;
/// let depth = Depth::new(Linear::new(SquaredHinge).reg(0.1)).fit(&sample)?;
/// let fits = depth.score(&[[1.0], [9.0]])?;
/// assert!(fits[0].depth > fits[1].depth);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear<L> {
    loss: L,
    intercept: Intercept,
    value: Reported,
    task: Task,
}

impl<L: Loss> Linear<L> {
    /// Free intercept, `reg` 1, the bare risk, a tolerance of 1e-6.
    pub fn new(loss: L) -> Self {
        Self { loss, intercept: Intercept::Free, value: Reported::Risk, task: Task::DEFAULT }
    }

    convex_setters!();

    fn check(&self) -> Result<()> {
        setters::check(&self.task)?;
        if self.value != Reported::Risk && self.task.variant != Variant::Risk {
            return Err(DepthError::Settings(format!(
                "value `{}` goes with variant `risk`, not with `{}`",
                self.value,
                self.task.variant.name()
            )));
        }
        Ok(())
    }

    fn prepare_features(&self, sample: &Reference) -> Result<Features> {
        self.check()?;
        Ok(match self.intercept {
            Intercept::Free => Features::new(sample, true),
            Intercept::None => Features::new(sample, false),
            Intercept::Penalised => Features::new(&sample.with_constant(), false),
        })
    }

    /// A row as the features expect it: with a constant if the intercept is penalised.
    fn extended<'r>(&self, row: &'r [f64]) -> Cow<'r, [f64]> {
        match self.intercept {
            Intercept::Penalised => row.iter().copied().chain([1.0]).collect(),
            Intercept::Free | Intercept::None => row.into(),
        }
    }

    /// The coordinates of a few queries, one column each.
    fn locate(&self, features: &Features, queries: Rows<'_>) -> Matrix {
        if self.intercept != Intercept::Penalised {
            return features.locate(queries);
        }
        let width = queries.width() + 1;
        let data: Vec<f64> = queries.iter().flat_map(|row| self.extended(row).into_owned()).collect();
        match Rows::new(&data, width) {
            Ok(rows) => features.locate(rows),
            Err(_) => unreachable!("every row got one more column"),
        }
    }

    fn explanation(
        &self,
        features: &Features,
        query: &[f64],
        outcome: &Outcome,
        fit: Fit,
        influence: Vec<f64>,
    ) -> Explanation {
        let (weights, intercept) = if self.intercept == Intercept::Penalised {
            let (mut w, _) = features.classifier(&outcome.theta, &self.extended(query));
            let b = w.pop().unwrap_or(0.0);
            (w, b)
        } else {
            features.classifier(&outcome.theta, query)
        };
        Explanation::linear(fit, weights, intercept, query, influence)
    }

    /// Explains queries that are solved, `width` at a time, each with what `report` makes of its outcome. A `worker` computes the
    /// influence of the reference rows on each from the coordinates, which are columns, and the outcomes.
    fn explanations<W: FnMut(&Matrix, &[Outcome]) -> Vec<Vec<f64>>>(
        &self,
        features: &Features,
        (queries, outcomes): (Rows<'_>, &[Outcome]),
        run: &Run<'_>,
        width: usize,
        report: impl Fn(&Outcome) -> Fit + Sync,
        worker: impl Fn() -> W + Sync,
    ) -> Result<Vec<Explanation>> {
        Batch::new(queries, run).run(|mut ticket| {
            let mut influences = worker();
            while let Some((first, rows)) = ticket.take(width, width) {
                let solved = &outcomes[first..first + rows.len()];
                let found = influences(&self.locate(features, rows), solved);
                for (j, (outcome, influence)) in solved.iter().zip(found).enumerate() {
                    let fit = report(outcome);
                    let explanation = self.explanation(features, rows.row(j), outcome, fit, influence);
                    ticket.done(first + j, explanation);
                }
            }
        })
    }
}

/// How queries that are to be explained are solved: with standard errors. Progress counts them when they are explained.
fn to_explain<'a>(run: &Run<'a>) -> Run<'a> {
    Run { depths_only: false, progress: None, ..*run }
}

/// The task for a solver that works on rotated rows.
fn in_axes(task: Task) -> Task {
    Task { tol: ErrorBudget::new(task.tol).linear_solver(), ..task }
}

/// Hands a worker the coordinates of its next queries, and stores their solutions.
struct LocatedQueries<'a, 'b, L> {
    linear: &'a Linear<L>,
    features: &'a Features,
    ticket: Ticket<'a, 'b, Outcome>,
    /// How many queries to rotate at once: a product for a few of them spends its time on the axes.
    width: usize,
    /// Queries with their coordinates that are not handed out yet, the next one last.
    ready: Vec<(usize, Vec<f64>)>,
}

impl<L: Loss> Queue for LocatedQueries<'_, '_, L> {
    fn next(&mut self, most: usize) -> Vec<(usize, Vec<f64>)> {
        if self.ready.is_empty() {
            let count = self.width.min(self.ticket.share()).max(most);
            let Some((first, rows)) = self.ticket.take(count, COLUMN_GROUP) else { return Vec::new() };
            let coordinates = self.linear.locate(self.features, rows);
            self.ready.extend((0..rows.len()).rev().map(|j| (first + j, coordinates.col(j).to_vec())));
        }
        let rest = self.ready.len().saturating_sub(most);
        self.ready.drain(rest..).rev().collect()
    }

    fn done(&mut self, id: usize, outcome: Outcome) {
        self.ticket.done(id, outcome);
    }

    fn cancelled(&self) -> bool {
        self.ticket.cancelled()
    }
}

impl Linear<Logistic> {
    setters! {
        /// Whether the risk is reported, or what the paper's scripts print; for the variant [`Variant::Risk`].
        value: Reported => value;
    }
}

/// One query whose solution misses the tolerance on the fast path.
struct Missed<'a> {
    given: Given<'a>,
    task: &'a Task,
    cancelled: &'a dyn Fn() -> bool,
}

impl<L: Loss> Linear<L> {
    /// Certifies a posteriori, or refines, the solutions that miss the tolerance on the fast path.
    fn certify(
        &self,
        features: &Features,
        queries: Rows<'_>,
        run: &Run<'_>,
        task: &Task,
        mut outcomes: Vec<Outcome>,
        refine: impl Fn(&Missed<'_>, &Outcome) -> Outcome + Sync,
    ) -> Result<Vec<Outcome>> {
        let misses = |o: &Outcome| o.error > task.tol || o.gap > task.gap_tol;
        let missed: Vec<usize> = (0..outcomes.len()).filter(|&j| misses(&outcomes[j])).collect();
        if !missed.is_empty() {
            let data: Vec<f64> = missed.iter().flat_map(|&j| queries.row(j)).copied().collect();
            let rows = Rows::new(&data, queries.width())?;
            let run = Run { progress: None, ..*run };
            let batch = Batch::new(rows, &run);
            let refined = batch.run(|mut ticket| {
                while let Some((k, row)) = ticket.take(1, 1) {
                    let coordinates = self.locate(features, row);
                    let given = Given::new(features, &self.extended(row.row(0)), coordinates.col(0));
                    let cancelled = || ticket.cancelled();
                    let outcome = {
                        let problem = Missed { given, task, cancelled: &cancelled };
                        refine(&problem, &outcomes[missed[k]])
                    };
                    ticket.done(k, outcome);
                }
            })?;
            missed.into_iter().zip(refined).for_each(|(j, outcome)| outcomes[j] = outcome);
        }
        for outcome in &mut outcomes {
            outcome.stop = outcome.stop.for_error(outcome.error, task.tol);
        }
        Ok(outcomes)
    }
}

impl<L: Smooth + Dual> Linear<L> {
    /// The task, for a sample of this size.
    fn task(&self, features: &Features, run: &Run<'_>) -> Task {
        let functional = paper_code::functional(self.value, features.rows());
        let gap_tol = paper_code::gap_tol(self.value, self.task.tol);
        Task { functional, gap_tol, stderr: !run.depths_only, ..self.task }
    }

    fn outcomes(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Outcome>> {
        self.outcomes_of_task(features, queries, run, self.task(features, run))
    }

    fn outcomes_of_task(
        &self,
        features: &Features,
        queries: Rows<'_>,
        run: &Run<'_>,
        task: Task,
    ) -> Result<Vec<Outcome>> {
        let batch = Batch::new(queries, run);
        let width = block_width(features, queries.len(), batch.workers());
        let solver_task = in_axes(task);
        let outcomes = batch.run(|ticket| {
            let mut queue = LocatedQueries { linear: self, features, ticket, width, ready: Vec::new() };
            block_lbfgs::solve(&self.loss, features, &solver_task, width, &mut queue);
        })?;
        let refine = |missed: &Missed<'_>, outcome: &Outcome| {
            newton::refine(&self.loss, &missed.given, &task, outcome, missed.cancelled)
        };
        self.certify(features, queries, run, &task, outcomes, refine)
    }

    fn fit(&self, features: &Features, outcome: &Outcome) -> Fit {
        paper_code::fit(outcome, paper_code::functional(self.value, features.rows()), self.task.tol)
    }
}

impl<L: Smooth + Dual> Hypothesis for Linear<L> {
    type Prepared = Features;

    fn prepare(&self, sample: &Reference) -> Result<Features> {
        let features = self.prepare_features(sample)?;
        Ok(if self.loss.single().is_some() { features.with_single() } else { features })
    }

    fn isolate(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        Ok(self.outcomes(features, queries, run)?.iter().map(|outcome| self.fit(features, outcome)).collect())
    }

    fn explain(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let outcomes = self.outcomes(features, queries, &to_explain(run))?;
        let task = self.task(features, run);
        let report = |outcome: &Outcome| self.fit(features, outcome);
        // One query at a time: each takes a Hessian.
        self.explanations(features, (queries, &outcomes), run, 1, report, || {
            let mut newton = Newton::new(&self.loss, features, &task);
            move |at: &Matrix, solved: &[Outcome]| {
                let each = solved.iter().enumerate();
                each.map(|(j, outcome)| newton.explain(at.col(j), &outcome.theta)).collect()
            }
        })
    }
}

/// How many multipliers of solutions that miss the fast path may be kept at a time: 512 MB.
const MULTIPLIERS: usize = 1 << 26;

impl Linear<Hinge> {
    fn outcomes(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Outcome>> {
        let chunk = (MULTIPLIERS / (features.len() + 1)).max(1024);
        let mut outcomes = Vec::with_capacity(queries.len());
        for first in (0..queries.len()).step_by(chunk) {
            let some = queries.range(first, (first + chunk).min(queries.len()));
            outcomes.append(&mut self.outcomes_of(features, some, run)?);
        }
        Ok(outcomes)
    }

    fn outcomes_of(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Outcome>> {
        let batch = Batch::new(queries, run);
        let width = block_width(features, queries.len(), batch.workers()).min(32);
        let task = Task { stderr: !run.depths_only, ..self.task };
        let solver_task = in_axes(task);
        let outcomes = batch.run(|ticket| {
            let mut queue = LocatedQueries { linear: self, features, ticket, width, ready: Vec::new() };
            interior_point::solve(features, &solver_task, width, &mut queue);
        })?;
        self.certify(features, queries, run, &task, outcomes, Self::refined)
    }

    /// The best of what the solver found and what refinement makes of it, if need be from another path.
    fn refined(missed: &Missed<'_>, outcome: &Outcome) -> Outcome {
        let Missed { given, task, cancelled } = missed;
        let mut best = outcome.clone();
        if let Some(dual) = &outcome.multipliers {
            let candidate = (&outcome.theta[..], &dual[..]);
            let found = hinge::certify_or_refine(given, task, candidate, outcome.iterations, cancelled);
            best = best.better(&found, task);
        }
        if best.error > task.tol && !matches!(task.variant, Variant::Constrained { .. }) {
            let other = interior_point::solve_exactly(given.features, task, given.coordinates, cancelled);
            if let Some(other) = other {
                let used = outcome.iterations + other.iterations;
                if other.error < best.error {
                    best = Outcome { iterations: used, ..other.clone() };
                }
                if let Some(dual) = other.multipliers.filter(|_| best.error > task.tol) {
                    let found = hinge::certify_or_refine(given, task, (&other.theta, &dual), used, cancelled);
                    best = best.better(&found, task);
                }
            }
        }
        if !task.multipliers {
            best.multipliers = None;
        }
        best
    }
}

impl Hypothesis for Linear<Hinge> {
    type Prepared = Features;

    fn prepare(&self, sample: &Reference) -> Result<Features> {
        self.prepare_features(sample)
    }

    fn isolate(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        Ok(self.outcomes(features, queries, run)?.iter().map(Outcome::fit).collect())
    }

    fn explain(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let asked = Self { task: Task { multipliers: true, ..self.task }, ..*self };
        let outcomes = asked.outcomes(features, queries, &to_explain(run))?;
        // A group of queries shares the products that their Hessians take.
        self.explanations(features, (queries, &outcomes), run, COLUMN_GROUP, Outcome::fit, || {
            |at: &Matrix, solved: &[Outcome]| influence(features, &self.task, at, solved)
        })
    }
}
