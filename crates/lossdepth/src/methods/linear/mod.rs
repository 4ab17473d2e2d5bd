//! Linear classifiers $f(x) = \langle w, x \rangle + b$ with penalty $\|w\|^2$.

mod rotation_error;

use self::rotation_error::{Turn, Turned};
use super::Hypothesis;
use super::setters::{self, convex_setters};
use crate::data::Reference;
use crate::data::Rows;
use crate::error::{DepthError, Result};
use crate::loss::{Dual, Hinge, Logistic, Loss, Smooth};
use crate::methods::explanation::Explanation;
use crate::numerics::linalg::{COLUMN_GROUP, Matrix};
use crate::problem::features::{Features, slots};
use crate::problem::{Batch, Ticket};
use crate::problem::{Fit, Run};
use crate::problem::{Intercept, Outcome, Queue};
use crate::problem::{Reported, Variant};
use crate::problem::{Shares, Task};
use crate::solver::block_lbfgs;
use crate::solver::interior_point::{self, influence::influence};
use crate::solver::newton::Newton;
use std::borrow::Cow;
use std::f64::consts::LN_2;

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

    /// A row as the features are made of it: with a constant where the intercept is penalised.
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
        influence: Vec<f64>,
    ) -> Explanation {
        let (weights, intercept) = if self.intercept == Intercept::Penalised {
            let (mut w, _) = features.classifier(&outcome.theta, &self.extended(query));
            let b = w.pop().unwrap_or(0.0);
            (w, b)
        } else {
            features.classifier(&outcome.theta, query)
        };
        Explanation::linear(outcome.fit(), weights, intercept, query, influence)
    }

    /// Explains queries that are solved, `width` at a time. A `worker` computes the influence of the reference rows on each from
    /// the coordinates, which are columns, and the outcomes.
    fn explanations<W: FnMut(&Matrix, &[Outcome]) -> Vec<Vec<f64>>>(
        &self,
        features: &Features,
        queries: Rows<'_>,
        run: &Run<'_>,
        outcomes: &[Outcome],
        width: usize,
        worker: impl Fn() -> W + Sync,
    ) -> Result<Vec<Explanation>> {
        Batch::new(queries, run).run(|mut ticket| {
            let mut influences = worker();
            while let Some((first, rows)) = ticket.take(width, width) {
                let solved = &outcomes[first..first + rows.len()];
                let found = influences(&self.locate(features, rows), solved);
                for (j, (outcome, influence)) in solved.iter().zip(found).enumerate() {
                    let explanation = self.explanation(features, rows.row(j), outcome, influence);
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

/// The share of the tolerance that is left to the turn into the principal axes.
const TURN: f64 = 1e-3;

/// The task for a solver that knows the sample in its principal axes: under a penalty a share of the tolerance is for the turn
/// into them.
fn in_axes(task: Task, run: &Run<'_>) -> Task {
    let share = if matches!(task.variant, Variant::Constrained { .. }) { 0.0 } else { TURN };
    Task { stderr: !run.depths_only, tol: (1.0 - share) * task.tol, ..task }
}

/// Hands a worker the coordinates of its next queries.
struct Located<'a, 'b, L> {
    linear: &'a Linear<L>,
    features: &'a Features,
    queries: Rows<'a>,
    /// What is asked for, up to the turn into the principal axes.
    task: &'a Task,
    ticket: Ticket<'a, 'b, Outcome>,
    /// How many queries to turn into the principal axes at once: a product for a few of them spends its time on the axes.
    width: usize,
    /// Queries with their coordinates that wait for their turn, the next one last.
    ready: Vec<(usize, Vec<f64>)>,
}

impl<L: Turned> Located<'_, '_, L> {
    /// Adds to the error of an outcome what the turn into the principal axes may have done: a bound known beforehand, or where that
    /// is too much, what is measured; and where that is too much, solves the query in coordinates that are corrected. (A constraint
    /// is certified with that bound from the beginning.)
    fn certify(&self, query: &[f64], outcome: &mut Outcome) {
        if matches!(self.task.variant, Variant::Constrained { .. }) {
            return;
        }
        let (query, tol) = (self.linear.extended(query), self.linear.task.tol);
        let turn = Turn { loss: &self.linear.loss, features: self.features, task: self.task, outcome };
        let mut more = L::bounded(&turn, self.features.drift(self.features.size(&query)));
        let measured = (more > TURN * tol).then(|| self.features.measured_drift(&query)).flatten();
        let mut again = None;
        if let Some((drift, located)) = measured {
            more = more.min(L::measured(&turn, &drift));
            // Better coordinates are for those that were solved in these, or are the worse for them.
            if (outcome.error <= tol || more > outcome.error) && outcome.error + more > tol {
                again = Some(L::corrected(&turn, &located, drift));
            }
        }
        outcome.error += more;
        if let Some(again) = again
            && again.error < outcome.error
        {
            *outcome = again;
        }
        // By what the caller gets to see.
        outcome.stop = outcome.stop.judge(outcome.fit().error, tol);
    }
}

impl<L: Turned> Queue for Located<'_, '_, L> {
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

    fn done(&mut self, id: usize, mut outcome: Outcome) {
        self.certify(self.queries.row(id), &mut outcome);
        self.ticket.done(id, outcome);
    }

    fn cancelled(&self) -> bool {
        self.ticket.cancelled()
    }
}

impl Linear<Logistic> {
    /// Whether the risk is reported, or what the paper's scripts print; for the variant [`Variant::Risk`].
    #[must_use]
    pub fn value(mut self, value: Reported) -> Self {
        self.value = value;
        self
    }
}

impl<L: Smooth + Dual> Linear<L> {
    /// The task, for a sample of this size.
    fn task(&self, features: &Features) -> Task {
        // Losses come in bits.
        let [sample, query] = self.value.shares(LN_2, features.rows()).map(|share| 2.0 * share);
        Task { shares: Shares { sample, query }, ..self.task }
    }

    fn outcomes(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Outcome>> {
        let batch = Batch::new(queries, run);
        let width = slots(features, queries.len(), batch.workers());
        let task = in_axes(self.task(features), run);
        batch.run(|ticket| {
            let (linear, task, ready) = (self, &task, Vec::new());
            let mut queue = Located { linear, features, queries, task, ticket, width, ready };
            block_lbfgs::solve(&self.loss, features, task, width, &mut queue);
        })
    }
}

impl<L: Smooth + Dual> Hypothesis for Linear<L> {
    type Prepared = Features;

    fn prepare(&self, sample: &Reference) -> Result<Features> {
        let features = self.prepare_features(sample)?;
        Ok(if self.loss.single().is_some() { features.with_single() } else { features })
    }

    fn isolate(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        Ok(self.outcomes(features, queries, run)?.iter().map(Outcome::fit).collect())
    }

    fn explain(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let outcomes = self.outcomes(features, queries, &to_explain(run))?;
        let task = self.task(features);
        // One query at a time: each takes a Hessian.
        self.explanations(features, queries, run, &outcomes, 1, || {
            let mut newton = Newton::new(&self.loss, features, &task);
            move |at: &Matrix, solved: &[Outcome]| {
                let each = solved.iter().enumerate();
                each.map(|(j, outcome)| newton.explain(at.col(j), &outcome.theta)).collect()
            }
        })
    }
}

impl Linear<Hinge> {
    fn outcomes(&self, features: &Features, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Outcome>> {
        let batch = Batch::new(queries, run);
        let width = slots(features, queries.len(), batch.workers()).min(32);
        let task = in_axes(self.task, run);
        batch.run(|ticket| {
            let (linear, task, ready) = (self, &task, Vec::new());
            let mut queue = Located { linear, features, queries, task, ticket, width, ready };
            interior_point::solve(features, task, width, &mut queue);
        })
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
        self.explanations(features, queries, run, &outcomes, COLUMN_GROUP, || {
            |at: &Matrix, solved: &[Outcome]| influence(features, &self.task, at, solved)
        })
    }
}
