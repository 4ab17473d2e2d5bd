//! What was found out about a table, in a few lines on standard error.

use crate::console;
use crate::error::{count, shorten};
use crate::load::{Block, list};
use lossdepth::data::{
    CellNote, CellNoteKind, ColumnKind, EncodedColumn, Encoding, LeftOutReason, ReferenceRows, Values,
};
use lossdepth::model::Percentiles;
use lossdepth::{Method, Settings};
use std::collections::BTreeMap;

/// How many columns are named on a line.
const NAMED: usize = 12;

/// Says what is compared, what is left out and why, if there is more to tell than that all columns are complete numbers.
pub(super) fn sample(file: &str, encoding: &Encoding, block: &Block, quiet: bool) {
    let plain = encoding.is_plain() && encoding.columns().iter().all(|column| !column.is_constant());
    if quiet || block.len() < 2 || plain {
        return;
    }
    let (heading, mut lines) = about(file, encoding, block);
    lines.retain(|(what, _)| *what != "compared" || !encoding.is_plain());
    console::note(quiet, heading);
    for (what, text) in &lines {
        console::note(quiet, format_args!("  {what:<10} {text}"));
    }
    Tally::of_reference(block).tell(file, encoding, quiet);
}

/// Says that a method compares with some rows of the reference only, if so.
pub(super) fn subsample(settings: &Settings, rows: usize, quiet: bool) {
    if let Some(text) = subsample_text(settings, rows) {
        console::note(quiet, text);
    }
}

/// [`subsample`] for one method of several.
pub(super) fn subsample_of(name: &str, settings: &Settings, rows: usize, quiet: bool) {
    if let Some(text) = subsample_text(settings, rows) {
        console::note(quiet, format_args!("{name}: {text}"));
    }
}

/// With how many rows of the reference each row is compared, where that is not all of them.
pub(super) fn subsample_text(settings: &Settings, rows: usize) -> Option<String> {
    let ReferenceRows::Count(most) = settings.reference_rows else { return None };
    if settings.method != Method::Auto || rows <= most {
        return None;
    }
    Some(format!(
        "compared with {} of {} rows; standard error of a share below {:.3}; --reference-rows N compares with more",
        grouped(most),
        grouped(rows),
        bound(most)
    ))
}

/// Says that a sample of the reference was taken, and how long all rows would take: time grows with the rows compared with.
pub(super) fn sampled(taken: usize, rows: usize, stderr: f64, seconds: f64, quiet: bool) {
    let all = seconds * rows as f64 / taken as f64;
    // Not every method has a standard error.
    let known = if stderr > 0.0 {
        format!("; standard error of a depth at most {stderr:.1e}")
    } else {
        String::new()
    };
    console::note(
        quiet,
        format_args!(
            "compared with {} of {} rows{known}; --reference-rows all takes about {}",
            grouped(taken),
            grouped(rows),
            duration(all)
        ),
    );
}

/// A time in words, to one or two digits.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

/// Says that percentiles are shares of some rows of the reference only, if so.
pub(super) fn percentiles(rows: usize, quiet: bool) {
    if rows > Percentiles::MOST {
        let most = Percentiles::MOST;
        console::note(
            quiet,
            format_args!(
                "percentiles are shares of {} of the {} reference rows; standard error below {:.4}",
                grouped(most),
                grouped(rows),
                bound(most)
            ),
        );
    }
}

/// The largest standard error of a share of `rows` rows, rounded up in the fourth decimal.
fn bound(rows: usize) -> f64 {
    (0.5 / (rows as f64).sqrt() * 1e4).ceil() / 1e4
}

/// Names that columns with the answer often have.
const ANSWERS: [&str; 16] = [
    "label",
    "labels",
    "target",
    "class",
    "y",
    "outlier",
    "is_outlier",
    "outliers",
    "anomaly",
    "is_anomaly",
    "fraud",
    "is_fraud",
    "fault",
    "ground_truth",
    "truth",
    "species",
];

/// Says of compared columns that are called like a label, and hold few levels or 0 and 1, that they are compared.
pub(super) fn likely_labels(encoding: &Encoding, block: &Block) -> Option<String> {
    let is_binary = |name: &str| {
        let values = block.typed().and_then(|table| table.column(name)).map(|column| &column.values);
        matches!(values, Some(Values::Numbers(values))
            if values.iter().all(|value| value.is_nan() || *value == 0.0 || value.abs() == 1.0))
    };
    let likely = encoding.columns().iter().filter(|column| {
        let named = ANSWERS.iter().any(|answer| answer.eq_ignore_ascii_case(column.name()));
        let few = matches!(column.kind(), ColumnKind::Category | ColumnKind::Boolean);
        named && (few || (column.kind() == ColumnKind::Number && is_binary(column.name())))
    });
    let names: Vec<&str> = likely.map(lossdepth::data::EncodedColumn::name).collect();
    let [first, ..] = names[..] else { return None };
    let (all, are) = (names.join(", "), if names.len() == 1 { "is" } else { "are" });
    Some(format!(
        "{} {are} compared like any other column; if it is the answer, say --label {}",
        shorten(&all),
        shorten(first)
    ))
}

/// `1,202`: a whole number that is easy to read.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::new();
    if first > 0 {
        groups.push(&digits[..first]);
    }
    groups.extend((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    groups.join(",")
}

/// What a table is, in a line; and lines on what is compared, what is left out, and what else there is to know.
pub(super) fn about(file: &str, encoding: &Encoding, block: &Block) -> (String, Vec<(&'static str, String)>) {
    // Parts of the cells of one column follow each other.
    let mut compared_columns: Vec<&str> = encoding.columns().iter().map(EncodedColumn::source).collect();
    compared_columns.dedup();
    let all = compared_columns.len() + encoding.left_out().len();
    let heading = format!("{file}: {}, {}", count(block.len(), "row"), count(all, "column"));
    let mut lines = vec![("compared", compared(encoding))];
    let why = |why: LeftOutReason, id: bool| match why {
        LeftOutReason::Id if id => "names the rows".to_owned(),
        LeftOutReason::Id => "all different".to_owned(),
        other => other.to_string(),
    };
    let left: Vec<String> = encoding
        .left_out()
        .iter()
        .map(|left| format!("{} ({})", called(&left.name), why(left.why, encoding.id() == Some(&left.name))))
        .collect();
    if !left.is_empty() {
        lines.push(("left out", some(&left)));
    }
    let constant: Vec<String> =
        encoding.columns().iter().filter(|c| c.is_constant()).map(|c| shorten(c.name())).collect();
    if !constant.is_empty() {
        lines.push(("constant", some(&constant)));
    }
    if let Some(codes) = gap_codes(encoding) {
        lines.push(("gaps", codes));
    }
    match block.repeated() {
        0 => {}
        1 => lines.push(("repeated", "1 row is the same as an earlier one".to_owned())),
        more => lines.push(("repeated", format!("{more} rows are the same as an earlier one"))),
    }
    (heading, lines)
}

/// Which numbers are taken for gaps, and in which columns.
fn gap_codes(encoding: &Encoding) -> Option<String> {
    let mut codes: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for column in encoding.columns() {
        for code in column.gap_codes() {
            codes.entry(*code).or_default().push(shorten(column.name()));
        }
    }
    let first = codes.values().flatten().next()?.clone();
    let each: Vec<String> = codes.iter().map(|(code, names)| format!("{code} in {}", some(names))).collect();
    Some(format!("{}; --as {first}=number compares them as numbers", each.join("; ")))
}

/// A column without a name is called by its number.
fn called(name: &str) -> String {
    let number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if number { format!("column {name}") } else { shorten(name) }
}

/// The compared columns by kind, with their gaps.
pub(super) fn compared(encoding: &Encoding) -> String {
    // Kind, whether it is a time without a date or a length of time, and how one and several of them are called.
    const KINDS: [(ColumnKind, bool, &str, &str); 6] = [
        (ColumnKind::Number, false, "", ""),
        (ColumnKind::Number, true, " (length of time)", " (lengths of time)"),
        (ColumnKind::Category, false, " (category)", " (categories)"),
        (ColumnKind::Boolean, false, " (yes or no)", " (yes or no)"),
        (ColumnKind::Time, false, " (date)", " (dates)"),
        (ColumnKind::Time, true, " (time)", " (times)"),
    ];
    let mut parts = Vec::new();
    for (kind, is_time, one, many) in KINDS {
        let names: Vec<String> = encoding
            .columns()
            .iter()
            .filter(|column| column.kind() == kind && (column.is_clock() || column.is_duration()) == is_time)
            .map(|column| {
                let gaps = match column.gaps() {
                    0.0 => None,
                    1.0 => Some("1 gap".to_owned()),
                    gaps => Some(format!("{} gaps", gaps.round())),
                };
                let bounds = (column.bounds() > 0)
                    .then(|| format!("{} compared as numbers", count(column.bounds(), "bound")));
                let more: Vec<String> = gaps.into_iter().chain(bounds).collect();
                if more.is_empty() {
                    return shorten(column.name());
                }
                format!("{} ({})", shorten(column.name()), more.join(", "))
            })
            .collect();
        if !names.is_empty() {
            parts.push(some(&names) + if names.len() == 1 { one } else { many });
        }
    }
    parts.join("; ")
}

fn some(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What is odd about the cells of a table, by column, gathered piece by piece.
#[derive(Debug, Default)]
pub(super) struct Tally {
    gaps: BTreeMap<usize, usize>,
    /// New levels with the row they came in first, and how often they came in all.
    levels: BTreeMap<usize, (Vec<(String, usize)>, usize)>,
    unread: BTreeMap<usize, (Vec<(String, usize)>, usize)>,
}

impl Tally {
    /// Of the rows of a reference, whose gaps are told with its columns.
    pub(super) fn of_reference(block: &Block) -> Self {
        Self { gaps: BTreeMap::new(), ..Self::of(block) }
    }

    /// Of all rows of a block.
    pub(super) fn of(block: &Block) -> Self {
        let mut tally = Self::default();
        tally.add(&block.notes);
        tally
    }

    pub(super) fn add(&mut self, notes: &[CellNote]) {
        for note in notes {
            let (list, text) = match &note.what {
                CellNoteKind::Gap => {
                    *self.gaps.entry(note.column).or_default() += 1;
                    continue;
                }
                CellNoteKind::NewLevel(text) => (&mut self.levels, text),
                CellNoteKind::Unread(text) => (&mut self.unread, text),
            };
            let (named, times) = list.entry(note.column).or_default();
            *times += 1;
            if named.len() < NAMED && named.iter().all(|(known, _)| known != text) {
                named.push((text.clone(), note.row));
            }
        }
    }

    /// Says it.
    pub(super) fn tell(&self, file: &str, encoding: &Encoding, quiet: bool) {
        super::tell(file, &self.lines(encoding), quiet);
    }

    /// A line each.
    pub(super) fn lines(&self, encoding: &Encoding) -> Vec<String> {
        let mut lines = Vec::new();
        let name = |column: usize| {
            encoding.columns().get(column).map(|column| shorten(column.name())).unwrap_or_default()
        };
        let cells = |named: &[(String, usize)]| {
            let texts: Vec<String> = named.iter().map(|(text, _)| text.clone()).collect();
            let row = named.first().map_or(0, |(_, row)| *row);
            format!("{} (first in row {row})", list(&texts))
        };
        for (&column, &gaps) in &self.gaps {
            if encoding.columns().get(column).is_some_and(|column| column.gaps() == 0.0) {
                let (name, gaps) = (name(column), count(gaps, "gap"));
                lines.push(format!("{gaps} in `{name}`, where the reference has none"));
            }
        }
        for (&column, (named, times)) in &self.levels {
            let (name, rows, cells) = (name(column), count(*times, "row"), cells(named));
            lines.push(format!("{rows} with a level of `{name}` that the reference lacks: {cells}"));
        }
        for (&column, (named, times)) in &self.unread {
            let kind = encoding.columns().get(column).map_or("value", |column| match () {
                () if column.is_clock() => "time",
                () if column.is_duration() => "length of time",
                () => column.kind().name(),
            });
            let (name, values, cells) = (name(column), count(*times, "cell"), cells(named));
            lines.push(format!("{values} of `{name}` cannot be read as a {kind}, taken for gaps: {cells}"));
        }
        lines
    }
}
