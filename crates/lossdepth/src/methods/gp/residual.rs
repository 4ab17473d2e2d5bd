//! The residual $E = K - X X^\top$ of the Gram matrix (G5).
//!
//! Either the matrix itself or, where its eigenvalues fall fast, $E = F F^\top + R$ with a low-rank factor
//! $F$ and a negligible remainder $R$: a product then costs $2 n k$ instead of $n^2$ operations. Of $R$ the
//! diagonal and two norms are enough.

use super::principal_factor::PrincipalFactor;
use crate::numerics::linalg::{
    MIXED_ERROR, Matrix, Real, dot, hadamard, multiply_first, multiply_mixed, norm, subtract_outer,
};
use crate::numerics::simd::vectorised;
use std::sync::Arc;

/// Columns that are squared and multiplied at a time.
const BLOCK: usize = 64;

/// $E$ in one of three forms.
#[derive(Debug)]
pub(super) enum Residual {
    /// $X$ has full rank.
    Zero,
    Dense(DenseResidual),
    LowRank(Box<LowRankResidual>),
}

/// $E$ as a matrix.
#[derive(Debug)]
pub(super) struct DenseResidual {
    matrix: Matrix,
    /// A copy in single precision, for corrections to the variances.
    pub(super) single: Option<Matrix<f32>>,
    /// Its diagonal, and the norms of its rows.
    pub(super) diagonal: Vec<f64>,
    pub(super) norms: Vec<f64>,
}

/// $E = F F^\top + R$.
#[derive(Debug)]
pub(super) struct LowRankResidual {
    /// $F$, n × k, and its transpose.
    pub(super) factor: Matrix,
    pub(super) factor_t: Matrix,
    /// Both in single precision, for corrections to the variances.
    pub(super) single: Option<(Matrix<f32>, Matrix<f32>)>,
    /// $F F^\top$ in single precision, if variances are asked for. The error of entry $(i, j)$ is at most
    /// $\varepsilon_i \varepsilon_j$ with the numbers $\varepsilon$ of `entry_error`.
    product: Option<Matrix<f32>>,
    entry_error: Vec<f64>,
    /// The diagonal of $F F^\top$, and $\|F\|_F$.
    pub(super) diagonal: Vec<f64>,
    pub(super) frobenius: f64,
    pub(super) remainder: Arc<Remainder>,
}

/// The remainder $R$ of a low-rank residual.
#[derive(Debug)]
pub(super) struct Remainder {
    matrix: Matrix<f32>,
    pub(super) diagonal: Vec<f64>,
    /// Bounds on $\|R\|$ and on $\|C^{1/2} R C^{1/2}\|$ with the counts $C$ of the points.
    pub(super) norm: f64,
    pub(super) weighted: f64,
    /// $\|R\|_F$.
    frobenius: f64,
}

impl Residual {
    pub(super) fn is_zero(&self) -> bool {
        matches!(self, Self::Zero)
    }

    /// Whether more columns in $X$ make the residual smaller.
    pub(super) fn is_reducible(&self) -> bool {
        self.low_rank().map_or(!self.is_zero(), |low_rank| low_rank.factor.cols() > 0)
    }

    pub(super) fn low_rank(&self) -> Option<&LowRankResidual> {
        if let Self::LowRank(low_rank) = self { Some(low_rank) } else { None }
    }

    /// How many rows the scratch matrix of [`apply`](Self::apply) needs.
    pub(super) fn scratch_rows(&self) -> usize {
        self.low_rank().map_or(0, |low_rank| low_rank.factor.cols())
    }

    /// $E$ (or $F F^\top$) times each of the first `count` columns.
    pub(super) fn apply(&self, columns: &Matrix, scratch: &mut Matrix, out: &mut Matrix, count: usize) {
        match self {
            Self::Zero => {}
            Self::Dense(dense) => multiply_first(out, &dense.matrix, columns, count),
            Self::LowRank(low_rank) => {
                multiply_first(scratch, &low_rank.factor_t, columns, count);
                multiply_first(out, &low_rank.factor, scratch, count);
            }
        }
    }

    /// $\sum_j E_{ij}^2 c_j$ for each column $c$, with $F F^\top$ for $E$ if it is low-rank.
    pub(super) fn apply_squares(&self, columns: &Matrix, out: &mut Matrix) {
        match self {
            Self::Zero => {}
            Self::Dense(dense) => apply_squares(&dense.matrix, columns, out),
            Self::LowRank(low_rank) => {
                if let Some(product) = &low_rank.product {
                    apply_squares(product, columns, out);
                }
            }
        }
    }

    /// The diagonal of $E$ (or of $F F^\top$).
    pub(super) fn diagonal(&self) -> &[f64] {
        match self {
            Self::Zero => &[],
            Self::Dense(dense) => &dense.diagonal,
            Self::LowRank(low_rank) => &low_rank.diagonal,
        }
    }
}

impl DenseResidual {
    /// From the matrix $E$; `single` adds a copy in single precision.
    pub(super) fn new(matrix: Matrix, single: bool) -> Self {
        let n = matrix.cols();
        let diagonal = (0..n).map(|i| matrix.at(i, i).max(0.0)).collect();
        let norms = (0..n).map(|i| norm(matrix.col(i))).collect();
        let single = single.then(|| matrix.single());
        Self { matrix, single, diagonal, norms }
    }
}

impl LowRankResidual {
    /// All columns of a principal factor but the first `width`.
    pub(super) fn new(principal: &PrincipalFactor, width: usize, averaged: bool, single: bool) -> Self {
        let (points, n) = (&principal.factor, principal.factor.rows());
        let factor = Matrix::from_fn(n, points.cols() - width, |i, j| points.at(i, width + j));
        let factor_t = factor.transposed();
        let diagonal: Vec<f64> = (0..n).map(|i| norm(factor_t.col(i)).powi(2)).collect();
        let frobenius = diagonal.iter().sum::<f64>().sqrt();
        let product = averaged.then(|| {
            let (mut product, factor) = (Matrix::zeros(n, n), factor.single());
            multiply_first(&mut product, &factor, &factor_t.single(), n);
            product
        });
        let single = single.then(|| (factor.single(), factor_t.single()));
        // Each entry is a sum of k products in single precision, less a sum of at most k more: see `without`.
        let unit = (points.cols() as f64 * f64::from(f32::EPSILON)).sqrt();
        let entry_error = diagonal.iter().map(|d| unit * d.sqrt()).collect();
        Self {
            factor,
            factor_t,
            single,
            product,
            entry_error,
            diagonal,
            frobenius,
            remainder: principal.remainder.clone(),
        }
    }

    /// A bound on the rounding error of `sum`, entry `i` of [`apply_squares`](Residual::apply_squares) for
    /// $c$, where `mass` is [`entry_error_mass`](Self::entry_error_mass) of $c$: entries that are off by
    /// $\varepsilon_i \varepsilon_j$, and sums in single precision.
    pub(super) fn rounding(&self, i: usize, sum: f64, mass: f64) -> f64 {
        let entries = self.entry_error[i] * mass.sqrt();
        let sums = 0.5 * (BLOCK + 4) as f64 * f64::from(f32::EPSILON);
        2.0 * sum.max(0.0).sqrt() * entries + entries * entries + sums * sum.abs()
    }

    /// $\sum_i c_i \varepsilon_i^2$.
    pub(super) fn entry_error_mass(&self, columns: &[f64]) -> f64 {
        self.entry_error.iter().zip(columns).map(|(o, c)| o * o * c).sum()
    }

    /// Without the first `width` columns of $F$.
    pub(super) fn without(mut self, width: usize) -> Self {
        let n = self.factor.rows();
        let removed = Matrix::from_fn(n, width, |i, j| f32::rounded(self.factor.at(i, j)));
        if let Some(product) = &mut self.product {
            subtract_outer(product, &removed, &removed, width, n);
        }
        let factor = Matrix::from_fn(n, self.factor.cols() - width, |i, j| self.factor.at(i, width + j));
        let factor_t = factor.transposed();
        let diagonal: Vec<f64> = (0..n).map(|i| norm(factor_t.col(i)).powi(2)).collect();
        let frobenius = diagonal.iter().sum::<f64>().sqrt();
        let single = self.single.map(|_| (factor.single(), factor_t.single()));
        Self { factor, factor_t, single, diagonal, frobenius, ..self }
    }
}

impl Remainder {
    /// $R$ is `gram` less $P P^\top$ for the principal factor $P$. `dropped` are the eigenvalues of $C^{1/2}
    /// S C^{1/2}$, each within `eigenvalue_error`, where $S$ belongs to the columns of the longer factor that
    /// $P$ was truncated from.
    ///
    /// $R = S + S'$, where $S'$ is what the longer factor leaves. Both are positive semidefinite, so
    /// $\|R\|_F^2 \ge \|S\|_F^2 + \|S'\|_F^2$ and $\|R\| \le \|S\| + (\|R\|_F^2 - \|S\|_F^2)^{1/2}$, of which
    /// all is known.
    pub(super) fn new(
        mut gram: Matrix,
        factor: &Matrix,
        counts: &[f64],
        (dropped, eigenvalue_error): (&[f64], f64),
    ) -> Self {
        let n = gram.cols();
        subtract_outer(&mut gram, factor, factor, factor.cols(), n);
        let diagonal: Vec<f64> = (0..n).map(|i| gram.at(i, i).max(0.0)).collect();
        let (mut plain, mut weighted) = (0.0, 0.0);
        let mut squares = vec![0.0; n];
        for j in 0..n {
            hadamard(gram.col(j), gram.col(j), &mut squares);
            plain += squares.iter().sum::<f64>();
            weighted += counts[j] * dot(&squares, counts);
        }
        let known: f64 = dropped.iter().map(|l| (l - eigenvalue_error).max(0.0).powi(2)).sum();
        let largest = dropped.iter().fold(0.0f64, |m, l| m.max(*l)) + eigenvalue_error;
        // 0.1 % covers the rounding of the two sums, which is at most some n ε of each.
        let spectral = largest + (1.001 * weighted - 0.999 * known).max(0.0).sqrt();
        let weighted = weighted.sqrt().min(spectral);
        let least = counts.iter().fold(f64::INFINITY, |m, c| m.min(*c));
        let frobenius = plain.sqrt();
        Self { matrix: gram.single(), diagonal, norm: frobenius.min(weighted / least), weighted, frobenius }
    }

    /// $R$ times each of the first `count` columns, within [`rounding`](Self::rounding).
    pub(super) fn apply(&self, columns: &Matrix, out: &mut Matrix, count: usize) {
        let (mut single, mut part) = (Matrix::zeros(columns.rows(), count), Matrix::zeros(out.rows(), count));
        for j in 0..count {
            for (to, x) in single.col_mut(j).iter_mut().zip(columns.col(j)) {
                *to = f32::rounded(*x);
            }
        }
        multiply_mixed(out, &self.matrix, &single, count, &mut part);
    }

    /// A bound on the norm of the rounding error of such a product, for a column of norm `length`.
    pub(super) fn rounding(&self, length: f64) -> f64 {
        MIXED_ERROR * self.frobenius * length
    }
}

/// $\sum_j E_{ij}^2 c_j$ for each column $c$.
fn apply_squares<T: Real>(matrix: &Matrix<T>, columns: &Matrix, out: &mut Matrix) {
    let n = matrix.cols();
    let (mut squares, mut part) = (Matrix::<T>::zeros(n, BLOCK), Matrix::<T>::zeros(n, columns.cols()));
    (0..out.cols()).for_each(|j| out.col_mut(j).fill(0.0));
    for first in (0..n).step_by(BLOCK) {
        let count = BLOCK.min(n - first);
        for j in 0..BLOCK {
            if j < count {
                hadamard(matrix.col(first + j), matrix.col(first + j), squares.col_mut(j));
            } else {
                squares.col_mut(j).fill(T::default());
            }
        }
        let slice = Matrix::from_fn(BLOCK, columns.cols(), |i, j| {
            if i < count { T::rounded(columns.at(first + i, j)) } else { T::default() }
        });
        multiply_first(&mut part, &squares, &slice, columns.cols());
        for j in 0..out.cols() {
            let (to, from) = (out.col_mut(j), part.col(j));
            vectorised!(to.iter_mut().zip(from).for_each(|(t, x)| *t += x.widened()));
        }
    }
}
