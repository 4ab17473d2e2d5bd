//! Figures into files: the format by extension, the file complete or not there at all.

use super::Whole;
use crate::error::{Error, Result};
use lossdepth_plot::{Format, Scene};
use std::path::PathBuf;

/// The file of a picture.
#[derive(Debug, Clone)]
pub(crate) struct PictureTarget {
    path: PathBuf,
    format: Format,
}

impl PictureTarget {
    /// The extension is the format.
    pub(crate) fn parse(path: &str) -> Result<Self, String> {
        let lower = path.to_lowercase();
        let format = match lower.rsplit_once('.') {
            Some((_, "png")) => Format::Png,
            Some((_, "svg")) => Format::Svg,
            _ => return Err("the name must end in .png or .svg".into()),
        };
        Ok(Self { path: PathBuf::from(path), format })
    }

    /// Creates a temporary file, so that a folder that cannot be written to is reported before the computation.
    pub(crate) fn open(&self) -> Result<PictureFile> {
        Ok(PictureFile { file: Whole::open(&self.path)?, format: self.format })
    }
}

/// A picture file under its temporary name.
pub(crate) struct PictureFile {
    file: Whole,
    format: Format,
}

impl PictureFile {
    /// Writes the scene and gives the file its name.
    pub(crate) fn draw(self, scene: &Scene) -> Result<()> {
        let bytes = scene.encode(self.format).map_err(|why| Error::Usage(format!("cannot draw: {why}")))?;
        self.file.write(&bytes)
    }
}
