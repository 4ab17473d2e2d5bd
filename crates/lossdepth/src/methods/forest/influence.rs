//! One query: the leaves around it in every frame, the averaged probabilities, the depth.

use super::grow::{Boxes, Grower, Plan};
use super::members::Members;
use super::presorted::Presorted;
use super::query_bitsets::Around;
use super::risk::Averages;
use super::{Forest, ForestLoss, Grown};
use crate::methods::explanation::{Cut, Explanation};
use crate::numerics::linalg::dot;
use crate::problem::Fit;
use crate::problem::Reported;
use crate::problem::Stop;

/// The memory one worker needs, kept from query to query.
#[derive(Default)]
pub(super) struct Tally {
    grower: Grower,
    frames: Vec<View>,
    located: Vec<f64>,
    /// The probability of the query's class at each row, and at the query.
    rows: Vec<f64>,
    query: f64,
    influence: Vec<f64>,
    slopes: Vec<f64>,
    amounts: Vec<f64>,
}

/// A query in one frame.
#[derive(Default)]
struct View {
    around: Around,
    leaves: Boxes,
    members: Members,
}

impl Tally {
    /// The fit of one query; `None` if `cancelled` said to stop.
    pub(super) fn isolate(
        &mut self,
        forest: &Forest,
        grown: &Grown,
        query: &[f64],
        cancelled: &dyn Fn() -> bool,
    ) -> Option<Fit> {
        let sample = &grown.sample;
        let share = (sample.frames.len() as f64).recip();
        self.frames.resize_with(sample.frames.len(), View::default);
        self.rows.clear();
        self.rows.resize(64 * sample.words, 0.0);
        self.query = 0.0;
        let (mut rest, mut boxes, mut leaves) = (0.0, 0, 0);
        for (at, (frame, view)) in sample.frames.iter().zip(&mut self.frames).enumerate() {
            frame.locate(query, &mut self.located);
            view.around.look(sample, frame, &self.located);
            let plan = Plan {
                chances: &grown.chances,
                draws: grown.draws.as_ref(),
                frame: at,
                // A box has at most two sides in each column.
                max_depth: forest.max_depth.min(2 * sample.width),
                max_boxes: forest.max_boxes,
                tolerance: 0.25 * forest.tol,
            };
            if !self.grower.grow(&plan, sample, &view.around, cancelled) {
                return None;
            }
            std::mem::swap(&mut self.grower.leaves, &mut view.leaves);
            rest += share * self.grower.rest;
            boxes += self.grower.cut;
            leaves += view.leaves.len();
            view.members.set(&view.around, &view.leaves);
            self.amounts.clear();
            for leaf in 0..view.leaves.len() {
                let amount = share * view.chance(sample, leaf);
                self.query += amount;
                if view.leaves.mass(leaf) > 0 {
                    self.amounts.push(amount);
                }
            }
            view.members.spread(&self.amounts, &mut self.rows);
        }
        // A row of padding is in no box but that without cuts.
        self.rows.truncate(sample.rows);
        // Relative rounding: of the probability of a box by what its cuts were computed from, of its quotient, of the
        // sum over all boxes. All terms are positive, so none of it is magnified.
        let cuts = forest.max_depth.min(2 * sample.width) as f64;
        let cut = if grown.draws.is_some() { 2.0 } else { 4.0 * sample.width as f64 + 8.0 };
        let rounding = if boxes == 0 { 0.0 } else { f64::EPSILON * (cuts * cut + leaves as f64 + 4.0) };
        let averages = Averages { rows: &self.rows, query: self.query.min(1.0), rounding, rest };
        let (depth, error) = averages.risk(sample, forest.loss, forest.value);
        self.query = averages.query;
        let stop = if error <= forest.tol { Stop::Converged } else { Stop::IterationLimit };
        self.influence(sample, forest.loss, forest.value);
        let stderr = sample.standard_error(&self.influence);
        Some(Fit { depth, error, stderr, iterations: boxes, stop })
    }

    /// How the depth changes with the mass of each row, if the order of the features by merit stays as it is.
    ///
    /// The masses $q_T$ of the boxes move with the sample, their cuts do not:
    ///
    /// $$ \tfrac12 \Bigl[ \ell_i - \bar\ell - \sum_T \frac{P_T (1[x_i \in T] - q_T)}{(1 + q_T)^2}
    ///    \Bigl( \sum_{k \in T} \omega_k \ell_k' + \ell_z' \Bigr) \Bigr]. $$
    fn influence(&mut self, sample: &Presorted, loss: ForestLoss, value: Reported) {
        let [rows_share, query_share] = value.shares(loss.unit(), sample.observations);
        let share = (sample.frames.len() as f64).recip();
        self.influence.clear();
        self.influence.resize(64 * sample.words, 0.0);
        self.slopes.clear();
        let at_query = query_share * loss.slope_at_query(self.query);
        self.slopes.resize(64 * sample.words, 0.0);
        loss.slopes(sample, &self.rows, rows_share, &mut self.slopes);
        if loss != ForestLoss::ZeroOne {
            for view in &mut self.frames {
                view.members.gather(&self.slopes, &mut self.amounts);
                let leaves = (0..view.leaves.len()).filter(|&leaf| view.leaves.mass(leaf) > 0);
                for (amount, leaf) in self.amounts.iter_mut().zip(leaves) {
                    let q = view.leaves.mass(leaf) as f64 / sample.total as f64;
                    let chance = view.leaves.probability(leaf) / ((1.0 + q) * (1.0 + q));
                    *amount = -share * chance * (at_query + *amount);
                }
                view.members.spread(&self.amounts, &mut self.influence);
            }
        }
        self.influence.truncate(sample.rows);
        loss.add_losses(sample, &self.rows, rows_share, &mut self.influence);
        let mean = dot(&self.influence, &sample.weights);
        self.influence.iter_mut().for_each(|influence| *influence -= mean);
    }

    /// What is behind the fit of the query last isolated.
    pub(super) fn explain(&self, grown: &Grown, query: &[f64], fit: Fit) -> Explanation {
        let sample = &grown.sample;
        let mut influence = vec![0.0; sample.given];
        for (i, &row) in sample.counted.iter().enumerate() {
            influence[row] = self.influence[i];
        }
        // In a rotated frame a cut is across all columns.
        let cuts = match (&sample.frames[..], &self.frames[..]) {
            ([frame], [view]) if !frame.rotated() => {
                Some(cuts(sample, view, query, |column| frame.column(sample.rows, column)))
            }
            _ => None,
        };
        Explanation::forest(fit, self.query, influence, cuts)
    }
}

fn cuts<'a>(sample: &Presorted, view: &View, query: &[f64], column: impl Fn(usize) -> &'a [f64]) -> Vec<Cut> {
    let mut probability = vec![0.0; 2 * query.len()];
    for leaf in 0..view.leaves.len() {
        for &side in view.leaves.sides(leaf) {
            probability[side as usize] += view.leaves.probability(leaf);
        }
    }
    let mut cuts: Vec<Cut> = (0..probability.len())
        .filter(|&side| probability[side] > 0.0)
        .map(|side| {
            let (feature, above) = (side / 2, side % 2 == 1);
            let (values, z) = (column(feature), query[feature]);
            let neighbour = if above {
                values[values.partition_point(|x| *x <= z)]
            } else {
                values[values.partition_point(|x| *x < z) - 1]
            };
            let kept = view.around.kept()[feature][usize::from(above)];
            Cut {
                feature,
                threshold: 0.5 * z + 0.5 * neighbour,
                above,
                probability: probability[side].min(1.0),
                share: kept as f64 / sample.total as f64,
            }
        })
        .collect();
    cuts.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    cuts
}

impl View {
    /// What a leaf adds to the probability of the query's class.
    fn chance(&self, sample: &Presorted, leaf: usize) -> f64 {
        let total = sample.total as f64;
        self.leaves.probability(leaf) * (total / (total + self.leaves.mass(leaf) as f64))
    }
}
