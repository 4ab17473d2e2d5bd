//! The rows in a map: sorted by their labels, and those that stand out.

use super::words::percent;
use super::work::Work;
use crate::error::Result;
use lossdepth::model::Percentiles;
use lossdepth_plot::{MAX_KINDS, Mark, Plane, Points};
use std::collections::BTreeMap;

/// Rows that stand out in a map.
pub(super) struct OddRows {
    pub(super) marked: Option<Points>,
    pub(super) labels: Vec<([f64; 2], String)>,
}

impl Work<'_> {
    /// The rows, sorted by their labels: the most frequent first.
    pub(super) fn points(&self, plane: &Plane) -> Result<Vec<Points>> {
        let data = self.inputs.data.part()?;
        let at =
            |rows: &[usize]| rows.iter().map(|i| plane.coordinates(data.rows.row(*i))).collect::<Vec<_>>();
        let Some(labels) = data.labels else {
            let all: Vec<usize> = (0..data.rows.len()).collect();
            return Ok(vec![Points { name: None, at: at(&all), mark: Mark::Kind(0) }]);
        };
        let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, label) in labels.iter().enumerate() {
            found.entry(label).or_default().push(i);
        }
        let mut kinds: Vec<(&str, Vec<usize>)> = found.into_iter().collect();
        kinds.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
        if kinds.len() > MAX_KINDS {
            let others: Vec<usize> = kinds.drain(MAX_KINDS - 1..).flat_map(|(_, rows)| rows).collect();
            kinds.push(("others", others));
        }
        // The formats that name a label themselves call it so.
        let column = self.args.asked.roles.label.as_deref().unwrap_or("y");
        let points = |(kind, (label, rows)): (usize, &(&str, Vec<usize>))| Points {
            name: Some(format!("{column}: {label} ({})", rows.len())),
            at: at(rows),
            mark: Mark::Kind(kind),
        };
        Ok(kinds.iter().enumerate().map(points).collect())
    }

    /// Which rows are marked as outliers, and which have their names written beside them.
    pub(super) fn odd_rows(&self, plane: &Plane, shares: &Percentiles, depths: &[f64]) -> Result<OddRows> {
        let data = self.inputs.data.part()?;
        let at = |row: usize| plane.coordinates(data.rows.row(row));
        let mut order: Vec<usize> = (0..depths.len()).collect();
        order.sort_by(|a, b| depths[*a].total_cmp(&depths[*b]));
        let share = self.args.contamination;
        let outlying = order.iter().filter(|row| share > 0.0 && shares.of(depths[**row]) <= share);
        let outlying: Vec<[f64; 2]> = outlying.map(|row| at(*row)).collect();
        let name = format!("outliers: oddest {} ({})", percent(share), outlying.len());
        let marked =
            (!outlying.is_empty()).then_some(Points { name: Some(name), at: outlying, mark: Mark::Ring });
        let written =
            |row: usize| data.ids.map_or_else(|| data.numbers[row].to_string(), |ids| ids[row].clone());
        let labels = order.iter().take(self.args.top).map(|row| (at(*row), written(*row))).collect();
        Ok(OddRows { marked, labels })
    }
}
