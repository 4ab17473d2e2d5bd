//! How far a typical row's neighbours are.

use super::bandwidth::thinned;
use super::points::Columns;
use crate::data::Reference;
use crate::numerics::linalg::Matrix;

/// Above this many different rows some of them stand for the centres.
const CENTRES: usize = 2048;

/// Above this many different rows some of them stand for the neighbours.
const NEIGHBOURS: usize = 32_768;

/// Centres looked at in one go.
const STEP: usize = 32;

/// The median over the rows of the squared distance to the $\lceil \sqrt n \rceil$-th nearest other row.
///
/// `n` counts observations, so a row of weight $k$ is the same as $k$ copies, of which $k - 1$ are neighbours at distance 0.
/// Weights that do not count are shares of $n$ rows. A row with that many copies of itself counts with its nearest other
/// row; 0 if all rows are the same.
pub(super) fn squared_reach(sample: &Reference) -> f64 {
    let n = sample.observations();
    let share = n.sqrt().ceil().min(n - 1.0) / n;
    let (centres, masses) = thinned(sample, CENTRES);
    let (points, weights) = thinned(sample, NEIGHBOURS);
    let mut reached: Vec<(f64, f64)> = Vec::with_capacity(masses.len());
    let mut block = Matrix::zeros(weights.len(), STEP);
    let mut near: Vec<(f64, f64)> = Vec::with_capacity(weights.len());
    for first in (0..masses.len()).step_by(STEP) {
        let last = (first + STEP).min(masses.len());
        let rows = centres.rows().range(first, last);
        points.squared_distances(rows, &mut Columns::new(&mut block, 0, last - first));
        for centre in first..last {
            near.clear();
            near.extend(block.col(centre - first).iter().copied().zip(weights.iter().copied()));
            // The row itself is the one at distance 0, for rows here are different: it is not its own neighbour, its
            // copies are.
            if let Some(own) = near.iter_mut().find(|(distance, _)| *distance == 0.0) {
                own.1 = (own.1 - 1.0 / n).max(0.0);
            }
            let distance = match at(&mut near, share) {
                0.0 => near
                    .iter()
                    .map(|(distance, _)| *distance)
                    .filter(|d| *d > 0.0)
                    .fold(f64::INFINITY, f64::min),
                distance => distance,
            };
            if distance.is_finite() {
                reached.push((distance, masses[centre]));
            }
        }
    }
    let half = 0.5 * reached.iter().map(|(_, mass)| mass).sum::<f64>();
    if reached.is_empty() { 0.0 } else { at(&mut reached, half) }
}

/// The first place where the cumulative mass reaches `target`, or the last place.
fn at(pairs: &mut [(f64, f64)], target: f64) -> f64 {
    // Sums of masses are right to rounding only.
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
        let mut reached: Vec<f64> = (0..n)
            .map(|i| {
                let square =
                    |j: usize| rows[i].iter().zip(&rows[j]).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                let mut others: Vec<f64> = (0..n).filter(|j| *j != i).map(square).collect();
                others.sort_by(f64::total_cmp);
                others[k - 1]
            })
            .collect();
        reached.sort_by(f64::total_cmp);
        // The lower of the two in the middle.
        reached[(n - 1) / 2]
    }

    #[test]
    fn it_is_the_median_over_the_rows() {
        for n in [4, 9, 10, 57, 300] {
            let rows = rows(n);
            let found = squared_reach(&Reference::new(&rows).unwrap());
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
        let weighted = squared_reach(&Reference::weighted(&few, &weights).unwrap());
        assert!((weighted - expected).abs() <= 1e-12 * expected, "{weighted} {expected}");
        copies.reverse();
        assert_eq!(squared_reach(&Reference::new(&copies).unwrap()), weighted);
    }

    #[test]
    fn many_rows_are_thinned_without_a_jump() {
        let all = rows(5000);
        let found = squared_reach(&Reference::new(&all).unwrap());
        let expected = written_out(&all);
        assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
    }

    #[test]
    fn copies_and_units_and_outliers_have_no_say() {
        // Every row a hundred times: its neighbours are its copies, and the next value counts.
        for unit in [1e-3, 1.0, 1e3] {
            let rows: Vec<Vec<f64>> = (0..1000).map(|i| vec![unit * f64::from(i % 10)]).collect();
            let found = squared_reach(&Reference::new(&rows).unwrap());
            assert!((found / (unit * unit) - 1.0).abs() < 1e-12, "{found}");
        }
        // Few values many times, and three far away.
        let mut rows: Vec<Vec<f64>> = (0..150).map(|i| vec![0.5 * f64::from(i % 5)]).collect();
        rows.extend([50.0, 80.0, 120.0].map(|x| vec![x]));
        assert!(squared_reach(&Reference::new(&rows).unwrap()) <= 1.0);
        assert_eq!(squared_reach(&Reference::new(&[[1.0], [1.0]]).unwrap()), 0.0);
    }

    #[test]
    fn a_heavy_row_is_no_neighbour_far_away() {
        let mut rows = rows(10);
        rows.push(vec![300.0, 0.0]);
        for heavy in [90.0, 90.5] {
            let weights: Vec<f64> = [heavy].into_iter().chain([1.0; 10]).collect();
            let found = squared_reach(&Reference::weighted(&rows, &weights).unwrap());
            assert!(found < 1000.0, "{found}");
        }
    }
}
