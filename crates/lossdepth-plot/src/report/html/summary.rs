//! The top of the page: what was compared, the oddest rows with what would make them ordinary, how sure that is, what to do next.

use super::escape::{Name, Sentence};
use crate::report::groups::AlikeRows;
use crate::report::text::{count, counted, listed, percent};
use crate::report::{Bounded, PValues};
use std::fmt::Write;

/// How many rows are named at the top.
const FIRST: usize = 3;

/// A change of more columns is told with the row only.
const CHANGES: usize = 3;

/// The summary: paragraphs, and a list of the oddest rows.
pub(super) fn summary(out: &mut String, bounded: &Bounded, groups: &[AlikeRows]) {
    let _ = write!(out, "<p class=\"summary\">{}</p>", compared(bounded));
    let rest = [certainty(bounded), changed(bounded), recurring(bounded, groups)];
    out.push_str(&first_rows(bounded));
    for sentence in rest.iter().filter(|sentence| !sentence.is_empty()) {
        let _ = write!(out, "<p class=\"summary\">{sentence}</p>");
    }
}

fn compared(bounded: &Bounded) -> String {
    let page = &bounded.page;
    let columns = counted(bounded.compared, "column", "columns");
    let rows = counted(page.data.rows, "row", "rows");
    let with = match &page.reference {
        None => "each other".to_owned(),
        Some(reference) => {
            format!("the {} of {}", counted(reference.rows, "row", "rows"), Name(&reference.name))
        }
    };
    // Who looks a row up in the file has to know how rows without a name are counted.
    let numbered = page.rows.iter().take(FIRST).any(|row| row.name == format!("row {}", row.row));
    format!(
        "The {rows} of {} were compared with {with} in {columns}{}.",
        Name(&page.data.name),
        if numbered { "; the first row is row 0" } else { "" }
    )
}

/// The oddest rows: why, and what would make them ordinary.
fn first_rows(bounded: &Bounded) -> String {
    let mut out = String::new();
    for (row, leads) in bounded.page.rows.iter().zip(&bounded.leads).take(FIRST) {
        let _ = write!(out, "<li><strong>{}</strong>: ", Name(&row.name));
        if let Some((reason, lead)) = row.reasons.first().zip(leads.first()) {
            let lead = if lead.is_empty() { String::new() } else { format!("{}, ", Sentence(lead)) };
            let _ = write!(out, "{lead}{}.", Sentence(&reason.sentence));
        }
        // A long list of changes helps nobody here: the row is odd as a whole.
        if let Some(change) = row.counterfactual.as_ref().filter(|change| change.columns.len() <= CHANGES) {
            let _ = write!(out, " <span class=\"soft\">{}</span>", Sentence(&change.sentence));
        }
        out.push_str("</li>");
    }
    if out.is_empty() {
        out
    } else {
        format!("<ol class=\"first\" aria-label=\"The oddest rows\">{out}</ol>")
    }
}

/// How sure it is that the flagged rows are wrong, and what to do next.
fn certainty(bounded: &Bounded) -> String {
    let thresholds = &bounded.page.thresholds;
    let Some(step) = thresholds.steps.get(thresholds.start) else { return String::new() };
    let sure = match (thresholds.kind, step.fdr) {
        (PValues::Calibrated, Some(fdr)) => {
            let chance = thresholds.chance_in_words(step);
            let flagged = format!(
                "{} flagged where chance alone would flag {chance}",
                counted(step.flagged, "row is", "rows are")
            );
            let verdict = if thresholds.is_chance(step) {
                "that is no sign of a change".to_owned()
            } else {
                format!("expect up to {} of them to be false alarms", percent(fdr))
            };
            format!("How sure: {flagged}; {verdict}.")
        }
        _ => {
            "How sure: every table has oddest rows, whether they are wrong or not; the reasons say what to check.".to_owned()
        }
    };
    let rows = match step.flagged.min(bounded.page.rows.len() as u64) {
        1 => "the flagged row".to_owned(),
        some => format!("the {} flagged rows", count(some)),
    };
    format!("{sure} Next: check <a href=\"#rows\">{rows}</a>, the oddest first.")
}

/// What changed since the reference.
fn changed(bounded: &Bounded) -> String {
    let page = &bounded.page;
    let Some(drift) = &page.drift else { return String::new() };
    match drift.beyond_chance().first().and_then(|most| Some((most, page.columns.get(most.column)?))) {
        Some((most, column)) => format!(
            "<a href=\"#drift\">What changed most</a> since {} is {}: {}.",
            page.reference.as_ref().map_or_else(|| "then".to_owned(), |other| Name(&other.name).to_string()),
            Name(&column.name),
            Sentence(&most.sentence)
        ),
        None => "<a href=\"#drift\">No column changed</a> by more than chance explains.".to_owned(),
    }
}

/// What recurs among the oddest rows, and what was noticed about the data.
fn recurring(bounded: &Bounded, groups: &[AlikeRows]) -> String {
    let page = &bounded.page;
    let mut data = Vec::new();
    if page.data.gaps > 0 {
        data.push(counted(page.data.gaps, "gap", "gaps"));
    }
    if page.data.repeated > 0 {
        data.push(counted(page.data.repeated, "repeated row", "repeated rows"));
    }
    // How a file was read is no problem of a column.
    let suspicious = page.findings.iter().filter(|finding| !finding.columns.is_empty()).count();
    if suspicious > 0 {
        data.push(counted(suspicious as u64, "suspicious finding", "suspicious findings"));
    }
    let data: Vec<&str> = data.iter().map(String::as_str).collect();
    let mut sentences = Vec::new();
    if !groups.is_empty() {
        let alike = groups.iter().take(3).map(|group| {
            format!("{} ({})", Sentence(&group.title), counted(group.rows.len() as u64, "row", "rows"))
        });
        let alike = alike.collect::<Vec<_>>().join("; ");
        let rows = count(page.rows.len() as u64);
        sentences.push(format!("<a href=\"#groups\">What recurs</a> among the {rows} oddest: {alike}."));
    }
    if !data.is_empty() {
        sentences.push(format!("Noticed in <a href=\"#data\">the data</a>: {}.", listed(&data, 5)));
    }
    sentences.join(" ")
}
