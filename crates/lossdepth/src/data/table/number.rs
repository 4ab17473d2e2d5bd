//! Numbers as people write them.

use serde::{Deserialize, Serialize};

/// How the numbers of a column are written, learned from all its cells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NumberForm {
    /// The decimal mark, if the cells are texts that tell it.
    pub(super) decimal: Option<char>,
    /// A currency or `%`, if cells have one.
    pub(super) unit: Option<String>,
    /// Whether the unit comes before the number.
    pub(super) unit_first: bool,
    /// How many decimals are shown.
    pub(super) decimals: usize,
}

impl NumberForm {
    /// The number of a text, `None` if it is none.
    pub(super) fn parse(&self, text: &str) -> Option<f64> {
        text.trim().parse::<f64>().ok().filter(|value| value.is_finite())
    }
}
