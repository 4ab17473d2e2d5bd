//! A table, with commas or tabs.

use super::values::Value;
use super::{About, Export, Values};
use crate::auc::Auc;
use csv::{Writer, WriterBuilder};
use std::io::{self, Write};

#[derive(Debug)]
pub(super) struct Table {
    delimiter: u8,
    /// Whether numbers are rounded to six digits, for people; else they read back as the same number.
    rounded: bool,
}

impl Table {
    pub(super) fn commas() -> Self {
        Self { delimiter: b',', rounded: false }
    }

    /// With commas, for a terminal.
    pub(super) fn for_terminal() -> Self {
        Self { delimiter: b',', rounded: true }
    }

    pub(super) fn tabs() -> Self {
        Self { delimiter: b'\t', rounded: false }
    }

    fn writer<'a>(&self, out: &'a mut dyn Write) -> Writer<&'a mut dyn Write> {
        WriterBuilder::new().delimiter(self.delimiter).from_writer(out)
    }

    fn write_head(&self, out: &mut dyn Write, about: &About) -> csv::Result<()> {
        let mut writer = self.writer(out);
        writer.write_record(about.fields.iter().map(|field| field.name.as_ref()))?;
        Ok(writer.flush()?)
    }

    fn write_rows(&self, out: &mut dyn Write, columns: &[Values<'_>]) -> csv::Result<()> {
        let mut writer = self.writer(out);
        for row in 0..columns.first().map_or(0, Values::len) {
            for column in columns {
                match column.get(row) {
                    Value::Integer(value) => writer.write_field(value.to_string())?,
                    Value::Number(value) if self.rounded => writer.write_field(six_digits(value))?,
                    // The shortest text that reads back as the same number.
                    Value::Number(value) => writer.write_field(format!("{value:?}"))?,
                    Value::Text(value) => writer.write_field(value)?,
                    Value::Nothing => writer.write_field("")?,
                }
            }
            writer.write_record(None::<&[u8]>)?;
        }
        Ok(writer.flush()?)
    }
}

/// A number with at most six significant digits.
fn six_digits(value: f64) -> String {
    let size = value.abs();
    if value != 0.0 && value.is_finite() && !(1e-4..1e6).contains(&size) {
        let text = format!("{value:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    // Enough decimals for six digits, counted from the first that is not 0.
    let units = [1e5, 1e4, 1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3];
    let decimals = units.iter().position(|unit| size >= *unit).unwrap_or(units.len());
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_enough_to_read() {
        for (value, text) in [
            (0.123_456_789, "0.123457"),
            (0.001_234_567_8, "0.00123457"),
            (0.000_123_456_78, "0.000123457"),
            (0.000_012_345_678, "1.23457e-5"),
            (0.5, "0.5"),
            (1.0, "1"),
            (0.0, "0"),
            (12.345_678, "12.3457"),
            (123_456.78, "123457"),
            (1_234_567.0, "1.23457e6"),
            (-0.25, "-0.25"),
            (1e-300, "1e-300"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(six_digits(value), text);
        }
    }
}
