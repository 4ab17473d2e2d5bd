//! Numbers as they enter linear relations: in units of their quartiles, or the logarithms of these.

/// A unit of a column in which it may be a linear function of other columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Measure {
    /// $(x - m) / s$.
    Linear {
        /// $m$, the median.
        centre: f64,
        /// $s$, the distance of the quartiles as that of a standard deviation.
        spread: f64,
    },
    /// The same of $\ln(x - o)$; below the smallest value $o + t$ that is above the zero $o$ it goes on as
    /// $\ln t - \ln(2 - (x - o) / t)$, with the same slope.
    Logarithm {
        /// $o$.
        zero: f64,
        /// $t$.
        least: f64,
        /// The median.
        centre: f64,
        /// The distance of the quartiles as that of a standard deviation.
        spread: f64,
    },
}

/// Up to this share of the values of a column may be at its zero or below where logarithms are taken: gross errors (heuristic).
const NOT_POSITIVE: f64 = 0.02;

/// The distance of the quartiles of a normal distribution.
const QUARTILES: f64 = 1.349;

/// A spread below this share of the standard deviation, or a spread of logarithms below it, is rounding.
const RESOLUTION: f64 = 1e-9;

impl Measure {
    /// From the quantiles of a column and its standard deviation.
    pub(crate) fn linear(quantile: impl Fn(f64) -> f64, deviation: f64) -> Self {
        let [centre, spread] = quartile_unit(quantile, deviation);
        Self::Linear { centre, spread }
    }

    /// Of a column whose smallest value above its `zero` is `smallest`, and of which the share `below` is not above it. `None` if
    /// that is more than a few gross errors, or if the quartiles are the same.
    pub(crate) fn logarithm(
        zero: f64,
        smallest: f64,
        below: f64,
        quantile: impl Fn(f64) -> f64,
    ) -> Option<Self> {
        if below > NOT_POSITIVE * (1.0 + 1e-9) {
            return None;
        }
        let least = smallest - zero;
        let plain = Self::Logarithm { zero, least, centre: 0.0, spread: 1.0 };
        let [low, centre, high] = [0.25, 0.5, 0.75].map(|level| plain.apply(quantile(level)));
        let spread = (high - low) / QUARTILES;
        (spread > RESOLUTION).then_some(Self::Logarithm { zero, least, centre, spread })
    }

    pub(crate) fn is_logarithm(&self) -> bool {
        matches!(self, Self::Logarithm { .. })
    }

    /// The number in this unit; so large at most that sums of squares do not overflow.
    pub(crate) fn apply(&self, x: f64) -> f64 {
        let value = match *self {
            Self::Linear { centre, spread } => (x - centre) / spread,
            Self::Logarithm { zero, least, centre, spread } => {
                let ratio = (x - zero) / least;
                let above = if ratio >= 1.0 { ratio.ln() } else { -(1.0 - ratio).ln_1p() };
                (least.ln() + above - centre) / spread
            }
        };
        value.clamp(-1e100, 1e100)
    }

    /// The number whose value in this unit is `v`; for logarithms at least the zero.
    pub(crate) fn invert(&self, v: f64) -> f64 {
        match *self {
            Self::Linear { centre, spread } => centre + v * spread,
            Self::Logarithm { zero, centre, spread, .. } => zero + (centre + v * spread).exp(),
        }
    }
}

/// The median, and the distance of the quartiles as that of a standard deviation; the standard deviation where the quartiles are
/// the same; 1 for a constant column.
pub(crate) fn quartile_unit(quantile: impl Fn(f64) -> f64, deviation: f64) -> [f64; 2] {
    let range = (quantile(0.75) - quantile(0.25)) / QUARTILES;
    let spread = if range > RESOLUTION * deviation { range } else { deviation };
    [quantile(0.5), if spread > 0.0 { spread } else { 1.0 }]
}

/// The masses of rows divided by $1 + \frac1d \sum_j v_j^2$, so that no row adds more than its mass to second moments. A linear
/// relation that holds for all rows holds for the moments as well.
pub(crate) fn bounded_influence(
    masses: &[f64],
    columns: usize,
    points: impl Fn(usize) -> Vec<f64>,
) -> Vec<f64> {
    let mut squares = vec![0.0; masses.len()];
    for j in 0..columns {
        squares.iter_mut().zip(points(j)).for_each(|(sum, v)| *sum += v * v / columns as f64);
    }
    masses.iter().zip(squares).map(|(mass, square)| mass / (1.0 + square)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quantiles of 1, 2, …, 100.
    fn quantile(level: f64) -> f64 {
        (100.0 * level).ceil().max(1.0)
    }

    #[test]
    fn logarithms_rise_everywhere_and_are_inverted() {
        let measure = Measure::logarithm(0.0, 1.0, 0.01, quantile).unwrap();
        let values = [-1e300, -1e9, -3.0, 0.0, 0.5, 1.0, 1.5, 40.0, 1e9, 1e300].map(|x| measure.apply(x));
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
        for x in [1.0, 7.0, 1e6] {
            assert!((measure.invert(measure.apply(x)) / x - 1.0).abs() < 1e-9, "{x}");
        }
        // The slope does not jump at the smallest value.
        let slope = |from: f64, to: f64| (measure.apply(to) - measure.apply(from)) / (to - from);
        assert!((slope(1.0 - 1e-4, 1.0) / slope(1.0, 1.0 + 1e-4) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn columns_with_many_numbers_below_their_zero_have_no_logarithm() {
        assert_eq!(Measure::logarithm(0.0, 1.0, 0.03, quantile), None);
        assert_eq!(Measure::logarithm(0.0, 5.0, 0.0, |_| 5.0), None);
    }

    #[test]
    fn a_far_row_counts_for_at_most_its_mass() {
        let influence = bounded_influence(&[0.5, 0.5], 1, |_| vec![1e6, 0.0]);
        assert_eq!(influence[1], 0.5);
        assert!(influence[0] * 1e12 <= 0.5);
    }
}
