//! The posteriors of a group of queries.
//!
//! In the split $K = T T^\top + E$ of [`gram_split`](super::gram_split), with the query's own column in $T$, the latent function is
//! $f = T w + E \alpha$ and minimises $\Psi$ of (G1). Newton's method finds $w$ for fixed $r = E \alpha$; then $r$ is updated from the
//! new gradient of the likelihood (G6), a contraction by $\|W^{1/2} E W^{1/2}\|$ near the mode. $\Psi$ is strongly convex with modulus
//! 1 in the norm of the Hilbert space, so that with the gradient's parts $g_T$ and $d$ (coefficients of $E$)
//!
//! $$ |f(x) - \hat f(x)| \le \sqrt{k(x, x)} \, \delta, \qquad \delta^2 = \|g_T\|^2 + d^\top E d, $$
//!
//! (G7). All queries of a group share each product with $E$. The iterations of one query are in
//! [`laplace_mode`](super::laplace_mode), the variances in [`residual_variance`](super::residual_variance) and
//! [`dense_variance`](super::dense_variance).

use super::dense_variance::DenseVariance;
use super::gram_split::{GramSplit, QuerySplit};
use super::laplace_mode::ModeSearch;
use super::likelihood::Likelihood;
use super::matrix_ops::SinglePrecision;
use super::residual_variance::{GroupProducts, ResidualProducts};
use super::{LaplaceProblem, Posterior};
use crate::numerics::linalg::{
    COLUMN_GROUP, Cholesky, Matrix, axpy, hadamard, multiply_first, multiply_symmetric,
};

/// How many queries share a pass over the residual for their variances.
const VARIANCE_GROUP: usize = 8;

/// The share of the target that Newton's method with $r$ fixed may leave; the rest is for $r$ (heuristic).
const NEWTON_SHARE: f64 = 0.3;
/// Kernel values in single precision: three of them multiplied are in its range.
const SINGLE_RANGE: std::ops::Range<f64> = 1e-12..1e12;

/// Computes posteriors; the scratch memory of one worker.
pub(super) struct PosteriorSolver<'a> {
    pub(super) problem: &'a LaplaceProblem<'a>,
    pub(super) split: &'a GramSplit,
    /// $T$, n × (m + 1), with the current query's own column last; $W T$; $Z = E W T$; $T A$; and one more such matrix.
    pub(super) t: Matrix,
    pub(super) wt: Matrix,
    pub(super) z: Matrix,
    pub(super) ta: Matrix,
    pub(super) scratch: Matrix,
    /// Single precision, unless kernel values are too large or small for its range.
    pub(super) single: Option<SinglePrecision>,
    /// $E W T$ of [`VARIANCE_GROUP`] queries.
    pub(super) residual_products: ResidualProducts,
    /// Where the variances come from the whole Gram matrix.
    pub(super) dense_variance: Option<DenseVariance>,
    /// One column a query: $w$, $T w$, $\alpha$, $T^\top \alpha$, $E \alpha$, and scratch memory for the last.
    weights: Matrix,
    latent: Matrix,
    pub(super) alphas: Matrix,
    projected: Matrix,
    residual_alphas: Matrix,
    pub(super) low_rank_scratch: Matrix,
}

impl<'a> PosteriorSolver<'a> {
    /// For groups of up to `width` queries.
    pub(super) fn new(problem: &'a LaplaceProblem<'a>, split: &'a GramSplit, width: usize) -> Self {
        let (n, m) = (split.len(), split.width());
        let like_t = || Matrix::zeros(n, m + 1);
        let mut t = like_t();
        for j in 0..m {
            t.col_mut(j).copy_from_slice(split.factor.col(j));
        }
        let group = |rows| Matrix::zeros(rows, width);
        Self {
            problem,
            split,
            wt: like_t(),
            z: like_t(),
            ta: like_t(),
            scratch: like_t(),
            single: SINGLE_RANGE.contains(&split.max_diagonal).then(|| SinglePrecision::new(&t)),
            t,
            residual_products: ResidualProducts::new(problem, split, VARIANCE_GROUP.min(width)),
            dense_variance: split.gram.as_ref().filter(|_| problem.averaged).map(|_| DenseVariance::new(n)),
            weights: group(m),
            latent: group(n),
            alphas: group(n),
            projected: group(m),
            residual_alphas: group(n),
            low_rank_scratch: group(split.residual.scratch_rows()),
        }
    }

    /// The posteriors of a group of queries; `None` if cancelled.
    pub(super) fn posteriors(
        &mut self,
        queries: Vec<QuerySplit>,
        cancelled: impl Fn() -> bool,
    ) -> Option<Vec<Posterior>> {
        let mut modes: Vec<ModeSearch> = queries.into_iter().map(ModeSearch::new).collect();
        while modes.iter().any(|mode| mode.outcome.is_none()) {
            if cancelled() {
                return None;
            }
            self.newton_steps(&mut modes, &cancelled);
            self.update_residuals(&mut modes);
        }
        let (squares, completions) = self.squared_residual_products(&modes);
        let mut posteriors = Vec::with_capacity(modes.len());
        for (k, mode) in modes.iter().enumerate() {
            if cancelled() {
                return None;
            }
            let slot = k % VARIANCE_GROUP;
            if slot == 0 {
                let next = &modes[k..modes.len().min(k + VARIANCE_GROUP)];
                self.residual_products.multiply(self.split, next);
            }
            let shared = GroupProducts { squares: squares.col(k), completion: completions.col(k), slot };
            posteriors.push(self.posterior(mode, &shared));
        }
        Some(posteriors)
    }

    /// Newton's method for $w$ with $r$ fixed, for all queries at once.
    fn newton_steps(&mut self, modes: &mut [ModeSearch], cancelled: &impl Fn() -> bool) {
        let (m, has_residual) = (self.split.width(), !self.split.residual.is_zero());
        let goal = NEWTON_SHARE * self.problem.target;
        let mut active = unfinished(modes);
        while !active.is_empty() && !cancelled() {
            let columns = padded_columns(&active);
            for (k, &j) in active.iter().enumerate() {
                self.weights.col_mut(k).copy_from_slice(&modes[j].newton.w[..m]);
            }
            (active.len()..columns).for_each(|k| self.weights.col_mut(k).fill(0.0));
            multiply_first(&mut self.latent, &self.split.factor, &self.weights, columns);
            for (k, &j) in active.iter().enumerate() {
                modes[j].evaluate(self.latent.col(k), self.problem);
            }
            self.copy_alphas(modes, &active);
            multiply_first(&mut self.projected, &self.split.factor_t, &self.alphas, columns);
            let mut next = Vec::with_capacity(active.len());
            for (k, &j) in active.iter().enumerate() {
                let mode = &mut modes[j];
                mode.set_gradient(self.projected.col(k));
                // False for NaN, which ends the iteration.
                let above_goal = mode.newton.gradient_norm > mode.inner_goal(goal, has_residual);
                let limit = mode.iterations >= self.problem.max_iter;
                if above_goal && !limit && mode.step(self) {
                    next.push(j);
                }
            }
            active = next;
        }
    }

    /// One product with the residual for all queries, which gives $\delta$ and the next $r$.
    fn update_residuals(&mut self, modes: &mut [ModeSearch]) {
        let active = unfinished(modes);
        let columns = self.copy_alphas(modes, &active);
        self.split.residual.apply(
            &self.alphas,
            &mut self.low_rank_scratch,
            &mut self.residual_alphas,
            columns,
        );
        let mut outdated = Vec::new();
        for (k, &j) in active.iter().enumerate() {
            if modes[j].update_residual(self.residual_alphas.col_mut(k), self.problem, self.split) {
                outdated.push(j);
            }
        }
        let Some(low_rank) = self.split.residual.low_rank().filter(|_| !outdated.is_empty()) else { return };
        let columns = self.copy_alphas(modes, &outdated);
        low_rank.remainder.apply(&self.alphas, &mut self.residual_alphas, columns);
        for (k, &j) in outdated.iter().enumerate() {
            modes[j].update_remainder(self.residual_alphas.col(k));
        }
    }

    /// Copies $\alpha$ of some queries to the first columns of `alphas`; returns how many columns to multiply.
    fn copy_alphas(&mut self, modes: &[ModeSearch], which: &[usize]) -> usize {
        let columns = padded_columns(which);
        for (k, &j) in which.iter().enumerate() {
            self.alphas.col_mut(k).copy_from_slice(&modes[j].likelihood.alpha);
        }
        (which.len()..columns).for_each(|k| self.alphas.col_mut(k).fill(0.0));
        columns
    }

    /// The Cholesky factor of $I + T^\top W T$; sets the last column of `t`, and `wt`.
    pub(super) fn hessian(&mut self, query: &QuerySplit, likelihood: &Likelihood) -> Option<Cholesky> {
        let m = self.split.width();
        self.t.col_mut(m).copy_from_slice(&query.own_column);
        for j in 0..=m {
            hadamard(self.t.col(j), &likelihood.w, self.wt.col_mut(j));
        }
        let mut hessian = Matrix::zeros(m + 1, m + 1);
        multiply_symmetric(&mut hessian, &self.wt, &self.t);
        factored(hessian, &query.coordinates, likelihood.w_query)
    }

    /// The same in single precision where possible: Newton steps need no more.
    pub(super) fn approximate_hessian(
        &mut self,
        query: &QuerySplit,
        likelihood: &Likelihood,
    ) -> Option<Cholesky> {
        match &mut self.single {
            Some(single) => {
                let products = single.products(&query.own_column, &likelihood.w);
                factored(products, &query.coordinates, likelihood.w_query)
            }
            None => self.hessian(query, likelihood),
        }
    }
}

/// Adds the query's term and the identity to the lower triangle of $T^\top W T$ over the sample, and factors it.
fn factored(mut hessian: Matrix, coordinates: &[f64], w_query: f64) -> Option<Cholesky> {
    for j in 0..coordinates.len() {
        axpy(w_query * coordinates[j], coordinates, hessian.col_mut(j));
        let diagonal = hessian.at(j, j) + 1.0;
        hessian.set(j, j, diagonal);
    }
    Cholesky::scaled(&mut hessian)
}

/// The queries whose mode is not found yet.
fn unfinished(modes: &[ModeSearch]) -> Vec<usize> {
    (0..modes.len()).filter(|&j| modes[j].outcome.is_none()).collect()
}

/// How many columns a product for these queries has: whole groups, so that a result does not depend on its neighbours.
fn padded_columns(which: &[usize]) -> usize {
    which.len().next_multiple_of(COLUMN_GROUP)
}
