//! The Python binding: arrays in, arrays out. Everything that faces users is in `lossdepth/*.py`.

mod allocated;
mod archive;
mod arrow;
mod conformal;
mod convert;
mod files;
mod interrupt;
mod model;
mod odd_rows;
mod page;
mod regions;
mod scores;
mod sketch;
mod sparse;
mod table;
mod two_sample;

use lossdepth::{Method, Settings, Stop};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The compiled part of lossdepth; use it through the estimators.
#[pymodule]
mod _native {
    use super::{
        Bound, Method, PyDict, PyDictMethods, PyModule, PyModuleMethods, PyResult, Settings, Stop, archive,
        arrow, conformal, convert, files, model, odd_rows, page, regions, scores, sketch, sparse, table,
        two_sample,
    };

    #[pymodule_export]
    use arrow::{ArrowBatch, Prepared};

    #[pymodule_export]
    use two_sample::compare;

    #[pymodule_export]
    use conformal::{Calibration, adjust, own_p_values, threshold};

    #[pymodule_export]
    use files::{half_of_memory, write_file};

    #[pymodule_export]
    use model::Model;

    #[pymodule_export]
    use convert::preset;

    #[pymodule_export]
    use archive::{load, unpickle};

    #[pymodule_export]
    use scores::intervals;

    #[pymodule_export]
    use odd_rows::outliers;

    #[pymodule_export]
    use regions::Regions;

    #[pymodule_export]
    use sketch::Sketch;

    #[pymodule_export]
    use page::report;

    #[pymodule_export]
    use sparse::SparseModel;

    #[pymodule_export]
    use table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        // Scores hold the position of a reason in this list.
        module.add("STOPS", scores::STOPS.map(Stop::name).to_vec())?;
        // The settings of every method, with their defaults.
        let methods = PyDict::new(module.py());
        for method in Method::ALL {
            methods.set_item(method.name(), convert::written(module.py(), Settings::defaults(method))?)?;
        }
        module.add("METHODS", methods)?;
        module.add("SETTINGS", convert::declared_settings(module.py())?)?;
        // Other names of the methods.
        let aliases = PyDict::new(module.py());
        for method in Method::ALL {
            for alias in method.aliases() {
                aliases.set_item(alias, method.name())?;
            }
        }
        module.add("ALIASES", aliases)
    }
}
