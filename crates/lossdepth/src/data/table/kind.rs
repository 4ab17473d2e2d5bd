//! The kinds of columns.

use crate::error::DepthError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// Levels without an order.
    Category,
    /// True or false: a category of two levels.
    Boolean,
    /// Dates and times, as days since the beginning of 1970.
    #[serde(rename = "date")]
    Time,
    /// What names the rows; left out.
    Id,
    /// Free text; left out.
    Text,
}

impl ColumnKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Number, Self::Category, Self::Boolean, Self::Time, Self::Id, Self::Text];

    /// The name that the command line and Python use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Category => "category",
            Self::Boolean => "boolean",
            Self::Time => "date",
            Self::Id => "id",
            Self::Text => "text",
        }
    }

    /// What such a column holds, in the plural.
    pub(super) fn plural(self) -> &'static str {
        match self {
            Self::Number => "numbers",
            Self::Category => "categories",
            Self::Boolean => "truth values",
            Self::Time => "dates",
            Self::Id => "ids",
            Self::Text => "texts",
        }
    }
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ColumnKind {
    type Err = DepthError;

    fn from_str(name: &str) -> Result<Self, DepthError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| DepthError::Name {
            name: "kind",
            expected: Self::ALL.map(Self::name).join(", "),
            got: name.to_owned(),
        })
    }
}
