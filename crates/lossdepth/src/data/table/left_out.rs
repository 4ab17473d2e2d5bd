//! Columns that are not compared, and why.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A column that is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: LeftOutReason,
}

/// Why a column is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// It names the rows.
    Id,
    /// It is free text.
    Text,
    /// It has no values.
    Empty,
    /// Its numbers are codes, too many different ones to compare.
    Code,
    /// Its numbers are in several currencies or units.
    Units,
    /// A cell holds more than one number, as `120/80`.
    Pairs,
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Id => "it names the rows",
            Self::Text => "free text",
            Self::Empty => "it has no values",
            Self::Code => "codes, not quantities",
            Self::Units => "numbers in several currencies or units",
            Self::Pairs => "two numbers in a cell",
        })
    }
}
