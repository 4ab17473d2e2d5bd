//! ARFF, the format of WEKA: attributes with their types, then a row a line, in full or as its values other than 0.
//!
//! Nominal attributes are categories, whatever their levels look like; strings and dates are kept as texts, whose kinds are guessed
//! like those of other texts. An unquoted `?` is a gap.

use super::cells::{Cells, Words, number};
use super::open::Opened;
use super::record::Records;
use super::table::{Outline, Piece, Reading, Source, Wanted};
use crate::error::{Place, Problem, Wrong, shorten};
use lossdepth::data::ColumnKind;

const ARFF: &str = "ARFF";

/// How many rows room is made for at a time.
const ROOM: usize = 256;

/// What an attribute holds.
enum Type {
    Number,
    /// One of its levels, of which the first is what a row leaves out that has only its other values.
    Nominal(Option<String>),
    /// A string or a date.
    Text,
}

/// The rows of a file.
struct Arff {
    records: Records,
    types: Vec<Type>,
    row: Row,
    words: Words,
}

/// The values of a row, and which of them are gaps; its memory is reused for the next.
#[derive(Default)]
struct Row {
    texts: Vec<String>,
    gaps: Vec<bool>,
    len: usize,
}

/// Whether a text starts as such a file does: `@relation` behind comments and blank lines.
pub(super) fn is_arff(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut lines = head.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"%"));
    first.is_some_and(|line| line.get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"@relation")))
}

pub(super) fn open(mut records: Records, reading: &Reading) -> Opened {
    let (mut names, mut types) = (Vec::new(), Vec::new());
    loop {
        let Some((number, line)) = records.line()? else {
            return Err(damaged("it has no @data".to_owned()));
        };
        let line = line.trim();
        if line.is_empty() || line.starts_with('%') {
            continue;
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match &word.to_ascii_lowercase()[..] {
            "@relation" => {}
            "@attribute" => {
                let (name, attribute) = attribute(number, rest)?;
                names.push(name);
                types.push(attribute);
            }
            "@data" => break,
            _ => return Err(damaged(format!("line {number} is no attribute: `{}`", shorten(line)))),
        }
    }
    if names.is_empty() {
        return Err(Problem::Empty);
    }
    let mut outline = Outline::new(names, true);
    let nominal = |(column, held): (usize, &Type)| {
        matches!(held, Type::Nominal(_)).then_some((column, ColumnKind::Category))
    };
    outline.kinds = types.iter().enumerate().filter_map(nominal).collect();
    let words = Words { gaps: reading.gaps.clone(), comma: false };
    Ok((outline, Box::new(Arff { records, types, row: Row::default(), words })))
}

fn damaged(why: String) -> Problem {
    Problem::Damaged { format: ARFF, why }
}

/// Name and type of an attribute.
fn attribute(line: u64, text: &str) -> Result<(String, Type), Problem> {
    let wrong = |why: &str| damaged(format!("line {line}: {why}"));
    let mut name = String::new();
    let (_, rest) = value(text.trim_start(), &mut name).map_err(wrong)?;
    let rest = rest.trim_start();
    if let Some(mut levels) = rest.strip_prefix('{') {
        let mut first = None;
        loop {
            levels = levels.trim_start_matches(is_separator);
            if levels.starts_with('}') {
                return Ok((name, Type::Nominal(first)));
            }
            let mut level = String::new();
            let (_, rest) = value(levels, &mut level).map_err(wrong)?;
            if rest.len() == levels.len() {
                return Err(wrong("the levels of the attribute do not end with `}`"));
            }
            levels = rest;
            first.get_or_insert(level);
        }
    }
    let kind = rest.split_whitespace().next().unwrap_or_default();
    match &kind.to_ascii_lowercase()[..] {
        "numeric" | "real" | "integer" => Ok((name, Type::Number)),
        "string" | "date" => Ok((name, Type::Text)),
        "relational" => Err(Problem::Unsupported(format!(
            "line {line}: the attribute `{}` is relational, a table in each cell: save the table without it",
            shorten(&name)
        ))),
        _ => Err(damaged(format!(
            "line {line}: the attribute `{}` is of type `{}`, expected numeric, string, date or levels in braces",
            shorten(&name),
            shorten(kind)
        ))),
    }
}

fn is_separator(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

/// Adds the value that a text starts with to `out`; whether it is quoted, and what comes behind it.
fn value<'a>(text: &'a str, out: &mut String) -> Result<(bool, &'a str), &'static str> {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        let ends = |c: char| is_separator(c) || matches!(c, '{' | '}');
        let end = text.find(ends).unwrap_or(text.len());
        out.push_str(&text[..end]);
        return Ok((false, &text[end..]));
    };
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().map(|(_, c)| match c {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            })),
            c if c == quote => return Ok((true, &text[at + 1..])),
            c => out.push(c),
        }
    }
    Err("a quote opens here and never closes")
}

impl Row {
    /// Reads a line with all values, or one with numbers of attributes and their values in braces.
    fn read(&mut self, line: &str, types: &[Type]) -> Result<(), &'static str> {
        self.len = 0;
        match line.strip_prefix('{') {
            Some(pairs) => self.read_sparse(pairs, types),
            None => self.read_dense(line),
        }
    }

    fn read_dense(&mut self, line: &str) -> Result<(), &'static str> {
        let mut rest = line;
        while !rest.is_empty() && !rest.starts_with('%') {
            let at = self.push();
            rest = self.value(at, rest)?.trim_start();
            // Separated by a comma or by blanks.
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
            if rest.starts_with(['{', '}']) {
                return Err("weights of rows are not read: make the weight an attribute");
            }
        }
        Ok(())
    }

    fn read_sparse(&mut self, pairs: &str, types: &[Type]) -> Result<(), &'static str> {
        for held in types {
            let at = self.push();
            match held {
                Type::Number => self.texts[at].push('0'),
                Type::Nominal(Some(first)) => self.texts[at].push_str(first),
                Type::Nominal(None) | Type::Text => self.gaps[at] = true,
            }
        }
        let mut rest = pairs.trim_start();
        loop {
            if let Some(behind) = rest.strip_prefix('}') {
                let behind = behind.trim_start();
                if behind.is_empty() || behind.starts_with('%') {
                    return Ok(());
                }
                return Err("weights of rows are not read: make the weight an attribute");
            }
            let mut number = String::new();
            let (_, value) = value(rest, &mut number)?;
            let Some(at) = number.parse().ok().filter(|at: &usize| *at < types.len()) else {
                return Err("a value in braces needs the number of its attribute before it");
            };
            self.texts[at].clear();
            self.gaps[at] = false;
            rest = self.value(at, value.trim_start())?.trim_start_matches(is_separator);
        }
    }

    /// One value more, empty.
    fn push(&mut self) -> usize {
        let at = self.len;
        self.len += 1;
        if self.texts.len() < self.len {
            self.texts.push(String::new());
            self.gaps.push(false);
        }
        self.texts[at].clear();
        self.gaps[at] = false;
        at
    }

    fn value<'a>(&mut self, at: usize, text: &'a str) -> Result<&'a str, &'static str> {
        let (quoted, rest) = value(text, &mut self.texts[at])?;
        self.gaps[at] = !quoted && matches!(&self.texts[at][..], "" | "?");
        Ok(rest)
    }

    /// A value as a text, empty for a gap.
    fn text(&self, column: usize) -> &str {
        if self.gaps[column] { "" } else { &self.texts[column] }
    }
}

impl Arff {
    /// Moves on to the next row; the line it is on, or nothing at the end.
    fn next(&mut self, row: usize) -> Result<Option<u64>, Problem> {
        while let Some((number, line)) = self.records.line()? {
            let line = line.trim();
            if line.is_empty() || line.starts_with('%') {
                continue;
            }
            self.row.read(line, &self.types).map_err(|why| damaged(format!("line {number}: {why}")))?;
            if self.row.len != self.types.len() {
                let at = Place { line: Some(number), row };
                let (expected, got) = (self.types.len(), self.row.len);
                return Err(Problem::Ragged { at, expected, got, more: Vec::new() });
            }
            return Ok(Some(number));
        }
        Ok(None)
    }

    /// Adds a value to a column; the bytes it takes beside its row.
    fn add(&self, cells: &mut Cells, column: usize, exact: bool) -> Result<usize, Wrong> {
        let text = self.row.text(column);
        match self.types[column] {
            _ if self.row.gaps[column] => cells.gap(),
            Type::Number if exact => return Ok(cells.text(text, &self.words)),
            Type::Number if self.words.is_gap(text) => cells.gap(),
            Type::Number => cells.number(number(text, &self.words)?),
            Type::Nominal(_) | Type::Text => return Ok(cells.word(text)),
        }
        Ok(0)
    }
}

impl Source for Arff {
    fn read(&mut self, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem> {
        let columns = wanted.columns;
        while piece.rows < wanted.limit {
            let Some(line) = self.next(piece.first + piece.rows)? else { break };
            if piece.rows.is_multiple_of(ROOM) {
                piece.reserve(ROOM, columns)?;
            }
            let at = Place { line: Some(line), row: piece.first + piece.rows };
            for (k, (cells, column)) in piece.cells.iter_mut().zip(columns.cells()).enumerate() {
                let exact = k >= columns.features.len() || columns.exact.contains(&column);
                let added = self.add(cells, column, exact);
                piece.letters += added.map_err(|wrong| wanted.cell(at, column, wrong))?;
            }
            if let Some(column) = columns.weights {
                let weight = number(self.row.text(column), &self.words);
                piece.weights.push(weight.map_err(|wrong| wanted.cell(at, column, wrong))?);
            }
            let copied = columns.id.into_iter().chain(columns.label);
            piece.letters += copied.map(|column| self.row.text(column).len()).sum::<usize>();
            piece.ids.extend(columns.id.map(|column| self.row.text(column).to_owned()));
            piece.labels.extend(columns.label.map(|column| self.row.text(column).to_owned()));
            piece.lines.push(line);
            piece.rows += 1;
        }
        piece.notes.extend(self.records.note());
        Ok(())
    }
}
