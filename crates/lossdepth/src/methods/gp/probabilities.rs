//! Which probabilities the depth is the loss of.

use crate::error::{DepthError, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Which probabilities the Gaussian process depth takes the loss of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probabilities {
    /// Those averaged over the posterior.
    #[default]
    Averaged,
    /// Those at the posterior's mode.
    Mode,
}

impl Probabilities {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Averaged, Self::Mode];
    /// Their names.
    pub const NAMES: [&str; 2] = ["averaged", "mode"];

    /// The name used on the command line and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Averaged => "averaged",
            Self::Mode => "mode",
        }
    }
}

impl std::fmt::Display for Probabilities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Probabilities {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|v| v.name() == s).ok_or_else(|| DepthError::Name {
            name: "probabilities",
            expected: Self::ALL.map(Self::name).join(", "),
            got: s.to_owned(),
        })
    }
}
