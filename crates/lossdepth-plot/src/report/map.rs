//! Rows in two dimensions.

use serde::Serialize;

/// A sample of ordinary rows, and the oddest rows, along several axes of which two are shown at a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Map {
    /// What the reader can choose for either direction: principal axes, columns.
    pub axes: Vec<MapAxis>,
    /// The axes shown first: across, up.
    pub start: [usize; 2],
    /// The depth percentile of each ordinary row, between 0 and 1.
    pub percentiles: Vec<f64>,
    /// The name of each ordinary row.
    pub names: Vec<String>,
    /// How many ordinary rows there are of which these are a sample.
    pub of: u64,
}

/// One coordinate of all rows of a map.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MapAxis {
    /// What it is called: the column, or `principal axis 1`.
    pub label: String,
    /// More about it, such as `41% of the variance; mostly amount and quantity`.
    pub detail: String,
    /// The column it shows, if it shows one.
    pub column: Option<usize>,
    /// What its numbers mean.
    pub scale: AxisScale,
    /// The coordinate of each ordinary row; not finite for a gap.
    pub ordinary: Vec<f64>,
    /// The coordinate of each of the page's odd rows, in their order; not finite for a gap.
    pub odd: Vec<f64>,
}

/// What the numbers of an axis mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", content = "of", rename_all = "kebab-case")]
pub enum AxisScale {
    /// Themselves.
    Number,
    /// Positive numbers, drawn by their logarithm.
    Log,
    /// Numbers of either sign, drawn by asinh(x / this): linear near 0, logarithmic beyond.
    SignedLog(f64),
    /// Days since 1970.
    Date,
    /// Indices of these levels.
    Levels(Vec<String>),
}

impl MapAxis {
    /// An axis of numbers; logarithmic where a linear one would leave the bulk of the ordinary rows less than a fifth of its
    /// length, on both sides of 0 if there are numbers that are not positive.
    pub fn new(label: impl Into<String>, ordinary: &[f64], odd: &[f64]) -> Self {
        let (ordinary, odd) = (ordinary.to_vec(), odd.to_vec());
        let scale = scale_of(&ordinary, &odd);
        Self { label: label.into(), detail: String::new(), column: None, scale, ordinary, odd }
    }

    /// An axis of dates as days since 1970.
    pub fn dates(label: impl Into<String>, ordinary: &[f64], odd: &[f64]) -> Self {
        Self { scale: AxisScale::Date, ..Self::new(label, ordinary, odd) }
    }

    /// An axis of levels by their indices.
    pub fn levels(label: impl Into<String>, levels: Vec<String>, ordinary: &[f64], odd: &[f64]) -> Self {
        Self { scale: AxisScale::Levels(levels), ..Self::new(label, ordinary, odd) }
    }

    /// The same, of a column of the page.
    #[must_use]
    pub fn of_column(self, column: usize) -> Self {
        Self { column: Some(column), ..self }
    }

    /// The same, with more about it.
    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

/// Logarithmic if the middle 98 % of the ordinary numbers span less than a fifth of the range of all.
fn scale_of(ordinary: &[f64], odd: &[f64]) -> AxisScale {
    let finite = |values: &[f64]| values.iter().copied().filter(|x| x.is_finite()).collect::<Vec<f64>>();
    let (mut bulk, mut all) = (finite(ordinary), finite(odd));
    all.extend(&bulk);
    bulk.sort_unstable_by(f64::total_cmp);
    let (least, most) =
        all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    let cut = bulk.len() / 100;
    let (Some(low), Some(high)) =
        (bulk.get(cut), bulk.len().checked_sub(cut + 1).and_then(|at| bulk.get(at)))
    else {
        return AxisScale::Number;
    };
    if high - low >= 0.2 * (most - least) {
        return AxisScale::Number;
    }
    if least > 0.0 {
        return AxisScale::Log;
    }
    // Linear up to the size that half of the ordinary numbers stay below.
    let mut sizes: Vec<f64> = bulk.iter().map(|x| x.abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let linear = rounded(sizes[sizes.len() / 2]);
    if linear > 0.0 { AxisScale::SignedLog(linear) } else { AxisScale::Number }
}

/// At most `most` rows of the others than `odd`, spread evenly over the ranks of their depths; in the order of the table.
///
/// ```
/// use lossdepth_plot::report::sample_ordinary;
/// assert_eq!(sample_ordinary(&[0.1, 0.9, 0.5, 0.6, 0.7], &[0], 2), [2, 4]);
/// ```
pub fn sample_ordinary(depths: &[f64], odd: &[usize], most: usize) -> Vec<usize> {
    let mut is_odd = vec![false; depths.len()];
    for &row in odd {
        if let Some(is_odd) = is_odd.get_mut(row) {
            *is_odd = true;
        }
    }
    let mut order: Vec<usize> = (0..depths.len()).filter(|&row| !is_odd[row]).collect();
    order.sort_by(|&a, &b| depths[a].total_cmp(&depths[b]));
    let kept = most.min(order.len());
    let mut sample: Vec<usize> = (0..kept).map(|k| order[k * order.len() / kept]).collect();
    sample.sort_unstable();
    sample
}

/// Five significant digits: more than a map can show.
pub(crate) fn rounded(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    format!("{x:.4e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_bounded_and_free_of_odd_rows() {
        let depths: Vec<f64> = (0..1000).map(|i| f64::from(i % 37)).collect();
        let odd = [0, 37, 74];
        let sample = sample_ordinary(&depths, &odd, 100);
        assert_eq!(sample.len(), 100);
        assert!(sample.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(odd.iter().all(|row| !sample.contains(row)));
        assert_eq!(sample_ordinary(&depths, &odd, 5000).len(), 997);
        assert!(sample_ordinary(&[], &[3], 5).is_empty());
    }

    #[test]
    fn skewed_axes_are_logarithmic() {
        let bulk: Vec<f64> = (1..200).map(|i| f64::from(i % 30 + 1)).collect();
        assert_eq!(MapAxis::new("x", &bulk, &[900.0]).scale, AxisScale::Log);
        assert_eq!(MapAxis::new("x", &bulk, &[40.0]).scale, AxisScale::Number);
        assert_eq!(MapAxis::new("x", &bulk, &[-900.0]).scale, AxisScale::SignedLog(15.0));
        assert_eq!(MapAxis::new("x", &[], &[f64::NAN]).scale, AxisScale::Number);
    }

    #[test]
    fn rounding_keeps_five_digits() {
        assert_eq!(rounded(0.123_456_789), 0.12346);
        assert_eq!(rounded(-98_765_432.0), -98_765_000.0);
        assert!(rounded(f64::NAN).is_nan());
    }
}
