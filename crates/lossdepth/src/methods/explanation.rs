//! Why a point has the depth it has.

use crate::data::{Layout, Scaling, Transform};
use crate::problem::Fit;

/// The classifier $f$ behind the depth of one query $z$: positive for the sample, negative for the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The depth and what is known about it.
    pub fit: Fit,
    /// $f(z)$.
    pub value: f64,
    /// The mean of $f$ over the reference; for a network, $f$ at the mean of the reference.
    pub baseline: f64,
    /// The influence function at each reference row: the derivative of the depth with respect to the mass of the sample
    /// there. Its weighted mean is 0; removing row $i$ changes the depth by about $-\omega_i / (1 - \omega_i)$ times its
    /// influence. `None` for the bare risk of a network, where it is not known.
    pub influence: Option<Vec<f64>>,
    /// What $f$ is made of, which differs by the family of classifiers.
    pub reason: Reason,
}

/// What the classifier of an [`Explanation`] is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// $f(x) = \langle w, x \rangle + b$ on the original columns. Measured from the mean $\bar x$ of the sample,
    ///
    /// $$ f(z) = \underbrace{f(\bar x)}_\text{baseline} + \sum_j \underbrace{w_j (z_j - \bar x_j)}_\text{contribution of column j}. $$
    ///
    /// The most negative contributions are the columns that distinguish the query most. For the halfspace depth $-w$
    /// is the direction of the halfspace.
    Linear {
        /// $w$, one number for each column.
        weights: Vec<f64>,
        /// $b$.
        intercept: f64,
        /// $w_j (z_j - \bar x_j)$ for each column. [`Explanation::value`] is exactly [`Explanation::baseline`] plus these,
        /// added in order.
        contributions: Vec<f64>,
    },
    /// $f$ in the Hilbert space of a kernel.
    Kernel {
        /// `None` if $f$ is no function of columns (a precomputed kernel), or if the multiplier of a constraint is 0.
        tangent: Option<Tangent>,
        /// The witness function: $f(x_i)$ at each reference row.
        witness: Vec<f64>,
        /// $f$ as a sum of kernels; `None` if the multiplier of a constraint is 0, and for a method that has none.
        expansion: Option<Expansion>,
    },
    /// $f$ is the output of a network.
    Network {
        /// $f$ to first order at the query.
        tangent: Tangent,
    },
    /// $f$ is the probability of the sample's class less that of the query's, averaged over trees. It is piecewise
    /// constant.
    Forest {
        /// The sides of the boxes around the query, the most frequent first. `None` if they are not parallel to the columns:
        /// with rotations, or a scaling that mixes columns.
        cuts: Option<Vec<Cut>>,
    },
    /// No classifier: [`value`](Explanation::value) is the depth itself, and [`baseline`](Explanation::baseline) the depth of the
    /// centre of the reference.
    Depth {
        /// The depth to first order at the query; `None` where it has no gradient.
        tangent: Option<Tangent>,
    },
    /// No single classifier: [`value`](Explanation::value) is $\ln D = \sum_k w_k \ln p_k$ for the query, and
    /// [`baseline`](Explanation::baseline) its mean over the reference.
    Combined {
        /// The depths that are combined.
        parts: Vec<Part>,
    },
}

/// One of several depths that are combined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// What it is called.
    pub name: &'static str,
    /// $p_k$: for most parts the share of the reference that it finds at most as deep as the query. That of `column tails` is 1
    /// unless a single value is far out.
    pub probability: f64,
    /// $w_k$; those of the parts that are shares sum to one.
    pub weight: f64,
}

/// A classifier $f = \sum_i \beta_i k(x_i, \cdot) + \beta_z k(z, \cdot) + b$ in the Hilbert space of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Expansion {
    /// $\beta_i$ for each reference row.
    pub rows: Vec<f64>,
    /// $\beta_z$.
    pub query: f64,
    /// $b$; of a penalised intercept the kernel has the constant, and this is 0.
    pub intercept: f64,
}

/// A classifier to first order at the query: $f(x) \approx \langle g, x \rangle + b$.
#[derive(Debug, Clone, PartialEq)]
pub struct Tangent {
    /// $g = \nabla f(z)$, one number for each original column.
    pub gradient: Vec<f64>,
    /// $b = f(z) - \langle g, z \rangle$.
    pub intercept: f64,
}

impl Tangent {
    /// Through the `value` at the query.
    pub(super) fn new(gradient: Vec<f64>, value: f64, query: &[f64]) -> Self {
        let along: f64 = gradient.iter().zip(query).map(|(g, z)| g * z).sum();
        Self { gradient, intercept: value - along }
    }
}

/// A linear classifier by original columns, see [`Explanation::by_column`].
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnContributions {
    /// $f(z)$: exactly [`baseline`](Self::baseline) plus the [`contributions`](Self::contributions), added in order. Rounding
    /// can make it differ from [`Explanation::value`], where the contributions of encoded columns are added.
    pub value: f64,
    /// The mean of $f$ over the reference.
    pub baseline: f64,
    /// The contribution of each original column: the sum over all encoded columns that come from it.
    pub contributions: Vec<f64>,
}

/// One side of the boxes that trees put around a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// The encoded column; of a category that of the query's level (the first of the category if it has none).
    pub feature: usize,
    /// Midway between the query and the nearest value of the sample on the other side. (In a box that other cuts have
    /// made smaller the nearest may be farther off; what is inside is the same.)
    pub threshold: f64,
    /// Whether the cut is above the query, so that larger values are outside; otherwise smaller values are.
    pub above: bool,
    /// Of a category the level of the query, counted from 0 among those of its group of columns: only rows of this level
    /// are inside. `None` for a number, and for a category of which the query has no level: then no row is inside.
    pub level: Option<usize>,
    /// The share of the trees that make it.
    pub probability: f64,
    /// The share of the sample that this cut alone leaves with the query.
    pub share: f64,
}

/// Explanations in the (scaled) coordinates that a method works in.
impl Explanation {
    /// By the linear classifier $\langle w, x \rangle + b$, for a sample whose mean is the origin.
    pub(crate) fn linear(
        fit: Fit,
        weights: Vec<f64>,
        intercept: f64,
        query: &[f64],
        influence: Vec<f64>,
    ) -> Self {
        let contributions: Vec<f64> = weights.iter().zip(query).map(|(w, z)| w * z).collect();
        let value = contributions.iter().fold(intercept, |sum, c| sum + c);
        let reason = Reason::Linear { weights, intercept, contributions };
        Self { fit, value, baseline: intercept, influence: Some(influence), reason }
    }

    /// By a classifier in the space of a kernel: its value and, where there is one, its gradient at the query.
    pub(crate) fn kernel(
        fit: Fit,
        (value, baseline): (f64, f64),
        gradient: Option<Vec<f64>>,
        witness: Vec<f64>,
        query: &[f64],
        influence: Option<Vec<f64>>,
    ) -> Self {
        let tangent = gradient.map(|gradient| Tangent::new(gradient, value, query));
        let reason = Reason::Kernel { tangent, witness, expansion: None };
        Self { fit, value, baseline, influence, reason }
    }

    /// The same with a kernel's classifier as a sum of kernels.
    pub(crate) fn with_expansion(mut self, found: Option<Expansion>) -> Self {
        if let Reason::Kernel { expansion, .. } = &mut self.reason {
            *expansion = found;
        }
        self
    }

    /// By a network: its value and its gradient at the query.
    pub(crate) fn network(
        fit: Fit,
        (value, baseline): (f64, f64),
        gradient: Vec<f64>,
        query: &[f64],
        influence: Option<Vec<f64>>,
    ) -> Self {
        let tangent = Tangent::new(gradient, value, query);
        Self { fit, value, baseline, influence, reason: Reason::Network { tangent } }
    }

    /// By a forest, where `p` is the probability of the query's class at the query.
    pub(crate) fn forest(fit: Fit, p: f64, influence: Vec<f64>, cuts: Option<Vec<Cut>>) -> Self {
        // Over the sample the mean probability of the query's class is 1 less that at the query.
        let value = 1.0 - 2.0 * p;
        let reason = Reason::Forest { cuts };
        Self { fit, value, baseline: -value, influence: Some(influence), reason }
    }

    /// The same in terms of the columns before scaling, for a sample with this `mean` and a `query` in those columns.
    pub(crate) fn in_columns(mut self, scaling: &Scaling, mean: &[f64], query: &[f64]) -> Self {
        let in_columns = |gradient: &[f64]| {
            let mut out = vec![0.0; mean.len()];
            scaling.pull_back(gradient, &mut out);
            out
        };
        match &mut self.reason {
            Reason::Linear { weights, intercept, contributions } => {
                *weights = in_columns(weights);
                let change = |x: &[f64], origin: &[f64]| -> f64 {
                    weights.iter().zip(x).zip(origin).map(|((w, x), o)| w * (x - o)).sum()
                };
                self.baseline = *intercept + change(mean, scaling.center());
                *intercept += change(&vec![0.0; mean.len()], scaling.center());
                let apart = query.iter().zip(mean).map(|(z, m)| z - m);
                *contributions = weights.iter().zip(apart).map(|(w, x)| w * x).collect();
                self.value = contributions.iter().fold(self.baseline, |sum, c| sum + c);
            }
            Reason::Kernel { tangent: Some(tangent), .. }
            | Reason::Network { tangent }
            | Reason::Depth { tangent: Some(tangent) } => {
                *tangent = Tangent::new(in_columns(&tangent.gradient), self.value, query);
            }
            Reason::Kernel { tangent: None, .. }
            | Reason::Combined { .. }
            | Reason::Depth { tangent: None } => {}
            Reason::Forest { cuts } => match scaling.transform() {
                Transform::Identity => {}
                Transform::Diagonal(a) => {
                    for cut in cuts.iter_mut().flatten() {
                        cut.threshold = cut.threshold / a[cut.feature] + scaling.center()[cut.feature];
                    }
                }
                Transform::Full(_) => *cuts = None,
            },
        }
        self
    }
}

impl Explanation {
    /// The gradient of $f$ at the query, one number for each original column: of a linear classifier its weights.
    pub fn gradient(&self) -> Option<&[f64]> {
        match &self.reason {
            Reason::Linear { weights, .. } => Some(weights),
            Reason::Kernel { tangent, .. } | Reason::Depth { tangent } => {
                tangent.as_ref().map(|tangent| &tangent.gradient[..])
            }
            Reason::Network { tangent } => Some(&tangent.gradient),
            Reason::Forest { .. } | Reason::Combined { .. } => None,
        }
    }

    /// $b$ in $f(x) \approx \langle g, x \rangle + b$ near the query, where $g$ is the [`gradient`](Self::gradient); a linear
    /// classifier is equal to that everywhere.
    pub fn intercept(&self) -> Option<f64> {
        match &self.reason {
            Reason::Linear { intercept, .. } => Some(*intercept),
            Reason::Kernel { tangent, .. } | Reason::Depth { tangent } => {
                tangent.as_ref().map(|tangent| tangent.intercept)
            }
            Reason::Network { tangent } => Some(tangent.intercept),
            Reason::Forest { .. } | Reason::Combined { .. } => None,
        }
    }

    /// The contribution of each column to a linear classifier.
    pub fn contributions(&self) -> Option<&[f64]> {
        match &self.reason {
            Reason::Linear { contributions, .. } => Some(contributions),
            _ => None,
        }
    }

    /// The contributions of the original columns to a linear classifier, where `layout` says which encoded columns come from
    /// each: the levels of a category count together, and so do a number and its gap. `None` if the classifier is not
    /// linear, or if the layout has another number of encoded columns.
    pub fn by_column(&self, layout: &Layout) -> Option<ColumnContributions> {
        let encoded = self.contributions().filter(|encoded| encoded.len() == layout.width())?;
        let mut contributions = vec![0.0; layout.columns()];
        for group in layout.groups() {
            contributions[group.column] += encoded[group.range()].iter().sum::<f64>();
        }
        let value = contributions.iter().fold(self.baseline, |sum, c| sum + c);
        Some(ColumnContributions { value, baseline: self.baseline, contributions })
    }

    /// The witness function of a kernel depth: $f$ at each reference row.
    pub fn witness(&self) -> Option<&[f64]> {
        match &self.reason {
            Reason::Kernel { witness, .. } => Some(witness),
            _ => None,
        }
    }

    /// The classifier of a kernel depth as a sum of kernels.
    pub fn expansion(&self) -> Option<&Expansion> {
        match &self.reason {
            Reason::Kernel { expansion, .. } => expansion.as_ref(),
            _ => None,
        }
    }

    /// The cuts of a forest, the most frequent first.
    pub fn cuts(&self) -> Option<&[Cut]> {
        match &self.reason {
            Reason::Forest { cuts } => cuts.as_deref(),
            _ => None,
        }
    }

    /// The depths that a combined one is made of.
    pub fn parts(&self) -> Option<&[Part]> {
        match &self.reason {
            Reason::Combined { parts } => Some(parts),
            _ => None,
        }
    }

    /// The columns with the most negative contributions, the most negative first.
    pub fn top_contributions(&self, count: usize) -> Option<Vec<usize>> {
        let contributions = self.contributions()?;
        Some(first(count, contributions.len(), |a, b| contributions[a].total_cmp(&contributions[b])))
    }

    /// The columns along which the classifier changes most at the query, when each moves by its own unit (say, the
    /// distance between its quartiles; 1 where there is none).
    pub fn steepest(&self, count: usize, units: &[f64]) -> Option<Vec<usize>> {
        let gradient = self.gradient()?;
        let change = |j: usize| (gradient[j] * units.get(j).unwrap_or(&1.0)).abs();
        Some(first(count, gradient.len(), |a, b| change(b).total_cmp(&change(a))))
    }

    /// The reference rows with the largest influence in either direction.
    pub fn most_influential(&self, count: usize) -> Option<Vec<usize>> {
        let influence = self.influence.as_ref()?;
        Some(first(count, influence.len(), |a, b| influence[b].abs().total_cmp(&influence[a].abs())))
    }

    /// How much the depth would change, to first order, if the reference did not have row `i`, whose share of all weight is
    /// `weight`. `None` if the influence is not known or there is no such row.
    pub fn without(&self, i: usize, weight: f64) -> Option<f64> {
        let influence = self.influence.as_ref()?.get(i)?;
        // A row that is all there is cannot be removed.
        Some(if weight < 1.0 { -weight / (1.0 - weight) * influence + 0.0 } else { 0.0 })
    }
}

/// The first `count` of the numbers below `length` in some order.
fn first(count: usize, length: usize, order: impl Fn(usize, usize) -> std::cmp::Ordering) -> Vec<usize> {
    let mut all: Vec<usize> = (0..length).collect();
    all.sort_by(|&a, &b| order(a, b));
    all.truncate(count);
    all
}
