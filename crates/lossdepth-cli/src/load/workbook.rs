//! Workbooks: Excel (.xlsx, .xls, .xlsb) and OpenDocument. One sheet of them is the table; formulas have the values that
//! were saved with them.

use super::batches::guard;
use super::below_header;
use super::cells::{Cells, Words, is_missing};
use super::compound;
use super::footing::Footing;
use super::npz;
use super::open::{Input, Opened};
use super::table::{Header, Outline, Piece, Reading, Source, Wanted};
use super::text::is_word_for_total;
use crate::error::{Place, Problem, count, shorten};
use bytes::Bytes;
use calamine::{Data, Dimensions, Reader, SheetVisible, Sheets, open_workbook_auto_from_rs};
use std::io::Cursor;

const WORKBOOK: &str = "workbook";

/// The most that the parts of a workbook may unpack to.
const UNPACKED: u64 = 1 << 31;

/// The most cells between the first and the last one of a sheet.
const CELLS: u64 = 1 << 28;

/// The rows of a sheet.
struct Sheet {
    /// Each with its number in the sheet, from 1, as spreadsheets count.
    rows: Vec<(u64, Vec<Data>)>,
    done: usize,
    words: Words,
    told: bool,
}

pub(super) fn open(file: Bytes, reading: &Reading) -> Opened {
    if file.starts_with(b"PK") {
        let limit = lossdepth_files::memory::limit().map_or(UNPACKED, |limit| UNPACKED.min(limit / 8));
        npz::check(&Input::Memory(file.clone()), limit).map_err(|problem| match problem {
            Problem::Damaged { why, .. } => damaged(&why),
            Problem::Truncated | Problem::Gzip(_) => damaged("it ends too early, or cannot be unpacked"),
            other => other,
        })?;
    }
    if file.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
        compound::check(&file).map_err(damaged)?;
    }
    let mut workbook = guard(WORKBOOK, || open_workbook_auto_from_rs(Cursor::new(file)))?
        .map_err(|error| damaged(&error.to_string()))?;
    let (name, mut rows, first_line, others) = sheet(&mut workbook, reading.sheet.as_deref())?;
    let titles = titles(&rows, reading.skip);
    let mut notes = Vec::new();
    if !others.is_empty() && reading.sheet.is_none() {
        let others = super::list(&others);
        notes.push(format!("sheet `{}` is read; --sheet takes another: {others}", shorten(&name)));
    }
    if titles > 0 && reading.skip.is_none() {
        notes.push(format!("{} above the table left out; --skip 0 reads them", count(titles, "row")));
    }
    rows.drain(..titles);
    // What is empty at the end is not part of the table.
    while rows.last().is_some_and(|row| row.iter().all(is_gap)) {
        rows.pop();
    }
    let mut rows: Vec<(u64, Vec<Data>)> = (first_line + titles as u64..).zip(rows).collect();
    // Nor is a row without a value between the others.
    let all = rows.len();
    rows.retain(|(_, row)| !row.iter().all(is_gap));
    if rows.len() < all {
        notes.push(format!("{} without a value left out", count(all - rows.len(), "row")));
    }
    // A sum below the table is not a row of it.
    if let [first, above @ .., (line, last)] = &rows[..]
        && !above.is_empty()
        && is_sum(&first.1, above, last)
    {
        notes.push(format!("row {line} is below the table and left out: a sum"));
        rows.pop();
    }
    let whole =
        |rows: &[(u64, Vec<Data>)]| -> Vec<Vec<Data>> { rows.iter().map(|(_, row)| row.clone()).collect() };
    let last = whole(&rows[rows.len().saturating_sub(10)..]);
    let remarks = below_header::remarks(&last.iter().map(Vec::as_slice).collect::<Vec<_>>());
    if remarks > 0 {
        notes.push(format!("{} below the table left out: remarks", count(remarks, "row")));
        rows.truncate(rows.len() - remarks);
    }
    let Some((_, first)) = rows.first() else { return Err(Problem::Empty) };
    let width = rows.iter().map(|(_, row)| used(row)).max().unwrap_or(0).min(first.len().max(1));
    if width == 0 {
        return Err(Problem::Empty);
    }
    let named = match reading.header {
        Header::Detect => !first.iter().take(width).all(is_datum),
        Header::Yes => true,
        Header::No => false,
    };
    let mut below = below_header::Below::default();
    if named && reading.header == Header::Detect {
        let head = whole(&rows[1..rows.len().min(210)]);
        below = below_header::below(&first[..width], &head.iter().map(Vec::as_slice).collect::<Vec<_>>());
    }
    let said = |texts: &[String]| {
        shorten(&texts.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(" "))
    };
    if !below.names.is_empty() {
        notes.push(format!("the row below the header has names too: `{}`", said(&below.names)));
    }
    if !below.units.is_empty() {
        notes.push(format!("a row below the header says units and is left out: `{}`", said(&below.units)));
    }
    let joined = below_header::joined(&first[..width], &below.names);
    let name = |column: usize| match &first[column] {
        _ if !below.names.is_empty() && !joined[column].is_empty() => {
            joined[column].replace(['\n', '\r'], " ")
        }
        cell if named && !is_gap(cell) => text(cell).replace(['\n', '\r'], " ").trim().to_owned(),
        _ => column.to_string(),
    };
    let names: Vec<String> = (0..width).map(name).collect();
    let mut outline = Outline::new(names, named);
    outline.notes.splice(0..0, notes);
    outline.untyped = true;
    outline.decimal = reading.decimal;
    rows.drain(..usize::from(named) + below.rows);
    let words = Words { gaps: reading.gaps.clone(), comma: reading.decimal == Some(',') };
    let sheet = Sheet { rows, done: 0, words, told: false };
    Ok((outline, Box::new(sheet)))
}

/// Whether a row that starts with a word for a sum is one: of the rows above it, or with few other cells. The first row may be
/// a header, whose cells are no numbers.
fn is_sum(first: &[Data], above: &[(u64, Vec<Data>)], last: &[Data]) -> bool {
    let label = last.iter().find(|cell| !is_gap(cell));
    if !label.is_some_and(|cell| matches!(cell, Data::String(text) if is_word_for_total(text.trim()))) {
        return false;
    }
    let width = used(first).max(used(last));
    if 2 * last.iter().filter(|cell| !is_gap(cell)).count().saturating_sub(1) < width {
        return true;
    }
    let mut columns: Vec<Cells> = (0..width).map(|_| Cells::new(false)).collect();
    let mut rows = above.len();
    let own = (!first.iter().any(|cell| matches!(cell, Data::String(_)))).then_some(first);
    rows += usize::from(own.is_some());
    for row in own.into_iter().chain(above.iter().map(|(_, row)| &row[..])) {
        for (cells, cell) in columns.iter_mut().zip(row) {
            match cell {
                Data::Int(value) => cells.number(*value as f64),
                Data::Float(value) => cells.number(*value),
                Data::String(text) => {
                    cells.word(text.trim());
                }
                _ => cells.gap(),
            }
        }
    }
    let mut footing = Footing::default();
    footing.add(&columns, rows, false);
    let shown: Vec<String> = last.iter().take(width).map(text).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    footing.is_of(&shown, rows, false)
}

/// Whether rows are a table, and no cover: two values below one another, or ten rows of two cells (heuristic).
fn is_table(rows: &[Vec<Data>]) -> bool {
    let filled: Vec<&Vec<Data>> =
        rows.iter().filter(|row| row.iter().filter(|cell| !is_gap(cell)).count() >= 2).collect();
    let width = rows.iter().map(|row| used(row)).max().unwrap_or(0);
    // A single column is a table too.
    let rows: Vec<&Vec<Data>> = if width == 1 { rows.iter().collect() } else { filled };
    let has_values = |column: usize| {
        let is_value =
            |row: &&&Vec<Data>| row.get(column).is_some_and(|cell| !is_gap(cell) && is_datum(cell));
        rows.iter().filter(is_value).count() >= 2
    };
    rows.len() >= 3 && (rows.len() >= 10 || (0..width).any(has_values))
}

type Rows = (String, Vec<Vec<Data>>, u64, Vec<String>);

/// The sheet asked for, or the first one with a table, or else with something in it, hidden ones last: its name, its rows, the number of the first row, and the
/// names of the other sheets.
fn sheet(workbook: &mut Sheets<Cursor<Bytes>>, asked: Option<&str>) -> Result<Rows, Problem> {
    let names = workbook.sheet_names();
    let chosen = match asked {
        None => None,
        Some(asked) => {
            let by_number =
                || asked.parse().ok().and_then(|n: usize| n.checked_sub(1)).filter(|n| *n < names.len());
            let found = names.iter().position(|name| name == asked).or_else(by_number);
            let missing = || format!("no sheet `{}`; there are {}", shorten(asked), super::list(&names));
            Some(found.ok_or_else(|| Problem::Unsupported(missing()))?)
        }
    };
    let is_hidden = |name: &String| {
        workbook.sheets_metadata().iter().any(|s| s.name == *name && s.visible != SheetVisible::Visible)
    };
    let hidden: Vec<bool> = names.iter().map(is_hidden).collect();
    let mut order: Vec<usize> = (0..names.len()).filter(|n| chosen.is_none_or(|c| c == *n)).collect();
    order.sort_by_key(|number| hidden[*number]);
    let mut found = None;
    for number in order {
        let name = &names[number];
        let (rows, start) = cells(workbook, name)?;
        let table = is_table(&rows);
        if table || (found.is_none() && rows.iter().flatten().any(|cell| !is_gap(cell))) {
            found = Some((number, rows, start));
        }
        if table {
            break;
        }
    }
    let Some((number, rows, start)) = found else { return Err(Problem::Empty) };
    let others = names.iter().enumerate().filter(|(other, _)| *other != number);
    let others = others.map(|(_, name)| name.clone()).collect();
    Ok((names[number].clone(), rows, u64::from(start) + 1, others))
}

/// The cells of a sheet from its first used row and column on, and the number of that row.
fn cells(workbook: &mut Sheets<Cursor<Bytes>>, name: &str) -> Result<(Vec<Vec<Data>>, u32), Problem> {
    // A cell far away would take all the cells between: the streaming reader tells where cells are first.
    if let Sheets::Xlsx(workbook) = workbook {
        // Not all that can be read of a sheet depends on it: without them cells stay as they are.
        let merged = guard(WORKBOOK, || workbook.merge_cells_by_sheet_name(name).unwrap_or_default())?;
        let found = guard(WORKBOOK, || {
            let mut reader = workbook.worksheet_cells_reader(name).map_err(|error| error.to_string())?;
            let (mut low, mut high, mut cells) = ((u32::MAX, u32::MAX), (0, 0), Vec::new());
            while let Some(cell) = reader.next_cell().map_err(|error| error.to_string())? {
                let (row, column) = cell.get_position();
                let value = Data::from(cell.get_value().clone());
                if !is_gap(&value) {
                    low = (low.0.min(row), low.1.min(column));
                    high = (high.0.max(row), high.1.max(column));
                    cells.push((row, column, value));
                }
            }
            Ok::<_, String>((low, high, cells))
        })?;
        let (low, high, found) = found.map_err(|why| damaged(&why))?;
        if found.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let (height, width) = (u64::from(high.0 - low.0) + 1, u64::from(high.1 - low.1) + 1);
        if height * width > CELLS || height * width > 1000 * (found.len() as u64 + 1000) {
            return Err(Problem::Unsupported(format!(
                "sheet `{}` has cells far apart: {height} rows of {width} columns for {} cells",
                shorten(name),
                found.len()
            )));
        }
        let to = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let mut rows = vec![vec![Data::Empty; to(width)]; to(height)];
        for (row, column, value) in found {
            rows[(row - low.0) as usize][(column - low.1) as usize] = value;
        }
        fill_merged(&mut rows, low, &merged);
        return Ok((rows, low.0));
    }
    let range =
        guard(WORKBOOK, || workbook.worksheet_range(name))?.map_err(|error| damaged(&error.to_string()))?;
    let low = range.start().unwrap_or((0, 0));
    let mut rows: Vec<Vec<Data>> = range.rows().map(<[Data]>::to_vec).collect();
    if let Sheets::Xls(workbook) = workbook {
        fill_merged(&mut rows, low, &workbook.merge_cells_by_sheet_name(name).unwrap_or_default());
    }
    Ok((rows, low.0))
}

/// Cells merged over several rows have their value in each of them: a group's name is written once. The first used cell is at
/// `low`.
fn fill_merged(rows: &mut [Vec<Data>], low: (u32, u32), merged: &[Dimensions]) {
    for Dimensions { start, end } in merged {
        let (Some(first), Some(column)) = (start.0.checked_sub(low.0), start.1.checked_sub(low.1)) else {
            continue;
        };
        let (first, column) = (first as usize, column as usize);
        let Some(value) = rows.get(first).and_then(|row| row.get(column)).cloned() else { continue };
        let last = (end.0.saturating_sub(low.0) as usize).min(rows.len() - 1);
        for row in rows.iter_mut().take(last + 1).skip(first + 1) {
            if let Some(cell) = row.get_mut(column).filter(|cell| is_gap(cell)) {
                *cell = value.clone();
            }
        }
    }
}

/// How many cells a row has up to the last one with something in it.
fn used(row: &[Data]) -> usize {
    row.iter().rposition(|cell| !is_gap(cell)).map_or(0, |last| last + 1)
}

fn is_gap(cell: &Data) -> bool {
    match cell {
        Data::Empty => true,
        Data::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// Whether a cell is a value and no name: a number, a date, a truth value, or nothing.
fn is_datum(cell: &Data) -> bool {
    match cell {
        Data::String(text) => {
            text.trim().is_empty() || is_missing(text.trim()) || text.trim().parse::<f64>().is_ok()
        }
        _ => true,
    }
}

/// How many rows are above the header.
fn titles(rows: &[Vec<Data>], skip: Option<u64>) -> usize {
    if let Some(skip) = skip {
        return usize::try_from(skip).unwrap_or(usize::MAX).min(rows.len());
    }
    let filled = |row: &[Data]| row.iter().filter(|cell| !is_gap(cell)).count();
    let most = rows.iter().take(60).map(|row| filled(row)).max().unwrap_or(0);
    // Lines at most half full above texts in every column, and values below these, are titles of several cells.
    let header = rows.iter().take(60).position(|row| 2 * filled(row) > most).filter(|&first| {
        let is_name = |cell: &Data| matches!(cell, Data::String(_) if !is_datum(cell));
        let named = rows[first].iter().filter(|cell| is_name(cell)).count();
        let below =
            rows.get(first + 1).is_some_and(|row| row.iter().any(|cell| !is_gap(cell) && is_datum(cell)));
        most >= 3 && named == filled(&rows[first]) && named + usize::from(most > 3) >= most && below
    });
    if let Some(header) = header {
        return header;
    }
    // A title is one cell or two, or nothing, above a table that is wider.
    let is_title = |row: &Vec<Data>| {
        filled(row) == 0 || (most >= 3 && filled(row) <= 1) || (most >= 5 && filled(row) <= 2)
    };
    rows.iter().position(|row| !is_title(row)).unwrap_or(0)
}

/// A cell as a text.
fn text(cell: &Data) -> String {
    match cell {
        Data::Empty => String::new(),
        Data::String(text) => text.trim().to_owned(),
        Data::DateTime(time) if time.is_datetime() => super::cells::moment(seconds(time)),
        Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A date of Excel in seconds since the beginning of 1970. The year 1900 was no leap year, but Excel takes it for one.
fn seconds(time: &calamine::ExcelDateTime) -> f64 {
    /// The day of 1970-01-01, counted from the day before 1900-01-01 with the day that was not.
    const EPOCH: f64 = 25569.0;
    const SHIFT_1904: f64 = 1462.0;
    let serial = time.as_f64();
    // The year tells which epoch it is: both are four years and a day apart.
    let plain = calamine::ExcelDateTime::new(serial, calamine::ExcelDateTimeType::DateTime, false);
    let shift = if plain.to_ymd_hms_milli().0 == time.to_ymd_hms_milli().0 { 0.0 } else { SHIFT_1904 };
    let days = serial + shift;
    let days = if shift == 0.0 && days < 60.0 { days + 1.0 } else { days };
    // To the millisecond, which is what Excel shows.
    ((days - EPOCH) * 86_400_000.0).round() / 1000.0
}

impl Sheet {
    fn add(&self, cells: &mut Cells, cell: &Data) -> usize {
        match cell {
            Data::Int(value) => cells.number(*value as f64),
            Data::Float(value) => cells.number(*value),
            Data::Bool(value) => cells.boolean(*value),
            Data::DateTime(time) if time.is_datetime() && time.as_f64() >= 1.0 => cells.time(seconds(time)),
            // A length of time, or a time of the day: a number of days in Excel.
            Data::DateTime(time) => cells.number(time.as_f64()),
            Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => {
                return cells.text(text.trim(), &self.words);
            }
            Data::Error(_) | Data::Empty => cells.gap(),
        }
        0
    }
}

impl Source for Sheet {
    fn read(&mut self, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem> {
        let columns = wanted.columns;
        let end = self.rows.len().min(self.done.saturating_add(wanted.limit));
        piece.reserve(end - self.done, columns)?;
        let (mut wrong, mut errors) = (Vec::new(), Vec::new());
        for number in self.done..end {
            let (line, row) = (self.rows[number].0, &self.rows[number].1);
            let at = Place { line: Some(line), row: number };
            for (cells, column) in piece.cells.iter_mut().zip(columns.cells()) {
                piece.letters += self.add(cells, &row[column]);
            }
            for &column in &columns.features {
                if let Data::Error(error) = &row[column] {
                    errors
                        .push(format!("{error} in row {line}, column `{}`", shorten(&wanted.names[column])));
                }
            }
            if let Some(column) = columns.weights {
                match super::cells::number(&text(&row[column]), &self.words) {
                    Ok(weight) => piece.weights.push(weight),
                    Err(fault) => wrong.push(wanted.cell(at, column, fault)),
                }
            }
            piece.ids.extend(columns.id.map(|column| text(&row[column])));
            piece.labels.extend(columns.label.map(|column| text(&row[column])));
            piece.lines.push(line);
            piece.rows += 1;
        }
        self.done = end;
        if let (Some(first), false) = (errors.first(), self.told) {
            self.told = true;
            piece.notes.push(match errors.len() {
                1 => format!("an error of a formula is a gap: {first}"),
                n => format!("{n} errors of formulas are gaps, the first {first}"),
            });
        }
        Problem::all(wrong)
    }
}

fn damaged(why: &str) -> Problem {
    Problem::Damaged { format: WORKBOOK, why: why.to_owned() }
}
