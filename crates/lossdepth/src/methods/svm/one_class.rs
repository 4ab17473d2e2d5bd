//! The one-class support vector machine, by the solver of the support vector machine depth.
//!
//! The dual problem of the one-class machine,
//!
//! $$ \min_\alpha \tfrac12 \alpha^\top K \alpha \quad\text{s.t.}\quad
//!    0 \le \alpha_i \le \frac{\omega_i}{\nu}, \; \sum_i \alpha_i = 1, $$
//!
//! is the depth's dual with a free intercept for a query with zero kernel values, $k(x, z) = 0$ for all $x$ and
//! $k(z, z) = 0$. Then $\sum_i \beta_i = -\beta_z$, and under a penalty above a quarter of the largest $(K\beta)_i$ the query's
//! variable is at its bound, $\beta_z = -\frac12$. So $\alpha = 2\beta$ with bounds $\omega_i / 2\nu$, and [`ActiveSet`] solves
//! the problem and bounds its gap.

use crate::data::{Reference, Rows};
use crate::error::{DepthError, Result, positive};
use crate::kernel::{Kernel, KernelSource, Space};
use crate::methods::setters::at_least_one;
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, dot};
use crate::problem::{Batch, ErrorBudget, Run, Ticket};
use crate::solver::dual_active_set::{
    ActiveSet, DualPoint, KernelColumns, QueryKernel, ResidualError, UPDATE_UNITS, dot_error,
};
use std::sync::Arc;

/// The one-class support vector machine (Schölkopf, Platt, Shawe-Taylor, Smola and Williamson 2001).
///
/// $$ \min_{w, \rho, \xi} \tfrac12 \|w\|^2 - \rho + \frac1\nu \sum_i \omega_i \xi_i
///    \quad\text{s.t.}\quad \langle w, \varphi(x_i) \rangle \ge \rho - \xi_i, \; \xi_i \ge 0. $$
///
/// The score is $\nu N \langle w, \varphi(x) \rangle$ with $N$ the number of rows (the sum of the weights if they are whole
/// numbers): scikit-learn's `OneClassSVM.score_samples`. Its decision rule calls a row an outlier if the score is below
/// [`offset`](FittedOneClassSvm::offset), $\nu N \rho$. That holds for a share of about $\nu$ of the rows.
///
/// The problem is solved by an active-set method. With a bound $g$ on its dual suboptimality every score is within
/// $\nu N \sqrt{2 g \, k(x, x)}$ and the rounding of its sum of the exact one. A row of weight $k$ is the same as $k$ copies.
///
/// Support vectors between their bounds are on the margin: their exact scores equal the offset. A score within its
/// estimated error of the offset is therefore returned as the offset, so that these rows are tied and not ranked by
/// rounding. (libsvm ranks them by the residuals at its tolerance; on small samples that changes an AUC in the third decimal.)
#[derive(Debug, Clone)]
pub struct OneClassSvm {
    /// The kernel.
    pub kernel: KernelSource,
    /// The share of the rows that may be outside, above 0 and at most 1.
    pub nu: f64,
    /// The largest proven error of $\langle w, \varphi(x) \rangle$ to accept, relative to the largest $k(x, x)$.
    pub tol: f64,
    /// The limit of rounds of the solver.
    pub max_iter: usize,
    /// The memory limit of kernel values, in bytes.
    pub memory: u64,
}

impl Default for OneClassSvm {
    /// A Gaussian kernel of automatic width and `nu` 0.1, as in the paper.
    fn default() -> Self {
        Self { kernel: KernelSource::default(), nu: 0.1, tol: 1e-6, max_iter: 100_000, memory: 4 << 30 }
    }
}

/// [`OneClassSvm`] fitted to a sample.
#[derive(Debug)]
pub struct FittedOneClassSvm {
    /// The support vectors, weighted by α / 2.
    support: Space,
    coefficients: Vec<f64>,
    /// ν N.
    unit: f64,
    offset: f64,
    /// A bound on the error of a score is this times √k(x, x), and the rounding of the score.
    classifier_error: f64,
    converged: bool,
    /// Scores within this times √k(x, x) of the offset are returned as the offset.
    tie_width: f64,
}

impl OneClassSvm {
    /// Fits it to a reference sample.
    ///
    /// # Errors
    /// A setting is out of its range, a precomputed kernel, or [`DepthError::Cancelled`].
    pub fn fit(&self, sample: &Reference, run: &Run<'_>) -> Result<FittedOneClassSvm> {
        self.fit_by(sample, |space| self.solve(space, run))
    }

    /// Fits it with another solver of the dual problem.
    ///
    /// # Errors
    /// As for [`fit`](Self::fit), or what `solve` returns.
    pub fn fit_by(
        &self,
        sample: &Reference,
        solve: impl FnOnce(&Space) -> Result<OneClassSolution>,
    ) -> Result<FittedOneClassSvm> {
        self.check()?;
        let precomputed = || DepthError::Settings("`oc-svm` takes no precomputed kernel".to_owned());
        let kernel: Arc<dyn Kernel> = match &self.kernel {
            KernelSource::Own(kernel) => kernel.clone(),
            KernelSource::Choice(choice) => match choice.learn(sample)? {
                Some(kernel) => Arc::new(kernel),
                None => return Err(precomputed()),
            },
            KernelSource::Values { .. } => return Err(precomputed()),
        };
        let source = KernelSource::Own(kernel);
        let space = Space::new(&source, sample, false)?;
        let unit = self.nu * sample.observations();
        let solved = solve(&space)?;
        // A bound on the relative error of the weights, times the norm of the classifier.
        let weight_error = f64::EPSILON * (2.0 + space.copies as f64) * space.largest.sqrt();
        let (support, coefficients) = supporting(&space, &solved.alpha, &source)?.unwrap_or_else(|| {
            let all = solved.alpha.clone();
            (space, all)
        });
        Ok(FittedOneClassSvm {
            support,
            coefficients,
            unit,
            offset: unit * solved.rho,
            classifier_error: unit * ((2.0 * solved.suboptimality).sqrt() + weight_error),
            converged: solved.converged,
            tie_width: solved.estimate.map_or(f64::NEG_INFINITY, |gap| unit * (2.0 * gap).sqrt()),
        })
    }

    fn check(&self) -> Result<()> {
        if !(self.nu > 0.0 && self.nu <= 1.0) {
            let expected = "above 0 and at most 1";
            return Err(DepthError::Setting { name: "nu", expected, got: self.nu });
        }
        positive("tol", self.tol)?;
        at_least_one("max_iter", self.max_iter)
    }

    fn solve(&self, space: &Space, run: &Run<'_>) -> Result<OneClassSolution> {
        let n = space.len();
        let bounds: Vec<f64> = space.half_weights.iter().map(|w| w / self.nu).collect();
        let max_free = usize::try_from((self.memory / 64).isqrt()).unwrap_or(usize::MAX).max(1024);
        let mut set = ActiveSet::new(&bounds, true, space.largest, max_free);
        let zeros = vec![0.0; n];
        let query = QueryKernel::new(&zeros, 0.0);
        let largest = if space.largest > 0.0 { space.largest } else { 1.0 };
        let reg = largest;
        let mut columns = KernelColumns::cached(space, self.memory);
        let mut point = Self::start(space, &bounds, &set, query, &mut columns)?;
        // In units of the kernel and for α = 2β the dual objective is 8 reg times that of the depth's problem.
        let in_alpha = |suboptimality: f64| 8.0 * reg * suboptimality;
        let share = ErrorBudget::new(self.tol).dual_active_set();
        let enough = |_: f64, suboptimality: f64, _: f64| {
            (2.0 * in_alpha(suboptimality) * largest).sqrt() <= share * largest
        };
        let cancelled = || run.cancel.is_some_and(|flag| flag.load(std::sync::atomic::Ordering::Relaxed));
        set.solve(&mut point, query, &mut columns, reg, self.max_iter, enough, cancelled)?;
        if cancelled() {
            return Err(DepthError::Cancelled);
        }
        let optimality = set.evaluate(&point, query, reg);
        let noise = f64::EPSILON * largest * 0.25 * (n as f64 / 16.0 + 8.0 + point.updates as f64);
        let estimate = in_alpha(
            optimality.estimated_free_suboptimality(&point, noise, reg)
                + set.scaled_gap_bound_of_bounded(&point, noise) / (2.0 * reg),
        );
        // For the exact kernel: rounding of G, of Σβ = 0, of the residuals, and of the kernel.
        let kernel = space.rounding(0.0);
        let updates = 0.25 * f64::EPSILON * largest * UPDATE_UNITS * point.updates as f64;
        let arithmetic = 2.0 * f64::EPSILON * (2.0 * reg + set.bias(&point).abs());
        let residual = 2.0 * dot_error(n, largest) + updates + arithmetic + kernel;
        let accurate = |suboptimality: f64| (2.0 * suboptimality * largest).sqrt() <= self.tol * largest;
        let mut suboptimality = in_alpha(set.scaled_gap_bound(&point, residual) / (2.0 * reg));
        if !accurate(suboptimality) {
            let error = ResidualError { residual, kernel };
            let tighter = set.dual_suboptimality_bound(&point, query, &mut columns, error, reg)?;
            suboptimality = suboptimality.min(in_alpha(tighter));
        }
        let alpha: Vec<f64> = point.beta[..n].iter().map(|b| 2.0 * b).collect();
        let values: Vec<f64> = point.k_beta[..n].iter().map(|g| 2.0 * g).collect();
        let converged = accurate(suboptimality);
        let rho = OneClassSolution::threshold(&point.beta, &bounds, &values);
        Ok(OneClassSolution { alpha, rho, suboptimality, estimate: Some(estimate), converged })
    }

    /// A dual point with the most outlying rows at their upper bounds: most of them are there in the solution.
    fn start(
        space: &Space,
        bounds: &[f64],
        set: &ActiveSet,
        query: QueryKernel<'_>,
        columns: &mut KernelColumns<'_>,
    ) -> Result<DualPoint> {
        let n = space.len();
        let mean = space.mean_embedding()?;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| mean[a].total_cmp(&mean[b]).then(a.cmp(&b)));
        let (mut beta, mut left, mut interior) = (vec![0.0; n + 1], 0.5, None);
        for i in order {
            beta[i] = bounds[i].min(left);
            left -= beta[i];
            if beta[i] < bounds[i] {
                interior = (beta[i] > 0.0).then_some(i);
                break;
            }
        }
        // The variables must sum to zero: the query's takes the rounding error.
        beta[n] = -(0.5 - left);
        let mut k_beta = vec![0.0; n + 1];
        space.for_each_block(|first, count, block| {
            for j in 0..count {
                k_beta[first + j] = dot(block.col(j), &beta[..n]);
            }
        })?;
        let penalty = set.multiplier_penalty(query.diagonal);
        let mut point = DualPoint { beta, k_beta, penalty, updates: 1, ..DualPoint::default() };
        point.sum = set.sum(&point);
        if let Some(i) = interior {
            columns.require([i].into_iter())?;
            set.add_free(&mut point, i, query, |j| columns.column(i)[j]);
        }
        Ok(point)
    }
}

/// A solution of the dual problem of a [`OneClassSvm`], and how accurate it is.
#[derive(Debug, Clone)]
pub struct OneClassSolution {
    /// $\alpha$, one for each point of the [`Space`].
    pub alpha: Vec<f64>,
    /// $\rho$.
    pub rho: f64,
    /// A bound on how far the dual objective is from its optimum.
    pub suboptimality: f64,
    /// An estimate of the same that is usually tighter; scores that it cannot tell from the offset are tied with it.
    pub estimate: Option<f64>,
    /// Whether the tolerance was met.
    pub converged: bool,
}

impl OneClassSolution {
    /// $\rho$ from the dual variables, their bounds and $K \alpha$: the mean value at the rows between their bounds; without
    /// any, midway between the rows at either bound.
    pub fn threshold(alpha: &[f64], bounds: &[f64], values: &[f64]) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        let (mut inside, mut outside) = (f64::INFINITY, f64::NEG_INFINITY);
        for ((a, bound), value) in alpha.iter().zip(bounds).zip(values) {
            if *a <= 0.0 {
                inside = inside.min(*value);
            } else if a < bound {
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
    /// The score of each row: high is normal.
    ///
    /// # Errors
    /// A kernel value that is not finite, or [`DepthError::Cancelled`].
    pub fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<f64>> {
        Batch::new(queries, run).try_run(|mut ticket: Ticket<'_, '_, f64>| {
            let mut block = Matrix::zeros(self.support.len(), COLUMN_GROUP);
            while let Some((first, rows)) = ticket.take(COLUMN_GROUP, 1) {
                self.support.block(rows, &mut block)?;
                for (j, row) in rows.iter().enumerate() {
                    let value = self.unit * dot(block.col(j), &self.coefficients);
                    let tie_width = self.tie_width * self.support.own(row)?.sqrt();
                    let tied = (value - self.offset).abs() <= tie_width;
                    ticket.done(first + j, if tied { self.offset } else { value });
                }
            }
            Ok(())
        })
    }

    /// The score below which a row is an outlier by the machine's own rule, $\nu N \rho$.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// Whether the solver met its tolerance.
    pub fn converged(&self) -> bool {
        self.converged
    }

    /// A bound on the error of the score of a row, as good as that on the suboptimality of its solution.
    ///
    /// # Errors
    /// A kernel value of the row with itself that is out of range.
    pub fn error(&self, row: &[f64]) -> Result<f64> {
        let diagonal = self.support.own(row)?;
        let sum = 2.0 * dot_error(self.support.len(), self.support.largest.max(diagonal));
        let rounding = self.unit * (sum + self.support.rounding(diagonal));
        Ok(self.classifier_error * diagonal.sqrt() + rounding)
    }
}
