//! The cells of one column as they come, into values of one type with gaps.

use crate::error::Wrong;
use lossdepth::data::{Column, ColumnKind, EncodingOptions, Texts, Values};

/// About how many bytes a different text takes beside its letters: two strings, and an entry of an index that is being enlarged.
const LEVEL: usize = 224;

/// Whole numbers with more digits may not be told from their neighbours: they are kept as texts.
const DIGITS: usize = 15;

/// What has to be known to read the cells of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    /// Words for a gap, beyond the ones that always are.
    pub(super) gaps: Vec<String>,
    /// Whether the point is no decimal mark: numbers with one are left as texts.
    pub(super) comma: bool,
}

impl Words {
    pub(super) fn is_gap(&self, field: &str) -> bool {
        is_missing(field) || self.is_said(field)
    }

    /// Whether someone said that it is a gap, even if it is a number.
    fn is_said(&self, field: &str) -> bool {
        self.gaps.iter().any(|word| word.trim() == field)
    }
}

/// What programs and people write for a value that is not there.
pub(crate) fn is_missing(field: &str) -> bool {
    const WORDS: [&str; 32] = [
        "na", "n/a", "n.a.", "nan", "-nan", "nat", "null", "none", "missing", "<na>", "\\n", "?", "??", "-",
        "--", "---", "–", "—", ".", "..", "...", "…", "#n/a", "#na", "#nv", "#null!", "#num!", "#value!",
        "#div/0!", "#ref!", "#name?", "#wert!",
    ];
    WORDS.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// A column that is being read. Small, because there may be millions of columns.
#[derive(Debug)]
pub(super) struct Cells {
    values: State,
    /// Whether cells are kept as they are written, because the column is known to hold no numbers.
    exact: bool,
    /// Whether there was a value other than a gap.
    any: bool,
    written: Option<Box<Written>>,
}

/// How the cells of a column of numbers were written where that does not follow from the numbers: they are texts again if
/// the column turns out to be one of texts.
#[derive(Debug, Default)]
struct Written {
    /// Gaps that were written as a word, with their rows.
    words: Vec<(usize, Box<str>)>,
    /// Rows of numbers with zeros at the end of their decimals, and how many decimals they have.
    decimals: Vec<(usize, u8)>,
}

#[derive(Debug)]
enum State {
    Numbers(Vec<f64>),
    Booleans(Vec<Option<bool>>),
    Times(Vec<f64>),
    Texts(Box<Texts>),
}

impl Cells {
    /// An empty column.
    pub(super) fn new(exact: bool) -> Self {
        let values = if exact { State::Texts(Box::default()) } else { State::Numbers(Vec::new()) };
        Self { values, exact, any: false, written: None }
    }

    fn len(&self) -> usize {
        match &self.values {
            State::Numbers(values) | State::Times(values) => values.len(),
            State::Booleans(values) => values.len(),
            State::Texts(texts) => texts.codes().len(),
        }
    }

    /// Whether there is memory for more rows; texts take more as they come.
    pub(super) fn reserve(&mut self, rows: usize) -> bool {
        match &mut self.values {
            State::Numbers(values) | State::Times(values) => room(values, rows),
            State::Booleans(values) => room(values, rows),
            State::Texts(_) => true,
        }
    }

    /// A cell of a text: a number if it is one beyond doubt. Returns the bytes it takes beside its row.
    pub(super) fn text(&mut self, field: &str, words: &Words) -> usize {
        if field.is_empty() {
            self.gap();
            return 0;
        }
        if let (false, State::Numbers(values)) = (self.exact, &mut self.values) {
            if let Some(value) = plain(field, words.comma).filter(|_| !words.is_said(field)) {
                if field.ends_with('0')
                    && let Some((_, decimals)) = field.split_once('.')
                {
                    let written = self.written.get_or_insert_default();
                    written.decimals.push((values.len(), u8::try_from(decimals.len()).unwrap_or(u8::MAX)));
                }
                values.push(value);
                self.any = true;
                return 0;
            }
            if words.is_gap(field) {
                self.written.get_or_insert_default().words.push((values.len(), field.into()));
                values.push(f64::NAN);
                return size_of::<(usize, Box<str>)>() + field.len();
            }
        }
        self.word(field)
    }

    /// A text that is one, whatever it looks like. Returns the bytes it takes.
    pub(super) fn word(&mut self, text: &str) -> usize {
        let before = self.become_texts();
        self.any = true;
        let State::Texts(texts) = &mut self.values else { return before };
        let known = texts.levels().len();
        texts.push(Some(text));
        before + if texts.levels().len() > known { LEVEL + 2 * text.len() } else { 0 }
    }

    /// A number; NaN is a gap.
    pub(super) fn number(&mut self, value: f64) {
        if value.is_nan() {
            return self.gap();
        }
        match &mut self.values {
            State::Numbers(values) => {
                values.push(value);
                self.any = true;
            }
            _ => {
                self.word(&value.to_string());
            }
        }
    }

    pub(super) fn boolean(&mut self, value: bool) {
        if !self.any && matches!(self.values, State::Numbers(_)) {
            self.values = State::Booleans(vec![None; self.len()]);
        }
        match &mut self.values {
            State::Booleans(values) => {
                values.push(Some(value));
                self.any = true;
            }
            _ => {
                self.word(if value { "true" } else { "false" });
            }
        }
    }

    /// A time in seconds since the beginning of 1970.
    pub(super) fn time(&mut self, seconds: f64) {
        if !self.any && matches!(self.values, State::Numbers(_)) {
            self.values = State::Times(vec![f64::NAN; self.len()]);
        }
        match &mut self.values {
            State::Times(values) => {
                values.push(seconds);
                self.any = true;
            }
            _ => {
                self.word(&moment(seconds));
            }
        }
    }

    pub(super) fn gap(&mut self) {
        match &mut self.values {
            State::Numbers(values) | State::Times(values) => values.push(f64::NAN),
            State::Booleans(values) => values.push(None),
            State::Texts(texts) => texts.push(None),
        }
    }

    /// The number in a row, whatever currency or unit is around it.
    pub(super) fn amount(&self, row: usize, comma: bool) -> Option<f64> {
        match &self.values {
            State::Numbers(values) => values.get(row).copied().filter(|value| !value.is_nan()),
            State::Texts(texts) => super::footing::amount(texts.get(row)?, comma),
            State::Booleans(_) | State::Times(_) => None,
        }
    }

    /// Writes back what was read so far; the bytes that takes.
    fn become_texts(&mut self) -> usize {
        if matches!(self.values, State::Texts(_)) {
            return 0;
        }
        let values = std::mem::replace(&mut self.values, State::Texts(Box::default()));
        let mut texts = Texts::default();
        match values {
            State::Numbers(values) => {
                let Written { words, decimals } =
                    self.written.take().map(|written| *written).unwrap_or_default();
                let (mut words, mut decimals) =
                    (words.into_iter().peekable(), decimals.into_iter().peekable());
                for (row, value) in values.into_iter().enumerate() {
                    let word = words.next_if(|(at, _)| *at == row);
                    let digits = decimals.next_if(|(at, _)| *at == row);
                    match (word, digits) {
                        (Some((_, word)), _) => texts.push(Some(&word)),
                        _ if value.is_nan() => texts.push(None),
                        (None, Some((_, digits))) => {
                            texts.push(Some(&format!("{value:.*}", usize::from(digits))));
                        }
                        (None, None) => texts.push(Some(&value.to_string())),
                    }
                }
            }
            State::Times(values) => {
                for value in values {
                    let text = if value.is_nan() { None } else { Some(moment(value)) };
                    texts.push(text.as_deref());
                }
            }
            State::Booleans(values) => {
                let text = |value: bool| if value { "true" } else { "false" };
                for value in values {
                    texts.push(value.map(text));
                }
            }
            State::Texts(same) => texts = *same,
        }
        let bytes = texts.levels().iter().map(|level| LEVEL + 2 * level.len()).sum();
        self.values = State::Texts(Box::new(texts));
        bytes
    }

    /// The values of the column.
    pub(super) fn finish(self) -> Values {
        match self.values {
            State::Numbers(values) => Values::Numbers(values),
            State::Booleans(values) => Values::Booleans(values),
            State::Times(values) => Values::Times(values),
            State::Texts(mut texts) => {
                texts.shrink_to_fit();
                Values::Texts(*texts)
            }
        }
    }
}

/// Texts that were kept as they are written, read as the cells of a file; other values, and columns that are said to hold
/// levels or texts, stay what they are.
pub(crate) fn retyped(column: &Column, options: &EncodingOptions) -> Values {
    let Values::Texts(texts) = &column.values else { return column.values.clone() };
    let is_words = |kind: &ColumnKind| !matches!(kind, ColumnKind::Number);
    let mut cells = Cells::new(options.kinds.get(&column.name).is_some_and(is_words));
    let words = Words { gaps: options.gap_words.clone(), comma: options.decimal == Some(',') };
    for row in 0..texts.codes().len() {
        cells.text(texts.get(row).unwrap_or_default(), &words);
    }
    cells.finish()
}

/// Whether there is memory for more elements; twice as many as there are, if that can be had.
pub(super) fn room<T>(list: &mut Vec<T>, more: usize) -> bool {
    list.try_reserve(more).or_else(|_| list.try_reserve_exact(more)).is_ok()
}

/// A number beyond doubt. Leading zeros and plus signs belong to codes and telephone numbers, and so may more digits than a
/// number keeps: such cells are left as texts, for whoever sees the whole column to decide.
fn plain(field: &str, comma: bool) -> Option<f64> {
    let digits = field.strip_prefix('-').unwrap_or(field).as_bytes();
    let starts = match digits {
        [b'0', b'0'..=b'9', ..] => false,
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => true,
        _ => false,
    };
    let long = digits.len() > DIGITS && digits.iter().all(u8::is_ascii_digit);
    if !starts || long || (comma && digits.contains(&b'.')) {
        return None;
    }
    field.parse().ok().filter(|value: &f64| value.is_finite())
}

/// A number that must be one, such as a weight.
pub(super) fn number(field: &str, words: &Words) -> Result<f64, Wrong> {
    use crate::error::shorten;
    match field.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ if field.is_empty() => Err(Wrong::Empty),
        _ if words.is_gap(field) => Err(Wrong::Missing(field.to_owned())),
        Ok(_) => Err(Wrong::NotFinite(shorten(field))),
        Err(_) => Err(Wrong::Text(shorten(field))),
    }
}

/// A time as `2024-03-01`, with the time of the day where there is one.
pub(crate) fn moment(seconds: f64) -> String {
    let (days, rest) = ((seconds / 86400.0).floor(), seconds.rem_euclid(86400.0));
    if !days.is_finite() || days.abs() > 1e9 {
        return seconds.to_string();
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole and within bounds")]
    let (year, month, day) = civil(days as i64);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if rest == 0.0 {
        return date;
    }
    let (hours, minutes, seconds) = ((rest / 3600.0).floor(), (rest / 60.0).floor() % 60.0, rest % 60.0);
    let fraction = if seconds.fract() == 0.0 { 0 } else { 3 };
    let width = if fraction == 0 { 2 } else { 6 };
    format!("{date} {hours:02.0}:{minutes:02.0}:{seconds:0width$.fraction$}")
}

/// The date of a day counted from the beginning of 1970: H. Hinnant's algorithm on years that start in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(fields: &[&str]) -> Values {
        let (mut cells, words) = (Cells::new(false), Words::default());
        for field in fields {
            cells.text(field, &words);
        }
        cells.finish()
    }

    fn texts(fields: &[&str]) -> Vec<Option<String>> {
        let Values::Texts(texts) = column(fields) else { panic!("no texts") };
        (0..fields.len()).map(|row| texts.get(row).map(str::to_owned)).collect()
    }

    #[test]
    fn numbers_with_gaps_stay_numbers() {
        let Values::Numbers(values) = column(&["1", "", "NA", "-2.50", "1e3", "-"]) else {
            panic!("no numbers")
        };
        assert_eq!(values.iter().filter(|value| value.is_nan()).count(), 3);
        assert_eq!((values[0], values[3], values[4]), (1.0, -2.5, 1000.0));
    }

    #[test]
    fn texts_come_back_as_they_were() {
        let fields = ["1.500", "NA", "", "2", "0.10", "x", "1.0"];
        let expected = [Some("1.500"), Some("NA"), None, Some("2"), Some("0.10"), Some("x"), Some("1.0")];
        assert_eq!(texts(&fields), expected.map(|text| text.map(str::to_owned)));
    }

    #[test]
    fn codes_are_no_numbers() {
        for code in ["01234", "+49301234", "1234567890123456", "00", "inf", "1e999", "0x1", "$5", "1,5"] {
            assert_eq!(texts(&["7", code])[1].as_deref(), Some(code));
        }
        for number in ["0", "0.5", "-0.5", ".5", "123456789012345", "1E-3", "0e0"] {
            assert!(matches!(column(&[number]), Values::Numbers(_)), "{number}");
        }
    }

    #[test]
    fn moments() {
        assert_eq!(moment(0.0), "1970-01-01");
        assert_eq!(moment(951_782_400.0), "2000-02-29");
        assert_eq!(moment(-1.0), "1969-12-31 23:59:59");
        assert_eq!(moment(1_700_000_000.5), "2023-11-14 22:13:20.500");
    }
}
