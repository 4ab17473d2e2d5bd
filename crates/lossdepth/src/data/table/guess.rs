//! What kind a column is, guessed from its content.

use super::boolean;
use super::cells::{ODD, names};
use super::code::{Naming, naming};
use super::date::{DateForm, DateGuess};
use super::duration;
use super::encoding::LeftOutReason;
use super::kind::ColumnKind;
use super::number::{self, NumberForm, NumberGuess};
use super::options::EncodingOptions;
use super::{Column, Table, Texts, Values};
use std::collections::{BTreeSet, HashSet};

/// So many consecutive whole numbers, each once, are taken for an id whatever the column is called.
const CONSECUTIVE: usize = 8;

/// From this number on, values of a column that is called a number are codes even if they repeat (heuristic).
const LONG_CODE: f64 = 1000.0;

/// How a column is to be read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) kind: ColumnKind,
    pub(super) number: NumberForm,
    pub(super) date: DateForm,
    /// Whether the caller said the kind.
    pub(super) said: bool,
    /// Why it is left out, where its kind does not tell.
    pub(super) why: Option<LeftOutReason>,
}

/// How each column of a table is to be read. Rows without a weight are not looked at.
pub(super) fn plans(table: &Table, weights: &[f64], options: &EncodingOptions) -> Vec<Plan> {
    let profiles: Vec<Profile<'_>> =
        table.columns().iter().map(|column| Profile::of(column, weights, options)).collect();
    // What columns that are clear about it have in common tells those that are not.
    let usual_decimal = common(profiles.iter().filter_map(Profile::clear_decimal));
    let usual_order = common(profiles.iter().filter_map(Profile::clear_order));
    let mut plans: Vec<Plan> = profiles
        .into_iter()
        .map(|profile| profile.plan(table.rows(), usual_decimal, usual_order, options))
        .collect();
    for (plan, column) in plans.iter_mut().zip(table.columns()) {
        if table.durations.contains(&column.name) && matches!(column.values, Values::Numbers(_)) {
            plan.number = NumberForm::durations();
        }
    }
    // Numbers are not left out where nothing else would be compared.
    let compared = |plan: &Plan| !matches!(plan.kind, ColumnKind::Id | ColumnKind::Text);
    if !plans.iter().any(compared) {
        for (plan, column) in plans.iter_mut().zip(table.columns()) {
            if !plan.said && matches!(column.values, Values::Numbers(_)) {
                plan.kind = ColumnKind::Number;
            }
        }
    }
    plans
}

/// The one thing that all say.
fn common<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// A column with what its texts say about numbers and dates.
struct Profile<'a> {
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
    fn of(column: &'a Column, weights: &[f64], options: &EncodingOptions) -> Self {
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
            texts.iter().copied().filter(|(text, _)| !super::gap::is_gap_word(text)).collect();
        let valued = values.iter().map(|(_, count)| count).sum();
        // Where the kind is said, every cell that can be read is.
        let looked_at = |kind: ColumnKind| if said == Some(kind) { usize::MAX } else { valued };
        let (numbers, dates) = (looked_at(ColumnKind::Number), looked_at(ColumnKind::Time));
        let number = NumberForm::guess(values.iter().copied(), numbers, options.decimal, None);
        let date = DateForm::guess(values.iter().copied(), dates, options.day_first, None);
        Self { column, said, counted, texts, cells, values, valued, number, date }
    }

    fn clear_decimal(&self) -> Option<char> {
        let clear = self.number.clear && self.is_number();
        if clear { self.number.form.decimal } else { None }
    }

    fn clear_order(&self) -> Option<bool> {
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

    fn plan(
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
        let kind = self.said.unwrap_or_else(|| self.kind(rows, options.guess));
        let why = if kind == ColumnKind::Text && self.said.is_none() { self.why() } else { None };
        let durations = kind == ColumnKind::Number && self.durations() > self.number.read;
        let number = if durations { NumberForm::durations() } else { self.number.form };
        Plan { kind, number, date: self.date.form, said: self.said.is_some(), why }
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
            () if enough(count(number::is_pair)) => Some(LeftOutReason::Pairs),
            () => None,
        }
    }

    /// In how many cells there is a length of time.
    fn durations(&self) -> usize {
        let is_duration = |text: &str| duration::parse(text).is_some();
        self.values.iter().filter(|(text, _)| is_duration(text)).map(|(_, count)| count).sum()
    }

    fn kind(&self, rows: usize, guess: bool) -> ColumnKind {
        match &self.column.values {
            Values::Numbers(values) if guess && self.is_number_id(values) => ColumnKind::Id,
            Values::Numbers(values) if guess => self.code(values).unwrap_or(ColumnKind::Number),
            Values::Numbers(_) => ColumnKind::Number,
            Values::Booleans(_) => ColumnKind::Boolean,
            Values::Times(_) => ColumnKind::Time,
            Values::Texts(_) => self.kind_of_texts(rows, guess),
        }
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
        if self.is_date() {
            return ColumnKind::Time;
        }
        let durations = self.durations();
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
    let gap = |text: &str| super::gap::is_gap(text, &options.gap_words);
    let each = texts.levels().iter().zip(counts).filter(|(text, count)| *count > 0 && !gap(text));
    each.map(|(text, count)| (text.trim(), count)).collect()
}

/// Whether there are too many different values for a category (heuristic).
fn is_diverse(levels: usize, cells: usize) -> bool {
    2 * levels > cells && levels > 12
}

/// The writing of false and true that is most frequent in a column.
pub(super) fn truth_names(column: &Column, weights: &[f64], gap_words: &[String]) -> [String; 2] {
    let named = names(column, None, gap_words);
    let mut sums = vec![0.0; named.names.len()];
    for (&code, weight) in named.codes.iter().zip(weights).filter(|(code, _)| **code != Texts::GAP) {
        sums[code as usize] += weight;
    }
    let mut best: [Option<(f64, &str)>; 2] = [None, None];
    for (name, sum) in named.names.iter().zip(sums) {
        let Some(name) = name.as_deref() else { continue };
        let Some(truth) = boolean::parse(name) else { continue };
        let best = &mut best[usize::from(truth)];
        let better = best.is_none_or(|(most, other)| sum > most || (sum == most && name < other));
        if better {
            *best = Some((sum, name));
        }
    }
    let name = |best: Option<(f64, &str)>, other: &str| best.map_or(other, |(_, name)| name).to_owned();
    [name(best[0], "false"), name(best[1], "true")]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &[&str]) -> Values {
        let mut texts = Texts::default();
        for text in all {
            texts.push(Some(text));
        }
        Values::Texts(texts)
    }

    fn kinds(columns: Vec<(&str, Values)>, guess: bool) -> Vec<ColumnKind> {
        let column = |(name, values): (&str, Values)| Column { name: name.into(), values };
        let table = Table::new(columns.into_iter().map(column).collect()).unwrap();
        let options = EncodingOptions { guess, ..EncodingOptions::default() };
        plans(&table, &vec![1.0; table.rows()], &options).into_iter().map(|plan| plan.kind).collect()
    }

    fn kind(name: &str, values: Values) -> ColumnKind {
        let beside = Values::Numbers(vec![0.5; values.len()]);
        kinds(vec![(name, values), ("beside", beside)], true)[0]
    }

    #[test]
    fn texts_of_every_kind() {
        let cases: [(&[&str], ColumnKind); 22] = [
            (&["34", "unknown", "51", "unknown", "28"], ColumnKind::Number),
            (&["2024-01-31", "pending", "2024-02-01"], ColumnKind::Time),
            (&["unknown", "unknown", "unknown", "unknown", "5"], ColumnKind::Category),
            (&["20.5 °C", "19 °C", "21.25 °C"], ColumnKind::Number),
            (&["1", "2,5", "3"], ColumnKind::Number),
            (&["$1", "$2", "NA"], ColumnKind::Number),
            (&["12%", "5%"], ColumnKind::Number),
            (&["1", "2", "3", "4", "5", "6", "7", "n.v."], ColumnKind::Number),
            (&["01234", "10115", "01234"], ColumnKind::Category),
            (&["yes", "no", "YES"], ColumnKind::Boolean),
            (&["ja", "nein", "-"], ColumnKind::Boolean),
            (&["yes", "yes", "maybe"], ColumnKind::Category),
            (&["f", "f", "f"], ColumnKind::Category),
            (&["2024-01-31", "2024-02-01"], ColumnKind::Time),
            (&["31/12/2024", "", "01/02/2024"], ColumnKind::Time),
            (&["north", "south", "north"], ColumnKind::Category),
            (&["north", "north", "north"], ColumnKind::Category),
            (&["A-17", "A-18", "B-02"], ColumnKind::Id),
            (&["Anna Schmidt", "Ben Weber", "Carla Rossi"], ColumnKind::Id),
            (&["A-17", "", "B-02", "C-3"], ColumnKind::Text),
            (&["it was good and cheap", "never again, sadly", "we will come back soon"], ColumnKind::Text),
            (&["", "NA", "-"], ColumnKind::Category),
        ];
        for (all, expected) in cases {
            assert_eq!(kind("x", texts(all)), expected, "{all:?}");
        }
        let many: Vec<String> = (0..40).map(|i| format!("city {}", i.min(30))).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(kind("x", texts(&many)), ColumnKind::Text);
        assert_eq!(kinds(vec![("x", texts(&["A-17", "A-18", "B-02"]))], false), [ColumnKind::Text]);
    }

    #[test]
    fn numbers_stay_numbers_unless_they_name_the_rows() {
        let numbers = |all: &[f64]| Values::Numbers(all.to_vec());
        let shuffled: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 20 + 100)).collect();
        assert_eq!(kind("x", numbers(&shuffled)), ColumnKind::Id);
        assert_eq!(kind("x", numbers(&shuffled[..7])), ColumnKind::Number);
        assert_eq!(kind("x", numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 7.0])), ColumnKind::Number);
        assert_eq!(kind("x", numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0])), ColumnKind::Number);
        assert_eq!(kind("x", numbers(&[0.0, 1.0, 0.0, 1.0])), ColumnKind::Number);
        for name in ["id", "order_id", "CustomerID", "orderId", "key"] {
            assert_eq!(kind(name, numbers(&[17.0, 5.0, 900.0])), ColumnKind::Id, "{name}");
            assert_eq!(kind(name, numbers(&[17.0, 5.0, 5.0])), ColumnKind::Number, "{name}");
        }
        assert_eq!(kind("paid", numbers(&[17.0, 5.0, 900.0])), ColumnKind::Number);
        for name in ["Employee No", "customer_number", "EAN", "phone", "zip"] {
            assert_eq!(kind(name, numbers(&[10_017.0, 10_005.0, 10_900.0])), ColumnKind::Id, "{name}");
            assert_eq!(kind(name, numbers(&[10_017.0, 10_005.0, 10_005.0])), ColumnKind::Category, "{name}");
            let mut nearly: Vec<f64> = (0..40).map(|i| f64::from(20_000 + 7 * i)).collect();
            nearly[3] = nearly[4];
            assert_eq!(kind(name, numbers(&nearly)), ColumnKind::Text, "{name}");
            nearly[5] = f64::NAN;
            assert_eq!(kind(name, numbers(&nearly)), ColumnKind::Text, "{name}");
            assert_eq!(kind(name, numbers(&[0.5, 2.0, 2.0])), ColumnKind::Number, "{name}");
        }
        // Small numbers that repeat may count something.
        assert_eq!(kind("education number", numbers(&[9.0, 13.0, 9.0])), ColumnKind::Number);
        assert_eq!(kind("status_code", numbers(&[200.0, 404.0, 200.0])), ColumnKind::Category);
        // Alone, and where types say what it is, it is compared.
        assert_eq!(kinds(vec![("id", numbers(&shuffled))], true), [ColumnKind::Number]);
        let beside = ("y", numbers(&[0.5; 20]));
        assert_eq!(kinds(vec![("id", numbers(&shuffled)), beside], false)[0], ColumnKind::Number);
    }

    #[test]
    fn lengths_of_time_are_numbers() {
        let cases: [(&[&str], ColumnKind); 6] = [
            (&["1h 20m", "45m", "2h", "3d 4h"], ColumnKind::Number),
            (&["PT1H20M", "PT45M"], ColumnKind::Number),
            (&["24:18", "39:56", "1:02:33"], ColumnKind::Number),
            (&["0 days 00:24:18", "1 days 02:00:00"], ColumnKind::Number),
            // Within a day it may be a time of day.
            (&["22:07", "18:00", "10:24"], ColumnKind::Time),
            (&["45m", "50m", "61m"], ColumnKind::Number),
        ];
        for (all, expected) in cases {
            assert_eq!(kind("x", texts(all)), expected, "{all:?}");
        }
    }

    #[test]
    fn numbers_that_are_said_to_be_lengths_of_time_are_shown_as_such() {
        let column = Column { name: "x".into(), values: Values::Numbers(vec![0.5, 0.25, 0.125]) };
        let table = Table::new(vec![column]).unwrap().with_durations(vec!["x".into()]);
        let (encoding, encoded) =
            super::super::Encoding::learn(&table, None, &EncodingOptions::default()).unwrap();
        assert_eq!((encoding.columns()[0].format_value(0.625), encoded.values[1]), ("15 h".to_owned(), 0.25));
        let later = Column { name: "x".into(), values: texts(&["36h"]) };
        assert_eq!(encoding.encode(&Table::new(vec![later]).unwrap()).unwrap().values, [1.5]);
    }

    #[test]
    fn what_is_nearly_a_number_is_left_out_with_a_reason() {
        let why = |all: Vec<String>| {
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let column = Column { name: "x".into(), values: texts(&all) };
            let table = Table::new(vec![column]).unwrap();
            let plan = &plans(&table, &vec![1.0; all.len()], &EncodingOptions::default())[0];
            (plan.kind, plan.why)
        };
        let some = |form: fn(u32) -> String| why((0..40).map(|i| form(i % 39)).collect());
        let money =
            |i: u32| [format!("${i}.50"), format!("€{i}"), format!("{i} GBP")][i as usize % 3].clone();
        assert_eq!(some(money), (ColumnKind::Text, Some(LeftOutReason::Units)));
        let weight = |i: u32| if i.is_multiple_of(3) { format!("{i} kg") } else { format!("{i}.5 lb") };
        assert_eq!(some(weight), (ColumnKind::Text, Some(LeftOutReason::Units)));
        assert_eq!(
            some(|i| format!("{}/{}", 100 + i, 60 + i)),
            (ColumnKind::Text, Some(LeftOutReason::Pairs))
        );
        assert_eq!(some(|i| format!("customer {i}")), (ColumnKind::Text, None));
    }

    #[test]
    fn columns_that_are_clear_tell_the_others() {
        let column = |name: &str, all: &[&str]| Column { name: name.into(), values: texts(all) };
        let table = Table::new(vec![
            column("price", &["1.234", "2.345", "3.456"]),
            column("rate", &["0,5", "0,25", "12,5"]),
            column("start", &["1/2/2024", "3/4/2024", "5/6/2024"]),
            column("end", &["1/2/2024", "30/4/2024", "31/5/2024"]),
        ])
        .unwrap();
        let plans = plans(&table, &[1.0; 3], &EncodingOptions::default());
        assert_eq!(plans[0].number.parse("1.234"), Some(1234.0));
        assert!(plans[2].date.day_first);
    }
}
