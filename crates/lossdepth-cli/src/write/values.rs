//! Scores as columns: a name and a type each, so that every format writes whatever columns there are.

use crate::load::Part;
use lossdepth::Fit;
use std::borrow::Cow;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    /// `NaN` is a value that is not there.
    Number,
    Text,
    /// A cell of the input as it was; an empty one is a value that is not there.
    Copied,
}

/// A column of the output: known before there are rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: Kind,
}

impl Field {
    pub(crate) fn new(name: impl Into<Cow<'static, str>>, kind: Kind) -> Self {
        Self { name: name.into(), kind }
    }
}

/// The values of one column in some rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values<'a> {
    Integers(Cow<'a, [i64]>),
    Numbers(Cow<'a, [f64]>),
    Texts(Cow<'a, [String]>),
    Copied(Cow<'a, [String]>),
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub(super) enum Value<'a> {
    Integer(i64),
    Number(f64),
    Text(&'a str),
    Nothing,
}

impl Values<'_> {
    /// The same values, whatever becomes of the rows they came from.
    pub(crate) fn into_owned(self) -> Values<'static> {
        match self {
            Self::Integers(values) => Values::Integers(values.into_owned().into()),
            Self::Numbers(values) => Values::Numbers(values.into_owned().into()),
            Self::Texts(values) => Values::Texts(values.into_owned().into()),
            Self::Copied(values) => Values::Copied(values.into_owned().into()),
        }
    }

    /// The values of some rows, in that order.
    pub(crate) fn pick(&self, rows: &[usize]) -> Values<'static> {
        fn some<T: Clone>(values: &[T], rows: &[usize]) -> Cow<'static, [T]> {
            rows.iter().map(|&row| values[row].clone()).collect()
        }
        match self {
            Self::Integers(values) => Values::Integers(some(values, rows)),
            Self::Numbers(values) => Values::Numbers(some(values, rows)),
            Self::Texts(values) => Values::Texts(some(values, rows)),
            Self::Copied(values) => Values::Copied(some(values, rows)),
        }
    }

    /// Adds the values of more rows of the same column.
    pub(crate) fn append(&mut self, more: &Values<'_>) {
        match (self, more) {
            (Self::Integers(values), Values::Integers(more)) => values.to_mut().extend_from_slice(more),
            (Self::Numbers(values), Values::Numbers(more)) => values.to_mut().extend_from_slice(more),
            (Self::Texts(values), Values::Texts(more)) | (Self::Copied(values), Values::Copied(more)) => {
                values.to_mut().extend_from_slice(more);
            }
            _ => debug_assert!(false, "rows of one column have one type"),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Texts(values) | Self::Copied(values) => values.len(),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Integers(_) => Kind::Integer,
            Self::Numbers(_) => Kind::Number,
            Self::Texts(_) => Kind::Text,
            Self::Copied(_) => Kind::Copied,
        }
    }

    pub(super) fn get(&self, row: usize) -> Value<'_> {
        match self {
            Self::Integers(values) => Value::Integer(values[row]),
            Self::Numbers(values) => Value::Number(values[row]),
            Self::Copied(values) if values[row].is_empty() => Value::Nothing,
            Self::Texts(values) | Self::Copied(values) => Value::Text(&values[row]),
        }
    }
}

/// The columns every score has: `row` (a number, or the id), `depth`, `error`, `stderr`, and `percentile` unless it is
/// not wanted.
pub(crate) fn score_fields(with_ids: bool, percentile: bool) -> Vec<Field> {
    let row = if with_ids { Kind::Text } else { Kind::Integer };
    let number = |name| Field::new(name, Kind::Number);
    let mut fields = vec![Field::new("row", row), number("depth"), number("error"), number("stderr")];
    fields.extend(percentile.then(|| number("percentile")));
    fields
}

/// The values that go with [`score_fields`], without `percentile`.
pub(crate) fn scores<'a>(part: &Part<'a>, fits: &[Fit]) -> Vec<Values<'a>> {
    let numbers = |of: fn(&Fit) -> f64| Values::Numbers(fits.iter().map(of).collect());
    vec![
        names(part, fits.len()),
        numbers(|fit| fit.depth),
        numbers(|fit| fit.error),
        numbers(|fit| fit.stderr),
    ]
}

/// The ids of some rows, or their numbers.
fn names<'a>(part: &Part<'a>, rows: usize) -> Values<'a> {
    let number = |row: usize| i64::try_from(row).unwrap_or(i64::MAX);
    match part.ids {
        Some(ids) => Values::Texts(ids.into()),
        None => Values::Integers(part.numbers.iter().take(rows).copied().map(number).collect()),
    }
}
