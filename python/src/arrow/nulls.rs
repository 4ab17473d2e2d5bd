//! What is done with rows that lack a value.

use lossdepth::data::{Texts, Values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What is done with a row that has a null, a NaN, or a text that its column cannot hold, where the model compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// The batch is refused.
    Error,
    /// The scores of the row are null.
    Null,
    /// The row is compared on what it has.
    Compare,
}

impl Nulls {
    pub(super) fn named(name: &str) -> PyResult<Self> {
        match name {
            "error" => Ok(Self::Error),
            "null" => Ok(Self::Null),
            "compare" => Ok(Self::Compare),
            _ => Err(PyValueError::new_err(format!(
                "`nulls` must be one of error, null, compare, got `{name}`"
            ))),
        }
    }
}

/// Whether a row has no value.
pub(super) fn is_gap(values: &Values, row: usize) -> bool {
    match values {
        Values::Numbers(values) | Values::Times(values) => values[row].is_nan(),
        Values::Texts(texts) => texts.codes()[row] == Texts::GAP,
        Values::Booleans(values) => values[row].is_none(),
    }
}

/// The values of some rows.
pub(super) fn take(values: &Values, rows: &[usize]) -> Values {
    match values {
        Values::Numbers(values) => Values::Numbers(rows.iter().map(|&row| values[row]).collect()),
        Values::Times(values) => Values::Times(rows.iter().map(|&row| values[row]).collect()),
        Values::Booleans(values) => Values::Booleans(rows.iter().map(|&row| values[row]).collect()),
        Values::Texts(texts) => {
            let mut taken = Texts::default();
            for &row in rows {
                taken.push(texts.get(row));
            }
            Values::Texts(taken)
        }
    }
}
