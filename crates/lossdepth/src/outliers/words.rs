//! What is odd about a value, in words.

use super::{Queries, coordinates, is_gap};
use crate::data::{CellNote, CellNoteKind, ColumnKind, EncodedColumn, Values};
use crate::model::reasons::{ColumnFacts, ColumnReason, Fitting};

/// Up to this share of the rows on one side, a number is called high or low by itself (heuristic).
const EXTREME: f64 = 0.02;

/// The same where the other columns say which value would fit: that says more, unless hardly any row is as far out.
const EXTREME_ALTHOUGH_DETERMINED: f64 = 0.002;

/// Up to this share of the rows, a level is called rare by itself.
const RARE: f64 = 0.05;

/// How many columns are named that determine a value.
const DETERMINING: usize = 2;

/// One row, and what it is compared with.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) queries: Queries<'a>,
    /// The row of the table.
    pub(super) row: usize,
    pub(super) encoded: &'a [f64],
    pub(super) notes: &'a [CellNote],
    /// All columns, to tell those that are odd themselves.
    pub(super) reasons: &'a [ColumnReason],
}

impl Words<'_> {
    fn column(&self, column: usize) -> &EncodedColumn {
        &self.queries.encoding.columns()[column]
    }

    fn name(&self, column: usize) -> &str {
        self.column(column).name()
    }

    fn note_of(&self, column: usize) -> Option<&CellNote> {
        self.notes.iter().find(|note| note.column == column)
    }

    /// The value of the row as it is written in the table.
    pub(super) fn value(&self, column: usize) -> String {
        match self.note_of(column).map(|note| &note.what) {
            Some(CellNoteKind::Gap) => return "gap".to_owned(),
            Some(CellNoteKind::NewLevel(text) | CellNoteKind::Unread(text)) => return text.clone(),
            None => {}
        }
        let learned = self.column(column);
        if let Some(Values::Texts(texts)) = self.queries.table.column(learned.name()).map(|c| &c.values)
            && let Some(text) = texts.get(self.row)
        {
            return text.trim().to_owned();
        }
        self.encoded_value(column, self.encoded)
    }

    /// The value that an encoded row has in a column, with the decimals that the column has.
    pub(super) fn encoded_value(&self, column: usize, encoded: &[f64]) -> String {
        let (learned, range) = (self.column(column), coordinates(self.queries.encoding, column));
        let values = encoded.get(range).unwrap_or_default();
        if is_category(learned) {
            let level = values.iter().position(|value| *value != 0.0).unwrap_or(values.len());
            return learned.format_value(level as f64);
        }
        values.first().map_or_else(String::new, |value| learned.format_value(to_decimals(*value, learned)))
    }

    /// The same for a value that is one of many: a number is rounded to a hundredth of where nine in ten are (heuristic).
    pub(super) fn changed_value(&self, column: usize, encoded: &[f64]) -> String {
        let learned = self.column(column);
        let value = encoded.get(coordinates(self.queries.encoding, column)).and_then(|values| values.first());
        let spread = learned.quantiles().map(|quantiles| quantiles.high - quantiles.low);
        let (Some(value), Some(spread), ColumnKind::Number) = (value, spread, learned.kind()) else {
            return self.encoded_value(column, encoded);
        };
        let close = rounded(*value, Some((0.0, spread / 10.0)), learned.is_whole());
        let text = without_zeros(learned.format_value(to_decimals(close, learned)));
        if (close - value).abs() <= 1e-9 * value.abs() { text } else { format!("about {text}") }
    }

    /// Whether a value says something by itself or beside columns that determine it: not a common one, of which another would
    /// only be more usual.
    pub(super) fn is_telling(&self, reason: &ColumnReason) -> bool {
        let (column, facts) = (self.column(reason.column), &reason.facts);
        let count = if is_category(column) {
            let text = self.value(reason.column);
            column.levels().iter().find(|level| level.name == text).map_or(facts.equal, |level| level.count)
        } else {
            facts.equal
        };
        let determined = reason.fits.as_ref().is_some_and(|fits| self.determining(fits).is_some());
        match self.note_of(reason.column) {
            Some(note) => self.is_unusual(note),
            None => determined || count <= RARE * column.observations(),
        }
    }

    /// Whether a note is worth mentioning: most rows have a value there.
    pub(super) fn is_unusual(&self, note: &CellNote) -> bool {
        match note.what {
            CellNoteKind::Gap => self.column(note.column).gap_share() <= RARE,
            CellNoteKind::NewLevel(_) | CellNoteKind::Unread(_) => true,
        }
    }

    /// What a note says.
    pub(super) fn note(&self, note: &CellNote) -> String {
        let column = self.column(note.column);
        let rows = counted(column.observations());
        match &note.what {
            CellNoteKind::Unread(text) => unread(column, text).to_owned(),
            CellNoteKind::NewLevel(_) => format!("in none of {rows} rows"),
            CellNoteKind::Gap if column.gaps() == 0.0 => format!("none of {rows} rows has a gap here"),
            CellNoteKind::Gap if self.is_unusual(note) => {
                format!("only {} of {rows} rows have a gap here", counted(column.gaps()))
            }
            CellNoteKind::Gap => {
                format!("a gap, as in {} of {rows} rows; filled in from similar rows", counted(column.gaps()))
            }
        }
    }

    /// What is odd about the value of a column.
    pub(super) fn sentence(&self, reason: &ColumnReason) -> String {
        let column = self.column(reason.column);
        if let Some(note) = self.note_of(reason.column) {
            let text = self.note(note);
            return match self.fitting(reason) {
                Some(fits) if !is_gap(&note.what) => format!("{text}; {fits}"),
                _ => text,
            };
        }
        if is_category(column) { self.level(reason) } else { self.number(reason) }
    }

    fn number(&self, reason: &ColumnReason) -> String {
        let (column, facts) = (self.column(reason.column), &reason.facts);
        let usual = || match facts.quantiles {
            Some([low, _, high]) if low == high => format!("nine in ten are {}", column.format_value(low)),
            Some([low, _, high]) => {
                format!("nine in ten are {} to {}", column.format_value(low), column.format_value(high))
            }
            None => String::new(),
        };
        let determined = reason.fits.as_ref().is_some_and(|fits| self.determining(fits).is_some());
        let share = if determined { EXTREME_ALTHOUGH_DETERMINED } else { EXTREME };
        if let Some(extreme) = extreme(column.kind(), facts, share) {
            return format!("{extreme}; {}", usual());
        }
        self.fitting(reason).unwrap_or_else(usual)
    }

    fn level(&self, reason: &ColumnReason) -> String {
        let (column, facts) = (self.column(reason.column), &reason.facts);
        let text = self.value(reason.column);
        let level = column.levels().iter().find(|level| level.name == text);
        let count = level.map_or(facts.equal, |level| level.count);
        let (rows, fits) = (counted(column.observations()), self.fitting(reason));
        if count <= RARE * column.observations() {
            let rare = if count <= 1.0 && self.queries.own {
                format!("in no other of {rows} rows")
            } else {
                format!("in only {} of {rows} rows", counted(count))
            };
            return fits.map_or(rare.clone(), |fits| format!("{rare}; {fits}"));
        }
        fits.unwrap_or_else(|| "unusual beside the other columns".to_owned())
    }

    /// The value that would fit, and what it would fit to.
    fn fitting(&self, reason: &ColumnReason) -> Option<String> {
        let fits = reason.fits.as_ref()?;
        let column = self.column(reason.column);
        let value = if let Some(number) = fits.number {
            let close = rounded(number, fits.range, column.is_whole());
            let text = column.format_value(to_decimals(close, column));
            let about = if column.kind() == ColumnKind::Time { "around" } else { "about" };
            format!("{about} {text}")
        } else {
            let level = fits.encoded.iter().position(|value| *value != 0.0)?;
            format!("`{}`", column.format_value(level as f64))
        };
        if value.trim_matches('`') == self.value(reason.column) {
            return None;
        }
        // Beside other odd columns the value was found for a row in which those are ordinary.
        let alone = self.reasons.iter().filter(|other| other.replaced).count() <= 1;
        Some(match self.determining(fits) {
            Some(names) => format!("{value} would fit {names}"),
            None if alone => format!("{value} would fit the other columns"),
            None => format!("{value} would be usual"),
        })
    }

    /// The names of the columns that determine a value, if they are not odd themselves.
    fn determining(&self, fits: &Fitting) -> Option<String> {
        let columns = &fits.determined_by[..fits.determined_by.len().min(DETERMINING)];
        let is_odd = |column: &usize| self.reasons.iter().any(|r| r.column == *column && r.replaced);
        if columns.is_empty() || columns.iter().any(is_odd) {
            return None;
        }
        Some(columns.iter().map(|&column| self.name(column)).collect::<Vec<_>>().join(" and "))
    }
}

fn is_category(column: &EncodedColumn) -> bool {
    matches!(column.kind(), ColumnKind::Category | ColumnKind::Boolean)
}

/// What is wrong with a text that could not be read as a value of a column.
fn unread(column: &EncodedColumn, text: &str) -> &'static str {
    match column.kind() {
        ColumnKind::Time if column.is_clock() => "no time",
        ColumnKind::Time => "no date",
        ColumnKind::Boolean => "no yes or no",
        _ if column.is_duration() => "no length of time",
        _ if column.is_in_another_unit(text) => "in another currency or unit than the rest",
        _ => "no number",
    }
}

/// How far out a number is by itself; `None` if more than a `share` of the others is as far out.
fn extreme(kind: ColumnKind, facts: &ColumnFacts, share: f64) -> Option<String> {
    let (high, low, highest, lowest) = match kind {
        ColumnKind::Time => ("late", "early", "latest", "earliest"),
        _ => ("high", "low", "highest", "lowest"),
    };
    let far = share * facts.total;
    let (up, down) = (facts.above + facts.equal, facts.below + facts.equal);
    // A value that a twentieth of the rows share is common, however far out.
    if facts.equal > RARE * facts.total || up.min(down) > far.max(1.0) {
        return None;
    }
    let (beyond, word, most) =
        if up <= down { (facts.above, high, highest) } else { (facts.below, low, lowest) };
    Some(if beyond == 0.0 {
        format!("{most} of all")
    } else {
        format!("{} of {} are as {word}", counted(up.min(down)), counted(facts.total))
    })
}

/// A number with the decimals of its column; a date as it is.
fn to_decimals(number: f64, column: &EncodedColumn) -> f64 {
    let unit = 10f64.powi(i32::try_from(column.decimals()).unwrap_or(0));
    let close = (number * unit).round() / unit;
    if column.kind() == ColumnKind::Number && close.is_finite() { close } else { number }
}

/// A number without the zeros behind its decimals, which look more exact than it is.
fn without_zeros(text: String) -> String {
    match text.rsplit_once('.') {
        Some((_, decimals)) if !decimals.is_empty() && decimals.bytes().all(|b| b.is_ascii_digit()) => {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => text,
    }
}

/// A number within its range, with as few digits as that allows: two significant ones more than the range is wide.
fn rounded(number: f64, range: Option<(f64, f64)>, whole: bool) -> f64 {
    let width = range.map_or(0.0, |(low, high)| high - low);
    let size = if width > 0.0 { width } else { number.abs() };
    if size <= 0.0 || !size.is_finite() {
        return number;
    }
    let unit = 10f64.powf(size.log10().floor() - 1.0);
    let unit = if whole { unit.max(1.0) } else { unit };
    let close = (number / unit).round() * unit;
    if close.is_finite() { close } else { number }
}

/// A count with its thousands separated.
pub(super) fn counted(count: f64) -> String {
    if count.fract() != 0.0 || count.abs() >= 1e15 {
        return format!("{count:.1}");
    }
    let digits = format!("{count:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separated_thousands() {
        for (count, text) in [(0.0, "0"), (999.0, "999"), (1202.0, "1,202"), (1e6, "1,000,000"), (2.5, "2.5")]
        {
            assert_eq!(counted(count), text);
        }
    }

    #[test]
    fn a_number_that_would_fit_has_as_many_digits_as_its_range_says() {
        assert_eq!(rounded(413.613, Some((380.0, 440.0)), false), 414.0);
        assert_eq!(rounded(19.4, Some((10.0, 27.0)), true), 19.0);
        assert_eq!(rounded(0.0, None, false), 0.0);
        assert_eq!(rounded(f64::MAX, Some((-f64::MAX, f64::MAX)), false), f64::MAX);
    }

    #[test]
    fn numbers_at_the_end_of_all_are_extreme_and_common_ones_are_not() {
        let facts = |below, equal, above| ColumnFacts { below, equal, above, total: 1000.0, quantiles: None };
        let words = |f| extreme(ColumnKind::Number, &f, EXTREME);
        assert_eq!(words(facts(999.0, 1.0, 0.0)).as_deref(), Some("highest of all"));
        assert_eq!(words(facts(0.0, 2.0, 998.0)).as_deref(), Some("lowest of all"));
        assert_eq!(words(facts(990.0, 1.0, 9.0)).as_deref(), Some("10 of 1,000 are as high"));
        assert_eq!(words(facts(500.0, 1.0, 499.0)), None);
        assert_eq!(words(facts(900.0, 100.0, 0.0)), None);
        assert_eq!(
            extreme(ColumnKind::Time, &facts(0.0, 1.0, 999.0), EXTREME).as_deref(),
            Some("earliest of all")
        );
    }
}
