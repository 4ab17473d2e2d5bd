//! Odd rows that are alike: the same main reason.

use super::page::{Cell, Column, OddRow};
use super::{Distribution, Drift, text};
use serde::Serialize;

/// Odd rows with the same main reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AlikeRows {
    /// Without the count, such as `quantity is unusually high`.
    pub title: String,
    /// The values, such as `180 to 900; nine in ten rows have 5 to 27`.
    pub detail: String,
    /// Indices of the rows, the oddest first.
    pub rows: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    High,
    Low,
    Inside,
    Level,
    Gap,
    Unknown,
}

/// Groups of at least two rows, the largest first (of equal size: that of the oddest row).
pub(crate) fn groups(rows: &[OddRow], columns: &[Column], drift: Option<&Drift>) -> Vec<AlikeRows> {
    let mut keys: Vec<(Vec<usize>, Side, Vec<usize>)> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let Some(reason) = row.reasons.first() else { continue };
        let Some(&first) = reason.columns.first().filter(|first| **first < columns.len()) else { continue };
        let side = match &reason.columns[..] {
            [_] => row.cells.get(first).map_or(Side::Unknown, |cell| side(cell, &columns[first])),
            _ => Side::Unknown,
        };
        match keys.iter_mut().find(|key| key.0 == reason.columns && key.1 == side) {
            Some(key) => key.2.push(index),
            None => keys.push((reason.columns.clone(), side, vec![index])),
        }
    }
    let mut groups: Vec<AlikeRows> = keys
        .into_iter()
        .filter(|(_, _, members)| members.len() > 1)
        .map(|(about, side, members)| {
            let shares = drift.and_then(|drift| shares(drift, side, about[0], &members, rows));
            let mut group = describe(&about, side, members, rows, columns);
            if let Some(shares) = shares {
                let space = if group.detail.is_empty() { "" } else { "; " };
                group.detail = format!("{}{space}{shares}", group.detail);
            }
            group
        })
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
    groups
}

/// Which share of all rows is like the group, before and now; none where a group is not about one column.
fn shares(drift: &Drift, side: Side, column: usize, members: &[usize], rows: &[OddRow]) -> Option<String> {
    let known = members.iter().map(|&row| Some((row, drift.alike.get(row).copied().flatten()?)));
    let known: Vec<(usize, [f64; 2])> = known.collect::<Option<_>>()?;
    let share = |k: usize| match side {
        // The one that is least far out has the most rows beyond it.
        Side::High | Side::Low | Side::Gap => known.iter().map(|(_, shares)| shares[k]).reduce(f64::max),
        Side::Level => {
            let mut levels: Vec<(&str, f64)> = Vec::new();
            for (row, shares) in &known {
                let level = rows[*row].cells.get(column)?.text();
                if !levels.iter().any(|known| known.0 == level) {
                    levels.push((level, shares[k]));
                }
            }
            Some(levels.iter().map(|level| level.1).sum())
        }
        Side::Inside | Side::Unknown => None,
    };
    let (before, now) = (text::percent(share(0)?), text::percent(share(1)?));
    Some(format!("rows like these: {before} before, {now} now"))
}

fn side(cell: &Cell, column: &Column) -> Side {
    match (cell, &column.distribution) {
        (Cell::Gap, _) => Side::Gap,
        (Cell::Number { value, .. }, Distribution::Numbers { middle: [low, high], .. }) => {
            if value > high {
                Side::High
            } else if value < low {
                Side::Low
            } else {
                Side::Inside
            }
        }
        (Cell::Text(_), Distribution::Levels { .. }) => Side::Level,
        _ => Side::Unknown,
    }
}

fn describe(
    about: &[usize],
    side: Side,
    members: Vec<usize>,
    rows: &[OddRow],
    columns: &[Column],
) -> AlikeRows {
    let first = about[0];
    let column = &columns[first];
    let name = &column.name;
    let usual = &column.usual;
    let cells = || members.iter().filter_map(|&row| rows[row].cells.get(first));
    let (title, detail) = match side {
        Side::High | Side::Low => {
            let mut numbers: Vec<(f64, &str)> = cells()
                .filter_map(|cell| match cell {
                    Cell::Number { text, value } => Some((*value, text.as_str())),
                    _ => None,
                })
                .collect();
            numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
            let range = match (numbers.first(), numbers.last()) {
                (Some(least), Some(most)) if least.1 != most.1 => format!("{} to {}", least.1, most.1),
                (Some(least), _) => least.1.to_owned(),
                _ => String::new(),
            };
            let dates = matches!(column.distribution, Distribution::Numbers { dates: true, .. });
            let word = match (side, dates) {
                (Side::High, false) => "high",
                (Side::High, true) => "late",
                (_, false) => "low",
                (_, true) => "early",
            };
            (format!("{name} is unusually {word}"), format!("{range}; nine in ten rows have {usual}"))
        }
        Side::Level => {
            let mut names: Vec<&str> = Vec::new();
            for cell in cells() {
                if !names.contains(&cell.text()) {
                    names.push(cell.text());
                }
            }
            let most = most_frequent(column);
            match &names[..] {
                [one] => (
                    format!("{name} is {one}"),
                    format!("in {} of the rows; most often {most}", level_share(column, one)),
                ),
                several => (
                    format!("{name} has a rare value"),
                    format!("{}; most often {most}", text::listed(several, 3)),
                ),
            }
        }
        Side::Gap => (format!("{name} has no value"), format!("usual are {usual}")),
        Side::Inside => (
            format!("{name} is unusual for such a row"),
            "within the usual range by itself, but not beside the row's other values".to_owned(),
        ),
        Side::Unknown if about.len() > 1 => {
            let others: Vec<&str> = about[1..]
                .iter()
                .filter_map(|&other| columns.get(other).map(|column| column.name.as_str()))
                .collect();
            (format!("{name} does not fit {}", text::listed(&others, 3)), String::new())
        }
        Side::Unknown => (format!("{name} is unusual"), String::new()),
    };
    AlikeRows { title, detail, rows: members }
}

/// The share of the rows that others are compared with which have a level.
fn level_share(column: &Column, name: &str) -> String {
    let Distribution::Levels { levels, rows, .. } = &column.distribution else { return text::percent(0.0) };
    let total = (levels.iter().map(|level| level.1).sum::<u64>() + rows).max(1) as f64;
    let found = levels.iter().find(|level| level.0 == name).map_or(0, |level| level.1);
    text::percent(found as f64 / total)
}

/// The most frequent level with its share.
fn most_frequent(column: &Column) -> String {
    let first = match &column.distribution {
        Distribution::Levels { levels, .. } => levels.first(),
        _ => None,
    };
    first.map_or_else(String::new, |(name, _)| format!("{name} ({})", level_share(column, name)))
}
