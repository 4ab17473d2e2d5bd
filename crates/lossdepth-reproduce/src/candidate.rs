//! A detector to compare: a method or a baseline with settings, such as `svm:reg=0.05,gamma=2`.

use crate::baseline::{Baseline, FittedBaseline};
use lossdepth::model::{Kind, Setting, Value};
use lossdepth::{DepthError, Method, Model, Preset, Reference, Rows, Run, Settings, Stop};

/// A method or a baseline with settings.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// As it was requested: `svm`, or `svm:reg=0.05,gamma=2`.
    pub name: String,
    kind: CandidateKind,
    /// Bytes for kernel values, where the settings do not say.
    memory: Option<f64>,
}

#[derive(Debug, Clone)]
enum CandidateKind {
    Depth { settings: Box<Settings>, preset: Option<Preset>, values: Vec<(&'static str, Value)> },
    Baseline(Box<Baseline>),
}

/// Settings that candidates have in common.
#[derive(Debug, Clone, Default)]
pub struct CommonSettings {
    /// Values for all candidates that have the setting; a candidate's own settings override them.
    pub values: Vec<(&'static str, Value)>,
    /// Values of a preset for methods; `values` override them.
    pub preset: Option<Preset>,
    /// Bytes for kernel values, where no setting says.
    pub memory: Option<f64>,
}

/// A candidate fitted to a reference.
pub enum FittedCandidate {
    /// A depth.
    Depth(Box<Model>),
    /// A baseline.
    Baseline(Box<FittedBaseline>),
}

/// The scores of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// One per row; low for outliers.
    pub values: Vec<f64>,
    /// How many did not reach their tolerance.
    pub not_converged: usize,
}

impl Candidate {
    /// The name of a candidate: `method`, or `method:setting=value,…`.
    pub fn display_name(method: &str, settings: &[(&str, String)]) -> String {
        if settings.is_empty() {
            return method.to_owned();
        }
        let pairs: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{method}:{}", pairs.join(","))
    }

    /// A method or baseline by name, with its settings as text.
    ///
    /// # Errors
    /// There is no such method, it has no such setting, or a value is not valid.
    pub fn new(
        method: &str,
        settings: &[(&str, String)],
        common: &CommonSettings,
    ) -> Result<Self, DepthError> {
        let CommonSettings { values: given, preset, memory } = common;
        let kind = if Baseline::NAMES.contains(&method) {
            let plain = Baseline::named(method)?;
            let mut values = Vec::new();
            for (setting, value) in given {
                if plain.setting(setting).is_ok() {
                    values.push((*setting, value.clone()));
                }
            }
            if let (Ok(_), Some(bytes)) = (plain.setting("memory"), memory) {
                values.insert(0, ("memory", Value::Number(*bytes)));
            }
            for (setting, text) in settings {
                let setting = plain.setting(&setting.replace('-', "_"))?;
                values.push((setting.name, parse(&setting, text)?));
            }
            CandidateKind::Baseline(Box::new(Baseline::with(method, values)?))
        } else {
            let method: Method = method.parse()?;
            let has = |name: &&str| method.settings().contains(name);
            let mut values: Vec<(&'static str, Value)> =
                given.iter().filter(|(name, _)| has(name)).cloned().collect();
            for (setting, text) in settings {
                let setting = method.setting(&setting.replace('-', "_"))?;
                values.push((setting.name, parse(&setting, text)?));
            }
            // Checks the values; `resolve` has the size of the reference.
            let settings = Box::new(depth_settings(method, *preset, &values, 2.0)?);
            CandidateKind::Depth { settings, preset: *preset, values }
        };
        Ok(Self { name: Self::display_name(method, settings), kind, memory: *memory })
    }

    /// Whether the candidate has a setting of this name.
    pub fn has(&self, name: &str) -> bool {
        match &self.kind {
            CandidateKind::Depth { settings, .. } => settings.method.settings().contains(&name),
            CandidateKind::Baseline(baseline) => baseline.setting(name).is_ok(),
        }
    }

    /// Sets what a preset derives from the size of the reference. To be called before [`values`](Self::values) and
    /// [`fit`](Self::fit).
    ///
    /// # Errors
    /// The preset does not have the method.
    pub fn resolve(&mut self, sample: &Reference) -> Result<(), DepthError> {
        if let CandidateKind::Depth { settings, preset, values } = &mut self.kind {
            **settings = depth_settings(settings.method, *preset, values, sample.observations())?;
        }
        Ok(())
    }

    /// The settings of a method; `None` for a baseline.
    pub fn settings(&self) -> Option<&Settings> {
        match &self.kind {
            CandidateKind::Depth { settings, .. } => Some(settings),
            CandidateKind::Baseline(_) => None,
        }
    }

    /// Its settings and their values.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        match &self.kind {
            CandidateKind::Depth { settings, .. } => settings.values(),
            CandidateKind::Baseline(baseline) => baseline.values(),
        }
    }

    /// Fits the candidate to a reference.
    ///
    /// # Errors
    /// Those of the method or baseline.
    pub fn fit(&self, sample: &Reference, run: &Run<'_>) -> Result<FittedCandidate, DepthError> {
        Ok(match &self.kind {
            CandidateKind::Depth { settings, .. } => {
                let memory = settings.memory.or(self.memory);
                let settings = Settings { memory, ..(**settings).clone() };
                FittedCandidate::Depth(Box::new(settings.fit(sample)?))
            }
            CandidateKind::Baseline(baseline) => {
                FittedCandidate::Baseline(Box::new(baseline.fit(sample, run)?))
            }
        })
    }
}

impl FittedCandidate {
    /// Scores rows; `own` says that they are the reference itself, so that a row is not its own neighbour.
    ///
    /// # Errors
    /// Rows of another width or with values that are not finite.
    pub fn score(&self, rows: Rows<'_>, own: bool, run: &Run<'_>) -> Result<Scores, DepthError> {
        match self {
            Self::Depth(model) => {
                let fits = model.score(rows, run)?;
                let not_converged = fits.iter().filter(|fit| fit.stop != Stop::Converged).count();
                Ok(Scores { values: fits.iter().map(|fit| fit.depth).collect(), not_converged })
            }
            Self::Baseline(fitted) => {
                let values = if own { fitted.score_own(run)? } else { fitted.score(&rows, run)? };
                let not_converged = if fitted.converged() { 0 } else { values.len() };
                Ok(Scores { values, not_converged })
            }
        }
    }

    /// What the user should know about the fit.
    pub fn warning(&self) -> Option<String> {
        let warning = match self {
            Self::Depth(model) => model.warning(),
            Self::Baseline(fitted) => fitted.warning(),
        };
        warning.map(ToString::to_string)
    }
}

/// The settings of a method for a reference of `n` observations: defaults, then the preset, then `values`.
fn depth_settings(
    method: Method,
    preset: Option<Preset>,
    values: &[(&'static str, Value)],
    n: f64,
) -> Result<Settings, DepthError> {
    let preset = preset.map_or_else(|| Ok(Vec::new()), |preset| preset.values(method, n))?;
    Settings::with(method, preset.into_iter().chain(values.iter().cloned()))
}

fn parse(setting: &Setting, text: &str) -> Result<Value, DepthError> {
    if let (Kind::Choice(names), "precomputed") = (setting.kind, text)
        && names.contains(&text)
    {
        let text = "kernel `precomputed` is for the Rust and Python libraries";
        return Err(DepthError::Settings(text.to_owned()));
    }
    setting.parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_settings_override_common_ones_and_these_the_preset() {
        let common = CommonSettings {
            values: vec![("reg", Value::Number(3.0)), ("nu", Value::Number(0.2))],
            preset: Some(Preset::PaperCode),
            memory: Some(1e6),
        };
        let value = |candidate: &Candidate, name: &str| {
            candidate.values().into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
        };
        let plain = Candidate::new("svm", &[], &common).unwrap();
        assert_eq!((plain.name.as_str(), value(&plain, "reg")), ("svm", Some(Value::Number(3.0))));
        let own = Candidate::new("svm", &[("reg", "0.5".to_owned())], &common).unwrap();
        assert_eq!((own.name.as_str(), value(&own, "reg")), ("svm:reg=0.5", Some(Value::Number(0.5))));
        assert_eq!(value(&own, "nu"), None);
        let baseline = Candidate::new("oc-svm", &[], &common).unwrap();
        assert_eq!(value(&baseline, "nu"), Some(Value::Number(0.2)));
        assert!(Candidate::new("svn", &[], &common).is_err());
        assert!(Candidate::new("svm", &[("k", "3".to_owned())], &common).is_err());
    }

    #[test]
    fn a_preset_knows_the_size_of_the_reference_once_resolved() {
        let common = CommonSettings { preset: Some(Preset::PaperCode), ..CommonSettings::default() };
        let mut candidate = Candidate::new("svm", &[], &common).unwrap();
        let before = candidate.values();
        let sample = Reference::new(&[[0.0], [1.0], [2.0], [3.0], [4.0]]).unwrap();
        candidate.resolve(&sample).unwrap();
        assert_ne!(candidate.values(), before);
    }
}
