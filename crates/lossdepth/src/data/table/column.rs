//! What is known about a compared column.

use super::cells::Cell;
use super::date::{self, DateForm};
use super::kind::ColumnKind;
use super::levels::{Level, Levels, pair_size};
use super::number::NumberForm;
use super::part::{Origin, Part};
use super::quantiles::Quantiles;
use super::{Column, Table, Values};
use serde::{Deserialize, Serialize};

/// Gaps up to this share of the rows are unusual enough to count by themselves.
const RARE_GAPS: f64 = 0.05;

/// A compared column as the reference had it: its kind, gaps, and what its values were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncodedColumn {
    pub(super) name: String,
    pub(super) kind: ColumnKind,
    pub(super) observations: f64,
    pub(super) gaps: f64,
    pub(super) content: Content,
    /// What of the cells of which column it is, if it is not a whole one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<Origin>,
}

/// What is known about the values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Content {
    Number { quantiles: Quantiles, whole: bool, form: NumberForm },
    Time { quantiles: Quantiles, time_of_day: bool, form: DateForm },
    Levels { levels: Levels, truth: Option<[String; 2]> },
}

impl EncodedColumn {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the column of the table that it is read from: another one than its own where cells hold several numbers, or
    /// a number and a unit, that are compared one by one.
    pub fn source(&self) -> &str {
        self.origin.as_ref().map_or(&self.name, |origin| &origin.column)
    }

    /// What of a cell it is, if not all of it.
    pub(super) fn part(&self) -> Option<&Part> {
        self.origin.as_ref().map(|origin| &origin.part)
    }

    /// The column of a table that it is read from.
    pub(super) fn find<'a>(&self, table: &'a Table) -> Option<&'a Column> {
        table.column(&self.name).or_else(|| table.column(self.source()))
    }

    /// What is written in a cell of a column of texts for it.
    pub(crate) fn text_in(&self, table: &Table, row: usize) -> Option<String> {
        let Values::Texts(texts) = &self.find(table)?.values else { return None };
        let text = texts.get(row)?.trim();
        // An amount is shown with its unit.
        let part = self.part().filter(|part| **part != Part::Amount);
        Some(part.map_or(Some(text.into()), |part| part.of(text)).unwrap_or(text.into()).into_owned())
    }

    /// The kind: number, category, boolean or date.
    pub fn kind(&self) -> ColumnKind {
        self.kind
    }

    /// How many reference rows there were; rows count with their weights.
    pub fn observations(&self) -> f64 {
        self.observations
    }

    /// In how many of them the column was a gap, or could not be read as its kind.
    pub fn gaps(&self) -> f64 {
        self.gaps
    }

    /// The share of gaps.
    pub fn gap_share(&self) -> f64 {
        self.gaps / self.observations
    }

    /// Where the values lie: numbers as they are, dates in days since the beginning of 1970. `None` for categories.
    pub fn quantiles(&self) -> Option<&Quantiles> {
        match &self.content {
            Content::Number { quantiles, .. } | Content::Time { quantiles, .. } => Some(quantiles),
            Content::Levels { .. } => None,
        }
    }

    /// Whether every value was a whole number; true of dates without a time of day.
    pub fn is_whole(&self) -> bool {
        match &self.content {
            Content::Number { whole, .. } => *whole,
            Content::Time { time_of_day, .. } => !time_of_day,
            Content::Levels { .. } => false,
        }
    }

    /// How many decimals its numbers are written with; 0 for other kinds.
    pub fn decimals(&self) -> usize {
        match &self.content {
            Content::Number { form, .. } => form.decimals,
            _ => 0,
        }
    }

    /// The mark in front of the decimals of its numbers; the other one of `.` and `,` is between thousands.
    pub(crate) fn decimal_mark(&self) -> char {
        match &self.content {
            Content::Number { form, .. } => form.decimal.unwrap_or('.'),
            _ => '.',
        }
    }

    /// Whether a value came with a time of day.
    pub fn has_time_of_day(&self) -> bool {
        matches!(&self.content, Content::Time { time_of_day: true, .. })
    }

    /// Whether all values were times of day, or durations below a day, without a date.
    pub fn is_clock(&self) -> bool {
        match &self.content {
            Content::Time { quantiles, time_of_day: true, .. } => quantiles.min >= 0.0 && quantiles.max < 1.0,
            _ => false,
        }
    }

    /// Whether the values are lengths of time, in days.
    pub fn is_duration(&self) -> bool {
        matches!(&self.content, Content::Number { form, .. } if form.duration)
    }

    /// In how many cells of the reference there was a bound instead of a number, as `<0.5`. It is compared as if it were the
    /// number.
    pub fn bounds(&self) -> usize {
        match &self.content {
            Content::Number { form, .. } => form.bounds,
            _ => 0,
        }
    }

    /// The numbers that stand for a gap in it, as 99 among answers from 1 to 5: they are guessed.
    pub fn gap_codes(&self) -> &[i64] {
        match &self.content {
            Content::Number { form, .. } => &form.gaps,
            _ => &[],
        }
    }

    /// Whether a text that could not be read as a number of this column is one in another currency or unit.
    pub(crate) fn is_in_another_unit(&self, text: &str) -> bool {
        matches!(&self.content, Content::Number { form, .. } if form.is_in_another_unit(text))
    }

    /// Whether all values were the same.
    pub fn is_constant(&self) -> bool {
        match &self.content {
            Content::Number { quantiles, .. } | Content::Time { quantiles, .. } => {
                quantiles.min == quantiles.max
            }
            Content::Levels { levels, .. } => levels.named.len() == 1 && levels.unnamed.is_empty(),
        }
    }

    /// The levels of a category, the most frequent first; at most 1000 are kept by name. Empty for numbers and dates.
    pub fn levels(&self) -> &[Level] {
        match &self.content {
            Content::Levels { levels, .. } => &levels.named,
            _ => &[],
        }
    }

    /// How many levels there were beyond [`levels`](Self::levels), and in how many rows (with their weights).
    pub fn other_levels(&self) -> (usize, f64) {
        match &self.content {
            Content::Levels { levels, .. } => (levels.unnamed.len(), levels.unnamed_count),
            _ => (0, 0.0),
        }
    }

    /// A value of the column as it would be written there: with its decimals, currency or percent sign, thousands
    /// separated; dates as in ISO 8601. For a category, the name of the level of a coordinate.
    pub fn format_value(&self, value: f64) -> String {
        match &self.content {
            Content::Levels { levels, .. } => {
                let level = levels.named.iter().find(|level| level.coordinate as f64 == value);
                level.map_or_else(|| "another level".to_owned(), |level| level.name.clone())
            }
            Content::Number { form, .. } => form.format(value),
            Content::Time { .. } if self.is_clock() && (0.0..1.0).contains(&value) => {
                date::format_clock(value)
            }
            Content::Time { time_of_day, .. } => date::format(value, *time_of_day),
        }
    }

    /// The levels with what belongs to them.
    pub(super) fn category(&self) -> Option<&Levels> {
        match &self.content {
            Content::Levels { levels, .. } => Some(levels),
            _ => None,
        }
    }

    /// Whether gaps are rare enough to count by themselves. Where a number stands for them they were foreseen, and do not.
    pub(super) fn has_gap_group(&self) -> bool {
        self.gaps > 0.0 && self.gap_share() <= RARE_GAPS && self.gap_codes().is_empty()
    }

    /// The size of the coordinates of its gaps: (T4).
    pub(super) fn gap_size(&self) -> f64 {
        pair_size(self.observations - self.gaps, self.gaps)
    }

    /// The median, or the most frequent level.
    pub(super) fn typical(&self) -> Cell {
        match &self.content {
            Content::Number { quantiles, .. } | Content::Time { quantiles, .. } => {
                Cell::Number(quantiles.median)
            }
            Content::Levels { levels, .. } => {
                Cell::Level(levels.named.first().map_or(0, |level| level.coordinate))
            }
        }
    }

    /// What is wrong with a column that was read from a file.
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("column {}: {what}", super::encoding::quoted(&self.name)));
        let fits = matches!(
            (self.kind, &self.content),
            (ColumnKind::Number, Content::Number { .. })
                | (ColumnKind::Time, Content::Time { .. })
                | (ColumnKind::Category, Content::Levels { truth: None, .. })
                | (ColumnKind::Boolean, Content::Levels { truth: Some(_), .. })
        );
        if !fits {
            return wrong("its values are not of its kind");
        }
        if self.part().is_some_and(|part| !part.is_valid()) {
            return wrong("it is no part of a cell");
        }
        let counted = self.observations.is_finite() && self.gaps >= 0.0 && self.gaps < self.observations;
        if !counted {
            return wrong("its gaps are not part of its rows");
        }
        if let Some(quantiles) = self.quantiles() {
            let values = quantiles.values();
            if !values.is_sorted() || values.iter().any(|value| value.is_nan() || value.abs() > 1e100) {
                return wrong("its quantiles are not in order");
            }
        }
        match &self.content {
            Content::Number { form, .. } if !form.is_valid() => wrong("its numbers cannot be written so"),
            Content::Time { form, .. } if !form.is_valid() => wrong("its dates cannot be read so"),
            Content::Levels { levels, .. } => levels.check().or_else(|what| wrong(&what)),
            _ => Ok(()),
        }
    }
}
