//! Numbers and dates as words.

/// Depths and p-values below this are written with an exponent: their zeros are hard to count.
const SMALL: f64 = 1e-4;

/// A count with commas: `1,202`.
pub(crate) fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// `no gaps`, `1 gap`, `2 gaps`.
pub(crate) fn counted_or_no(n: u64, one: &str, many: &str) -> String {
    if n == 0 { format!("no {many}") } else { counted(n, one, many) }
}

/// Digits with a comma before every third from the right.
fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A value with four significant digits: `4,136`, `0.0312`, `1.5e-7`.
pub(crate) fn number(x: f64) -> String {
    if !x.is_finite() {
        return "unknown".to_owned();
    }
    significant(x, 4, 1e-6)
}

/// A p-value, a depth in a table or an error with two significant digits: `0.00083`, `4.6e-10`.
pub(crate) fn p_value(p: f64) -> String {
    if p.is_finite() { significant(p, 2, SMALL) } else { "unknown".to_owned() }
}

/// A depth with four significant digits: `0.1234`, `4.612e-10`.
pub(crate) fn depth(depth: f64) -> String {
    if depth.is_finite() { significant(depth, 4, SMALL) } else { "unknown".to_owned() }
}

/// A share as percent, with two significant digits below ten percent: `0.083%`, `12%`.
pub(crate) fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "unknown".to_owned();
    }
    let percent = 100.0 * share;
    if percent > 99.5 && percent < 100.0 {
        return format!("{}%", significant(percent, 4, 1e-6));
    }
    format!("{}%", significant(percent, if percent.abs() < 10.0 { 2 } else { 3 }, 1e-6))
}

/// At least `digits` significant digits, without trailing zeros; whole numbers are not rounded. Below `least` with an exponent.
fn significant(x: f64, digits: i32, least: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let magnitude = x.abs();
    if !(least..1e15).contains(&magnitude) {
        let text = format!("{x:.*e}", usize::try_from(digits - 1).unwrap_or(0));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -6 and 15")]
    let exponent = magnitude.log10().floor() as i32;
    let decimals = usize::try_from(digits - 1 - exponent).unwrap_or(0);
    let text = format!("{magnitude:.decimals$}");
    let text = if decimals > 0 { trimmed(&text) } else { &text };
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let sign = if x < 0.0 { "−" } else { "" };
    if rest.is_empty() {
        format!("{sign}{}", grouped(whole))
    } else {
        format!("{sign}{}.{rest}", grouped(whole))
    }
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Days since 1970 as a date, with the time of day where there is one: `2024-03-01`, `2024-03-01 12:30`.
pub(crate) fn date(days: f64) -> String {
    // Within a hundred thousand years; beyond, the number itself.
    if days.is_nan() || days.abs() > 3.6e7 {
        return number(days);
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 1e11")]
    let minutes = (days * 1440.0).round() as i64;
    let (day, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    // The proleptic Gregorian calendar, with years that start in March.
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year_of_era + 400 * era + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if minute == 0 { date } else { format!("{date} {:02}:{:02}", minute / 60, minute % 60) }
}

/// Names in a row of words: `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`.
pub(crate) fn listed(names: &[&str], most: usize) -> String {
    let more = format!("{} more", count(names.len().saturating_sub(most) as u64));
    let mut shown: Vec<&str> = names.iter().take(most).copied().collect();
    if names.len() > most {
        shown.push(&more);
    }
    match shown.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_readable() {
        let cases = [
            (0.0, "0"),
            (4136.0, "4,136"),
            (-1_234_567.4, "−1,234,567"),
            (0.031_24, "0.03124"),
            (12.5, "12.5"),
            (1.5e-7, "1.5e-7"),
            (f64::NAN, "unknown"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
        assert_eq!(p_value(0.000_831_9), "0.00083");
        assert_eq!(
            [p_value(2.24e-6), depth(4.612_28e-10), depth(0.123_456)],
            ["2.2e-6", "4.612e-10", "0.1235"]
        );
        assert_eq!(percent(0.998_36), "99.84%");
        assert_eq!(percent(0.5), "50%");
        assert_eq!(count(1_000_000), "1,000,000");
    }

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(date(0.0), "1970-01-01");
        assert_eq!(date(19_782.0), "2024-02-29");
        assert_eq!(date(19_783.520_833_333_333), "2024-03-01 12:30");
        assert_eq!(date(-1.0), "1969-12-31");
        assert_eq!(date(-135_081.0), "1600-02-29");
    }

    #[test]
    fn lists_end_with_and() {
        assert_eq!(listed(&["a"], 3), "a");
        assert_eq!(listed(&["a", "b", "c"], 3), "a, b and c");
        assert_eq!(listed(&["a", "b", "c", "d", "e"], 3), "a, b, c and 2 more");
    }
}
