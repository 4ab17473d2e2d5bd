//! Smooth losses in the Hilbert space of a kernel.
//!
//! The classifier $f(x) = \langle w, \varphi(x) \rangle + b$ minimises
//!
//! $$ \tfrac12 \sum_i \omega_i \ell(f(x_i)) + \tfrac12 \ell(-f(z)) + \text{reg} \cdot \|w\|^2. $$
//!
//! Only the span of the sample and of $z$ matters. A pivoted Cholesky factor of the Gram matrix gives the sample
//! coordinates in its span, a forward substitution gives those of a query, and one coordinate more is its distance from
//! the span. What is left is a linear depth in these coordinates, with its solver, certificates, variants, intercepts and
//! standard errors.
//!
//! Points closer to the span of the others than rounding (a squared distance below 1e-14 of the largest $k(x, x)$) are
//! taken to be in it; what that and the rounding of the kernel itself may change is part of the reported error.

use super::kernel::factor::Factor;
use super::kernel::{KernelSource, Space};
use super::linear::{Features, slots};
use super::{Hypothesis, Intercept};
use crate::depth::batch::{Batch, Ticket};
use crate::depth::{Fit, Run};
use crate::error::{DepthError, Result};
use crate::explain::Explanation;
use crate::linalg::{COLUMN_GROUP, Matrix, dot, norm};
use crate::loss::{Dual, Loss, Smooth};
use crate::penalty::{Variant, positive};
use crate::reference::Reference;
use crate::rows::Rows;
use crate::solver::Task;
use crate::solver::newton::Newton;
use crate::solver::quasi_newton::{self, Outcome, Queue};

/// Points within this of the span of the others, as a share of the largest $k(x, x)$, are in it.
const FLOOR: f64 = 64.0 * f64::EPSILON;

/// Kernel depths with a smooth loss: which one, in which space, and how it is penalised.
///
/// With the [`Logistic`](crate::loss::Logistic) loss this is kernel logistic regression, the method `klr`.
///
/// ```
/// use lossdepth::hypothesis::kernel::{Gamma, KernelChoice};
/// use lossdepth::{Depth, Reference, hypothesis::Kernelised, loss::Logistic};
/// let sample = Reference::new(&[[0.0], [1.0], [8.0], [9.0]])?;
/// let kernel = KernelChoice::Gaussian { gamma: Gamma::Value(0.5) };
/// let depth = Depth::new(Kernelised::new(Logistic).kernel(kernel).reg(0.01)).fit(&sample)?;
/// // Between the two groups is far from both.
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

    /// The kernel: a [`KernelChoice`](super::kernel::KernelChoice) or one's own.
    #[must_use]
    pub fn kernel(mut self, kernel: impl Into<KernelSource>) -> Self {
        self.kernel = kernel.into();
        self
    }

    /// The weight of the penalty: $R_z + \text{reg} \cdot \|w\|^2$.
    #[must_use]
    pub fn reg(mut self, reg: f64) -> Self {
        self.task.reg = reg;
        self
    }

    /// Which number is the depth.
    #[must_use]
    pub fn variant(mut self, variant: Variant) -> Self {
        self.task.variant = variant;
        self
    }

    /// What the intercept may be.
    #[must_use]
    pub fn intercept(mut self, intercept: Intercept) -> Self {
        self.intercept = intercept;
        self
    }

    /// The largest proven error to accept.
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.task.tol = tol;
        self
    }

    /// How many iterations a query gets.
    #[must_use]
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.task.max_iter = max_iter;
        self
    }

    /// How many bytes the factored sample may take; a sample that needs more is refused.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    fn check(&self) -> Result<()> {
        positive("reg", self.task.reg)?;
        positive("tol", self.task.tol)?;
        self.task.variant.check()?;
        if self.task.max_iter == 0 {
            return Err(DepthError::Setting { name: "max_iter", expected: "at least 1", got: 0.0 });
        }
        Ok(())
    }
}

/// The factored sample: what all queries of a kernel depth with a smooth loss share.
#[derive(Debug, Clone)]
pub struct Factored {
    space: Space,
    factor: Factor,
    features: Features,
    /// How far a kernel value of the coordinates may be from the exact one, for queries whose $k(z, z)$ is no larger
    /// than the sample's.
    slack: f64,
}

impl Factored {
    fn locate(&self, queries: Rows<'_>) -> Result<Matrix> {
        let (points, beyond) = self.factor.locate_rows(&self.space, queries)?;
        Ok(self.features.place(points, &beyond))
    }
}

/// Hands a worker the coordinates of its next queries.
struct Located<'a, 'b> {
    prepared: &'a Factored,
    ticket: Ticket<'a, 'b, Outcome>,
    failed: Option<DepthError>,
}

impl Queue for Located<'_, '_> {
    fn next(&mut self, most: usize) -> Vec<(usize, Vec<f64>)> {
        let Some((first, rows)) = self.ticket.take(most, COLUMN_GROUP) else { return Vec::new() };
        match self.prepared.locate(rows) {
            Ok(coordinates) => (0..rows.len()).map(|j| (first + j, coordinates.col(j).to_vec())).collect(),
            Err(error) => {
                self.failed = Some(error);
                Vec::new()
            }
        }
    }

    fn done(&mut self, id: usize, outcome: Outcome) {
        self.ticket.done(id, outcome);
    }

    fn cancelled(&self) -> bool {
        self.failed.is_some() || self.ticket.cancelled()
    }
}

impl<L: Smooth + Dual> Kernelised<L> {
    fn outcomes(&self, prepared: &Factored, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Outcome>> {
        let batch = Batch::new(queries, run);
        let width = slots(&prepared.features, queries.len(), batch.workers());
        let failure = std::sync::Mutex::new(None);
        let outcomes = batch.run(|ticket| {
            let mut queue = Located { prepared, ticket, failed: None };
            // What the rounding of the kernel takes is left to it.
            let task = Task { tol: 0.9 * self.task.tol, stderr: !run.depths_only, ..self.task };
            quasi_newton::solve(&self.loss, &prepared.features, &task, width, &mut queue);
            if let (Some(error), Ok(mut failure)) = (queue.failed, failure.lock()) {
                *failure = Some(error);
            }
        })?;
        match failure.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => Ok(outcomes),
        }
    }

    /// The fit, with what the rounding of the kernel may have done to it.
    fn fit(&self, prepared: &Factored, query: Rows<'_>, outcome: &Outcome) -> Result<Fit> {
        let row = query.row(0);
        let slack = prepared.slack.max(prepared.space.rounding(prepared.space.own(row)?));
        let mut fit = outcome.fit();
        fit.error += match self.task.variant {
            // The dual variables sum to at most 1 in size on either side, times the slope of the loss there.
            Variant::Risk | Variant::Objective => self.pull() * self.pull() * slack / self.task.reg,
            Variant::Constrained { radius } => {
                let located = prepared.locate(query)?;
                let mut newton = Newton::new(&self.loss, &prepared.features, &self.task);
                let (_, gradient) = newton.look(located.col(0), &outcome.theta);
                let length = norm(&gradient[prepared.features.free..]);
                let squared = self.pull() * self.pull() * slack;
                radius * squared.sqrt().min(0.5 * squared / length)
            }
        };
        fit.stop = fit.stop.judge(fit.error, self.task.tol);
        Ok(fit)
    }

    /// A bound on $\sum_i |\alpha_i|$: half the slope of the loss at the sample, half at the query.
    fn pull(&self) -> f64 {
        let steepest = self.loss.lipschitz();
        if steepest.is_finite() { steepest } else { 2.0 * self.loss.grad(0.0).abs() }
    }

    fn explanation(
        &self,
        prepared: &Factored,
        newton: &mut Newton<'_, L>,
        query: Rows<'_>,
        located: &[f64],
        outcome: &Outcome,
    ) -> Result<Explanation> {
        let (space, features) = (&prepared.space, &prepared.features);
        let influence = newton.explain(located, &outcome.theta);
        let (margins, gradient) = newton.look(located, &outcome.theta);
        let (value, free) = (dot(located, &outcome.theta), features.free);
        // w = −∇R / (2 reg), with the multiplier of a constraint in place of reg.
        let reg = match self.task.variant {
            Variant::Constrained { radius } => norm(&gradient[free..]) / (2.0 * radius),
            _ => self.task.reg,
        };
        let half = features.half_weights.iter().zip(margins);
        let pulls: Vec<f64> = half.map(|(c, m)| -c * self.loss.grad(*m) / (2.0 * reg)).collect();
        let at_query = 0.5 * self.loss.grad(-value) / (2.0 * reg);
        let slope = if reg > 0.0 { space.gradient(&pulls, at_query, query.row(0)) } else { Vec::new() };
        let fit = self.fit(prepared, query, outcome)?;
        let intercept = features.constant(&outcome.theta);
        let witness = space.witness(&pulls, at_query, intercept, margins, query.row(0))?;
        let influence = space.by_row(&influence);
        let baseline = 2.0 * dot(margins, &features.half_weights);
        Ok(Explanation::nonlinear(fit, value, baseline, slope, influence, witness))
    }
}

impl<L: Smooth + Dual> Hypothesis for Kernelised<L> {
    type Prepared = Factored;

    fn prepare(&self, sample: &Reference) -> Result<Factored> {
        self.check()?;
        let space = Space::new(&self.kernel, sample, self.intercept == Intercept::Penalised)?;
        let (needed, gib) = (5 * space.gram_bytes(), f64::from(1 << 30));
        if needed > self.memory {
            return Err(DepthError::Kernel(format!(
                "a factored Gram matrix of {} points may need {:.1} GiB, more than the {:.1} GiB that `memory` allows",
                space.len(),
                needed as f64 / gib,
                self.memory as f64 / gib
            )));
        }
        let largest = space.diagonal.iter().fold(0.0f64, |m, k| m.max(*k));
        let mut factor = Factor::new(&space, FLOOR * largest, space.len())?;
        let weights: Vec<f64> = space.half_weights.iter().map(|w| 2.0 * w).collect();
        let points = std::mem::replace(&mut factor.coordinates, Matrix::zeros(0, 0));
        let free = self.intercept == Intercept::Free;
        let features = Features::of_points(points, &weights, space.squares(), space.mass(), free);
        let features = if self.loss.single().is_some() { features.with_single() } else { features };
        let slack = factor.residual + space.rounding(0.0);
        Ok(Factored { space, factor, features, slack })
    }

    fn isolate(&self, prepared: &Factored, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        let outcomes = self.outcomes(prepared, queries, run)?;
        let each = outcomes.iter().enumerate();
        each.map(|(j, outcome)| self.fit(prepared, queries.range(j, j + 1), outcome)).collect()
    }

    fn explain(&self, prepared: &Factored, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let outcomes = self.outcomes(prepared, queries, &run.with_standard_errors())?;
        let coordinates = prepared.locate(queries)?;
        let mut newton = Newton::new(&self.loss, &prepared.features, &self.task);
        let each = outcomes.iter().enumerate();
        each.map(|(j, outcome)| {
            let query = queries.range(j, j + 1);
            self.explanation(prepared, &mut newton, query, coordinates.col(j), outcome)
        })
        .collect()
    }
}
