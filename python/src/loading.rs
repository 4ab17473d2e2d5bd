//! Models from the bytes of files.

use crate::convert::exception;
use crate::interrupt::interruptible;
use crate::model::Model;
use crate::sparse::SparseModel;
use lossdepth::model::archive::{Archive, SparseArchive};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::collections::BTreeMap;

/// A model, the names of its columns, and the notes in its file.
type Loaded = (Py<PyAny>, Option<Vec<String>>, BTreeMap<String, String>);

/// A model from the bytes of a file, with the names of its columns and the notes in it. Where the file does not limit the
/// memory for kernel values, `memory` does.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, data: PyBackedBytes, memory: Option<f64>) -> PyResult<Loaded> {
    if SparseArchive::recognises(&data) {
        return load_sparse(py, data, memory);
    }
    let loaded = interruptible(py, move |_| {
        let archive = Archive::from_bytes(&data)?;
        drop(data);
        let memory = archive.settings().memory.or(memory);
        let archive = archive.memory(memory);
        Ok((archive.model()?, archive.column_names().map(<[_]>::to_vec), archive.extras().clone()))
    })?;
    let (fitted, columns, extras) = loaded.map_err(|e| exception(&e))?;
    Ok((Py::new(py, Model::of(fitted))?.into_any(), columns, extras))
}

fn load_sparse(py: Python<'_>, data: PyBackedBytes, memory: Option<f64>) -> PyResult<Loaded> {
    let loaded = interruptible(py, move |_| {
        let archive = SparseArchive::from_bytes(&data)?;
        drop(data);
        let memory = archive.settings().memory.or(memory);
        let archive = archive.memory(memory);
        Ok((archive.model(None)?, archive.column_names().map(<[_]>::to_vec), archive.extras().clone()))
    })?;
    let (fitted, columns, extras) = loaded.map_err(|e: lossdepth::DepthError| exception(&e))?;
    Ok((Py::new(py, SparseModel::of(fitted))?.into_any(), columns, extras))
}

/// A model from the bytes that [`Model::__reduce__`] gave.
#[pyfunction]
pub(crate) fn unpickle(py: Python<'_>, data: PyBackedBytes) -> PyResult<Py<PyAny>> {
    load(py, data, None).map(|(model, _, _)| model)
}
