//! Model files: read here for every command that takes one.

use crate::error::{Error, Problem, Result};
use lossdepth::Model;
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

    /// Makes the model ready, within half of the memory of this machine unless something else was said.
    pub(crate) fn model(self, memory: Option<f64>) -> Result<Model> {
        let Self { file, archive, .. } = self;
        let memory = memory.or(archive.settings().memory).or_else(lossdepth_files::memory::half);
        let model = archive.memory(memory).model();
        model.map_err(|e| Error::Input { file, problem: Problem::Depth(e) })
    }
}
