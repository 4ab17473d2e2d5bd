//! The one-class support vector machine, by the solver of the support vector machine depth.
//!
//! The dual problem of the one-class machine,
//!
//! $$ \min_\alpha \tfrac12 \alpha^\top K \alpha \quad\text{s.t.}\quad
//!    0 \le \alpha_i \le \frac{\omega_i}{\nu}, \; \sum_i \alpha_i = 1, $$
//!
//! is the depth's dual with a free intercept for a query that the kernel does not see, $k(x, z) = 0$ for all $x$ and
//! $k(z, z) = 0$: that query balances the others, $\sum_i \beta_i = -\beta_z$, and under a penalty above a quarter of the
//! largest $(K\beta)_i$ its variable stays at its bound, $\beta_z = -\frac12$. So $\alpha = 2\beta$ with bounds $\omega_i / 2\nu$,
//! and [`ActiveSet`] solves it as it stands, gap included.

use super::sequential;
use crate::data::Reference;
use crate::data::Rows;
use crate::error::positive;
use crate::error::{DepthError, Result};
use crate::kernel::{Kernel, KernelSource, Space};
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, dot};
use crate::problem::Run;
use crate::problem::{Batch, Ticket};
use crate::solver::dual_active_set::{ActiveSet, Columns, Factor, Point, Query};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::sync::Arc;

/// The one-class support vector machine (Schölkopf, Platt, Shawe-Taylor, Smola and Williamson 2001).
///
/// $$ \min_{w, \rho, \xi} \tfrac12 \|w\|^2 - \rho + \frac1\nu \sum_i \omega_i \xi_i
///    \quad\text{s.t.}\quad \langle w, \varphi(x_i) \rangle \ge \rho - \xi_i, \; \xi_i \ge 0. $$
///
/// The score is $\nu N \langle w, \varphi(x) \rangle$ with $N$ the number of rows (the sum of the weights if they are whole
/// numbers): scikit-learn's `OneClassSVM.score_samples`. A row is an outlier for the machine itself if it is below
/// [`offset`](super::FittedBaseline::offset), $\nu N \rho$. About a share $\nu$ of the rows is.
///
/// The problem is solved to the end by an active-set method. With its duality gap $g$ every score is proven within
/// $\nu N \sqrt{2 g \, k(x, x)}$ of the exact one. A row of weight $k$ is the same as $k$ copies.
///
/// Support vectors between their bounds lie on the margin: their exact scores are all equal to the offset. A score
/// that is within its error of the offset is therefore given as the offset, so that those rows are tied, as they should be,
/// and not ranked by rounding. (libsvm ranks them by what its tolerance leaves; on small samples that moves an AUC in the
/// third decimal; [`OneClassSolver::Libsvm`] does the same.)
#[derive(Debug, Clone)]
pub struct OneClassSvm {
    /// The kernel.
    pub kernel: KernelSource,
    /// The share of the rows that may be outside, above 0 and at most 1.
    pub nu: f64,
    /// How far the problem is solved.
    pub solver: OneClassSolver,
    /// The largest proven error of $\langle w, \varphi(x) \rangle$ to accept, relative to the largest $k(x, x)$; for
    /// [`OneClassSolver::Exact`].
    pub tol: f64,
    /// How many rounds the solver gets.
    pub max_iter: usize,
    /// How many bytes kernel values may take.
    pub memory: u64,
}

impl Default for OneClassSvm {
    /// A Gaussian kernel of automatic width and a share of 0.1, as in the paper.
    fn default() -> Self {
        Self {
            kernel: KernelSource::default(),
            nu: 0.1,
            solver: OneClassSolver::Exact,
            tol: 1e-6,
            max_iter: 100_000,
            memory: 4 << 30,
        }
    }
}

/// How far the problem of a [`OneClassSvm`] is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OneClassSolver {
    /// To the end, with a proven error.
    #[default]
    Exact,
    /// As far as libsvm does with its defaults, along the same path (copies of a row are one row here, several there): to
    /// compare with published numbers.
    Libsvm,
}

impl OneClassSolver {
    /// Their names.
    pub const NAMES: [&'static str; 2] = ["exact", "libsvm"];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => Self::NAMES[0],
            Self::Libsvm => Self::NAMES[1],
        }
    }
}

impl FromStr for OneClassSolver {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        [Self::Exact, Self::Libsvm].into_iter().find(|solver| solver.name() == s).ok_or_else(|| {
            DepthError::Name { name: "solver", expected: Self::NAMES.join(", "), got: s.to_owned() }
        })
    }
}

/// [`OneClassSvm`] fitted to a sample.
#[derive(Debug)]
pub(super) struct FittedOneClassSvm {
    /// The support vectors, weighted by α / 2.
    support: Space,
    coefficients: Vec<f64>,
    /// ν N.
    unit: f64,
    pub(super) offset: f64,
    /// What to multiply √k(x, x) by to bound the error of a score.
    pub(super) error: f64,
    pub(super) converged: bool,
    /// Whether scores within their error of the offset are given as the offset.
    tied: bool,
}

impl OneClassSvm {
    pub(super) fn fit(&self, sample: &Reference, run: &Run<'_>) -> Result<FittedOneClassSvm> {
        self.check()?;
        let kernel: Arc<dyn Kernel> = match &self.kernel {
            KernelSource::Own(kernel) => kernel.clone(),
            KernelSource::Choice(choice) => {
                let Some(kernel) = choice.learn(sample)? else {
                    let text = "`oc-svm` takes no precomputed kernel";
                    return Err(DepthError::Settings(text.to_owned()));
                };
                Arc::new(kernel)
            }
        };
        let source = KernelSource::Own(kernel);
        let space = Space::new(&source, sample, false)?;
        let unit = self.nu * sample.observations();
        let solved = match self.solver {
            OneClassSolver::Exact => self.solve(&space, run)?,
            OneClassSolver::Libsvm => self.follow_libsvm(&space, unit, run)?,
        };
        let (support, coefficients) = supporting(&space, &solved.alpha, &source)?.unwrap_or_else(|| {
            let all = solved.alpha.clone();
            (space, all)
        });
        Ok(FittedOneClassSvm {
            support,
            coefficients,
            unit,
            offset: unit * solved.rho,
            error: unit * (2.0 * solved.gap).sqrt(),
            converged: solved.converged,
            tied: self.solver == OneClassSolver::Exact,
        })
    }

    fn check(&self) -> Result<()> {
        if !(self.nu > 0.0 && self.nu <= 1.0) {
            let expected = "above 0 and at most 1";
            return Err(DepthError::Setting { name: "nu", expected, got: self.nu });
        }
        positive("tol", self.tol)?;
        if self.max_iter == 0 {
            return Err(DepthError::Setting { name: "max_iter", expected: "at least 1", got: 0.0 });
        }
        Ok(())
    }

    fn solve(&self, space: &Space, run: &Run<'_>) -> Result<Solved> {
        let n = space.len();
        let bounds: Vec<f64> = space.half_weights.iter().map(|w| w / self.nu).collect();
        let most_free = usize::try_from((self.memory / 64).isqrt()).unwrap_or(usize::MAX).max(1024);
        let mut set = ActiveSet::new(&bounds, true, space.largest, most_free);
        let nothing = vec![0.0; n];
        let query = Query::new(&nothing, 0.0);
        let largest = if space.largest > 0.0 { space.largest } else { 1.0 };
        let reg = largest;
        let mut columns = Columns::cached(space, self.memory);
        let mut point = Self::start(space, &bounds, &set, query, &mut columns)?;
        // In units of the kernel, for α = 2β: the gap is 4 (2 reg) times the one of the depth's problem.
        let gap_of = |gap: f64| 8.0 * reg * gap;
        let enough =
            |_: f64, below: f64, _: f64| (2.0 * gap_of(below) * largest).sqrt() <= 0.25 * self.tol * largest;
        let cancelled = || run.cancel.is_some_and(|flag| flag.load(std::sync::atomic::Ordering::Relaxed));
        set.solve(&mut point, query, &mut columns, reg, self.max_iter, enough, cancelled)?;
        if cancelled() {
            return Err(DepthError::Cancelled);
        }
        let slip = f64::EPSILON * largest * 0.25 * (n as f64 / 16.0 + 8.0 + point.updates as f64);
        let seen = set.look(&point, query, reg);
        let gap = gap_of(seen.below(&point, slip, reg) + set.allowance(&point, slip) / (2.0 * reg));
        let alpha: Vec<f64> = point.beta[..n].iter().map(|b| 2.0 * b).collect();
        let values: Vec<f64> = point.pulled[..n].iter().map(|g| 2.0 * g).collect();
        let converged = (2.0 * gap * largest).sqrt() <= self.tol * largest;
        let rho = threshold(&point.beta, &bounds, &values);
        Ok(Solved { alpha, rho, gap, converged })
    }

    /// What libsvm finds; its variables sum to `unit`, ν N.
    fn follow_libsvm(&self, space: &Space, unit: f64, run: &Run<'_>) -> Result<Solved> {
        // Counts are whole numbers, and what rounding makes of them would be a variable off its bound.
        let count = |w: &f64| {
            let count = 2.0 * w * unit / self.nu;
            if (count - count.round()).abs() < 1e-9 { count.round() } else { count }
        };
        let bounds: Vec<f64> = space.half_weights.iter().map(count).collect();
        let mut columns = Columns::cached(space, self.memory);
        let cancelled = || run.cancel.is_some_and(|flag| flag.load(std::sync::atomic::Ordering::Relaxed));
        let found = sequential::minimise(space, &bounds, unit, &mut columns, self.max_iter, cancelled)?;
        if cancelled() {
            return Err(DepthError::Cancelled);
        }
        let scaled = |list: &[f64]| list.iter().map(|x| x / unit).collect::<Vec<f64>>();
        let (alpha, values, bounds) = (scaled(&found.alpha), scaled(&found.values), scaled(&bounds));
        let rho = threshold(&alpha, &bounds, &values);
        // What each variable adds to the duality gap.
        let slack = |i: usize| alpha[i] * (values[i] - rho) + bounds[i] * (rho - values[i]).max(0.0);
        let gap = (0..alpha.len()).map(slack).sum::<f64>().max(0.0);
        Ok(Solved { alpha, rho, gap, converged: found.converged })
    }

    /// The most outlying rows at their bounds: at the end, most of them are.
    fn start(
        space: &Space,
        bounds: &[f64],
        set: &ActiveSet,
        query: Query<'_>,
        columns: &mut Columns<'_>,
    ) -> Result<Point> {
        let n = space.len();
        let mean = space.mean_embedding()?;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| mean[a].total_cmp(&mean[b]).then(a.cmp(&b)));
        let (mut beta, mut left, mut between) = (vec![0.0; n + 1], 0.5, None);
        for i in order {
            beta[i] = bounds[i].min(left);
            left -= beta[i];
            if beta[i] < bounds[i] {
                between = (beta[i] > 0.0).then_some(i);
                break;
            }
        }
        // What rounding leaves over is the query's: the variables must balance.
        beta[n] = -(0.5 - left);
        let mut pulled = vec![0.0; n + 1];
        space.stretches(|first, count, block| {
            for j in 0..count {
                pulled[first + j] = dot(block.col(j), &beta[..n]);
            }
        })?;
        let (free, factor) = (Vec::new(), Factor::default());
        let constant = set.constant(query.own);
        let mut point = Point { beta, pulled, constant, free, factor, updates: 1, ..Point::default() };
        point.sum = set.sum(&point);
        if let Some(i) = between {
            columns.require([i].into_iter())?;
            set.release(&mut point, i, query, |j| columns.column(i)[j]);
        }
        Ok(point)
    }
}

/// A solution for α.
struct Solved {
    alpha: Vec<f64>,
    rho: f64,
    gap: f64,
    converged: bool,
}

/// ρ: the value at the rows between their bounds; without any, midway between the rows at either bound.
fn threshold(beta: &[f64], bounds: &[f64], values: &[f64]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    let (mut inside, mut outside) = (f64::INFINITY, f64::NEG_INFINITY);
    for ((b, bound), value) in beta.iter().zip(bounds).zip(values) {
        if *b <= 0.0 {
            inside = inside.min(*value);
        } else if b < bound {
            (sum, count) = (sum + value, count + 1.0);
        } else {
            outside = outside.max(*value);
        }
    }
    match (inside.is_finite(), outside.is_finite()) {
        _ if count > 0.0 => sum / count,
        (true, true) => f64::midpoint(inside, outside),
        (true, false) => inside,
        _ => outside,
    }
}

/// The points with α > 0 alone, if there are at least two.
fn supporting(space: &Space, alpha: &[f64], source: &KernelSource) -> Result<Option<(Space, Vec<f64>)>> {
    let chosen: Vec<usize> = (0..alpha.len()).filter(|&i| alpha[i] > 0.0).collect();
    let Some((data, width)) = space.rows_of(&chosen).filter(|_| chosen.len() > 1) else { return Ok(None) };
    let support = Space::new(source, &Reference::new(&Rows::new(&data, width)?)?, false)?;
    // Points are different already, so they stay in order.
    Ok(Some((support, chosen.iter().map(|&i| alpha[i]).collect())))
}

impl FittedOneClassSvm {
    pub(super) fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<f64>> {
        let results = Batch::new(queries, run).run(|mut ticket: Ticket<'_, '_, Result<f64>>| {
            let mut block = Matrix::zeros(self.support.len(), COLUMN_GROUP);
            while let Some((first, rows)) = ticket.take(COLUMN_GROUP, 1) {
                let made = self.support.block(rows, &mut block);
                for j in 0..rows.len() {
                    let score = made.clone().and_then(|()| {
                        let value = self.unit * dot(block.col(j), &self.coefficients);
                        let at_margin =
                            self.tied && (value - self.offset).abs() <= self.error(rows.row(j))?;
                        Ok(if at_margin { self.offset } else { value })
                    });
                    ticket.done(first + j, score);
                }
            }
        })?;
        results.into_iter().collect()
    }

    /// A proven bound on how far the score of a row is from the exact one.
    pub(super) fn error(&self, row: &[f64]) -> Result<f64> {
        Ok(self.error * self.support.own(row)?.sqrt())
    }
}
