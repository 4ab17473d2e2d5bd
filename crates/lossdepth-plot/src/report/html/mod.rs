//! The document: head, sections, data, scripts.

mod charts;
mod escape;
mod sections;
mod summary;

use super::groups::{AlikeRows, groups};
use super::map::rounded;
use super::page::{Cell, Neighbour, Page};
use super::{Bounded, Distribution, Map};
use crate::scene::base64;
use escape::{Text, json_in_script};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::Write;

const STYLE: &str = include_str!("../../../assets/report/page.css");
/// No page is larger.
const MOST_BYTES: usize = 3_000_000;
/// In the order in which they need each other.
const SCRIPTS: [&str; 8] = [
    include_str!("../../../assets/report/base.js"),
    include_str!("../../../assets/report/export.js"),
    include_str!("../../../assets/report/detail.js"),
    include_str!("../../../assets/report/table.js"),
    include_str!("../../../assets/report/threshold.js"),
    include_str!("../../../assets/report/map.js"),
    include_str!("../../../assets/report/fold.js"),
    include_str!("../../../assets/report/main.js"),
];

impl Page {
    /// The page as one HTML file, below 3 MB whatever it holds; the same page gives the same bytes.
    ///
    /// Every text is shown as text. Values of masked columns are not in the file. The file loads nothing, and a content security
    /// policy forbids it to: only its own script and style, named by their hashes, run.
    pub fn to_html(&self) -> String {
        let mut html = self.written(1);
        for divisor in [2, 4, 8, 16] {
            if html.len() < MOST_BYTES {
                break;
            }
            html = self.written(divisor);
        }
        html
    }

    /// The page with its budgets of bytes divided by a number.
    fn written(&self, divisor: usize) -> String {
        let bounded = Bounded::new(self, divisor);
        let groups = groups(&bounded.page.rows, &bounded.page.columns, bounded.page.drift.as_ref());
        let script = format!("\"use strict\";\n{}", SCRIPTS.concat());
        let mut out = String::new();
        head(&mut out, &bounded.page, &script);
        body(&mut out, &bounded, &groups);
        let json = serde_json::to_string(&View::new(&bounded, &groups)).unwrap_or_else(|_| "null".to_owned());
        let _ = write!(
            out,
            "<script type=\"application/json\" id=\"report-data\">{}</script>\n<script>{script}</script>\n</body>\n</html>\n",
            json_in_script(&json)
        );
        out
    }
}

fn head(out: &mut String, page: &Page, script: &str) {
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{}'; style-src '{}'; \
         img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"lossdepth {}\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n\
         <style>{STYLE}</style>\n</head>\n",
        source_hash(script),
        source_hash(STYLE),
        env!("CARGO_PKG_VERSION"),
        Text(&page.title)
    );
}

/// As the content security policy names an inline script or style.
fn source_hash(source: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(source.as_bytes())))
}

fn body(out: &mut String, bounded: &Bounded, groups: &[AlikeRows]) {
    let page = &bounded.page;
    let _ = write!(
        out,
        "<body>\n<a class=\"skip\" href=\"#rows\">To the oddest rows</a>\n<header class=\"top\"><h1>{}</h1>",
        escape::Name(&page.title)
    );
    summary::summary(out, bounded, groups);
    out.push_str("</header>\n<main>\n");
    overview(out, bounded);
    charts::drift(out, bounded);
    sections::groups(out, bounded, groups);
    out.push_str(
        "<section id=\"rows\" aria-labelledby=\"rows-h\"><div class=\"title\"><h2 id=\"rows-h\">The oddest rows</h2>\
         <p id=\"rows-count\" class=\"soft\" role=\"status\"></p></div>\
         <div class=\"tools\" id=\"rows-tools\" hidden>\
         <label>Search <input type=\"search\" id=\"search\" autocomplete=\"off\" placeholder=\"name, value or reason\"></label>\
         <label>Reason <select id=\"reason\"><option value=\"\">any column</option></select></label>\
         <label>Group <select id=\"group\"><option value=\"\">any</option></select></label>\
         <label class=\"narrow\">Sort <select id=\"sort\"><option value=\"rank\">oddest first</option><option value=\"name\">by name</option>\
         <option value=\"reason\">by reason</option></select></label>\
         <label class=\"check\"><input type=\"checkbox\" id=\"only-flagged\"> flagged only</label>\
         <button type=\"button\" id=\"clear\" class=\"quiet\">Clear</button>\
         <button type=\"button\" id=\"export\">Export as CSV</button></div><div class=\"split\"><div class=\"list\">",
    );
    sections::rows(out, bounded);
    out.push_str("</div><div id=\"detail\" class=\"detail\" tabindex=\"-1\" role=\"region\" aria-label=\"Details of the selected row\" hidden></div></div></section>\n");
    sections::data(out, bounded);
    sections::method(out, bounded);
    out.push_str("</main>\n<p id=\"announce\" class=\"sr\" role=\"status\"></p>\n");
}

/// Depths with the threshold, and the map.
fn overview(out: &mut String, bounded: &Bounded) {
    let thresholds = &bounded.page.thresholds;
    let words =
        thresholds.steps.get(thresholds.start).map(|step| thresholds.consequence(step)).unwrap_or_default();
    out.push_str(
        "<div class=\"overview\"><section id=\"threshold\" aria-labelledby=\"threshold-h\"><h2 id=\"threshold-h\">Where to draw the line\
         </h2>",
    );
    charts::depths(out, bounded);
    let _ = write!(
        out,
        "<div class=\"slider\" hidden><label for=\"slider\">Flag rows up to a p-value of <output id=\"slider-value\" \
         for=\"slider\"></output></label><input type=\"range\" id=\"slider\" min=\"0\" max=\"{}\" step=\"1\" value=\"{}\"></div>\
         <p id=\"consequence\" role=\"status\">{}</p></section>",
        thresholds.steps.len().saturating_sub(1),
        thresholds.start,
        Text(&words)
    );
    if let Some(map) = &bounded.page.map {
        out.push_str(
            "<section id=\"map-section\" aria-labelledby=\"map-h\"><h2 id=\"map-h\">Map</h2><div class=\"tools\" id=\"map-tools\" hidden>\
             <label>Across <select id=\"map-x\"></select></label><label>Up <select id=\"map-y\"></select></label>\
             <span class=\"buttons\"><button type=\"button\" id=\"zoom-in\" aria-label=\"Zoom in\">+</button>\
             <button type=\"button\" id=\"zoom-out\" aria-label=\"Zoom out\">−</button>\
             <button type=\"button\" id=\"zoom-bulk\">Most rows</button><button type=\"button\" id=\"zoom-all\">All rows</button>\
             <button type=\"button\" id=\"map-previous\" aria-label=\"Select the previous odd row\">‹</button>\
             <button type=\"button\" id=\"map-next\" aria-label=\"Select the next odd row\">›</button></span></div>\
             <figure class=\"map\" id=\"map-figure\">",
        );
        charts::map(out, map, bounded);
        let (sample, all) = (map.percentiles.len() as u64, super::text::count(map.of));
        let shown = if sample == map.of {
            format!("All {all} ordinary rows.")
        } else {
            format!("A sample of {} from {all} ordinary rows.", super::text::count(sample))
        };
        let _ = write!(
            out,
            "<p id=\"map-tip\" class=\"tip\" hidden></p><figcaption><span class=\"legend\"><span class=\"key\"><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\">\
             <path class=\"odd-point\" d=\"M5 0l5 5l-5 5l-5-5z\"/></svg> flagged</span> <span class=\"key\"><svg viewBox=\"0 0 10 10\" \
             aria-hidden=\"true\"><path class=\"odd-point faint\" d=\"M5 1l4 4l-4 4l-4-4z\"/></svg> listed, not flagged</span> <span \
             class=\"key\">shallow (odd) \
             <svg class=\"ramp\" viewBox=\"0 0 60 10\" aria-hidden=\"true\"><path class=\"point p0\" d=\"M6 5h0\"/><path class=\"point p1\" \
             d=\"M18 5h0\"/><path class=\"point p2\" d=\"M30 5h0\"/><path class=\"point p3\" d=\"M42 5h0\"/><path class=\"point p4\" d=\"M54 5h0\"/>\
             </svg> deep (ordinary)</span></span> <span class=\"shown\">{shown}</span></figcaption></figure></section>"
        );
    }
    out.push_str("</div>\n");
}

/// What the script gets: numbers to draw, and words that are already made.
#[derive(Serialize)]
struct View<'a> {
    columns: Vec<ColumnView<'a>>,
    rows: Vec<RowView<'a>>,
    groups: &'a [AlikeRows],
    steps: Vec<StepView>,
    start: usize,
    map: &'a Option<Map>,
    /// The name of the file that is exported.
    export: String,
}

#[derive(Serialize)]
struct ColumnView<'a> {
    name: &'a str,
    usual: &'a str,
    distribution: &'a Distribution,
}

#[derive(Serialize)]
struct RowView<'a> {
    name: &'a str,
    row: u64,
    depth: f64,
    error: f64,
    stderr: Option<f64>,
    p_value: f64,
    percentile: f64,
    sentence: String,
    cells: &'a [Cell],
    contributions: Vec<f64>,
    reasons: Vec<ReasonView<'a>>,
    counterfactual: Option<CounterfactualView<'a>>,
    neighbours: &'a [Neighbour],
}

#[derive(Serialize)]
struct ReasonView<'a> {
    columns: &'a [usize],
    lead: &'a str,
    sentence: &'a str,
}

#[derive(Serialize)]
struct CounterfactualView<'a> {
    columns: &'a [usize],
    values: &'a [String],
    depth: f64,
    percentile: f64,
    sentence: &'a str,
    /// Where the row would be after the change.
    standing: String,
}

#[derive(Serialize)]
struct StepView {
    p: f64,
    words: String,
    cut: f64,
    sentence: String,
    /// The share of flagged rows now and before, where a reference is another table.
    drift: Option<String>,
}

impl<'a> View<'a> {
    fn new(bounded: &'a Bounded, groups: &'a [AlikeRows]) -> Self {
        let page = &bounded.page;
        let columns = page.columns.iter().map(|column| ColumnView {
            name: &column.name,
            usual: &column.usual,
            distribution: &column.distribution,
        });
        let rows = page.rows.iter().zip(&bounded.leads).map(|(row, leads)| RowView {
            name: &row.name,
            row: row.row,
            depth: row.depth,
            error: row.error,
            stderr: row.stderr,
            p_value: row.p_value,
            percentile: row.percentile,
            sentence: sections::row_sentence(row, page.thresholds.kind),
            cells: &row.cells,
            contributions: row.contributions.iter().map(|x| rounded(*x)).collect(),
            reasons: row
                .reasons
                .iter()
                .zip(leads)
                .map(|(reason, lead)| ReasonView {
                    columns: &reason.columns,
                    lead,
                    sentence: &reason.sentence,
                })
                .collect(),
            counterfactual: row.counterfactual.as_ref().map(|change| CounterfactualView {
                columns: &change.columns,
                values: &change.values,
                depth: change.depth,
                percentile: change.percentile,
                sentence: &change.sentence,
                standing: sections::standing(change, page.thresholds.kind),
            }),
            neighbours: &row.neighbours,
        });
        let steps = page.thresholds.steps.iter().map(|step| StepView {
            p: step.p,
            words: super::text::p_value(step.p),
            cut: step.cut,
            sentence: page.thresholds.consequence(step),
            drift: page.drift.as_ref().map(|drift| drift.flagged(&page.thresholds, step)),
        });
        let letters =
            page.title.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
        let stem: String = letters.take(60).collect();
        let stem =
            stem.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-").to_lowercase();
        Self {
            columns: columns.collect(),
            rows: rows.collect(),
            groups,
            steps: steps.collect(),
            start: page.thresholds.start,
            map: &page.map,
            export: format!("{}.csv", if stem.is_empty() { "odd-rows" } else { &stem }),
        }
    }
}
