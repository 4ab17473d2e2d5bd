//! The oddest rows.

use super::Assembly;
use super::neighbours::Neighbours;
use super::sample::Sample;
use crate::report::text::listed;
use crate::report::{Counterfactual, Neighbour, OddRow, Reason};
use lossdepth::outliers::{Outlier, WordedReason};

/// How many changes a sentence lists.
const CHANGES: usize = 4;

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
        counterfactual: counterfactual(assembly, row),
        neighbours: neighbours.of(at).into_iter().map(neighbour).collect(),
    };
    assembly.found.found.iter().zip(places).map(odd).collect()
}

fn reasons(row: &Outlier) -> Vec<Reason> {
    let columns = |reason: &WordedReason| [&[reason.column], &reason.beside[..]].concat();
    let said = |reason| Reason { columns: columns(reason), sentence: reason.text.clone() };
    let said: Vec<Reason> = row.reasons.iter().map(said).collect();
    if !said.is_empty() {
        return said;
    }
    vec![Reason { columns: Vec::new(), sentence: "no single column stands out".to_owned() }]
}

fn counterfactual(assembly: &Assembly<'_>, row: &Outlier) -> Option<Counterfactual> {
    let one = |change: &lossdepth::outliers::Change| {
        let from = if change.from == "gap" { "a gap" } else { &change.from };
        format!("{} {} instead of {from}", assembly.column_name(change.column), change.to)
    };
    let all: Vec<String> = row.changes.iter().map(one).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (depth, percentile) = row.changed.filter(|_| !all.is_empty())?;
    let list = listed(&all, CHANGES);
    Some(Counterfactual {
        columns: row.changes.iter().map(|change| change.column).collect(),
        values: row.changes.iter().map(|change| change.to.clone()).collect(),
        depth,
        percentile,
        sentence: format!("Would be ordinary with {list}."),
    })
}
