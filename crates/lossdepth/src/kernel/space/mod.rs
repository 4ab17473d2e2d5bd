//! The sample in the Hilbert space of a kernel.

mod by_row;

use super::points::{Columns, Points};
use super::precomputed::{cauchy_schwarz_violation, precomputed};
use super::{Kernel, KernelSource};
use crate::data::{Mass, Reference, Rows};
use crate::error::{DepthError, Result};
use crate::numerics::linalg::{Matrix, dot};
use std::collections::HashMap;
use std::sync::Arc;

/// A bound on rounding errors of subnormal numbers.
const UNDERFLOW: f64 = 1e-300;

/// Columns of kernel values computed together.
const BLOCK: usize = 32;

/// The distinct rows of a sample with positive weight, and the kernel.
///
/// Equal rows are one point with the sum of their weights: that is exact, cheaper, and keeps the Gram matrix from being
/// singular because of them. (Precomputed kernel values have no points to compare; there every row is a point.)
#[derive(Debug, Clone)]
pub struct Space {
    source: Source,
    /// ½ωᵢ for every point.
    pub(crate) half_weights: Vec<f64>,
    /// k(xᵢ, xᵢ) for every point.
    pub(crate) diagonal: Vec<f64>,
    /// The point of each row of the reference; `None` without weight.
    point_of: Vec<Option<usize>>,
    /// The weights of the reference's rows, halved.
    row_weights: Vec<f64>,
    mass: Mass,
    /// Added to every kernel value: 1 for a penalised intercept.
    shift: f64,
    precision: f64,
    /// The largest number of additions in a weight: one less than the rows of its point.
    pub(crate) copies: usize,
    /// The largest k(xᵢ, xᵢ).
    pub(crate) largest: f64,
}

#[derive(Debug, Clone)]
pub(super) enum Source {
    /// `unweighted` are the rows without weight, in order.
    Function { kernel: Arc<dyn Kernel>, points: Points, unweighted: Points },
    /// `rows` are the rows of the points; `diagonal` is the constant diagonal, if it is one. `unweighted` has the kernel values
    /// of the rows without weight with the points, one column each, and their numbers. `definite` says that the values are known
    /// to be those of a kernel.
    Precomputed {
        gram: Arc<Matrix>,
        definite: bool,
        rows: Vec<usize>,
        diagonal: Option<f64>,
        unweighted: (Matrix, Vec<usize>),
    },
}

impl Space {
    /// Estimates bandwidths that depend on the sample; `penalised` adds a constant feature.
    pub(crate) fn new(kernel: &KernelSource, sample: &Reference, penalised: bool) -> Result<Self> {
        let learned: Option<Arc<dyn Kernel>> = match kernel {
            KernelSource::Own(kernel) => Some(kernel.clone()),
            KernelSource::Choice(choice) => choice.learn(sample)?.map(|k| Arc::new(k) as Arc<dyn Kernel>),
            KernelSource::Values { .. } => None,
        };
        let weights = sample.weights();
        let point_of = if learned.is_some() { distinct(sample) } else { numbered(sample) };
        let len = point_of.iter().flatten().max().map_or(0, |last| last + 1);
        let (mut half_weights, mut origin) = (vec![0.0; len], vec![0; len]);
        for (row, point) in point_of.iter().enumerate().rev() {
            if let Some(point) = point {
                half_weights[*point] += 0.5 * weights[row];
                origin[*point] = row;
            }
        }
        let source = match learned {
            Some(kernel) => {
                let data: Vec<f64> = origin.iter().flat_map(|&i| sample.rows().row(i)).copied().collect();
                let without = (0..sample.len()).filter(|&i| point_of[i].is_none());
                let rest: Vec<f64> = without.flat_map(|i| sample.rows().row(i)).copied().collect();
                Source::Function {
                    kernel,
                    points: Points::new(Rows::new(&data, sample.width())?),
                    unweighted: Points::new(Rows::new(&rest, sample.width())?),
                }
            }
            None => precomputed(sample, origin, matches!(kernel, KernelSource::Values { .. }))?,
        };
        let precision = match (&source, kernel) {
            (Source::Function { kernel, points, .. }, _) => kernel.precision(points.width()),
            (_, KernelSource::Values { precision }) => *precision,
            (Source::Precomputed { .. }, _) => f64::EPSILON,
        };
        let mut rows = vec![0usize; len];
        point_of.iter().flatten().for_each(|point| rows[*point] += 1);
        let copies = rows.into_iter().max().unwrap_or(0).saturating_sub(1);
        let shift = if penalised { 1.0 } else { 0.0 };
        let diagonal: Vec<f64> = match &source {
            Source::Function { kernel, points, .. } => {
                points.iter().map(|x| kernel.diagonal(x) + shift).collect()
            }
            Source::Precomputed { gram, .. } => (0..len).map(|i| gram.at(i, i) + shift).collect(),
        };
        if let Some(point) = diagonal.iter().position(|k| !in_range(*k)) {
            let row = point_of.iter().position(|p| *p == Some(point)).unwrap_or(0);
            return Err(DepthError::Kernel(format!(
                "the kernel of reference row {row} with itself is {}, expected a number from 0 to 1e140",
                diagonal[point] - shift
            )));
        }
        let largest = diagonal.iter().fold(0.0f64, |m, k| m.max(*k));
        Ok(Self {
            source,
            half_weights,
            largest,
            diagonal,
            point_of,
            row_weights: weights.iter().map(|w| 0.5 * w).collect(),
            mass: sample.mass(),
            shift,
            precision,
            copies,
        })
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.half_weights.len()
    }

    /// Never: a reference has at least two rows.
    pub fn is_empty(&self) -> bool {
        self.half_weights.is_empty()
    }

    /// $\omega_i$ for every point.
    pub fn weights(&self) -> Vec<f64> {
        self.half_weights.iter().map(|w| 2.0 * w).collect()
    }

    /// $k(x_i, x_i)$ for every point.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// $k(x_i, x_j)$ for every point $x_i$.
    ///
    /// # Errors
    /// A kernel value that is not finite.
    pub fn column(&self, j: usize) -> Result<Vec<f64>> {
        let mut column = Matrix::zeros(self.len(), 1);
        self.columns(&[j], &mut column)?;
        Ok(column.col(0).to_vec())
    }

    /// Kernel values of all points with a few queries: the first columns of `out`, one a query.
    ///
    /// # Errors
    /// A kernel value that is not finite.
    pub(crate) fn block(&self, queries: Rows<'_>, out: &mut Matrix) -> Result<()> {
        match &self.source {
            Source::Function { kernel, points, .. } => {
                kernel.block(points, queries, &mut Columns::new(out, 0, queries.len()));
            }
            Source::Precomputed { gram, rows, diagonal, definite, .. } => {
                for (j, row) in queries.iter().enumerate() {
                    let own = diagonal.unwrap_or_else(|| row[row.len() - 1]);
                    for (p, (k, i)) in out.col_mut(j).iter_mut().zip(rows).enumerate() {
                        *k = row[*i];
                        if *definite {
                            continue;
                        }
                        if let Some(why) = cauchy_schwarz_violation(*k, own, gram.at(p, p)) {
                            return Err(DepthError::Kernel(format!(
                                "the kernel of a query with reference row {i} is {k}, {why}"
                            )));
                        }
                    }
                }
            }
        }
        for j in 0..queries.len() {
            let column = out.col_mut(j);
            if self.shift != 0.0 {
                for k in column.iter_mut() {
                    *k += self.shift;
                }
            }
            check_column(column)?;
        }
        Ok(())
    }

    /// $k(z, z)$.
    ///
    /// # Errors
    /// A value that is negative, not finite or beyond 1e140.
    pub(crate) fn own(&self, query: &[f64]) -> Result<f64> {
        let own = match &self.source {
            Source::Function { kernel, .. } => kernel.diagonal(query),
            Source::Precomputed { diagonal, .. } => diagonal.unwrap_or_else(|| query[query.len() - 1]),
        };
        if !in_range(own) {
            return Err(DepthError::Kernel(format!(
                "the kernel of a query with itself is {own}, expected a number from 0 to 1e140"
            )));
        }
        Ok(own + self.shift)
    }

    /// The point that equals a query: the same coordinates, or the same kernel values with all points and itself.
    pub(crate) fn equal_point(&self, query: &[f64]) -> Option<usize> {
        match &self.source {
            Source::Function { points, .. } => points.iter().position(|x| x == query),
            Source::Precomputed { gram, rows, diagonal, .. } => {
                let own = diagonal.unwrap_or_else(|| query[query.len() - 1]);
                let same = |p: usize| rows.iter().enumerate().all(|(q, &i)| query[i] == gram.at(q, p));
                (0..self.len()).find(|&p| own == gram.at(p, p) && same(p))
            }
        }
    }

    /// Calls `take` with the columns of the Gram matrix, block by block: the index of the first, how many, and their values.
    ///
    /// # Errors
    /// A value that is not finite.
    pub(crate) fn for_each_block(&self, mut take: impl FnMut(usize, usize, &Matrix)) -> Result<()> {
        let n = self.len();
        let mut block = Matrix::zeros(n, BLOCK);
        for first in (0..n).step_by(BLOCK) {
            let count = BLOCK.min(n - first);
            self.consecutive_columns(first, count, &mut block)?;
            take(first, count, &block);
        }
        Ok(())
    }

    /// Columns of the Gram matrix: `count` from `first` on.
    pub(crate) fn consecutive_columns(&self, first: usize, count: usize, out: &mut Matrix) -> Result<()> {
        match &self.source {
            Source::Function { points, .. } => self.block(points.rows().range(first, first + count), out),
            Source::Precomputed { gram, .. } => {
                for j in 0..count {
                    for (k, g) in out.col_mut(j).iter_mut().zip(gram.col(first + j)) {
                        *k = g + self.shift;
                    }
                }
                Ok(())
            }
        }
    }

    /// Some columns of the Gram matrix: the first columns of `out`.
    ///
    /// # Errors
    /// A value that is not finite.
    pub(crate) fn columns(&self, chosen: &[usize], out: &mut Matrix) -> Result<()> {
        match &self.source {
            Source::Function { points, .. } => {
                let data: Vec<f64> = chosen.iter().flat_map(|&j| points.point(j)).copied().collect();
                self.block(Rows::new(&data, points.width())?, out)
            }
            Source::Precomputed { gram, .. } => {
                for (k, &j) in chosen.iter().enumerate() {
                    for (k, g) in out.col_mut(k).iter_mut().zip(gram.col(j)) {
                        *k = g + self.shift;
                    }
                }
                Ok(())
            }
        }
    }

    /// Some of the points, row by row, and their width; none for a precomputed kernel.
    pub(crate) fn rows_of(&self, chosen: &[usize]) -> Option<(Vec<f64>, usize)> {
        let Source::Function { points, .. } = &self.source else { return None };
        Some((chosen.iter().flat_map(|&i| points.point(i)).copied().collect(), points.width()))
    }

    /// Points at equal steps of the sample's order, as rows; none for a precomputed kernel.
    pub(crate) fn probes(&self, count: usize) -> Option<Vec<f64>> {
        let Source::Function { points, .. } = &self.source else { return None };
        let (n, count) = (points.len(), count.min(points.len()));
        Some((0..count).flat_map(|j| points.point((2 * j + 1) * n / (2 * count))).copied().collect())
    }

    /// $\sum \omega^2$ over the rows of each point.
    pub(crate) fn squares(&self) -> Vec<f64> {
        let mut squares = vec![0.0; self.len()];
        for (point, w) in self.point_of.iter().zip(&self.row_weights) {
            if let Some(point) = point {
                squares[*point] += 4.0 * w * w;
            }
        }
        squares
    }

    /// Whether the weights are counts.
    pub(crate) fn mass(&self) -> Mass {
        self.mass
    }

    /// The whole Gram matrix.
    ///
    /// # Errors
    /// A value that is not finite.
    pub(crate) fn gram(&self) -> Result<Matrix> {
        let mut gram = Matrix::zeros(self.len(), self.len());
        self.for_each_block(|first, count, block| {
            for j in 0..count {
                gram.col_mut(first + j).copy_from_slice(block.col(j));
            }
        })?;
        Ok(gram)
    }

    /// The memory of [`gram`](Self::gram) in bytes.
    pub(crate) fn gram_bytes(&self) -> u64 {
        let n = self.len() as u64;
        8 * n * n.next_multiple_of(8)
    }

    /// $\mu(x_i) = \sum_j \omega_j k(x_i, x_j)$ for every point, without the Gram matrix.
    ///
    /// # Errors
    /// A value that is not finite.
    pub(crate) fn mean_embedding(&self) -> Result<Vec<f64>> {
        let mut mean = vec![0.0; self.len()];
        self.for_each_block(|first, count, block| {
            for j in 0..count {
                mean[first + j] = 2.0 * dot(block.col(j), &self.half_weights);
            }
        })?;
        Ok(mean)
    }

    /// A bound on the rounding error of a kernel value with a query (K15); `own` is $k(z, z)$.
    pub(crate) fn rounding(&self, own: f64) -> f64 {
        (self.precision + 2.0 * f64::EPSILON) * self.largest.max(own) + UNDERFLOW
    }

    /// The gradient in $z$ of $\sum_i c_i k(x_i, z) + c_z k(z, z)$, the latter's point held fixed on one side; `None`
    /// for a precomputed kernel.
    pub(crate) fn gradient(&self, coefficients: &[f64], at_query: f64, query: &[f64]) -> Option<Vec<f64>> {
        let Source::Function { kernel, points, .. } = &self.source else { return None };
        let mut out = vec![0.0; points.width()];
        for (x, c) in points.iter().zip(coefficients).filter(|(_, c)| **c != 0.0) {
            kernel.gradient(x, query, *c, &mut out);
        }
        if at_query != 0.0 {
            kernel.gradient(query, query, at_query, &mut out);
        }
        Some(out)
    }
}

/// Whether a diagonal value is in the range of the solvers, which multiply two of them.
fn in_range(own: f64) -> bool {
    (0.0..=1e140).contains(&own)
}

fn check_column(column: &[f64]) -> Result<()> {
    // Zero times a number is zero unless it is infinite or NaN: one sum finds them all.
    let total: f64 = crate::numerics::simd::sum_of(column.len(), |i| 0.0 * column[i]);
    if total == 0.0 {
        return Ok(());
    }
    let (row, value) =
        column.iter().enumerate().find(|(_, k)| !k.is_finite()).map_or((0, f64::NAN), |(i, k)| (i, *k));
    Err(DepthError::Kernel(format!("the kernel of a query with sample point {row} is {value}")))
}

/// The distinct row of each row with weight, numbered in the order of first appearance.
fn distinct(sample: &Reference) -> Vec<Option<usize>> {
    let mut seen: HashMap<Vec<u64>, usize> = HashMap::new();
    let rows = sample.rows().iter().zip(sample.weights());
    rows.map(|(row, w)| {
        (*w > 0.0).then(|| {
            let next = seen.len();
            // Adding 0 makes -0 and 0 the same.
            *seen.entry(row.iter().map(|x| (x + 0.0).to_bits()).collect()).or_insert(next)
        })
    })
    .collect()
}

/// The rows with weight, numbered.
fn numbered(sample: &Reference) -> Vec<Option<usize>> {
    let mut next = 0;
    let number = |w: &f64| {
        (*w > 0.0).then(|| {
            next += 1;
            next - 1
        })
    };
    sample.weights().iter().map(number).collect()
}
