//! Values of a column, and depths, as counts.

use super::text;
use serde::Serialize;

/// Bars of a histogram of a column.
const BARS: usize = 24;
/// Levels of a category that are listed by name.
const LEVELS: usize = 12;

/// Counts of values in bars of equal width.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histogram {
    /// Where the first bar starts.
    pub low: f64,
    /// Where the last bar ends.
    pub high: f64,
    /// The counts.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// All finite values in at most 48 bars.
    ///
    /// ```
    /// use lossdepth_plot::report::Histogram;
    /// let histogram = Histogram::new(&[0.0, 1.0, 1.0, 48.0]);
    /// assert_eq!((histogram.low, histogram.high), (0.0, 48.0));
    /// assert_eq!(histogram.counts[..2], [1, 2]);
    /// ```
    pub fn new(values: &[f64]) -> Self {
        let finite = || values.iter().copied().filter(|x| x.is_finite());
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            return Self { low: 0.0, high: 1.0, counts: Vec::new() };
        }
        let (low, high) = widened(low, high);
        Self::of(finite(), low, high, 48).0
    }

    /// The values between `low` and `high`, and how many are below and above.
    fn of(values: impl Iterator<Item = f64>, low: f64, high: f64, bars: usize) -> (Self, u64, u64) {
        let (mut counts, mut below, mut above) = (vec![0u64; bars], 0, 0);
        for x in values {
            if x < low {
                below += 1;
            } else if x > high {
                above += 1;
            } else {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to bars")]
                let bar = ((x - low) / (high - low) * bars as f64) as usize;
                counts[bar.min(bars - 1)] += 1;
            }
        }
        (Self { low, high, counts }, below, above)
    }
}

/// The same range, or one around a single value.
fn widened(low: f64, high: f64) -> (f64, f64) {
    if high - low > 1e-12 * low.abs().max(high.abs()) {
        return (low, high);
    }
    let half = 0.5 * if low == 0.0 { 1.0 } else { low.abs() };
    (low - half, high + half)
}

/// How the values of a column are distributed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Distribution {
    /// Numbers, or dates as days since 1970.
    Numbers {
        /// The bulk of the values; the most extreme ones may be outside.
        histogram: Histogram,
        /// How many are below the histogram.
        below: u64,
        /// How many are above it.
        above: u64,
        /// The 5 % and the 95 % quantile: nine in ten values are between them.
        middle: [f64; 2],
        /// Whether they are dates.
        dates: bool,
    },
    /// Levels of a category.
    Levels {
        /// The most frequent ones with their counts.
        levels: Vec<(String, u64)>,
        /// How many other levels there are.
        others: u64,
        /// How many rows have one of those.
        rows: u64,
    },
    /// Not shown.
    Hidden,
}

impl Distribution {
    /// Of numbers; values that are not finite are gaps.
    pub fn numbers(values: &[f64]) -> Self {
        Self::continuous(values, false)
    }

    /// Of dates as days since 1970; values that are not finite are gaps.
    pub fn dates(values: &[f64]) -> Self {
        Self::continuous(values, true)
    }

    fn continuous(values: &[f64], dates: bool) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        if sorted.is_empty() {
            let histogram = Histogram { low: 0.0, high: 1.0, counts: Vec::new() };
            return Self::Numbers { histogram, below: 0, above: 0, middle: [f64::NAN; 2], dates };
        }
        let middle = [quantile(&sorted, 0.05), quantile(&sorted, 0.95)];
        let (low, high, bars) = bulk(&sorted);
        let (histogram, below, above) = Histogram::of(sorted.iter().copied(), low, high, bars);
        Self::Numbers { histogram, below, above, middle, dates }
    }

    /// Of levels with their counts, in any order.
    ///
    /// ```
    /// use lossdepth_plot::report::Distribution;
    /// let shares = Distribution::levels([("north", 3), ("south", 9)]);
    /// assert_eq!(shares.usual(), "south (75%), north (25%)");
    /// ```
    pub fn levels<S: Into<String>>(counts: impl IntoIterator<Item = (S, u64)>) -> Self {
        let mut levels: Vec<(String, u64)> =
            counts.into_iter().map(|(name, count)| (name.into(), count)).collect();
        levels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let rest = levels.split_off(LEVELS.min(levels.len()));
        Self::Levels { levels, others: rest.len() as u64, rows: rest.iter().map(|level| level.1).sum() }
    }

    /// What is usual, in a few words: `5 to 27`, `south (75%), north (25%)`.
    pub fn usual(&self) -> String {
        match self {
            Self::Numbers { histogram, .. } if histogram.counts.is_empty() => "no values".to_owned(),
            Self::Numbers { middle: [low, high], dates, .. } => {
                let words = if *dates { text::date } else { text::number };
                if low == high { words(*low) } else { format!("{} to {}", words(*low), words(*high)) }
            }
            Self::Levels { levels, rows, others } => {
                let total = (levels.iter().map(|level| level.1).sum::<u64>() + rows).max(1) as f64;
                let share = |level: &(String, u64)| {
                    format!(
                        "{} ({})",
                        level.0,
                        text::percent((level.1 as f64 / total * 100.0).round() / 100.0)
                    )
                };
                let shown: Vec<String> = levels.iter().take(3).map(share).collect();
                let more = levels.len().saturating_sub(3) as u64 + others;
                match more {
                    0 => shown.join(", "),
                    more => format!("{} and {}", shown.join(", "), text::counted(more, "other", "others")),
                }
            }
            Self::Hidden => "(masked)".to_owned(),
        }
    }
}

/// A histogram's range and number of bars: the middle 98 % with a quarter of its width at either end. Whole numbers get bars
/// of a whole width, centred at whole numbers.
fn bulk(sorted: &[f64]) -> (f64, f64, usize) {
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    let (q01, q99) = (quantile(sorted, 0.01), quantile(sorted, 0.99));
    let (q01, q99) = if q01 < q99 { (q01, q99) } else { (least, most) };
    let pad = 0.25 * (q99 - q01);
    // The range ends at values that occur.
    let low = sorted[sorted.partition_point(|x| *x < q01 - pad)];
    let high = sorted[sorted.partition_point(|x| *x <= q99 + pad).saturating_sub(1)];
    let whole = sorted.iter().all(|x| x.fract() == 0.0 && x.abs() < 1e9);
    if !whole {
        let (low, high) = widened(low, high);
        return (low, high, BARS);
    }
    let (low, high) = (low.ceil(), high.floor());
    let width = ((high - low + 1.0) / BARS as f64).ceil().max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most BARS")]
    let bars = ((high - low + 1.0) / width).ceil().max(1.0) as usize;
    (low - 0.5, low - 0.5 + width * bars as f64, bars)
}

/// The smallest value with at least a share `q` of the values at or below it.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to n")]
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(distribution: &Distribution) -> u64 {
        match distribution {
            Distribution::Numbers { histogram, below, above, .. } => {
                histogram.counts.iter().sum::<u64>() + below + above
            }
            Distribution::Levels { levels, rows, .. } => {
                levels.iter().map(|level| level.1).sum::<u64>() + rows
            }
            Distribution::Hidden => 0,
        }
    }

    #[test]
    fn every_value_is_counted_once() {
        let tails: Vec<f64> = (0..1000).map(|i| (f64::from(i) * 0.37).tan()).collect();
        let whole: Vec<f64> = (0..1000).map(|i| f64::from(i * i % 97)).collect();
        let cases = [tails, whole, vec![3.0; 5], vec![0.0], vec![1e300, -1e300], vec![-2.0, 7.0, 900.0]];
        for values in cases {
            assert_eq!(total(&Distribution::numbers(&values)), values.len() as u64, "{values:?}");
        }
        assert_eq!(total(&Distribution::numbers(&[f64::NAN, 1.0, f64::INFINITY])), 1);
        let many = (0..50).map(|i| (format!("level {i}"), i + 1));
        assert_eq!(total(&Distribution::levels(many)), 50 * 51 / 2);
    }

    #[test]
    fn an_outlier_does_not_squash_the_histogram() {
        let mut values: Vec<f64> = (0..500).map(|i| 5.0 + f64::from(i % 23)).collect();
        values.push(900.0);
        let Distribution::Numbers { histogram, above, .. } = Distribution::numbers(&values) else { panic!() };
        assert_eq!(above, 1);
        assert_eq!((histogram.low, histogram.high, histogram.counts.len()), (4.5, 27.5, 23), "{histogram:?}");
    }

    #[test]
    fn usual_values_are_named() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(Distribution::numbers(&values).usual(), "5 to 95");
        assert_eq!(Distribution::dates(&[19_782.0]).usual(), "2024-02-29");
        assert_eq!(Distribution::numbers(&[]).usual(), "no values");
    }
}
