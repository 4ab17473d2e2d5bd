//! How the distribution of a column changed from one table to another.

use super::{Distribution, Step, Thresholds, text};
use serde::Serialize;
use std::collections::BTreeMap;

/// The chance that a column is said to have changed although none has.
const LEVEL: f64 = 0.01;
/// Bars of a picture of a change.
const BARS: usize = 24;
/// Levels in a picture of a change.
const LEVELS: usize = 10;

/// What changed from the reference to the rows that are scored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// Each compared column, in any order; the page shows the largest changes first.
    pub columns: Vec<ColumnDrift>,
    /// For each of the page's odd rows, in their order, the shares of rows before and now that are like it in the column of
    /// its main reason: as far out on the same side, of the same level, or with a gap too. Empty if unknown.
    #[serde(skip)]
    pub alike: Vec<Option<[f64; 2]>>,
    /// Depths of the reference's own rows: the share of them that a threshold would flag is what was odd before. Empty if
    /// unknown; then the page says what is expected.
    #[serde(skip)]
    pub reference_depths: Vec<f64>,
}

/// The change of one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnDrift {
    /// Which column of the page.
    pub column: usize,
    /// The largest difference between the shares below any value (numbers; the distance of Kolmogorov and Smirnov), or half the
    /// sum of the differences of the levels' shares (categories; the total variation); between 0 and 1.
    pub distance: f64,
    /// How large a distance chance alone explains; see [`is_beyond_chance`](Self::is_beyond_chance).
    #[serde(skip)]
    pub chance: Chance,
    /// What changed, such as `median 12 before, 19 now`.
    pub sentence: String,
    /// The name of each bar, for levels.
    pub levels: Vec<String>,
    /// The share of the reference in each bar.
    pub before: Vec<f64>,
    /// The share of the scored rows in each bar.
    pub now: Vec<f64>,
}

/// What the size of the samples says about a distance.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Chance {
    /// The largest difference of shares that was found: below any value, or of any level.
    pub largest: f64,
    /// Among how many it is the largest: 1 for numbers, the levels of a category.
    pub among: usize,
    /// One over the rows before, plus one over the rows now.
    pub inverse_rows: f64,
}

impl Drift {
    /// The columns that changed by more than chance explains, the largest distance first.
    pub(crate) fn beyond_chance(&self) -> Vec<&ColumnDrift> {
        let tests = self.columns.len();
        let mut found: Vec<&ColumnDrift> =
            self.columns.iter().filter(|column| column.is_beyond_chance(tests)).collect();
        found.sort_by(|a, b| b.distance.total_cmp(&a.distance).then(a.column.cmp(&b.column)));
        found
    }

    /// The share of rows flagged at a threshold, now and before.
    pub(crate) fn flagged(&self, thresholds: &Thresholds, step: &Step) -> String {
        let now = step.flagged as f64 / thresholds.rows.max(1) as f64;
        let n = self.reference_depths.len();
        let (before, source) = if n == 0 {
            (step.p, "expected from the reference")
        } else {
            let as_shallow = self.reference_depths.iter().filter(|depth| **depth <= step.cut).count();
            (as_shallow as f64 / n as f64, "in the reference")
        };
        let (p, now, before) = (text::p_value(step.p), text::percent(now), text::percent(before));
        format!("Share of rows with p ≤ {p}: {now} now, {before} {source}.")
    }
}

impl ColumnDrift {
    /// Whether two samples of the same distribution would differ as much with a chance below 1 % over all of `tests` columns:
    /// by the limit of Kolmogorov's distribution for numbers, by Hoeffding's inequality for each level of a category.
    pub fn is_beyond_chance(&self, tests: usize) -> bool {
        let Chance { largest, among, inverse_rows } = self.chance;
        let tests = (among.max(1) * tests.max(1)) as f64;
        inverse_rows > 0.0 && largest > (0.5 * (2.0 * tests / LEVEL).ln() * inverse_rows).sqrt()
    }

    /// Of numbers, or of dates as days since 1970; values that are not finite are gaps and take no part in the distance.
    ///
    /// ```
    /// use lossdepth_plot::report::ColumnDrift;
    /// let drift = ColumnDrift::numbers(0, &[1.0, 2.0, 3.0, 4.0], &[3.0, 4.0, 5.0, 6.0], false);
    /// assert_eq!(drift.distance, 0.5);
    /// assert_eq!(drift.sentence, "median 2 before, 4 now");
    /// ```
    pub fn numbers(column: usize, before: &[f64], now: &[f64], dates: bool) -> Self {
        let sorted = |values: &[f64]| {
            let mut finite: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
            finite.sort_unstable_by(f64::total_cmp);
            finite
        };
        let (old, new) = (sorted(before), sorted(now));
        let words = if dates { text::date } else { text::number };
        let sentence = match (median(&old), median(&new)) {
            (Some(old), Some(new)) if old == new => format!("median {} before and now", words(old)),
            (Some(old), Some(new)) => format!("median {} before, {} now", words(old), words(new)),
            (None, Some(_)) => "no values before".to_owned(),
            (Some(_), None) => "no values now".to_owned(),
            (None, None) => "no values".to_owned(),
        };
        let both: Vec<f64> = old.iter().chain(&new).copied().collect();
        let (low, high) = match Distribution::numbers(&both) {
            Distribution::Numbers { histogram, .. } => (histogram.low, histogram.high),
            _ => (0.0, 1.0),
        };
        let distance = if old.is_empty() || new.is_empty() {
            f64::from(u8::from(old.is_empty() != new.is_empty()))
        } else {
            kolmogorov_smirnov(&old, &new)
        };
        let inverse = |rows: usize| 1.0 / rows.max(1) as f64;
        let inverse_rows = inverse(old.len()) + inverse(new.len());
        let chance = Chance { largest: distance, among: 1, inverse_rows };
        let (before, now) = (bars(&old, low, high), bars(&new, low, high));
        Self { column, distance, chance, sentence, levels: Vec::new(), before, now }
    }

    /// The same with the shares of gaps, before and now, which the sentence tells where they differ by a percent.
    #[must_use]
    pub fn with_gaps(self, [before, now]: [f64; 2]) -> Self {
        if (before - now).abs() < 0.01 {
            return self;
        }
        let (before, now) = (text::percent(before), text::percent(now));
        Self { sentence: format!("{}; gaps {before} before, {now} now", self.sentence), ..self }
    }

    /// Of the levels' counts.
    pub fn levels(column: usize, before: &[(String, u64)], now: &[(String, u64)]) -> Self {
        let mut counts: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
        for (side, levels) in [before, now].into_iter().enumerate() {
            for (name, count) in levels {
                counts.entry(name).or_default()[side] += count;
            }
        }
        let totals = [0, 1].map(|side| counts.values().map(|pair| pair[side]).sum::<u64>().max(1) as f64);
        let share = |pair: &[u64; 2], side: usize| pair[side] as f64 / totals[side];
        let change = |pair: &[u64; 2]| share(pair, 1) - share(pair, 0);
        let distance = 0.5 * counts.values().map(|pair| change(pair).abs()).sum::<f64>();
        let chance = Chance {
            largest: counts.values().map(|pair| change(pair).abs()).fold(0.0, f64::max),
            among: counts.len(),
            inverse_rows: totals.iter().map(|rows| 1.0 / rows).sum(),
        };
        let new: Vec<&str> =
            counts.iter().filter(|(_, pair)| pair[0] == 0 && pair[1] > 0).map(|(name, _)| *name).collect();
        let largest = counts.iter().max_by(|a, b| change(a.1).abs().total_cmp(&change(b.1).abs()));
        let mut sentence = largest.map_or_else(
            || "no values".to_owned(),
            |(name, pair)| {
                let (old, new) = (text::percent(share(pair, 0)), text::percent(share(pair, 1)));
                format!("{name}: {old} before, {new} now")
            },
        );
        if !new.is_empty() {
            sentence = format!("{sentence}; new: {}", text::listed(&new, 3));
        }
        let mut shown: Vec<(&str, [u64; 2])> = counts.into_iter().collect();
        shown.sort_by(|a, b| (b.1[0] + b.1[1]).cmp(&(a.1[0] + a.1[1])).then_with(|| a.0.cmp(b.0)));
        shown.truncate(LEVELS);
        Self {
            column,
            distance,
            chance,
            sentence,
            levels: shown.iter().map(|(name, _)| (*name).to_owned()).collect(),
            before: shown.iter().map(|(_, pair)| share(pair, 0)).collect(),
            now: shown.iter().map(|(_, pair)| share(pair, 1)).collect(),
        }
    }
}

fn median(sorted: &[f64]) -> Option<f64> {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

/// The largest difference between two empirical distribution functions.
fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut largest) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let x = a[i].min(b[j]);
        i += a[i..].iter().take_while(|value| **value <= x).count();
        j += b[j..].iter().take_while(|value| **value <= x).count();
        largest = largest.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    largest
}

/// Shares in bars of equal width; what is outside counts to the first and the last.
fn bars(sorted: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut shares = vec![0.0; BARS];
    for x in sorted {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let bar = ((x - low) / (high - low) * BARS as f64).clamp(0.0, BARS as f64 - 1.0) as usize;
        shares[bar] += 1.0 / sorted.len() as f64;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_have_not_changed() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * i % 31)).collect();
        let drift = ColumnDrift::numbers(0, &values, &values, false);
        assert_eq!(drift.distance, 0.0);
        assert_eq!(drift.before, drift.now);
        let levels = [("a".to_owned(), 3), ("b".to_owned(), 9)];
        assert_eq!(ColumnDrift::levels(0, &levels, &levels).distance, 0.0);
    }

    #[test]
    fn chance_explains_small_changes_only() {
        let values = |n: u32, shift: f64| {
            (0..n).map(|i| f64::from(i * 37 % n) / f64::from(n) + shift).collect::<Vec<f64>>()
        };
        let drift = |shift| ColumnDrift::numbers(0, &values(500, 0.0), &values(400, shift), false);
        assert!(!drift(0.02).is_beyond_chance(10) && drift(0.3).is_beyond_chance(10));
        let levels = |a: u64, b: u64| [("a".to_owned(), a), ("b".to_owned(), b)];
        assert!(!ColumnDrift::levels(0, &levels(90, 10), &levels(85, 15)).is_beyond_chance(10));
        assert!(ColumnDrift::levels(0, &levels(90, 10), &levels(40, 60)).is_beyond_chance(10));
    }

    #[test]
    fn distance_matches_the_definition() {
        let old: Vec<f64> = (0..40).map(|i| f64::from(i * 17 % 29)).collect();
        let new: Vec<f64> = (0..55).map(|i| f64::from(i * 13 % 37) + 2.0).collect();
        let below = |values: &[f64], x: f64| {
            values.iter().filter(|value| **value <= x).count() as f64 / values.len() as f64
        };
        let definition =
            old.iter().chain(&new).map(|x| (below(&old, *x) - below(&new, *x)).abs()).fold(0.0, f64::max);
        assert_eq!(ColumnDrift::numbers(0, &old, &new, false).distance, definition);
    }

    #[test]
    fn new_levels_and_new_gaps_are_named() {
        let before = [("a".to_owned(), 9), ("b".to_owned(), 1)];
        let now = [("a".to_owned(), 5), ("z".to_owned(), 5)];
        let drift = ColumnDrift::levels(0, &before, &now);
        assert_eq!(drift.distance, 0.5);
        assert_eq!(drift.sentence, "z: 0% before, 50% now; new: z");
        let gaps = ColumnDrift::numbers(0, &[1.0, 1.0], &[1.0, f64::NAN], false).with_gaps([0.0, 0.5]);
        assert_eq!(gaps.sentence, "median 1 before and now; gaps 0% before, 50% now");
        assert_eq!(ColumnDrift::numbers(0, &[1.0], &[f64::NAN], false).distance, 1.0);
    }
}
