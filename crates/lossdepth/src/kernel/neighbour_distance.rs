//! The typical distance of a row from its neighbours.

use super::bandwidth::subsample;
use super::points::Columns;
use crate::data::Reference;
use crate::numerics::linalg::Matrix;

/// Rows whose neighbours are searched, at most.
const CENTRES: usize = 2048;

/// Rows among which neighbours are searched, at most.
const NEIGHBOURS: usize = 32_768;

/// Centres whose distances are computed together.
const BLOCK: usize = 32;

/// The median over the rows of the squared distance to the $\lceil \sqrt n \rceil$-th nearest other row.
///
/// `n` counts observations, so a row of weight $k$ is the same as $k$ copies, of which $k - 1$ are neighbours at distance 0.
/// Weights that are no counts are shares of $n$ rows. A row with that many copies of itself enters with its nearest different
/// row; 0 if all rows are equal.
pub(super) fn median_squared_distance(sample: &Reference) -> f64 {
    let n = sample.observations();
    let share = n.sqrt().ceil().min(n - 1.0) / n;
    let (centres, masses) = subsample(sample, CENTRES);
    let (points, weights) = subsample(sample, NEIGHBOURS);
    let mut medians: Vec<(f64, f64)> = Vec::with_capacity(masses.len());
    let mut block = Matrix::zeros(weights.len(), BLOCK);
    let mut near: Vec<(f64, f64)> = Vec::with_capacity(weights.len());
    for first in (0..masses.len()).step_by(BLOCK) {
        let last = (first + BLOCK).min(masses.len());
        let rows = centres.rows().range(first, last);
        points.squared_distances(rows, &mut Columns::new(&mut block, 0, last - first));
        for centre in first..last {
            near.clear();
            near.extend(block.col(centre - first).iter().copied().zip(weights.iter().copied()));
            // Rows here are distinct, so the one at distance 0 is the centre: its copies are neighbours, it is not.
            if let Some(own) = near.iter_mut().find(|(distance, _)| *distance == 0.0) {
                own.1 = (own.1 - 1.0 / n).max(0.0);
            }
            let distance = match weighted_quantile(&mut near, share) {
                0.0 => near
                    .iter()
                    .map(|(distance, _)| *distance)
                    .filter(|d| *d > 0.0)
                    .fold(f64::INFINITY, f64::min),
                distance => distance,
            };
            if distance.is_finite() {
                medians.push((distance, masses[centre]));
            }
        }
    }
    let half = 0.5 * medians.iter().map(|(_, mass)| mass).sum::<f64>();
    if medians.is_empty() { 0.0 } else { weighted_quantile(&mut medians, half) }
}

/// The first value at which the cumulative mass is at least `target`, or the largest value.
pub(crate) fn weighted_quantile(pairs: &mut [(f64, f64)], target: f64) -> f64 {
    // Sums of masses have rounding errors.
    let target = target * (1.0 - 1e-9);
    let (mut rest, mut sum) = (pairs, 0.0);
    loop {
        let middle = rest.len() / 2;
        let (below, &mut (value, mass), above) =
            rest.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0));
        let half: f64 = below.iter().map(|(_, mass)| mass).sum();
        if sum + half >= target && !below.is_empty() {
            rest = below;
        } else if sum + half + mass >= target || above.is_empty() {
            return value;
        } else {
            (rest, sum) = (above, sum + half + mass);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize) -> Vec<Vec<f64>> {
        (0..n).map(|i| vec![((i * 7919) % 101) as f64 * 0.3, ((i * 104_729) % 97) as f64 * 0.1]).collect()
    }

    /// The definition, over a list of observations.
    fn written_out(rows: &[Vec<f64>]) -> f64 {
        let n = rows.len();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let k = (n as f64).sqrt().ceil() as usize;
        let mut medians: Vec<f64> = (0..n)
            .map(|i| {
                let square =
                    |j: usize| rows[i].iter().zip(&rows[j]).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                let mut others: Vec<f64> = (0..n).filter(|j| *j != i).map(square).collect();
                others.sort_by(f64::total_cmp);
                others[k - 1]
            })
            .collect();
        medians.sort_by(f64::total_cmp);
        // The lower of the two in the middle.
        medians[(n - 1) / 2]
    }

    #[test]
    fn the_distance_is_the_median_over_the_rows() {
        for n in [4, 9, 10, 57, 300] {
            let rows = rows(n);
            let found = median_squared_distance(&Reference::new(&rows).unwrap());
            assert!((found - written_out(&rows)).abs() <= 1e-12 * found, "{n}: {found}");
        }
    }

    #[test]
    fn weights_count_as_copies_and_order_does_not_matter() {
        let few = rows(60);
        let weights: Vec<f64> = (0..60).map(|i| f64::from(1 + i % 3)).collect();
        let mut copies: Vec<Vec<f64>> =
            few.iter().enumerate().flat_map(|(i, row)| vec![row.clone(); 1 + i % 3]).collect();
        let expected = written_out(&copies);
        let weighted = median_squared_distance(&Reference::weighted(&few, &weights).unwrap());
        assert!((weighted - expected).abs() <= 1e-12 * expected, "{weighted} {expected}");
        copies.reverse();
        assert_eq!(median_squared_distance(&Reference::new(&copies).unwrap()), weighted);
    }

    #[test]
    fn a_subsample_has_nearly_the_same_distance() {
        let all = rows(5000);
        let found = median_squared_distance(&Reference::new(&all).unwrap());
        let expected = written_out(&all);
        assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
    }

    #[test]
    fn copies_units_and_outliers_do_not_matter() {
        // Every row a hundred times: its neighbours are its copies, and the next value counts.
        for unit in [1e-3, 1.0, 1e3] {
            let rows: Vec<Vec<f64>> = (0..1000).map(|i| vec![unit * f64::from(i % 10)]).collect();
            let found = median_squared_distance(&Reference::new(&rows).unwrap());
            assert!((found / (unit * unit) - 1.0).abs() < 1e-12, "{found}");
        }
        // Few values many times, and three far away.
        let mut rows: Vec<Vec<f64>> = (0..150).map(|i| vec![0.5 * f64::from(i % 5)]).collect();
        rows.extend([50.0, 80.0, 120.0].map(|x| vec![x]));
        assert!(median_squared_distance(&Reference::new(&rows).unwrap()) <= 1.0);
        assert_eq!(median_squared_distance(&Reference::new(&[[1.0], [1.0]]).unwrap()), 0.0);
    }

    #[test]
    fn a_heavy_row_is_no_neighbour_far_away() {
        let mut rows = rows(10);
        rows.push(vec![300.0, 0.0]);
        for heavy in [90.0, 90.5] {
            let weights: Vec<f64> = [heavy].into_iter().chain([1.0; 10]).collect();
            let found = median_squared_distance(&Reference::weighted(&rows, &weights).unwrap());
            assert!(found < 1000.0, "{found}");
        }
    }
}
