//! Posterior variances from the whole Gram matrix (G13), for small samples.
//!
//! Cheaper than the corrections for a residual where the eigenvalues of $K$ fall slowly. Only rounding separates the bounds;
//! it is divided by $W_i$, so points with a small $W_i$ have wide ones.

use super::laplace_mode::ModeSearch;
use super::variance_bounds::VarianceBounds;
use crate::numerics::linalg::{InverseRoot, Matrix, Real};
use crate::numerics::simd::{sum_of, vectorised};

/// Larger samples are always split.
const MAX_POINTS: usize = 512;
/// Columns of the low-rank factor that the mode is then found with; the residual corrects for all others.
pub(super) const MODE_COLUMNS: usize = 16;

/// Whether this costs less than a split with this many columns. The factors come from operation counts and
/// measured speeds (products run 1.5 times as fast as factorisations): a heuristic that affects cost only.
pub(super) fn is_cheaper(points: usize, columns: usize) -> bool {
    points <= MAX_POINTS && points * points < 11 * columns * columns + points * columns
}

/// Scratch memory for one query at a time.
pub(super) struct DenseVariance {
    root: InverseRoot,
    /// The square roots of $W$, the query's last.
    roots: Vec<f64>,
}

impl DenseVariance {
    pub(super) fn new(points: usize) -> Self {
        Self { root: InverseRoot::new(points + 1), roots: vec![0.0; points + 1] }
    }

    /// The variances at a mode; `None` if $B$ could not be factored.
    pub(super) fn variances(&mut self, gram: &Matrix, mode: &ModeSearch) -> Option<VarianceBounds> {
        let n = gram.rows();
        self.roots
            .iter_mut()
            .zip(mode.likelihood.w.iter().chain([&mode.likelihood.w_query]))
            .for_each(|(r, w)| *r = w.sqrt());
        let (query, roots) = (self.roots[n], &self.roots[..n]);
        let weights = mode.likelihood.w.iter().sum::<f64>() + mode.likelihood.w_query;
        let mut trace = query.mul_add(query * mode.query.kernel_self, 1.0);
        for j in 0..n {
            let (out, kernel, root) = (self.root.column(j), &gram.col(j)[j..], roots[j]);
            let (points, last) = out.split_at_mut(n - j);
            vectorised!({
                for ((out, k), r) in points.iter_mut().zip(kernel).zip(&roots[j..]) {
                    *out = root * r * k;
                }
            });
            points[0] += 1.0;
            trace += points[0];
            last[0] = root * query * mode.query.kernel_values[j];
        }
        self.root.column(n)[0] = query.mul_add(query * mode.query.kernel_self, 1.0);
        // Kernel values that are off by ε move B by at most ε times the sum of W in norm.
        let relative_error = InverseRoot::rounding(n + 1, trace) + 2.0 * mode.query.kernel_error * weights;
        if !self.root.find() || relative_error.is_nan() {
            return None;
        }
        let bounds = |j: usize, prior: f64| {
            let (inverse, weight) = (self.root.diagonal(j), self.roots[j] * self.roots[j]);
            let error = relative_error * inverse;
            let (low, high) = ((1.0 - inverse - error) / weight, (1.0 - inverse + error) / weight);
            // In this order of comparisons NaN becomes the interval from 0 to k(x, x).
            (low.max(0.0).min(prior), high.min(prior).max(0.0))
        };
        let prior_query = mode.query.kernel_self * (1.0 + 4.0 * f64::EPSILON);
        let query = bounds(n, prior_query);
        Some(VarianceBounds::between(
            (0..n).map(|j| bounds(j, gram.at(j, j) * (1.0 + 4.0 * f64::EPSILON))),
            query,
        ))
    }

    /// The lower triangle of the posterior covariance of the points and the query, with the diagonal from
    /// `variances`.
    pub(super) fn covariance(&self, variances: &VarianceBounds) -> Matrix<f32> {
        let mut out = self.root.inverse();
        let n = out.rows();
        for j in 0..n {
            let (column, roots) = (&mut out.col_mut(j)[j..], &self.roots[j..]);
            for (c, r) in column.iter_mut().zip(roots) {
                *c = f32::rounded(-c.widened() / (r * roots[0]));
            }
            column[0] = f32::rounded(variances.middle(j));
        }
        out
    }
}

/// $\sum_j C_{ij} x_j$ for every row of a symmetric matrix, given by its lower triangle; or $\sum_j C_{ij}^2 x_j$.
pub(super) fn apply(lower: &Matrix<f32>, x: &[f64], squared: bool) -> Vec<f64> {
    let n = lower.rows();
    let mut out = vec![0.0; n];
    for j in 0..n {
        let column = &lower.col(j)[j + 1..];
        let (here, below) = out.split_at_mut(j + 1);
        let (own, rest) = (x[j], &x[j + 1..]);
        here[j] += value(lower.at(j, j), squared) * own;
        here[j] += sum_of(
            column.len(),
            #[inline(always)]
            |i| value(column[i], squared) * rest[i],
        );
        vectorised!(below.iter_mut().zip(column).for_each(|(o, c)| *o += value(*c, squared) * own));
    }
    out
}

#[inline(always)]
fn value(c: f32, squared: bool) -> f64 {
    let c = c.widened();
    if squared { c * c } else { c }
}
