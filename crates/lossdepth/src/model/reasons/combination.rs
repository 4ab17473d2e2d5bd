//! Columns that are odd as a combination only, (E12).

use super::ColumnReason;
use super::game::Game;
use super::search::{Repair, Single};

/// Columns whose values are odd as a combination, not one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// The original columns, increasing.
    pub columns: Vec<usize>,
    /// How they belong together.
    pub kind: CombinationKind,
    /// The bits that the combination accounts for.
    pub outlyingness: f64,
}

/// How the columns of a [`Combination`] belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CombinationKind {
    /// They do not fit together: replacing any one of them makes the row ordinary.
    Either,
    /// One alone adds next to nothing to the repaired row, together they do.
    Together,
}

/// Pairs of replaced columns of which one alone adds less than a quarter of what both add.
pub(super) fn together(game: &Game, price: f64) -> Vec<Combination> {
    let mut found = Vec::new();
    let added = |set: usize| game.values[set] - game.values[0];
    for a in 0..game.columns.len() {
        for b in a + 1..game.columns.len() {
            let both = added(1 << a | 1 << b);
            if both > 2.0 * price && added(1 << a).max(added(1 << b)) < 0.25 * both {
                let columns = vec![game.columns[a], game.columns[b]];
                found.push(Combination { columns, kind: CombinationKind::Together, outlyingness: both });
            }
        }
    }
    found
}

/// Columns that make the row ordinary when any one of them is replaced, none of which is extreme by itself.
pub(super) fn either(
    columns: &[ColumnReason],
    repair: &Repair,
    bits: f64,
    singles: &[Single],
    price: f64,
) -> Option<Combination> {
    let total = bits - repair.bits;
    if repair.changed.len() != 1 || total < 2.0 * price {
        return None;
    }
    let inside = |column: usize| {
        let facts = columns.iter().find(|reason| reason.column == column).map(|reason| reason.facts);
        facts.is_some_and(|f| {
            f.quantiles.is_none() || (f.below + f.equal).min(f.above + f.equal) > 0.01 * f.total
        })
    };
    let enough = |single: &&Single| bits - single.bits >= 0.75 * total && inside(single.column);
    let mut found: Vec<usize> = singles.iter().filter(enough).map(|single| single.column).collect();
    found.sort_unstable();
    (found.len() > 1).then_some(Combination {
        columns: found,
        kind: CombinationKind::Either,
        outlyingness: total,
    })
}
