//! The sample's Gram matrix as a low-rank factor and a residual, and a query's part of both.
//!
//! $K = X X^\top + E$: the columns of $X$ are leading principal coordinates of a pivoted Cholesky factor, so $E$ is positive
//! semidefinite. A query $z$ has the coordinates $x_z$ in them. Its residual $e_i = k(x_i, z) - \langle x_i, x_z \rangle$,
//! $\epsilon = k(z, z) - \|x_z\|^2$ becomes one more column of the factor, $o = e / \sqrt\epsilon$. The residual of the sample is then
//! $E - o o^\top$, and that of $z$ is zero.
//!
//! For a [low-rank residual](super::residual) $E = F F^\top + R$ the query has the coordinates $f_z$ in $F$, which leave
//! $\epsilon_2 = \epsilon - \|f_z\|^2$. The column $g = (e - F f_z) / \sqrt{\epsilon_2}$ completes the product: $F F^\top + g g^\top - o
//! o^\top$ and $R - g g^\top$ are positive semidefinite, and $z$ has no part in either.

use super::principal_factor::{PrincipalFactor, principal_axes};
use super::residual::{DenseResidual, LowRankResidual, Residual};
use crate::data::Rows;
use crate::error::Result;
use crate::kernel::Space;
use crate::kernel::pivoted_cholesky::PivotedCholesky;
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, dot, multiply, subtract_outer};

/// A query whose residual is below this share of $k(z, z)$ gets no column of its own; its kernel error accounts for that.
const NEGLIGIBLE: f64 = 1e-12;
/// Points within this squared distance of the span of the others, as a share of the largest $k(x, x)$, are in it.
pub(super) const IN_SPAN: f64 = 64.0 * f64::EPSILON;

/// The Gram matrix of the sample, split.
#[derive(Debug)]
pub(super) struct GramSplit {
    /// The pivoted Cholesky factor behind $X$, without its coordinates.
    cholesky: PivotedCholesky,
    /// From the Cholesky factor's coordinates to those in $X$ and, for a low-rank residual, in $F$; one row each.
    rotation: Matrix,
    /// $X$, n × m, and its transpose.
    pub(super) factor: Matrix,
    pub(super) factor_t: Matrix,
    pub(super) residual: Residual,
    /// The largest $k(x_i, x_i)$.
    pub(super) max_diagonal: f64,
    /// The Gram matrix itself, if the variances are computed from it.
    pub(super) gram: Option<Matrix>,
}

/// A query's part of the split.
pub(super) struct QuerySplit {
    /// $x_z$ and, last, $\sqrt\epsilon$, its coordinate in its own column.
    pub(super) coordinates: Vec<f64>,
    /// $o$.
    pub(super) own_column: Vec<f64>,
    /// $k(x_i, z)$, if the split keeps the Gram matrix, and $k(z, z)$.
    pub(super) kernel_values: Vec<f64>,
    pub(super) kernel_self: f64,
    /// $g$; empty unless the residual is low-rank.
    pub(super) completion: Vec<f64>,
    /// A bound on the error of the kernel values with the query.
    pub(super) kernel_error: f64,
}

impl GramSplit {
    /// With about `width` columns and a dense residual; `single` adds a copy of it in single precision.
    pub(super) fn new(space: &Space, width: usize, single: bool) -> Result<Self> {
        let n = space.len();
        let max_diagonal = space.largest;
        let max_rank = if width >= n { n } else { (4 * width).max(256) };
        let cholesky = PivotedCholesky::new(space, IN_SPAN * max_diagonal, max_rank)?;
        let (points, rank) = (&cholesky.coordinates, cholesky.pivots.len());
        let width = width.min(rank);
        let exact = width == rank && cholesky.residual <= IN_SPAN * max_diagonal;
        let rotation = if exact { None } else { principal_axes(points, &space.half_weights, width) };
        let rotation = rotation.map_or_else(
            || Matrix::from_fn(width, rank, |i, j| f64::from(u8::from(i == j))),
            |(_, rotation)| rotation,
        );
        let mut factor = Matrix::zeros(n, width);
        multiply(&mut factor, points, &rotation.transposed());
        let factor_t = factor.transposed();
        let residual = if exact {
            Residual::Zero
        } else {
            let mut residual = space.gram()?;
            subtract_outer(&mut residual, &factor, &factor, width, n);
            Residual::Dense(DenseResidual::new(residual, single))
        };
        let cholesky = PivotedCholesky { coordinates: Matrix::zeros(0, 0), ..cholesky };
        Ok(Self { cholesky, rotation, factor, factor_t, residual, max_diagonal, gram: None })
    }

    /// With the first `width` columns of a principal factor, and the others as a low-rank residual.
    ///
    /// `averaged` adds what the variances need, `single` copies in single precision.
    pub(super) fn low_rank(
        space: &Space,
        principal: PrincipalFactor,
        width: usize,
        averaged: bool,
        single: bool,
    ) -> Self {
        let width = width.min(principal.factor.cols());
        let factor = Matrix::from_fn(space.len(), width, |i, j| principal.factor.at(i, j));
        let residual = Residual::LowRank(Box::new(LowRankResidual::new(&principal, width, averaged, single)));
        let max_diagonal = space.largest;
        let PrincipalFactor { cholesky, rotation, .. } = principal;
        Self { cholesky, rotation, factor_t: factor.transposed(), factor, residual, max_diagonal, gram: None }
    }

    /// With `width` columns for the mode, and the Gram matrix itself for the variances.
    pub(super) fn with_gram(space: &Space, width: usize) -> Result<Self> {
        Ok(Self { gram: Some(space.gram()?), ..Self::new(space, width, false)? })
    }

    /// The same with up to `width` columns, the new ones taken from a low-rank residual; unchanged if there is none.
    pub(super) fn widened(mut self, width: usize) -> Self {
        let (n, m) = (self.len(), self.width());
        if let Residual::LowRank(low_rank) = self.residual {
            let more = width.saturating_sub(m).min(low_rank.factor.cols());
            let entry = |i: usize, j: usize| {
                if j < m { self.factor.at(i, j) } else { low_rank.factor.at(i, j - m) }
            };
            self.factor = Matrix::from_fn(n, m + more, entry);
            self.factor_t = self.factor.transposed();
            self.residual = Residual::LowRank(Box::new(low_rank.without(more)));
        }
        self
    }

    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.factor.rows()
    }

    /// How many columns $X$ has.
    pub(super) fn width(&self) -> usize {
        self.factor.cols()
    }

    /// The parts of a group of queries.
    pub(super) fn locate(&self, space: &Space, queries: Rows<'_>) -> Result<Vec<QuerySplit>> {
        let (n, m) = (self.len(), self.width());
        let columns = queries.len().next_multiple_of(COLUMN_GROUP);
        let mut values = Matrix::zeros(n, columns);
        space.block(queries, &mut values)?;
        let squares: Vec<f64> = queries.iter().map(|z| space.own(z)).collect::<Result<_>>()?;
        let mut rotated = Matrix::zeros(self.rotation.rows(), columns);
        multiply(&mut rotated, &self.rotation, &self.cholesky.locate(&values));
        let rows_from =
            |first: usize, count: usize| Matrix::from_fn(count, columns, |i, j| rotated.at(first + i, j));
        let mut in_factor = Matrix::zeros(n, columns);
        multiply(&mut in_factor, &self.factor, &rows_from(0, m));
        let mut in_low_rank = Matrix::zeros(n, columns);
        if let Some(low_rank) = self.residual.low_rank() {
            multiply(&mut in_low_rank, &low_rank.factor, &rows_from(m, low_rank.factor.cols()));
        }
        let split = |(j, square): (usize, &f64)| {
            let mut coordinates = rotated.col(j)[..m].to_vec();
            let mut own_square = square - dot(&coordinates, &coordinates);
            let mut own_column: Vec<f64> =
                values.col(j).iter().zip(in_factor.col(j)).map(|(k, x)| k - x).collect();
            // With a zero residual the points' distance from the span of the pivots is ignored.
            let ignored = if self.residual.is_zero() { self.cholesky.residual.max(0.0) } else { 0.0 };
            let mut kernel_error = space.rounding(*square) + ignored;
            let mut completion = Vec::new();
            if self.residual.low_rank().is_some() {
                let in_f = &rotated.col(j)[m..];
                completion = own_column.iter().zip(in_low_rank.col(j)).map(|(e, x)| e - x).collect();
                let (left, floor) = (own_square - dot(in_f, in_f), NEGLIGIBLE * square);
                let above_rounding = completion.iter().any(|e| e.abs() > 4.0 * kernel_error);
                if above_rounding && left < floor {
                    // So close to the span, rounding may make k(z, z) too small for the column: raising it to the floor keeps
                    // all parts positive semidefinite.
                    (own_square, kernel_error) = (own_square + floor - left, kernel_error + floor - left);
                    normalise(&mut completion, floor, 0.0);
                } else {
                    kernel_error += normalise(&mut completion, left, floor).1;
                }
            }
            let (own_coordinate, dropped) = normalise(&mut own_column, own_square, NEGLIGIBLE * square);
            coordinates.push(own_coordinate);
            let kernel_values = if self.gram.is_some() { values.col(j).to_vec() } else { Vec::new() };
            let kernel_error = kernel_error + dropped;
            QuerySplit {
                coordinates,
                own_column,
                kernel_values,
                kernel_self: *square,
                completion,
                kernel_error,
            }
        };
        Ok(squares.iter().enumerate().map(split).collect())
    }
}

/// Divides a query's residual column by the root of its residual `square`, if that is above `floor`; otherwise sets it to 0.
///
/// Returns the query's coordinate in the column, and a bound on the kernel values that were set to 0.
fn normalise(column: &mut [f64], square: f64, floor: f64) -> (f64, f64) {
    if square > floor {
        let root = square.sqrt();
        for e in column.iter_mut() {
            *e /= root;
        }
        return (root, 0.0);
    }
    // Where the last pivot is next to rounding, the coordinates may exceed k(z, z): the square is then negative.
    let dropped = column.iter().fold(square.abs(), |m, e| m.max(e.abs()));
    column.fill(0.0);
    (0.0, dropped)
}
