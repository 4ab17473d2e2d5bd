//! Single cells of tables, and tables of them.

use crate::data::{Column, Texts, Values};

/// One cell as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Gap,
    Number(f64),
    Text(Box<str>),
    Boolean(bool),
    Time(f64),
}

impl Cell {
    /// A cell of a column.
    pub(super) fn of(values: &Values, row: usize) -> Self {
        match values {
            Values::Numbers(values) | Values::Times(values) if values[row].is_nan() => Self::Gap,
            // Adding 0 makes -0 and 0 the same.
            Values::Numbers(values) => Self::Number(values[row] + 0.0),
            Values::Times(values) => Self::Time(values[row] + 0.0),
            Values::Booleans(values) => values[row].map_or(Self::Gap, Self::Boolean),
            Values::Texts(texts) => texts.get(row).map_or(Self::Gap, |text| Self::Text(text.into())),
        }
    }

    /// The cell as a text; `None` is a gap.
    fn written(&self) -> Option<String> {
        Some(match self {
            Self::Gap => return None,
            Self::Number(value) | Self::Time(value) => value.to_string(),
            Self::Text(text) => text.to_string(),
            Self::Boolean(value) => value.to_string(),
        })
    }
}

/// A column of these cells: of one type if all of them have it, otherwise of texts.
pub(super) fn column<'a>(name: &str, cells: impl Iterator<Item = &'a Cell> + Clone) -> Column {
    let values = || cells.clone().filter(|cell| **cell != Cell::Gap);
    let number = |cell: &Cell| match cell {
        Cell::Number(value) | Cell::Time(value) => *value,
        _ => f64::NAN,
    };
    let truth = |cell: &Cell| if let Cell::Boolean(value) = cell { Some(*value) } else { None };
    let values = if values().all(|cell| matches!(cell, Cell::Number(_))) {
        Values::Numbers(cells.map(number).collect())
    } else if values().all(|cell| matches!(cell, Cell::Boolean(_))) {
        Values::Booleans(cells.map(truth).collect())
    } else if values().all(|cell| matches!(cell, Cell::Time(_))) {
        Values::Times(cells.map(number).collect())
    } else {
        let mut texts = Texts::default();
        cells.for_each(|cell| texts.push(cell.written().as_deref()));
        Values::Texts(texts)
    };
    Column { name: name.to_owned(), values }
}
