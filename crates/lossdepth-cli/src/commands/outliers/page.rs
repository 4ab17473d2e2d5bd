//! The oddest rows as text for a terminal, as Markdown, as CSV and as JSON.

use crate::commands::announce::grouped;
use crate::error::{count, shorten};
use lossdepth::Settings;
use lossdepth::data::{EncodedColumn, Encoding};
use lossdepth::outliers::{Outlier, Outliers};
use serde::Serialize;
use std::fmt::Write as _;

/// What is said about a table.
pub(super) struct Page<'a> {
    pub(super) file: &'a str,
    /// What the table is, in a line.
    pub(super) heading: String,
    /// What is compared, what is left out, what else there is to know: lines with a label each.
    pub(super) about: Vec<(&'static str, String)>,
    /// What is to be known of how the table was read.
    pub(super) notes: Vec<String>,
    /// How many rows there are.
    pub(super) rows: usize,
    /// What the rows are compared with, if not with each other.
    pub(super) reference: Option<(&'a str, usize)>,
    pub(super) encoding: &'a Encoding,
    pub(super) settings: &'a Settings,
    pub(super) outliers: &'a Outliers,
    /// What to do next, a command each with what it does.
    pub(super) next: Vec<(String, &'static str)>,
}

/// The widest a line of the text may get before it is broken.
const LINE: usize = 110;

impl Page<'_> {
    fn title(&self) -> String {
        let rows = self.rows;
        let found = self.outliers.found.len();
        let all = grouped(rows);
        let title = match (found, rows) {
            (_, 0) => return "No rows".to_owned(),
            (1, _) => format!("The oddest of {all} rows"),
            _ if found == rows => format!("All {}, the oddest first", count(rows, "row")),
            _ => format!("The {found} oddest of {all} rows"),
        };
        let named = self.outliers.found.iter().all(|row| row.name.is_some());
        if named { title } else { format!("{title} (the first row is row 0)") }
    }

    /// For a terminal.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{}", self.heading);
        for (label, text) in &self.about {
            let mut lines = wrapped(text, LINE - 13).into_iter();
            let _ = writeln!(out, "  {label:<10} {}", lines.next().unwrap_or_default());
            lines.for_each(|line| {
                let _ = writeln!(out, "  {:<10} {line}", "");
            });
        }
        let _ = writeln!(out, "\n{}", self.title());
        let names: Vec<String> = self.outliers.found.iter().map(|row| shorten(&named(row))).collect();
        let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let cell = |reason: &lossdepth::outliers::WordedReason| {
            format!("{} {}", shorten(&reason.name), shorten(&reason.value))
        };
        let cells = self.outliers.found.iter().flat_map(|row| &row.reasons).map(cell);
        let cell_width = cells.map(|cell| cell.chars().count()).max().unwrap_or(0).min(34);
        for (row, name) in self.outliers.found.iter().zip(&names) {
            let lead = format!("  {name:<name_width$}  {:<9}", p_value(row.p));
            let blank = " ".repeat(lead.chars().count());
            if row.reasons.is_empty() {
                let _ = writeln!(out, "{lead}  {}", without_reason(row));
            }
            for (at, reason) in row.reasons.iter().enumerate() {
                let lead = if at == 0 { &lead } else { &blank };
                let _ = writeln!(out, "{lead}  {:<cell_width$}  {}", cell(reason), reason.text);
            }
            if let Some(change) = change(row) {
                let _ = writeln!(out, "{blank}  {change}");
            }
        }
        if !self.next.is_empty() {
            let width = self.next.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
            let _ = writeln!(out, "\nNext");
            for (command, what) in &self.next {
                let _ = writeln!(out, "  {command:<width$}   {what}");
            }
        }
        out
    }

    /// For notes and tickets.
    pub(super) fn markdown(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "**{}**\n", escaped(&self.heading));
        for (label, text) in &self.about {
            let _ = writeln!(out, "- {label}: {}", escaped(text));
        }
        let head = "| row | p | why | would be ordinary with |\n|---|---:|---|---|";
        let _ = writeln!(out, "\n## {}\n\n{head}", self.title());
        for row in &self.outliers.found {
            let why: Vec<String> = row
                .reasons
                .iter()
                .map(|reason| {
                    format!(
                        "**{}** {}: {}",
                        escaped(&reason.name),
                        escaped(&reason.value),
                        escaped(&reason.text)
                    )
                })
                .collect();
            let why = if why.is_empty() { without_reason(row).to_owned() } else { why.join("<br>") };
            let change: Vec<String> =
                row.changes.iter().map(|c| format!("{} {}", escaped(&c.name), escaped(&c.about))).collect();
            let p = p_value(row.p);
            let p = p.trim_start_matches("p ");
            let _ = writeln!(out, "| {} | {p} | {why} | {} |", escaped(&named(row)), change.join(", "));
        }
        out
    }

    /// A line a reason.
    pub(super) fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let header = [
            "row",
            "name",
            "depth",
            "error",
            "stderr",
            "p",
            "percentile",
            "reason",
            "column",
            "value",
            "text",
            "share",
        ];
        // Writing into memory does not fail.
        let _ = writer.write_record(header);
        for row in &self.outliers.found {
            let number = |value: f64| value.to_string();
            let lead = [
                row.row.to_string(),
                row.name.clone().unwrap_or_default(),
                number(row.fit.depth),
                number(row.fit.error),
                number(row.fit.stderr),
                number(row.p),
                number(row.percentile),
            ];
            if row.reasons.is_empty() {
                let _ = writer.write_record(lead.iter().map(String::as_str).chain([""; 5]));
            }
            for (at, reason) in row.reasons.iter().enumerate() {
                let (at, share) = ((at + 1).to_string(), number(reason.share));
                let rest = [&at, &reason.name, &reason.value, &reason.text, &share].map(String::as_str);
                let _ = writer.write_record(lead.iter().map(String::as_str).chain(rest));
            }
        }
        writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// Everything.
    pub(super) fn json(&self) -> String {
        let rows = self.rows;
        let whole = Json {
            format: 1,
            version: env!("CARGO_PKG_VERSION"),
            file: self.file,
            rows,
            reference: self.reference.map(|(file, _)| file),
            reference_rows: self.reference.map_or(rows, |(_, rows)| rows),
            compared: self.encoding.columns().iter().map(JsonColumn::new).collect(),
            left_out: self.encoding.left_out().iter().map(|l| (l.name.as_str(), l.why.to_string())).collect(),
            notes: &self.notes,
            settings: self.settings,
            outliers: self.outliers.found.iter().map(JsonRow::new).collect(),
        };
        serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
    }
}

#[derive(Serialize)]
struct Json<'a> {
    /// Of what follows: it grows when a field changes its meaning.
    format: u32,
    version: &'static str,
    file: &'a str,
    rows: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<&'a str>,
    reference_rows: usize,
    compared: Vec<JsonColumn<'a>>,
    left_out: Vec<(&'a str, String)>,
    notes: &'a [String],
    settings: &'a Settings,
    outliers: Vec<JsonRow<'a>>,
}

#[derive(Serialize)]
struct JsonColumn<'a> {
    name: &'a str,
    kind: String,
    gaps: f64,
}

impl<'a> JsonColumn<'a> {
    fn new(column: &'a EncodedColumn) -> Self {
        Self { name: column.name(), kind: column.kind().to_string(), gaps: column.gaps() }
    }
}

#[derive(Serialize)]
struct JsonRow<'a> {
    row: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    depth: f64,
    error: f64,
    stderr: f64,
    p: f64,
    percentile: f64,
    outlyingness_bits: f64,
    reasons: Vec<JsonReason<'a>>,
    ordinary_with: Vec<JsonChange<'a>>,
}

#[derive(Serialize)]
struct JsonReason<'a> {
    column: &'a str,
    value: &'a str,
    text: &'a str,
    share: f64,
}

#[derive(Serialize)]
struct JsonChange<'a> {
    column: &'a str,
    from: &'a str,
    to: &'a str,
}

impl<'a> JsonRow<'a> {
    fn new(row: &'a Outlier) -> Self {
        let reason = |r: &'a lossdepth::outliers::WordedReason| JsonReason {
            column: &r.name,
            value: &r.value,
            text: &r.text,
            share: r.share,
        };
        let change =
            |c: &'a lossdepth::outliers::Change| JsonChange { column: &c.name, from: &c.from, to: &c.to };
        Self {
            row: row.row,
            name: row.name.as_deref(),
            depth: row.fit.depth,
            error: row.fit.error,
            stderr: row.fit.stderr,
            p: row.p,
            percentile: row.percentile,
            outlyingness_bits: row.outlyingness,
            reasons: row.reasons.iter().map(reason).collect(),
            ordinary_with: row.changes.iter().map(change).collect(),
        }
    }
}

fn named(row: &Outlier) -> String {
    row.name.clone().unwrap_or_else(|| format!("row {}", row.row))
}

fn p_value(p: f64) -> String {
    if p < 0.001 { format!("p {p:.0e}") } else { format!("p {p:.3}") }
}

fn without_reason(row: &Outlier) -> &'static str {
    if row.percentile > 0.1 { "ordinary" } else { "no single column stands out" }
}

/// The most changes that the text lists; JSON has all.
const CHANGES: usize = 4;

/// What would make the row ordinary, where the reasons do not say it.
fn change(row: &Outlier) -> Option<String> {
    let told = |name: &str| row.reasons.iter().any(|r| r.name == name && r.text.contains("would fit"));
    if row.changes.is_empty() || row.changes.iter().all(|change| told(&change.name)) {
        return None;
    }
    // A long list helps nobody: the row is odd as a whole.
    if row.changes.len() > CHANGES {
        return Some(format!("ordinary only after a change of {} columns", row.changes.len()));
    }
    let all: Vec<String> = row
        .changes
        .iter()
        .map(|change| format!("{} {}", shorten(&change.name), shorten(&change.about)))
        .collect();
    Some(format!("ordinary with {}", all.join(", ")))
}

/// A text in lines of at most so many letters, broken after blanks.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut();
        match line {
            Some(line) if line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width => {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A text that is only text in a table of Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
