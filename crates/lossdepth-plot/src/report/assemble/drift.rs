//! How the data differ from what they are compared with.

use super::Assembly;
use super::sample::{Sample, is_category};
use crate::report::{Cell, ColumnDrift, Drift};
use lossdepth::data::{ColumnKind, EncodedColumn};

pub(super) fn drift(
    assembly: &Assembly<'_>,
    data: Sample<'_>,
    reference: Sample<'_>,
    places: &[usize],
) -> Drift {
    let one = |(at, column): (usize, &EncodedColumn)| {
        let gaps = [reference.gap_share(at), data.gap_share(at)];
        if is_category(column) {
            return ColumnDrift::levels(at, &reference.levels(at), &data.levels(at)).with_gaps(gaps);
        }
        let dates = column.kind() == ColumnKind::Time;
        ColumnDrift::numbers(at, &reference.numbers(at), &data.numbers(at), dates).with_gaps(gaps)
    };
    Drift {
        columns: data.encoding.columns().iter().enumerate().map(one).collect(),
        alike: alike(assembly, data, reference, places),
        reference_depths: assembly.found.reference_depths.clone(),
    }
}

/// For each odd row the shares of rows, before and now, that are like it in the column of its main reason.
fn alike(
    assembly: &Assembly<'_>,
    data: Sample<'_>,
    reference: Sample<'_>,
    places: &[usize],
) -> Vec<Option<[f64; 2]>> {
    let main: Vec<Option<usize>> =
        assembly.found.found.iter().map(|row| row.reasons.first().map(|reason| reason.column)).collect();
    let mut shares = vec![None; places.len()];
    for column in 0..data.encoding.columns().len() {
        let rows: Vec<usize> = (0..places.len()).filter(|&row| main[row] == Some(column)).collect();
        if rows.is_empty() {
            continue;
        }
        let both = [Shares::new(reference, column), Shares::new(data, column)];
        for row in rows {
            let cell = data.cell(places[row], column);
            // The side is that of the reference: what is high there may be low by now.
            let high = both[0].is_high(&cell);
            let [before, now] = both.each_ref().map(|shares| shares.of(&cell, high));
            shares[row] = before.zip(now).map(|(before, now)| [before, now]);
        }
    }
    shares
}

/// How the values of a column are distributed in a sample.
struct Shares {
    rows: f64,
    gaps: f64,
    sorted: Vec<f64>,
    levels: Vec<(String, u64)>,
}

impl Shares {
    fn new(sample: Sample<'_>, column: usize) -> Self {
        let is_level = is_category(&sample.encoding.columns()[column]);
        let mut sorted = if is_level { Vec::new() } else { sample.numbers(column) };
        sorted.retain(|value| !value.is_nan());
        sorted.sort_unstable_by(f64::total_cmp);
        let levels = if is_level { sample.levels(column) } else { Vec::new() };
        Self { rows: sample.rows.len().max(1) as f64, gaps: sample.gap_share(column), sorted, levels }
    }

    /// Whether a number is above the median.
    fn is_high(&self, cell: &Cell) -> bool {
        let Cell::Number { value, .. } = cell else { return false };
        2 * self.sorted.partition_point(|other| other < value) >= self.sorted.len()
    }

    /// The share of rows with the same level, with a gap too, or with a number at least as high, or as low.
    fn of(&self, cell: &Cell, high: bool) -> Option<f64> {
        match cell {
            Cell::Gap => Some(self.gaps),
            Cell::Text(text) if self.sorted.is_empty() => {
                let level = self.levels.iter().find(|level| level.0 == *text);
                Some(level.map_or(0.0, |level| level.1 as f64) / self.rows)
            }
            Cell::Number { value, .. } => {
                let as_far = if high {
                    self.sorted.len() - self.sorted.partition_point(|other| other < value)
                } else {
                    self.sorted.partition_point(|other| other <= value)
                };
                Some(as_far as f64 / self.rows)
            }
            Cell::Text(_) | Cell::Masked => None,
        }
    }
}
