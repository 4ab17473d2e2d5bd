//! Why a point has the depth it has.

use crate::data::{Scaling, Transform};
use crate::problem::Fit;

/// The classifier behind a depth, taken apart.
///
/// For a linear depth $f(x) = \langle w, x \rangle + b$ tells the sample ($f > 0$) from the query ($f < 0$).
/// Measured from the sample's mean $\bar x$,
///
/// $$ f(z) = \underbrace{f(\bar x)}_\text{baseline} + \sum_j \underbrace{w_j (z_j - \bar x_j)}_\text{contribution of column j}. $$
///
/// The most negative contributions are the columns that give the query away.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The depth and what is known about it.
    pub fit: Fit,
    /// $f(z)$: for a linear depth exactly `baseline` plus the contributions, added in order.
    pub value: f64,
    /// The mean of $f$ over the reference; for a linear depth that is $f(\bar x)$.
    pub baseline: f64,
    /// $w$, one number for each original column; for other depths the gradient of $f$ at $z$, empty where there are no
    /// columns to speak of.
    pub weights: Vec<f64>,
    /// $b$, so that $f(x) = \langle w, x \rangle + b$ on the original columns; if $f$ is not linear, for $x$ near $z$.
    pub intercept: f64,
    /// $w_j (z_j - \bar x_j)$ for each original column; empty for other than linear depths.
    pub contributions: Vec<f64>,
    /// How the depth would change, per unit of mass, if the sample had more mass at each reference row:
    /// the influence function. Their weighted mean is 0; removing row $i$ changes the depth by about
    /// $-\omega_i / (1 - \omega_i)$ times its influence.
    pub influence: Vec<f64>,
    /// $f(x_i)$ at each reference row: the witness function of a kernel depth. Empty for linear depths, where
    /// `weights` and `intercept` say it all.
    pub witness: Vec<f64>,
    /// For a forest: the cuts its trees make around the query, the most frequent first. Empty for other methods, and
    /// where cuts are across columns: with rotations, or a scaling that mixes columns.
    pub cuts: Vec<Cut>,
}

/// One side of the boxes that trees put around a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// The column.
    pub feature: usize,
    /// Midway between the query and the nearest value of the sample on the other side. (In a box that other cuts have
    /// made smaller the nearest may be farther off; what is inside is the same.)
    pub threshold: f64,
    /// Whether the cut is above the query, so that larger values are outside; otherwise smaller values are.
    pub above: bool,
    /// The share of the trees that make it.
    pub probability: f64,
    /// The share of the sample that this cut alone leaves with the query.
    pub share: f64,
}

impl Explanation {
    /// From the boxes of a forest, where `p` is the probability of the query's class at the query.
    ///
    /// The classifier is the probability of the sample less that of the query; a forest has no slope. Over the sample
    /// the mean of `p` is 1 less that at the query.
    pub(crate) fn of_boxes(fit: Fit, p: f64, influence: Vec<f64>, cuts: Vec<Cut>) -> Self {
        let value = 1.0 - 2.0 * p;
        Self { cuts, ..Self::nonlinear(fit, value, -value, Vec::new(), influence, Vec::new()) }
    }

    /// From the classifier in the (scaled) coordinates it was found in.
    pub(crate) fn new(
        fit: Fit,
        weights: Vec<f64>,
        intercept: f64,
        query: &[f64],
        influence: Vec<f64>,
    ) -> Self {
        let contributions: Vec<f64> = weights.iter().zip(query).map(|(w, z)| w * z).collect();
        let value = contributions.iter().fold(intercept, |sum, c| sum + c);
        Self {
            fit,
            value,
            baseline: intercept,
            weights,
            intercept,
            contributions,
            influence,
            witness: Vec::new(),
            cuts: Vec::new(),
        }
    }

    /// From a classifier that is not linear: its value at the query, its mean over the reference, and its gradient
    /// at the query.
    pub(crate) fn nonlinear(
        fit: Fit,
        value: f64,
        baseline: f64,
        gradient: Vec<f64>,
        influence: Vec<f64>,
        witness: Vec<f64>,
    ) -> Self {
        let (intercept, contributions) = (0.0, Vec::new());
        Self {
            fit,
            value,
            baseline,
            weights: gradient,
            intercept,
            contributions,
            influence,
            witness,
            cuts: Vec::new(),
        }
    }

    /// The same in terms of the columns before scaling, measured from `mean`.
    pub(crate) fn in_columns(mut self, scaling: &Scaling, mean: &[f64], query: &[f64]) -> Self {
        if self.weights.is_empty() {
            self.cuts_in_columns(scaling);
            return self;
        }
        let mut weights = vec![0.0; mean.len()];
        scaling.pull_back(&self.weights, &mut weights);
        if self.contributions.is_empty() {
            let along: f64 = weights.iter().zip(query).map(|(w, z)| w * z).sum();
            self.intercept = self.value - along;
            self.weights = weights;
            return self;
        }
        let from = |x: &[f64], origin: &[f64]| -> f64 {
            weights.iter().zip(x).zip(origin).map(|((w, x), o)| w * (x - o)).sum()
        };
        self.baseline = self.intercept + from(mean, scaling.center());
        self.intercept += from(&vec![0.0; mean.len()], scaling.center());
        self.contributions = weights.iter().zip(query).zip(mean).map(|((w, z), m)| w * (z - m)).collect();
        self.value = self.contributions.iter().fold(self.baseline, |sum, c| sum + c);
        self.weights = weights;
        self
    }

    fn cuts_in_columns(&mut self, scaling: &Scaling) {
        match scaling.transform() {
            Transform::Identity => {}
            Transform::Diagonal(a) => {
                for cut in &mut self.cuts {
                    cut.threshold = cut.threshold / a[cut.feature] + scaling.center()[cut.feature];
                }
            }
            Transform::Full(_) => self.cuts.clear(),
        }
    }

    /// The columns that do most to give the query away, most negative contribution first.
    pub fn top_contributions(&self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.contributions.len()).collect();
        order.sort_by(|&a, &b| self.contributions[a].total_cmp(&self.contributions[b]));
        order.truncate(count);
        order
    }

    /// The columns along which the classifier changes most at the query, when each moves by its own unit (say, the
    /// distance between its quartiles).
    pub fn steepest(&self, count: usize, units: &[f64]) -> Vec<usize> {
        let change = |j: usize| (self.weights[j] * units.get(j).unwrap_or(&1.0)).abs();
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        order.sort_by(|&a, &b| change(b).total_cmp(&change(a)));
        order.truncate(count);
        order
    }

    /// How much the depth would change, about, if the reference did not have row `i`, whose share of all weight is
    /// `weight`.
    ///
    /// # Panics
    /// If there are not that many rows.
    pub fn without(&self, i: usize, weight: f64) -> f64 {
        // A row that is all there is cannot be removed.
        if weight < 1.0 { -weight / (1.0 - weight) * self.influence[i] + 0.0 } else { 0.0 }
    }

    /// The reference rows with the largest influence in either direction.
    pub fn most_influential(&self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.influence.len()).collect();
        order.sort_by(|&a, &b| self.influence[b].abs().total_cmp(&self.influence[a].abs()));
        order.truncate(count);
        order
    }
}
