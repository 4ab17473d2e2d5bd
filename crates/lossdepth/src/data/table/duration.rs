//! Lengths of time as people and programs write them, in days.

/// How many seconds a day has.
const DAY: f64 = 86_400.0;

/// Units with their seconds, in English, German and French.
const UNITS: [(&[&str], f64); 6] = [
    (&["w", "wk", "wks", "week", "weeks"], 604_800.0),
    (&["d", "day", "days", "tag", "tage", "jour", "jours"], DAY),
    (&["h", "hr", "hrs", "hour", "hours", "std", "stunde", "stunden", "heure", "heures"], 3600.0),
    (&["m", "min", "mins", "minute", "minutes", "minuten", "'", "′"], 60.0),
    (&["s", "sec", "secs", "second", "seconds", "sek", "sekunde", "sekunden", "\"", "″"], 1.0),
    (&["ms", "msec", "millisecond", "milliseconds"], 0.001),
];

/// The days of `1h 20m`, `3 days 04:05:06`, `PT1H20M`, `24:18` (minutes and seconds) or `1:02:33`; `None` for other texts.
pub(super) fn parse(text: &str) -> Option<f64> {
    // The longest: every unit in full.
    if text.len() > 80 {
        return None;
    }
    let text = text.trim();
    let (sign, text) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (-1.0, rest.trim_start()),
        None => (1.0, text),
    };
    let seconds = match text.strip_prefix(['P', 'p']) {
        Some(rest) => iso(rest)?,
        None => units(text)?,
    };
    Some(sign * seconds / DAY)
}

/// `3DT4H5M6S` behind the `P` of ISO 8601. Years and months have no fixed length.
fn iso(text: &str) -> Option<f64> {
    let upper = text.to_ascii_uppercase();
    let (date, time) = upper.split_once('T').unwrap_or((&upper, ""));
    if (date.is_empty() && time.is_empty()) || upper.ends_with('T') || date.contains(['H', 'M', 'S']) {
        return None;
    }
    Some(pairs(date, None)? + pairs(time, None)?)
}

/// Numbers with units, and perhaps a clock at the end.
fn units(text: &str) -> Option<f64> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let clock_start = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    // A white space of several bytes is none that programs write.
    let (before, last) = (text.get(..clock_start)?, text.get(clock_start..)?);
    if let Some(seconds) = clock_in_unit(text) {
        return Some(seconds);
    }
    if last.contains(':') {
        return Some(pairs(before.trim_end().trim_end_matches(','), Some(DAY))? + clock(last)?);
    }
    pairs(text, None)
}

/// The seconds of numbers with a unit each, the larger first; 0 for nothing. No unit may be shorter than `least`.
fn pairs(text: &str, least: Option<f64>) -> Option<f64> {
    let (mut rest, mut total, mut last) = (text.trim(), 0.0, f64::INFINITY);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')?;
        let number: f64 = rest[..end].replace(',', ".").parse().ok()?;
        rest = rest[end..].trim_start();
        let sign = rest.starts_with(['\'', '"', '′', '″']);
        let end = if sign {
            rest.chars().next().map_or(0, char::len_utf8)
        } else {
            rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len())
        };
        let unit = rest[..end].to_lowercase();
        let (_, size) = UNITS.iter().find(|(names, _)| names.contains(&unit.as_str()))?;
        if *size >= last || least.is_some_and(|least| *size < least) {
            return None;
        }
        (total, last) = (total + number * size, *size);
        rest = rest[end..].trim_start_matches(['.', ',']).trim_start();
        rest = rest.strip_prefix("and ").or(rest.strip_prefix("und ")).unwrap_or(rest).trim_start();
    }
    Some(total)
}

/// The seconds of `24:18` or `1:02:33.5`.
fn clock(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.split(':').collect();
    let (first, rest) = parts.split_first().filter(|(_, rest)| (1..=2).contains(&rest.len()))?;
    if first.is_empty() || first.len() > 4 || !first.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut total: f64 = first.parse().ok()?;
    for (at, part) in rest.iter().enumerate() {
        let (whole, fraction) = part.split_once(['.', ',']).unwrap_or((part, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if whole.len() != 2 || !digits(whole) || !digits(fraction) || (at + 1 < rest.len() && part.len() != 2)
        {
            return None;
        }
        let value: f64 = format!("{whole}.{fraction}").parse().ok().filter(|value| *value < 60.0)?;
        total = 60.0 * total + value;
    }
    Some(total)
}

/// The seconds of `5:20 min`, `1:30 h` or, of a pace, `5:20 min/km`: a clock in front of the unit of its first number.
fn clock_in_unit(text: &str) -> Option<f64> {
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (time, unit) = (text.get(..end)?, text.get(end..)?.trim().to_lowercase());
    if !time.contains(':') {
        return None;
    }
    let seconds = clock(time)?;
    let hours = matches!(unit.as_str(), "h" | "hr" | "hrs" | "hours" | "std" | "std." | "stunden");
    let minutes =
        matches!(unit.as_str(), "min" | "mins" | "min." | "minutes" | "min/km" | "/km" | "min/mi" | "/mi");
    match time.matches(':').count() {
        1 if hours => Some(60.0 * seconds),
        1 if minutes => Some(seconds),
        2 if hours => Some(seconds),
        _ => None,
    }
}

/// The units that are shown, with their seconds.
const NAMES: [(&str, u64); 4] = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)];

/// Days as `1 h 20 min`: the two largest units, and below a minute seconds with their decimals.
pub(super) fn format(days: f64) -> String {
    let seconds = days.abs() * DAY;
    if !seconds.is_finite() || seconds >= 1e12 {
        return format!("{days} d");
    }
    let sign = if days < 0.0 { "-" } else { "" };
    if seconds < 59.9995 {
        let text = format!("{seconds:.3}");
        return format!("{sign}{} s", text.trim_end_matches('0').trim_end_matches('.'));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, below 1e12")]
    let whole = seconds.round() as u64;
    let largest = NAMES.iter().position(|(_, size)| whole >= *size).unwrap_or(3).min(2);
    let ((name, size), (next, small)) = (NAMES[largest], NAMES[largest + 1]);
    // Rounded to the smaller of the two, which may fill the larger.
    let units = (whole + small / 2) / small;
    if largest > 0 && units * small >= NAMES[largest - 1].1 {
        return format(days.signum() * (units * small) as f64 / DAY);
    }
    let (count, more) = (units * small / size, units % (size / small));
    match more {
        0 => format!("{sign}{count} {name}"),
        more => format!("{sign}{count} {name} {more} {next}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_in_many_forms() {
        let cases = [
            ("1h 20m", 4800.0),
            ("1h20m", 4800.0),
            ("1 h 20 min", 4800.0),
            ("1 hour, 20 minutes", 4800.0),
            ("1 hour and 20 minutes", 4800.0),
            ("3d 4h", 273_600.0),
            ("45m", 2700.0),
            ("1.5h", 5400.0),
            ("90s", 90.0),
            ("250 ms", 0.25),
            ("2 weeks", 1_209_600.0),
            ("PT1H20M", 4800.0),
            ("P3DT4H", 273_600.0),
            ("PT0.5S", 0.5),
            ("P2W", 1_209_600.0),
            ("24:18", 1458.0),
            ("1:02:33", 3753.0),
            ("100:00:00", 360_000.0),
            ("01:02.5", 62.5),
            ("0 days 00:24:18.500000", 1458.5),
            ("3 days, 4:05:06", 273_906.0),
            ("-1h 20m", -4800.0),
            ("5:20 min/km", 320.0),
            ("5:20 min", 320.0),
            ("1:30 h", 5400.0),
            ("1:30:05 h", 5405.0),
        ];
        for (text, seconds) in cases {
            let found = parse(text).unwrap_or(f64::NAN) * DAY;
            assert!((found - seconds).abs() <= 1e-9 * seconds.abs(), "{text}: {found}");
        }
        for text in [
            "",
            "5",
            "h",
            "1h 2h",
            "20m 1h",
            "24:70",
            "25:7",
            "1:2:3:4",
            "P",
            "PT",
            "P1H",
            "PT1",
            "P1Y",
            "12:30 1h",
            "5 h 12:30",
            "1h x",
            "a:b",
            "24:18pm",
            "1:02:03 min",
            "1..5h",
            "north",
            "2024-01-31",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn shown_in_two_units() {
        let shown = |seconds: f64| format(seconds / DAY);
        for (seconds, text) in [
            (4800.0, "1 h 20 min"),
            (1458.0, "24 min 18 s"),
            (273_600.0, "3 d 4 h"),
            (3600.0, "1 h"),
            (3599.9, "1 h"),
            (86_399.0, "1 d"),
            (86_400.0 * 12.5, "12 d 12 h"),
            (12.5, "12.5 s"),
            (0.0, "0 s"),
            (-90.0, "-1 min 30 s"),
        ] {
            assert_eq!(shown(seconds), text, "{seconds}");
        }
    }
}
