//! One setting: its name, what its values look like, and how they are read.

use crate::data::Scale;
use crate::error::{DepthError, Result};
use crate::kernel::{Gamma, KernelChoice};
use crate::methods::forest::{ForestLoss, MaxFeatures};
use crate::methods::gp::Probabilities;
use crate::problem::Intercept;
use crate::problem::{Reported, Variant};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What is known about a setting but its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The name in Rust and Python; on the command line `-` takes the place of `_`.
    pub name: &'static str,
    /// What its values look like.
    pub kind: Kind,
    /// What it is, in a line.
    pub meaning: &'static str,
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
    /// A number, or what [`Gamma`] can be besides.
    Gamma,
    /// A whole number, not negative.
    Count,
    /// One whole number or several.
    Counts,
    /// One of a few names.
    Choice(&'static [&'static str]),
}

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
    /// Nothing.
    None,
}

impl Setting {
    /// Every setting of any method.
    pub const ALL: &'static [Self] = &[
        Self::new("reg", Kind::Number, "The weight of the penalty ‖w‖², above 0"),
        Self::new("variant", Kind::Choice(&Variant::NAMES), "Which number is the depth"),
        Self::new("radius", Kind::OptionalNumber, "The largest ‖w‖, for the variant `constrained`"),
        Self::new("intercept", Kind::Choice(&Intercept::NAMES), "What the intercept may be"),
        Self::new(
            "scale",
            Kind::Choice(&Scale::NAMES),
            "How the columns are scaled, learned on the reference",
        ),
        Self::new(
            "support_fraction",
            Kind::Number,
            "The share of the rows that the scaling `mcd` trusts, 0.5 to 1",
        ),
        Self::new("kernel", Kind::Choice(&KernelChoice::NAMES), "The kernel"),
        Self::new(
            "gamma",
            Kind::Gamma,
            "The γ of the kernels `gaussian` and `polynomial`: auto is 1 / median squared distance, 5/median is 5 times that, \
             quartile is 0.5 / first quartile of the distances, squared, neighbours is 1 / squared distance to the √n-th \
             neighbour of a typical row",
        ),
        Self::new(
            "sigma",
            Kind::NumberOr(&["auto"]),
            "The width of the kernel `laplacian`: auto is the median distance",
        ),
        Self::new("c", Kind::Number, "The width of the kernel `imq`, above 0"),
        Self::new("beta", Kind::Number, "The exponent of the kernel `imq`, below 0"),
        Self::new("degree", Kind::Count, "The power of the kernel `polynomial`"),
        Self::new("coef0", Kind::Number, "The constant of the kernel `polynomial`, not negative"),
        Self::new(
            "probabilities",
            Kind::Choice(&Probabilities::NAMES),
            "Which probabilities the loss is of: averaged over the posterior, or at its mode",
        ),
        Self::new(
            "memory",
            Kind::OptionalNumber,
            "How many bytes the kernel values of the reference may take, half of the machine's by default; beyond that `svm` \
             computes them as needed, and `klr` and `gp` refuse",
        ),
        Self::new("max_depth", Kind::Count, "How many cuts a tree makes around a row"),
        Self::new(
            "max_features",
            Kind::NumberOr(&MaxFeatures::NAMES),
            "How many columns a split looks at: a name, a whole number, or a fraction with a decimal point",
        ),
        Self::new("loss", Kind::Choice(&ForestLoss::NAMES), "The loss of the averaged probabilities"),
        Self::new(
            "value",
            Kind::Choice(&Reported::NAMES),
            "What is reported, the risk or what the paper's scripts print",
        ),
        Self::new("trees", Kind::Count, "How many random trees to grow; 0 for the average of all there are"),
        Self::new("rotations", Kind::Count, "How many random frames to grow trees in; 0 for none"),
        Self::new("max_boxes", Kind::Count, "How many boxes of a level are cut further, the likeliest"),
        Self::new(
            "hidden",
            Kind::Counts,
            "How many units the hidden layers of a network have, as 100 or 50,20",
        ),
        Self::new("restarts", Kind::Count, "How often a network is trained; the best counts"),
        Self::new("seed", Kind::Count, "Where random numbers come from"),
        Self::new(
            "tol",
            Kind::Number,
            "The largest proven error to accept; for mlp the relative progress to stop at",
        ),
        Self::new("max_iter", Kind::Count, "How many iterations a row gets"),
        Self::new("budget", Kind::Count, "How much work a row gets, in millions of multiplications"),
    ];

    const fn new(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, kind, meaning }
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

    pub(crate) fn number(&self, value: &Value) -> Result<f64> {
        match value {
            Value::Number(number) => Ok(*number),
            Value::Count(count) => Ok(*count as f64),
            other => Err(self.unfit("a number", &other.to_string())),
        }
    }

    pub(super) fn optional_number(&self, value: &Value) -> Result<Option<f64>> {
        if *value == Value::None { Ok(None) } else { self.number(value).map(Some) }
    }

    pub(crate) fn count(&self, value: &Value) -> Result<usize> {
        match value {
            Value::Count(count) => Ok(usize::try_from(*count).unwrap_or(usize::MAX)),
            other => Err(self.unfit("a whole number", &other.to_string())),
        }
    }

    pub(super) fn counts(&self, value: &Value) -> Result<Vec<usize>> {
        match value {
            Value::Counts(counts) => counts.iter().map(|&count| self.count(&Value::Count(count))).collect(),
            one => Ok(vec![self.count(one)?]),
        }
    }

    pub(super) fn text<'a>(&self, value: &'a Value) -> Result<&'a str> {
        match value {
            Value::Text(text) => Ok(text),
            other => Err(self.unfit("a name", &other.to_string())),
        }
    }

    pub(super) fn max_features(&self, value: &Value) -> Result<MaxFeatures> {
        match value {
            Value::Count(_) => self.count(value).map(MaxFeatures::Count),
            Value::Number(fraction) => Ok(MaxFeatures::Fraction(*fraction)),
            other => self.named(other),
        }
    }

    pub(crate) fn named<T: FromStr<Err = DepthError>>(&self, value: &Value) -> Result<T> {
        self.text(value)?.parse()
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
