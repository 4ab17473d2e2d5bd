//! A file for each command, and what they share: opening a table, fitting a model to it.

mod announce;
pub(crate) mod central;
pub(crate) mod compare;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod info;
mod inputs;
pub(crate) mod labels;
pub(crate) mod methods;
pub(crate) mod model;
mod oddest;
pub(crate) mod outliers;
mod parts;
pub(crate) mod plot;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod score;
pub(crate) mod shell;

use crate::args::{Question, Roles};
use crate::console;
use crate::error::{Error, Result};
use crate::load::{Block, Columns, Table, is_numeric, list};
use lossdepth::data::Encoding;
use lossdepth::{DepthError, Method, Model, Preset, Reference, Scale, Settings};
use std::path::Path;

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Done, but some rows have a larger error than asked for.
    NotConverged,
}

/// Opens a table, and says what was found out about it.
fn open(path: &Path, roles: &Roles, quiet: bool) -> Result<Table> {
    let table = Table::open(path, &roles.reading.reading())?;
    tell(table.file(), &opened(&table), quiet);
    Ok(table)
}

/// What is to be known of how a table was opened.
fn opened(table: &Table) -> Vec<String> {
    let taken = if table.has_header() {
        "the header; if it is data, say --no-header"
    } else {
        "data, and columns are called by number; if it is the header, say --header"
    };
    let doubt = table.doubtful_header().map(|line| format!("line {line} is taken for {taken}"));
    table.notes().iter().cloned().chain(doubt).collect()
}

fn tell(file: &str, notes: &[String], quiet: bool) {
    for note in notes {
        console::note(quiet, format_args!("note: {file}: {note}"));
    }
}

/// Reads a sample, learns how to encode it, and says what is compared.
fn learn(table: &mut Table, columns: &Columns, roles: &Roles, quiet: bool) -> Result<(Encoding, Block)> {
    let options = columns.options(table, roles)?;
    let piece = table.read(columns, usize::MAX)?;
    tell(table.file(), &piece.notes, quiet);
    let (encoding, block) = Block::learn(table, columns, piece, &options)?;
    announce::sample(table.file(), &encoding, &block, quiet);
    Ok((encoding, block))
}

/// Fits a model to a sample, within half of the memory of this machine unless something else was said.
fn fit(question: &Question, sample: &Reference, encoding: &Encoding) -> Result<Result<Model, DepthError>> {
    let settings = question.settings(sample)?;
    check_method(&settings, encoding)?;
    warn_of_cost(&settings, sample);
    warn_of_spreads(&settings, question.given.preset_name(), sample, encoding);
    check_memory(&settings, sample)?;
    let plain = encoding.is_plain();
    let model = within_memory(&settings).fit(sample);
    Ok(model.map(|model| if plain { model } else { model.with_encoding(encoding.clone()) }))
}

/// Refuses categories where the method wants numbers.
fn check_method(settings: &Settings, encoding: &Encoding) -> Result<()> {
    if !settings.method.numbers_only() || is_numeric(encoding) {
        return Ok(());
    }
    let columns = encoding.columns().iter().filter(|column| column.quantiles().is_none());
    let names: Vec<String> = columns.map(|column| column.name().to_owned()).collect();
    let method = settings.method;
    Err(Error::Usage(match &names[..] {
        [] => format!(
            "method `{method}` compares complete numbers only: `--missing drop` leaves rows with gaps out"
        ),
        names => format!(
            "method `{method}` compares numbers only, and {} {}: leave {} out with --exclude, or take another method such as \
             `forest`",
            list(names),
            if names.len() == 1 { "is a category" } else { "are categories" },
            if names.len() == 1 { "it" } else { "them" }
        ),
    }))
}

/// From so many columns on, a forest of all trees is warned of. The number is a heuristic and not derived from measurements.
const MANY_COLUMNS: usize = 10_000;

/// Says before the work starts what may take very long, and what to do instead.
fn warn_of_cost(settings: &Settings, sample: &Reference) {
    let width = sample.width();
    if settings.method == Method::Forest && settings.trees == 0 && width >= MANY_COLUMNS {
        console::warning(format_args!(
            "the forest of all trees may take very long with {width} columns; `--trees 1000` draws as many at random"
        ));
    }
}

/// Says that columns are compared as they are though one varies far more than another; the paper's settings do so on purpose.
fn warn_of_spreads(settings: &Settings, preset: Option<Preset>, sample: &Reference, encoding: &Encoding) {
    let of_paper = preset.is_some_and(Preset::is_of_paper);
    if let Some(found) = settings.unequal_spreads(sample).filter(|_| !of_paper) {
        console::warning(found.in_words(&inputs::names_of(encoding)));
    }
}

/// Refuses a fit for which there is not enough memory, as far as that can be foreseen: two copies of the reference, scaled and
/// prepared, and for a scaling by a matrix the correlations, their roots and the map.
fn check_memory(settings: &Settings, sample: &Reference) -> Result<()> {
    let (rows, columns) = (sample.len() as u64, sample.width() as u64);
    let matrices = if matches!(settings.scale, Scale::Whiten | Scale::Mcd) { 4 } else { 0 };
    let copies = rows.saturating_mul(columns).saturating_mul(2);
    let bytes =
        columns.saturating_mul(columns).saturating_mul(matrices).saturating_add(copies).saturating_mul(8);
    if lossdepth_files::memory::is_available(bytes) {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "not enough memory to fit {rows} rows of {columns} columns with scale `{}`: at least {} MB more are needed",
        settings.scale,
        bytes.div_ceil(1_000_000)
    )))
}

/// The same settings, with half of the memory of this machine unless something else was said.
pub(crate) fn within_memory(settings: &Settings) -> Settings {
    Settings { memory: settings.memory.or_else(lossdepth_files::memory::half), ..settings.clone() }
}

/// The settings in a line.
fn summary(settings: &Settings) -> String {
    settings.relevant_values().iter().fold(settings.method.to_string(), |line, (name, value)| {
        format!("{line}, {} {value}", name.replace('_', " "))
    })
}
