//! The parts of the page that are words and tables.

use super::charts;
use super::escape::{Name, Sentence, Text};
use crate::report::groups::AlikeRows;
use crate::report::page::{Fact, OddRow};
use crate::report::text::{count, counted, listed, number, p_value, percent};
use crate::report::{Bounded, PValues};
use std::fmt::Write;

/// The summary: a paragraph each.
pub(super) fn summary(bounded: &Bounded, groups: &[AlikeRows]) -> Vec<String> {
    let page = &bounded.page;
    let columns = counted(bounded.compared, "column", "columns");
    let rows = counted(page.data.rows, "row", "rows");
    let mut sentences = vec![match &page.reference {
        None => {
            format!("The {rows} of {} were compared with each other in {columns}.", Name(&page.data.name))
        }
        Some(reference) => format!(
            "The {rows} of {} were compared with the {} of {} in {columns}.",
            Name(&page.data.name),
            counted(reference.rows, "row", "rows"),
            Name(&reference.name)
        ),
    }];
    if let Some((row, leads)) = page.rows.first().zip(bounded.leads.first()) {
        let mut sentence =
            format!("The oddest is <strong>{}</strong> (p\u{a0}{})", Name(&row.name), p_value(row.p_value));
        if let Some((reason, lead)) = row.reasons.first().zip(leads.first()) {
            let lead = if lead.is_empty() { String::new() } else { format!("{}, ", Sentence(lead)) };
            let _ = write!(sentence, ": {lead}{}", Sentence(&reason.sentence));
        }
        sentences[0].push(' ');
        sentences[0].push_str(&sentence);
        sentences[0].push('.');
    }
    if let Some(drift) = &page.drift {
        let beyond = drift.beyond_chance();
        sentences.push(match beyond.first().and_then(|most| Some((most, page.columns.get(most.column)?))) {
            Some((most, column)) => format!(
                "<a href=\"#drift\">What changed most</a> since {} is {}: {}.",
                page.reference
                    .as_ref()
                    .map_or_else(|| "then".to_owned(), |other| Name(&other.name).to_string()),
                Name(&column.name),
                Sentence(&most.sentence)
            ),
            None => "<a href=\"#drift\">No column changed</a> by more than chance explains.".to_owned(),
        });
    }
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
    let mut second = String::new();
    if !groups.is_empty() {
        let alike: Vec<String> = groups
            .iter()
            .take(3)
            .map(|group| {
                format!("{} ({})", Sentence(&group.title), counted(group.rows.len() as u64, "row", "rows"))
            })
            .collect();
        let _ = write!(
            second,
            "What recurs among the {} oddest: {}.",
            count(page.rows.len() as u64),
            alike.join("; ")
        );
    }
    if !data.is_empty() {
        let space = if second.is_empty() { "" } else { " " };
        let _ = write!(second, "{space}On the way: <a href=\"#data\">{}</a>.", listed(&data, 5));
    }
    if !second.is_empty() {
        sentences.push(second);
    }
    sentences
}

/// Groups of rows with the same main reason.
pub(super) fn groups(out: &mut String, bounded: &Bounded, groups: &[AlikeRows]) {
    if groups.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"groups\" aria-labelledby=\"groups-h\"><h2 id=\"groups-h\">Odd in the same way</h2><ul class=\"groups\">",
    );
    for (index, group) in groups.iter().take(12).enumerate() {
        let _ = write!(
            out,
            "<li><span class=\"count\">{}</span><p><strong>{}</strong><span class=\"more\">{}</span></p>\
             <button type=\"button\" class=\"quiet\" data-group=\"{index}\" aria-label=\"Show rows where {}\" hidden>\
             Show rows</button></li>",
            counted(group.rows.len() as u64, "row", "rows"),
            Sentence(&group.title),
            Sentence(&group.detail),
            Text(&group.title)
        );
    }
    out.push_str("</ul>");
    let together: usize = groups.iter().take(12).map(|group| group.rows.len()).sum();
    let single = bounded.page.rows.len() - together;
    if single > 0 {
        let _ = write!(
            out,
            "<p class=\"note\">{} of the rows listed {} odd in {} own way.</p>",
            count(single as u64),
            if single == 1 { "is" } else { "are" },
            if single == 1 { "its" } else { "their" }
        );
    }
    out.push_str("</section>");
}

/// The table of odd rows.
pub(super) fn rows(out: &mut String, bounded: &Bounded) {
    let rows = &bounded.page.rows;
    // The p-value of a row among all rows is its percentile.
    let ranks = bounded.page.thresholds.kind == PValues::Ranks;
    let _ = write!(
        out,
        "<div class=\"scroll\" id=\"rows-scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of the oddest rows\">\
         <table id=\"rows-table\"><caption class=\"sr\">The {} oddest of {}, the oddest first</caption>\
         <thead><tr><th scope=\"col\" class=\"mark\" hidden><span class=\"sr\">Mark for export</span></th>\
         <th scope=\"col\" class=\"num\" data-sort=\"rank\">#</th>\
         <th scope=\"col\" data-sort=\"name\">Row</th><th scope=\"col\" class=\"num\" data-sort=\"p_value\">p-value</th>\
         <th scope=\"col\" class=\"num\" data-sort=\"{}\">{}</th>\
         <th scope=\"col\" data-sort=\"reason\">Why it is odd</th></tr></thead><tbody>",
        count(rows.len() as u64),
        counted(bounded.page.data.rows, "row", "rows"),
        if ranks { "depth" } else { "percentile" },
        if ranks { "Depth" } else { "Percentile" },
    );
    for (index, (row, leads)) in rows.iter().zip(&bounded.leads).enumerate() {
        let _ = write!(
            out,
            "<tr data-index=\"{index}\"{}><td class=\"mark\" hidden></td><td class=\"num rank\">{}</td>\
             <th scope=\"row\" class=\"name\">{}</th><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"why\">",
            if bounded.is_flagged(row) { " class=\"flagged\"" } else { "" },
            index + 1,
            Name(&row.name),
            p_value(row.p_value),
            if ranks { p_value(row.depth) } else { percent(row.percentile) }
        );
        reasons(out, row, leads);
        out.push_str("</td></tr>");
    }
    out.push_str("</tbody></table></div>");
    for note in &bounded.notes {
        let _ = write!(out, "<p class=\"note\">{}</p>", Text(note));
    }
}

fn reasons(out: &mut String, row: &OddRow, leads: &[String]) {
    if row.reasons.is_empty() {
        out.push_str("<span class=\"soft\">no single column stands out</span>");
        return;
    }
    out.push_str("<ul>");
    for (reason, lead) in row.reasons.iter().zip(leads).take(3) {
        out.push_str("<li>");
        if !lead.is_empty() {
            let _ = write!(out, "<strong>{}</strong> ", Sentence(lead));
        }
        let _ = write!(out, "<span>{}</span></li>", Sentence(&reason.sentence));
    }
    out.push_str("</ul>");
}

/// Sentences about the depth of a row.
pub(super) fn row_sentence(row: &OddRow, kind: PValues) -> String {
    let among = match kind {
        PValues::Calibrated => "of the reference",
        PValues::Ranks => "of all rows",
    };
    let spread = row
        .stderr
        .filter(|x| x.is_finite())
        .map_or(String::new(), |stderr| format!(" ± {} (standard error)", p_value(stderr)));
    let error = if row.error > 0.0 && row.error.is_finite() {
        format!("; computed to within {}", p_value(row.error))
    } else {
        String::new()
    };
    format!(
        "p {}. Depth {}{spread}: {} {among} {} at most as deep{error}.",
        p_value(row.p_value),
        number(row.depth),
        percent(row.percentile),
        if kind == PValues::Calibrated { "is" } else { "are" }
    )
}

/// What was compared, left out, and noticed.
pub(super) fn data(out: &mut String, bounded: &Bounded) {
    let page = &bounded.page;
    out.push_str("<section id=\"data\" aria-labelledby=\"data-h\"><h2 id=\"data-h\">The data</h2>");
    let source = &page.data;
    let _ = write!(
        out,
        "<p>{}: {} and {}, {} of them compared; {} and {} in the compared columns.</p>",
        Name(&source.name),
        counted(source.rows, "row", "rows"),
        counted(source.columns, "column", "columns"),
        count(bounded.compared),
        counted(source.repeated, "repeated row", "repeated rows"),
        counted(source.gaps, "gap", "gaps")
    );
    if let Some(source) = &page.reference {
        let _ = write!(
            out,
            "<p>Compared with {}: {}, {}, {}.</p>",
            Name(&source.name),
            counted(source.rows, "row", "rows"),
            counted(source.repeated, "repeated row", "repeated rows"),
            counted(source.gaps, "gap", "gaps")
        );
    }
    if !page.findings.is_empty() {
        out.push_str("<h3>Worth a look</h3><ul class=\"findings\">");
        for finding in &page.findings {
            let _ = write!(out, "<li>{}</li>", Sentence(&finding.sentence));
        }
        out.push_str("</ul>");
    }
    out.push_str(
        "<h3 id=\"columns-h\">Compared columns</h3><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"columns-h\">\
         <table class=\"columns\"><thead><tr><th scope=\"col\">Column</th><th scope=\"col\">Read as</th>\
         <th scope=\"col\" class=\"num\">Gaps</th><th scope=\"col\">Distribution</th>\
         <th scope=\"col\">Usual (nine in ten, or the most frequent)</th></tr></thead><tbody>",
    );
    for column in &page.columns {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"num\">{}</td><td>{}</td><td>{}</td></tr>",
            Name(&column.name),
            Text(&column.kind),
            if column.gaps == 0 { "–".to_owned() } else { count(column.gaps) },
            charts::sparkline(&column.distribution),
            Sentence(&column.usual)
        );
    }
    out.push_str("</tbody></table></div>");
    if !page.left_out.is_empty() {
        out.push_str("<h3>Left out</h3><dl class=\"facts\">");
        for column in &page.left_out {
            let _ =
                write!(out, "<div><dt>{}</dt><dd>{}</dd></div>", Name(&column.name), Sentence(&column.why));
        }
        out.push_str("</dl>");
    }
    out.push_str("</section>");
}

/// How it was computed, and how to read it.
pub(super) fn method(out: &mut String, bounded: &Bounded) {
    let method = &bounded.page.method;
    out.push_str("<section id=\"method\" aria-labelledby=\"method-h\"><h2 id=\"method-h\">Method</h2>");
    for sentence in &method.sentences {
        let _ = write!(out, "<p>{}</p>", Sentence(sentence));
    }
    out.push_str(
        "<h3>How to read the numbers</h3><dl class=\"terms\">\
         <div><dt>Depth</dt><dd>How hard the row is to tell apart from the others by the best classifier of its kind: 1 is \
         impossible, 0 is easy. Odd rows are shallow.</dd></div>",
    );
    let (p, percentile) = match bounded.page.thresholds.kind {
        PValues::Calibrated => (
            "The probability that a row drawn from where the reference came from is at least as odd as this one.",
            "The share of the reference that is at most as deep as the row.",
        ),
        PValues::Ranks => (
            "The row's rank among all rows, divided by their number: the chance that a row drawn from this table is at least as \
             odd. The oddest row of any table has the smallest p-value possible, so look at the reasons as well.",
            "The share of the rows that are at most as deep as this one.",
        ),
    };
    let _ = write!(
        out,
        "<div><dt>p-value</dt><dd>{p}</dd></div><div><dt>Percentile</dt><dd>{percentile}</dd></div>\
         <div><dt>Standard error</dt><dd>How much the depth would vary if the rows it is compared with were drawn again.</dd></div>\
         <div><dt>Share</dt><dd>How much of a row's oddness each column accounts for.</dd></div></dl>"
    );
    for (title, facts) in [("Settings", &method.settings), ("For an audit", &method.audit)] {
        if !facts.is_empty() {
            let _ = write!(out, "<h3>{title}</h3><dl class=\"facts\">");
            for Fact { name, value } in facts {
                let _ = write!(out, "<div><dt>{}</dt><dd>{}</dd></div>", Name(name), Name(value));
            }
            out.push_str("</dl>");
        }
    }
    out.push_str("</section>");
}
