//! Numbers as text, for tables and captions.

/// `.123`, `−.123`, `1.000`: a number up to 1 as the paper's tables write it.
pub(crate) fn share(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let text = text.strip_prefix("0.").map_or(text.clone(), |rest| format!(".{rest}"));
    text.strip_prefix("-0.").map_or(text.clone(), |rest| format!("−.{rest}"))
}

/// A share in whole percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A number with up to three decimals, or as `1.2 · 10⁻⁵` where that is too short or too long.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value.abs()) {
        return format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').replace('-', "−");
    }
    let text = format!("{value:.1e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let raised: String =
        power.chars().filter_map(|digit| "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth("-0123456789".find(digit)?)).collect();
    format!("{} · 10{raised}", mantissa.replace('-', "−"))
}

/// `(a)`, `(b)`, …: the label of a panel.
pub(crate) fn panel_label(index: usize) -> String {
    let letter = u8::try_from(index).ok().and_then(|index| b'a'.checked_add(index)).map_or('z', char::from);
    format!("({letter})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_in_the_paper() {
        assert_eq!([0.5, -0.25, 1.0, 0.0].map(|v| share(v, 2)), [".50", "−.25", "1.00", ".00"]);
        assert_eq!(
            [0.0, 12.5, -3.0, 1.5e-5, 2e6].map(number),
            ["0", "12.5", "−3", "1.5 · 10⁻⁵", "2.0 · 10⁶"]
        );
        assert_eq!((percent(0.123), panel_label(2)), ("12 %".to_owned(), "(c)".to_owned()));
    }
}
