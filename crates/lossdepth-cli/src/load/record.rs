//! Text into records: fields between delimiters, quoted or not, each record with the line it starts on.

use super::decode::{self, Coding};
use crate::error::Problem;
use std::io::{self, BufRead, Read};

/// The longest line, or quoted field over many lines, that is taken for data.
const LIMIT: usize = 1 << 26;

/// Stands for blanks between fields, as many as there are.
pub(super) const BLANKS: char = ' ';

/// Stands for the way in which web servers write their logs.
pub(super) const LOG: char = '\u{1e}';

/// The names of the fields of such a log.
pub(super) const LOGGED: [&str; 11] =
    ["host", "ident", "user", "time", "method", "path", "protocol", "status", "bytes", "referer", "agent"];

/// Where in such a log the request is.
const REQUEST: usize = 4;

/// Whether a line is one of a web server's log: a host, two names, a time in brackets and a request in quotes.
pub(super) fn is_logged(line: &str) -> bool {
    let mut record = Record::default();
    record.push_blanks(line, false);
    let (time, request) = (line.find(" ["), line.find("] \""));
    matches!((time, request), (Some(time), Some(request)) if time < request) && matches!(record.len(), 7 | 9)
}

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

    /// Adds empty fields up to so many.
    pub(super) fn fill_up(&mut self, fields: usize) {
        while self.ends.len() < fields {
            self.end_field();
        }
    }

    fn end_field(&mut self) {
        self.ends.push(self.text.len());
    }

    /// Adds the fields between blanks; quotes and square brackets keep theirs. Of a line of a web server's log the request is cut
    /// into its method, its path and its protocol.
    fn push_blanks(&mut self, line: &str, log: bool) {
        let mut rest = line.trim();
        while !rest.is_empty() {
            let within = [('"', '"'), ('[', ']')].iter().find_map(|(open, close)| {
                let (field, rest) = rest.strip_prefix(*open)?.split_once(*close)?;
                Some((field, rest))
            });
            let (field, behind) =
                within.unwrap_or_else(|| rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())));
            if log && self.len() == REQUEST {
                let mut words = field.splitn(3, ' ');
                for _ in 0..3 {
                    self.text.push_str(words.next().unwrap_or_default());
                    self.end_field();
                }
            } else {
                self.text.push_str(field);
                self.end_field();
            }
            rest = behind.trim_start();
        }
    }

    /// Adds the fields of one line; `open` says whether a quote is open, before and after.
    pub(super) fn push_line(&mut self, line: &str, delimiter: char, mut open: bool) -> bool {
        if delimiter == BLANKS || delimiter == LOG {
            self.push_blanks(line, delimiter == LOG);
            return false;
        }
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

/// The letters of a text: what titles of pages have in common, whatever the number of the page and the time.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphabetic()).collect()
}

/// Whether a line is a rule between the parts of a table, such as `|-----+-----|`, `=====` or ` ---------`.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(['-', '=', '+', '|', '_'])
        && ["---", "===", "___"].iter().any(|rule| line.contains(rule))
        && line.chars().all(|c| matches!(c, '-' | '=' | '_' | '+' | '|' | ':' | ' '))
}

/// The records of a text, blank lines and rules left out.
pub(super) struct Records {
    input: Box<dyn BufRead>,
    delimiter: char,
    /// The last byte of a line: a line feed, or a bare carriage return.
    end: u8,
    coding: Coding,
    /// Whether there was a letter of UTF-8 beyond ASCII.
    utf8: bool,
    buffer: Vec<u8>,
    decoded: String,
    lines: u64,
    /// The line from which on the text was found to be Windows-1252.
    windows: Option<u64>,
    /// Whether that was said.
    told: bool,
}

impl Records {
    /// The records of UTF-8, or of what is assumed to be.
    pub(super) fn new(input: Box<dyn BufRead>, delimiter: char, end: u8, coding: Coding) -> Self {
        let (buffer, decoded) = (Vec::new(), String::new());
        Self {
            input,
            delimiter,
            end,
            coding,
            utf8: false,
            buffer,
            decoded,
            lines: 0,
            windows: None,
            told: false,
        }
    }

    /// That the text was found to be Windows-1252, if it was: said once.
    pub(super) fn note(&mut self) -> Option<String> {
        let line = self.windows.filter(|_| !std::mem::replace(&mut self.told, true))?;
        Some(format!(
            "from line {line} on the text is no UTF-8 and read as Windows-1252; --encoding says otherwise"
        ))
    }

    /// Skips so many lines, and returns the letters of each.
    pub(super) fn skip(&mut self, lines: u64) -> Result<Vec<String>, Problem> {
        /// More lines are no titles of a page.
        const KEPT: usize = 20;
        let mut skipped = Vec::new();
        for _ in 0..lines {
            if !self.next_line()? {
                break;
            }
            self.lines += 1;
            let letters = letters(self.text());
            if !letters.is_empty() && skipped.len() < KEPT {
                skipped.push(letters);
            }
        }
        Ok(skipped)
    }

    /// The next line as it is, with its number; none at the end.
    pub(super) fn line(&mut self) -> Result<Option<(u64, &str)>, Problem> {
        if !self.next_line()? {
            return Ok(None);
        }
        self.lines += 1;
        Ok(Some((self.lines, self.text())))
    }

    /// The line that was read last: a buffer that could not be decoded in place was decoded beside it.
    fn text(&self) -> &str {
        match self.windows {
            Some(_) => &self.decoded,
            None => std::str::from_utf8(&self.buffer).unwrap_or_default(),
        }
    }

    /// Reads the next record; false at the end.
    pub(super) fn read(&mut self, record: &mut Record) -> Result<bool, Problem> {
        record.text.clear();
        record.ends.clear();
        let mut open = false;
        loop {
            if !self.next_line()? {
                return if open { Err(Problem::Quote { line: record.line }) } else { Ok(false) };
            }
            self.lines += 1;
            let line = self.text();
            if !open {
                if line.trim_matches(' ').is_empty() || is_rule(line) {
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

    /// Reads a line without its end; false where there is none.
    fn next_line(&mut self) -> Result<bool, Problem> {
        let (number, buffer) = (self.lines + 1, &mut self.buffer);
        buffer.clear();
        let read = self.input.by_ref().take(LIMIT as u64).read_until(self.end, buffer).map_err(unreadable)?;
        if read == 0 {
            return Ok(false);
        }
        if buffer.last() == Some(&self.end) {
            buffer.pop();
            if buffer.last() == Some(&b'\r') {
                buffer.pop();
            }
        } else if read == LIMIT {
            return Err(Problem::Long { line: number, limit: LIMIT });
        }
        if self.windows.is_none() {
            match std::str::from_utf8(buffer) {
                Ok(_) => {
                    self.utf8 = self.utf8 || !buffer.is_ascii();
                    return Ok(true);
                }
                // Nothing so far says that it is UTF-8.
                Err(_) if self.coding == Coding::Assumed && !self.utf8 => self.windows = Some(number),
                Err(e) => return Err(Problem::Utf8 { line: number, byte: buffer[e.valid_up_to()] }),
            }
        }
        self.decoded = decode::windows(&self.buffer);
        Ok(true)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str, delimiter: char) -> Vec<(u64, Vec<String>)> {
        let mut records =
            Records::new(Box::new(io::Cursor::new(text.to_owned())), delimiter, b'\n', Coding::Assumed);
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
        let mut open = Records::new(Box::new(io::Cursor::new("a,b\n1,\"2\n3,4\n")), ',', b'\n', Coding::Utf8);
        let mut record = Record::default();
        assert!(open.read(&mut record).unwrap());
        assert!(matches!(open.read(&mut record), Err(Problem::Quote { line: 2 })));
    }

    #[test]
    fn rules_are_no_records() {
        for line in ["-----", " ----- ", "|---|:---:|", "+----+", "=====|====", "___"] {
            assert!(is_rule(line), "{line}");
        }
        for line in ["--", "a---", "-- | --", "---,---", "|5|", "-5---", "", "\"---\""] {
            assert!(!is_rule(line), "{line}");
        }
    }
}
