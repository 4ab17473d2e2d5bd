//! References in pieces as Python objects.

use crate::convert::{exception, named_exception};
use crate::interrupt::interruptible;
use crate::table::Table;
use lossdepth::data::ReferenceSketch;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A bounded sample of the rows of tables, which does not depend on how they are divided and ordered. Nothing changes it:
/// adding and merging give a new one.
#[pyclass(module = "lossdepth._native", frozen)]
pub(crate) struct Sketch {
    rows: Arc<ReferenceSketch>,
}

#[pymethods]
impl Sketch {
    /// An empty one for tables with these columns.
    #[new]
    fn new(
        names: Vec<String>,
        reference_rows: usize,
        seed: u64,
        notes: BTreeMap<String, String>,
    ) -> PyResult<Self> {
        let empty = ReferenceSketch::new(names).and_then(|empty| empty.with_capacity(reference_rows));
        let empty = empty.map_err(|e| exception(&e))?.with_seed(seed);
        let noted = notes.into_iter().fold(empty, |sketch, (name, text)| sketch.with_note(name, text));
        Ok(Self::of(noted))
    }

    /// With the rows of a table.
    fn add(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        self.changed(py, table, weights, ReferenceSketch::add)
    }

    /// Without the rows of a table.
    fn remove(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        self.changed(py, table, weights, ReferenceSketch::remove)
    }

    /// With the rows of others.
    #[expect(clippy::needless_pass_by_value, reason = "a list from Python comes by value")]
    fn merge(&self, py: Python<'_>, others: Vec<Bound<'_, Self>>) -> PyResult<Self> {
        let rows = Arc::clone(&self.rows);
        let others: Vec<_> = others.iter().map(|other| Arc::clone(&other.get().rows)).collect();
        let merged = interruptible(py, move |_| {
            let mut rows = Arc::unwrap_or_clone(rows);
            others.iter().try_for_each(|other| rows.merge(other)).map(|()| rows)
        })?;
        merged.map(Self::of).map_err(|e| exception(&e))
    }

    /// The rows to compare with, and their weights unless all are 1.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<(Table, Option<Bound<'py, PyArray1<f64>>>)> {
        let (table, weights) = self.rows.table().map_err(|e| exception(&e))?;
        Ok((Table::shared_of(table), weights.map(|weights| weights.into_pyarray(py))))
    }

    /// The sketch as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let rows = Arc::clone(&self.rows);
        let bytes = interruptible(py, move |_| rows.to_bytes())?;
        Ok(PyBytes::new(py, &bytes.map_err(|e| exception(&e))?))
    }

    /// A sketch from its bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes) -> PyResult<Self> {
        let rows = interruptible(py, move |_| ReferenceSketch::from_bytes(&data))?;
        rows.map(Self::of).map_err(|e| exception(&e))
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.rows.names().to_vec()
    }

    /// The caller's notes.
    #[getter]
    fn notes(&self) -> BTreeMap<String, String> {
        self.rows.notes().clone()
    }

    /// How many different rows are kept at most.
    #[getter]
    fn reference_rows(&self) -> usize {
        self.rows.capacity()
    }

    /// What decides which rows are kept.
    #[getter]
    fn seed(&self) -> u64 {
        self.rows.seed()
    }

    /// How many rows were added, copies counted.
    #[getter]
    fn observations(&self) -> u64 {
        self.rows.observations()
    }

    /// Whether no row was dropped.
    #[getter]
    fn complete(&self) -> bool {
        self.rows.is_complete()
    }

    /// How many different rows are kept.
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// The function that reads the bytes, and the bytes.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let reader = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((reader, (self.to_bytes(py)?,)))
    }
}

impl Sketch {
    fn of(rows: ReferenceSketch) -> Self {
        Self { rows: Arc::new(rows) }
    }

    fn changed(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        change: fn(&mut ReferenceSketch, &lossdepth::data::Table, Option<&[f64]>) -> lossdepth::Result<()>,
    ) -> PyResult<Self> {
        let (rows, table) = (Arc::clone(&self.rows), table.get().shared());
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let changed = interruptible(py, move |_| {
            let mut rows = Arc::unwrap_or_clone(rows);
            change(&mut rows, &table, weights.as_deref()).map(|()| rows)
        })?;
        changed.map(Self::of).map_err(|e| named_exception(&e, self.rows.names().to_vec()))
    }
}
