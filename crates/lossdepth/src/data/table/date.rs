//! Dates and times as people write them.

use super::cells::ODD;
use serde::{Deserialize, Serialize};

/// The names of the months in English, German, French, Spanish, Italian, Portuguese and Dutch.
const MONTHS: [&[&str]; 12] = [
    &["january", "januar", "jänner", "janvier", "enero", "gennaio", "janeiro", "januari"],
    &["february", "februar", "feber", "février", "fevrier", "febrero", "febbraio", "fevereiro", "februari"],
    &["march", "märz", "maerz", "mrz", "mars", "marzo", "março", "maart"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "maio", "mei"],
    &["june", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "juli", "juillet", "julio", "luglio", "julho"],
    &["august", "août", "aout", "agosto", "augustus"],
    &["september", "septembre", "septiembre", "settembre", "setembro"],
    &["october", "oktober", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "novembre", "noviembre", "novembro"],
    &["december", "dezember", "décembre", "decembre", "diciembre", "dicembre", "dezembro"],
];

const WEEKDAYS: [&[&str]; 3] = [
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    &["montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"],
    &["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
];

/// How the dates of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DateForm {
    /// Whether `1/2/2024` is the first of February.
    pub(super) day_first: bool,
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
        texts: impl Iterator<Item = (&'a str, usize)>,
        cells: usize,
        said: Option<bool>,
        usual: Option<bool>,
    ) -> DateGuess {
        let (mut day, mut month, mut neither) = (0, 0, 0);
        for (text, count) in texts {
            let read = [true, false].map(|day_first| Self { day_first }.parse(text).is_some());
            day += if read[0] { count } else { 0 };
            month += if read[1] { count } else { 0 };
            neither += if read == [false, false] { count } else { 0 };
            if !ODD.allows(neither, cells) {
                break;
            }
        }
        let clear = day != month;
        let day_first = said.unwrap_or(if clear { day > month } else { usual.unwrap_or(false) });
        DateGuess { form: Self { day_first }, clear, read: if day_first { day } else { month } }
    }

    /// The seconds since the beginning of 1970 of a text, `None` if it is no date. A time of day alone is one of the
    /// first day.
    pub(super) fn parse(self, text: &str) -> Option<f64> {
        // The longest: weekday, month and zone in full.
        if text.len() > 80 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let text = text.trim();
        // As servers log it.
        let text = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let tokens = Tokens(text);
        // `Mar` begins a month and, in French, a weekday: the month first.
        self.date_and_time(tokens).or_else(|| self.date_and_time(tokens.without_weekday()?))
    }

    /// The seconds of a date, of a date and a time, or of a time.
    fn date_and_time(self, start: Tokens<'_>) -> Option<f64> {
        let mut tokens = start;
        let (days, after, compact) = match tokens.date(self.day_first) {
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

/// What is left of a text.
#[derive(Clone, Copy)]
struct Tokens<'a>(&'a str);

impl<'a> Tokens<'a> {
    /// Skips characters; whether there was one.
    fn skip(&mut self, matches: impl Fn(char) -> bool) -> bool {
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
    fn char(&mut self, matches: impl Fn(char) -> bool) -> Option<char> {
        let first = self.0.chars().next().filter(|c| matches(*c))?;
        self.0 = &self.0[first.len_utf8()..];
        Some(first)
    }

    /// A word, if it is one that is looked for; nothing is skipped otherwise.
    fn word_if(&mut self, wanted: impl Fn(&str) -> bool) -> bool {
        let mut rest = *self;
        let word = rest.take_while(char::is_alphabetic);
        let found = !word.is_empty() && wanted(word);
        if found {
            *self = rest;
        }
        found
    }

    /// What is behind a weekday; `None` without one.
    fn without_weekday(self) -> Option<Self> {
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
    fn date(&mut self, day_first: bool) -> Option<f64> {
        if let Some(quarter) = self.quarter() {
            self.skip(|c| c.is_whitespace() || matches!(c, '-' | '/'));
            let year = self.digits(4, 4)?;
            return days(year.parse().ok()?, 3 * quarter - 2, 1);
        }
        if self.0.starts_with(char::is_alphabetic) {
            return self.date_from_month();
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
            1 | 2 => self.date_from_day(first.parse().ok()?, day_first),
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
    fn date_from_month(&mut self) -> Option<f64> {
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
            return days(rest.year()?, month, 1);
        }
        self.word_if(|word| ["st", "nd", "rd", "th"].contains(&word));
        self.skip(|c| c.is_whitespace() || matches!(c, ',' | '-' | '/'));
        let year = self.year()?;
        days(year, month, number.parse().ok()?)
    }

    /// `31.12.2024`, `12/31/2024`, `31-Dec-24`, `31. Dezember 2024`, the first number being read.
    fn date_from_day(&mut self, first: u32, day_first: bool) -> Option<f64> {
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
            return days(self.year()?, month, first);
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
        let year = self.year()?;
        // With points the day comes first, in every country that writes dates with points.
        let (day, month) = if day_first || mark == '.' { (first, second) } else { (second, first) };
        days(year, month, day)
    }

    /// A year of four or two digits; two are from 1969 to 2068, as in POSIX.
    fn year(&mut self) -> Option<u32> {
        let digits = self.digits(2, 4)?;
        let year: u32 = digits.parse().ok()?;
        match digits.len() {
            4 => Some(year),
            2 if year < 69 => Some(2000 + year),
            2 => Some(1900 + year),
            _ => None,
        }
    }

    /// The seconds of a time of day; with a zone, as it is in Greenwich. Colons may lack where it is `compact`.
    fn time(&mut self, compact: bool) -> Option<f64> {
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
        if self.0.is_empty() || self.word_if(|word| matches!(word, "Z" | "z" | "UTC" | "GMT" | "Uhr")) {
            return Some(0.0);
        }
        let sign = if self.char(|c| matches!(c, '+' | '-' | '−'))? == '+' { 1.0 } else { -1.0 };
        let hours = self.digits(2, 4)?;
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

/// The days from the beginning of 1970 to a date of the Gregorian calendar (Hinnant, *chrono-compatible low-level date
/// algorithms*).
fn days(year: u32, month: u32, day: u32) -> Option<f64> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let longest = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year == 0 || !(1..=longest).contains(&day) {
        return None;
    }
    // A year that begins in March has its leap day at the end.
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let (era, year) = (year / 400, year % 400);
    let of_era = year * 365 + year / 4 - year / 100 + of_year;
    Some(f64::from(era) * 146_097.0 + f64::from(of_era) - 719_468.0)
}

/// The days from the beginning of 1970 to the Monday of a week of ISO 8601.
fn monday(year: u32, week: u32) -> Option<f64> {
    // The 4th of January is in the first week, and 1970 began on a Thursday.
    let fourth = days(year, 1, 4)?;
    let found = fourth - (fourth + 3.0).rem_euclid(7.0) + 7.0 * (f64::from(week) - 1.0);
    // The Thursday of a week is in its year.
    let thursday = found + 3.0;
    let inside = week >= 1 && thursday >= days(year, 1, 1)? && thursday <= days(year, 12, 31)?;
    inside.then_some(found)
}

/// Days since the beginning of 1970 as in ISO 8601, with the time of day if it is asked for.
pub(super) fn format(value: f64, time_of_day: bool) -> String {
    // The years from 1 to 9999.
    if !(-719_162.0..2_932_897.0).contains(&value) {
        return format!("day {value}");
    }
    let seconds = if time_of_day { (value * 86_400.0).round() } else { value.floor() * 86_400.0 };
    let (date, time) = ((seconds / 86_400.0).floor(), seconds.rem_euclid(86_400.0));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, below 2^32")]
    let (shifted, time) = ((date + 719_468.0) as u32, time as u32);
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u32::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if !time_of_day {
        return date;
    }
    format!("{date} {}", clock(time))
}

/// A part of a day as a time of day.
pub(super) fn format_clock(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 86,400")]
    let seconds = (value.clamp(0.0, 1.0) * 86_400.0).round() as u32;
    clock(seconds)
}

fn clock(time: u32) -> String {
    let (hours, minutes, seconds) = (time / 3600, time / 60 % 60, time % 60);
    if seconds == 0 {
        format!("{hours:02}:{minutes:02}")
    } else {
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds of a date and a time, as parsed.
    #[expect(clippy::unnecessary_wraps, reason = "compared with what parsing gives")]
    fn at(days: f64, hours: f64, minutes: f64, seconds: f64) -> Option<f64> {
        Some(days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds)
    }

    /// 31 December 2024, 1 February 2024 and 2 January 2024 as days since 1970.
    const NEW_YEARS_EVE: f64 = 20_088.0;
    const FEBRUARY: f64 = 19_754.0;
    const JANUARY: f64 = 19_724.0;

    #[test]
    fn dates_in_many_forms() {
        let same = [
            "2024-12-31",
            "2024/12/31",
            "2024.12.31",
            "31.12.2024",
            "31.12.24",
            "12/31/2024",
            "12/31/24",
            "31-Dec-2024",
            "31-DEC-24",
            "31 Dec 2024",
            "31 December 2024",
            "31. Dezember 2024",
            "31. Dez. 2024",
            "Dec 31, 2024",
            "December 31, 2024",
            "Dec. 31 2024",
            "December 31st, 2024",
            "31st of December 2024",
            "31 décembre 2024",
            "31 de diciembre de 2024",
            "2024-Dec-31",
            "Tue, 31 Dec 2024",
            "Tuesday, December 31, 2024",
            "Di, 31.12.2024",
            "31/Dec/2024",
            " 2024-12-31 ",
            "20241231T000000",
        ];
        for text in same {
            assert_eq!(DateForm { day_first: false }.parse(text), at(NEW_YEARS_EVE, 0.0, 0.0, 0.0), "{text}");
        }
        assert_eq!(DateForm { day_first: true }.parse("31/12/2024"), at(NEW_YEARS_EVE, 0.0, 0.0, 0.0));
        assert_eq!(DateForm { day_first: true }.parse("1/2/2024"), at(FEBRUARY, 0.0, 0.0, 0.0));
        assert_eq!(DateForm { day_first: false }.parse("1/2/2024"), at(JANUARY, 0.0, 0.0, 0.0));
        // Points put the day first, whatever slashes do.
        assert_eq!(DateForm { day_first: false }.parse("1.2.2024"), at(FEBRUARY, 0.0, 0.0, 0.0));
        assert_eq!(DateForm::default().parse("1970-01-01"), Some(0.0));
        assert_eq!(DateForm::default().parse("1969-12-31"), Some(-86_400.0));
        assert_eq!(DateForm::default().parse("Feb 2024"), at(FEBRUARY, 0.0, 0.0, 0.0));
        assert_eq!(DateForm::default().parse("2024-02"), at(FEBRUARY, 0.0, 0.0, 0.0));
        assert_eq!(DateForm::default().parse("2000-02-29"), at(11_016.0, 0.0, 0.0, 0.0));
    }

    #[test]
    fn months_quarters_and_weeks_are_their_first_days() {
        let shown =
            |text: &str| DateForm::default().parse(text).map(|seconds| format(seconds / 86_400.0, false));
        let cases = [
            ("Mar 2024", "2024-03-01"),
            ("mar. 2024", "2024-03-01"),
            ("Mar-24", "2024-03-01"),
            ("Dec-99", "1999-12-01"),
            ("03/2024", "2024-03-01"),
            ("3/2024", "2024-03-01"),
            ("2024Q1", "2024-01-01"),
            ("2024-Q4", "2024-10-01"),
            ("Q2 2024", "2024-04-01"),
            ("q3/2024", "2024-07-01"),
            ("2024-W05", "2024-01-29"),
            ("2024W01", "2024-01-01"),
            ("2020-W53", "2020-12-28"),
            ("2021-W01", "2021-01-04"),
            // A weekday where the rest is a date.
            ("mar 12 mars 2024", "2024-03-12"),
            ("mar., 12 mars 2024", "2024-03-12"),
            ("Mar 12, 2024", "2024-03-12"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        for text in
            ["2021-W53", "2024-W00", "2024Q5", "Q0 2024", "13/2024", "00/2024", "12/3456", "Mar 24", "Q1 24"]
        {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn times_of_day_and_zones() {
        let cases = [
            ("2024-12-31T23:59:58", at(NEW_YEARS_EVE, 23.0, 59.0, 58.0)),
            ("2024-12-31 23:59", at(NEW_YEARS_EVE, 23.0, 59.0, 0.0)),
            ("2024-12-31T23:59:58Z", at(NEW_YEARS_EVE, 23.0, 59.0, 58.0)),
            ("2024-12-31T23:59:58.25Z", at(NEW_YEARS_EVE, 23.0, 59.0, 58.25)),
            ("2024-12-31 23:59:58,250", at(NEW_YEARS_EVE, 23.0, 59.0, 58.25)),
            ("2024-12-31T23:00:00+02:00", at(NEW_YEARS_EVE, 21.0, 0.0, 0.0)),
            ("2024-12-31T23:00:00-0530", at(NEW_YEARS_EVE, 28.0, 30.0, 0.0)),
            ("2024-12-31T23:00+01", at(NEW_YEARS_EVE, 22.0, 0.0, 0.0)),
            ("2024-12-31 23:00 UTC", at(NEW_YEARS_EVE, 23.0, 0.0, 0.0)),
            ("31.12.2024 14:30", at(NEW_YEARS_EVE, 14.0, 30.0, 0.0)),
            ("31.12.2024, 14:30 Uhr", at(NEW_YEARS_EVE, 14.0, 30.0, 0.0)),
            ("12/31/2024 2:30 PM", at(NEW_YEARS_EVE, 14.0, 30.0, 0.0)),
            ("12/31/2024 12:05 AM", at(NEW_YEARS_EVE, 0.0, 5.0, 0.0)),
            ("12/31/2024 12:05:06 p.m.", at(NEW_YEARS_EVE, 12.0, 5.0, 6.0)),
            ("Dec 31, 2024 3 pm", at(NEW_YEARS_EVE, 15.0, 0.0, 0.0)),
            ("20241231T235958", at(NEW_YEARS_EVE, 23.0, 59.0, 58.0)),
            ("2024-12-31 24:00", at(NEW_YEARS_EVE, 24.0, 0.0, 0.0)),
            ("31/Dec/2024:23:59:58 +0000", at(NEW_YEARS_EVE, 23.0, 59.0, 58.0)),
            ("[31/Dec/2024:23:59:58 +0200]", at(NEW_YEARS_EVE, 21.0, 59.0, 58.0)),
            ("14:30", at(0.0, 14.0, 30.0, 0.0)),
            ("02:03:04", at(0.0, 2.0, 3.0, 4.0)),
        ];
        for (text, expected) in cases {
            assert_eq!(DateForm::default().parse(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_date() {
        let none = [
            "",
            "2024",
            "20241231",
            "2024-13-01",
            "2023-02-29",
            "1900-02-29",
            "31.11.2024",
            "0/1/2024",
            "13/13/2024",
            "31 Foo 2024",
            "31-12",
            "Dec",
            "jui 5, 2024",
            "12:60",
            "25:00",
            "2024-12-31x",
            "2024-12-31 at",
            "1.2.3",
            "3.14",
            "hello 31",
            "2024-12-31 13:00 pm",
            "0000-01-01",
            "1/2/024",
            "99999999T000000",
            "12:30:99",
            "á1",
            "−",
            "2024-12-31T23:00:00+99:00",
            "31.12.20244",
            "1 2 2024",
        ];
        for text in none {
            let read = [true, false].map(|day_first| DateForm { day_first }.parse(text));
            assert_eq!(read, [None, None], "{text:?}");
        }
    }

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

    #[test]
    fn every_day_of_ten_thousand_years_is_shown_as_it_is_read() {
        for step in 0..9000 {
            let value = -719_162.0 + 405.0 * f64::from(step);
            if value < 2_932_897.0 {
                let text = format(value, false);
                assert_eq!(DateForm::default().parse(&text), Some(value * 86_400.0), "{text}");
            }
        }
        assert_eq!(format(NEW_YEARS_EVE + 0.5, true), "2024-12-31 12:00");
        assert_eq!(format(NEW_YEARS_EVE + 0.500_011_574_074, true), "2024-12-31 12:00:01");
        assert_eq!(format(1e12, true), "day 1000000000000");
    }
}
