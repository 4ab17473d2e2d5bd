//! Gaussian process classification by Laplace's approximation.
//!
//! A latent function $f \sim GP(0, k)$ and the logistic likelihood; the sample is one class, the query the other, and
//! both have the mass $N$ of the sample: each row counts by its weight ($c_i = N \omega_i$, 1 for plain rows), the query $N$
//! times. The posterior is approximated by a Gaussian at its mode,
//!
//! $$ \hat f = \arg\max_f \sum_i c_i \ln \sigma(f_i) + N \ln \sigma(-f_z) - \tfrac12 \|f\|^2, $$
//!
//! with the covariance of its curvature there. The depth is the balanced loss, in bits, of the probabilities
//! $\bar\pi = \mathbb{E} \sigma(f)$ that follow for the sample and for the query,
//!
//! $$ D(z) = -\tfrac12 \sum_i \omega_i \log_2 \bar\pi(x_i) - \tfrac12 \log_2 (1 - \bar\pi(z)). $$
//!
//! Fitting scikit-learn's `GaussianProcessClassifier` to the sample and $n$ copies of $z$, and asking it for
//! `predict_proba`, gives the same number in $O(n^3)$ a query. At the mode itself ([`Probabilities::Mode`]) it is the risk of kernel
//! logistic regression with $\text{reg} = 1 / (4 N \ln 2)$.
//!
//! What all queries share is a split of the Gram matrix into a few dozen large directions and a small rest; see
//! the modules `basis` and `solve`. Averaging may leave a loss slightly above 1 for kernels of low rank; the depth is then 1.
//! `error` is proven for the depth as defined by Laplace's approximation and the formula for
//! $\bar\pi$ that scikit-learn uses; it says nothing about how good these are.

mod basis;
mod dense_variance;
mod laplace_mode;
mod posterior;
mod probit_mixture;
mod residual;
mod solve;
mod variance;

use self::basis::{Basis, Spectrum};
use self::solve::Solver;
use super::Hypothesis;
use crate::data::Reference;
use crate::data::Rows;
use crate::error::positive;
use crate::error::{DepthError, Result, in_bytes};
use crate::kernel::{Gamma, KernelChoice, KernelSource, Space};
use crate::methods::explanation::Explanation;
use crate::numerics::linalg::{COLUMN_GROUP, dot};
use crate::problem::ErrorBudget;
use crate::problem::Stop;
use crate::problem::{Batch, Ticket};
use crate::problem::{Fit, Run};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::sync::{Mutex, OnceLock};

/// Which probabilities the Gaussian process depth takes the loss of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probabilities {
    /// Those averaged over the posterior.
    #[default]
    Averaged,
    /// Those at the posterior's mode.
    Mode,
}

impl Probabilities {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Averaged, Self::Mode];
    /// Their names.
    pub const NAMES: [&str; 2] = ["averaged", "mode"];

    /// The name used on the command line and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Averaged => "averaged",
            Self::Mode => "mode",
        }
    }
}

impl std::fmt::Display for Probabilities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Probabilities {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|v| v.name() == s).ok_or_else(|| DepthError::Name {
            name: "probabilities",
            expected: Self::ALL.map(Self::name).join(", "),
            got: s.to_owned(),
        })
    }
}

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

    /// The kernel: a [`KernelChoice`] or one's own.
    #[must_use]
    pub fn kernel(mut self, kernel: impl Into<KernelSource>) -> Self {
        self.kernel = kernel.into();
        self
    }

    /// Which probabilities to take.
    #[must_use]
    pub fn probabilities(mut self, probabilities: Probabilities) -> Self {
        self.probabilities = probabilities;
        self
    }

    /// The largest proven error to accept; larger tolerances are faster on large samples.
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = tol;
        self
    }

    /// How many iterations a query gets.
    #[must_use]
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.max_iter = max_iter;
        self
    }

    /// How many bytes the Gram matrix and what is made of it may take; a sample that needs more is refused.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Whether single precision is enough for what the rest of the Gram matrix adds to the variances.
    fn single(&self, points: usize) -> bool {
        self.probabilities == Probabilities::Averaged && self.tol >= SINGLE && points > 96
    }

    /// The split of the Gram matrix that the first probes are made with.
    fn basis(&self, space: &Space, counts: &[f64]) -> Result<Basis> {
        let n = space.len();
        let single = self.single(n);
        if n >= LARGE && self.memory >= 3 * space.gram_bytes() {
            let most = (n / THINNER).min(MOST);
            let found = Spectrum::new(space, counts, ErrorBudget::new(self.tol).low_rank(), most)?;
            if let Some(spectrum) = found.filter(|s| s.points.cols() > FEWEST) {
                let averaged = self.probabilities == Probabilities::Averaged;
                let single = averaged && self.tol >= SINGLE_THIN;
                return Ok(Basis::thin(space, spectrum, FEWEST, averaged, single));
            }
        }
        Basis::new(space, if n <= WHOLE { n } else { FEWEST }, single)
    }

    /// What to solve; with the influences of the points or without.
    fn problem<'a>(&self, process: &'a Process, basis: &Basis, influence: bool) -> Problem<'a> {
        // Where the variances have next to no error of their own, the mode may have more of it.
        let share = ErrorBudget::new(self.tol).laplace_mode(basis.gram.is_some());
        Problem {
            half_weights: &process.space.half_weights,
            counts: &process.counts,
            total: process.total,
            averaged: self.probabilities == Probabilities::Averaged,
            influence,
            target: share / basis.largest.max(f64::MIN_POSITIVE).sqrt(),
            max_iter: self.max_iter,
        }
    }

    /// Whether this split of the Gram matrix is good enough for these queries.
    fn is_enough(&self, process: &Process, basis: &Basis, probes: Rows<'_>) -> Result<bool> {
        let problem = self.problem(process, basis, false);
        let places = basis.locate(&process.space, probes)?;
        let found = Solver::new(&problem, basis, COLUMN_GROUP).group(places, || false).unwrap_or_default();
        Ok(found.iter().all(|p| p.error <= ErrorBudget::new(self.tol).low_rank_trial()))
    }

    /// The posteriors of a few queries; `None` if cancelled.
    fn posteriors(
        &self,
        process: &Process,
        solver: &mut Solver<'_>,
        queries: Rows<'_>,
        cancelled: &impl Fn() -> bool,
    ) -> Result<Option<Vec<Posterior>>> {
        let places = process.basis.locate(&process.space, queries)?;
        let Some(mut found) = solver.group(places, cancelled) else { return Ok(None) };
        for (j, posterior) in found.iter_mut().enumerate() {
            if posterior.error <= self.tol || process.basis.rest.is_nothing() {
                continue;
            }
            // More directions for the odd one out.
            let Some(fine) = process.fine(self.memory)? else { continue };
            let problem = self.problem(process, fine, solver.problem.influence);
            let places = fine.locate(&process.space, queries.range(j, j + 1))?;
            let Some(again) = Solver::new(&problem, fine, COLUMN_GROUP).group(places, cancelled) else {
                return Ok(None);
            };
            for again in again {
                if again.error < posterior.error {
                    *posterior = again;
                }
            }
        }
        Ok(Some(found))
    }

    fn all<T: Send>(
        &self,
        process: &Process,
        queries: Rows<'_>,
        run: &Run<'_>,
        make: impl Fn(&Posterior, &[f64]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let failure = Mutex::new(None);
        let problem = self.problem(process, &process.basis, !run.depths_only);
        let batch = Batch::new(queries, run);
        let width = queries.len().div_ceil(batch.workers()).next_multiple_of(COLUMN_GROUP).min(GROUP);
        let found = batch.run(|mut ticket: Ticket<'_, '_, T>| {
            let mut solver = Solver::new(&problem, &process.basis, width);
            while let Some((first, rows)) = ticket.take(width, COLUMN_GROUP) {
                let failed =
                    || failure.lock().is_ok_and(|f: std::sync::MutexGuard<'_, Option<_>>| f.is_some());
                let cancelled = || ticket.cancelled() || failed();
                match self.posteriors(process, &mut solver, rows, &cancelled) {
                    Ok(Some(posteriors)) => {
                        for (j, posterior) in posteriors.iter().enumerate() {
                            ticket.done(first + j, make(posterior, rows.row(j)));
                        }
                    }
                    Ok(None) => return,
                    Err(error) => {
                        if let Ok(mut failure) = failure.lock() {
                            *failure = Some(error);
                        }
                        return;
                    }
                }
            }
        })?;
        match failure.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => Ok(found),
        }
    }

    fn fit(&self, process: &Process, posterior: &Posterior) -> Fit {
        let depth = posterior.depth.clamp(0.0, 1.0);
        let error = posterior.error;
        let stop = if error <= self.tol { Stop::Converged } else { posterior.stop.judge(error, self.tol) };
        let influence = posterior.influence.as_ref();
        let stderr = influence.map_or(f64::NAN, |influence| process.space.standard_error(influence));
        Fit { depth, error, stderr, iterations: posterior.iterations, stop }
    }
}

/// What the solver needs to know.
struct Problem<'a> {
    half_weights: &'a [f64],
    /// $c_i = N \omega_i$.
    counts: &'a [f64],
    /// $N$.
    total: f64,
    averaged: bool,
    /// Whether the influences of the points are asked for.
    influence: bool,
    /// How small the gradient at the mode must become.
    target: f64,
    max_iter: usize,
}

/// What became of one query.
struct Posterior {
    depth: f64,
    error: f64,
    /// Per point, not centred; if asked for.
    influence: Option<Vec<f64>>,
    f: Vec<f64>,
    at_query: f64,
    /// The coefficients of the mode: $f = \sum_i s_i k(\cdot, x_i) + p \, k(\cdot, z)$.
    slopes: Vec<f64>,
    pull: f64,
    iterations: usize,
    stop: Stop,
}

/// The split Gram matrix of a sample: what all queries share.
#[derive(Debug)]
pub struct Process {
    space: Space,
    counts: Vec<f64>,
    total: f64,
    basis: Basis,
    /// With more directions, for queries that need them.
    fine: OnceLock<Option<Basis>>,
}

/// How many queries share a pass over the Gram matrix.
const GROUP: usize = 64;
/// Above this tolerance and a certain size, single precision is enough for corrections to the variances.
const SINGLE: f64 = 2e-7;
/// The same for a thin rest, where rounding meets two products.
const SINGLE_THIN: f64 = 1e-5;
/// Samples from this size on have a thin rest, if one direction for so many points is enough for it.
const LARGE: usize = 1024;
const THINNER: usize = 4;
/// Samples up to this size are not split.
const WHOLE: usize = 48;
/// Directions to begin with, and the most there may be.
const FEWEST: usize = 32;
const MOST: usize = 1536;

impl Process {
    fn fine(&self, memory: u64) -> Result<Option<&Basis>> {
        if self.fine.get().is_none() {
            let (n, width) = (self.space.len(), self.basis.width());
            let wider = if 4 * width >= n || self.basis.gram.is_some() { n } else { 3 * width };
            let fits = memory >= 4 * self.space.gram_bytes() && wider <= MOST;
            let made = if fits { Some(Basis::new(&self.space, wider, false)?) } else { None };
            // Another thread may have been faster; both made the same.
            let _ = self.fine.set(made);
        }
        Ok(self.fine.get().and_then(Option::as_ref))
    }
}

impl Hypothesis for GaussianProcess {
    type Prepared = Process;

    fn prepare(&self, sample: &Reference) -> Result<Process> {
        positive("tol", self.tol)?;
        if self.max_iter == 0 {
            return Err(DepthError::Setting { name: "max_iter", expected: "at least 1", got: 0.0 });
        }
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
        // A few points of the sample tell how many directions the tolerance takes.
        let Some(probes) = space.probes(COLUMN_GROUP) else {
            let basis = Basis::new(&space, n.min(MOST / 4), self.single(n))?;
            return Ok(Process { space, counts, total, basis, fine: OnceLock::new() });
        };
        let basis = self.basis(&space, &counts)?;
        let mut process = Process { space, counts, total, basis, fine: OnceLock::new() };
        let mut width = process.basis.width();
        let probes = Rows::new(&probes, sample.width())?;
        let mut untried = self.probabilities == Probabilities::Averaged;
        while process.basis.rest.is_something() && width < MOST.min(n) {
            if self.is_enough(&process, &process.basis, probes)? {
                break;
            }
            width = (width + width / 8).next_multiple_of(8);
            if untried && dense_variance::is_less_work(n, width) {
                let basis = Basis::whole(&process.space, dense_variance::DIRECTIONS)?;
                if self.is_enough(&process, &basis, probes)? {
                    process.basis = basis;
                    break;
                }
                untried = false;
            }
            if 2 * width > n {
                width = n;
            }
            process.basis = if process.basis.rest.thin().is_some() {
                process.basis.widened(width)
            } else {
                Basis::new(&process.space, width, self.single(n))?
            };
        }
        Ok(process)
    }

    fn isolate(&self, process: &Process, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.all(process, queries, run, |posterior, _| self.fit(process, posterior))
    }

    fn explain(&self, process: &Process, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let space = &process.space;
        let made = self.all(process, queries, &run.with_standard_errors(), |posterior, query| {
            let gradient = space.gradient(&posterior.slopes, posterior.pull, query);
            let witness = space.witness(&posterior.slopes, posterior.pull, 0.0, &posterior.f, query)?;
            let influence =
                posterior.influence.as_ref().map_or_else(Vec::new, |found| space.influence(found));
            let fit = self.fit(process, posterior);
            let baseline = 2.0 * dot(&posterior.f, &space.half_weights);
            Ok(Explanation::nonlinear(fit, posterior.at_query, baseline, gradient, influence, witness))
        })?;
        made.into_iter().collect()
    }
}
