//! The sample's Gram matrix, split into a few large directions that every query works in and a small rest.
//!
//! $K = X X^\top + E$: the columns of $X$ are the leading directions of a pivoted Cholesky factor, so $E$ is positive
//! semidefinite; a query $z$ has the coordinates $x_z$ in them. Its own rest $e_i = k(x_i, z) - \langle x_i, x_z \rangle$,
//! $\epsilon = k(z, z) - \|x_z\|^2$ becomes one more direction, $e / \sqrt\epsilon$, so that of $z$ nothing is left.

use crate::error::Result;
use crate::hypothesis::kernel::Space;
use crate::hypothesis::kernel::factor::Factor;
use crate::linalg::{
    COLUMN_GROUP, Matrix, dot, eigen, hadamard, multiply, multiply_first, multiply_symmetric, norm,
    subtract_outer,
};
use crate::rows::Rows;

/// A query whose rest is below this share of $k(z, z)$ has none.
const NOTHING: f64 = 1e-12;
/// Points within this of the span of the others, as a share of the largest $k(x, x)$, are in it.
const FLOOR: f64 = 64.0 * f64::EPSILON;

/// The split Gram matrix.
#[derive(Debug)]
pub(super) struct Basis {
    factor: Factor,
    /// From the factor's coordinates to the leading directions, one row each.
    turn: Matrix,
    /// n × m and m × n.
    pub(super) tall: Matrix,
    pub(super) wide: Matrix,
    /// n × n; nothing if the directions are all there are.
    pub(super) rest: Option<Matrix>,
    /// The same in single precision, for corrections that need no more.
    pub(super) single: Option<Matrix<f32>>,
    /// Its diagonal, and the norms of its rows.
    pub(super) beyond: Vec<f64>,
    pub(super) norms: Vec<f64>,
    pub(super) largest: f64,
}

/// Where a query is.
pub(super) struct Place {
    /// Its coordinates: the leading directions, and its own.
    pub(super) coordinates: Vec<f64>,
    /// The sample's coordinate in the query's own direction.
    pub(super) own: Vec<f64>,
    /// How far kernel values with the query may be off.
    pub(super) slack: f64,
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
        let turn = turn.unwrap_or_else(|| Matrix::from_fn(width, rank, |i, j| f64::from(u8::from(i == j))));
        let back = turn.transposed();
        let mut tall = Matrix::zeros(n, width);
        multiply(&mut tall, points, &back);
        let wide = tall.transposed();
        let (rest, beyond) = if exact {
            (None, vec![0.0; n])
        } else {
            let mut rest = space.gram()?;
            subtract_outer(&mut rest, &tall, &tall, width, n);
            let beyond = (0..n).map(|i| rest.at(i, i).max(0.0)).collect();
            (Some(rest), beyond)
        };
        let factor = Factor { coordinates: Matrix::zeros(0, 0), ..factor };
        let norms = rest.as_ref().map_or_else(Vec::new, |r| (0..n).map(|i| norm(r.col(i))).collect());
        let single = rest.as_ref().filter(|_| single).map(Matrix::single);
        Ok(Self { factor, turn, tall, wide, rest, single, beyond, norms, largest })
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
        let (found, _) = self.factor.locate(&values, &own);
        let mut turned = Matrix::zeros(m, columns);
        multiply(&mut turned, &self.turn, &found);
        let mut inside = Matrix::zeros(n, columns);
        multiply(&mut inside, &self.tall, &turned);
        let place = |(j, own): (usize, &f64)| {
            let mut coordinates = turned.col(j).to_vec();
            let left = own - dot(&coordinates, &coordinates);
            let mut rest: Vec<f64> = values.col(j).iter().zip(inside.col(j)).map(|(k, x)| k - x).collect();
            let mut slack = space.rounding(*own);
            if left > NOTHING * own {
                let root = left.sqrt();
                for e in &mut rest {
                    *e /= root;
                }
                coordinates.push(root);
            } else {
                slack += rest.iter().fold(0.0f64, |m, e| m.max(e.abs()));
                rest.fill(0.0);
                coordinates.push(0.0);
            }
            Place { coordinates, own: rest, slack }
        };
        Ok(own.iter().enumerate().map(place).collect())
    }

    /// The rest times each of the first `count` columns, into `out`.
    pub(super) fn apply(&self, columns: &Matrix, out: &mut Matrix, count: usize) {
        if let Some(rest) = &self.rest {
            multiply_first(out, rest, columns, count);
        }
    }

    /// $\sum_j E_{ij}^2 c_j$ for each column.
    pub(super) fn apply_squares(&self, columns: &Matrix, out: &mut Matrix) {
        const STRETCH: usize = 64;
        let Some(rest) = &self.rest else { return };
        let n = self.len();
        let mut squares = Matrix::zeros(n, STRETCH);
        let mut part = Matrix::zeros(n, columns.cols());
        (0..out.cols()).for_each(|j| out.col_mut(j).fill(0.0));
        for first in (0..n).step_by(STRETCH) {
            let count = STRETCH.min(n - first);
            for j in 0..STRETCH {
                if j < count {
                    hadamard(rest.col(first + j), rest.col(first + j), squares.col_mut(j));
                } else {
                    squares.col_mut(j).fill(0.0);
                }
            }
            let slice = Matrix::from_fn(STRETCH, columns.cols(), |i, j| {
                if i < count { columns.at(first + i, j) } else { 0.0 }
            });
            multiply(&mut part, &squares, &slice);
            for j in 0..out.cols() {
                crate::linalg::axpy(1.0, part.col(j), out.col_mut(j));
            }
        }
    }
}

/// The directions of the largest weighted second moments, one row each; `None` if they were not found.
fn leading(points: &Matrix, half_weights: &[f64], width: usize) -> Option<Matrix> {
    let (n, rank) = (points.rows(), points.cols());
    let weighted = Matrix::from_fn(n, rank, |i, j| half_weights[i] * points.at(i, j));
    let mut moments = Matrix::zeros(rank, rank);
    multiply_symmetric(&mut moments, &weighted, points);
    let (_, vectors) = eigen(&moments)?;
    Some(Matrix::from_fn(width, rank, |i, j| {
        let v = vectors.at(j, i);
        if v.abs() < 1e-30 { 0.0 } else { v }
    }))
}
