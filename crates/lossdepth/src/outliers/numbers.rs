//! Numbers as sentences say them: with the digits that matter.

use crate::data::{ColumnKind, EncodedColumn};

/// From more decimals on, what is usual is said with four digits.
const MANY_DECIMALS: usize = 4;

/// A number with the decimals of its column; a date as it is.
pub(super) fn to_decimals(number: f64, column: &EncodedColumn) -> f64 {
    let unit = 10f64.powi(i32::try_from(column.decimals()).unwrap_or(0));
    let close = (number * unit).round() / unit;
    if column.kind() == ColumnKind::Number && close.is_finite() { close } else { number }
}

/// An end of what is usual: of measurements with many decimals four significant digits say enough.
pub(super) fn usual_value(column: &EncodedColumn, value: f64) -> String {
    if column.decimals() <= MANY_DECIMALS || value == 0.0 || column.kind() != ColumnKind::Number {
        return column.format_value(value);
    }
    let unit = 10f64.powf(value.abs().log10().floor() - 3.0);
    let close = (value / unit).round() * unit;
    without_zeros(
        column.format_value(to_decimals(if close.is_finite() { close } else { value }, column)),
        column,
    )
}

/// A number without the zeros behind its decimals, which look more exact than it is.
pub(super) fn without_zeros(text: String, column: &EncodedColumn) -> String {
    let mark = column.decimal_mark();
    match text.rsplit_once(mark) {
        Some((_, decimals)) if !decimals.is_empty() && decimals.bytes().all(|b| b.is_ascii_digit()) => {
            text.trim_end_matches('0').trim_end_matches(mark).to_owned()
        }
        _ => text,
    }
}

/// A number within its range, with as few digits as that allows: two significant ones more than the range is wide.
pub(super) fn rounded(number: f64, range: Option<(f64, f64)>, whole: bool) -> f64 {
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
    fn zeros_of_thousands_stay_where_the_decimal_mark_is_a_comma() {
        let column = |all: &[&str]| {
            let mut texts = crate::data::Texts::default();
            for text in all {
                texts.push(Some(text));
            }
            let column = crate::data::Column { name: "x".into(), values: crate::data::Values::Texts(texts) };
            let table = crate::data::Table::new(vec![column]).unwrap();
            crate::data::Encoding::learn(&table, None, &crate::data::EncodingOptions::default()).unwrap().0
        };
        let (comma, point) = (column(&["1.234,50", "2.000,25", "3,5"]), column(&["1,234.50", "2.25", "3.5"]));
        let shown = |text: &str, of: &crate::data::Encoding| without_zeros(text.to_owned(), &of.columns()[0]);
        assert_eq!(
            (shown("140.000", &comma), shown("260,00", &comma)),
            ("140.000".to_owned(), "260".to_owned())
        );
        assert_eq!(
            (shown("140,000", &point), shown("260.00", &point)),
            ("140,000".to_owned(), "260".to_owned())
        );
    }

    #[test]
    fn a_number_that_would_fit_has_as_many_digits_as_its_range_says() {
        assert_eq!(rounded(413.613, Some((380.0, 440.0)), false), 414.0);
        assert_eq!(rounded(19.4, Some((10.0, 27.0)), true), 19.0);
        assert_eq!(rounded(0.0, None, false), 0.0);
        assert_eq!(rounded(f64::MAX, Some((-f64::MAX, f64::MAX)), false), f64::MAX);
    }
}
