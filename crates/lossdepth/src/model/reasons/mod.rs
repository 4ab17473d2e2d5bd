//! Why a row is outlying, column by column, for every method alike; the equations are in `docs/math/reasons.md`.

mod columns;
mod counterfactual;
mod dependence;
mod facts;
mod fitting;
mod game;
mod scale;
mod search;

pub use counterfactual::Counterfactual;
pub use facts::ColumnFacts;
pub use fitting::Fitting;

use super::Model;
use crate::data::{Layout, Rows};
use crate::error::{DepthError, Result};
use crate::kernel::KernelChoice;
use crate::problem::{Batch, Run};
use columns::{Column, Pool};
use dependence::Dependence;
use game::Game;
use scale::DepthScale;
use search::{Ground, Repair, Single};
use std::cell::Cell;

/// How many reference rows depths are compared with and values are taken from.
const POOL: usize = 1024;

/// The rows of the reference to take values from have at least this percentile (heuristic).
const ORDINARY: f64 = 0.1;

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
    fn check(&self) -> Result<()> {
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
    /// The encoded row after the repair: the values of the columns with a contribution are replaced by ones that fit.
    pub repaired: Vec<f64>,
    /// Every original column, the largest contribution first; columns without any in order of their number.
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
    /// Its Shapley value in bits; 0 for columns that need no repair.
    pub contribution: f64,
    /// The bits that its value alone adds to the repaired row.
    pub alone: f64,
    /// Where its value stands among those of the reference.
    pub facts: ColumnFacts,
    /// The value that would fit, for columns with a contribution.
    pub fits: Option<Fitting>,
}

/// Columns whose values are odd as a combination, not one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// The original columns, increasing.
    pub columns: Vec<usize>,
    /// How they belong together.
    pub kind: CombinationKind,
    /// The bits that the combination accounts for.
    pub outlyingness: f64,
}

/// How the columns of a [`Combination`] belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CombinationKind {
    /// They do not fit together: replacing any one of them makes the row ordinary.
    Either,
    /// One alone adds next to nothing to the repaired row, together they do.
    Together,
}

/// Explains rows for one model: what all rows share is computed once.
///
/// ```
/// use lossdepth::model::{Explainer, ReasonOptions};
/// use lossdepth::{Method, Reference, Rows, Run, Settings};
/// let rows: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
/// let model = Settings::new(Method::Logistic).fit(&Reference::new(rows.as_slice())?)?;
/// let explainer = Explainer::new(&model, &Run::default())?;
/// let query = [20.0, 90.0];
/// let reasons = explainer.reasons(Rows::new(&query, 2)?, &ReasonOptions::default(), &Run::default())?;
/// assert_eq!(reasons[0].columns[0].column, 1);
/// let sum: f64 = reasons[0].columns.iter().map(|column| column.contribution).sum();
/// assert!((reasons[0].outlyingness - reasons[0].baseline - sum).abs() < 1e-9);
/// assert!(reasons[0].counterfactual.as_ref().is_some_and(|change| change.met));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug)]
pub struct Explainer<'a> {
    model: &'a Model,
    columns: Vec<Column>,
    pool: Pool,
    pool_depths: Vec<f64>,
    ordinary: Vec<usize>,
    scale: DepthScale,
    quantiles: Vec<Option<[f64; 3]>>,
    dependence: Dependence,
}

impl<'a> Explainer<'a> {
    /// Scores up to 1024 rows of the reference, the scale of outlyingness.
    ///
    /// # Errors
    /// The model has a precomputed kernel, whose columns mean nothing by themselves; or as for [`Model::score`].
    pub fn new(model: &'a Model, run: &Run<'_>) -> Result<Self> {
        let of_kernel = model.settings().method.settings().contains(&"kernel");
        if of_kernel && model.settings().kernel == KernelChoice::Precomputed {
            let message = "kernel `precomputed` has no columns to give reasons with";
            return Err(DepthError::Settings(message.to_owned()));
        }
        let sample = model.reference();
        let pool = Pool::new(sample, POOL);
        let run = Run { depths_only: true, progress: None, ..*run };
        let fits = model.score(pool.rows(), &run)?;
        let pool_depths: Vec<f64> = fits.into_iter().map(|fit| fit.depth).collect();
        let scale = DepthScale::new(pool_depths.iter().copied().zip(pool.weights.iter().copied()));
        let deep = |i: &usize| scale.percentile(pool_depths[*i]) > ORDINARY;
        let ordinary: Vec<usize> = (0..pool.len()).filter(deep).collect();
        let numbers = Layout::numbers(sample.width());
        let columns = columns::columns(sample.layout().unwrap_or(&numbers), pool.rows());
        let quantiles = facts::quantiles(&columns, sample);
        let dependence = Dependence::new(&columns, &pool);
        Ok(Self { model, columns, pool, pool_depths, ordinary, scale, quantiles, dependence })
    }

    /// The share of the reference that is at most as deep, and the outlyingness in bits, of a depth.
    pub fn standing(&self, depth: f64) -> (f64, f64) {
        (self.scale.percentile(depth), self.scale.bits(depth))
    }

    /// Why each row is as outlying as it is. Rows are worked on in parallel, each for itself.
    ///
    /// # Errors
    /// An option is out of its range; as for [`Model::score`]; or [`DepthError::Cancelled`].
    pub fn reasons(&self, rows: Rows<'_>, options: &ReasonOptions, run: &Run<'_>) -> Result<Vec<Reasons>> {
        options.check()?;
        let (expected, got) = (self.model.width(), rows.width());
        if got != expected && !rows.is_empty() {
            return Err(DepthError::Dimension { row: 0, expected, got });
        }
        rows.check_finite()?;
        // Many rows share the threads among them; a single one uses them for its replacements.
        let threads = if rows.len() == 1 { run.threads } else { Some(1) };
        let inner = Run { threads, progress: None, cancel: run.cancel, depths_only: true };
        let found: Vec<Result<Reasons>> = Batch::new(rows, run).run(|mut ticket| {
            while let Some((id, row)) = ticket.take(1, 1) {
                ticket.done(id, self.explain(row.row(0), options, inner));
            }
        })?;
        found.into_iter().collect()
    }

    fn explain(&self, z: &[f64], options: &ReasonOptions, run: Run<'_>) -> Result<Reasons> {
        let ground = Ground {
            model: self.model,
            columns: &self.columns,
            pool: &self.pool,
            pool_depths: &self.pool_depths,
            ordinary: &self.ordinary,
            scale: &self.scale,
            dependence: &self.dependence,
            run,
            evaluations: Cell::new(0),
        };
        let start = ground.unchanged(z)?;
        let (repair, singles) = ground.repair(z, &start, options.max_columns, options.price)?;
        let game = Game::play(&ground, z, &repair)?;
        let columns = self.column_reasons(&ground, z, &repair, &game, options)?;
        let most = options.max_changes.unwrap_or(self.columns.len());
        let change = |target| counterfactual::counterfactual(&ground, z, &repair, &game, target, most);
        let counterfactual = options.target.map(change).transpose()?;
        let mut combinations = together(&game, options.price);
        combinations.extend(either(&columns, &repair, start.bits, &singles, options.price));
        let (percentile, outlyingness) = (self.scale.percentile(start.depth), start.bits);
        let (depth, baseline, repaired) = (start.depth, game.values[0], repair.row);
        Ok(Reasons {
            depth,
            percentile,
            outlyingness,
            baseline,
            repaired,
            columns,
            combinations,
            counterfactual,
            evaluations: ground.evaluations.get(),
        })
    }

    fn column_reasons(
        &self,
        ground: &Ground<'_>,
        z: &[f64],
        repair: &Repair,
        game: &Game,
        options: &ReasonOptions,
    ) -> Result<Vec<ColumnReason>> {
        let facts = facts::facts(&self.columns, &self.quantiles, self.model.reference(), z);
        let reason =
            |(column, facts)| ColumnReason { column, contribution: 0.0, alone: 0.0, facts, fits: None };
        let mut columns: Vec<ColumnReason> = facts.into_iter().enumerate().map(reason).collect();
        for (player, (&j, value)) in game.columns.iter().zip(game.shapley()).enumerate() {
            columns[j].contribution = value;
            columns[j].alone = game.values[1 << player] - game.values[0];
            if options.fits {
                columns[j].fits = Some(fitting::fitting(ground, repair, j)?);
            }
        }
        columns.sort_by(|a, b| b.contribution.total_cmp(&a.contribution));
        Ok(columns)
    }
}

/// Pairs of replaced columns of which one alone adds less than a quarter of what both add.
fn together(game: &Game, price: f64) -> Vec<Combination> {
    let mut found = Vec::new();
    let added = |set: usize| game.values[set] - game.values[0];
    for a in 0..game.columns.len() {
        for b in a + 1..game.columns.len() {
            let both = added(1 << a | 1 << b);
            if both > 2.0 * price && added(1 << a).max(added(1 << b)) < 0.25 * both {
                let columns = vec![game.columns[a], game.columns[b]];
                found.push(Combination { columns, kind: CombinationKind::Together, outlyingness: both });
            }
        }
    }
    found
}

/// Columns that make the row ordinary when any one of them is replaced, none of which is extreme by itself.
fn either(
    columns: &[ColumnReason],
    repair: &Repair,
    bits: f64,
    singles: &[Single],
    price: f64,
) -> Option<Combination> {
    let total = bits - repair.bits;
    if repair.changed.len() != 1 || total < 2.0 * price {
        return None;
    }
    let inside = |column: usize| {
        let facts = columns.iter().find(|reason| reason.column == column).map(|reason| reason.facts);
        facts.is_some_and(|f| {
            f.quantiles.is_none() || (f.below + f.equal).min(f.above + f.equal) > 0.01 * f.total
        })
    };
    let enough = |single: &&Single| bits - single.bits >= 0.75 * total && inside(single.column);
    let mut found: Vec<usize> = singles.iter().filter(enough).map(|single| single.column).collect();
    found.sort_unstable();
    (found.len() > 1).then_some(Combination {
        columns: found,
        kind: CombinationKind::Either,
        outlyingness: total,
    })
}
