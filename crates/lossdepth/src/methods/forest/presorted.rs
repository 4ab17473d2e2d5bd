//! The sample, every column sorted once for all queries.

use super::rotation::{haar, turn};
use crate::data::{Mass, Reference};
use crate::error::{DepthError, Result};
use crate::numerics::Random;

/// A sample ready for a forest: whole-number masses and sorted columns.
pub struct Presorted {
    /// How many rows have a positive weight; the others are not here.
    pub(super) rows: usize,
    pub(super) width: usize,
    /// How many words a set of rows takes.
    pub(super) words: usize,
    /// The mass of each row; `None` if all have mass 1.
    pub(super) masses: Option<Vec<u64>>,
    /// The weight of each row, and half of it.
    pub(super) weights: Vec<f64>,
    half_weights: Vec<f64>,
    /// The largest probability each row can have: its box holds at least itself, so it is $1 / (1 + \omega_i)$.
    pub(super) caps: Vec<f64>,
    /// The sum of the masses.
    pub(super) total: u64,
    /// How many observations the rows stand for.
    pub(super) observations: f64,
    mass_kind: Mass,
    /// The rows of positive weight, by their number in the sample, and how many rows that has.
    pub(super) counted: Vec<usize>,
    pub(super) given: usize,
    /// The coordinate frames trees are grown in.
    pub(super) frames: Vec<Frame>,
}

/// The sample in one coordinate frame.
pub(super) struct Frame {
    /// Row by row; `None` for the columns as they are.
    rotation: Option<Vec<f64>>,
    /// Column by column, ascending.
    values: Vec<f64>,
    /// Column by column, the rows in ascending order.
    order: Vec<u32>,
    /// Column by column, the mass of the first 0, 1, … rows in this order; empty if all masses are 1.
    cumulative: Vec<u64>,
    /// Column by column, the set of the first 0, `stride`, 2 `stride`, … rows in this order.
    checkpoints: Vec<u64>,
    stride: usize,
}

impl Presorted {
    pub(super) fn new(sample: &Reference, rotations: usize, seed: u64) -> Result<Self> {
        let counted: Vec<usize> = (0..sample.len()).filter(|&i| sample.weights()[i] > 0.0).collect();
        let (rows, width) = (counted.len(), sample.width());
        if u32::try_from(rows).is_err() || u32::try_from(2 * width).is_err() {
            let shape = format!("{rows} rows and {width} columns");
            return Err(DepthError::Settings(format!("{shape} are too many for a forest")));
        }
        // A number of a frame takes some twelve bytes.
        if rotations > 1 && rows.saturating_mul(width).saturating_mul(rotations) > 1 << 30 {
            let most = ((1 << 30) / (rows * width)).max(1);
            let what =
                format!("{rotations} rotations of {rows} rows and {width} columns take too much memory");
            return Err(DepthError::Settings(format!("{what}: `rotations` can be {most} at most")));
        }
        if rotations > 0 && width.saturating_mul(width).saturating_mul(rotations) > 1 << 30 {
            let what = format!("rotations of {width} columns take too much memory");
            return Err(DepthError::Settings(format!("{what}: fewer columns, or `rotations` 0, take less")));
        }
        let weights: Vec<f64> = counted.iter().map(|&i| sample.weights()[i]).collect();
        let (masses, observations) = match sample.mass() {
            Mass::Counts(n) if n < 1e15 => (whole(&weights, n), n),
            Mass::Counts(n) => (fine(&weights), n),
            Mass::Importance => (commensurable(&weights).unwrap_or_else(|| fine(&weights)), rows as f64),
        };
        let masses = reduced(masses);
        let total: u64 = masses.iter().sum();
        let weights: Vec<f64> = masses.iter().map(|m| *m as f64 / total as f64).collect();
        let half_weights = weights.iter().map(|w| 0.5 * w).collect();
        let caps = weights.iter().map(|w| (1.0 + w).recip()).collect();
        let masses = masses.iter().any(|m| *m != 1).then_some(masses);
        let data: Vec<f64> = counted.iter().flat_map(|&i| sample.rows().row(i).iter().copied()).collect();
        let frame = |rotation| Frame::new(&data, width, rotation, masses.as_deref());
        let frames = if rotations == 0 {
            vec![frame(None)]
        } else {
            (0..rotations as u64)
                .map(|k| frame(Some(haar(width, &mut Random::of_purpose(seed, 0, k)))))
                .collect()
        };
        let (words, mass_kind, given) = (rows.div_ceil(64), sample.mass(), sample.len());
        Ok(Self {
            rows,
            width,
            words,
            masses,
            weights,
            half_weights,
            caps,
            total,
            observations,
            mass_kind,
            counted,
            given,
            frames,
        })
    }

    /// The standard error of a depth with this influence of each row.
    pub(super) fn standard_error(&self, influence: &[f64]) -> f64 {
        self.mass_kind.standard_error(influence, &self.half_weights)
    }
}

/// Weights that are counts.
fn whole(weights: &[f64], total: f64) -> Vec<u64> {
    weights.iter().map(|w| integer(w * total)).collect()
}

/// Weights that are whole multiples of some number, up to rounding.
fn commensurable(weights: &[f64]) -> Option<Vec<u64>> {
    let smallest = weights.iter().fold(f64::INFINITY, |m, w| m.min(*w));
    let slack = 1e-6 * smallest;
    // Euclid's algorithm, in which a remainder of nearly nothing or nearly all is none.
    let unit = weights.iter().fold(smallest, |mut a, &b| {
        let mut b = b;
        while b > slack {
            let rest = a % b;
            (a, b) = (b, if b - rest <= slack { 0.0 } else { rest });
        }
        a
    });
    // The remainders carry the rounding of what they were taken from: the smallest weight tells the unit better.
    let unit = smallest / (smallest / unit).round();
    let whole = |w: &f64| (w / unit - (w / unit).round()).abs() <= 1e-12 * (w / unit) && w / unit < 1e6;
    weights.iter().all(whole).then(|| weights.iter().map(|w| integer(w / unit)).collect())
}

/// Any weights, in units of $2^{-52}$ of their sum.
fn fine(weights: &[f64]) -> Vec<u64> {
    weights.iter().map(|w| integer(w * (1u64 << 52) as f64)).collect()
}

/// The nearest whole number, at least 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Between 1 and 2^52.
fn integer(x: f64) -> u64 {
    x.round().clamp(1.0, (1u64 << 52) as f64) as u64
}

/// Divided by what all have in common: equal weights become 1.
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

impl Frame {
    fn new(data: &[f64], width: usize, rotation: Option<Vec<f64>>, masses: Option<&[u64]>) -> Self {
        let rows = data.len() / width;
        let words = rows.div_ceil(64);
        // Near a rank there is a checkpoint at most half a stride away, and there are at most 33 a column.
        let stride = rows.div_ceil(32).max(256);
        let turned;
        let data = match &rotation {
            None => data,
            Some(rotation) => {
                let mut out = vec![0.0; data.len()];
                for (row, out) in data.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
                    turn(rotation, row, out);
                }
                turned = out;
                &turned
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

    /// The coordinates of a query in this frame.
    pub(super) fn locate(&self, query: &[f64], out: &mut Vec<f64>) {
        out.clear();
        match &self.rotation {
            None => out.extend_from_slice(query),
            Some(rotation) => {
                out.resize(query.len(), 0.0);
                turn(rotation, query, out);
            }
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

    /// Writes the set of the first rows in the order of a column.
    pub(super) fn first(&self, rows: usize, column: usize, rank: usize, out: &mut [u64]) {
        let count = rows.div_ceil(self.stride);
        let nearest = ((rank + self.stride / 2) / self.stride).min(count - 1);
        let words = out.len();
        let at = (column * count + nearest) * words;
        out.copy_from_slice(&self.checkpoints[at..at + words]);
        let order = &self.order[column * rows..(column + 1) * rows];
        let known = nearest * self.stride;
        // Rows between the checkpoint and the rank change sides, whichever comes first.
        for &i in &order[known.min(rank)..known.max(rank)] {
            out[i as usize / 64] ^= 1 << (i % 64);
        }
    }
}
