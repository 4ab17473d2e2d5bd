//! Digits with marks between them.

/// Whole numbers of more digits are codes: doubles cannot tell them apart.
const DIGITS: usize = 15;
/// The number of digits and marks, with this decimal mark, and how many decimals it has.
pub(super) fn value(body: &str, decimal: char) -> Option<(f64, usize)> {
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (body, None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits.is_empty() || digits.len() > 3 || !all_digits(digits) {
            return None;
        }
    }
    let (whole, fraction) = mantissa.split_once(decimal).unwrap_or((mantissa, ""));
    if !all_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let mut clean = String::with_capacity(body.len());
    push_whole(&mut clean, whole)?;
    clean.push('.');
    clean.push_str(fraction);
    clean.push('0');
    if let Some(exponent) = exponent {
        clean.push('e');
        clean.push_str(exponent);
    }
    let value = clean.parse::<f64>().ok().filter(|value| value.abs() <= 1e100)?;
    Some((value, if exponent.is_some() { 0 } else { fraction.len() }))
}

/// The digits of a whole number, with or without one kind of mark between its thousands.
fn push_whole(clean: &mut String, whole: &str) -> Option<()> {
    let Some(mark) = whole.chars().find(|c| !c.is_ascii_digit()) else {
        clean.push_str(if whole.is_empty() { "0" } else { whole });
        return Some(());
    };
    if !(matches!(mark, '.' | ',' | '\'' | '’') || mark.is_whitespace()) {
        return None;
    }
    let same = |c: char| c == mark || (mark.is_whitespace() && c.is_whitespace());
    let groups: Vec<&str> = whole.split(same).collect();
    let (first, last, middle) = (groups[0], groups[groups.len() - 1], &groups[1..groups.len() - 1]);
    // Three digits each; in India two between the first and the last.
    let thousands = middle.iter().all(|group| group.len() == 3);
    let lakhs = !middle.is_empty() && first.len() <= 2 && middle.iter().all(|group| group.len() == 2);
    let fits = !first.starts_with('0') && (1..=3).contains(&first.len()) && last.len() == 3;
    if !fits || !(thousands || lakhs) || !groups.iter().all(|group| all_digits(group)) {
        return None;
    }
    clean.extend(groups);
    Some(())
}

/// Whether a text is a telephone number with the code of a country: a plus sign and seven digits or more, without decimals.
pub(super) fn is_telephone(text: &str) -> bool {
    let Some(rest) = text.trim().strip_prefix('+') else { return false };
    let digits = rest.chars().filter(char::is_ascii_digit).count();
    digits >= 7
        && rest.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '\u{a0}' | '-' | '/' | '(' | ')'))
}

pub(super) fn is_code(body: &str) -> bool {
    all_digits(body) && ((body.len() > 1 && body.starts_with('0')) || body.len() > DIGITS)
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
