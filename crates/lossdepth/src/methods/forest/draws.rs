//! Which features a node of a random tree looks at.

use crate::numerics::Random;

/// The chances of the features at one node, when all draws are counted.
///
/// A node visits the features in random order, as scikit-learn does: the first `count` of them and, if all of these are
/// constant in the node, further ones up to the first that is not. The best of those visited wins. A feature that
/// $r$ others beat wins if none of these but itself is among the first `count` of `width`; the probability of it is
///
/// $$ \frac{\text{count}}{\text{width} - r} \prod_{t < r} \Bigl(1 - \frac{\text{count}}{\text{width} - t}\Bigr). $$
#[derive(Debug, Clone)]
pub(super) struct Chances {
    /// By rank: the best of all, the second best, …
    by_rank: Vec<f64>,
    /// The probability that none of the best 0, 1, … features is among the first `count`.
    none: Vec<f64>,
}

impl Chances {
    pub(super) fn new(width: usize, count: usize) -> Self {
        let (mut by_rank, mut none) = (Vec::with_capacity(width), vec![1.0]);
        let mut missed = 1.0;
        for rank in 0..width {
            let left = (width - rank) as f64;
            by_rank.push(missed * (count as f64 / left).min(1.0));
            missed *= (width - rank).saturating_sub(count) as f64 / left;
            none.push(missed);
        }
        Self { by_rank, none }
    }

    /// Calls `f` with each of the features that can win and its probability; `merit` is ascending, the best first,
    /// and has all features that are not constant. Equally good ones share what they have together.
    pub(super) fn winners(&self, merit: &[(u64, u32)], mut f: impl FnMut(u32, f64)) {
        let fallback = self.none[merit.len()] / merit.len().max(1) as f64;
        let mut rank = 0;
        while rank < merit.len() {
            let tied = merit[rank..].iter().take_while(|m| m.0 == merit[rank].0).count();
            let together: f64 = self.by_rank[rank..rank + tied].iter().sum();
            let each = together / tied as f64 + fallback;
            if each > 0.0 {
                merit[rank..rank + tied].iter().for_each(|m| f(m.1, each));
            }
            rank += tied;
        }
    }
}

/// The draws of a finite number of trees: a function of the seed, the frame, the tree and the level alone.
#[derive(Debug, Clone)]
pub(super) struct Draws {
    seed: u64,
    width: usize,
    count: usize,
    trees: usize,
    /// How many levels are kept in memory; deeper ones are drawn again for each query.
    levels: usize,
    kept: Vec<u32>,
}

/// At most this many draws are kept: 64 MB.
const KEPT: usize = 1 << 24;

impl Draws {
    pub(super) fn new(
        seed: u64,
        width: usize,
        count: usize,
        trees: usize,
        depth: usize,
        frames: usize,
    ) -> Self {
        let mut draws = Self { seed, width, count, trees, levels: 0, kept: Vec::new() };
        let each_level = trees.saturating_mul(count).saturating_mul(frames);
        let levels = depth.min(KEPT / each_level.max(1));
        let mut scratch = draws.scratch();
        for frame in 0..frames {
            for tree in 0..trees {
                for level in 0..levels {
                    draws.draw(frame, tree, level, draws.count, &mut scratch);
                    draws.kept.extend_from_slice(&scratch.features[..draws.count]);
                    scratch.undo();
                }
            }
        }
        draws.levels = levels;
        draws
    }

    pub(super) fn trees(&self) -> usize {
        self.trees
    }

    pub(super) fn scratch(&self) -> Permutation {
        let width = u32::try_from(self.width).unwrap_or(u32::MAX);
        Permutation { features: (0..width).collect(), swaps: Vec::new() }
    }

    /// Visits features in the node's random order until `f` has had enough: always the first `count`, then on for as
    /// long as `f` asks.
    pub(super) fn visit(
        &self,
        place: (usize, usize, usize),
        scratch: &mut Permutation,
        mut f: impl FnMut(u32) -> bool,
    ) {
        let (frame, tree, level) = place;
        let mut more = true;
        if level < self.levels {
            let at = ((frame * self.trees + tree) * self.levels + level) * self.count;
            self.kept[at..at + self.count].iter().for_each(|&j| more = f(j));
        } else {
            self.draw(frame, tree, level, self.count, scratch);
            scratch.features[..self.count].iter().for_each(|&j| more = f(j));
            scratch.undo();
        }
        if more && self.count < self.width {
            self.draw(frame, tree, level, self.width, scratch);
            for &j in &scratch.features[self.count..] {
                if !f(j) {
                    break;
                }
            }
            scratch.undo();
        }
    }

    /// A fair coin for the node, for when both sides of a feature are equally good.
    pub(super) fn coin(&self, (frame, tree, level): (usize, usize, usize)) -> bool {
        self.stream(2, frame, tree, level).next() >> 63 == 1
    }

    fn stream(&self, kind: u64, frame: usize, tree: usize, level: usize) -> Random {
        let seed = Random::of_purpose(self.seed, kind, frame as u64).next();
        Random::of_purpose(seed, tree as u64, level as u64)
    }

    /// The first `count` steps of Fisher and Yates's shuffle.
    fn draw(&self, frame: usize, tree: usize, level: usize, count: usize, scratch: &mut Permutation) {
        let mut random = self.stream(1, frame, tree, level);
        for at in 0..count {
            let left = u32::try_from(self.width - at).unwrap_or(u32::MAX);
            let other = at + random.unbiased_below(left) as usize;
            scratch.features.swap(at, other);
            scratch.swaps.push((at, other));
        }
    }
}

/// The features in the order drawn so far.
#[derive(Default)]
pub(super) struct Permutation {
    features: Vec<u32>,
    swaps: Vec<(usize, usize)>,
}

impl Permutation {
    fn undo(&mut self) {
        for (a, b) in self.swaps.drain(..).rev() {
            self.features.swap(a, b);
        }
    }
}
