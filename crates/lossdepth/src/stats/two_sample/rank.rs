//! The rank test: are rows of the second sample more, or less, outlying in the first one than its own rows?

use super::permutation::{RANK, Statistic, divisions, means, p_value};
use super::{CompareOptions, Pooled};
use crate::data::Rows;
use crate::error::Result;
use crate::numerics::random::Random;
use crate::problem::Run;

/// The chance that a row of the first sample is less deep than one of the second, and the p-value.
///
/// Depths are those in a random half of the first sample; the other half and the second sample are compared (TS2).
pub(super) fn test(pooled: &Pooled, options: &CompareOptions, run: &Run<'_>) -> Result<(f64, f64)> {
    let first = pooled.shuffled(false, &mut Random::stream(options.seed, RANK));
    let (reference, held_out) = first.split_at(first.len() / 2);
    let mut tested = held_out.to_vec();
    tested.extend((0..pooled.is_second.len()).filter(|&at| pooled.is_second[at]));
    tested.sort_unstable();
    let width = pooled.sample.width();
    let sample = pooled.some(reference)?;
    let run = Run { depths_only: true, progress: None, ..*run };
    let rows = pooled.some_rows(&tested);
    let fits = options.settings.fit(&sample)?.score(Rows::new(&rows, width)?, &run)?;
    let depths: Vec<f64> = fits.iter().map(|fit| fit.depth).collect();
    let weights: Vec<f64> = tested.iter().map(|&at| pooled.weights[at]).collect();
    let is_second: Vec<bool> = tested.iter().map(|&at| pooled.is_second[at]).collect();
    let mut order: Vec<usize> = (0..depths.len()).collect();
    order.sort_by(|&a, &b| depths[a].total_cmp(&depths[b]));
    let divisions = divisions(&is_second, options.permutations, options.seed, RANK);
    let quotients: Vec<f64> =
        divisions.iter().map(|division| less_deep(&order, &depths, &weights, division)).collect();
    // The quotient counts pairs: a few hundred values at most in small samples, fewer with ties.
    let statistics: Vec<Statistic> = quotients
        .iter()
        .zip(&divisions)
        .map(|(quotient, division)| {
            let [first, second] = means(|at| [depths[at]; 2], &weights, division);
            Statistic { value: (quotient - 0.5).abs(), finer: (first - second).abs() }
        })
        .collect();
    Ok((quotients[0], p_value(&statistics)))
}

/// $P(D(x) < D(y)) + \frac12 P(D(x) = D(y))$ for $x$ of the first and $y$ of the second group.
fn less_deep(order: &[usize], depths: &[f64], weights: &[f64], division: &[bool]) -> f64 {
    let (mut below, mut masses, mut sum) = (0.0, [0.0; 2], 0.0);
    let mut at = 0;
    while at < order.len() {
        let tied = order[at..].iter().take_while(|&&i| depths[i] == depths[order[at]]).count();
        let mut here = [0.0; 2];
        for &i in &order[at..at + tied] {
            here[usize::from(division[i])] += weights[i];
        }
        sum += here[1] * (below + 0.5 * here[0]);
        below += here[0];
        masses = [masses[0] + here[0], masses[1] + here[1]];
        at += tied;
    }
    sum / (masses[0] * masses[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_as_in_the_definition() {
        let depths = [0.3, 0.1, 0.3, 0.7, 0.2, 0.7];
        let weights = [1.0, 2.0, 1.0, 3.0, 1.0, 0.5];
        let division = [false, true, true, false, true, true];
        let (mut sum, mut mass) = (0.0, 0.0);
        for x in (0..6).filter(|&i| !division[i]) {
            for y in (0..6).filter(|&i| division[i]) {
                let pair = weights[x] * weights[y];
                mass += pair;
                sum += pair
                    * if depths[x] < depths[y] {
                        1.0
                    } else if depths[x] == depths[y] {
                        0.5
                    } else {
                        0.0
                    };
            }
        }
        let order = [1, 4, 0, 2, 3, 5];
        assert!((less_deep(&order, &depths, &weights, &division) - sum / mass).abs() < 1e-15);
    }
}
