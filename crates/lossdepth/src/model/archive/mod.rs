//! Models as bytes, for files that outlive the program.
//!
//! A model is saved as a [safetensors](https://huggingface.co/docs/safetensors) file: numbers and text, nothing that could be
//! executed. It holds what the model was made of, so that a loaded model scores like the one that was saved, to the last bit on
//! the same machine; what can be computed from that, such as kernel matrices, is computed again.
//!
//! | tensor (F64) | shape | |
//! |---|---|---|
//! | `reference` | rows × columns | the reference sample, as given |
//! | `weights` | rows | its weights as given; absent if there were none |
//! | `scaling.center` | columns | $m$ of the scaling $x \mapsto A (x - m)$; absent without a scaling |
//! | `scaling.factors` | columns | $A$ if it is diagonal |
//! | `scaling.matrix` | columns × columns | $A$ if it is not, row by row |
//! | `percentiles.depths` | any | depths of the reference, increasing; absent if it was not scored |
//! | `percentiles.shares` | the same | the share of the reference that is at most as deep |
//!
//! | metadata | |
//! |---|---|
//! | `format`, `format_version` | `lossdepth-model` and 1; 2 with an encoding; 3 with percentiles |
//! | `lossdepth_version` | the version that saved it |
//! | `method`, `settings` | the method, and it with all its settings as JSON |
//! | `columns` | the names of the columns as a JSON list; absent if they have none |
//! | `encoding` | how tables become rows, as JSON, if the reference was a table |
//! | `scaling_warning` | how the scaling came out, as JSON, if not as asked for |
//! | `extra.`… | whatever the caller adds |
//! | `checksum` | `sha256:` and the digest of all else |
//!
//! The checksum is the SHA-256 of: the number of metadata entries but itself; the name and the text of each, sorted by name;
//! then for each tensor, sorted by name, the name, the number of its dimensions, its shape, and its bytes. Numbers are eight
//! bytes, little-endian; every name, text and run of bytes has its length before it. It finds accidents, not forgeries.

mod container;
mod description;
mod sparse;

pub use sparse::SparseArchive;

use super::fitted::{Learned, Model};
use super::percentiles::Percentiles;
use crate::data::{Encoding, Reference, Scale, Scaling, ScalingWarning, Transform};
use crate::error::{DepthError, Result};
use container::{Container, Metadata, Numbers, damaged, short};
use description::{
    Description, Tensors, check_all_taken, described, extras, json, parsed, percentiles, settings, take,
};

/// What `format` says.
const NAME: &str = "lossdepth-model";

/// Everything that goes into a file of a model.
///
/// ```
/// use lossdepth::model::archive::Archive;
/// use lossdepth::{Method, Reference, Rows, Run, Settings};
/// let model = Settings::new(Method::Hinge).fit(&Reference::new(&[[0.0], [1.0], [3.0]])?)?;
/// let bytes = Archive::of(&model).columns(vec!["height".into()])?.to_bytes()?;
///
/// let archive = Archive::from_bytes(&bytes)?;
/// assert_eq!(archive.column_names(), Some(&["height".to_owned()][..]));
/// let queries = Rows::new(&[2.0, 9.0], 1)?;
/// assert_eq!(archive.model()?.score(queries, &Run::default())?, model.score(queries, &Run::default())?);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Archive {
    described: Description,
    reference: Reference,
    scaling: Scaling,
    warning: Option<ScalingWarning>,
    encoding: Option<Encoding>,
    version: String,
}

impl Archive {
    /// The newest format that this version reads. It writes the oldest one that holds what there is to save: 1, 2
    /// with an encoding, or 3 with percentiles.
    pub const FORMAT: u64 = 3;

    /// What is to be saved of a model; shares its numbers.
    pub fn of(model: &Model) -> Self {
        Self {
            described: Description::new(model.settings(), model.known_percentiles()),
            reference: model.reference().clone(),
            scaling: model.scaling().clone(),
            warning: model.warning().cloned(),
            encoding: model.encoding().cloned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    described!();

    /// The bytes of the file; the same for the same content.
    ///
    /// # Errors
    /// Names and notes of more than 100 MB.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut metadata = self.described.metadata(NAME, self.format())?;
        if let Some(encoding) = &self.encoding {
            metadata.insert("encoding".to_owned(), json(encoding)?);
        }
        if let Some(warning) = &self.warning {
            metadata.insert("scaling_warning".to_owned(), json(warning)?);
        }
        container::write(metadata, &self.numbers())
    }

    fn numbers(&self) -> Vec<Numbers<'_>> {
        let (n, d) = (self.reference.len(), self.reference.width());
        let mut numbers =
            vec![Numbers { name: "reference", shape: vec![n, d], values: self.reference.rows().as_slice() }];
        self.described.add_numbers(self.reference.given_weights(), &mut numbers);
        let linear = match self.scaling.transform() {
            Transform::Identity => return numbers,
            Transform::Diagonal(a) => Numbers { name: "scaling.factors", shape: vec![d], values: a },
            Transform::Full(a) => Numbers { name: "scaling.matrix", shape: vec![d, d], values: a },
        };
        numbers.push(Numbers { name: "scaling.center", shape: vec![d], values: self.scaling.center() });
        numbers.push(linear);
        numbers
    }

    /// Reads and checks the bytes of a file.
    ///
    /// Nothing larger than the bytes is allocated, and nothing is fitted yet.
    ///
    /// # Errors
    /// [`NotAModel`](DepthError::NotAModel), [`NewerModel`](DepthError::NewerModel) or
    /// [`DamagedModel`](DepthError::DamagedModel).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let container = container::read(bytes)?;
        check_format(&container.metadata)?;
        container.verify()?;
        let Container { mut metadata, mut tensors } = container;
        let format = metadata.get("format_version").map_or("", String::as_str).to_owned();
        metadata.retain(|name, _| !["checksum", "format", "format_version"].contains(&name.as_str()));
        let mut text = |name: &str| metadata.remove(name);
        let version = text("lossdepth_version").unwrap_or_default();
        let settings = settings(text("method").as_deref(), text("settings"))?;
        let columns: Option<Vec<String>> = parsed("columns", text("columns"))?;
        let warning = parsed("scaling_warning", text("scaling_warning"))?;
        let encoding: Option<Encoding> =
            if format == "1" { None } else { parsed("encoding", text("encoding"))? };
        if format == "2" && encoding.is_none() {
            return Err(damaged("it has no encoding"));
        }
        let extras = extras(metadata)?;
        let reference = reference(&mut tensors, encoding.as_ref())?;
        let scaling = scaling(settings.scale, reference.width(), &mut tensors)?;
        let percentiles = if format == "3" { Some(percentiles(&mut tensors)?) } else { None };
        check_all_taken(&tensors)?;
        let described = Description { settings, columns: None, percentiles, extras };
        let archive = Self { described, reference, scaling, warning, encoding, version };
        match columns {
            Some(names) => archive.columns(names).map_err(|e| match e {
                DepthError::Unsaved { reason } => damaged(reason),
                other => other,
            }),
            None => Ok(archive),
        }
    }

    /// Makes the model ready to score, with the scaling that was saved.
    ///
    /// # Errors
    /// A setting is out of its range, or kernel values need more memory than there is.
    pub fn model(&self) -> Result<Model> {
        let learned: Learned = (self.scaling.clone(), self.warning.clone());
        if *self.scaling.transform() != Transform::Identity {
            self.reference
                .check_mapped(&self.scaling)
                .map_err(|_| damaged("its scaling takes the reference to numbers too large to work with"))?;
        }
        let model = self.described.settings.fit_scaled(&self.reference, Some(learned))?;
        let model = model.with_percentiles(self.described.percentiles.clone());
        Ok(match &self.encoding {
            Some(encoding) => model.with_encoding(encoding.clone()),
            None => model,
        })
    }

    /// The reference sample.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The scaling that was learned on it.
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Something the user should know about how the scaling came out.
    pub fn warning(&self) -> Option<&ScalingWarning> {
        self.warning.as_ref()
    }

    /// How tables become the rows that the model takes, if its reference was a table.
    pub fn encoding(&self) -> Option<&Encoding> {
        self.encoding.as_ref()
    }

    /// How deep the reference is, if that was saved with the model.
    pub fn percentiles(&self) -> Option<&Percentiles> {
        self.described.percentiles.as_ref()
    }

    /// The format of the file: 1, 2 with an encoding, or 3 with percentiles.
    pub fn format(&self) -> u64 {
        match (&self.described.percentiles, &self.encoding) {
            (Some(_), _) => 3,
            (None, Some(_)) => 2,
            (None, None) => 1,
        }
    }

    /// The version of lossdepth that saved it.
    pub fn version(&self) -> &str {
        &self.version
    }
}

impl Model {
    /// The model as the bytes of a file; [`Archive`] also takes names and notes.
    ///
    /// ```
    /// use lossdepth::{Method, Model, Reference, Rows, Run, Settings};
    /// let model = Settings::new(Method::Logistic).fit(&Reference::new(&[[0.0], [1.0], [3.0]])?)?;
    /// let loaded = Model::from_bytes(&model.to_bytes()?)?;
    /// let queries = Rows::new(&[2.0, 9.0], 1)?;
    /// assert_eq!(loaded.score(queries, &Run::default())?, model.score(queries, &Run::default())?);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Archive::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Archive::of(self).to_bytes()
    }

    /// A model from the bytes of a file. To let go of the bytes before the model is made ready, use [`Archive`].
    ///
    /// # Errors
    /// As for [`Archive::from_bytes`] and [`Archive::model`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Archive::from_bytes(bytes)?.model()
    }
}

/// Whether this version can read it at all.
fn check_format(metadata: &Metadata) -> Result<()> {
    let text = |name: &str| metadata.get(name).map_or("", String::as_str);
    if text("format") == sparse::NAME {
        let reason = "its reference has sparse rows, which `lossdepth.load` of Python and `SparseArchive` of Rust read";
        return Err(DepthError::NotAModel { reason: reason.to_owned() });
    }
    if text("format") != NAME {
        let reason = "a safetensors file of something else".to_owned();
        return Err(DepthError::NotAModel { reason });
    }
    match text("format_version").parse::<u64>() {
        Ok(format) if format > Archive::FORMAT => Err(DepthError::NewerModel {
            version: short(text("lossdepth_version")),
            format,
            newest: Archive::FORMAT,
        }),
        Ok(1..=Archive::FORMAT) => Ok(()),
        _ => Err(damaged(format!("no format version `{}`", short(text("format_version"))))),
    }
}

fn reference(tensors: &mut Tensors<'_>, encoding: Option<&Encoding>) -> Result<Reference> {
    let Some(rows) = tensors.remove("reference") else { return Err(damaged("it has no reference")) };
    let [n, d] = rows.shape[..] else { return Err(damaged("its reference is no table")) };
    let weights = take(tensors, "weights", &[n])?;
    let wrong = |e: DepthError| damaged(format!("its reference: {e}"));
    let reference = Reference::from_vec(rows.values(), d, weights).map_err(wrong)?;
    let Some(encoding) = encoding else { return Ok(reference) };
    if encoding.layout().width() != d {
        let width = encoding.layout().width();
        return Err(damaged(format!("its encoding is of {width} columns, its reference of {d}")));
    }
    reference.with_layout(encoding.layout().clone()).map_err(wrong)
}

/// The scaling, of a form that the setting can have led to.
fn scaling(scale: Scale, d: usize, tensors: &mut Tensors<'_>) -> Result<Scaling> {
    let center = take(tensors, "scaling.center", &[d])?;
    let factors = take(tensors, "scaling.factors", &[d])?;
    let matrix = take(tensors, "scaling.matrix", &[d, d])?;
    let mixes = matches!(scale, Scale::Whiten | Scale::Mcd);
    let (center, transform) = match (center, factors, matrix) {
        (None, None, None) if scale == Scale::None => (vec![0.0; d], Transform::Identity),
        (Some(center), Some(a), None) if scale != Scale::None => (center, Transform::Diagonal(a)),
        (Some(center), None, Some(a)) if mixes => (center, Transform::Full(a)),
        _ => return Err(damaged(format!("what it has for a scaling is none for scale `{scale}`"))),
    };
    Scaling::from_parts(center, transform).map_err(|e| damaged(format!("its scaling: {e}")))
}
