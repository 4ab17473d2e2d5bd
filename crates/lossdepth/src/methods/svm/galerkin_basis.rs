//! Orthonormal functions that span a small space for the standard error (K19).

use super::prepared::PreparedSvm;
use crate::error::Result;
use crate::numerics::linalg::{Matrix, axpy, dot};
use crate::solver::dual_active_set::KernelColumns;

/// Functions of the basis, at most (heuristic).
const MAX_FUNCTIONS: usize = 16;
/// The basis is complete when the mean squared distance of the sample from its span is below this share of the penalty, or
/// of the largest kernel value: the curvature of the rest is then small against the penalty (heuristic).
const SPAN_TOLERANCE: f64 = 1e-2;
/// A squared distance from the span below this share of the largest kernel value gives no new function.
const PIVOT_TOLERANCE: f64 = 1e-8;
/// Keeps a pivot positive where rounding is as large.
const MIN_PIVOT: f64 = 1e-12;

/// Orthonormal combinations of the kernel functions of a few sample points.
#[derive(Debug)]
pub(super) struct GalerkinBasis {
    /// The sample points.
    pub(super) points: Vec<usize>,
    /// The Cholesky factor of their kernel matrix, row by row.
    factor: Vec<Vec<f64>>,
    /// The values of the functions at all sample points, one column a function.
    pub(super) values: Matrix,
}

impl GalerkinBasis {
    pub(super) fn empty(n: usize) -> Self {
        Self { points: Vec::new(), factor: Vec::new(), values: Matrix::zeros(n, 0) }
    }

    /// The coordinates in the basis of a function with these values at the basis points.
    pub(super) fn coordinates(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut x: Vec<f64> = values.collect();
        for i in 0..x.len() {
            let sum: f64 = self.factor[i][..i].iter().zip(&x).map(|(l, x)| l * x).sum();
            x[i] = (x[i] - sum) / self.factor[i][i];
        }
        x
    }

    /// By pivoted Cholesky: each point is the farthest from the span of the previous ones.
    pub(super) fn new(prepared: &PreparedSvm, columns: &mut KernelColumns<'_>) -> Result<Self> {
        let space = &prepared.space;
        let n = space.len();
        let (mut points, mut factor, mut values) = (Vec::new(), Vec::new(), Vec::<Vec<f64>>::new());
        let mut distances = space.diagonal.clone();
        let scale = distances.iter().fold(0.0f64, |m, k| m.max(*k));
        let incomplete = |distances: &[f64]| {
            2.0 * dot(distances, &space.half_weights) > SPAN_TOLERANCE * prepared.task.reg.min(scale)
        };
        while points.len() < MAX_FUNCTIONS.min(n) && incomplete(&distances) {
            let farther = |a: &usize, b: &usize| distances[*a].total_cmp(&distances[*b]).then(b.cmp(a));
            let farthest = (0..n).max_by(farther).filter(|&i| distances[i] > PIVOT_TOLERANCE * scale);
            let Some(next) = farthest else { break };
            columns.require([next].into_iter())?;
            let mut value = columns.column(next).to_vec();
            let row: Vec<f64> = values.iter().map(|v| v[next]).collect();
            for (l, v) in row.iter().zip(&values) {
                axpy(-l, v, &mut value);
            }
            let pivot = value[next].max(MIN_PIVOT * scale).sqrt();
            for v in &mut value {
                *v /= pivot;
            }
            for (d, v) in distances.iter_mut().zip(&value) {
                *d = (*d - v * v).max(0.0);
            }
            distances[next] = 0.0;
            factor.push(row.into_iter().chain([pivot]).collect());
            points.push(next);
            values.push(value);
        }
        let values = Matrix::from_fn(n, values.len(), |i, j| values[j][i]);
        Ok(Self { points, factor, values })
    }
}
