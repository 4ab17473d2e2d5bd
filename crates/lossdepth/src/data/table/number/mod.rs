//! Numbers as people write them: with currencies, percent signs, thousands, decimal commas and negatives in parentheses.

mod degrees;
mod digits;
mod feet;
mod flag;
mod format;
mod parts;
mod suffix;
#[cfg(test)]
mod texts;
mod units;

pub(super) use degrees::{is_place, parse as degrees_on_a_map};
pub(super) use feet::parse as feet_and_inches;
pub(super) use parts::{is_number_in_a_unit, unit, without_unit};

use super::cells::ODD;
use super::duration;
use super::quantiles::Quantiles;
use digits::{is_code, is_telephone, value};
use parts::Parts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{UNITS, is_measure, ratio};

/// How the numbers of a column are written, learned from all its cells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a way of writing that goes with the others or not"
)]
pub(super) struct NumberForm {
    /// The decimal mark; `None` if no cell tells it.
    pub(super) decimal: Option<char>,
    /// A currency, `%` or a unit of measurement, if cells have one.
    pub(super) unit: Option<String>,
    /// Whether the unit comes before the number.
    pub(super) unit_first: bool,
    /// How many decimals are shown.
    pub(super) decimals: usize,
    /// Whether they are lengths of time, in days.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) duration: bool,
    /// A unit that no list has behind nearly all numbers, as in `3 rooms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) suffix: Option<String>,
    /// Whether they are lengths in feet and inches, in inches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) feet: bool,
    /// In how many cells there was a bound instead of a value, as `<0.5`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) bounds: usize,
    /// Whether they are degrees on a map.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) degrees: bool,
    /// Whether some have a mark behind them that says that they are out of range, as `7.8 H`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) flags: bool,
    /// What is between thousands, where it is not the other one of `.` and `,`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) thousands: Option<char>,
    /// Whether the digits in front of the last three are in pairs, as in India.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) lakhs: bool,
    /// Numbers that stand for a gap, as 99 among answers from 1 to 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) gaps: Vec<i64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What the texts of a column say about numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumberGuess {
    pub(super) form: NumberForm,
    /// Whether the cells themselves tell the decimal mark.
    pub(super) clear: bool,
    /// In how many cells it is a number.
    pub(super) read: usize,
    /// In how many cells it is a code: digits with a leading zero, or too many of them.
    pub(super) codes: usize,
    /// In how many cells it is a bound, as `<0.5`.
    pub(super) bounds: usize,
}

impl NumberGuess {
    /// Whether a column of so many cells is one of numbers.
    pub(super) fn is_number(&self, cells: usize) -> bool {
        // Groups such as `<18` and `>65` are levels.
        let measured = 2 * self.bounds <= self.read;
        self.read > 0 && ODD.allows(cells - self.read, cells) && ODD.allows(self.codes, cells) && measured
    }
}

/// In how many cells there is a number without a mark that says that it is out of range.
fn found_bare<'a>(texts: impl Iterator<Item = (&'a str, usize)>) -> usize {
    let is_bare = |text: &str| flag::without(text).len() == text.trim().len();
    texts.filter(|(text, _)| is_bare(text)).map(|(_, count)| count).sum()
}

impl NumberForm {
    /// Guesses the form from different texts with how often each comes, of so many cells; gives up where too many are no
    /// numbers. `said` is the decimal mark that the caller says, `usual` the one of other columns of the table, for where
    /// the cells do not tell.
    pub(super) fn guess<'a>(
        texts: impl Iterator<Item = (&'a str, usize)> + Clone,
        cells: usize,
        said: Option<char>,
        usual: Option<char>,
    ) -> NumberGuess {
        let found = Self::guess_bare(texts.clone(), cells, said, usual);
        if found.is_number(texts.clone().map(|(_, count)| count).sum()) {
            return found;
        }
        let flagged = texts.clone().map(|(text, count)| (flag::without(text), count));
        let mut marked = Self::guess_bare(flagged, cells, said, usual);
        // In most cells a mark would be a unit.
        if marked.is_number(texts.clone().map(|(_, count)| count).sum())
            && 2 * found_bare(texts.clone()) > marked.read
        {
            marked.form.flags = true;
            return marked;
        }
        let Some(unit) = suffix::common(texts.clone()) else { return found };
        let bare = texts.map(|(text, count)| (suffix::without(text, &unit), count));
        let mut behind = Self::guess_bare(bare, cells, said, usual);
        behind.form.suffix = Some(unit);
        if behind.read > found.read { behind } else { found }
    }

    /// The same for numbers without a unit behind them that no list has.
    fn guess_bare<'a>(
        texts: impl Iterator<Item = (&'a str, usize)> + Clone,
        cells: usize,
        said: Option<char>,
        usual: Option<char>,
    ) -> NumberGuess {
        let (mut point, mut comma, mut codes, mut bounds, mut marked, mut neither) = (0, 0, 0, 0, false, 0);
        let mut units: BTreeMap<(&'static str, bool), usize> = BTreeMap::new();
        for (text, count) in texts.clone() {
            let parts = Parts::of(text);
            let body = parts.as_ref().map_or("", |parts| parts.body);
            let read = [value(body, '.'), value(body, ',')];
            neither += if read == [None, None] { count } else { 0 };
            if !ODD.allows(neither, cells) {
                return NumberGuess { form: Self::default(), clear: false, read: 0, codes: 0, bounds: 0 };
            }
            let Some(parts) = parts else { continue };
            point += if read[0].is_some() { count } else { 0 };
            comma += if read[1].is_some() { count } else { 0 };
            if read != [None, None] {
                let is_code = parts.unit.is_none() && (is_code(parts.body) || is_telephone(text));
                codes += if is_code { count } else { 0 };
                bounds += if parts.bound { count } else { 0 };
                marked |= parts.body.contains(['.', ',']);
                if let Some(unit) = parts.unit {
                    *units.entry((unit, parts.unit_first)).or_default() += count;
                }
            }
        }
        let clear = point != comma;
        let decimal = match said {
            Some(said) => Some(said),
            None if point > comma => Some('.'),
            None if comma > point => Some(','),
            None => marked.then(|| usual.unwrap_or('.')),
        };
        // Half of the numbers must have a unit of measurement: fewer are mistakes, or say something else.
        let numbers = point.max(comma);
        let together = |unit: &str| -> usize {
            let same = |other: &str| other == unit || ratio(other, unit).is_some();
            units.iter().filter(|((other, _), _)| same(other)).map(|(_, count)| count).sum()
        };
        let enough =
            |((unit, _), _): &(&(&str, bool), &usize)| !is_measure(unit) || 2 * together(unit) >= numbers;
        let most = units.iter().filter(enough).max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
        let unit = most.map(|(unit, _)| *unit);
        let mut form = Self {
            decimal,
            unit: unit.map(|(unit, _)| unit.to_owned()),
            unit_first: unit.is_some_and(|(_, first)| first),
            bounds,
            ..Self::default()
        };
        let (mut read, mut decimals) = (0, 0);
        for (text, count) in texts {
            if let Some((_, places)) = form.parse_places(text) {
                read += count;
                decimals = decimals.max(places);
                form.learn_thousands(text);
            }
        }
        form.decimals = decimals.min(10);
        NumberGuess { form, clear, read, codes, bounds }
    }

    /// Of lengths of time.
    pub(super) fn durations() -> Self {
        Self { decimals: 10, duration: true, ..Self::default() }
    }

    /// Of lengths in feet and inches.
    pub(super) fn in_feet() -> Self {
        Self { decimals: 1, feet: true, ..Self::default() }
    }

    /// Of degrees on a map.
    pub(super) fn in_degrees() -> Self {
        Self { decimals: 4, degrees: true, ..Self::default() }
    }

    /// Of numbers that came as such: as many decimals as tell the values apart.
    pub(super) fn of_values(quantiles: &Quantiles, whole: bool) -> Self {
        if whole {
            return Self::default();
        }
        let places =
            |value: &f64| value.abs().to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let written = quantiles.values().iter().map(places).max().unwrap_or(0);
        // A hundredth of the scale and one digit more.
        let scale = quantiles.scale();
        let mut told = 0;
        while told < 10 && scale * f64::powi(10.0, told) < 1000.0 {
            told += 1;
        }
        Self { decimals: written.min(usize::try_from(told).unwrap_or(0)), ..Self::default() }
    }

    /// Whether a form that was read from a file is one.
    pub(super) fn is_valid(&self) -> bool {
        let known = |unit: &String| UNITS.contains(&unit.as_str()) || is_measure(unit);
        let suffix = self.suffix.iter().all(|suffix| suffix::is_unit(suffix));
        matches!(self.decimal, None | Some('.' | ','))
            && matches!(self.thousands, None | Some('\'' | '’' | ' '))
            && self.gaps.len() <= 64
            && self.decimals <= 10
            && self.unit.iter().all(known)
            && suffix
    }

    /// The number of a text, `None` if it is none.
    pub(super) fn parse(&self, text: &str) -> Option<f64> {
        self.parse_places(text).map(|(value, _)| value)
    }

    /// The number of a text, and how many decimals it has.
    fn parse_places(&self, text: &str) -> Option<(f64, usize)> {
        if self.duration {
            return duration::parse(text).map(|days| (days, self.decimals));
        }
        if self.feet {
            return feet::parse(text).map(|inches| (inches, self.decimals));
        }
        if self.degrees {
            return degrees::parse(text).map(|degrees| (degrees, self.decimals));
        }
        let text = if self.flags { flag::without(text) } else { text };
        let parts = Parts::of(self.suffix.as_deref().map_or(text, |unit| suffix::without(text, unit)))?;
        let mut multiple = 1.0;
        match (parts.unit, self.unit.as_deref()) {
            (Some(unit), Some(own)) if unit != own => multiple = ratio(unit, own)?,
            // Percent or kilograms where the reference has none would be another quantity; a currency is not.
            (Some("%" | "‰"), None) => return None,
            (Some(unit), None) if is_measure(unit) => return None,
            _ => {}
        }
        let (size, places) = match self.decimal {
            Some(decimal) => value(parts.body, decimal)?,
            None => value(parts.body, '.').or_else(|| value(parts.body, ','))?,
        };
        let mut size = size * 10f64.powi(i32::try_from(parts.exponent).ok()?);
        if multiple != 1.0 {
            size *= multiple;
        }
        Some((if parts.negative { -size } else { size }, places.saturating_sub(parts.exponent)))
    }

    /// Learns from a number what is between thousands.
    fn learn_thousands(&mut self, text: &str) {
        if self.thousands.is_some() || self.lakhs {
            return;
        }
        let Some(parts) = Parts::of(text) else { return };
        let whole = parts.body.split(self.decimal.unwrap_or('.')).next().unwrap_or_default();
        match whole.chars().find(|c| !c.is_ascii_digit()) {
            Some(mark @ ('\'' | '’')) => self.thousands = Some(mark),
            Some(mark) if mark.is_whitespace() => self.thousands = Some(' '),
            Some(mark) => {
                let groups: Vec<&str> = whole.split(mark).collect();
                self.lakhs = mark == ',' && groups.len() > 2 && groups[1].len() == 2;
            }
            None => {}
        }
    }

    /// Whether a number stands for a gap.
    pub(super) fn is_gap(&self, number: f64) -> bool {
        self.gaps.iter().any(|code| *code as f64 == number)
    }

    /// Whether a text that cannot be read is a number in another unit than the column has.
    pub(super) fn is_in_another_unit(&self, text: &str) -> bool {
        !self.duration && self.parse(text).is_none() && is_number_in_a_unit(text)
    }
}
