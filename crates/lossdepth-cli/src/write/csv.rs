//! A table, with commas or tabs.

use super::values::Value;
use super::{About, Export, Values};
use crate::auc::Auc;
use csv::{Writer, WriterBuilder};
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
        writer.write_record(about.fields.iter().map(|field| field.name))?;
        Ok(writer.flush()?)
    }

    fn write_rows(&self, out: &mut dyn Write, columns: &[Values<'_>]) -> csv::Result<()> {
        let mut writer = self.writer(out);
        for row in 0..columns.first().map_or(0, Values::len) {
            for column in columns {
                match column.get(row) {
                    Value::Integer(value) => writer.write_field(value.to_string())?,
                    // The shortest text that reads back as the same number.
                    Value::Number(value) => writer.write_field(format!("{value:?}"))?,
                    Value::Text(value) => writer.write_field(value)?,
                }
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

    fn rows(&mut self, out: &mut dyn Write, _: &About, columns: &[Values<'_>]) -> io::Result<()> {
        self.write_rows(out, columns).map_err(cause)
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
