//! Rows of which only the numbers other than 0 are stored.

use crate::error::{DepthError, Result};
use std::cmp::Ordering;

/// Rows in compressed form (CSR): for each row its columns with a number other than 0, and these numbers.
///
/// ```
/// use lossdepth::data::SparseRows;
/// // (0, 2, 0, 0) and (1, 0, 0, 3).
/// let rows = SparseRows::new(vec![0, 1, 3], vec![1, 0, 3], vec![2.0, 1.0, 3.0], 4)?;
/// assert_eq!((rows.len(), rows.width(), rows.nonzeros()), (2, 4, 3));
/// assert_eq!(rows.row(1), (&[0, 3][..], &[1.0, 3.0][..]));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    width: usize,
}

impl SparseRows {
    /// Row `i` has the numbers `values[starts[i]..starts[i + 1]]` in the `columns` at the same places, which increase within
    /// a row. Stored zeros are dropped.
    ///
    /// # Errors
    /// No column, or more than a 32-bit number counts; starts, columns and values that do not go together; columns that do not
    /// increase within a row or are beyond the width; a number that is not finite or too large.
    pub fn new(starts: Vec<usize>, columns: Vec<u32>, values: Vec<f64>, width: usize) -> Result<Self> {
        if width == 0 {
            return Err(DepthError::NoColumns);
        }
        if u32::try_from(width).is_err() {
            return Err(table(format!("sparse rows of {width} columns, expected at most {}", u32::MAX)));
        }
        let (first, last) = (starts.first().copied(), starts.last().copied());
        if first != Some(0) || !starts.is_sorted() || last != Some(columns.len()) {
            return Err(table(
                "the starts of sparse rows must increase from 0 to the number of columns stored",
            ));
        }
        if columns.len() != values.len() {
            return Err(table(format!(
                "{} columns for {} numbers of sparse rows",
                columns.len(),
                values.len()
            )));
        }
        for row in 0..starts.len() - 1 {
            let range = starts[row]..starts[row + 1];
            let own = &columns[range.clone()];
            if let Some(pair) = own.windows(2).find(|pair| pair[0] >= pair[1]) {
                let [a, b] = [pair[0], pair[1]];
                return Err(table(format!("row {row}: column {b} after {a}, expected increasing columns")));
            }
            if let Some(&column) = own.last().filter(|column| **column as usize >= width) {
                return Err(table(format!("row {row} has column {column}, expected columns below {width}")));
            }
            let wrong = |v: &&f64| v.is_nan() || v.abs() > 1e100;
            if let Some((&value, &column)) = values[range].iter().zip(own).find(|(value, _)| wrong(value)) {
                let column = column as usize;
                return Err(if value.is_finite() {
                    DepthError::TooLarge { row, column, value }
                } else {
                    DepthError::NotFinite { row, column, value }
                });
            }
        }
        let rows = Self { starts, columns, values, width };
        Ok(if rows.values.contains(&0.0) { rows.without_zeros() } else { rows })
    }

    fn without_zeros(self) -> Self {
        let mut kept = Self { starts: vec![0], columns: Vec::new(), values: Vec::new(), width: self.width };
        for (columns, values) in self.iter() {
            for (column, value) in columns.iter().zip(values).filter(|(_, value)| **value != 0.0) {
                kept.columns.push(*column);
                kept.values.push(*value);
            }
            kept.starts.push(kept.columns.len());
        }
        kept
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many numbers are stored.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// The columns of row `i` with a number other than 0, and the numbers.
    ///
    /// # Panics
    /// If there are not that many rows.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u32], &[f64])> {
        (0..self.len()).map(|i| self.row(i))
    }

    /// Where each row begins among the stored numbers, and where the last one ends.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The columns of all stored numbers.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// All stored numbers.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Some of the rows.
    pub(crate) fn chosen(&self, rows: &[usize]) -> Self {
        let mut chosen = Self { starts: vec![0], columns: Vec::new(), values: Vec::new(), width: self.width };
        for &i in rows {
            let (columns, values) = self.row(i);
            chosen.columns.extend_from_slice(columns);
            chosen.values.extend_from_slice(values);
            chosen.starts.push(chosen.columns.len());
        }
        chosen
    }

    /// How rows `a` and `b` compare number by number, in the order of the columns.
    pub(crate) fn compare(&self, a: usize, b: usize) -> Ordering {
        let ((ca, va), (cb, vb)) = (self.row(a), self.row(b));
        let (mut i, mut j) = (0, 0);
        while i < ca.len() || j < cb.len() {
            let (a, b) = (ca.get(i).copied().unwrap_or(u32::MAX), cb.get(j).copied().unwrap_or(u32::MAX));
            let x = if a <= b { va[i] } else { 0.0 };
            let y = if b <= a { vb[j] } else { 0.0 };
            let order = x.total_cmp(&y);
            if order.is_ne() {
                return order;
            }
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
        Ordering::Equal
    }

    /// The rows and numbers of each column: where each column begins, then row and number of each entry, rows increasing.
    pub(crate) fn by_column(&self) -> (Vec<usize>, Vec<(u32, f64)>) {
        let mut starts = vec![0; self.width + 1];
        self.columns.iter().for_each(|&column| starts[column as usize + 1] += 1);
        for column in 0..self.width {
            starts[column + 1] += starts[column];
        }
        let (mut next, mut entries) = (starts.clone(), vec![(0, 0.0); self.values.len()]);
        for (row, (columns, values)) in (0u32..).zip(self.iter()) {
            for (column, value) in columns.iter().zip(values) {
                let place = &mut next[*column as usize];
                entries[*place] = (row, *value);
                *place += 1;
            }
        }
        (starts, entries)
    }
}

fn table(reason: impl Into<String>) -> DepthError {
    DepthError::Table(reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_go_together_is_refused() {
        let ok = SparseRows::new(vec![0, 1, 2], vec![2, 0], vec![1.0, 0.0], 3).unwrap();
        // A stored zero is none.
        assert_eq!((ok.nonzeros(), ok.starts()), (1, &[0, 1, 1][..]));
        let message = |starts: &[usize], columns: &[u32], values: &[f64], width| {
            SparseRows::new(starts.to_vec(), columns.to_vec(), values.to_vec(), width)
                .unwrap_err()
                .to_string()
        };
        assert!(message(&[0, 0], &[], &[], 0).contains("no columns"));
        assert!(message(&[], &[], &[], 3).contains("starts"));
        assert!(message(&[0, 2, 1], &[0], &[1.0], 3).contains("starts"));
        assert!(message(&[0, 1], &[0], &[], 3).contains("1 columns for 0 numbers"));
        assert!(message(&[0, 2], &[1, 1], &[1.0, 2.0], 3).contains("increasing"));
        assert!(message(&[0, 1], &[3], &[1.0], 3).contains("columns below 3"));
        let nan = message(&[0, 1, 2], &[2, 1], &[1.0, f64::NAN], 3);
        assert_eq!(nan, "row 1, column 1 is not finite (NaN)");
        assert!(message(&[0, 1], &[2], &[1e101], 3).contains("too large"));
    }

    #[test]
    fn rows_compare_as_dense_ones() {
        let dense = [[0.0, 1.0, 0.0], [0.0, 1.0, -2.0], [0.0, 0.0, 5.0], [0.0; 3], [-1.0, 9.0, 9.0]];
        let mut parts = (vec![0], Vec::new(), Vec::new());
        for row in dense {
            for (column, value) in (0u32..).zip(row).filter(|(_, value)| *value != 0.0) {
                parts.1.push(column);
                parts.2.push(value);
            }
            parts.0.push(parts.1.len());
        }
        let rows = SparseRows::new(parts.0, parts.1, parts.2, 3).unwrap();
        for (i, a) in dense.iter().enumerate() {
            for (j, b) in dense.iter().enumerate() {
                assert_eq!(rows.compare(i, j), a.partial_cmp(b).unwrap(), "{i} {j}");
            }
        }
    }
}
