//! Changed rows as they are read once the change is written into the table.

use super::numbers::to_decimals;
use super::words::{Words, is_category, misspelt};
use super::{Queries, coordinates, is_gap, reasons_rows};
use crate::data::{ColumnKind, Rows};
use crate::error::Result;
use crate::model::reasons::Counterfactual;
use crate::model::{Explainer, Model, Reasons};
use crate::problem::Run;

/// Scores the changes again as they would be written, and keeps those that make their row ordinary.
///
/// Written are numbers with the decimals of their column, whole days or seconds, and the level that a misspelt one looks like where that will do. What is
/// still a gap is filled in anew: the most similar reference row may be another one after the change.
pub(super) fn score_as_written(
    queries: Queries<'_>,
    rows: &[usize],
    found: &mut [Reasons],
    model: &Model,
    explainer: &Explainer<'_>,
    run: &Run<'_>,
) -> Result<()> {
    let (mut owners, mut values) = (Vec::new(), Vec::new());
    for (at, words) in reasons_rows(queries, rows, found).enumerate() {
        let change = found[at].counterfactual.as_ref();
        let Some(change) = change.filter(|change| change.met && !change.columns.is_empty()) else { continue };
        let respelt = words.respelt(change, model.reference().rows());
        // A row that stays odd with the level that was meant has no short way to be ordinary.
        let as_found = (!words.contradicts(change)).then(|| change.row.clone());
        let as_written = respelt.iter().chain(&as_found).map(|row| words.written(change, row.clone()));
        // Rounding may break what columns determine each other by: then the change as it was found has to do.
        for row in as_written.chain(as_found.clone()) {
            owners.push(at);
            values.extend(row);
        }
    }
    if owners.is_empty() {
        return Ok(());
    }
    let candidates = Rows::new(&values, queries.rows.width())?;
    let fits = model.score(candidates, run)?;
    let mut met = vec![false; found.len()];
    for ((&at, row), fit) in owners.iter().zip(candidates.iter()).zip(&fits) {
        let Some(change) = found[at].counterfactual.as_mut().filter(|_| !met[at]) else { continue };
        let (percentile, _) = explainer.standing(fit.depth);
        met[at] = percentile > change.target;
        let row = row.to_vec();
        *change = Counterfactual { row, depth: fit.depth, percentile, met: met[at], ..change.clone() };
    }
    Ok(())
}

impl Words<'_> {
    /// A changed row with the levels that misspelt ones look like instead of others; `None` if there are none.
    fn respelt(&self, change: &Counterfactual, sample: Rows<'_>) -> Option<Vec<f64>> {
        let mut row = change.row.clone();
        for &column in &change.columns {
            let (learned, range) = (self.column(column), coordinates(self.queries.encoding, column));
            let similar = misspelt(learned, &self.value(column));
            let Some(level) = learned.levels().iter().find(|level| similar == Some(&level.name)) else {
                continue;
            };
            let at = range.start + level.coordinate;
            if let Some(same) = sample.iter().find(|row| row[at] != 0.0) {
                row[range.clone()].copy_from_slice(&same[range]);
            }
        }
        (row != change.row).then_some(row)
    }

    /// Whether a change takes another level than the one that a misspelt one looks like.
    fn contradicts(&self, change: &Counterfactual) -> bool {
        change.columns.iter().any(|&column| {
            let similar = misspelt(self.column(column), &self.value(column));
            similar.is_some_and(|level| level != self.encoded_value(column, &change.row))
        })
    }

    /// A changed row as it is encoded when it is read again.
    fn written(&self, change: &Counterfactual, mut row: Vec<f64>) -> Vec<f64> {
        for &column in &change.columns {
            let (learned, range) = (self.column(column), coordinates(self.queries.encoding, column));
            if let Some(value) = row.get_mut(range.start).filter(|_| !is_category(learned)) {
                *value = match learned.kind() {
                    ColumnKind::Time if learned.has_time_of_day() || learned.is_clock() => {
                        (*value * 86_400.0).round() / 86_400.0
                    }
                    ColumnKind::Time => value.floor(),
                    _ => to_decimals(*value, learned),
                };
            }
        }
        let left =
            self.notes.iter().filter(|note| is_gap(&note.what) && !change.columns.contains(&note.column));
        self.queries.encoding.refilled(row, &left.map(|note| note.column).collect::<Vec<_>>())
    }
}
