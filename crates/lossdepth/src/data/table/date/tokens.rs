//! The parts of a date and a time, read from the front of a text.

use super::DateForm;
use super::calendar::{days, monday};
use super::names::{MONTHS, WEEKDAYS};

/// Zones by their letters, with the hours that they are ahead of Greenwich. Those that stand for several are left out.
const ZONES: [(&str, i32); 14] = [
    ("PST", -8),
    ("PDT", -7),
    ("MST", -7),
    ("MDT", -6),
    ("CDT", -5),
    ("EST", -5),
    ("EDT", -4),
    ("CET", 1),
    ("MEZ", 1),
    ("CEST", 2),
    ("MESZ", 2),
    ("EET", 2),
    ("EEST", 3),
    ("JST", 9),
];

/// What is left of a text.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'a>(pub(super) &'a str);

impl<'a> Tokens<'a> {
    /// Skips characters; whether there was one.
    pub(super) fn skip(&mut self, matches: impl Fn(char) -> bool) -> bool {
        let before = self.0.len();
        self.0 = self.0.trim_start_matches(matches);
        self.0.len() < before
    }

    fn take_while(&mut self, matches: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|c| !matches(c)).unwrap_or(self.0.len());
        let (found, rest) = self.0.split_at(end);
        self.0 = rest;
        found
    }

    /// Digits, of which there are from `least` to `most`.
    fn digits(&mut self, least: usize, most: usize) -> Option<&'a str> {
        let found = self.take_while(|c| c.is_ascii_digit());
        (least..=most).contains(&found.len()).then_some(found)
    }

    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        self.digits(least, most)?.parse().ok()
    }

    /// A character.
    pub(super) fn char(&mut self, matches: impl Fn(char) -> bool) -> Option<char> {
        let first = self.0.chars().next().filter(|c| matches(*c))?;
        self.0 = &self.0[first.len_utf8()..];
        Some(first)
    }

    /// A word, if it is one that is looked for; nothing is skipped otherwise.
    pub(super) fn word_if(&mut self, wanted: impl Fn(&str) -> bool) -> bool {
        let mut rest = *self;
        let word = rest.take_while(char::is_alphabetic);
        let found = !word.is_empty() && wanted(word);
        if found {
            *self = rest;
        }
        found
    }

    /// What is behind a weekday; `None` without one.
    pub(super) fn without_weekday(self) -> Option<Self> {
        let is_weekday = |word: &str| {
            let word = word.to_lowercase();
            word.len() >= 2 && WEEKDAYS.iter().copied().flatten().any(|name| name.starts_with(&word))
        };
        let mut rest = self;
        let found = rest.word_if(is_weekday) && rest.skip(|c| c.is_whitespace() || c == ',' || c == '.');
        found.then_some(rest)
    }

    /// A month by its name or the beginning of it.
    fn month(&mut self) -> Option<u32> {
        let word = self.take_while(char::is_alphabetic).to_lowercase();
        if word.chars().count() < 3 {
            return None;
        }
        self.char(|c| c == '.');
        let mut found =
            (1u32..).zip(MONTHS).filter(|(_, names)| names.iter().any(|name| name.starts_with(&word)));
        let (month, _) = found.next()?;
        // `jui` begins two months.
        found.next().is_none().then_some(month)
    }

    /// The days of a date since the beginning of 1970.
    pub(super) fn date(&mut self, form: DateForm) -> Option<f64> {
        if let Some(quarter) = self.quarter() {
            self.skip(|c| c.is_whitespace() || matches!(c, '-' | '/'));
            let year = self.digits(4, 4)?;
            return days(year.parse().ok()?, 3 * quarter - 2, 1);
        }
        if self.0.starts_with(char::is_alphabetic) {
            return self.date_from_month(form);
        }
        let first = self.digits(1, 8)?;
        match first.len() {
            8 if self.0.starts_with(['T', 't']) => {
                days(first[..4].parse().ok()?, first[4..6].parse().ok()?, first[6..].parse().ok()?)
            }
            4 => {
                if let Some(found) = self.quarter_or_week(first.parse().ok()?) {
                    return Some(found);
                }
                let mark = self.char(|c| matches!(c, '-' | '/' | '.'))?;
                if self.0.starts_with(char::is_alphabetic) {
                    let month = self.month()?;
                    self.char(|c| c == mark)?;
                    return days(first.parse().ok()?, month, self.number(1, 2)?);
                }
                let month = self.number(1, 2)?;
                let day = match self.char(|c| c == mark) {
                    Some(_) => self.number(1, 2)?,
                    None if mark == '-' && self.0.is_empty() => 1,
                    None => return None,
                };
                days(first.parse().ok()?, month, day)
            }
            1 | 2 => self.date_from_day(first.parse().ok()?, form),
            _ => None,
        }
    }

    /// `Q1`; nothing is skipped otherwise.
    fn quarter(&mut self) -> Option<u32> {
        let mut rest = *self;
        rest.char(|c| c == 'Q' || c == 'q')?;
        let quarter = rest.number(1, 1).filter(|quarter| (1..=4).contains(quarter))?;
        *self = rest;
        Some(quarter)
    }

    /// The first day of `2024Q1` or `2024-Q1`, the Monday of `2024-W05`, the year being read.
    fn quarter_or_week(&mut self, year: u32) -> Option<f64> {
        let mut rest = *self;
        rest.char(|c| c == '-' || c == ' ');
        let found = if let Some(quarter) = rest.quarter() {
            days(year, 3 * quarter - 2, 1)?
        } else {
            rest.char(|c| c == 'W' || c == 'w')?;
            monday(year, rest.number(2, 2)?)?
        };
        *self = rest;
        Some(found)
    }

    /// `Dec 31, 2024`, `December 2024`, `Dec-24`.
    fn date_from_month(&mut self, form: DateForm) -> Option<f64> {
        let month = self.month()?;
        let hyphen = self.0.starts_with('-');
        self.skip(|c| c.is_whitespace() || c == '-' || c == '/');
        let mut rest = *self;
        let number = self.digits(1, 4)?;
        if number.len() == 4 {
            return days(number.parse().ok()?, month, 1);
        }
        // Two digits behind a hyphen and nothing else are a year, as spreadsheets show months.
        if hyphen && number.len() == 2 && self.0.is_empty() {
            return days(rest.year(form)?, month, 1);
        }
        self.word_if(|word| ["st", "nd", "rd", "th"].contains(&word));
        self.skip(|c| c.is_whitespace() || matches!(c, ',' | '-' | '/'));
        let year = self.year(form)?;
        days(year, month, number.parse().ok()?)
    }

    /// `31.12.2024`, `12/31/2024`, `31-Dec-24`, `31. Dezember 2024`, the first number being read.
    fn date_from_day(&mut self, first: u32, form: DateForm) -> Option<f64> {
        self.word_if(|word| ["st", "nd", "rd", "th"].contains(&word));
        let mark = self.char(|c| c.is_whitespace() || matches!(c, '.' | '/' | '-'));
        self.skip(char::is_whitespace);
        self.word_if(|word| word == "de" || word == "of");
        self.skip(char::is_whitespace);
        if self.0.starts_with(char::is_alphabetic) {
            let month = self.month()?;
            self.skip(|c| c.is_whitespace() || matches!(c, ',' | '-' | '/'));
            self.word_if(|word| word == "de");
            self.skip(char::is_whitespace);
            return days(self.year(form)?, month, first);
        }
        let mark = mark.filter(|c| !c.is_whitespace())?;
        let second = self.digits(1, 4)?;
        if second.len() == 4 && mark == '/' && self.0.is_empty() {
            // `03/2024`. Other years are codes (heuristic).
            let year = second.parse().ok().filter(|year| (1800..2200).contains(year))?;
            return days(year, first, 1);
        }
        let second = second.parse().ok().filter(|_| second.len() <= 2)?;
        self.char(|c| c == mark)?;
        self.skip(char::is_whitespace);
        let year = self.year(form)?;
        // With points the day comes first, in every country that writes dates with points.
        let (day, month) = if form.day_first || mark == '.' { (first, second) } else { (second, first) };
        days(year, month, day)
    }

    /// A year of four or two digits.
    fn year(&mut self, form: DateForm) -> Option<u32> {
        let digits = self.digits(2, 4)?;
        let year: u32 = digits.parse().ok()?;
        match digits.len() {
            4 => Some(year),
            2 if year < form.century => Some(2000 + year),
            2 => Some(1900 + year),
            _ => None,
        }
    }

    /// The seconds of a time of day; with a zone, as it is in Greenwich. Colons may lack where it is `compact`.
    pub(super) fn time(&mut self, compact: bool) -> Option<f64> {
        let first = self.digits(1, 6)?;
        let (mut hour, minute, second) = match first.len() {
            // Without colons, as in 20241231T235959.
            4 | 6 if compact => {
                let second = first.get(4..6).map_or(Some(0), |digits| digits.parse().ok())?;
                (first[..2].parse::<u32>().ok()?, first[2..4].parse::<u32>().ok()?, f64::from(second))
            }
            1 | 2 => {
                let hour = first.parse::<u32>().ok()?;
                if self.char(|c| c == ':').is_some() {
                    let minute = self.number(2, 2)?;
                    (hour, minute, if self.char(|c| c == ':').is_some() { self.seconds()? } else { 0.0 })
                } else {
                    // An hour alone is a time only with `am` or `pm`.
                    let mut rest = *self;
                    rest.half_of_day()?;
                    (hour, 0, 0.0)
                }
            }
            _ => return None,
        };
        if let Some(afternoon) = self.half_of_day() {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + if afternoon { 12 } else { 0 };
        }
        let zone = self.zone()?;
        let midnight = hour == 24 && minute == 0 && second == 0.0;
        if (hour > 23 && !midnight) || minute > 59 || second >= 61.0 {
            return None;
        }
        Some(f64::from(hour * 3600 + minute * 60) + second - zone)
    }

    fn seconds(&mut self) -> Option<f64> {
        let whole = self.number(2, 2)?;
        let fraction = if self.char(|c| c == '.' || c == ',').is_some() { self.digits(1, 12)? } else { "0" };
        format!("{whole}.{fraction}").parse().ok()
    }

    /// Whether it is the second half of the day, if that is said.
    fn half_of_day(&mut self) -> Option<bool> {
        let mut rest = *self;
        rest.skip(char::is_whitespace);
        let letter = rest.char(|c| matches!(c, 'a' | 'A' | 'p' | 'P'))?;
        rest.char(|c| c == '.');
        rest.char(|c| c == 'm' || c == 'M')?;
        rest.char(|c| c == '.');
        *self = rest;
        Some(letter.eq_ignore_ascii_case(&'p'))
    }

    /// The seconds that a zone is ahead of Greenwich; 0 without one.
    fn zone(&mut self) -> Option<f64> {
        self.skip(char::is_whitespace);
        if self.0.is_empty() || self.word_if(|word| matches!(word, "Z" | "z" | "Uhr")) {
            return Some(0.0);
        }
        let behind = self.word_if(|word| matches!(word, "UTC" | "GMT"));
        if behind && self.0.is_empty() {
            return Some(0.0);
        }
        if let Some(hours) = ZONES.iter().find_map(|(zone, hours)| (self.0 == *zone).then_some(*hours)) {
            self.0 = "";
            return Some(f64::from(hours) * 3600.0);
        }
        let sign = if self.char(|c| matches!(c, '+' | '-' | '−'))? == '+' { 1.0 } else { -1.0 };
        let hours = self.digits(if behind { 1 } else { 2 }, 4)?;
        if hours.len() == 1 {
            // As in `GMT+1`.
            return Some(sign * hours.parse::<f64>().ok()? * 3600.0);
        }
        let minutes = match hours.len() {
            2 if self.char(|c| c == ':').is_some() => self.number(2, 2)?,
            2 => 0,
            4 => hours[2..].parse().ok()?,
            _ => return None,
        };
        let hours: u32 = hours[..2].parse().ok()?;
        (hours <= 14 && minutes < 60).then(|| sign * f64::from(hours * 3600 + minutes * 60))
    }
}
