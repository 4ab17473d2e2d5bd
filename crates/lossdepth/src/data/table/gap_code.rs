//! Numbers that stand for a gap, as 99 in a survey of answers from 1 to 5, or -999 in a log of temperatures.

use super::guess::Plan;
use super::kind::ColumnKind;
use super::{Table, Texts, Values, gap};
use std::collections::BTreeMap;

/// So many cells of one code at least: fewer are mistakes (heuristic).
const CELLS: usize = 3;

/// So many other cells at least tell where the values of a column lie (heuristic).
const OTHERS: usize = 8;

/// The longest run of nines that is a code.
const DIGITS: u32 = 6;

/// Finds the codes of the columns of numbers whose kind is not said, and adds them to their plans.
///
/// A code is a run of nines, with or without a minus sign, in at least three cells. The other values are at least as many; they
/// are all positive or 0 and the code is negative, or the code is farther from them than they are from each other. The numbers
/// that go with it, such as 98 and 88, are codes then too. A code that two columns have needs one cell in a third one. Amounts of
/// money have none, nor have prices: numbers of which most end in 9.
pub(super) fn find(table: &Table, weights: &[f64], words: &[String], plans: &mut [Plan]) {
    let candidates: Vec<(usize, Counts)> = plans
        .iter()
        .enumerate()
        .filter(|(_, plan)| {
            let form = &plan.number;
            let plain = !form.duration && !form.feet && form.unit.is_none() && plan.parts.is_empty();
            plan.kind == ColumnKind::Number && !plan.said && plain
        })
        .filter_map(|(at, plan)| {
            let counts = Counts::of(&table.columns()[at].values, plan, weights, words);
            (!counts.codes.is_empty()).then_some((at, counts))
        })
        .collect();
    let mut columns: BTreeMap<i64, usize> = BTreeMap::new();
    for (at, counts) in &candidates {
        let found = counts.found(|code| counts.codes[&code] >= CELLS);
        for code in &found {
            *columns.entry(*code).or_default() += 1;
        }
        plans[*at].number.gaps = found;
    }
    for (at, counts) in &candidates {
        let common = |code: i64| counts.codes[&code] >= CELLS || columns.get(&code).is_some_and(|&n| n >= 2);
        plans[*at].number.gaps = counts.found(common);
    }
}

/// The numbers of a column: how often those come that may be codes, and where the others lie.
struct Counts {
    codes: BTreeMap<i64, usize>,
    others: usize,
    /// How many of the others end in 9, but for decimals.
    prices: usize,
    min: f64,
    max: f64,
}

impl Counts {
    fn of(values: &Values, plan: &Plan, weights: &[f64], words: &[String]) -> Self {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut counts = Self { codes: BTreeMap::new(), others: 0, prices: 0, min, max };
        match values {
            Values::Numbers(values) => {
                let counted =
                    values.iter().zip(weights).filter(|(value, weight)| **weight > 0.0 && !value.is_nan());
                counted.for_each(|(value, _)| counts.add(*value, 1));
            }
            Values::Texts(texts) => {
                let mut each = vec![0; texts.levels().len()];
                let codes = texts.codes().iter().zip(weights);
                for (&code, _) in codes.filter(|(code, weight)| **code != Texts::GAP && **weight > 0.0) {
                    each[code as usize] += 1;
                }
                for (text, count) in texts.levels().iter().zip(each).filter(|(_, count)| *count > 0) {
                    let is_gap = gap::is_gap(text, words) || gap::is_gap_word(text);
                    if let Some(value) = plan.number.parse(text).filter(|_| !is_gap) {
                        counts.add(value, count);
                    }
                }
            }
            Values::Booleans(_) | Values::Times(_) => {}
        }
        counts
    }

    fn add(&mut self, value: f64, count: usize) {
        if nines(value).is_some() {
            #[expect(clippy::cast_possible_truncation, reason = "at most six digits")]
            let code = value as i64;
            *self.codes.entry(code).or_default() += count;
        } else {
            self.others += count;
            self.prices += if value.abs().floor() % 10.0 == 9.0 { count } else { 0 };
            (self.min, self.max) = (self.min.min(value), self.max.max(value));
        }
    }

    /// The codes, where those of nines that count are told.
    fn found(&self, counts: impl Fn(i64) -> bool) -> Vec<i64> {
        let coded: usize = self.codes.values().sum();
        if self.others < OTHERS.max(coded) || 2 * self.prices > self.others || self.min == self.max {
            return Vec::new();
        }
        let range = self.max - self.min;
        let apart = |code: i64| {
            let code = code as f64;
            let below = code < 0.0 && (self.min >= 0.0 || self.min - code > range);
            below || code - self.max > range
        };
        let nines_of = |code: i64| nines(code as f64).unwrap_or(0);
        let heads: Vec<i64> = self
            .codes
            .keys()
            .copied()
            .filter(|&code| code == nines_of(code) && apart(code) && counts(code))
            .collect();
        let all = self.codes.keys().copied();
        all.filter(|&code| apart(code) && heads.contains(&nines_of(code))).collect()
    }
}

/// The run of nines that a number is or goes with: 999 for 999, 998, 997, 888 and 777.
fn nines(value: f64) -> Option<i64> {
    if value.fract() != 0.0 || value.abs() >= 10f64.powi(DIGITS.cast_signed()) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most six digits")]
    let number = value as i64;
    if number == -9 {
        return Some(-9);
    }
    let digits = number.unsigned_abs().checked_ilog10()? + 1;
    let ones = (10i64.pow(digits) - 1) / 9;
    let size = number.abs();
    let goes = [9 * ones, 9 * ones - 1, 9 * ones - 2, 8 * ones, 7 * ones].contains(&size);
    (digits >= 2 && goes).then(|| number.signum() * 9 * ones)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(values: &[f64]) -> Vec<i64> {
        let mut counts = Counts {
            codes: BTreeMap::new(),
            others: 0,
            prices: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        };
        for value in values {
            counts.add(*value, 1);
        }
        counts.found(|code| counts.codes[&code] >= CELLS)
    }

    fn with(from: i32, to: i32, more: &[f64]) -> Vec<f64> {
        (from..=to).chain(from..=to).map(f64::from).chain(more.iter().copied()).collect()
    }

    #[test]
    fn runs_of_nines_beyond_the_values_are_codes() {
        assert_eq!(codes(&with(1, 5, &[99.0; 3])), [99]);
        assert_eq!(codes(&with(1, 5, &[99.0, 99.0, 99.0, 98.0, 88.0])), [88, 98, 99]);
        assert_eq!(codes(&with(0, 90, &[999.0; 4])), [999]);
        assert_eq!(codes(&with(-20, 35, &[-999.0; 4])), [-999]);
        assert_eq!(codes(&with(900, 6000, &[-99.0; 3])), [-99]);
        assert_eq!(codes(&with(1, 30, &[-9.0; 3])), [-9]);
        assert_eq!(codes(&with(1, 5, &[-99.0, -99.0, -99.0, 999.0, 999.0, 999.0])), [-99, 999]);
    }

    #[test]
    fn what_can_be_a_value_is_none() {
        // Too few, within the values, not far beyond them, as many as the others, constant otherwise.
        assert!(codes(&with(1, 5, &[99.0; 2])).is_empty());
        assert!(codes(&with(1, 100, &[99.0; 3])).is_empty());
        assert!(codes(&with(18, 85, &[99.0; 5])).is_empty());
        assert!(codes(&with(-120, 300, &[-99.0; 5])).is_empty());
        assert!(codes(&with(1, 5, &[99.0; 11])).is_empty());
        assert!(codes(&with(0, 0, &[99.0; 3])).is_empty());
        assert!(codes(&with(1, 5, &[98.0; 3])).is_empty());
        assert!(codes(&with(1, 5, &[1234.0; 3])).is_empty());
        // Prices.
        assert!(codes(&[[199.0, 249.99, 299.0, 399.0].repeat(3), vec![999.0; 3]].concat()).is_empty());
    }

    #[test]
    fn numbers_that_go_with_nines() {
        let cases = [(99.0, 99), (98.0, 99), (88.0, 99), (-997.0, -999), (-9.0, -9), (777.0, 999)];
        assert!(cases.iter().all(|(value, expected)| nines(*value) == Some(*expected)));
        assert!([9.0, 95.0, 99.5, 0.0, 1e9, 1e300, -8.0].iter().all(|value| nines(*value).is_none()));
    }
}
