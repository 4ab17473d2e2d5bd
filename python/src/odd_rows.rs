//! The oddest rows of a table, for `lossdepth.outliers`.

use crate::convert::{choice, named_exception, read_settings};
use crate::interrupt::interruptible;
use crate::table::{Table, described, options};
use lossdepth::data::{CellNote, Encoded, Encoding, EncodingOptions};
use lossdepth::outliers::{Outlier, OutlierOptions, Outliers, Queries};
use lossdepth::{DepthError, Model, Reference, Run, Settings};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
    let question = Question {
        settings,
        options: options(kinds, missing, true)?,
        weights: weights.map(|weights| weights.as_array().to_vec()),
        table: columns.get().shared(),
        reference: reference.map(|reference| reference.get().shared()),
        asked: OutlierOptions { top, reasons, ..OutlierOptions::default() },
        threads,
    };
    let found = interruptible(py, move |cancel| {
        question.answer(cancel, |_, queries, found, _| Ok((queries.encoding.clone(), found)))
    })?;
    let (encoding, found) = found.map_err(|(error, names)| named_exception(&error, names))?;
    described_rows(py, &encoding, &found)
}

/// What is compared, and a dictionary for each of the oddest rows.
pub(crate) fn described_rows<'py>(
    py: Python<'py>,
    encoding: &Encoding,
    found: &Outliers,
) -> PyResult<Bound<'py, PyDict>> {
    let answer = described(py, encoding)?;
    answer.set_item("rows", found.fits.len())?;
    answer.set_item("unconverged", found.unconverged)?;
    answer.set_item("id", encoding.id())?;
    let each = found.found.iter().map(|row| described_row(py, row)).collect::<PyResult<Vec<_>>>()?;
    answer.set_item("found", PyList::new(py, each)?)?;
    Ok(answer)
}

/// A table, what it is compared with, and what is asked about it.
pub(crate) struct Question {
    pub(crate) settings: Settings,
    pub(crate) options: EncodingOptions,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) table: Arc<lossdepth::data::Table>,
    /// The table to compare with; none for the table itself.
    pub(crate) reference: Option<Arc<lossdepth::data::Table>>,
    pub(crate) asked: OutlierOptions,
    pub(crate) threads: Option<usize>,
}

/// An error, and the names of the columns that it counts.
pub(crate) type Named = (DepthError, Vec<String>);

impl Question {
    /// Fits, finds the oddest rows, and hands both to `then`, with the rows of the reference and notes about them.
    pub(crate) fn answer<T>(
        self,
        cancel: &AtomicBool,
        then: impl FnOnce(&Model, Queries<'_>, Outliers, (&[usize], &[CellNote])) -> Result<T, DepthError>,
    ) -> Result<T, Named> {
        let unnamed = |error| (error, Vec::new());
        let (own, sample) = (self.reference.is_none(), self.reference.as_ref().unwrap_or(&self.table));
        let (encoding, encoded) =
            Encoding::learn(sample, self.weights.as_deref(), &self.options).map_err(unnamed)?;
        let Encoded { values, width, rows, notes } = encoded;
        let kept = |weights: Vec<f64>| rows.iter().map(|&row| weights[row]).collect::<Vec<f64>>();
        let weights = self.weights.map(kept);
        let named = |error| (error, encoding.columns().iter().map(|c| c.name().to_owned()).collect());
        let reference = Reference::from_vec(values, width, weights.clone()).map_err(named)?;
        let reference = reference.with_layout(encoding.layout().clone()).map_err(named)?;
        let model = self.settings.fit(&reference).map_err(named)?;
        let of_queries = if own { None } else { Some(encoding.encode(&self.table).map_err(unnamed)?) };
        let queries = match &of_queries {
            Some(encoded) => Queries::new(&self.table, &encoding, encoded, false).map_err(named)?,
            None => Queries {
                table: &self.table,
                encoding: &encoding,
                rows: reference.rows(),
                numbers: &rows,
                notes: &notes,
                names: None,
                weights: weights.as_deref(),
                own: true,
            },
        };
        let learned = (&rows[..], &notes[..]);
        let run = Run { threads: self.threads, cancel: Some(cancel), ..Run::default() };
        let found = Outliers::find(&model, queries, &self.asked, &run).map_err(named)?;
        then(&model, queries, found, learned).map_err(named)
    }
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
