//! A column with what its cells say, and the kind that follows.

use super::Plan;
use crate::data::table::boolean;
use crate::data::table::cells::ODD;
use crate::data::table::code::{self, Naming, naming};
use crate::data::table::date::{DateForm, DateGuess};
use crate::data::table::duration;
use crate::data::table::gap;
use crate::data::table::kind::ColumnKind;
use crate::data::table::left_out::LeftOutReason;
use crate::data::table::number::{self, NumberForm, NumberGuess};
use crate::data::table::options::EncodingOptions;
use crate::data::table::part::{self, BETWEEN, Part};
use crate::data::table::{Column, Texts, Values};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

/// So many consecutive whole numbers, each once, are taken for an id whatever the column is called; so many dates of eight
/// digits for dates.
const CONSECUTIVE: usize = 8;

/// From this number on, values of a column that is called a number are codes even if they repeat (heuristic).
const LONG_CODE: f64 = 1000.0;

/// A column with what its texts say about numbers and dates.
pub(super) struct Profile<'a> {
    column: &'a Column,
    said: Option<ColumnKind>,
    counted: Vec<usize>,
    texts: Vec<(&'a str, usize)>,
    cells: usize,
    /// The texts without words that stand for gaps among numbers and dates, and how many cells they are.
    values: Vec<(&'a str, usize)>,
    valued: usize,
    number: NumberGuess,
    date: DateGuess,
}

impl<'a> Profile<'a> {
    pub(super) fn of(column: &'a Column, weights: &[f64], options: &EncodingOptions) -> Self {
        let said = options.kinds.get(&column.name).copied();
        let counted = if said.is_none() && matches!(column.values, Values::Numbers(_)) && options.guess {
            (0..weights.len()).filter(|&row| weights[row] > 0.0).collect()
        } else {
            Vec::new()
        };
        let texts = match &column.values {
            Values::Texts(texts) => counts(texts, weights, options),
            _ => Vec::new(),
        };
        let cells = texts.iter().map(|(_, count)| count).sum();
        let values: Vec<(&str, usize)> =
            texts.iter().copied().filter(|(text, _)| !gap::is_gap_word(text)).collect();
        let valued = values.iter().map(|(_, count)| count).sum();
        // Where the kind is said, every cell that can be read is.
        let looked_at = |kind: ColumnKind| if said == Some(kind) { usize::MAX } else { valued };
        let (numbers, dates) = (looked_at(ColumnKind::Number), looked_at(ColumnKind::Time));
        let number = NumberForm::guess(values.iter().copied(), numbers, options.decimal, None);
        let date = DateForm::guess(values.iter().copied(), dates, options.day_first, None);
        Self { column, said, counted, texts, cells, values, valued, number, date }
    }

    pub(super) fn clear_decimal(&self) -> Option<char> {
        let clear = self.number.clear && self.is_number();
        if clear { self.number.form.decimal } else { None }
    }

    pub(super) fn clear_order(&self) -> Option<bool> {
        (self.date.clear && self.is_date()).then_some(self.date.form.day_first)
    }

    fn is_number(&self) -> bool {
        self.has_values() && self.number.is_number(self.valued)
    }

    fn is_date(&self) -> bool {
        self.has_values() && self.date.is_date(self.valued)
    }

    /// Whether enough cells are left without the words for gaps: in a column of `unknown` and a few numbers, these are levels.
    /// A quarter is a heuristic.
    fn has_values(&self) -> bool {
        4 * self.valued >= self.cells
    }

    pub(super) fn plan(
        mut self,
        rows: usize,
        decimal: Option<char>,
        order: Option<bool>,
        options: &EncodingOptions,
    ) -> Plan {
        if !self.number.clear && self.number.read > 0 && decimal.is_some() {
            self.number =
                NumberForm::guess(self.values.iter().copied(), usize::MAX, options.decimal, decimal);
        }
        if !self.date.clear && self.date.read > 0 && order.is_some() {
            self.date = DateForm::guess(self.values.iter().copied(), usize::MAX, options.day_first, order);
        }
        if matches!(self.said, None | Some(ColumnKind::Time)) && self.holds_compact_dates() {
            self.date.form.compact = true;
        }
        if matches!(self.said, None | Some(ColumnKind::Time)) && !self.date.form.compact {
            self.date.form.epoch = self.epoch_units();
        }
        let mut kind = self.said.unwrap_or_else(|| self.kind(rows, options.guess));
        let left_out = self.said.is_none() && matches!(kind, ColumnKind::Id | ColumnKind::Text);
        let mut why = if left_out && kind == ColumnKind::Text { self.why() } else { None };
        let parts = if left_out { self.parts(kind, why, options, decimal) } else { Vec::new() };
        if !parts.is_empty() {
            kind = ColumnKind::Text;
            why = why.or(Some(LeftOutReason::Pairs));
        }
        let durations = kind == ColumnKind::Number && self.durations() > self.number.read;
        let number = match () {
            () if kind == ColumnKind::Number && self.are_feet() => NumberForm::in_feet(),
            () if durations => NumberForm::durations(),
            () if kind == ColumnKind::Number && self.are_degrees() => NumberForm::in_degrees(),
            () => self.number.form,
        };
        Plan { kind, number, date: self.date.form, said: self.said.is_some(), why, part: None, parts }
    }

    /// The columns that are compared instead of one that would be left out: the numbers of cells that hold several, or the number
    /// and the unit of amounts in several units.
    fn parts(
        &self,
        kind: ColumnKind,
        why: Option<LeftOutReason>,
        options: &EncodingOptions,
        usual: Option<char>,
    ) -> Vec<Plan> {
        let number_of = |part: &Part| {
            let texts: Vec<(Cow<'_, str>, usize)> =
                self.values.iter().filter_map(|(text, count)| Some((part.of(text)?, *count))).collect();
            let each = texts.iter().map(|(text, count)| (text.as_ref(), *count));
            let guess = NumberForm::guess(each, self.valued, options.decimal, usual);
            guess.is_number(self.valued).then_some(guess.form)
        };
        let plan = |kind: ColumnKind, number: NumberForm, part: Part| Plan {
            kind,
            number,
            date: DateForm::default(),
            said: false,
            why: None,
            part: Some(part),
            parts: Vec::new(),
        };
        if why == Some(LeftOutReason::Units) {
            let Some(number) = number_of(&Part::Amount) else { return Vec::new() };
            return vec![
                plan(ColumnKind::Number, number, Part::Amount),
                plan(ColumnKind::Category, NumberForm::default(), Part::Unit),
            ];
        }
        if !matches!(self.column.values, Values::Texts(_)) || !self.has_values() {
            return Vec::new();
        }
        if let Some(numbers) = self.networks() {
            return vec![plan(ColumnKind::Category, NumberForm::default(), Part::Network { numbers })];
        }
        let Some((between, of)) = self.pieces(kind) else { return Vec::new() };
        let pieces = (0..of).map(|at| {
            let part = Part::Piece { at, of, between: between.to_owned() };
            Some(plan(ColumnKind::Number, number_of(&part)?, part))
        });
        pieces.collect::<Option<Vec<Plan>>>().unwrap_or_default()
    }

    /// How many numbers of addresses of the internet tell networks that repeat, where nearly all cells are such addresses.
    fn networks(&self) -> Option<usize> {
        let each = |numbers: usize| {
            let of = move |(text, count): &(&'a str, usize)| Some((part::network(text, numbers)?, *count));
            self.values.iter().filter_map(of)
        };
        let cells: usize = each(1).map(|(_, count)| count).sum();
        if cells == 0 || !ODD.allows(self.valued - cells, self.valued) {
            return None;
        }
        let repeats = |numbers: &usize| {
            let levels: BTreeSet<&str> = each(*numbers).map(|(network, _)| network).collect();
            !is_diverse(levels.len(), cells) && 2 * levels.len() <= cells
        };
        [3, 2, 1].into_iter().find(repeats)
    }

    /// What is between the numbers of nearly all cells, and how many there are in each.
    fn pieces(&self, kind: ColumnKind) -> Option<(&'static str, usize)> {
        let mut each = BETWEEN.iter().flat_map(|between| [2, 3].map(|of| (*between, of)));
        each.find(|(between, of)| {
            let is_pieces = |text: &str| {
                let numbers = |found: Vec<&str>| {
                    // Thousands and decimals have a comma too.
                    found.iter().all(|piece| {
                        number::is_number_in_a_unit(piece) && (*between != "," || piece.contains('.'))
                    })
                };
                let Some(found) = part::pieces(text, between, *of) else { return false };
                if *between == part::RANGE {
                    // Short numbers, the smaller one first.
                    let range: Vec<u32> = found.iter().filter_map(|piece| piece.parse().ok()).collect();
                    let short = found.iter().all(|piece| piece.len() <= 4);
                    return *of == 2 && short && range.len() == 2 && range[0] < range[1];
                }
                numbers(found)
            };
            let mut odd = 0;
            for (text, count) in &self.values {
                odd += if is_pieces(text) { 0 } else { *count };
                if !ODD.allows(odd, self.valued) {
                    return false;
                }
            }
            // What names the rows has a part that is another one in every row; a place on a map has that too.
            let repeats = |at: usize| {
                let found =
                    self.values.iter().filter_map(|(text, _)| Some(part::pieces(text, between, *of)?[at]));
                found.collect::<BTreeSet<_>>().len() < self.values.len()
            };
            kind != ColumnKind::Id || between.contains(',') || (0..*of).all(repeats)
        })
    }

    /// Why a column that is left out as a text is no column of numbers, if it nearly is one.
    fn why(&self) -> Option<LeftOutReason> {
        if matches!(self.column.values, Values::Numbers(_)) {
            return Some(LeftOutReason::Code);
        }
        let count = |is: fn(&str) -> bool| -> usize {
            self.values.iter().filter(|(text, _)| is(text)).map(|(_, count)| count).sum()
        };
        let enough = |count: usize| count > 0 && ODD.allows(self.valued - count, self.valued);
        let units: BTreeSet<&str> = self.values.iter().filter_map(|(text, _)| number::unit(text)).collect();
        match () {
            () if units.len() > 1 && enough(count(number::is_number_in_a_unit)) => Some(LeftOutReason::Units),
            () => None,
        }
    }

    /// In how many cells there is a length of time.
    fn durations(&self) -> usize {
        let is_duration = |text: &str| duration::parse(text).is_some();
        self.values.iter().filter(|(text, _)| is_duration(text)).map(|(_, count)| count).sum()
    }

    /// Whether the cells are lengths in feet and inches. Minutes and seconds can be written so too, but not all of them have less
    /// than twelve seconds and ten minutes.
    fn are_feet(&self) -> bool {
        let is_length = |text: &str| number::feet_and_inches(text).is_some();
        let count: usize =
            self.values.iter().filter(|(text, _)| is_length(text)).map(|(_, count)| count).sum();
        count > self.number.read && self.has_values() && ODD.allows(self.valued - count, self.valued)
    }

    /// Whether the cells are degrees on a map, some with minutes or a side.
    fn are_degrees(&self) -> bool {
        let (mut count, mut places) = (0, false);
        for (text, cells) in self.values.iter().filter(|(text, _)| number::degrees_on_a_map(text).is_some()) {
            count += cells;
            places |= number::is_place(text);
        }
        places
            && count >= self.number.read
            && self.has_values()
            && ODD.allows(self.valued - count, self.valued)
    }

    fn kind(&self, rows: usize, guess: bool) -> ColumnKind {
        match &self.column.values {
            Values::Numbers(_) if guess && (self.date.form.compact || self.date.form.epoch > 0) => {
                ColumnKind::Time
            }
            Values::Numbers(values) if guess && self.is_number_id(values) => ColumnKind::Id,
            Values::Numbers(values) if guess => self.code(values).unwrap_or(ColumnKind::Number),
            Values::Numbers(_) => ColumnKind::Number,
            Values::Booleans(_) => ColumnKind::Boolean,
            Values::Times(_) => ColumnKind::Time,
            Values::Texts(_) => self.kind_of_texts(rows, guess),
        }
    }

    /// Whether numbers are dates of eight digits, as `20240131`: at least eight of them, in a column that is not called an id, a
    /// code or a number. Of numbers at random less than one in a thousand is such a date.
    fn holds_compact_dates(&self) -> bool {
        let Values::Numbers(values) = &self.column.values else { return false };
        if naming(&self.column.name) != Naming::Quantity {
            return false;
        }
        let (mut dates, mut cells) = (0, 0);
        for value in values.iter().filter(|value| !value.is_nan()) {
            cells += 1;
            dates += usize::from(DateForm::compact_days(*value).is_some());
            if !ODD.allows(cells - dates, values.len()) {
                return false;
            }
        }
        dates >= CONSECUTIVE && ODD.allows(cells - dates, cells)
    }

    /// In which units numbers count from the beginning of 1970, in a column that is called a time or said to be one; 0 if they do
    /// not.
    fn epoch_units(&self) -> u32 {
        let Values::Numbers(values) = &self.column.values else { return 0 };
        if self.said.is_none() && !code::names_time(&self.column.name) {
            return 0;
        }
        let units = |value: &f64| DateForm::epoch_units(*value);
        let Some(most) = values.iter().find_map(units) else { return 0 };
        let (mut times, mut cells) = (0, 0);
        for value in values.iter().filter(|value| !value.is_nan()) {
            cells += 1;
            times += usize::from(units(value) == Some(most));
        }
        if times >= CONSECUTIVE && ODD.allows(cells - times, cells) { most } else { 0 }
    }

    /// Whether numbers name the rows: whole and all different, and either consecutive or in a column that is called an id.
    fn is_number_id(&self, values: &[f64]) -> bool {
        let n = self.counted.len();
        let whole = |&row: &usize| values[row].fract() == 0.0 && values[row].abs() < 1e15;
        if n < 3 || !self.counted.iter().all(whole) {
            return false;
        }
        let each = || self.counted.iter().map(|&row| values[row]);
        let (min, max) = each().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let consecutive = max - min + 1.0 == n as f64 && n >= CONSECUTIVE;
        let named = min >= 0.0 && naming(&self.column.name) != Naming::Quantity;
        if !consecutive && !named {
            return false;
        }
        let mut seen = HashSet::with_capacity(n);
        each().all(|value| seen.insert((value + 0.0).to_bits()))
    }

    /// What whole numbers are that do not all differ, in a column whose name says that they are codes: a category, or too many
    /// different ones to compare.
    fn code(&self, values: &[f64]) -> Option<ColumnKind> {
        let least = match naming(&self.column.name) {
            Naming::Code => 0.0,
            Naming::Number => LONG_CODE,
            Naming::Id | Naming::Quantity => return None,
        };
        let mut seen = HashSet::new();
        let mut cells = 0;
        for value in self.counted.iter().map(|&row| values[row]).filter(|value| !value.is_nan()) {
            if value.fract() != 0.0 || value < least || value >= 1e15 {
                return None;
            }
            cells += 1;
            seen.insert((value + 0.0).to_bits());
        }
        if cells < 3 {
            return None;
        }
        Some(if is_diverse(seen.len(), cells) { ColumnKind::Text } else { ColumnKind::Category })
    }

    fn kind_of_texts(&self, rows: usize, guess: bool) -> ColumnKind {
        let (cells, levels) = (self.cells, self.texts.len());
        if cells == 0 {
            return ColumnKind::Category;
        }
        if self.is_number() {
            return ColumnKind::Number;
        }
        let truths: Vec<Option<bool>> =
            self.texts.iter().take(50).map(|(text, _)| boolean::parse(text)).collect();
        if levels <= 50
            && !truths.contains(&None)
            && truths.contains(&Some(true))
            && truths.contains(&Some(false))
        {
            return ColumnKind::Boolean;
        }
        // Some of `23:50:00` and `25:10:00` could be times of the day, but not all.
        let durations = if self.date.read < self.valued { self.durations() } else { 0 };
        if self.is_date() && durations <= self.date.read {
            return ColumnKind::Time;
        }
        if self.are_feet() || self.are_degrees() {
            return ColumnKind::Number;
        }
        if durations > 0 && self.has_values() && ODD.allows(self.valued - durations, self.valued) {
            return ColumnKind::Number;
        }
        let each = || self.texts.iter();
        let (mut characters, mut words) = (0, 0);
        for (text, count) in each() {
            characters += text.chars().count() * count;
            words += text.split_whitespace().count() * count;
        }
        let (characters, words) = (characters as f64 / cells as f64, words as f64 / cells as f64);
        if levels == cells && cells >= 3 {
            // Amounts that all differ name nothing.
            let short = characters <= 40.0 && words <= 3.0 && self.why() != Some(LeftOutReason::Units);
            return if guess && short && cells == rows { ColumnKind::Id } else { ColumnKind::Text };
        }
        // Heuristics: a category repeats its levels, and long texts repeat only where they are answers to choose from.
        if is_diverse(levels, cells) {
            return ColumnKind::Text;
        }
        if characters > 60.0 && levels > 20 && 20 * levels > cells {
            return ColumnKind::Text;
        }
        ColumnKind::Category
    }
}

/// The different texts of a column that are no gaps, with how many rows of a positive weight have each.
fn counts<'a>(texts: &'a Texts, weights: &[f64], options: &EncodingOptions) -> Vec<(&'a str, usize)> {
    let mut counts = vec![0; texts.levels().len()];
    for (&code, weight) in texts.codes().iter().zip(weights) {
        if let Some(count) = counts.get_mut(code as usize).filter(|_| *weight > 0.0) {
            *count += 1;
        }
    }
    let gap = |text: &str| gap::is_gap(text, &options.gap_words);
    let each = texts.levels().iter().zip(counts).filter(|(text, count)| *count > 0 && !gap(text));
    each.map(|(text, count)| (text.trim(), count)).collect()
}

/// Whether there are too many different values for a category (heuristic).
fn is_diverse(levels: usize, cells: usize) -> bool {
    2 * levels > cells && levels > 12
}
