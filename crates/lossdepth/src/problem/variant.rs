//! The penalty $\Omega(f) = \|w\|^2$, and which number of the penalised problem is the depth.

use crate::error::{DepthError, Result, named, positive};
use serde::{Deserialize, Serialize};

/// Which number is the depth.
///
/// With the risk $R_z(f) = \frac12 \sum_i \omega_i \ell(f(x_i)) + \frac12 \ell(-f(z))$:
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum Variant {
    /// $R_z(f^*)$ where $f^*$ minimises $R_z + \text{reg} \cdot \|w\|^2$: the paper's regularised depth.
    #[default]
    Risk,
    /// $\min_f R_z(f) + \text{reg} \cdot \|w\|^2$.
    Objective,
    /// $\min_f R_z(f)$ subject to $\|w\| \le$ `radius`; `reg` plays no part.
    Constrained {
        /// The largest norm allowed.
        radius: f64,
    },
}

impl Variant {
    /// The names, in the order of the definition.
    pub const NAMES: [&str; 3] = ["risk", "objective", "constrained"];

    /// The name used on the command line and in Python.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Risk => Self::NAMES[0],
            Self::Objective => Self::NAMES[1],
            Self::Constrained { .. } => Self::NAMES[2],
        }
    }

    /// From a name, and a radius where the name asks for one.
    ///
    /// # Errors
    /// An unknown name, `constrained` without a radius, or a radius for another variant.
    pub fn parse(name: &str, radius: Option<f64>) -> Result<Self> {
        match (name, radius) {
            ("risk", None) => Ok(Self::Risk),
            ("objective", None) => Ok(Self::Objective),
            ("constrained", Some(radius)) => {
                let variant = Self::Constrained { radius };
                variant.check()?;
                Ok(variant)
            }
            ("constrained", None) => {
                Err(DepthError::Settings("variant `constrained` needs a `radius`".into()))
            }
            ("risk" | "objective", Some(_)) => Err(DepthError::Settings(format!(
                "`radius` goes with variant `constrained`, not with `{name}`"
            ))),
            _ => Err(DepthError::Name {
                name: "variant",
                expected: Self::NAMES.join(", "),
                got: name.to_owned(),
            }),
        }
    }

    /// The depth, from the risk and the penalty of the minimiser.
    pub(crate) fn depth(self, risk: f64, penalty: f64) -> f64 {
        if self == Self::Objective { risk + penalty } else { risk }
    }

    pub(crate) fn check(self) -> Result<()> {
        match self {
            Self::Constrained { radius } => positive("radius", radius),
            _ => Ok(()),
        }
    }
}

/// How the losses of the sample and of the query are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reported {
    /// The risk, in which the sample and the query count one half each.
    #[default]
    Risk,
    /// What the scripts behind the paper's tables print: natural logarithms, and a sample term divided by $n$ twice,
    /// so that it is close to $-\frac12 \ln p(z)$.
    PaperCode,
}

named!(Reported, "value", Risk => "risk", PaperCode => "paper-code");

impl Reported {
    /// The factors of the mean loss of the sample and of the loss of the query; `unit` converts their unit to nats.
    pub(crate) fn shares(self, unit: f64, observations: f64) -> [f64; 2] {
        match self {
            Self::Risk => [0.5, 0.5],
            Self::PaperCode => [0.5 * unit / observations, 0.5 * unit],
        }
    }
}
