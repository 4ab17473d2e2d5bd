//! What is odd about a value, in words.

use super::numbers::{counted, rounded, to_decimals, usual_value, without_zeros};
use super::{Queries, WordedReason, coordinates, is_gap, notes_of};
use crate::data::{CellNote, CellNoteKind, ColumnKind, EncodedColumn};
use crate::model::reasons::{ColumnFacts, ColumnReason, Fitting};

/// Up to this share of the rows on one side, a number is called high or low by itself (heuristic).
const EXTREME: f64 = 0.02;

/// The same where the other columns say which value would fit: that says more, unless hardly any row is as far out.
const EXTREME_ALTHOUGH_DETERMINED: f64 = 0.002;

/// Up to this share of the rows, or one of them, a level is called rare by itself.
const RARE: f64 = 0.05;

/// A level of at most so many rows may be another one misspelt if that one is so many times as frequent (heuristics).
const SLIPS: f64 = 3.0;
const MISSPELT: f64 = 5.0;

/// How many columns are named that determine a value.
const DETERMINING: usize = 3;

/// One row, and what it is compared with.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) queries: Queries<'a>,
    /// The row of the table.
    row: usize,
    encoded: &'a [f64],
    pub(super) notes: &'a [CellNote],
    /// All columns, to tell those that are odd themselves.
    reasons: &'a [ColumnReason],
}

impl<'a> Words<'a> {
    /// About an encoded row.
    pub(super) fn new(
        queries: Queries<'a>,
        at: usize,
        encoded: &'a [f64],
        reasons: &'a [ColumnReason],
    ) -> Self {
        let row = queries.numbers[at];
        Self { queries, row, encoded, notes: notes_of(queries.notes, row), reasons }
    }

    /// The columns that account for the row, the most important first; those that the change changes are among them, if they
    /// are few enough to be named.
    pub(super) fn reasons(&self, most: usize, changed: &[usize]) -> Vec<WordedReason> {
        // One odd value may hide another, which then has a contribution below 0.
        let total: f64 = self.reasons.iter().map(|reason| reason.contribution.max(0.0)).sum();
        let share = |bits: f64| if total > 0.0 { bits.max(0.0) / total } else { 0.0 };
        // A value that many rows have explains nothing by itself: it is a reason only where there is no other.
        let replaced: Vec<_> = self.reasons.iter().filter(|reason| reason.replaced).collect();
        let is_changed = |reason: &ColumnReason| changed.len() <= most && changed.contains(&reason.column);
        let is_named =
            |reason: &&ColumnReason| is_changed(reason) || (reason.replaced && self.is_telling(reason));
        let named: Vec<_> = self.reasons.iter().filter(is_named).collect();
        let mut counted = match (named.is_empty(), replaced.is_empty()) {
            (false, _) => named,
            (true, false) => replaced,
            (true, true) => self.extremes(),
        };
        if counted.len() > most {
            counted.sort_by_key(|reason| !is_changed(reason));
        }
        let worded = |column: usize, text: String, beside: Vec<usize>, share: f64| WordedReason {
            column,
            name: self.name(column).to_owned(),
            value: self.value(column),
            text,
            beside,
            share,
        };
        let of_column = |reason: &ColumnReason| {
            let text = self.sentence(reason);
            let beside = self.named_in(&text, reason);
            worded(reason.column, text, beside, share(reason.contribution))
        };
        let mut found: Vec<WordedReason> = counted.into_iter().take(most).map(of_column).collect();
        // A gap or a cell that cannot be read is a reason by itself, also where the filled value is ordinary.
        for note in self.notes {
            let known = found.iter().any(|reason| reason.column == note.column);
            if !known && self.is_unusual(note) && found.len() < most.max(1) {
                found.push(worded(note.column, self.note(note), Vec::new(), 0.0));
            }
        }
        found
    }

    pub(super) fn column(&self, column: usize) -> &EncodedColumn {
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
        if let Some(text) = learned.text_in(self.queries.table, self.row) {
            return text;
        }
        let number = self.encoded.get(coordinates(self.queries.encoding, column)).and_then(|v| v.first());
        match (learned.kind(), number) {
            (ColumnKind::Number, Some(number)) => learned.format_value(*number),
            _ => self.encoded_value(column, self.encoded),
        }
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

    /// The same for a value that is one of many: a number is rounded to a hundredth of where nine in ten are, or to two digits
    /// where that is less and all of these have one sign (heuristic).
    pub(super) fn changed_value(&self, column: usize, encoded: &[f64]) -> String {
        let learned = self.column(column);
        let value = encoded.get(coordinates(self.queries.encoding, column)).and_then(|values| values.first());
        let (Some(value), Some(quantiles), ColumnKind::Number) = (value, learned.quantiles(), learned.kind())
        else {
            return self.encoded_value(column, encoded);
        };
        let spread = (quantiles.high - quantiles.low) / 10.0;
        let one_sign = quantiles.low > 0.0 || quantiles.high < 0.0;
        let size = if one_sign { spread.min(value.abs()) } else { spread };
        let close = rounded(*value, Some((0.0, size)), learned.is_whole());
        let text = without_zeros(learned.format_value(to_decimals(close, learned)), learned);
        if (close - value).abs() <= 1e-9 * value.abs() { text } else { format!("about {text}") }
    }

    /// Whether a value says something by itself or beside columns that determine it: not a common one, of which another would
    /// only be more usual.
    fn is_telling(&self, reason: &ColumnReason) -> bool {
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
            None => determined || is_rare(column, count),
        }
    }

    /// Whether a note is worth mentioning: most rows have a value there.
    fn is_unusual(&self, note: &CellNote) -> bool {
        match note.what {
            CellNoteKind::Gap => {
                let column = self.column(note.column);
                column.gap_share() <= RARE && column.gap_codes().is_empty()
            }
            CellNoteKind::NewLevel(_) | CellNoteKind::Unread(_) => true,
        }
    }

    /// What a note says.
    fn note(&self, note: &CellNote) -> String {
        let column = self.column(note.column);
        let rows = counted(column.observations());
        match &note.what {
            CellNoteKind::Unread(text) => unread(column, text).to_owned(),
            CellNoteKind::NewLevel(_) => format!("in none of {rows} rows"),
            CellNoteKind::Gap if column.gaps() == 0.0 => format!("none of {rows} rows has a gap here"),
            CellNoteKind::Gap if self.is_unusual(note) => {
                let have = if column.gaps() == 1.0 { "has" } else { "have" };
                format!("only {} of {rows} rows {have} a gap here", counted(column.gaps()))
            }
            CellNoteKind::Gap => {
                format!("a gap, as in {} of {rows} rows; filled in from similar rows", counted(column.gaps()))
            }
        }
    }

    /// The columns whose numbers are far out by themselves, the farthest first: for rows in which so many are odd that no few
    /// account for it.
    fn extremes(&self) -> Vec<&ColumnReason> {
        let beyond = |reason: &ColumnReason| {
            let [low, middle, high] = reason.facts.quantiles?;
            let value = *self.encoded.get(coordinates(self.queries.encoding, reason.column))?.first()?;
            let (distance, unit) =
                if value > middle { (value - high, high - middle) } else { (low - value, middle - low) };
            extreme(self.column(reason.column).kind(), &reason.facts, EXTREME)?;
            (distance > 0.0 && self.note_of(reason.column).is_none()).then_some(distance / unit)
        };
        let mut far: Vec<(f64, &ColumnReason)> =
            self.reasons.iter().filter_map(|reason| Some((beyond(reason)?, reason))).collect();
        far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.column.cmp(&b.1.column)));
        far.into_iter().map(|(_, reason)| reason).collect()
    }

    /// What is odd about the value of a column.
    fn sentence(&self, reason: &ColumnReason) -> String {
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
                format!("nine in ten are {} to {}", usual_value(column, low), usual_value(column, high))
            }
            None => String::new(),
        };
        let determined = reason.fits.as_ref().is_some_and(|fits| self.determining(fits).is_some());
        let share = if determined { EXTREME_ALTHOUGH_DETERMINED } else { EXTREME };
        if let Some(extreme) = extreme(column.kind(), facts, share) {
            // In a few rows, the largest is among nine in ten of them.
            return if self.is_usual(reason) { extreme } else { format!("{extreme}; {}", usual()) };
        }
        self.fitting(reason).unwrap_or_else(usual)
    }

    /// Whether a number is where nine in ten are.
    fn is_usual(&self, reason: &ColumnReason) -> bool {
        let value =
            self.encoded.get(coordinates(self.queries.encoding, reason.column)).and_then(|v| v.first());
        let within = |value: &f64, [low, _, high]: [f64; 3]| (low..=high).contains(value);
        value.zip(reason.facts.quantiles).is_some_and(|(value, quantiles)| within(value, quantiles))
    }

    fn level(&self, reason: &ColumnReason) -> String {
        let (column, facts) = (self.column(reason.column), &reason.facts);
        let text = self.value(reason.column);
        let level = column.levels().iter().find(|level| level.name == text);
        let count = level.map_or(facts.equal, |level| level.count);
        let (rows, fits) = (counted(column.observations()), self.fitting(reason));
        if is_rare(column, count) {
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
        if is_category(column)
            && let Some(similar) = misspelt(column, &self.value(reason.column))
        {
            return Some(format!("perhaps `{similar}`"));
        }
        let value = if let Some(number) = fits.number {
            let close = rounded(number, fits.range, column.is_whole());
            let text = without_zeros(column.format_value(to_decimals(close, column)), column);
            let about = if column.kind() == ColumnKind::Time { "around" } else { "about" };
            format!("{about} {text}")
        } else {
            let level = fits.encoded.iter().position(|value| *value != 0.0)?;
            format!("`{}`", column.format_value(level as f64))
        };
        let plain = value.trim_start_matches("about ").trim_start_matches("around ").trim_matches('`');
        let columns = self.queries.encoding.columns();
        let varies = |(at, other): (usize, &EncodedColumn)| at != reason.column && !other.is_constant();
        if plain == without_zeros(self.value(reason.column), column)
            || !columns.iter().enumerate().any(varies)
        {
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

    /// The columns that determine the value of a column, where its sentence says which value would fit them.
    fn named_in(&self, text: &str, reason: &ColumnReason) -> Vec<usize> {
        let names = reason.fits.as_ref().and_then(|fits| Some((fits, self.determining(fits)?)));
        let named = names.filter(|(_, names)| text.ends_with(&format!("would fit {names}")));
        named.map_or_else(Vec::new, |(fits, _)| fits.determined_by.clone())
    }

    /// The names of the columns that determine a value, if they are not odd themselves.
    fn determining(&self, fits: &Fitting) -> Option<String> {
        let columns = &fits.determined_by[..fits.determined_by.len().min(DETERMINING)];
        let is_odd = |column: &usize| self.reasons.iter().any(|r| r.column == *column && r.replaced);
        if columns.is_empty() || columns.iter().any(is_odd) {
            return None;
        }
        let names: Vec<&str> = columns.iter().map(|&column| self.name(column)).collect();
        // Columns of a matrix have numbers for names.
        let are_numbers = names.iter().all(|name| name.bytes().all(|b| b.is_ascii_digit()));
        let kind = match (are_numbers, names.len()) {
            (true, 1) => "column ",
            (true, _) => "columns ",
            _ => "",
        };
        Some(match &names[..] {
            [first @ .., last] if !first.is_empty() => format!("{kind}{} and {last}", first.join(", ")),
            _ => format!("{kind}{}", names.join(" and ")),
        })
    }
}

pub(super) fn is_category(column: &EncodedColumn) -> bool {
    matches!(column.kind(), ColumnKind::Category | ColumnKind::Boolean)
}

/// Whether a level of so many rows is rare: by itself, and beside the other levels of its column.
fn is_rare(column: &EncodedColumn, count: f64) -> bool {
    let levels = column.levels().len() + column.other_levels().0;
    let mean = column.observations() / levels.max(1) as f64;
    count <= 1.0 || (count <= RARE * column.observations() && 2.0 * count <= mean)
}

/// A much more frequent level that a text differs from by one letter, or two of a long text.
pub(super) fn misspelt<'c>(column: &'c EncodedColumn, text: &str) -> Option<&'c str> {
    let own = column.levels().iter().find(|level| level.name == text).map_or(1.0, |level| level.count);
    let folded = text.to_lowercase();
    // An edit of a short text makes another word of it: `male` and `female`.
    let most = match folded.chars().count() {
        // Digits are no spelling: `1h 28m` is not meant by `1h 26m`.
        _ if own > SLIPS || text.contains(|c: char| c.is_ascii_digit()) => return None,
        0..=2 => 0,
        3..=7 => 1,
        _ => 2,
    };
    let levels = column.levels().iter().filter(|level| level.name != text && level.count >= MISSPELT * own);
    let edits = |name: &str| strsim::osa_distance(&folded, &name.to_lowercase());
    let near = levels.map(|level| (edits(&level.name), level)).filter(|(edits, _)| *edits <= most);
    near.min_by_key(|(edits, _)| *edits).map(|(_, level)| level.name.as_str())
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
    if facts.equal > (RARE * facts.total).max(1.0) || up.min(down) > far.max(1.0) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
