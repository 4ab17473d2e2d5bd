//! The oddest rows, and the map that shows them among ordinary ones.

use super::fill::Filling;
use super::neighbours::Neighbours;
use super::sample::{Sample, is_category};
use lossdepth::data::ColumnKind;
use lossdepth::outliers::{Change, Outlier};
use lossdepth_plot::report::{Counterfactual, Map, MapAxis, Neighbour, OddRow, Reason, sample_ordinary};

/// How many ordinary rows are on the map, and how many columns to choose from for its axes.
const POINTS: usize = 1500;
const AXES: usize = 12;

/// The oddest rows; `places` are theirs in the sample.
pub(super) fn rows(
    filling: &Filling<'_>,
    data: Sample<'_>,
    places: &[usize],
    names: &Names<'_>,
) -> Vec<OddRow> {
    let own = filling.inputs.is_its_own_reference();
    let neighbours = own.then(|| Neighbours::new(data, &filling.found.percentiles));
    let neighbour = |at: usize| Neighbour { name: names.of(at), cells: data.cells(at) };
    let odd = |(row, &at): (&Outlier, &usize)| OddRow {
        name: names.of(at),
        row: row.row as u64,
        depth: row.fit.depth,
        error: row.fit.error,
        stderr: Some(row.fit.stderr).filter(|stderr| stderr.is_finite()),
        p_value: row.p,
        percentile: row.percentile,
        cells: data.cells(at),
        reasons: reasons(row),
        contributions: row.contributions.clone(),
        counterfactual: counterfactual(&row.changes),
        neighbours: neighbours.iter().flat_map(|found| found.of(at)).map(neighbour).collect(),
    };
    filling.found.found.iter().zip(places).map(odd).collect()
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

fn counterfactual(changes: &[Change]) -> Option<Counterfactual> {
    let one = |change: &Change| {
        let from = if change.from == "gap" { "a gap" } else { &change.from };
        format!("{} {} instead of {from}", change.name, change.to)
    };
    let all: Vec<String> = changes.iter().map(one).collect();
    let (last, rest) = all.split_last()?;
    let list = if rest.is_empty() { last.clone() } else { format!("{} and {last}", rest.join(", ")) };
    let columns = changes.iter().map(|change| change.column).collect();
    Some(Counterfactual { columns, sentence: format!("Would be ordinary with {list}.") })
}

/// Ordinary rows and the oddest along the columns that say most about these; none without two columns of numbers.
pub(super) fn map(
    filling: &Filling<'_>,
    data: Sample<'_>,
    places: &[usize],
    names: &Names<'_>,
) -> Option<Map> {
    let columns = data.encoding.columns();
    let total = |column: usize| {
        let bits = filling.found.found.iter().map(|row| row.contributions[column].max(0.0));
        bits.sum::<f64>()
    };
    let mut chosen: Vec<(f64, usize)> = (0..columns.len())
        .filter(|&column| !is_category(&columns[column]) && !filling.masks.has(columns[column].name()))
        .map(|column| (total(column), column))
        .collect();
    chosen.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    chosen.truncate(AXES);
    if chosen.len() < 2 {
        return None;
    }
    let depths: Vec<f64> = filling.found.fits.iter().map(|fit| fit.depth).collect();
    let ordinary = sample_ordinary(&depths, places, POINTS);
    let axis = |&(_, column): &(f64, usize)| {
        let values = data.numbers(column);
        let at = |rows: &[usize]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let make = if columns[column].kind() == ColumnKind::Time { MapAxis::dates } else { MapAxis::new };
        make(columns[column].name(), &at(&ordinary), &at(places)).of_column(column)
    };
    Some(Map {
        axes: chosen.iter().map(axis).collect(),
        start: [0, 1],
        percentiles: ordinary.iter().map(|&at| filling.found.percentiles[at]).collect(),
        names: ordinary.iter().map(|&at| names.of(at)).collect(),
        of: (depths.len() - places.len()) as u64,
    })
}

/// What rows are called.
pub(super) struct Names<'a> {
    /// Their ids, if there are some and they may be written.
    pub(super) ids: Option<&'a [String]>,
    pub(super) numbers: &'a [usize],
}

impl Names<'_> {
    fn of(&self, at: usize) -> String {
        let id = self.ids.and_then(|ids| ids.get(at)).filter(|id| !id.trim().is_empty());
        id.cloned().unwrap_or_else(|| format!("row {}", self.numbers[at]))
    }
}
