//! The value of a setting, and the Rust types that a setting can have.

use super::setting::{Kind, Setting};
use crate::data::{ReferenceRows, Scale};
use crate::error::Result;
use crate::kernel::{Gamma, KernelChoice, Sigma};
use crate::methods::classical::Scatter;
use crate::methods::forest::{ForestLoss, MaxFeatures};
use crate::methods::gp::Probabilities;
use crate::problem::{Intercept, Reported, Variant};
use serde::{Deserialize, Serialize};

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// Any number.
    Number(f64),
    /// Several whole numbers.
    Counts(Vec<u64>),
    /// A name.
    Text(String),
    /// No value.
    None,
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<&str> for Value {
    fn from(name: &str) -> Self {
        Self::Text(name.to_owned())
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Number(x) if *x != 0.0 && !(1e-3..1e7).contains(&x.abs()) => write!(f, "{x:e}"),
            Self::Number(x) => write!(f, "{x}"),
            Self::Counts(counts) => {
                f.write_str(&counts.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
            }
            Self::Text(text) => f.write_str(text),
            Self::None => f.write_str("none"),
        }
    }
}

/// A Rust type that a setting can have.
pub(super) trait Typed: Sized {
    /// The values of the type, as users write them.
    const KIND: Kind;

    fn read(setting: &Setting, value: &Value) -> Result<Self>;

    fn write(&self) -> Value;
}

impl Typed for f64 {
    const KIND: Kind = Kind::Number;

    fn read(setting: &Setting, value: &Value) -> Result<Self> {
        setting.number(value)
    }

    fn write(&self) -> Value {
        Value::Number(*self)
    }
}

impl Typed for Option<f64> {
    const KIND: Kind = Kind::OptionalNumber;

    fn read(setting: &Setting, value: &Value) -> Result<Self> {
        if *value == Value::None { Ok(None) } else { setting.number(value).map(Some) }
    }

    fn write(&self) -> Value {
        self.map_or(Value::None, Value::Number)
    }
}

impl Typed for usize {
    const KIND: Kind = Kind::Count;

    fn read(setting: &Setting, value: &Value) -> Result<Self> {
        setting.count(value)
    }

    fn write(&self) -> Value {
        Value::Count(*self as u64)
    }
}

impl Typed for u64 {
    const KIND: Kind = Kind::Count;

    fn read(setting: &Setting, value: &Value) -> Result<Self> {
        Ok(setting.count(value)? as Self)
    }

    fn write(&self) -> Value {
        Value::Count(*self)
    }
}

impl Typed for u32 {
    const KIND: Kind = Kind::Count;

    fn read(setting: &Setting, value: &Value) -> Result<Self> {
        Ok(Self::try_from(setting.count(value)?).unwrap_or(Self::MAX))
    }

    fn write(&self) -> Value {
        Value::Count(u64::from(*self))
    }
}

impl Typed for Vec<usize> {
    const KIND: Kind = Kind::Counts;

    fn read(setting: &Setting, value: &Value) -> Result<Self> {
        match value {
            Value::Counts(counts) => {
                counts.iter().map(|&count| setting.count(&Value::Count(count))).collect()
            }
            one => Ok(vec![setting.count(one)?]),
        }
    }

    fn write(&self) -> Value {
        Value::Counts(self.iter().map(|&count| count as u64).collect())
    }
}

impl Typed for MaxFeatures {
    const KIND: Kind = Kind::NumberOr(&Self::NAMES);

    fn read(setting: &Setting, value: &Value) -> Result<Self> {
        match value {
            Value::Count(_) => setting.count(value).map(Self::Count),
            Value::Number(fraction) => Ok(Self::Fraction(*fraction)),
            name => setting.named(name),
        }
    }

    fn write(&self) -> Value {
        match *self {
            Self::Count(count) => Value::Count(count as u64),
            Self::Fraction(fraction) => Value::Number(fraction),
            name => Value::Text(name.to_string()),
        }
    }
}

impl Typed for ReferenceRows {
    const KIND: Kind = Kind::NumberOr(&Self::NAMES);

    fn read(setting: &Setting, value: &Value) -> Result<Self> {
        match value {
            Value::Text(_) => setting.named(value),
            count => setting.count(count).map(Self::Count),
        }
    }

    fn write(&self) -> Value {
        match *self {
            Self::Count(count) => Value::Count(count as u64),
            name => Value::Text(name.to_string()),
        }
    }
}

/// Bandwidths: a number, or the name of a rule.
macro_rules! bandwidth {
    ($($type:ident: $kind:expr),*) => {$(
        impl Typed for $type {
            const KIND: Kind = $kind;

            fn read(setting: &Setting, value: &Value) -> Result<Self> {
                match value {
                    Value::Text(name) => name.parse(),
                    _ => setting.number(value).map(Self::Value),
                }
            }

            fn write(&self) -> Value {
                match *self {
                    Self::Value(number) => Value::Number(number),
                    rule => Value::Text(rule.to_string()),
                }
            }
        }
    )*};
}

bandwidth!(Gamma: Kind::Gamma, Sigma: Kind::NumberOr(&["auto"]));

/// Types that are chosen by name.
macro_rules! named {
    ($($type:ty: $read:expr),* $(,)?) => {$(
        impl Typed for $type {
            const KIND: Kind = Kind::Choice(&<$type>::NAMES);

            fn read(setting: &Setting, value: &Value) -> Result<Self> {
                $read(setting.text(value)?)
            }

            fn write(&self) -> Value {
                self.name().into()
            }
        }
    )*};
}

named! {
    ForestLoss: str::parse,
    Intercept: str::parse,
    KernelChoice: KernelChoice::parse,
    Probabilities: str::parse,
    Reported: str::parse,
    Scale: str::parse,
    Scatter: str::parse,
    Variant: |name: &str| Variant::parse(name, None),
}
