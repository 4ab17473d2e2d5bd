//! Explanations for people: a few lines for each row.

use super::super::methods::WIDEST;
use super::report::{Column, Report, Row, Shown};
use crate::error::{count, shorten};
use lossdepth::{Method, Stop};
use std::fmt::Write;

/// How long the longest bar is.
const BAR: f64 = 24.0;

pub(super) fn page(report: &Report, top: usize) -> String {
    let rows: Vec<String> = report.rows.iter().map(|row| section(report, row, top)).collect();
    rows.join("\n")
}

fn section(report: &Report, row: &Row, top: usize) -> String {
    let mut out = row.name.clone();
    if let Some(label) = &row.label {
        let _ = write!(out, ", label {label}");
    }
    out.push('\n');
    let _ = writeln!(
        out,
        "  depth  {}, {}proven within {}{}",
        if row.depth == 0.0 || row.depth >= 1e-4 { format!("{:.6}", row.depth) } else { brief(row.depth) },
        // Forests have none.
        if row.stderr.is_nan() { String::new() } else { format!("standard error {}, ", brief(row.stderr)) },
        brief(row.error),
        if row.stop == Stop::Converged { "" } else { " (did not converge)" }
    );
    if let (Some(deeper), Some(shallower)) = (row.deeper_than, row.shallower_than) {
        let _ = writeln!(
            out,
            "  rank   deeper than {} of the sample, {}",
            percent(deeper),
            others(deeper, shallower)
        );
    }
    out.push_str(&if !row.cuts.is_empty() {
        cuts(row, top)
    } else if row.linear {
        contributions(report, row, top)
    } else if row.gradient.is_none() {
        in_words(row, top)
    } else {
        slopes(row, top)
    });
    out.push_str(&influence(row));
    out
}

/// Why the row is odd, in words.
fn in_words(row: &Row, top: usize) -> String {
    if row.reasons.is_empty() {
        return "  why    no column stands out\n".to_owned();
    }
    let mut out = String::new();
    for (at, reason) in row.reasons.iter().take(top.max(1)).enumerate() {
        let lead = if at == 0 { "why" } else { "" };
        let _ = writeln!(out, "  {lead:<6} {} {}: {}", reason.column, reason.value, reason.text);
    }
    out
}

fn others(deeper: f64, shallower: f64) -> String {
    if deeper == 0.0 {
        "none is shallower".to_owned()
    } else if shallower == 0.0 {
        "none is deeper".to_owned()
    } else {
        format!("shallower than {}", percent(shallower))
    }
}

/// The parts of a linear classifier, which add up.
fn contributions(report: &Report, row: &Row, top: usize) -> String {
    let part = |j: usize| row.columns[j].contribution.unwrap_or(0.0);
    let (shown, rest) = row.order.split_at(top.min(row.order.len()));
    let largest = row.order.iter().map(|&j| part(j).abs()).fold(0.0, f64::max);
    let halfspace = report.method == Method::Halfspace;
    let mut lines = vec![head(if halfspace { &["direction", "contribution"] } else { &["contribution"] })];
    for &j in shown {
        let mut line = place(&row.columns[j]);
        if halfspace {
            line.push(brief(-row.columns[j].weight.unwrap_or(0.0)));
        }
        line.extend([signed(part(j)), bar(part(j), largest)]);
        lines.push(line);
    }
    if !rest.is_empty() {
        let sum: f64 = rest.iter().map(|&j| part(j)).sum();
        let mut line = vec![count(rest.len(), "other"), String::new(), String::new(), String::new()];
        line.extend(halfspace.then(String::new));
        line.push(signed(sum));
        lines.push(line);
    }
    let sum: f64 = row.columns.iter().filter_map(|column| column.contribution).sum();
    let why = if halfspace {
        format!(
            "  why    {} of the sample is in the emptiest halfspace with the row on its border; it lies in this direction\n",
            percent(row.depth)
        )
    } else {
        "  why    columns that give the row away have a negative contribution to f, positive for the sample\n"
            .to_owned()
    };
    format!(
        "{why}\n{}\n  f = {} at the mean of the sample {} by its columns = {} at the row\n",
        aligned(&lines),
        brief(row.baseline),
        signed_apart(sum),
        // A difference that is all rounding is none.
        brief(if row.value.abs() <= 1e-12 * row.baseline.abs() { 0.0 } else { row.value })
    )
}

/// The slopes of a classifier that is not linear.
fn slopes(row: &Row, top: usize) -> String {
    let shown = &row.order[..top.min(row.order.len())];
    // A category has a level or not: there is no slope, but a change.
    let change = |column: &Column| match column.median {
        Shown::Text(_) if column.iqr == 0.0 => column.weight.unwrap_or(0.0),
        _ => column.weight.unwrap_or(0.0) * column.iqr,
    };
    let largest = shown.iter().map(|&j| change(&row.columns[j]).abs()).fold(0.0, f64::max);
    let mut lines = vec![head(&["slope", "per IQR"])];
    for &j in shown {
        let column = &row.columns[j];
        let mut line = place(column);
        line.extend([
            signed(column.weight.unwrap_or(0.0)),
            signed(change(column)),
            bar(change(column), largest),
        ]);
        lines.push(line);
    }
    let hidden = row.order.len() - shown.len();
    let rest = if hidden == 0 {
        String::new()
    } else {
        format!("  {} with smaller slopes\n", count(hidden, "other"))
    };
    format!(
        "  why    f = {} at the row, {} on average over the sample; towards the sample f rises\n\n{}{rest}",
        brief(row.value),
        brief(row.baseline),
        aligned(&lines),
    )
}

/// What the trees of a forest ask.
fn cuts(row: &Row, top: usize) -> String {
    let shown = &row.cuts[..top.min(row.cuts.len())];
    let titles = ["cut", "value", "place", "median", "trees", "of the sample left"];
    let mut lines = vec![titles.map(str::to_owned).to_vec()];
    for cut in shown {
        let sign = if cut.above { "<" } else { ">" };
        let mut line = vec![match &cut.level {
            Some(level) => format!("{} = {}", cut.column, shorten(level)),
            None => format!("{} {sign} {}", cut.column, brief(cut.threshold)),
        }];
        match row.columns.iter().find(|column| column.name == cut.column) {
            Some(column) => line.extend(place(column).drain(1..)),
            None => line.extend([String::new(), String::new(), String::new()]),
        }
        line.extend([
            percent(cut.probability),
            percent(cut.share),
            bar(cut.probability, shown[0].probability),
        ]);
        lines.push(line);
    }
    let hidden = row.cuts.len() - shown.len();
    let rest = if hidden == 0 {
        String::new()
    } else {
        format!("  {} that fewer trees make\n", count(hidden, "other cut"))
    };
    format!("  why    the cuts that trees make to be alone with the row\n\n{}{rest}", aligned(&lines))
}

fn influence(row: &Row) -> String {
    if row.influential.iter().all(|row| row.without == 0.0) {
        return String::new();
    }
    let named: Vec<String> =
        row.influential.iter().map(|row| format!("{} {}", row.name, signed(row.without))).collect();
    format!("\n  largest changes in depth without one row of the sample: {}\n", named.join(", "))
}

fn head(more: &[&str]) -> Vec<String> {
    ["column", "value", "place", "median"].iter().chain(more).map(|title| (*title).to_owned()).collect()
}

/// A column at the row, and where that is in the sample.
fn place(column: &Column) -> Vec<String> {
    vec![column.name.clone(), shown(&column.value), percent(column.place), shown(&column.median)]
}

/// A number in brief, a text in full.
fn shown(value: &Shown) -> String {
    match value {
        Shown::Number(value) => brief(*value),
        Shown::Text(text) => shorten(text),
    }
}

/// Names to the left, numbers to the right, bars to the left.
fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max())
        .map(|width| width.unwrap_or_default().min(WIDEST))
        .collect();
    let numbers = lines.first().map_or(0, Vec::len);
    let mut out = String::new();
    for line in lines {
        let mut text = String::new();
        for (i, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let _ = match i {
                0 => write!(text, "  {cell:<width$}"),
                i if i < numbers => write!(text, "  {cell:>width$}"),
                _ => write!(text, "  {cell}"),
            };
        }
        let _ = writeln!(out, "{}", text.trim_end());
    }
    out
}

fn bar(value: f64, largest: f64) -> String {
    if !(largest > 0.0 && value.is_finite()) {
        return String::new();
    }
    let sign = if value < 0.0 { '█' } else { '░' };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the length of a bar"
    )]
    let length = (BAR * (value / largest).abs()).round().min(BAR) as usize;
    std::iter::repeat_n(sign, length).collect()
}

/// A number with four digits that matter.
fn brief(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return if value > 0.0 { "infinity".to_owned() } else { value.to_string() };
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.1e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 8")]
    let decimals = (3.0 - size.log10().floor()).clamp(0.0, 8.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", brief(value)) } else { brief(value) }
}

fn signed_apart(value: f64) -> String {
    if value < 0.0 { format!("- {}", brief(-value)) } else { format!("+ {}", brief(value)) }
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        p if p.fract() == 0.0 || (10.0..=99.0).contains(&p) => format!("{p:.0} %"),
        p if p >= 0.095 => format!("{p:.1} %"),
        p => format!("{p:.1e} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_brief() {
        let cases = [
            (0.0, "0"),
            (12.0, "12"),
            (0.12345, "0.1235"),
            (-1234.5678, "-1235"),
            (1.5e-7, "1.5e-7"),
            (f64::INFINITY, "infinity"),
        ];
        for (value, text) in cases {
            assert_eq!(brief(value), text);
        }
        let shares = [0.0, 0.034, 0.5, 0.998, 1.0, 0.000_001];
        assert_eq!(shares.map(percent), ["0 %", "3.4 %", "50 %", "99.8 %", "100 %", "1.0e-4 %"]);
    }
}
