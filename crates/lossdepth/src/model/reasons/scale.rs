//! The unit of outlyingness: depths as bits of an extended tail probability, (E1)–(E3) of `docs/math/reasons.md`.

use crate::model::Percentiles;

/// How the depths of the reference are distributed: from a depth to a percentile and to bits.
#[derive(Debug, Clone)]
pub(super) struct DepthScale {
    shares: Percentiles,
    /// The exponent of the power law below the smallest depth.
    exponent: f64,
}

/// Depths below this are taken to be this: the logarithm stays finite.
const SMALLEST: f64 = 1e-300;

impl DepthScale {
    /// From the depths of reference rows with their weights, of which one is positive.
    pub(super) fn new(depths: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut scale = Self { shares: Percentiles::new(depths), exponent: 1.0 };
        scale.exponent = scale.tail_exponent();
        scale
    }

    /// The exponent of (E2), from two quantiles of the lower tail: half of the tail may be outliers.
    fn tail_exponent(&self) -> f64 {
        let ratio = |low: f64, high: f64| (self.quantile(high) / self.quantile(low)).ln();
        let rates = [(0.125, 0.25), (0.25, 0.5), (0.125, 1.0)].map(|(low, high)| {
            let halvings = f64::log2(high / low);
            halvings * std::f64::consts::LN_2 / ratio(low, high)
        });
        rates.into_iter().find(|rate| rate.is_finite()).unwrap_or(1.0).clamp(0.1, 1000.0)
    }

    /// The smallest depth that at least this share of the reference does not exceed.
    fn quantile(&self, level: f64) -> f64 {
        let depths = self.shares.depths();
        let at = self.shares.shares().partition_point(|share| *share < level).min(depths.len() - 1);
        depths[at].max(SMALLEST)
    }

    /// The share of the reference that is at most as deep.
    pub(super) fn percentile(&self, depth: f64) -> f64 {
        self.shares.of(depth)
    }

    /// The outlyingness $o$ of (E1): $-\log_2$ of the percentile, interpolated, and continued below the smallest depth.
    pub(super) fn bits(&self, depth: f64) -> f64 {
        let depth = depth.max(SMALLEST);
        let (depths, shares) = (self.shares.depths(), self.shares.shares());
        let at = depths.partition_point(|d| *d <= depth);
        if at == depths.len() {
            return 0.0;
        }
        let upper = -shares[at].log2();
        if at == 0 {
            return upper + self.exponent * (depths[0].max(SMALLEST) / depth).log2().max(0.0);
        }
        let lower = -shares[at - 1].log2();
        let t = (depth - depths[at - 1]) / (depths[at] - depths[at - 1]);
        lower + t * (upper - lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_fall_as_depths_grow_and_stay_finite() {
        let scale = DepthScale::new((1..=100).map(|i| (f64::from(i) / 100.0, 1.0)));
        let depths = [0.0, 1e-306, 1e-200, 1e-3, 0.01, 0.015, 0.3, 0.305, 1.0];
        let bits: Vec<f64> = depths.iter().map(|d| scale.bits(*d)).collect();
        assert!(bits[1..].windows(2).all(|pair| pair[0] > pair[1]), "{bits:?}");
        assert!(bits[0] >= bits[1] && bits[0].is_finite());
        assert_eq!((scale.percentile(0.3), scale.percentile(0.0)), (0.3, 0.0));
        assert!((scale.bits(0.25) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn equal_depths_have_a_scale() {
        let scale = DepthScale::new([(0.5, 1.0), (0.5, 3.0)].into_iter());
        assert_eq!((scale.percentile(0.5), scale.bits(0.5)), (1.0, 0.0));
        assert!(scale.bits(0.25) > 0.5);
    }

    #[test]
    fn a_weight_is_as_good_as_copies() {
        let copies = DepthScale::new([(0.1, 1.0), (0.4, 1.0), (0.4, 1.0), (0.9, 1.0)].into_iter());
        let weights = DepthScale::new([(0.4, 2.0), (0.9, 1.0), (0.1, 1.0)].into_iter());
        for depth in [0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 1.0] {
            assert_eq!(copies.bits(depth), weights.bits(depth));
        }
    }
}
