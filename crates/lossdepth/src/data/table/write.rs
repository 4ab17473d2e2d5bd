//! Writing the cells of a table as rows of numbers.

use super::cells::{self, Cell, Cells};
use super::column::EncodedColumn;
use super::donors::Search;
use super::encoded::{CellNote, CellNoteKind, Encoded};
use super::{Column, Table};
use crate::data::{Group, GroupKind, Layout};
use crate::error::{DepthError, Result};
use rayon::prelude::*;

/// How many rows are written at a time.
const CHUNK: usize = 256;

/// About how many notes are kept of one table.
const NOTES: usize = 1 << 20;

/// Where the encoded columns of a column are.
#[derive(Clone, Copy)]
struct Place<'a> {
    start: usize,
    /// The sizes of the coordinates of levels.
    sizes: &'a [f64],
    /// The coordinate of levels that the reference lacks.
    new: usize,
    /// The first coordinate of its gaps, and the size of one.
    gap: Option<(usize, f64)>,
}

/// Where the columns are, in the order of those that were learned.
fn places<'a>(learned: &'a [EncodedColumn], layout: &Layout) -> Vec<Place<'a>> {
    let mut places: Vec<Place<'a>> = Vec::with_capacity(learned.len());
    for group in layout.groups() {
        let learned = &learned[group.column];
        if let (GroupKind::Gap, Some(place)) = (group.kind, places.last_mut()) {
            place.gap = Some((group.start, learned.gap_size()));
            continue;
        }
        let (sizes, new) =
            learned.category().map_or((&[][..], usize::MAX), |levels| (&levels.sizes[..], levels.seen));
        places.push(Place { start: group.start, sizes, new, gap: None });
    }
    places
}

/// Fills the gaps of these columns in an encoded row, as [`Writer::write`] does.
pub(super) fn refill(
    learned: &[EncodedColumn],
    layout: &Layout,
    search: Option<Search>,
    gaps: &[usize],
    out: &mut [f64],
) {
    let groups: Vec<_> = layout.groups().iter().filter(|group| group.kind != GroupKind::Gap).collect();
    let found = search.map(|mut search| {
        let cell = |(column, group): (usize, &&Group)| match group.kind {
            _ if gaps.contains(&column) => Cell::Gap,
            GroupKind::Number => Cell::Number(out[group.start]),
            _ => group.level(out).map_or(Cell::Gap, Cell::Level),
        };
        search.compare(&groups.iter().enumerate().map(cell).collect::<Vec<_>>());
        search
    });
    for (column, place) in places(learned, layout).into_iter().enumerate() {
        if gaps.contains(&column) {
            let value = found.as_ref().and_then(|search| search.value(column));
            out[groups[column].range()].fill(0.0);
            put(value.unwrap_or_else(|| learned[column].typical()), &Place { gap: None, ..place }, out);
        }
    }
}

/// Writes rows of a table.
pub(super) struct Writer<'a> {
    learned: &'a [EncodedColumn],
    sources: Vec<&'a Column>,
    cells: Vec<Cells<'a>>,
    places: Vec<Place<'a>>,
    width: usize,
    rows: usize,
}

impl<'a> Writer<'a> {
    /// For columns of a table that were found, in the order of those that were learned.
    pub(super) fn new(
        table: &Table,
        learned: &'a [EncodedColumn],
        layout: &Layout,
        sources: Vec<&'a Column>,
        cells: Vec<Cells<'a>>,
    ) -> Self {
        let places = places(learned, layout);
        Self { learned, sources, cells, places, width: layout.width(), rows: table.rows() }
    }

    /// The cells, a column at a time.
    pub(super) fn cells(&self) -> &[Cells<'a>] {
        &self.cells
    }

    /// The rows without a gap.
    pub(super) fn complete_rows(&self) -> Vec<usize> {
        let complete = |row: &usize| !self.cells.iter().any(|cells| cells.get(*row).is_gap());
        (0..self.rows).into_par_iter().filter(complete).collect()
    }

    /// For each column with gaps, how many it has and in which row the first one is.
    pub(super) fn gaps(&self) -> impl Iterator<Item = (&'a EncodedColumn, usize, usize)> {
        self.learned.iter().zip(&self.cells).filter_map(|(learned, cells)| {
            let mut gaps = (0..self.rows).filter(|&row| cells.get(row).is_gap());
            gaps.next().map(|first| (learned, 1 + gaps.count(), first))
        })
    }

    /// Writes these rows. Gaps are filled with the values of donors, or what is typical of the column without them.
    ///
    /// # Errors
    /// The rows take more memory than can be had: an allocation that fails would end the process.
    pub(super) fn write(&self, rows: Vec<usize>, donors: Option<&Search>) -> Result<Encoded> {
        let size = rows.len().saturating_mul(self.width);
        if Vec::<f64>::new().try_reserve_exact(size).is_err() {
            let (rows, width) = (rows.len(), self.width);
            let megabytes = size.saturating_mul(8).div_ceil(1_000_000);
            return Err(DepthError::Table(format!(
                "not enough memory to compare {rows} rows in {width} coordinates: {megabytes} MB more are needed"
            )));
        }
        let mut values = vec![0.0; size];
        let kept = (NOTES / rows.len().div_ceil(CHUNK).max(1)).max(16);
        let notes: Vec<Vec<CellNote>> = values
            .par_chunks_mut(CHUNK * self.width)
            .zip(rows.par_chunks(CHUNK))
            .map(|(out, rows)| self.write_chunk(rows, out, donors, kept))
            .collect();
        Ok(Encoded { values, width: self.width, rows, notes: notes.concat() })
    }

    fn write_chunk(
        &self,
        rows: &[usize],
        out: &mut [f64],
        donors: Option<&Search>,
        kept: usize,
    ) -> Vec<CellNote> {
        let (mut notes, mut gaps) = (Vec::new(), Vec::new());
        for (column, (cells, place)) in self.cells.iter().zip(&self.places).enumerate() {
            for (at, (&row, out)) in rows.iter().zip(out.chunks_exact_mut(self.width)).enumerate() {
                let cell = cells.get(row);
                put(cell, place, out);
                let text = || cells::text_of(self.sources[column], row);
                let what = match cell {
                    Cell::Number(_) => continue,
                    Cell::Level(level) if level != place.new => continue,
                    Cell::Level(_) => CellNoteKind::NewLevel(text()),
                    Cell::Gap => CellNoteKind::Gap,
                    Cell::Unread => CellNoteKind::Unread(text()),
                };
                if cell.is_gap() {
                    gaps.push((at, column));
                }
                notes.push(CellNote { row, column, what });
            }
        }
        gaps.sort_unstable();
        let mut search = donors.cloned();
        for of_row in gaps.chunk_by(|a, b| a.0 == b.0) {
            let at = of_row[0].0;
            if let Some(search) = &mut search {
                let row: Vec<Cell> = self.cells.iter().map(|cells| cells.get(rows[at])).collect();
                search.compare(&row);
            }
            let out = &mut out[at * self.width..(at + 1) * self.width];
            for &(_, column) in of_row {
                let found = search.as_ref().and_then(|search| search.value(column));
                let place = Place { gap: None, ..self.places[column] };
                put(found.unwrap_or_else(|| self.learned[column].typical()), &place, out);
            }
        }
        notes.sort_by_key(|note| (note.row, note.column));
        notes.truncate(kept);
        notes
    }
}

/// Writes one cell; of a gap only that it is one.
#[inline]
fn put(cell: Cell, place: &Place<'_>, out: &mut [f64]) {
    match cell {
        Cell::Number(value) => out[place.start] = value,
        Cell::Level(at) => out[place.start + at] = place.sizes[at],
        Cell::Gap | Cell::Unread => {}
    }
    if let Some((gap, size)) = place.gap {
        out[gap + usize::from(cell.is_gap())] = size;
    }
}
