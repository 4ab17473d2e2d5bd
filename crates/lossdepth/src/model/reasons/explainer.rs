//! The explainer: what all rows share, and the steps of one explanation.

use super::columns::{self, Column};
use super::combination::{either, together};
use super::dependence::Dependence;
use super::game::Game;
use super::scale::DepthScale;
use super::search::{Ground, Repair};
use super::{ColumnReason, ReasonOptions, Reasons, counterfactual, facts, fitting};
use crate::data::{Layout, Rows};
use crate::error::{DepthError, Result};
use crate::kernel::KernelChoice;
use crate::model::Model;
use crate::model::pool::Pool;
use crate::problem::{Batch, Run};
use std::cell::Cell;

/// How many reference rows depths are compared with and values are taken from.
const POOL: usize = 1024;

/// The rows of the reference to take values from have at least this percentile (heuristic).
const ORDINARY: f64 = 0.1;

/// A row of more than so many times the price without any reason is searched again at a price so much lower (heuristics).
const OUTLYING: f64 = 3.0;
const LOWERED: f64 = 4.0;

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
        let dependence = Dependence::new(&columns, &pool, &ordinary);
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
        let (mut repair, mut singles) = ground.repair(z, &start, options.max_columns, options.price)?;
        if repair.changed.is_empty() && start.bits > OUTLYING * options.price {
            // Where many rows of the reference tie, nothing may be worth the price though the row is outlying.
            let price = options.price / LOWERED;
            (repair, singles) = ground.repair(z, &start, options.max_columns, price)?;
            if repair.changed.is_empty() {
                repair = ground.replaced(z, options.max_columns, price)?.unwrap_or(repair);
            }
        }
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
        let reason = |(column, facts)| ColumnReason {
            column,
            replaced: false,
            contribution: 0.0,
            alone: 0.0,
            facts,
            fits: None,
        };
        let mut columns: Vec<ColumnReason> = facts.into_iter().enumerate().map(reason).collect();
        for (player, (&j, value)) in game.columns.iter().zip(game.shapley()).enumerate() {
            columns[j].replaced = true;
            columns[j].contribution = value;
            columns[j].alone = game.values[1 << player] - game.values[0];
            if options.fits {
                columns[j].fits = Some(fitting::fitting(ground, repair, j)?);
            }
        }
        columns.sort_by(|a, b| b.replaced.cmp(&a.replaced).then(b.contribution.total_cmp(&a.contribution)));
        Ok(columns)
    }
}
