//! The Cholesky factor of a Hessian or another positive semidefinite matrix.

use super::{Matrix, hadamard, multiply_symmetric};
use faer::linalg::solvers::{Llt, Solve};
use faer::{MatMut, Side};

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
