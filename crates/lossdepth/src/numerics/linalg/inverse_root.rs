//! $L^{-1}$ for a positive definite matrix $B = L L^\top$, so that $B^{-1} = L^{-\top} L^{-1}$.

use super::{Matrix, dot, multiply_symmetric};
use crate::numerics::simd::LANES;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltParams, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Auto, MatMut, MatRef, Par, Spec};

/// Triangles up to this size are inverted element by element.
const SMALL: usize = 8;
/// Strips of this width follow a triangle.
const STRIP: usize = 12;

/// Scratch memory for a matrix and its inverse root, reused from one matrix to the next.
pub(crate) struct InverseRoot {
    /// $B$, then $L$: the lower triangle.
    lower: Matrix,
    /// $L^{-1}$, with zeros above its diagonal.
    inverse: Matrix,
    params: Spec<LltParams, f64>,
    scratch: MemBuffer,
}

impl InverseRoot {
    pub(crate) fn new(rows: usize) -> Self {
        // For a few hundred rows, smaller blocks than the default of the crate are faster.
        let params = LltParams { recursion_threshold: 32, ..<LltParams as Auto<f64>>::auto() };
        let params = Spec::new(params);
        let scratch = MemBuffer::new(cholesky_in_place_scratch::<f64>(rows, Par::Seq, params));
        let square = || Matrix::zeros(rows, rows);
        Self { lower: square(), inverse: square(), params, scratch }
    }

    /// A column of the matrix from its diagonal on, to be written.
    pub(crate) fn column(&mut self, j: usize) -> &mut [f64] {
        &mut self.lower.col_mut(j)[j..]
    }

    /// Computes the inverse root of the matrix that was written; false if it is not positive definite.
    pub(crate) fn find(&mut self) -> bool {
        let (regularization, stack) = (LltRegularization::default(), MemStack::new(&mut self.scratch));
        let found = cholesky_in_place(self.lower.view_mut(), regularization, Par::Seq, stack, self.params);
        if found.is_ok() {
            invert(self.lower.view(), self.inverse.view_mut());
        }
        found.is_ok()
    }

    /// $(B^{-1})_{jj}$.
    pub(crate) fn diagonal(&self, j: usize) -> f64 {
        // Start above the diagonal, where there are zeros, at a multiple of the vector length.
        let below = self.inverse.rows() - j;
        let above = below.next_multiple_of(LANES) - below;
        let column = &self.inverse.col(j)[j.saturating_sub(above)..];
        dot(column, column)
    }

    /// The lower triangle of $B^{-1}$ in single precision.
    pub(crate) fn inverse(&self) -> Matrix<f32> {
        let (n, root) = (self.inverse.rows(), self.inverse.single());
        let mut out = Matrix::zeros(n, n);
        multiply_symmetric(&mut out, &root, &root);
        out
    }

    /// A bound on the relative rounding error of a diagonal element of the inverse of a matrix with this many rows and this
    /// trace, if $B \succeq I$ and its elements are accurate to four units in the last place.
    ///
    /// In half units: the factor's $L L^\top$ is off by at most $n + 1$ times $|L| |L^\top|$, whose norm is at most the trace; the
    /// inverse $X$ solves $L X = I$ up to $n$ times $|L| |X|$; and the sum of its squares is off by another $n$.
    pub(crate) fn rounding(rows: usize, trace: f64) -> f64 {
        2.0 * (rows + 8) as f64 * f64::EPSILON * trace
    }
}

/// The inverse of a lower triangular matrix, in the lower triangle of `x`.
///
/// In halves, $L_{22} X_{21} = -L_{21} X_{11}$; the product goes by narrow strips, each as long as the triangle $X_{11}$ is
/// there. For a few hundred rows that takes four fifths of the time of the linear-algebra crate's own inverse.
fn invert(lower: MatRef<'_, f64>, mut x: MatMut<'_, f64>) {
    let n = lower.nrows();
    if n <= SMALL {
        return invert_small(lower, x);
    }
    let half = (n / 2).next_multiple_of(4);
    let (l11, _, l21, l22) = lower.split_at(half, half);
    let (mut x11, _, mut x21, x22) = x.rb_mut().split_at_mut(half, half);
    invert(l11, x11.rb_mut());
    invert(l22, x22);
    for first in (0..half).step_by(STRIP) {
        let (width, rows) = (STRIP.min(half - first), half - first);
        let triangle = x11.rb().submatrix(first, first, rows, width);
        let out = x21.rb_mut().subcols_mut(first, width);
        matmul(out, Accum::Replace, l21.subcols(first, rows), triangle, -1.0, Par::Seq);
    }
    solve_lower_triangular_in_place(l22, x21, Par::Seq);
}

/// The same by forward substitution, column by column.
fn invert_small(lower: MatRef<'_, f64>, mut x: MatMut<'_, f64>) {
    let n = lower.nrows();
    for j in 0..n {
        let mut column = [0.0; SMALL];
        column[j] = 1.0;
        for k in j..n {
            column[k] /= lower[(k, k)];
            x[(k, j)] = column[k];
            for i in k + 1..n {
                column[i] -= column[k] * lower[(i, k)];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_are_as_good_as_they_say() {
        for n in [1, 2, 5, 33, 120] {
            // I + D with D of rank two, whose inverse is known.
            let value = |i: usize, k: usize| ((i * (3 + k) + 1) as f64 * 0.7).sin();
            let mut root = InverseRoot::new(n);
            // Twice: the second must not depend on what the first left in memory.
            for scale in [30.0, 0.5] {
                let element = |i: usize, j: usize| {
                    scale * (0..2).map(|k| value(i, k) * value(j, k)).sum::<f64>()
                        + f64::from(u8::from(i == j))
                };
                for j in 0..n {
                    for (i, x) in root.column(j).iter_mut().enumerate() {
                        *x = element(i + j, j);
                    }
                }
                assert!(root.find());
                let sums = |a: usize, b: usize| (0..n).map(|i| value(i, a) * value(i, b)).sum::<f64>();
                let (a, b, c) = (1.0 / scale + sums(0, 0), sums(0, 1), 1.0 / scale + sums(1, 1));
                let exact = |i: usize, j: usize| {
                    let (x, y, u, v) = (value(i, 0), value(i, 1), value(j, 0), value(j, 1));
                    f64::from(u8::from(i == j))
                        - (c * x * u - b * (x * v + y * u) + a * y * v) / (a * c - b * b)
                };
                let trace = (0..n).map(|i| element(i, i)).sum();
                let (off, whole) = (InverseRoot::rounding(n, trace), root.inverse());
                for j in 0..n {
                    // Plus the rounding of the formula above.
                    let close = (root.diagonal(j) - exact(j, j)).abs() <= off * exact(j, j) + 1e-13;
                    assert!(close, "{n}, {j}: {} {}", root.diagonal(j), exact(j, j));
                    for i in j..n {
                        assert!((f64::from(whole.at(i, j)) - exact(i, j)).abs() < 1e-5);
                    }
                }
            }
        }
    }

    #[test]
    fn indefinite_matrices_are_refused() {
        let mut root = InverseRoot::new(2);
        root.column(0).copy_from_slice(&[1.0, 2.0]);
        root.column(1).copy_from_slice(&[1.0]);
        assert!(!root.find());
    }
}
