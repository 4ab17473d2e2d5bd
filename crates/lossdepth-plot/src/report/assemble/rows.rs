//! The oddest rows.

use super::Assembly;
use super::neighbours::Neighbours;
use super::sample::Sample;
use crate::report::text::percent;
use crate::report::{Counterfactual, Neighbour, OddRow, Reason};
use lossdepth::outliers::Outlier;

/// The oddest rows; `places` are theirs in the sample.
pub(super) fn rows(assembly: &Assembly<'_>, data: Sample<'_>, places: &[usize]) -> Vec<OddRow> {
    let neighbours = Neighbours::new(data, &assembly.found.percentiles);
    let neighbour = |at: usize| Neighbour { name: assembly.row_name(at), cells: data.cells(at) };
    let odd = |(row, &at): (&Outlier, &usize)| OddRow {
        name: assembly.row_name(at),
        row: row.row as u64,
        depth: row.fit.depth,
        error: row.fit.error,
        stderr: Some(row.fit.stderr).filter(|stderr| stderr.is_finite()),
        p_value: row.p,
        percentile: row.percentile,
        cells: data.cells(at),
        reasons: reasons(row),
        contributions: row.contributions.clone(),
        counterfactual: counterfactual(row, assembly.queries.own),
        neighbours: neighbours.of(at).into_iter().map(neighbour).collect(),
    };
    assembly.found.found.iter().zip(places).map(odd).collect()
}

fn reasons(row: &Outlier) -> Vec<Reason> {
    let said = row.reasons.iter();
    let said: Vec<Reason> =
        said.map(|reason| Reason { columns: vec![reason.column], sentence: reason.text.clone() }).collect();
    if !said.is_empty() {
        return said;
    }
    vec![Reason { columns: Vec::new(), sentence: "no single column stands out".to_owned() }]
}

fn counterfactual(row: &Outlier, own: bool) -> Option<Counterfactual> {
    let one = |change: &lossdepth::outliers::Change| {
        let from = if change.from == "gap" { "a gap" } else { &change.from };
        format!("{} {} instead of {from}", change.name, change.to)
    };
    let all: Vec<String> = row.changes.iter().map(one).collect();
    let (last, rest) = all.split_last()?;
    let (depth, percentile) = row.changed?;
    let list = if rest.is_empty() { last.clone() } else { format!("{} and {last}", rest.join(", ")) };
    let among = if own { "of all rows" } else { "of the reference" };
    Some(Counterfactual {
        columns: row.changes.iter().map(|change| change.column).collect(),
        values: row.changes.iter().map(|change| change.to.clone()).collect(),
        depth,
        percentile,
        sentence: format!(
            "Would be ordinary with {list}: at least as deep as {} {among}.",
            percent(percentile)
        ),
    })
}
