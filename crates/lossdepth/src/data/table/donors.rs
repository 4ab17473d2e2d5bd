//! Reference rows whose values stand in for gaps: (T5) to (T7) of docs/math/tables.md.

use super::cells::{Cell, Cells};
use super::column::EncodedColumn;
use super::levels::{hash, mix};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many donors there are, if there are not many columns.
const DONORS: usize = 256;

/// The least number of donors.
const FEWEST: usize = 32;

/// Cells of all donors, beyond which there are fewer of them: to compare a row with all takes a bounded time.
const CELLS: usize = 1 << 14;

/// How many donors have a value in each column, if so many rows have one.
const OF_COLUMN: usize = 8;

/// The largest squared distance of two numbers, in squared scales: one wild value does not decide.
const FARTHEST: f64 = 16.0;

/// The squared distance of different levels, and what is assumed of a value that is not there: that of independent rows.
const INDEPENDENT: f64 = 2.0;

/// Adding and subtracting this rounds a distance to a multiple of $2^{-20}$, so that their sum is exact and does not
/// depend on the order of the columns.
const ROUND: f64 = (1u64 << 32) as f64;

/// Rows of the reference, the heaviest first: a number or the coordinate of a level for each column, or nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Donors(Vec<Vec<Option<f64>>>);

impl Donors {
    /// Chooses donors by a hash of what is in a row, so that neither the order of rows or columns nor the names of levels
    /// matter; of copies of a row one is chosen.
    pub(super) fn choose(columns: &[EncodedColumn], all: &[Cells<'_>], weights: &[f64]) -> Self {
        let hashes = row_hashes(columns, all, weights);
        let mut order: Vec<(u64, usize)> =
            (0..weights.len()).filter(|&row| weights[row] > 0.0).map(|row| (hashes[row], row)).collect();
        order.sort_unstable();
        // The first row of each hash, and the weight of all its copies.
        let mut distinct: Vec<(u64, usize, f64)> = Vec::new();
        for (hash, row) in order {
            match distinct.last_mut() {
                Some((last, _, weight)) if *last == hash => *weight += weights[row],
                _ => distinct.push((hash, row, weights[row])),
            }
        }
        let count = (CELLS / columns.len().max(1)).clamp(FEWEST, DONORS).min(distinct.len());
        let mut chosen: BTreeMap<u64, usize> = (0..count).map(|at| (distinct[at].0, at)).collect();
        for cells in all {
            let has = |at: &usize| !cells.get(distinct[*at].1).is_gap();
            let lacking = OF_COLUMN.saturating_sub(chosen.values().filter(|at| has(at)).count());
            if lacking > 0 {
                let more: Vec<usize> = (count..distinct.len())
                    .filter(|at| has(at) && !chosen.contains_key(&distinct[*at].0))
                    .take(lacking)
                    .collect();
                chosen.extend(more.into_iter().map(|at| (distinct[at].0, at)));
            }
        }
        let mut chosen: Vec<(u64, usize, f64)> = chosen.into_values().map(|at| distinct[at]).collect();
        chosen.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        let value = |cells: &Cells<'_>, row: usize| match cells.get(row) {
            Cell::Number(value) => Some(value),
            Cell::Level(at) => Some(at as f64),
            Cell::Gap | Cell::Unread => None,
        };
        Self(chosen.iter().map(|&(_, row, _)| all.iter().map(|cells| value(cells, row)).collect()).collect())
    }

    /// What is wrong with donors that were read from a file.
    pub(super) fn check(&self, columns: &[EncodedColumn]) -> Result<(), String> {
        let fits = |(value, column): (&Option<f64>, &EncodedColumn)| match (value, column.category()) {
            (None, _) => true,
            (Some(value), None) => value.abs() <= 1e100,
            (Some(value), Some(levels)) => value.fract() == 0.0 && (0.0..levels.seen as f64).contains(value),
        };
        let whole = |row: &Vec<Option<f64>>| row.len() == columns.len() && row.iter().zip(columns).all(fits);
        if self.0.iter().all(whole) { Ok(()) } else { Err("a donor does not go with the columns".to_owned()) }
    }

    /// For filling the gaps of many rows.
    pub(super) fn search(&self, columns: &[EncodedColumn]) -> Search {
        let column = |(at, column): (usize, &EncodedColumn)| {
            let values: Vec<f64> = self.0.iter().map(|row| row[at].unwrap_or(f64::NAN)).collect();
            let scale = column.quantiles().map(super::quantiles::Quantiles::scale);
            DonorColumn {
                scaled: values.iter().map(|value| value / scale.unwrap_or(1.0)).collect(),
                values,
                scale,
            }
        };
        let columns = columns.iter().enumerate().map(column).collect();
        Search { columns, distances: vec![0.0; self.0.len()] }
    }
}

/// The values of the donors in one column, NaN where they have none; for numbers, their scale.
#[derive(Clone)]
struct DonorColumn {
    values: Vec<f64>,
    scaled: Vec<f64>,
    scale: Option<f64>,
}

/// Finds the most similar donors.
#[derive(Clone)]
pub(super) struct Search {
    columns: Vec<DonorColumn>,
    distances: Vec<f64>,
}

impl Search {
    /// Compares a row with all donors.
    pub(super) fn compare(&mut self, row: &[Cell]) {
        self.distances.fill(0.0);
        for (cell, column) in row.iter().zip(&self.columns) {
            let each = self.distances.iter_mut().zip(&column.scaled);
            match (*cell, column.scale) {
                (Cell::Number(x), Some(scale)) => {
                    let x = x / scale;
                    each.for_each(|(distance, value)| {
                        let square = (x - value) * (x - value);
                        let square = if square < FARTHEST { square } else { FARTHEST };
                        let known = if value.is_nan() { INDEPENDENT } else { square };
                        *distance += (known + ROUND) - ROUND;
                    });
                }
                (Cell::Level(at), None) => {
                    let level = at as f64;
                    // Also of a value that is not there.
                    each.for_each(|(distance, value)| {
                        *distance += if *value == level { 0.0 } else { INDEPENDENT }
                    });
                }
                _ => {}
            }
        }
    }

    /// The value of the most similar donor that has one in this column, after [`compare`](Self::compare).
    pub(super) fn value(&self, column: usize) -> Option<Cell> {
        let DonorColumn { values, scale, .. } = &self.columns[column];
        let mut best: Option<(f64, f64)> = None;
        for (&distance, &value) in self.distances.iter().zip(values) {
            // The first of those at the same distance: the heaviest.
            if !value.is_nan() && best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, value));
            }
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the place of a coordinate"
        )]
        best.map(|(_, value)| if scale.is_some() { Cell::Number(value) } else { Cell::Level(value as usize) })
    }
}

/// A hash of each row that depends neither on the order of rows or columns nor on the names of levels.
///
/// A level is known by the rows that have it: first by their numbers, then also by their levels.
fn row_hashes(columns: &[EncodedColumn], all: &[Cells<'_>], weights: &[f64]) -> Vec<u64> {
    let names: Vec<u64> = columns.iter().map(|column| hash(&column.name)).collect();
    let width = |column: &EncodedColumn| column.category().map_or(0, super::levels::Levels::width);
    let mut levels: Vec<Vec<u64>> = columns.iter().map(|column| vec![0; width(column)]).collect();
    let mut hashes = vec![0u64; weights.len()];
    let rounds = if columns.iter().any(|column| column.category().is_some()) { 3 } else { 1 };
    for round in 0..rounds {
        if round > 0 {
            levels.par_iter_mut().zip(all).filter(|(levels, _)| !levels.is_empty()).for_each(
                |(levels, cells)| {
                    levels.fill(0);
                    for (row, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                        if let Cell::Level(at) = cells.get(row) {
                            levels[at] =
                                levels[at].wrapping_add(mix(hashes[row]).wrapping_mul(whole(weight)));
                        }
                    }
                },
            );
        }
        hashes.par_chunks_mut(1024).enumerate().for_each(|(chunk, out)| {
            out.fill(0);
            for ((cells, name), levels) in all.iter().zip(&names).zip(&levels) {
                for (at, hash) in out.iter_mut().enumerate() {
                    let content = match cells.get(1024 * chunk + at) {
                        Cell::Number(value) => (value + 0.0).to_bits(),
                        Cell::Level(at) => levels[at],
                        Cell::Gap | Cell::Unread => 0x7ff8_dead_beef_0001,
                    };
                    *hash = hash.wrapping_add(mix(name ^ mix(content)));
                }
            }
        });
    }
    hashes
}

/// A whole weight as a number of copies; another one as its bits.
fn whole(weight: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    if weight.fract() == 0.0 && weight < 1e15 { weight as u64 } else { weight.to_bits() }
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Encoding, EncodingOptions, Table, Values};

    #[test]
    fn every_column_has_donors() {
        // A column with a value in four rows of a thousand, and more columns than fit into the usual number of donors.
        let mut columns: Vec<Column> = (0..600)
            .map(|at| {
                let value = |row: u32| f64::from(row.wrapping_mul(2_654_435_761).wrapping_add(at) % 1009);
                Column { name: format!("x{at}"), values: Values::Numbers((0..1000).map(value).collect()) }
            })
            .collect();
        let rare = |row: u32| if row % 250 == 3 { f64::from(row) } else { f64::NAN };
        columns.push(Column { name: "rare".into(), values: Values::Numbers((0..1000).map(rare).collect()) });
        let (encoding, _) =
            Encoding::learn(&Table::new(columns).unwrap(), None, &EncodingOptions::default()).unwrap();
        let donors = encoding.donors();
        assert!((super::FEWEST..=super::FEWEST + super::OF_COLUMN).contains(&donors.0.len()));
        let with_value = donors.0.iter().filter(|row| row[600].is_some()).count();
        assert_eq!(with_value, 4);
    }
}
