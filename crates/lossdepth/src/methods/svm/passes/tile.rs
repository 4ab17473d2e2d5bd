//! Weighted sums of kernel values over a few rows at a time.
//!
//! A sum over a tile is that of its rows alone, in one order. Tiles are added in the order of the rows, whichever thread computed them.

use crate::data::{Rows, Scaling};
use crate::error::{DepthError, Result};
use crate::kernel::{Columns, Kernel, Points, Standard};
use crate::numerics::double_double::Twofold;
use crate::numerics::linalg::{Matrix, dot};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a tile: kernel values with 32 points then stay in the cache.
pub(super) const TILE: usize = 256;
/// Points whose kernel values are computed together.
const TOGETHER: usize = 32;

/// Consecutive rows with their weights.
pub(super) struct Tile<'a> {
    points: Points,
    weights: &'a [f64],
}

/// Memory of a worker.
pub(super) struct Scratch(Matrix);

impl Scratch {
    pub(super) fn new() -> Self {
        Self(Matrix::zeros(TILE, TOGETHER))
    }
}

impl<'a> Tile<'a> {
    /// Of at most [`TILE`] rows, which are scaled.
    pub(super) fn new(rows: Rows<'_>, weights: &'a [f64]) -> Self {
        Self { points: Points::new(rows), weights }
    }

    /// $\sum_i g_i k(x_i, y)$ for each point $y$.
    pub(super) fn sums(
        &self,
        kernel: &Standard,
        at: Rows<'_>,
        Scratch(block): &mut Scratch,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        for first in (0..at.len()).step_by(TOGETHER) {
            let count = TOGETHER.min(at.len() - first);
            kernel.block(&self.points, at.range(first, first + count), &mut Columns::new(block, 0, count));
            out.extend((0..count).map(|j| dot(&block.col(j)[..self.weights.len()], self.weights)));
        }
    }

    /// $\sum_{ij} g_i g_j k(x_i, x_j)$ over pairs of a row of this tile with one of this tile or, counted twice for both orders,
    /// with one of the `later` rows of the block.
    pub(super) fn pairs(
        &self,
        kernel: &Standard,
        (later, weights): (Rows<'_>, &[f64]),
        scratch: &mut Scratch,
        sums: &mut Vec<f64>,
    ) -> f64 {
        let mut total = Twofold::default();
        self.sums(kernel, self.points.rows(), scratch, sums);
        sums.iter().zip(self.weights).for_each(|(sum, weight)| total.add_product(*sum, *weight));
        self.sums(kernel, later, scratch, sums);
        sums.iter().zip(weights).for_each(|(sum, weight)| total.add_product(*sum, 2.0 * weight));
        total.value()
    }

    /// The largest $k(x, x)$; not a number if one is.
    pub(super) fn largest_diagonal(&self, kernel: &Standard) -> f64 {
        let larger = |largest: f64, k: f64| if k > largest || k.is_nan() { k } else { largest };
        self.points.iter().map(|x| kernel.diagonal(x)).fold(0.0, larger)
    }
}

/// Some rows after scaling, row by row.
pub(super) fn scaled(scaling: &Scaling, rows: Rows<'_>) -> Vec<f64> {
    let width = rows.width();
    let mut out = vec![0.0; rows.as_slice().len()];
    out.par_chunks_mut(TILE * width).zip(rows.as_slice().par_chunks(TILE * width)).for_each(|(out, rows)| {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            scaling.apply(row, out);
        }
    });
    out
}

/// Ranges of at most [`TILE`] rows.
pub(super) fn tiles(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(TILE).map(move |first| first..(first + TILE).min(end))
}

/// Refuses kernel values that are no numbers of moderate size.
pub(super) fn check_diagonal(largest: f64) -> Result<()> {
    if (0.0..=1e140).contains(&largest) {
        return Ok(());
    }
    Err(DepthError::Kernel(format!(
        "the kernel of a row of the reference with itself is {largest}, expected a number from 0 to 1e140"
    )))
}
