//! What the intercept of a classifier may be.

use crate::error::named;
use serde::{Deserialize, Serialize};

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

named!(Intercept, "intercept", Free => "free", Penalised => "penalised", None => "none");
