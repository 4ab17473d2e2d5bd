//! What stands behind every number of a column: a unit that no list has, as in `3 rooms`, `$18.50/hr` or `550 µS/cm`.

use std::collections::BTreeMap;

/// In so many cells at least, and in nine of ten, a text behind the number is a unit (heuristics): fewer numbers may be parts of
/// names.
const CELLS: usize = 8;

/// Longer texts are no units.
const LONGEST: usize = 16;

/// The text behind the last digit of nearly all of these texts, if there is one that can be a unit.
pub(super) fn common<'a>(texts: impl Iterator<Item = (&'a str, usize)>) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cells = 0;
    for (text, count) in texts {
        cells += count;
        if let Some(unit) = of(text) {
            *counts.entry(unit).or_default() += count;
        }
    }
    let (unit, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count >= CELLS && 10 * count >= 9 * cells).then(|| unit.to_owned())
}

/// The text without this unit behind its number.
pub(super) fn without<'a>(text: &'a str, unit: &str) -> &'a str {
    let bare = text.trim().strip_suffix(unit).map(str::trim_end);
    bare.filter(|bare| bare.ends_with(|c: char| c.is_ascii_digit())).unwrap_or(text)
}

/// Whether a text is a single capital letter, which numbers houses and seats, and is a unit behind decimals, as in `231.2 V`.
fn is_capital(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(char::is_uppercase) && chars.as_str().is_empty()
}

/// Whether a text can be a unit behind a number.
pub(super) fn is_unit(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next();
    let starts =
        first.is_some_and(|c| c.is_alphabetic() || matches!(c, '/' | '%' | '°' | '#' | '€' | '$' | '£'));
    let inside = |c: char| {
        c.is_alphabetic() || matches!(c, '/' | '.' | '²' | '³' | '%' | '°' | '€' | '$' | '£' | ' ' | '·')
    };
    starts && text.chars().count() <= LONGEST && chars.all(inside)
}

/// What can be a unit behind the last digit of a text that begins as a number does.
fn of(text: &str) -> Option<&str> {
    let text = text.trim();
    let at = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (number, unit) = (&text[..at], text[at..].trim_start());
    let begins = !text.starts_with(char::is_alphabetic);
    // Houses have no decimals.
    let measured = is_capital(unit) && number.contains(['.', ',']);
    (begins && (measured || (is_unit(unit) && !is_capital(unit)))).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_no_list_has() {
        let eight = |form: &dyn Fn(usize) -> String| {
            let all: Vec<String> = (1..=8).map(form).collect();
            common(all.iter().map(|text| (text.as_str(), 1)))
        };
        assert_eq!(eight(&|i| format!("{i} rooms")).as_deref(), Some("rooms"));
        assert_eq!(eight(&|i| format!("${i}.50/hr")).as_deref(), Some("/hr"));
        assert_eq!(eight(&|i| format!("{i},5 µS/cm")).as_deref(), Some("µS/cm"));
        assert_eq!(eight(&|i| format!("{i} szt.")).as_deref(), Some("szt."));
        assert_eq!(eight(&|i| format!("23{i}.5 V")).as_deref(), Some("V"));
        // Houses, names with a number, and answers to choose from.
        assert_eq!(eight(&|i| format!("{i}A")), None);
        assert_eq!(eight(&|i| format!("Shop {i} west")), None);
        assert_eq!(eight(&|i| format!("{i} {}", ["rarely", "often"][i % 2])), None);
        assert_eq!(common([("3 rooms", 7)].into_iter()), None);
        assert_eq!(without("3 rooms", "rooms"), "3");
        assert_eq!(without("rooms", "rooms"), "rooms");
    }
}
