//! For tests: the readers, on bytes in memory.

use crate::args::Roles;
use crate::error::Error;
use crate::load::{Block, Columns, Reading, Table, moment};
use clap::Parser;
use lossdepth::data::{CellNoteKind, ColumnKind, Encoding, GroupKind, Values};
use std::fmt::Write;
use std::path::Path;

/// All of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents {
    /// What is compared.
    pub names: Vec<String>,
    /// Row after row: numbers, seconds, truth values as 0 and 1, the codes of texts; NaN for gaps.
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
    let mut contents = Contents::default();
    loop {
        let mut rows = table.read(&columns, piece).map_err(|error| error.to_string())?;
        // Names take memory too: they are copied only if rows can be read.
        if contents.names.is_empty() {
            contents.names = columns.names(&table);
        }
        if rows.is_empty() {
            return Ok(contents);
        }
        let typed = rows.take_columns(&contents.names);
        for row in 0..rows.rows {
            contents.values.extend(typed.iter().map(|column| match &column.values {
                Values::Numbers(values) | Values::Times(values) => values[row],
                Values::Booleans(values) => values[row].map_or(f64::NAN, |value| f64::from(u8::from(value))),
                Values::Texts(texts) if texts.get(row).is_none() => f64::NAN,
                Values::Texts(texts) => f64::from(texts.codes()[row]),
            }));
        }
        contents.labels.append(&mut rows.labels);
    }
}

/// The flags about columns and reading, alone.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    roles: Roles,
}

/// How many rows of a table are shown.
const SHOWN: usize = 4;

/// What a table is taken for: its columns with their kinds, gaps and first values, what is left out, what is noted.
///
/// # Errors
///
/// What a user would be told.
pub fn describe(path: &Path, flags: &str) -> Result<String, String> {
    let flags = std::iter::once("describe").chain(flags.split_whitespace());
    let roles = Flags::try_parse_from(flags).map_err(|error| error.to_string())?.roles;
    described(path, &roles).map_err(|error| match error {
        Error::Input { problem, .. } => problem.to_string(),
        other => other.to_string(),
    })
}

fn described(path: &Path, roles: &Roles) -> Result<String, Error> {
    let mut table = Table::open(path, &roles.reading.reading())?;
    let columns = Columns::of(&table, roles)?;
    let options = columns.options(&table, roles)?;
    let mut piece = table.read(&columns, usize::MAX)?;
    let notes = std::mem::take(&mut piece.notes);
    let (encoding, block) = Block::learn(&table, &columns, piece, &options)?;
    let part = block.whole()?;
    let mut out = format!("rows {}\n", part.rows.len());
    for (at, column) in encoding.columns().iter().enumerate() {
        let values: Vec<String> = (0..part.rows.len().min(SHOWN))
            .map(|row| value(&encoding, &block, at, row, part.rows.row(row)))
            .collect();
        let gaps = if column.gaps() > 0.0 { format!(", {} gaps", column.gaps()) } else { String::new() };
        let levels = match column.levels().len() {
            0 => String::new(),
            n => format!(", {n} levels"),
        };
        let constant = if column.is_constant() { ", constant" } else { "" };
        let _ = writeln!(
            out,
            "{}: {}{gaps}{levels}{constant}: {}",
            column.name(),
            column.kind(),
            values.join(" | ")
        );
    }
    for left in encoding.left_out() {
        let id = if encoding.id() == Some(&left.name) { ", the row's name" } else { "" };
        let _ = writeln!(out, "{}: left out ({}){id}", left.name, left.why);
    }
    if let Some(ids) = part.ids {
        let _ = writeln!(out, "ids: {}", ids.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(" | "));
    }
    let unread = block.notes.iter().filter(|note| matches!(note.what, CellNoteKind::Unread(_))).count();
    if unread > 0 {
        let _ = writeln!(out, "unread: {unread}");
    }
    if block.repeated() > 0 {
        let _ = writeln!(out, "repeated rows: {}", block.repeated());
    }
    for note in table.notes().iter().chain(&notes) {
        let _ = writeln!(out, "note: {note}");
    }
    Ok(out)
}

/// A cell as it is compared: a number, a date or a level.
fn value(encoding: &Encoding, block: &Block, column: usize, row: usize, encoded: &[f64]) -> String {
    let learned = &encoding.columns()[column];
    let Some(cell) = block.cell(row, column, encoding) else { return "gap".to_owned() };
    let is_value = |kind| kind == GroupKind::Number;
    let group =
        encoding.layout().groups().iter().find(|group| group.column == column && is_value(group.kind));
    match (group, learned.kind()) {
        (Some(group), ColumnKind::Time) => moment((encoded[group.start] * 86400.0 * 1e3).round() / 1e3),
        (Some(group), _) => encoded[group.start].to_string(),
        (None, _) => cell,
    }
}
