//! p-values against a reference.

use crate::data::{Mass, Reference, Rows};
use crate::error::{DepthError, Result};
use crate::kernel::KernelChoice;
use crate::model::{Model, Settings};
use crate::problem::Run;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::sync::atomic::Ordering;

/// How p-values are calibrated; see the [module](super) for what each guarantees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Conformal {
    /// A random share of the reference is set aside to calibrate a model of the rest.
    Split {
        /// The share set aside, between 0 and 1.
        share: f64,
        /// The seed of the random choice.
        seed: u64,
    },
    /// The reference is divided into folds at random; each is scored against the others.
    ///
    /// Rows of the reference are compared with a smaller sample than queries are. With few folds this matters for methods whose
    /// depth depends on the size of the sample: small p-values of `gp` are 1.5 times as frequent as they should be with two
    /// folds, and about as frequent with ten or more.
    Cross {
        /// How many, at least 2.
        folds: usize,
        /// The seed of the random choice.
        seed: u64,
    },
    /// Each row of the reference is scored against all others.
    LeaveOneOut,
}

impl Conformal {
    /// The names in settings.
    pub const NAMES: [&str; 3] = ["split", "cross", "leave-one-out"];

    /// From a name: half of the reference set aside, ten folds.
    ///
    /// # Errors
    /// An unknown name.
    pub fn named(name: &str, seed: u64) -> Result<Self> {
        Ok(match name {
            "split" => Self::Split { share: 0.5, seed },
            "cross" => Self::Cross { folds: 10, seed },
            "leave-one-out" => Self::LeaveOneOut,
            _ => {
                let expected = Self::NAMES.join(", ");
                return Err(DepthError::Name { name: "p-values", expected, got: name.to_owned() });
            }
        })
    }

    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Split { .. } => Self::NAMES[0],
            Self::Cross { .. } => Self::NAMES[1],
            Self::LeaveOneOut => Self::NAMES[2],
        }
    }

    /// Fits and scores what it takes to give new rows p-values under a method.
    ///
    /// ```
    /// use lossdepth::stats::conformal::Conformal;
    /// use lossdepth::{Method, Reference, Rows, Run, Settings};
    /// let rows: Vec<Vec<f64>> = (0..40).map(|i| vec![f64::from(i % 7), f64::from(i % 11)]).collect();
    /// let (sample, settings) = (Reference::new(&rows)?, Settings::new(Method::Logistic));
    /// let model = settings.fit(&sample)?;
    /// let calibration = Conformal::LeaveOneOut.calibrate(&settings, &sample, &Run::default())?;
    /// let queries = Rows::new(&[3.0, 5.0, 90.0, -90.0], 2)?;
    /// let depths: Vec<f64> = model.score(queries, &Run::default())?.iter().map(|fit| fit.depth).collect();
    /// let p = calibration.p_values(queries, &depths, &Run::default())?;
    /// assert!(p[0] > 0.1 && p[1] == 1.0 / 41.0);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// Rows of weight 0 take no part. A row of weight $k$ counts $k$ times where weights are whole numbers; others are
    /// taken relative to their mean.
    ///
    /// # Errors
    /// A setting is out of its range, or the reference has too few rows.
    pub fn calibrate(self, settings: &Settings, sample: &Reference, run: &Run<'_>) -> Result<Calibration> {
        let kernel = settings.method.settings().contains(&"kernel");
        if kernel && settings.kernel == KernelChoice::Precomputed {
            let text =
                "p-values are fitted to parts of the reference, which a precomputed kernel does not allow";
            return Err(DepthError::Settings(text.to_owned()));
        }
        let kept: Vec<usize> = (0..sample.len()).filter(|&i| sample.weights()[i] > 0.0).collect();
        let n = kept.len();
        if n < 3 {
            return Err(DepthError::TooFewRows { expected: 3, got: n });
        }
        let order = |seed: u64| shuffled(&kept, seed);
        match self {
            Self::Split { share, seed } => {
                if !(share > 0.0 && share < 1.0) {
                    let expected = "between 0 and 1";
                    return Err(DepthError::Setting { name: "share", expected, got: share });
                }
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most n")]
                let count = ((share * n as f64).round() as usize).clamp(1, n - 2);
                let mut order = order(seed);
                let (held, rest) = order.split_at_mut(count);
                // In the order of the reference: which rows they are is all that matters.
                held.sort_unstable();
                rest.sort_unstable();
                let model = settings.fit(&part(sample, rest)?)?;
                let depths = depths(&model, sample, held, run)?;
                Ok(Calibration { model: Some(model), ..Calibration::new(sample, held, depths) })
            }
            Self::Cross { folds, seed } => {
                if folds < 2 {
                    let expected = "at least 2";
                    return Err(DepthError::Setting { name: "folds", expected, got: folds as f64 });
                }
                let order = order(seed);
                let dealt: Vec<Vec<usize>> = (0..folds.min(n))
                    .map(|fold| order.iter().copied().skip(fold).step_by(folds.min(n)).collect())
                    .collect();
                left_out(settings, sample, &kept, &dealt, run)
            }
            Self::LeaveOneOut => {
                let dealt: Vec<Vec<usize>> = kept.iter().map(|&i| vec![i]).collect();
                left_out(settings, sample, &kept, &dealt, run)
            }
        }
    }
}

/// What new rows are compared with.
#[derive(Debug)]
pub struct Calibration {
    /// The model of the rest, for a split.
    model: Option<Model>,
    /// Depths in order, with the number of rows up to each.
    depths: Vec<f64>,
    upto: Vec<f64>,
}

impl Calibration {
    fn new(sample: &Reference, rows: &[usize], depths: Vec<f64>) -> Self {
        let counts = counts(sample);
        let mut pairs: Vec<(f64, f64)> = depths.into_iter().zip(rows.iter().map(|&i| counts[i])).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let sums = pairs.iter().scan(0.0, |sum, (_, count)| {
            *sum += count;
            Some(*sum)
        });
        let upto = sums.collect();
        Self { model: None, depths: pairs.into_iter().map(|(depth, _)| depth).collect(), upto }
    }

    /// How many rows the calibration has, by weight.
    pub fn size(&self) -> f64 {
        self.upto.last().copied().unwrap_or(0.0)
    }

    /// The smallest p-value that a row can get, $1 / (1 + \text{size})$: that of a row shallower than all of the calibration.
    ///
    /// Nothing can be found at a false discovery rate below it.
    pub fn smallest(&self) -> f64 {
        1.0 / (1.0 + self.size())
    }

    /// The p-values of some rows, given their depths in the whole reference.
    ///
    /// A split ignores those: it scores the rows against its own part of the reference.
    ///
    /// # Errors
    /// As for [`Model::score`].
    pub fn p_values(&self, queries: Rows<'_>, depths: &[f64], run: &Run<'_>) -> Result<Vec<f64>> {
        match &self.model {
            None => Ok(depths.iter().map(|depth| self.p_value(*depth)).collect()),
            Some(model) => {
                let fits = model.score(queries, run)?;
                Ok(fits.iter().map(|fit| self.p_value(fit.depth)).collect())
            }
        }
    }

    fn p_value(&self, depth: f64) -> f64 {
        let place = self.depths.partition_point(|known| *known <= depth);
        let below = if place == 0 { 0.0 } else { self.upto[place - 1] };
        (1.0 + below) / (1.0 + self.size())
    }
}

/// The p-values of the rows of a sample that is its own reference, from their depths in it: for each row the share of rows
/// that are at most as deep, itself included.
///
/// ```
/// use lossdepth::stats::conformal::own_p_values;
/// assert_eq!(own_p_values(&[0.5, 0.1, 0.9, 0.5], None)?, [0.75, 0.25, 1.0, 0.75]);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
///
/// # Errors
/// Not as many weights as depths, or no positive weight.
pub fn own_p_values(depths: &[f64], weights: Option<&[f64]>) -> Result<Vec<f64>> {
    if let Some(weights) = weights.filter(|weights| weights.len() != depths.len()) {
        return Err(DepthError::WeightCount { expected: depths.len(), got: weights.len() });
    }
    let mass = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let mut order: Vec<usize> = (0..depths.len()).collect();
    order.sort_by(|&a, &b| depths[a].total_cmp(&depths[b]));
    let total: f64 = order.iter().map(|&i| mass(i)).sum();
    if total.is_nan() || total <= 0.0 {
        return Err(DepthError::TooFewRows { expected: 1, got: 0 });
    }
    let (mut p, mut sum, mut start) = (vec![0.0; depths.len()], 0.0, 0);
    while start < order.len() {
        let depth = depths[order[start]];
        let tied = order[start..].iter().take_while(|&&i| depths[i].total_cmp(&depth).is_eq()).count();
        let tied = &order[start..start + tied];
        sum += tied.iter().map(|&i| mass(i)).sum::<f64>();
        for &i in tied {
            // A row that does not count is compared with those that do, as any other row would be.
            let extra = if mass(i) > 0.0 { 0.0 } else { 1.0 };
            p[i] = ((sum + extra) / (total + extra)).min(1.0);
        }
        start += tied.len();
    }
    Ok(p)
}

/// How many rows each row stands for.
fn counts(sample: &Reference) -> Vec<f64> {
    let weights = sample.weights();
    match sample.mass() {
        Mass::Counts(total) => weights.iter().map(|w| (w * total).round()).collect(),
        Mass::Effective(_) | Mass::Importance => {
            let rows = weights.iter().filter(|w| **w > 0.0).count() as f64;
            weights.iter().map(|w| w * rows).collect()
        }
    }
}

/// Some rows of a sample as a sample of their own.
fn part(sample: &Reference, rows: &[usize]) -> Result<Reference> {
    let counts = counts(sample);
    let data = gathered(sample, rows);
    let weights: Vec<f64> = rows.iter().map(|&i| counts[i]).collect();
    let table = Rows::new(&data, sample.width())?;
    let part = if weights.iter().all(|w| *w == 1.0) {
        Reference::new(&table)
    } else {
        Reference::weighted(&table, &weights)
    }?;
    match sample.layout() {
        Some(layout) => part.with_layout(layout.clone()),
        None => Ok(part),
    }
}

fn gathered(sample: &Reference, rows: &[usize]) -> Vec<f64> {
    rows.iter().flat_map(|&i| sample.rows().row(i)).copied().collect()
}

fn depths(model: &Model, sample: &Reference, rows: &[usize], run: &Run<'_>) -> Result<Vec<f64>> {
    let data = gathered(sample, rows);
    let fits = model.score(Rows::new(&data, sample.width())?, &Run { depths_only: true, ..*run })?;
    Ok(fits.iter().map(|fit| fit.depth).collect())
}

/// Scores each part of the sample against the rest of it.
fn left_out(
    settings: &Settings,
    sample: &Reference,
    kept: &[usize],
    parts: &[Vec<usize>],
    run: &Run<'_>,
) -> Result<Calibration> {
    let alone = Run { threads: Some(1), progress: None, ..*run };
    let score = |held: &Vec<usize>| {
        if run.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(DepthError::Cancelled);
        }
        let rest: Vec<usize> = kept.iter().copied().filter(|i| !held.contains(i)).collect();
        let found = depths(&settings.fit(&part(sample, &rest)?)?, sample, held, &alone)?;
        if let Some(progress) = run.progress {
            progress(held.len());
        }
        Ok(found)
    };
    let all = || parts.into_par_iter().map(score).collect::<Result<Vec<_>>>();
    let found = match run.threads {
        Some(0) => return Err(DepthError::Setting { name: "threads", expected: "at least 1", got: 0.0 }),
        Some(1) => parts.iter().map(score).collect::<Result<Vec<_>>>()?,
        None => all()?,
        Some(threads) => rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| DepthError::Threads { threads, reason: e.to_string() })?
            .install(all)?,
    };
    Ok(Calibration::new(sample, &parts.concat(), found.concat()))
}

/// The same rows in random order: Fisher and Yates with SplitMix64.
fn shuffled(rows: &[usize], seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    let mut order = rows.to_vec();
    for i in (1..order.len()).rev() {
        // The high half of a 128-bit product: uniform to one part in 2⁶⁴ / i.
        let j = (u128::from(next()) * (i as u128 + 1)) >> 64;
        order.swap(i, usize::try_from(j).unwrap_or(0));
    }
    order
}
