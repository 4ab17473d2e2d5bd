//! The oddest rows of a table, for `lossdepth.outliers`.

use crate::convert::{choice, named_exception, read_settings};
use crate::interrupt::interruptible;
use crate::table::{Table, described, options};
use lossdepth::data::Encoding;
use lossdepth::outliers::{Outlier, OutlierOptions, Outliers, Queries};
use lossdepth::{Reference, Run};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;

/// The oddest rows of a table against itself or a reference: what is compared, and a dictionary a row.
#[pyfunction]
#[pyo3(signature = (columns, reference, weights, method, settings, kinds, missing, top, reasons, threads))]
#[expect(clippy::too_many_arguments, reason = "a call from Python, where they have names")]
pub(crate) fn outliers<'py>(
    py: Python<'py>,
    columns: &Bound<'py, Table>,
    reference: Option<&Bound<'py, Table>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    method: &Bound<'py, PyAny>,
    settings: &Bound<'py, PyDict>,
    kinds: BTreeMap<String, String>,
    missing: &str,
    top: usize,
    reasons: usize,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = read_settings(choice("method", method)?, settings)?;
    let options = options(kinds, missing, true)?;
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let table = columns.get().shared();
    let sample = reference.map_or_else(|| columns.get().shared(), |reference| reference.get().shared());
    let own = reference.is_none();
    let asked = OutlierOptions { top, reasons, ..OutlierOptions::default() };
    let found = interruptible(py, move |cancel| {
        let unnamed = |error| (error, Vec::new());
        let (encoding, encoded) = Encoding::learn(&sample, weights.as_deref(), &options).map_err(unnamed)?;
        let kept = |weights: Vec<f64>| encoded.rows.iter().map(|&row| weights[row]).collect::<Vec<f64>>();
        let weights = weights.map(kept);
        let named = |error| (error, encoding.columns().iter().map(|c| c.name().to_owned()).collect());
        let reference =
            Reference::from_vec(encoded.values.clone(), encoded.width, weights.clone()).map_err(named)?;
        let reference = reference.with_layout(encoding.layout().clone()).map_err(named)?;
        let model = settings.fit(&reference).map_err(named)?;
        let of_queries = if own { None } else { Some(encoding.encode(&table).map_err(unnamed)?) };
        let encoded = of_queries.as_ref().unwrap_or(&encoded);
        let queries = Queries::new(&table, &encoding, encoded, own).map_err(named)?;
        let queries = Queries { weights: weights.as_deref().filter(|_| own), ..queries };
        let run = Run { threads, cancel: Some(cancel), ..Run::default() };
        let found = Outliers::find(&model, queries, &asked, &run).map_err(named)?;
        Ok((encoding, found))
    })?;
    let (encoding, found) = found.map_err(|(error, names)| named_exception(&error, names))?;
    let answer = described(py, &encoding)?;
    answer.set_item("rows", found.fits.len())?;
    answer.set_item("unconverged", found.unconverged)?;
    answer.set_item("id", encoding.id())?;
    let each = found.found.iter().map(|row| described_row(py, row)).collect::<PyResult<Vec<_>>>()?;
    answer.set_item("found", PyList::new(py, each)?)?;
    Ok(answer)
}

fn described_row<'py>(py: Python<'py>, row: &Outlier) -> PyResult<Bound<'py, PyDict>> {
    let about = PyDict::new(py);
    about.set_item("row", row.row)?;
    about.set_item("name", row.name.as_deref())?;
    about.set_item("depth", row.fit.depth)?;
    about.set_item("error", row.fit.error)?;
    about.set_item("stderr", row.fit.stderr)?;
    about.set_item("p", row.p)?;
    about.set_item("percentile", row.percentile)?;
    let reason =
        |r: &lossdepth::outliers::WordedReason| (r.name.clone(), r.value.clone(), r.text.clone(), r.share);
    about.set_item("reasons", row.reasons.iter().map(reason).collect::<Vec<_>>())?;
    let change = |c: &lossdepth::outliers::Change| (c.name.clone(), c.from.clone(), c.to.clone());
    about.set_item("changes", row.changes.iter().map(change).collect::<Vec<_>>())?;
    Ok(about)
}
