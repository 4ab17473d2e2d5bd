//! Rows that the mean embedding is approximated with: combinations of their kernel functions.
//!
//! Coefficients come from an inverse that rounding and damping make inexact. That only costs accuracy: distances are computed for the
//! coefficients as they are.

use crate::data::Rows;
use crate::error::DepthError;
use crate::error::Result;
use crate::kernel::{Columns, Kernel, Points, Standard};
use crate::numerics::linalg::{COLUMN_GROUP, Cholesky, Matrix, dot, multiply_first};

/// Added to the diagonal of the Gram matrix, relative to it: keeps coefficients small where centres nearly coincide. A heuristic.
const DAMPING: f64 = 1e-9;

/// Centres $c_1, \dots, c_m$ with their Gram matrix and an approximate inverse of it.
#[derive(Debug)]
pub(super) struct Centres {
    rows: Vec<f64>,
    width: usize,
    gram: Matrix,
    inverse: Matrix,
}

/// A combination $p = \sum_j \beta_j k(c_j, \cdot)$ close to some $v$ in the Hilbert space.
pub(super) struct Projection {
    pub(super) coefficients: Vec<f64>,
    /// $2 \langle v, p \rangle - \|p\|^2$, which is $\|v\|^2 - \|v - p\|^2$.
    pub(super) explained: f64,
    /// $\|\beta\|_1$.
    pub(super) size: f64,
}

impl Centres {
    /// None is a choice as well: all projections are 0 then.
    pub(super) fn new(kernel: &Standard, rows: &[f64], width: usize) -> Result<Self> {
        let points = Points::new(Rows::new(rows, width)?);
        let m = points.len();
        let mut gram = Matrix::zeros(m, m);
        kernel.block(&points, points.rows(), &mut Columns::new(&mut gram, 0, m));
        let mut lower = gram.clone();
        let inverse = if m == 0 {
            Matrix::zeros(0, 0)
        } else {
            Cholesky::damped(&mut lower, DAMPING)
                .ok_or_else(|| {
                    DepthError::Kernel("the kernel values of the centres are not definite".to_owned())
                })?
                .inverse(m)
        };
        Ok(Self { rows: rows.to_vec(), width, gram, inverse })
    }

    pub(super) fn len(&self) -> usize {
        self.gram.rows()
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        Rows::new(&self.rows, self.width).unwrap_or_else(|_| unreachable!("rows of one width"))
    }

    /// Projections of up to [`COLUMN_GROUP`] elements $v$, from their values $\langle v, k(c_j, \cdot) \rangle$.
    pub(super) fn project(&self, values: &[Vec<f64>]) -> Vec<Projection> {
        let (m, count) = (self.len(), values.len());
        if m == 0 {
            return values
                .iter()
                .map(|_| Projection { coefficients: Vec::new(), explained: 0.0, size: 0.0 })
                .collect();
        }
        debug_assert!(count <= COLUMN_GROUP, "{count} at a time");
        let mut right = Matrix::zeros(m, COLUMN_GROUP);
        values.iter().enumerate().for_each(|(j, values)| right.col_mut(j).copy_from_slice(values));
        let (mut beta, mut image) = (Matrix::zeros(m, COLUMN_GROUP), Matrix::zeros(m, COLUMN_GROUP));
        multiply_first(&mut beta, &self.inverse, &right, COLUMN_GROUP);
        multiply_first(&mut image, &self.gram, &beta, COLUMN_GROUP);
        (0..count).map(|j| Projection::new(beta.col(j).to_vec(), &values[j], image.col(j))).collect()
    }

    /// What is explained by a combination that is given.
    pub(super) fn combination(&self, coefficients: Vec<f64>, values: &[f64]) -> Projection {
        let image: Vec<f64> = (0..self.len()).map(|j| dot(self.gram.col(j), &coefficients)).collect();
        Projection::new(coefficients, values, &image)
    }
}

impl Projection {
    /// `image` is the Gram matrix times the coefficients.
    fn new(coefficients: Vec<f64>, values: &[f64], image: &[f64]) -> Self {
        let explained = 2.0 * dot(&coefficients, values) - dot(&coefficients, image);
        let size = coefficients.iter().map(|b| b.abs()).sum();
        Self { coefficients, explained, size }
    }
}
