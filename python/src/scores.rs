//! Scores as arrays, a column each.

use crate::convert::{exception, number};
use crate::interrupt::interruptible;
use lossdepth::methods::explanation::Cut;
use lossdepth::model::Percentiles;
use lossdepth::{DepthError, Fit, Result, Run, Stop};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::sync::Arc;

/// Why a solver can stop; scores give positions in this list.
pub(crate) const STOPS: [Stop; 3] = [Stop::Converged, Stop::IterationLimit, Stop::Stalled];

type Floats<'py> = Bound<'py, PyArray1<f64>>;
/// Depths, errors, standard errors, iterations, and reasons to stop as positions in [`STOPS`].
pub(crate) type Scores<'py> =
    (Floats<'py>, Floats<'py>, Floats<'py>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>);

/// Column, threshold, whether it is above, probability and share.
pub(crate) fn cut(cut: &Cut) -> (usize, f64, bool, f64, f64) {
    (cut.feature, cut.threshold, cut.above, cut.probability, cut.share)
}

/// Some scores, a column each.
pub(crate) fn scores<'py>(py: Python<'py>, fits: &[Fit]) -> Scores<'py> {
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

/// The share of the reference that is at most as deep, of each depth, with the `percentiles` of a model of either kind.
pub(crate) fn percentiles<'py, M: Send + Sync + 'static>(
    py: Python<'py>,
    model: &Arc<M>,
    depths: &PyReadonlyArray1<'py, f64>,
    threads: usize,
    percentiles: impl for<'m> Fn(&'m M, &Run<'_>) -> Result<&'m Percentiles> + Send + 'static,
) -> PyResult<Floats<'py>> {
    let (model, depths) = (Arc::clone(model), depths.as_array().to_vec());
    let found = interruptible(py, move |cancel| {
        let run = Run { threads: Some(threads), cancel: Some(cancel), ..Run::default() };
        let known = percentiles(&model, &run)?;
        Ok(depths.iter().map(|depth| known.of(*depth)).collect::<Vec<f64>>())
    })?;
    Ok(found.map_err(|e: DepthError| exception(&e))?.into_pyarray(py))
}

/// The ends of the confidence intervals of some scores.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
pub(crate) fn intervals<'py>(
    py: Python<'py>,
    depth: PyReadonlyArray1<'py, f64>,
    error: PyReadonlyArray1<'py, f64>,
    stderr: PyReadonlyArray1<'py, f64>,
    level: &Bound<'py, PyAny>,
) -> PyResult<(Floats<'py>, Floats<'py>)> {
    let level = number("level", level)?;
    let (depth, error, stderr) = (depth.as_array(), error.as_array(), stderr.as_array());
    let fits = depth.iter().zip(&error).zip(&stderr).map(|((&depth, &error), &stderr)| {
        Fit { depth, error, stderr, iterations: 0, stop: Stop::Converged }.interval(level)
    });
    let ends: Vec<(f64, f64)> = fits.collect::<Result<_>>().map_err(|e| exception(&e))?;
    let (low, high): (Vec<f64>, Vec<f64>) = ends.into_iter().unzip();
    Ok((low.into_pyarray(py), high.into_pyarray(py)))
}
