//! The penalty $\Omega(f) = \|w\|^2$, and what a depth makes of it.

use crate::error::{DepthError, Result};
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

    pub(crate) fn check(self) -> Result<()> {
        match self {
            Self::Constrained { radius } => positive("radius", radius),
            _ => Ok(()),
        }
    }
}

/// Checks that a setting is a positive, finite number.
pub(crate) fn positive(name: &'static str, got: f64) -> Result<()> {
    if got > 0.0 && got.is_finite() {
        Ok(())
    } else {
        Err(DepthError::Setting { name, expected: "a positive, finite number", got })
    }
}
