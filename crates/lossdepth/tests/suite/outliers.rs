//! The oddest rows of a table, with reasons in words.

use crate::common::Random;
use lossdepth::data::{Column, Encoding, EncodingOptions, Table, Texts, Values};
use lossdepth::outliers::{OutlierOptions, Outliers, Queries};
use lossdepth::{Method, Model, Run, Settings};

const ROWS: usize = 300;

/// Orders: amount = quantity × price, a region, days to pay with some gaps, and an id.
struct Orders {
    ids: Vec<String>,
    quantity: Vec<f64>,
    price: Vec<f64>,
    amount: Vec<f64>,
    days: Vec<f64>,
    region: Vec<&'static str>,
}

impl Orders {
    fn new(rows: usize) -> Self {
        let mut random = Random::new(11);
        let ids = (0..rows).map(|i| format!("ORD-{}", 100_001 + 7 * i)).collect();
        let quantity: Vec<f64> = (0..rows).map(|_| (5.0 + 20.0 * random.unit()).round()).collect();
        let price: Vec<f64> = (0..rows).map(|_| 20.0 + 10.0 * random.unit()).collect();
        let amount = quantity.iter().zip(&price).map(|(q, p)| q * p).collect();
        let days = (0..rows).map(|_| (3.0 + 40.0 * random.unit()).round()).collect();
        let region = (0..rows).map(|_| ["north", "south", "west"][random.below(3)]).collect();
        Self { ids, quantity, price, amount, days, region }
    }

    fn table(&self) -> Table {
        let texts = |all: Vec<&str>| {
            let mut texts = Texts::default();
            for text in all {
                texts.push(Some(text));
            }
            Values::Texts(texts)
        };
        let numbers =
            |name: &str, all: &[f64]| Column { name: name.into(), values: Values::Numbers(all.to_vec()) };
        Table::new(vec![
            Column { name: "order_id".into(), values: texts(self.ids.iter().map(String::as_str).collect()) },
            numbers("quantity", &self.quantity),
            numbers("price", &self.price),
            numbers("amount", &self.amount),
            numbers("days", &self.days),
            Column { name: "region".into(), values: texts(self.region.clone()) },
        ])
        .unwrap()
    }
}

fn fitted(table: &Table) -> (Model, Encoding) {
    let settings = Settings::new(Method::Auto);
    let model = settings.fit_table(table, None, &EncodingOptions::default()).unwrap();
    let encoding = model.encoding().expect("a mixed table").clone();
    (model, encoding)
}

fn found(model: &Model, encoding: &Encoding, table: &Table, own: bool, top: usize) -> Outliers {
    let encoded = encoding.encode(table).unwrap();
    let queries = Queries::new(table, encoding, &encoded, own).unwrap();
    let options = OutlierOptions { top, ..OutlierOptions::default() };
    Outliers::find(model, queries, &options, &Run::default()).unwrap()
}

#[test]
fn planted_errors_are_found_with_the_right_reason() {
    let mut orders = Orders::new(ROWS);
    orders.quantity[17] = 900.0;
    orders.amount[17] = orders.price[17] * 900.0;
    orders.days[44] = 365.0;
    orders.region[120] = "nrth";
    let table = orders.table();
    let (model, encoding) = fitted(&table);
    let found = found(&model, &encoding, &table, true, 3);
    let mut rows: Vec<usize> = found.found.iter().map(|row| row.row).collect();
    rows.sort_unstable();
    assert_eq!(rows, [17, 44, 120]);
    let row = |number: usize| found.found.iter().find(|row| row.row == number).unwrap();
    assert_eq!(row(44).name.as_deref(), Some("ORD-100309"));
    let days = &row(44).reasons[0];
    assert_eq!((days.name.as_str(), days.value.as_str()), ("days", "365"));
    assert!(days.text.starts_with("highest of all; nine in ten are "), "{}", days.text);
    let region = &row(120).reasons[0];
    assert_eq!((region.name.as_str(), region.value.as_str()), ("region", "nrth"));
    assert!(region.text.starts_with("in no other of 300 rows"), "{}", region.text);
    let quantity: Vec<&str> = row(17).reasons.iter().map(|reason| reason.name.as_str()).collect();
    assert!(quantity.contains(&"quantity") && quantity.contains(&"amount"), "{quantity:?}");
    // What would make a row ordinary does: the change is scored.
    for row in &found.found {
        let (depth, percentile) = row.changed.expect("a change that works");
        assert!(depth > row.fit.depth && percentile > 0.1 && !row.changes.is_empty());
    }
}

/// A row whose reason was one column was said to be ordinary with a change of another one.
#[test]
fn what_a_change_changes_is_a_reason() {
    let table = Orders::new(ROWS).table();
    let (model, encoding) = fitted(&table);
    let most = OutlierOptions::default().reasons;
    let found = found(&model, &encoding, &table, true, 60).found;
    let few = || found.iter().filter(|row| !row.changes.is_empty() && row.changes.len() <= most);
    assert!(few().count() >= 20);
    for row in few() {
        for change in &row.changes {
            assert!(row.reasons.iter().any(|reason| reason.column == change.column), "{row:?}");
        }
    }
}

#[test]
fn rows_are_ordered_from_the_shallowest_and_numbers_agree_with_score() {
    let table = Orders::new(ROWS).table();
    let (model, encoding) = fitted(&table);
    let found = found(&model, &encoding, &table, true, 20);
    assert!(found.found.windows(2).all(|pair| pair[0].fit.depth <= pair[1].fit.depth));
    let encoded = encoding.encode(&table).unwrap();
    let rows = lossdepth::Rows::new(&encoded.values, encoded.width).unwrap();
    assert_eq!(found.fits, model.score(rows, &Run::default()).unwrap());
    for row in &found.found {
        assert_eq!((row.fit, row.p), (found.fits[row.row], found.p_values[row.row]));
        let at_most = found.fits.iter().filter(|fit| fit.depth <= row.fit.depth).count();
        assert_eq!(row.percentile, at_most as f64 / ROWS as f64);
        let shares: f64 = row.reasons.iter().map(|reason| reason.share).sum();
        assert!((0.0..=1.0 + 1e-12).contains(&shares));
    }
}

#[test]
fn rows_of_another_table_are_compared_with_the_reference() {
    let (model, encoding) = fitted(&Orders::new(ROWS).table());
    let mut other = Orders::new(4);
    other.region[1] = "mars";
    other.days[2] = f64::NAN;
    let found = found(&model, &encoding, &other.table(), false, 4);
    assert_eq!(found.p_values.len(), 4);
    assert!(found.p_values.iter().all(|p| *p >= 1.0 / 301.0 && *p <= 1.0));
    let mars = found.found.iter().find(|row| row.row == 1).unwrap();
    let reason = mars.reasons.iter().find(|reason| reason.name == "region").unwrap();
    assert!(reason.value == "mars" && reason.text.starts_with("in none of 300 rows"), "{reason:?}");
    let gap = found.found.iter().find(|row| row.row == 2).unwrap();
    let reason = gap.reasons.iter().find(|reason| reason.name == "days").unwrap();
    assert!(reason.value == "gap" && reason.text == "none of 300 rows has a gap here", "{reason:?}");
}

#[test]
fn no_rows_and_no_top_are_answered_with_nothing() {
    let table = Orders::new(50).table();
    let (model, encoding) = fitted(&table);
    assert!(found(&model, &encoding, &table, true, 0).found.is_empty());
    let none = found(&model, &encoding, &Orders::new(0).table(), false, 5);
    assert!(none.found.is_empty() && none.fits.is_empty());
}

fn texts(all: &[&str]) -> Values {
    let mut texts = Texts::default();
    for text in all {
        texts.push(Some(text));
    }
    Values::Texts(texts)
}

#[test]
fn a_row_that_is_odd_in_all_its_columns_has_reasons() {
    for (rows, columns) in [(30, 2), (300, 2), (300, 5), (300, 10)] {
        let mut random = Random::new(5);
        let values = |j: usize, random: &mut Random| {
            let mut values: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
            values[rows - 1] = 90.0 + j as f64;
            Column { name: format!("c{j}"), values: Values::Numbers(values) }
        };
        let table = Table::new((0..columns).map(|j| values(j, &mut random)).collect()).unwrap();
        let (encoding, encoded) = Encoding::learn(&table, None, &EncodingOptions::default()).unwrap();
        let sample = lossdepth::Reference::from_vec(encoded.values.clone(), encoded.width, None).unwrap();
        let model = Settings::new(Method::Auto).fit(&sample).unwrap();
        let queries = Queries::new(&table, &encoding, &encoded, true).unwrap();
        let options = OutlierOptions { top: 1, ..OutlierOptions::default() };
        let found = Outliers::find(&model, queries, &options, &Run::default()).unwrap().found;
        assert_eq!(found[0].row, rows - 1);
        assert!(found[0].reasons.len() >= 2, "{rows} x {columns}: {:?}", found[0].reasons);
        for reason in &found[0].reasons {
            assert!(reason.text.starts_with("highest of all"), "{rows} x {columns}: {reason:?}");
        }
    }
}

#[test]
fn a_misspelt_level_is_said_to_be_the_one_it_looks_like() {
    let mut random = Random::new(3);
    let known = ["female", "male", "other"];
    let mut levels: Vec<&str> = (0..ROWS).map(|_| known[random.below(3)]).collect();
    levels[9] = "mlae";
    let numbers: Vec<f64> = (0..ROWS).map(|_| random.normal()).collect();
    let table = Table::new(vec![
        Column { name: "sex".into(), values: texts(&levels) },
        Column { name: "x".into(), values: Values::Numbers(numbers) },
    ]);
    let table = table.unwrap();
    let (model, encoding) = fitted(&table);
    let found = found(&model, &encoding, &table, true, 1);
    assert_eq!(found.found[0].row, 9);
    assert_eq!(found.found[0].reasons[0].text, "in no other of 300 rows; perhaps `male`");
    let changes: Vec<(&str, &str)> =
        found.found[0].changes.iter().map(|change| (change.name.as_str(), change.to.as_str())).collect();
    assert!(changes.contains(&("sex", "male")), "{changes:?}");
    assert!(found.found[0].changed.is_some_and(|(_, percentile)| percentile > 0.1));
}

#[test]
fn small_tables_have_a_highest_value_and_levels_of_equal_size_are_not_rare() {
    // Twelve rows: one of them is more than a twentieth.
    let prices = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 2.5, 3.5, 4.5, 1.5, 5.5, 480.0];
    let shops: Vec<String> = (0..12).map(|i| format!("shop {}", i % 6)).collect();
    let shops: Vec<&str> = shops.iter().map(String::as_str).collect();
    let table = Table::new(vec![
        Column { name: "price".into(), values: Values::Numbers(prices.to_vec()) },
        Column { name: "shop".into(), values: texts(&shops) },
    ]);
    let table = table.unwrap();
    let (model, encoding) = fitted(&table);
    let found = found(&model, &encoding, &table, true, 12);
    let price = &found.found[0].reasons[0];
    assert_eq!((price.value.as_str(), price.name.as_str()), ("480.0", "price"));
    assert!(price.text.starts_with("highest of all"), "{}", price.text);
    let said = found.found.iter().flat_map(|row| &row.reasons).filter(|reason| reason.name == "shop");
    assert!(said.clone().all(|reason| !reason.text.contains("only")), "{:?}", said.collect::<Vec<_>>());
}
