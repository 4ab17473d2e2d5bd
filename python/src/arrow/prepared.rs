//! A model made ready once, and batches scored with it.

use super::capsule::{ArrowBatch, import};
use super::nulls::Nulls;
use super::on_demand::OnDemand;
use super::rows::{Reader, Wrong};
use crate::allocated::measured;
use crate::archive::written;
use crate::convert::exception;
use crate::interrupt::{Pace, interruptible};
use arrow_array::{Array, ArrayRef, Float64Array, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields};
use lossdepth::data::Encoding;
use lossdepth::model::Percentiles;
use lossdepth::model::archive::Archive;
use lossdepth::stats::conformal::{Calibration, Conformal};
use lossdepth::{DepthError, Fit, Model, Rows, Run};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rayon::ThreadPool;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// At most so many cells are read at a time: fewer than the notes that an encoding keeps.
const CELLS: usize = 1 << 19;

/// At most so many rows are read at a time.
const ROWS: usize = 1 << 16;

/// What can be said of a row.
const COLUMNS: [&str; 5] = ["depth", "error", "stderr", "percentile", "p_value"];

/// A model from the bytes of a file, ready to score; one for each file and process is enough.
#[pyclass(module = "lossdepth._native", frozen)]
pub(crate) struct Prepared {
    core: Arc<Core>,
    /// The notes of the file.
    extras: BTreeMap<String, String>,
    /// The limit for kernel values that the file has, not what this machine has.
    memory: Option<f64>,
}

struct Core {
    model: Model,
    names: Option<Vec<String>>,
    learned: OnceLock<Encoding>,
    percentiles: OnDemand<Percentiles>,
    calibrations: [OnDemand<Calibration>; 3],
    /// For work that all rows share: preparing, and finding donors of gaps.
    pool: ThreadPool,
    /// Bytes that were allocated for all of this.
    bytes: AtomicUsize,
    pace: Pace,
}

/// What is asked of a call.
struct Asked {
    columns: Vec<String>,
    features: Option<Vec<String>>,
    nulls: Nulls,
    conformal: Conformal,
    threads: usize,
}

#[pymethods]
impl Prepared {
    #[new]
    fn new(py: Python<'_>, data: PyBackedBytes, memory: Option<f64>, threads: usize) -> PyResult<Self> {
        let made = interruptible(py, move |_| {
            let failed =
                |e: rayon::ThreadPoolBuildError| DepthError::Threads { threads, reason: e.to_string() };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(failed)?;
            let (made, bytes) = measured(|| {
                pool.install(|| {
                    let archive = Archive::from_bytes(&data)?;
                    drop(data);
                    let limit = archive.settings().memory;
                    let archive = archive.memory(limit.or(memory));
                    let names = archive.column_names().map(<[_]>::to_vec);
                    Ok::<_, DepthError>((archive.model()?, names, archive.extras().clone(), limit))
                })
            });
            let (model, names, extras, limit) = made?;
            let core = Core {
                model,
                names,
                learned: OnceLock::new(),
                percentiles: OnDemand::default(),
                calibrations: Default::default(),
                pool,
                bytes: AtomicUsize::new(bytes),
                pace: Pace::default(),
            };
            Ok::<_, DepthError>(Self { core: Arc::new(core), extras, memory: limit })
        })?;
        made.map_err(|e| exception(&e))
    }

    /// The scores of the rows of a batch: the columns asked for, in order.
    #[expect(clippy::too_many_arguments, reason = "a call from Python, where they have names")]
    fn score(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        columns: Vec<String>,
        features: Option<Vec<String>>,
        nulls: &str,
        conformal: &str,
        threads: usize,
    ) -> PyResult<ArrowBatch> {
        if let Some(other) = columns.iter().find(|name| !COLUMNS.contains(&name.as_str())) {
            let known = COLUMNS.join(", ");
            return Err(PyValueError::new_err(format!("`columns` must be among {known}, got `{other}`")));
        }
        let conformal = Conformal::named(conformal, 0).map_err(|e| exception(&e))?;
        let asked = Asked { columns, features, nulls: Nulls::named(nulls)?, conformal, threads };
        let parts = import(batch)?;
        let rows = parts.iter().map(Array::len).sum();
        let core = Arc::clone(&self.core);
        let longer = !self.core.is_ready(&asked);
        let scored =
            self.core.pace.run(py, rows, longer, move |cancel| core.score(&parts, &asked, cancel))?;
        match scored {
            Ok(rows) => Ok(ArrowBatch::new(rows)),
            Err(Wrong::Batch(text)) => Err(PyValueError::new_err(text)),
            Err(Wrong::Depth(error)) => Err(exception(&error)),
        }
    }

    /// The bytes of a model file from which the same is made.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let archive = Archive::of(&self.core.model).memory(self.memory);
        written!(py, archive, self.core.names.clone(), self.extras.clone())
    }

    /// The names of the columns that are compared, in the order of the model; `None` if it was fitted without names.
    #[getter]
    fn features(&self) -> Option<Vec<String>> {
        let encoded = |encoding: &Encoding| {
            let mut names: Vec<String> = encoding.columns().iter().map(|c| c.source().to_owned()).collect();
            // Parts of one column follow each other.
            names.dedup();
            names
        };
        self.core.model.encoding().map(encoded).or_else(|| self.core.names.clone())
    }

    /// The name of the method.
    #[getter]
    fn method(&self) -> &'static str {
        self.core.model.settings().method.name()
    }

    /// How many rows the reference has.
    #[getter]
    fn reference_len(&self) -> usize {
        self.core.model.reference_len()
    }

    /// How many bytes were allocated for it, measured while it was made.
    #[getter]
    fn bytes(&self) -> usize {
        self.core.bytes.load(Ordering::Relaxed)
    }
}

impl Asked {
    fn wants(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column == name)
    }
}

impl Core {
    /// Whether everything is made that the rows of a call share.
    fn is_ready(&self, asked: &Asked) -> bool {
        (!asked.wants("percentile") || self.percentiles.is_made())
            && (!asked.wants("p_value") || self.calibration_slot(asked.conformal).is_made())
    }

    fn score(&self, parts: &[StructArray], asked: &Asked, cancel: &AtomicBool) -> Result<StructArray, Wrong> {
        let (threads, cancel) = (Some(asked.threads), Some(cancel));
        let run = Run { threads, cancel, depths_only: !asked.wants("stderr"), ..Run::default() };
        let learn = || self.model.percentiles(&Run { depths_only: true, ..run }).cloned();
        let percentiles = asked.wants("percentile").then(|| self.counted(&self.percentiles, learn));
        let percentiles = percentiles.transpose()?;
        let calibration =
            asked.wants("p_value").then(|| self.calibration(asked.conformal, &run)).transpose()?;
        let names = asked.features.as_deref().or(self.names.as_deref());
        let reader = Reader { model: &self.model, names, learned: &self.learned, nulls: asked.nulls };
        let rows: usize = parts.iter().map(Array::len).sum();
        let mut columns = vec![vec![0.0; rows]; asked.columns.len()];
        let mut valid = vec![false; rows];
        let step = (CELLS / reader.columns().max(1)).clamp(1, ROWS);
        let mut first = 0;
        for part in parts {
            for start in (0..part.len()).step_by(step) {
                let piece = part.slice(start, step.min(part.len() - start));
                let taken = if self.model.encoding().is_some() {
                    self.pool.install(|| reader.read(&piece, first))?
                } else {
                    reader.read(&piece, first)?
                };
                let queries = Rows::new(&taken.values, taken.width)?;
                let fits =
                    if taken.rows.is_empty() { Vec::new() } else { self.model.score(queries, &run)? };
                let p_values = match &calibration {
                    Some(calibration) if !fits.is_empty() => {
                        let depths: Vec<f64> = fits.iter().map(|fit| fit.depth).collect();
                        calibration.p_values(queries, &depths, &Run { depths_only: true, ..run })?
                    }
                    _ => Vec::new(),
                };
                for (column, name) in columns.iter_mut().zip(&asked.columns) {
                    let value = |(place, fit): (usize, &Fit)| match name.as_str() {
                        "depth" => fit.depth,
                        "error" => fit.error,
                        "stderr" => fit.stderr,
                        "p_value" => p_values[place],
                        _ => percentiles.as_ref().map_or(f64::NAN, |known| known.of(fit.depth)),
                    };
                    for (fit, row) in fits.iter().enumerate().map(value).zip(&taken.rows) {
                        column[first + row] = fit;
                    }
                }
                taken.rows.iter().for_each(|row| valid[first + row] = true);
                first += piece.len();
            }
        }
        let nulls = valid.iter().any(|valid| !valid).then(|| NullBuffer::from(valid));
        let array = |values: Vec<f64>| Arc::new(Float64Array::new(values.into(), nulls.clone())) as ArrayRef;
        let fields: Fields =
            asked.columns.iter().map(|name| Field::new(name, DataType::Float64, true)).collect();
        StructArray::try_new_with_length(fields, columns.into_iter().map(array).collect(), None, rows)
            .map_err(|error| Wrong::Batch(error.to_string()))
    }

    fn calibration_slot(&self, how: Conformal) -> &OnDemand<Calibration> {
        match how {
            Conformal::Split { .. } => &self.calibrations[0],
            Conformal::Cross { .. } => &self.calibrations[1],
            Conformal::LeaveOneOut => &self.calibrations[2],
        }
    }

    fn calibration(&self, how: Conformal, run: &Run<'_>) -> Result<Arc<Calibration>, DepthError> {
        let run = Run { depths_only: true, ..*run };
        self.counted(self.calibration_slot(how), || {
            how.calibrate(self.model.settings(), self.model.reference(), &run)
        })
    }

    /// What a slot holds; if it is made now, its bytes are counted.
    fn counted<T>(
        &self,
        slot: &OnDemand<T>,
        make: impl FnOnce() -> Result<T, DepthError>,
    ) -> Result<Arc<T>, DepthError> {
        slot.get(|| {
            let (made, bytes) = measured(make);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            made
        })
    }
}
