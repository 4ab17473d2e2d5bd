//! Smooth losses in the Hilbert space of a kernel.
//!
//! The classifier $f(x) = \langle w, \varphi(x) \rangle + b$ minimises
//!
//! $$ \tfrac12 \sum_i \omega_i \ell(f(x_i)) + \tfrac12 \ell(-f(z)) + \text{reg} \cdot \|w\|^2. $$
//!
//! The minimiser is in the span of the sample and of $z$. The rows of a pivoted Cholesky factor of the Gram matrix are
//! coordinates of the sample in its span, a forward substitution gives those of a query, and one more coordinate is its
//! distance from the span: (K11), (K12) of `docs/math/kernel.md`. In these coordinates the problem is a linear depth, with
//! its solver, certificates, variants, intercepts and standard errors.
//!
//! Points with a squared distance from the span of the others below 1e-14 of the largest $k(x, x)$ are taken to be in it.
//! The effect of that and of the rounding of the kernel is part of the error (`kernel_error.rs`), and a query for which it
//! is above the tolerance is solved again in its own coordinates (`kernel_outcome.rs`).

mod kernel_error;
mod kernel_outcome;
mod non_pivots;

use self::kernel_outcome::KernelOutcome;
use self::non_pivots::{NonPivots, QueryResidual};
use super::Hypothesis;
use super::setters::{self, convex_setters, kernel_setters};
use crate::data::{Reference, Rows};
use crate::error::{DepthError, Result, in_bytes};
use crate::kernel::pivoted_cholesky::PivotedCholesky;
use crate::kernel::{KernelSource, Space};
use crate::loss::{Dual, Loss, Smooth};
use crate::methods::explanation::{Expansion, Explanation};
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, dot, norm};
use crate::problem::features::{Features, block_width};
use crate::problem::{Batch, ErrorBudget, Fit, Intercept, Outcome, Queue, Run, Task, Ticket, Variant};
use crate::solver::block_lbfgs;
use crate::solver::newton::Newton;
use std::collections::HashMap;

/// Points within this squared distance of the span of the others, as a share of the largest $k(x, x)$, are in it (K11).
const IN_SPAN: f64 = 64.0 * f64::EPSILON;

/// Kernel depths with a smooth loss.
///
/// With the [`Logistic`](crate::loss::Logistic) loss this is kernel logistic regression, the method `klr`.
///
/// ```
/// use lossdepth::kernel::{Gamma, KernelChoice};
/// use lossdepth::{Depth, Reference, methods::Kernelised, loss::Logistic};
/// let sample = Reference::new(&[[0.0], [1.0], [8.0], [9.0]])?;
/// let kernel = KernelChoice::Gaussian { gamma: Gamma::Value(0.5) };
/// let depth = Depth::new(Kernelised::new(Logistic).kernel(kernel).reg(0.01)).fit(&sample)?;
/// // The middle between the two groups is not central.
/// let fits = depth.score(&[[0.5], [4.5]])?;
/// assert!(fits[0].depth > fits[1].depth);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Kernelised<L> {
    loss: L,
    kernel: KernelSource,
    intercept: Intercept,
    task: Task,
    memory: u64,
}

impl<L: Loss> Kernelised<L> {
    /// A Gaussian kernel with `gamma` auto, no intercept, `reg` 1, the bare risk, a tolerance of 1e-6.
    pub fn new(loss: L) -> Self {
        Self {
            loss,
            kernel: KernelSource::default(),
            intercept: Intercept::None,
            task: Task::DEFAULT,
            memory: 4 << 30,
        }
    }

    convex_setters!();

    kernel_setters! {
        /// How many bytes the factored sample may take; a sample that needs more is refused.
    }
}

/// The sample of a kernel depth with a smooth loss, and the factor of its Gram matrix.
#[derive(Debug, Clone)]
pub struct FactoredSample {
    space: Space,
    factor: PivotedCholesky,
    features: Features,
    non_pivots: NonPivots,
}

/// The queries of one worker, in the solver's coordinates.
struct CoordinateQueue<'a, 'b> {
    prepared: &'a FactoredSample,
    ticket: Ticket<'a, 'b, (QueryResidual, Outcome)>,
    /// Of the queries in the solver.
    residuals: HashMap<usize, QueryResidual>,
    failed: Result<()>,
}

impl Queue for CoordinateQueue<'_, '_> {
    fn next(&mut self, most: usize) -> Vec<(usize, Vec<f64>)> {
        let Some((first, rows)) = self.ticket.take(most, COLUMN_GROUP) else { return Vec::new() };
        match self.prepared.locate(rows) {
            Ok(located) => {
                self.residuals.extend((first..).zip(located.queries.iter().copied()));
                let coordinates = self.prepared.solver_coordinates(&located);
                (0..rows.len()).map(|j| (first + j, coordinates.col(j).to_vec())).collect()
            }
            Err(error) => {
                self.failed = Err(error);
                Vec::new()
            }
        }
    }

    fn done(&mut self, id: usize, outcome: Outcome) {
        if let Some(residual) = self.residuals.remove(&id) {
            self.ticket.done(id, (residual, outcome));
        }
    }

    fn cancelled(&self) -> bool {
        self.failed.is_err() || self.ticket.cancelled()
    }
}

/// How many numbers of solutions are held at a time: 512 MB.
const SOLUTIONS: usize = 1 << 26;

impl<L: Smooth + Dual> Kernelised<L> {
    /// Solves all queries and hands the outcome of each to `make`.
    fn solve<T: Send>(
        &self,
        prepared: &FactoredSample,
        queries: Rows<'_>,
        run: &Run<'_>,
        make: impl Fn(Rows<'_>, KernelOutcome) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let tol = ErrorBudget::new(self.task.tol).kernel_solver(self.task.variant);
        let task = Task { tol, stderr: !run.depths_only, ..self.task };
        let chunk = (SOLUTIONS / (prepared.space.len() + 2)).max(1024);
        let mut results = Vec::with_capacity(queries.len());
        for first in (0..queries.len()).step_by(chunk) {
            let some = queries.range(first, (first + chunk).min(queries.len()));
            let outcomes = self.outcomes(prepared, some, &task, run)?;
            // What the coordinates leave open, after the solver's pass: for most queries a bound, for some another problem.
            let run = Run { progress: None, ..*run };
            let mut made = Batch::new(some, &run).try_run(|mut ticket: Ticket<'_, '_, T>| {
                while let Some((j, query)) = ticket.take(1, 1) {
                    let ((residual, outcome), cancelled) = (&outcomes[j], || ticket.cancelled());
                    let at = (query, residual);
                    let solved = self.with_kernel_error(prepared, at, outcome, &task, &cancelled)?;
                    ticket.done(j, make(query, solved)?);
                }
                Ok(())
            })?;
            results.append(&mut made);
        }
        Ok(results)
    }

    /// What the solver finds for each query, and what its coordinates leave open.
    fn outcomes(
        &self,
        prepared: &FactoredSample,
        queries: Rows<'_>,
        task: &Task,
        run: &Run<'_>,
    ) -> Result<Vec<(QueryResidual, Outcome)>> {
        let batch = Batch::new(queries, run);
        let width = block_width(&prepared.features, queries.len(), batch.workers());
        batch.try_run(|ticket| {
            let mut queue = CoordinateQueue { prepared, ticket, residuals: HashMap::new(), failed: Ok(()) };
            block_lbfgs::solve(&self.loss, &prepared.features, task, width, &mut queue);
            queue.failed
        })
    }

    fn explanation(
        &self,
        prepared: &FactoredSample,
        query: Rows<'_>,
        solved: &KernelOutcome,
    ) -> Result<Explanation> {
        let shared;
        let (features, located) = if let Some((features, located)) = &solved.own {
            (features, &located[..])
        } else {
            shared = prepared.solver_coordinates(&prepared.locate(query)?);
            (&prepared.features, shared.col(0))
        };
        let (space, theta) = (&prepared.space, &solved.outcome.theta);
        let mut newton = Newton::new(&self.loss, features, &self.task);
        let influence = newton.explain(located, theta);
        let (margins, gradient) = newton.margins_and_gradient(located, theta);
        let (value, free) = (dot(located, theta), features.free);
        // w = −∇R / (2 reg), with the multiplier of a constraint in place of reg.
        let reg = match self.task.variant {
            Variant::Constrained { radius } => norm(&gradient[free..]) / (2.0 * radius),
            _ => self.task.reg,
        };
        let half = features.half_weights.iter().zip(margins);
        let coefficients: Vec<f64> = half.map(|(c, m)| -c * self.loss.grad(*m) / (2.0 * reg)).collect();
        let at_query = 0.5 * self.loss.grad(-value) / (2.0 * reg);
        let gradient = if reg > 0.0 { space.gradient(&coefficients, at_query, query.row(0)) } else { None };
        let fit = solved.fit(self.task.tol);
        let intercept = features.constant(theta);
        let witness = space.witness(&coefficients, at_query, intercept, margins, query.row(0))?;
        let baseline = 2.0 * dot(margins, &features.half_weights);
        let (values, influence) = ((value, baseline), Some(space.by_row(&influence)));
        let expansion = (reg > 0.0).then(|| Expansion {
            rows: space.coefficients_by_row(&coefficients),
            query: at_query,
            intercept,
        });
        let explanation = Explanation::kernel(fit, values, gradient, witness, query.row(0), influence);
        Ok(explanation.with_expansion(expansion))
    }
}

impl<L: Smooth + Dual> Hypothesis for Kernelised<L> {
    type Prepared = FactoredSample;

    fn prepare(&self, sample: &Reference) -> Result<FactoredSample> {
        setters::check(&self.task)?;
        let space = Space::new(&self.kernel, sample, self.intercept == Intercept::Penalised)?;
        let needed = 5 * space.gram_bytes();
        if needed > self.memory {
            return Err(DepthError::Kernel(format!(
                "a factored Gram matrix of {} points may need {}, more than the {} that `memory` allows",
                space.len(),
                in_bytes(needed),
                in_bytes(self.memory)
            )));
        }
        let largest = space.diagonal.iter().fold(0.0f64, |m, k| m.max(*k));
        let mut factor = PivotedCholesky::new(&space, IN_SPAN * largest, space.len())?;
        let weights: Vec<f64> = space.half_weights.iter().map(|w| 2.0 * w).collect();
        let non_pivots = NonPivots::new(&space, &factor)?;
        let points = std::mem::replace(&mut factor.coordinates, Matrix::zeros(0, 0));
        let free = self.intercept == Intercept::Free;
        let features = Features::of_points(points, &weights, space.squares(), space.mass(), free);
        let features = if self.loss.single().is_some() { features.with_single() } else { features };
        Ok(FactoredSample { space, factor, features, non_pivots })
    }

    fn isolate(&self, prepared: &FactoredSample, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.solve(prepared, queries, run, |_, outcome| Ok(outcome.fit(self.task.tol)))
    }

    fn explain(
        &self,
        prepared: &FactoredSample,
        queries: Rows<'_>,
        run: &Run<'_>,
    ) -> Result<Vec<Explanation>> {
        let run = run.with_standard_errors();
        self.solve(prepared, queries, &run, |query, outcome| self.explanation(prepared, query, &outcome))
    }
}
