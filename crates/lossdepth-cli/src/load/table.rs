//! A table of whatever format: names, roles it has by itself, and rows in pieces of any size.

use super::cells::{Cells, room};
use super::columns::Columns;
use super::open;
use super::text::rename;
use crate::error::{Error, Place, Problem, Result, Wrong};
use lossdepth::data::{Column, ColumnKind, Values};
use std::collections::BTreeMap;
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

/// What a user says of how a file is to be read.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) header: Header,
    /// How many lines are above the header; found if nothing is said.
    pub(crate) skip: Option<u64>,
    pub(crate) encoding: Option<String>,
    /// The sheet of a workbook, by name or by number.
    pub(crate) sheet: Option<String>,
    /// Words for a gap, beyond the ones that always are.
    pub(crate) gaps: Vec<String>,
    /// The decimal mark of texts.
    pub(crate) decimal: Option<char>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            header: Header::Detect,
            skip: None,
            encoding: None,
            sheet: None,
            gaps: Vec::new(),
            decimal: None,
        }
    }
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
    /// The first line, if it might as well be a header as data and nobody said which it is.
    pub(super) doubtful: Option<u64>,
    /// Whether the kinds of columns are guessed from their content: not those of arrays.
    pub(super) guess: bool,
    /// Whether the type of a cell follows from how it is written: in texts and workbooks.
    pub(super) untyped: bool,
    /// The decimal mark of numbers in texts, where that is known.
    pub(super) decimal: Option<char>,
    /// What a user should know of how the file was read.
    pub(super) notes: Vec<String>,
    /// The kinds of columns that the file itself says.
    pub(super) kinds: BTreeMap<usize, ColumnKind>,
    /// Columns that can be neither compared nor copied.
    pub(super) nested: Vec<usize>,
}

impl Outline {
    /// Leaves columns out that hold what is no single value, and says so.
    pub(super) fn leave_out(&mut self, nested: Vec<(usize, String)>) {
        const NAMED: usize = 8;
        for (column, held) in nested.iter().take(NAMED) {
            let name = crate::error::shorten(&self.names[*column]);
            self.notes.push(format!("column `{name}` holds {held}, left out"));
        }
        if nested.len() > NAMED {
            self.notes.push(format!("{} more columns of the kind are left out", nested.len() - NAMED));
        }
        self.nested = nested.into_iter().map(|(column, _)| column).collect();
    }

    /// A table of these columns, all compared, whose kinds are guessed.
    pub(super) fn new(mut names: Vec<String>, named: bool) -> Self {
        let notes = rename(&mut names).into_iter().collect();
        Self { compared: names.len(), names, named, guess: true, notes, ..Self::default() }
    }
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
}

/// A format being read.
pub(super) trait Source {
    /// Adds at most `wanted.limit` rows to an empty piece; fewer only at the end.
    fn read(&mut self, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem>;
}

/// About how many bytes a column takes beside its values: its name, several times, and what memory is managed with.
const COLUMN: usize = 160;

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
    /// The number of the first row.
    pub(crate) first: usize,
    pub(crate) rows: usize,
    /// The line of each row, where the table is a text.
    pub(crate) lines: Vec<u64>,
    /// What is compared, a column each.
    pub(super) cells: Vec<Cells>,
    pub(crate) weights: Vec<f64>,
    pub(crate) ids: Vec<String>,
    pub(crate) labels: Vec<String>,
    /// Columns that are copied, behind those that are compared until these are taken.
    pub(crate) kept: Vec<Values>,
    /// Bytes of text.
    pub(super) letters: usize,
    /// What a user should know of how these rows were read.
    pub(crate) notes: Vec<String>,
}

impl Table {
    /// Opens a file, finds its format and reads its header.
    pub(crate) fn open(path: &Path, reading: &Reading) -> Result<Self> {
        let file = open::name(path);
        match open::open(path, reading) {
            Ok((outline, source)) => Ok(Self { file, outline, source, rows: 0 }),
            Err(problem) => Err(Error::Input { file, problem }),
        }
    }

    /// The same for bytes in memory, under a name.
    pub(crate) fn from_bytes(name: &str, bytes: Vec<u8>, reading: &Reading) -> Result<Self> {
        let file = name.to_owned();
        match open::open_bytes(Path::new(name), bytes, reading) {
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

    /// The first line, if it might as well be a header as data and nobody said which it is.
    pub(crate) fn doubtful_header(&self) -> Option<u64> {
        self.outline.doubtful
    }

    /// Whether the kinds of columns are guessed from their content.
    pub(crate) fn guess(&self) -> bool {
        self.outline.guess
    }

    /// Whether the type of a cell follows from how it is written.
    pub(crate) fn is_untyped(&self) -> bool {
        self.outline.untyped
    }

    /// The decimal mark of numbers in texts, where the file shows it.
    pub(crate) fn decimal(&self) -> Option<char> {
        self.outline.decimal
    }

    /// The kinds of columns that the file itself says.
    pub(super) fn kinds(&self) -> &BTreeMap<usize, ColumnKind> {
        &self.outline.kinds
    }

    /// Whether a column can be neither compared nor copied.
    pub(super) fn is_nested(&self, column: usize) -> bool {
        self.outline.nested.binary_search(&column).is_ok()
    }

    /// What a user should know of how the file was opened.
    pub(crate) fn notes(&self) -> &[String] {
        &self.outline.notes
    }

    /// Reads at most `limit` rows; fewer only at the end.
    pub(crate) fn read(&mut self, columns: &Columns, limit: usize) -> Result<Piece> {
        // A file of a few bytes for each column may have millions of them.
        let needed = columns.cells().count().saturating_mul(size_of::<Cells>() + COLUMN);
        within_memory(needed).map_err(|problem| self.problem(problem))?;
        let compared = columns.features.iter().map(|column| Cells::new(columns.exact.contains(column)));
        let cells = compared.chain(columns.kept.iter().map(|_| Cells::new(true))).collect();
        let mut piece = Piece { first: self.rows, cells, ..Piece::default() };
        let wanted = Wanted { columns, names: &self.outline.names, limit };
        match self.source.read(&wanted, &mut piece) {
            Ok(()) => self.rows += piece.rows,
            Err(problem) => return Err(self.problem(problem)),
        }
        Ok(piece)
    }

    pub(crate) fn problem(&self, problem: Problem) -> Error {
        Error::Input { file: self.file.clone(), problem }
    }
}

impl Piece {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Where a row is in the file.
    pub(crate) fn place(&self, row: usize) -> Place {
        Place { line: self.lines.get(row).copied(), row: self.first + row }
    }

    /// The columns that are compared, under these names; they are then no longer part of this piece.
    pub(crate) fn take_columns(&mut self, names: &[String]) -> Vec<Column> {
        let mut cells = std::mem::take(&mut self.cells);
        self.kept = cells.split_off(names.len().min(cells.len())).into_iter().map(Cells::finish).collect();
        let column = |(cells, name): (Cells, &String)| Column { name: name.clone(), values: cells.finish() };
        cells.into_iter().zip(names).map(column).collect()
    }

    /// Makes sure that so many more rows fit into memory, as far as numbers and texts of no length go.
    pub(super) fn reserve(&mut self, rows: usize, columns: &Columns) -> Result<(), Problem> {
        self.check_room(rows, columns)?;
        let needed = self.bytes(rows, columns);
        let texts = |column: Option<usize>| if column.is_some() { rows } else { 0 };
        let weights = if columns.weights.is_some() { rows } else { 0 };
        // Only texts have lines, one for each row.
        let lines = if self.lines.len() == self.rows { rows } else { 0 };
        let reserved = self.cells.iter_mut().all(|cells| cells.reserve(rows))
            && room(&mut self.weights, weights)
            && room(&mut self.ids, texts(columns.id))
            && room(&mut self.labels, texts(columns.label))
            && room(&mut self.lines, lines);
        if reserved { Ok(()) } else { Err(Problem::Memory { needed, limit: None }) }
    }

    /// Refuses more rows than half of the memory of this process holds: they are copied at least once.
    pub(super) fn check_room(&self, rows: usize, columns: &Columns) -> Result<(), Problem> {
        within_memory(self.bytes(rows, columns))
    }

    /// What the rows take with so many more; too many to count is as good as too many.
    fn bytes(&self, rows: usize, columns: &Columns) -> usize {
        let texts = usize::from(columns.id.is_some()) + usize::from(columns.label.is_some());
        let numbers = self.cells.len() + usize::from(columns.weights.is_some());
        let lines = usize::from(!self.lines.is_empty());
        let row = (size_of::<f64>() * (numbers + lines)).saturating_add(size_of::<String>() * texts);
        self.rows.saturating_add(rows).saturating_mul(row).saturating_add(self.letters)
    }
}

/// Refuses what takes more than half of the memory of this process.
pub(super) fn within_memory(needed: usize) -> Result<(), Problem> {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    match *LIMIT.get_or_init(lossdepth_files::memory::limit) {
        Some(limit) if needed as u64 > limit / 2 => Err(Problem::Memory { needed, limit: Some(limit) }),
        _ => Ok(()),
    }
}

/// A value of a column as a text, as it would be written into a file; nothing for a gap.
pub(crate) fn written(values: &Values, row: usize) -> String {
    let number = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
    match values {
        Values::Numbers(values) => number(values[row]),
        Values::Texts(texts) => texts.get(row).unwrap_or_default().to_owned(),
        Values::Booleans(values) => values[row].map(|value| value.to_string()).unwrap_or_default(),
        Values::Times(values) if values[row].is_nan() => String::new(),
        Values::Times(values) => super::cells::moment(values[row]),
    }
}
