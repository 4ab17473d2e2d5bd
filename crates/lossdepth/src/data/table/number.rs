//! Numbers as people write them: with currencies, percent signs, thousands, decimal commas and negatives in parentheses.

use super::cells::ODD;
use super::duration;
use super::quantiles::Quantiles;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Signs and codes of currencies, and shares. A longer one comes before one that it ends or begins with.
const UNITS: [&str; 54] = [
    "US$", "CA$", "AU$", "NZ$", "HK$", "R$", "C$", "A$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₴",
    "₦", "฿", "₪", "¢", "%", "‰", "USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "CNY", "INR",
    "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RUB", "BRL", "MXN", "ZAR", "KRW", "TRY", "SGD", "HKD", "kr.",
    "kr", "zł", "Kč", "Ft", "Fr.",
];

/// Units of measurement, behind a number only. A longer one comes before one that it ends with. Single capital letters are
/// left out: they number houses and seats.
const MEASURES: [&str; 84] = [
    "km/h", "kmh", "mph", "m/s", "m³/h", "l/min", "mg/dL", "mg/dl", "mg/L", "mg/l", "µg/L", "µg/l", "µg/m³",
    "ng/mL", "g/dL", "mmol/L", "mmol/l", "µmol/L", "U/L", "kg/m²", "kg/m³", "mmHg", "mbar", "hPa", "kPa",
    "MPa", "psi", "bar", "Pa", "kWh", "MWh", "Wh", "kW", "MW", "kcal", "cal", "kJ", "MJ", "mV", "kV", "mA",
    "Ω", "GHz", "MHz", "kHz", "Hz", "rpm", "bpm", "ppm", "ppb", "dB", "°C", "°F", "°", "km²", "m²", "sqm",
    "sqft", "ft²", "ha", "m³", "ml", "mL", "cl", "dl", "km", "cm", "mm", "µm", "ft", "mi", "yd", "lbs", "lb",
    "oz", "kg", "mg", "µg", "GB", "MB", "kB", "TB", "px", "hrs",
];

/// Likewise, of letters that other units end with, and of time.
const SHORT_MEASURES: [&str; 19] = [
    "years", "year", "yrs", "yr", "months", "weeks", "days", "day", "hours", "minutes", "seconds", "mins",
    "min", "secs", "sec", "ms", "m", "g", "h",
];

/// Whole numbers of more digits are codes: doubles cannot tell them apart.
const DIGITS: usize = 15;

/// How the numbers of a column are written, learned from all its cells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
}

impl NumberGuess {
    /// Whether a column of so many cells is one of numbers.
    pub(super) fn is_number(&self, cells: usize) -> bool {
        self.read > 0 && ODD.allows(cells - self.read, cells) && ODD.allows(self.codes, cells)
    }
}

/// A cell without its sign and unit.
struct Parts<'a> {
    negative: bool,
    unit: Option<&'static str>,
    unit_first: bool,
    /// Digits, marks and an exponent.
    body: &'a str,
    /// The power of ten that a letter behind the number stands for.
    exponent: usize,
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
        let (mut point, mut comma, mut codes, mut marked, mut neither) = (0, 0, 0, false, 0);
        let mut units: BTreeMap<(&'static str, bool), usize> = BTreeMap::new();
        for (text, count) in texts.clone() {
            let parts = Parts::of(text);
            let body = parts.as_ref().map_or("", |parts| parts.body);
            let read = [value(body, '.'), value(body, ',')];
            neither += if read == [None, None] { count } else { 0 };
            if !ODD.allows(neither, cells) {
                return NumberGuess { form: Self::default(), clear: false, read: 0, codes: 0 };
            }
            let Some(parts) = parts else { continue };
            point += if read[0].is_some() { count } else { 0 };
            comma += if read[1].is_some() { count } else { 0 };
            if read != [None, None] {
                let is_code = parts.unit.is_none() && (is_code(parts.body) || is_telephone(text));
                codes += if is_code { count } else { 0 };
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
        let enough =
            |((unit, _), count): &(&(&str, bool), &usize)| !is_measure(unit) || 2 * **count >= numbers;
        let most = units.iter().filter(enough).max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
        let unit = most.map(|(unit, _)| *unit);
        let mut form = Self {
            decimal,
            unit: unit.map(|(unit, _)| unit.to_owned()),
            unit_first: unit.is_some_and(|(_, first)| first),
            decimals: 0,
            duration: false,
        };
        let (mut read, mut decimals) = (0, 0);
        for (text, count) in texts {
            if let Some((_, places)) = form.parse_places(text) {
                read += count;
                decimals = decimals.max(places);
            }
        }
        form.decimals = decimals.min(10);
        NumberGuess { form, clear, read, codes }
    }

    /// Of lengths of time.
    pub(super) fn durations() -> Self {
        Self { decimals: 10, duration: true, ..Self::default() }
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
        matches!(self.decimal, None | Some('.' | ',')) && self.decimals <= 10 && self.unit.iter().all(known)
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
        let parts = Parts::of(text)?;
        match (parts.unit, self.unit.as_deref()) {
            (Some(unit), Some(own)) if unit != own => return None,
            // Percent or kilograms where the reference has none would be another quantity; a currency is not.
            (Some("%" | "‰"), None) => return None,
            (Some(unit), None) if is_measure(unit) => return None,
            _ => {}
        }
        let (size, places) = match self.decimal {
            Some(decimal) => value(parts.body, decimal)?,
            None => value(parts.body, '.').or_else(|| value(parts.body, ','))?,
        };
        let size = size * 10f64.powi(i32::try_from(parts.exponent).ok()?);
        Some((if parts.negative { -size } else { size }, places.saturating_sub(parts.exponent)))
    }

    /// Whether a text that cannot be read is a number in another unit than the column has.
    pub(super) fn is_in_another_unit(&self, text: &str) -> bool {
        !self.duration && self.parse(text).is_none() && is_number_in_a_unit(text)
    }

    /// A number as the column writes them.
    pub(super) fn format(&self, number: f64) -> String {
        if self.duration {
            return duration::format(number);
        }
        if !number.is_finite() || (number != 0.0 && !(1e-6..1e15).contains(&number.abs())) {
            return format!("{number:e}");
        }
        let shortest = number.abs().to_string();
        let exact = shortest.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        // More decimals than the column has are shown where the number would be another one without them.
        let decimals = if exact > self.decimals { exact.min(self.decimals + 2) } else { self.decimals };
        let mut rounded = format!("{:.decimals$}", number.abs());
        if decimals > self.decimals {
            let kept = rounded.trim_end_matches('0').len();
            let least = rounded.len() - (decimals - self.decimals);
            rounded.truncate(kept.max(least));
            if rounded.ends_with('.') {
                rounded.pop();
            }
        }
        let (whole, fraction) = rounded.split_once('.').unwrap_or((&rounded, ""));
        let (mark, thousands) = if self.decimal == Some(',') { (',', '.') } else { ('.', ',') };
        let mut text = String::new();
        if number < 0.0 && rounded.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
            text.push('-');
        }
        let unit = self.unit.as_deref().unwrap_or("");
        let word = unit.chars().any(char::is_alphabetic);
        if self.unit_first {
            text.push_str(unit);
            text.push_str(if word { " " } else { "" });
        }
        // Four digits stay together where they could be a year.
        let grouped = whole.len() > 4 || self.decimals > 0 || !unit.is_empty();
        for (at, digit) in whole.chars().enumerate() {
            let left = whole.len() - at;
            if at > 0 && left.is_multiple_of(3) && grouped {
                text.push(thousands);
            }
            text.push(digit);
        }
        if !fraction.is_empty() {
            text.push(mark);
            text.push_str(fraction);
        }
        if !self.unit_first && !unit.is_empty() {
            text.push_str(if matches!(unit, "%" | "°") { "" } else { " " });
            text.push_str(unit);
        }
        text
    }
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let mut parts =
            Self { negative: false, unit: None, unit_first: false, body: text.trim(), exponent: 0 };
        let mut signed = false;
        // Signs and units in any order: `-$5`, `$-5`, `($5)`, `$(5)`, `5 EUR-`.
        for _ in 0..3 {
            if !signed {
                let enclosed = parts.body.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
                let minus = parts.body.strip_prefix(['-', '−', '–']).or(parts.body.strip_suffix(['-', '−']));
                if let Some(rest) = enclosed.or(minus) {
                    (parts.body, parts.negative, signed) = (rest.trim(), true, true);
                } else if let Some(rest) = parts.body.strip_prefix('+') {
                    (parts.body, signed) = (rest.trim(), true);
                }
            }
            if parts.unit.is_none() {
                let before = UNITS.iter().find_map(|unit| Some((*unit, parts.body.strip_prefix(unit)?)));
                let measures = UNITS.iter().chain(&MEASURES).chain(&SHORT_MEASURES);
                let after = { measures }.find_map(|unit| Some((*unit, parts.body.strip_suffix(unit)?)));
                if let Some((unit, rest)) = before.or(after) {
                    parts.unit_first = before.is_some();
                    (parts.unit, parts.body) = (Some(unit), rest.trim());
                }
            }
        }
        if let Some((body, exponent)) = multiple(parts.body) {
            // `12B` numbers a house; `$12B` and `1.2B` do not.
            if !parts.body.ends_with('B') || parts.unit.is_some() || body.contains(['.', ',']) {
                (parts.body, parts.exponent) = (body, exponent);
            }
        }
        let first = parts.body.chars().next()?;
        (first.is_ascii_digit() || first == '.' || first == ',').then_some(parts)
    }
}

/// What is in front of a word for thousands, millions or billions, and its power of ten.
fn multiple(body: &str) -> Option<(&str, usize)> {
    const MULTIPLES: [(&str, usize); 10] = [
        ("bn", 9),
        ("Bn", 9),
        ("Mrd.", 9),
        ("Mrd", 9),
        ("Mio.", 6),
        ("Mio", 6),
        ("k", 3),
        ("K", 3),
        ("M", 6),
        ("B", 9),
    ];
    let (rest, exponent) =
        MULTIPLES.iter().find_map(|(word, exponent)| Some((body.strip_suffix(word)?, *exponent)))?;
    let rest = rest.trim_end();
    rest.ends_with(|c: char| c.is_ascii_digit()).then_some((rest, exponent))
}

/// Whether a text is a number, with or without a currency or unit, whichever it is.
pub(super) fn is_number_in_a_unit(text: &str) -> bool {
    Parts::of(text).is_some_and(|parts| value(parts.body, '.').or_else(|| value(parts.body, ',')).is_some())
}

/// The currency or unit of a text that has one.
pub(super) fn unit(text: &str) -> Option<&'static str> {
    Parts::of(text).and_then(|parts| parts.unit)
}

/// Whether a text is two numbers with a slash between them, as `120/80`.
pub(super) fn is_pair(text: &str) -> bool {
    text.split_once('/').is_some_and(|(a, b)| is_number_in_a_unit(a) && is_number_in_a_unit(b))
}

/// The number of digits and marks, with this decimal mark, and how many decimals it has.
fn value(body: &str, decimal: char) -> Option<(f64, usize)> {
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (body, None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits.is_empty() || digits.len() > 3 || !all_digits(digits) {
            return None;
        }
    }
    let (whole, fraction) = mantissa.split_once(decimal).unwrap_or((mantissa, ""));
    if !all_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let mut clean = String::with_capacity(body.len());
    push_whole(&mut clean, whole)?;
    clean.push('.');
    clean.push_str(fraction);
    clean.push('0');
    if let Some(exponent) = exponent {
        clean.push('e');
        clean.push_str(exponent);
    }
    let value = clean.parse::<f64>().ok().filter(|value| value.abs() <= 1e100)?;
    Some((value, if exponent.is_some() { 0 } else { fraction.len() }))
}

/// The digits of a whole number, with or without one kind of mark between its thousands.
fn push_whole(clean: &mut String, whole: &str) -> Option<()> {
    let Some(mark) = whole.chars().find(|c| !c.is_ascii_digit()) else {
        clean.push_str(if whole.is_empty() { "0" } else { whole });
        return Some(());
    };
    if !(matches!(mark, '.' | ',' | '\'' | '’') || mark.is_whitespace()) {
        return None;
    }
    let same = |c: char| c == mark || (mark.is_whitespace() && c.is_whitespace());
    let groups: Vec<&str> = whole.split(same).collect();
    let (first, last, middle) = (groups[0], groups[groups.len() - 1], &groups[1..groups.len() - 1]);
    // Three digits each; in India two between the first and the last.
    let thousands = middle.iter().all(|group| group.len() == 3);
    let lakhs = !middle.is_empty() && first.len() <= 2 && middle.iter().all(|group| group.len() == 2);
    let fits = !first.starts_with('0') && (1..=3).contains(&first.len()) && last.len() == 3;
    if !fits || !(thousands || lakhs) || !groups.iter().all(|group| all_digits(group)) {
        return None;
    }
    clean.extend(groups);
    Some(())
}

/// Whether a unit is one of measurement.
fn is_measure(unit: &str) -> bool {
    MEASURES.contains(&unit) || SHORT_MEASURES.contains(&unit)
}

/// Whether a text is a telephone number with the code of a country: a plus sign and seven digits or more, without decimals.
fn is_telephone(text: &str) -> bool {
    let Some(rest) = text.trim().strip_prefix('+') else { return false };
    let digits = rest.chars().filter(char::is_ascii_digit).count();
    digits >= 7
        && rest.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '\u{a0}' | '-' | '/' | '(' | ')'))
}

fn is_code(body: &str) -> bool {
    all_digits(body) && ((body.len() > 1 && body.starts_with('0')) || body.len() > DIGITS)
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(texts: &[&str]) -> NumberGuess {
        NumberForm::guess(texts.iter().map(|text| (*text, 1)), usize::MAX, None, None)
    }

    /// The numbers of a column of these texts.
    fn read(texts: &[&str]) -> Vec<Option<f64>> {
        let form = guess(texts).form;
        texts.iter().map(|text| form.parse(text)).collect()
    }

    #[test]
    fn single_texts() {
        let cases: [(&str, Option<f64>); 80] = [
            ("3.1M", Some(3_100_000.0)),
            ("400k", Some(400_000.0)),
            ("$1.2B", Some(1.2e9)),
            ("$12B", Some(12e9)),
            ("12B", None),
            ("2.5 bn", Some(2.5e9)),
            ("1,2 Mio. €", Some(1.2e6)),
            ("€400K", Some(400_000.0)),
            ("-5k", Some(-5000.0)),
            ("kM", None),
            ("0", Some(0.0)),
            ("12", Some(12.0)),
            ("-3", Some(-3.0)),
            ("+3", Some(3.0)),
            ("−3.5", Some(-3.5)),
            ("3.25", Some(3.25)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            (" 7 ", Some(7.0)),
            ("1e3", Some(1000.0)),
            ("1.5E-3", Some(0.0015)),
            ("2E+2", Some(200.0)),
            ("$27.43", Some(27.43)),
            ("-$27.43", Some(-27.43)),
            ("$-27.43", Some(-27.43)),
            ("$ 1,234.50", Some(1234.5)),
            ("US$5", Some(5.0)),
            ("5 €", Some(5.0)),
            ("€5", Some(5.0)),
            ("£1,000,000", Some(1e6)),
            ("¥1200", Some(1200.0)),
            ("USD 12.5", Some(12.5)),
            ("12.5 EUR", Some(12.5)),
            ("CHF 1'234.50", Some(1234.5)),
            ("12%", Some(12.0)),
            ("12.5 %", Some(12.5)),
            ("-3%", Some(-3.0)),
            ("(1,234.50)", Some(-1234.5)),
            ("($5)", Some(-5.0)),
            ("$(5.25)", Some(-5.25)),
            ("123-", Some(-123.0)),
            ("5.00 EUR-", Some(-5.0)),
            ("1 234", Some(1234.0)),
            ("1\u{a0}234\u{a0}567", Some(1_234_567.0)),
            ("1\u{202f}234,5", Some(1234.5)),
            ("1'234'567.25", Some(1_234_567.25)),
            ("1’234", Some(1234.0)),
            ("1.234,5", Some(1234.5)),
            ("3,15", Some(3.15)),
            ("0,500", Some(0.5)),
            ("12,34,567.8", Some(1_234_567.8)),
            ("", None),
            ("abc", None),
            ("12O", None),
            ("n.v.", None),
            ("1-2", None),
            ("--3", None),
            ("1,2,3", None),
            ("1.2.3", None),
            ("192.168.1.1", None),
            ("2024-01-31", None),
            ("31.12.2024", None),
            ("12:30", None),
            ("5 kg", Some(5.0)),
            ("20.5 °C", Some(20.5)),
            ("-3,5°C", Some(-3.5)),
            ("70kg", Some(70.0)),
            ("120 km/h", Some(120.0)),
            ("24h", Some(24.0)),
            ("5 mg/dL", Some(5.0)),
            ("kg", None),
            ("kg 5", None),
            ("12 A", None),
            ("5 kg x", None),
            ("inf", None),
            ("NaN", None),
            ("1e400", None),
            ("1e", None),
            ("$", None),
            ("(5", None),
        ];
        for (text, expected) in cases {
            assert_eq!(read(&[text])[0], expected, "{text:?}");
        }
    }

    #[test]
    fn the_convention_is_that_of_the_whole_column() {
        // Alone, `1.234` is a bit more than one; beside `2,5` it is a thousand.
        assert_eq!(read(&["1.234"]), [Some(1.234)]);
        assert_eq!(read(&["1.234", "2,5"]), [Some(1234.0), Some(2.5)]);
        assert_eq!(read(&["1,234", "2.5"]), [Some(1234.0), Some(2.5)]);
        assert_eq!(read(&["1,234", "0,500"]), [Some(1.234), Some(0.5)]);
        assert_eq!(read(&["1,234", "5,678"]), [Some(1234.0), Some(5678.0)]);
        let usual = NumberForm::guess([("1.234", 1)].into_iter(), 1, None, Some(','));
        assert_eq!((usual.form.parse("1.234"), usual.clear), (Some(1234.0), false));
        let said = NumberForm::guess([("1.234", 1)].into_iter(), 1, Some(','), Some('.'));
        assert_eq!(said.form.parse("1.234"), Some(1234.0));
        // Without a mark every cell speaks for itself.
        let plain = guess(&["1", "2"]).form;
        assert_eq!((plain.decimal, plain.parse("2,5"), plain.parse("2.5")), (None, Some(2.5), Some(2.5)));
    }

    #[test]
    fn one_unit_for_a_column() {
        let mixed = guess(&["$5", "$6", "7", "€8"]).form;
        assert_eq!(["$5", "7", "€8", "8%"].map(|text| mixed.parse(text)), [Some(5.0), Some(7.0), None, None]);
        assert_eq!(guess(&["5", "6"]).form.parse("7%"), None);
        assert_eq!(guess(&["5%", "6"]).form.parse("7"), Some(7.0));
    }

    #[test]
    fn a_unit_of_measurement_is_that_of_most_cells() {
        let weights = guess(&["70 kg", "81.5 kg", "64", "5 lb"]).form;
        assert_eq!(
            ["90kg", "64", "5 lb", "$5"].map(|text| weights.parse(text)),
            [Some(90.0), Some(64.0), None, None]
        );
        assert_eq!(weights.format(70.25), "70.25 kg");
        // One in many is an odd cell, as it was.
        let plain = guess(&["12", "13", "14h", "15"]).form;
        assert_eq!((plain.unit.as_deref(), plain.parse("14h"), plain.parse("14")), (None, None, Some(14.0)));
    }

    #[test]
    fn codes_are_no_numbers() {
        assert!(!guess(&["01234", "10115", "04109"]).is_number(3));
        assert!(!guess(&["4111111111111111", "4222222222222222"]).is_number(2));
        assert!(guess(&["0", "10", "0.5"]).is_number(3));
        assert!(!guess(&["1", "2", "x", "4", "5", "6", "7"]).is_number(7));
        assert!(guess(&["1", "2", "x", "4", "5", "6", "7", "8"]).is_number(8));
        assert!(!guess(&["1", "2", "x", "y", "5", "6", "7", "8"]).is_number(8));
    }

    #[test]
    fn numbers_are_shown_as_they_were() {
        let shown = |texts: &[&str], number: f64| guess(texts).form.format(number);
        assert_eq!(shown(&["$27.43", "$3.10"], 1234.5), "$1,234.50");
        assert_eq!(shown(&["$27.43", "$3.10"], -12_345.5), "-$12,345.50");
        assert_eq!(shown(&["27,43 €"], 1_234_567.891), "1.234.567,891 €");
        assert_eq!(shown(&["12 %"], 3.0), "3%");
        assert_eq!(shown(&["USD 5"], 3.0), "USD 3");
        assert_eq!(shown(&["5", "7"], 2024.0), "2024");
        assert_eq!(shown(&["5", "7"], 2.345), "2.35");
        assert_eq!(shown(&["5", "7"], -0.001), "0");
        assert_eq!(shown(&["5", "7"], 1e20), "1e20");
        assert_eq!(shown(&["5.25", "7"], 0.1 + 0.2), "0.30");
    }
}
