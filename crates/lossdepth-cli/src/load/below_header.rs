//! Rows of a sheet that belong to its header or its foot: names in a second line, units, remarks.

use super::cells::is_missing;
use calamine::Data;

/// At most so many rows below the header, or at the end, are none of the table.
const MOST: usize = 3;

/// So many rows with a value tell that a column holds values.
const ROWS: usize = 5;

/// What of the rows below a header is part of it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Below {
    /// What a second line adds to the names, for each column; empty if there is none.
    pub(super) names: Vec<String>,
    /// The units, if there is a line of them.
    pub(super) units: Vec<String>,
    /// How many rows are none of the table.
    pub(super) rows: usize,
}

/// The rows below a header that have texts, and no value, in the columns of values: names, if the header lacks some of those that
/// they have, then units.
pub(super) fn below(header: &[Data], rows: &[&[Data]]) -> Below {
    let mut found = Below::default();
    let Some(under) = rows.get(MOST..).filter(|under| under.len() >= ROWS) else { return found };
    let width = header.len();
    let cell = |row: &[Data], column: usize| row.get(column).cloned().unwrap_or(Data::Empty);
    let values: Vec<usize> = (0..width)
        .filter(|&column| {
            let count = under.iter().take(200).filter(|row| is_value(&cell(row, column))).count();
            let texts = under.iter().take(200).filter(|row| is_text(&cell(row, column))).count();
            count >= ROWS && texts == 0
        })
        .collect();
    for row in &rows[..MOST] {
        let none_is_value = !row.iter().any(is_value);
        let said = values.iter().filter(|&&column| is_text(&cell(row, column))).count();
        let lacking = |column: &usize| is_empty(&header[*column]) && is_text(&cell(row, *column));
        let second = found.rows == 0 && said > 0 && (0..width).any(|column| lacking(&column));
        let units = values.len() >= 2 && 2 * said >= values.len();
        if !none_is_value || !(second || units) {
            break;
        }
        let texts: Vec<String> =
            (0..width).map(|column| cell(row, column).to_string().trim().to_owned()).collect();
        found.rows += 1;
        if second {
            found.names = texts;
        } else {
            found.units = texts;
        }
    }
    found
}

/// The names of a header and of the line below it: `Pressure high` and `Pressure low` of `Pressure` over two columns.
pub(super) fn joined(header: &[Data], second: &[String]) -> Vec<String> {
    let mut group = String::new();
    let mut names = Vec::new();
    for (column, cell) in header.iter().enumerate() {
        let own = second.get(column).map_or("", String::as_str);
        if !is_empty(cell) {
            cell.to_string().trim().clone_into(&mut group);
        } else if own.is_empty() {
            group.clear();
        }
        names.push(
            [group.as_str(), own]
                .iter()
                .filter(|text| !text.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    names
}

/// How many rows at the end are remarks: one cell with several words.
pub(super) fn remarks(rows: &[&[Data]]) -> usize {
    let is_remark = |row: &&&[Data]| {
        let mut filled = row.iter().filter(|cell| !is_empty(cell));
        let first = filled.next().map(ToString::to_string).unwrap_or_default();
        row.len() >= 3 && filled.next().is_none() && first.trim().contains(' ')
    };
    let count = rows.iter().rev().take_while(is_remark).count();
    // A table may consist of such rows.
    if count <= MOST && count + ROWS <= rows.len() { count } else { 0 }
}

fn is_empty(cell: &Data) -> bool {
    match cell {
        Data::Empty => true,
        Data::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// Whether a cell has a number, a date or a truth value.
fn is_value(cell: &Data) -> bool {
    match cell {
        Data::Empty | Data::Error(_) => false,
        Data::String(text) => text.trim().parse::<f64>().is_ok_and(|value| !value.is_nan()),
        _ => true,
    }
}

fn is_text(cell: &Data) -> bool {
    !is_empty(cell) && !is_value(cell) && !matches!(cell, Data::String(text) if is_missing(text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<Data> {
        let cell = |text: &&str| match text.parse::<f64>() {
            Ok(number) => Data::Float(number),
            Err(_) if text.is_empty() => Data::Empty,
            Err(_) => Data::String((*text).to_owned()),
        };
        cells.iter().map(cell).collect()
    }

    #[test]
    fn a_second_line_of_names_and_a_line_of_units() {
        let header = row(&["Subject", "Pressure", "", "Pulse", "Arm"]);
        let mut rows = vec![row(&["", "high", "low", "", ""]), row(&["", "mmHg", "mmHg", "bpm", ""])];
        rows.extend((0..9).map(|_| row(&["A", "120", "80", "70", "x"])));
        let rows: Vec<&[Data]> = rows.iter().map(Vec::as_slice).collect();
        let found = below(&header, &rows);
        assert_eq!((found.rows, found.units[1].as_str()), (2, "mmHg"));
        assert_eq!(
            joined(&header, &found.names),
            ["Subject", "Pressure high", "Pressure low", "Pulse", "Arm"]
        );
        // Rows of the table are none.
        assert_eq!(below(&header, &rows[2..]), Below::default());
        assert_eq!(below(&header, &rows[..6]), Below::default());
    }

    #[test]
    fn remarks_below_a_table() {
        let mut rows: Vec<Vec<Data>> = (0..9).map(|_| row(&["A", "120", "80"])).collect();
        rows.push(row(&["* as reported by the investigator", "", ""]));
        let rows: Vec<&[Data]> = rows.iter().map(Vec::as_slice).collect();
        assert_eq!((remarks(&rows), remarks(&rows[..9])), (1, 0));
    }
}
