//! Random divisions of rows into two groups.

use crate::numerics::random::Random;

// Every purpose has its own stream of random numbers: the number of a permutation is added to these.
pub(super) const SUBSAMPLE: u64 = 1 << 40;
pub(super) const RANK: u64 = 2 << 40;
pub(super) const KERNEL: u64 = 3 << 40;
pub(super) const CLASSIFIER: u64 = 4 << 40;
pub(super) const COLUMNS: u64 = 5 << 40;

/// Statistics that differ by less than this share of the largest one are ties: rounding must not break them.
pub(super) const TIE: f64 = 1e-11;

/// Which rows are in the second group: the samples as they are first, then random divisions of the same sizes.
pub(super) fn divisions(is_second: &[bool], permutations: usize, seed: u64, purpose: u64) -> Vec<Vec<bool>> {
    let (rows, second) = (is_second.len(), is_second.iter().filter(|is| **is).count());
    let division = |b: usize| {
        if b == 0 {
            return is_second.to_vec();
        }
        let mut division = vec![false; rows];
        for at in Random::stream(seed, purpose + b as u64).choose(second, rows) {
            division[at] = true;
        }
        division
    };
    (0..=permutations).map(division).collect()
}

/// What a division is ranked by: a statistic, and a finer one that decides between divisions with the same value of the first.
///
/// A statistic of ranks or of shares has few values. Where divisions tie with the samples as they are, counting all of them
/// makes a test reject less often than its level says; counting them by the finer statistic does not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statistic {
    pub(super) value: f64,
    pub(super) finer: f64,
}

impl Statistic {
    /// A statistic whose ties are left.
    pub(super) fn plain(value: f64) -> Self {
        Self { value, finer: 0.0 }
    }
}

/// The share of the statistics that are at least as large as the first one, which is that of the samples as they are.
///
/// Under the null hypothesis all divisions are equally likely, so the chance that it is at most $\alpha$ is at most $\alpha$.
pub(super) fn p_value(statistics: &[Statistic]) -> f64 {
    let tie =
        |of: fn(&Statistic) -> f64| TIE * statistics.iter().fold(0.0f64, |most, t| most.max(of(t).abs()));
    let [observed, ..] = statistics else { return 1.0 };
    let (value, finer) = (tie(|t| t.value), tie(|t| t.finer));
    let at_least = |t: &&Statistic| {
        let above = t.value - observed.value;
        above > value || (above >= -value && t.finer >= observed.finer - finer)
    };
    statistics.iter().filter(at_least).count() as f64 / statistics.len() as f64
}

/// The mean of values in the first and in the second group.
pub(super) fn means(values: impl Fn(usize) -> [f64; 2], weights: &[f64], division: &[bool]) -> [f64; 2] {
    let (mut sums, mut masses) = ([0.0; 2], [0.0; 2]);
    for (at, (weight, is_second)) in weights.iter().zip(division).enumerate() {
        let group = usize::from(*is_second);
        sums[group] += weight * values(at)[group];
        masses[group] += weight;
    }
    [sums[0] / masses[0], sums[1] / masses[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finer_statistic_decides_between_ties_alone() {
        let p = |of: &[[f64; 2]]| {
            p_value(&of.iter().map(|&[value, finer]| Statistic { value, finer }).collect::<Vec<_>>())
        };
        // One division is above, two tie: one of them by both.
        assert_eq!(p(&[[0.5, 2.0], [0.7, 0.0], [0.5, 2.0], [0.5, 1.0], [0.1, 9.0]]), 3.0 / 5.0);
        // Rounding of the first does not decide.
        assert_eq!(p(&[[0.5, 1.0], [0.5 + 1e-14, 0.5]]), 1.0 / 2.0);
        assert_eq!(p(&[[0.5, 1.0], [0.5 - 1e-14, 1.0 - 1e-14]]), 1.0);
        assert_eq!(p(&[[0.0, 0.0]; 4]), 1.0);
    }
}
