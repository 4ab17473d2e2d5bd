//! Models of sparse rows as bytes: the same container, with the reference as it is stored.
//!
//! | tensor (F64) | shape | |
//! |---|---|---|
//! | `reference.starts` | rows + 1 | where each row begins among the stored numbers |
//! | `reference.columns` | any | the column of each stored number |
//! | `reference.values` | the same | the numbers |
//! | `weights`, `percentiles.…` | | as for dense rows |
//!
//! The metadata has `format` `lossdepth-sparse-model`, `format_version` 1, `width` (how many columns there are), and
//! `lossdepth_version`, `method`, `settings`, `columns`, `extra.`… and `checksum` as for dense rows. The scaling is learned
//! again: it follows from the reference and the settings.

use super::container::{self, Container, Numbers, damaged, short};
use super::description::{
    DEPTHS, Description, check_all_taken, described, extras, parsed, percentiles, settings, take,
};
use crate::data::{SparseReference, SparseRows};
use crate::error::{DepthError, Result};
use crate::model::SparseModel;
use crate::numerics::whole_count;

/// What `format` says.
pub(super) const NAME: &str = "lossdepth-sparse-model";

const STARTS: &str = "reference.starts";
const COLUMNS: &str = "reference.columns";
const VALUES: &str = "reference.values";

/// Everything that goes into a file of a model of sparse rows: what [`Archive`](super::Archive) is for dense ones.
///
/// ```
/// use lossdepth::data::{SparseReference, SparseRows};
/// use lossdepth::model::archive::SparseArchive;
/// use lossdepth::{Method, Run, Settings};
/// let rows = SparseRows::new(vec![0, 1, 2, 4], vec![1, 0, 1, 3], vec![2.0, 1.0, 1.0, 3.0], 4)?;
/// let model = Settings::new(Method::Logistic).fit_sparse(&SparseReference::new(rows.clone(), None)?, None)?;
/// let bytes = SparseArchive::of(&model).to_bytes()?;
/// let loaded = SparseArchive::from_bytes(&bytes)?.model(None)?;
/// assert_eq!(loaded.score(&rows, &Run::default())?, model.score(&rows, &Run::default())?);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseArchive {
    described: Description,
    reference: SparseReference,
}

impl SparseArchive {
    /// The newest format that this version reads and writes.
    pub const FORMAT: u64 = 1;

    /// What is to be saved of a model; shares its numbers.
    pub fn of(model: &SparseModel) -> Self {
        let described = Description::new(model.settings(), model.known_percentiles());
        Self { described, reference: model.reference().clone() }
    }

    described!();

    /// Makes the model ready to score; kernel values may take so many bytes, unless its settings say otherwise.
    ///
    /// # Errors
    /// As for [`Settings::fit_sparse`](crate::Settings::fit_sparse).
    pub fn model(&self, memory: Option<u64>) -> Result<SparseModel> {
        let Description { settings, percentiles, .. } = &self.described;
        Ok(settings.fit_sparse(&self.reference, memory)?.with_percentiles(percentiles.clone()))
    }

    /// The bytes of the file; the same for the same content.
    ///
    /// # Errors
    /// Names and notes of more than 100 MB.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut metadata = self.described.metadata(NAME, Self::FORMAT)?;
        metadata.insert("width".to_owned(), self.reference.width().to_string());
        let rows = self.reference.rows();
        let starts: Vec<f64> = rows.starts().iter().map(|start| *start as f64).collect();
        let columns: Vec<f64> = rows.columns().iter().map(|column| f64::from(*column)).collect();
        let mut numbers = vec![
            Numbers { name: STARTS, shape: vec![starts.len()], values: &starts },
            Numbers { name: COLUMNS, shape: vec![columns.len()], values: &columns },
            Numbers { name: VALUES, shape: vec![columns.len()], values: rows.values() },
        ];
        self.described.add_numbers(self.reference.given_weights(), &mut numbers);
        container::write(metadata, &numbers)
    }

    /// Whether the bytes are a file of a model of sparse rows, damaged or not.
    pub fn recognises(bytes: &[u8]) -> bool {
        container::read(bytes)
            .is_ok_and(|read| read.metadata.get("format").is_some_and(|format| format == NAME))
    }

    /// Reads and checks the bytes of a file; nothing is fitted yet.
    ///
    /// # Errors
    /// As for [`Archive::from_bytes`](super::Archive::from_bytes).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let container = container::read(bytes)?;
        let text = |name: &str| container.metadata.get(name).map_or("", String::as_str);
        if text("format") != NAME {
            return Err(DepthError::NotAModel { reason: "a file of something else".to_owned() });
        }
        match text("format_version").parse::<u64>() {
            Ok(Self::FORMAT) => {}
            Ok(format) if format > Self::FORMAT => {
                let (version, newest) = (short(text("lossdepth_version")), Self::FORMAT);
                return Err(DepthError::NewerModel { version, format, newest });
            }
            _ => return Err(damaged(format!("no format version `{}`", short(text("format_version"))))),
        }
        container.verify()?;
        let Container { mut metadata, mut tensors } = container;
        let mut text = |name: &str| metadata.remove(name);
        for name in ["format", "format_version", "checksum", "lossdepth_version"] {
            text(name);
        }
        let settings = settings(text("method").as_deref(), text("settings"))?;
        let columns: Option<Vec<String>> = parsed("columns", text("columns"))?;
        let Some(width) = parsed::<usize>("width", text("width"))? else {
            return Err(damaged("it does not say how many columns there are"));
        };
        let extras = extras(metadata)?;
        let mut list = |name: &str| match tensors.remove(name) {
            Some(tensor) if tensor.shape.len() == 1 => Ok(tensor.values()),
            _ => Err(damaged(format!("it has no list `{name}`"))),
        };
        let wrong = |e: DepthError| damaged(format!("its reference: {e}"));
        let (starts, places, values) = (whole(STARTS, &list(STARTS)?)?, list(COLUMNS)?, list(VALUES)?);
        let places = whole(COLUMNS, &places)?
            .into_iter()
            .map(|place| u32::try_from(place).map_err(|_| damaged(format!("it has a column {place}"))))
            .collect::<Result<Vec<u32>>>()?;
        let rows = SparseRows::new(starts, places, values, width).map_err(wrong)?;
        let weights = take(&mut tensors, "weights", &[rows.len()])?;
        let reference = SparseReference::new(rows, weights).map_err(wrong)?;
        let percentiles = if tensors.contains_key(DEPTHS) { Some(percentiles(&mut tensors)?) } else { None };
        check_all_taken(&tensors)?;
        let described = Description { settings, columns: None, percentiles, extras };
        let archive = Self { described, reference };
        match columns {
            Some(names) => archive.columns(names).map_err(|e| damaged(e.to_string())),
            None => Ok(archive),
        }
    }
}

/// Numbers that count something.
fn whole(name: &str, values: &[f64]) -> Result<Vec<usize>> {
    // Beyond 2^53 not every whole number is a double.
    let count = |value: &f64| {
        if value.fract() != 0.0 || !(0.0..=9_007_199_254_740_992.0).contains(value) {
            return Err(damaged(format!("`{name}` has {value}, which counts nothing")));
        }
        Ok(whole_count(*value))
    };
    values.iter().map(count).collect()
}
