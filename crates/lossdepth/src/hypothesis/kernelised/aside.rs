//! Points that are taken to be in the span of the pivots, and what a query sees of them all the same.
//!
//! A pivoted Cholesky factor stops at what is rounding in $k(x, x)$: the square of a distance. The distance itself is
//! not, and a query that is outside of the span, at the distance $\rho$, may see of such a point what no other point sees: its
//! part $e_i$ in the query's own direction, $e_i \rho = k(x_i, z) - \langle t_i, \hat z \rangle$.

use crate::error::Result;
use crate::hypothesis::kernel::Space;
use crate::hypothesis::kernel::factor::Factor;
use crate::linalg::{COLUMN_GROUP, Matrix, dot};
use crate::rows::Rows;

/// The points that are no pivots.
#[derive(Debug, Clone)]
pub(super) struct Aside {
    pub(super) points: Vec<usize>,
    /// One column each.
    pub(super) coordinates: Matrix,
    /// How far from the span they may be.
    distances: Vec<f64>,
    /// The largest of them.
    pub(super) farthest: f64,
}

/// What a query looks like from the span of the pivots.
pub(super) struct Sight {
    /// $k(z, z)$.
    pub(super) own: f64,
    /// Its coordinates, one column of a group, and its distance from the span.
    pub(super) point: Matrix,
    pub(super) beyond: f64,
    /// How far it may be from the span if it was taken to be in it, squared.
    pub(super) lost: f64,
    /// $e_i$ for every point aside, and a bound on its size.
    pub(super) parts: Vec<f64>,
    pub(super) sizes: Vec<f64>,
}

impl Aside {
    pub(super) fn new(space: &Space, factor: &Factor) -> Self {
        let (n, rank) = (space.len(), factor.pivots.len());
        let mut is_pivot = vec![false; n];
        factor.pivots.iter().for_each(|&p| is_pivot[p] = true);
        let points: Vec<usize> = (0..n).filter(|&i| !is_pivot[i]).collect();
        let coordinates = Matrix::from_fn(rank, points.len(), |i, j| factor.coordinates.at(points[j], i));
        let rounding = 2.0 * factor.blur(space, 0.0);
        let distances: Vec<f64> = points.iter().map(|&i| (factor.left[i] + rounding).sqrt()).collect();
        let farthest = distances.iter().fold(0.0f64, |m, d| m.max(*d));
        Self { points, coordinates, distances, farthest }
    }

    /// How far any kernel value but those of a query with these points may be off.
    pub(super) fn slack(&self, space: &Space, factor: &Factor, own: f64) -> f64 {
        // The squared distances have the rounding of a sample's kernel values in them.
        (self.farthest * self.farthest).max(2.0 * factor.blur(space, own))
    }

    /// Looks at a query.
    pub(super) fn look(&self, space: &Space, factor: &Factor, query: Rows<'_>) -> Result<Sight> {
        let mut values = Matrix::zeros(space.len(), COLUMN_GROUP);
        space.block(query, &mut values)?;
        let own = space.own(query.row(0))?;
        let point = factor.locate(&values);
        let found = point.col(0);
        let (beyond, blur) = (factor.beyond(space, found, own), 2.0 * factor.blur(space, own));
        let (mut parts, mut sizes) = (vec![0.0; self.points.len()], vec![0.0; self.points.len()]);
        let lost = if beyond > 0.0 { 0.0 } else { (own - dot(found, found)).max(0.0) + blur };
        if beyond > 0.0 {
            for (j, (&i, &distance)) in self.points.iter().zip(&self.distances).enumerate() {
                let part = values.at(i, 0) - dot(self.coordinates.col(j), found);
                parts[j] = (part / beyond).clamp(-distance, distance);
                sizes[j] = ((part.abs() + blur) / beyond).min(distance);
            }
        }
        Ok(Sight { own, point, beyond, lost, parts, sizes })
    }
}
