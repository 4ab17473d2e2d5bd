//! The squared norm of the mean embedding of all rows, between proven bounds: (P12) of docs/math/passes.md.

use super::centres::{Centres, Projection};
use super::tile::{Scratch, TILE, Tile, check_diagonal, scaled, tiles};
use crate::certify::gap::ROUNDED_UP;
use crate::data::{Rows, Scaling};
use crate::error::Result;
use crate::kernel::{Kernel, Standard};
use crate::numerics::double_double::{Twofold, twofold_rounding};
use crate::numerics::linalg::COLUMN_GROUP;
use crate::problem::features::gamma;
use rayon::prelude::*;

/// A block whose rows weigh less than this, the heaviest row about 1, is not approximated: squares of weights leave the range of the
/// numbers.
const LIGHT: f64 = 1e-100;

/// Bounds on $\|\mu\|^2$, and the largest $k(x, x)$ of all rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeanNorm {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) largest: f64,
}

/// Sums over blocks of rows.
pub(super) struct BlockSums<'a> {
    kernel: Standard,
    centres: &'a Centres,
    block: usize,
    /// $\sum_i g_i k(c_j, x_i)$.
    values: Vec<Twofold>,
    /// $\sum_B g_B \beta_B$, $\sum_B g_B \|\beta_B\|_1$ and $\sum_B g_B (1 + \|\beta_B\|_1)^2$.
    coefficients: Vec<Twofold>,
    sizes: f64,
    squared_sizes: f64,
    /// $\sum_B g_B \|\mu_B - p_B\|^2$.
    distances: Twofold,
    /// $\|\mu_B\|^2$ of the last block.
    last: f64,
    largest: f64,
    total: Twofold,
    pub(super) rows: usize,
    blocks: usize,
}

/// What a tile adds.
struct TileSums {
    values: Vec<f64>,
    pairs: f64,
    largest: f64,
}

/// The sums of a block: its weight $g_B$, $\sum_i g_i k(c_j, x_i)$ and $\|\mu_B\|^2$.
struct Block {
    weight: f64,
    values: Vec<f64>,
    norm: f64,
}

impl<'a> BlockSums<'a> {
    pub(super) fn new(kernel: Standard, centres: &'a Centres, block: usize) -> Self {
        Self {
            kernel,
            centres,
            block,
            values: vec![Twofold::default(); centres.len()],
            coefficients: vec![Twofold::default(); centres.len()],
            sizes: 0.0,
            squared_sizes: 0.0,
            distances: Twofold::default(),
            last: 0.0,
            largest: 0.0,
            total: Twofold::default(),
            rows: 0,
            blocks: 0,
        }
    }

    /// Takes in whole blocks, or the last rows.
    pub(super) fn add(&mut self, scaling: &Scaling, rows: Rows<'_>, weights: &[f64]) -> Result<()> {
        let data = scaled(scaling, rows);
        let rows = Rows::new(&data, rows.width())?;
        let blocks: Vec<_> = (0..rows.len()).step_by(self.block).collect();
        let end = |first: usize| (first + self.block).min(rows.len());
        let pieces: Vec<_> = blocks
            .iter()
            .flat_map(|&first| tiles(first..end(first)).map(move |tile| (tile, end(first))))
            .collect();
        let (kernel, centres) = (self.kernel, self.centres.rows());
        let sums: Vec<TileSums> = pieces
            .par_iter()
            .map_init(
                || (Scratch::new(), Vec::new()),
                |(scratch, buffer), (range, end)| {
                    let tile = Tile::new(rows.range(range.start, range.end), &weights[range.clone()]);
                    let mut values = Vec::new();
                    tile.sums(&kernel, centres, scratch, &mut values);
                    let later = (rows.range(range.end, *end), &weights[range.end..*end]);
                    let pairs = tile.pairs(&kernel, later, scratch, buffer);
                    TileSums { values, pairs, largest: tile.largest_diagonal(&kernel) }
                },
            )
            .collect();
        let mut rest = &sums[..];
        let mut summed = Vec::with_capacity(blocks.len());
        for &first in &blocks {
            let (own, others) = rest.split_at((end(first) - first).div_ceil(TILE));
            summed.push(Block::new(own, &weights[first..end(first)]));
            rest = others;
        }
        self.largest = sums.iter().fold(self.largest, |largest, sums| {
            if sums.largest > largest || sums.largest.is_nan() { sums.largest } else { largest }
        });
        check_diagonal(self.largest)?;
        let projections: Vec<Vec<Projection>> = summed
            .par_chunks(COLUMN_GROUP)
            .map(|group| self.centres.project(&group.iter().map(Block::mean).collect::<Vec<_>>()))
            .collect();
        for (block, projection) in summed.iter().zip(projections.iter().flatten()) {
            self.add_block(block, projection);
        }
        for weight in weights {
            self.total.add(*weight);
        }
        self.rows += rows.len();
        Ok(())
    }

    fn add_block(&mut self, block: &Block, projection: &Projection) {
        let Block { weight, values, norm } = block;
        for (sum, value) in self.values.iter_mut().zip(values) {
            sum.add(*value);
        }
        self.blocks += 1;
        self.last = *norm;
        if *weight < LIGHT {
            // Approximated by 0.
            self.distances.add_product(*weight, *norm);
            self.squared_sizes += weight;
            return;
        }
        for (sum, beta) in self.coefficients.iter_mut().zip(&projection.coefficients) {
            sum.add_product(*weight, *beta);
        }
        let distance = norm - projection.explained;
        self.distances.add_product(*weight, if distance < 0.0 { 0.0 } else { distance });
        self.sizes += weight * projection.size;
        self.squared_sizes += weight * (1.0 + projection.size) * (1.0 + projection.size);
    }

    /// The largest $k(x, x)$ so far.
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    /// The sum of the weights.
    pub(super) fn total(&self) -> f64 {
        self.total.value()
    }

    /// $\sum_B g_B \|\mu_B - p_B\|^2$ so far.
    pub(super) fn distances(&self) -> f64 {
        self.distances.value()
    }

    /// Bounds on $\|\mu\|^2$, where all rows were added.
    pub(super) fn norm(&self) -> MeanNorm {
        let (largest, total) = (self.largest, self.total());
        let sums =
            gamma(TILE + self.block.div_ceil(TILE) + 32) + twofold_rounding(2 * self.block + self.blocks);
        let kernel = self.kernel.precision(self.centres.rows().width()) + 2.0 * f64::EPSILON;
        let unit = kernel + 2.0 * sums;
        if self.blocks == 1 {
            let rounding = 2.0 * ROUNDED_UP * largest * unit;
            return MeanNorm { low: (self.last - rounding).max(0.0), high: self.last + rounding, largest };
        }
        let mean = |sums: &[Twofold]| sums.iter().map(|sum| sum.value() / total).collect::<Vec<f64>>();
        let whole = self.centres.combination(mean(&self.coefficients), &mean(&self.values));
        let each = 2.0 * ROUNDED_UP * largest * (unit + 2.0 * gamma(self.centres.len() + 8));
        let rounding = each * (1.0 + whole.size) * (1.0 + whole.size);
        let left = (1.0 + sums) * (self.distances() + each * self.squared_sizes) / total;
        let combination = ROUNDED_UP * largest.sqrt() * unit * self.sizes / total;
        let root = left.sqrt() + combination;
        MeanNorm {
            low: (whole.explained - rounding).max(0.0),
            high: whole.explained + rounding + (1.0 + 4.0 * f64::EPSILON) * root * root,
            largest,
        }
    }
}

impl Block {
    fn new(tiles: &[TileSums], weights: &[f64]) -> Self {
        let (mut weight, mut pairs) = (Twofold::default(), Twofold::default());
        for g in weights {
            weight.add(*g);
        }
        let mut values = vec![0.0; tiles.first().map_or(0, |tile| tile.values.len())];
        for tile in tiles {
            pairs.add(tile.pairs);
            values.iter_mut().zip(&tile.values).for_each(|(sum, value)| *sum += value);
        }
        let weight = weight.value();
        let norm = if weight < LIGHT {
            // No mean is longer than the longest.
            tiles.iter().fold(0.0f64, |largest, tile| largest.max(tile.largest))
        } else {
            pairs.value() / weight / weight
        };
        Self { weight, values, norm }
    }

    /// The mean embedding of its rows at the centres.
    fn mean(&self) -> Vec<f64> {
        self.values.iter().map(|value| value / self.weight).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Scale;
    use crate::numerics::random::Random;

    const KERNELS: [Standard; 6] = [
        Standard::Gaussian { gamma: 0.2 },
        Standard::Gaussian { gamma: 20.0 },
        Standard::Laplacian { sigma: 2.0 },
        Standard::Imq { c: 1.5, beta: -0.5 },
        Standard::Linear,
        Standard::Polynomial { gamma: 0.3, degree: 3, coef0: 1.0 },
    ];

    /// Rows of three numbers, the second half moved: blocks are not alike.
    fn rows(n: usize) -> Vec<f64> {
        let mut random = Random::new(3);
        (0..n).flat_map(|i| [(); 3].map(|()| random.normal() + if 2 * i > n { 1.5 } else { 0.0 })).collect()
    }

    /// $\|\mu\|^2$ by the formula, with twice the digits.
    fn exact(kernel: &Standard, rows: Rows<'_>, weights: &[f64]) -> f64 {
        let (mut sum, mut total) = (Twofold::default(), Twofold::default());
        for (x, g) in rows.iter().zip(weights) {
            total.add(*g);
            rows.iter().zip(weights).for_each(|(y, h)| sum.add_product(g * h, kernel.value(x, y)));
        }
        sum.value() / total.value() / total.value()
    }

    #[test]
    fn bounds_hold_and_are_as_close_as_blocks_allow() {
        let (n, width) = (1700, 3);
        let data = rows(n);
        let given = Rows::new(&data, width).unwrap();
        let mut random = Random::new(4);
        let heavy: Vec<f64> = (0..n).map(|i| if i == 700 { 1.0 } else { 0.01 * random.unit() }).collect();
        // A block of rows that nearly have no weight.
        let light: Vec<f64> = (0..n).map(|i| if i < 300 { 1e-200 } else { 1.0 }).collect();
        for weights in [vec![1.0; n], heavy, light] {
            let (scaling, _) = Scaling::learn(Scale::Standard, given, &weights, 0.75).unwrap();
            let own = scaled(&scaling, given);
            let own = Rows::new(&own, width).unwrap();
            for kernel in KERNELS {
                let exact = exact(&kernel, own, &weights);
                let largest = own.iter().map(|x| kernel.diagonal(x)).fold(0.0, f64::max);
                for (count, block) in [(0, 256), (1, 512), (40, 256), (400, 512), (0, 1792)] {
                    let centres = Centres::new(&kernel, &own.as_slice()[..count * width], width).unwrap();
                    let mut sums = BlockSums::new(kernel, &centres, block);
                    for first in (0..n).step_by(2 * block) {
                        let end = (first + 2 * block).min(n);
                        sums.add(&scaling, given.range(first, end), &weights[first..end]).unwrap();
                    }
                    let norm = sums.norm();
                    // The formula is rounded too: it may be below 0.
                    let slack = f64::EPSILON * largest;
                    assert!(
                        norm.low <= exact + slack && exact <= norm.high,
                        "{kernel:?} {count} {block}: {norm:?} {exact}"
                    );
                    assert_eq!(norm.largest, largest);
                    if block > n || count == 400 && kernel == Standard::Linear {
                        assert!(norm.high - norm.low <= 1e-9 * largest, "{kernel:?} {count}: {norm:?}");
                    }
                    // Within one unit of the rows' spread for each block, and not the whole range.
                    if count == 400 && kernel == KERNELS[0] && weights[0] == 1.0 {
                        assert!(norm.high - norm.low <= 1e-3, "{norm:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn centres_that_coincide_only_cost_accuracy() {
        let data = rows(1000);
        let given = Rows::new(&data, 3).unwrap();
        let weights = vec![1.0; 1000];
        let kernel = KERNELS[0];
        let (scaling, _) = Scaling::learn(Scale::None, given, &weights, 0.75).unwrap();
        let mut centres = data[..300].to_vec();
        centres.extend_from_slice(&data[..300]);
        centres.extend(data[..300].iter().map(|x| x + 1e-9));
        let centres = Centres::new(&kernel, &centres, 3).unwrap();
        let mut sums = BlockSums::new(kernel, &centres, 256);
        sums.add(&scaling, given, &weights).unwrap();
        let (norm, exact) = (sums.norm(), exact(&kernel, given, &weights));
        assert!(norm.low <= exact && exact <= norm.high && norm.high - norm.low < 0.01, "{norm:?} {exact}");
    }
}
