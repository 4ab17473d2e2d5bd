//! A table, with commas or tabs.

use super::{About, Export};
use crate::auc::Auc;
use crate::load::Part;
use csv::{Writer, WriterBuilder};
use lossdepth::Fit;
use std::io::{self, Write};

#[derive(Debug)]
pub(super) struct Table {
    delimiter: u8,
}

impl Table {
    pub(super) fn commas() -> Self {
        Self { delimiter: b',' }
    }

    pub(super) fn tabs() -> Self {
        Self { delimiter: b'\t' }
    }

    fn writer<'a>(&self, out: &'a mut dyn Write) -> Writer<&'a mut dyn Write> {
        WriterBuilder::new().delimiter(self.delimiter).from_writer(out)
    }

    fn write_head(&self, out: &mut dyn Write, about: &About) -> csv::Result<()> {
        let mut writer = self.writer(out);
        let label = about.labelled.then_some("label");
        writer.write_record(["row", "depth", "error", "stderr"].into_iter().chain(label))?;
        Ok(writer.flush()?)
    }

    fn write_rows(&self, out: &mut dyn Write, part: &Part<'_>, fits: &[Fit]) -> csv::Result<()> {
        let mut writer = self.writer(out);
        for (i, fit) in fits.iter().enumerate() {
            match part.ids {
                Some(ids) => writer.write_field(&ids[i])?,
                None => writer.write_field((part.first + i).to_string())?,
            }
            for value in [fit.depth, fit.error, fit.stderr] {
                // The shortest text that reads back as the same number.
                writer.write_field(format!("{value:?}"))?;
            }
            if let Some(labels) = part.labels {
                writer.write_field(&labels[i])?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        Ok(writer.flush()?)
    }
}

impl Export for Table {
    fn begin(&mut self, out: &mut dyn Write, about: &About) -> io::Result<()> {
        self.write_head(out, about).map_err(cause)
    }

    fn rows(&mut self, out: &mut dyn Write, part: &Part<'_>, fits: &[Fit]) -> io::Result<()> {
        self.write_rows(out, part, fits).map_err(cause)
    }

    fn end(&mut self, _: &mut dyn Write, _: Option<&Auc>) -> io::Result<()> {
        Ok(())
    }
}

/// What the system said: a closed pipe must be told from other failures.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}
