//! The parts of the page that are words and tables.

use super::charts;
use super::escape::{Name, Sentence, Text};
use crate::report::groups::AlikeRows;
use crate::report::page::{Counterfactual, Fact, OddRow};
use crate::report::text::{count, counted, counted_or_no, depth, p_value, percent};
use crate::report::{Bounded, PValues};
use std::fmt::Write;

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
        format!(", computed to within {}", p_value(row.error))
    } else {
        String::new()
    };
    format!(
        "{} {among} {} at most as deep (p {}). Depth {}{spread}{error}.",
        percent(row.percentile),
        if kind == PValues::Calibrated { "is" } else { "are" },
        p_value(row.p_value),
        depth(row.depth),
    )
}

/// Where a changed row would be.
pub(super) fn standing(change: &Counterfactual, kind: PValues) -> String {
    let (share, depth) = (percent(change.percentile), depth(change.depth));
    match kind {
        PValues::Calibrated => {
            format!("Scored again: depth {depth}; {share} of the reference is at most as deep.")
        }
        PValues::Ranks => format!("Scored again: depth {depth}; {share} of all rows are at most as deep."),
    }
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
        counted_or_no(source.repeated, "repeated row", "repeated rows"),
        counted_or_no(source.gaps, "gap", "gaps")
    );
    if let Some(source) = &page.reference {
        let _ = write!(
            out,
            "<p>Compared with {}: {}, {}, {}.</p>",
            Name(&source.name),
            counted(source.rows, "row", "rows"),
            counted_or_no(source.repeated, "repeated row", "repeated rows"),
            counted_or_no(source.gaps, "gap", "gaps")
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
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"num{}\">{}</td><td>{}</td><td>{}</td></tr>",
            Name(&column.name),
            Text(&column.kind),
            if column.gaps == 0 { " none" } else { "" },
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
    // Some methods have none.
    let stderr = if bounded.page.rows.iter().any(|row| row.stderr.is_some()) {
        "<div><dt>Standard error</dt><dd>How much the depth would vary if the rows it is compared with were drawn again.</dd></div>"
    } else {
        ""
    };
    let _ = write!(
        out,
        "<div><dt>p-value</dt><dd>{p}</dd></div><div><dt>Percentile</dt><dd>{percentile}</dd></div>{stderr}\
         <div><dt>Share</dt><dd>How much of a row's oddness each column accounts for.</dd></div></dl>"
    );
    for (title, class, facts) in
        [("Settings", "facts brief", &method.settings), ("For an audit", "facts", &method.audit)]
    {
        if !facts.is_empty() {
            let _ = write!(out, "<h3>{title}</h3><dl class=\"{class}\">");
            for Fact { name, value } in facts {
                let _ = write!(out, "<div><dt>{}</dt><dd>{}</dd></div>", Name(name), Name(value));
            }
            out.push_str("</dl>");
        }
    }
    out.push_str("</section>");
}
