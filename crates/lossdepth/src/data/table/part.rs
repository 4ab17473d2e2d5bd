//! Cells that hold more than one thing: several numbers, or a number in one of several units. Each is compared as a column of its own.

use super::number::without_unit;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What stands between the numbers of a cell. `-` is left out: it joins the parts of telephone numbers and codes.
pub(super) const BETWEEN: [&str; 13] =
    ["/", " x ", " X ", "x", " × ", "×", ", ", "; ", ";", " - ", " – ", ":", ","];

/// A compared column that is a part of the cells of a column of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Origin {
    /// The name of the column of the table.
    pub(super) column: String,
    pub(super) part: Part,
}

/// What of a cell is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Part {
    /// One of several numbers, as `80` of `120/80`.
    Piece { at: usize, of: usize, between: String },
    /// The number of an amount in one of several units.
    Amount,
    /// The unit of such an amount.
    Unit,
}

impl Part {
    /// What a cell has for this part; `None` if there is no such thing in it.
    pub(super) fn of<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        match self {
            Self::Piece { at, of, between } => {
                pieces(text, between, *of).map(|found| Cow::Borrowed(found[*at]))
            }
            Self::Amount => {
                Some(without_unit(text).map_or(Cow::Borrowed(text), |(bare, _)| Cow::Owned(bare)))
            }
            Self::Unit => without_unit(text).map(|(_, unit)| Cow::Borrowed(unit)),
        }
    }

    /// The name of the part of a column.
    pub(super) fn name(&self, column: &str) -> String {
        match self {
            Self::Piece { at, .. } => format!("{column} ({})", ["first", "second", "third"][(*at).min(2)]),
            Self::Amount => column.to_owned(),
            Self::Unit => format!("{column} (unit)"),
        }
    }

    /// Whether a part that was read from a file is one.
    pub(super) fn is_valid(&self) -> bool {
        match self {
            Self::Piece { at, of, between } => {
                (2..=3).contains(of) && at < of && BETWEEN.contains(&between.as_str())
            }
            Self::Amount | Self::Unit => true,
        }
    }
}

/// The texts between a mark, if there are so many; brackets around all of them are no part of them.
pub(super) fn pieces<'a>(text: &'a str, between: &str, count: usize) -> Option<Vec<&'a str>> {
    let text = text.trim();
    let inside = [('(', ')'), ('[', ']')].iter().find_map(|(open, close)| {
        text.strip_prefix(*open)?.strip_suffix(*close).filter(|inside| !inside.contains(*open))
    });
    let found: Vec<&str> = inside.unwrap_or(text).split(between).map(str::trim).collect();
    (found.len() == count).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_cells() {
        let piece = |at, of, between: &str| Part::Piece { at, of, between: between.to_owned() };
        assert_eq!(piece(1, 2, "/").of("120/80").as_deref(), Some("80"));
        assert_eq!(piece(0, 2, ", ").of("(48.5, 10.25)").as_deref(), Some("48.5"));
        assert_eq!(piece(2, 3, " x ").of("10 x 20 x 5 cm").as_deref(), Some("5 cm"));
        assert_eq!(piece(1, 2, "/").of("120"), None);
        assert_eq!(piece(1, 2, "/").of("1/2/3"), None);
        assert_eq!(Part::Amount.of("-€5.50").as_deref(), Some("-5.50"));
        assert_eq!((Part::Unit.of("5.50 GBP").as_deref(), Part::Unit.of("5.50")), (Some("GBP"), None));
        assert!(piece(1, 2, "/").is_valid() && !piece(2, 2, "/").is_valid() && !piece(0, 2, "a").is_valid());
    }
}
