//! Small matrix products that the posterior needs.

use crate::numerics::linalg::{Matrix, Real, dot, hadamard, multiply_first, multiply_symmetric};
use crate::numerics::simd::vectorised;

/// A copy of the factor $T$ in single precision with scratch memory, for products whose rounding does not matter or is bounded.
pub(super) struct SinglePrecision {
    t: Matrix<f32>,
    wt: Matrix<f32>,
    rows: Matrix<f32>,
    scratch: Matrix<f32>,
}

impl SinglePrecision {
    pub(super) fn new(t: &Matrix) -> Self {
        let zeros = || Matrix::zeros(t.rows(), t.cols());
        Self { t: t.single(), wt: zeros(), rows: zeros(), scratch: zeros() }
    }

    /// The lower triangle of $T^\top W T$ for the diagonal `w`, with `own_column` as the last column of $T$.
    pub(super) fn products(&mut self, own_column: &[f64], w: &[f64]) -> Matrix {
        let width = self.t.cols();
        round(own_column, self.t.col_mut(width - 1));
        let mut single = vec![0.0; w.len()];
        round(w, &mut single);
        for j in 0..width {
            hadamard(self.t.col(j), &single, self.wt.col_mut(j));
        }
        let mut out = Matrix::zeros(width, width);
        multiply_symmetric(&mut out, &self.wt, &self.t);
        Matrix::from_fn(width, width, |i, j| f64::from(out.at(i, j)))
    }

    /// $a_i^\top S a_i$ for every row $a_i$ of `rows`.
    pub(super) fn quadratic_forms(&mut self, rows: &Matrix, symmetric: &Matrix) -> Vec<f64> {
        (0..rows.cols()).for_each(|j| round(rows.col(j), self.rows.col_mut(j)));
        multiply_first(&mut self.scratch, &self.rows, &symmetric.single(), rows.cols());
        let mut out = vec![0.0; rows.rows()];
        for j in 0..rows.cols() {
            let (a, b, out) = (self.scratch.col(j), self.rows.col(j), &mut out[..]);
            vectorised!(out.iter_mut().zip(a).zip(b).for_each(|((o, a), b)| *o += f64::from(a * b)));
        }
        out
    }
}

/// `out = a ∘ b`, rounded to single precision.
pub(super) fn hadamard_single(a: &[f64], b: &[f64], out: &mut [f32]) {
    vectorised!({
        for ((o, a), b) in out.iter_mut().zip(a).zip(b) {
            *o = f32::rounded(a * b);
        }
    });
}

/// The same numbers in single precision.
pub(super) fn round(from: &[f64], to: &mut [f32]) {
    vectorised!(to.iter_mut().zip(from).for_each(|(t, x)| *t = f32::rounded(*x)));
}

/// $\sum_j a_{ij} b_{ij}$ for every row.
pub(super) fn row_products(a: &Matrix, b: &Matrix) -> Vec<f64> {
    let mut out = vec![0.0; a.rows()];
    for j in 0..a.cols() {
        let (a, b) = (a.col(j), b.col(j));
        let out = &mut out[..];
        vectorised!({
            for ((o, a), b) in out.iter_mut().zip(a).zip(b) {
                *o = a.mul_add(*b, *o);
            }
        });
    }
    out
}

/// A symmetric matrix times a vector.
pub(super) fn symmetric_times(symmetric: &Matrix, x: &[f64]) -> Vec<f64> {
    (0..symmetric.cols()).map(|j| dot(symmetric.col(j), x)).collect()
}
