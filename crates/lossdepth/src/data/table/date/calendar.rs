//! The Gregorian calendar: days since the beginning of 1970, and how they are shown.

/// The days from the beginning of 1970 to a date of the Gregorian calendar (Hinnant, *chrono-compatible low-level date
/// algorithms*).
pub(super) fn days(year: u32, month: u32, day: u32) -> Option<f64> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let longest = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year == 0 || !(1..=longest).contains(&day) {
        return None;
    }
    // A year that begins in March has its leap day at the end.
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let (era, year) = (year / 400, year % 400);
    let of_era = year * 365 + year / 4 - year / 100 + of_year;
    Some(f64::from(era) * 146_097.0 + f64::from(of_era) - 719_468.0)
}

/// The days from the beginning of 1970 to the Monday of a week of ISO 8601.
pub(super) fn monday(year: u32, week: u32) -> Option<f64> {
    // The 4th of January is in the first week, and 1970 began on a Thursday.
    let fourth = days(year, 1, 4)?;
    let found = fourth - (fourth + 3.0).rem_euclid(7.0) + 7.0 * (f64::from(week) - 1.0);
    // The Thursday of a week is in its year.
    let thursday = found + 3.0;
    let inside = week >= 1 && thursday >= days(year, 1, 1)? && thursday <= days(year, 12, 31)?;
    inside.then_some(found)
}

/// Days since the beginning of 1970 as in ISO 8601, with the time of day if it is asked for.
pub(crate) fn format(value: f64, time_of_day: bool) -> String {
    // The years from 1 to 9999.
    if !(-719_162.0..2_932_897.0).contains(&value) {
        return format!("day {value}");
    }
    let seconds = if time_of_day { (value * 86_400.0).round() } else { value.floor() * 86_400.0 };
    let (date, time) = ((seconds / 86_400.0).floor(), seconds.rem_euclid(86_400.0));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, below 2^32")]
    let (shifted, time) = ((date + 719_468.0) as u32, time as u32);
    let [year, month, day] = civil(shifted);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if !time_of_day {
        return date;
    }
    format!("{date} {}", clock(time))
}

/// The year of days since the beginning of 1970; `None` outside of the years from 1 to 9999.
pub(super) fn year(value: f64) -> Option<u32> {
    if !(-719_162.0..2_932_897.0).contains(&value) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, below 2^32")]
    let shifted = (value.floor() + 719_468.0) as u32;
    Some(civil(shifted)[0])
}

/// Year, month and day of days since the first of March of the year 0 (Hinnant).
fn civil(shifted: u32) -> [u32; 3] {
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    [era * 400 + year + u32::from(month <= 2), month, day]
}

/// A part of a day as a time of day.
pub(crate) fn format_clock(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 86,400")]
    let seconds = (value.clamp(0.0, 1.0) * 86_400.0).round() as u32;
    clock(seconds)
}

fn clock(time: u32) -> String {
    let (hours, minutes, seconds) = (time / 3600, time / 60 % 60, time % 60);
    if seconds == 0 {
        format!("{hours:02}:{minutes:02}")
    } else {
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::DateForm;
    use super::*;

    const NEW_YEARS_EVE: f64 = 20_088.0;

    #[test]
    fn every_day_of_ten_thousand_years_is_shown_as_it_is_read() {
        for step in 0..9000 {
            let value = -719_162.0 + 405.0 * f64::from(step);
            if value < 2_932_897.0 {
                let text = format(value, false);
                assert_eq!(DateForm::default().parse(&text), Some(value * 86_400.0), "{text}");
            }
        }
        assert_eq!(format(NEW_YEARS_EVE + 0.5, true), "2024-12-31 12:00");
        assert_eq!(format(NEW_YEARS_EVE + 0.500_011_574_074, true), "2024-12-31 12:00:01");
        assert_eq!(format(1e12, true), "day 1000000000000");
    }
}
