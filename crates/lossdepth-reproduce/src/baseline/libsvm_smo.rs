//! Sequential minimal optimisation for the one-class support vector machine, as in libsvm with its tolerance of 1e-3.
//!
//! The working set has two variables, selected by second-order information (Fan, Chen and Lin 2005). The start is libsvm's:
//! the first $\nu n$ variables at their bounds. Kernel values are rounded to single precision, as libsvm stores them.

use lossdepth::Result;
use lossdepth::kernel::Space;
use std::collections::HashMap;

/// The largest violation of the optimality conditions at which libsvm stops.
const TOLERANCE: f64 = 1e-3;

/// Replaces a curvature that is not positive, as in libsvm.
const MIN_CURVATURE: f64 = 1e-12;

/// The variables and the gradient at the end.
pub(super) struct SmoSolution {
    /// Between 0 and the bounds.
    pub(super) alpha: Vec<f64>,
    /// $K \alpha$.
    pub(super) values: Vec<f64>,
    /// Whether the tolerance was met.
    pub(super) converged: bool,
}

/// Columns of the Gram matrix, computed at first use and rounded to single precision.
pub(super) struct GramColumns<'a> {
    space: &'a Space,
    held: HashMap<usize, Vec<f64>>,
    capacity: usize,
}

impl<'a> GramColumns<'a> {
    /// Holds columns of about `bytes` at most.
    pub(super) fn new(space: &'a Space, bytes: u64) -> Self {
        let capacity = usize::try_from(bytes / (8 * space.len() as u64)).unwrap_or(usize::MAX).max(2);
        Self { space, held: HashMap::new(), capacity }
    }

    /// Makes two columns available until the next call.
    fn require(&mut self, pair: [usize; 2]) -> Result<()> {
        if pair.iter().filter(|j| !self.held.contains_key(j)).count() + self.held.len() > self.capacity {
            // Clear everything: simple, and rare if the columns of many steps are held.
            self.held.clear();
        }
        for j in pair {
            if !self.held.contains_key(&j) {
                let column = self.space.column(j)?.into_iter().map(single).collect();
                self.held.insert(j, column);
            }
        }
        Ok(())
    }

    /// A column that was required.
    fn column(&self, j: usize) -> &[f64] {
        &self.held[&j]
    }
}

/// Minimises $\frac12 \alpha^\top K \alpha$ subject to $0 \le \alpha_i \le$ `bounds` and $\sum_i \alpha_i =$ `total`.
pub(super) fn minimise(
    space: &Space,
    bounds: &[f64],
    total: f64,
    columns: &mut GramColumns<'_>,
    max_iter: usize,
    cancelled: impl Fn() -> bool,
) -> Result<SmoSolution> {
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
        columns.require([i, i])?;
        for (value, kernel) in values.iter_mut().zip(columns.column(i)) {
            *value += alpha[i] * kernel;
        }
    }
    for _ in 0..max_iter {
        let Some((i, j)) = working_pair(space, &alpha, &values, bounds, columns)? else {
            return Ok(SmoSolution { alpha, values, converged: true });
        };
        if cancelled() {
            break;
        }
        let before = (alpha[i], alpha[j]);
        let curvature = curvature(space, columns.column(i), i, j);
        let (sum, step) = (before.0 + before.1, (values[i] - values[j]) / curvature);
        // Keep the sum and the bounds; a variable at a bound is there exactly.
        (alpha[i], alpha[j]) = (before.0 - step, before.1 + step);
        if alpha[i] > bounds[i] || alpha[j] < 0.0 {
            alpha[i] = bounds[i].min(sum);
            alpha[j] = sum - alpha[i];
        } else if alpha[j] > bounds[j] || alpha[i] < 0.0 {
            alpha[j] = bounds[j].min(sum);
            alpha[i] = sum - alpha[j];
        }
        columns.require([i, j])?;
        let (first, second) = (alpha[i] - before.0, alpha[j] - before.1);
        // In one expression, as libsvm: the gradients of both are now equal but for rounding, which decides the next pair.
        for ((value, x), y) in values.iter_mut().zip(columns.column(i)).zip(columns.column(j)) {
            *value += x * first + y * second;
        }
    }
    Ok(SmoSolution { alpha, values, converged: false })
}

/// The variable with the smallest gradient that may increase, and the one to decrease with the largest estimated gain.
fn working_pair(
    space: &Space,
    alpha: &[f64],
    values: &[f64],
    bounds: &[f64],
    columns: &mut GramColumns<'_>,
) -> Result<Option<(usize, usize)>> {
    let increasing = (0..alpha.len()).filter(|&i| alpha[i] < bounds[i]);
    // Ties go to the last, as in libsvm.
    let Some(i) = increasing.reduce(|best, i| if values[i] <= values[best] { i } else { best }) else {
        return Ok(None);
    };
    let decreasing = || (0..alpha.len()).filter(|&j| alpha[j] > 0.0);
    let largest = decreasing().map(|j| values[j]).fold(f64::NEG_INFINITY, f64::max);
    if largest - values[i] < TOLERANCE {
        return Ok(None);
    }
    columns.require([i, i])?;
    let column = columns.column(i);
    let mut best = None;
    let mut best_gain = 0.0;
    for j in decreasing().filter(|&j| values[j] > values[i]) {
        let gain = (values[j] - values[i]).powi(2) / curvature(space, column, i, j);
        if gain >= best_gain {
            (best, best_gain) = (Some(j), gain);
        }
    }
    Ok(best.map(|j| (i, j)))
}

fn curvature(space: &Space, column: &[f64], i: usize, j: usize) -> f64 {
    let curvature = space.diagonal()[i] + space.diagonal()[j] - 2.0 * column[j];
    if curvature > 0.0 { curvature } else { MIN_CURVATURE }
}

#[expect(clippy::cast_possible_truncation, reason = "libsvm keeps kernel values in single precision")]
fn single(kernel: f64) -> f64 {
    f64::from(kernel as f32)
}
