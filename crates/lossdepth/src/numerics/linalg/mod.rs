//! Matrices and factorisations; the only module that uses the linear-algebra crate.
//!
//! Everything here runs on one thread: the parallelism of this project is over blocks of queries.
//! Products accumulate along the inner dimension in one fixed order, whatever the position of a
//! column and the number of columns beside it. This makes a score independent of its batch; `products_do_not_depend_on_the_neighbours` checks it.

mod cholesky;
mod inverse_root;
mod matrix;
#[cfg(test)]
mod tests;
mod weighted_qr;

pub(crate) use cholesky::{Cholesky, hessian};
pub(crate) use inverse_root::InverseRoot;
pub(crate) use matrix::{Matrix, Real};
pub(crate) use weighted_qr::{HessianFactor, WeightedQr};

use crate::numerics::simd::{LANES, fold, vectorised};
use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::solvers::{Qr, SelfAdjointEigen};
use faer::{Accum, Par, Side};
/// `out = a b`.
pub(crate) fn multiply(out: &mut Matrix, a: &Matrix, b: &Matrix) {
    multiply_first(out, a, b, b.cols());
}

/// The first `count` columns of `out = a b`.
pub(crate) fn multiply_first<T: Real>(out: &mut Matrix<T>, a: &Matrix<T>, b: &Matrix<T>, count: usize) {
    let work = a.rows() * a.cols();
    for (first, columns) in groups(work, count) {
        let out = out.view_mut().subcols_mut(first, columns);
        matmul(out, Accum::Replace, a.view(), b.view().subcols(first, columns), T::rounded(1.0), Par::Seq);
    }
}

/// Terms that [`multiply_mixed`] adds in single precision.
const MIXED: usize = 128;
/// A bound on the rounding error of a sum of [`multiply_mixed`], relative to the sum of its absolute terms: half a unit for each of
/// both factors, their product and every sum within a piece.
pub(crate) const MIXED_ERROR: f64 = 0.5 * (MIXED + 4) as f64 * f32::EPSILON as f64;

/// The first `count` columns of `out = a b`, where pieces of the inner dimension are multiplied in single precision and added
/// in double; `part` is scratch memory of the size of `out`.
pub(crate) fn multiply_mixed(
    out: &mut Matrix,
    a: &Matrix<f32>,
    b: &Matrix<f32>,
    count: usize,
    part: &mut Matrix<f32>,
) {
    let inner = a.cols();
    for first in (0..inner).step_by(MIXED) {
        let depth = MIXED.min(inner - first);
        for (start, columns) in groups(a.rows() * depth, count) {
            let part = part.view_mut().submatrix_mut(0, start, a.rows(), columns);
            let b = b.view().submatrix(first, start, depth, columns);
            matmul(part, Accum::Replace, a.view().subcols(first, depth), b, 1.0, Par::Seq);
        }
        for j in 0..count {
            let (to, from) = (&mut out.col_mut(j)[..a.rows()], &part.col(j)[..a.rows()]);
            vectorised!({
                for (t, x) in to.iter_mut().zip(from) {
                    *t = if first == 0 { f64::from(*x) } else { *t + f64::from(*x) };
                }
            });
        }
    }
}

/// `out -= a bᵀ` for the first `inner` columns of both and the first `count` rows of `b`, which are those columns of `out`.
pub(crate) fn subtract_outer<T: Real>(
    out: &mut Matrix<T>,
    a: &Matrix<T>,
    b: &Matrix<T>,
    inner: usize,
    count: usize,
) {
    let b = b.view().submatrix(0, 0, count, inner).transpose();
    let out = out.view_mut().subcols_mut(0, count);
    matmul(out, Accum::Add, a.view().subcols(0, inner), b, T::rounded(-1.0), Par::Seq);
}

/// Replaces every column of `rhs` by the solution of the lower triangular system.
///
/// In groups of eight columns, so that a column does not depend on how many there are.
pub(crate) fn solve_lower(lower: &Matrix, rhs: &mut Matrix) {
    for (first, columns) in groups(0, rhs.cols()) {
        let rhs = rhs.view_mut().subcols_mut(first, columns);
        faer::linalg::triangular_solve::solve_lower_triangular_in_place(lower.view(), rhs, Par::Seq);
    }
}

/// Columns that are multiplied together. The linear-algebra crate sums tiny products in another order than
/// larger ones. So that the order does not depend on the number of columns, products are computed eight columns at a time.
fn groups(work: usize, count: usize) -> impl Iterator<Item = (usize, usize)> {
    const TINY: usize = 16 * 16 * 16;
    let width = if work * COLUMN_GROUP <= TINY { COLUMN_GROUP } else { count.max(1) };
    (0..count).step_by(width).map(move |first| (first, width.min(count - first)))
}

/// Blocks of queries have a multiple of this many columns.
pub(crate) const COLUMN_GROUP: usize = 8;

/// The lower triangle of `out = aᵀ b`, known to be symmetric.
pub(crate) fn multiply_symmetric<T: Real>(out: &mut Matrix<T>, a: &Matrix<T>, b: &Matrix<T>) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    triangular::matmul(
        out.view_mut(),
        TriangularLower,
        Accum::Replace,
        a.view().transpose(),
        Rectangular,
        b.view(),
        Rectangular,
        T::rounded(1.0),
        Par::Seq,
    );
}

/// Adds to the first `count` columns of `out` the product of the first `rows` rows of `a`, transposed, with the rows
/// of `b` from `start` on.
pub(crate) fn accumulate_transposed(
    out: &mut Matrix,
    a: &Matrix,
    b: &Matrix,
    start: usize,
    rows: usize,
    count: usize,
) {
    for (first, columns) in groups(a.cols() * rows, count) {
        let out = out.view_mut().subcols_mut(first, columns);
        let b = b.view().submatrix(start, first, rows, columns);
        matmul(out, Accum::Add, a.view().subrows(0, rows).transpose(), b, 1.0, Par::Seq);
    }
}

/// `Σ aᵢ bᵢ`, summed in an order that depends on the length alone.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    #[inline(always)]
    fn lanes(a: &[f64], b: &[f64]) -> f64 {
        let mut sums = [0.0; LANES];
        let n = a.len().min(b.len());
        let body = n - n % LANES;
        for (a, b) in a[..body].chunks_exact(LANES).zip(b[..body].chunks_exact(LANES)) {
            for k in 0..LANES {
                sums[k] += a[k] * b[k];
            }
        }
        (body..n).fold(fold(sums), |sum, i| sum + a[i] * b[i])
    }
    if a.len() < SHORT {
        return lanes(a, b);
    }
    vectorised!(lanes(a, b))
}

/// `y += a x`.
pub(crate) fn axpy<T: Real>(a: T, x: &[T], y: &mut [T]) {
    #[inline(always)]
    fn plain<T: Real>(a: T, x: &[T], y: &mut [T]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * *x;
        }
    }
    if y.len() < SHORT {
        return plain(a, x, y);
    }
    vectorised!(plain(a, x, y));
}

/// `out = a ∘ b`, element by element.
pub(crate) fn hadamard<T: Real>(a: &[T], b: &[T], out: &mut [T]) {
    vectorised!({
        for ((o, a), b) in out.iter_mut().zip(a).zip(b) {
            *o = *a * *b;
        }
    });
}

/// Below this length the dispatch to wider vectors costs more than it saves.
const SHORT: usize = 32;

/// The Euclidean norm without overflow or underflow; NaN if an entry is.
pub(crate) fn norm(x: &[f64]) -> f64 {
    let square = dot(x, x);
    if (1e-200..1e200).contains(&square) {
        return square.sqrt();
    }
    let largest = x.iter().fold(0.0f64, |m, v| if v.abs() > m || v.is_nan() { v.abs() } else { m });
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * x.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt()
}

/// Eigenvalues in descending order, with their vectors as columns; `None` if the iteration failed.
pub(crate) fn eigen(symmetric: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let evd = SelfAdjointEigen::new(symmetric.view(), Side::Lower).ok()?;
    let (u, s, k) = (evd.U(), evd.S(), symmetric.rows());
    let values = (0..k).map(|j| s[k - 1 - j]).collect();
    Some((values, Matrix::from_fn(k, k, |i, j| u[(i, k - 1 - j)])))
}

/// An orthonormal basis of the span of the columns of a tall matrix.
pub(crate) fn orthonormal_basis(tall: &Matrix) -> Matrix {
    let q = Qr::new(tall.view()).compute_thin_Q();
    Matrix::from_fn(q.nrows(), q.ncols(), |i, j| q[(i, j)])
}
