//! A number in a text: its sign, its unit and its digits.

use super::digits::value;
use super::units::{MEASURES, SHORT_MEASURES, UNITS};

/// A cell without its sign and unit.
pub(super) struct Parts<'a> {
    pub(super) negative: bool,
    pub(super) unit: Option<&'static str>,
    pub(super) unit_first: bool,
    /// Digits, marks and an exponent.
    pub(super) body: &'a str,
    /// The power of ten that a letter behind the number stands for.
    pub(super) exponent: usize,
    /// Whether the number is a bound, as in `<0.5`: what was measured is beyond it.
    pub(super) bound: bool,
}

impl<'a> Parts<'a> {
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let trimmed = text.trim();
        let body = trimmed.trim_start_matches(['<', '>', '=', '≤', '≥']);
        let bound = body.len() < trimmed.len() && !trimmed.starts_with('=');
        let body = if bound { body.trim_start() } else { trimmed };
        let mut parts = Self { negative: false, unit: None, unit_first: false, body, exponent: 0, bound };
        let mut signed = false;
        // Signs and units in any order: `-$5`, `$-5`, `($5)`, `$(5)`, `5 EUR-`.
        for _ in 0..3 {
            parts.body = without_dash(parts.body);
            if !signed {
                let enclosed = parts.body.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
                let minus = parts.body.strip_prefix(['-', '−', '–']).or(parts.body.strip_suffix(['-', '−']));
                if let Some(rest) = enclosed.or(minus) {
                    (parts.body, parts.negative, signed) = (rest.trim(), true, true);
                } else if let Some(rest) = parts.body.strip_prefix('+') {
                    (parts.body, signed) = (rest.trim(), true);
                }
            }
            if !signed && let Some((rest, debit)) = side(parts.body) {
                (parts.body, parts.negative, signed) = (rest, debit, true);
            }
            if parts.unit.is_none() {
                let before = UNITS.iter().find_map(|unit| Some((*unit, parts.body.strip_prefix(unit)?)));
                let measures = UNITS.iter().chain(&MEASURES).chain(&SHORT_MEASURES);
                let after = { measures }.find_map(|unit| Some((*unit, parts.body.strip_suffix(unit)?)));
                if let Some((unit, rest)) = before.or(after) {
                    parts.unit_first = before.is_some();
                    (parts.unit, parts.body) = (Some(unit), rest.trim());
                }
            }
        }
        if let Some((body, exponent)) = multiple(parts.body) {
            // `12B` numbers a house; `$12B` and `1.2B` do not.
            if !parts.body.ends_with('B') || parts.unit.is_some() || body.contains(['.', ',']) {
                (parts.body, parts.exponent) = (body, exponent);
            }
        }
        let first = parts.body.chars().next()?;
        (first.is_ascii_digit() || first == '.' || first == ',').then_some(parts)
    }
}

/// What is in front of `CR` (credit) or `DR` (debit) in a book of accounts, and whether it is a debit, which is negative.
fn side(body: &str) -> Option<(&str, bool)> {
    let end = body.len().checked_sub(2).filter(|end| body.is_char_boundary(*end))?;
    let (rest, word) = body.split_at(end);
    let rest = rest.trim_end();
    let debit = match word {
        "CR" | "Cr" => false,
        "DR" | "Dr" => true,
        _ => return None,
    };
    rest.ends_with(|c: char| c.is_ascii_digit()).then_some((rest, debit))
}

/// `12` of `12.-`, `12,–` or `12,--`, where the dash stands for decimals that are 0. With another mark in front of it the decimal
/// mark stays, `1.250,` of `1.250,-`: it tells how that is read.
fn without_dash(body: &str) -> &str {
    let rest = body.trim_end_matches(['-', '–', '—']);
    let dashes = body[rest.len()..].chars().count();
    let whole = rest.strip_suffix(['.', ',']).unwrap_or_default();
    if !(1..=2).contains(&dashes) || !whole.ends_with(|c: char| c.is_ascii_digit()) {
        body
    } else if whole.contains(['.', ',']) {
        rest
    } else {
        whole
    }
}

/// What is in front of a word for thousands, millions or billions, and its power of ten.
fn multiple(body: &str) -> Option<(&str, usize)> {
    const MULTIPLES: [(&str, usize); 10] = [
        ("bn", 9),
        ("Bn", 9),
        ("Mrd.", 9),
        ("Mrd", 9),
        ("Mio.", 6),
        ("Mio", 6),
        ("k", 3),
        ("K", 3),
        ("M", 6),
        ("B", 9),
    ];
    let (rest, exponent) =
        MULTIPLES.iter().find_map(|(word, exponent)| Some((body.strip_suffix(word)?, *exponent)))?;
    let rest = rest.trim_end();
    rest.ends_with(|c: char| c.is_ascii_digit()).then_some((rest, exponent))
}

/// Whether a text is a number, with or without a currency or unit, whichever it is.
pub(crate) fn is_number_in_a_unit(text: &str) -> bool {
    Parts::of(text).is_some_and(|parts| value(parts.body, '.').or_else(|| value(parts.body, ',')).is_some())
}

/// The currency or unit of a text that has one.
pub(crate) fn unit(text: &str) -> Option<&'static str> {
    Parts::of(text).and_then(|parts| parts.unit)
}

/// A number without its currency or unit, and that unit; `None` if it has none.
pub(crate) fn without_unit(text: &str) -> Option<(String, &'static str)> {
    let unit = unit(text)?;
    Some((text.replacen(unit, "", 1), unit))
}
