//! Tables as they are: columns of numbers, texts, booleans and times, with gaps.

mod boolean;
mod cells;
mod code;
mod column;
mod date;
mod donors;
mod duration;
mod encoded;
mod encoding;
mod gap;
mod gap_code;
mod guess;
mod kind;
mod learn;
mod left_out;
mod levels;
mod number;
mod options;
mod part;
mod quantiles;
mod stack;
mod write;

pub use column::EncodedColumn;
pub use encoded::{CellNote, CellNoteKind, Encoded};
pub use encoding::Encoding;
pub use kind::ColumnKind;
pub use left_out::{LeftOut, LeftOutReason};
pub use levels::Level;
pub use options::{EncodingOptions, Missing};
pub use quantiles::Quantiles;

use crate::error::{DepthError, Result};
use std::collections::HashMap;

/// The values of a column as they were read, before anyone says what kind of column it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers; NaN is a gap.
    Numbers(Vec<f64>),
    /// Texts, each different one stored once.
    Texts(Texts),
    /// Truth values; `None` is a gap.
    Booleans(Vec<Option<bool>>),
    /// Times in seconds since the beginning of 1970, without a time zone; NaN is a gap.
    Times(Vec<f64>),
}

impl Values {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Times(values) => values.len(),
            Self::Texts(texts) => texts.codes().len(),
            Self::Booleans(values) => values.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Texts of a column, each different one stored once.
///
/// ```
/// use lossdepth::data::Texts;
/// let mut texts = Texts::default();
/// for text in [Some("north"), None, Some("south"), Some("north")] {
///     texts.push(text);
/// }
/// assert_eq!(texts.codes(), [0, Texts::GAP, 1, 0]);
/// assert_eq!(texts.get(2), Some("south"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Texts {
    levels: Vec<String>,
    codes: Vec<u32>,
    index: HashMap<String, u32>,
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        (&self.levels, &self.codes) == (&other.levels, &other.codes)
    }
}

impl Texts {
    /// The code of a gap.
    pub const GAP: u32 = u32::MAX;

    /// Adds a row.
    pub fn push(&mut self, text: Option<&str>) {
        let code = text.map_or(Self::GAP, |text| self.code_of(text));
        self.codes.push(code);
    }

    /// Gives back the memory that only more rows would need.
    pub fn shrink_to_fit(&mut self) {
        self.index = HashMap::new();
        self.levels.shrink_to_fit();
        self.codes.shrink_to_fit();
    }

    fn code_of(&mut self, text: &str) -> u32 {
        if self.index.len() < self.levels.len() {
            self.index = self.levels.iter().cloned().zip(0..).collect();
        }
        if let Some(&code) = self.index.get(text) {
            return code;
        }
        // A table of 2^32 different texts does not fit into memory.
        let code = u32::try_from(self.levels.len()).unwrap_or(Self::GAP);
        self.levels.push(text.to_owned());
        self.index.insert(text.to_owned(), code);
        code
    }

    /// The different texts, in the order in which they came first.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// For each row the number of its text among the [`levels`](Self::levels), or [`GAP`](Self::GAP).
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The text of a row; `None` is a gap.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.levels.get(self.codes[row] as usize).map(String::as_str)
    }
}

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name; its number, from 0, where the table has no names.
    pub name: String,
    /// A value for each row.
    pub values: Values,
}

/// A table in memory: columns of the same length with different names.
///
/// ```
/// use lossdepth::data::{Column, Table, Values};
/// let price = Column { name: "price".into(), values: Values::Numbers(vec![2.5, f64::NAN]) };
/// let table = Table::new(vec![price])?;
/// assert_eq!((table.rows(), table.column("price").is_some()), (2, true));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: usize,
    durations: Vec<String>,
}

impl Table {
    /// A table of these columns.
    ///
    /// # Errors
    /// No column, columns of different length, or two of the same name.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        let Some(first) = columns.first() else { return Err(DepthError::NoColumns) };
        let rows = first.values.len();
        let mut names = HashMap::new();
        for (at, column) in columns.iter().enumerate() {
            let got = column.values.len();
            if got != rows {
                return Err(DepthError::Table(format!(
                    "column `{}` has {got} rows, `{}` has {rows}",
                    column.name, first.name
                )));
            }
            if let Some(other) = names.insert(column.name.as_str(), at) {
                return Err(DepthError::Table(format!(
                    "columns {other} and {at} are both called `{}`",
                    column.name
                )));
            }
        }
        Ok(Self { columns, rows, durations: Vec::new() })
    }

    /// The same, where the numbers of these columns are lengths of time in days. They are shown as such.
    #[must_use]
    pub fn with_durations(self, durations: Vec<String>) -> Self {
        Self { durations, ..self }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}
