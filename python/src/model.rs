//! A fitted depth as a Python object.

use crate::convert::{array2, choice, count, exception, number, table, text};
use crate::interrupt::interruptible;
use lossdepth::{Explanation, Fit, Method, Reference, Result, Rows, Run, Settings, Stop, Variant};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Why a solver can stop; scores give positions in this list.
pub(crate) const STOPS: [Stop; 3] = [Stop::Converged, Stop::IterationLimit, Stop::Stalled];

/// How many numbers of the queries are copied at a time. A copy keeps the work apart from memory that
/// Python may change while it runs; in parts, it stays small.
const COPIED: usize = 1 << 22;

/// How many rows are explained between two looks at the flag that cancels.
const EXPLAINED: usize = 32;

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Scores<'py> =
    (Floats<'py>, Floats<'py>, Floats<'py>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>);
type Table<'py> = Bound<'py, PyArray2<f64>>;
type Reasons<'py> = (Scores<'py>, Floats<'py>, Floats<'py>, Floats<'py>, Table<'py>, Table<'py>, Table<'py>);

/// A depth fitted to a reference sample.
///
/// Pickles as what it was made from, and is fitted again when it is read back.
#[pyclass(module = "lossdepth._native", frozen)]
pub(crate) struct Model {
    fitted: Arc<lossdepth::Model>,
    sample: Arc<Reference>,
    weights: Option<Vec<f64>>,
}

#[pymethods]
impl Model {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one for each setting, as in Python")]
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    #[pyo3(signature = (rows, weights, method, reg, variant, radius, intercept, scale, support_fraction, tol, max_iter))]
    fn new(
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        method: &Bound<'_, PyAny>,
        reg: &Bound<'_, PyAny>,
        variant: &Bound<'_, PyAny>,
        radius: Option<Bound<'_, PyAny>>,
        intercept: &Bound<'_, PyAny>,
        scale: &Bound<'_, PyAny>,
        support_fraction: &Bound<'_, PyAny>,
        tol: &Bound<'_, PyAny>,
        max_iter: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let radius = radius.map(|radius| number("radius", &radius)).transpose()?;
        let settings = Settings {
            reg: number("reg", reg)?,
            variant: Variant::parse(&text("variant", variant)?, radius).map_err(|e| exception(&e))?,
            intercept: choice("intercept", intercept)?,
            scale: choice("scale", scale)?,
            support_fraction: number("support_fraction", support_fraction)?,
            tol: number("tol", tol)?,
            max_iter: count("max_iter", max_iter)?,
            ..Settings::new(choice::<Method>("method", method)?)
        };
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let (numbers, width) = table(&rows)?;
        let sample = Arc::new(reference(numbers, width, weights.as_deref()).map_err(|e| exception(&e))?);
        let shared = Arc::clone(&sample);
        let fitted = interruptible(py, move |_| settings.fit(&shared))?;
        Ok(Self { fitted: Arc::new(fitted.map_err(|e| exception(&e))?), sample, weights })
    }

    /// The depth, error, standard error, iterations and reason to stop of each row.
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn score<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        threads: usize,
    ) -> PyResult<Scores<'py>> {
        let fits = self.in_parts(py, &rows, usize::MAX, move |model, rows, cancel| {
            model.score(rows, &Run { threads: Some(threads), cancel: Some(cancel), progress: None })
        })?;
        Ok(scores(py, &fits))
    }

    /// The scores of each row, then value, baseline and intercept of the classifier, its weights, the
    /// contributions of the columns and the influence of the reference rows.
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        threads: usize,
    ) -> PyResult<Reasons<'py>> {
        let found = self.in_parts(py, &rows, EXPLAINED, move |model, rows, cancel| {
            model.explain(rows, &Run { threads: Some(threads), cancel: Some(cancel), progress: None })
        })?;
        let fits: Vec<Fit> = found.iter().map(|e| e.fit).collect();
        let column = |f: fn(&Explanation) -> f64| found.iter().map(f).collect::<Vec<_>>().into_pyarray(py);
        let block = |f: fn(&Explanation) -> &Vec<f64>, width| {
            array2(py, found.iter().flat_map(f).copied().collect(), width)
        };
        Ok((
            scores(py, &fits),
            column(|e| e.value),
            column(|e| e.baseline),
            column(|e| e.intercept),
            block(|e| &e.weights, self.width())?,
            block(|e| &e.contributions, self.width())?,
            block(|e| &e.influence, self.reference_len())?,
        ))
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

    fn __repr__(&self) -> String {
        let (method, n, d) = (self.fitted.settings().method, self.reference_len(), self.width());
        format!("<lossdepth model: {method}, {n} reference rows, {d} columns>")
    }

    /// The constructor and its arguments.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let s = self.fitted.settings();
        let radius = match s.variant {
            Variant::Constrained { radius } => Some(radius),
            _ => None,
        };
        let rows = array2(py, self.sample.rows().as_slice().to_vec(), self.width())?;
        let weights = self.weights.clone().map(|weights| weights.into_pyarray(py));
        let data = (rows, weights).into_pyobject(py)?;
        let names = (s.method.name(), s.reg, s.variant.name(), radius, s.intercept.name(), s.scale.name());
        let numbers = (s.support_fraction, s.tol, s.max_iter).into_pyobject(py)?;
        let arguments = data.add(names)?.add(numbers)?.cast_into::<PyTuple>()?;
        Ok((py.get_type::<Self>(), arguments))
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
    /// Does `work` for all rows, at most `most` at a time, and strings the results together.
    fn in_parts<T: Send + 'static>(
        &self,
        py: Python<'_>,
        rows: &PyReadonlyArray2<'_, f64>,
        most: usize,
        work: impl Fn(&lossdepth::Model, Rows<'_>, &AtomicBool) -> Result<Vec<T>> + Copy + Send + 'static,
    ) -> PyResult<Vec<T>> {
        let (numbers, width) = table(rows)?;
        // Before any work is done, and with row numbers that count from the first part.
        let rows = Rows::new(numbers, width).and_then(|rows| rows.check_finite().map(|()| rows));
        let rows = rows.map_err(|e| exception(&e))?;
        let step = (COPIED / width).clamp(1, most);
        let mut results = Vec::with_capacity(rows.len());
        for part in rows.as_slice().chunks(step * width) {
            let (model, part) = (Arc::clone(&self.fitted), part.to_vec());
            let found = interruptible(py, move |cancel| work(&model, Rows::new(&part, width)?, cancel))?;
            results.extend(found.map_err(|e| exception(&e))?);
        }
        Ok(results)
    }
}

fn reference(numbers: &[f64], width: usize, weights: Option<&[f64]>) -> Result<Reference> {
    let rows = Rows::new(numbers, width)?;
    match weights {
        Some(weights) => Reference::weighted(&rows, weights),
        None => Reference::new(&rows),
    }
}

fn scores<'py>(py: Python<'py>, fits: &[Fit]) -> Scores<'py> {
    let column = |f: fn(&Fit) -> f64| fits.iter().map(f).collect::<Vec<_>>().into_pyarray(py);
    let iterations = fits.iter().map(|fit| i64::try_from(fit.iterations).unwrap_or(i64::MAX));
    let stop =
        fits.iter().map(|fit| STOPS.iter().zip(0..).find(|(s, _)| **s == fit.stop).map_or(0, |(_, i)| i));
    (
        column(|fit| fit.depth),
        column(|fit| fit.error),
        column(|fit| fit.stderr),
        iterations.collect::<Vec<_>>().into_pyarray(py),
        stop.collect::<Vec<u8>>().into_pyarray(py),
    )
}
