//! Model files: read here for every command that takes one.

use crate::args::Roles;
use crate::error::{Error, Problem, Result};
use lossdepth::Model;
use lossdepth::data::{Column, Encoding, EncodingOptions, Table, Values};
use lossdepth::model::archive::Archive;
use std::io;
use std::path::Path;

/// A model file that was read and found in order.
pub(crate) struct Saved {
    file: String,
    pub(crate) archive: Archive,
    /// How many bytes the file has.
    pub(crate) size: usize,
}

impl Saved {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let problem = |problem| Error::Input { file: file.clone(), problem };
        let bytes = std::fs::read(path).map_err(|e| {
            problem(match e.kind() {
                io::ErrorKind::NotFound => Problem::Missing,
                io::ErrorKind::IsADirectory => Problem::Directory,
                _ => Problem::Read(e),
            })
        })?;
        let archive = Archive::from_bytes(&bytes).map_err(|e| problem(Problem::Depth(e)))?;
        Ok(Self { file, archive, size: bytes.len() })
    }

    /// The name of the file, for messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// How tables are encoded for it, and whether its columns have names. A model of rows of numbers takes tables of
    /// numbers; what goes for gaps in them is learned on its reference.
    pub(crate) fn encoding(&self, roles: &Roles) -> Result<(Encoding, bool)> {
        if let Some(encoding) = self.archive.encoding() {
            return Ok((encoding.clone(), true));
        }
        let (names, reference) = (self.archive.column_names(), self.archive.reference());
        let column = |j: usize| Column {
            name: names.map_or_else(|| j.to_string(), |names| names[j].clone()),
            values: Values::Numbers(reference.rows().iter().map(|row| row[j]).collect()),
        };
        let options = EncodingOptions {
            missing: roles.missing,
            gap_words: roles.reading.gaps(),
            guess: false,
            ..EncodingOptions::default()
        };
        let learned = Table::new((0..reference.width()).map(column).collect())
            .and_then(|table| Encoding::learn(&table, reference.given_weights(), &options));
        let problem = |e| Error::Input { file: self.file.clone(), problem: Problem::Depth(e) };
        Ok((learned.map_err(problem)?.0, names.is_some()))
    }

    /// Makes the model ready, within half of the memory of this machine unless something else was said.
    pub(crate) fn model(self, memory: Option<f64>) -> Result<Model> {
        let Self { file, archive, .. } = self;
        let memory = memory.or(archive.settings().memory).or_else(lossdepth_files::memory::half);
        let model = archive.memory(memory).model();
        model.map_err(|e| Error::Input { file, problem: Problem::Depth(e) })
    }
}
