//! What came out, as a table for people and as CSV or JSON for programs.

use crate::error::{Error, Result};
use lossdepth::model::Value;
use lossdepth::stats::evaluation::{Estimate, RocPoint};
use lossdepth_reproduce::Candidate;
use serde::Serialize;
use std::collections::BTreeMap;

/// The layout of the JSON; it changes when a program that reads it would have to.
const FORMAT: u32 = 1;

/// The share of intervals that hold what they should.
pub(super) const LEVEL: f64 = 0.95;

/// Everything that is known.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) format: u32,
    pub(super) version: &'static str,
    pub(super) data: String,
    pub(super) reference: Option<String>,
    pub(super) reference_rows: usize,
    pub(super) columns: Vec<String>,
    pub(super) label: String,
    /// The label taken for the outliers.
    pub(super) outlier: String,
    pub(super) rows: usize,
    pub(super) outliers: usize,
    pub(super) unlabelled: usize,
    pub(super) level: f64,
    pub(super) results: Vec<Line>,
}

/// One method.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) method: String,
    pub(super) settings: BTreeMap<&'static str, Value>,
    pub(super) auc: Estimate,
    pub(super) average_precision: Estimate,
    pub(super) fit_seconds: f64,
    pub(super) row_seconds: f64,
    pub(super) not_converged: usize,
    /// For the picture.
    #[serde(skip)]
    pub(super) roc: Vec<RocPoint>,
}

impl Line {
    pub(super) fn settings(candidate: &Candidate) -> BTreeMap<&'static str, Value> {
        candidate.values().into_iter().filter(|(_, value)| *value != Value::None).collect()
    }
}

impl Report {
    pub(super) const FORMAT: u32 = FORMAT;

    pub(super) fn json(&self) -> Result<String> {
        let failed = |error: serde_json::Error| Error::Usage(format!("cannot write JSON: {error}"));
        Ok(serde_json::to_string_pretty(self).map_err(failed)? + "\n")
    }

    pub(super) fn csv(&self, delimiter: u8) -> Result<String> {
        let failed = |error: &dyn std::fmt::Display| Error::Usage(format!("cannot write the table: {error}"));
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
        let head = [
            "method",
            "auc",
            "auc_low",
            "auc_high",
            "average_precision",
            "average_precision_low",
            "average_precision_high",
            "fit_seconds",
            "row_seconds",
            "not_converged",
        ];
        writer.write_record(head).map_err(|e| failed(&e))?;
        for line in &self.results {
            let (a, p) = (line.auc, line.average_precision);
            let numbers =
                [a.value, a.low, a.high, p.value, p.low, p.high, line.fit_seconds, line.row_seconds];
            let texts = numbers.iter().map(|number| format!("{number:?}"));
            let count = line.not_converged.to_string();
            let record: Vec<String> =
                std::iter::once(line.method.clone()).chain(texts).chain([count]).collect();
            writer.write_record(&record).map_err(|e| failed(&e))?;
        }
        let bytes = writer.into_inner().map_err(|e| failed(&e))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Aligned columns; the best of a column has a star, and on a terminal it is bold.
    pub(super) fn table(&self, styled: bool) -> String {
        let head =
            ["method", "AUC-ROC", "95 % interval", "avg. precision", "95 % interval", "fit", "a row", ""];
        let best = |of: fn(&Line) -> f64| self.results.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        let (area, precision) = (best(|line| line.auc.value), best(|line| line.average_precision.value));
        let mut rows: Vec<[Cell; 8]> = vec![head.map(|text| Cell { text: text.to_owned(), bold: false })];
        for line in &self.results {
            let plain = |text: String| Cell { text, bold: false };
            let marked = |value: f64, best: f64| {
                // What looks the same is the same.
                let wins = format!("{value:.4}") == format!("{best:.4}");
                Cell { text: format!("{value:.4}{}", if wins { "*" } else { " " }), bold: wins }
            };
            let interval = |e: Estimate| plain(format!("{:.3} - {:.3}", e.low, e.high));
            let trouble = match line.not_converged {
                0 => String::new(),
                some => format!("{some} not converged"),
            };
            rows.push([
                plain(line.method.clone()),
                marked(line.auc.value, area),
                interval(line.auc),
                marked(line.average_precision.value, precision),
                interval(line.average_precision),
                plain(time(line.fit_seconds)),
                plain(time(line.row_seconds)),
                plain(trouble),
            ]);
        }
        let width =
            |column: usize| rows.iter().map(|row| row[column].text.chars().count()).max().unwrap_or(0);
        let widths: [usize; 8] = std::array::from_fn(width);
        let line = |row: &[Cell; 8]| {
            let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
                let left = column == 0 || column == 7;
                let padding = " ".repeat(width - cell.text.chars().count());
                let text = if styled && cell.bold {
                    format!("\x1b[1m{}\x1b[0m", cell.text)
                } else {
                    cell.text.clone()
                };
                if left { text + &padding } else { padding + &text }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        rows.iter().map(line).collect()
    }
}

struct Cell {
    text: String,
    bold: bool,
}

/// A time in a unit that suits it.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", 1e6 * s),
        s if s < 1.0 => format!("{:.1} ms", 1e3 * s),
        s => format!("{s:.1} s"),
    }
}
