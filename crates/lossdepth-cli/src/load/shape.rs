//! The shape of a text, from its first lines: the delimiter, the lines above the table, the decimal mark.

use super::cells::is_missing;
use super::record::{BLANKS, LOG, Record, is_logged, is_rule};

/// What the first lines tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) delimiter: char,
    /// How many columns, from the first, have something in them.
    pub(super) used: usize,
    /// How many lines are above the header.
    pub(super) titles: u64,
    /// Whether the header has no name for the first column, as R writes it.
    pub(super) short_header: bool,
    /// Whether the first record is a row rather than a header, by the records below it.
    pub(super) no_header: bool,
    /// Whether numbers have a decimal comma.
    pub(super) comma: bool,
    /// How many lines below the header say units, as `kg` and `°C`, where the rows have numbers.
    pub(super) units: usize,
    /// How many fields a row has at least: programs leave the delimiters of empty columns at the end out.
    pub(super) least: usize,
}

/// How many records are looked at.
const RECORDS: usize = 60;

/// A record and the line it starts on, from 1.
struct Start {
    line: u64,
    fields: Vec<String>,
}

impl Start {
    fn filled(&self) -> usize {
        self.fields.iter().filter(|field| !field.is_empty()).count()
    }

    /// How many fields there are up to the last one with something in it.
    fn width(&self) -> usize {
        self.fields.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1)
    }
}

/// The shape of a text; lines in front of what `skip` says are not looked at.
pub(super) fn shape(head: &str, skip: Option<u64>) -> Shape {
    let delimiter = sniff(head);
    let starts = starts(head, delimiter, skip.unwrap_or(0));
    let width = usual(starts.iter().map(|start| start.fields.len()));
    let (first, short_header) = match skip {
        Some(_) => (0, false),
        None => header(&starts, width),
    };
    let titles = match skip {
        Some(lines) => lines,
        None => starts.get(first).map_or(0, |start| start.line - 1),
    };
    let comma = delimiter != ',' && decimal_comma(starts.get(first + 1..).unwrap_or_default());
    let header = starts.get(first).map_or(0, |start| start.width() + usize::from(short_header));
    let used = starts.iter().skip(first + 1).map(Start::width).fold(header, usize::max);
    let no_header = delimiter == LOG || !short_header && is_row(starts.get(first..).unwrap_or_default());
    let rows = starts.get(first + 1..).unwrap_or_default();
    let units = if no_header { 0 } else { units(rows) };
    let columns = starts.get(first).map_or(0, |start| start.fields.len() + usize::from(short_header));
    let least = least(&rows[units..], columns);
    Shape { delimiter, used, titles, short_header, no_header, comma, units, least }
}

/// How many records in front of the rows say units: texts in at least half of the columns of numbers, and numbers in none.
fn units(starts: &[Start]) -> usize {
    /// More lines than this are a column that changed.
    const MOST: usize = 3;
    /// So many rows of numbers at least tell that a column is one.
    const ROWS: usize = 5;
    let begins_as_number = |field: &str| {
        let bare = field.trim_start_matches(['-', '+', '−', '(', '$', '€', '£', '<', '>', '.', ' ']);
        bare.starts_with(|c: char| c.is_ascii_digit())
    };
    let below = starts.get(MOST..).unwrap_or_default();
    if below.len() < ROWS {
        return 0;
    }
    let width = starts.iter().map(|start| start.fields.len()).max().unwrap_or(0);
    let field = |start: &'_ Start, column: usize| start.fields.get(column).cloned().unwrap_or_default();
    let is_value = |text: &str| text.is_empty() || is_missing(text) || begins_as_number(text);
    let numbers: Vec<usize> = (0..width)
        .filter(|&column| {
            let values = below.iter().filter(|start| begins_as_number(&field(start, column))).count();
            values >= ROWS && below.iter().all(|start| is_value(&field(start, column)))
        })
        .collect();
    let says_units = |start: &&Start| {
        let texts = numbers.iter().filter(|&&column| {
            let text = field(start, column);
            !text.is_empty() && !is_missing(&text)
        });
        let none_is_value = numbers.iter().all(|&column| !begins_as_number(&field(start, column)));
        numbers.len() >= 2 && 2 * texts.count() >= numbers.len() && none_is_value
    };
    starts.iter().take(MOST).take_while(says_units).count()
}

/// How many of so many columns a row must have: those behind them are empty in at least half of the rows that have all.
fn least(starts: &[Start], columns: usize) -> usize {
    /// So many rows at least tell that a column is mostly empty.
    const ROWS: usize = 3;
    let full: Vec<&Start> = starts.iter().filter(|start| start.fields.len() >= columns).collect();
    let is_empty = |column: usize| {
        let empty = full.iter().filter(|start| start.fields[column].is_empty()).count();
        full.len() >= ROWS && 2 * empty >= full.len()
    };
    let behind = (0..columns).rev().take_while(|&column| is_empty(column)).count();
    (columns - behind).max(2.min(columns))
}

/// Whether the first record is a row like those below it: a number in every column of numbers, and in another column a text
/// that comes again, or digits and signs in the same places, as dates and codes have them. Years above columns are a header.
fn is_row(starts: &[Start]) -> bool {
    let Some((first, below)) = starts.split_first().filter(|(_, below)| below.len() >= 2) else {
        return false;
    };
    let pattern =
        |text: &str| -> String { text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect() };
    let (mut numbers, mut like) = (false, false);
    for (column, field) in first.fields.iter().enumerate() {
        let mut cells =
            below.iter().filter_map(|start| start.fields.get(column)).filter(|cell| !cell.is_empty());
        if cells.clone().next().is_some() && cells.clone().all(|cell| is_number(cell)) {
            if !is_number(field) {
                return false;
            }
            numbers = true;
        } else if !field.is_empty() {
            let field = pattern(field);
            like |= cells.any(|cell| pattern(cell) == field);
        }
    }
    numbers && like
}

/// The most frequent count; the larger of those that are as frequent.
fn usual(counts: impl Iterator<Item = usize>) -> usize {
    let mut seen = std::collections::BTreeMap::new();
    counts.for_each(|count| *seen.entry(count).or_insert(0usize) += 1);
    seen.into_iter().max_by_key(|&(count, times)| (times, count)).map_or(0, |(count, _)| count)
}

/// The first record of the table, and whether it lacks the name of the first column.
fn header(starts: &[Start], width: usize) -> (usize, bool) {
    // Titles have fewer fields than the table; spreadsheets fill them up with empty ones.
    let is_title = |start: &Start| {
        start.fields.len() < width || (width >= 3 && start.filled() <= 1 && start.width() <= 2)
    };
    if is_about_the_file(starts, width) {
        return (1, false);
    }
    let first = below_titles(starts, width).or_else(|| starts.iter().position(|start| !is_title(start)));
    let Some(first) = first else { return (0, false) };
    let has_number = |start: &Start| start.fields.iter().any(|field| is_number(field));
    let above = first.checked_sub(1).map(|above| &starts[above]);
    match above {
        Some(above)
            if width >= 3
                && above.filled() == width - 1
                && above.fields.len() == width - 1
                && !has_number(above)
                && has_number(&starts[first]) =>
        {
            (first - 1, true)
        }
        // A table of one column has no titles, and one of two needs more than a row to bear them out.
        _ if width < 2 || starts.len() < first + 2 => (0, false),
        _ => (first, false),
    }
}

/// Whether the first record is about the file, as accounting programs write it: with more fields than the table and some values,
/// above a record of names and others with values.
fn is_about_the_file(starts: &[Start], width: usize) -> bool {
    let [about, names, rows @ ..] = starts else { return false };
    let has_value = |start: &Start| start.fields.iter().any(|field| is_bare_value(field));
    about.fields.len() > width
        && rows.len() >= 2
        && [names].into_iter().chain(rows).all(|start| start.fields.len() == width)
        && has_value(about)
        && !has_value(names)
        && rows.iter().all(has_value)
}

/// Whether a field has digits and no letters.
fn is_bare_value(field: &str) -> bool {
    field.contains(|c: char| c.is_ascii_digit()) && !field.contains(char::is_alphabetic)
}

/// The header below titles of several cells, such as `Account;DE89 3704` above six columns: the first record with a text in every
/// column, but perhaps one, above a record with values, where all records above it are at most half full.
fn below_titles(starts: &[Start], width: usize) -> Option<usize> {
    let columns = starts.iter().map(Start::width).max().unwrap_or(0).min(width);
    if columns < 3 {
        return None;
    }
    let is_value = |field: &String| is_bare_value(field);
    let is_header = |start: &Start| {
        start.filled() + usize::from(columns > 3) >= columns && !start.fields.iter().any(is_value)
    };
    let first = starts.iter().position(|start| 2 * start.filled() > columns)?;
    let below = starts.get(first + 1)?;
    (first > 0 && is_header(&starts[first]) && below.fields.iter().any(is_value)).then_some(first)
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok_and(|value| !value.is_nan())
}

/// Whether some numbers have a decimal comma, and none a decimal point.
fn decimal_comma(starts: &[Start]) -> bool {
    let mut commas = false;
    for field in starts.iter().flat_map(|start| &start.fields) {
        let field = field.trim_start_matches(['-', '+']).trim_end_matches(['€', '%', ' ']);
        if !field.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',') {
            continue;
        }
        let grouped = |whole: &str| {
            let mut groups = whole.split('.');
            let first = groups.next().unwrap_or_default();
            (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3)
        };
        match field.split_once(',') {
            Some((whole, decimals)) => {
                let is_decimal = !decimals.is_empty() && decimals.bytes().all(|b| b.is_ascii_digit());
                if !is_decimal || whole.is_empty() || (whole.contains('.') && !grouped(whole)) {
                    return false;
                }
                // Groups of three may be thousands, but not behind a zero.
                commas = commas || decimals.len() != 3 || whole.contains('.') || whole == "0";
            }
            // What is neither in thousands nor a date has a decimal point.
            None if field.matches('.').count() == 1 && !grouped(field) => return false,
            None => {}
        }
    }
    commas
}

/// The records at the start of a text.
fn starts(head: &str, delimiter: char, skip: u64) -> Vec<Start> {
    let (mut found, mut record, mut open, mut from) = (Vec::new(), Record::default(), false, 0);
    for (number, line) in (1..).zip(lines(head)) {
        if number <= skip || (!open && (line.trim_matches(' ').is_empty() || is_rule(line))) {
            continue;
        }
        if !open {
            (record, from) = (Record::default(), number);
        }
        open = record.push_line(line, delimiter, open);
        if !open {
            found.push(Start { line: from, fields: record.iter().map(str::to_owned).collect() });
            if found.len() == RECORDS {
                break;
            }
        }
    }
    found
}

/// The lines of a text, whichever way they end.
fn lines(head: &str) -> impl Iterator<Item = &str> {
    let end = if head.contains('\n') { '\n' } else { '\r' };
    head.split(end).map(|line| line.strip_suffix('\r').unwrap_or(line))
}

/// So many lines with the same number of words at least are a table and no prose (heuristic).
const BLANK_LINES: usize = 8;

/// Whether the lines below the first one have a number in one place, between blanks.
fn has_numbers(lines: &[&str]) -> bool {
    let records: Vec<Record> = lines[1..]
        .iter()
        .map(|line| {
            let mut record = Record::default();
            record.push_line(line, BLANKS, false);
            record
        })
        .collect();
    let width = records.iter().map(Record::len).min().unwrap_or(0);
    (0..width).any(|column| records.iter().all(|record| is_number(record.get(column))))
}

/// The delimiter that cuts most of the first lines into the same number of fields, at least two.
///
/// Tab, semicolon and bar come before the comma, which is part of many numbers. If none fits, it is the one that the
/// first line has most of.
fn sniff(head: &str) -> char {
    const CANDIDATES: [char; 4] = ['\t', ';', '|', ','];
    let lines: Vec<&str> = lines(head)
        .filter(|line| !line.trim_matches(' ').is_empty() && !is_rule(line))
        .take(RECORDS)
        .collect();
    let fields = |line: &str, delimiter| {
        let mut record = Record::default();
        record.push_line(line, delimiter, false);
        record.len()
    };
    let agreeing = |delimiter: char| {
        let counts: Vec<usize> = lines.iter().map(|line| fields(line, delimiter)).collect();
        let width = usual(counts.iter().copied().filter(|count| *count > 1));
        if width < 2 { 0 } else { counts.iter().filter(|count| **count == width).count() }
    };
    let logged = lines.iter().filter(|line| is_logged(line)).count();
    if logged > 0 && 10 * logged >= 9 * lines.len() {
        return LOG;
    }
    let found = CANDIDATES.map(|delimiter| (delimiter, agreeing(delimiter)));
    if let Some((delimiter, _)) = found.iter().find(|(_, lines_)| *lines_ == lines.len() && *lines_ > 0) {
        return *delimiter;
    }
    if lines.len() >= BLANK_LINES && agreeing(BLANKS) == lines.len() && has_numbers(&lines) {
        return BLANKS;
    }
    // The first of those that fit most lines; but some lines must.
    let most = found.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let first = lines.first().copied().unwrap_or_default();
    let by_first =
        || CANDIDATES.into_iter().rev().max_by_key(|d| fields(first, *d)).filter(|d| fields(first, *d) > 1);
    match found.iter().find(|(_, count)| *count == most) {
        Some((delimiter, count)) if *count >= 2 && 2 * count >= lines.len() => *delimiter,
        _ => by_first().unwrap_or(','),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_told_apart() {
        assert_eq!(sniff("a,b\n1,2\n"), ',');
        assert_eq!(sniff("a\tb,c\n1\t2\n"), '\t');
        assert_eq!(sniff("1,5;2,5\n3,5;4,5\n"), ';');
        assert_eq!(sniff("\"a;b\",c\n1,2\n"), ',');
        assert_eq!(sniff("a,b\n1,2\n3\n"), ',');
        assert_eq!(sniff("a\n1\n"), ',');
        assert_eq!(sniff(""), ',');
        assert_eq!(sniff("a|b|c\n1|2|3\n"), '|');
        assert_eq!(sniff("Umsatz, gesamt\n\na;b\n1,5;2\n2,5;3\n"), ';');
    }

    #[test]
    fn titles_are_above_the_table() {
        let titles = |text: &str| shape(text, None).titles;
        assert_eq!(titles("a,b\n1,2\n3,4\n"), 0);
        assert_eq!(titles("Sales\n\na,b,c\n1,2,3\n"), 2);
        assert_eq!(titles("Sales,,\nof 2024,,\na,b,c\n1,2,3\n4,5,6\n"), 2);
        assert_eq!(titles("a\n1\n2\n"), 0);
        assert_eq!(
            titles(
                "Konto;DE89;;;\nvon;1.1.2024;;;\n;;;;\nTag;Ort;Art;Wert;Rest\n1.1.2024;A;B;5;6\n2.1.2024;A;;7;\n"
            ),
            3
        );
        // A short row is not a title where the lines after it are no longer.
        assert_eq!(titles("a,b\n1\n"), 0);
        assert_eq!(shape("x\n1,2\n3,4\n", Some(0)).titles, 0);
        let of_r = shape("height width\nk 1 2\n".replace(' ', "\t").as_str(), None);
        assert_eq!((of_r.short_header, of_r.used, of_r.titles), (true, 3, 0));
    }

    #[test]
    fn a_first_row_of_numbers_and_levels_is_no_header() {
        let no_header = |text: &str| shape(text, None).no_header;
        assert!(no_header("0.481,3.9,B\n0.1,2.5,A\n-1.5,4,B\n"));
        assert!(no_header("5,north\n7,south\n9,north\n"));
        assert!(no_header("2024-01-31,0.5\n2024-02-01,0.75\n2024-02-02,1\n"));
        assert!(!no_header("x,y,group\n0.1,2.5,A\n-1.5,4,B\n"));
        // Years, codes and what cannot be told are a header.
        assert!(!no_header("region,2020,2021\nnorth,1,2\nsouth,3,4\n"));
        assert!(!no_header("id,1\na,1\nb,2\n"));
        assert!(!no_header("share,0.1,0.5\nnorth,1.5,2\nsouth,3,4\n"));
        assert!(!no_header("a,b\nx,y\nx,z\n"));
        assert!(!no_header("0.5,B\n1,B\n"));
    }

    #[test]
    fn lines_of_units_and_rows_that_end_early() {
        let rows = |end: &str| {
            let lines: Vec<String> = (1..9).map(|i| format!("2024-01-0{i},{i}.5,{i}{end}\n")).collect();
            lines.concat()
        };
        let units = |text: &str| shape(text, None).units;
        assert_eq!(units(&format!("time,speed,mass\n,m/s,kg\n{}", rows(""))), 1);
        assert_eq!(units(&format!("time,speed,mass\nTS,m/s,kg\n,Avg,Min\n{}", rows(""))), 2);
        assert_eq!(units(&format!("time,speed,mass\n{}", rows(""))), 0);
        // A row without values, and one with a word for one.
        assert_eq!(units(&format!("time,speed,mass\n2024-01-01,NA,\n{}", rows(""))), 0);
        assert_eq!(units(&format!("time,speed,mass\n2024-01-01,1.5,broken\n{}", rows(""))), 0);
        let least = |text: &str| shape(text, None).least;
        assert_eq!(least(&format!("a,b,c,note\n{}1,2,3,late\n", rows(","))), 3);
        assert_eq!(least(&format!("a,b,c\n{}", rows(""))), 3);
    }

    #[test]
    fn decimal_commas() {
        let comma = |text: &str| shape(text, None).comma;
        assert!(comma("a;b\n1,5;1.234\n2,25;31.12.2024\n"));
        assert!(!comma("a;b\n1,5;1.5\n2,25;2\n"));
        assert!(!comma("a;b\n1.5;2\n"));
        assert!(!comma("a;b\n1,234;2\n"));
        assert!(comma("a;b\n1.234,50;2\n"));
    }
}
