//! Posterior variances within the low-rank factor (G9), and their corrections by the residual (G10)–(G12).
//!
//! $Z = E W T$, $A = (I + T^\top W T)^{-1}$, $\tau_i$, $q_i$ and $\eta$ are those of `docs/math/gp.md`. For a low-rank residual
//! everything is done with $F F^\top$, and $R$ adds (G12).

use super::LaplaceProblem;
use super::gram_split::{GramSplit, QuerySplit};
use super::laplace_mode::ModeSearch;
use super::matrix_ops::{hadamard_single, round, row_products, symmetric_times};
use super::residual::Residual;
use super::solver::PosteriorSolver;
use super::variance_bounds::VarianceBounds;
use super::variance_rounding::ProductRounding;
use crate::numerics::linalg::{
    COLUMN_GROUP, Matrix, accumulate_transposed, axpy, dot, hadamard, multiply, multiply_mixed,
};
use std::cmp::Ordering;

/// $E W T$ of a few queries at a time in single precision, where that is accurate enough.
pub(super) struct ResidualProducts {
    /// $W T$, and scratch memory for products.
    wt: Matrix<f32>,
    scratch: Matrix<f32>,
    /// For a low-rank residual: $F^\top W T$ in both precisions.
    inner: Matrix,
    inner_single: Matrix<f32>,
    /// $E W T$ (or $F F^\top W T$).
    pub(super) products: Matrix,
}

impl ResidualProducts {
    /// For up to `queries` queries; empty if the products are not needed or not in single precision.
    pub(super) fn new(problem: &LaplaceProblem<'_>, split: &GramSplit, queries: usize) -> Self {
        let n = split.len();
        let single = match &split.residual {
            Residual::Zero => false,
            Residual::Dense(dense) => dense.single.is_some(),
            Residual::LowRank(low_rank) => low_rank.single.is_some(),
        };
        let columns = if single && problem.averaged && split.gram.is_none() {
            queries * slot_columns(split.width())
        } else {
            0
        };
        let inner_columns = if split.residual.low_rank().is_some() { columns } else { 0 };
        Self {
            wt: Matrix::zeros(n, columns),
            scratch: Matrix::zeros(n, columns),
            inner: Matrix::zeros(split.residual.scratch_rows(), inner_columns),
            inner_single: Matrix::zeros(split.residual.scratch_rows(), inner_columns),
            products: Matrix::zeros(n, columns),
        }
    }

    /// Computes the products of these queries in one pass over the residual.
    pub(super) fn multiply(&mut self, split: &GramSplit, modes: &[ModeSearch]) {
        let m = split.width();
        if self.wt.cols() == 0 {
            return;
        }
        for (k, mode) in modes.iter().enumerate() {
            for j in 0..slot_columns(m) {
                let (out, w) = (self.wt.col_mut(k * slot_columns(m) + j), &mode.likelihood.w[..]);
                match j.cmp(&m) {
                    Ordering::Less => hadamard_single(split.factor.col(j), w, out),
                    Ordering::Equal => hadamard_single(&mode.query.own_column, w, out),
                    Ordering::Greater => out.fill(0.0),
                }
            }
        }
        let columns = modes.len() * slot_columns(m);
        match &split.residual {
            Residual::Dense(dense) => {
                if let Some(matrix) = &dense.single {
                    multiply_mixed(&mut self.products, matrix, &self.wt, columns, &mut self.scratch);
                }
            }
            Residual::LowRank(low_rank) => {
                if let Some((f, f_t)) = &low_rank.single {
                    multiply_mixed(&mut self.inner, f_t, &self.wt, columns, &mut self.scratch);
                    for j in 0..columns {
                        round(self.inner.col(j), self.inner_single.col_mut(j));
                    }
                    multiply_mixed(&mut self.products, f, &self.inner_single, columns, &mut self.scratch);
                }
            }
            Residual::Zero => {}
        }
    }
}

/// How many columns of the products a query takes, with $m$ = `width`.
pub(super) fn slot_columns(width: usize) -> usize {
    (width + 1).next_multiple_of(COLUMN_GROUP)
}

/// One query's share of what was computed for its group.
pub(super) struct GroupProducts<'a> {
    /// $(E \circ E) W$, and for a low-rank residual $F F^\top W g$.
    pub(super) squares: &'a [f64],
    pub(super) completion: &'a [f64],
    /// The query's place among those of the last [`multiply`](ResidualProducts::multiply).
    pub(super) slot: usize,
}

impl PosteriorSolver<'_> {
    /// $(E \circ E) W$ for every query, and for a low-rank residual $F F^\top W g$.
    pub(super) fn squared_residual_products(&mut self, modes: &[ModeSearch]) -> (Matrix, Matrix) {
        let empty = || Matrix::zeros(self.split.len(), self.alphas.cols());
        let (mut squares, mut completions) = (empty(), empty());
        if !self.problem.averaged || self.split.residual.is_zero() || self.dense_variance.is_some() {
            return (squares, completions);
        }
        for (k, mode) in modes.iter().enumerate() {
            self.alphas.col_mut(k).copy_from_slice(&mode.likelihood.w);
        }
        self.split.residual.apply_squares(&self.alphas, &mut squares);
        if self.split.residual.low_rank().is_some() {
            for (k, mode) in modes.iter().enumerate() {
                hadamard(&mode.likelihood.w, &mode.query.completion, self.alphas.col_mut(k));
            }
            let columns = modes.len().next_multiple_of(COLUMN_GROUP);
            let scratch = &mut self.low_rank_scratch;
            self.split.residual.apply(&self.alphas, scratch, &mut completions, columns);
        }
        (squares, completions)
    }

    /// Adds the residual's part (G11), (G12) to the variances within the low-rank factor.
    ///
    /// `inverse` is $A$, `a_query` $A t_z$.
    pub(super) fn add_residual_variance(
        &mut self,
        variances: &mut VarianceBounds,
        mode: &ModeSearch,
        shared: &GroupProducts<'_>,
        inverse: &Matrix,
        a_query: &[f64],
    ) {
        let (query, w) = (&mode.query, &mode.likelihood.w);
        let n = self.split.len();
        let column_rounding = self.set_z(shared.slot);
        let z_own = self.z.col(self.split.width()).to_vec();
        let coupling = self.complete_z(query);
        multiply(&mut self.scratch, &self.ta, &coupling);
        let tau = row_products(&self.scratch, &self.ta);
        let cross = row_products(&self.ta, &self.z);
        let zaz = self.quadratic_forms_of_z(inverse);
        let rounding = self.product_rounding(column_rounding, w, &variances.low);
        let (q, eta) = self.q_bounds(mode, shared, &z_own, zaz, &rounding);
        // (G11) for ‖u‖² within `u_error` and q between its bounds.
        let bracket = |(u, u_error): (f64, f64), (q_low, q_high): (f64, f64), tau: f64| {
            if !(u + u_error).is_finite() {
                return (0.0, f64::INFINITY);
            }
            let (u_low, u_high) = ((u - u_error).max(0.0), (u + u_error).max(0.0));
            let (a, b) = (q_high.sqrt(), (eta * tau).sqrt());
            let low = (u_low - (a + b) * (a + b)).max(u_low / (1.0 + eta));
            let high = u_high - (q_low.sqrt() - b).max(0.0).powi(2) / (1.0 + eta);
            (low, high.max(low))
        };
        let diagonal = self.split.residual.diagonal();
        for i in 0..n {
            let completion = query.completion.get(i).map_or(0.0, |g| g * g);
            let e_ii = (diagonal[i] + completion - query.own_column[i] * query.own_column[i]).max(0.0);
            let (tau, tau_error) = (tau[i].max(0.0), rounding.tau[i]);
            let u = e_ii - 2.0 * cross[i] + tau;
            variances.add(i, bracket((u, rounding.cross[i] + tau_error), q[i], tau + tau_error));
        }
        let tau_error = rounding.tau_of_query(a_query, w, variances.low_query);
        let tau = dot(a_query, &symmetric_times(&coupling, a_query)).max(0.0);
        variances.add_to_query(bracket((tau, tau_error), (0.0, 0.0), tau + tau_error));
        if let Some(low_rank) = self.split.residual.low_rank() {
            let mu = max_ratio(w, self.problem.counts) * low_rank.remainder.weighted;
            for i in 0..n {
                let root = low_rank.remainder.diagonal[i].sqrt() + (mu * variances.high[i]).sqrt();
                variances.high[i] += root * root;
                variances.residual_part[i] += 0.5 * root * root;
            }
            variances.high_query *= 1.0 + mu;
        }
    }

    /// Completes $E W T$ in `z` to $Z$ of this query: less its own column, with $g g^\top W T$; returns $T^\top W Z$.
    fn complete_z(&mut self, query: &QuerySplit) -> Matrix {
        let width = self.wt.cols();
        for j in 0..width {
            let along = dot(self.wt.col(j), &query.own_column);
            axpy(-along, &query.own_column, self.z.col_mut(j));
            if !query.completion.is_empty() {
                let along = dot(self.wt.col(j), &query.completion);
                axpy(along, &query.completion, self.z.col_mut(j));
            }
        }
        // The mean of both triangles: the bound on the rounding in Z is one for their mean.
        let mut coupling = Matrix::zeros(width, width);
        accumulate_transposed(&mut coupling, &self.wt, &self.z, 0, self.split.len(), width);
        for j in 0..width {
            for i in 0..j {
                let x = 0.5 * (coupling.at(j, i) + coupling.at(i, j));
                coupling.set(i, j, x);
                coupling.set(j, i, x);
            }
        }
        coupling
    }

    /// Bounds on $q_i$ for every point, and $\eta$; `zaz` is $z_i^\top A z_i$ with its error.
    fn q_bounds(
        &self,
        mode: &ModeSearch,
        shared: &GroupProducts<'_>,
        z_own: &[f64],
        (zaz, zaz_error): (Vec<f64>, Vec<f64>),
        rounding: &ProductRounding,
    ) -> (Vec<(f64, f64)>, f64) {
        let (query, w, m) = (&mode.query, &mode.likelihood.w, self.split.width());
        let own_square = dot(self.wt.col(m), &query.own_column);
        let completion = CompletionTerms::new(w, query, shared.completion);
        let low_rank = self.split.residual.low_rank();
        let mass = low_rank.map_or(0.0, |low_rank| low_rank.entry_error_mass(w));
        let (mut eta_squared, mut q_bounds) = (0.0, Vec::with_capacity(zaz.len()));
        for (i, sum) in shared.squares.iter().enumerate().take(zaz.len()) {
            let o = query.own_column[i];
            let square = sum - 2.0 * o * z_own[i] + o * o * own_square + completion.squares(query, i);
            let row_error = rounding.rows[i] * rounding.columns_norm;
            let mut error = 2.0 * row_error * (zaz[i].max(0.0) + zaz_error[i]).sqrt()
                + row_error * row_error
                + zaz_error[i];
            error += 2.0 * o.abs() * rounding.rows[i] * rounding.columns[m];
            if let Some(low_rank) = low_rank {
                error += low_rank.rounding(i, *sum, mass);
            }
            eta_squared += w[i] * (square + error);
            let q = square - zaz[i];
            q_bounds.push(((q - error).max(0.0), (q + error).max(0.0)));
        }
        (q_bounds, if eta_squared.is_nan() { f64::INFINITY } else { eta_squared.max(0.0).sqrt() })
    }
}

/// What the completion $g g^\top$ of a low-rank residual, less $o o^\top$, adds to $\sum_j E_{ij}^2 W_j$.
struct CompletionTerms<'a> {
    /// $F F^\top W g$, $g^\top W g$ and $g^\top W o$.
    residual_wg: &'a [f64],
    gwg: f64,
    gwo: f64,
}

impl<'a> CompletionTerms<'a> {
    fn new(w: &[f64], query: &QuerySplit, residual_wg: &'a [f64]) -> Self {
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).zip(w).map(|((a, b), w)| a * b * w).sum();
        let g = &query.completion;
        Self { residual_wg, gwg: sum(g, g), gwo: sum(g, &query.own_column) }
    }

    fn squares(&self, query: &QuerySplit, i: usize) -> f64 {
        let Some(g) = query.completion.get(i) else { return 0.0 };
        2.0 * g * self.residual_wg[i] + g * g * self.gwg - 2.0 * g * query.own_column[i] * self.gwo
    }
}

/// $\max_i W_i / c_i$ over the points with a positive count.
fn max_ratio(w: &[f64], counts: &[f64]) -> f64 {
    w.iter().zip(counts).fold(0.0f64, |m, (w, c)| if *c > 0.0 { m.max(w / c) } else { m })
}
