//! Points that are taken to be in the span of the pivots, and what a query sees of them all the same.
//!
//! A pivoted Cholesky factor stops at what is rounding in $k(x, x)$: the square of a distance. The distance itself is
//! not, and a query that is outside of the span may see of such a point what no other point sees. Also the coordinates of such a
//! point in the directions of the last pivots are mostly rounding, which is nothing between points of the sample, and more with a
//! query that is far out in such a direction. So what a query's kernel value with each of these points has beyond that of their
//! coordinates is computed for every query: $p_i = k(x_i, z) - \langle t_i, \hat z \rangle$.

use super::Factored;
use crate::data::Rows;
use crate::error::Result;
use crate::kernel::Space;
use crate::kernel::factor::Factor;
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, dot, multiply};

/// Points whose kernel values are compared at a time.
const STEP: usize = 32;

/// The points that are no pivots.
#[derive(Debug, Clone)]
pub(super) struct Aside {
    pub(super) points: Vec<usize>,
    /// One row each.
    pub(super) coordinates: Matrix,
    /// How far the kernel of any two of them may be from that of their coordinates.
    pub(super) square: f64,
}

/// Where queries are: one column each.
pub(super) struct Sight {
    /// Their coordinates in the span, padded to whole groups of columns.
    pub(super) found: Matrix,
    /// $p_i$ for every point aside.
    pub(super) parts: Matrix,
    pub(super) places: Vec<Place>,
}

/// Where one query is, beyond its coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// $k(z, z)$.
    pub(super) own: f64,
    /// The distance from the span; 0 if that may be rounding.
    pub(super) beyond: f64,
    /// What taking it to be in the span changed in $k(z, z)$.
    pub(super) lost: f64,
    /// The largest $|p_i|$.
    pub(super) part: f64,
    /// How far rounding may have carried a kernel value off.
    pub(super) blur: f64,
}

impl Place {
    /// How far any kernel value may be from that of the coordinates, but for those that a query outside of the span sees; `square` is
    /// that of the points aside.
    pub(super) fn slack(&self, square: f64) -> f64 {
        let seen = if self.beyond > 0.0 { 0.0 } else { self.lost.max(self.part) };
        square.max(seen + 2.0 * self.blur)
    }

    /// A bound on the part of a point in the direction of a query outside of the span, $|p_i| / \rho$.
    pub(super) fn seen(&self, part: f64) -> f64 {
        if self.beyond > 0.0 { (part.abs() + 2.0 * self.blur) / self.beyond } else { 0.0 }
    }
}

impl Aside {
    pub(super) fn new(space: &Space, factor: &Factor) -> Result<Self> {
        let (n, rank) = (space.len(), factor.pivots.len());
        let mut is_pivot = vec![false; n];
        factor.pivots.iter().for_each(|&p| is_pivot[p] = true);
        let points: Vec<usize> = (0..n).filter(|&i| !is_pivot[i]).collect();
        let coordinates = Matrix::from_fn(points.len(), rank, |i, j| factor.coordinates.at(points[i], j));
        // Rounding in two of them may be magnified where they meet: that is looked at, pair by pair.
        let (mut values, mut products) = (Matrix::zeros(n, STEP), Matrix::zeros(points.len(), STEP));
        let mut off = 0.0f64;
        for (first, chosen) in points.chunks(STEP).enumerate().map(|(k, chosen)| (k * STEP, chosen)) {
            space.columns(chosen, &mut values)?;
            let at = |i: usize, j: usize| if j < chosen.len() { coordinates.at(first + j, i) } else { 0.0 };
            multiply(&mut products, &coordinates, &Matrix::from_fn(rank, STEP, at));
            for j in 0..chosen.len() {
                let pairs = points.iter().zip(products.col(j));
                off = pairs.fold(off, |off, (&i, p)| off.max((values.at(i, j) - p).abs()));
            }
        }
        Ok(Self { square: off + 2.0 * factor.blur(space, 0.0), points, coordinates })
    }
}

impl Factored {
    /// Looks at a few queries.
    pub(super) fn look(&self, queries: Rows<'_>) -> Result<Sight> {
        let Self { space, factor, aside, .. } = self;
        let padded = queries.len().next_multiple_of(COLUMN_GROUP);
        let mut values = Matrix::zeros(space.len(), padded);
        space.block(queries, &mut values)?;
        let found = factor.locate(&values);
        let mut parts = Matrix::zeros(aside.points.len(), padded);
        multiply(&mut parts, &aside.coordinates, &found);
        let place = |(j, query): (usize, &[f64])| {
            let (own, point) = (space.own(query)?, found.col(j));
            let column = parts.col_mut(j);
            for (p, &i) in column.iter_mut().zip(&aside.points) {
                *p = values.at(i, j) - *p;
            }
            let part = column.iter().fold(0.0f64, |m, p| m.max(p.abs()));
            let (left, blur) = (own - dot(point, point), factor.blur(space, own));
            let beyond = if left > factor.floor(space, own) { left.sqrt() } else { 0.0 };
            Ok(Place { own, beyond, lost: if beyond > 0.0 { 0.0 } else { left.abs() }, part, blur })
        };
        let places = queries.iter().enumerate().map(place).collect::<Result<_>>()?;
        Ok(Sight { found, parts, places })
    }

    /// The coordinates that the solver knows of queries that were looked at, one column each.
    pub(super) fn located(&self, sight: &Sight) -> Matrix {
        let beyond: Vec<f64> = sight.places.iter().map(|place| place.beyond).collect();
        self.features.place(sight.found.clone(), &beyond)
    }
}
