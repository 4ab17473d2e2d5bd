//! Many numbers in five.

use crate::error::{DepthError, Result};

/// The five numbers of a box plot, and what lies beyond (Tukey 1977).
///
/// Quartiles are interpolated, as in NumPy and Matplotlib; whiskers reach to the last number within 1.5 times the distance of
/// the quartiles.
///
/// ```
/// use lossdepth::view::Boxed;
/// let boxed = Boxed::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 99.0])?;
/// assert_eq!((boxed.low, boxed.median, boxed.high), (1.0, 3.5, 5.0));
/// assert_eq!(boxed.beyond, [99.0]);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Boxed {
    /// The end of the lower whisker.
    pub low: f64,
    /// The lower quartile.
    pub first: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub third: f64,
    /// The end of the upper whisker.
    pub high: f64,
    /// The numbers beyond the whiskers, ascending.
    pub beyond: Vec<f64>,
}

impl Boxed {
    /// Sums some numbers up.
    ///
    /// # Errors
    /// There are none, or one is not finite.
    pub fn new(values: &[f64]) -> Result<Self> {
        if values.is_empty() {
            return Err(DepthError::TooFewRows { expected: 1, got: 0 });
        }
        if let Some(row) = values.iter().position(|v| !v.is_finite()) {
            return Err(DepthError::NotFinite { row, column: 0, value: values[row] });
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quantile = |p: f64| {
            let place = p * (sorted.len() - 1) as f64;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a place in the list"
            )]
            let (below, rest) = (place.floor() as usize, place.fract());
            let above = (below + 1).min(sorted.len() - 1);
            sorted[below] + rest * (sorted[above] - sorted[below])
        };
        let (first, median, third) = (quantile(0.25), quantile(0.5), quantile(0.75));
        let reach = 1.5 * (third - first);
        let within = |v: &&f64| **v >= first - reach && **v <= third + reach;
        // There is always one: the quartiles are between numbers.
        let low = sorted.iter().find(within).copied().unwrap_or(first).min(first);
        let high = sorted.iter().rfind(within).copied().unwrap_or(third).max(third);
        let beyond = sorted.iter().copied().filter(|v| *v < low || *v > high).collect();
        Ok(Self { low, first, median, third, high, beyond })
    }
}
