//! A dense matrix of numbers of either precision.

use faer::prelude::{Reborrow, ReborrowMut};
use faer::traits::RealField;
use faer::{Mat, MatMut, MatRef};
use std::ops::{AddAssign, Mul};

/// A dense matrix, column by column, each column aligned for wide vectors.
///
/// Columns are padded to whole vectors with zeros. The products read the padding and discard the result. Uninitialised
/// padding may hold subnormal numbers, which slow the products down tenfold.
#[derive(Debug, Clone)]
pub(crate) struct Matrix<T: Real = f64> {
    padded: Mat<T>,
    rows: usize,
}

/// The numbers a [`Matrix`] may hold: double precision, or single for intermediate results.
pub(crate) trait Real:
    RealField + Copy + Default + Send + Sync + std::fmt::Debug + Mul<Output = Self> + AddAssign + 'static
{
    /// Columns have a multiple of this many rows.
    const ROW_GROUP: usize;

    fn rounded(x: f64) -> Self;
    fn widened(self) -> f64;
}

impl Real for f64 {
    const ROW_GROUP: usize = 8;

    #[inline(always)]
    fn rounded(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn widened(self) -> f64 {
        self
    }
}

impl Real for f32 {
    const ROW_GROUP: usize = 16;

    #[expect(clippy::cast_possible_truncation, reason = "that is the point")]
    #[inline(always)]
    fn rounded(x: f64) -> Self {
        x as Self
    }
    #[inline(always)]
    fn widened(self) -> f64 {
        f64::from(self)
    }
}

impl<T: Real> Matrix<T> {
    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Self { padded: Mat::zeros(rows.next_multiple_of(T::ROW_GROUP), cols), rows }
    }

    pub(crate) fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut m = Self::zeros(rows, cols);
        for j in 0..cols {
            for (i, x) in m.col_mut(j).iter_mut().enumerate() {
                *x = f(i, j);
            }
        }
        m
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn cols(&self) -> usize {
        self.padded.ncols()
    }

    pub(crate) fn col(&self, j: usize) -> &[T] {
        &self.padded.col_as_slice(j)[..self.rows]
    }

    pub(crate) fn col_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.padded.col_as_slice_mut(j)[..self.rows]
    }

    /// Overwrites column `to` with column `from`.
    pub(crate) fn copy_col(&mut self, from: usize, to: usize) {
        let (low, high) = (from.min(to), from.max(to));
        let (mut left, mut right) = self.padded.split_at_col_mut(high);
        let (a, b) = (left.rb_mut().col_mut(low), right.rb_mut().col_mut(0));
        if from < to {
            { b }.copy_from(a.rb());
        } else {
            { a }.copy_from(b.rb());
        }
    }

    pub(crate) fn at(&self, i: usize, j: usize) -> T {
        self.padded[(i, j)]
    }

    pub(crate) fn set(&mut self, i: usize, j: usize, value: T) {
        self.padded[(i, j)] = value;
    }

    pub(crate) fn transposed(&self) -> Self {
        Self::from_fn(self.cols(), self.rows, |i, j| self.at(j, i))
    }

    /// The same in single precision; numbers whose products would be subnormal become 0.
    pub(crate) fn single(&self) -> Matrix<f32> {
        let value = |x: f64| if x.abs() < 1e-15 { 0.0 } else { f32::rounded(x) };
        Matrix::from_fn(self.rows, self.cols(), |i, j| value(self.at(i, j).widened()))
    }

    pub(super) fn view(&self) -> MatRef<'_, T> {
        self.padded.as_ref().subrows(0, self.rows)
    }

    pub(super) fn view_mut(&mut self) -> MatMut<'_, T> {
        self.padded.as_mut().subrows_mut(0, self.rows)
    }
}
