//! What the intercept of a classifier may be.

use crate::error::{DepthError, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What the intercept $b$ of a linear classifier may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intercept {
    /// Anything, at no cost: the depth is translation invariant.
    #[default]
    Free,
    /// Part of the penalty: $\Omega = \|w\|^2 + b^2$, the feature map $[x, 1]$ of the paper.
    Penalised,
    /// Zero: the classifier passes through the origin.
    None,
}

impl Intercept {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Free, Self::Penalised, Self::None];

    /// Their names.
    pub const NAMES: [&str; 3] = ["free", "penalised", "none"];

    /// The name used on the command line and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Free => Self::NAMES[0],
            Self::Penalised => Self::NAMES[1],
            Self::None => Self::NAMES[2],
        }
    }
}

impl std::fmt::Display for Intercept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Intercept {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|i| i.name() == s).ok_or_else(|| DepthError::Name {
            name: "intercept",
            expected: Self::NAMES.join(", "),
            got: s.to_owned(),
        })
    }
}
