//! From cuts to boxes: the leaves that hold the query, over all trees.
//!
//! The query has mass ½ and is alone in its class, so a split is the better the less of the sample it leaves on the
//! query's side, whatever the impurity: entropy and Gini index both grow with that mass. The best split of a feature
//! is right next to the query, below or above it. The box a tree puts around the query is the set of its cuts, in any
//! order, and trees with the same cuts can be counted together: level by level, boxes and their probabilities.

use super::draws::{Chances, Draws, Permutation};
use super::presorted::Presorted;
use super::query_bitsets::{Around, Side};

/// What grows, and how far.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) chances: &'a Chances,
    /// `None` for all trees there are.
    pub(super) draws: Option<&'a Draws>,
    pub(super) frame: usize,
    /// How many cuts a box can have; at most two a column.
    pub(super) max_depth: usize,
    /// How many boxes of one level may be cut further.
    pub(super) max_boxes: usize,
    /// The probability that may be left out where there are more than a few boxes.
    pub(super) tolerance: f64,
}

/// Up to this many boxes of a level nothing is left out.
const FEW: usize = 512;

/// Boxes with the same number of cuts, or any number of cuts.
#[derive(Default)]
pub(super) struct Boxes {
    sides: Vec<Side>,
    ends: Vec<usize>,
    probability: Vec<f64>,
    mass: Vec<u64>,
}

impl Boxes {
    pub(super) fn clear(&mut self) {
        self.sides.clear();
        self.ends.clear();
        self.probability.clear();
        self.mass.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The cuts of a box, ascending.
    pub(super) fn sides(&self, at: usize) -> &[Side] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.sides[start..self.ends[at]]
    }

    pub(super) fn probability(&self, at: usize) -> f64 {
        self.probability[at]
    }

    /// The mass of the sample inside.
    pub(super) fn mass(&self, at: usize) -> u64 {
        self.mass[at]
    }

    fn push(&mut self, sides: &[Side], probability: f64, mass: u64) {
        self.sides.extend_from_slice(sides);
        self.ends.push(self.sides.len());
        self.probability.push(probability);
        self.mass.push(mass);
    }

    fn push_cut(&mut self, sides: &[Side], cut: Side, probability: f64, mass: u64) {
        let at = sides.partition_point(|s| *s < cut);
        self.sides.extend_from_slice(&sides[..at]);
        self.sides.push(cut);
        self.sides.extend_from_slice(&sides[at..]);
        self.ends.push(self.sides.len());
        self.probability.push(probability);
        self.mass.push(mass);
    }
}

/// The leaves around one query, and the memory it takes to find them.
#[derive(Default)]
pub(super) struct Grower {
    pub(super) leaves: Boxes,
    /// The probability of boxes that could have been cut further and were not.
    pub(super) rest: f64,
    /// How many boxes were cut.
    pub(super) cut: usize,
    level: Boxes,
    next: Boxes,
    order: Vec<usize>,
    keys: Vec<(u64, usize)>,
    members: Vec<u64>,
    kept: Vec<[u64; 2]>,
    merit: Vec<(u64, u32)>,
    trees: Vec<(usize, usize)>,
    permutation: Option<Permutation>,
}

impl Grower {
    /// Grows all trees; `false` if `cancelled` said to stop.
    pub(super) fn grow(
        &mut self,
        plan: &Plan<'_>,
        sample: &Presorted,
        around: &Around,
        cancelled: &dyn Fn() -> bool,
    ) -> bool {
        self.leaves.clear();
        self.level.clear();
        (self.rest, self.cut) = (0.0, 0);
        match plan.draws {
            None => self.all_trees(plan, sample, around, cancelled),
            Some(draws) => self.some_trees(plan, draws, sample, around, cancelled),
        }
    }

    fn all_trees(
        &mut self,
        plan: &Plan<'_>,
        sample: &Presorted,
        around: &Around,
        cancelled: &dyn Fn() -> bool,
    ) -> bool {
        self.level.push(&[], 1.0, sample.total);
        for depth in 0..plan.max_depth {
            if depth > 0 {
                self.prune(plan);
            }
            self.next.clear();
            for at in 0..self.level.len() {
                if cancelled() {
                    return false;
                }
                let (sides, p, mass) =
                    (self.level.sides(at), self.level.probability(at), self.level.mass(at));
                let kept = if mass == 0 {
                    self.kept.clear();
                    &self.kept
                } else if sides.is_empty() {
                    around.kept()
                } else {
                    around.members(sides, &mut self.members);
                    around.kept_in(sample, &self.members, mass, &mut self.kept);
                    &self.kept
                };
                rank(kept, mass, &mut self.merit);
                if self.merit.is_empty() {
                    self.leaves.push(sides, p, mass);
                    continue;
                }
                self.cut += 1;
                plan.chances.winners(&self.merit, |j, chance| {
                    let [below, above] = kept[j as usize];
                    if below == above {
                        self.next.push_cut(sides, 2 * j, 0.5 * p * chance, below);
                        self.next.push_cut(sides, 2 * j + 1, 0.5 * p * chance, above);
                    } else {
                        let side = 2 * j + u32::from(above < below);
                        self.next.push_cut(sides, side, p * chance, below.min(above));
                    }
                });
            }
            self.merge(depth > 0);
            if self.level.len() == 0 {
                break;
            }
        }
        for at in 0..self.level.len() {
            self.leaves.push(self.level.sides(at), self.level.probability(at), self.level.mass(at));
        }
        true
    }

    /// Makes the next level the current one, boxes with the same cuts as one.
    fn merge(&mut self, repeated: bool) {
        if !repeated {
            std::mem::swap(&mut self.level, &mut self.next);
            return;
        }
        let next = &self.next;
        self.order.clear();
        if next.sides.len() == 2 * next.len() {
            // Pairs, by far the most frequent: numbers sort faster than slices.
            self.keys.clear();
            let key = |pair: &[Side]| u64::from(pair[0]) << 32 | u64::from(pair[1]);
            self.keys.extend(next.sides.chunks_exact(2).map(key).zip(0..));
            self.keys.sort_unstable();
            self.order.extend(self.keys.iter().map(|k| k.1));
        } else {
            self.order.extend(0..next.len());
            self.order.sort_unstable_by(|&a, &b| next.sides(a).cmp(next.sides(b)).then(a.cmp(&b)));
        }
        self.level.clear();
        for &at in &self.order {
            let last = self.level.len();
            if last > 0 && self.level.sides(last - 1) == next.sides(at) {
                self.level.probability[last - 1] += next.probability(at);
            } else {
                self.level.push(next.sides(at), next.probability(at), next.mass(at));
            }
        }
    }

    /// Where a level has more than a few boxes, makes leaves of the least probable.
    fn prune(&mut self, plan: &Plan<'_>) {
        let count = self.level.len();
        if count <= FEW.min(plan.max_boxes) {
            return;
        }
        let level = &self.level;
        let chance = |at: usize| level.probability(at);
        self.order.clear();
        self.order.extend(0..count);
        self.order.sort_unstable_by(|&a, &b| chance(a).total_cmp(&chance(b)).then(a.cmp(&b)));
        let allowance = plan.tolerance / plan.max_depth as f64;
        let (mut left_out, mut dropped) = (0.0, 0);
        while dropped < count
            && (count - dropped > plan.max_boxes || left_out + chance(self.order[dropped]) <= allowance)
        {
            left_out += chance(self.order[dropped]);
            dropped += 1;
        }
        self.rest += left_out;
        for &at in &self.order[..dropped] {
            self.leaves.push(level.sides(at), level.probability(at), level.mass(at));
        }
        self.order.drain(..dropped);
        self.order.sort_unstable();
        self.next.clear();
        for &at in &self.order {
            self.next.push(level.sides(at), level.probability(at), level.mass(at));
        }
        std::mem::swap(&mut self.level, &mut self.next);
    }

    fn some_trees(
        &mut self,
        plan: &Plan<'_>,
        draws: &Draws,
        sample: &Presorted,
        around: &Around,
        cancelled: &dyn Fn() -> bool,
    ) -> bool {
        let share = (draws.trees() as f64).recip();
        let mut permutation = self.permutation.take().unwrap_or_else(|| draws.scratch());
        // Trees with the number of the box they are in, in the order of the boxes.
        self.trees.clear();
        self.trees.extend((0..draws.trees()).map(|tree| (0, tree)));
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
                let (sides, mass) = (self.level.sides(at), self.level.mass(at));
                self.kept.clear();
                if sides.is_empty() {
                    self.kept.extend_from_slice(around.kept());
                } else {
                    around.members(sides, &mut self.members);
                    self.kept.resize(sample.width, UNKNOWN);
                }
                let (kept, members) = (&mut self.kept, &self.members);
                let mut first_cut = true;
                for k in start..end {
                    let tree = self.trees[k].1;
                    let place = (plan.frame, tree, depth);
                    let mut best: Option<(u64, u32)> = None;
                    if mass > 0 {
                        draws.visit(place, &mut permutation, |j| {
                            let known = &mut kept[j as usize];
                            if *known == UNKNOWN {
                                *known = around.kept_in_column(sample, members, mass, j as usize);
                            }
                            let left = known[0].min(known[1]);
                            if left < mass && best.is_none_or(|b| left < b.0) {
                                best = Some((left, j));
                            }
                            best.is_none()
                        });
                    }
                    let Some((left, j)) = best else {
                        // No tree can cut this box.
                        self.leaves.push(sides, (end - start) as f64 * share, mass);
                        self.trees[start..end].iter_mut().for_each(|t| t.0 = usize::MAX);
                        break;
                    };
                    self.cut += usize::from(std::mem::take(&mut first_cut));
                    let [below, above] = kept[j as usize];
                    let side = 2 * j + u32::from(above < below || (above == below && draws.coin(place)));
                    self.trees[k].0 = self.next.len();
                    self.next.push_cut(sides, side, share, left);
                }
                start = end;
            }
            self.trees.retain(|t| t.0 != usize::MAX);
            depth += 1;
            self.gather(share);
        }
        for at in 0..self.level.len() {
            self.leaves.push(self.level.sides(at), self.level.probability(at), self.level.mass(at));
        }
        self.permutation = Some(permutation);
        true
    }

    /// Makes the next level, which has a box for each tree, the current one, where trees share boxes.
    fn gather(&mut self, share: f64) {
        let next = &self.next;
        self.trees.sort_unstable_by(|a, b| next.sides(a.0).cmp(next.sides(b.0)).then(a.1.cmp(&b.1)));
        self.level.clear();
        let mut start = 0;
        while start < self.trees.len() {
            let sides = next.sides(self.trees[start].0);
            let count = self.trees[start..].iter().take_while(|t| next.sides(t.0) == sides).count();
            self.level.push(sides, count as f64 * share, next.mass(self.trees[start].0));
            let to = self.level.len() - 1;
            self.trees[start..start + count].iter_mut().for_each(|t| t.0 = to);
            start += count;
        }
    }
}

const UNKNOWN: [u64; 2] = [u64::MAX; 2];

/// The features that are not constant in a box, the one that leaves least first.
fn rank(kept: &[[u64; 2]], mass: u64, merit: &mut Vec<(u64, u32)>) {
    merit.clear();
    merit.extend((0..).zip(kept).map(|(j, k)| (k[0].min(k[1]), j)).filter(|m| m.0 < mass));
    merit.sort_unstable();
}
