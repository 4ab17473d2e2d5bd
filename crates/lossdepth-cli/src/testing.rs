//! For tests: the readers, on bytes in memory.

use crate::args::Roles;
use crate::load::{Columns, Reading, Table};
use lossdepth::data::Values;

/// All of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents {
    /// What is compared.
    pub names: Vec<String>,
    /// Row after row: numbers, seconds, truth values as 0 and 1, and the codes of texts.
    pub values: Vec<f64>,
    /// One a row, if the table has a label of its own.
    pub labels: Vec<String>,
}

/// Reads a table as a file of this name would be read, so many rows at a time.
///
/// # Errors
///
/// What a user would be told.
pub fn read(name: &str, bytes: Vec<u8>, piece: usize) -> Result<Contents, String> {
    read_labelled(name, bytes, piece, None)
}

/// The same with a column for the label.
///
/// # Errors
///
/// What a user would be told.
pub fn read_labelled(
    name: &str,
    bytes: Vec<u8>,
    piece: usize,
    label: Option<&str>,
) -> Result<Contents, String> {
    let roles = Roles { label: label.map(str::to_owned), ..Roles::default() };
    let mut table = Table::from_bytes(name, bytes, &Reading::default()).map_err(|error| error.to_string())?;
    let columns = Columns::of(&table, &roles).map_err(|error| error.to_string())?;
    let mut contents = Contents { names: columns.names(&table), ..Contents::default() };
    loop {
        let mut rows = table.read(&columns, piece).map_err(|error| error.to_string())?;
        if rows.is_empty() {
            return Ok(contents);
        }
        let typed = rows.take_columns(&contents.names);
        for row in 0..rows.rows {
            contents.values.extend(typed.iter().map(|column| match &column.values {
                Values::Numbers(values) | Values::Times(values) => values[row],
                Values::Booleans(values) => values[row].map_or(f64::NAN, |value| f64::from(u8::from(value))),
                Values::Texts(texts) => f64::from(texts.codes()[row]),
            }));
        }
        contents.labels.append(&mut rows.labels);
    }
}
