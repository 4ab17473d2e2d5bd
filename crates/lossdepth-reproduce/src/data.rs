//! Data sets with labels, from files or made up.

use crate::args::Roles;
use crate::error::Result;
use crate::load::{Columns, Header, Table};
use flate2::Crc;
use lossdepth::simulate::Random;
use lossdepth::{DepthError, Reference, Rows};
use std::path::Path;

/// Rows with a label each, all in memory.
#[derive(Debug, Clone)]
pub(super) struct Data {
    values: Vec<f64>,
    width: usize,
    /// A whole number for each row: 1 for outliers, or the number of a class.
    pub(super) labels: Vec<u8>,
}

impl Data {
    pub(super) fn new(values: Vec<f64>, width: usize, labels: Vec<u8>) -> Self {
        Self { values, width, labels }
    }

    /// Reads a file that says itself which column is the label.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let mut table = Table::open(path, Header::Detect)?;
        let columns = Columns::of(&table, &Roles::default())?;
        let piece = table.read(&columns, usize::MAX)?;
        let all = piece.whole()?;
        let labels = all.labels.unwrap_or_default().iter().map(|label| class(label));
        let labels = labels.collect::<Option<Vec<u8>>>().filter(|labels| labels.len() == all.rows.len());
        let Some(labels) = labels else {
            let problem = "there must be a label for each row, a whole number from 0 to 255".to_owned();
            return Err(table.problem(crate::error::Problem::Unsupported(problem)));
        };
        Ok(Self { values: all.rows.iter().flatten().copied().collect(), width: all.rows.width(), labels })
    }

    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    pub(super) fn rows(&self) -> Result<Rows<'_>, DepthError> {
        Rows::new(&self.values, self.width)
    }

    pub(super) fn reference(&self) -> Result<Reference, DepthError> {
        Reference::new(&self.rows()?)
    }

    /// Some of the rows, in the order that they are asked for.
    pub(super) fn pick(&self, rows: &[usize]) -> Self {
        let values = rows.iter().flat_map(|&row| &self.values[row * self.width..(row + 1) * self.width]);
        let labels = rows.iter().map(|&row| self.labels[row]);
        Self { values: values.copied().collect(), width: self.width, labels: labels.collect() }
    }

    /// The same rows in another order; for 0, as they are.
    pub(super) fn shuffled(&self, order: u64) -> Self {
        if order == 0 { self.clone() } else { self.pick(&Random::new(order).choose(self.len(), self.len())) }
    }

    /// These rows, then those of another table; none if it has another width.
    pub(super) fn and(mut self, other: &Self) -> Option<Self> {
        if self.width != other.width {
            return None;
        }
        self.values.extend_from_slice(&other.values);
        self.labels.extend_from_slice(&other.labels);
        Some(self)
    }

    /// The same rows in other units.
    pub(super) fn times(mut self, factor: f64) -> Self {
        self.values.iter_mut().for_each(|value| *value *= factor);
        self
    }

    /// What tells these numbers from others.
    pub(super) fn fingerprint(&self) -> String {
        let mut sum = Crc::new();
        self.values.iter().for_each(|value| sum.update(&value.to_le_bytes()));
        sum.update(&self.labels);
        format!("{} x {}, crc32 {:08x}", self.len(), self.width, sum.sum())
    }

    /// A cloud with a few outliers around it, for trials.
    pub(super) fn made_up(rows: usize, width: usize, outliers: usize, seed: u64) -> Self {
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

fn class(label: &str) -> Option<u8> {
    let number: f64 = label.parse().ok()?;
    (0..=u8::MAX).find(|class| f64::from(*class) == number)
}
