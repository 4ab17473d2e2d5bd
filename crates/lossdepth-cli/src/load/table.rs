//! Records into numbers, with names and places for everything that may be wrong with them.

use super::columns::Columns;
use super::open::{is_stdin, open};
use super::record::{Record, Records};
use crate::error::{Error, Place, Problem, Result, Wrong};
use lossdepth::{DepthError, Rows};
use std::path::Path;

/// Whether the first line is a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// It is, unless it is all numbers.
    Detect,
    Yes,
    No,
}

/// A table that is being read.
pub(crate) struct Table {
    file: String,
    records: Records,
    /// The first record if it is data, then whatever was read last.
    record: Record,
    pending: bool,
    names: Vec<String>,
    has_header: bool,
    doubtful: bool,
    rows: usize,
}

/// Some rows of a table, all in memory.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    first: usize,
    lines: Vec<u64>,
    width: usize,
    values: Vec<f64>,
    weights: Vec<f64>,
    ids: Vec<String>,
    labels: Vec<String>,
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
    /// Opens a file and reads its header.
    pub(crate) fn open(path: &Path, header: Header) -> Result<Self> {
        let file = if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() };
        let named = |problem| Error::Input { file: file.clone(), problem };
        let mut records = open(path).map_err(named)?;
        let mut record = Record::default();
        if !records.read(&mut record).map_err(named)? {
            return Err(named(Problem::Empty));
        }
        let has_header = match header {
            Header::Detect => !looks_like_data(&record),
            Header::Yes => true,
            Header::No => false,
        };
        let numbered = (0..record.len()).map(|i| i.to_string());
        let names: Vec<String> = if has_header {
            let name = |(i, field): (String, &str)| if field.is_empty() { i } else { field.to_owned() };
            numbered.zip(record.iter()).map(name).collect()
        } else {
            numbered.collect()
        };
        if let Some(problem) = duplicate(&names, record.line) {
            return Err(named(problem));
        }
        let doubtful = has_header && header == Header::Detect && record.iter().any(is_number);
        Ok(Self { file, records, record, pending: !has_header, names, has_header, doubtful, rows: 0 })
    }

    /// The name of the file, for messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The names of the columns; numbers where there is no header.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn has_header(&self) -> bool {
        self.has_header
    }

    /// The line taken for a header, if there are numbers in it and nobody said that it is one.
    pub(crate) fn doubtful_header(&self) -> Option<u64> {
        self.doubtful.then_some(self.record.line)
    }

    /// Reads at most `limit` rows; fewer only at the end.
    pub(crate) fn read(&mut self, columns: &Columns, limit: usize) -> Result<Piece> {
        let mut piece = Piece { first: self.rows, width: columns.features.len(), ..Piece::default() };
        while piece.lines.len() < limit && self.advance()? {
            let at = Place { line: self.record.line, row: self.rows };
            for &column in &columns.features {
                piece.values.push(self.number(at, column)?);
            }
            if let Some(column) = columns.weights {
                piece.weights.push(self.number(at, column)?);
            }
            piece.ids.extend(columns.id.map(|column| self.record.get(column).to_owned()));
            piece.labels.extend(columns.label.map(|column| self.record.get(column).to_owned()));
            piece.lines.push(at.line);
            self.rows += 1;
        }
        Ok(piece)
    }

    /// Gives an error of the library about the rows of `part` their place in the file.
    pub(crate) fn locate(&self, part: &Part<'_>, columns: &Columns, error: DepthError) -> Error {
        let cell = |row: usize, column: Option<&usize>, wrong| {
            let at = Place { line: part.lines.get(row).copied().unwrap_or(0), row: part.first + row };
            let column = column.and_then(|&c| self.names.get(c)).cloned().unwrap_or_default();
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

    /// Moves on to the next row; false at the end.
    fn advance(&mut self) -> Result<bool> {
        if !std::mem::take(&mut self.pending) && !self.read_record()? {
            return Ok(false);
        }
        let (expected, got) = (self.names.len(), self.record.len());
        if got != expected {
            let at = Place { line: self.record.line, row: self.rows };
            return Err(self.problem(Problem::Ragged { at, expected, got }));
        }
        Ok(true)
    }

    fn read_record(&mut self) -> Result<bool> {
        match self.records.read(&mut self.record) {
            Ok(found) => Ok(found),
            Err(problem) => Err(self.problem(problem)),
        }
    }

    fn number(&self, at: Place, column: usize) -> Result<f64> {
        parse(self.record.get(column)).map_err(|wrong| {
            let column = self.names[column].clone();
            self.problem(Problem::Cell { at, column, wrong })
        })
    }
}

impl Piece {
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
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
                lines: &self.lines[start..end],
            }
        })
    }
}

/// Whether a first line is a row of numbers: values may be missing, but one must be there.
fn looks_like_data(record: &Record) -> bool {
    let missing = |field: &str| field.is_empty() || is_missing(field);
    record.iter().any(is_number) && record.iter().all(|field| is_number(field) || missing(field))
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok_and(|value| !value.is_nan())
}

/// What programs write for a value that is not there.
pub(crate) fn is_missing(field: &str) -> bool {
    const WORDS: [&str; 7] = ["na", "n/a", "nan", "-nan", "null", "none", "?"];
    WORDS.iter().any(|word| field.eq_ignore_ascii_case(word))
}

fn parse(field: &str) -> Result<f64, Wrong> {
    match field.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ if field.is_empty() => Err(Wrong::Empty),
        _ if is_missing(field) => Err(Wrong::Missing(field.to_owned())),
        Ok(_) => Err(Wrong::NotFinite(field.to_owned())),
        Err(_) if field.replacen(',', ".", 1).parse::<f64>().is_ok() => Err(Wrong::Comma(field.to_owned())),
        Err(_) => Err(Wrong::Text(shorten(field))),
    }
}

/// Enough of a value to recognise it by.
fn shorten(field: &str) -> String {
    let mut chars = field.chars();
    let start: String = chars.by_ref().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if chars.next().is_some() { start + "…" } else { start }
}

fn duplicate(names: &[String], line: u64) -> Option<Problem> {
    let mut seen = std::collections::HashMap::new();
    names.iter().enumerate().find_map(|(second, name)| {
        let first = seen.insert(name, second)?;
        Some(Problem::Duplicate { line, name: name.clone(), first, second })
    })
}
