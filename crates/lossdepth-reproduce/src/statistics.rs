//! Summaries of lists of numbers.

use crate::error::Result;
use lossdepth_plot::BoxStatistics;

/// The median.
pub(crate) fn median(values: &[f64]) -> Result<f64> {
    Ok(BoxStatistics::new(values)?.median)
}

/// The mean; 0 of no values.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// The smallest and the largest value.
pub(crate) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}
