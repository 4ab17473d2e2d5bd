//! Pages about the oddest rows, for `lossdepth.report` and the estimators' `report`.

use crate::convert::{choice, named_exception, read_settings};
use crate::interrupt::interruptible;
use crate::odd_rows::{Named, Question};
use crate::table::{Table, encoding_of_numbers, options};
use lossdepth::data::{CellNote, Encoding, EncodingOptions};
use lossdepth::outliers::{OutlierOptions, Outliers, Queries};
use lossdepth::{DepthError, Model, Run};
use lossdepth_plot::report::{Assembly, ComparedWith, ReferenceTable};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// The page, how many rows were scored, and how many of them missed the tolerance.
type Written = (String, usize, usize);

/// What a page says about the tables, beside what is found in them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct About {
    name: String,
    columns: usize,
    reference_name: String,
    reference_columns: usize,
    title: Option<String>,
    masked: Vec<String>,
    /// Names of the rows, used where no column names them.
    row_names: Option<Vec<String>>,
}

/// A page about the oddest rows of a table against itself or a reference.
#[pyfunction]
#[pyo3(signature = (columns, reference, weights, method, settings, kinds, missing, top, threads, about))]
#[expect(clippy::too_many_arguments, reason = "a call from Python, where they have names")]
pub(crate) fn report(
    py: Python<'_>,
    columns: &Bound<'_, Table>,
    reference: Option<&Bound<'_, Table>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    method: &Bound<'_, PyAny>,
    settings: &Bound<'_, PyDict>,
    kinds: BTreeMap<String, String>,
    missing: &str,
    top: usize,
    threads: Option<usize>,
    about: About,
) -> PyResult<Written> {
    let settings = read_settings(choice("method", method)?, settings)?;
    let question = Question {
        settings,
        options: options(kinds, missing, true)?,
        weights: weights.map(|weights| weights.as_array().to_vec()),
        table: columns.get().shared(),
        reference: reference.map(|reference| reference.get().shared()),
        asked: OutlierOptions { top, ..OutlierOptions::default() },
        threads,
    };
    let written = interruptible(py, move |cancel| {
        question.answer(cancel, |model, queries, found, learned| {
            about.page(model, queries, &found, Some(learned))
        })
    })?;
    written.map_err(|(error, names)| named_exception(&error, names))
}

/// A table against a model, and what is asked about it.
pub(crate) struct AgainstModel {
    pub(crate) model: Arc<Model>,
    /// For a model without an encoding, the one that its reference has.
    pub(crate) learned: Arc<OnceLock<Encoding>>,
    pub(crate) table: Arc<lossdepth::data::Table>,
    /// The names of the columns of a model without an encoding, and what it does with gaps.
    pub(crate) names: Vec<String>,
    pub(crate) options: EncodingOptions,
    pub(crate) asked: OutlierOptions,
    pub(crate) threads: Option<usize>,
}

impl AgainstModel {
    pub(crate) fn page(self, about: &About, cancel: &AtomicBool) -> Result<Written, Named> {
        let model = Arc::clone(&self.model);
        self.answer(cancel, |queries, found| about.page(&model, queries, &found, None))
    }

    /// Finds the oddest rows, and hands them to `then`.
    pub(crate) fn answer<T>(
        self,
        cancel: &AtomicBool,
        then: impl FnOnce(Queries<'_>, Outliers) -> Result<T, DepthError>,
    ) -> Result<T, Named> {
        let unnamed = |error| (error, Vec::new());
        let model = &*self.model;
        let encoding = match (model.encoding(), self.learned.get()) {
            (Some(encoding), _) | (None, Some(encoding)) => encoding,
            (None, None) => {
                let encoding =
                    encoding_of_numbers(model.reference(), self.names, &self.options).map_err(unnamed)?;
                self.learned.get_or_init(|| encoding)
            }
        };
        let encoded = encoding.encode(&self.table).map_err(unnamed)?;
        let named = |error| (error, encoding.columns().iter().map(|c| c.name().to_owned()).collect());
        let reference = model.reference();
        // The rows that a model was fitted to are ranked among themselves.
        let own = encoded.values == reference.rows().as_slice();
        let queries = Queries::new(&self.table, encoding, &encoded, own).map_err(named)?;
        let queries = Queries { weights: reference.given_weights().filter(|_| own), ..queries };
        let run = Run { threads: self.threads, cancel: Some(cancel), ..Run::default() };
        let found = Outliers::find(model, queries, &self.asked, &run).map_err(named)?;
        then(queries, found).map_err(named)
    }
}

impl About {
    /// Writes the page; `learned` are the rows of the reference and notes about them, where it was read here.
    fn page(
        &self,
        model: &Model,
        queries: Queries<'_>,
        found: &Outliers,
        learned: Option<(&[usize], &[CellNote])>,
    ) -> Result<Written, DepthError> {
        let own = queries.own;
        // A column that names the rows says more than an index.
        let names = self.row_names.as_ref().filter(|_| queries.encoding.id().is_none());
        let kept = |names: &Vec<String>| {
            queries.numbers.iter().map(|&row| names.get(row).cloned().unwrap_or_default()).collect()
        };
        let names: Option<Vec<String>> = names.map(kept);
        let queries = Queries { names: names.as_deref(), ..queries };
        let reference = ComparedWith {
            name: &self.reference_name,
            columns: self.reference_columns,
            table: learned.map(|(numbers, notes)| ReferenceTable { numbers, notes }),
        };
        let assembly = Assembly {
            model,
            queries,
            found,
            name: &self.name,
            columns: self.columns,
            reference: (!own).then_some(reference),
            title: self.title.as_deref(),
            masked: &self.masked,
            id: None,
            notes: &[],
            audit: &[],
        };
        Ok((assembly.page()?.to_html(), found.fits.len(), found.unconverged))
    }
}
