//! What a page shows: plain values, filled by the caller.

use super::{Distribution, Drift, Histogram, Map, Thresholds};
use serde::{Serialize, Serializer};

/// Everything that a page shows. [`Page::to_html`] writes it.
///
/// Columns are referred to by their index in [`columns`](Self::columns). Texts may hold anything: they are shown as text,
/// shortened where they are very long. Values of columns that are [`masked`](Column::masked) are removed before anything is
/// written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page {
    /// The heading, such as `Odd rows in orders.csv`.
    pub title: String,
    /// The table whose rows are scored.
    pub data: Source,
    /// The table that they are compared with, if it is another one.
    pub reference: Option<Source>,
    /// The compared columns.
    pub columns: Vec<Column>,
    /// Columns that were not compared.
    pub left_out: Vec<LeftOut>,
    /// Problems of the data noticed on the way: suspicious columns, words among numbers, repeated rows.
    pub findings: Vec<Finding>,
    /// Depths of all rows.
    pub depths: Histogram,
    /// How many rows each p-value flags, and what follows from it.
    pub thresholds: Thresholds,
    /// The oddest rows, the oddest first.
    pub rows: Vec<OddRow>,
    /// A sample of ordinary rows and all of `rows` in two dimensions.
    pub map: Option<Map>,
    /// How the rows differ from the reference, where that is another table.
    pub drift: Option<Drift>,
    /// How it was computed.
    pub method: Method,
}

/// A table that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Source {
    /// The name of the file, or what else the reader knows it by.
    pub name: String,
    /// Rows.
    pub rows: u64,
    /// Columns, compared or not.
    pub columns: u64,
    /// Cells without a value, in the compared columns.
    pub gaps: u64,
    /// Rows that equal an earlier row in all columns.
    pub repeated: u64,
}

/// A compared column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it was read as: `number`, `category`, `boolean`, `date`.
    pub kind: String,
    /// Rows without a value.
    pub gaps: u64,
    /// What is usual in a few words, such as `5 to 27`; [`Distribution::usual`] makes it.
    pub usual: String,
    /// Its values in the rows that others are compared with.
    pub distribution: Distribution,
    /// Whether its values must not be written. The name and the contributions are.
    pub masked: bool,
}

/// A column that was not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why, such as `all different: used as the row's name`.
    pub why: String,
}

/// A problem of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The columns it is about.
    pub columns: Vec<usize>,
    /// A whole sentence.
    pub sentence: String,
}

/// One of the oddest rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OddRow {
    /// What the row is called: its id, or `row 17`.
    pub name: String,
    /// Its place in the file, from 0, as `score` writes it.
    pub row: u64,
    /// Its depth.
    pub depth: f64,
    /// The proven bound on the numerical error of the depth.
    pub error: f64,
    /// The sampling standard error of the depth, where it is defined.
    pub stderr: Option<f64>,
    /// Its p-value.
    pub p_value: f64,
    /// The share of the reference that is at most as deep, between 0 and 1.
    pub percentile: f64,
    /// Its values, one for each column.
    pub cells: Vec<Cell>,
    /// Why it is odd, the main reason first.
    pub reasons: Vec<Reason>,
    /// How much each column adds to its oddness, one for each column; at most 0 for columns that do not. Only ratios matter.
    pub contributions: Vec<f64>,
    /// What would make it ordinary.
    pub counterfactual: Option<Counterfactual>,
    /// The ordinary rows that are most like it.
    pub neighbours: Vec<Neighbour>,
}

/// A value of a row, as it is shown and where it is in the column's distribution.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number or a date: as text, and in the units of the column's [`Distribution::Numbers`].
    Number {
        /// As it is shown.
        text: String,
        /// Where it is.
        value: f64,
    },
    /// A level, or other text.
    Text(String),
    /// No value.
    Gap,
    /// Not written; masked columns get it by themselves.
    Masked,
}

impl Cell {
    /// As it is shown in a sentence.
    pub fn text(&self) -> &str {
        match self {
            Self::Number { text, .. } | Self::Text(text) => text,
            Self::Gap => "(no value)",
            Self::Masked => "(masked)",
        }
    }
}

/// A number is `[text, value]`, a level its text, a gap `null`, a masked value `false`.
impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number { text, value } => (text, value).serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Gap => serializer.serialize_none(),
            Self::Masked => false.serialize(serializer),
        }
    }
}

/// Why a row is odd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The columns it is about, the main one first: its name and value are shown before the sentence. If one of them is masked, the
    /// sentence is not shown, so every column whose values it mentions must be among them.
    pub columns: Vec<usize>,
    /// What is odd about the value, such as `highest of all; nine in ten are 5 to 27`.
    pub sentence: String,
}

/// What would make a row ordinary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counterfactual {
    /// The columns whose values the sentence mentions.
    pub columns: Vec<usize>,
    /// The values that they would have.
    pub values: Vec<String>,
    /// The depth of the row after the change.
    pub depth: f64,
    /// The share of the reference that is at most as deep as that.
    pub percentile: f64,
    /// A whole sentence, such as `Would be ordinary with quantity 20 instead of 900.`
    pub sentence: String,
}

/// An ordinary row that is like an odd one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Neighbour {
    /// What the row is called.
    pub name: String,
    /// Its values, one for each column.
    pub cells: Vec<Cell>,
}

/// How the depths were computed, for readers and for an audit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Method {
    /// Whole sentences: which depth, scaled how, compared with what, chosen why.
    pub sentences: Vec<String>,
    /// Settings by name.
    pub settings: Vec<Fact>,
    /// Versions, checksums of data and model, the command: what is needed to repeat it.
    pub audit: Vec<Fact>,
}

/// A name and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Such as `reg` or `SHA-256 of orders.csv`.
    pub name: String,
    /// The value as text.
    pub value: String,
}

impl Fact {
    /// A name and its value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}
