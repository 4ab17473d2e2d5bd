//! A low-rank factor of the Gram matrix in principal coordinates.

use super::gram_split::IN_SPAN;
use super::residual::Remainder;
use crate::error::Result;
use crate::kernel::Space;
use crate::kernel::pivoted_cholesky::PivotedCholesky;
use crate::numerics::linalg::{Matrix, dot, eigen, multiply, multiply_symmetric};
use std::sync::Arc;

/// The share of what may be left that the pivoted Cholesky factor leaves, so that most is left to the rotation, which needs
/// fewer columns for it (heuristic).
const CHOLESKY_SHARE: f64 = 0.1;

/// A factor $P$ with $K = P P^\top + R$, where $R$ is negligible, its columns in descending order of their second moments.
#[derive(Debug)]
pub(super) struct PrincipalFactor {
    /// The pivoted Cholesky factor that $P$ was computed from, without its coordinates.
    pub(super) cholesky: PivotedCholesky,
    /// From the Cholesky factor's coordinates to the principal ones, one row each.
    pub(super) rotation: Matrix,
    /// $P$, one row a point.
    pub(super) factor: Matrix,
    pub(super) remainder: Arc<Remainder>,
}

impl PrincipalFactor {
    /// The fewest columns for which the weighted mean of the diagonal of $R$ is at most `good`.
    ///
    /// Where `max_rank` columns do not achieve that, up to `bad` is accepted; `None` above.
    pub(super) fn new(
        space: &Space,
        counts: &[f64],
        (good, bad): (f64, f64),
        max_rank: usize,
    ) -> Result<Option<Self>> {
        let n = space.len();
        let max_diagonal = space.largest;
        let cholesky =
            PivotedCholesky::new(space, (CHOLESKY_SHARE * good).max(IN_SPAN * max_diagonal), max_rank)?;
        let all = cholesky.pivots.len();
        let Some((moments, rotation)) = principal_axes(&cholesky.coordinates, &space.half_weights, all)
        else {
            return Ok(None);
        };
        // The weights are half weights: the moments add up to half of the mean square.
        let sum = |moments: &[f64]| 2.0 * moments.iter().sum::<f64>();
        let outside = (2.0 * dot(&space.diagonal, &space.half_weights) - sum(&moments)).max(0.0);
        let budget = good.max(2.0 * outside);
        if budget > bad {
            return Ok(None);
        }
        let rank = (0..all).find(|rank| sum(&moments[*rank..]) <= budget - outside).unwrap_or(all);
        let rotation = Matrix::from_fn(rank, all, |i, j| rotation.at(i, j));
        let mut factor = Matrix::zeros(n, rank);
        multiply(&mut factor, &cholesky.coordinates, &rotation.transposed());
        // The eigenvalues of C^½ S C^½ for the dropped columns' S: counts are 2 N times the half weights.
        let total = counts.iter().sum::<f64>();
        let dropped: Vec<f64> = moments[rank..].iter().map(|m| 2.0 * total * m.max(0.0)).collect();
        let eigenvalue_error = 2.0 * total * all as f64 * f64::EPSILON * moments[0];
        let remainder = Remainder::new(space.gram()?, &factor, counts, (&dropped, eigenvalue_error));
        let cholesky = PivotedCholesky { coordinates: Matrix::zeros(0, 0), ..cholesky };
        Ok(Some(Self { cholesky, rotation, factor, remainder: Arc::new(remainder) }))
    }
}

/// The weighted second moments in descending order, and the first `count` principal axes, one row each; `None` if the
/// eigenvalue iteration failed.
pub(super) fn principal_axes(
    points: &Matrix,
    half_weights: &[f64],
    count: usize,
) -> Option<(Vec<f64>, Matrix)> {
    let (n, rank) = (points.rows(), points.cols());
    let weighted = Matrix::from_fn(n, rank, |i, j| half_weights[i] * points.at(i, j));
    let mut moments = Matrix::zeros(rank, rank);
    multiply_symmetric(&mut moments, &weighted, points);
    let (values, vectors) = eigen(&moments)?;
    // Entries this small would only make subnormal products.
    let axes = Matrix::from_fn(count, rank, |i, j| {
        let v = vectors.at(j, i);
        if v.abs() < 1e-30 { 0.0 } else { v }
    });
    Some((values, axes))
}
