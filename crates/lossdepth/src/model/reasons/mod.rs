//! Why a row is outlying, column by column, for every method alike; the equations are in `docs/math/reasons.md`.

mod backward;
mod candidates;
mod columns;
mod combination;
mod counterfactual;
mod dependence;
mod explainer;
mod facts;
mod fitting;
mod game;
mod relation;
mod scale;
mod search;

pub use combination::{Combination, CombinationKind};
pub use counterfactual::Counterfactual;
pub use explainer::Explainer;
pub use facts::ColumnFacts;
pub use fitting::Fitting;

use crate::error::{DepthError, Result};

/// What to say about a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReasonOptions {
    /// How many columns may share the outlyingness, at most 10; 6 by default.
    pub max_columns: usize,
    /// How many bits of outlyingness a column must account for to be a reason; 1 by default.
    pub price: f64,
    /// Whether to search for the values that would fit; by default yes.
    pub fits: bool,
    /// The percentile that the counterfactual is to exceed; `None` for no counterfactual; 0.1 by default.
    pub target: Option<f64>,
    /// How many columns the counterfactual may change; by default any number, so that the target is always met.
    pub max_changes: Option<usize>,
}

impl Default for ReasonOptions {
    fn default() -> Self {
        Self { max_columns: 6, price: 1.0, fits: true, target: Some(0.1), max_changes: None }
    }
}

impl ReasonOptions {
    pub(super) fn check(&self) -> Result<()> {
        let setting = |name, expected, got| Err(DepthError::Setting { name, expected, got });
        if !(1..=10).contains(&self.max_columns) {
            return setting("max_columns", "between 1 and 10", self.max_columns as f64);
        }
        crate::error::positive("price", self.price)?;
        match self.target {
            Some(target) if !(0.0..1.0).contains(&target) => {
                setting("target", "at least 0 and below 1", target)
            }
            _ => Ok(()),
        }
    }
}

/// Why a row is as outlying as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Reasons {
    /// The depth of the row.
    pub depth: f64,
    /// The share of the reference that is at most as deep.
    pub percentile: f64,
    /// The outlyingness $o(z)$ in bits: $-\log_2$ of the percentile, continued below the smallest depth of the reference.
    pub outlyingness: f64,
    /// The outlyingness of the repaired row. The contributions of the columns sum to `outlyingness` less this.
    pub baseline: f64,
    /// The encoded row after the repair: the values of the columns that are reasons are replaced by ones that fit.
    pub repaired: Vec<f64>,
    /// Every original column: those that the repair replaces, the largest contribution first; then the others in order of
    /// their number.
    pub columns: Vec<ColumnReason>,
    /// Columns that are odd as a combination only.
    pub combinations: Vec<Combination>,
    /// The change of fewest columns found that makes the row ordinary, if asked for.
    pub counterfactual: Option<Counterfactual>,
    /// How many modified rows were scored for this.
    pub evaluations: usize,
}

/// What one original column has to do with the outlyingness of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnReason {
    /// The original column.
    pub column: usize,
    /// Whether the repair replaces it: whether it is a reason.
    pub replaced: bool,
    /// Its Shapley value in bits; 0 for columns that need no repair. It can be negative: an odd value may hide another.
    pub contribution: f64,
    /// The bits that its value alone adds to the repaired row.
    pub alone: f64,
    /// Where its value stands among those of the reference.
    pub facts: ColumnFacts,
    /// The value that would fit, for columns that the repair replaces.
    pub fits: Option<Fitting>,
}
