//! Labels and p-values.

use crate::convert::{exception, table};
use crate::interrupt::interruptible;
use crate::model::Model;
use lossdepth::stats::conformal::{self, Conformal};
use lossdepth::{Rows, Run};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::sync::Arc;

type Floats<'py> = Bound<'py, PyArray1<f64>>;

/// What new rows are compared with to give them p-values.
#[pyclass(module = "lossdepth._native", frozen)]
pub(crate) struct Calibration {
    calibration: Arc<conformal::Calibration>,
    model: Arc<lossdepth::Model>,
}

#[pymethods]
impl Calibration {
    #[new]
    fn new(
        py: Python<'_>,
        model: &Bound<'_, Model>,
        method: &str,
        share: f64,
        folds: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        let how = match Conformal::named(method, seed).map_err(|e| exception(&e))? {
            Conformal::Split { seed, .. } => Conformal::Split { share, seed },
            Conformal::Cross { seed, .. } => Conformal::Cross { folds, seed },
            other @ Conformal::LeaveOneOut => other,
        };
        let model = model.get().fitted();
        let shared = Arc::clone(&model);
        let made = interruptible(py, move |cancel| {
            let (threads, cancel) = (Some(threads), Some(cancel));
            let run = Run { threads, cancel, depths_only: true, ..Run::default() };
            how.calibrate(shared.settings(), shared.reference(), &run)
        })?;
        Ok(Self { calibration: Arc::new(made.map_err(|e| exception(&e))?), model })
    }

    /// The p-value of each row.
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn p_values<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        threads: usize,
    ) -> PyResult<Floats<'py>> {
        let (numbers, width) = table(&rows)?;
        let numbers = numbers.to_vec();
        let (calibration, model) = (Arc::clone(&self.calibration), Arc::clone(&self.model));
        let found = interruptible(py, move |cancel| {
            let (threads, cancel) = (Some(threads), Some(cancel));
            let run = Run { threads, cancel, depths_only: true, ..Run::default() };
            let rows = Rows::new(&numbers, width)?;
            let depths: Vec<f64> = model.score(rows, &run)?.iter().map(|fit| fit.depth).collect();
            calibration.p_values(rows, &depths, &run)
        })?;
        Ok(found.map_err(|e| exception(&e))?.into_pyarray(py))
    }

    /// How many rows it has, by weight.
    #[getter]
    fn size(&self) -> f64 {
        self.calibration.size()
    }
}

/// The depth below which a share of the weight lies.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
pub(crate) fn threshold(
    depths: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    contamination: f64,
) -> PyResult<f64> {
    let weights = weights.map(|weights| weights.as_array().to_vec());
    conformal::threshold(&depths.as_array().to_vec(), weights.as_deref(), contamination)
        .map_err(|e| exception(&e))
}

/// The p-values of rows that are their own reference.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
pub(crate) fn own_p_values<'py>(
    py: Python<'py>,
    depths: PyReadonlyArray1<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Floats<'py>> {
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let found = conformal::own_p_values(&depths.as_array().to_vec(), weights.as_deref());
    Ok(found.map_err(|e| exception(&e))?.into_pyarray(py))
}

/// The q-values of some p-values.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
pub(crate) fn adjust<'py>(
    py: Python<'py>,
    p: PyReadonlyArray1<'py, f64>,
    method: &str,
) -> PyResult<Floats<'py>> {
    let how = method.parse().map_err(|e| exception(&e))?;
    let found = conformal::adjust(&p.as_array().to_vec(), how);
    Ok(found.map_err(|e| exception(&e))?.into_pyarray(py))
}
