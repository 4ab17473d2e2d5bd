//! The original columns of an encoded table, and how far rows are from each other in them.

use crate::data::{GroupKind, Layout, Rows};

/// Squared distances of one column count up to here, so that a few odd columns do not decide which rows are similar.
const CAP: f64 = 4.0;

/// One original column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Its encoded columns.
    pub(super) encoded: Vec<usize>,
    /// The encoded column that is its value, if it is a number.
    pub(super) number: Option<usize>,
    /// The length that counts as 1 in each encoded column; 0 where the column does not vary.
    units: Vec<f64>,
}

impl Column {
    /// Whether the reference has one value only.
    pub(super) fn is_constant(&self) -> bool {
        self.units.iter().all(|unit| *unit == 0.0)
    }

    /// The values of the column in an encoded row.
    pub(super) fn take(&self, row: &[f64]) -> Vec<f64> {
        self.encoded.iter().map(|&at| row[at]).collect()
    }

    /// Sets the column of an encoded row.
    pub(super) fn put(&self, row: &mut [f64], values: &[f64]) {
        for (&at, value) in self.encoded.iter().zip(values) {
            row[at] = *value;
        }
    }

    /// The capped squared distance of two rows in this column, (E4).
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        self.difference(a, b).min(CAP)
    }

    /// The same without a cap.
    pub(super) fn difference(&self, a: &[f64], b: &[f64]) -> f64 {
        let part = |(&at, unit): (&usize, &f64)| {
            if *unit == 0.0 { 0.0 } else { ((a[at] - b[at]) / unit).powi(2) }
        };
        self.encoded.iter().zip(&self.units).map(part).sum()
    }
}

/// The original columns, by their number.
pub(super) fn columns(layout: &Layout, pool: Rows<'_>) -> Vec<Column> {
    let mut columns: Vec<Column> = (0..layout.columns())
        .map(|_| Column { encoded: Vec::new(), number: None, units: Vec::new() })
        .collect();
    for group in layout.groups() {
        let column = &mut columns[group.column];
        for at in group.range() {
            column.encoded.push(at);
            column.units.push(match group.kind {
                GroupKind::Number => spread(pool, at),
                GroupKind::Category | GroupKind::Gap => f64::from(u8::from(varies(pool, at))),
            });
        }
        if group.kind == GroupKind::Number {
            column.number = Some(group.start);
        }
    }
    columns
}

fn varies(pool: Rows<'_>, at: usize) -> bool {
    pool.iter().any(|row| row[at] != pool.row(0)[at])
}

/// The distance between the quartiles as that of a standard deviation; where it is 0, the standard deviation.
fn spread(pool: Rows<'_>, at: usize) -> f64 {
    let mut values: Vec<f64> = pool.iter().map(|row| row[at]).collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let apart = (values[(3 * n / 4).min(n - 1)] - values[n / 4]) / 1.349;
    if apart > 0.0 {
        return apart;
    }
    let size = values[n - 1] - values[0];
    let mean = values.iter().map(|v| (v - values[0]) / n as f64).sum::<f64>();
    let variance = values.iter().map(|v| ((v - values[0] - mean) / size).powi(2) / n as f64).sum::<f64>();
    if size > 0.0 { size * variance.sqrt() } else { 0.0 }
}

/// How far a row is from each row of a pool, column by column.
pub(super) struct Distances {
    /// One line a row of the pool.
    parts: Vec<f64>,
    columns: usize,
}

impl Distances {
    pub(super) fn new(columns: &[Column], pool: Rows<'_>, row: &[f64]) -> Self {
        let parts = pool.iter().flat_map(|other| columns.iter().map(|c| c.distance(row, other))).collect();
        Self { parts, columns: columns.len() }
    }

    /// The distance to row `i` of the pool in column `j`.
    fn in_column(&self, i: usize, j: usize) -> f64 {
        self.parts[i * self.columns + j]
    }

    /// The sum over all columns for each row of the pool.
    pub(super) fn totals(&self) -> Vec<f64> {
        self.parts.chunks_exact(self.columns).map(|line| line.iter().sum()).collect()
    }

    /// The `count` nearest of the rows `among` in all columns but `without`, the nearest first.
    pub(super) fn nearest(
        &self,
        totals: &[f64],
        without: &[usize],
        among: &[usize],
        count: usize,
    ) -> Vec<usize> {
        let left_out = |i: usize| without.iter().map(|&j| self.in_column(i, j)).sum::<f64>();
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let mut all: Vec<(f64, usize)> = among.iter().map(|&i| (totals[i] - left_out(i), i)).collect();
        if all.len() > count && count > 0 {
            all.select_nth_unstable_by(count - 1, order);
            all.truncate(count);
        }
        all.sort_by(order);
        all.into_iter().map(|(_, i)| i).collect()
    }
}
