//! The sample as scaling sees it: the rows that count, their weights, and weighted moments.

use super::matrix;
use super::quantile::Weighted;
use crate::data::Rows;

/// How many rows go into one matrix product.
const BLOCK: usize = 256;

/// The square of a smaller number is lost.
pub(crate) const VANISHING: f64 = 1e-140;

/// Rows with positive weights that sum to 1.
pub(crate) struct Cloud {
    pub(crate) data: Vec<f64>,
    pub(crate) width: usize,
    pub(crate) weights: Vec<f64>,
}

/// Mean $\mu$ and scatter $S = \sum w_i (x_i - \mu)(x_i - \mu)^\top / \sum w_i$.
pub(crate) struct Moments {
    pub(crate) mean: Vec<f64>,
    pub(crate) scatter: Vec<f64>,
}

/// Mean and population standard deviation of one column, and whether it is constant.
pub(crate) struct Column {
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    pub(crate) constant: bool,
    /// The difference of its largest and smallest number, where that is more than rounding and has no square.
    pub(crate) vanishing: Option<f64>,
}

/// Whether numbers between `low` and `high` differ by no more than rounding: by a few units in the last
/// place, or by so little that the square of the difference would vanish.
pub(crate) fn negligible(low: f64, high: f64) -> bool {
    high - low <= rounding(low, high).max(VANISHING)
}

/// A few units in the last place of numbers from `low` to `high`.
fn rounding(low: f64, high: f64) -> f64 {
    8.0 * f64::EPSILON * low.abs().max(high.abs())
}

impl Cloud {
    /// The rows with a positive weight, the weights divided by their sum.
    pub(crate) fn new(rows: Rows<'_>, weights: &[f64]) -> Self {
        let width = rows.width();
        let total: f64 = weights.iter().sum();
        let mut data = Vec::with_capacity(rows.len() * width);
        let mut kept = Vec::with_capacity(rows.len());
        for (row, &w) in rows.iter().zip(weights).filter(|(_, w)| **w / total > 0.0) {
            data.extend_from_slice(row);
            kept.push(w / total);
        }
        Self { data, width, weights: kept }
    }

    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(crate) fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.data.chunks_exact(self.width)
    }

    /// Column `j` with the weights.
    pub(crate) fn column(&self, j: usize) -> Vec<Weighted> {
        self.rows().map(|row| row[j]).zip(self.weights.iter().copied()).collect()
    }

    /// Means and standard deviations of all columns, in two passes; the second corrects the rounding of the first.
    pub(crate) fn columns(&self) -> Vec<Column> {
        (0..self.width).map(|j| Column::of(&self.column(j))).collect()
    }

    /// The given columns, less their centre, divided by their unit.
    pub(crate) fn standardised(&self, columns: &[usize], center: &[f64], unit: &[f64]) -> Cloud {
        let scaled = |row: &[f64], j: usize| (row[j] - center[j]) / unit[j];
        let data = self.rows().flat_map(|row| columns.iter().map(move |&j| scaled(row, j))).collect();
        Cloud { data, width: columns.len(), weights: self.weights.clone() }
    }

    /// Every row times a square matrix.
    pub(crate) fn times(&self, matrix: &[f64]) -> Cloud {
        let mut data = vec![0.0; self.data.len()];
        let block = BLOCK * self.width;
        for (rows, out) in self.data.chunks(block).zip(data.chunks_mut(block)) {
            matrix::product(rows, matrix, self.width, out);
        }
        Cloud { data, width: self.width, weights: self.weights.clone() }
    }

    /// Every number put through `f`.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Cloud {
        let data = self.data.iter().map(|x| f(*x)).collect();
        Cloud { data, width: self.width, weights: self.weights.clone() }
    }

    /// Mean and scatter under `weights`, which may contain zeros.
    pub(crate) fn moments(&self, weights: &[f64]) -> Moments {
        let d = self.width;
        let total: f64 = weights.iter().sum();
        let mut mean = vec![0.0; d];
        for (row, w) in self.rows().zip(weights) {
            mean.iter_mut().zip(row).for_each(|(m, x)| *m += w / total * x);
        }
        let scatter = self.scatter_about(&mean, weights, total);
        Moments { mean, scatter }
    }

    /// $\sum w_i (x_i - c)(x_i - c)^\top / t$ for a centre $c$ and a total $t$.
    pub(crate) fn scatter_about(&self, center: &[f64], weights: &[f64], total: f64) -> Vec<f64> {
        let d = self.width;
        let mut scatter = vec![0.0; d * d];
        let mut block = Vec::with_capacity(BLOCK * d);
        for (row, w) in self.rows().zip(weights).filter(|(_, w)| **w > 0.0) {
            let root = (w / total).sqrt();
            block.extend(row.iter().zip(center).map(|(x, c)| root * (x - c)));
            if block.len() == BLOCK * d {
                matrix::add_gram(&block, d, &mut scatter);
                block.clear();
            }
        }
        matrix::add_gram(&block, d, &mut scatter);
        scatter
    }

    /// Squared Mahalanobis distances $|(x_i - c)^\top L^{-\top}|^2$ of all rows from `center`.
    pub(crate) fn distances(&self, center: &[f64], inverse_root: &[f64]) -> Vec<f64> {
        let d = self.width;
        let mut distances = Vec::with_capacity(self.len());
        let mut whitened = vec![0.0; BLOCK * d];
        for rows in self.data.chunks(BLOCK * d) {
            let block: Vec<f64> =
                rows.chunks_exact(d).flat_map(|row| row.iter().zip(center).map(|(x, c)| x - c)).collect();
            let whitened = &mut whitened[..block.len()];
            matrix::product(&block, inverse_root, d, whitened);
            distances.extend(whitened.chunks_exact(d).map(|y| y.iter().map(|y| y * y).sum::<f64>()));
        }
        distances
    }
}

impl Column {
    pub(crate) fn of(numbers: &[Weighted]) -> Self {
        let average = |about: f64| numbers.iter().map(|&(x, w)| w * (x - about)).sum::<f64>();
        let low = numbers.iter().fold(f64::INFINITY, |low, v| low.min(v.0));
        let high = numbers.iter().fold(f64::NEG_INFINITY, |high, v| high.max(v.0));
        let rough = average(0.0);
        // Between the extremes, so that a constant column is met exactly.
        let mean = (rough + average(rough)).max(low).min(high);
        let variance = numbers.iter().map(|&(x, w)| w * (x - mean).powi(2)).sum::<f64>();
        Self::new(mean, variance.sqrt(), low, high)
    }

    /// From mean, deviation and range.
    pub(crate) fn new(mean: f64, sd: f64, low: f64, high: f64) -> Self {
        let (spread, small) = (high - low, sd < VANISHING);
        // (A weight of next to nothing makes a deviation vanish too.)
        let tiny = spread > rounding(low, high) && spread < 1e10 * VANISHING;
        let vanishing = (small && tiny).then_some(spread);
        Self { mean, sd, constant: negligible(low, high) || small, vanishing }
    }
}
