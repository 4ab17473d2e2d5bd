//! Matrices and factorisations; the only module that uses the linear-algebra crate.
//!
//! Everything here runs on one thread: the parallelism of this project is over blocks of queries.
//! Products accumulate along the inner dimension in one fixed order, whatever the position of a
//! column and the number of columns beside it. This makes a score independent of its batch; `products_do_not_depend_on_the_neighbours` checks it.

mod inverse_root;
mod weighted_qr;

pub(crate) use inverse_root::InverseRoot;
pub(crate) use weighted_qr::{HessianFactor, WeightedQr};

use crate::numerics::simd::{LANES, fold, vectorised};
use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::solvers::{Llt, Qr, SelfAdjointEigen, Solve};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::RealField;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use std::ops::{AddAssign, Mul};

/// A dense matrix, column by column, each column aligned for wide vectors.
///
/// Columns are padded to whole vectors with zeros. The products read the padding and discard the result. Uninitialised
/// padding may hold subnormal numbers, which slow the products down tenfold.
#[derive(Debug, Clone)]
pub(crate) struct Matrix<T: Real = f64> {
    padded: Mat<T>,
    rows: usize,
}

/// The numbers a [`Matrix`] may hold: double precision, or single for intermediate results.
pub(crate) trait Real:
    RealField + Copy + Default + Send + Sync + std::fmt::Debug + Mul<Output = Self> + AddAssign + 'static
{
    /// Columns have a multiple of this many rows.
    const ROW_GROUP: usize;

    fn rounded(x: f64) -> Self;
    fn widened(self) -> f64;
}

impl Real for f64 {
    const ROW_GROUP: usize = 8;

    #[inline(always)]
    fn rounded(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn widened(self) -> f64 {
        self
    }
}

impl Real for f32 {
    const ROW_GROUP: usize = 16;

    #[expect(clippy::cast_possible_truncation, reason = "that is the point")]
    #[inline(always)]
    fn rounded(x: f64) -> Self {
        x as Self
    }
    #[inline(always)]
    fn widened(self) -> f64 {
        f64::from(self)
    }
}

impl<T: Real> Matrix<T> {
    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Self { padded: Mat::zeros(rows.next_multiple_of(T::ROW_GROUP), cols), rows }
    }

    pub(crate) fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut m = Self::zeros(rows, cols);
        for j in 0..cols {
            for (i, x) in m.col_mut(j).iter_mut().enumerate() {
                *x = f(i, j);
            }
        }
        m
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn cols(&self) -> usize {
        self.padded.ncols()
    }

    pub(crate) fn col(&self, j: usize) -> &[T] {
        &self.padded.col_as_slice(j)[..self.rows]
    }

    pub(crate) fn col_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.padded.col_as_slice_mut(j)[..self.rows]
    }

    /// Overwrites column `to` with column `from`.
    pub(crate) fn copy_col(&mut self, from: usize, to: usize) {
        let (low, high) = (from.min(to), from.max(to));
        let (mut left, mut right) = self.padded.split_at_col_mut(high);
        let (a, b) = (left.rb_mut().col_mut(low), right.rb_mut().col_mut(0));
        if from < to {
            { b }.copy_from(a.rb());
        } else {
            { a }.copy_from(b.rb());
        }
    }

    pub(crate) fn at(&self, i: usize, j: usize) -> T {
        self.padded[(i, j)]
    }

    pub(crate) fn set(&mut self, i: usize, j: usize, value: T) {
        self.padded[(i, j)] = value;
    }

    pub(crate) fn transposed(&self) -> Self {
        Self::from_fn(self.cols(), self.rows, |i, j| self.at(j, i))
    }

    /// The same in single precision; numbers whose products would be subnormal become 0.
    pub(crate) fn single(&self) -> Matrix<f32> {
        let value = |x: f64| if x.abs() < 1e-15 { 0.0 } else { f32::rounded(x) };
        Matrix::from_fn(self.rows, self.cols(), |i, j| value(self.at(i, j).widened()))
    }

    fn view(&self) -> MatRef<'_, T> {
        self.padded.as_ref().subrows(0, self.rows)
    }

    fn view_mut(&mut self) -> MatMut<'_, T> {
        self.padded.as_mut().subrows_mut(0, self.rows)
    }
}

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

/// A Cholesky factor of a matrix scaled to a unit diagonal.
pub(crate) struct Cholesky {
    factor: Llt<f64>,
    /// One over the roots of the diagonal.
    units: Vec<f64>,
}

impl Cholesky {
    /// Factors the positive semidefinite matrix whose lower triangle is given; `None` if it is far from that.
    ///
    /// Scaling to a unit diagonal makes the condition number independent of units of measurement. Where rounding makes the
    /// matrix slightly indefinite, a small multiple of the identity is added.
    pub(crate) fn scaled(lower: &mut Matrix) -> Option<Self> {
        Self::damped(lower, 0.0)
    }

    /// As [`scaled`](Self::scaled), after adding `damping` times its diagonal to the matrix.
    pub(crate) fn damped(lower: &mut Matrix, damping: f64) -> Option<Self> {
        let rows = lower.rows();
        let units: Vec<f64> = (0..rows)
            .map(|j| lower.at(j, j))
            .map(|d| if d > 0.0 && d.is_finite() { 1.0 / d.sqrt() } else { 1.0 })
            .collect();
        for j in 0..rows {
            for (x, u) in lower.col_mut(j).iter_mut().zip(&units) {
                *x *= u * units[j];
            }
        }
        for trace in [0.0, 1e-15, 1e-13, 1e-11, 1e-9] {
            for j in 0..rows {
                lower.set(j, j, 1.0 + damping + trace);
            }
            if let Ok(factor) = Llt::new(lower.view(), Side::Lower) {
                return Some(Self { factor, units });
            }
        }
        None
    }

    /// Of $\sum_i h_i t_i t_i^\top + k \hat z \hat z^\top + 2 \lambda I$ (no penalty on a free intercept), where the rows of
    /// `tall` lack the last coordinate of $\hat z$.
    pub(crate) fn of_hessian(
        tall: &Matrix,
        curvatures: &[f64],
        query: &[f64],
        query_curvature: f64,
        reg: f64,
        free: usize,
    ) -> Option<Self> {
        let mut weighted = Matrix::zeros(tall.rows(), tall.cols());
        for j in 0..tall.cols() {
            hadamard(tall.col(j), curvatures, weighted.col_mut(j));
        }
        let mut sample = Matrix::zeros(tall.cols(), tall.cols());
        multiply_symmetric(&mut sample, &weighted, tall);
        Self::of_moments(&sample, query, query_curvature, reg, free)
    }

    /// The same, where the lower triangle of $\sum_i h_i t_i t_i^\top$ is given.
    pub(crate) fn of_moments(
        sample: &Matrix,
        query: &[f64],
        query_curvature: f64,
        reg: f64,
        free: usize,
    ) -> Option<Self> {
        Self::scaled(&mut hessian(sample, query, query_curvature, reg, free))
    }

    pub(crate) fn units(&self) -> &[f64] {
        &self.units
    }

    /// The inverse of the matrix of this many rows.
    pub(crate) fn inverse(&self, rows: usize) -> Matrix {
        let mut inverse = Matrix::from_fn(rows, rows, |i, j| if i == j { self.units[i] } else { 0.0 });
        self.factor.solve_in_place(inverse.view_mut());
        for j in 0..rows {
            inverse.col_mut(j).iter_mut().zip(&self.units).for_each(|(x, u)| *x *= u);
        }
        inverse
    }

    pub(crate) fn solve(&self, rhs: &mut [f64]) {
        let rows = rhs.len();
        rhs.iter_mut().zip(&self.units).for_each(|(x, u)| *x *= u);
        self.factor.solve_in_place(MatMut::from_column_major_slice_mut(rhs, rows, 1));
        rhs.iter_mut().zip(&self.units).for_each(|(x, u)| *x *= u);
    }
}

/// The lower triangle of $S + k \hat z \hat z^\top + 2 \lambda I$ (no penalty on a free intercept), where that of
/// $S = \sum_i h_i t_i t_i^\top$ is given.
pub(crate) fn hessian(sample: &Matrix, query: &[f64], query_curvature: f64, reg: f64, free: usize) -> Matrix {
    let q = sample.rows();
    let mut hessian = Matrix::zeros(q + 1, q + 1);
    for j in 0..=q {
        for i in j..=q {
            let mut h = query_curvature * query[i] * query[j];
            if i < q {
                h += sample.at(i, j);
            }
            if i == j && j >= free {
                h += 2.0 * reg;
            }
            hessian.set(i, j, h);
        }
    }
    hessian
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    #[test]
    fn norms_know_what_is_no_number() {
        assert!(norm(&[0.0, f64::NAN, 3.0]).is_nan() && norm(&[f64::NAN]).is_nan());
        assert_eq!((norm(&[3e200, 0.0]), norm(&[3.0, -4.0]), norm(&[])), (3e200, 5.0, 0.0));
        assert_eq!(norm(&[1.0, f64::NEG_INFINITY]), f64::INFINITY);
    }

    const SHAPES: [(usize, usize); 14] = [
        (1, 300),
        (2, 200),
        (3, 1),
        (3, 2),
        (3, 150),
        (4, 100),
        (6, 72),
        (7, 5),
        (9, 9),
        (50, 3),
        (49, 12),
        (130, 600),
        (1100, 9),
        (20, 1500),
    ];

    // Sizes on both sides of every threshold inside the product: tiny, odd, deeper than its inner block.
    fn check<T: Real + PartialEq>(product: impl Fn(&Matrix<T>, &Matrix<T>) -> Matrix<T>, transposed: bool) {
        let value = |i: usize, j: usize| T::rounded(((i * 31 + j * 17) as f64 * 0.7).sin());
        for (rows, inner) in SHAPES {
            let a = if transposed {
                Matrix::from_fn(inner, rows, |i, j| value(j, i))
            } else {
                Matrix::from_fn(rows, inner, value)
            };
            let b = Matrix::from_fn(inner, 64, |i, j| value(j, i + 3));
            let all = product(&a, &b);
            for width in [8, 16, 24, 40, 64] {
                for first in [0, 1, 5, 7, 64 - width] {
                    let first = first.min(64 - width);
                    let part = Matrix::from_fn(inner, width, |i, j| b.at(i, j + first));
                    let out = product(&a, &part);
                    for j in 0..width {
                        assert_eq!(out.col(j), all.col(j + first), "{rows}x{inner}, width {width}");
                    }
                }
            }
        }
    }

    #[test]
    fn products_do_not_depend_on_the_neighbours() {
        fn product<T: Real>(a: &Matrix<T>, b: &Matrix<T>) -> Matrix<T> {
            let mut out = Matrix::zeros(a.rows(), b.cols());
            multiply_first(&mut out, a, b, b.cols());
            out
        }
        check(product::<f64>, false);
        check(product::<f32>, false);
        let mixed = |a: &Matrix<f32>, b: &Matrix<f32>| {
            let mut out = Matrix::zeros(a.rows(), b.cols());
            multiply_mixed(&mut out, a, b, b.cols(), &mut Matrix::zeros(a.rows(), b.cols()));
            out.single()
        };
        check(mixed, false);
    }

    #[test]
    fn mixed_products_are_as_good_as_they_say() {
        for (rows, inner) in SHAPES {
            let a = Matrix::from_fn(rows, inner, |i, j| ((i * 31 + j * 17) as f64 * 0.7).sin());
            let b = Matrix::from_fn(inner, 8, |i, j| ((i * 13 + j * 5) as f64 * 0.3).cos());
            let (mut exact, mut ours) = (Matrix::zeros(rows, 8), Matrix::zeros(rows, 8));
            multiply(&mut exact, &a, &b);
            multiply_mixed(&mut ours, &a.single(), &b.single(), 8, &mut Matrix::zeros(rows, 8));
            for (i, j) in (0..rows).flat_map(|i| (0..8).map(move |j| (i, j))) {
                let sizes: f64 = (0..inner).map(|k| (a.at(i, k) * b.at(k, j)).abs()).sum();
                let off = (exact.at(i, j) - ours.at(i, j)).abs();
                assert!(off <= MIXED_ERROR * sizes, "{rows}x{inner}: {off} {sizes}");
            }
        }
    }

    #[test]
    fn triangular_solutions_do_not_depend_on_the_neighbours() {
        let product = |a: &Matrix, b: &Matrix| {
            let n = b.rows();
            let lower = Matrix::from_fn(n, n, |i, j| match i.cmp(&j) {
                Ordering::Equal => 2.0 + n as f64,
                Ordering::Greater => a.at(i % a.rows(), j),
                Ordering::Less => f64::NAN,
            });
            let mut out = b.clone();
            solve_lower(&lower, &mut out);
            out
        };
        check(product, false);
    }

    #[test]
    fn accumulated_products_do_not_depend_on_the_neighbours() {
        let product = |a: &Matrix, b: &Matrix| {
            let mut out = Matrix::zeros(a.cols(), b.cols());
            accumulate_transposed(&mut out, a, b, 0, a.rows(), b.cols());
            out
        };
        check(product, true);
    }
}
