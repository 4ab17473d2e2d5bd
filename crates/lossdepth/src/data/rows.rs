//! A borrowed table of numbers, one row a point.

use crate::error::{DepthError, Result};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};

/// Row-major numbers, borrowed: `len` rows of `width` columns each.
///
/// ```
/// use lossdepth::Rows;
/// let numbers = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
/// let rows = Rows::new(&numbers, 2)?;
/// assert_eq!((rows.len(), rows.row(2)), (3, &[4.0, 5.0][..]));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    data: &'a [f64],
    width: usize,
}

impl<'a> Rows<'a> {
    /// Reads `data` as rows of `width` numbers.
    ///
    /// # Errors
    /// If `width` is 0 or does not divide the length of `data`.
    pub fn new(data: &'a [f64], width: usize) -> Result<Self> {
        if width == 0 {
            return Err(DepthError::NoColumns);
        }
        let ragged = data.len() % width;
        if ragged != 0 {
            return Err(DepthError::Dimension { row: data.len() / width, expected: width, got: ragged });
        }
        Ok(Self { data, width })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.data.len() / self.width
    }

    /// Whether there is no row at all.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// How many columns each row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there are not that many rows.
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.data[i * self.width..(i + 1) * self.width]
    }

    /// All rows in order.
    pub fn iter(&self) -> std::slice::ChunksExact<'a, f64> {
        self.data.chunks_exact(self.width)
    }

    /// The numbers behind the rows.
    pub fn as_slice(&self) -> &'a [f64] {
        self.data
    }

    /// The rows from `start` up to, not including, `end`.
    #[must_use]
    pub fn range(&self, start: usize, end: usize) -> Rows<'a> {
        Rows { data: &self.data[start * self.width..end * self.width], width: self.width }
    }

    /// Checks that every number is finite and at most 1e100 in size, and names the first that is not.
    ///
    /// # Errors
    /// [`DepthError::NotFinite`] or [`DepthError::TooLarge`] with row and column.
    pub fn check_finite(&self) -> Result<()> {
        // NaN fails the comparison too, so one test finds everything that is wrong.
        let wrong = |v: &f64| v.is_nan() || v.abs() > 1e100;
        // All of them without a branch is faster than looking for the first.
        if !self.data.iter().fold(false, |any, v| any | wrong(v)) {
            return Ok(());
        }
        let Some(at) = self.data.iter().position(wrong) else { return Ok(()) };
        let (row, column, value) = (at / self.width, at % self.width, self.data[at]);
        Err(if value.is_finite() {
            DepthError::TooLarge { row, column, value }
        } else {
            DepthError::NotFinite { row, column, value }
        })
    }

    /// How many rows are the same as an earlier one, as far as 128 bits of a hash tell.
    ///
    /// ```
    /// use lossdepth::Rows;
    /// let numbers = [1.0, 2.0, 1.0, 3.0, 1.0, 2.0];
    /// assert_eq!(Rows::new(&numbers, 2)?.repeated(), 1);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    pub fn repeated(&self) -> usize {
        let hash = |row: &[f64], salt: u8| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(salt);
            for value in row {
                hasher.write_u64(value.to_bits());
            }
            hasher.finish()
        };
        let mut seen = HashSet::new();
        let is_new = |row: &[f64]| seen.insert((hash(row, 0), hash(row, 1)));
        self.len() - self.iter().map(is_new).filter(|new| *new).count()
    }
}

impl<'a> IntoIterator for &Rows<'a> {
    type Item = &'a [f64];
    type IntoIter = std::slice::ChunksExact<'a, f64>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for Rows<'a> {
    type Item = &'a [f64];
    type IntoIter = std::slice::ChunksExact<'a, f64>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Things that hold rows of numbers: [`Rows`], slices of vectors, slices of arrays.
pub trait AsRows {
    /// Calls `f` with the rows laid out one after the other.
    ///
    /// # Errors
    /// If the rows differ in width or have none, or what `f` returns.
    fn with_rows<R>(&self, f: impl FnOnce(Rows<'_>) -> Result<R>) -> Result<R>;
}

impl AsRows for Rows<'_> {
    fn with_rows<R>(&self, f: impl FnOnce(Rows<'_>) -> Result<R>) -> Result<R> {
        f(*self)
    }
}

impl AsRows for [Vec<f64>] {
    fn with_rows<R>(&self, f: impl FnOnce(Rows<'_>) -> Result<R>) -> Result<R> {
        let expected = self.first().map_or(0, Vec::len);
        if let Some((row, v)) = self.iter().enumerate().find(|(_, v)| v.len() != expected) {
            return Err(DepthError::Dimension { row, expected, got: v.len() });
        }
        f(Rows::new(&self.concat(), expected)?)
    }
}

impl AsRows for Vec<Vec<f64>> {
    fn with_rows<R>(&self, f: impl FnOnce(Rows<'_>) -> Result<R>) -> Result<R> {
        self.as_slice().with_rows(f)
    }
}

impl<const D: usize> AsRows for [[f64; D]] {
    fn with_rows<R>(&self, f: impl FnOnce(Rows<'_>) -> Result<R>) -> Result<R> {
        f(Rows::new(self.as_flattened(), D)?)
    }
}

impl<const D: usize, const N: usize> AsRows for [[f64; D]; N] {
    fn with_rows<R>(&self, f: impl FnOnce(Rows<'_>) -> Result<R>) -> Result<R> {
        self.as_slice().with_rows(f)
    }
}

impl<const N: usize> AsRows for [Vec<f64>; N] {
    fn with_rows<R>(&self, f: impl FnOnce(Rows<'_>) -> Result<R>) -> Result<R> {
        self.as_slice().with_rows(f)
    }
}

impl<T: AsRows + ?Sized> AsRows for &T {
    fn with_rows<R>(&self, f: impl FnOnce(Rows<'_>) -> Result<R>) -> Result<R> {
        (**self).with_rows(f)
    }
}
