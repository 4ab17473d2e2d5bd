//! Rounding of the product $Z = E W T$ in single precision, and what it does to the variances.

use super::matrix_ops::row_products;
use super::residual::Residual;
use super::residual_variance::slot_columns;
use super::solver::PosteriorSolver;
use crate::numerics::linalg::{MIXED_ERROR, Matrix, multiply, norm};
use crate::numerics::simd::vectorised;

/// A bound on the error of $Z$: entry $(i, j)$ is off by at most `rows[i] * columns[j]`; and what follows from it.
pub(super) struct ProductRounding {
    pub(super) rows: Vec<f64>,
    pub(super) columns: Vec<f64>,
    rows_norm: f64,
    pub(super) columns_norm: f64,
    /// Bounds on the errors of $2 t_i^\top A z_i$ and $\tau_i^2$, for every point.
    pub(super) cross: Vec<f64>,
    pub(super) tau: Vec<f64>,
}

impl ProductRounding {
    /// A bound on the error of $\tau^2$ for the query, whose $A t_z$ is `a_query` and $t_z^\top A t_z$ is `base`.
    pub(super) fn tau_of_query(&self, a_query: &[f64], w: &[f64], base: f64) -> f64 {
        let max_w = w.iter().fold(0.0f64, |m, c| m.max(*c));
        let sum: f64 = self.columns.iter().zip(a_query).map(|(r, a)| r * a.abs()).sum();
        sum * self.rows_norm * (max_w * base).max(0.0).sqrt()
    }
}

impl PosteriorSolver<'_> {
    /// Sets `z` to $E W T$ (or $F F^\top W T$) of the query in this slot, whose $W T$ is in `wt`; returns a bound on the rounding error
    /// of every column, relative to the [rows](Self::residual_row_norms).
    pub(super) fn set_z(&mut self, slot: usize) -> Vec<f64> {
        let columns = self.wt.cols();
        let first = slot * slot_columns(columns - 1);
        let (unit, single) = match &self.split.residual {
            Residual::Dense(dense) => (MIXED_ERROR, dense.single.is_some()),
            // Twice: each of the two products is off by at most this share of the product of its factors' norms.
            Residual::LowRank(low_rank) => {
                (2.0 * MIXED_ERROR * low_rank.frobenius, low_rank.single.is_some())
            }
            Residual::Zero => (0.0, false),
        };
        if !single {
            let mut scratch = Matrix::zeros(self.split.residual.scratch_rows(), columns);
            self.split.residual.apply(&self.wt, &mut scratch, &mut self.z, columns);
            return vec![0.0; columns];
        }
        for j in 0..columns {
            self.z.col_mut(j).copy_from_slice(self.residual_products.products.col(first + j));
        }
        (0..columns).map(|j| unit * norm(self.wt.col(j))).collect()
    }

    /// $z_i^\top A z_i$ for every row of $Z$, and bounds on their errors.
    ///
    /// They are small, so single precision is enough; $|A_{jk}| \le (A_{jj} A_{kk})^{1/2}$ bounds its sums.
    pub(super) fn quadratic_forms_of_z(&mut self, inverse: &Matrix) -> (Vec<f64>, Vec<f64>) {
        let (n, width) = (self.split.len(), inverse.cols());
        let Some(single) = &mut self.single else {
            multiply(&mut self.scratch, &self.z, inverse);
            return (row_products(&self.scratch, &self.z), vec![0.0; n]);
        };
        let mut sums = vec![0.0; n];
        for j in 0..width {
            let root = inverse.at(j, j).max(1e-9).sqrt();
            let (sums, column) = (&mut sums[..], self.z.col(j));
            vectorised!(sums.iter_mut().zip(column).for_each(|(s, z)| *s = z.abs().mul_add(root, *s)));
        }
        let unit = (width + 8) as f64 * f64::from(f32::EPSILON);
        let errors = sums.iter().map(|s| unit * s * s).collect();
        (single.quadratic_forms(&self.z, inverse), errors)
    }

    /// What the rounding of $Z$ does to the sums it enters; `base` are the variances $t_i^\top A t_i$.
    pub(super) fn product_rounding(&self, columns: Vec<f64>, w: &[f64], base: &[f64]) -> ProductRounding {
        let (rows, columns_norm) = (self.residual_row_norms(), norm(&columns));
        let mut along = vec![0.0; self.split.len()];
        for (j, rounding) in columns.iter().enumerate().filter(|(_, r)| **r > 0.0) {
            for (sum, x) in along.iter_mut().zip(self.ta.col(j)) {
                *sum += rounding * x.abs();
            }
        }
        let rows_norm = norm(&rows);
        let max_w = w.iter().fold(0.0f64, |m, c| m.max(*c));
        // Z is off by a matrix D with |D_ij| ≤ rows_i columns_j. That changes 2 tᵀA z by 2 tᵀA d, and τ² by tᵀA (TᵀW D) A t, where
        // ‖W T A t‖ ≤ (max W · tᵀA t)^½.
        let cross = along.iter().zip(&rows).map(|(sum, row)| 2.0 * sum * row).collect();
        let tau = along
            .iter()
            .zip(base)
            .map(|(sum, base)| sum * rows_norm * (max_w * base).max(0.0).sqrt())
            .collect();
        ProductRounding { rows, columns, rows_norm, columns_norm, cross, tau }
    }

    /// The norms of the rows of the residual (or of $F$), which the rounding of its products is relative to.
    fn residual_row_norms(&self) -> Vec<f64> {
        match &self.split.residual {
            Residual::Zero => vec![0.0; self.split.len()],
            Residual::Dense(dense) => dense.norms.clone(),
            Residual::LowRank(low_rank) => low_rank.diagonal.iter().map(|d| d.sqrt()).collect(),
        }
    }
}
