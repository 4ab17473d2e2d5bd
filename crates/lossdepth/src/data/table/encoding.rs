//! The encoding of tables as rows of numbers: learned on the reference, applied to queries by the names of columns.

use super::cells::{self, Cell, Cells};
use super::column::{Content, EncodedColumn};
use super::kind::ColumnKind;
use super::levels::{Levels, coordinate_size};
use super::number::NumberForm;
use super::options::{EncodingOptions, Missing};
use super::quantiles::Quantiles;
use super::{Column, Table, Texts, Values};
use crate::data::{GroupKind, Layout};
use crate::error::{DepthError, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

/// Gaps up to this share of the rows are unusual enough to count by themselves.
const RARE_GAPS: f64 = 0.05;

/// How many notes are kept of one table.
const NOTES: usize = 1 << 20;

/// How the columns of a table become rows of numbers.
///
/// ```
/// use lossdepth::data::{Column, Encoding, EncodingOptions, Table, Texts, Values};
/// let texts = |all: &[&str]| {
///     let mut texts = Texts::default();
///     all.iter().for_each(|text| texts.push(Some(text)));
///     Values::Texts(texts)
/// };
/// let table = |price: Vec<f64>, region: &[&str]| {
///     let price = Column { name: "price".into(), values: Values::Numbers(price) };
///     Table::new(vec![price, Column { name: "region".into(), values: texts(region) }])
/// };
/// let reference = table(vec![2.5, 3.0, 2.0, 4.0], &["north", "south", "north", "south"])?;
/// let (encoding, encoded) = Encoding::learn(&reference, None, &EncodingOptions::default())?;
/// // A price, and a coordinate each for north, south and other regions.
/// assert_eq!((encoded.width, encoding.columns().len()), (4, 2));
/// let query = encoding.encode(&table(vec![9.0], &["east"])?)?;
/// assert_eq!(query.notes.len(), 1);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoding {
    columns: Vec<EncodedColumn>,
    layout: Layout,
    left_out: Vec<LeftOut>,
    id: Option<String>,
    missing: Missing,
    gap_words: Vec<String>,
}

/// A column that is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: LeftOutReason,
}

/// Why a column is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// It names the rows.
    Id,
    /// It is free text.
    Text,
    /// It has no values.
    Empty,
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Id => "it names the rows",
            Self::Text => "free text",
            Self::Empty => "it has no values",
        })
    }
}

/// A table as rows of numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Encoded {
    /// The numbers, row by row.
    pub values: Vec<f64>,
    /// How many of them a row has.
    pub width: usize,
    /// Which row of the table each row is: all of them, but for [`Missing::Drop`].
    pub rows: Vec<usize>,
    /// Cells that are not simply a value, by row, then by column. At most about a million are kept.
    pub notes: Vec<CellNote>,
}

/// A cell that is not simply a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellNote {
    /// The row of the table, from 0.
    pub row: usize,
    /// The column, among [`Encoding::columns`].
    pub column: usize,
    /// What there is to say.
    pub what: CellNoteKind,
}

/// What there is to say about a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellNoteKind {
    /// It is empty.
    Gap,
    /// It has a level that the reference lacks.
    NewLevel(String),
    /// It cannot be read as what its column holds; treated as a gap.
    Unread(String),
}

/// Where the encoded columns of a column are.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    gap: Option<(usize, f64)>,
}

impl Encoding {
    /// Learns how to encode a table, and encodes it.
    ///
    /// # Errors
    /// A kind said of a column that is not there or cannot be that kind, a number that is not finite, no column to
    /// compare, gaps under [`Missing::Error`]: all problems in one message. Weights that are not one for each row,
    /// negative or not finite; no row.
    pub fn learn(
        table: &Table,
        weights: Option<&[f64]>,
        options: &EncodingOptions,
    ) -> Result<(Self, Encoded)> {
        let weights = counts(table.rows(), weights)?;
        let mut problems = Vec::new();
        for name in options.kinds.keys() {
            if table.column(name).is_none() {
                problems.push(format!("there is no column {} to be given a kind", quoted(name)));
            }
        }
        let (mut columns, mut left_out, mut id) = (Vec::new(), Vec::new(), None);
        for column in table.columns() {
            let kind = kind_of(column, options);
            let why = match kind {
                ColumnKind::Id => LeftOutReason::Id,
                ColumnKind::Text => LeftOutReason::Text,
                _ => match learn_column(column, kind, &weights, options) {
                    Ok(Some(learned)) => {
                        columns.push(learned);
                        continue;
                    }
                    Ok(None) => LeftOutReason::Empty,
                    Err(problem) => {
                        problems.push(problem);
                        continue;
                    }
                },
            };
            if why == LeftOutReason::Id && id.is_none() {
                id = Some(column.name.clone());
            }
            left_out.push(LeftOut { name: column.name.clone(), why });
        }
        if problems.is_empty() && columns.is_empty() {
            problems.push("there is no column to compare: all are ids, texts or empty".to_owned());
        }
        refuse(&problems)?;
        let layout = layout(&columns);
        let (missing, gap_words) = (options.missing, options.gap_words.clone());
        let encoding = Self { columns, layout, left_out, id, missing, gap_words };
        let encoded = encoding.encode(table)?;
        Ok((encoding, encoded))
    }

    /// Encodes a table. Its columns are found by their names, in any order; others are ignored.
    ///
    /// # Errors
    /// A column that is missing or holds something else than it did, a number that is not finite, gaps under
    /// [`Missing::Error`]: all problems in one message.
    pub fn encode(&self, table: &Table) -> Result<Encoded> {
        let by_name: HashMap<&str, &Column> =
            table.columns().iter().map(|column| (column.name.as_str(), column)).collect();
        let (mut problems, mut sources, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for learned in &self.columns {
            let Some(&column) = by_name.get(learned.name.as_str()) else {
                problems.push(format!(
                    "column {} is missing (the reference has {} there)",
                    quoted(&learned.name),
                    learned.kind.plural()
                ));
                continue;
            };
            match learned.cells(column, &self.gap_words) {
                Ok(cells) => {
                    problems.extend(not_finite(column));
                    sources.push(column);
                    all.push(cells);
                }
                Err(held) => problems.push(format!(
                    "column {} holds {held}, the reference has {} there",
                    quoted(&learned.name),
                    learned.kind.plural()
                )),
            }
        }
        refuse(&problems)?;
        if self.missing == Missing::Error {
            refuse(&self.gaps_in(&all, table.rows()))?;
        }
        Ok(self.write(&sources, &all, table.rows()))
    }

    fn gaps_in(&self, all: &[Cells<'_>], rows: usize) -> Vec<String> {
        let mut problems = Vec::new();
        for (learned, cells) in self.columns.iter().zip(all) {
            let mut gaps = (0..rows).filter(|&row| matches!(cells.get(row), Cell::Gap | Cell::Unread));
            if let Some(first) = gaps.next() {
                let more = gaps.count();
                let name = quoted(&learned.name);
                problems.push(if more == 0 {
                    format!("column {name} has a gap in row {first}")
                } else {
                    format!("column {name} has {} gaps, the first in row {first}", more + 1)
                });
            }
        }
        problems
    }

    fn write(&self, sources: &[&Column], all: &[Cells<'_>], rows: usize) -> Encoded {
        let width = self.layout.width();
        let mut encoded = Encoded { width, ..Encoded::default() };
        encoded.values.reserve_exact(rows.saturating_mul(width));
        let places = self.places();
        let mut out = vec![0.0; width];
        for row in 0..rows {
            let has_gap = all.iter().any(|cells| matches!(cells.get(row), Cell::Gap | Cell::Unread));
            if has_gap && self.missing == Missing::Drop {
                continue;
            }
            out.fill(0.0);
            for (column, (cells, place)) in all.iter().zip(&places).enumerate() {
                let learned = &self.columns[column];
                let cell = cells.get(row);
                let note = match cell {
                    Cell::Number(_) => None,
                    Cell::Level(at) => learned
                        .category()
                        .filter(|levels| levels.seen == at)
                        .map(|_| CellNoteKind::NewLevel(cells::text_of(sources[column], row))),
                    Cell::Gap => Some(CellNoteKind::Gap),
                    Cell::Unread => Some(CellNoteKind::Unread(cells::text_of(sources[column], row))),
                };
                if let Some(what) = note.filter(|_| encoded.notes.len() < NOTES) {
                    encoded.notes.push(CellNote { row, column, what });
                }
                let is_gap = matches!(cell, Cell::Gap | Cell::Unread);
                match if is_gap { learned.typical() } else { cell } {
                    Cell::Number(value) => out[place.start] = value,
                    Cell::Level(at) => out[place.start + at] = learned.category().map_or(1.0, |l| l.size),
                    Cell::Gap | Cell::Unread => {}
                }
                if let Some((gap, size)) = place.gap {
                    out[gap + usize::from(is_gap)] = size;
                }
            }
            encoded.values.extend_from_slice(&out);
            encoded.rows.push(row);
        }
        encoded
    }

    fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::with_capacity(self.columns.len());
        for group in self.layout.groups() {
            match (group.kind, places.last_mut()) {
                (GroupKind::Gap, Some(place)) => {
                    place.gap = Some((group.start, self.columns[group.column].gap_size()));
                }
                _ => places.push(Place { start: group.start, gap: None }),
            }
        }
        places
    }

    /// Which encoded columns belong together, and to which of the [`columns`](Self::columns).
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The columns that are compared.
    pub fn columns(&self) -> &[EncodedColumn] {
        &self.columns
    }

    /// The columns that are not.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The column that names the rows, if there is one.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// What is done with gaps.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// Whether there are complete columns of numbers only and none was left out: encoding them changes nothing.
    pub fn is_plain(&self) -> bool {
        let plain = |column: &EncodedColumn| {
            let written = match &column.content {
                Content::Number { form, .. } => form.decimal.is_none() && form.unit.is_none(),
                _ => false,
            };
            written && column.gaps == 0.0
        };
        self.left_out.is_empty() && self.columns.iter().all(plain)
    }
}

impl EncodedColumn {
    /// Whether gaps are rare enough to count by themselves.
    fn has_gap_group(&self) -> bool {
        self.gaps > 0.0 && self.gap_share() <= RARE_GAPS
    }

    /// The size of the coordinates of its gaps.
    fn gap_size(&self) -> f64 {
        coordinate_size(&[self.observations - self.gaps, self.gaps])
    }

    /// The median, or the most frequent level.
    fn typical(&self) -> Cell {
        match &self.content {
            Content::Number { quantiles, .. } | Content::Time { quantiles, .. } => {
                Cell::Number(quantiles.median)
            }
            Content::Levels { .. } => Cell::Level(0),
        }
    }
}

/// The groups of encoded columns.
fn layout(columns: &[EncodedColumn]) -> Layout {
    Layout::new(columns.iter().enumerate().flat_map(|(at, column)| {
        let value = match column.category() {
            Some(levels) => (at, GroupKind::Category, levels.width()),
            None => (at, GroupKind::Number, 1),
        };
        let gap = column.has_gap_group().then_some((at, GroupKind::Gap, 2));
        [value].into_iter().chain(gap)
    }))
}

/// How many observations each row stands for: whole weights as they are, others so that the mean of the positive ones
/// is 1.
fn counts(rows: usize, weights: Option<&[f64]>) -> Result<Vec<f64>> {
    if rows == 0 {
        return Err(DepthError::Table("the table has no rows".to_owned()));
    }
    let Some(weights) = weights else { return Ok(vec![1.0; rows]) };
    if weights.len() != rows {
        return Err(DepthError::WeightCount { expected: rows, got: weights.len() });
    }
    if let Some(row) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        return Err(DepthError::Weight { row, value: weights[row] });
    }
    let positive = weights.iter().filter(|w| **w > 0.0).count();
    if positive == 0 {
        return Err(DepthError::TooFewRows { expected: 2, got: 0 });
    }
    if weights.iter().all(|w| w.fract() == 0.0 && *w < 1e15) {
        return Ok(weights.to_vec());
    }
    let largest = weights.iter().fold(0.0f64, |m, w| m.max(*w));
    let total: f64 = weights.iter().map(|w| w / largest).sum();
    Ok(weights.iter().map(|w| w / largest / total * positive as f64).collect())
}

fn kind_of(column: &Column, options: &EncodingOptions) -> ColumnKind {
    if let Some(&kind) = options.kinds.get(&column.name) {
        return kind;
    }
    match column.values {
        Values::Numbers(_) => ColumnKind::Number,
        Values::Texts(_) => ColumnKind::Category,
        Values::Booleans(_) => ColumnKind::Boolean,
        Values::Times(_) => ColumnKind::Time,
    }
}

/// What is known about a column of this kind; `None` if it has no values.
fn learn_column(
    column: &Column,
    kind: ColumnKind,
    weights: &[f64],
    options: &EncodingOptions,
) -> Result<Option<EncodedColumn>, String> {
    if let Some(problem) = not_finite(column) {
        return Err(problem);
    }
    let cannot =
        || format!("column {} holds {}, not {}", quoted(&column.name), cells::held(column), kind.plural());
    let observations: f64 = weights.iter().sum();
    let counted = |row: usize| weights[row] > 0.0;
    let (content, present) = match kind {
        ColumnKind::Number | ColumnKind::Time => {
            let form = NumberForm::default();
            let cells = if kind == ColumnKind::Number {
                cells::numbers(column, &form, &options.gap_words)
            } else {
                cells::times(column, &options.gap_words)
            };
            let cells = cells.ok_or_else(cannot)?;
            let values: Vec<(f64, f64)> = (0..weights.len())
                .filter(|&row| counted(row))
                .filter_map(|row| match cells.get(row) {
                    Cell::Number(value) => Some((value, weights[row])),
                    _ => None,
                })
                .collect();
            let present: f64 = values.iter().map(|(_, weight)| weight).sum();
            let whole = values.iter().all(|(value, _)| value.fract() == 0.0);
            let Some(quantiles) = Quantiles::of(values) else { return Ok(None) };
            let content = if kind == ColumnKind::Number {
                Content::Number { quantiles, whole, form }
            } else {
                Content::Time { quantiles, time_of_day: !whole }
            };
            (content, present)
        }
        _ => {
            let cells::Named { codes, names } = cells::names(column, &options.gap_words);
            let mut sums = vec![0.0; names.len()];
            for (&code, weight) in codes.iter().zip(weights).filter(|(code, _)| **code != Texts::GAP) {
                sums[code as usize] += weight;
            }
            let mut counts: HashMap<&str, f64> = HashMap::new();
            for (name, sum) in names.iter().zip(&sums).filter(|(_, sum)| **sum > 0.0) {
                if let Some(name) = name {
                    *counts.entry(name).or_default() += sum;
                }
            }
            if counts.is_empty() {
                return Ok(None);
            }
            let present = counts.values().sum();
            (Content::Levels { levels: Levels::learn(counts.into_iter().collect()), truth: None }, present)
        }
    };
    let gaps = observations - present;
    Ok(Some(EncodedColumn { name: column.name.clone(), kind, observations, gaps, content }))
}

/// The first number of a column that is infinite or too large.
fn not_finite(column: &Column) -> Option<String> {
    let (Values::Numbers(values) | Values::Times(values)) = &column.values else { return None };
    let row = values.iter().position(|value| value.abs() > 1e100)?;
    let (name, value) = (quoted(&column.name), values[row]);
    Some(if value.is_finite() {
        format!("column {name}, row {row} is too large to work with: |{value:e}| > 1e100")
    } else {
        format!("column {name}, row {row} is not finite ({value})")
    })
}

/// An error that says all problems; none without problems.
fn refuse(problems: &[String]) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(DepthError::Table(problems.join("\n")))
}

/// A name in an error message: short, and on one line.
fn quoted(name: &str) -> String {
    let mut chars = name.chars();
    let start: String = chars.by_ref().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if chars.next().is_some() { format!("`{start}…`") } else { format!("`{start}`") }
}
