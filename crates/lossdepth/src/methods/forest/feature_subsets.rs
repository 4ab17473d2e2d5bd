//! The random subset of features that a node considers for its split.

use crate::numerics::Random;
use crate::numerics::simd::sum_of;

/// The probability of each feature to be a node's split, over all random subsets.
///
/// A node visits the features in random order, as scikit-learn does: the first `count` of them and, if all of
/// these are constant in the node, further ones up to the first that is not. The best of those visited wins.
/// A feature that $r$ others beat wins if it, and none of these, is among the first `count` of `width` (F4);
/// the probability is
///
/// $$ \frac{\text{count}}{\text{width} - r} \prod_{t < r} \Bigl(1 - \frac{\text{count}}{\text{width} -
/// t}\Bigr). $$
#[derive(Debug, Clone)]
pub(super) struct SplitProbabilities {
    /// By rank: the best feature, the second best, …
    by_rank: Vec<f64>,
    /// The probability that none of the best 0, 1, … features is among the first `count`.
    none_drawn_of_best: Vec<f64>,
}

impl SplitProbabilities {
    pub(super) fn new(width: usize, count: usize) -> Self {
        let (mut by_rank, mut none_drawn_of_best) = (Vec::with_capacity(width), vec![1.0]);
        let mut none_drawn = 1.0;
        for rank in 0..width {
            let left = (width - rank) as f64;
            by_rank.push(none_drawn * (count as f64 / left).min(1.0));
            none_drawn *= (width - rank).saturating_sub(count) as f64 / left;
            none_drawn_of_best.push(none_drawn);
        }
        Self { by_rank, none_drawn_of_best }
    }

    /// How large a probability a split needs for what is below it, over all boxes with these probabilities, to sum to at
    /// most `allowance`. An estimate for features that differ in merit; who uses it keeps the sum.
    pub(super) fn threshold(&self, boxes: &[f64], allowance: f64) -> f64 {
        let dropped = |threshold: f64| -> f64 {
            // The probabilities decrease with the rank, and those from a rank on sum to that of no better one drawn.
            let of = |p: &f64| {
                p * self.none_drawn_of_best[self.by_rank.partition_point(|split| p * split >= threshold)]
            };
            boxes.iter().map(of).sum()
        };
        let mut threshold = allowance;
        // Smaller factors would leave out less than allowed, larger ones take more trials (heuristic).
        while threshold > 0.0 && dropped(threshold) > allowance {
            threshold *= 0.7;
        }
        threshold
    }

    /// How many of the best features win a box of this probability at least so often, and how often the others do at most.
    pub(super) fn likely(&self, p: f64, threshold: f64) -> (usize, f64) {
        let rank = self.by_rank.partition_point(|split| p * split >= threshold);
        (rank, p * self.none_drawn_of_best[rank])
    }

    /// Calls `f` with each feature that can win and its probability. `ranking` has the best of the `features` that are not
    /// constant, the best first, and all that are as good as the last of them. Equally good ones share the sum of their
    /// probabilities, and all share the case that none of them is among the first `count` (F5). Probabilities do not increase
    /// from call to call. Returns the probability of the features that are not in the ranking.
    pub(super) fn for_each_split(
        &self,
        ranking: &[(u64, u32)],
        features: usize,
        mut f: impl FnMut(u32, f64),
    ) -> f64 {
        let fallback = self.none_drawn_of_best[features] / features.max(1) as f64;
        let mut rank = 0;
        while rank < ranking.len() {
            let tied = ranking[rank..].iter().take_while(|m| m.0 == ranking[rank].0).count();
            let together: f64 = self.by_rank[rank..rank + tied].iter().sum();
            let each = together / tied as f64 + fallback;
            if each > 0.0 {
                ranking[rank..rank + tied].iter().for_each(|m| f(m.1, each));
            }
            rank += tied;
        }
        let others = &self.by_rank[rank..features];
        sum_of(others.len(), |at| others[at]) + others.len() as f64 * fallback
    }
}

/// The feature subsets of a finite number of trees: a function of the seed, the frame, the tree and the level
/// alone.
#[derive(Debug, Clone)]
pub(super) struct FeatureSubsets {
    seed: u64,
    width: usize,
    count: usize,
    trees: usize,
    /// How many levels are stored; deeper ones are drawn again for each query.
    levels: usize,
    stored: Vec<u32>,
}

/// At most this many features are stored: 64 MB.
const MAX_STORED: usize = 1 << 24;

impl FeatureSubsets {
    pub(super) fn new(
        seed: u64,
        width: usize,
        count: usize,
        trees: usize,
        depth: usize,
        frames: usize,
    ) -> Self {
        let mut feature_subsets = Self { seed, width, count, trees, levels: 0, stored: Vec::new() };
        let each_level = trees.saturating_mul(count).saturating_mul(frames);
        let levels = depth.min(MAX_STORED / each_level.max(1));
        let mut scratch = feature_subsets.scratch();
        for frame in 0..frames {
            for tree in 0..trees {
                for level in 0..levels {
                    feature_subsets.draw(frame, tree, level, feature_subsets.count, &mut scratch);
                    feature_subsets.stored.extend_from_slice(&scratch.features[..feature_subsets.count]);
                    scratch.undo();
                }
            }
        }
        feature_subsets.levels = levels;
        feature_subsets
    }

    pub(super) fn trees(&self) -> usize {
        self.trees
    }

    pub(super) fn scratch(&self) -> Permutation {
        let width = u32::try_from(self.width).unwrap_or(u32::MAX);
        Permutation { features: (0..width).collect(), swaps: Vec::new() }
    }

    /// Visits features in the random order of a node (frame, tree, level): always the first `count`, then
    /// further ones while `f` returns true.
    pub(super) fn visit(
        &self,
        node: (usize, usize, usize),
        scratch: &mut Permutation,
        mut f: impl FnMut(u32) -> bool,
    ) {
        let (frame, tree, level) = node;
        let mut further = true;
        if level < self.levels {
            let at = ((frame * self.trees + tree) * self.levels + level) * self.count;
            self.stored[at..at + self.count].iter().for_each(|&j| further = f(j));
        } else {
            self.draw(frame, tree, level, self.count, scratch);
            scratch.features[..self.count].iter().for_each(|&j| further = f(j));
            scratch.undo();
        }
        if further && self.count < self.width {
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

    /// The first `count` steps of the Fisher–Yates shuffle.
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

/// A permutation of the features, and the swaps that led to it.
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
