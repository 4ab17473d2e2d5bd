//! Problems of the data that were noticed on the way, a sentence each.

use super::sample::{Sample, is_category};
use crate::report::Finding;
use crate::report::text::{count, counted, percent};
use lossdepth::data::{CellNoteKind, EncodedColumn};
use std::collections::BTreeMap;

/// How many cells of a kind are quoted, and how many letters of each.
const QUOTED: usize = 3;
const LETTERS: usize = 40;

/// A column with a larger share of gaps is mentioned, and one with a larger share of one value (heuristics).
const MANY_GAPS: f64 = 0.5;
const ONE_VALUE: f64 = 0.99;

/// From so many rows on, and from this share, a value that is far from all others may stand for a gap (heuristic).
const CODE_ROWS: usize = 5;
const CODE_SHARE: f64 = 0.002;

/// What there is to say about each column of the data, beyond the gaps and repeated rows that the page counts.
pub(super) fn findings(data: Sample<'_>, own: bool) -> Vec<Finding> {
    let mut all = Vec::new();
    let columns = data.encoding.columns();
    let mut same: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, column) in columns.iter().enumerate() {
        let name = shortened(column.name());
        let mut say = |sentence: String| all.push(Finding { columns: vec![at], sentence });
        constant(column, &name, own).into_iter().for_each(&mut say);
        gaps(data, at, &name).into_iter().for_each(&mut say);
        cells(data, at, &name).into_iter().for_each(&mut say);
        if is_category(column) {
            spellings(&data.levels(at), &name).into_iter().for_each(&mut say);
            continue;
        }
        let numbers = data.numbers(at);
        if !column.is_constant() {
            same.entry(hashed(&numbers)).or_default().push(at);
        }
        code(&numbers, column, &name).into_iter().for_each(&mut say);
    }
    for alike in same.into_values().filter(|alike| alike.len() > 1) {
        let names: Vec<String> = alike.iter().map(|&at| shortened(columns[at].name())).collect();
        let (last, others) = (&names[names.len() - 1], names[..names.len() - 1].join(", "));
        let sentence = format!("{others} and {last} have the same value in every row.");
        all.push(Finding { columns: alike, sentence });
    }
    all
}

/// A column that says nothing, or next to nothing.
fn constant(column: &EncodedColumn, name: &str, own: bool) -> Option<String> {
    let whose = if own { "" } else { " of the reference" };
    if column.is_constant() {
        return Some(format!("{name} has the same value in all rows{whose}."));
    }
    let most = column.levels().first()?;
    let share = most.count / column.observations().max(1.0);
    (share >= ONE_VALUE)
        .then(|| format!("{name} is {} in {} of the rows{whose}.", quote(&most.name), percent(share)))
}

fn gaps(data: Sample<'_>, at: usize, name: &str) -> Option<String> {
    let (share, column) = (data.gap_share(at), &data.encoding.columns()[at]);
    if share > 0.0 && column.gaps() == 0.0 {
        let (gaps, rows) = (data.gap_count(at), data.rows.len() as u64);
        return Some(format!(
            "{name} has no value in {} of {}, and always one in the reference.",
            count(gaps),
            counted(rows, "row", "rows")
        ));
    }
    (share > MANY_GAPS).then(|| format!("{name} has no value in {} of the rows.", percent(share)))
}

/// Cells that could not be read, or that are new.
fn cells(data: Sample<'_>, at: usize, name: &str) -> Vec<String> {
    let of_column = || data.notes.iter().filter(|note| note.column == at);
    let unread = of_column().filter_map(|note| match &note.what {
        CellNoteKind::Unread(text) => Some(text.as_str()),
        _ => None,
    });
    let new = of_column().filter_map(|note| match &note.what {
        CellNoteKind::NewLevel(text) => Some(text.as_str()),
        _ => None,
    });
    let mut sentences = Vec::new();
    if let Some((cells, quoted)) = quoted(unread) {
        let (cells, kind) = (counted(cells, "cell", "cells"), data.encoding.columns()[at].kind());
        sentences
            .push(format!("{name} has {cells} that cannot be read as a {kind}, taken for gaps: {quoted}."));
    }
    if let Some((cells, quoted)) = quoted(new) {
        let rows = counted(cells, "row", "rows");
        sentences.push(format!("{name} has a value that the reference lacks in {rows}: {quoted}."));
    }
    sentences
}

/// Levels that differ in case, spaces or punctuation only.
fn spellings(levels: &[(String, u64)], name: &str) -> Vec<String> {
    let mut alike: BTreeMap<String, Vec<&(String, u64)>> = BTreeMap::new();
    for level in levels {
        let key: String =
            level.0.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        // Without a letter, punctuation is what counts, as in `+` and `-`.
        if key.chars().any(char::is_alphabetic) {
            alike.entry(key).or_default().push(level);
        }
    }
    let several = alike.into_values().filter(|levels| levels.len() > 1);
    let sentence = |mut levels: Vec<&(String, u64)>| {
        levels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let spelled = levels
            .iter()
            .take(QUOTED + 1)
            .map(|(level, rows)| format!("{} ({})", quote(level), count(*rows)));
        format!("{name} has spellings of what may be one value: {}.", spelled.collect::<Vec<_>>().join(", "))
    };
    several.take(QUOTED).map(sentence).collect()
}

/// A lowest or highest number that is repeated and farther from the others than these are from one another.
fn code(numbers: &[f64], column: &EncodedColumn, name: &str) -> Option<String> {
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (&least, &most) = (sorted.first()?, sorted.last()?);
    let (low, high) = (sorted.partition_point(|x| *x <= least), sorted.partition_point(|x| *x < most));
    let often = |rows: usize| rows >= CODE_ROWS && rows as f64 >= CODE_SHARE * sorted.len() as f64;
    let found = |value: f64, rows: usize, gap: f64, rest: f64| {
        (often(rows) && rest > 0.0 && gap > rest && 2 * rows < sorted.len()).then(|| {
            let value = column.format_value(value);
            let rows = counted(rows as u64, "row", "rows");
            format!("{name} is {value} in {rows}, far from all other values: it may stand for a missing one.")
        })
    };
    let next = |at: usize| sorted.get(at).copied();
    let (above, below) = (next(low), high.checked_sub(1).and_then(next));
    above
        .and_then(|above| found(least, low, above - least, most - above))
        .or_else(|| below.and_then(|below| found(most, sorted.len() - high, most - below, below - least)))
}

/// A hash of all values of a column.
fn hashed(numbers: &[f64]) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    for number in numbers {
        hasher.write_u64(number.to_bits());
    }
    hasher.finish()
}

/// How many there are, and the first few different ones.
fn quoted<'a>(texts: impl Iterator<Item = &'a str>) -> Option<(u64, String)> {
    let (mut all, mut first): (u64, Vec<&str>) = (0, Vec::new());
    let mut more = false;
    for text in texts {
        all += 1;
        if first.contains(&text) {
            continue;
        }
        if first.len() < QUOTED { first.push(text) } else { more = true }
    }
    let quoted: Vec<String> = first.iter().map(|text| quote(text)).collect();
    let rest = if more { " and others" } else { "" };
    (all > 0).then(|| (all, format!("{}{rest}", quoted.join(", "))))
}

fn quote(text: &str) -> String {
    format!("\"{}\"", shortened(text))
}

/// A name or value in a sentence.
fn shortened(text: &str) -> String {
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(LETTERS).collect();
    if letters.next().is_some() { start + "…" } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_are_found() {
        let levels = [("North", 40), ("north ", 2), ("South", 9), ("+", 3), ("-", 4)];
        let levels = levels.map(|(name, rows)| (name.to_owned(), rows));
        let found = spellings(&levels, "region");
        assert_eq!(found, ["region has spellings of what may be one value: \"North\" (40), \"north \" (2)."]);
    }
}
