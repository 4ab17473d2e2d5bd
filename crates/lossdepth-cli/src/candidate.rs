//! What is compared: methods and baselines with settings, as `svm:reg=0.05,gamma=2`.

use crate::commands::within_memory;
use crate::error::{Error, Result};
use crate::settings::{Given, flag_name};
use crate::suggest::nearest;
use lossdepth::baseline::{Baseline, FittedBaseline};
use lossdepth::depth::{Kind, Setting, Value};
use lossdepth::{DepthError, Method, Model, Reference, Rows, Run, Settings, Stop};

/// A method or a baseline.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// As it was asked for.
    pub(crate) name: String,
    pub(crate) kind: CandidateKind,
}

#[derive(Debug, Clone)]
pub(crate) enum CandidateKind {
    /// The settings for a reference of a few rows, and how to make them for one of any size.
    Depth(Box<Settings>, Recipe),
    Baseline(Box<Baseline>),
}

/// Settings that may depend on how large the reference is.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    given: Given,
    values: Vec<(&'static str, Value)>,
}

impl Recipe {
    fn settings(&self, method: Method, n: f64) -> Result<Settings, DepthError> {
        let preset = self.given.preset(method, n)?;
        Settings::with(method, preset.into_iter().chain(self.values.iter().cloned()))
    }
}

/// One that has seen the reference.
pub(crate) enum Fitted {
    Depth(Box<Model>),
    Baseline(Box<FittedBaseline>),
}

/// What all rows got.
pub(crate) struct Scores {
    pub(crate) values: Vec<f64>,
    pub(crate) not_converged: usize,
}

/// A name before its settings are known.
#[derive(Debug)]
struct Spec<'a> {
    name: &'a str,
    settings: Vec<(&'a str, String)>,
}

impl Candidate {
    /// Reads lists such as `svm:reg=0.05,gamma=2,lof`; `given` holds for all that have the setting.
    pub(crate) fn list(texts: &[String], given: &Given) -> Result<Vec<Self>> {
        let mut specs: Vec<Spec<'_>> = Vec::new();
        for text in texts {
            let mut first = true;
            for piece in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
                read(&mut specs, piece, first)?;
                first = false;
            }
        }
        if specs.is_empty() {
            return Err(Error::Usage("no method to compare".to_owned()));
        }
        let all: Vec<Self> = specs.iter().map(|spec| spec.candidate(given)).collect::<Result<_>>()?;
        for (name, _) in given.values() {
            if !all.iter().any(|candidate| candidate.has(name)) {
                let flag = flag_name(name);
                return Err(Error::Usage(format!("`--{flag}` is no setting of any method compared here")));
            }
        }
        if let Some(twice) = (1..all.len()).find(|&i| all[..i].iter().any(|other| other.name == all[i].name))
        {
            return Err(Error::Usage(format!("`{}` is twice in --methods", all[twice].name)));
        }
        Ok(all)
    }

    fn has(&self, name: &str) -> bool {
        match &self.kind {
            CandidateKind::Depth(settings, _) => settings.method.settings().contains(&name),
            CandidateKind::Baseline(baseline) => baseline.setting(name).is_ok(),
        }
    }

    /// Settings and their values, for a reference of this size.
    pub(crate) fn resolve(&mut self, sample: &Reference) -> Result<(), DepthError> {
        if let CandidateKind::Depth(settings, recipe) = &mut self.kind {
            **settings = recipe.settings(settings.method, sample.observations())?;
        }
        Ok(())
    }

    /// Settings and their values.
    pub(crate) fn values(&self) -> Vec<(&'static str, Value)> {
        match &self.kind {
            CandidateKind::Depth(settings, _) => settings.values(),
            CandidateKind::Baseline(baseline) => baseline.values(),
        }
    }

    pub(crate) fn fit(&self, sample: &Reference, run: &Run<'_>) -> Result<Fitted, DepthError> {
        Ok(match &self.kind {
            CandidateKind::Depth(settings, _) => {
                Fitted::Depth(Box::new(within_memory(settings).fit(sample)?))
            }
            CandidateKind::Baseline(baseline) => Fitted::Baseline(Box::new(baseline.fit(sample, run)?)),
        })
    }
}

impl Fitted {
    /// Scores rows; `own` says that they are the reference itself.
    pub(crate) fn score(&self, rows: Rows<'_>, own: bool, run: &Run<'_>) -> Result<Scores, DepthError> {
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

    pub(crate) fn warning(&self) -> Option<String> {
        let warning = match self {
            Self::Depth(model) => model.warning(),
            Self::Baseline(fitted) => fitted.warning(),
        };
        warning.map(ToString::to_string)
    }
}

/// Reads what stands between two commas: a name, a name with a setting, one more setting, or one more number of one.
fn read<'a>(specs: &mut Vec<Spec<'a>>, piece: &'a str, first: bool) -> Result<()> {
    let (head, setting) = match piece.split_once(':') {
        Some((name, setting)) => (Some(name.trim()), Some(setting.trim())),
        None if piece.contains('=') && !first => (None, Some(piece)),
        None => (Some(piece), None),
    };
    if let (Some(number), None, Some(Spec { settings, .. })) = (head, setting, specs.last_mut())
        && number.parse::<u64>().is_ok()
        && let (Some((_, value)), false) = (settings.last_mut(), first)
    {
        value.push(',');
        value.push_str(number);
        return Ok(());
    }
    if let Some(name) = head {
        specs.push(Spec { name, settings: Vec::new() });
    }
    let (Some(setting), Some(spec)) = (setting, specs.last_mut()) else { return Ok(()) };
    let Some((name, value)) = setting.split_once('=') else {
        let text = format!("`{piece}` in --methods: a setting is written as name=value, as in svm:reg=0.05");
        return Err(Error::Usage(text));
    };
    spec.settings.push((name.trim(), value.trim().to_owned()));
    Ok(())
}

impl Spec<'_> {
    fn candidate(&self, given: &Given) -> Result<Candidate> {
        let pairs: Vec<String> =
            self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let name = if pairs.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}:{}", self.name, pairs.join(","))
        };
        let wrong = |error: DepthError| Error::Usage(format!("`{name}` in --methods: {error}"));
        let kind = if Baseline::NAMES.contains(&self.name) {
            let plain = Baseline::named(self.name)?;
            let mut values = Vec::new();
            for (setting, value) in given.values() {
                if plain.setting(setting).is_ok() {
                    values.push((*setting, value.clone()));
                }
            }
            if let (Ok(_), Some(bytes)) = (plain.setting("memory"), lossdepth_files::memory::half()) {
                values.insert(0, ("memory", Value::Number(bytes)));
            }
            for (setting, text) in &self.settings {
                let setting = plain.setting(&setting.replace('-', "_")).map_err(wrong)?;
                values.push((setting.name, parse(&setting, text).map_err(wrong)?));
            }
            CandidateKind::Baseline(Box::new(Baseline::with(self.name, values).map_err(wrong)?))
        } else {
            let method: Method = self.name.parse().map_err(|_| Error::Usage(unknown(self.name)))?;
            let has = |name: &&str| method.settings().contains(name);
            let mut values: Vec<(&'static str, Value)> =
                given.values().iter().filter(|(name, _)| has(name)).cloned().collect();
            for (setting, text) in &self.settings {
                let setting = method.setting(&setting.replace('-', "_")).map_err(wrong)?;
                values.push((setting.name, parse(&setting, text).map_err(wrong)?));
            }
            let recipe = Recipe { given: given.clone(), values };
            CandidateKind::Depth(Box::new(recipe.settings(method, 2.0).map_err(wrong)?), recipe)
        };
        Ok(Candidate { name, kind })
    }
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

fn unknown(asked: &str) -> String {
    let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).chain(Baseline::NAMES).collect();
    match nearest(asked, names.iter().copied()) {
        Some(name) => format!("no method `{asked}`; did you mean `{name}`?"),
        None => format!("no method `{asked}`; there are {}", names.join(", ")),
    }
}
