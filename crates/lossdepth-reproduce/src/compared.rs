//! The methods that a figure compares.

use crate::error::Result;
use lossdepth::model::Value;
use lossdepth::{Method, Preset, Reference, Rows, Run, Settings};

/// A method with its settings and names.
#[derive(Debug, Clone)]
pub(crate) struct ComparedMethod {
    /// In figures and tables.
    pub(crate) name: &'static str,
    /// In file names.
    pub(crate) key: &'static str,
    /// Whether it is in the paper's figure.
    pub(crate) printed: bool,
    pub(crate) settings: Settings,
}

impl ComparedMethod {
    /// A method of the paper with the settings of its text.
    pub(crate) fn as_in_text(name: &'static str, key: &'static str, method: Method) -> Result<Self> {
        let settings = Settings::with(method, Preset::Paper.values(method, 1.0)?)?;
        Ok(Self { name, key, printed: true, settings })
    }

    /// A method with the settings of the paper's scripts for a sample of `n` rows.
    pub(crate) fn as_in_scripts(
        name: &'static str,
        key: &'static str,
        method: Method,
        n: usize,
    ) -> Result<Self> {
        let settings = Settings::with(method, Preset::PaperCode.values(method, n as f64)?)?;
        Ok(Self { name, key, printed: false, settings })
    }

    /// A method that the paper does not have.
    pub(crate) fn additional(
        name: &'static str,
        key: &'static str,
        method: Method,
        values: &[(&'static str, Value)],
    ) -> Result<Self> {
        let unscaled = [("scale", Value::Text("none".to_owned()))];
        let settings = Settings::with(method, unscaled.into_iter().chain(values.iter().cloned()))?;
        Ok(Self { name, key, printed: false, settings })
    }
}

/// The depths of some rows in a sample.
pub(crate) fn depths(
    settings: &Settings,
    sample: &[f64],
    rows: &[f64],
    width: usize,
    run: &Run<'_>,
) -> Result<Vec<f64>> {
    let sample = Reference::new(&Rows::new(sample, width)?)?;
    let fits = settings.fit(&sample)?.score(Rows::new(rows, width)?, run)?;
    Ok(fits.iter().map(|fit| fit.depth).collect())
}
