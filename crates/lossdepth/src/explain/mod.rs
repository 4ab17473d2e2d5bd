//! Why a point has the depth it has.

use crate::depth::Fit;
use crate::reference::Scaling;

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
    /// $b$, so that $f(x) = \langle w, x \rangle + b$ on the original columns; 0 for other than linear depths.
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
}

impl Explanation {
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
        Self { fit, value, baseline, weights: gradient, intercept, contributions, influence, witness }
    }

    /// The same in terms of the columns before scaling, measured from `mean`.
    pub(crate) fn in_columns(mut self, scaling: &Scaling, mean: &[f64], query: &[f64]) -> Self {
        if self.weights.is_empty() {
            return self;
        }
        let mut weights = vec![0.0; mean.len()];
        scaling.pull_back(&self.weights, &mut weights);
        if self.contributions.is_empty() {
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

    /// The columns that do most to give the query away, most negative contribution first.
    pub fn top_contributions(&self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.contributions.len()).collect();
        order.sort_by(|&a, &b| self.contributions[a].total_cmp(&self.contributions[b]));
        order.truncate(count);
        order
    }

    /// The reference rows with the largest influence in either direction.
    pub fn most_influential(&self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.influence.len()).collect();
        order.sort_by(|&a, &b| self.influence[b].abs().total_cmp(&self.influence[a].abs()));
        order.truncate(count);
        order
    }
}
