//! Between Python's objects and the library's: settings, arrays, errors.

use lossdepth::DepthError;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::str::FromStr;

/// The one place where an error of the library becomes an exception.
pub(crate) fn exception(error: &DepthError) -> PyErr {
    match error {
        DepthError::Cancelled => PyKeyboardInterrupt::new_err(()),
        DepthError::Threads { .. } => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Reads a setting that is a number.
pub(crate) fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|_| wrong_type(name, "a number", value))
}

/// Reads a setting that counts something.
pub(crate) fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            PyValueError::new_err(format!("`{name}` must be at least 1, got {value}"))
        } else {
            wrong_type(name, "a whole number", value)
        }
    })
}

/// Reads a setting that is text.
pub(crate) fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract().map_err(|_| wrong_type(name, "a string", value))
}

/// Reads a setting that is chosen by name.
pub(crate) fn choice<T: FromStr<Err = DepthError>>(name: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    text(name, value)?.parse().map_err(|error| exception(&error))
}

fn wrong_type(name: &str, expected: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let got = value.repr().map_or_else(|_| "something else".into(), |repr| repr.to_string());
    PyTypeError::new_err(format!("`{name}` must be {expected}, got {got}"))
}

/// The numbers of a table, row by row, and its width.
pub(crate) fn table<'a>(rows: &'a PyReadonlyArray2<'_, f64>) -> PyResult<(&'a [f64], usize)> {
    if !rows.is_c_contiguous() {
        return Err(PyValueError::new_err("the rows must be C-contiguous"));
    }
    Ok((rows.as_slice()?, rows.shape()[1]))
}

/// A table of `width` columns from its numbers.
pub(crate) fn array2(py: Python<'_>, numbers: Vec<f64>, width: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let rows = numbers.len() / width;
    numbers.into_pyarray(py).reshape([rows, width])
}
