//! The ordinary rows that are most like an odd one.

use super::sample::Sample;

/// How many neighbours of a row are shown.
const NEIGHBOURS: usize = 3;

/// Rows above this percentile are ordinary.
const ORDINARY: f64 = 0.1;

/// At most so many ordinary rows are compared with, evenly spread over a larger table.
const COMPARED: usize = 50_000;

/// Differences of numbers count up to so many interquartile ranges: one wild value must not hide what the others say.
const FAR: f64 = 3.0;

/// What rows are compared by.
pub(super) struct Neighbours<'a> {
    sample: Sample<'a>,
    ordinary: Vec<usize>,
    /// For each encoded column the width of a number's middle half; none for coordinates of categories, which stay as they are.
    widths: Vec<Option<f64>>,
}

impl<'a> Neighbours<'a> {
    pub(super) fn new(sample: Sample<'a>, percentiles: &[f64]) -> Self {
        let ordinary: Vec<usize> = (0..percentiles.len()).filter(|&at| percentiles[at] > ORDINARY).collect();
        let step = ordinary.len().div_ceil(COMPARED).max(1);
        let ordinary = ordinary.into_iter().step_by(step).collect();
        let widths = sample.widths();
        Self { sample, ordinary, widths }
    }

    /// The nearest ordinary rows, the nearest first; among equally near ones the first of the table.
    pub(super) fn of(&self, at: usize) -> Vec<usize> {
        let row = self.sample.rows.row(at);
        let distance = |other: usize| {
            let pairs = row.iter().zip(self.sample.rows.row(other)).zip(&self.widths);
            let squares = pairs.map(|((a, b), width)| match width {
                Some(width) => ((a - b).abs() / width).min(FAR).powi(2),
                None => (a - b).powi(2),
            });
            squares.sum::<f64>()
        };
        let mut nearest: Vec<(f64, usize)> = Vec::with_capacity(NEIGHBOURS + 1);
        for &other in self.ordinary.iter().filter(|other| **other != at) {
            let found = distance(other);
            if nearest.len() < NEIGHBOURS || nearest.last().is_some_and(|last| found < last.0) {
                let place = nearest.partition_point(|near| near.0 <= found);
                nearest.insert(place, (found, other));
                nearest.truncate(NEIGHBOURS);
            }
        }
        nearest.into_iter().map(|(_, other)| other).collect()
    }
}
