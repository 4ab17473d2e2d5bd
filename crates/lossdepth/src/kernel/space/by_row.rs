//! From the points back to the rows of the reference: standard errors, influences and witness functions.

use super::{Source, Space};
use crate::data::{Mass, Rows};
use crate::error::Result;
use crate::numerics::linalg::{Matrix, dot};

impl Space {
    /// The number of observations: the sum of the counts, or Kish's effective sample size.
    pub(crate) fn observations(&self) -> f64 {
        match self.mass {
            Mass::Counts(n) | Mass::Effective(n) => n,
            Mass::Importance => 0.25 / dot(&self.row_weights, &self.row_weights),
        }
    }

    /// The sampling standard error of a depth from the influence values of the points.
    pub(crate) fn standard_error(&self, influence: &[f64]) -> f64 {
        match self.mass {
            // Equal rows enter with the sum of their counts.
            Mass::Counts(_) | Mass::Effective(_) => self.mass.standard_error(influence, &self.half_weights),
            Mass::Importance => self.mass.standard_error(&self.by_row(influence), &self.row_weights),
        }
    }

    /// Values of the points, for every row of the reference; 0 for rows without weight.
    pub(crate) fn by_row(&self, values: &[f64]) -> Vec<f64> {
        self.point_of.iter().map(|point| point.map_or(0.0, |p| values[p])).collect()
    }

    /// Coefficients of the points, divided among the rows of the reference by their weights.
    pub(crate) fn coefficients_by_row(&self, coefficients: &[f64]) -> Vec<f64> {
        let share = |(point, weight): (&Option<usize>, &f64)| {
            point.map_or(0.0, |p| coefficients[p] * (weight / self.half_weights[p]))
        };
        self.point_of.iter().zip(&self.row_weights).map(share).collect()
    }

    /// The witness function $f = \sum_i c_i k(x_i, \cdot) + c_z k(z, \cdot) + b$ at every row of the reference, given its values
    /// at the points.
    ///
    /// # Errors
    /// A kernel value that is not finite.
    pub(crate) fn witness(
        &self,
        coefficients: &[f64],
        at_query: f64,
        intercept: f64,
        values: &[f64],
        query: &[f64],
    ) -> Result<Vec<f64>> {
        let mut witness = self.by_row(values);
        let mut column = Matrix::zeros(self.len(), 1);
        let without = self.point_of.iter().enumerate().filter(|(_, point)| point.is_none());
        for (k, (row, _)) in without.enumerate() {
            let with_query = match &self.source {
                Source::Function { kernel, unweighted, .. } => {
                    let x = unweighted.point(k);
                    self.block(Rows::new(x, x.len())?, &mut column)?;
                    kernel.value(x, query)
                }
                Source::Precomputed { unweighted: (gram, rows), .. } => {
                    column.col_mut(0).copy_from_slice(gram.col(k));
                    column.col_mut(0).iter_mut().for_each(|k| *k += self.shift);
                    query[rows[k]]
                }
            };
            let sample = dot(coefficients, column.col(0));
            witness[row] = sample + at_query * (with_query + self.shift) + intercept;
        }
        Ok(witness)
    }

    /// Influence values of the points, centred, for every row of the reference.
    pub(crate) fn influence(&self, values: &[f64]) -> Vec<f64> {
        let mean = 2.0 * dot(values, &self.half_weights);
        let centred: Vec<f64> = values.iter().map(|v| v - mean).collect();
        self.by_row(&centred)
    }
}
