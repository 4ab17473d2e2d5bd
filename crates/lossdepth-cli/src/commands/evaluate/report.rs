//! What came out, as a table for people and as CSV or JSON for programs.

use crate::error::{Error, Result};
use lossdepth::model::Value;
use lossdepth::stats::evaluation::{Estimate, RocPoint};
use lossdepth_reproduce::Candidate;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

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
    /// What would have taken too long.
    pub(super) skipped: Vec<Skipped>,
}

/// A method that was not run.
#[derive(Debug, Serialize)]
pub(super) struct Skipped {
    pub(super) method: String,
    /// How long it would have taken, about.
    pub(super) seconds: f64,
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

    /// Which methods have the highest numbers, if there are several; what looks the same is the same.
    pub(super) fn best(&self) -> String {
        if self.results.len() < 2 {
            return String::new();
        }
        let highest = |of: fn(&Line) -> f64| {
            let best = self.results.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
            let shown = format!("{best:.4}");
            let wins = self.results.iter().filter(|line| format!("{:.4}", of(line)) == shown);
            format!("{} ({shown})", wins.map(|line| line.method.as_str()).collect::<Vec<_>>().join(", "))
        };
        format!(
            "\nHighest AUC-ROC: {}\nHighest average precision: {}\n",
            highest(|line| line.auc.value),
            highest(|line| line.average_precision.value)
        )
    }
}

/// The columns of the table for people, of which a row can be written before the next is known.
pub(super) struct Layout {
    widths: [usize; 7],
}

impl Layout {
    const HEAD: [&'static str; 7] =
        ["method", "AUC-ROC", "95 % interval", "avg. precision", "95 % interval", "fit", "a row"];

    pub(super) fn of<'a>(methods: impl Iterator<Item = &'a str>) -> Self {
        let method = methods.chain([Self::HEAD[0]]).map(|name| name.chars().count()).max().unwrap_or(0);
        // Times are at most `999.9 ms`, or thousands of seconds.
        Self { widths: [method, 7, 13, 14, 13, 8, 8] }
    }

    pub(super) fn head(&self) -> String {
        self.line(&Self::HEAD.map(str::to_owned), "")
    }

    pub(super) fn row(&self, line: &Line) -> String {
        let interval = |e: Estimate| format!("{:.3} - {:.3}", e.low, e.high);
        let trouble = match line.not_converged {
            0 => String::new(),
            some => format!("{some} not converged"),
        };
        let cells = [
            line.method.clone(),
            format!("{:.4}", line.auc.value),
            interval(line.auc),
            format!("{:.4}", line.average_precision.value),
            interval(line.average_precision),
            time(line.fit_seconds),
            time(line.row_seconds),
        ];
        self.line(&cells, &trouble)
    }

    fn line(&self, cells: &[String; 7], remark: &str) -> String {
        let [method, rest @ ..] = cells;
        let mut text = format!("{method:<width$}", width = self.widths[0]);
        for (cell, &width) in rest.iter().zip(&self.widths[1..]) {
            let _ = write!(text, "  {cell:>width$}");
        }
        format!("{text}  {remark}").trim_end().to_owned() + "\n"
    }
}

/// A time in a unit that suits it.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", 1e6 * s),
        s if s < 1.0 => format!("{:.1} ms", 1e3 * s),
        s => format!("{s:.1} s"),
    }
}
