//! The sample with every column sorted, once for all queries.

use super::features::FeatureColumns;
use super::rotation::haar;
use crate::data::{Mass, Reference};
use crate::error::{DepthError, Result};
use crate::numerics::Random;
use std::ops::Range;

/// A sample prepared for a forest: whole-number masses and sorted columns.
pub struct Presorted {
    /// How many rows have a positive weight; the others are left out.
    pub(super) rows: usize,
    /// What splits divide: columns, or all columns of a category.
    pub(super) features: FeatureColumns,
    /// How many 64-bit words a bitset of rows takes.
    pub(super) words: usize,
    /// The mass of each row; `None` if all have mass 1.
    pub(super) masses: Option<Vec<u64>>,
    /// The weight of each row.
    pub(super) weights: Vec<f64>,
    /// The largest probability of the query's class at each row: its box contains at least the row, so it is
    /// $1 / (1 + \omega_i)$.
    pub(super) max_probabilities: Vec<f64>,
    /// The sum of the masses.
    pub(super) total: u64,
    /// How many observations the rows represent.
    pub(super) observations: f64,
    /// The original indices of the rows with a positive weight, and the original number of rows.
    pub(super) counted: Vec<usize>,
    pub(super) given: usize,
    /// The coordinate frames trees are grown in.
    pub(super) frames: Vec<SortedColumns>,
}

/// The sample in one coordinate frame, sorted along every axis.
pub(super) struct SortedColumns {
    /// The rotation of the numbers, row by row; `None` for the columns as they are.
    rotation: Option<Vec<f64>>,
    /// Column by column, the values in ascending order.
    values: Vec<f64>,
    /// Column by column, the rows in that order.
    order: Vec<u32>,
    /// Column by column, the mass of the first 0, 1, … rows in that order; empty if all masses are 1.
    cumulative: Vec<u64>,
    /// Column by column, the bitset of the first 0, `stride`, 2 `stride`, … rows in that order.
    checkpoints: Vec<u64>,
    stride: usize,
}

impl Presorted {
    pub(super) fn new(sample: &Reference, rotations: usize, seed: u64) -> Result<Self> {
        let counted: Vec<usize> = (0..sample.len()).filter(|&i| sample.weights()[i] > 0.0).collect();
        let features = FeatureColumns::of(sample);
        let (rows, width) = (counted.len(), features.count);
        if u32::try_from(rows).is_err() || u32::try_from(2 * width).is_err() {
            let shape = format!("{rows} rows and {width} columns");
            return Err(DepthError::Settings(format!("{shape} are too many for a forest")));
        }
        // A frame takes some twelve bytes for each of its numbers.
        if rotations > 1 && rows.saturating_mul(width).saturating_mul(rotations) > 1 << 30 {
            let most = ((1 << 30) / (rows * width)).max(1);
            let what =
                format!("{rotations} rotations of {rows} rows and {width} columns take too much memory");
            return Err(DepthError::Settings(format!("{what}: `rotations` can be {most} at most")));
        }
        let numbers = features.numbers();
        if rotations > 0 && numbers.saturating_mul(numbers).saturating_mul(rotations) > 1 << 30 {
            let what = format!("rotations of {numbers} columns take too much memory");
            return Err(DepthError::Settings(format!("{what}: fewer columns, or `rotations` 0, take less")));
        }
        let weights: Vec<f64> = counted.iter().map(|&i| sample.weights()[i]).collect();
        let (masses, observations) = match sample.mass() {
            Mass::Counts(n) if n < 1e15 => (as_counts(&weights, n), n),
            Mass::Counts(n) | Mass::Effective(n) => (in_fine_units(&weights), n),
            Mass::Importance => {
                (commensurable(&weights).unwrap_or_else(|| in_fine_units(&weights)), rows as f64)
            }
        };
        let masses = reduced(masses);
        let total: u64 = masses.iter().sum();
        let weights: Vec<f64> = masses.iter().map(|m| *m as f64 / total as f64).collect();
        let max_probabilities = weights.iter().map(|w| (1.0 + w).recip()).collect();
        let masses = masses.iter().any(|m| *m != 1).then_some(masses);
        let mut data: Vec<f64> = Vec::with_capacity(rows * width);
        for &i in &counted {
            features.extend(sample.rows().row(i), &mut data);
        }
        let frame = |rotation| SortedColumns::new(&data, &features, rotation, masses.as_deref());
        let frames = if rotations == 0 {
            vec![frame(None)]
        } else {
            (0..rotations as u64)
                .map(|k| frame(Some(haar(numbers, &mut Random::of_purpose(seed, 0, k)))))
                .collect()
        };
        let (words, given) = (rows.div_ceil(64), sample.len());
        Ok(Self {
            rows,
            features,
            words,
            masses,
            weights,
            max_probabilities,
            total,
            observations,
            counted,
            given,
            frames,
        })
    }
}

/// Weights that are counts, as masses.
fn as_counts(weights: &[f64], total: f64) -> Vec<u64> {
    weights.iter().map(|w| integer(w * total)).collect()
}

/// Weights that are multiples of one number up to rounding, as masses; `None` if they are not.
fn commensurable(weights: &[f64]) -> Option<Vec<u64>> {
    let smallest = weights.iter().fold(f64::INFINITY, |m, w| m.min(*w));
    let tolerance = 1e-6 * smallest;
    // Euclid's algorithm; a remainder within the tolerance of 0 or of the divisor counts as 0.
    let unit = weights.iter().fold(smallest, |mut a, &b| {
        let mut b = b;
        while b > tolerance {
            let remainder = a % b;
            (a, b) = (b, if b - remainder <= tolerance { 0.0 } else { remainder });
        }
        a
    });
    // The remainders carry the rounding of their operands; the smallest weight gives a better unit.
    let unit = smallest / (smallest / unit).round();
    let whole = |w: &f64| (w / unit - (w / unit).round()).abs() <= 1e-12 * (w / unit) && w / unit < 1e6;
    weights.iter().all(whole).then(|| weights.iter().map(|w| integer(w / unit)).collect())
}

/// Any weights as masses, in units of $2^{-52}$ of their sum.
fn in_fine_units(weights: &[f64]) -> Vec<u64> {
    weights.iter().map(|w| integer(w * (1u64 << 52) as f64)).collect()
}

/// The nearest whole number, at least 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Between 1 and 2^52.
fn integer(x: f64) -> u64 {
    x.round().clamp(1.0, (1u64 << 52) as f64) as u64
}

/// Divided by their greatest common divisor: equal masses become 1.
fn reduced(mut masses: Vec<u64>) -> Vec<u64> {
    let divisor = masses.iter().fold(0, |mut a, &b| {
        let mut b = b;
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    });
    for mass in &mut masses {
        *mass /= divisor.max(1);
    }
    masses
}

impl SortedColumns {
    fn new(
        data: &[f64],
        features: &FeatureColumns,
        rotation: Option<Vec<f64>>,
        masses: Option<&[u64]>,
    ) -> Self {
        let width = features.count;
        let rows = data.len() / width;
        let words = rows.div_ceil(64);
        // Every rank is at most half a stride from a checkpoint, and a column has at most 33 of them.
        let stride = rows.div_ceil(32).max(256);
        let rotated;
        let data = match &rotation {
            None => data,
            Some(rotation) => {
                let mut out = data.to_vec();
                out.chunks_exact_mut(width).for_each(|row| features.rotate(rotation, row));
                rotated = out;
                &rotated
            }
        };
        let mut values = Vec::with_capacity(data.len());
        let mut order = Vec::with_capacity(data.len());
        let mut cumulative = Vec::new();
        let mut checkpoints = Vec::new();
        let mut column: Vec<(f64, u32)> = Vec::with_capacity(rows);
        for j in 0..width {
            column.clear();
            column.extend((0u32..).zip(data.chunks_exact(width)).map(|(i, row)| (row[j], i)));
            column.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            values.extend(column.iter().map(|c| c.0));
            order.extend(column.iter().map(|c| c.1));
            if let Some(masses) = masses {
                let mut sum = 0;
                cumulative.push(0);
                cumulative.extend(column.iter().map(|c| {
                    sum += masses[c.1 as usize];
                    sum
                }));
            }
            let mut set = vec![0; words];
            for (rank, c) in column.iter().enumerate() {
                if rank % stride == 0 {
                    checkpoints.extend_from_slice(&set);
                }
                set[c.1 as usize / 64] |= 1 << (c.1 % 64);
            }
        }
        Self { rotation, values, order, cumulative, checkpoints, stride }
    }

    pub(super) fn rotated(&self) -> bool {
        self.rotation.is_some()
    }

    /// The features of a query in this frame.
    pub(super) fn locate(&self, features: &FeatureColumns, query: &[f64], out: &mut Vec<f64>) {
        out.clear();
        features.extend(query, out);
        if let Some(rotation) = &self.rotation {
            features.rotate(rotation, out);
        }
    }

    /// How many rows are below `z` in a column, and how many are not above it.
    pub(super) fn ranks(&self, rows: usize, column: usize, z: f64) -> (usize, usize) {
        let values = self.column(rows, column);
        let below = values.partition_point(|x| *x < z);
        (below, below + values[below..].partition_point(|x| *x <= z))
    }

    pub(super) fn column(&self, rows: usize, column: usize) -> &[f64] {
        &self.values[column * rows..(column + 1) * rows]
    }

    /// The mass of the first rows in the order of a column.
    pub(super) fn mass_of_first(&self, rows: usize, column: usize, rank: usize) -> u64 {
        if self.cumulative.is_empty() { rank as u64 } else { self.cumulative[column * (rows + 1) + rank] }
    }

    /// Writes the bitset of the first `rank` rows in the order of a column.
    pub(super) fn first(&self, rows: usize, column: usize, rank: usize, out: &mut [u64]) {
        let count = rows.div_ceil(self.stride);
        let nearest = ((rank + self.stride / 2) / self.stride).min(count - 1);
        let words = out.len();
        let at = (column * count + nearest) * words;
        out.copy_from_slice(&self.checkpoints[at..at + words]);
        let known = nearest * self.stride;
        // Flip the rows between the checkpoint and the rank, whichever is larger.
        self.flip(rows, column, known.min(rank)..known.max(rank), out);
    }

    /// Adds the rows of some ranks of a column to the bitset of those before.
    pub(super) fn add_ranks(&self, rows: usize, column: usize, ranks: Range<usize>, out: &mut [u64]) {
        if ranks.len() > self.stride {
            self.first(rows, column, ranks.end, out);
        } else {
            self.flip(rows, column, ranks, out);
        }
    }

    fn flip(&self, rows: usize, column: usize, ranks: Range<usize>, out: &mut [u64]) {
        for &i in &self.order[column * rows..(column + 1) * rows][ranks] {
            out[i as usize / 64] ^= 1 << (i % 64);
        }
    }
}
