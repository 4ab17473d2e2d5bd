//! Two samples, for `lossdepth.compare`.

use crate::convert::{choice, named_exception, read_settings};
use crate::interrupt::interruptible;
use crate::table::{Table, described, options};
use lossdepth::Run;
use lossdepth::stats::two_sample::{ColumnShift, CompareOptions, Comparison};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;

/// Tests of whether two tables come from one distribution, and how each column moved.
#[pyfunction]
#[pyo3(signature = (
    first, second, weights, tests, method, settings, kinds, missing, permutations, seed, max_rows, threads
))]
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "a call from Python, where they have names"
)]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    first: &Bound<'py, Table>,
    second: &Bound<'py, Table>,
    weights: [Option<PyReadonlyArray1<'py, f64>>; 2],
    tests: Vec<String>,
    method: &Bound<'py, PyAny>,
    settings: &Bound<'py, PyDict>,
    kinds: BTreeMap<String, String>,
    missing: &str,
    permutations: usize,
    seed: u64,
    max_rows: usize,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let unnamed = |error: lossdepth::DepthError| named_exception(&error, Vec::new());
    let settings = read_settings(choice("method", method)?, settings)?;
    let encoding = options(kinds, missing, true)?;
    let tests = tests.iter().map(|test| test.parse()).collect::<Result<_, _>>().map_err(unnamed)?;
    let asked = CompareOptions { tests, settings, permutations, seed, max_rows };
    let weights = weights.map(|weights| weights.map(|weights| weights.as_array().to_vec()));
    let (first, second) = (first.get().shared(), second.get().shared());
    let found = interruptible(py, move |cancel| {
        let run = Run { threads, cancel: Some(cancel), ..Run::default() };
        let weights = [weights[0].as_deref(), weights[1].as_deref()];
        Comparison::of_tables([&first, &second], weights, &encoding, &asked, &run)
    })?;
    let (found, encoding) = found.map_err(unnamed)?;
    let answer = described(py, &encoding)?;
    answer.set_item("rows", found.rows)?;
    answer.set_item("used", found.used)?;
    answer.set_item("unmatched", &found.left_out)?;
    let tests = found.tests.iter().map(|test| (test.test.name(), test.statistic, test.p, test.adjusted));
    answer.set_item("tests", tests.collect::<Vec<_>>())?;
    let shifts = found.columns.iter().map(|column| shift(py, column)).collect::<PyResult<Vec<_>>>()?;
    answer.set_item("shifts", PyList::new(py, shifts)?)?;
    Ok(answer)
}

fn shift<'py>(py: Python<'py>, column: &ColumnShift) -> PyResult<Bound<'py, PyDict>> {
    let about = PyDict::new(py);
    about.set_item("column", &column.name)?;
    about.set_item("distance", column.distance)?;
    about.set_item("p", column.p)?;
    about.set_item("adjusted", column.adjusted)?;
    let (what, [first, second]) = column.shifted.in_words();
    about.set_item("what", what)?;
    about.set_item("first", first)?;
    about.set_item("second", second)?;
    Ok(about)
}
