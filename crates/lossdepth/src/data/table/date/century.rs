//! The century of years of two digits.

use super::DateForm;
use super::calendar::year;

/// The first of the two digits that are in the twentieth century, as in POSIX: 1969 to 2068.
pub(super) fn usual() -> u32 {
    69
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
pub(super) fn is_usual(century: &u32) -> bool {
    *century == usual()
}

/// The first of the two digits that are in the twentieth century for these texts: that behind the longest run of years that
/// do not occur, going round from 99 to 00, or the usual one if it is in that run. So years of birth from 62 to 01 are those
/// from 1962 on (heuristic).
pub(super) fn of<'a>(form: DateForm, texts: impl Iterator<Item = &'a str>) -> u32 {
    let mut seen = [false; 100];
    for text in texts.filter(|text| !has_four_digits(text)) {
        let in_century = |century| DateForm { century, ..form }.parse(text);
        // All in the twentieth century, and none.
        if let (Some(old), Some(new)) = (in_century(0), in_century(100))
            && old != new
            && let Some(year) = year(old / 86_400.0)
        {
            seen[year as usize % 100] = true;
        }
    }
    let used: Vec<u32> = (0..100).zip(seen).filter(|(_, seen)| *seen).map(|(year, _)| year).collect();
    let (Some(&first), usual) = (used.first(), usual()) else { return usual() };
    let next = used.iter().skip(1).copied().chain([first + 100]);
    let runs = used.iter().copied().zip(next);
    let has_usual =
        |(from, to): (u32, u32)| (from < usual && usual <= to) || (from < usual + 100 && usual + 100 <= to);
    let longest = runs.max_by_key(|&(from, to)| (to - from, has_usual((from, to))));
    longest.filter(|run| !has_usual(*run) && run.1 - run.0 > 1).map_or(usual, |(_, to)| to % 100)
}

/// Whether four digits follow one another: the year is written in full, or the text is a time.
fn has_four_digits(text: &str) -> bool {
    text.as_bytes().windows(4).any(|four| four.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn century(years: impl Iterator<Item = u32>) -> u32 {
        let texts: Vec<String> = years.map(|year| format!("13.05.{:02}", year % 100)).collect();
        of(DateForm::default(), texts.iter().map(String::as_str))
    }

    #[test]
    fn the_century_follows_from_the_years_of_a_column() {
        // Births, employments, a bond, the turn of the century, all years, one year.
        assert_eq!(century(1962..2002), 62);
        assert_eq!(century(1935..1976), 35);
        assert_eq!(century(1925..2011), 25);
        for years in [2005..2024, 2024..2056, 1998..2006, 1900..2000, 2031..2032, 1970..1999] {
            assert_eq!(century(years.clone()), usual(), "{years:?}");
        }
        assert_eq!(of(DateForm::default(), ["13.05.1962", "north", "14:30"].into_iter()), usual());
    }
}
