//! Models from the bytes of files, and as such.

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

/// The bytes of an archive of either kind, with names for the columns and notes by name.
macro_rules! written {
    ($py:expr, $archive:expr, $columns:expr, $extras:expr) => {{
        let (mut archive, columns): (_, Option<Vec<String>>) = ($archive, $columns);
        for (name, text) in $extras {
            archive = archive.extra(name, text);
        }
        let bytes = $crate::interrupt::interruptible($py, move |_| match columns {
            Some(names) => archive.columns(names)?.to_bytes(),
            None => archive.to_bytes(),
        })?;
        Ok(pyo3::types::PyBytes::new($py, &bytes.map_err(|e| $crate::convert::exception(&e))?))
    }};
}
pub(crate) use written;

/// The function that reads the bytes of a model, and the bytes.
pub(crate) fn pickled<T>(py: Python<'_>, bytes: T) -> PyResult<(Bound<'_, PyAny>, (T,))> {
    Ok((py.import("lossdepth._native")?.getattr("unpickle")?, (bytes,)))
}

/// A model from the bytes of a file, with the names of its columns and the notes in it. Where the file does not limit the
/// memory for kernel values, `memory` does.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, data: PyBackedBytes, memory: Option<f64>) -> PyResult<Loaded> {
    macro_rules! load {
        ($archive:ty, $model:ty, |$read:ident| $fit:expr) => {{
            let loaded = interruptible(py, move |_| {
                let $read = <$archive>::from_bytes(&data)?;
                drop(data);
                let memory = $read.settings().memory.or(memory);
                let $read = $read.memory(memory);
                Ok(($fit?, $read.column_names().map(<[_]>::to_vec), $read.extras().clone()))
            })?;
            let (fitted, columns, extras) = loaded.map_err(|e: lossdepth::DepthError| exception(&e))?;
            Ok((Py::new(py, <$model>::of(fitted))?.into_any(), columns, extras))
        }};
    }
    if SparseArchive::recognises(&data) {
        load!(SparseArchive, SparseModel, |archive| archive.model(None))
    } else {
        load!(Archive, Model, |archive| archive.model())
    }
}

/// A model from the bytes that [`Model::__reduce__`] gave.
#[pyfunction]
pub(crate) fn unpickle(py: Python<'_>, data: PyBackedBytes) -> PyResult<Py<PyAny>> {
    load(py, data, None).map(|(model, _, _)| model)
}
