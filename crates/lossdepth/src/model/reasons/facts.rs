//! Where a value stands among those of the reference.

use super::columns::Column;
use crate::data::Reference;

/// Where the value of a row stands in its column of the reference, in observations: a row of weight $k$ counts $k$ times.
///
/// A row that is part of the reference is counted as well: a value that no other row has is `equal` to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnFacts {
    /// How many have a smaller number; 0 for a category.
    pub below: f64,
    /// How many have the same value.
    pub equal: f64,
    /// How many have a larger number; 0 for a category.
    pub above: f64,
    /// How many there are in all.
    pub total: f64,
    /// The 5 %, 50 % and 95 % quantiles of a number; `None` for a category.
    pub quantiles: Option<[f64; 3]>,
}

/// The facts of each column of a row.
pub(super) fn facts(
    columns: &[Column],
    quantiles: &[Option<[f64; 3]>],
    sample: &Reference,
    z: &[f64],
) -> Vec<ColumnFacts> {
    let total = sample.observations();
    let mut found: Vec<ColumnFacts> = quantiles
        .iter()
        .map(|&quantiles| ColumnFacts { below: 0.0, equal: 0.0, above: 0.0, total, quantiles })
        .collect();
    for (row, weight) in sample.rows().iter().zip(sample.weights()).filter(|(_, weight)| **weight > 0.0) {
        for (column, fact) in columns.iter().zip(&mut found) {
            let share = weight * total;
            match column.number {
                Some(at) if row[at] < z[at] => fact.below += share,
                Some(at) if row[at] > z[at] => fact.above += share,
                Some(_) => fact.equal += share,
                None if column.encoded.iter().all(|&at| row[at] == z[at]) => fact.equal += share,
                None => {}
            }
        }
    }
    // Counts are whole numbers but for rounding; with weights of importance they need not be.
    for fact in &mut found {
        for count in [&mut fact.below, &mut fact.equal, &mut fact.above] {
            if (*count - count.round()).abs() < 1e-6 {
                *count = count.round();
            }
        }
    }
    found
}

/// The 5 %, 50 % and 95 % quantiles of each number column.
pub(super) fn quantiles(columns: &[Column], sample: &Reference) -> Vec<Option<[f64; 3]>> {
    let of = |column: &Column| {
        let at = column.number?;
        let weighted = sample.rows().into_iter().zip(sample.weights());
        let mut pairs: Vec<(f64, f64)> =
            weighted.filter(|(_, w)| **w > 0.0).map(|(row, w)| (row[at], *w)).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let quantile = |level: f64| {
            let mut sum = 0.0;
            let reached = pairs.iter().find(|(_, weight)| {
                sum += weight;
                sum >= level * (1.0 - 1e-12)
            });
            reached.or(pairs.last()).map_or(f64::NAN, |pair| pair.0)
        };
        Some([0.05, 0.5, 0.95].map(quantile))
    };
    columns.iter().map(of).collect()
}
