//! A file for each command, and what they share: opening a table, fitting a model to it.

pub(crate) mod explain;
mod inputs;
pub(crate) mod methods;
pub(crate) mod plot;
pub(crate) mod score;

use crate::args::Roles;
use crate::console;
use crate::error::Result;
use crate::load::{Part, Table};
use crate::settings::half_of_memory;
use lossdepth::{DepthError, Model, Reference, Settings};
use std::path::Path;

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Done, but some rows have a larger error than asked for.
    NotConverged,
}

/// Opens a table, and says so where its first line could be a header or data.
fn open(path: &Path, roles: &Roles, quiet: bool) -> Result<Table> {
    let table = Table::open(path, roles.header())?;
    if let Some(line) = table.doubtful_header() {
        let file = table.file();
        console::note(
            quiet,
            format_args!("note: {file}: line {line} is taken for the header; if it is data, say --no-header"),
        );
    }
    Ok(table)
}

/// Fits a model to a sample, within half of the memory of this machine unless something else was said.
fn fit(settings: &Settings, sample: &Part<'_>, weights: Option<&[f64]>) -> Result<Model, DepthError> {
    fit_to(settings, &reference(sample, weights)?)
}

/// The sample that rows are compared with.
fn reference(sample: &Part<'_>, weights: Option<&[f64]>) -> Result<Reference, DepthError> {
    match weights {
        Some(weights) => Reference::weighted(&sample.rows, weights),
        None => Reference::new(&sample.rows),
    }
}

/// As [`fit`], to a sample that has been checked.
fn fit_to(settings: &Settings, reference: &Reference) -> Result<Model, DepthError> {
    let memory = settings.memory.or_else(half_of_memory);
    Settings { memory, ..settings.clone() }.fit(reference)
}
