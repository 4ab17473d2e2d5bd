//! The data, and the sample it is compared with, all in memory.

use super::{fit_to, open, reference};
use crate::args::Roles;
use crate::console;
use crate::error::{Error, Result};
use crate::load::{Columns, Part, Piece, Table, list, pair};
use lossdepth::{DepthError, Model, Reference, Settings};
use std::path::Path;

/// A table that was read, and what may have to be said about it.
pub(super) struct Read {
    table: Table,
    columns: Columns,
    piece: Piece,
}

impl Read {
    fn new(mut table: Table, columns: Columns) -> Result<Self> {
        let piece = table.read(&columns, usize::MAX)?;
        Ok(Self { table, columns, piece })
    }

    pub(super) fn file(&self) -> &str {
        self.table.file()
    }

    pub(super) fn part(&self) -> Result<Part<'_>> {
        Ok(self.piece.whole()?)
    }

    /// The names of what is compared.
    pub(super) fn names(&self) -> Vec<String> {
        self.columns.names(&self.table)
    }

    /// Gives an error of the library its place in the file.
    pub(super) fn locate(&self, error: DepthError) -> Error {
        match self.piece.whole() {
            Ok(part) => self.table.locate(&part, &self.columns, error),
            Err(_) => Error::Depth(error),
        }
    }
}

/// One table that is its own reference, or two.
pub(super) struct Inputs {
    sample: Read,
    data: Option<Read>,
    pub(super) reference: Reference,
}

impl Inputs {
    pub(super) fn read(data: &Path, against: Option<&Path>, roles: &Roles, quiet: bool) -> Result<Self> {
        let (sample, data) = match against {
            None => {
                let table = open(data, roles, quiet)?;
                let columns = Columns::of(&table, roles)?;
                (Read::new(table, columns)?, None)
            }
            Some(against) => {
                if against == data && data.as_os_str() == "-" {
                    let problem = "only one of the data and the reference can be standard input";
                    return Err(Error::Usage(problem.to_owned()));
                }
                let (sample, data) = (open(against, roles, quiet)?, open(data, roles, quiet)?);
                let (ours, theirs) = pair(&sample, &data, roles)?;
                let unused = theirs.unused(&data);
                if roles.columns.is_none() && !unused.is_empty() {
                    let (from, to, names) = (data.file(), sample.file(), list(&unused));
                    console::note(quiet, format_args!("note: {from}: not in {to}, so left out: {names}"));
                }
                (Read::new(sample, ours)?, Some(Read::new(data, theirs)?))
            }
        };
        let reference = reference(&sample.part()?, sample.piece.weights()).map_err(|e| sample.locate(e))?;
        Ok(Self { sample, data, reference })
    }

    /// The rows that are asked about.
    pub(super) fn data(&self) -> &Read {
        self.data.as_ref().unwrap_or(&self.sample)
    }

    /// What they are compared with.
    pub(super) fn sample(&self) -> &Read {
        &self.sample
    }

    pub(super) fn is_its_own_reference(&self) -> bool {
        self.data.is_none()
    }

    pub(super) fn fit(&self, settings: &Settings) -> Result<Model> {
        let model = fit_to(settings, &self.reference).map_err(|error| self.sample.locate(error))?;
        if let Some(warning) = model.warning() {
            console::warning(warning);
        }
        Ok(model)
    }
}
