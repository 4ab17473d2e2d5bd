//! The one-class machine as libsvm leaves it: sequential minimal optimisation, stopped at a tolerance of 1e-3.
//!
//! Pairs of variables by second-order information (Fan, Chen and Lin 2005), from libsvm's start: the first $\nu n$ variables at
//! their bounds. Kernel values in single precision, as libsvm keeps them.

use crate::error::Result;
use crate::kernel::Space;
use crate::solver::dual_active_set::Columns;

/// Where libsvm stops: the largest violation of the optimality conditions.
const TOLERANCE: f64 = 1e-3;

/// The least curvature that a step is divided by.
const LEAST: f64 = 1e-12;

/// The variables and the gradient.
pub(super) struct Sequential {
    /// Between 0 and the bounds.
    pub(super) alpha: Vec<f64>,
    /// $K \alpha$.
    pub(super) values: Vec<f64>,
    /// Whether the tolerance was met.
    pub(super) converged: bool,
}

/// Minimises $\frac12 \alpha^\top K \alpha$ with variables below their bounds that sum to `total`.
pub(super) fn minimise(
    space: &Space,
    bounds: &[f64],
    total: f64,
    columns: &mut Columns<'_>,
    max_iter: usize,
    cancelled: impl Fn() -> bool,
) -> Result<Sequential> {
    let n = bounds.len();
    let mut left = total;
    let mut alpha: Vec<f64> = bounds
        .iter()
        .map(|bound| {
            let first = bound.min(left);
            left -= first;
            first
        })
        .collect();
    let mut values = vec![0.0; n];
    for i in (0..n).filter(|&i| alpha[i] > 0.0) {
        columns.require([i].into_iter())?;
        for (value, kernel) in values.iter_mut().zip(columns.column(i)) {
            *value += alpha[i] * single(*kernel);
        }
    }
    for _ in 0..max_iter {
        let Some((i, j)) = pair(space, &alpha, &values, bounds, columns)? else {
            return Ok(Sequential { alpha, values, converged: true });
        };
        if cancelled() {
            break;
        }
        let before = (alpha[i], alpha[j]);
        let curvature = curvature(space, columns.column(i), i, j);
        let (sum, step) = (before.0 + before.1, (values[i] - values[j]) / curvature);
        // What one gains the other loses, within both bounds, and at a bound exactly.
        (alpha[i], alpha[j]) = (before.0 - step, before.1 + step);
        if alpha[i] > bounds[i] || alpha[j] < 0.0 {
            alpha[i] = bounds[i].min(sum);
            alpha[j] = sum - alpha[i];
        } else if alpha[j] > bounds[j] || alpha[i] < 0.0 {
            alpha[j] = bounds[j].min(sum);
            alpha[i] = sum - alpha[j];
        }
        columns.require([i, j].into_iter())?;
        let (first, second) = (alpha[i] - before.0, alpha[j] - before.1);
        // Both at once: the two are equal now but for rounding, and rounding decides which of them is next.
        for ((value, x), y) in values.iter_mut().zip(columns.column(i)).zip(columns.column(j)) {
            *value += single(*x) * first + single(*y) * second;
        }
    }
    Ok(Sequential { alpha, values, converged: false })
}

/// The pair to work on: the steepest variable that may grow, and the one to shrink for it that promises most.
fn pair(
    space: &Space,
    alpha: &[f64],
    values: &[f64],
    bounds: &[f64],
    columns: &mut Columns<'_>,
) -> Result<Option<(usize, usize)>> {
    let growing = (0..alpha.len()).filter(|&i| alpha[i] < bounds[i]);
    // Of equals the last, as in libsvm.
    let Some(i) = growing.reduce(|best, i| if values[i] <= values[best] { i } else { best }) else {
        return Ok(None);
    };
    let shrinking = || (0..alpha.len()).filter(|&j| alpha[j] > 0.0);
    let largest = shrinking().map(|j| values[j]).fold(f64::NEG_INFINITY, f64::max);
    if largest - values[i] < TOLERANCE {
        return Ok(None);
    }
    columns.require([i].into_iter())?;
    let column = columns.column(i);
    let mut best = None;
    let mut promise = 0.0;
    for j in shrinking().filter(|&j| values[j] > values[i]) {
        let gain = (values[j] - values[i]).powi(2) / curvature(space, column, i, j);
        if gain >= promise {
            (best, promise) = (Some(j), gain);
        }
    }
    Ok(best.map(|j| (i, j)))
}

fn curvature(space: &Space, column: &[f64], i: usize, j: usize) -> f64 {
    let curvature = space.diagonal[i] + space.diagonal[j] - 2.0 * single(column[j]);
    if curvature > 0.0 { curvature } else { LEAST }
}

#[expect(clippy::cast_possible_truncation, reason = "libsvm keeps kernel values in single precision")]
fn single(kernel: f64) -> f64 {
    f64::from(kernel as f32)
}
