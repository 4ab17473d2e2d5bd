//! A table of whatever format: names, roles it has by itself, and rows in pieces of any size.

use super::columns::Columns;
use super::open;
use crate::error::{Error, Place, Problem, Result, Wrong};
use lossdepth::{DepthError, Rows};
use std::path::Path;
use std::sync::OnceLock;

/// Whether the first line of a text is a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// It is, unless it is all numbers.
    Detect,
    Yes,
    No,
}

/// What is known of a table before its rows are read.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// The names of the columns; numbers where there are none.
    pub(super) names: Vec<String>,
    /// Whether the file has names for what is compared.
    pub(super) named: bool,
    /// How many columns, from the first, are compared unless something else is asked for.
    pub(super) compared: usize,
    /// The column that is the label unless another is asked for.
    pub(super) label: Option<usize>,
    /// The line taken for a header, if there are numbers in it and nobody said that it is one.
    pub(super) doubtful: Option<u64>,
}

/// Which cells to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) columns: &'a Columns,
    pub(super) names: &'a [String],
    pub(super) limit: usize,
}

impl Wanted<'_> {
    /// What is wrong with a cell, with its place.
    pub(super) fn cell(&self, at: Place, column: usize, wrong: Wrong) -> Problem {
        Problem::Cell { at, column: self.names[column].clone(), wrong }
    }

    /// The columns that hold numbers, each with its place in a row of values; the weights come last.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> {
        self.columns.features.iter().copied().chain(self.columns.weights)
    }
}

/// A format being read.
pub(super) trait Source {
    /// Adds at most `wanted.limit` rows to an empty piece; fewer only at the end.
    fn read(&mut self, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem>;
}

/// A table that is being read.
pub(crate) struct Table {
    file: String,
    outline: Outline,
    source: Box<dyn Source>,
    rows: usize,
}

/// Some rows of a table, all in memory.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(super) first: usize,
    pub(super) rows: usize,
    /// The line of each row, where the table is a text.
    pub(super) lines: Vec<u64>,
    pub(super) width: usize,
    pub(super) values: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) ids: Vec<String>,
    pub(super) labels: Vec<String>,
    /// Bytes of text in the ids and labels.
    pub(super) letters: usize,
}

/// A few rows of a [`Piece`], ready to be scored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) first: usize,
    pub(crate) rows: Rows<'a>,
    /// One for each row, or none at all.
    pub(crate) ids: Option<&'a [String]>,
    pub(crate) labels: Option<&'a [String]>,
    lines: &'a [u64],
}

impl Table {
    /// Opens a file, finds its format and reads its header.
    pub(crate) fn open(path: &Path, header: Header) -> Result<Self> {
        let file = open::name(path);
        match open::open(path, header) {
            Ok((outline, source)) => Ok(Self { file, outline, source, rows: 0 }),
            Err(problem) => Err(Error::Input { file, problem }),
        }
    }

    /// The same for bytes in memory, under a name.
    pub(crate) fn from_bytes(name: &str, bytes: Vec<u8>, header: Header) -> Result<Self> {
        let file = name.to_owned();
        match open::open_bytes(Path::new(name), bytes, header) {
            Ok((outline, source)) => Ok(Self { file, outline, source, rows: 0 }),
            Err(problem) => Err(Error::Input { file, problem }),
        }
    }

    /// The name of the file, for messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The names of the columns; numbers where there is no header.
    pub(crate) fn names(&self) -> &[String] {
        &self.outline.names
    }

    pub(crate) fn has_header(&self) -> bool {
        self.outline.named
    }

    /// How many columns, from the first, are compared by themselves; the others only if asked for.
    pub(super) fn compared(&self) -> usize {
        self.outline.compared
    }

    /// The column that is the label unless another is asked for: `y` of MAT and NPZ files.
    pub(crate) fn own_label(&self) -> Option<usize> {
        self.outline.label
    }

    /// The line taken for a header, if there are numbers in it and nobody said that it is one.
    pub(crate) fn doubtful_header(&self) -> Option<u64> {
        self.outline.doubtful
    }

    /// Reads at most `limit` rows; fewer only at the end.
    pub(crate) fn read(&mut self, columns: &Columns, limit: usize) -> Result<Piece> {
        let mut piece = Piece { first: self.rows, width: columns.features.len(), ..Piece::default() };
        let wanted = Wanted { columns, names: &self.outline.names, limit };
        match self.source.read(&wanted, &mut piece) {
            Ok(()) => self.rows += piece.rows,
            Err(problem) => return Err(self.problem(problem)),
        }
        Ok(piece)
    }

    /// Gives an error of the library about the rows of `part` their place in the file.
    pub(crate) fn locate(&self, part: &Part<'_>, columns: &Columns, error: DepthError) -> Error {
        let cell = |row: usize, column: Option<&usize>, wrong| {
            let at = Place { line: part.lines.get(row).copied(), row: part.first + row };
            let column = column.and_then(|&c| self.names().get(c)).cloned().unwrap_or_default();
            self.problem(Problem::Cell { at, column, wrong })
        };
        match error {
            DepthError::NotFinite { row, column, value } => {
                cell(row, columns.features.get(column), Wrong::NotFinite(value.to_string()))
            }
            DepthError::TooLarge { row, column, value } => {
                cell(row, columns.features.get(column), Wrong::Large(value))
            }
            DepthError::Weight { row, value } => cell(row, columns.weights.as_ref(), Wrong::Weight(value)),
            DepthError::TooFewRows { expected, got } if columns.weights.is_none() => {
                self.problem(Problem::TooFewRows { expected, got })
            }
            DepthError::TooFewRows { .. } | DepthError::NoColumns | DepthError::Dimension { .. } => {
                self.problem(Problem::Depth(error))
            }
            other => Error::Depth(other),
        }
    }

    pub(crate) fn problem(&self, problem: Problem) -> Error {
        Error::Input { file: self.file.clone(), problem }
    }
}

impl Piece {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The weights, if there is a column of them.
    pub(crate) fn weights(&self) -> Option<&[f64]> {
        (!self.weights.is_empty()).then_some(&self.weights)
    }

    /// All rows at once.
    pub(crate) fn whole(&self) -> Result<Part<'_>, DepthError> {
        Ok(Part {
            first: self.first,
            rows: Rows::new(&self.values, self.width)?,
            ids: (!self.ids.is_empty()).then_some(&self.ids),
            labels: (!self.labels.is_empty()).then_some(&self.labels),
            lines: &self.lines,
        })
    }

    /// Makes room for more rows of numbers, to be filled column by column.
    pub(super) fn grow(&mut self, rows: usize, columns: &Columns) -> Result<(), Problem> {
        self.reserve(rows, columns)?;
        self.rows += rows;
        self.values.resize(self.rows * self.width, 0.0);
        if columns.weights.is_some() {
            self.weights.resize(self.rows, 0.0);
        }
        Ok(())
    }

    /// Makes sure that so many more rows fit into memory, as far as numbers and texts of no length go.
    pub(super) fn reserve(&mut self, rows: usize, columns: &Columns) -> Result<(), Problem> {
        self.check_room(rows, columns)?;
        let needed = self.bytes(rows, columns);
        let texts = |column: Option<usize>| if column.is_some() { rows } else { 0 };
        let weights = if columns.weights.is_some() { rows } else { 0 };
        // Only texts have lines, one for each row.
        let lines = if self.lines.len() == self.rows { rows } else { 0 };
        let reserved = room(&mut self.values, rows * self.width)
            && room(&mut self.weights, weights)
            && room(&mut self.ids, texts(columns.id))
            && room(&mut self.labels, texts(columns.label))
            && room(&mut self.lines, lines);
        if reserved { Ok(()) } else { Err(Problem::Memory { needed, limit: None }) }
    }

    /// Refuses more rows than half of the memory of this process holds: they are copied at least once.
    pub(super) fn check_room(&self, rows: usize, columns: &Columns) -> Result<(), Problem> {
        static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
        let needed = self.bytes(rows, columns);
        match *LIMIT.get_or_init(lossdepth_files::memory::limit) {
            Some(limit) if needed as u64 > limit / 2 => Err(Problem::Memory { needed, limit: Some(limit) }),
            _ => Ok(()),
        }
    }

    /// What the rows take with so many more; too many to count is as good as too many.
    fn bytes(&self, rows: usize, columns: &Columns) -> usize {
        let texts = usize::from(columns.id.is_some()) + usize::from(columns.label.is_some());
        let numbers = self.width + usize::from(columns.weights.is_some());
        let lines = usize::from(!self.lines.is_empty());
        let row = (size_of::<f64>() * (numbers + lines)).saturating_add(size_of::<String>() * texts);
        self.rows.saturating_add(rows).saturating_mul(row).saturating_add(self.letters)
    }

    /// Sets the number at `place` of a row: what is beyond the last value is its weight.
    pub(super) fn set(&mut self, row: usize, place: usize, value: f64) {
        if place < self.width {
            self.values[row * self.width + place] = value;
        } else {
            self.weights[row] = value;
        }
    }
}

/// Whether there is memory for more elements; twice as many as there are, if that can be had.
fn room<T>(list: &mut Vec<T>, more: usize) -> bool {
    list.try_reserve(more).or_else(|_| list.try_reserve_exact(more)).is_ok()
}

impl<'a> Part<'a> {
    /// The same rows, at most `size` at a time.
    pub(crate) fn pieces(self, size: usize) -> impl Iterator<Item = Part<'a>> {
        (0..self.rows.len()).step_by(size).map(move |start| {
            let end = (start + size).min(self.rows.len());
            Part {
                first: self.first + start,
                rows: self.rows.range(start, end),
                ids: self.ids.map(|ids| &ids[start..end]),
                labels: self.labels.map(|labels| &labels[start..end]),
                lines: self.lines.get(start..end).unwrap_or_default(),
            }
        })
    }
}

/// Whether a number can be worked with; what is wrong with it otherwise.
pub(super) fn finite(value: f64) -> Result<f64, Wrong> {
    match value {
        _ if value.is_finite() => Ok(value),
        _ if value.is_nan() => Err(Wrong::Missing("NaN".to_owned())),
        _ => Err(Wrong::NotFinite(value.to_string())),
    }
}
