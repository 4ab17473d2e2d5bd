//! The sample's Gram matrix, split into a few large directions that every query works in and a small rest.
//!
//! $K = X X^\top + E$: the columns of $X$ are the leading directions of a pivoted Cholesky factor, so $E$ is positive
//! semidefinite; a query $z$ has the coordinates $x_z$ in them. Its own rest $e_i = k(x_i, z) - \langle x_i, x_z \rangle$,
//! $\epsilon = k(z, z) - \|x_z\|^2$ becomes one more direction, $o = e / \sqrt\epsilon$, so that of $z$ nothing is left and
//! $E - o o^\top$ is what is left of the sample.
//!
//! Where the [rest](super::residual) is a thin product $F F^\top$ and a negligible $R$, the query's coordinates $f_z$ in $F$ leave
//! $\epsilon_2 = \epsilon - \|f_z\|^2$, and $g = (e - F f_z) / \sqrt{\epsilon_2}$ completes the product: $F F^\top + g g^\top - o
//! o^\top$ and $R - g g^\top$ are positive semidefinite, and neither has anything left of $z$.

use super::residual::{Beyond, Dense, Rest, Thin};
use crate::data::Rows;
use crate::error::Result;
use crate::kernel::Space;
use crate::kernel::factor::Factor;
use crate::numerics::linalg::{
    COLUMN_GROUP, Matrix, dot, eigen, multiply, multiply_symmetric, subtract_outer,
};
use std::sync::Arc;

/// A query whose rest is below this share of $k(z, z)$ has none.
const NOTHING: f64 = 1e-12;
/// Points within this of the span of the others, as a share of the largest $k(x, x)$, are in it.
const FLOOR: f64 = 64.0 * f64::EPSILON;

/// The split Gram matrix.
#[derive(Debug)]
pub(super) struct Basis {
    factor: Factor,
    /// From the factor's coordinates to the leading directions and those of a thin rest, one row each.
    turn: Matrix,
    /// n × m and m × n.
    pub(super) tall: Matrix,
    pub(super) wide: Matrix,
    pub(super) rest: Rest,
    pub(super) largest: f64,
    /// All of the Gram matrix, if the variances are to come from that.
    pub(super) gram: Option<Matrix>,
}

/// Where a query is.
pub(super) struct Place {
    /// Its coordinates: the leading directions, and its own.
    pub(super) coordinates: Vec<f64>,
    /// The sample's coordinate in the query's own direction.
    pub(super) own: Vec<f64>,
    /// Its kernel values with the sample, if the sample is treated as a whole, and with itself.
    pub(super) values: Vec<f64>,
    pub(super) square: f64,
    /// What completes a thin rest, $g$; empty for others.
    pub(super) completion: Vec<f64>,
    /// How far kernel values with the query may be off.
    pub(super) slack: f64,
}

/// A factor of the Gram matrix that leaves next to nothing, in order of its directions' second moments.
#[derive(Debug)]
pub(super) struct Spectrum {
    factor: Factor,
    turn: Matrix,
    /// The coordinates of the points, one row each.
    pub(super) points: Matrix,
    pub(super) beyond: Arc<Beyond>,
}

impl Spectrum {
    /// As few directions as leave no more than `good` (squared) of a point on average, or more where `most` directions leave more,
    /// up to `bad`; `None` beyond that.
    pub(super) fn new(
        space: &Space,
        counts: &[f64],
        (good, bad): (f64, f64),
        most: usize,
    ) -> Result<Option<Self>> {
        let n = space.len();
        let largest = space.diagonal.iter().fold(0.0f64, |m, k| m.max(*k));
        let factor = Factor::new(space, (0.1 * good).max(FLOOR * largest), most)?;
        let all = factor.pivots.len();
        let Some((moments, turn)) = leading(&factor.coordinates, &space.half_weights, all) else {
            return Ok(None);
        };
        // Half weights: the moments add up to half of the mean square.
        let sum = |moments: &[f64]| 2.0 * moments.iter().sum::<f64>();
        let beyond = (2.0 * dot(&space.diagonal, &space.half_weights) - sum(&moments)).max(0.0);
        let budget = good.max(2.0 * beyond);
        if budget > bad {
            return Ok(None);
        }
        let rank = (0..all).find(|rank| sum(&moments[*rank..]) <= budget - beyond).unwrap_or(all);
        let turn = Matrix::from_fn(rank, all, |i, j| turn.at(i, j));
        let mut points = Matrix::zeros(n, rank);
        multiply(&mut points, &factor.coordinates, &turn.transposed());
        // By the counts, which are so many times the half weights.
        let total = counts.iter().sum::<f64>();
        let dropped: Vec<f64> = moments[rank..].iter().map(|m| 2.0 * total * m.max(0.0)).collect();
        let noise = 2.0 * total * all as f64 * f64::EPSILON * moments[0];
        let beyond = Arc::new(Beyond::new(space.gram()?, &points, counts, (&dropped, noise)));
        let factor = Factor { coordinates: Matrix::zeros(0, 0), ..factor };
        Ok(Some(Self { factor, turn, points, beyond }))
    }
}

impl Basis {
    /// With about `width` directions; `single` asks for a copy of the rest in single precision.
    pub(super) fn new(space: &Space, width: usize, single: bool) -> Result<Self> {
        let n = space.len();
        let largest = space.diagonal.iter().fold(0.0f64, |m, k| m.max(*k));
        let whole = width >= n;
        let reach = if whole { n } else { (4 * width).max(256) };
        let factor = Factor::new(space, FLOOR * largest, reach)?;
        let (points, rank) = (&factor.coordinates, factor.pivots.len());
        let width = width.min(rank);
        let exact = width == rank && factor.residual <= FLOOR * largest;
        let turn = if exact { None } else { leading(points, &space.half_weights, width) };
        let turn = turn.map(|(_, turn)| turn);
        let turn = turn.unwrap_or_else(|| Matrix::from_fn(width, rank, |i, j| f64::from(u8::from(i == j))));
        let back = turn.transposed();
        let mut tall = Matrix::zeros(n, width);
        multiply(&mut tall, points, &back);
        let wide = tall.transposed();
        let rest = if exact {
            Rest::Nothing
        } else {
            let mut rest = space.gram()?;
            subtract_outer(&mut rest, &tall, &tall, width, n);
            Rest::Dense(Dense::new(rest, single))
        };
        let factor = Factor { coordinates: Matrix::zeros(0, 0), ..factor };
        Ok(Self { factor, turn, tall, wide, rest, largest, gram: None })
    }

    /// With the first `width` directions of a spectrum, and a thin rest; `averaged` asks for what variances need, `single` for
    /// single precision where that is enough.
    pub(super) fn thin(
        space: &Space,
        spectrum: Spectrum,
        width: usize,
        averaged: bool,
        single: bool,
    ) -> Self {
        let width = width.min(spectrum.points.cols());
        let tall = Matrix::from_fn(space.len(), width, |i, j| spectrum.points.at(i, j));
        let rest = Rest::Thin(Box::new(Thin::new(&spectrum, width, averaged, single)));
        let largest = space.diagonal.iter().fold(0.0f64, |m, k| m.max(*k));
        let Spectrum { factor, turn, .. } = spectrum;
        Self { factor, turn, wide: tall.transposed(), tall, rest, largest, gram: None }
    }

    /// For the mode as with `width` directions; the variances come from all of the Gram matrix.
    pub(super) fn whole(space: &Space, width: usize) -> Result<Self> {
        Ok(Self { gram: Some(space.gram()?), ..Self::new(space, width, false)? })
    }

    /// The same with more directions, taken from a thin rest; as it is if it has none.
    pub(super) fn widened(mut self, width: usize) -> Self {
        let (n, m) = (self.len(), self.width());
        if let Rest::Thin(thin) = self.rest {
            let more = width.saturating_sub(m).min(thin.tall.cols());
            self.tall =
                Matrix::from_fn(
                    n,
                    m + more,
                    |i, j| {
                        if j < m { self.tall.at(i, j) } else { thin.tall.at(i, j - m) }
                    },
                );
            self.wide = self.tall.transposed();
            self.rest = Rest::Thin(Box::new(thin.without(more)));
        }
        self
    }

    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.tall.rows()
    }

    /// How many directions all queries share.
    pub(super) fn width(&self) -> usize {
        self.tall.cols()
    }

    /// Where a group of queries is.
    pub(super) fn locate(&self, space: &Space, queries: Rows<'_>) -> Result<Vec<Place>> {
        let (n, m) = (self.len(), self.width());
        let columns = queries.len().next_multiple_of(COLUMN_GROUP);
        let mut values = Matrix::zeros(n, columns);
        space.block(queries, &mut values)?;
        let own: Vec<f64> = queries.iter().map(|z| space.own(z)).collect::<Result<_>>()?;
        let found = self.factor.locate(&values);
        let mut turned = Matrix::zeros(self.turn.rows(), columns);
        multiply(&mut turned, &self.turn, &found);
        let part =
            |first: usize, count: usize| Matrix::from_fn(count, columns, |i, j| turned.at(first + i, j));
        let mut inside = Matrix::zeros(n, columns);
        multiply(&mut inside, &self.tall, &part(0, m));
        let mut thin = Matrix::zeros(n, columns);
        if let Some(rest) = self.rest.thin() {
            multiply(&mut thin, &rest.tall, &part(m, rest.tall.cols()));
        }
        let place = |(j, own): (usize, &f64)| {
            let mut coordinates = turned.col(j)[..m].to_vec();
            let left = own - dot(&coordinates, &coordinates);
            let mut rest: Vec<f64> = values.col(j).iter().zip(inside.col(j)).map(|(k, x)| k - x).collect();
            // What the points have beyond the span of the pivots is not in `rest` if that is nothing.
            let dropped = if self.rest.is_nothing() { self.factor.residual.max(0.0) } else { 0.0 };
            let mut slack = space.rounding(*own) + dropped;
            let mut completion = Vec::new();
            let mut left = left;
            if self.rest.thin().is_some() {
                let further = &turned.col(j)[m..];
                completion = rest.iter().zip(thin.col(j)).map(|(e, x)| e - x).collect();
                let (beyond, floor) = (left - dot(further, further), NOTHING * own);
                let real = completion.iter().any(|e| e.abs() > 4.0 * slack);
                if real && beyond < floor {
                    // A query this close to the span: a trace more of its own keeps all parts positive semidefinite.
                    (left, slack) = (left + floor - beyond, slack + floor - beyond);
                    direction(&mut completion, floor, 0.0);
                } else {
                    slack += direction(&mut completion, beyond, floor).1;
                }
            }
            let (length, lost) = direction(&mut rest, left, NOTHING * own);
            coordinates.push(length);
            let values = if self.gram.is_some() { values.col(j).to_vec() } else { Vec::new() };
            Place { coordinates, own: rest, values, square: *own, completion, slack: slack + lost }
        };
        Ok(own.iter().enumerate().map(place).collect())
    }
}

/// Makes what is left of a query's kernel values a direction, if what is left of its own, `square`, is more than `floor`: the
/// query's coordinate in it, and what was lost.
fn direction(rest: &mut [f64], square: f64, floor: f64) -> (f64, f64) {
    if square > floor {
        let root = square.sqrt();
        for e in rest.iter_mut() {
            *e /= root;
        }
        return (root, 0.0);
    }
    // Where the last pivot is next to rounding the coordinates may have more than the query's own square.
    let lost = rest.iter().fold(square.abs(), |m, e| m.max(e.abs()));
    rest.fill(0.0);
    (0.0, lost)
}

/// The largest weighted second moments, and their directions, one row each; `None` if they were not found.
fn leading(points: &Matrix, half_weights: &[f64], width: usize) -> Option<(Vec<f64>, Matrix)> {
    let (n, rank) = (points.rows(), points.cols());
    let weighted = Matrix::from_fn(n, rank, |i, j| half_weights[i] * points.at(i, j));
    let mut moments = Matrix::zeros(rank, rank);
    multiply_symmetric(&mut moments, &weighted, points);
    let (values, vectors) = eigen(&moments)?;
    let directions = Matrix::from_fn(width, rank, |i, j| {
        let v = vectors.at(j, i);
        if v.abs() < 1e-30 { 0.0 } else { v }
    });
    Some((values, directions))
}
