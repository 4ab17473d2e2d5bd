//! Lengths in feet and inches.

/// The inches of `6'2"`, `5' 11½`, `6 ft 2 in` or `6'`; below ten feet, with less than twelve inches.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    let (feet, rest) = text.split_once(['\'', '’', '′']).or_else(|| text.split_once("ft"))?;
    let feet = feet.trim_end();
    let feet = feet.parse::<u32>().ok().filter(|number| *number < 10 && feet.len() == 1)?;
    let rest = rest.trim_start_matches(['.', ' ']);
    let inches = ["''", "\"", "”", "″", "in.", "in"]
        .iter()
        .find_map(|mark| rest.strip_suffix(mark))
        .unwrap_or(rest)
        .trim();
    let (inches, half) = inches.strip_suffix('½').map_or((inches, 0.0), |whole| (whole.trim_end(), 0.5));
    let plain = inches.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let inches: f64 = if inches.is_empty() { 0.0 } else { inches.parse().ok().filter(|_| plain)? };
    (inches < 12.0).then_some(f64::from(feet) * 12.0 + inches + half)
}

/// Inches as `6'2"`.
pub(super) fn format(inches: f64) -> String {
    // In tenths of an inch, so that rounding carries over to the feet.
    let tenths = (inches.abs() * 10.0).round();
    if !tenths.is_finite() || tenths >= 1e12 {
        return format!("{inches} in");
    }
    let (feet, rest) = ((tenths / 120.0).floor(), tenths % 120.0 / 10.0);
    format!("{}{feet}'{rest}\"", if inches < 0.0 && tenths > 0.0 { "-" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feet_and_inches() {
        let cases = [
            ("6'2\"", Some(74.0)),
            ("5' 11\"", Some(71.0)),
            ("5’11½”", Some(71.5)),
            ("6'", Some(72.0)),
            ("6'0''", Some(72.0)),
            ("6 ft 2 in", Some(74.0)),
            ("6ft2", Some(74.0)),
            ("6'13\"", None),
            ("12'30\"", None),
            ("6", None),
            ("6'x\"", None),
            ("-6'2\"", None),
        ];
        for (text, inches) in cases {
            assert_eq!(parse(text), inches, "{text}");
        }
        assert_eq!([74.0, 71.5, 71.97, -74.0].map(format), ["6'2\"", "5'11.5\"", "6'0\"", "-6'2\""]);
    }
}
