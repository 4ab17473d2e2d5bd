//! `lossdepth methods`: the tables of methods and settings.

use super::Outcome;
use crate::error::Result;
use crate::settings::{flag_name, sentence};
use crate::write;
use lossdepth::model::{Kind, Range, Setting, Value};
use lossdepth::{Method, Settings};

pub(crate) fn list() -> Result<Outcome> {
    write::print(&page())?;
    Ok(Outcome::Done)
}

fn page() -> String {
    let methods: String = Method::ALL.map(about).concat();
    let settings: Vec<_> = Setting::ALL.iter().map(|s| vec![flag_name(s.name), help(s)]).collect();
    format!("Methods and their defaults\n\n{methods}Settings\n\n{}", table(&settings))
}

/// The summary of the method, then its settings, six to a line.
fn about(method: Method) -> String {
    let settings = Settings::new(method).values();
    let settings = settings.iter().filter(|(_, value)| *value != Value::None);
    let words: Vec<String> = settings.map(|(name, value)| format!("{} {value}", flag_name(name))).collect();
    let lines: Vec<String> = words.chunks(6).map(|line| line.join(", ")).collect();
    format!("  {method}: {}\n      {}\n\n", method.summary(), lines.join(",\n      "))
}

/// The help sentence, and the names to choose from or the range.
fn help(setting: &Setting) -> String {
    let help = sentence(setting);
    match (setting.kind, setting.range) {
        (Kind::Choice(names), _) => format!("{help}: {}", names.join(", ")),
        (_, Range::Any) => help,
        (_, range) => format!("{help} [{range}]"),
    }
}

/// How wide a column can be: what is wider is not padded.
pub(super) const WIDEST: usize = u16::MAX as usize;

/// Aligned columns, indented.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0).min(WIDEST)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
