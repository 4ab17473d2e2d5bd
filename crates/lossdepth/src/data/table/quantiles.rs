//! The quantiles of a column.

use serde::{Deserialize, Serialize};

/// Where the values of a column lie; rows count with their weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantiles {
    /// The smallest.
    pub min: f64,
    /// The 5 % quantile.
    pub low: f64,
    /// The first quartile.
    pub lower_quartile: f64,
    /// The median.
    pub median: f64,
    /// The third quartile.
    pub upper_quartile: f64,
    /// The 95 % quantile.
    pub high: f64,
    /// The largest.
    pub max: f64,
}

/// The levels of the quantiles between the smallest and the largest value.
const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

impl Quantiles {
    /// Of values that are not NaN, with weights that are not 0; `None` without a value.
    ///
    /// The quantile of level $p$ is the smallest value such that the values up to it have at least the share $p$ of the
    /// weight, so a weight of k is the same as k copies.
    pub(super) fn of(mut values: Vec<(f64, f64)>) -> Option<Self> {
        let (first, same) = (values.first()?.1, |&(_, w): &(f64, f64)| w);
        if values.iter().all(|pair| same(pair) == first) {
            return Self::unweighted(values.into_iter().map(|(value, _)| value + 0.0).collect());
        }
        values.sort_unstable_by(|a, b| (a.0 + 0.0).total_cmp(&(b.0 + 0.0)));
        let total: f64 = values.iter().map(same).sum();
        let mut cumulated = 0.0;
        let mut each = values.iter().map(|&(value, weight)| {
            cumulated += weight;
            (value, cumulated)
        });
        let last = values[values.len() - 1].0;
        let mut at = values[0].0;
        let mut reached = 0.0;
        let between = LEVELS.map(|level| {
            // The sum of whole weights is exact; otherwise a share that is reached up to rounding is reached.
            while reached < level * total * (1.0 - 1e-12) {
                let Some((value, sum)) = each.next() else { break };
                (at, reached) = (value, sum);
            }
            at
        });
        Some(Self::from_parts(values[0].0, between, last))
    }

    fn unweighted(mut values: Vec<f64>) -> Option<Self> {
        let n = values.len();
        let mut start = 0;
        let between = LEVELS.map(|level| {
            let at = rank(level, n).max(start);
            let (_, value, _) = values[start..].select_nth_unstable_by(at - start, f64::total_cmp);
            let value = *value;
            start = at;
            value
        });
        let min = values.iter().copied().min_by(f64::total_cmp)?;
        let max = values.iter().copied().max_by(f64::total_cmp)?;
        Some(Self::from_parts(min, between, max))
    }

    fn from_parts(min: f64, between: [f64; 5], max: f64) -> Self {
        let [low, lower_quartile, median, upper_quartile, high] = between;
        Self { min, low, lower_quartile, median, upper_quartile, high, max }
    }

    /// All seven, in order.
    pub fn values(&self) -> [f64; 7] {
        [self.min, self.low, self.lower_quartile, self.median, self.upper_quartile, self.high, self.max]
    }

    /// A robust scale: the interquartile range as a standard deviation of normal values; where half of the values are the
    /// same, what 90 % of them span; then what all span; 1 for a constant.
    pub(super) fn scale(&self) -> f64 {
        // Quantiles of the standard normal distribution: 2 × 0.6745 and 2 × 1.6449.
        let scales = [
            (self.upper_quartile - self.lower_quartile) / 1.349,
            (self.high - self.low) / 3.29,
            self.max - self.min,
        ];
        scales.into_iter().find(|scale| *scale > 0.0 && scale.is_finite()).unwrap_or(1.0)
    }
}

/// The place, from 0, of the quantile of a level among `n` sorted values.
fn rank(level: f64, n: usize) -> usize {
    let exact = level * n as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and n")]
    let above = (exact * (1.0 - 1e-12)).ceil() as usize;
    above.clamp(1, n) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count_copies() {
        let weighted = [(3.0, 2.0), (1.0, 1.0), (-0.0, 4.0), (7.0, 3.0), (2.0, 1.0)];
        let copies: Vec<(f64, f64)> =
            [3.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0, 7.0, 7.0, 7.0, 2.0].map(|value| (value, 1.0)).to_vec();
        let found = Quantiles::of(weighted.to_vec()).unwrap();
        assert_eq!(found, Quantiles::of(copies).unwrap());
        assert_eq!(found.values(), [0.0, 0.0, 0.0, 2.0, 7.0, 7.0, 7.0]);
        assert_eq!(Quantiles::of(Vec::new()), None);
    }

    #[test]
    fn quantiles_of_many_values_are_their_ranks() {
        let values = (0..1000).map(|i| (f64::from(i * 7919 % 1000), 1.0)).collect();
        let found = Quantiles::of(values).unwrap();
        assert_eq!(found.values(), [0.0, 49.0, 249.0, 499.0, 749.0, 949.0, 999.0]);
        assert!((found.scale() - 500.0 / 1.349).abs() < 1e-9);
    }
}
