//! Rows as they are compared: a piece of a table, encoded.

use super::cells::is_missing;
use super::columns::Columns;
use super::table::{Piece, Table, written};
use crate::error::{Error, Place, Problem, Result, Wrong, shorten};
use lossdepth::data::{
    CellNote, CellNoteKind, Column, Encoded, Encoding, EncodingOptions, GroupKind, ReferenceSketch, Texts,
    Values,
};
use lossdepth::{DepthError, Reference, Rows};

/// Some encoded rows, with what goes with them.
#[derive(Debug, Default)]
pub(crate) struct Block {
    values: Vec<f64>,
    width: usize,
    /// The numbers of the rows in their file.
    numbers: Vec<usize>,
    /// Their lines, where the file is a text.
    lines: Vec<u64>,
    ids: Vec<String>,
    labels: Vec<String>,
    weights: Vec<f64>,
    /// Columns that are copied to the output, a text each row.
    kept: Vec<Vec<String>>,
    /// Cells that are not simply a value; rows are counted in their file.
    pub(crate) notes: Vec<CellNote>,
    /// What a user should know of how the rows were read.
    pub(crate) reading: Vec<String>,
    /// The columns as they were read, where someone wants to see them.
    typed: Option<lossdepth::data::Table>,
    /// The number of the first row of `typed`.
    first: usize,
    /// The rows as a sample, which then has the values.
    sample: Option<Reference>,
}

/// A few rows of a [`Block`], ready to be scored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    /// The numbers of the rows in their file.
    pub(crate) numbers: &'a [usize],
    pub(crate) rows: Rows<'a>,
    /// One for each row, or none at all.
    pub(crate) ids: Option<&'a [String]>,
    pub(crate) labels: Option<&'a [String]>,
    /// The columns that are copied, all rows of the block: those of this part start at `first`.
    kept: &'a [Vec<String>],
    first: usize,
}

impl Block {
    /// Learns how to encode a sample, and encodes it.
    pub(crate) fn learn(
        table: &Table,
        columns: &Columns,
        mut piece: Piece,
        options: &EncodingOptions,
    ) -> Result<(Encoding, Self)> {
        let typed = columns_of(table, columns, &mut piece, &columns.names(table))?;
        if piece.rows == 0 {
            let problem = Problem::TooFewRows { expected: 2, got: 0 };
            return Err(table.problem(problem));
        }
        let weights = (!piece.weights.is_empty()).then_some(&piece.weights[..]);
        let (encoding, encoded) = Encoding::learn(&typed, weights, options)
            .map_err(|error| refused(table, columns, &piece, error))?;
        // A column that was found to name the rows does so, unless another was asked for.
        if let Some(id) = encoding.id().filter(|_| columns.id.is_none())
            && let Some(column) = typed.column(id)
        {
            piece.ids = (0..piece.rows).map(|row| written(&column.values, row)).collect();
        }
        Ok((encoding, Self::new(piece, encoded, typed)))
    }

    /// Adds a piece of a table to a sample.
    pub(crate) fn add_to(
        table: &Table,
        columns: &Columns,
        mut piece: Piece,
        sketch: &mut ReferenceSketch,
    ) -> Result<()> {
        let typed = columns_of(table, columns, &mut piece, &columns.names(table))?;
        let weights = (!piece.weights.is_empty()).then_some(&piece.weights[..]);
        sketch.add(&typed, weights).map_err(|error| refused(table, columns, &piece, error))
    }

    /// Learns how to encode a table that is in memory, and encodes it.
    pub(crate) fn of_table(
        table: lossdepth::data::Table,
        weights: Option<Vec<f64>>,
        options: &EncodingOptions,
    ) -> Result<(Encoding, Self), DepthError> {
        let (encoding, encoded) = Encoding::learn(&table, weights.as_deref(), options)?;
        let piece = Piece { rows: table.rows(), weights: weights.unwrap_or_default(), ..Piece::default() };
        Ok((encoding, Self::new(piece, encoded, table)))
    }

    /// Encodes some rows of the data; `columns` are in the order of those of the encoding.
    pub(crate) fn encode(
        table: &Table,
        columns: &Columns,
        mut piece: Piece,
        encoding: &Encoding,
    ) -> Result<Self> {
        let names: Vec<String> = encoding.columns().iter().map(|column| column.name().to_owned()).collect();
        let typed = columns_of(table, columns, &mut piece, &names)?;
        let encoded = encoding.encode(&typed).map_err(|error| refused(table, columns, &piece, error))?;
        Problem::all(changed(encoding, &encoded, piece.rows)).map_err(|problem| table.problem(problem))?;
        Ok(Self::new(piece, encoded, typed))
    }

    fn new(piece: Piece, encoded: Encoded, typed: lossdepth::data::Table) -> Self {
        fn choose<T: Clone>(list: Vec<T>, kept: &[usize]) -> Vec<T> {
            if list.is_empty() { list } else { kept.iter().map(|&row| list[row].clone()).collect() }
        }
        let typed = Some(typed);
        let Piece { first, rows, lines, weights, ids, labels, kept: copied, notes: reading, .. } = piece;
        let copied = copied.iter().map(|values| (0..rows).map(|row| written(values, row)).collect());
        let copied: Vec<Vec<String>> = copied.collect();
        let Encoded { values, width, rows: kept, mut notes } = encoded;
        for note in &mut notes {
            note.row += first;
        }
        if kept.len() == rows {
            let numbers = (first..first + rows).collect();
            return Self {
                values,
                width,
                numbers,
                lines,
                ids,
                labels,
                weights,
                kept: copied,
                notes,
                reading,
                typed,
                first,
                sample: None,
            };
        }
        Self {
            values,
            width,
            numbers: kept.iter().map(|row| first + row).collect(),
            lines: choose(lines, &kept),
            ids: choose(ids, &kept),
            labels: choose(labels, &kept),
            weights: choose(weights, &kept),
            kept: copied.into_iter().map(|column| choose(column, &kept)).collect(),
            notes,
            reading,
            typed,
            first,
            sample: None,
        }
    }

    /// The same without the columns as they were read, which take memory.
    pub(crate) fn encoded(self) -> Self {
        Self { typed: None, ..self }
    }

    /// The same without the names of the rows, where the columns as they were read have them too.
    pub(crate) fn without_copied_ids(&mut self, encoding: &Encoding) {
        let column = encoding.id().and_then(|id| self.typed.as_ref()?.column(id));
        if column.is_some_and(|column| !matches!(column.values, Values::Times(_))) {
            self.ids = Vec::new();
        }
    }

    /// A cell as it was read, of a row of this block and a column of the encoding; nothing for a gap.
    pub(crate) fn cell(&self, row: usize, column: usize, encoding: &Encoding) -> Option<String> {
        let (number, learned) = (self.numbers[row], encoding.columns().get(column)?);
        let at = self.notes.partition_point(|note| (note.row, note.column) < (number, column));
        let is_here = |note: &&CellNote| (note.row, note.column) == (number, column);
        if let Some(CellNoteKind::Gap) = self.notes.get(at).filter(is_here).map(|note| &note.what) {
            return None;
        }
        let typed = self.typed.as_ref()?;
        if learned.name() != learned.source() {
            return encoding.written(typed, column, number - self.first);
        }
        let values = &typed.column(learned.name())?.values;
        Some(written(values, number - self.first)).filter(|text| !text.is_empty())
    }

    /// The columns as they were read, if they were kept.
    pub(crate) fn typed(&self) -> Option<&lossdepth::data::Table> {
        self.typed.as_ref()
    }

    /// The weights, if there is a column of them.
    pub(crate) fn weights(&self) -> Option<&[f64]> {
        (!self.weights.is_empty()).then_some(&self.weights)
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// All rows at once.
    pub(crate) fn whole(&self) -> Result<Part<'_>, DepthError> {
        Ok(Part {
            numbers: &self.numbers,
            rows: match &self.sample {
                Some(sample) => sample.rows(),
                None => Rows::new(&self.values, self.width)?,
            },
            ids: (!self.ids.is_empty()).then_some(&self.ids),
            labels: (!self.labels.is_empty()).then_some(&self.labels),
            kept: &self.kept,
            first: 0,
        })
    }

    /// The rows as a sample to compare with. They are not copied: block and sample share them.
    pub(crate) fn reference(&mut self, encoding: &Encoding) -> Result<Reference, DepthError> {
        let weights = self.weights().map(<[f64]>::to_vec);
        let mut sample = Reference::from_vec(std::mem::take(&mut self.values), self.width, weights)?;
        if !is_numeric(encoding) {
            sample = sample.with_layout(encoding.layout().clone())?;
        }
        Ok(self.sample.insert(sample).clone())
    }

    /// How many rows are the same as an earlier one.
    pub(crate) fn repeated(&self) -> usize {
        self.whole().map_or(0, |part| part.rows.repeated())
    }

    /// Where a row is in its file.
    fn place(&self, row: usize) -> Place {
        let number = self.numbers.get(row).copied().unwrap_or(row);
        Place { line: self.lines.get(row).copied(), row: number }
    }

    /// Gives an error of the library about these rows its place in the file.
    pub(crate) fn locate(
        &self,
        table: &Table,
        columns: &Columns,
        encoding: &Encoding,
        error: DepthError,
    ) -> Error {
        let cell = |row: usize, column: Option<String>, wrong| {
            let column = column.unwrap_or_default();
            table.problem(Problem::Cell { at: self.place(row), column, wrong })
        };
        let name = |encoded: usize| {
            let group = encoding.layout().groups().iter().find(|group| group.range().contains(&encoded));
            group
                .and_then(|group| encoding.columns().get(group.column))
                .map(|column| column.name().to_owned())
        };
        match error {
            DepthError::NotFinite { row, column, value } => {
                cell(row, name(column), Wrong::NotFinite(value.to_string()))
            }
            DepthError::TooLarge { row, column, value } => cell(row, name(column), Wrong::Large(value)),
            DepthError::Weight { row, value } => {
                cell(row, columns.weights.map(|c| table.names()[c].clone()), Wrong::Weight(value))
            }
            DepthError::TooFewRows { expected, got } if columns.weights.is_none() => {
                table.problem(Problem::TooFewRows { expected, got })
            }
            DepthError::TooFewRows { .. }
            | DepthError::NoColumns
            | DepthError::Table(_)
            | DepthError::Dimension { .. } => table.problem(Problem::Depth(error)),
            other => Error::Depth(other),
        }
    }
}

impl<'a> Part<'a> {
    /// The same rows, at most `size` at a time.
    pub(crate) fn pieces(self, size: usize) -> impl Iterator<Item = Part<'a>> {
        (0..self.rows.len()).step_by(size).map(move |start| {
            let end = (start + size).min(self.rows.len());
            Part {
                numbers: &self.numbers[start..end],
                rows: self.rows.range(start, end),
                ids: self.ids.map(|ids| &ids[start..end]),
                labels: self.labels.map(|labels| &labels[start..end]),
                kept: self.kept,
                first: self.first + start,
            }
        })
    }

    /// The columns that are copied.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &'a [String]> {
        let (start, end) = (self.first, self.first + self.rows.len());
        self.kept.iter().map(move |column| &column[start..end])
    }
}

/// All rows of a table as they were read, their weights if there are any, and what is to be known of how they were read.
pub(crate) fn typed(
    table: &mut Table,
    columns: &Columns,
    names: &[String],
) -> Result<(lossdepth::data::Table, Vec<f64>, Vec<String>)> {
    let mut piece = table.read(columns, usize::MAX)?;
    let typed = columns_of(table, columns, &mut piece, names)?;
    Ok((typed, piece.weights, piece.notes))
}

/// The typed columns of a piece under the names of an encoding, without numbers that are infinite or too large.
fn columns_of(
    table: &Table,
    columns: &Columns,
    piece: &mut Piece,
    names: &[String],
) -> Result<lossdepth::data::Table> {
    let typed = piece.take_columns(names);
    let mut wrong = Vec::new();
    for (column, &at) in typed.iter().zip(&columns.features) {
        if let (Values::Texts(texts), false) = (&column.values, columns.exact.contains(&at)) {
            let infinite = infinities(texts).into_iter().take(10).map(|row| Problem::Cell {
                at: piece.place(row),
                column: table.names()[at].clone(),
                wrong: Wrong::Infinite(texts.get(row).unwrap_or_default().to_owned()),
            });
            wrong.extend(infinite);
        }
        let Column { values: Values::Numbers(values) | Values::Times(values), .. } = column else { continue };
        let bad = values.iter().enumerate().filter(|(_, value)| value.abs() > 1e100);
        wrong.extend(bad.take(10).map(|(row, &value)| Problem::Cell {
            at: piece.place(row),
            column: table.names()[at].clone(),
            wrong: if value.is_finite() { Wrong::Large(value) } else { Wrong::NotFinite(value.to_string()) },
        }));
    }
    Problem::all(wrong).map_err(|problem| table.problem(problem))?;
    lossdepth::data::Table::new(typed).map_err(|error| table.problem(Problem::Depth(error)))
}

/// The rows with a word for infinity in a column that otherwise holds numbers.
fn infinities(texts: &Texts) -> Vec<usize> {
    const WORDS: [&str; 3] = ["inf", "infinity", "∞"];
    let is_infinite = |text: &str| {
        let text = text.trim().trim_start_matches(['-', '+']);
        WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
    };
    let is_number = |text: &str| text.trim().replace(',', ".").parse::<f64>().is_ok_and(f64::is_finite);
    if !texts.levels().iter().any(|level| is_infinite(level)) {
        return Vec::new();
    }
    let mut others =
        texts.levels().iter().filter(|level| !is_infinite(level) && !is_missing(level)).peekable();
    if others.peek().is_none() || !others.all(|level| is_number(level)) {
        return Vec::new();
    }
    (0..texts.codes().len()).filter(|&row| texts.get(row).is_some_and(is_infinite)).collect()
}

/// Columns of which not one cell, of several, can be read as what the reference has there.
fn changed(encoding: &Encoding, encoded: &Encoded, rows: usize) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (at, column) in encoding.columns().iter().enumerate() {
        let notes = || encoded.notes.iter().filter(|note| note.column == at);
        let unread: Vec<&str> = notes()
            .filter_map(|note| match &note.what {
                CellNoteKind::Unread(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        if unread.len() >= 2 && notes().count() == rows {
            let text = format!(
                "column `{}` holds texts such as `{}`, the reference has {}s there",
                shorten(column.name()),
                shorten(unread[0]),
                column.kind()
            );
            problems.push(Problem::Table(text));
        }
    }
    problems
}

/// What the library has against a table, with lines and the numbers of rows in the file.
fn refused(table: &Table, columns: &Columns, piece: &Piece, error: DepthError) -> Error {
    match error {
        DepthError::Table(text) => table.problem(Problem::Table(placed(&text, piece))),
        DepthError::Weight { row, value } => table.problem(Problem::Cell {
            at: piece.place(row),
            column: columns.weights.map(|c| table.names()[c].clone()).unwrap_or_default(),
            wrong: Wrong::Weight(value),
        }),
        error => table.problem(Problem::Depth(error)),
    }
}

/// A message in which `row 3`, outside of quotes, is the row 3 of a piece: with its line, and counted in the file.
fn placed(text: &str, piece: &Piece) -> String {
    let parts = text.split('`').enumerate().map(|(i, part)| {
        if i % 2 == 1 {
            return part.to_owned();
        }
        let mut out = String::new();
        for (j, piece_of) in part.split("row ").enumerate() {
            let digits = piece_of.len() - piece_of.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            match piece_of[..digits].parse::<usize>() {
                Ok(row) if j > 0 => {
                    out += &piece.place(row).to_string();
                    out += &piece_of[digits..];
                }
                _ => {
                    out += if j > 0 { "row " } else { "" };
                    out += piece_of;
                }
            }
        }
        out
    });
    parts.collect::<Vec<_>>().join("`").replace('\n', "; ")
}

/// Whether a table is compared by numbers alone.
pub(crate) fn is_numeric(encoding: &Encoding) -> bool {
    encoding.layout().groups().iter().all(|group| group.kind == GroupKind::Number)
}
