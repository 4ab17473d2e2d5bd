//! Places on a map: degrees, minutes and seconds, north and south, east and west.

/// The degrees of `48°08'12.5"N`, `N 48° 8.2'`, `48.137° S` or `-48°08'`; south and west are negative. Without a sign for degrees,
/// or with minutes or seconds from 60 on, it is none.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    let side = |c: char| matches!(c, 'N' | 'S' | 'E' | 'W');
    let first = text.chars().next().filter(|c| side(*c));
    let last = text.chars().next_back().filter(|c| side(*c) && first.is_none());
    let letter = first.or(last);
    let bare = text.trim_start_matches(|c| first == Some(c)).trim_end_matches(|c| last == Some(c)).trim();
    let (bare, minus) = bare.strip_prefix(['-', '−']).map_or((bare, false), |rest| (rest, true));
    if minus && letter.is_some() {
        return None;
    }
    let (degrees, rest) = bare.split_once(['°', 'º', '˚'])?;
    let (minutes, rest) = part(rest.trim(), &["'", "’", "′"])?;
    let (seconds, rest) = part(rest.trim(), &["''", "\"", "”", "″", "’’", "′′"])?;
    let size = number(degrees.trim())? + minutes / 60.0 + seconds / 3600.0;
    if !rest.is_empty() || minutes >= 60.0 || seconds >= 60.0 || size > 360.0 {
        return None;
    }
    Some(if minus || matches!(letter, Some('S' | 'W')) { -size } else { size })
}

/// Whether a text says on which side of the equator or of Greenwich it is, or has minutes.
pub(crate) fn is_place(text: &str) -> bool {
    let letter = text.trim().contains(['N', 'S', 'E', 'W']);
    let minutes =
        text.split_once(['°', 'º', '˚']).is_some_and(|(_, rest)| rest.contains(|c: char| c.is_ascii_digit()));
    letter || minutes
}

/// Degrees with four decimals, about ten metres on a map.
pub(super) fn format(degrees: f64) -> String {
    format!("{degrees:.4}°")
}

/// The number in front of a mark, 0 where the text is empty, and what is behind it.
fn part<'a>(text: &'a str, marks: &[&str]) -> Option<(f64, &'a str)> {
    if text.is_empty() {
        return Some((0.0, ""));
    }
    let (at, mark) = marks.iter().find_map(|mark| Some((text.find(mark)?, mark)))?;
    Some((number(text[..at].trim())?, text[at + mark.len()..].trim()))
}

fn number(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',');
    text.replace(',', ".").parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_on_a_map() {
        let cases = [
            ("48°08'12\"N", Some(48.0 + 8.0 / 60.0 + 12.0 / 3600.0)),
            ("48°30′0″ S", Some(-48.5)),
            ("N 48° 30.6'", Some(48.51)),
            ("25.1°W", Some(-25.1)),
            // East in German, west in French.
            ("11° 30' O", None),
            ("-48°30'", Some(-48.5)),
            ("12,25°", Some(12.25)),
            ("48°30'0''E", Some(48.5)),
            ("48°61'N", None),
            ("48 N", None),
            ("-48°S", None),
            ("400°", None),
            ("20 °C", None),
            ("48°x'", None),
            ("", None),
        ];
        for (text, expected) in cases {
            match (parse(text), expected) {
                (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-9, "{text}: {found}"),
                (found, expected) => assert_eq!(found, expected, "{text}"),
            }
        }
        assert!(is_place("25°W") && is_place("48°08'") && !is_place("25°"));
        assert_eq!(format(-25.1), "-25.1000°");
    }
}
