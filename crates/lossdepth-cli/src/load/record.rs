//! Text into records: fields between delimiters, quoted or not, each record with the line it starts on.

use crate::error::Problem;
use std::io::{self, BufRead, Read};

/// The longest line, or quoted field over many lines, that is taken for data.
const LIMIT: usize = 1 << 26;

/// One record; its memory is reused for the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    text: String,
    ends: Vec<usize>,
    /// The line it starts on, from 1.
    pub(super) line: u64,
}

impl Record {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Field `i` without the blanks around it.
    pub(super) fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        self.text[start..self.ends[i]].trim()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }

    fn end_field(&mut self) {
        self.ends.push(self.text.len());
    }

    /// Adds the fields of one line; `open` says whether a quote is open, before and after.
    fn push_line(&mut self, line: &str, delimiter: char, mut open: bool) -> bool {
        if !open && !line.contains('"') {
            for field in line.split(delimiter) {
                self.text.push_str(field);
                self.end_field();
            }
            return false;
        }
        let mut at_start = !open;
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' if open && chars.peek() == Some(&'"') => {
                    chars.next();
                    self.text.push('"');
                }
                '"' if open => open = false,
                '"' if at_start => open = true,
                c if c == delimiter && !open => {
                    self.end_field();
                    at_start = true;
                    continue;
                }
                c => self.text.push(c),
            }
            at_start = at_start && c == ' ';
        }
        if open {
            self.text.push('\n');
        } else {
            self.end_field();
        }
        open
    }
}

/// The records of a text, blank lines left out.
pub(super) struct Records {
    input: Box<dyn BufRead>,
    delimiter: char,
    buffer: Vec<u8>,
    lines: u64,
}

impl Records {
    pub(super) fn new(input: Box<dyn BufRead>, delimiter: char) -> Self {
        Self { input, delimiter, buffer: Vec::new(), lines: 0 }
    }

    /// Reads the next record; false at the end.
    pub(super) fn read(&mut self, record: &mut Record) -> Result<bool, Problem> {
        record.text.clear();
        record.ends.clear();
        let mut open = false;
        loop {
            let line = match next_line(&mut self.input, &mut self.buffer, self.lines + 1)? {
                Some(line) => line,
                None if open => return Err(Problem::Quote { line: record.line }),
                None => return Ok(false),
            };
            self.lines += 1;
            if !open {
                if line.is_empty() {
                    continue;
                }
                record.line = self.lines;
            }
            open = record.push_line(line, self.delimiter, open);
            if !open {
                return Ok(true);
            }
            if record.text.len() > LIMIT {
                return Err(Problem::Quote { line: record.line });
            }
        }
    }
}

/// A line without its end.
fn next_line<'a>(
    input: &mut dyn BufRead,
    buffer: &'a mut Vec<u8>,
    number: u64,
) -> Result<Option<&'a str>, Problem> {
    buffer.clear();
    let read = input.take(LIMIT as u64).read_until(b'\n', buffer).map_err(unreadable)?;
    if read == 0 {
        return Ok(None);
    }
    if buffer.last() == Some(&b'\n') {
        buffer.pop();
        if buffer.last() == Some(&b'\r') {
            buffer.pop();
        }
    } else if read == LIMIT {
        return Err(Problem::Long { line: number, limit: LIMIT });
    }
    match std::str::from_utf8(buffer) {
        Ok(line) => Ok(Some(line)),
        Err(e) => Err(Problem::Utf8 { line: number, byte: buffer[e.valid_up_to()] }),
    }
}

/// The decompressor reports its troubles as errors of reading.
pub(super) fn unreadable(error: io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Problem::Truncated,
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Problem::Gzip(error),
        _ => Problem::Read(error),
    }
}

/// One line into its fields.
pub(crate) fn split(line: &str) -> Vec<String> {
    let mut record = Record::default();
    if record.push_line(line, ',', false) {
        record.end_field();
    }
    record.iter().map(str::to_owned).collect()
}

/// The delimiter that cuts the first lines into the same number of fields, at least two.
///
/// Tab and semicolon come before the comma, which is part of many numbers. If none fits, it is the one that the
/// first line has most of.
pub(super) fn sniff(head: &str) -> char {
    const CANDIDATES: [char; 3] = ['\t', ';', ','];
    let lines: Vec<&str> = head.lines().filter(|line| !line.trim().is_empty()).take(20).collect();
    let fields = |line: &str, delimiter| {
        let mut record = Record::default();
        record.push_line(line, delimiter, false);
        record.len()
    };
    let consistent = |delimiter: &char| {
        let mut counts = lines.iter().map(|line| fields(line, *delimiter));
        counts.next().is_some_and(|first| first > 1 && counts.all(|count| count == first))
    };
    let most = |delimiter: &char| lines.first().map_or(0, |line| fields(line, *delimiter));
    let fallback = || CANDIDATES.into_iter().max_by_key(most).filter(|d| most(d) > 1);
    CANDIDATES.into_iter().find(consistent).or_else(fallback).unwrap_or(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str, delimiter: char) -> Vec<(u64, Vec<String>)> {
        let mut records = Records::new(Box::new(io::Cursor::new(text.to_owned())), delimiter);
        let (mut record, mut all) = (Record::default(), Vec::new());
        while records.read(&mut record).unwrap() {
            all.push((record.line, record.iter().map(str::to_owned).collect()));
        }
        all
    }

    #[test]
    fn lines_are_counted_right() {
        for end in ["\n", "\r\n"] {
            let text = ["a,b", "", "\"x", "y\",2", "", "3, 4 "].join(end);
            let found = records(&text, ',');
            assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3, 6]);
            assert_eq!(found[1].1, ["x\ny", "2"]);
            assert_eq!(found[2].1, ["3", "4"]);
        }
    }

    #[test]
    fn quotes_count_only_where_a_field_starts() {
        assert_eq!(records("\"a;\"\"b\"\"\";5\" pipe; \"c\"\n", ';')[0].1, ["a;\"b\"", "5\" pipe", "c"]);
        assert_eq!(split("a,\"b,c\", d"), ["a", "b,c", "d"]);
        let mut open = Records::new(Box::new(io::Cursor::new("a,b\n1,\"2\n3,4\n")), ',');
        let mut record = Record::default();
        assert!(open.read(&mut record).unwrap());
        assert!(matches!(open.read(&mut record), Err(Problem::Quote { line: 2 })));
    }

    #[test]
    fn delimiters_are_told_apart() {
        assert_eq!(sniff("a,b\n1,2\n"), ',');
        assert_eq!(sniff("a\tb,c\n1\t2\n"), '\t');
        assert_eq!(sniff("1,5;2,5\n3,5;4,5\n"), ';');
        assert_eq!(sniff("\"a;b\",c\n1,2\n"), ',');
        assert_eq!(sniff("a,b\n1,2\n3\n"), ',');
        assert_eq!(sniff("a\n1\n"), ',');
        assert_eq!(sniff(""), ',');
    }
}
