//! What is known of a setting: its name, its values, and how they are read.

use super::value::Value;
use crate::error::{DepthError, Result};
use crate::kernel::Gamma;
use std::fmt;
use std::str::FromStr;

/// What is known of a setting, except its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// The name in Rust and Python; on the command line with `-` in place of `_`.
    pub name: &'static str,
    /// What its values look like.
    pub kind: Kind,
    /// The numbers that it may be; the methods refuse others when they are fitted.
    pub range: Range,
    /// One sentence, without a full stop.
    pub help: &'static str,
    /// More sentences, for references such as the docstrings of Python; may be empty.
    pub details: &'static str,
    /// The setting that this one is a parameter of: `gamma` belongs to `kernel`.
    pub part_of: Option<&'static str>,
}

/// What the values of a setting look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number,
    /// A number, or nothing.
    OptionalNumber,
    /// A number, or one of a few names.
    NumberOr(&'static [&'static str]),
    /// A number, a name, or a multiple such as `5/median`; see [`Gamma`].
    Gamma,
    /// A whole number, not negative.
    Count,
    /// One whole number or several.
    Counts,
    /// One of a few names.
    Choice(&'static [&'static str]),
}

/// The numbers that a setting may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// All of its [`Kind`].
    Any,
    /// Greater than this.
    Above(f64),
    /// Less than this.
    Below(f64),
    /// This or greater.
    AtLeast(f64),
    /// These two and all between them.
    Between(f64, f64),
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Above(low) => write!(f, "above {low}"),
            Self::Below(high) => write!(f, "below {high}"),
            Self::AtLeast(low) => write!(f, "at least {low}"),
            Self::Between(low, high) => write!(f, "{low} to {high}"),
        }
    }
}

impl Setting {
    /// A setting of any range that is no part of another.
    pub const fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self { name, kind, range: Range::Any, help, details: "", part_of: None }
    }

    /// With a range.
    #[must_use]
    pub const fn range(mut self, range: Range) -> Self {
        self.range = range;
        self
    }

    /// Reads a value as it is written on the command line.
    ///
    /// # Errors
    /// The text is not of the setting's [`Kind`].
    pub fn parse(&self, text: &str) -> Result<Value> {
        let number = || text.parse().map(Value::Number);
        // Whether a number is whole is part of what some settings mean.
        let any_number = || text.parse().map(Value::Count).or_else(|_| number());
        match self.kind {
            Kind::Number | Kind::OptionalNumber => number().map_err(|_| self.unfit("a number", text)),
            Kind::Count => text.parse().map(Value::Count).map_err(|_| self.unfit("a whole number", text)),
            Kind::Counts => {
                let counts: std::result::Result<_, _> =
                    text.split(',').map(|part| part.trim().parse()).collect();
                let expected = "whole numbers with commas between them";
                counts.map(Value::Counts).map_err(|_| self.unfit(expected, text))
            }
            Kind::Choice(names) if names.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::NumberOr(names) if names.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::Gamma => {
                any_number().or_else(|_| text.parse::<Gamma>().map(|gamma| Value::Text(gamma.to_string())))
            }
            Kind::Choice(names) => Err(self.unknown(names.join(", "), text)),
            Kind::NumberOr(names) => {
                any_number().map_err(|_| self.unknown(format!("{} or a number", names.join(", ")), text))
            }
        }
    }

    pub(super) fn unfit(&self, expected: &str, got: &str) -> DepthError {
        DepthError::Settings(format!("`{}` must be {expected}, got `{got}`", self.name))
    }

    pub(super) fn unknown(&self, expected: String, got: &str) -> DepthError {
        DepthError::Name { name: self.name, expected, got: got.to_owned() }
    }

    /// The value as a number.
    ///
    /// # Errors
    /// It is none.
    pub fn number(&self, value: &Value) -> Result<f64> {
        match value {
            Value::Number(number) => Ok(*number),
            Value::Count(count) => Ok(*count as f64),
            other => Err(self.unfit("a number", &other.to_string())),
        }
    }

    /// The value as a whole number.
    ///
    /// # Errors
    /// It is none.
    pub fn count(&self, value: &Value) -> Result<usize> {
        match value {
            Value::Count(count) => Ok(usize::try_from(*count).unwrap_or(usize::MAX)),
            other => Err(self.unfit("a whole number", &other.to_string())),
        }
    }

    pub(super) fn text<'a>(&self, value: &'a Value) -> Result<&'a str> {
        match value {
            Value::Text(text) => Ok(text),
            other => Err(self.unfit("a name", &other.to_string())),
        }
    }

    /// The value as one of some names.
    ///
    /// # Errors
    /// It is none of them.
    pub fn named<T: FromStr<Err = DepthError>>(&self, value: &Value) -> Result<T> {
        self.text(value)?.parse()
    }
}
