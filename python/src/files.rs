//! Files, and what this machine has to offer: the same code as the command line's.

use crate::interrupt::interruptible;
use lossdepth_files::{AtomicFile, memory};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::io;
use std::path::{Path, PathBuf};

/// Writes a file, complete or not at all; straight into a device or a FIFO.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, data: PyBackedBytes) -> PyResult<()> {
    let target = path.clone();
    let written = interruptible(py, move |_| AtomicFile::write(&target, &data))?;
    written.map_err(|error| os_error(&path, &error))
}

/// Half of the memory that this process may use, in bytes; none if the system does not say how much that is.
#[pyfunction]
pub(crate) fn half_of_memory() -> Option<f64> {
    memory::half()
}

/// The `OSError` that Python has for it, with the path.
fn os_error(path: &Path, error: &io::Error) -> PyErr {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, text.to_owned(), path.to_owned())),
        None => io::Error::new(error.kind(), format!("{}: {text}", path.display())).into(),
    }
}
