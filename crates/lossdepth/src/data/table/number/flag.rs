//! Marks that laboratories write behind a number that is out of its range, as `7.8 H` or `0.6*`.

/// A minus sign is none of them: it is the sign of the number in the lists of SAP.
const FLAGS: [&str; 13] = ["HH", "LL", "(H)", "(L)", "H", "L", "++", "+", "**", "*", "↑", "↓", "!"];

/// A number without the mark behind it.
pub(super) fn without(text: &str) -> &str {
    let text = text.trim();
    let bare = FLAGS.iter().find_map(|flag| text.strip_suffix(flag));
    bare.map(str::trim_end).filter(|bare| bare.ends_with(|c: char| c.is_ascii_digit())).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn marks_behind_numbers() {
        for text in ["7.8 H", "7.8H", "7.8 (L)", "7.8*", "7.8 ↑", "7.8 ++", "7.8"] {
            assert_eq!(without(text), "7.8", "{text}");
        }
        assert_eq!((without("H"), without("x H"), without("7 Hz")), ("H", "x H", "7 Hz"));
    }
}
