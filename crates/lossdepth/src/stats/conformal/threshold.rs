//! The threshold for a share of outliers in the reference.

use crate::error::{DepthError, Result};

/// The depth below which rows are called outliers, so that a share `contamination` of the reference is.
///
/// It is the largest of the `depths` below which lies no more than that share of the weight. Without ties and weights
/// exactly $\lfloor \text{contamination} \cdot n \rfloor$ rows are below it; none are if `contamination` is 0. Rows of weight 0 do
/// not count, and a row of weight $k$ counts as $k$ rows.
///
/// ```
/// use lossdepth::stats::conformal::threshold;
/// let depths = [0.9, 0.1, 0.5, 0.7, 0.3];
/// assert_eq!(threshold(&depths, None, 0.4)?, 0.5);
/// assert_eq!(threshold(&depths, None, 0.0)?, 0.1);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
///
/// # Errors
/// `contamination` is not between 0 and 0.5, a depth is NaN, there are not as many weights as depths, or no row has a
/// positive weight.
pub fn threshold(depths: &[f64], weights: Option<&[f64]>, contamination: f64) -> Result<f64> {
    if !(0.0..=0.5).contains(&contamination) {
        let (name, expected) = ("contamination", "between 0 and 0.5");
        return Err(DepthError::Setting { name, expected, got: contamination });
    }
    if let Some(weights) = weights.filter(|weights| weights.len() != depths.len()) {
        return Err(DepthError::WeightCount { expected: depths.len(), got: weights.len() });
    }
    if depths.iter().any(|depth| depth.is_nan()) {
        return Err(DepthError::Labels("a depth is NaN".to_owned()));
    }
    let mass = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let mut order: Vec<usize> = (0..depths.len()).filter(|&i| mass(i) > 0.0).collect();
    order.sort_by(|&a, &b| depths[a].total_cmp(&depths[b]));
    let total: f64 = order.iter().map(|&i| mass(i)).sum();
    // Rounding must not turn 0.29 · 100 into less than 29 rows.
    let most = contamination * total * (1.0 + 1e-12);
    let (mut below, mut sum, mut found) = (0.0, 0.0, None);
    for (k, &i) in order.iter().enumerate() {
        if k == 0 || depths[i] > depths[order[k - 1]] {
            below = sum;
        }
        if below <= most {
            found = Some(depths[i]);
        }
        sum += mass(i);
    }
    found.ok_or(DepthError::TooFewRows { expected: 1, got: 0 })
}
