//! What the caller says about a table before it is encoded.

use super::kind::ColumnKind;
use crate::error::DepthError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What is done with gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// A row is compared on what it has: a gap takes the value of the most similar reference row that has one.
    #[default]
    Compare,
    /// A gap is an error.
    Error,
    /// Rows with a gap are left out.
    Drop,
    /// A gap is the median of its column, or the most frequent level.
    Median,
}

impl Missing {
    /// All of them, the default first.
    pub const ALL: [Self; 4] = [Self::Compare, Self::Error, Self::Drop, Self::Median];

    /// The name that the command line and Python use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compare => "compare",
            Self::Error => "error",
            Self::Drop => "drop",
            Self::Median => "median",
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Missing {
    type Err = DepthError;

    fn from_str(name: &str) -> Result<Self, DepthError> {
        let found = Self::ALL.into_iter().find(|missing| missing.name() == name);
        found.ok_or_else(|| DepthError::Name {
            name: "missing",
            expected: Self::ALL.map(Self::name).join(", "),
            got: name.to_owned(),
        })
    }
}

/// What the caller says about a table; everything else is guessed from its content.
///
/// ```
/// use lossdepth::data::{ColumnKind, EncodingOptions, Missing};
/// let mut options = EncodingOptions { missing: Missing::Error, ..EncodingOptions::default() };
/// options.kinds.insert("zip".into(), ColumnKind::Category);
/// assert!(options.guess);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EncodingOptions {
    /// The kinds of columns, by name.
    pub kinds: BTreeMap<String, ColumnKind>,
    /// What is done with gaps.
    pub missing: Missing,
    /// Words that stand for a gap, beyond those that always do.
    pub gap_words: Vec<String>,
    /// The decimal mark of numbers in texts, `.` or `,`; guessed for each column if it is not said.
    pub decimal: Option<char>,
    /// Whether `1/2/2024` is the first of February; guessed for each column if it is not said.
    pub day_first: Option<bool>,
    /// Whether number columns may be taken for ids. Off for arrays and data frames, whose types say what they hold;
    /// all-different texts are then left out as texts, and no column is taken for the one that names the rows.
    pub guess: bool,
}

impl Default for EncodingOptions {
    fn default() -> Self {
        Self {
            kinds: BTreeMap::new(),
            missing: Missing::default(),
            gap_words: Vec::new(),
            decimal: None,
            day_first: None,
            guess: true,
        }
    }
}
