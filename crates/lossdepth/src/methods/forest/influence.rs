//! The depth of one query: its boxes in every frame, the averaged probabilities, their risk and influence.

use super::grow::{Boxes, Grower, GrowthPlan};
use super::last_level::LastLevel;
use super::membership::BoxMembership;
use super::presorted::Presorted;
use super::query_bitsets::QueryBitsets;
use super::risk::AveragedProbabilities;
use super::{Forest, ForestLoss, PreparedForest};
use crate::methods::explanation::{Cut, Explanation};
use crate::numerics::linalg::dot;
use crate::problem::Fit;
use crate::problem::Reported;
use crate::problem::Stop;

/// Scores queries; the scratch memory of one worker.
#[derive(Default)]
pub(super) struct QueryScorer {
    grower: Grower,
    last_level: LastLevel,
    /// Whether some boxes were not listed.
    unlisted: bool,
    frames: Vec<FrameBoxes>,
    located: Vec<f64>,
    /// The probability of the query's class at each row, and at the query.
    rows: Vec<f64>,
    query: f64,
    influence: Vec<f64>,
    loss_derivatives: Vec<f64>,
    amounts: Vec<f64>,
}

/// The boxes of a query in one frame.
#[derive(Default)]
struct FrameBoxes {
    bitsets: QueryBitsets,
    leaves: Boxes,
    membership: BoxMembership,
}

impl QueryScorer {
    /// The fit of one query; `None` if cancelled. With `list_all` every box is listed, however many there are.
    pub(super) fn isolate(
        &mut self,
        forest: &Forest,
        prepared: &PreparedForest,
        query: &[f64],
        list_all: bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Option<Fit> {
        let sample = &prepared.sample;
        let share = (sample.frames.len() as f64).recip();
        self.frames.resize_with(sample.frames.len(), FrameBoxes::default);
        self.rows.clear();
        self.rows.resize(64 * sample.words, 0.0);
        (self.query, self.unlisted) = (0.0, false);
        let (mut unsplit_probability, mut boxes, mut leaves) = (0.0, 0, 0);
        for (at, (frame, frame_boxes)) in sample.frames.iter().zip(&mut self.frames).enumerate() {
            frame.locate(&sample.features, query, &mut self.located);
            frame_boxes.bitsets.set(sample, frame, &self.located);
            let plan = GrowthPlan {
                split_probabilities: &prepared.split_probabilities,
                feature_subsets: prepared.feature_subsets.as_ref(),
                frame: at,
                // A box has at most two splits in each feature.
                max_depth: forest.max_depth.min(2 * sample.features.count),
                max_boxes: forest.max_boxes,
                tolerance: 0.25 * forest.tol,
                list_all,
            };
            if !self.grower.grow(&plan, sample, &frame_boxes.bitsets, cancelled) {
                return None;
            }
            std::mem::swap(&mut self.grower.leaves, &mut frame_boxes.leaves);
            unsplit_probability += share * self.grower.unsplit_probability;
            boxes += self.grower.split_count;
            if let Some((boxes_left, improbable)) = self.grower.postponed() {
                let splits = (plan.split_probabilities, improbable);
                let rows = (share, &mut self.rows[..]);
                let bitsets = &frame_boxes.bitsets;
                let last = self.last_level.split(splits, sample, bitsets, boxes_left, rows, cancelled)?;
                unsplit_probability += share * last.unsplit_probability;
                boxes += last.split_count;
                leaves += last.additions;
                self.query += last.query;
                self.unlisted = true;
            }
            leaves += frame_boxes.leaves.len();
            frame_boxes.membership.set(&frame_boxes.bitsets, &frame_boxes.leaves);
            self.amounts.clear();
            for leaf in 0..frame_boxes.leaves.len() {
                let amount = share * frame_boxes.query_probability(sample, leaf);
                self.query += amount;
                if frame_boxes.leaves.mass(leaf) > 0 {
                    self.amounts.push(amount);
                }
            }
            frame_boxes.membership.scatter_add(&self.amounts, &mut self.rows);
        }
        // Rows of padding are only in boxes without splits.
        self.rows.truncate(sample.rows);
        // Relative rounding (F7): of the probability of a box, for each split it was computed from; of its
        // quotient; of the sum over all boxes. All terms are positive, so it is not amplified.
        let splits = forest.max_depth.min(2 * sample.features.count) as f64;
        let per_split =
            if prepared.feature_subsets.is_some() { 2.0 } else { 4.0 * sample.features.count as f64 + 8.0 };
        let rounding =
            if boxes == 0 { 0.0 } else { f64::EPSILON * (splits * per_split + leaves as f64 + 4.0) };
        let averages = AveragedProbabilities {
            rows: &self.rows,
            query: self.query.min(1.0),
            rounding,
            unsplit_probability,
        };
        let (depth, error) = averages.risk(sample, forest.loss, forest.value);
        self.query = averages.query;
        let stop = if error <= forest.tol { Stop::Converged } else { Stop::IterationLimit };
        // The influences (F9) would give a standard error; it is withheld, since it is several times too small where the order of
        // the features changes from sample to sample, and at far queries.
        Some(Fit { depth, error, stderr: f64::NAN, iterations: boxes, stop })
    }

    /// The influence of each row: how the depth changes with its mass, if the order of the features by merit
    /// stays as it is.
    ///
    /// The masses $q_T$ of the boxes change with the sample, their splits do not:
    ///
    /// $$ \tfrac12 \Bigl[ \ell_i - \bar\ell - \sum_T \frac{P_T (1[x_i \in T] - q_T)}{(1 + q_T)^2}
    ///    \Bigl( \sum_{k \in T} \omega_k \ell_k' + \ell_z' \Bigr) \Bigr], $$
    ///
    /// (F9).
    fn influence(&mut self, sample: &Presorted, loss: ForestLoss, value: Reported) {
        let [rows_share, query_share] = value.shares(loss.unit(), sample.observations);
        let share = (sample.frames.len() as f64).recip();
        self.influence.clear();
        self.influence.resize(64 * sample.words, 0.0);
        self.loss_derivatives.clear();
        let at_query = query_share * loss.derivative_at_query(self.query);
        self.loss_derivatives.resize(64 * sample.words, 0.0);
        loss.derivatives(sample, &self.rows, rows_share, &mut self.loss_derivatives);
        if loss != ForestLoss::ZeroOne {
            for frame_boxes in &mut self.frames {
                frame_boxes.membership.sum_rows(&self.loss_derivatives, &mut self.amounts);
                let leaves = (0..frame_boxes.leaves.len()).filter(|&leaf| frame_boxes.leaves.mass(leaf) > 0);
                for (amount, leaf) in self.amounts.iter_mut().zip(leaves) {
                    let q = frame_boxes.leaves.mass(leaf) as f64 / sample.total as f64;
                    let probability = frame_boxes.leaves.probability(leaf) / ((1.0 + q) * (1.0 + q));
                    *amount = -share * probability * (at_query + *amount);
                }
                frame_boxes.membership.scatter_add(&self.amounts, &mut self.influence);
            }
        }
        self.influence.truncate(sample.rows);
        loss.add_losses(sample, &self.rows, rows_share, &mut self.influence);
        let mean = dot(&self.influence, &sample.weights);
        self.influence.iter_mut().for_each(|influence| *influence -= mean);
    }

    /// Explains the fit of the query scored last; `None` if cancelled.
    pub(super) fn explain(
        &mut self,
        forest: &Forest,
        prepared: &PreparedForest,
        query: &[f64],
        fit: Fit,
        cancelled: &dyn Fn() -> bool,
    ) -> Option<Explanation> {
        if self.unlisted {
            self.isolate(forest, prepared, query, true, cancelled)?;
        }
        let sample = &prepared.sample;
        self.influence(sample, forest.loss, forest.value);
        let mut influence = vec![0.0; sample.given];
        for (i, &row) in sample.counted.iter().enumerate() {
            influence[row] = self.influence[i];
        }
        // In a rotated frame a split is not along a column.
        let cuts = match (&sample.frames[..], &self.frames[..]) {
            ([frame], [frame_boxes]) if !frame.rotated() => {
                Some(cuts(sample, frame_boxes, query, |column| frame.column(sample.rows, column)))
            }
            _ => None,
        };
        Some(Explanation::forest(fit, self.query, influence, cuts))
    }
}

fn cuts<'a>(
    sample: &Presorted,
    frame_boxes: &FrameBoxes,
    query: &[f64],
    column: impl Fn(usize) -> &'a [f64],
) -> Vec<Cut> {
    let mut probability = vec![0.0; 2 * sample.features.count];
    for leaf in 0..frame_boxes.leaves.len() {
        for &split in frame_boxes.leaves.splits(leaf) {
            probability[split as usize] += frame_boxes.leaves.probability(leaf);
        }
    }
    let mut cuts: Vec<Cut> = (0..probability.len())
        .filter(|&split| probability[split] > 0.0)
        .map(|split| {
            let (feature, above) = (split / 2, split % 2 == 1);
            let kept = frame_boxes.bitsets.kept_mass()[feature][usize::from(above)];
            let (probability, share) = (probability[split].min(1.0), kept as f64 / sample.total as f64);
            if let Some(group) = sample.features.category(feature) {
                let level = group.level(query);
                let at = group.start + level.unwrap_or(0);
                return Cut { feature: at, threshold: 0.5 * query[at], above, level, probability, share };
            }
            let at = sample.features.column(feature);
            let (values, z) = (column(feature), query[at]);
            let neighbour = if above {
                values[values.partition_point(|x| *x <= z)]
            } else {
                values[values.partition_point(|x| *x < z) - 1]
            };
            let threshold = 0.5 * z + 0.5 * neighbour;
            Cut { feature: at, threshold, above, level: None, probability, share }
        })
        .collect();
    cuts.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    cuts
}

impl FrameBoxes {
    /// What a leaf adds to the probability of the query's class at the query: $P_T / (1 + q_T)$ (F6).
    fn query_probability(&self, sample: &Presorted, leaf: usize) -> f64 {
        let total = sample.total as f64;
        self.leaves.probability(leaf) * (total / (total + self.leaves.mass(leaf) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{GroupKind, Layout, Reference};
    use crate::methods::Hypothesis;
    use crate::numerics::Random;

    /// Rows of numbers on a grid of `levels` values (0: none), then a category of three levels.
    fn table(random: &mut Random, rows: usize, numbers: usize, levels: u32) -> Vec<Vec<f64>> {
        let mut number = || match levels {
            0 => random.normal(),
            _ => f64::from(random.unbiased_below(levels)),
        };
        (0..rows)
            .map(|i| {
                (0..numbers)
                    .map(|_| number())
                    .chain((0..3).map(|k| f64::from(u8::from(i % 3 == k))))
                    .collect()
            })
            .collect()
    }

    #[test] // An explanation grows the trees again where boxes were not listed: it could not be cancelled.
    fn an_explanation_that_is_cancelled_ends() {
        let mut random = Random::new(6);
        let rows = table(&mut random, 60, 300, 0);
        let sample = Reference::new(&rows).unwrap();
        let forest = Forest::new();
        let prepared = forest.prepare(&sample).unwrap();
        let mut scorer = QueryScorer::default();
        let fit = scorer.isolate(&forest, &prepared, &rows[0], false, &|| false).unwrap();
        assert!(scorer.unlisted);
        assert!(scorer.explain(&forest, &prepared, &rows[0], fit, &|| true).is_none());
        assert!(scorer.explain(&forest, &prepared, &rows[0], fit, &|| false).is_some());
    }

    #[test] // The same boxes, listed one by one or added without a list.
    fn boxes_that_are_not_listed_add_up() {
        let mut random = Random::new(5);
        for (numbers, depth, levels, weighted) in [
            (300, 2, 0, false),
            (300, 2, 3, false),
            (300, 2, 0, true),
            (520, 2, 4, true),
            (70, 3, 0, false),
            (70, 3, 5, true),
        ] {
            let rows = table(&mut random, 70, numbers, levels);
            let weights: Vec<f64> =
                (0..70).map(|i| if weighted { f64::from(1 + i % 4) } else { 1.0 }).collect();
            let groups = (0..numbers).map(|j| (j, GroupKind::Number, 1));
            let layout = Layout::new(groups.chain([(numbers, GroupKind::Category, 3)]));
            let sample = Reference::weighted(&rows, &weights).unwrap().with_layout(layout).unwrap();
            let mut queries = rows[..6].to_vec();
            queries.extend([vec![0.0; numbers + 3], vec![9.0; numbers + 3]]);
            queries.push(rows[3].iter().zip(&rows[4]).map(|(a, b)| 0.5 * (a + b)).collect());
            for tol in [1e-3, 1e-6, 1e-12] {
                let forest = Forest::new().max_depth(depth).tol(tol);
                let prepared = forest.prepare(&sample).unwrap();
                let (mut scorer, mut unlisted) = (QueryScorer::default(), 0);
                for query in &queries {
                    let fit = scorer.isolate(&forest, &prepared, query, false, &|| false).unwrap();
                    let (summed, at_query) = (scorer.rows.clone(), scorer.query);
                    unlisted += usize::from(scorer.unlisted);
                    let listed = scorer.isolate(&forest, &prepared, query, true, &|| false).unwrap();
                    assert!(!scorer.unlisted);
                    assert!(
                        (fit.depth - listed.depth).abs() <= fit.error + listed.error,
                        "{fit:?} {listed:?}"
                    );
                    // The probabilities at all rows and the query sum to one (F6), whatever was left out.
                    let sum = dot(&summed, &prepared.sample.weights) + at_query;
                    assert!((sum - 1.0).abs() <= 1e-12, "{sum}");
                    // Both leave out less than half the tolerance, if not the same.
                    for (a, b) in summed.iter().zip(&scorer.rows) {
                        assert!((a - b).abs() <= tol + 1e-12, "{a} {b}");
                    }
                }
                assert!(unlisted > 3, "{numbers} {depth} {tol}: {unlisted}");
            }
        }
    }
}
