//! The settings as flags, made from the library's table of settings.

use crate::error::{Error, Result};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use lossdepth::kernel::KernelChoice;
use lossdepth::model::{Kind, Range, Setting, Value};
use lossdepth::{DepthError, Method, Preset, Scale, Settings, Variant};

/// The settings given on the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    values: Vec<(&'static str, Value)>,
    preset: Option<Preset>,
}

impl Given {
    /// The settings given, by name.
    pub(crate) fn values(&self) -> &[(&'static str, Value)] {
        &self.values
    }

    /// Takes a setting for given if it is not.
    pub(crate) fn set_default(&mut self, name: &'static str, value: String) {
        if self.values.iter().all(|(known, _)| *known != name) {
            self.values.push((name, Value::Text(value)));
        }
    }

    /// The preset, if one was given.
    pub(crate) fn preset_name(&self) -> Option<Preset> {
        self.preset
    }

    /// The settings of the preset for a method and a reference of `n` observations.
    pub(crate) fn preset(&self, method: Method, n: f64) -> Result<Vec<(&'static str, Value)>, DepthError> {
        self.preset.map_or_else(|| Ok(Vec::new()), |preset| preset.values(method, n))
    }

    /// The limit for kernel values in bytes, if given.
    pub(crate) fn memory(&self) -> Option<f64> {
        self.values.iter().find_map(|(name, value)| match value {
            Value::Number(bytes) if *name == "memory" => Some(*bytes),
            _ => None,
        })
    }

    /// The defaults of the method, overridden by the preset for `n` observations, overridden by the flags.
    pub(crate) fn settings(&self, method: Method, n: f64) -> Result<Settings> {
        let preset = self.preset(method, n)?;
        let settings = Settings::with(method, preset.into_iter().chain(self.values.iter().cloned()))?;
        if settings.scale != Scale::Mcd && self.values.iter().any(|(name, _)| *name == "support_fraction") {
            return Err(Error::Usage("`--support-fraction` goes with `--scale mcd`".to_owned()));
        }
        if matches!(settings.variant, Variant::Constrained { .. })
            && self.values.iter().any(|(name, _)| *name == "reg")
        {
            return Err(Error::Usage(
                "`--reg` plays no part in variant `constrained`: `--radius` takes its place".to_owned(),
            ));
        }
        if settings.kernel == KernelChoice::Precomputed {
            return Err(Error::Usage("kernel `precomputed` is for the Rust and Python libraries".to_owned()));
        }
        Ok(settings)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let value = |name| matches.get_one::<Value>(name).cloned();
        let values = Setting::ALL.iter().filter_map(|s| Some((s.name, value(s.name)?))).collect();
        Ok(Self { values, preset: matches.get_one::<Preset>(PRESET).copied() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let Self { values, preset } = Self::from_arg_matches(matches)?;
        self.values.extend(values);
        self.preset = preset.or(self.preset);
        Ok(())
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command.arg(preset()).args(Setting::ALL.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The name of a setting as a flag, without the dashes.
pub(crate) fn flag_name(name: &str) -> String {
    name.replace('_', "-")
}

/// The id of the preset's flag.
pub(crate) const PRESET: &str = "preset";

fn preset() -> Arg {
    Arg::new(PRESET)
        .long(PRESET)
        .value_name("NAME")
        .value_parser(PossibleValuesParser::new(Preset::NAMES).try_map(|name| name.parse::<Preset>()))
        .help_heading("Settings")
        .help(
            "Settings other than the defaults: those of the paper's text or scripts, or the ones we recommend. \
             Explicit flags override the preset.",
        )
}

fn flag(setting: &'static Setting) -> Arg {
    let parser = match setting.kind {
        // What only libraries have is understood, to say so, but not listed.
        Kind::Choice(names) => {
            let values =
                names.iter().map(|name| PossibleValue::new(*name).hide(is_for_libraries(setting, name)));
            PossibleValuesParser::new(values).map(Value::Text).into()
        }
        _ => ValueParser::new(|text: &str| setting.parse(text)),
    };
    let placeholder = match setting.kind {
        Kind::Number | Kind::OptionalNumber => "X",
        Kind::NumberOr(_) | Kind::Gamma => "X|NAME",
        Kind::Count => "N",
        Kind::Counts => "N,N",
        Kind::Choice(_) => "NAME",
    };
    Arg::new(setting.name)
        .long(flag_name(setting.name))
        .value_name(placeholder)
        .value_parser(parser)
        .allow_hyphen_values(true)
        .help_heading("Settings")
        .help(help(setting))
}

/// Whether a choice is one of the Rust and Python libraries only.
pub(crate) fn is_for_libraries(setting: &Setting, choice: &str) -> bool {
    setting.name == "kernel" && choice == "precomputed"
}

/// The help sentence, then in brackets which methods have the setting if few do, its range and its defaults.
fn help(setting: &Setting) -> String {
    let having: Vec<Method> =
        Method::ALL.into_iter().filter(|method| method.settings().contains(&setting.name)).collect();
    let mut notes = Vec::new();
    if 2 * having.len() <= Method::ALL.len() {
        notes.push(names(&having));
    }
    if setting.range != Range::Any {
        notes.push(setting.range.to_string());
    }
    // The default of the first method, then those that differ.
    let mut defaults: Vec<(Value, Vec<Method>)> = Vec::new();
    for &method in &having {
        let value = default(method, setting.name);
        match defaults.iter_mut().find(|(known, _)| *known == value) {
            Some((_, methods)) => methods.push(method),
            None => defaults.push((value, vec![method])),
        }
    }
    let defaults = defaults.iter().filter(|(value, _)| *value != Value::None).enumerate().map(
        |(i, (value, methods))| {
            if i == 0 { format!("default: {value}") } else { format!("{value} for {}", names(methods)) }
        },
    );
    notes.extend(defaults);
    let sentence = sentence(setting);
    if notes.is_empty() { sentence } else { format!("{sentence} [{}]", notes.join("; ")) }
}

/// The help sentence, with what the setting is for methods that define it otherwise.
pub(crate) fn sentence(setting: &Setting) -> String {
    let redefined = |method: Method| {
        let text = method.redefines(setting.name)?;
        let mut letters = text.chars();
        let first = letters.next()?.to_lowercase();
        Some(format!("; for {method}: {first}{}", letters.as_str()))
    };
    setting.help.to_owned() + &Method::ALL.into_iter().filter_map(redefined).collect::<String>()
}

fn default(method: Method, name: &str) -> Value {
    let values = Settings::defaults(method);
    values.into_iter().find(|(known, _)| *known == name).map_or(Value::None, |(_, value)| value)
}

fn names(methods: &[Method]) -> String {
    methods.iter().map(|method| method.name()).collect::<Vec<_>>().join(", ")
}
