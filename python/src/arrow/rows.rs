//! Record batches as the rows that a model takes: columns by name, the model's encoding, nulls by policy.

use super::nulls::{Nulls, is_gap, take};
use crate::table::encoding_of_numbers;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::DataType;
use lossdepth::data::{CellNoteKind, Column, Encoding, EncodingOptions, Missing, Table};
use lossdepth::{DepthError, Model, Rows};
use lossdepth_arrow::{describe, is_duration, is_number, numbers, values};
use std::fmt::Write as _;
use std::sync::OnceLock;

/// What is wrong with a batch.
pub(super) enum Wrong {
    /// In words that name row and column.
    Batch(String),
    /// As the library says it.
    Depth(DepthError),
}

impl From<DepthError> for Wrong {
    fn from(error: DepthError) -> Self {
        Self::Depth(error)
    }
}

/// Rows to be scored.
pub(super) struct Taken {
    pub(super) values: Vec<f64>,
    pub(super) width: usize,
    /// Which row of the batch each of them is.
    pub(super) rows: Vec<usize>,
}

/// How batches become rows of one model.
pub(super) struct Reader<'a> {
    pub(super) model: &'a Model,
    /// What the batches call the columns of the model, in its order; none if that is as the encoding says, or by position.
    pub(super) names: Option<&'a [String]>,
    /// For a model without an encoding, the one that its reference has: learned when a row has a gap.
    pub(super) learned: &'a OnceLock<Encoding>,
    pub(super) nulls: Nulls,
}

impl Reader<'_> {
    /// How many columns of a batch are compared.
    pub(super) fn columns(&self) -> usize {
        self.model.encoding().map_or(self.model.width(), |encoding| encoding.columns().len())
    }

    /// The rows of a part of a batch, which begins at row `first` of it.
    pub(super) fn read(&self, part: &StructArray, first: usize) -> Result<Taken, Wrong> {
        match self.model.encoding() {
            None => self.read_numbers(part, first),
            Some(encoding) => {
                let names: Vec<String> = encoding.columns().iter().map(|c| c.source().to_owned()).collect();
                self.read_columns(part, first, encoding, &names)
            }
        }
    }

    /// Of a model of complete columns of numbers.
    fn read_numbers(&self, part: &StructArray, first: usize) -> Result<Taken, Wrong> {
        let (names, arrays) = self.arrays(part, self.names)?;
        let (width, len) = (arrays.len(), part.len());
        let mut values = vec![0.0; width * len];
        let mut has_gaps = part.null_count() > 0;
        for (place, (name, array)) in names.iter().zip(&arrays).enumerate() {
            check_number(name, array)?;
            let column = values.iter_mut().skip(place).step_by(width);
            if *array.data_type() == DataType::Float64 && array.null_count() == 0 {
                let from = array.as_primitive::<Float64Type>().values();
                for (to, &value) in column.zip(from) {
                    has_gaps |= value.is_nan();
                    *to = value;
                }
            } else {
                let mut column = column;
                numbers(array, &mut |_, value| {
                    let value = value.unwrap_or(f64::NAN);
                    has_gaps |= value.is_nan();
                    column.next().into_iter().for_each(|to| *to = value);
                });
            }
        }
        if has_gaps && self.nulls == Nulls::Compare {
            let options =
                EncodingOptions { missing: Missing::Compare, guess: false, ..EncodingOptions::default() };
            let encoding = if let Some(encoding) = self.learned.get() {
                encoding
            } else {
                let made = encoding_of_numbers(self.model.reference(), names.clone(), &options)?;
                self.learned.get_or_init(|| made)
            };
            return self.read_columns(part, first, encoding, &names);
        }
        let mut rows: Vec<usize> = (0..len).collect();
        if has_gaps {
            let gap = |row: usize| {
                if part.is_null(row) {
                    return Some(None);
                }
                (0..width).find(|place| values[row * width + place].is_nan()).map(Some)
            };
            if self.nulls == Nulls::Error
                && let Some((row, place)) = rows.iter().find_map(|&row| Some((row, gap(row)?)))
            {
                return Err(null(first + row, place.map(|place| names[place].as_str())));
            }
            rows.retain(|&row| gap(row).is_none());
            values = rows.iter().flat_map(|row| &values[row * width..(row + 1) * width]).copied().collect();
        }
        check_finite(&values, &names, |row| first + rows[row])?;
        Ok(Taken { values, width, rows })
    }

    /// Of a model with an encoding.
    fn read_columns(
        &self,
        part: &StructArray,
        first: usize,
        encoding: &Encoding,
        names: &[String],
    ) -> Result<Taken, Wrong> {
        // The encoding has its own names; messages have those of the batch.
        let encoded = encoding.columns().iter().map(|column| column.name().to_owned());
        let names = self.names.unwrap_or(names);
        let (_, arrays) = self.arrays(part, Some(names))?;
        let mut columns = Vec::with_capacity(names.len());
        for ((name, encoded), array) in names.iter().zip(encoded).zip(&arrays) {
            let kind = array.data_type();
            let values = values(array).ok_or_else(|| unreadable(name, kind))?;
            columns.push(Column { name: encoded, values });
        }
        let gap = |row: usize| {
            if part.is_null(row) {
                return Some(None);
            }
            columns.iter().position(|column| is_gap(&column.values, row)).map(Some)
        };
        let mut kept: Vec<usize> = (0..part.len()).collect();
        match self.nulls {
            Nulls::Error => {
                if let Some((row, place)) = kept.iter().find_map(|&row| Some((row, gap(row)?))) {
                    return Err(null(first + row, place.map(|place| names[place].as_str())));
                }
            }
            Nulls::Null => kept.retain(|&row| gap(row).is_none()),
            // A row without any value has nothing to be compared.
            Nulls::Compare => kept.retain(|&row| !part.is_null(row)),
        }
        if kept.len() < part.len() {
            for column in &mut columns {
                column.values = take(&column.values, &kept);
            }
        }
        let encoded = encoding.encode(&Table::new(columns)?)?;
        let is_gap = |what: &CellNoteKind| matches!(what, CellNoteKind::Gap | CellNoteKind::Unread(_));
        let mut left_out: Vec<usize> = Vec::new();
        for note in encoded.notes.iter().filter(|note| is_gap(&note.what)) {
            match self.nulls {
                Nulls::Error => {
                    let (row, name) = (first + kept[note.row], &names[note.column]);
                    return Err(match &note.what {
                        CellNoteKind::Unread(text) => {
                            let kind = encoding.columns()[note.column].kind();
                            Wrong::Batch(format!(
                                "row {row}, column `{name}`: `{text}` cannot be read as a {kind}"
                            ))
                        }
                        _ => null(row, Some(name)),
                    });
                }
                Nulls::Null => left_out.push(note.row),
                Nulls::Compare => {}
            }
        }
        let (width, mut values, mut rows) = (encoded.width, encoded.values, encoded.rows);
        if !left_out.is_empty() {
            left_out.dedup();
            let places: Vec<usize> =
                (0..rows.len()).filter(|place| left_out.binary_search(&rows[*place]).is_err()).collect();
            values = places
                .iter()
                .flat_map(|place| &values[place * width..(place + 1) * width])
                .copied()
                .collect();
            rows = places.into_iter().map(|place| rows[place]).collect();
        }
        Ok(Taken { values, width, rows: rows.into_iter().map(|row| kept[row]).collect() })
    }

    /// The columns of a batch that are compared, in the order of the model, with their names.
    fn arrays(
        &self,
        part: &StructArray,
        names: Option<&[String]>,
    ) -> Result<(Vec<String>, Vec<ArrayRef>), Wrong> {
        let there = part.column_names();
        let Some(names) = names else {
            let width = self.model.width();
            if there.len() != width {
                return Err(Wrong::Batch(format!(
                    "the model was fitted to {width} columns without names, the batch has {} ({}): say with `features` which \
                     columns they are, in order",
                    there.len(),
                    listed(&there)
                )));
            }
            return Ok((there.iter().map(ToString::to_string).collect(), part.columns().to_vec()));
        };
        if names.len() != self.columns() {
            let (given, expected) = (names.len(), self.columns());
            return Err(Wrong::Batch(format!(
                "`features` has {given} names, the model compares {expected} columns"
            )));
        }
        let (mut arrays, mut missing) = (Vec::with_capacity(names.len()), Vec::new());
        for name in names {
            let mut places = there.iter().enumerate().filter(|(_, other)| **other == name);
            match (places.next(), places.next()) {
                (Some((at, _)), None) => arrays.push(part.column(at).clone()),
                (None, _) => missing.push(name.as_str()),
                (Some(_), Some(_)) => {
                    return Err(Wrong::Batch(format!("the batch has two columns called `{name}`")));
                }
            }
        }
        if missing.is_empty() {
            return Ok((names.to_vec(), arrays));
        }
        let (columns, are) = if missing.len() == 1 { ("column", "is") } else { ("columns", "are") };
        Err(Wrong::Batch(format!(
            "{columns} {} {are} missing; the batch has {}",
            listed(&missing),
            listed(&there)
        )))
    }
}

/// Some names in quotes; of many, the first.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 20;
    let mut text = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.is_empty() {
        text.push_str("no column");
    }
    if names.len() > SHOWN {
        let _ = write!(text, " and {} more", names.len() - SHOWN);
    }
    text
}

fn check_number(name: &str, array: &ArrayRef) -> Result<(), Wrong> {
    let kind = array.data_type();
    match kind {
        kind if is_number(kind) || is_duration(kind) => Ok(()),
        _ => Err(Wrong::Batch(format!(
            "column `{name}` holds {}; the model has numbers there",
            describe(kind)
        ))),
    }
}

fn unreadable(name: &str, kind: &DataType) -> Wrong {
    Wrong::Batch(format!("column `{name}` holds {}, which cannot be compared", describe(kind)))
}

fn null(row: usize, column: Option<&str>) -> Wrong {
    let place = column.map_or_else(|| format!("row {row}"), |name| format!("row {row}, column `{name}`"));
    Wrong::Batch(format!(
        "{place} has no value; `nulls` may be \"null\" (no scores for such a row) or \"compare\" (on what it has)"
    ))
}

/// Refuses numbers that cannot be worked with, by the names of their columns.
fn check_finite(values: &[f64], names: &[String], row_of: impl Fn(usize) -> usize) -> Result<(), Wrong> {
    let checked = Rows::new(values, names.len()).and_then(|rows| rows.check_finite());
    checked.map_err(|error| match error {
        DepthError::NotFinite { row, column, value } => {
            Wrong::Batch(format!("row {}, column `{}` is not finite ({value})", row_of(row), names[column]))
        }
        DepthError::TooLarge { row, column, value } => Wrong::Batch(format!(
            "row {}, column `{}` is too large to work with: |{value:e}| > 1e100",
            row_of(row),
            names[column]
        )),
        other => Wrong::Depth(other),
    })
}
