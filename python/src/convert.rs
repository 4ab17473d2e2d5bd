//! Between Python's objects and the library's: settings, arrays, errors.

use lossdepth::kernel::Gamma;
use lossdepth::model::{Kind, Setting, Value};
use lossdepth::{DepthError, Method, Preset, Settings};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::str::FromStr;

/// The one place where an error of the library becomes an exception.
pub(crate) fn exception(error: &DepthError) -> PyErr {
    match error {
        DepthError::Cancelled => PyKeyboardInterrupt::new_err(()),
        DepthError::Threads { .. } => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// [`exception`] with the names of the columns that the message counts.
pub(crate) fn named_exception(error: &DepthError, names: Vec<String>) -> PyErr {
    match error {
        DepthError::Cancelled | DepthError::Threads { .. } => exception(error),
        _ if names.is_empty() => exception(error),
        _ => PyValueError::new_err((error.to_string(), names)),
    }
}

/// The settings that a preset has for a method and a sample of `n` observations.
#[pyfunction]
pub(crate) fn preset<'py>(py: Python<'py>, name: &str, method: &str, n: f64) -> PyResult<Bound<'py, PyDict>> {
    let values = name.parse::<Preset>().and_then(|preset| preset.values(method.parse()?, n));
    written(py, values.map_err(|e| exception(&e))?)
}

/// Reads the settings of a method, by name.
pub(crate) fn read_settings(method: Method, given: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let mut values = Vec::with_capacity(given.len());
    for (name, value) in given {
        let name: String = name.extract()?;
        let setting = method.setting(&name).map_err(|e| exception(&e))?;
        values.push((setting.name, read(&setting, &value)?));
    }
    Settings::with(method, values).map_err(|e| exception(&e))
}

fn read(setting: &Setting, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let name = setting.name;
    Ok(match setting.kind {
        Kind::OptionalNumber if value.is_none() => Value::None,
        Kind::Number | Kind::OptionalNumber => Value::Number(number(name, value)?),
        // Whether a number is whole is part of what some settings mean.
        Kind::NumberOr(_) | Kind::Gamma => match (value.extract(), value.extract()) {
            (Ok(count), _) => Value::Count(count),
            (_, Ok(number)) => Value::Number(number),
            _ => setting.parse(&text_or_number(name, value)?).map_err(|e| exception(&e))?,
        },
        Kind::Count => Value::Count(count(name, value)?),
        Kind::Counts => Value::Counts(counts(name, value)?),
        Kind::Choice(_) => Value::Text(text(name, value)?),
    })
}

/// For every method, what is known of its settings by name: kind, names to choose from, range, help and details.
pub(crate) fn declared_settings(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let methods = PyDict::new(py);
    for method in Method::ALL {
        let settings = PyDict::new(py);
        for name in method.settings() {
            let setting = method.setting(name).map_err(|e| exception(&e))?;
            let (kind, choices): (&str, &[&str]) = match setting.kind {
                Kind::Number => ("number", &[]),
                Kind::OptionalNumber => ("optional-number", &[]),
                Kind::NumberOr(names) => ("number-or", names),
                Kind::Gamma => ("gamma", &Gamma::NAMES),
                Kind::Count => ("count", &[]),
                Kind::Counts => ("counts", &[]),
                Kind::Choice(names) => ("choice", names),
            };
            let known = PyDict::new(py);
            known.set_item("kind", kind)?;
            known.set_item("choices", PyTuple::new(py, choices)?)?;
            known.set_item("range", setting.range.to_string())?;
            known.set_item("help", setting.help)?;
            known.set_item("details", setting.details)?;
            settings.set_item(name, known)?;
        }
        methods.set_item(method.name(), settings)?;
    }
    Ok(methods)
}

/// The settings of a fitted model, as [`read_settings`] takes them.
pub(crate) fn written_settings<'py>(py: Python<'py>, settings: &Settings) -> PyResult<Bound<'py, PyDict>> {
    written(py, settings.values())
}

/// Settings by name as Python's values.
pub(crate) fn written<'py>(
    py: Python<'py>,
    values: Vec<(&'static str, Value)>,
) -> PyResult<Bound<'py, PyDict>> {
    let written = PyDict::new(py);
    for (name, value) in values {
        match value {
            Value::Count(count) => written.set_item(name, count)?,
            Value::Counts(counts) => written.set_item(name, PyTuple::new(py, counts)?)?,
            Value::Number(number) => written.set_item(name, number)?,
            Value::Text(text) => written.set_item(name, text)?,
            Value::None => written.set_item(name, py.None())?,
        }
    }
    Ok(written)
}

/// Reads a setting that is a number.
pub(crate) fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|_| wrong_type(name, "a number", value))
}

/// Reads a setting that counts something.
fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            PyValueError::new_err(format!("`{name}` must not be negative or huge, got {value}"))
        } else {
            wrong_type(name, "a whole number", value)
        }
    })
}

/// Reads a setting of one whole number or several.
fn counts(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let wrong = || wrong_type(name, "a whole number or several", value);
    if value.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    match value.try_iter() {
        Ok(several) => several.map(|one| count(name, &one?)).collect(),
        Err(_) => count(name, value)
            .map(|one| vec![one])
            .map_err(|error| if error.is_instance_of::<PyTypeError>(value.py()) { wrong() } else { error }),
    }
}

/// Reads a setting that is text.
fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract().map_err(|_| wrong_type(name, "a string", value))
}

fn text_or_number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract().map_err(|_| wrong_type(name, "a string or a number", value))
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
