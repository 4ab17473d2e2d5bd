//! The depth of one query: its boxes in every frame, the averaged probabilities, their risk and influence.

use super::grow::{Boxes, Grower, GrowthPlan};
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
    /// The fit of one query; `None` if cancelled.
    pub(super) fn isolate(
        &mut self,
        forest: &Forest,
        prepared: &PreparedForest,
        query: &[f64],
        cancelled: &dyn Fn() -> bool,
    ) -> Option<Fit> {
        let sample = &prepared.sample;
        let share = (sample.frames.len() as f64).recip();
        self.frames.resize_with(sample.frames.len(), FrameBoxes::default);
        self.rows.clear();
        self.rows.resize(64 * sample.words, 0.0);
        self.query = 0.0;
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
            };
            if !self.grower.grow(&plan, sample, &frame_boxes.bitsets, cancelled) {
                return None;
            }
            std::mem::swap(&mut self.grower.leaves, &mut frame_boxes.leaves);
            unsplit_probability += share * self.grower.unsplit_probability;
            boxes += self.grower.split_count;
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

    /// Explains the fit of the query scored last.
    pub(super) fn explain(
        &mut self,
        forest: &Forest,
        prepared: &PreparedForest,
        query: &[f64],
        fit: Fit,
    ) -> Explanation {
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
        Explanation::forest(fit, self.query, influence, cuts)
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
