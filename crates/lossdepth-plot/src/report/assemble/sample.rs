//! Encoded rows, read back as values of the columns they came from.

use super::rounded;
use crate::report::Cell;
use lossdepth::Rows;
use lossdepth::data::{CellNote, CellNoteKind, ColumnKind, EncodedColumn, Encoding, Group, GroupKind, Table};
use std::collections::BTreeMap;

/// Some encoded rows with what is known about them.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) encoding: &'a Encoding,
    pub(super) rows: Rows<'a>,
    /// The row of the table that each of them is, in ascending order; empty for rows of a model, whose gaps are filled in.
    pub(super) numbers: &'a [usize],
    /// Cells that are not simply a value, by row of the table.
    pub(super) notes: &'a [CellNote],
    /// The table, if it is known.
    pub(super) table: Option<&'a Table>,
}

impl Sample<'_> {
    fn group(&self, column: usize, gap: bool) -> Option<&Group> {
        let mut groups = self.encoding.layout().groups().iter();
        groups.find(|group| group.column == column && (group.kind == GroupKind::Gap) == gap)
    }

    fn note(&self, at: usize, column: usize) -> Option<&CellNoteKind> {
        let key = (*self.numbers.get(at)?, column);
        let found = self.notes.binary_search_by_key(&key, |note| (note.row, note.column)).ok()?;
        Some(&self.notes[found].what)
    }

    /// For each encoded column the width of a number's middle half; none for coordinates of categories, which have a scale
    /// already.
    pub(super) fn widths(&self) -> Vec<Option<f64>> {
        let mut widths = vec![None; self.rows.width()];
        for group in self.encoding.layout().groups().iter().filter(|group| group.kind == GroupKind::Number) {
            let quantiles = self.encoding.columns()[group.column].quantiles();
            let width = quantiles.and_then(|q| {
                let widths = [q.upper_quartile - q.lower_quartile, q.high - q.low, q.max - q.min];
                widths.into_iter().find(|width| *width > 0.0)
            });
            widths[group.start] = Some(width.unwrap_or(1.0));
        }
        widths
    }

    /// Which rows have a gap in a column.
    fn gaps(&self, column: usize) -> Vec<bool> {
        let group = self.group(column, true);
        let says_so = |row: &[f64]| group.is_some_and(|group| group.level(row) == Some(1));
        let mut gaps: Vec<bool> = self.rows.iter().map(says_so).collect();
        for note in self.notes.iter().filter(|note| note.column == column && is_gap(&note.what)) {
            if let Ok(at) = self.numbers.binary_search(&note.row) {
                gaps[at] = true;
            }
        }
        gaps
    }

    /// How many rows have a gap in a column.
    pub(super) fn gap_count(&self, column: usize) -> u64 {
        if self.numbers.is_empty() {
            return rounded(self.encoding.columns()[column].gaps());
        }
        self.gaps(column).into_iter().filter(|gap| *gap).count() as u64
    }

    /// The share of the rows that have a gap in a column.
    pub(super) fn gap_share(&self, column: usize) -> f64 {
        if self.numbers.is_empty() {
            return self.encoding.columns()[column].gap_share();
        }
        self.gap_count(column) as f64 / self.rows.len().max(1) as f64
    }

    /// The numbers of a column, or its dates in days since 1970; gaps are not a number.
    pub(super) fn numbers(&self, column: usize) -> Vec<f64> {
        let Some(group) = self.group(column, false) else { return Vec::new() };
        let value = |(row, gap): (&[f64], bool)| if gap { f64::NAN } else { row[group.start] };
        self.rows.iter().zip(self.gaps(column)).map(value).collect()
    }

    /// How often each level of a column occurs.
    pub(super) fn levels(&self, column: usize) -> Vec<(String, u64)> {
        let Some(group) = self.group(column, false) else { return Vec::new() };
        let mut counts = vec![0u64; group.width];
        for (row, gap) in self.rows.iter().zip(self.gaps(column)) {
            if let Some(level) = group.level(row).filter(|_| !gap) {
                counts[level] += 1;
            }
        }
        let learned = &self.encoding.columns()[column];
        let mut named: BTreeMap<String, u64> = BTreeMap::new();
        for note in self.notes.iter().filter(|note| note.column == column) {
            let CellNoteKind::NewLevel(text) = &note.what else { continue };
            let level =
                self.numbers.binary_search(&note.row).ok().and_then(|at| group.level(self.rows.row(at)));
            if let Some(level) = level {
                counts[level] = counts[level].saturating_sub(1);
                *named.entry(text.clone()).or_default() += 1;
            }
        }
        for (level, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            *named.entry(learned.format_value(level as f64)).or_default() += count;
        }
        named.into_iter().collect()
    }

    /// The cells of a row.
    pub(super) fn cells(&self, at: usize) -> Vec<Cell> {
        (0..self.encoding.columns().len()).map(|column| self.cell(at, column)).collect()
    }

    pub(super) fn cell(&self, at: usize, column: usize) -> Cell {
        match self.note(at, column) {
            Some(CellNoteKind::Gap) => return Cell::Gap,
            Some(CellNoteKind::Unread(text) | CellNoteKind::NewLevel(text)) => {
                return Cell::Text(text.clone());
            }
            None => {}
        }
        let number = self.numbers.get(at).copied().unwrap_or(at);
        let written = self.table.and_then(|table| self.encoding.written(table, column, number));
        match (written, self.group(column, false)) {
            (Some(text), Some(group)) if !is_category(&self.encoding.columns()[column]) => {
                Cell::Number { text, value: self.rows.row(at)[group.start] }
            }
            (Some(text), _) => Cell::Text(text),
            (None, _) => Cell::Gap,
        }
    }
}

pub(super) fn is_category(column: &EncodedColumn) -> bool {
    matches!(column.kind(), ColumnKind::Category | ColumnKind::Boolean)
}

fn is_gap(what: &CellNoteKind) -> bool {
    matches!(what, CellNoteKind::Gap | CellNoteKind::Unread(_))
}
