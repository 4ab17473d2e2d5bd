//! How many rows of the reference are compared with, and the sample that they are.

use super::reference::Distinct;
use super::{Column, Reference, ReferenceSketch, Table, Values};
use crate::error::{DepthError, Result};
use crate::numerics::{Random, whole_count};
use std::fmt;
use std::str::FromStr;

/// The purpose of the random numbers of [`Reference::half`].
const HALVES: u64 = 0x4a;

/// Beyond so many observations halves are of the different rows, not of the observations: drawing takes time for each.
const MOST_COUNTED: f64 = 1e8;

/// How many rows of the reference a method compares with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReferenceRows {
    /// All of them.
    #[default]
    All,
    /// All of at most [`EXACT`](Self::EXACT), otherwise a sample whose size follows from the standard errors of depths.
    Auto,
    /// A random sample of so many different rows, if there are more.
    Count(usize),
    /// All of them, read several times: depths are found on a sample, improved and proven by passes over all rows.
    Passes,
}

impl ReferenceRows {
    /// The names that are no numbers.
    pub const NAMES: [&'static str; 3] = ["all", "auto", "passes"];

    /// Up to so many rows `auto` takes all.
    pub const EXACT: usize = 20_000;
}

impl fmt::Display for ReferenceRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Auto => f.write_str("auto"),
            Self::Passes => f.write_str("passes"),
            Self::Count(count) => count.fmt(f),
        }
    }
}

impl FromStr for ReferenceRows {
    type Err = DepthError;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "all" => Ok(Self::All),
            "auto" => Ok(Self::Auto),
            "passes" => Ok(Self::Passes),
            _ => Err(DepthError::Name {
                name: "reference_rows",
                expected: "all, auto, passes, or a whole number".to_owned(),
                got: name.to_owned(),
            }),
        }
    }
}

impl Reference {
    /// A random sample of at most `rows` of the different rows, with their weights; rows with very many copies are in it in
    /// any case. The same for any order of the rows.
    ///
    /// ```
    /// use lossdepth::Reference;
    /// let rows: Vec<[f64; 1]> = (0..100).map(|i| [f64::from(i)]).collect();
    /// let sample = Reference::new(&rows[..])?.sampled(10, 0)?;
    /// assert_eq!(sample.len(), 10);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// Fewer than two rows asked for.
    pub fn sampled(&self, rows: usize, seed: u64) -> Result<Self> {
        let column = |at: usize| Column {
            name: at.to_string(),
            values: Values::Numbers(self.rows().iter().map(|row| row[at]).collect()),
        };
        let table = Table::new((0..self.width()).map(column).collect())?;
        let names = (0..self.width()).map(|at| at.to_string());
        let mut sketch = ReferenceSketch::new(names)?.with_capacity(rows)?.with_seed(seed);
        sketch.add(&table, self.given_weights())?;
        let sample = sketch.reference()?;
        match self.layout() {
            Some(layout) => sample.with_layout(layout.clone()),
            None => Ok(sample),
        }
    }

    /// A random half of the observations that the rows stand for, the smaller one of an odd number, and how many of them are in it and
    /// not in it: weights that are counts are divided, of rows with other weights half are taken. The same for any order of the rows.
    pub(crate) fn half(&self, seed: u64, index: usize) -> Result<(Self, [usize; 2])> {
        let (Distinct { first, weights, .. }, n) = (self.distinct(), self.observations());
        let counts: Vec<f64> = weights.iter().map(|w| (w * n).round()).collect();
        let is_count = |(w, count): (&f64, &f64)| *count >= 1.0 && (w * n - count).abs() <= 1e-9 * count;
        let counted = n <= MOST_COUNTED && weights.iter().zip(&counts).all(is_count);
        let units = |i: usize| if counted { whole_count(counts[i]) } else { 1 };
        let total: usize = (0..first.len()).map(units).sum();
        let half = total / 2;
        let (mut left, mut wanted) = (total, half);
        let mut random = Random::of_purpose(seed, HALVES, index as u64);
        let (mut data, mut masses) = (Vec::new(), Vec::new());
        for (i, &row) in first.iter().enumerate() {
            let mut taken = 0usize;
            for _ in 0..units(i) {
                // Each of those left is as likely to be among those wanted (Knuth's algorithm S).
                if random.below(left) < wanted {
                    (taken, wanted) = (taken + 1, wanted - 1);
                }
                left -= 1;
            }
            if taken > 0 {
                self.extend_with(&mut data, row);
                masses.push(if counted { taken as f64 } else { weights[i] });
            }
        }
        if let [count] = masses[..] {
            // Copies of one row: a reference has at least two.
            data.extend_from_within(..);
            masses = vec![1.0, (count - 1.0).max(1.0)];
        }
        let sample = Self::from_vec(data, self.width(), Some(masses))?;
        let sample = match self.layout() {
            Some(layout) => sample.with_layout(layout.clone())?,
            None => sample,
        };
        Ok((sample, [half, total - half]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(reference: &Reference) -> Vec<(Vec<f64>, f64)> {
        let total = reference.observations();
        reference
            .rows()
            .iter()
            .map(<[f64]>::to_vec)
            .zip(reference.weights().iter().map(|w| w * total))
            .collect()
    }

    #[test]
    fn halves_do_not_depend_on_order_or_on_copies_written_as_weights() {
        let written: Vec<[f64; 1]> = (0..40).map(|i| [f64::from(i * 7 % 40)]).collect();
        let weights: Vec<f64> = (0..40).map(|i| f64::from(1 + i % 3)).collect();
        let mut copies: Vec<[f64; 1]> = (0..40).flat_map(|i| vec![written[i]; 1 + i % 3]).collect();
        copies.reverse();
        let weighted = Reference::weighted(&written[..], &weights).unwrap();
        let copied = Reference::new(&copies[..]).unwrap();
        for index in 0..5 {
            let ((a, sizes), (b, _)) = (weighted.half(3, index).unwrap(), copied.half(3, index).unwrap());
            assert_eq!((rows(&a), sizes), (rows(&b), [39, 40]));
            assert_eq!(a.observations(), 39.0);
        }
        assert_ne!(rows(&weighted.half(3, 0).unwrap().0), rows(&weighted.half(3, 1).unwrap().0));
    }

    #[test]
    fn every_observation_is_in_half_of_the_halves() {
        let sample = Reference::new(&[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]).unwrap();
        let mut counts = [0; 6];
        for index in 0..2000 {
            let (half, sizes) = sample.half(0, index).unwrap();
            assert_eq!((half.len(), sizes), (3, [3, 3]));
            half.rows().iter().for_each(|row| counts[whole_count(row[0])] += 1);
        }
        // Six standard deviations of a binomial count.
        assert!(counts.iter().all(|count| (866..=1134).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_half_of_copies_is_a_reference() {
        let sample = Reference::weighted(&[[1.0], [2.0]], &[1000.0, 1.0]).unwrap();
        let importance = Reference::weighted(&[[1.0], [2.0], [2.0]], &[0.3, 0.3, 0.4]).unwrap();
        for index in 0..20 {
            assert!(sample.half(0, index).unwrap().0.len() >= 2);
            assert_eq!(importance.half(0, index).unwrap().0.len(), 2);
        }
    }
}
