//! Tables of columns, and what is known about the columns of a model.

use crate::convert::{exception, table as numbers_of};
use lossdepth::DepthError;
use lossdepth::data::{
    CellNote, CellNoteKind, Column, ColumnKind, Encoding, EncodingOptions, GroupKind, Reference, Texts,
    Values,
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name, what the values are, the values, and the levels that codes stand for.
type Given<'py> = (String, String, Bound<'py, PyAny>, Option<Vec<String>>);

/// A note about a cell: its row, its column, what is the case, and the text of the cell.
pub(crate) type Note = (usize, usize, &'static str, String);

/// What a note says about a cell that could not be read as what its column holds.
pub(crate) const UNREAD: &str = "unread";

/// A table of columns: numbers, times, truth values and texts, with gaps.
#[pyclass(module = "lossdepth._native", frozen)]
pub(crate) struct Table {
    columns: Arc<lossdepth::data::Table>,
}

#[pymethods]
impl Table {
    /// Of columns: `numbers`, `durations` (days) and `times` (seconds since 1970) as doubles, NaN being a gap; `booleans` as 1, 0 and, for
    /// a gap, -1; `texts` as positions in their levels, negative for a gap.
    #[new]
    fn new(columns: Vec<Given<'_>>) -> PyResult<Self> {
        let is_duration = |given: &&Given<'_>| given.1 == "durations";
        let durations = columns.iter().filter(is_duration).map(|given| given.0.clone()).collect();
        let columns = columns.into_iter().map(column).collect::<PyResult<Vec<_>>>()?;
        let columns = lossdepth::data::Table::new(columns).map_err(|e| exception(&e))?;
        Ok(Self::shared_of(columns.with_durations(durations)))
    }

    /// Of rows of numbers, NaN being a gap, and a name for each column.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn of_rows(rows: PyReadonlyArray2<'_, f64>, names: Vec<String>) -> PyResult<Self> {
        let (numbers, width) = numbers_of(&rows)?;
        if names.len() != width {
            return Err(PyValueError::new_err(format!("{} names for {width} columns", names.len())));
        }
        Self::of(columns_of(numbers, names))
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.columns.columns().iter().map(|column| column.name.clone()).collect()
    }

    /// How many rows there are.
    fn __len__(&self) -> usize {
        self.columns.rows()
    }
}

impl Table {
    fn of(columns: Vec<Column>) -> PyResult<Self> {
        let columns = lossdepth::data::Table::new(columns).map_err(|e| exception(&e))?;
        Ok(Self { columns: Arc::new(columns) })
    }

    /// Of a table that is there already.
    pub(crate) fn shared_of(columns: lossdepth::data::Table) -> Self {
        Self { columns: Arc::new(columns) }
    }

    /// The table itself.
    pub(crate) fn shared(&self) -> Arc<lossdepth::data::Table> {
        Arc::clone(&self.columns)
    }
}

fn column((name, what, values, levels): Given<'_>) -> PyResult<Column> {
    let values = match what.as_str() {
        "numbers" | "durations" => {
            Values::Numbers(values.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec())
        }
        "times" => Values::Times(values.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec()),
        "booleans" => {
            let codes = values.extract::<PyReadonlyArray1<'_, i8>>()?;
            let truth = |code: &i8| (*code >= 0).then_some(*code > 0);
            Values::Booleans(codes.as_array().iter().map(truth).collect())
        }
        "texts" => {
            let codes = values.extract::<PyReadonlyArray1<'_, i64>>()?;
            Values::Texts(texts(codes.as_array().iter(), &levels.unwrap_or_default())?)
        }
        _ => return Err(PyValueError::new_err(format!("a column cannot hold `{what}`"))),
    };
    Ok(Column { name, values })
}

fn texts<'a>(codes: impl Iterator<Item = &'a i64>, levels: &[String]) -> PyResult<Texts> {
    let mut texts = Texts::default();
    for &code in codes {
        let text =
            match usize::try_from(code) {
                Err(_) => None,
                Ok(at) => Some(levels.get(at).ok_or_else(|| {
                    PyValueError::new_err(format!("code {code} for {} levels", levels.len()))
                })?),
            };
        texts.push(text.map(String::as_str));
    }
    Ok(texts)
}

fn columns_of(rows: &[f64], names: Vec<String>) -> Vec<Column> {
    let width = names.len();
    let values = |at: usize| rows.iter().skip(at).step_by(width).copied().collect();
    let named = |(at, name)| Column { name, values: Values::Numbers(values(at)) };
    names.into_iter().enumerate().map(named).collect()
}

/// How a model of complete columns of numbers would have encoded them.
pub(crate) fn encoding_of_numbers(
    sample: &Reference,
    names: Vec<String>,
    options: &EncodingOptions,
) -> Result<Encoding, DepthError> {
    let table = lossdepth::data::Table::new(columns_of(sample.rows().as_slice(), names))?;
    Encoding::learn(&table, sample.given_weights(), options).map(|(encoding, _)| encoding)
}

/// Options for columns whose types are known: nothing is guessed from their content unless that is asked for.
pub(crate) fn options(
    kinds: BTreeMap<String, String>,
    missing: &str,
    guess: bool,
) -> PyResult<EncodingOptions> {
    let read = |(column, kind): (String, String)| match kind.parse() {
        Ok(kind) => Ok((column, kind)),
        Err(_) => Err(PyValueError::new_err(format!(
            "`kinds` has `{kind}` for column `{column}`; it must be one of {}",
            ColumnKind::ALL.map(ColumnKind::name).join(", ")
        ))),
    };
    let kinds = kinds.into_iter().map(read).collect::<PyResult<_>>()?;
    let missing = missing.parse().map_err(|e| exception(&e))?;
    Ok(EncodingOptions { kinds, missing, guess, ..EncodingOptions::default() })
}

/// What an encoding knows, by name: the compared columns, those left out, and which encoded columns belong together.
pub(crate) fn described<'py>(py: Python<'py>, encoding: &Encoding) -> PyResult<Bound<'py, PyDict>> {
    let known = PyDict::new(py);
    let mut columns = Vec::with_capacity(encoding.columns().len());
    for column in encoding.columns() {
        let about = PyDict::new(py);
        about.set_item("name", column.name())?;
        about.set_item("kind", column.kind().name())?;
        about.set_item("gaps", column.gap_share())?;
        let total = column.observations();
        let levels = column.levels().iter().map(|level| (level.name.clone(), level.count / total));
        about.set_item("levels", levels.collect::<Vec<_>>())?;
        columns.push(about);
    }
    known.set_item("columns", columns)?;
    let left_out = encoding.left_out().iter().map(|left| (left.name.clone(), left.why.to_string()));
    known.set_item("left_out", left_out.collect::<Vec<_>>())?;
    let groups = encoding.layout().groups().iter().map(|group| {
        let kind = match group.kind {
            GroupKind::Number => "number",
            GroupKind::Category => "category",
            GroupKind::Gap => "gap",
        };
        (group.column, kind, group.start, group.width)
    });
    known.set_item("groups", groups.collect::<Vec<_>>())?;
    Ok(known)
}

pub(crate) fn note(note: CellNote) -> Note {
    let (what, text) = match note.what {
        CellNoteKind::Gap => ("gap", String::new()),
        CellNoteKind::NewLevel(text) => ("new-level", text),
        CellNoteKind::Unread(text) => (UNREAD, text),
    };
    (note.row, note.column, what, text)
}
