//! Texts that are dates and times, and texts that are none.

use super::{DateForm, format};

/// Seconds of a date and a time, as parsed.
#[expect(clippy::unnecessary_wraps, reason = "compared with what parsing gives")]
fn at(days: f64, hours: f64, minutes: f64, seconds: f64) -> Option<f64> {
    Some(days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds)
}

/// 31 December 2024, 1 February 2024 and 2 January 2024 as days since 1970.
const NEW_YEARS_EVE: f64 = 20_088.0;
const FEBRUARY: f64 = 19_754.0;
const JANUARY: f64 = 19_724.0;

#[test]
fn dates_in_many_forms() {
    let same = [
        "2024-12-31",
        "2024/12/31",
        "2024.12.31",
        "31.12.2024",
        "31.12.24",
        "12/31/2024",
        "12/31/24",
        "31-Dec-2024",
        "31-DEC-24",
        "31 Dec 2024",
        "31 December 2024",
        "31. Dezember 2024",
        "31. Dez. 2024",
        "Dec 31, 2024",
        "December 31, 2024",
        "Dec. 31 2024",
        "December 31st, 2024",
        "31st of December 2024",
        "31 décembre 2024",
        "31 de diciembre de 2024",
        "2024-Dec-31",
        "Tue, 31 Dec 2024",
        "Tuesday, December 31, 2024",
        "Di, 31.12.2024",
        "31/Dec/2024",
        " 2024-12-31 ",
        "20241231T000000",
        "2024年12月31日",
        "2024년 12월 31일",
    ];
    for text in same {
        assert_eq!(DateForm::default().parse(text), at(NEW_YEARS_EVE, 0.0, 0.0, 0.0), "{text}");
    }
    assert_eq!(
        DateForm { day_first: true, ..DateForm::default() }.parse("31/12/2024"),
        at(NEW_YEARS_EVE, 0.0, 0.0, 0.0)
    );
    assert_eq!(
        DateForm { day_first: true, ..DateForm::default() }.parse("1/2/2024"),
        at(FEBRUARY, 0.0, 0.0, 0.0)
    );
    assert_eq!(DateForm::default().parse("1/2/2024"), at(JANUARY, 0.0, 0.0, 0.0));
    // Points put the day first, whatever slashes do.
    assert_eq!(DateForm::default().parse("1.2.2024"), at(FEBRUARY, 0.0, 0.0, 0.0));
    assert_eq!(DateForm::default().parse("1970-01-01"), Some(0.0));
    assert_eq!(DateForm::default().parse("1969-12-31"), Some(-86_400.0));
    assert_eq!(DateForm::default().parse("Feb 2024"), at(FEBRUARY, 0.0, 0.0, 0.0));
    assert_eq!(DateForm::default().parse("2024-02"), at(FEBRUARY, 0.0, 0.0, 0.0));
    assert_eq!(DateForm::default().parse("2000-02-29"), at(11_016.0, 0.0, 0.0, 0.0));
}

#[test]
fn months_quarters_and_weeks_are_their_first_days() {
    let shown = |text: &str| DateForm::default().parse(text).map(|seconds| format(seconds / 86_400.0, false));
    let cases = [
        ("Mar 2024", "2024-03-01"),
        ("mar. 2024", "2024-03-01"),
        ("Mar-24", "2024-03-01"),
        ("Dec-99", "1999-12-01"),
        ("03/2024", "2024-03-01"),
        ("3/2024", "2024-03-01"),
        ("2024Q1", "2024-01-01"),
        ("2024-Q4", "2024-10-01"),
        ("Q2 2024", "2024-04-01"),
        ("q3/2024", "2024-07-01"),
        ("2024-W05", "2024-01-29"),
        ("2024W01", "2024-01-01"),
        ("2020-W53", "2020-12-28"),
        ("2021-W01", "2021-01-04"),
        // A weekday where the rest is a date.
        ("mar 12 mars 2024", "2024-03-12"),
        ("mar., 12 mars 2024", "2024-03-12"),
        ("Mar 12, 2024", "2024-03-12"),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
    }
    for text in
        ["2021-W53", "2024-W00", "2024Q5", "Q0 2024", "13/2024", "00/2024", "12/3456", "Mar 24", "Q1 24"]
    {
        assert_eq!(shown(text), None, "{text}");
    }
}

#[test]
fn times_of_day_and_zones() {
    let cases = [
        ("2024-12-31T23:59:58", at(NEW_YEARS_EVE, 23.0, 59.0, 58.0)),
        ("2024-12-31 23:59", at(NEW_YEARS_EVE, 23.0, 59.0, 0.0)),
        ("2024-12-31T23:59:58Z", at(NEW_YEARS_EVE, 23.0, 59.0, 58.0)),
        ("2024-12-31T23:59:58.25Z", at(NEW_YEARS_EVE, 23.0, 59.0, 58.25)),
        ("2024-12-31 23:59:58,250", at(NEW_YEARS_EVE, 23.0, 59.0, 58.25)),
        ("2024-12-31T23:00:00+02:00", at(NEW_YEARS_EVE, 21.0, 0.0, 0.0)),
        ("2024-12-31T23:00:00-0530", at(NEW_YEARS_EVE, 28.0, 30.0, 0.0)),
        ("2024-12-31T23:00+01", at(NEW_YEARS_EVE, 22.0, 0.0, 0.0)),
        ("2024-12-31 23:00 UTC", at(NEW_YEARS_EVE, 23.0, 0.0, 0.0)),
        ("31.12.2024 14:30", at(NEW_YEARS_EVE, 14.0, 30.0, 0.0)),
        ("31.12.2024, 14:30 Uhr", at(NEW_YEARS_EVE, 14.0, 30.0, 0.0)),
        ("12/31/2024 2:30 PM", at(NEW_YEARS_EVE, 14.0, 30.0, 0.0)),
        ("12/31/2024 12:05 AM", at(NEW_YEARS_EVE, 0.0, 5.0, 0.0)),
        ("12/31/2024 12:05:06 p.m.", at(NEW_YEARS_EVE, 12.0, 5.0, 6.0)),
        ("Dec 31, 2024 3 pm", at(NEW_YEARS_EVE, 15.0, 0.0, 0.0)),
        ("20241231T235958", at(NEW_YEARS_EVE, 23.0, 59.0, 58.0)),
        ("2024-12-31 24:00", at(NEW_YEARS_EVE, 24.0, 0.0, 0.0)),
        ("31/Dec/2024:23:59:58 +0000", at(NEW_YEARS_EVE, 23.0, 59.0, 58.0)),
        ("[31/Dec/2024:23:59:58 +0200]", at(NEW_YEARS_EVE, 21.0, 59.0, 58.0)),
        ("14:30", at(0.0, 14.0, 30.0, 0.0)),
        ("02:03:04", at(0.0, 2.0, 3.0, 4.0)),
    ];
    for (text, expected) in cases {
        assert_eq!(DateForm::default().parse(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_date() {
    let none = [
        "",
        "2024",
        "20241231",
        "2024-13-01",
        "2023-02-29",
        "1900-02-29",
        "31.11.2024",
        "0/1/2024",
        "13/13/2024",
        "31 Foo 2024",
        "31-12",
        "Dec",
        "jui 5, 2024",
        "12:60",
        "25:00",
        "2024-12-31x",
        "2024-12-31 at",
        "1.2.3",
        "3.14",
        "hello 31",
        "2024-12-31 13:00 pm",
        "0000-01-01",
        "1/2/024",
        "99999999T000000",
        "12:30:99",
        "á1",
        "−",
        "2024-12-31T23:00:00+99:00",
        "31.12.20244",
        "1 2 2024",
    ];
    for text in none {
        let read = [true, false].map(|day_first| DateForm { day_first, ..DateForm::default() }.parse(text));
        assert_eq!(read, [None, None], "{text:?}");
    }
}

#[test]
fn eight_digits_are_dates_where_the_column_says_so() {
    let compact = DateForm { compact: true, ..DateForm::default() };
    assert_eq!(compact.parse("20241231"), at(NEW_YEARS_EVE, 0.0, 0.0, 0.0));
    assert_eq!(compact.parse("2024-12-31"), at(NEW_YEARS_EVE, 0.0, 0.0, 0.0));
    for text in ["20241331", "20230229", "18991231", "21000101", "2024123"] {
        assert_eq!(compact.parse(text), None, "{text}");
    }
    assert_eq!(DateForm::compact_days(20_241_231.5), None);
}
