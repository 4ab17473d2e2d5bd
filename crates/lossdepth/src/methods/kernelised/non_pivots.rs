//! Rows that are no pivots of the Cholesky factor, and their residuals with a query (K13).
//!
//! The factorisation stops where the squared distance of a row from the span of the pivots is rounding in $k(x, x)$. The
//! distance itself is larger, and a query outside of the span may have an inner product with that part. Also, the
//! coordinates of such a row along the last pivots are mostly rounding; that does not matter between rows of the sample,
//! but it does with a query that has a large coordinate there. So the residual
//! $p_i = k(x_i, z) - \langle t_i, \hat z \rangle$ is computed for every query.

use super::FactoredSample;
use crate::data::Rows;
use crate::error::Result;
use crate::kernel::Space;
use crate::kernel::pivoted_cholesky::PivotedCholesky;
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, dot, multiply};

/// Kernel columns compared at a time.
const BLOCK: usize = 32;

/// The rows that are no pivots.
#[derive(Debug, Clone)]
pub(super) struct NonPivots {
    pub(super) points: Vec<usize>,
    /// Their coordinates, one row each.
    pub(super) coordinates: Matrix,
    /// A bound on the difference between the exact kernel of any two of them and that of their coordinates.
    pub(super) kernel_error: f64,
}

/// A few queries in the coordinates of the factor, one column each.
pub(super) struct QueryCoordinates {
    /// $\hat z$ of (K12), padded to whole groups of columns.
    pub(super) coordinates: Matrix,
    /// $p_i$ of (K13).
    pub(super) residuals: Matrix,
    pub(super) queries: Vec<QueryResidual>,
}

/// What the coordinates of a query leave open.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryResidual {
    /// $k(z, z)$.
    pub(super) diagonal: f64,
    /// $\rho$ of (K12), the distance from the span; 0 if it may be rounding.
    pub(super) distance: f64,
    /// The change of $k(z, z)$ by setting the distance to 0.
    pub(super) ignored: f64,
    /// The largest $|p_i|$.
    pub(super) max_residual: f64,
    /// A bound on the rounding error of a kernel value of the coordinates.
    pub(super) rounding: f64,
}

impl QueryResidual {
    /// A bound on the difference between the exact kernel and that of the coordinates, for all pairs but those of a query
    /// outside of the span with a row that is no pivot; `non_pivots` is that of the sample.
    pub(super) fn kernel_error(&self, non_pivots: f64) -> f64 {
        let residual = if self.distance > 0.0 { 0.0 } else { self.ignored.max(self.max_residual) };
        non_pivots.max(residual + 2.0 * self.rounding)
    }

    /// A bound on $|e_i| = |p_i| / \rho$ of (K13); 0 for a query in the span.
    pub(super) fn component_bound(&self, residual: f64) -> f64 {
        if self.distance > 0.0 { (residual.abs() + 2.0 * self.rounding) / self.distance } else { 0.0 }
    }
}

impl NonPivots {
    pub(super) fn new(space: &Space, factor: &PivotedCholesky) -> Result<Self> {
        let (n, rank) = (space.len(), factor.pivots.len());
        let mut is_pivot = vec![false; n];
        factor.pivots.iter().for_each(|&p| is_pivot[p] = true);
        let points: Vec<usize> = (0..n).filter(|&i| !is_pivot[i]).collect();
        let coordinates = Matrix::from_fn(points.len(), rank, |i, j| factor.coordinates.at(points[i], j));
        // The rounding errors of two of them may add up in their inner product: measure every pair.
        let (mut values, mut products) = (Matrix::zeros(n, BLOCK), Matrix::zeros(points.len(), BLOCK));
        let mut largest = 0.0f64;
        for (first, chosen) in points.chunks(BLOCK).enumerate().map(|(k, chosen)| (k * BLOCK, chosen)) {
            space.columns(chosen, &mut values)?;
            let at = |i: usize, j: usize| if j < chosen.len() { coordinates.at(first + j, i) } else { 0.0 };
            multiply(&mut products, &coordinates, &Matrix::from_fn(rank, BLOCK, at));
            for j in 0..chosen.len() {
                let pairs = points.iter().zip(products.col(j));
                largest = pairs.fold(largest, |most, (&i, p)| most.max((values.at(i, j) - p).abs()));
            }
        }
        Ok(Self { kernel_error: largest + 2.0 * factor.rounding(space, 0.0), points, coordinates })
    }
}

impl FactoredSample {
    /// The coordinates of a few queries, and what they leave open.
    pub(super) fn locate(&self, queries: Rows<'_>) -> Result<QueryCoordinates> {
        let Self { space, factor, non_pivots, .. } = self;
        let padded = queries.len().next_multiple_of(COLUMN_GROUP);
        let mut values = Matrix::zeros(space.len(), padded);
        space.block(queries, &mut values)?;
        let coordinates = factor.locate(&values);
        let mut residuals = Matrix::zeros(non_pivots.points.len(), padded);
        multiply(&mut residuals, &non_pivots.coordinates, &coordinates);
        let residual = |(j, query): (usize, &[f64])| {
            let (diagonal, point) = (space.own(query)?, coordinates.col(j));
            let column = residuals.col_mut(j);
            for (p, &i) in column.iter_mut().zip(&non_pivots.points) {
                *p = values.at(i, j) - *p;
            }
            let max_residual = column.iter().fold(0.0f64, |m, p| m.max(p.abs()));
            let square = diagonal - dot(point, point);
            let rounding = factor.rounding(space, diagonal);
            let distance = if square > factor.floor(space, diagonal) { square.sqrt() } else { 0.0 };
            let ignored = if distance > 0.0 { 0.0 } else { square.abs() };
            Ok(QueryResidual { diagonal, distance, ignored, max_residual, rounding })
        };
        let queries = queries.iter().enumerate().map(residual).collect::<Result<_>>()?;
        Ok(QueryCoordinates { coordinates, residuals, queries })
    }

    /// The queries in the solver's coordinates, one column each.
    pub(super) fn solver_coordinates(&self, located: &QueryCoordinates) -> Matrix {
        let distances: Vec<f64> = located.queries.iter().map(|query| query.distance).collect();
        self.features.query_coordinates(located.coordinates.clone(), &distances)
    }
}
