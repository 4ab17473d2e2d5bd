//! Bandwidths from the distances within a sparse sample: the same rules as for dense rows.

use super::{BLOCK, Measure, SparseRow, SparseSample};
use crate::error::Result;
use crate::kernel::bandwidth::{Gamma, MAX_ROWS, PairDistances, Sigma, representatives};
use crate::kernel::neighbour_distance::{CENTRES, NEIGHBOURS, median_of};
use crate::numerics::linalg::Matrix;

impl SparseSample {
    pub(super) fn gamma(&self, gamma: Gamma) -> Result<f64> {
        gamma.learn_by(|| self.pairs(Measure::SquaredDistance), || self.neighbour_distance())
    }

    pub(super) fn sigma(&self, sigma: Sigma) -> Result<f64> {
        sigma.learn_by(|| self.pairs(Measure::ManhattanDistance))
    }

    /// Rows that stand for the sample, and their weights.
    fn chosen(&self, most: usize) -> (Vec<usize>, Vec<f64>) {
        let compare = |a: usize, b: usize| self.sample.compare(a, b);
        representatives(self.sample.weights(), compare, most).into_iter().unzip()
    }

    /// The measure of `rows` with `others`: one column for each of these.
    fn between(&self, measure: Measure, rows: &[usize], others: &[usize], out: &mut Matrix) {
        let located: Vec<SparseRow> =
            others.iter().map(|&i| self.locate(self.sample.rows().row(i))).collect();
        let mut all = Matrix::zeros(self.len(), others.len());
        self.measure(measure, &located, &mut all);
        for j in 0..others.len() {
            out.col_mut(j).iter_mut().zip(rows).for_each(|(out, &i)| *out = all.at(i, j));
        }
    }

    fn pairs(&self, measure: Measure) -> PairDistances {
        let (rows, weights) = self.chosen(MAX_ROWS);
        PairDistances::of(&weights, self.sample.mass(), |first, last, block| {
            self.between(measure, &rows, &rows[first..last], block);
        })
    }

    fn neighbour_distance(&self) -> f64 {
        let ((centres, masses), (rows, weights)) = (self.chosen(CENTRES), self.chosen(NEIGHBOURS));
        median_of(self.sample.observations(), &masses, &weights, |take| {
            let mut block = Matrix::zeros(rows.len(), BLOCK);
            for (k, some) in centres.chunks(BLOCK).enumerate() {
                self.between(Measure::SquaredDistance, &rows, some, &mut block);
                (0..some.len()).for_each(|j| take(k * BLOCK + j, block.col_mut(j)));
            }
        })
    }
}
