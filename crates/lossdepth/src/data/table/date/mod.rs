//! Dates and times as people write them.

mod calendar;
mod century;
mod names;
#[cfg(test)]
mod texts;
mod tokens;

pub(super) use calendar::{format, format_clock};

use super::cells::ODD;
use serde::{Deserialize, Serialize};
use tokens::Tokens;

/// How the dates of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DateForm {
    /// Whether `1/2/2024` is the first of February.
    pub(super) day_first: bool,
    /// Years of two digits are in the twentieth century from this one on, and in the twenty-first below it.
    #[serde(default = "century::usual", skip_serializing_if = "century::is_usual")]
    pub(super) century: u32,
    /// Whether eight digits are a date, as `20240131`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) compact: bool,
    /// How many units a second has where the dates are numbers since the beginning of 1970; 0 where they are not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) epoch: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(units: &u32) -> bool {
    *units == 0
}

impl Default for DateForm {
    fn default() -> Self {
        Self { day_first: false, century: century::usual(), compact: false, epoch: 0 }
    }
}

/// What the texts of a column say about dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DateGuess {
    pub(super) form: DateForm,
    /// Whether the cells themselves tell the order.
    pub(super) clear: bool,
    /// In how many cells there is a date.
    pub(super) read: usize,
}

impl DateGuess {
    /// Whether a column of so many cells is one of dates.
    pub(super) fn is_date(&self, cells: usize) -> bool {
        self.read > 0 && ODD.allows(cells - self.read, cells)
    }
}

impl DateForm {
    /// Guesses the form from different texts with how often each comes, of so many cells; gives up where too many are no
    /// dates. `said` is what the caller says, `usual` what other columns of the table have, for where the cells do not tell.
    pub(super) fn guess<'a>(
        texts: impl Iterator<Item = (&'a str, usize)> + Clone,
        cells: usize,
        said: Option<bool>,
        usual: Option<bool>,
    ) -> DateGuess {
        let (mut day, mut month, mut neither) = (0, 0, 0);
        for (text, count) in texts.clone() {
            let of = |day_first| Self { day_first, ..Self::default() };
            let read = [true, false].map(|day_first| of(day_first).parse(text).is_some());
            day += if read[0] { count } else { 0 };
            month += if read[1] { count } else { 0 };
            neither += if read == [false, false] { count } else { 0 };
            if !ODD.allows(neither, cells) {
                break;
            }
        }
        let clear = day != month;
        let day_first = said.unwrap_or(if clear { day > month } else { usual.unwrap_or(false) });
        let read = if day_first { day } else { month };
        let mut form = Self { day_first, ..Self::default() };
        if read > 0 && ODD.allows(neither, cells) {
            form.century = century::of(form, texts.map(|(text, _)| text));
        }
        DateGuess { form, clear, read }
    }

    /// Eight digits as a date, in days, as `20240131` in the years from 1900 to 2099 (heuristic: others are numbers).
    pub(super) fn compact_days(number: f64) -> Option<f64> {
        if number.fract() != 0.0 || !(19_000_101.0..=20_991_231.0).contains(&number) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "eight digits")]
        let digits = number as u32;
        calendar::days(digits / 10_000, digits / 100 % 100, digits % 100)
    }

    /// The units a second of a number that counts from the beginning of 1970, if it lies between 2001 and 2038: 1 for seconds,
    /// 1000 for milliseconds, a million for microseconds (heuristic: other numbers are not so large, or larger).
    pub(super) fn epoch_units(number: f64) -> Option<u32> {
        [1, 1000, 1_000_000]
            .into_iter()
            .find(|units| (1e9..2_147_483_648.0).contains(&(number / f64::from(*units))))
    }

    /// Whether a form that was read from a file is one.
    pub(super) fn is_valid(self) -> bool {
        matches!(self.epoch, 0 | 1 | 1000 | 1_000_000)
    }

    /// The seconds since the beginning of 1970 of a text, `None` if it is no date. A time of day alone is one of the
    /// first day.
    pub(super) fn parse(self, text: &str) -> Option<f64> {
        // The longest: weekday, month and zone in full.
        if text.len() > 80 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let text = text.trim();
        if self.epoch > 0 {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let number = text.parse::<f64>().ok().filter(|number| plain && number.is_finite());
            if let Some(number) = number {
                return Some(number / f64::from(self.epoch));
            }
        }
        if self.compact && text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::compact_days(text.parse().ok()?).map(|days| days * 86_400.0);
        }
        let spelled;
        let text = if text.contains(['年', '년', '月', '월', '時', '时', '시']) {
            spelled = east_asian(text);
            &spelled
        } else {
            text
        };
        // As servers log it.
        let text = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let tokens = Tokens(text);
        // `Mar` begins a month and, in French, a weekday: the month first.
        self.date_and_time(tokens).or_else(|| self.date_and_time(tokens.without_weekday()?))
    }

    /// The seconds of a date, of a date and a time, or of a time.
    fn date_and_time(self, start: Tokens<'_>) -> Option<f64> {
        let mut tokens = start;
        let (days, after, compact) = match tokens.date(self) {
            Some(days) if tokens.0.is_empty() => return Some(days * 86_400.0),
            Some(days) => {
                let spaced = tokens.skip(|c| c.is_whitespace() || c == ',');
                // A colon joins them in the logs of web servers.
                let spaced = spaced || tokens.char(|c| c == ':').is_some();
                let joined = tokens.word_if(|word| word.eq_ignore_ascii_case("t") || word == "at");
                tokens.skip(char::is_whitespace);
                if !spaced && !joined {
                    return None;
                }
                (days, tokens, joined)
            }
            None => (0.0, start, false),
        };
        let mut tokens = after;
        let seconds = tokens.time(compact)?;
        tokens.0.is_empty().then_some(days * 86_400.0 + seconds)
    }
}

/// `2025年1月4日 10時20分` as `2025-1-4 10:20`.
fn east_asian(text: &str) -> String {
    let mark = |c: char| match c {
        '年' | '년' | '月' | '월' => '-',
        '時' | '时' | '시' | '分' | '분' => ':',
        '日' | '일' | '秒' | '초' => ' ',
        other => other,
    };
    let marked: String = text.chars().map(mark).collect();
    let joined =
        marked.split_whitespace().collect::<Vec<_>>().join(" ").replace("- ", "-").replace(": ", ":");
    joined.trim_end_matches(['-', ':', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_whole_column() {
        let guess =
            |texts: &[&str]| DateForm::guess(texts.iter().map(|text| (*text, 1)), texts.len(), None, None);
        let clear = guess(&["1/2/2024", "31/12/2024"]);
        assert_eq!((clear.form.day_first, clear.clear, clear.read), (true, true, 2));
        let clear = guess(&["1/2/2024", "12/31/2024"]);
        assert_eq!((clear.form.day_first, clear.clear, clear.read), (false, true, 2));
        let unclear = guess(&["1/2/2024", "3/4/2024"]);
        assert_eq!((unclear.form.day_first, unclear.clear), (false, false));
        let texts = || [("1/2/2024", 1)].into_iter();
        assert!(DateForm::guess(texts(), 1, None, Some(true)).form.day_first);
        assert!(!DateForm::guess(texts(), 1, Some(false), Some(true)).form.day_first);
    }
}
