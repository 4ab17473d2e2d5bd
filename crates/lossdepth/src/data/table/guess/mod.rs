//! What kind a column is, guessed from its content.

mod profile;

use super::date::DateForm;
use super::kind::ColumnKind;
use super::left_out::LeftOutReason;
use super::number::NumberForm;
use super::options::EncodingOptions;
use super::part::Part;
use super::{Table, Values, gap_code};
use profile::Profile;

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
    /// What of its cells it reads, if it is a part of them.
    pub(super) part: Option<Part>,
    /// The columns that are compared instead of it, where a cell holds several things.
    pub(super) parts: Vec<Plan>,
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
    // The parts of a column have names of their own.
    let taken = |name: &String| table.column(name).is_some();
    for (plan, column) in plans.iter_mut().zip(table.columns()) {
        let names =
            plan.parts.iter().filter_map(|part| part.part.as_ref()).map(|part| part.name(&column.name));
        if names.filter(|name| *name != column.name).any(|name| taken(&name)) {
            plan.parts.clear();
        }
    }
    // Numbers are not left out where nothing else would be compared.
    let compared =
        |plan: &Plan| !plan.parts.is_empty() || !matches!(plan.kind, ColumnKind::Id | ColumnKind::Text);
    if !plans.iter().any(compared) {
        for (plan, column) in plans.iter_mut().zip(table.columns()) {
            if !plan.said && matches!(column.values, Values::Numbers(_)) {
                plan.kind = ColumnKind::Number;
            }
        }
    }
    if options.guess {
        gap_code::find(table, weights, &options.gap_words, &mut plans);
    }
    plans
}

/// The one thing that all say.
fn common<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::table::{Column, Encoding, Texts};

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
    fn numbers_of_eight_digits_are_dates() {
        let date = |i: u32| f64::from(20_240_000 + 100 * (1 + i % 12) + 1 + i % 28);
        let dates: Vec<f64> = (0..40).map(date).collect();
        let numbers = |all: &[f64]| Values::Numbers(all.to_vec());
        assert_eq!(kind("posted", numbers(&dates)), ColumnKind::Time);
        // One of them cannot be read, which is a note.
        let mut odd = dates.clone();
        odd[5] = 20_241_345.0;
        let columns = vec![Column { name: "posted".into(), values: numbers(&odd) }];
        let table = Table::new(columns).unwrap();
        let (encoding, encoded) = Encoding::learn(&table, None, &EncodingOptions::default()).unwrap();
        let unread = crate::data::CellNoteKind::Unread("20241345".to_owned());
        assert_eq!(encoded.notes.iter().map(|note| &note.what).collect::<Vec<_>>(), [&unread]);
        assert_eq!(encoding.columns()[0].format_value(encoded.values[0]), "2024-01-01");
        // Numbers, too few, a name that says something else, and types that say what they hold.
        assert_eq!(kind("posted", numbers(&dates[..7])), ColumnKind::Number);
        let far: Vec<f64> = (0..40).map(|i| f64::from(20_000_000 + 7919 * i)).collect();
        assert_eq!(kind("amount", numbers(&far)), ColumnKind::Number);
        assert_eq!(kind("invoice_no", numbers(&dates)), ColumnKind::Id);
        assert_eq!(kinds(vec![("posted", numbers(&dates))], false), [ColumnKind::Number]);
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
        let (encoding, encoded) = Encoding::learn(&table, None, &EncodingOptions::default()).unwrap();
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
