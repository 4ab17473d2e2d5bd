//! Which probabilities the depth is the loss of.

use crate::error::named;
use serde::{Deserialize, Serialize};

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

named!(Probabilities, "probabilities", Averaged => "averaged", Mode => "mode");
