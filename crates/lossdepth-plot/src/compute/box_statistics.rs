//! The numbers of a box plot.

use lossdepth::{DepthError, Result};

/// The five numbers of a box plot, and the outliers (Tukey 1977).
///
/// Quartiles are interpolated linearly, as in NumPy and Matplotlib. Each whisker ends at the last value within 1.5
/// interquartile ranges of its quartile.
///
/// ```
/// use lossdepth_plot::BoxStatistics;
/// let statistics = BoxStatistics::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 99.0])?;
/// assert_eq!((statistics.lower_whisker, statistics.median, statistics.upper_whisker), (1.0, 3.5, 5.0));
/// assert_eq!(statistics.outliers, [99.0]);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BoxStatistics {
    /// The end of the lower whisker.
    pub lower_whisker: f64,
    /// The lower quartile.
    pub lower_quartile: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub upper_quartile: f64,
    /// The end of the upper whisker.
    pub upper_whisker: f64,
    /// The values outside the whiskers, ascending.
    pub outliers: Vec<f64>,
}

impl BoxStatistics {
    /// The statistics of some values.
    ///
    /// # Errors
    /// There is no value, or one is not finite.
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
            let position = p * (sorted.len() - 1) as f64;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "an index of the list"
            )]
            let (below, fraction) = (position.floor() as usize, position.fract());
            let above = (below + 1).min(sorted.len() - 1);
            sorted[below] + fraction * (sorted[above] - sorted[below])
        };
        let (lower_quartile, median, upper_quartile) = (quantile(0.25), quantile(0.5), quantile(0.75));
        let length = 1.5 * (upper_quartile - lower_quartile);
        let within = |v: &&f64| **v >= lower_quartile - length && **v <= upper_quartile + length;
        // There always is such a value: a quartile lies between two of them.
        let lower_whisker = sorted.iter().find(within).copied().unwrap_or(lower_quartile).min(lower_quartile);
        let upper_whisker =
            sorted.iter().rfind(within).copied().unwrap_or(upper_quartile).max(upper_quartile);
        let outliers = sorted.iter().copied().filter(|v| *v < lower_whisker || *v > upper_whisker).collect();
        Ok(Self { lower_whisker, lower_quartile, median, upper_quartile, upper_whisker, outliers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_numpy() {
        // np.percentile([9, 1, 4, 2, 8, 30, 7], [25, 50, 75]) = 3, 7, 8.5; whiskers by 1.5 · 5.5.
        let found = BoxStatistics::new(&[9.0, 1.0, 4.0, 2.0, 8.0, 30.0, 7.0]).unwrap();
        assert_eq!((found.lower_quartile, found.median, found.upper_quartile), (3.0, 7.0, 8.5));
        assert_eq!((found.lower_whisker, found.upper_whisker, found.outliers), (1.0, 9.0, vec![30.0]));
        let one = BoxStatistics::new(&[2.0]).unwrap();
        assert_eq!((one.lower_whisker, one.median, one.upper_whisker), (2.0, 2.0, 2.0));
        assert!(BoxStatistics::new(&[]).is_err() && BoxStatistics::new(&[f64::NAN]).is_err());
    }
}
