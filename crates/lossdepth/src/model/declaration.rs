//! What is known of a method by name, and how it is looked up.

use super::depth::Fitted;
use super::fitted::Learned;
use super::method::{DECLARATIONS, Method};
use super::setting::{Kind, Range, Setting};
use super::settings::Settings;
use super::value::Value;
use crate::data::Reference;
use crate::error::{DepthError, Result};
use std::str::FromStr;

/// A setting with its value.
pub(super) type Given = (&'static str, Value);

/// Constructs the hypothesis that settings describe and fits it to a sample.
type Fit = fn(&Settings, &Reference, Option<Learned>) -> Result<Box<dyn Fitted>>;

/// What is known of a method.
pub(super) struct Declaration {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) title: &'static str,
    pub(super) settings: &'static [&'static str],
    pub(super) fit: Fit,
    /// Other names, in lower case: those of statisticians, and of the paper's tables.
    pub(super) aliases: &'static [&'static str],
    /// Settings that mean something else for this method than the table of settings says.
    pub(super) own: &'static [Own],
    /// Defaults that differ from those in the table of settings.
    pub(super) defaults: fn(&mut Settings),
    /// What the preset `recommended` sets.
    pub(super) recommended: fn() -> Vec<Given>,
    /// Whether it compares numbers only, and refuses categories.
    pub(super) numbers_only: bool,
    /// Whether the depth of columns as they are (`scale` `none`) changes with their units of measurement.
    pub(super) depends_on_units: fn(&Settings) -> bool,
}

impl Declaration {
    /// A method without other names, with the common defaults, for which the preset `recommended` changes nothing, which takes
    /// categories, and to which units matter. `title` is for headings and pictures.
    pub(super) const fn new(
        name: &'static str,
        summary: &'static str,
        title: &'static str,
        settings: &'static [&'static str],
        fit: Fit,
    ) -> Self {
        Self {
            name,
            summary,
            title,
            settings,
            fit,
            aliases: &[],
            own: &[],
            defaults: |_| (),
            recommended: Vec::new,
            numbers_only: false,
            depends_on_units: |_| true,
        }
    }
}

/// What a method says of a setting in place of the table of settings.
pub(super) struct Own {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) range: Option<Range>,
    pub(super) choices: Option<&'static [&'static str]>,
    /// Whether the setting is another quantity here, which the help of the flag has to mention.
    pub(super) redefined: bool,
}

impl Own {
    pub(super) const fn help(name: &'static str, help: &'static str) -> Self {
        Self { name, help, range: None, choices: None, redefined: false }
    }
}

impl Method {
    fn declaration(self) -> &'static Declaration {
        &DECLARATIONS[self as usize]
    }

    /// The name used everywhere.
    pub fn name(self) -> &'static str {
        self.declaration().name
    }

    /// Other names for it, in lower case.
    pub fn aliases(self) -> &'static [&'static str] {
        self.declaration().aliases
    }

    /// Whether it compares numbers only, and refuses categories.
    pub fn numbers_only(self) -> bool {
        self.declaration().numbers_only
    }

    /// What it is, in a line.
    pub fn summary(self) -> &'static str {
        self.declaration().summary
    }

    /// Its name in headings and pictures.
    pub fn title(self) -> &'static str {
        self.declaration().title
    }

    /// The names of the settings that it has.
    pub fn settings(self) -> &'static [&'static str] {
        self.declaration().settings
    }

    /// What is known of one of its settings.
    ///
    /// # Errors
    /// It has no such setting.
    pub fn setting(self, name: &str) -> Result<Setting> {
        let known = Setting::ALL.iter().find(|setting| setting.name == name);
        let Some(setting) = known.filter(|_| self.settings().contains(&name)) else {
            return Err(DepthError::NoSuchSetting {
                method: self.name(),
                name: name.to_owned(),
                has: self.settings().join(", "),
            });
        };
        Ok(match self.declaration().own.iter().find(|own| own.name == name) {
            Some(own) => Setting {
                help: own.help,
                details: "",
                range: own.range.unwrap_or(setting.range),
                kind: own.choices.map_or(setting.kind, Kind::Choice),
                ..*setting
            },
            None => *setting,
        })
    }

    /// What the setting is for this method, if that is another quantity than for the others.
    pub fn redefines(self, name: &str) -> Option<&'static str> {
        let own = self.declaration().own.iter().find(|own| own.name == name)?;
        own.redefined.then_some(own.help)
    }

    pub(super) fn set_defaults(self, settings: &mut Settings) {
        (self.declaration().defaults)(settings);
    }

    pub(super) fn depends_on_units(self, settings: &Settings) -> bool {
        (self.declaration().depends_on_units)(settings)
    }

    pub(super) fn recommended(self) -> Vec<Given> {
        (self.declaration().recommended)()
    }

    pub(super) fn fit(
        self,
        settings: &Settings,
        sample: &Reference,
        learned: Option<Learned>,
    ) -> Result<Box<dyn Fitted>> {
        (self.declaration().fit)(settings, sample, learned)
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        let lower = s.to_lowercase();
        let known = |m: &Self| m.name() == lower || m.aliases().contains(&&*lower);
        Self::ALL.into_iter().find(known).ok_or_else(|| DepthError::Name {
            name: "method",
            expected: Self::ALL.map(Self::name).join(", "),
            got: s.to_owned(),
        })
    }
}
