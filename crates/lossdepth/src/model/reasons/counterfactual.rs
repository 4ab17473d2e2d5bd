//! The smallest change that makes a row ordinary, (E10).

use super::game::Game;
use super::search::{Ground, Repair};
use crate::error::Result;

/// A row like the one explained that is ordinary at a given level.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterfactual {
    /// The encoded row after the change.
    pub row: Vec<f64>,
    /// The original columns that were changed, increasing; none if the row is ordinary as it is.
    pub columns: Vec<usize>,
    /// The depth of the changed row.
    pub depth: f64,
    /// The share of the reference that is at most as deep as the changed row.
    pub percentile: f64,
    /// The percentile to be exceeded.
    pub target: f64,
    /// Whether it is.
    pub met: bool,
}

/// The change of fewest columns found whose percentile is above `target`; the deepest of these.
pub(super) fn counterfactual(
    ground: &Ground<'_>,
    z: &[f64],
    repair: &Repair,
    game: &Game,
    target: f64,
    most: usize,
) -> Result<Counterfactual> {
    let players = game.columns.len();
    let reaches = |depth: f64| ground.scale.percentile(depth) > target;
    let changed = |set: usize| players - set.count_ones() as usize;
    let sets = || (0..game.depths.len()).filter(|set| changed(*set) <= most);
    let better = |a: &usize, b: &usize| {
        let (fewer, deeper) = (changed(*b).cmp(&changed(*a)), game.depths[*a].total_cmp(&game.depths[*b]));
        fewer.then(deeper).then(b.cmp(a))
    };
    let found = sets().filter(|set| reaches(game.depths[*set])).max_by(better);
    let part = |set: usize| {
        let kept = |player: &usize| set >> player & 1 == 0;
        let changed = (0..players).filter(kept).map(|player| game.columns[player]).collect();
        let depth = game.depths[set];
        Repair { row: Game::row(ground, z, repair, set), changed, depth, bits: game.values[set] }
    };
    let best = if let Some(set) = found {
        part(set)
    } else {
        match toward_ordinary(ground, z, repair, &reaches)? {
            Some(far) if far.changed.len() <= most => far,
            _ => {
                let deepest =
                    sets().max_by(|a, b| game.depths[*a].total_cmp(&game.depths[*b]).then(b.cmp(a)));
                part(deepest.unwrap_or(game.depths.len() - 1))
            }
        }
    };
    let percentile = ground.scale.percentile(best.depth);
    let (columns, depth, met) = (best.changed, best.depth, percentile > target);
    Ok(Counterfactual { row: best.row, columns, depth, percentile, target, met })
}

/// Replaces more columns than the repair: from similar rows that reach the target back towards the repair and the row.
fn toward_ordinary(
    ground: &Ground<'_>,
    z: &[f64],
    repair: &Repair,
    reaches: &impl Fn(f64) -> bool,
) -> Result<Option<Repair>> {
    let mut best: Option<Repair> = None;
    for i in ground.similar(&repair.row, reaches) {
        let ordinary = ground.pool.rows().row(i);
        let depth = ground.pool_depths[i];
        let whole =
            Repair { row: ordinary.to_vec(), changed: Vec::new(), depth, bits: ground.scale.bits(depth) };
        let path = ground.restore(&repair.row, i)?;
        for step in std::iter::once(whole).chain(path).filter(|step| reaches(step.depth)) {
            let differs = |j: &usize| ground.columns[*j].take(&step.row) != ground.columns[*j].take(z);
            let changed: Vec<usize> = (0..ground.columns.len()).filter(differs).collect();
            if best.as_ref().is_none_or(|best| changed.len() < best.changed.len()) {
                best = Some(Repair { changed, ..step });
            }
        }
    }
    let Some(mut best) = best else { return Ok(None) };
    if best.changed.len() > ground.searched_columns() {
        best = restore_least_different(ground, z, &best, reaches)?;
    }
    if best.changed.len() > ground.searched_columns() {
        return Ok(Some(best));
    }
    // Backward elimination: columns of the row go back while the target is still reached.
    while best.changed.len() > 1 {
        let fewer = ground.without_one(z, &best)?;
        let deepest = fewer.into_iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
        let Some(deepest) = deepest.filter(|one| reaches(one.depth)) else { break };
        best = deepest;
    }
    Ok(Some(best))
}

/// Puts columns of `z` back in which the repair differs least from it, as many as leave the target reached; by bisection, since
/// wide tables have too many to try each.
fn restore_least_different(
    ground: &Ground<'_>,
    z: &[f64],
    repair: &Repair,
    reaches: &impl Fn(f64) -> bool,
) -> Result<Repair> {
    let mut columns = repair.changed.clone();
    ground.sort_by_difference(&mut columns, z, &[&repair.row]);
    let (mut best, mut fails) = (repair.clone(), 0);
    while best.changed.len() > fails + 1 {
        let kept = usize::midpoint(best.changed.len(), fails);
        let mut row = repair.row.clone();
        for &j in &columns[kept..] {
            ground.columns[j].put(&mut row, &ground.columns[j].take(z));
        }
        let depth = ground.depths(&row)?[0];
        if reaches(depth) {
            let mut changed = columns[..kept].to_vec();
            changed.sort_unstable();
            best = Repair { row, changed, depth, bits: ground.scale.bits(depth) };
        } else {
            fails = kept;
        }
    }
    Ok(best)
}
