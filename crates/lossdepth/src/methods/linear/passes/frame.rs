//! The coordinates of a pass: rows scaled, centred where the intercept is free, in blocks of one size.

use crate::data::{Rows, Scaling};
use crate::numerics::linalg::{Matrix, norm};
use crate::problem::Intercept;

/// Rows of a block. A sum over a block is rounded as a sum of so many terms; blocks are added with twice the digits.
pub(super) const BLOCK: usize = 1024;

/// How a row becomes a column of coordinates: a 1 for a free intercept, the scaled numbers less the centre, a 1 for a penalised
/// intercept.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    scaling: Scaling,
    /// 0 unless the intercept is free: then the depth does not depend on it.
    center: Vec<f64>,
    intercept: Intercept,
}

/// Some rows, one column a coordinate, with their weights; what is missing of [`BLOCK`] rows is 0.
pub(super) struct RowBlock {
    /// The last column holds bounds on the norms of the rows.
    pub(super) points: Matrix,
    pub(super) weights: Vec<f64>,
    pub(super) largest_norm: f64,
}

impl Frame {
    /// `center` is in scaled coordinates.
    pub(super) fn new(scaling: Scaling, center: Vec<f64>, intercept: Intercept) -> Self {
        let center = if intercept == Intercept::Free { center } else { vec![0.0; center.len()] };
        Self { scaling, center, intercept }
    }

    /// How many parameters a candidate has.
    pub(super) fn parameters(&self) -> usize {
        self.center.len() + usize::from(self.intercept != Intercept::None)
    }

    /// How many of them are not penalised: they come first.
    pub(super) fn free(&self) -> usize {
        usize::from(self.intercept == Intercept::Free)
    }

    /// The parameters of the classifier $\langle w, x \rangle + b$ of scaled rows.
    pub(super) fn parameters_of(&self, weights: &[f64], intercept: f64) -> Vec<f64> {
        let (mut first, mut last) = (None, None);
        match self.intercept {
            Intercept::Free => {
                first = Some(weights.iter().zip(&self.center).fold(intercept, |b, (w, c)| w.mul_add(*c, b)));
            }
            Intercept::Penalised => last = Some(intercept),
            Intercept::None => {}
        }
        first.into_iter().chain(weights.iter().copied()).chain(last).collect()
    }

    /// The coordinates of a row that is scaled.
    pub(super) fn of_scaled(&self, row: &[f64]) -> Vec<f64> {
        let mut out = vec![1.0; self.parameters()];
        let numbers = &mut out[self.free()..][..row.len()];
        numbers.iter_mut().zip(row.iter().zip(&self.center)).for_each(|(o, (x, c))| *o = x - c);
        out
    }

    /// Some rows as a block.
    pub(super) fn block(&self, rows: Rows<'_>, weights: impl Iterator<Item = f64>) -> RowBlock {
        let p = self.parameters();
        let mut block =
            RowBlock { points: Matrix::zeros(BLOCK, p + 1), weights: weights.collect(), largest_norm: 0.0 };
        block.weights.resize(BLOCK, 0.0);
        let mut scaled = vec![0.0; rows.width()];
        let mut flat = vec![1.0; rows.len() * p];
        for (row, out) in rows.iter().zip(flat.chunks_exact_mut(p)) {
            self.scaling.apply(row, &mut scaled);
            let numbers = &mut out[self.free()..][..row.len()];
            numbers.iter_mut().zip(scaled.iter().zip(&self.center)).for_each(|(o, (x, c))| *o = x - c);
        }
        for k in 0..p {
            let column = block.points.col_mut(k);
            column.iter_mut().zip(flat.iter().skip(k).step_by(p)).for_each(|(to, from)| *to = *from);
        }
        for (to, row) in block.points.col_mut(p).iter_mut().zip(flat.chunks_exact(p)) {
            // More than the rounding of a norm.
            *to = 1.001 * norm(row);
            block.largest_norm = block.largest_norm.max(*to);
        }
        block
    }
}
