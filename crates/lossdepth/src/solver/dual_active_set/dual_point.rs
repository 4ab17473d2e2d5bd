//! A point of the dual problem and the kernel values of its query.

use super::updated_cholesky::UpdatedCholesky;
use crate::certify::gap::at_least_zero;

/// The kernel values of one query with the sample points and with itself.
#[derive(Clone, Copy)]
pub(crate) struct QueryKernel<'a> {
    /// $k(x_i, z)$.
    pub(crate) column: &'a [f64],
    /// $k(z, z)$.
    pub(crate) diagonal: f64,
    /// The sample point that equals the query, if there is one and the caller has searched for it.
    pub(crate) equal_point: Option<usize>,
}

impl<'a> QueryKernel<'a> {
    pub(crate) fn new(column: &'a [f64], diagonal: f64) -> Self {
        Self { column, diagonal, equal_point: None }
    }
}

/// A point of the dual problem with the quantities that follow from it.
#[derive(Debug, Clone, Default)]
pub(crate) struct DualPoint {
    /// $\beta$: the dual variables of the sample, then the query's.
    pub(crate) beta: Vec<f64>,
    /// $G = K \beta$ at the sample points, then at the query.
    pub(crate) k_beta: Vec<f64>,
    /// $2 \lambda b$ without the term $\vartheta \sum \beta$ of (K10).
    pub(crate) multiplier: f64,
    /// $\sum \beta$.
    pub(crate) sum: f64,
    /// $\vartheta$ of (K10).
    pub(crate) penalty: f64,
    /// The free variables, and the factor of their $K + \vartheta \mathbf{1} \mathbf{1}^\top$ plus a ridge.
    pub(crate) free: Vec<usize>,
    pub(crate) factor: UpdatedCholesky,
    /// The number of columns that were added to `k_beta`: each adds a rounding error.
    pub(crate) updates: usize,
    /// Variables at a bound that belong to the first working set, whatever their residuals.
    pub(crate) first_working_set: Vec<usize>,
}

impl DualPoint {
    /// $\|\sum_j \beta_j \varphi_j\|^2$ and the sum of the absolute coefficients, for (K16).
    ///
    /// A sample point that equals the query has one joint coefficient with it.
    pub(crate) fn norm_squared(&self, query: QueryKernel<'_>) -> (f64, f64) {
        let n = query.column.len();
        let (beta, k_beta) = (&self.beta[..n], &self.k_beta[..n]);
        let joint = query.equal_point.unwrap_or(n);
        let others = |value: &dyn Fn(usize) -> f64| (0..n).filter(|i| *i != joint).map(value).sum::<f64>();
        let (square, mass) = (others(&|i| beta[i] * k_beta[i]), others(&|i| beta[i].abs()));
        let coefficient = if joint < n { beta[joint] + self.beta[n] } else { self.beta[n] };
        (at_least_zero(square + coefficient * self.k_beta[joint]), mass + coefficient.abs())
    }
}
