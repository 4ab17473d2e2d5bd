//! Which columns moved: the distance between the two distributions of each column, and how likely it is by chance.

use super::permutation::{COLUMNS, Statistic, divisions, p_value};
use super::{CompareOptions, Pooled, holm};
use crate::data::{CellNoteKind, Encoded, EncodedColumn, Encoding, Group, GroupKind};
use crate::error::{DepthError, Result};
use crate::problem::Run;
use rayon::prelude::*;
use std::sync::atomic::Ordering;

/// What of a column is compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Shifted {
    /// A number or a time: the medians, written as the column is.
    Median {
        /// In the first and in the second sample.
        medians: [String; 2],
    },
    /// A number or a time whose medians are near each other while its spread or its tails changed: the range of the middle
    /// nine tenths, written as the column is.
    Range {
        /// In the first and in the second sample, as `1 to 9`.
        ranges: [String; 2],
    },
    /// A category: the shares of the level whose share changed most.
    Level {
        /// The level.
        level: String,
        /// In the first and in the second sample.
        shares: [f64; 2],
    },
    /// The shares of gaps.
    Gaps {
        /// In the first and in the second sample.
        shares: [f64; 2],
    },
}

impl Shifted {
    /// What changed, and its value in the first and in the second sample: `median`, `nine in ten are`, `share of red`, `gaps`.
    pub fn in_words(&self) -> (String, [String; 2]) {
        let percent = |share: f64| format!("{:.0}%", 100.0 * share);
        match self {
            Self::Median { medians } => ("median".to_owned(), medians.clone()),
            Self::Range { ranges } => ("nine in ten are".to_owned(), ranges.clone()),
            Self::Level { level, shares } => (format!("share of {level}"), shares.map(percent)),
            Self::Gaps { shares } => ("gaps".to_owned(), shares.map(percent)),
        }
    }
}

/// How a column moved between two samples.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnShift {
    /// The name of the column.
    pub name: String,
    /// What changed most, in terms of the column.
    pub shifted: Shifted,
    /// The distance of the two distributions, from 0 to 1: the largest difference of the distribution functions of a number
    /// (Kolmogorov and Smirnov), half of the sum of the differences of the shares of a category (total variation), the
    /// difference of the shares of gaps.
    pub distance: f64,
    /// The p-value of the distance, by permutation.
    pub p: f64,
    /// The p-value adjusted for the number of columns (Holm 1979).
    pub adjusted: f64,
}

/// The shifts of all columns, the smallest p-value first, then the largest distance.
pub(super) fn shifts(
    pooled: &Pooled,
    encoding: &Encoding,
    encoded: &Encoded,
    options: &CompareOptions,
    run: &Run<'_>,
) -> Result<Vec<ColumnShift>> {
    let divisions = divisions(&pooled.is_second, options.permutations, options.seed, COLUMNS);
    let gaps = Gaps::new(pooled, encoding, encoded);
    let columns = encoding.columns().par_iter().enumerate().map(|(at, column)| {
        if run.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(DepthError::Cancelled);
        }
        let groups = encoding.layout().groups().iter();
        let group = { groups }.find(|group| group.column == at && group.kind != GroupKind::Gap);
        let mut found = Vec::new();
        if let Some(group) = group {
            let values = Compared::new(pooled, group, gaps.of(at));
            found.push(values.shift(column, pooled, &divisions));
        }
        if gaps.of(at).iter().any(|is_gap| *is_gap) {
            found.push(gap_shift(column, gaps.of(at), pooled, &divisions));
        }
        Ok(found)
    });
    let columns: Vec<Vec<ColumnShift>> = on_threads(run, || columns.collect::<Result<_>>())?;
    let mut shifts = columns.concat();
    let p: Vec<f64> = shifts.iter().map(|shift| shift.p).collect();
    for (shift, adjusted) in shifts.iter_mut().zip(holm(&p)) {
        shift.adjusted = adjusted;
    }
    shifts.sort_by(|a, b| a.p.total_cmp(&b.p).then(b.distance.total_cmp(&a.distance)));
    Ok(shifts)
}

/// Runs on as many threads as were asked for.
fn on_threads<T: Send>(run: &Run<'_>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let Some(threads) = run.threads else { return work() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| DepthError::Threads { threads, reason: e.to_string() })?.install(work)
}

/// Which cells have no value.
struct Gaps {
    cells: Vec<Vec<bool>>,
}

impl Gaps {
    fn new(pooled: &Pooled, encoding: &Encoding, encoded: &Encoded) -> Self {
        let rows = pooled.places.len();
        let mut cells = vec![vec![false; rows]; encoding.columns().len()];
        for (i, &place) in pooled.places.iter().enumerate() {
            let row = encoded.rows[place];
            let start = encoded.notes.partition_point(|note| note.row < row);
            for note in encoded.notes[start..].iter().take_while(|note| note.row == row) {
                if matches!(note.what, CellNoteKind::Gap | CellNoteKind::Unread(_)) {
                    cells[note.column][i] = true;
                }
            }
        }
        Self { cells }
    }

    fn of(&self, column: usize) -> &[bool] {
        &self.cells[column]
    }
}

/// The values of a column, in the order in which the distance wants them.
struct Compared {
    /// The rows that have a value, by value.
    order: Vec<usize>,
    /// Where runs of the same value end in `order`.
    ends: Vec<usize>,
    /// The value of each run: a number, or the place of a level.
    values: Vec<f64>,
    is_category: bool,
}

impl Compared {
    fn new(pooled: &Pooled, group: &Group, gaps: &[bool]) -> Self {
        let width = pooled.sample.width();
        let value = |row: &[f64]| {
            if group.is_category() {
                group.level(row).map_or(f64::NAN, |level| level as f64)
            } else {
                row[group.start]
            }
        };
        let all: Vec<f64> = pooled.raw.chunks_exact(width).map(value).collect();
        let mut order: Vec<usize> = (0..all.len()).filter(|&i| !gaps[i] && !all[i].is_nan()).collect();
        order.sort_by(|&a, &b| all[a].total_cmp(&all[b]));
        let (mut ends, mut values) = (Vec::new(), Vec::new());
        for run in order.chunk_by(|&a, &b| all[a] == all[b]) {
            ends.push(ends.last().copied().unwrap_or(0) + run.len());
            values.push(all[run[0]]);
        }
        Self { order, ends, values, is_category: group.is_category() }
    }

    /// The share of each group that has each value; `None` if a group has no value at all.
    fn shares(&self, weights: &[f64], division: &[bool]) -> Option<Vec<[f64; 2]>> {
        let (mut shares, mut masses, mut start) = (Vec::with_capacity(self.ends.len()), [0.0; 2], 0);
        for &end in &self.ends {
            let mut here = [0.0; 2];
            for &i in &self.order[start..end] {
                here[usize::from(division[i])] += weights[i];
            }
            masses = [masses[0] + here[0], masses[1] + here[1]];
            shares.push(here);
            start = end;
        }
        if masses.contains(&0.0) {
            return None;
        }
        for share in &mut shares {
            *share = [share[0] / masses[0], share[1] / masses[1]];
        }
        Some(shares)
    }

    /// The distance of the two distributions. Between equal ones decides the sum of squares of what the distance takes the
    /// largest or the sum of: for a number the statistic of Cramér and von Mises, up to a factor.
    fn distance(&self, weights: &[f64], division: &[bool]) -> Statistic {
        let Some(shares) = self.shares(weights, division) else { return Statistic::plain(0.0) };
        if self.is_category {
            let moved = shares.iter().map(|[a, b]| a - b);
            let value = 0.5 * moved.clone().map(f64::abs).sum::<f64>();
            return Statistic { value, finer: moved.map(|moved| moved * moved).sum() };
        }
        let (mut difference, mut start) = (0.0, 0);
        let mut found = Statistic::plain(0.0);
        for ([a, b], end) in shares.iter().zip(&self.ends) {
            difference += a - b;
            found.value = found.value.max(f64::abs(difference));
            found.finer += (end - start) as f64 * difference * difference;
            start = *end;
        }
        found
    }

    fn shift(&self, column: &EncodedColumn, pooled: &Pooled, divisions: &[Vec<bool>]) -> ColumnShift {
        let weights = &pooled.weights;
        let distances: Vec<Statistic> =
            divisions.iter().map(|division| self.distance(weights, division)).collect();
        let distance = distances[0].value;
        let shares = self.shares(weights, &divisions[0]).unwrap_or_default();
        let shifted = if self.is_category {
            let moved = |share: &[f64; 2]| (share[0] - share[1]).abs();
            let most = (0..shares.len()).max_by(|&a, &b| moved(&shares[a]).total_cmp(&moved(&shares[b])));
            Shifted::Level {
                level: most.map_or_else(String::new, |at| level_name(column, self.values[at])),
                shares: most.map_or([0.0; 2], |at| shares[at]),
            }
        } else {
            self.shifted_number(column, &shares, distance)
        };
        let (name, p) = (column.name().to_owned(), p_value(&distances));
        ColumnShift { name, shifted, distance, p, adjusted: p }
    }

    /// The medians if they account for at least half of the distance (a heuristic), else the ranges.
    fn shifted_number(&self, column: &EncodedColumn, shares: &[[f64; 2]], distance: f64) -> Shifted {
        let at = |group: usize, level: f64| {
            let mut sum = 0.0;
            let reaches = |share: &[f64; 2]| {
                sum += share[group];
                sum >= level - 1e-12
            };
            shares.iter().position(reaches)
        };
        let written = |at: Option<usize>| {
            at.map_or_else(|| "gap".to_owned(), |at| column.format_value(self.values[at]))
        };
        let medians = [at(0, 0.5), at(1, 0.5)];
        if let [Some(first), Some(second)] = medians {
            // The mass that either distribution has between the two medians.
            let between = &shares[first.min(second)..first.max(second)];
            let mass = [0, 1].map(|group| between.iter().map(|share| share[group]).sum::<f64>());
            if mass[0].max(mass[1]) < 0.5 * distance {
                let range = |group| format!("{} to {}", written(at(group, 0.05)), written(at(group, 0.95)));
                return Shifted::Range { ranges: [range(0), range(1)] };
            }
        }
        Shifted::Median { medians: medians.map(written) }
    }
}

/// The level with this coordinate. Rare levels share one.
fn level_name(column: &EncodedColumn, coordinate: f64) -> String {
    let here: Vec<&str> = column
        .levels()
        .iter()
        .filter(|level| level.coordinate as f64 == coordinate)
        .map(|level| level.name.as_str())
        .collect();
    match here[..] {
        [one] => one.to_owned(),
        _ => "rare levels".to_owned(),
    }
}

fn gap_shift(column: &EncodedColumn, gaps: &[bool], pooled: &Pooled, divisions: &[Vec<bool>]) -> ColumnShift {
    let shares = |division: &[bool]| {
        let is_gap = |at: usize| [f64::from(gaps[at]); 2];
        super::permutation::means(is_gap, &pooled.weights, division)
    };
    let distance = |division: &Vec<bool>| {
        let [first, second] = shares(division);
        Statistic::plain((first - second).abs())
    };
    let distances: Vec<Statistic> = divisions.iter().map(distance).collect();
    let shifted = Shifted::Gaps { shares: shares(&divisions[0]) };
    let (name, p) = (column.name().to_owned(), p_value(&distances));
    ColumnShift { name, shifted, distance: distances[0].value, p, adjusted: p }
}
