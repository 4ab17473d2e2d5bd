//! A reference sample of sparse rows.

use super::SparseRows;
use crate::data::{Mass, Reference};
use crate::error::Result;
use std::cmp::Ordering;
use std::sync::Arc;

/// A reference sample $x_1, \dots, x_n$ of sparse rows with weights $\omega_i \ge 0$, $\sum_i \omega_i = 1$.
///
/// What [`Reference`] is for dense rows. A clone shares the numbers.
///
/// ```
/// use lossdepth::data::{SparseReference, SparseRows};
/// let rows = SparseRows::new(vec![0, 1, 3], vec![1, 0, 3], vec![2.0, 1.0, 3.0], 4)?;
/// let sample = SparseReference::new(rows, None)?;
/// assert_eq!((sample.len(), sample.width(), sample.weights()), (2, 4, &[0.5, 0.5][..]));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseReference {
    rows: Arc<SparseRows>,
    /// The weights, on rows of one column that holds nothing.
    weighted: Reference,
}

impl SparseReference {
    /// The rows with their weights, which need not sum to one; without weights all rows count alike.
    ///
    /// # Errors
    /// Fewer than two rows with a positive weight, a weight that is negative or not finite, or not one for each row.
    pub fn new(rows: SparseRows, weights: Option<Vec<f64>>) -> Result<Self> {
        let weighted = Reference::from_vec(vec![0.0; rows.len()], 1, weights)?;
        Ok(Self { rows: Arc::new(rows), weighted })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.weighted.len()
    }

    /// Never: a reference has at least two rows.
    pub fn is_empty(&self) -> bool {
        self.weighted.is_empty()
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.rows.width()
    }

    /// The rows, as given.
    pub fn rows(&self) -> &SparseRows {
        &self.rows
    }

    /// The weights, scaled to sum to one.
    pub fn weights(&self) -> &[f64] {
        self.weighted.weights()
    }

    /// The weights as they were given, if they were.
    pub fn given_weights(&self) -> Option<&[f64]> {
        self.weighted.given_weights()
    }

    /// How many observations its rows stand for, as for [`Reference::observations`].
    pub fn observations(&self) -> f64 {
        self.weighted.observations()
    }

    pub(crate) fn mass(&self) -> Mass {
        self.weighted.mass()
    }

    /// Other numbers for the rows, with the same weights.
    pub(crate) fn with_numbers(&self, numbers: Vec<f64>, width: usize) -> Reference {
        self.weighted.with_data(numbers, width)
    }

    /// How two rows compare, number by number.
    pub(crate) fn compare(&self, a: usize, b: usize) -> Ordering {
        self.rows.compare(a, b)
    }
}
