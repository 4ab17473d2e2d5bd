//! The cells of a column, read as what the column is known to hold.

use super::column::{Content, EncodedColumn};
use super::gap::is_gap;
use super::kind::ColumnKind;
use super::number::NumberForm;
use super::{Column, Texts, Values};
use std::borrow::Cow;
use std::collections::HashMap;

/// How many seconds a day has.
const DAY: f64 = 86_400.0;

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    /// A number, or days since 1970.
    Number(f64),
    /// A level, by its coordinate.
    Level(usize),
    /// Nothing.
    Gap,
    /// Something that cannot be read as the column's kind.
    Unread,
}

/// The cells of a column.
pub(super) enum Cells<'a> {
    /// Numbers, each divided by the same; NaN is a gap.
    Numbers { values: Cow<'a, [f64]>, divisor: f64 },
    /// Texts, each different one read once.
    Texts { codes: Cow<'a, [u32]>, read: Vec<Cell> },
}

impl Cells<'_> {
    pub(super) fn get(&self, row: usize) -> Cell {
        match self {
            Self::Numbers { values, divisor } => {
                let value = values[row];
                if value.is_nan() { Cell::Gap } else { Cell::Number(value / divisor) }
            }
            Self::Texts { codes, read } => read.get(codes[row] as usize).copied().unwrap_or(Cell::Gap),
        }
    }
}

/// The numbers of a column.
pub(super) fn numbers<'a>(column: &'a Column, form: &NumberForm, gap_words: &[String]) -> Option<Cells<'a>> {
    match &column.values {
        Values::Numbers(values) => Some(Cells::Numbers { values: Cow::Borrowed(values), divisor: 1.0 }),
        Values::Booleans(values) => {
            let number = |value: &Option<bool>| value.map_or(f64::NAN, f64::from);
            Some(Cells::Numbers { values: values.iter().map(number).collect(), divisor: 1.0 })
        }
        Values::Times(_) => None,
        Values::Texts(texts) => Some(texts_as(texts, gap_words, |text| form.parse(text).map(Cell::Number))),
    }
}

/// The times of a column.
pub(super) fn times<'a>(column: &'a Column, _gap_words: &[String]) -> Option<Cells<'a>> {
    match &column.values {
        Values::Times(values) => Some(Cells::Numbers { values: Cow::Borrowed(values), divisor: DAY }),
        _ => None,
    }
}

fn texts_as<'a>(texts: &'a Texts, gap_words: &[String], read: impl Fn(&str) -> Option<Cell>) -> Cells<'a> {
    let cell = |text: &String| {
        if is_gap(text, gap_words) { Cell::Gap } else { read(text).unwrap_or(Cell::Unread) }
    };
    Cells::Texts { codes: Cow::Borrowed(texts.codes()), read: texts.levels().iter().map(cell).collect() }
}

/// The cells of a column as names of levels.
pub(super) struct Named<'a> {
    pub(super) codes: Cow<'a, [u32]>,
    /// The name of each code; `None` is a gap.
    pub(super) names: Vec<Option<Cow<'a, str>>>,
}

/// The levels of a column by name.
pub(super) fn names<'a>(column: &'a Column, gap_words: &[String]) -> Named<'a> {
    match &column.values {
        Values::Texts(texts) => {
            let name = |text: &'a String| (!is_gap(text, gap_words)).then(|| Cow::Borrowed(text.trim()));
            Named { codes: Cow::Borrowed(texts.codes()), names: texts.levels().iter().map(name).collect() }
        }
        Values::Booleans(values) => {
            let code = |value: &Option<bool>| value.map_or(Texts::GAP, u32::from);
            let names = ["false", "true"].map(|name| Some(Cow::Borrowed(name))).to_vec();
            Named { codes: values.iter().map(code).collect(), names }
        }
        Values::Numbers(values) | Values::Times(values) => {
            let (mut codes, mut names) = (Vec::with_capacity(values.len()), Vec::new());
            let mut known: HashMap<u64, u32> = HashMap::new();
            for value in values {
                codes.push(if value.is_nan() {
                    Texts::GAP
                } else {
                    // Adding 0 makes -0 and 0 the same.
                    *known.entry((value + 0.0).to_bits()).or_insert_with(|| {
                        names.push(Some(Cow::Owned((value + 0.0).to_string())));
                        // A table of 2^32 different numbers in one column does not fit into memory.
                        u32::try_from(names.len() - 1).unwrap_or(Texts::GAP)
                    })
                });
            }
            Named { codes: Cow::Owned(codes), names }
        }
    }
}

impl EncodedColumn {
    /// The cells of a column of a table, read as this one was; or what it holds instead.
    pub(super) fn cells<'a>(
        &self,
        column: &'a Column,
        gap_words: &[String],
    ) -> Result<Cells<'a>, &'static str> {
        let other = || held(column);
        match &self.content {
            Content::Number { form, .. } => numbers(column, form, gap_words).ok_or_else(other),
            Content::Time { .. } => times(column, gap_words).ok_or_else(other),
            Content::Levels { levels, .. } => {
                let index = levels.index();
                let Named { codes, names } = names(column, gap_words);
                let cell = |name: &Option<Cow<'_, str>>| {
                    let Some(name) = name else { return Cell::Gap };
                    Cell::Level(index.coordinate(name).unwrap_or(levels.seen))
                };
                Ok(Cells::Texts { codes, read: names.iter().map(cell).collect() })
            }
        }
    }
}

/// What a column holds, in the plural.
pub(super) fn held(column: &Column) -> &'static str {
    match column.values {
        Values::Numbers(_) => ColumnKind::Number.plural(),
        Values::Texts(_) => ColumnKind::Text.plural(),
        Values::Booleans(_) => ColumnKind::Boolean.plural(),
        Values::Times(_) => ColumnKind::Time.plural(),
    }
}

/// What is in a cell, as text.
pub(super) fn text_of(column: &Column, row: usize) -> String {
    match &column.values {
        Values::Texts(texts) => texts.get(row).unwrap_or("").trim().to_owned(),
        Values::Booleans(values) => values[row].map_or_else(String::new, |value| value.to_string()),
        Values::Numbers(values) | Values::Times(values) => values[row].to_string(),
    }
}
