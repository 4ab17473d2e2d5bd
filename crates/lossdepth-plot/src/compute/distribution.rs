//! The empirical distribution of weighted values: ranks and quantiles.

use lossdepth::{DepthError, Result};

/// The empirical distribution of values with weights.
///
/// ```
/// use lossdepth_plot::EmpiricalDistribution;
/// let depths = EmpiricalDistribution::new(&[0.9, 0.2, 0.5, 0.5], &[1.0; 4])?;
/// assert_eq!(depths.below(0.5), 0.25);
/// assert_eq!(depths.at_most(0.5), 0.75);
/// assert_eq!(depths.quantile(0.5), 0.5);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EmpiricalDistribution {
    /// Ascending; all have a positive weight.
    values: Vec<f64>,
    /// `cumulative[k]` is the share of the first k values; the last is 1.
    cumulative: Vec<f64>,
}

impl EmpiricalDistribution {
    /// The distribution of these values; those of weight 0 are dropped.
    ///
    /// # Errors
    /// The numbers of values and weights differ, or no weight is positive.
    pub fn new(values: &[f64], weights: &[f64]) -> Result<Self> {
        if values.len() != weights.len() {
            return Err(DepthError::WeightCount { expected: values.len(), got: weights.len() });
        }
        let mut pairs: Vec<(f64, f64)> =
            values.iter().copied().zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0.0).collect();
        if pairs.is_empty() {
            return Err(DepthError::TooFewRows { expected: 1, got: 0 });
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0.0;
        let mut cumulative = vec![0.0];
        for (_, weight) in &pairs {
            sum += weight;
            cumulative.push(sum);
        }
        for c in &mut cumulative {
            *c /= sum;
        }
        Ok(Self { values: pairs.into_iter().map(|(value, _)| value).collect(), cumulative })
    }

    /// The share of values below `value`.
    pub fn below(&self, value: f64) -> f64 {
        self.cumulative[self.values.partition_point(|v| *v < value)]
    }

    /// The distribution function: the share of values at most `value`.
    pub fn at_most(&self, value: f64) -> f64 {
        self.cumulative[self.values.partition_point(|v| *v <= value)]
    }

    /// The mid-rank: the share of values below `value` plus half the share equal to it.
    pub fn mid_rank(&self, value: f64) -> f64 {
        f64::midpoint(self.below(value), self.at_most(value))
    }

    /// The `p`-quantile: the smallest value with [`at_most`](Self::at_most) ≥ `p`, or where that share equals `p`, the
    /// midpoint of it and the next value (as in the median of an even number of values).
    pub fn quantile(&self, p: f64) -> f64 {
        // Cumulative sums are equal to `p` up to their rounding.
        let tie = self.values.len() as f64 * f64::EPSILON;
        let last = self.values.len() - 1;
        let first = self.cumulative[1..].partition_point(|c| *c < p - tie).min(last);
        let second = self.cumulative[1..].partition_point(|c| *c <= p + tie).min(last);
        f64::midpoint(self.values[first], self.values[second])
    }

    /// The smallest and the largest value.
    pub fn range(&self) -> (f64, f64) {
        (self.values[0], self.values[self.values.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn weight_k_equals_k_copies(rows in prop::collection::vec((0i32..9, 0usize..4), 1..20), p in 0.0..1.0f64) {
            prop_assume!(rows.iter().any(|(_, copies)| *copies > 0));
            let values: Vec<f64> = rows.iter().map(|(v, _)| f64::from(*v)).collect();
            let weights: Vec<f64> = rows.iter().map(|(_, copies)| *copies as f64).collect();
            let copied: Vec<f64> = rows.iter().flat_map(|(v, k)| vec![f64::from(*v); *k]).collect();
            let (a, b) = (EmpiricalDistribution::new(&values, &weights).unwrap(), EmpiricalDistribution::new(&copied, &vec![1.0; copied.len()]).unwrap());
            prop_assert_eq!(a.quantile(p), b.quantile(p));
            for v in 0..9 {
                let count = |keep: &dyn Fn(f64) -> bool| {
                    copied.iter().filter(|x| keep(**x)).count() as f64 / copied.len() as f64
                };
                let v = f64::from(v);
                prop_assert!((a.below(v) - count(&|x| x < v)).abs() < 1e-12);
                prop_assert!((a.at_most(v) - count(&|x| x <= v)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn quantiles_and_mid_ranks_match_the_definition() {
        let ranked = EmpiricalDistribution::new(&[4.0, 1.0, 3.0, 2.0], &[1.0; 4]).unwrap();
        assert_eq!([0.0, 0.25, 0.3, 0.5, 1.0].map(|p| ranked.quantile(p)), [1.0, 1.5, 2.0, 2.5, 4.0]);
        assert_eq!(ranked.range(), (1.0, 4.0));
        assert_eq!(ranked.mid_rank(2.0), 0.375);
    }

    #[test]
    fn values_and_weights_are_required() {
        assert!(EmpiricalDistribution::new(&[], &[]).is_err());
        assert!(EmpiricalDistribution::new(&[1.0], &[0.0]).is_err());
        assert!(EmpiricalDistribution::new(&[1.0], &[]).is_err());
    }
}
