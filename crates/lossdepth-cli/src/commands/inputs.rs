//! The data, and the sample it is compared with, all in memory.

use super::model::Saved;
use super::{open, reference, warn_of_cost, within_memory};
use crate::args::{Against, Question, Roles};
use crate::console;
use crate::error::{Error, Result};
use crate::load::{Columns, Part, Piece, Table, fitting, list, pair};
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

    /// Gives an error of the library its place in the file.
    pub(super) fn locate(&self, error: DepthError) -> Error {
        match self.piece.whole() {
            Ok(part) => self.table.locate(&part, &self.columns, error),
            Err(_) => Error::Depth(error),
        }
    }
}

/// One table that is its own reference, or one and what it is compared with.
pub(super) struct Inputs {
    /// The rows that are asked about.
    pub(super) data: Read,
    source: Source,
    /// What they are compared with.
    pub(super) reference: Reference,
    /// The names of what is compared.
    pub(super) names: Vec<String>,
}

enum Source {
    Itself,
    Table(Box<Read>),
    Model { file: String, settings: Box<Settings>, saved: Option<Box<Saved>> },
}

impl Inputs {
    pub(super) fn read(data: &Path, against: &Against, roles: &Roles, quiet: bool) -> Result<Self> {
        match (&against.reference, &against.model) {
            (Some(reference), _) => Self::with_reference(data, reference, roles, quiet),
            (None, Some(model)) => Self::with_model(data, model, roles, quiet),
            (None, None) => {
                let table = open(data, roles, quiet)?;
                let columns = Columns::of(&table, roles)?;
                let names = columns.names(&table);
                let data = Read::new(table, columns)?;
                Ok(Self { reference: sample(&data)?, data, source: Source::Itself, names })
            }
        }
    }

    fn with_reference(data: &Path, against: &Path, roles: &Roles, quiet: bool) -> Result<Self> {
        let (other, data) = open_both(against, data, roles, quiet)?;
        let (ours, theirs) = pair(&other, &data, roles)?;
        note_unused(&data, &theirs, roles, other.file(), quiet);
        let names = ours.names(&other);
        let (other, data) = (Read::new(other, ours)?, Read::new(data, theirs)?);
        Ok(Self { reference: sample(&other)?, data, source: Source::Table(Box::new(other)), names })
    }

    fn with_model(data: &Path, model: &Path, roles: &Roles, quiet: bool) -> Result<Self> {
        let saved = Saved::open(model)?;
        let data = open(data, roles, quiet)?;
        let (names, reference) = (saved.archive.column_names(), saved.archive.reference().clone());
        let columns = fitting(&data, roles, names, reference.width(), saved.file())?;
        note_unused(&data, &columns, roles, saved.file(), quiet);
        let names = names.map_or_else(|| columns.names(&data), <[String]>::to_vec);
        let data = Read::new(data, columns)?;
        let (file, settings) = (saved.file().to_owned(), Box::new(saved.archive.settings().clone()));
        Ok(Self {
            data,
            source: Source::Model { file, settings, saved: Some(Box::new(saved)) },
            reference,
            names,
        })
    }

    pub(super) fn is_its_own_reference(&self) -> bool {
        matches!(self.source, Source::Itself)
    }

    /// The name of the file with the reference.
    pub(super) fn reference_file(&self) -> &str {
        match &self.source {
            Source::Itself => self.data.file(),
            Source::Table(other) => other.file(),
            Source::Model { file, .. } => file,
        }
    }

    /// The ids of the rows of the reference, if they are known.
    pub(super) fn reference_ids(&self) -> Result<Option<&[String]>> {
        Ok(if self.is_its_own_reference() { self.data.part()?.ids } else { None })
    }

    /// Gives an error about the reference its place in the file.
    pub(super) fn locate_reference(&self, error: DepthError) -> Error {
        match &self.source {
            Source::Itself => self.data.locate(error),
            Source::Table(other) => other.locate(error),
            Source::Model { .. } => Error::Depth(error),
        }
    }

    /// The method and its settings: those of the model, if there is one.
    pub(super) fn settings(&self, question: &Question) -> Result<Settings> {
        match &self.source {
            Source::Model { settings, .. } => Ok((**settings).clone()),
            _ => question.settings(&self.reference),
        }
    }

    /// Fits, or makes ready what was fitted before.
    pub(super) fn model(&mut self, question: &Question) -> Result<Model> {
        let saved = if let Source::Model { saved, .. } = &mut self.source { saved.take() } else { None };
        let model = if let Some(saved) = saved {
            saved.model(question.given.memory())?
        } else {
            let settings = self.settings(question)?;
            warn_of_cost(&settings, &self.reference);
            let fitted = within_memory(&settings).fit(&self.reference);
            fitted.map_err(|error| self.locate_reference(error))?
        };
        if let Some(warning) = model.warning() {
            console::warning(warning);
        }
        Ok(model)
    }
}

fn sample(read: &Read) -> Result<Reference> {
    reference(&read.part()?, read.piece.weights()).map_err(|error| read.locate(error))
}

/// Opens the table to compare with, and the data.
pub(super) fn open_both(against: &Path, data: &Path, roles: &Roles, quiet: bool) -> Result<(Table, Table)> {
    if against == data && data.as_os_str() == "-" {
        return Err(Error::Usage("only one of the data and the reference can be standard input".to_owned()));
    }
    Ok((open(against, roles, quiet)?, open(data, roles, quiet)?))
}

/// Says which columns are left out without anyone having asked for it.
pub(super) fn note_unused(data: &Table, columns: &Columns, roles: &Roles, other: &str, quiet: bool) {
    let unused = columns.unused(data);
    if roles.columns.is_none() && !unused.is_empty() {
        let (file, names) = (data.file(), list(&unused));
        console::note(quiet, format_args!("note: {file}: not in {other}, so left out: {names}"));
    }
}
