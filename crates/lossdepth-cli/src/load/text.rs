//! Text into numbers: a header or none, then a record a row.

use super::record::{Record, Records};
use super::table::{Header, Outline, Piece, Source, Wanted};
use crate::error::{Place, Problem, Wrong, shorten};

/// A text with a record a row.
pub(super) struct Text {
    records: Records,
    /// The first record if it is data, then whatever was read last.
    record: Record,
    pending: bool,
    width: usize,
}

impl Text {
    /// Reads the header, or finds that there is none.
    pub(super) fn open(mut records: Records, header: Header) -> Result<(Outline, Self), Problem> {
        let mut record = Record::default();
        if !records.read(&mut record)? {
            return Err(Problem::Empty);
        }
        let named = match header {
            Header::Detect => !looks_like_data(&record),
            Header::Yes => true,
            Header::No => false,
        };
        let numbered = (0..record.len()).map(|i| i.to_string());
        let names: Vec<String> = if named {
            let name = |(i, field): (String, &str)| if field.is_empty() { i } else { field.to_owned() };
            numbered.zip(record.iter()).map(name).collect()
        } else {
            numbered.collect()
        };
        if let Some((first, second)) = duplicate(&names) {
            let name = names[first].clone();
            return Err(Problem::Duplicate { line: Some(record.line), name, first, second });
        }
        let doubtful =
            (named && header == Header::Detect && record.iter().any(is_number)).then_some(record.line);
        let width = names.len();
        let outline = Outline { names, named, compared: width, label: None, doubtful };
        Ok((outline, Self { records, record, pending: !named, width }))
    }

    /// Moves on to the next row; false at the end.
    fn advance(&mut self, row: usize) -> Result<bool, Problem> {
        if !std::mem::take(&mut self.pending) && !self.records.read(&mut self.record)? {
            return Ok(false);
        }
        let (expected, got) = (self.width, self.record.len());
        if got != expected {
            return Err(Problem::Ragged { at: self.place(row), expected, got });
        }
        Ok(true)
    }

    fn place(&self, row: usize) -> Place {
        Place { line: Some(self.record.line), row }
    }
}

impl Source for Text {
    fn read(&mut self, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem> {
        let columns = wanted.columns;
        while piece.rows < wanted.limit && self.advance(piece.first + piece.rows)? {
            piece.reserve(1, columns)?;
            let at = self.place(piece.first + piece.rows);
            let number =
                |column| parse(self.record.get(column)).map_err(|wrong| wanted.cell(at, column, wrong));
            for &column in &columns.features {
                piece.values.push(number(column)?);
            }
            if let Some(column) = columns.weights {
                piece.weights.push(number(column)?);
            }
            let copied = columns.id.into_iter().chain(columns.label);
            piece.letters += copied.map(|column| self.record.get(column).len()).sum::<usize>();
            piece.ids.extend(columns.id.map(|column| self.record.get(column).to_owned()));
            piece.labels.extend(columns.label.map(|column| self.record.get(column).to_owned()));
            piece.lines.push(self.record.line);
            piece.rows += 1;
        }
        Ok(())
    }
}

/// Whether a first line is a row of numbers: values may be missing, but one must be there.
fn looks_like_data(record: &Record) -> bool {
    let missing = |field: &str| field.is_empty() || is_missing(field);
    record.iter().any(is_number) && record.iter().all(|field| is_number(field) || missing(field))
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok_and(|value| !value.is_nan())
}

/// What programs write for a value that is not there.
pub(crate) fn is_missing(field: &str) -> bool {
    const WORDS: [&str; 7] = ["na", "n/a", "nan", "-nan", "null", "none", "?"];
    WORDS.iter().any(|word| field.eq_ignore_ascii_case(word))
}

fn parse(field: &str) -> Result<f64, Wrong> {
    match field.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ if field.is_empty() => Err(Wrong::Empty),
        _ if is_missing(field) => Err(Wrong::Missing(field.to_owned())),
        Ok(_) => Err(Wrong::NotFinite(shorten(field))),
        Err(_) if in_thousands(field) => Err(Wrong::Thousands(shorten(field))),
        Err(_) if field.replacen(',', ".", 1).parse::<f64>().is_ok() => Err(Wrong::Comma(shorten(field))),
        Err(_) => Err(Wrong::Text(shorten(field))),
    }
}

/// Whether commas part a number into groups of three digits, as in `1,000` and `-12,345,678.9`.
fn in_thousands(field: &str) -> bool {
    let digits = field.trim_start_matches(['+', '-']);
    let whole = digits.split('.').next().unwrap_or_default();
    let groups: Vec<&str> = whole.split(',').collect();
    let [first, rest @ ..] = &groups[..] else { return false };
    !rest.is_empty()
        && (1..=3).contains(&first.len())
        && rest.iter().all(|group| group.len() == 3)
        && field.replace(',', "").parse::<f64>().is_ok()
}

/// Two columns with one name.
pub(super) fn duplicate(names: &[String]) -> Option<(usize, usize)> {
    let mut seen = std::collections::HashMap::new();
    names.iter().enumerate().find_map(|(second, name)| Some((seen.insert(name, second)?, second)))
}
