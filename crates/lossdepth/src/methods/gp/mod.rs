//! Gaussian process classification by Laplace's approximation: the depth (G2) of `docs/math/gp.md`.
//!
//! Fitting scikit-learn's `GaussianProcessClassifier` to the sample and $n$ copies of $z$, and asking it for
//! `predict_proba`, gives the same number in $O(n^3)$ a query. At the mode itself ([`Probabilities::Mode`])
//! it is the risk of kernel logistic regression with $\text{reg} = 1 / (4 N \ln 2)$.
//!
//! All queries share a split of the Gram matrix into a low-rank factor with a few dozen columns and a small
//! residual; see the modules `gram_split` and `solver`. For kernels of low rank averaging may leave a loss
//! slightly above 1; the depth is then 1.
//!
//! `error` is about the depth as defined, not about the quality of Laplace's approximation. Bounds on the mode (G7), (G8),
//! on the variances (G9)–(G15) and on $\bar\pi$ are proven. The rounding, in double precision, of the gradient at the mode and
//! of the Cholesky factor of $I + T^\top W T$ has heuristic constants; where they stand the code calls them so.

mod gram_split;
mod principal_factor;
mod residual;

mod anderson;
mod laplace_mode;
mod likelihood;
mod solver;

mod dense_variance;
mod matrix_ops;
mod residual_variance;
mod variance_bounds;
mod variance_rounding;

mod influence;
mod posterior;
mod probabilities;
mod probit_mixture;

pub use self::probabilities::Probabilities;

use self::gram_split::GramSplit;
use self::posterior::Posterior;
use self::principal_factor::PrincipalFactor;
use self::solver::PosteriorSolver;
use super::Hypothesis;
use super::setters::{at_least_one, kernel_setters, setters};
use crate::data::{Reference, Rows};
use crate::error::{DepthError, Result, in_bytes, positive};
use crate::kernel::{Gamma, KernelChoice, KernelSource, Space};
use crate::methods::explanation::Explanation;
use crate::numerics::linalg::{COLUMN_GROUP, dot};
use crate::problem::{Batch, ErrorBudget, Fit, Run, Stop, Ticket};
use std::sync::OnceLock;

/// The Gaussian process depth.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::GaussianProcess};
/// let sample = Reference::new(&[[0.0], [0.3], [1.0], [1.2], [8.0], [8.5], [9.0]])?;
/// let fits = Depth::new(GaussianProcess::new()).fit(&sample)?.score(&[[0.5], [4.5]])?;
/// assert!(fits[0].depth > fits[1].depth);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GaussianProcess {
    kernel: KernelSource,
    probabilities: Probabilities,
    tol: f64,
    max_iter: usize,
    memory: u64,
}

impl Default for GaussianProcess {
    fn default() -> Self {
        Self::new()
    }
}

impl GaussianProcess {
    /// A Gaussian kernel with `gamma` quartile, averaged probabilities, a tolerance of 1e-6.
    pub fn new() -> Self {
        let kernel = KernelChoice::Gaussian { gamma: Gamma::Quartile }.into();
        Self { kernel, probabilities: Probabilities::Averaged, tol: 1e-6, max_iter: 1000, memory: 4 << 30 }
    }

    kernel_setters! {
        /// How many bytes the Gram matrix and its factors may take; a sample that needs more is refused.
    }

    setters! {
        /// Which probabilities to take.
        probabilities: Probabilities => probabilities;
        /// The largest error to accept; larger tolerances are faster on large samples.
        tol: f64 => tol;
        /// How many times the likelihood of a query is evaluated at most.
        max_iter: usize => max_iter;
    }

    /// Whether single precision is accurate enough for the residual's part of the variances.
    fn uses_single_precision(&self, points: usize) -> bool {
        self.probabilities == Probabilities::Averaged && self.tol >= SINGLE_TOL && points > 96
    }

    /// The split of the Gram matrix that the search for the number of columns starts with.
    fn initial_split(&self, space: &Space, counts: &[f64]) -> Result<GramSplit> {
        let n = space.len();
        let single = self.uses_single_precision(n);
        if n >= LOW_RANK_POINTS && self.memory >= 3 * space.gram_bytes() {
            let max_rank = (n / POINTS_PER_COLUMN).min(MAX_COLUMNS);
            let found = PrincipalFactor::new(space, counts, ErrorBudget::new(self.tol).low_rank(), max_rank)?;
            if let Some(principal) = found.filter(|p| p.factor.cols() > MIN_COLUMNS) {
                let averaged = self.probabilities == Probabilities::Averaged;
                let single = averaged && self.tol >= SINGLE_LOW_RANK_TOL;
                return Ok(GramSplit::low_rank(space, principal, MIN_COLUMNS, averaged, single));
            }
        }
        GramSplit::new(space, if n <= MAX_UNSPLIT { n } else { MIN_COLUMNS }, single)
    }

    /// The problem for queries in this split, with or without the influences of the points.
    fn problem<'a>(
        &self,
        prepared: &'a PreparedGp,
        split: &GramSplit,
        influence: bool,
    ) -> LaplaceProblem<'a> {
        let share = ErrorBudget::new(self.tol).laplace_mode(split.gram.is_some());
        LaplaceProblem {
            half_weights: &prepared.space.half_weights,
            counts: &prepared.counts,
            total: prepared.total,
            averaged: self.probabilities == Probabilities::Averaged,
            influence,
            target: share / split.max_diagonal.max(f64::MIN_POSITIVE).sqrt(),
            max_iter: self.max_iter,
        }
    }

    /// Whether queries meet the tolerance with this split, with a margin for other queries.
    fn meets_tolerance(&self, prepared: &PreparedGp, split: &GramSplit, probes: Rows<'_>) -> Result<bool> {
        let problem = self.problem(prepared, split, false);
        let located = split.locate(&prepared.space, probes)?;
        let found = PosteriorSolver::new(&problem, split, COLUMN_GROUP)
            .posteriors(located, || false)
            .unwrap_or_default();
        Ok(found.iter().all(|p| p.error <= ErrorBudget::new(self.tol).low_rank_trial()))
    }

    /// The posteriors of a few queries; `None` if cancelled.
    fn posteriors(
        &self,
        prepared: &PreparedGp,
        solver: &mut PosteriorSolver<'_>,
        queries: Rows<'_>,
        cancelled: &impl Fn() -> bool,
    ) -> Result<Option<Vec<Posterior>>> {
        let located = prepared.split.locate(&prepared.space, queries)?;
        let Some(mut posteriors) = solver.posteriors(located, cancelled) else { return Ok(None) };
        for (j, posterior) in posteriors.iter_mut().enumerate() {
            if posterior.error <= self.tol || prepared.split.residual.is_zero() {
                continue;
            }
            // A wider split for the few queries that miss the tolerance.
            let Some(fine_split) = prepared.fine_split(self.memory)? else { continue };
            let problem = self.problem(prepared, fine_split, solver.problem.influence);
            let located = fine_split.locate(&prepared.space, queries.range(j, j + 1))?;
            let Some(again) =
                PosteriorSolver::new(&problem, fine_split, COLUMN_GROUP).posteriors(located, cancelled)
            else {
                return Ok(None);
            };
            for again in again {
                if again.error < posterior.error {
                    *posterior = again;
                }
            }
        }
        Ok(Some(posteriors))
    }

    fn for_each_query<T: Send>(
        &self,
        prepared: &PreparedGp,
        queries: Rows<'_>,
        run: &Run<'_>,
        make: impl Fn(&Posterior, &[f64]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let problem = self.problem(prepared, &prepared.split, !run.depths_only);
        let batch = Batch::new(queries, run);
        let width = queries.len().div_ceil(batch.workers()).next_multiple_of(COLUMN_GROUP).min(GROUP);
        batch.try_run(|mut ticket: Ticket<'_, '_, T>| {
            let mut solver = PosteriorSolver::new(&problem, &prepared.split, width);
            while let Some((first, rows)) = ticket.take(width, COLUMN_GROUP) {
                let cancelled = || ticket.cancelled();
                let Some(posteriors) = self.posteriors(prepared, &mut solver, rows, &cancelled)? else {
                    break;
                };
                for (j, posterior) in posteriors.iter().enumerate() {
                    ticket.done(first + j, make(posterior, rows.row(j))?);
                }
            }
            Ok(())
        })
    }

    fn fit(&self, prepared: &PreparedGp, posterior: &Posterior) -> Fit {
        let depth = posterior.depth.clamp(0.0, 1.0);
        let error = posterior.error;
        let stop =
            if error <= self.tol { Stop::Converged } else { posterior.stop.for_error(error, self.tol) };
        let influence = posterior.influence.as_ref();
        let stderr = influence.map_or(f64::NAN, |influence| prepared.space.standard_error(influence));
        Fit { depth, error, stderr, iterations: posterior.iterations, stop }
    }
}

/// What the solver minimises, and how accurately.
struct LaplaceProblem<'a> {
    half_weights: &'a [f64],
    /// $c_i = N \omega_i$.
    counts: &'a [f64],
    /// $N$.
    total: f64,
    averaged: bool,
    /// Whether the influences of the points are asked for.
    influence: bool,
    /// The $\delta$ of (G7) that the mode must reach.
    target: f64,
    max_iter: usize,
}

/// The sample's Gram matrix, split: what all queries share.
#[derive(Debug)]
pub struct PreparedGp {
    space: Space,
    counts: Vec<f64>,
    total: f64,
    split: GramSplit,
    /// A wider split, for queries that need it.
    fine_split: OnceLock<Option<GramSplit>>,
}

/// How many queries share a product with the residual.
const GROUP: usize = 64;
/// From this tolerance on, single precision is accurate enough for the residual's part of the variances
/// (heuristic; the rounding is in `error`).
const SINGLE_TOL: f64 = 2e-7;
/// The same for a low-rank residual, where two products are rounded (heuristic).
const SINGLE_LOW_RANK_TOL: f64 = 1e-5;
/// Samples from this size on get a low-rank residual, if its rank is at most this share of the points
/// (heuristic, cost only).
const LOW_RANK_POINTS: usize = 1024;
const POINTS_PER_COLUMN: usize = 4;
/// Samples up to this size are not split.
const MAX_UNSPLIT: usize = 48;
/// The number of columns to start with, and the largest.
const MIN_COLUMNS: usize = 32;
const MAX_COLUMNS: usize = 1536;

impl PreparedGp {
    fn fine_split(&self, memory: u64) -> Result<Option<&GramSplit>> {
        if self.fine_split.get().is_none() {
            let (n, width) = (self.space.len(), self.split.width());
            let columns = if 4 * width >= n || self.split.gram.is_some() { n } else { 3 * width };
            let fits = memory >= 4 * self.space.gram_bytes() && columns <= MAX_COLUMNS;
            let split = if fits { Some(GramSplit::new(&self.space, columns, false)?) } else { None };
            // Another thread may have been faster; both computed the same.
            let _ = self.fine_split.set(split);
        }
        Ok(self.fine_split.get().and_then(Option::as_ref))
    }
}

impl Hypothesis for GaussianProcess {
    type Prepared = PreparedGp;

    fn prepare(&self, sample: &Reference) -> Result<PreparedGp> {
        positive("tol", self.tol)?;
        at_least_one("max_iter", self.max_iter)?;
        let space = Space::new(&self.kernel, sample, false)?;
        let (n, total) = (space.len(), space.observations());
        let needed = 2 * space.gram_bytes();
        if needed > self.memory {
            return Err(DepthError::Kernel(format!(
                "the Gram matrix of {n} points and its factor need {}, more than the {} that `memory` allows",
                in_bytes(needed),
                in_bytes(self.memory)
            )));
        }
        let counts: Vec<f64> = space.half_weights.iter().map(|w| 2.0 * total * w).collect();
        // A few points of the sample, as queries, determine how many columns the tolerance needs.
        let Some(probes) = space.probes(COLUMN_GROUP) else {
            let split = GramSplit::new(&space, n.min(MAX_COLUMNS / 4), self.uses_single_precision(n))?;
            return Ok(PreparedGp { space, counts, total, split, fine_split: OnceLock::new() });
        };
        let split = self.initial_split(&space, &counts)?;
        let mut prepared = PreparedGp { space, counts, total, split, fine_split: OnceLock::new() };
        let mut width = prepared.split.width();
        let probes = Rows::new(&probes, sample.width())?;
        let mut dense_untried = self.probabilities == Probabilities::Averaged;
        while prepared.split.residual.is_reducible() && width < MAX_COLUMNS.min(n) {
            if self.meets_tolerance(&prepared, &prepared.split, probes)? {
                break;
            }
            width = (width + width / 8).next_multiple_of(8);
            if dense_untried && dense_variance::is_cheaper(n, width) {
                let split = GramSplit::with_gram(&prepared.space, dense_variance::MODE_COLUMNS)?;
                if self.meets_tolerance(&prepared, &split, probes)? {
                    prepared.split = split;
                    break;
                }
                dense_untried = false;
            }
            if 2 * width > n {
                width = n;
            }
            prepared.split = if prepared.split.residual.low_rank().is_some() {
                prepared.split.widened(width)
            } else {
                GramSplit::new(&prepared.space, width, self.uses_single_precision(n))?
            };
        }
        Ok(prepared)
    }

    fn isolate(&self, prepared: &PreparedGp, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.for_each_query(prepared, queries, run, |posterior, _| Ok(self.fit(prepared, posterior)))
    }

    fn explain(&self, prepared: &PreparedGp, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let space = &prepared.space;
        self.for_each_query(prepared, queries, &run.with_standard_errors(), |posterior, query| {
            let gradient = space.gradient(&posterior.alpha, posterior.alpha_query, query);
            let witness = space.witness(&posterior.alpha, posterior.alpha_query, 0.0, &posterior.f, query)?;
            let influence = posterior.influence.as_ref().map(|found| space.influence(found));
            let values = (posterior.f_query, 2.0 * dot(&posterior.f, &space.half_weights));
            let fit = self.fit(prepared, posterior);
            Ok(Explanation::kernel(fit, values, gradient, witness, query, influence))
        })
    }
}
