//! The data, and the sample it is compared with, all in memory.

use super::announce::Tally;
use super::model::Saved;
use super::{check_method, learn, open, opened, tell, warn_of_cost, warn_of_spreads, within_memory};
use crate::args::{Against, Question, Roles};
use crate::console;
use crate::error::{Error, Result};
use crate::load::{Block, Columns, Part, Table, fitting, list, pair};
use lossdepth::data::{Encoding, ReferenceRows};
use lossdepth::{DepthError, Method, Model, Reference, Settings};
use std::path::Path;

/// A table that was read, and what may have to be said about it.
pub(super) struct Read {
    table: Table,
    columns: Columns,
    pub(super) block: Block,
}

impl Read {
    /// Reads data that goes with an encoding.
    fn new(mut table: Table, columns: Columns, encoding: &Encoding, quiet: bool) -> Result<Self> {
        let piece = table.read(&columns, usize::MAX)?;
        tell(table.file(), &piece.notes, quiet);
        let block = Block::encode(&table, &columns, piece, encoding)?;
        Tally::of(&block).tell(table.file(), encoding, quiet);
        Ok(Self { table, columns, block })
    }

    /// What is to be known of how it was read.
    fn notes(&self) -> impl Iterator<Item = String> {
        opened(&self.table).into_iter().chain(self.block.reading.iter().cloned())
    }

    pub(super) fn file(&self) -> &str {
        self.table.file()
    }

    /// The names of all columns, compared or not.
    pub(super) fn names(&self) -> &[String] {
        self.table.names()
    }

    pub(super) fn part(&self) -> Result<Part<'_>> {
        Ok(self.block.whole()?)
    }

    /// Gives an error of the library its place in the file.
    pub(super) fn locate(&self, encoding: &Encoding, error: DepthError) -> Error {
        self.block.locate(&self.table, &self.columns, encoding, error)
    }
}

/// One table that is its own reference, or one and what it is compared with.
pub(super) struct Inputs {
    /// The rows that are asked about.
    pub(super) data: Read,
    source: Source,
    /// What they are compared with.
    pub(super) reference: Reference,
    /// How both became rows of numbers.
    pub(super) encoding: Encoding,
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
                let mut table = open(data, roles, quiet)?;
                let columns = Columns::of(&table, roles)?;
                let (encoding, block) = learn(&mut table, &columns, roles, quiet)?;
                let mut data = Read { table, columns, block };
                let reference = sample(&mut data, &encoding)?;
                let names = names_of(&encoding);
                Ok(Self { reference, data, source: Source::Itself, encoding, names })
            }
        }
    }

    fn with_reference(data: &Path, against: &Path, roles: &Roles, quiet: bool) -> Result<Self> {
        let (mut other, data) = open_both(against, data, roles, quiet)?;
        let ours = Columns::of_reference(&other, &data, roles)?;
        let (encoding, block) = learn(&mut other, &ours, roles, quiet)?;
        let theirs = pair(&other, &ours, &data, roles, &encoding)?;
        note_unused(&data, &theirs, roles, &encoding, other.file(), quiet);
        let mut other = Read { table: other, columns: ours, block: block.encoded() };
        let data = Read::new(data, theirs, &encoding, quiet)?;
        let (reference, names) = (sample(&mut other, &encoding)?, names_of(&encoding));
        Ok(Self { reference, data, source: Source::Table(Box::new(other)), encoding, names })
    }

    fn with_model(data: &Path, model: &Path, roles: &Roles, quiet: bool) -> Result<Self> {
        let saved = Saved::open(model)?;
        let data = open(data, roles, quiet)?;
        let (encoding, named) = saved.encoding(roles)?;
        let reference = saved.archive.reference().clone();
        let columns = fitting(&data, roles, &encoding, named, saved.file())?;
        note_unused(&data, &columns, roles, &encoding, saved.file(), quiet);
        let names = if named { names_of(&encoding) } else { columns.names(&data) };
        let data = Read::new(data, columns, &encoding, quiet)?;
        let (file, settings) = (saved.file().to_owned(), Box::new(saved.archive.settings().clone()));
        let source = Source::Model { file, settings, saved: Some(Box::new(saved)) };
        Ok(Self { data, source, reference, encoding, names })
    }

    /// What is to be known of how the tables were read.
    pub(super) fn reading_notes(&self, roles: &Roles) -> Vec<String> {
        let mut notes: Vec<String> = self.data.notes().collect();
        if !self.is_its_own_reference() {
            let (data, file) = (&self.data, self.reference_file());
            notes.extend(unused(&data.table, &data.columns, roles, &self.encoding, file));
        }
        if let Some(other) = self.other() {
            notes.extend(other.notes().map(|note| format!("{}: {note}", other.file())));
        }
        notes
    }

    /// What is to be known of cells that are not simply a value.
    pub(super) fn cell_notes(&self) -> Vec<String> {
        let block = &self.data.block;
        let own = self.is_its_own_reference();
        let tally = if own { Tally::of_reference(block) } else { Tally::of(block) };
        let mut notes = tally.lines(&self.encoding);
        if let Some(other) = self.other() {
            let lines = Tally::of_reference(&other.block).lines(&self.encoding);
            notes.extend(lines.into_iter().map(|note| format!("{}: {note}", other.file())));
        }
        notes
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

    /// The table that the data are compared with, if it is another one.
    pub(super) fn other(&self) -> Option<&Read> {
        if let Source::Table(other) = &self.source { Some(other) } else { None }
    }

    /// Forgets the names of the rows where the table as it was read has them too: a text each takes much memory.
    pub(super) fn without_copied_ids(&mut self, roles: &Roles) {
        if roles.id.is_none() {
            self.data.block.without_copied_ids(&self.encoding);
        }
    }

    /// The ids of the rows of the reference, if they are known.
    pub(super) fn reference_ids(&self) -> Result<Option<&[String]>> {
        Ok(if self.is_its_own_reference() { self.data.part()?.ids } else { None })
    }

    /// Gives an error about the data its place in the file.
    pub(super) fn locate(&self, error: DepthError) -> Error {
        self.data.locate(&self.encoding, error)
    }

    /// Gives an error about the reference its place in the file.
    pub(super) fn locate_reference(&self, error: DepthError) -> Error {
        match &self.source {
            Source::Itself => self.data.locate(&self.encoding, error),
            Source::Table(other) => other.locate(&self.encoding, error),
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
            check_method(&settings, &self.encoding)?;
            if settings.method != Method::Auto && settings.reference_rows != ReferenceRows::All {
                return Err(Error::Usage(format!(
                    "`--reference-rows` with method `{}` goes with `score` and `fit`; what `fit` saves can be given as --model",
                    settings.method
                )));
            }
            warn_of_cost(&settings, &self.reference);
            warn_of_spreads(&settings, question.given.preset_name(), &self.reference, &self.encoding);
            let fitted = within_memory(&settings).fit(&self.reference);
            fitted.map_err(|error| self.locate_reference(error))?
        };
        if let Some(warning) = model.warning() {
            console::warning(warning);
        }
        Ok(model)
    }
}

fn sample(read: &mut Read, encoding: &Encoding) -> Result<Reference> {
    let sample = read.block.reference(encoding);
    sample.map_err(|error| read.locate(encoding, error))
}

/// The names of the columns that are compared.
pub(super) fn names_of(encoding: &Encoding) -> Vec<String> {
    encoding.columns().iter().map(|column| column.name().to_owned()).collect()
}

/// Opens the table to compare with, and the data.
pub(super) fn open_both(against: &Path, data: &Path, roles: &Roles, quiet: bool) -> Result<(Table, Table)> {
    if against == data && data.as_os_str() == "-" {
        return Err(Error::Usage("only one of the data and the reference can be standard input".to_owned()));
    }
    Ok((open(against, roles, quiet)?, open(data, roles, quiet)?))
}

/// Says which columns are left out without anyone having asked for it.
pub(super) fn note_unused(
    data: &Table,
    columns: &Columns,
    roles: &Roles,
    encoding: &Encoding,
    other: &str,
    quiet: bool,
) {
    if let Some(note) = unused(data, columns, roles, encoding, other) {
        tell(data.file(), &[note], quiet);
    }
}

/// The columns that are left out without anyone having asked for it.
fn unused(
    data: &Table,
    columns: &Columns,
    roles: &Roles,
    encoding: &Encoding,
    other: &str,
) -> Option<String> {
    let mut unused = columns.unused(data);
    let known = |name: &String| {
        encoding.left_out().iter().any(|left| left.name == *name)
            || roles.exclude().contains(name)
            || roles.weights.as_ref() == Some(name)
    };
    unused.retain(|name| !known(name));
    let any = roles.columns.is_none() && !unused.is_empty();
    any.then(|| format!("not in {other}, so left out: {}", list(&unused)))
}
