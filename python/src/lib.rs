//! The Python binding: arrays in, arrays out. Everything that faces users is in `lossdepth/*.py`.

mod convert;
mod interrupt;
mod model;

use lossdepth::Stop;
use pyo3::prelude::*;

/// The compiled part of lossdepth; use it through the estimators.
#[pymodule]
mod _native {
    use super::{Bound, PyModule, PyModuleMethods, PyResult, Stop, model};

    #[pymodule_export]
    use model::Model;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        // Scores hold the position of a reason in this list.
        module.add("STOPS", model::STOPS.map(Stop::name).to_vec())
    }
}
