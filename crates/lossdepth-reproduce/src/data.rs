//! Data sets with labels.

use flate2::Crc;
use lossdepth::numerics::Random;
use lossdepth::{DepthError, Reference, Rows};

/// Rows with a label each, in memory.
#[derive(Debug, Clone)]
pub struct Data {
    values: Vec<f64>,
    width: usize,
    /// A label per row: 1 for outliers, or the number of a class.
    pub(crate) labels: Vec<u8>,
}

impl Data {
    /// The rows of a table, of `width` numbers each, with a label per row: 1 for outliers, or the number of a class.
    ///
    /// # Errors
    /// The numbers are not one row of `width` per label.
    pub fn new(values: Vec<f64>, width: usize, labels: Vec<u8>) -> Result<Self, DepthError> {
        let rows = Rows::new(&values, width)?.len();
        if rows == labels.len() {
            Ok(Self { values, width, labels })
        } else {
            Err(DepthError::WeightCount { expected: rows, got: labels.len() })
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    pub(crate) fn rows(&self) -> Result<Rows<'_>, DepthError> {
        Rows::new(&self.values, self.width)
    }

    pub(crate) fn reference(&self) -> Result<Reference, DepthError> {
        Reference::new(&self.rows()?)
    }

    /// The given rows, in that order.
    pub(crate) fn pick(&self, rows: &[usize]) -> Self {
        let values = rows.iter().flat_map(|&row| &self.values[row * self.width..(row + 1) * self.width]);
        let labels = rows.iter().map(|&row| self.labels[row]);
        Self { values: values.copied().collect(), width: self.width, labels: labels.collect() }
    }

    /// The rows in a random order of this seed; seed 0 keeps the order.
    pub(crate) fn shuffled(&self, seed: u64) -> Self {
        if seed == 0 { self.clone() } else { self.pick(&Random::new(seed).choose(self.len(), self.len())) }
    }

    /// These rows, then those of another data set; none if the widths differ.
    pub(crate) fn concatenated(mut self, other: &Self) -> Option<Self> {
        if self.width != other.width {
            return None;
        }
        self.values.extend_from_slice(&other.values);
        self.labels.extend_from_slice(&other.labels);
        Some(self)
    }

    /// All values multiplied by a factor.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        self.values.iter_mut().for_each(|value| *value *= factor);
        self
    }

    /// The size and a checksum, which identify the data in the cache.
    pub(crate) fn fingerprint(&self) -> String {
        let mut sum = Crc::new();
        self.values.iter().for_each(|value| sum.update(&value.to_le_bytes()));
        sum.update(&self.labels);
        format!("{} x {}, crc32 {:08x}", self.len(), self.width, sum.sum())
    }

    /// A correlated Gaussian sample with outliers of twice its standard deviation, for quick runs.
    pub(crate) fn synthetic(rows: usize, width: usize, outliers: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let labels: Vec<u8> = (0..rows).map(|row| u8::from(row < outliers)).collect();
        let mut values = Vec::with_capacity(rows * width);
        for label in &labels {
            let first = random.normal();
            let spread = if *label == 1 { 2.0 } else { 1.0 };
            values.extend((0..width).map(|_| spread * (0.5 * first + random.normal())));
        }
        Self { values, width, labels }
    }
}
