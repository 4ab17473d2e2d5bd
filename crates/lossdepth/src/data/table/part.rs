//! Cells that hold more than one thing: several numbers, or a number in one of several units. Each is compared as a column of its own.

use super::number::without_unit;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What stands between the numbers of a cell. `-` joins the parts of telephone numbers and codes too.
pub(super) const BETWEEN: [&str; 14] =
    ["/", " x ", " X ", "x", " × ", "×", ", ", "; ", ";", " - ", " – ", ":", ",", RANGE];

/// Between two numbers that are a range where the first is below the second in nearly all cells.
pub(super) const RANGE: &str = "-";

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
    /// The first numbers of an address of the internet, as `10.20` of `10.20.1.7`.
    Network { numbers: usize },
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
            Self::Network { numbers } => network(text, *numbers).map(Cow::Borrowed),
        }
    }

    /// The name of the part of a column.
    pub(super) fn name(&self, column: &str) -> String {
        match self {
            Self::Piece { at, .. } => format!("{column} ({})", ["first", "second", "third"][(*at).min(2)]),
            Self::Amount => column.to_owned(),
            Self::Unit => format!("{column} (unit)"),
            Self::Network { .. } => format!("{column} (network)"),
        }
    }

    /// Whether a part that was read from a file is one.
    pub(super) fn is_valid(&self) -> bool {
        match self {
            Self::Piece { at, of, between } => {
                (2..=3).contains(of) && at < of && BETWEEN.contains(&between.as_str())
            }
            Self::Amount | Self::Unit => true,
            Self::Network { numbers } => (1..=3).contains(numbers),
        }
    }
}

/// The first numbers of an address of four, with or without a port or the size of a network.
pub(super) fn network(text: &str, numbers: usize) -> Option<&str> {
    let text = text.trim();
    let address = text.split(['/', ':']).next().unwrap_or_default();
    let is_number = |part: &str| {
        (1..=3).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u8>().is_ok()
    };
    if address.split('.').count() != 4 || !address.split('.').all(is_number) {
        return None;
    }
    let (end, _) = address.match_indices('.').nth(numbers.checked_sub(1)?)?;
    Some(&address[..end])
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
        let network = |text| Part::Network { numbers: 2 }.of(text).map(Cow::into_owned);
        assert_eq!(network("10.20.1.7").as_deref(), Some("10.20"));
        assert_eq!(network("192.168.1.5:8080").as_deref(), Some("192.168"));
        assert_eq!(
            [network("10.20.1"), network("1.2.3.400"), network("1.2.3.4.5"), network("a.b.c.d")],
            [const { None }; 4]
        );
        assert!(!Part::Network { numbers: 4 }.is_valid());
        assert!(piece(1, 2, "/").is_valid() && !piece(2, 2, "/").is_valid() && !piece(0, 2, "a").is_valid());
    }
}
