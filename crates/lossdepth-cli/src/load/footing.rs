//! The sums of columns, to tell a row of sums below a table from a row that is only called so.

use super::cells::Cells;

/// The sums of the columns that are read, so far.
#[derive(Debug, Default)]
pub(super) struct Footing {
    sums: Vec<f64>,
    /// How many rows of the current piece are in them.
    rows: usize,
    /// The sums up to the last sum of a group, and how many rows are in them.
    before: Vec<f64>,
    rows_before: usize,
}

impl Footing {
    /// Adds the rows of a piece that were not added before.
    pub(super) fn add(&mut self, cells: &[Cells], rows: usize, comma: bool) {
        self.sums.resize(cells.len(), 0.0);
        for (sum, cells) in self.sums.iter_mut().zip(cells) {
            for row in self.rows..rows {
                *sum += cells.amount(row, comma).unwrap_or(0.0);
            }
        }
        self.rows = rows;
    }

    /// The rows that follow are those of another piece.
    pub(super) fn next_piece(&mut self) {
        self.rows = 0;
    }

    /// Rows from here on are those of another group.
    pub(super) fn next_group(&mut self, rows: usize) {
        (self.before, self.rows_before) = (self.sums.clone(), rows);
    }

    /// Whether cells within a table are the sums of the rows of their group, or of all so far: at least half of the numbers are.
    pub(super) fn is_of_group(&self, cells: &[&str], rows: usize, comma: bool) -> bool {
        let (mut sums, mut numbers) = (0, 0);
        for (at, (sum, cell)) in self.sums.iter().zip(cells).enumerate() {
            let Some(value) = amount(cell, comma) else { continue };
            numbers += 1;
            let before = self.before.get(at).copied().unwrap_or(0.0);
            let unit = unit(cell, comma);
            let close = |exact: f64| {
                (value - exact).abs() <= (1.0 + (rows as f64).sqrt() / 2.0) * unit + 1e-9 * sum.abs()
            };
            sums += usize::from((*sum != before && close(sum - before)) || (*sum != 0.0 && close(*sum)));
        }
        rows >= self.rows_before + 2 && sums > 0 && 2 * sums >= numbers
    }

    /// Whether cells below so many rows are their sums: one of the numbers is the sum of its column, or all are means.
    pub(super) fn is_of(&self, cells: &[&str], rows: usize, comma: bool) -> bool {
        let (mut sums, mut means, mut numbers) = (0, 0, 0);
        for (sum, cell) in self.sums.iter().zip(cells) {
            let Some(value) = amount(cell, comma) else { continue };
            numbers += 1;
            // What is shown was rounded, and so was each row: a random sum of that many roundings (heuristic).
            let unit = unit(cell, comma);
            let close = |exact: f64, units: f64| (value - exact).abs() <= units * unit + 1e-9 * exact.abs();
            sums += usize::from(*sum != 0.0 && close(*sum, 1.0 + (rows as f64).sqrt() / 2.0));
            means += usize::from(close(sum / rows as f64, 0.51));
        }
        rows >= 2 && (sums > 0 || (numbers > 0 && means == numbers))
    }
}

/// The number in a cell, whatever currency or unit is around it.
pub(super) fn amount(cell: &str, comma: bool) -> Option<f64> {
    let (decimal, thousands) = if comma { (',', '.') } else { ('.', ',') };
    // A dash for decimals that are 0 is no sign.
    let cell =
        cell.trim_end_matches(".-").trim_end_matches(",-").trim_end_matches(".–").trim_end_matches(",–");
    let negative = cell.contains(['-', '−']) || (cell.starts_with('(') && cell.ends_with(')'));
    let first = cell.find(|c: char| c.is_ascii_digit())?;
    let is_part =
        |c: char| c.is_ascii_digit() || c == decimal || c == thousands || c == '\'' || c.is_whitespace();
    let end = cell[first..].find(|c: char| !is_part(c)).map_or(cell.len(), |at| first + at);
    // Digits elsewhere: a date or a code.
    if cell[end..].contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let kept = cell[first..end].chars().filter(|c| c.is_ascii_digit() || *c == decimal);
    let digits: String = kept.map(|c| if c == decimal { '.' } else { c }).collect();
    digits.parse().ok().map(|value: f64| if negative { -value } else { value })
}

/// The size of the last digit of a number.
fn unit(cell: &str, comma: bool) -> f64 {
    let decimal = if comma { ',' } else { '.' };
    let decimals =
        cell.split_once(decimal).map_or(0, |(_, rest)| rest.bytes().filter(u8::is_ascii_digit).count());
    0.1f64.powi(i32::try_from(decimals).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::super::cells::Words;
    use super::*;

    #[test]
    fn amounts_in_cells() {
        for (cell, expected) in [
            ("$1,234.50", Some(1234.5)),
            ("(5.25)", Some(-5.25)),
            ("12 kg", Some(12.0)),
            ("-3%", Some(-3.0)),
            ("1'250.-", Some(1250.0)),
            ("2024-01-31", None),
            ("north", None),
            ("", None),
        ] {
            assert_eq!(amount(cell, false), expected, "{cell}");
        }
        assert_eq!(amount("1.234,50 €", true), Some(1234.5));
    }

    #[test]
    fn a_row_of_sums_adds_up() {
        let mut columns = [Cells::new(false), Cells::new(false)];
        for (a, b) in [("300", "$90.10"), ("240", "$70.20"), ("340", "$62.30")] {
            columns[0].text(a, &Words::default());
            columns[1].text(b, &Words::default());
        }
        let mut footing = Footing::default();
        footing.add(&columns, 2, false);
        footing.add(&columns, 3, false);
        assert!(footing.is_of(&["880", ""], 3, false));
        assert!(footing.is_of(&["5", "$222.60"], 3, false));
        assert!(footing.is_of(&["293", "$74.20"], 3, false));
        assert!(!footing.is_of(&["293", "$71"], 3, false));
        assert!(!footing.is_of(&["230", "$101"], 3, false));
        assert!(!footing.is_of(&["", ""], 3, false));
    }
}
