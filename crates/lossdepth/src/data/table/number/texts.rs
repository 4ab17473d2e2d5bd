//! Texts that are numbers, and texts that are none.

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
    let cases: [(&str, Option<f64>); 92] = [
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
        ("25.-", Some(25.0)),
        ("CHF 1’234.–", Some(1234.0)),
        ("25,- €", Some(25.0)),
        ("1.250,-- €", Some(1250.0)),
        ("-25.-", Some(-25.0)),
        ("25.--5", None),
        ("<0.5", Some(0.5)),
        ("> 100", Some(100.0)),
        ("<=5 mg/L", Some(5.0)),
        ("≥ 1,000", Some(1000.0)),
        ("=5", None),
        ("<", None),
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

#[test]
fn groups_are_no_bounds() {
    assert!(guess(&["<0.5", "0.7", "1.2", "<0.5"]).is_number(4));
    assert!(!guess(&["<18", ">65", "<18", "40"]).is_number(4));
    assert_eq!(guess(&["<0.5", "0.7", "1.2"]).form.bounds, 1);
}
