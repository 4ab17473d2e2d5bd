//! Proven bounds at a dual point, for the exact kernel.
//!
//! The computed residuals are within $\delta$ of those of the exact kernel, which bounds each term of the gap (K9). The norm of
//! the classifier, and with it the risk, needs a bound on the dual suboptimality. The gap is one; (K20) is a tighter one where
//! the kernel matrix of the free variables is well conditioned. A lower bound on the smallest eigenvalue of that matrix is
//! proven by a Cholesky factorisation of $K_{FF} - s I$ that succeeds (Rump 2006), with the rounding
//! error of the factorisation (Higham 2002, theorem 10.5).

use super::ActiveSet;
use super::dual_point::{DualPoint, QueryKernel};
use super::kernel_columns::KernelColumns;
use super::updated_cholesky::UpdatedCholesky;
use crate::error::Result;
use crate::numerics::linalg::{dot, norm};
use crate::numerics::simd::{LANES, sum_of, vectorised};

/// Roundings of an inner product beyond those of the body of its loop: the sum of the lanes and the remainder.
pub(crate) const DOT_OVERHEAD: f64 = 32.0;
/// Roundings of an entry of $G$ for each variable that changes, in units of $\frac14 \varepsilon$ times the largest kernel
/// value ([`add_columns`](super::add_columns)). A heuristic: four changes at a time have one rounding of $G$ and four of
/// each product, together five units if the changes sum to at most one half, as those of the sample do; a query that moves
/// by as much adds to that.
pub(crate) const UPDATE_UNITS: f64 = 1.25;
/// Inverse iterations that estimate the smallest eigenvalue. The estimate is verified, so a few are enough.
const INVERSE_ITERATIONS: usize = 3;
/// Shifts tried by the check, each a tenth of the one before.
const SHIFTS: usize = 2;

/// Bounds on the errors of what a dual point was computed from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResidualError {
    /// On the error of a residual (K8): rounding of $G$ and of the kernel values in it.
    pub(crate) residual: f64,
    /// On the error of a kernel value.
    pub(crate) kernel: f64,
}

/// A bound on the rounding error of an inner product of $n$ kernel values below `largest` with coefficients whose absolute
/// values sum to a half.
pub(crate) fn dot_error(n: usize, largest: f64) -> f64 {
    0.25 * f64::EPSILON * largest * (n as f64 / LANES as f64 + DOT_OVERHEAD)
}

impl ActiveSet {
    /// A proven bound on $2 \lambda$ times the duality gap of the point last evaluated, for residuals within `error` of the
    /// exact ones: (K9).
    pub(crate) fn scaled_gap_bound(&self, point: &DualPoint, error: f64) -> f64 {
        let n = self.high.len() - 1;
        let (high, target) = (&self.high[..n], self.target);
        let (k_beta, beta) = (&point.k_beta[..n], &point.beta[..n]);
        let sample = sum_of(n, |j| gap_term(target - k_beta[j], high[j] - beta[j], beta[j], error));
        self.rounded_up(sample + self.query_gap_term(point, error))
    }

    fn query_gap_term(&self, point: &DualPoint, error: f64) -> f64 {
        let (low, high, beta) = (self.low[self.low.len() - 1], self.high[self.high.len() - 1], &point.beta);
        let beta = beta[beta.len() - 1];
        gap_term(self.query_residual, high - beta, beta - low, error)
    }

    /// The same over the variables that are not free.
    pub(crate) fn scaled_gap_bound_of_bounded(&self, point: &DualPoint, error: f64) -> f64 {
        let n = self.high.len() - 1;
        let mut is_free = vec![false; n + 1];
        point.free.iter().for_each(|&j| is_free[j] = true);
        let term = |j: usize| {
            gap_term(self.target - point.k_beta[j], self.high[j] - point.beta[j], point.beta[j], error)
        };
        let sample: f64 = (0..n).filter(|&j| !is_free[j]).map(term).sum();
        sample + if is_free[n] { 0.0 } else { self.query_gap_term(point, error) }
    }

    /// A proven bound on the dual suboptimality of the point last evaluated, for the exact kernel: (K20).
    ///
    /// Costs a column product for each free variable and a factorisation of their kernel matrix.
    pub(crate) fn dual_suboptimality_bound(
        &self,
        point: &DualPoint,
        query: QueryKernel<'_>,
        columns: &mut KernelColumns<'_>,
        error: ResidualError,
        reg: f64,
    ) -> Result<f64> {
        let (n, free) = (query.column.len(), &point.free);
        columns.require(free.iter().copied().filter(|&j| j < n))?;
        let scale = self.max_diagonal.max(query.diagonal);
        // Residuals of the free variables, computed afresh: without the rounding errors of all updates.
        let bias = self.bias(point);
        let (beta, query_beta) = (&point.beta[..n], point.beta[n]);
        let residual = |j: usize| {
            let (target, column, at_query) = if j == n {
                (-2.0 * reg, query.column, query.diagonal)
            } else {
                (2.0 * reg, columns.column(j), query.column[j])
            };
            target - bias - (dot(column, beta) + query_beta * at_query)
        };
        let fresh_error =
            dot_error(n, scale) + error.kernel + f64::EPSILON * (scale + 2.0 * (2.0 * reg + bias.abs()));
        let residuals: Vec<f64> = free.iter().map(|&j| residual(j).abs() + fresh_error).collect();
        let room = |j: usize| (self.high[j] - point.beta[j]).max(point.beta[j] - self.low[j]);
        let linear = free.iter().zip(&residuals).map(|(&j, r)| room(j) * r).sum::<f64>()
            + self.scaled_gap_bound_of_bounded(point, error.residual);
        let eigenvalue = Self::smallest_eigenvalue_bound(point, query, columns, error.kernel);
        let conditioned = if eigenvalue > 0.0 {
            let rho = norm(&residuals) / eigenvalue.sqrt();
            let enlarged = error.residual + rho * (scale + error.kernel).sqrt();
            0.5 * rho * rho + self.scaled_gap_bound_of_bounded(point, enlarged)
        } else {
            f64::INFINITY
        };
        let scaled = if conditioned < linear { conditioned } else { linear };
        Ok(self.rounded_up(scaled) / (2.0 * reg))
    }

    /// A proven lower bound on the smallest eigenvalue of the exact kernel matrix of the free variables; 0 if there is none.
    fn smallest_eigenvalue_bound(
        point: &DualPoint,
        query: QueryKernel<'_>,
        columns: &KernelColumns<'_>,
        kernel_error: f64,
    ) -> f64 {
        let (n, free) = (query.column.len(), &point.free);
        let count = free.len() as f64;
        let entry = |i: usize, j: usize| match (i == n, j == n) {
            (true, true) => query.diagonal,
            (true, false) => query.column[j],
            (false, true) => query.column[i],
            _ => columns.column(j)[i],
        };
        let trace: f64 = free.iter().map(|&j| entry(j, j)).sum();
        // Higham's bound in the spectral norm, the rounding of the shifted diagonal, and the errors of the entries.
        let error = (0.51 * (count + 2.0) + 1.0) * f64::EPSILON * trace + count * kernel_error;
        let mut shift = 0.5 * point.factor.smallest_eigenvalue_estimate(INVERSE_ITERATIONS);
        for _ in 0..SHIFTS {
            if !(shift > 2.0 * error && shift.is_finite()) {
                return 0.0;
            }
            let positive_definite = vectorised!({
                let mut cholesky = UpdatedCholesky::default();
                free.iter().enumerate().all(|(k, &j)| {
                    let column = free[..k].iter().map(|&i| entry(i, j));
                    cholesky.push(column, entry(j, j) - shift, f64::MIN_POSITIVE) > 0.0
                })
            });
            if positive_definite {
                return shift - error;
            }
            shift *= 0.1;
        }
        0.0
    }

    /// Covers the rounding of sums of non-negative terms over the sample.
    fn rounded_up(&self, sum: f64) -> f64 {
        sum * (1.0 + f64::EPSILON * (self.high.len() as f64 + DOT_OVERHEAD))
    }
}

/// The largest term of (K9) of a variable with these distances to its bounds and a residual within `error` of $r$.
#[inline(always)]
fn gap_term(r: f64, room_up: f64, room_down: f64, error: f64) -> f64 {
    let up = if r > -error { room_up * (r + error) } else { 0.0 };
    let down = if r < error { room_down * (error - r) } else { 0.0 };
    if up > down { up } else { down }
}
