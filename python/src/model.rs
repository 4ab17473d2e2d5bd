//! A fitted depth as a Python object.

use crate::archive::{pickled, written};
use crate::convert::{array2, choice, exception, named_exception, read_settings, table, written_settings};
use crate::interrupt::{Pace, interruptible};
use crate::odd_rows::described_rows;
use crate::page::{About, AgainstModel};
use crate::scores::{Scores, cut, percentiles, scores};
use crate::table::{Note, UNREAD, described, encoding_of_numbers, note, options};
use lossdepth::data::Encoding;
use lossdepth::model::archive::Archive;
use lossdepth::outliers::OutlierOptions;
use lossdepth::stats::central;
use lossdepth::{Explanation, Fit, Reference, Result, Rows, Run};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// How many numbers of the queries are copied at a time. A copy keeps the work apart from memory that
/// Python may change while it runs; in parts, it stays small.
const COPIED: usize = 1 << 22;

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Table<'py> = Bound<'py, PyArray2<f64>>;

/// A depth fitted to a reference sample.
///
/// Pickles as the bytes of a model file.
#[pyclass(module = "lossdepth._native", frozen)]
pub(crate) struct Model {
    fitted: Arc<lossdepth::Model>,
    /// For a model without an encoding, the one that its reference has: learned when a query has a gap.
    learned: Arc<OnceLock<Encoding>>,
    /// Notes about the cells that its table was fitted with; not kept in files.
    notes: Vec<Note>,
    score_pace: Pace,
    explain_pace: Pace,
}

#[pymethods]
impl Model {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn new(
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        method: &Bound<'_, PyAny>,
        settings: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let settings = read_settings(choice("method", method)?, settings)?;
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let (numbers, width) = table(&rows)?;
        let sample = Reference::from_vec(numbers.to_vec(), width, weights).map_err(|e| exception(&e))?;
        let fitted = interruptible(py, move |_| settings.fit(&sample))?;
        Ok(Self::of(fitted.map_err(|e| exception(&e))?))
    }

    /// Fits a method to a table of columns, whose encoding becomes part of the model unless it changes nothing.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "a call from Python, where they have names")]
    fn of_table(
        py: Python<'_>,
        columns: &Bound<'_, crate::table::Table>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        method: &Bound<'_, PyAny>,
        settings: &Bound<'_, PyDict>,
        kinds: BTreeMap<String, String>,
        missing: &str,
        guess: bool,
    ) -> PyResult<Self> {
        let settings = read_settings(choice("method", method)?, settings)?;
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let (columns, options) = (columns.get().shared(), options(kinds, missing, guess)?);
        let fitted = interruptible(py, move |_| {
            let unnamed = |error| (error, Vec::new());
            let (encoding, encoded) =
                Encoding::learn(&columns, weights.as_deref(), &options).map_err(unnamed)?;
            let weights = weights.map(|weights| encoded.rows.iter().map(|&row| weights[row]).collect());
            let sample = Reference::from_vec(encoded.values, encoded.width, weights).map_err(unnamed)?;
            if encoding.is_plain() {
                return Ok((settings.fit(&sample).map_err(unnamed)?, Vec::new()));
            }
            // Errors of methods count the compared columns.
            let names = |error| (error, encoding.columns().iter().map(|c| c.name().to_owned()).collect());
            let sample = sample.with_layout(encoding.layout().clone()).map_err(names)?;
            let unread = encoded.notes.into_iter().map(note).filter(|note| note.2 == UNREAD).collect();
            Ok((settings.fit(&sample).map_err(names)?.with_encoding(encoding), unread))
        })?;
        let (fitted, notes) = fitted.map_err(|(error, names)| named_exception(&error, names))?;
        Ok(Self { notes, ..Self::of(fitted) })
    }

    /// The rows of a table as this model takes them, and notes about its cells. The columns are found by name; `names`
    /// are those of a model without an encoding, in order, and `missing` says what it does with gaps.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        columns: &Bound<'py, crate::table::Table>,
        names: Vec<String>,
        missing: &str,
    ) -> PyResult<(Table<'py>, Vec<Note>)> {
        let (model, learned) = (Arc::clone(&self.fitted), Arc::clone(&self.learned));
        let (columns, options) = (columns.get().shared(), options(BTreeMap::new(), missing, false)?);
        let encoded = interruptible(py, move |_| match (model.encoding(), learned.get()) {
            (Some(encoding), _) | (None, Some(encoding)) => encoding.encode(&columns),
            (None, None) => {
                let encoding = encoding_of_numbers(model.reference(), names, &options)?;
                learned.get_or_init(|| encoding).encode(&columns)
            }
        })?;
        let encoded = encoded.map_err(|e| exception(&e))?;
        let notes = encoded.notes.into_iter().map(note).collect();
        Ok((array2(py, encoded.values, encoded.width)?, notes))
    }

    /// Cells of the table that could not be read as what their columns hold: gaps to the model.
    #[getter]
    fn unread(&self) -> Vec<Note> {
        self.notes.clone()
    }

    /// Names and kinds of the compared columns; `None` for complete columns of numbers.
    #[getter]
    fn compared(&self) -> Option<Vec<(String, &'static str)>> {
        let columns = self.fitted.encoding()?.columns();
        Some(columns.iter().map(|column| (column.name().to_owned(), column.kind().name())).collect())
    }

    /// What is known about the columns, by name; `None` for complete columns of numbers.
    #[getter]
    fn encoding<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.fitted.encoding().map(|encoding| described(py, encoding)).transpose()
    }

    /// The depth, error, standard error, iterations and reason to stop of each row; `depths_only` leaves the standard
    /// errors out.
    #[pyo3(signature = (rows, threads, *, depths_only = false))]
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn score<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        threads: usize,
        depths_only: bool,
    ) -> PyResult<Scores<'py>> {
        let fits = self.in_parts(py, &self.score_pace, &rows, move |model, rows, cancel| {
            let (threads, cancel) = (Some(threads), Some(cancel));
            model.score(rows, &Run { threads, cancel, depths_only, ..Run::default() })
        })?;
        Ok(scores(py, &fits))
    }

    /// The share of the reference that is at most as deep, of each depth. The reference is scored at the first call, or the
    /// part of it that is enough.
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn percentiles<'py>(
        &self,
        py: Python<'py>,
        depths: PyReadonlyArray1<'py, f64>,
        threads: usize,
    ) -> PyResult<Floats<'py>> {
        percentiles(py, &self.fitted, &depths, threads, lossdepth::Model::percentiles)
    }

    /// The scores of each row, and by name what its classifier is made of. A table that the method does not
    /// have is `None`.
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        threads: usize,
    ) -> PyResult<(Scores<'py>, Bound<'py, PyDict>)> {
        let found = self.in_parts(py, &self.explain_pace, &rows, move |model, rows, cancel| {
            let (threads, cancel) = (Some(threads), Some(cancel));
            model.explain(rows, &Run { threads, cancel, ..Run::default() })
        })?;
        let fits: Vec<Fit> = found.iter().map(|e| e.fit).collect();
        let column = |f: fn(&Explanation) -> f64| found.iter().map(f).collect::<Vec<_>>().into_pyarray(py);
        let block = |f: fn(&Explanation) -> Option<&[f64]>, width| -> PyResult<Option<Table<'py>>> {
            if found.iter().all(|e| f(e).is_none()) {
                return Ok(None);
            }
            let unknown = vec![f64::NAN; width];
            let numbers = found.iter().flat_map(|e| f(e).unwrap_or(&unknown)).copied().collect();
            array2(py, numbers, width).map(Some)
        };
        let (columns, reference) = (self.width(), self.reference_len());
        let parts = PyDict::new(py);
        parts.set_item("value", column(|e| e.value))?;
        parts.set_item("baseline", column(|e| e.baseline))?;
        parts.set_item("intercept", column(|e| e.intercept().unwrap_or(0.0)))?;
        parts.set_item("weights", block(Explanation::gradient, columns)?)?;
        parts.set_item("contributions", block(Explanation::contributions, columns)?)?;
        parts.set_item("influence", block(|e| e.influence.as_deref(), reference)?)?;
        parts.set_item("witness", block(Explanation::witness, reference)?)?;
        let cuts: Vec<Vec<_>> =
            found.iter().map(|e| e.cuts().unwrap_or_default().iter().map(cut).collect()).collect();
        parts.set_item("cuts", cuts.iter().any(|c| !c.is_empty()).then_some(cuts))?;
        Ok((scores(py, &fits), parts))
    }

    /// A page about the oddest rows of a table, how many rows were scored, and how many missed the tolerance. `names` and
    /// `missing` are as in `encode`.
    #[expect(clippy::too_many_arguments, reason = "a call from Python, where they have names")]
    fn report(
        &self,
        py: Python<'_>,
        columns: &Bound<'_, crate::table::Table>,
        names: Vec<String>,
        missing: &str,
        top: usize,
        threads: Option<usize>,
        about: About,
    ) -> PyResult<(String, usize, usize)> {
        let asked = OutlierOptions { top, ..OutlierOptions::default() };
        let question = self.question(columns, names, missing, asked, threads)?;
        let written = interruptible(py, move |cancel| question.page(&about, cancel))?;
        written.map_err(|(error, names)| named_exception(&error, names))
    }

    /// The oddest rows of a table: what is compared, and a dictionary a row. `names` and `missing` are as in `encode`.
    #[expect(clippy::too_many_arguments, reason = "a call from Python, where they have names")]
    fn outliers<'py>(
        &self,
        py: Python<'py>,
        columns: &Bound<'py, crate::table::Table>,
        names: Vec<String>,
        missing: &str,
        top: usize,
        reasons: usize,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let asked = OutlierOptions { top, reasons, ..OutlierOptions::default() };
        let question = self.question(columns, names, missing, asked, threads)?;
        let found = interruptible(py, move |cancel| {
            question.answer(cancel, |queries, found| Ok((queries.encoding.clone(), found)))
        })?;
        let (encoding, found) = found.map_err(|(error, names)| named_exception(&error, names))?;
        described_rows(py, &encoding, &found)
    }

    /// The bytes of a model file, with names for the columns and notes by name.
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        columns: Option<Vec<String>>,
        extras: BTreeMap<String, String>,
        memory: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        written!(py, Archive::of(&self.fitted).memory(memory), columns, extras)
    }

    /// The rows of the reference and their weights as given.
    fn reference<'py>(&self, py: Python<'py>) -> PyResult<(Table<'py>, Option<Floats<'py>>)> {
        let sample = self.fitted.reference();
        let rows = array2(py, sample.rows().as_slice().to_vec(), sample.width())?;
        Ok((rows, sample.given_weights().map(|weights| weights.to_vec().into_pyarray(py))))
    }

    /// The deepest point: the point, its depth, an upper bound on any depth, how it was found, the deepest row and its depth.
    fn deepest<'py>(
        &self,
        py: Python<'py>,
        threads: usize,
    ) -> PyResult<(Floats<'py>, f64, f64, &'static str, usize, f64)> {
        let model = Arc::clone(&self.fitted);
        let found = interruptible(py, move |cancel| {
            let (threads, cancel) = (Some(threads), Some(cancel));
            central::deepest(&model, &Run { threads, cancel, ..Run::default() })
        })?;
        let found = found.map_err(|e| exception(&e))?;
        let point = found.point.into_pyarray(py);
        Ok((point, found.depth, found.upper, found.found.name(), found.row, found.row_depth))
    }

    /// The deepest rows with at least this share of the weight: their least depth, numbers, share and mean.
    fn central_region<'py>(
        &self,
        py: Python<'py>,
        share: f64,
        threads: usize,
    ) -> PyResult<(f64, Bound<'py, PyArray1<i64>>, f64, Floats<'py>)> {
        let model = Arc::clone(&self.fitted);
        let found = interruptible(py, move |cancel| {
            let (threads, cancel) = (Some(threads), Some(cancel));
            central::central_region(&model, share, &Run { threads, cancel, ..Run::default() })
        })?;
        let found = found.map_err(|e| exception(&e))?;
        let rows: Vec<i64> = found.rows.iter().map(|&i| i64::try_from(i).unwrap_or(i64::MAX)).collect();
        Ok((found.depth, rows.into_pyarray(py), found.mass, found.mean.into_pyarray(py)))
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
        self.fitted.reference_len()
    }

    /// What the user should know about how the fit came out.
    #[getter]
    fn warning(&self) -> Option<String> {
        self.fitted.warning().map(ToString::to_string)
    }

    /// That columns of very different spread are compared as they are, if so; `names` are those of a model without an encoding.
    fn unequal_spreads(&self, py: Python<'_>, names: Vec<String>) -> Option<String> {
        let model = &self.fitted;
        let found = py.detach(|| model.settings().unequal_spreads(model.reference()))?;
        let names = match model.encoding() {
            Some(encoding) => encoding.columns().iter().map(|column| column.name().to_owned()).collect(),
            None => names,
        };
        Some(found.in_words(&names))
    }

    fn __repr__(&self) -> String {
        let (method, n, d) = (self.fitted.settings().method, self.reference_len(), self.width());
        format!("<lossdepth model: {method}, {n} reference rows, {d} columns>")
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

impl Model {
    /// The model itself, as an object of Python.
    pub(crate) fn of(fitted: lossdepth::Model) -> Self {
        Self {
            fitted: Arc::new(fitted),
            learned: Arc::new(OnceLock::new()),
            notes: Vec::new(),
            score_pace: Pace::default(),
            explain_pace: Pace::default(),
        }
    }

    /// The model itself.
    pub(crate) fn fitted(&self) -> Arc<lossdepth::Model> {
        Arc::clone(&self.fitted)
    }

    fn question(
        &self,
        columns: &Bound<'_, crate::table::Table>,
        names: Vec<String>,
        missing: &str,
        asked: OutlierOptions,
        threads: Option<usize>,
    ) -> PyResult<AgainstModel> {
        Ok(AgainstModel {
            model: Arc::clone(&self.fitted),
            learned: Arc::clone(&self.learned),
            table: columns.get().shared(),
            names,
            options: options(BTreeMap::new(), missing, false)?,
            asked,
            threads,
        })
    }

    /// Does `work` for all rows, as many at a time as are copied, and joins the results.
    fn in_parts<T: Send + 'static>(
        &self,
        py: Python<'_>,
        pace: &Pace,
        rows: &PyReadonlyArray2<'_, f64>,
        work: impl Fn(&lossdepth::Model, Rows<'_>, &AtomicBool) -> Result<Vec<T>> + Copy + Send + 'static,
    ) -> PyResult<Vec<T>> {
        let (numbers, width) = table(rows)?;
        // Before any work is done, and with row numbers that count from the first part.
        let rows = Rows::new(numbers, width).and_then(|rows| rows.check_finite().map(|()| rows));
        let rows = rows.map_err(|e| exception(&e))?;
        let step = (COPIED / width).max(1);
        let mut results = Vec::new();
        for part in rows.as_slice().chunks(step * width) {
            let (model, part) = (Arc::clone(&self.fitted), part.to_vec());
            let rows = part.len() / width;
            let work = move |cancel: &AtomicBool| work(&model, Rows::new(&part, width)?, cancel);
            let found = pace.run(py, rows, false, work)?;
            let found = found.map_err(|e| exception(&e))?;
            if results.is_empty() {
                results = found;
            } else {
                results.extend(found);
            }
        }
        Ok(results)
    }
}
