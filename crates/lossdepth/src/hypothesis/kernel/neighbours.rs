//! How far a typical row's neighbours are.

use super::bandwidth::thinned;
use super::points::Columns;
use crate::linalg::Matrix;
use crate::reference::{Mass, Reference};

/// Above this many different rows some of them stand for the centres.
const CENTRES: usize = 2048;

/// Above this many different rows some of them stand for the neighbours.
const NEIGHBOURS: usize = 32_768;

/// Centres looked at in one go.
const STEP: usize = 32;

/// The median over the rows of the squared distance to the $\lceil \sqrt n \rceil$-th nearest other row.
///
/// `n` counts observations, so a row of weight $k$ is the same as $k$ copies, of which $k - 1$ are neighbours at distance 0.
/// Weights that do not count are shares of $n$ rows. A median of 0 is replaced by that of the positive distances; 0 if
/// there are none.
pub(super) fn squared_reach(sample: &Reference) -> f64 {
    let n = sample.observations();
    let share = n.sqrt().ceil().min(n - 1.0) / n;
    let (centres, masses) = thinned(sample, CENTRES);
    let (points, weights) = thinned(sample, NEIGHBOURS);
    // A thinned row stands for others as well: how much of its own weight is at distance 0 is not known to the last digit.
    let copies = |weight: f64| match sample.mass() {
        Mass::Counts(n) => (weight - 1.0 / n).max(0.0),
        Mass::Importance => 0.0,
    };
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
            // The row itself is the one at distance 0: rows here are different.
            if let Some(own) = near.iter_mut().find(|(distance, _)| *distance == 0.0) {
                own.1 = copies(own.1);
            }
            reached.push((at(&mut near, share), masses[centre]));
        }
    }
    let median = |list: &mut Vec<(f64, f64)>| {
        let half = 0.5 * list.iter().map(|(_, mass)| mass).sum::<f64>();
        if list.is_empty() { 0.0 } else { at(list, half) }
    };
    let whole = median(&mut reached);
    if whole > 0.0 {
        return whole;
    }
    reached.retain(|(distance, _)| *distance > 0.0);
    median(&mut reached)
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
    fn copies_do_not_make_it_zero() {
        let mostly = Reference::new(&[[0.0], [0.0], [0.0], [0.0], [0.0], [2.0], [4.0]]).unwrap();
        assert!(squared_reach(&mostly) > 0.0);
        assert_eq!(squared_reach(&Reference::new(&[[1.0], [1.0]]).unwrap()), 0.0);
    }
}
