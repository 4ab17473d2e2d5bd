//! Text into typed columns: lines above the table, a header or none, then a record a row, then perhaps a footer.

use super::cells::{Words, is_missing, number};
use super::footing::Footing;
use super::record::{LOG, LOGGED, Record, Records, letters};
use super::shape::Shape;
use super::table::{Header, Outline, Piece, Source, Wanted};
use crate::error::{Place, Problem, count};
use std::collections::VecDeque;

/// How many records behind a doubtful one are looked at before it is taken for a row.
const AHEAD: usize = 20;

/// The most cells and lines of which it is said what is wrong with them.
const NAMED: usize = 1000;

/// A text with a record a row.
pub(super) struct Text {
    records: Records,
    /// The first record if it is data, then whatever was read last.
    record: Record,
    pending: bool,
    /// Records that were read ahead.
    queue: VecDeque<Record>,
    width: usize,
    /// How many fields a record has at least: the columns behind them are mostly empty.
    least: usize,
    words: Words,
    finished: bool,
    /// The sums of the columns, to tell a row of sums from one that is called so.
    footing: Footing,
    /// How many records without a value were left out.
    blank: usize,
    /// The header, and the letters of the lines above it: pages of a list repeat them.
    header: Vec<String>,
    titles: Vec<String>,
    /// Records among the rows that are none: what they are, how many, and the line of the first.
    aside: Vec<(&'static str, usize, u64)>,
}

impl Text {
    /// Reads the header, or finds that there is none.
    pub(super) fn open(
        mut records: Records,
        shape: &Shape,
        header: Header,
        words: Words,
    ) -> Result<(Outline, Self), Problem> {
        let mut record = Record::default();
        let titles = records.skip(shape.titles)?;
        if !records.read(&mut record)? {
            return Err(Problem::Empty);
        }
        let named = match header {
            Header::Detect => !shape.no_header && !looks_like_data(&record),
            Header::Yes => true,
            Header::No => false,
        };
        let first = usize::from(named && shape.short_header);
        let mut width = record.len() + first;
        // Columns at the end without a name and without a value are those of a delimiter too many.
        while named && width > shape.used.max(1) && record.get(width - 1 - first).is_empty() {
            width -= 1;
        }
        let logged = !named && shape.delimiter == LOG && width <= LOGGED.len();
        let numbered = (0..width).map(|i| if logged { LOGGED[i].to_owned() } else { i.to_string() });
        let names: Vec<String> = if named {
            let field = |i: usize| if i < first { "" } else { record.get(i - first) };
            let name = |(i, number): (usize, String)| match field(i) {
                "" => number,
                name => name.replace(['\n', '\r'], " "),
            };
            numbered.enumerate().map(name).collect()
        } else {
            numbered.collect()
        };
        let mut notes = Vec::new();
        if named && shape.units > 0 {
            let (mut said, mut line) = (Vec::new(), 0);
            for _ in 0..shape.units {
                let mut units = Record::default();
                if records.read(&mut units)? {
                    said.push(units.iter().filter(|field| !field.is_empty()).collect::<Vec<_>>().join(" "));
                    line = units.line;
                }
            }
            let said = crate::error::shorten(&said.join("; "));
            notes.push(match shape.units {
                1 => format!("line {line} says units and is left out: `{said}`"),
                more => format!("{more} lines up to line {line} say units and are left out: `{said}`"),
            });
        }
        let doubt = if named { record.iter().any(is_number) } else { shape.no_header };
        let doubtful = (header == Header::Detect && doubt && !logged).then_some(record.line);
        let kept_header = if named { record.iter().map(str::to_owned).collect() } else { Vec::new() };
        let mut outline = Outline { compared: width, doubtful, ..Outline::new(names, named || logged) };
        outline.notes.append(&mut notes);
        let text = Self {
            records,
            record,
            pending: !named,
            queue: VecDeque::new(),
            width,
            least: if named { shape.least.min(width) } else { width },
            words,
            finished: false,
            footing: Footing::default(),
            blank: 0,
            header: kept_header,
            titles,
            aside: Vec::new(),
        };
        Ok((outline, text))
    }

    fn next(&mut self) -> Result<bool, Problem> {
        if let Some(record) = self.queue.pop_front() {
            self.record = record;
            return Ok(true);
        }
        let found = self.records.read(&mut self.record)?;
        self.fill_up_record();
        Ok(found)
    }

    /// Adds the empty fields that a program left out at the end of the line.
    fn fill_up_record(&mut self) {
        if self.record.len() >= self.least {
            self.record.fill_up(self.width);
        }
    }

    /// Moves on to the next row; false at the end. The piece has the rows before it.
    fn advance(
        &mut self,
        wanted: &Wanted<'_>,
        piece: &Piece,
        notes: &mut Vec<String>,
    ) -> Result<bool, Problem> {
        loop {
            if self.finished {
                return Ok(false);
            }
            if !std::mem::take(&mut self.pending) && !self.next()? {
                self.finished = true;
                self.tell_blank(notes);
                return Ok(false);
            }
            if let Some(found) = self.is_row(wanted, piece, notes)? {
                return Ok(found);
            }
        }
    }

    fn tell_blank(&self, notes: &mut Vec<String>) {
        for (what, times, line) in &self.aside {
            notes.push(match times {
                1 => format!("line {line} left out: {what}"),
                more => format!("{more} lines from line {line} on left out: {what}"),
            });
        }
        if self.blank > 0 {
            notes.push(format!("{} without a value left out", count(self.blank, "line")));
        }
    }

    /// Whether the record is a row; false for the end of the table, nothing for a record to be left out.
    fn is_row(
        &mut self,
        wanted: &Wanted<'_>,
        piece: &Piece,
        notes: &mut Vec<String>,
    ) -> Result<Option<bool>, Problem> {
        let (fits, empty) = (self.fits(&self.record), is_empty(&self.record));
        let total = is_total(&self.record);
        let named = total
            && (self.is_sum(&self.record.clone(), wanted, piece) || self.is_sum_of_group(wanted, piece));
        if fits && !empty && !named && !self.repeats_header() {
            return Ok(Some(true));
        }
        if self.queue.is_empty() && (fits || is_footer(&self.record)) && self.ends_here(wanted, piece)? {
            self.finished = true;
            if let Some(last) =
                std::iter::once(&self.record).chain(&self.queue).find(|record| !is_empty(record))
            {
                let lines = self.queue.len() + 1;
                let text: Vec<&str> = last.iter().filter(|field| !field.is_empty()).collect();
                let text = crate::error::shorten(&text.join(" "));
                notes.push(match lines {
                    1 => format!("line {} is below the table and left out: `{text}`", self.record.line),
                    _ => format!(
                        "{} from line {} on are below the table and left out: `{text}`",
                        count(lines, "line"),
                        self.record.line
                    ),
                });
            }
            self.tell_blank(notes);
            return Ok(Some(false));
        }
        if let Some(what) = self.is_aside(fits, wanted, piece) {
            let line = self.record.line;
            match self.aside.iter_mut().find(|(known, ..)| *known == what) {
                Some((_, times, _)) => *times += 1,
                None => self.aside.push((what, 1, line)),
            }
            return Ok(None);
        }
        match () {
            () if fits && empty => {
                self.blank += 1;
                Ok(None)
            }
            () if fits => Ok(Some(true)),
            () => Err(self.ragged(piece.first + piece.rows)),
        }
    }

    /// What a record among the rows is that is none of them: a comment, the header or a title of another page, a sum of a group.
    fn is_aside(&mut self, fits: bool, wanted: &Wanted<'_>, piece: &Piece) -> Option<&'static str> {
        if self.repeats_header() {
            return Some("the header again");
        }
        if !fits {
            let first = self.record.iter().next().unwrap_or_default();
            if first.starts_with('#') {
                return Some("a comment");
            }
            let letters = letters(&self.record.iter().collect::<String>());
            let again = !letters.is_empty() && self.titles.contains(&letters);
            return again.then_some("a title again");
        }
        if is_total(&self.record) && self.is_sum_of_group(wanted, piece) {
            self.footing.next_group(piece.first + piece.rows);
            return Some("a sum of the rows above");
        }
        None
    }

    /// Whether the record has the sums of the rows since the last sum.
    fn is_sum_of_group(&mut self, wanted: &Wanted<'_>, piece: &Piece) -> bool {
        let comma = self.words.comma;
        self.footing.add(&piece.cells, piece.rows, comma);
        let cells: Vec<&str> = wanted.columns.cells().map(|column| self.record.get(column)).collect();
        self.footing.is_of_group(&cells, piece.first + piece.rows, comma)
    }

    /// Whether a record is the header again, as at the top of each page of a list.
    fn repeats_header(&self) -> bool {
        let same = self.header.len() <= self.record.len() && !self.header.is_empty();
        same && self.header.iter().enumerate().all(|(i, name)| name == self.record.get(i))
    }

    /// Whether a record that is called a sum is one: of the rows before it, or with few other cells.
    fn is_sum(&mut self, record: &Record, wanted: &Wanted<'_>, piece: &Piece) -> bool {
        let filled = record.iter().filter(|field| !field.is_empty()).count();
        if 2 * filled.saturating_sub(1) < self.width {
            return true;
        }
        let comma = self.words.comma;
        self.footing.add(&piece.cells, piece.rows, comma);
        let cells: Vec<&str> = wanted.columns.cells().map(|column| record.get(column)).collect();
        self.footing.is_of(&cells, piece.first + piece.rows, comma)
    }

    /// Whether a record has as many fields as the table, but for empty ones behind them.
    fn fits(&self, record: &Record) -> bool {
        record.len() >= self.width && (self.width..record.len()).all(|i| record.get(i).is_empty())
    }

    /// Whether nothing but footers comes behind the record; what was read is in the queue.
    fn ends_here(&mut self, wanted: &Wanted<'_>, piece: &Piece) -> Result<bool, Problem> {
        for _ in 0..AHEAD {
            let mut record = Record::default();
            if !self.records.read(&mut record)? {
                return Ok(true);
            }
            if record.len() >= self.least {
                record.fill_up(self.width);
            }
            let named = self.fits(&record) && is_total(&record) && !self.is_sum(&record, wanted, piece);
            let footer = is_empty(&record) || (is_footer(&record) && !named);
            self.queue.push_back(record);
            if !footer {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// All lines that are too long or too short.
    fn ragged(&mut self, row: usize) -> Problem {
        let (at, expected, got) = (self.place(row), self.width, self.record.len());
        let mut more = Vec::new();
        while more.len() < NAMED {
            match self.next() {
                Ok(true) if !self.fits(&self.record) => more.push(self.record.line),
                Ok(true) => {}
                Ok(false) | Err(_) => break,
            }
        }
        Problem::Ragged { at, expected, got, more }
    }

    fn place(&self, row: usize) -> Place {
        Place { line: Some(self.record.line), row }
    }
}

impl Source for Text {
    fn read(&mut self, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem> {
        /// How many rows room is made for at a time.
        const ROOM: usize = 256;
        let columns = wanted.columns;
        let mut wrong = Vec::new();
        let mut notes = Vec::new();
        while piece.rows < wanted.limit && self.advance(wanted, piece, &mut notes)? {
            if piece.rows.is_multiple_of(ROOM) {
                piece.reserve(ROOM, columns)?;
            }
            let at = self.place(piece.first + piece.rows);
            for (cells, column) in piece.cells.iter_mut().zip(columns.cells()) {
                piece.letters += cells.text(self.record.get(column), &self.words);
            }
            if let Some(column) = columns.weights {
                match number(self.record.get(column), &self.words) {
                    Ok(weight) => piece.weights.push(weight),
                    Err(fault) if wrong.len() < NAMED => wrong.push(wanted.cell(at, column, fault)),
                    Err(_) => break,
                }
            }
            let copied = columns.id.into_iter().chain(columns.label);
            piece.letters += copied.map(|column| self.record.get(column).len()).sum::<usize>();
            piece.ids.extend(columns.id.map(|column| self.record.get(column).to_owned()));
            piece.labels.extend(columns.label.map(|column| self.record.get(column).to_owned()));
            piece.lines.push(self.record.line);
            piece.rows += 1;
        }
        if !self.finished {
            self.footing.add(&piece.cells, piece.rows, self.words.comma);
            self.footing.next_piece();
        }
        notes.extend(self.records.note());
        piece.notes.append(&mut notes);
        Problem::all(wrong)
    }
}

fn is_empty(record: &Record) -> bool {
    record.iter().all(str::is_empty)
}

/// Whether the first word of a record is one for a sum.
fn is_total(record: &Record) -> bool {
    is_word_for_total(record.iter().find(|field| !field.is_empty()).unwrap_or_default())
}

/// Whether a cell starts with a word for a sum.
pub(super) fn is_word_for_total(cell: &str) -> bool {
    const WORDS: [&str; 22] = [
        "total",
        "totals",
        "sum",
        "summe",
        "gesamt",
        "gesamtsumme",
        "insgesamt",
        "somme",
        "totaal",
        "totale",
        "suma",
        "grand",
        "subtotal",
        "subtotals",
        "sub-total",
        "zwischensumme",
        "teilsumme",
        "sous-total",
        "subtotaal",
        "subtotale",
        "razem",
        "итого",
    ];
    let word = cell.split([' ', ':', '(']).next().unwrap_or_default();
    WORDS.iter().any(|total| total.eq_ignore_ascii_case(word))
}

/// Whether a record is a remark and not a row that was cut off: a sum, or a single field that reads like a sentence.
fn is_footer(record: &Record) -> bool {
    let mut filled = record.iter().filter(|field| !field.is_empty());
    let (first, second) = (filled.next().unwrap_or_default(), filled.next());
    let sentence = first.contains(' ') || first.starts_with(['(', '*', '#', '-', '\u{a9}']);
    let end = ["EOF", "END", "TRAILER", "TRL"].contains(&first);
    is_total(record) || end || (second.is_none() && !is_number(first) && sentence)
}

/// Whether a first line is a row of numbers: values may be missing, but one must be there.
fn looks_like_data(record: &Record) -> bool {
    let missing = |field: &str| field.is_empty() || is_missing(field);
    record.iter().any(is_number) && record.iter().all(|field| is_number(field) || missing(field))
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok_and(|value| !value.is_nan())
}

/// Gives columns of one name different ones, as `a`, `a.1`, `a.2`; what was done, if anything was.
pub(crate) fn rename(names: &mut [String]) -> Option<String> {
    let mut taken: std::collections::HashSet<String> = names.iter().cloned().collect();
    let mut seen = std::collections::HashMap::new();
    let mut renamed = Vec::new();
    for name in names.iter_mut() {
        let copies = seen.entry(name.clone()).or_insert(0usize);
        if *copies > 0 {
            let mut number = *copies;
            while !taken.insert(format!("{name}.{number}")) {
                number += 1;
            }
            *name = format!("{name}.{number}");
            *copies = number;
            renamed.push(name.clone());
        }
        *copies += 1;
    }
    (!renamed.is_empty())
        .then(|| format!("columns of the same name are now called {}", super::list(&renamed)))
}
