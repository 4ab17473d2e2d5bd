//! How far beyond the bulk of a column a value lies, measured by the column's own tail.

/// The levels whose quantile can be the threshold of a tail: the first that differs from the median.
const LEVELS: [f64; 3] = [0.9, 0.95, 0.98];

/// The share of the sample whose values, the most extreme ones, do not decide how heavy the tail of a column is, or of a residual
/// in robust coordinates. Heuristic, chosen on tables.
pub(super) const CENSORED: f64 = 0.02;

/// The index of a tail before any observation of it, and how many observations that counts for. Heuristics.
const PRIOR_INDEX: f64 = 3.0;
const PRIOR_COUNT: f64 = 3.0;

/// The upper tail of a column: $P(X > t + r u) = p_t (1 + r)^{-\alpha}$ from the threshold $t$ on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    threshold: f64,
    /// From the median to the threshold.
    unit: f64,
    index: f64,
    /// How much of $-\ln P$ above the threshold is not yet in excess of what the sample is expected to have.
    free: f64,
}

impl Side {
    /// `pairs` are values and masses, ascending, and stand for so many observations. Values closer than `resolution` are the
    /// same. A value is in excess from $-\ln P = $ `expected` on. The most extreme `censored` share does not decide the index.
    fn learn(pairs: &[(f64, f64)], observations: f64, expected: f64, resolution: f64, censored: f64) -> Self {
        let total: f64 = pairs.iter().map(|(_, mass)| mass).sum();
        let quantiles = quantiles(pairs, total);
        let (median, largest) = (quantiles[0], pairs[pairs.len() - 1].0);
        let mass_above =
            |t: f64| pairs.iter().rev().take_while(|(x, _)| *x > t).fold(0.0, |sum, (_, mass)| sum + mass);
        // No more mass than half an observation is left by rounding alone.
        let start = |mass: f64| -(if mass > 0.5 / observations { mass } else { 1.0 / observations }).ln();
        let free = |mass: f64| (expected - start(mass)).max(0.0);
        let Some(&threshold) = quantiles[1..].iter().find(|t| **t > median + resolution) else {
            // Nearly all values are the same: any other is rare, and how far it is says little.
            let range = largest - median;
            let unit = if range > resolution { range } else { 1.0 };
            let free = free(mass_above(median + resolution));
            return Self { threshold: median, unit, index: PRIOR_INDEX, free };
        };
        let unit = threshold - median;
        let above = mass_above(threshold);
        let index = index(pairs, threshold, unit, above, observations, censored);
        Self { threshold, unit, index, free: free(above) }
    }

    /// The excess at `x`, and by how much it changes at most if `x` is off by `error`.
    fn excess(&self, x: f64, error: f64) -> (f64, f64) {
        let ratio = ((x - self.threshold) / self.unit).clamp(0.0, f64::MAX);
        let value = (self.index * ratio.ln_1p() - self.free).max(0.0);
        let slope = self.index / (1.0 + (ratio - error / self.unit).max(0.0));
        let rounding = f64::EPSILON * (4.0 * self.index * (1.0 + ratio.ln_1p()) + self.free);
        (value, slope * error / self.unit + rounding)
    }
}

/// The median and the quantiles at [`LEVELS`]: the first values up to which there is so much mass.
fn quantiles(pairs: &[(f64, f64)], total: f64) -> [f64; 4] {
    let levels = [0.5, LEVELS[0], LEVELS[1], LEVELS[2]];
    let (mut sum, mut at) = (pairs[0].1, 0);
    levels.map(|level| {
        while sum < level * total * (1.0 - 1e-9) && at + 1 < pairs.len() {
            at += 1;
            sum += pairs[at].1;
        }
        pairs[at].0
    })
}

/// The index of the tail: the most likely one if the values above the threshold are known up to those that are censored, with
/// the prior as so many observations more.
fn index(
    pairs: &[(f64, f64)],
    threshold: f64,
    unit: f64,
    above: f64,
    observations: f64,
    censored: f64,
) -> f64 {
    let censored = (censored * observations + 1e-9).floor() / observations;
    let kept = above - censored;
    if kept <= 0.5 / observations {
        return PRIOR_INDEX;
    }
    let first = pairs.partition_point(|(x, _)| *x <= threshold);
    let (mut left, mut sum, mut last) = (kept, 0.0, 0.0);
    for &(x, mass) in &pairs[first..] {
        // What rounding leaves is no observation.
        if left <= 1e-6 / observations {
            break;
        }
        last = ((x - threshold) / unit).min(f64::MAX).ln_1p();
        sum += mass.min(left) * last;
        left -= mass;
    }
    (observations * kept + PRIOR_COUNT) / (observations * (sum + censored * last) + PRIOR_COUNT / PRIOR_INDEX)
}

/// Both tails of a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    upper: Side,
    lower: Side,
}

impl Sides {
    /// From the values of the rows, in any order, and their masses.
    pub(super) fn learn(
        values: impl Iterator<Item = f64>,
        masses: &[f64],
        observations: f64,
        expected: f64,
        resolution: f64,
        censored: f64,
    ) -> Self {
        let mut pairs: Vec<(f64, f64)> = values.zip(masses.iter().copied()).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let upper = Side::learn(&pairs, observations, expected, resolution, censored);
        pairs.reverse();
        for (x, _) in &mut pairs {
            *x = -*x;
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        Self { upper, lower: Side::learn(&pairs, observations, expected, resolution, censored) }
    }

    /// The larger excess of both tails, and by how much it changes at most if `x` is off by `error`.
    pub(super) fn excess(&self, x: f64, error: f64) -> (f64, f64) {
        let (upper, lower) = (self.upper.excess(x, error), self.lower.excess(-x, error));
        (upper.0.max(lower.0), upper.1.max(lower.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::special::normal_quantile;

    fn sides(values: &[f64], expected: f64) -> Sides {
        let n = values.len() as f64;
        Sides::learn(values.iter().copied(), &vec![1.0 / n; values.len()], n, expected, 0.0, CENSORED)
    }

    #[test]
    fn a_tail_of_the_family_is_extrapolated() {
        // Median 0, threshold 1, and P(X > 1 + r) = 0.1 (1 + r)^-2 beyond it.
        let value =
            |level: f64| if level < 0.9 { 2.5 * level - 1.25 } else { (10.0 * (1.0 - level)).powf(-0.5) };
        let values: Vec<f64> = (0..4000).map(|i| value((f64::from(i) + 0.5) / 4000.0)).collect();
        // The excess over a probability of 1/20 where the probability is 1e-7.
        let (excess, _) = sides(&values, 20f64.ln()).excess(1e3, 0.0);
        let exact = (1e7f64 / 20.0).ln();
        // The index of 400 observations, 80 of them censored, has a standard error of 1/18 of itself.
        assert!((excess / exact - 1.0).abs() < 0.1, "{excess} {exact}");
    }

    #[test]
    fn ordinary_values_are_not_in_excess_and_gross_ones_are() {
        let normal: Vec<f64> = (0..1000).map(|i| normal_quantile((f64::from(i) + 0.5) / 1000.0)).collect();
        let expected = 0.7 * (2000f64).ln();
        let both = sides(&normal, expected);
        for x in [-2.5, 0.0, 2.5] {
            assert_eq!(both.excess(x, 0.0).0, 0.0, "{x}");
        }
        assert!(both.excess(10.0, 0.0).0 > 3.0 && both.excess(-10.0, 0.0).0 > 3.0);
        // A fiftieth of gross errors do not make themselves ordinary; fewer are seen more clearly.
        let contaminated = |count: usize| {
            let mut values = normal.clone();
            values[..count].fill(10.0);
            sides(&values, expected).excess(10.0, 0.0).0
        };
        assert!(contaminated(20) > 0.0 && contaminated(10) > contaminated(20));
    }

    #[test]
    fn excess_is_continuous_and_rises() {
        for values in [
            vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            vec![3.0; 40],
            vec![1.0, 2.0],
            (0..90).map(|i| f64::from(i % 5)).collect(),
        ] {
            let both = sides(&values, 3.0);
            // None of them has a value in excess.
            let (largest, mut last) = (values.iter().copied().fold(0.0, f64::max), 0.0);
            for k in 0..200_000 {
                let (now, _) = both.excess(largest + f64::from(k) * 1e-3, 0.0);
                assert!(now >= last && now - last < 0.02, "{values:?} {k}: {last} {now}");
                last = now;
            }
            assert!(last > 1.0, "{values:?}");
        }
    }

    #[test]
    fn masses_are_copies() {
        let copies = sides(&[1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 9.0, 9.5], 2.0);
        let masses = [0.25, 0.125, 0.375, 0.125, 0.125];
        let merged = Sides::learn([1.0, 2.0, 3.0, 9.0, 9.5].into_iter(), &masses, 8.0, 2.0, 0.0, CENSORED);
        for x in [-7.0, 0.0, 2.5, 9.2, 40.0, 1e9] {
            assert!((copies.excess(x, 0.0).0 - merged.excess(x, 0.0).0).abs() < 1e-12, "{x}");
        }
    }
}
