//! Depth regions in the plane as Python objects.

use crate::convert::{array2, exception, number, table};
use crate::interrupt::interruptible;
use lossdepth::methods::halfspace;
use lossdepth::{DepthError, Reference, Rows};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

type Polygon<'py> = Bound<'py, PyArray2<f64>>;

/// The regions of the halfspace depth of a sample in the plane.
#[pyclass(module = "lossdepth._native", frozen)]
pub(crate) struct Regions {
    regions: Arc<halfspace::Regions>,
}

#[pymethods]
impl Regions {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "arrays come by value")]
    fn new(
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let (numbers, width) = table(&rows)?;
        let numbers = numbers.to_vec();
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let regions = interruptible(py, move |_| {
            let rows = Rows::new(&numbers, width)?;
            let sample = match &weights {
                Some(weights) => Reference::weighted(&rows, weights)?,
                None => Reference::new(&rows)?,
            };
            halfspace::Regions::new(&sample)
        })?;
        Ok(Self { regions: Arc::new(regions.map_err(|e| exception(&e))?) })
    }

    /// The corners of the region of at least some depth.
    fn contour<'py>(&self, py: Python<'py>, depth: &Bound<'py, PyAny>) -> PyResult<Polygon<'py>> {
        let depth = number("depth", depth)?;
        let found = self.run(py, move |regions| regions.contour(depth))?;
        polygon(py, &found.vertices)
    }

    /// The deepest point, its depth, and the corners of the deepest region.
    fn median<'py>(&self, py: Python<'py>) -> PyResult<(Polygon<'py>, f64, Polygon<'py>)> {
        let found = self.run(py, |regions| Ok(regions.median()))?;
        Ok((polygon(py, &[found.point])?, found.depth, polygon(py, &found.vertices)?))
    }

    /// What a bagplot shows, by name.
    fn bagplot<'py>(&self, py: Python<'py>, factor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let factor = number("factor", factor)?;
        let found = self.run(py, move |regions| regions.bagplot(factor))?;
        let parts = PyDict::new(py);
        parts.set_item("median", polygon(py, &[found.median.point])?)?;
        parts.set_item("median_depth", found.median.depth)?;
        parts.set_item("bag", polygon(py, &found.bag)?)?;
        parts.set_item("fence", polygon(py, &found.fence)?)?;
        parts.set_item("hull", polygon(py, &found.hull)?)?;
        let outliers: Vec<i64> =
            found.outliers.iter().map(|&row| i64::try_from(row).unwrap_or(i64::MAX)).collect();
        parts.set_item("outliers", outliers.into_pyarray(py))?;
        parts.set_item("depths", found.depths.into_pyarray(py))?;
        Ok(parts)
    }
}

impl Regions {
    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&halfspace::Regions) -> Result<T, DepthError> + Send + 'static,
    ) -> PyResult<T> {
        let regions = Arc::clone(&self.regions);
        interruptible(py, move |_| work(&regions))?.map_err(|e| exception(&e))
    }
}

fn polygon<'py>(py: Python<'py>, vertices: &[[f64; 2]]) -> PyResult<Polygon<'py>> {
    array2(py, vertices.as_flattened().to_vec(), 2)
}
