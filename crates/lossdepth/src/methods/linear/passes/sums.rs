//! One pass: the losses and slopes of many candidates, summed over all rows by matrix products.
//!
//! Every block of rows gives a sum for every candidate, whichever thread computes it. These are added in the order of the blocks. So the sums
//! depend on the rows and their order alone, not on how the rows came or on threads.

use super::frame::{BLOCK, Frame, RowBlock};
use crate::data::{RowSource, Rows, for_each_chunk};
use crate::error::Result;
use crate::loss::Smooth;
use crate::numerics::double_double::{Twofold, two_sum};
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, accumulate_transposed, multiply_first};
use crate::numerics::simd::vectorised;
use rayon::prelude::*;

/// Candidates whose products are computed together: their margins for a block stay in cache.
const GROUP: usize = 32;
/// Blocks that are in memory at a time.
const BLOCKS: usize = 16;

/// The sums of a pass for some candidates: a column each.
pub(super) struct Group {
    /// The parameters; the row of the norms is 0.
    theta: Matrix,
    columns: usize,
    /// $\sum g_i \ell'(m_i) x_i$ and, in the last row, $\sum g_i \ell'(m_i) \nu_i$: high and low parts.
    high: Matrix,
    low: Matrix,
    losses: Vec<(f64, f64)>,
    smallest: Vec<f64>,
}

/// What one block adds to a group.
struct Part {
    slopes: Matrix,
    losses: [f64; GROUP],
    smallest: [f64; GROUP],
}

/// Memory of a worker.
struct Scratch {
    margins: Matrix,
    slopes: Matrix,
    losses: Vec<f64>,
}

/// All candidates of a pass, and what was learned of the rows on the way.
pub(super) struct Pass {
    groups: Vec<Group>,
    pub(super) blocks: usize,
    pub(super) rows: usize,
    pub(super) largest_norm: f64,
    total: Twofold,
}

/// The sums of one candidate, not yet divided by the total weight.
pub(super) struct Sums {
    pub(super) loss: f64,
    pub(super) slopes: Vec<f64>,
    pub(super) slope_norms: f64,
    pub(super) smallest_margin: f64,
}

impl Pass {
    /// Makes room for candidates.
    pub(super) fn new(candidates: &[&[f64]]) -> Self {
        let groups = candidates.chunks(GROUP).map(Group::new).collect();
        Self { groups, blocks: 0, rows: 0, largest_norm: 0.0, total: Twofold::default() }
    }

    /// Reads all rows; `unit` multiplies weights. `progress` is told how many rows were read so far.
    pub(super) fn run<S: RowSource, L: Smooth>(
        &mut self,
        source: &mut S,
        (frame, loss, unit): (&Frame, &L, f64),
        width: usize,
        progress: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<(), S::Error> {
        for_each_chunk(source, width, BLOCKS * BLOCK, &mut |rows, weights| {
            self.add(frame, loss, rows, weights, unit);
            progress(self.rows)
        })
    }

    fn add<L: Smooth>(&mut self, frame: &Frame, loss: &L, rows: Rows<'_>, weights: &[f64], unit: f64) {
        let starts: Vec<usize> = (0..rows.len()).step_by(BLOCK).collect();
        let blocks: Vec<RowBlock> = starts
            .par_iter()
            .map(|&start| {
                let end = (start + BLOCK).min(rows.len());
                frame.block(rows.range(start, end), weights[start..end].iter().map(|w| w * unit))
            })
            .collect();
        for weight in weights {
            self.total.add(weight * unit);
        }
        // Curvature that is bounded everywhere needs no smallest margin.
        let bounded = loss.curvature_bound(f64::NEG_INFINITY, f64::INFINITY).is_finite();
        let tasks: Vec<(&Group, &RowBlock)> =
            self.groups.iter().flat_map(|group| blocks.iter().map(move |block| (group, block))).collect();
        let parameters = frame.parameters() + 1;
        let parts: Vec<Part> = tasks
            .into_par_iter()
            .map_init(Scratch::new, |scratch, (group, block)| {
                group.part(loss, block, parameters, bounded, scratch)
            })
            .collect();
        for (group, parts) in self.groups.iter_mut().zip(parts.chunks_exact(blocks.len())) {
            for part in parts {
                group.add(part);
            }
        }
        self.blocks += blocks.len();
        self.rows += rows.len();
        self.largest_norm =
            blocks.iter().fold(self.largest_norm, |largest, block| largest.max(block.largest_norm));
    }

    /// The sum of the weights.
    pub(super) fn total(&self) -> f64 {
        self.total.value()
    }

    /// The sums of one candidate.
    pub(super) fn sums(&self, candidate: usize) -> Sums {
        let (group, column) = (&self.groups[candidate / GROUP], candidate % GROUP);
        let (high, low) = (group.high.col(column), group.low.col(column));
        let mut slopes: Vec<f64> = high.iter().zip(low).map(|(high, low)| high + low).collect();
        let slope_norms = -slopes.pop().unwrap_or(0.0);
        let (high, low) = group.losses[column];
        Sums { loss: high + low, slopes, slope_norms, smallest_margin: group.smallest[column] }
    }
}

impl Scratch {
    fn new() -> Self {
        Self {
            margins: Matrix::zeros(BLOCK, GROUP),
            slopes: Matrix::zeros(BLOCK, GROUP),
            losses: vec![0.0; BLOCK],
        }
    }
}

impl Group {
    fn new(candidates: &[&[f64]]) -> Self {
        let columns = candidates.len().next_multiple_of(COLUMN_GROUP);
        let parameters = candidates.first().map_or(0, |theta| theta.len());
        let value = |i: usize, j: usize| {
            if i < parameters { candidates.get(j).map_or(0.0, |theta| theta[i]) } else { 0.0 }
        };
        let sums = Matrix::zeros(parameters + 1, columns);
        Self {
            theta: Matrix::from_fn(parameters + 1, columns, value),
            columns: candidates.len(),
            high: sums.clone(),
            low: sums,
            losses: vec![(0.0, 0.0); candidates.len()],
            smallest: vec![f64::INFINITY; candidates.len()],
        }
    }

    fn part<L: Smooth>(
        &self,
        loss: &L,
        block: &RowBlock,
        parameters: usize,
        bounded: bool,
        scratch: &mut Scratch,
    ) -> Part {
        let width = self.theta.cols();
        let Scratch { margins, slopes, losses } = scratch;
        multiply_first(margins, &block.points, &self.theta, width);
        let mut part = Part {
            slopes: Matrix::zeros(parameters, width),
            losses: [0.0; GROUP],
            smallest: [f64::NEG_INFINITY; GROUP],
        };
        for j in 0..self.columns {
            part.losses[j] =
                loss.losses_and_slopes(margins.col(j), &block.weights, losses, slopes.col_mut(j));
            if !bounded {
                part.smallest[j] = crate::certify::axes::smallest(margins.col(j));
            }
        }
        (self.columns..width).for_each(|j| slopes.col_mut(j).fill(0.0));
        accumulate_transposed(&mut part.slopes, &block.points, slopes, 0, BLOCK, width);
        part
    }

    /// Adds the sums of the next block with twice the digits.
    fn add(&mut self, part: &Part) {
        for j in 0..self.columns {
            let (high, low, more) = (self.high.col_mut(j), self.low.col_mut(j), part.slopes.col(j));
            vectorised!({
                for ((high, low), more) in high.iter_mut().zip(low.iter_mut()).zip(more) {
                    let (sum, rest) = two_sum(*high, *more);
                    *high = sum;
                    *low += rest;
                }
            });
            let (sum, rest) = two_sum(self.losses[j].0, part.losses[j]);
            self.losses[j] = (sum, self.losses[j].1 + rest);
            if part.smallest[j] < self.smallest[j] {
                self.smallest[j] = part.smallest[j];
            }
        }
    }
}
