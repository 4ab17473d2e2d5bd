//! The boxes that contain the query, over all trees.
//!
//! The query has mass ½ and is alone in its class, so a split is the better the less of the sample it leaves
//! on the query's side, whatever the impurity: entropy and Gini index both grow with that mass (F2). The best
//! split of a number is right next to the query, below or above it; that of a category keeps the query's level
//! and nothing else. A tree's leaf with the query is the set of its splits, in any order, and trees with the
//! same splits are counted together: level by level, boxes and their probabilities.

use super::feature_subsets::{FeatureSubsets, Permutation, SplitProbabilities};
use super::presorted::Presorted;
use super::query_bitsets::{QueryBitsets, SplitId};

/// Which trees to grow, and how far.
#[derive(Clone, Copy)]
pub(super) struct GrowthPlan<'a> {
    pub(super) split_probabilities: &'a SplitProbabilities,
    /// `None` for the average over all trees.
    pub(super) feature_subsets: Option<&'a FeatureSubsets>,
    pub(super) frame: usize,
    /// How many splits a box can have; at most two a feature.
    pub(super) max_depth: usize,
    /// How many boxes of one level may be split further.
    pub(super) max_boxes: usize,
    /// The probability of boxes that may stay unsplit where a level has more than [`EXACT_BOXES`].
    pub(super) tolerance: f64,
    /// Whether the boxes of the last level are listed even if there are more than [`EXACT_LEAVES`].
    pub(super) list_all: bool,
}

/// Up to this many boxes of a level, all are split (heuristic: it bounds the cost of depth 2 in usual
/// dimensions).
const EXACT_BOXES: usize = 512;

/// Up to this many splits of the boxes of the last level, all are made and listed (heuristic: more do not occur up to 90
/// features and depth 2).
const EXACT_LEAVES: usize = 1 << 14;

/// A list of boxes around the query: splits, probability and mass of each.
#[derive(Default)]
pub(super) struct Boxes {
    splits: Vec<SplitId>,
    ends: Vec<usize>,
    probability: Vec<f64>,
    mass: Vec<u64>,
}

impl Boxes {
    pub(super) fn clear(&mut self) {
        self.splits.clear();
        self.ends.clear();
        self.probability.clear();
        self.mass.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The splits of a box, ascending.
    pub(super) fn splits(&self, at: usize) -> &[SplitId] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.splits[start..self.ends[at]]
    }

    pub(super) fn probability(&self, at: usize) -> f64 {
        self.probability[at]
    }

    /// The mass of the sample inside.
    pub(super) fn mass(&self, at: usize) -> u64 {
        self.mass[at]
    }

    fn push(&mut self, splits: &[SplitId], probability: f64, mass: u64) {
        self.splits.extend_from_slice(splits);
        self.ends.push(self.splits.len());
        self.probability.push(probability);
        self.mass.push(mass);
    }

    fn push_split(&mut self, splits: &[SplitId], new: SplitId, probability: f64, mass: u64) {
        let at = splits.partition_point(|s| *s < new);
        self.splits.extend_from_slice(&splits[..at]);
        self.splits.push(new);
        self.splits.extend_from_slice(&splits[at..]);
        self.ends.push(self.splits.len());
        self.probability.push(probability);
        self.mass.push(mass);
    }
}

/// Grows the boxes of one query at a time; keeps its scratch memory.
#[derive(Default)]
pub(super) struct Grower {
    pub(super) leaves: Boxes,
    /// The probability of boxes that could have been split further and were not.
    pub(super) unsplit_probability: f64,
    /// How many boxes were split.
    pub(super) split_count: usize,
    /// Which splits of the last level may be left out, if [`LastLevel`](super::last_level::LastLevel) is to make them.
    postponed: Option<ImprobableSplits>,
    level: Boxes,
    next: Boxes,
    order: Vec<usize>,
    keys: Vec<(u64, usize)>,
    rows: Vec<u64>,
    kept_mass: Vec<[u64; 2]>,
    ranking: Vec<(u64, u32)>,
    trees: Vec<(usize, usize)>,
    permutation: Option<Permutation>,
}

impl Grower {
    /// Grows the boxes of one query; `false` if cancelled.
    pub(super) fn grow(
        &mut self,
        plan: &GrowthPlan<'_>,
        sample: &Presorted,
        bitsets: &QueryBitsets,
        cancelled: &dyn Fn() -> bool,
    ) -> bool {
        self.leaves.clear();
        self.level.clear();
        (self.unsplit_probability, self.split_count, self.postponed) = (0.0, 0, None);
        match plan.feature_subsets {
            None => self.all_trees(plan, sample, bitsets, cancelled),
            Some(feature_subsets) => self.some_trees(plan, feature_subsets, sample, bitsets, cancelled),
        }
    }

    /// The boxes that have one more split to come, where these are too many to list, and which of the splits may be left out.
    pub(super) fn postponed(&self) -> Option<(&Boxes, ImprobableSplits)> {
        self.postponed.map(|improbable| (&self.level, improbable))
    }

    fn all_trees(
        &mut self,
        plan: &GrowthPlan<'_>,
        sample: &Presorted,
        bitsets: &QueryBitsets,
        cancelled: &dyn Fn() -> bool,
    ) -> bool {
        self.level.push(&[], 1.0, sample.total);
        for depth in 0..plan.max_depth {
            let most = EXACT_BOXES.min(plan.max_boxes);
            if depth > 0 && (self.level.len() > most || self.too_many_leaves(plan, sample, depth)) {
                self.prune(plan);
            }
            self.next.clear();
            let improbable = self.improbable_splits(plan, sample, depth);
            if improbable.is_some() && depth > 0 && !plan.list_all {
                self.postponed = improbable;
                return true;
            }
            let mut improbable = improbable.unwrap_or_default();
            for at in 0..self.level.len() {
                if cancelled() {
                    return false;
                }
                let (splits, p, mass) =
                    (self.level.splits(at), self.level.probability(at), self.level.mass(at));
                let kept_mass = if mass == 0 {
                    self.kept_mass.clear();
                    &self.kept_mass
                } else if splits.is_empty() {
                    bitsets.kept_mass()
                } else {
                    bitsets.intersection(splits, &mut self.rows);
                    bitsets.kept_mass_in(sample, &self.rows, mass, &mut self.kept_mass);
                    &self.kept_mass
                };
                rank(kept_mass, mass, &mut self.ranking);
                if self.ranking.is_empty() {
                    self.leaves.push(splits, p, mass);
                    continue;
                }
                self.split_count += 1;
                let mut unsplit = 0.0;
                plan.split_probabilities.for_each_split(
                    &self.ranking,
                    self.ranking.len(),
                    |j, probability| {
                        if improbable.leave_out(p * probability) {
                            unsplit += p * probability;
                            return;
                        }
                        let [below, above] = kept_mass[j as usize];
                        if below == above {
                            self.next.push_split(splits, 2 * j, 0.5 * p * probability, below);
                            self.next.push_split(splits, 2 * j + 1, 0.5 * p * probability, above);
                        } else {
                            let split = 2 * j + u32::from(above < below);
                            self.next.push_split(splits, split, p * probability, below.min(above));
                        }
                    },
                );
                if unsplit > 0.0 {
                    self.leaves.push(splits, unsplit, mass);
                    self.unsplit_probability += unsplit;
                }
            }
            self.merge(depth > 0);
            if self.level.len() == 0 {
                break;
            }
        }
        for at in 0..self.level.len() {
            self.leaves.push(self.level.splits(at), self.level.probability(at), self.level.mass(at));
        }
        true
    }

    /// Whether the boxes are those of the last level, with more splits than are all made.
    fn too_many_leaves(&self, plan: &GrowthPlan<'_>, sample: &Presorted, depth: usize) -> bool {
        let last = depth + 1 == plan.max_depth;
        last && self.level.len().saturating_mul(sample.features.count) > EXACT_LEAVES
    }

    /// Which splits of the last level can be left out, if there are too many of them.
    fn improbable_splits(
        &self,
        plan: &GrowthPlan<'_>,
        sample: &Presorted,
        depth: usize,
    ) -> Option<ImprobableSplits> {
        if !self.too_many_leaves(plan, sample, depth) {
            return None;
        }
        let allowance = plan.tolerance / plan.max_depth as f64;
        let threshold = plan.split_probabilities.threshold(&self.level.probability, allowance);
        Some(ImprobableSplits { threshold, allowance })
    }

    /// Makes the next level the current one, merging boxes with the same splits if there can be any.
    fn merge(&mut self, repeated: bool) {
        if !repeated {
            std::mem::swap(&mut self.level, &mut self.next);
            return;
        }
        let next = &self.next;
        self.order.clear();
        if next.splits.len() == 2 * next.len() {
            // Two splits, by far the most frequent case: integers sort faster than slices.
            self.keys.clear();
            let key = |pair: &[SplitId]| u64::from(pair[0]) << 32 | u64::from(pair[1]);
            self.keys.extend(next.splits.chunks_exact(2).map(key).zip(0..));
            self.keys.sort_unstable();
            self.order.extend(self.keys.iter().map(|k| k.1));
        } else {
            self.order.extend(0..next.len());
            self.order.sort_unstable_by(|&a, &b| next.splits(a).cmp(next.splits(b)).then(a.cmp(&b)));
        }
        self.level.clear();
        for &at in &self.order {
            let last = self.level.len();
            if last > 0 && self.level.splits(last - 1) == next.splits(at) {
                self.level.probability[last - 1] += next.probability(at);
            } else {
                self.level.push(next.splits(at), next.probability(at), next.mass(at));
            }
        }
    }

    /// Makes leaves of the least probable boxes.
    fn prune(&mut self, plan: &GrowthPlan<'_>) {
        let count = self.level.len();
        let level = &self.level;
        let probability = |at: usize| level.probability(at);
        self.order.clear();
        self.order.extend(0..count);
        self.order.sort_unstable_by(|&a, &b| probability(a).total_cmp(&probability(b)).then(a.cmp(&b)));
        let allowance = plan.tolerance / plan.max_depth as f64;
        let (mut dropped_probability, mut dropped) = (0.0, 0);
        while dropped < count
            && (count - dropped > plan.max_boxes
                || dropped_probability + probability(self.order[dropped]) <= allowance)
        {
            dropped_probability += probability(self.order[dropped]);
            dropped += 1;
        }
        self.unsplit_probability += dropped_probability;
        for &at in &self.order[..dropped] {
            self.leaves.push(level.splits(at), level.probability(at), level.mass(at));
        }
        self.order.drain(..dropped);
        self.order.sort_unstable();
        self.next.clear();
        for &at in &self.order {
            self.next.push(level.splits(at), level.probability(at), level.mass(at));
        }
        std::mem::swap(&mut self.level, &mut self.next);
    }

    fn some_trees(
        &mut self,
        plan: &GrowthPlan<'_>,
        feature_subsets: &FeatureSubsets,
        sample: &Presorted,
        bitsets: &QueryBitsets,
        cancelled: &dyn Fn() -> bool,
    ) -> bool {
        let weight = (feature_subsets.trees() as f64).recip();
        let mut permutation = self.permutation.take().unwrap_or_else(|| feature_subsets.scratch());
        // (box, tree), in the order of the boxes.
        self.trees.clear();
        self.trees.extend((0..feature_subsets.trees()).map(|tree| (0, tree)));
        self.level.push(&[], 1.0, sample.total);
        let mut depth = 0;
        while !self.trees.is_empty() && depth < plan.max_depth {
            self.next.clear();
            let mut start = 0;
            while start < self.trees.len() {
                if cancelled() {
                    return false;
                }
                let at = self.trees[start].0;
                let end = start + self.trees[start..].iter().take_while(|t| t.0 == at).count();
                let (splits, mass) = (self.level.splits(at), self.level.mass(at));
                self.kept_mass.clear();
                if splits.is_empty() {
                    self.kept_mass.extend_from_slice(bitsets.kept_mass());
                } else {
                    bitsets.intersection(splits, &mut self.rows);
                    self.kept_mass.resize(sample.features.count, NOT_COMPUTED);
                }
                let (kept_mass, rows) = (&mut self.kept_mass, &self.rows);
                let mut first_split = true;
                for k in start..end {
                    let tree = self.trees[k].1;
                    let node = (plan.frame, tree, depth);
                    let mut best: Option<(u64, u32)> = None;
                    if mass > 0 {
                        feature_subsets.visit(node, &mut permutation, |j| {
                            let masses = &mut kept_mass[j as usize];
                            if *masses == NOT_COMPUTED {
                                *masses = bitsets.kept_mass_of_feature(sample, rows, mass, j as usize);
                            }
                            let kept = masses[0].min(masses[1]);
                            if kept < mass && best.is_none_or(|b| kept < b.0) {
                                best = Some((kept, j));
                            }
                            best.is_none()
                        });
                    }
                    let Some((kept, j)) = best else {
                        // No tree can split this box.
                        self.leaves.push(splits, (end - start) as f64 * weight, mass);
                        self.trees[start..end].iter_mut().for_each(|t| t.0 = usize::MAX);
                        break;
                    };
                    self.split_count += usize::from(std::mem::take(&mut first_split));
                    let [below, above] = kept_mass[j as usize];
                    let split =
                        2 * j + u32::from(above < below || (above == below && feature_subsets.coin(node)));
                    self.trees[k].0 = self.next.len();
                    self.next.push_split(splits, split, weight, kept);
                }
                start = end;
            }
            self.trees.retain(|t| t.0 != usize::MAX);
            depth += 1;
            self.merge_trees(weight);
        }
        for at in 0..self.level.len() {
            self.leaves.push(self.level.splits(at), self.level.probability(at), self.level.mass(at));
        }
        self.permutation = Some(permutation);
        true
    }

    /// Makes the next level, which has a box for each tree, the current one, merging equal boxes.
    fn merge_trees(&mut self, weight: f64) {
        let next = &self.next;
        self.trees.sort_unstable_by(|a, b| next.splits(a.0).cmp(next.splits(b.0)).then(a.1.cmp(&b.1)));
        self.level.clear();
        let mut start = 0;
        while start < self.trees.len() {
            let splits = next.splits(self.trees[start].0);
            let count = self.trees[start..].iter().take_while(|t| next.splits(t.0) == splits).count();
            self.level.push(splits, count as f64 * weight, next.mass(self.trees[start].0));
            let to = self.level.len() - 1;
            self.trees[start..start + count].iter_mut().for_each(|t| t.0 = to);
            start += count;
        }
    }
}

/// Splits so improbable that a box may stay as it is instead.
#[derive(Clone, Copy, Default)]
pub(super) struct ImprobableSplits {
    threshold: f64,
    /// The probability that may still be left out.
    allowance: f64,
}

impl ImprobableSplits {
    /// Whether a split of this probability is left out.
    fn leave_out(&mut self, probability: f64) -> bool {
        let out = probability < self.threshold && probability <= self.allowance;
        if out {
            self.allowance -= probability;
        }
        out
    }

    /// How many of the best features of a box of probability `p` are to split it, of so many that can; the others are left out.
    pub(super) fn likely(
        &mut self,
        split_probabilities: &SplitProbabilities,
        p: f64,
        features: usize,
    ) -> usize {
        let (likely, others) = split_probabilities.likely(p, self.threshold);
        if likely >= features || others > self.allowance {
            return features;
        }
        self.allowance -= others;
        likely
    }
}

const NOT_COMPUTED: [u64; 2] = [u64::MAX; 2];

/// The features that are not constant in a box, the one whose best split keeps least first.
fn rank(kept_mass: &[[u64; 2]], mass: u64, ranking: &mut Vec<(u64, u32)>) {
    ranking.clear();
    ranking.extend((0..).zip(kept_mass).map(|(j, k)| (k[0].min(k[1]), j)).filter(|m| m.0 < mass));
    ranking.sort_unstable();
}
