//! The typical distance of a row from its neighbours.

use super::bandwidth::subsample;
use crate::data::Reference;

/// Rows whose neighbours are searched, at most.
pub(super) const CENTRES: usize = 2048;

/// Rows among which neighbours are searched, at most.
pub(super) const NEIGHBOURS: usize = 32_768;

/// The median over the rows of the squared distance to the $\lceil \sqrt n \rceil$-th nearest other row.
///
/// `n` counts observations, so a row of weight $k$ is the same as $k$ copies, of which $k - 1$ are neighbours at distance 0.
/// Weights that are no counts are shares of $n$ rows. A row with that many copies of itself enters with its nearest different
/// row; 0 if all rows are equal.
pub(super) fn median_squared_distance(sample: &Reference) -> f64 {
    let (centres, masses) = subsample(sample, CENTRES);
    let (points, weights) = subsample(sample, NEIGHBOURS);
    median_of(sample.observations(), &masses, &weights, |take| points.for_each_query(centres.rows(), take))
}

/// The same for `n` observations, of centres and rows with these masses; `for_each_centre` calls its argument for each centre in
/// turn with its number and its squared distances to all rows.
pub(super) fn median_of(
    n: f64,
    masses: &[f64],
    weights: &[f64],
    for_each_centre: impl FnOnce(&mut dyn FnMut(usize, &mut [f64])),
) -> f64 {
    let share = n.sqrt().ceil().min(n - 1.0) / n;
    let mut medians: Vec<(f64, f64)> = Vec::with_capacity(masses.len());
    let mut near: Vec<(f64, f64)> = Vec::with_capacity(weights.len());
    for_each_centre(&mut |centre, squares| {
        near.clear();
        near.extend(squares.iter().copied().zip(weights.iter().copied()));
        // Rows here are distinct, so the one at distance 0 is the centre: its copies are neighbours, it is not.
        if let Some(own) = near.iter_mut().find(|(distance, _)| *distance == 0.0) {
            own.1 = (own.1 - 1.0 / n).max(0.0);
        }
        let distance = match weighted_quantile(&mut near, share) {
            0.0 => near.iter().map(|near| near.0).filter(|d| *d > 0.0).fold(f64::INFINITY, f64::min),
            distance => distance,
        };
        if distance.is_finite() {
            medians.push((distance, masses[centre]));
        }
    });
    let half = 0.5 * medians.iter().map(|(_, mass)| mass).sum::<f64>();
    if medians.is_empty() { 0.0 } else { weighted_quantile(&mut medians, half) }
}

/// The first value at which the cumulative mass is at least `target`, or the largest value.
pub(crate) fn weighted_quantile(pairs: &mut [(f64, f64)], target: f64) -> f64 {
    // Sums of masses have rounding errors.
    let target = target * (1.0 - 1e-9);
    first_value(pairs, |mass| mass >= target)
}

/// The first of some values, with masses, at which the cumulative mass is `enough`; or the largest.
pub(super) fn first_value(pairs: &mut [(f64, f64)], enough: impl Fn(f64) -> bool) -> f64 {
    // Bisects the list at its median.
    let (mut rest, mut sum) = (pairs, 0.0);
    loop {
        let middle = rest.len() / 2;
        let (below, &mut (value, mass), above) =
            rest.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0));
        let half: f64 = below.iter().map(|(_, mass)| mass).sum();
        if enough(sum + half) && !below.is_empty() {
            rest = below;
        } else if enough(sum + half + mass) || above.is_empty() {
            return value;
        } else {
            (rest, sum) = (above, sum + half + mass);
        }
    }
}
