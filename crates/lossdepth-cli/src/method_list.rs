//! Lists of methods and baselines with settings, as in `--methods svm:reg=0.05,gamma=2,lof`.

use crate::error::{Error, Result};
use crate::settings::{Given, flag_name};
use crate::suggest::nearest;
use lossdepth::{Method, Preset};
use lossdepth_reproduce::baseline::Baseline;
use lossdepth_reproduce::{Candidate, CommonSettings};

/// A name and its settings, as text.
#[derive(Debug)]
struct Spec<'a> {
    name: &'a str,
    settings: Vec<(&'a str, String)>,
}

/// Parses lists such as `svm:reg=0.05,gamma=2,lof`; `given` holds for all that have the setting.
pub(crate) fn parse(texts: &[String], given: &Given) -> Result<Vec<Candidate>> {
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
    let common = CommonSettings {
        values: given.values().to_vec(),
        preset: given.preset_name(),
        memory: lossdepth_files::memory::half(),
    };
    // Baselines see columns as the depths do: standardised, unless something else is said.
    let mut of_baselines = common.clone();
    if !matches!(common.preset, Some(Preset::Paper | Preset::PaperCode)) {
        of_baselines.values.insert(0, ("scale", "standard".into()));
    }
    let candidate = |spec: &Spec<'_>| {
        let is_baseline = Baseline::NAMES.contains(&spec.name);
        spec.candidate(if is_baseline { &of_baselines } else { &common })
    };
    let all: Vec<Candidate> = specs.iter().map(candidate).collect::<Result<_>>()?;
    for (name, _) in given.values() {
        if !all.iter().any(|candidate| candidate.has(name)) {
            let flag = flag_name(name);
            return Err(Error::Usage(format!("`--{flag}` is no setting of any method compared here")));
        }
    }
    if let Some(twice) = (1..all.len()).find(|&i| all[..i].iter().any(|other| other.name == all[i].name)) {
        return Err(Error::Usage(format!("`{}` is twice in --methods", all[twice].name)));
    }
    Ok(all)
}

/// Reads the text between two commas: a name, a name with a setting, a further setting, or a further number of a setting.
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
    fn candidate(&self, common: &CommonSettings) -> Result<Candidate> {
        if !Baseline::NAMES.contains(&self.name) && self.name.parse::<Method>().is_err() {
            return Err(Error::Usage(unknown(self.name)));
        }
        Candidate::new(self.name, &self.settings, common).map_err(|error| {
            let name = Candidate::display_name(self.name, &self.settings);
            Error::Usage(format!("`{name}` in --methods: {error}"))
        })
    }
}

fn unknown(asked: &str) -> String {
    let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).chain(Baseline::NAMES).collect();
    match nearest(asked, names.iter().copied()) {
        Some(name) => format!("no method `{asked}`; did you mean `{name}`?"),
        None => format!("no method `{asked}`; there are {}", names.join(", ")),
    }
}
