//! Rows that do not have to fit into memory: a source that can be read again, cut into chunks of one size.

use super::{Reference, Rows};
use crate::error::{DepthError, Result};

/// What is done with a piece of rows, and their weights if they have some.
pub type Visit<'a> = dyn FnMut(Rows<'_>, Option<&[f64]>) -> Result<()> + 'a;

/// A reference that is read from its first row to its last, as often as needed.
///
/// ```
/// use lossdepth::data::{RowSource, Visit};
/// use lossdepth::{DepthError, Rows};
/// /// 0, 1, …, made anew whenever they are read.
/// struct Counting(u32);
/// impl RowSource for Counting {
///     type Error = DepthError;
///     fn read(&mut self, visit: &mut Visit<'_>) -> Result<(), DepthError> {
///         (0..self.0).try_for_each(|i| visit(Rows::new(&[f64::from(i)], 1)?, None))
///     }
/// }
/// let mut rows = 0;
/// Counting(5).read(&mut |piece, _| {
///     rows += piece.len();
///     Ok(())
/// })?;
/// assert_eq!(rows, 5);
/// # Ok::<(), DepthError>(())
/// ```
pub trait RowSource {
    /// What can go wrong when rows are read.
    type Error: From<DepthError>;

    /// Hands all rows to `visit`, in pieces of any size, with a weight for each row if they have some. Every call gives the
    /// same rows with the same weights in the same order. An error of `visit` ends the reading; rows that it names are
    /// counted from the start of the piece.
    ///
    /// # Errors
    /// Rows cannot be read, or `visit` refuses them.
    fn read(&mut self, visit: &mut Visit<'_>) -> Result<(), Self::Error>;
}

impl RowSource for &Reference {
    type Error = DepthError;

    fn read(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let equal = self.weights().windows(2).all(|pair| pair[0] == pair[1]);
        let weights = if equal { None } else { self.given_weights().or(Some(self.weights())) };
        visit(self.rows(), weights)
    }
}

/// Hands the rows with a positive weight to `work` in chunks of `size` rows (the last may have fewer), with their weights. The chunks
/// do not depend on the pieces that the source gives.
pub(crate) fn for_each_chunk<S: RowSource>(
    source: &mut S,
    width: usize,
    size: usize,
    work: &mut dyn FnMut(Rows<'_>, &[f64]) -> Result<()>,
) -> Result<(), S::Error> {
    let (mut data, mut kept) = (Vec::with_capacity(size * width), Vec::with_capacity(size));
    source.read(&mut |rows, weights| {
        if rows.is_empty() {
            return Ok(());
        }
        if rows.width() != width {
            return Err(DepthError::Dimension { row: 0, expected: width, got: rows.width() });
        }
        if let Some(weights) = weights.filter(|weights| weights.len() != rows.len()) {
            return Err(DepthError::WeightCount { expected: rows.len(), got: weights.len() });
        }
        rows.check_finite()?;
        for (i, row) in rows.iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            if !weight.is_finite() || weight < 0.0 {
                return Err(DepthError::Weight { row: i, value: weight });
            }
            if weight == 0.0 {
                continue;
            }
            data.extend_from_slice(row);
            kept.push(weight);
            if kept.len() == size {
                work(Rows::new(&data, width)?, &kept)?;
                data.clear();
                kept.clear();
            }
        }
        Ok(())
    })?;
    if !kept.is_empty() {
        work(Rows::new(&data, width)?, &kept)?;
    }
    Ok(())
}
