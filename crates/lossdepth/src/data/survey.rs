//! What one reading of a [`RowSource`] finds out: how many rows there are, their weights, means and deviations, and a sample.

use super::scaling::Column;
use super::{Column as TableColumn, Reference, ReferenceSketch, RowSource, Table, Values, for_each_chunk};
use crate::error::{DepthError, Result};
use crate::numerics::double_double::Twofold;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Rows of a chunk: moments are those of chunks, merged in order.
const CHUNK: usize = 4096;
/// One row in so many of the sample may be there because it is far from the others. A heuristic.
const FAR: usize = 8;

/// What one reading of a reference finds out.
#[derive(Debug, Clone)]
pub(crate) struct Survey {
    /// The rows that are farthest out, and a random sample of the others. Its standard errors are those of all rows.
    pub(crate) sample: Reference,
    /// Whether that is all there is.
    pub(crate) complete: bool,
    /// Rows with a positive weight.
    pub(crate) rows: usize,
    /// The sum of all weights.
    pub(crate) total: f64,
    pub(crate) largest_weight: f64,
    /// What weights were multiplied by for the moments.
    unit: f64,
    columns: Vec<Moments>,
}

/// Mean and sum of squared deviations of a column, and its range.
#[derive(Debug, Clone, Copy)]
struct Moments {
    low: f64,
    high: f64,
    mean: f64,
    squares: f64,
}

/// The rows that are farthest from the middle of the first chunk, in its deviations, with their weights.
struct FarRows {
    /// Centre and unit of each column.
    frame: Vec<(f64, f64)>,
    most: usize,
    /// The nearest on top.
    kept: BinaryHeap<FarRow>,
}

struct FarRow {
    distance: f64,
    weight: f64,
    row: Vec<f64>,
}

impl PartialEq for FarRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for FarRow {}

impl PartialOrd for FarRow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FarRow {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance)
    }
}

impl FarRows {
    fn distance(&self, row: &[f64]) -> f64 {
        row.iter()
            .zip(&self.frame)
            .fold(0.0f64, |far, (x, (centre, unit))| far.max(((x - centre) / unit).abs()))
    }

    fn add(&mut self, row: &[f64], weight: f64) {
        let distance = self.distance(row);
        if self.kept.len() < self.most || self.kept.peek().is_some_and(|nearest| distance > nearest.distance)
        {
            self.kept.push(FarRow { distance, weight, row: row.to_vec() });
            if self.kept.len() > self.most {
                self.kept.pop();
            }
        }
    }

    /// All rows beyond some distance, which the sample then represents the others of: the rows of the sample that are not beyond it have
    /// all other weight.
    fn joined(mut self, sample: &Reference, total: f64) -> Result<Reference> {
        let limit = self.kept.pop().map_or(f64::INFINITY, |nearest| nearest.distance);
        let given = |i: usize| sample.given_weights().map_or(1.0, |weights| weights[i]);
        let near: Vec<usize> =
            (0..sample.len()).filter(|&i| self.distance(sample.rows().row(i)) <= limit).collect();
        let far: Vec<FarRow> = self.kept.into_vec().into_iter().filter(|far| far.distance > limit).collect();
        let of_far: f64 = far.iter().map(|far| far.weight).sum();
        let of_near: f64 = near.iter().map(|&i| given(i)).sum();
        let share = (total - of_far) / of_near;
        if near.len() < 2 || !(share > 0.0 && share.is_finite()) {
            return Ok(sample.clone());
        }
        // A random order, for those who take the first few.
        let every = (near.len() / far.len().max(1)).max(1);
        let (mut data, mut weights, mut far) = (Vec::new(), Vec::new(), far.into_iter());
        for (at, &i) in near.iter().enumerate() {
            data.extend_from_slice(sample.rows().row(i));
            weights.push(given(i) * share);
            if at % every == 0
                && let Some(far) = far.next()
            {
                data.extend_from_slice(&far.row);
                weights.push(far.weight);
            }
        }
        for far in far {
            data.extend_from_slice(&far.row);
            weights.push(far.weight);
        }
        Reference::from_vec(data, sample.width(), Some(weights))
    }
}

impl Survey {
    /// Reads all rows once, and keeps a sample of at most `most` different ones.
    pub(crate) fn of<S: RowSource>(
        source: &mut S,
        width: usize,
        most: usize,
        seed: u64,
    ) -> Result<Self, S::Error> {
        let names: Vec<String> = (0..width).map(|at| at.to_string()).collect();
        let mut sketch = ReferenceSketch::new(names.iter().cloned())?.with_capacity(most)?.with_seed(seed);
        let start = Moments { low: f64::INFINITY, high: f64::NEG_INFINITY, mean: 0.0, squares: 0.0 };
        let mut columns = vec![start; width];
        let (mut rows, mut total, mut squares) = (0, Twofold::default(), 0.0);
        let (mut largest, mut whole, mut unit) = (0.0f64, true, 0.0);
        let mut far: Option<FarRows> = None;
        for_each_chunk(source, width, CHUNK, &mut |chunk, weights| {
            if unit == 0.0 {
                unit = unit_of(weights[0]);
            }
            let scaled: Vec<f64> = weights.iter().map(|weight| weight * unit).collect();
            let mass: f64 = scaled.iter().sum();
            let before = total.value();
            rows += weights.len();
            for (weight, scaled) in weights.iter().zip(&scaled) {
                total.add(*scaled);
                squares += scaled * scaled;
                largest = largest.max(*weight);
                whole &= weight.fract() == 0.0 && *weight < 1e15;
            }
            let values: Vec<Vec<f64>> =
                (0..width).map(|at| chunk.iter().map(|row| row[at]).collect()).collect();
            for (column, values) in columns.iter_mut().zip(&values) {
                column.merge(before, values, &scaled, mass);
            }
            let far = far.get_or_insert_with(|| FarRows {
                frame: columns.iter().map(|column| column.centre_and_unit(mass)).collect(),
                most: most / FAR,
                kept: BinaryHeap::new(),
            });
            chunk.iter().zip(weights).for_each(|(row, weight)| far.add(row, *weight));
            let columns = names.iter().zip(values);
            let column = |(name, values): (&String, _)| TableColumn {
                name: name.clone(),
                values: Values::Numbers(values),
            };
            sketch.add(&Table::new(columns.map(column).collect())?, Some(weights))
        })?;
        if rows < 2 {
            return Err(DepthError::TooFewRows { expected: 2, got: rows }.into());
        }
        let (scaled, total) = (total.value(), total.value() / unit);
        if !(squares.is_finite() && total.is_finite()) {
            return Err(DepthError::Settings("the sum of the weights is too large".to_owned()).into());
        }
        let complete = sketch.is_complete();
        let sample = match far.filter(|_| !complete) {
            Some(far) => far.joined(&sketch.reference()?, total)?,
            None => sketch.reference()?,
        };
        let effective = if whole { total } else { scaled / squares * scaled };
        // All rows have their own standard errors.
        let sample = if complete { sample } else { sample.with_effective_size(effective) };
        Ok(Self { sample, complete, rows, total, largest_weight: largest, unit, columns })
    }

    /// Mean and deviation of every column of all rows.
    pub(super) fn columns(&self) -> Vec<Column> {
        let column = |m: &Moments| {
            Column::new(
                m.mean.max(m.low).min(m.high),
                (m.squares / (self.total * self.unit)).sqrt(),
                m.low,
                m.high,
            )
        };
        self.columns.iter().map(column).collect()
    }

    /// The means of the columns of all rows.
    pub(crate) fn means(&self) -> impl Iterator<Item = f64> + '_ {
        self.columns.iter().map(|column| column.mean)
    }
}

/// A power of two that brings a positive number close to 1.
pub(crate) fn unit_of(number: f64) -> f64 {
    let exponent = (number.to_bits() >> 52) & 0x7ff;
    f64::from_bits((2046 - exponent.clamp(1, 2045)) << 52)
}

impl Moments {
    /// The mean and the standard deviation of `mass` in all; 1 for the deviation of a constant.
    fn centre_and_unit(&self, mass: f64) -> (f64, f64) {
        let unit = (self.squares / mass).sqrt();
        (self.mean, if unit > 0.0 { unit } else { 1.0 })
    }

    /// Adds a chunk to `before` of weight (Chan, Golub and LeVeque 1983): all terms are positive, so nothing cancels.
    fn merge(&mut self, before: f64, values: &[f64], weights: &[f64], mass: f64) {
        let average =
            |about: f64| values.iter().zip(weights).map(|(x, w)| w / mass * (x - about)).sum::<f64>();
        let rough = values[0] + average(values[0]);
        let mean = rough + average(rough);
        let squares: f64 = values.iter().zip(weights).map(|(x, w)| w * ((x - mean) * (x - mean))).sum();
        let (difference, share) = (mean - self.mean, mass / (before + mass));
        self.squares += squares + difference * difference * (before * share);
        self.mean += difference * share;
        self.low = values.iter().fold(self.low, |low, x| low.min(*x));
        self.high = values.iter().fold(self.high, |high, x| high.max(*x));
    }
}

impl ReferenceSketch {
    /// The rows that are kept, with their weights, where all columns are numbers.
    pub(super) fn reference(&self) -> Result<Reference> {
        let (table, weights) = self.table()?;
        let width = table.columns().len();
        let mut data = vec![0.0; table.rows() * width];
        for (at, column) in table.columns().iter().enumerate() {
            let Values::Numbers(values) = &column.values else {
                return Err(DepthError::Table(format!("column `{}` is not of numbers", column.name)));
            };
            for (row, value) in data.chunks_exact_mut(width).zip(values) {
                row[at] = *value;
            }
        }
        Reference::from_vec(data, width, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Scale, Scaling};

    #[test]
    fn the_scaling_of_a_source_is_that_of_its_rows() {
        let n = 10_000;
        let data: Vec<f64> = (0..n)
            .flat_map(|i| {
                let x = f64::from(i);
                [1e9 + (x * 0.7).sin(), 3.0, if i == 0 { 1e12 } else { (x * 1.3).cos() }]
            })
            .collect();
        let weights: Vec<f64> = (0..n).map(|i| f64::from(i % 4)).collect();
        let all = Reference::from_vec(data, 3, Some(weights)).expect("finite");
        let survey = Survey::of(&mut &all, 3, 100, 0).expect("finite");
        assert_eq!((survey.rows, survey.total, survey.complete), (7_500, 15_000.0, false));
        let (found, _) = Scaling::of_survey(Scale::Standard, &survey, 0.75).expect("it varies");
        let (exact, _) = Scaling::learn(Scale::Standard, all.rows(), all.weights(), 0.75).expect("it varies");
        let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
        found.apply(&[1e9 + 0.5, 3.0, 0.25], &mut a);
        exact.apply(&[1e9 + 0.5, 3.0, 0.25], &mut b);
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs()), "{a:?} {b:?}");
    }
}
