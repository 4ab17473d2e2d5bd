//! How the norm of the mean embedding is found: by which centres, and blocks of how many rows.
//!
//! A block of $b$ rows leaves about $F + T / b$: $F$ is the squared distance of $\mu$ from the span of the centres, $T$ the mean squared
//! distance of a row. It costs $m + b / 2$ kernel values a row. $F$ and $T$ are estimated on rows of the sample. Nothing here is part of
//! a proof.

use super::centres::Centres;
use super::tile::{Scratch, TILE, Tile, tiles};
use crate::data::{Reference, Rows};
use crate::error::Result;
use crate::kernel::{Kernel, Standard};
use crate::numerics::linalg::COLUMN_GROUP;
use crate::numerics::random::Random;
use rayon::prelude::*;

/// Centres to begin with, and at most. Heuristics, as are all numbers here.
const FEWEST: usize = 64;
const MOST: usize = 4096;
/// Rows that $F$ is estimated on, and $T$.
const PILOT: usize = 4096;
const SPREAD: usize = 256;
/// Kernel values that take as long as $m^3$ multiplications, a share.
const FACTOR: f64 = 1.0 / 15.0;
/// Rows of a block, at most, and numbers in them: these are in memory.
const LARGEST_BLOCK: usize = 1 << 16;
const LARGEST_NUMBERS: usize = 1 << 24;
/// What separates the random numbers of this choice from others.
const PURPOSE: u64 = 0x7376_6d70;

/// Centres, and the rows of a block.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) centres: Centres,
    pub(super) block: usize,
    /// Whether no plan leaves less.
    pub(super) last: bool,
}

/// What plans are made of.
pub(super) struct Planner {
    kernel: Standard,
    /// Rows in random order: centres, then those of the pilot.
    gathered: Vec<f64>,
    width: usize,
    /// Of all rows.
    rows: usize,
    most: usize,
    pilot: (usize, usize),
    /// $\|\mu\|^2$ of the pilot.
    pilot_norm: f64,
}

impl Planner {
    /// For so many rows, of which `sample` is all or a sample.
    pub(super) fn new(
        kernel: Standard,
        (sample, complete): (&Reference, bool),
        rows: usize,
        seed: u64,
    ) -> Result<Self> {
        let width = sample.width();
        let chosen = weighted_order(sample, MOST + PILOT, seed);
        let gathered: Vec<f64> = chosen.iter().flat_map(|&i| sample.rows().row(i)).copied().collect();
        let known = chosen.len();
        // Where the centres can be all different rows nothing is left.
        let all = complete && known <= MOST;
        let most = if all { known } else { MOST.min(known / 2) };
        let pilot = if all { (0, known) } else { (most, known) };
        let mut planner = Self { kernel, gathered, width, rows, most, pilot, pilot_norm: 0.0 };
        // Where one block is the choice the pilot is not needed.
        if planner.one_block() > planner.least_cost(FEWEST.min(most)) {
            let pilot = planner.pilot()?;
            let weights = vec![1.0 / pilot.len() as f64; pilot.len()];
            let pairs: Vec<f64> = tiles(0..pilot.len())
                .collect::<Vec<_>>()
                .into_par_iter()
                .map(|range| {
                    let tile = Tile::new(pilot.range(range.start, range.end), &weights[range.clone()]);
                    let later = (pilot.range(range.end, pilot.len()), &weights[range.end..]);
                    tile.pairs(&kernel, later, &mut Scratch::new(), &mut Vec::new())
                })
                .collect();
            planner.pilot_norm = pairs.iter().sum();
        }
        Ok(planner)
    }

    /// A plan that leaves about `allowed`, or as little as possible.
    pub(super) fn plan(&self, allowed: f64) -> Result<Plan> {
        let largest = self.largest_block();
        let (mut best, mut cost, mut left) = (None, self.one_block(), f64::INFINITY);
        let mut count = FEWEST.min(self.most);
        while self.least_cost(count) < cost {
            let centres = Centres::new(&self.kernel, &self.gathered[..count * self.width], self.width)?;
            let (floor, spread) = self.distances(&centres)?;
            let wanted = if floor < allowed { spread / (allowed - floor) } else { f64::INFINITY };
            if wanted <= largest as f64 {
                let block = whole_tiles(wanted);
                let own = self.least_cost(count) + 0.5 * block as f64 * self.rows as f64;
                if own < cost {
                    best = Some(Plan { centres, block, last: false });
                    cost = own;
                }
            } else if cost.is_infinite() && floor + spread / (largest as f64) < left {
                left = floor + spread / largest as f64;
                best = Some(Plan { centres, block: largest, last: false });
            }
            if count == self.most {
                break;
            }
            count = (2 * count).min(self.most);
        }
        Ok(match best {
            Some(plan) if plan.block < self.rows => {
                let last = plan.block == largest && plan.centres.len() == self.most;
                Plan { last, ..plan }
            }
            _ => {
                let block = self.rows.next_multiple_of(TILE).min(largest);
                Plan { centres: Centres::new(&self.kernel, &[], self.width)?, block, last: true }
            }
        })
    }

    /// The rows of a block, at most.
    fn largest_block(&self) -> usize {
        (LARGEST_NUMBERS / self.width).clamp(4 * TILE, LARGEST_BLOCK).next_multiple_of(TILE)
    }

    /// Kernel values of all pairs of rows; infinite where these are not in memory.
    fn one_block(&self) -> f64 {
        let rows = self.rows as f64;
        if self.rows <= self.largest_block() { 0.5 * rows * rows } else { f64::INFINITY }
    }

    /// What so many centres cost without the blocks.
    fn least_cost(&self, count: usize) -> f64 {
        let m = count as f64;
        m * self.rows as f64 + FACTOR * m * m * m
    }

    fn pilot(&self) -> Result<Rows<'_>> {
        Ok(Rows::new(&self.gathered, self.width)?.range(self.pilot.0, self.pilot.1))
    }

    /// Estimates of $F$ and $T$.
    fn distances(&self, centres: &Centres) -> Result<(f64, f64)> {
        let pilot = self.pilot()?;
        // Where the pilot has the centres too they come first.
        let rows = pilot.range(pilot.len().saturating_sub(SPREAD), pilot.len());
        let groups = rows.len().div_ceil(COLUMN_GROUP);
        let spreads: Vec<f64> = (0..groups)
            .into_par_iter()
            .map(|group| {
                let first = group * COLUMN_GROUP;
                let rows = rows.range(first, (first + COLUMN_GROUP).min(rows.len()));
                let values: Vec<Vec<f64>> = rows
                    .iter()
                    .map(|x| centres.rows().iter().map(|c| self.kernel.value(c, x)).collect())
                    .collect();
                let projections = centres.project(&values);
                rows.iter()
                    .zip(projections)
                    .map(|(x, p)| (self.kernel.diagonal(x) - p.explained).max(0.0))
                    .sum()
            })
            .collect();
        let spread = spreads.iter().sum::<f64>() / rows.len() as f64;
        let weights = vec![1.0 / pilot.len() as f64; TILE];
        let parts: Vec<Vec<f64>> = tiles(0..pilot.len())
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|range| {
                let tile = Tile::new(pilot.range(range.start, range.end), &weights[..range.len()]);
                let mut sums = Vec::new();
                tile.sums(&self.kernel, centres.rows(), &mut Scratch::new(), &mut sums);
                sums
            })
            .collect();
        let mut mean = vec![0.0; centres.len()];
        for part in &parts {
            mean.iter_mut().zip(part).for_each(|(mean, sum)| *mean += sum);
        }
        let explained = centres.project(&[mean]).first().map_or(0.0, |projection| projection.explained);
        let own = spread / pilot.len() as f64;
        Ok(((self.pilot_norm - explained - own).max(0.0), spread))
    }
}

impl Plan {
    /// Kernel values for each row.
    pub(super) fn cost(&self) -> f64 {
        self.centres.len() as f64 + 0.5 * (self.block + TILE) as f64
    }
}

/// At least so many rows, in whole tiles.
fn whole_tiles(wanted: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the largest block")]
    let rows = wanted.max(1.0).ceil() as usize;
    rows.next_multiple_of(TILE)
}

/// Some rows of a sample in random order, the heavy ones sooner: draws without replacement by weight (Efraimidis and Spirakis 2006).
fn weighted_order(sample: &Reference, most: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::of_purpose(seed, PURPOSE, 0);
    let mut keys: Vec<(f64, usize)> = sample
        .weights()
        .iter()
        .enumerate()
        .map(|(i, weight)| (random.unit().ln() / weight, i))
        .filter(|(key, _)| key.is_finite())
        .collect();
    keys.sort_by(|a, b| b.0.total_cmp(&a.0));
    keys.truncate(most);
    keys.into_iter().map(|(_, i)| i).collect()
}
