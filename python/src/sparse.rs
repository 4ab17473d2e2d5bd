//! A depth fitted to sparse rows as a Python object.

use crate::archive::{pickled, written};
use crate::convert::{choice, exception, read_settings, written_settings};
use crate::interrupt::interruptible;
use crate::scores::{Scores, percentiles, scores};
use lossdepth::data::{SparseReference, SparseRows};
use lossdepth::model::SparseModel as Fitted;
use lossdepth::model::archive::SparseArchive;
use lossdepth::model::sparse::SparseExplanation;
use lossdepth::{Fit, Run};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows in compressed form: starts, columns, numbers, and how many columns there are.
type Given<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>, usize);
/// The same, to return.
type Returned<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>, Floats<'py>, usize);
type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Table<'py> = Bound<'py, PyArray2<f64>>;

/// A depth fitted to a reference sample of sparse rows.
///
/// Pickles as the bytes of a model file.
#[pyclass(module = "lossdepth._native", frozen)]
pub(crate) struct SparseModel {
    fitted: Arc<Fitted>,
}

#[pymethods]
impl SparseModel {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn new(
        py: Python<'_>,
        rows: Given<'_>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        method: &Bound<'_, PyAny>,
        settings: &Bound<'_, PyDict>,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        let settings = read_settings(choice("method", method)?, settings)?;
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let rows = sparse(&rows)?;
        let fitted =
            interruptible(py, move |_| settings.fit_sparse(&SparseReference::new(rows, weights)?, memory))?;
        Ok(Self::of(fitted.map_err(|e| exception(&e))?))
    }

    /// The depth, error, standard error, iterations and reason to stop of each row; `depths_only` leaves the standard
    /// errors out.
    #[pyo3(signature = (rows, threads, *, depths_only = false))]
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn score<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        threads: usize,
        depths_only: bool,
    ) -> PyResult<Scores<'py>> {
        let (model, rows) = (Arc::clone(&self.fitted), sparse(&rows)?);
        let fits = interruptible(py, move |cancel| {
            let (threads, cancel) = (Some(threads), Some(cancel));
            model.score(&rows, &Run { threads, cancel, depths_only, ..Run::default() })
        })?;
        Ok(scores(py, &fits.map_err(|e| exception(&e))?))
    }

    /// The share of the reference that is at most as deep, of each depth.
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn percentiles<'py>(
        &self,
        py: Python<'py>,
        depths: PyReadonlyArray1<'py, f64>,
        threads: usize,
    ) -> PyResult<Floats<'py>> {
        percentiles(py, &self.fitted, &depths, threads, Fitted::percentiles)
    }

    /// The scores of each row, and by name what its classifier is made of: `most` columns of a linear one, in compressed form.
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        most: usize,
        threads: usize,
    ) -> PyResult<(Scores<'py>, Bound<'py, PyDict>)> {
        let (model, rows) = (Arc::clone(&self.fitted), sparse(&rows)?);
        let found = interruptible(py, move |cancel| {
            let (threads, cancel) = (Some(threads), Some(cancel));
            model.explain(&rows, most, &Run { threads, cancel, ..Run::default() })
        })?;
        let found = found.map_err(|e| exception(&e))?;
        let fits: Vec<Fit> = found.iter().map(|e| e.explanation.fit).collect();
        let column =
            |f: fn(&SparseExplanation) -> f64| found.iter().map(f).collect::<Vec<_>>().into_pyarray(py);
        let block = |f: fn(&SparseExplanation) -> Option<&[f64]>| -> PyResult<Option<Table<'py>>> {
            let numbers: Vec<f64> = found.iter().filter_map(f).flatten().copied().collect();
            let width = self.reference_len();
            let whole = numbers.len() == found.len() * width;
            whole.then(|| crate::convert::array2(py, numbers, width)).transpose()
        };
        let columns = || found.iter().flat_map(|e| &e.columns);
        let mut starts = vec![0i64];
        for e in &found {
            starts.push(starts[starts.len() - 1] + i64::try_from(e.columns.len()).unwrap_or(i64::MAX));
        }
        let parts = PyDict::new(py);
        parts.set_item("value", column(|e| e.explanation.value))?;
        parts.set_item("baseline", column(|e| e.explanation.baseline))?;
        parts.set_item("intercept", column(|e| e.intercept))?;
        parts.set_item("rest", column(|e| e.rest))?;
        parts.set_item("influence", block(|e| e.explanation.influence.as_deref())?)?;
        parts.set_item("witness", block(|e| e.explanation.witness())?)?;
        parts.set_item("starts", starts.into_pyarray(py))?;
        let places = columns().map(|c| i64::try_from(c.column).unwrap_or(i64::MAX)).collect::<Vec<_>>();
        parts.set_item("columns", places.into_pyarray(py))?;
        let of = |f: fn(&lossdepth::model::sparse::ColumnWeight) -> f64| {
            columns().map(f).collect::<Vec<_>>().into_pyarray(py)
        };
        parts.set_item("weights", of(|c| c.weight))?;
        parts.set_item("contributions", of(|c| c.contribution))?;
        Ok((scores(py, &fits), parts))
    }

    /// The bytes of a model file, with names for the columns and notes by name.
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        columns: Option<Vec<String>>,
        extras: BTreeMap<String, String>,
        memory: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        written!(py, SparseArchive::of(&self.fitted).memory(memory), columns, extras)
    }

    /// The rows of the reference, and their weights as given.
    fn reference<'py>(&self, py: Python<'py>) -> (Returned<'py>, Option<Floats<'py>>) {
        let sample = self.fitted.reference();
        let rows = sample.rows();
        let starts = rows.starts().iter().map(|start| i64::try_from(*start).unwrap_or(i64::MAX));
        let starts = starts.collect::<Vec<_>>().into_pyarray(py);
        let (columns, values) =
            (rows.columns().to_vec().into_pyarray(py), rows.values().to_vec().into_pyarray(py));
        let weights = sample.given_weights().map(|weights| weights.to_vec().into_pyarray(py));
        ((starts, columns, values, rows.width()), weights)
    }

    /// The name of the method.
    #[getter]
    fn method(&self) -> &'static str {
        self.fitted.settings().method.name()
    }

    /// The settings of the method, by name.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        written_settings(py, self.fitted.settings())
    }

    /// How many columns a query must have.
    #[getter]
    fn width(&self) -> usize {
        self.fitted.width()
    }

    /// How many rows the reference has.
    #[getter]
    fn reference_len(&self) -> usize {
        self.fitted.reference().len()
    }

    /// Always `None`: sparse rows are numbers.
    #[getter]
    fn encoding(&self) -> Option<bool> {
        let _ = self;
        None
    }

    /// Always `None`: sparse rows are numbers.
    #[getter]
    fn compared(&self) -> Option<bool> {
        let _ = self;
        None
    }

    fn __repr__(&self) -> String {
        let (method, n, d) = (self.method(), self.reference_len(), self.width());
        format!("<lossdepth model: {method}, {n} sparse reference rows, {d} columns>")
    }

    /// The function that reads the bytes, and the bytes.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        pickled(py, self.to_bytes(py, None, BTreeMap::new(), self.fitted.settings().memory)?)
    }

    /// Nothing can change it, so a copy is the thing itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Nothing can change it, so a copy is the thing itself.
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}

impl SparseModel {
    /// The model itself, as an object of Python.
    pub(crate) fn of(fitted: Fitted) -> Self {
        Self { fitted: Arc::new(fitted) }
    }
}

fn sparse((starts, columns, values, width): &Given<'_>) -> PyResult<SparseRows> {
    // A negative start is as wrong as one beyond the end.
    let starts =
        starts.as_array().iter().map(|&start| usize::try_from(start).unwrap_or(usize::MAX)).collect();
    let (columns, values) = (columns.as_array().to_vec(), values.as_array().to_vec());
    SparseRows::new(starts, columns, values, *width).map_err(|e| exception(&e))
}
