//! What a file of any model has beside its reference: settings, names of columns, percentiles and notes.

use super::container::{Metadata, Numbers, Tensor, damaged, short};
use crate::error::{DepthError, Result};
use crate::model::percentiles::Percentiles;
use crate::model::settings::Settings;
use serde::Serialize;
use std::collections::BTreeMap;

/// The tensors with the percentiles.
pub(super) const DEPTHS: &str = "percentiles.depths";
const SHARES: &str = "percentiles.shares";

/// What comes before the names of a caller's own entries.
const EXTRA: &str = "extra.";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Description {
    pub(super) settings: Settings,
    pub(super) columns: Option<Vec<String>>,
    pub(super) percentiles: Option<Percentiles>,
    pub(super) extras: BTreeMap<String, String>,
}

/// The methods of an archive, with the fields `described` and `reference`, that only concern its description.
macro_rules! described {
    () => {
        /// With names for the columns.
        ///
        /// # Errors
        /// Not one for each column.
        pub fn columns(mut self, names: Vec<String>) -> Result<Self> {
            let (got, expected) = (names.len(), self.reference.width());
            if got != expected {
                return Err(DepthError::Unsaved { reason: format!("{got} names for {expected} columns") });
            }
            self.described.columns = Some(names);
            Ok(self)
        }

        /// With a note of the caller's own.
        #[must_use]
        pub fn extra(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
            self.described.extras.insert(name.into(), text.into());
            self
        }

        /// With another limit for kernel values: it belongs to the machine rather than to the model, and changes no result.
        #[must_use]
        pub fn memory(mut self, bytes: Option<f64>) -> Self {
            self.described.settings.memory = bytes;
            self
        }

        /// The method and its settings.
        pub fn settings(&self) -> &$crate::Settings {
            &self.described.settings
        }

        /// The names of the columns, if they have some.
        pub fn column_names(&self) -> Option<&[String]> {
            self.described.columns.as_deref()
        }

        /// The caller's own notes, by name.
        pub fn extras(&self) -> &std::collections::BTreeMap<String, String> {
            &self.described.extras
        }
    };
}
pub(super) use described;

impl Description {
    pub(super) fn new(settings: &Settings, percentiles: Option<&Percentiles>) -> Self {
        let (settings, percentiles) = (settings.clone(), percentiles.cloned());
        Self { settings, columns: None, percentiles, extras: BTreeMap::new() }
    }

    /// The metadata of a file in this format.
    pub(super) fn metadata(&self, format: &str, format_version: u64) -> Result<Metadata> {
        let mut metadata = Metadata::from([
            ("format".to_owned(), format.to_owned()),
            ("format_version".to_owned(), format_version.to_string()),
            ("lossdepth_version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("method".to_owned(), self.settings.method.name().to_owned()),
            ("settings".to_owned(), json(&self.settings)?),
        ]);
        if let Some(columns) = &self.columns {
            metadata.insert("columns".to_owned(), json(columns)?);
        }
        metadata.extend(self.extras.iter().map(|(name, text)| (format!("{EXTRA}{name}"), text.clone())));
        Ok(metadata)
    }

    /// Adds the weights of the reference as they were given, and the percentiles.
    pub(super) fn add_numbers<'a>(&'a self, weights: Option<&'a [f64]>, numbers: &mut Vec<Numbers<'a>>) {
        let mut add = |name, values: &'a [f64]| {
            numbers.push(Numbers { name, shape: vec![values.len()], values });
        };
        if let Some(weights) = weights {
            add("weights", weights);
        }
        if let Some(known) = &self.percentiles {
            add(DEPTHS, known.depths());
            add(SHARES, known.shares());
        }
    }
}

pub(super) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| DepthError::Unsaved { reason: e.to_string() })
}

/// The caller's own notes: nothing else may be left of the metadata.
pub(super) fn extras(metadata: Metadata) -> Result<BTreeMap<String, String>> {
    let own = |(name, text): (String, String)| match name.strip_prefix(EXTRA) {
        Some(own) => Ok((own.to_owned(), text)),
        None => Err(damaged(format!("unknown entry `{}`", short(&name)))),
    };
    metadata.into_iter().map(own).collect()
}

/// Whether every tensor has been read.
pub(super) fn check_all_taken(tensors: &Tensors<'_>) -> Result<()> {
    match tensors.keys().next() {
        Some(name) => Err(damaged(format!("unknown tensor `{}`", short(name)))),
        None => Ok(()),
    }
}

pub(super) fn settings(method: Option<&str>, settings: Option<String>) -> Result<Settings> {
    let Some(settings) = parsed::<Settings>("settings", settings)? else {
        return Err(damaged("it has no settings"));
    };
    if method != Some(settings.method.name()) {
        return Err(damaged("its settings are those of another method"));
    }
    Ok(settings)
}

pub(super) fn parsed<T: serde::de::DeserializeOwned>(name: &str, text: Option<String>) -> Result<Option<T>> {
    let read = |text: String| {
        serde_json::from_str(&text).map_err(|e| damaged(format!("`{name}`: {}", short(&e.to_string()))))
    };
    text.map(read).transpose()
}

pub(super) type Tensors<'a> = BTreeMap<String, Tensor<'a>>;

pub(super) fn percentiles(tensors: &mut Tensors<'_>) -> Result<Percentiles> {
    let mut list = |name: &str| match tensors.remove(name) {
        Some(tensor) if tensor.shape.len() == 1 => Ok(tensor.values()),
        _ => Err(damaged("it has no percentiles")),
    };
    Percentiles::from_parts(list(DEPTHS)?, list(SHARES)?)
}

/// The numbers of a tensor of this shape, if it is there.
pub(super) fn take(tensors: &mut Tensors<'_>, name: &str, shape: &[usize]) -> Result<Option<Vec<f64>>> {
    match tensors.remove(name) {
        Some(tensor) if tensor.shape != shape => Err(damaged(format!(
            "`{name}` is of shape {:?}, which does not go with the reference",
            tensor.shape
        ))),
        tensor => Ok(tensor.map(|tensor| tensor.values())),
    }
}
