//! Labels and p-values beside the scores.

use crate::args::Running;
use crate::console;
use crate::error::{Error, Result, count};
use crate::write::{Field, Kind, Values};
use clap::Args;
use clap::builder::PossibleValuesParser;
use lossdepth::stats::conformal::{Calibration, Conformal, Fdr, adjust, own_p_values, threshold};
use lossdepth::{Model, Rows, Run};
use std::cell::Cell;

/// Where the line is drawn.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Labels")]
pub(crate) struct Labels {
    /// Call rows outliers that are shallower than this share of the reference, 0 to 0.5: a column `outlier`
    #[arg(long, value_name = "Q", conflicts_with = "fdr")]
    pub(crate) contamination: Option<f64>,

    /// Add conformal p-values against the reference: a column `p` [default: split, where there is a reference]
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(value_parser = PossibleValuesParser::new([""].into_iter().chain(Conformal::NAMES)), hide_possible_values = true)]
    pub(crate) p_values: Option<String>,

    /// Call rows outliers so that at most this share of them is wrong: columns `q` and `outlier`
    #[arg(long, value_name = "Q")]
    pub(crate) fdr: Option<f64>,

    /// Where the random choice of rows for --p-values comes from
    #[arg(long, value_name = "N", default_value_t = 0, requires = "p_values")]
    pub(crate) split_seed: u64,
}

/// What is said of a row beside its depth.
pub(crate) struct Judge {
    labels: Labels,
    /// The depth below which rows are outliers, once it is known.
    line: Cell<Option<f64>>,
    calibration: Option<Calibration>,
    /// The weights of rows that are their own reference, where that is what they are.
    own: Option<Own>,
    outliers: Cell<usize>,
}

/// Rows that are their own reference.
struct Own {
    weights: Option<Vec<f64>>,
}

impl Judge {
    /// For data that is its own reference.
    pub(crate) fn of_own(labels: &Labels, weights: Option<&[f64]>) -> Result<Self> {
        if let Some(how) = labels.p_values.as_deref().filter(|how| !how.is_empty()) {
            return Err(Error::Usage(format!(
                "`--p-values={how}` needs `--reference` or `--model`; for rows that are their own reference say \
                 `--p-values`"
            )));
        }
        Ok(Self::new(labels, None, None, Some(Own { weights: weights.map(<[f64]>::to_vec) })))
    }

    /// For data that is compared with others: scores those as far as that is needed.
    pub(crate) fn of_others(labels: &Labels, model: &Model, running: Running) -> Result<Self> {
        let threads = running.threads.map(usize::from);
        let run = Run { threads, depths_only: true, ..Run::default() };
        let sample = model.reference();
        let line = labels.contamination.map(|share| {
            let fits = model.score(sample.rows(), &run)?;
            let depths: Vec<f64> = fits.iter().map(|fit| fit.depth).collect();
            threshold(&depths, sample.given_weights(), share)
        });
        let calibration = labels.p_values.as_deref().map(|how| {
            let how = if how.is_empty() { "split" } else { how };
            Conformal::named(how, labels.split_seed)?.calibrate(model.settings(), sample, &run)
        });
        let calibration = calibration.transpose()?;
        if let (Some(rate), Some(calibration)) = (labels.fdr, &calibration)
            && calibration.smallest() > rate
        {
            // Only a split leaves rows of the reference out.
            let all = matches!(labels.p_values.as_deref(), Some("cross" | "leave-one-out"));
            console::warning(format_args!(
                "nothing can be found at a false discovery rate of {rate}: {} rows to calibrate with, so that no p-value is below \
                 {:.3}; more rows{} give smaller ones",
                calibration.size(),
                calibration.smallest(),
                if all { "" } else { ", or `--p-values=leave-one-out`," }
            ));
        }
        Ok(Self::new(labels, line.transpose()?, calibration, None))
    }

    fn new(labels: &Labels, line: Option<f64>, calibration: Option<Calibration>, own: Option<Own>) -> Self {
        Self { labels: labels.clone(), line: Cell::new(line), calibration, own, outliers: Cell::new(0) }
    }

    /// Whether nothing can be said before all rows are known.
    pub(crate) fn waits(&self) -> bool {
        let own =
            self.own.is_some() && (self.labels.contamination.is_some() || self.labels.p_values.is_some());
        own || self.labels.fdr.is_some()
    }

    /// The columns that are added to the output.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let decides = self.labels.contamination.is_some() || self.labels.fdr.is_some();
        let outlier = decides.then_some(Field::new("outlier", Kind::Integer));
        let p = self.labels.p_values.is_some().then_some(Field::new("p", Kind::Number));
        let q = self.labels.fdr.is_some().then_some(Field::new("q", Kind::Number));
        [outlier, p, q].into_iter().flatten().collect()
    }

    /// p-values of rows that are not their own reference, if asked for.
    pub(crate) fn p_values(&self, rows: Rows<'_>, depths: &[f64], run: &Run<'_>) -> Result<Option<Vec<f64>>> {
        let Some(calibration) = &self.calibration else { return Ok(None) };
        Ok(Some(calibration.p_values(rows, depths, run)?))
    }

    /// p-values and q-values of all rows, and the line, now that all are known.
    pub(crate) fn conclude(&self, depths: &[f64], known: Option<Vec<f64>>) -> Result<[Option<Vec<f64>>; 2]> {
        let mut p = known;
        if let (Some(Own { weights }), false) = (&self.own, depths.is_empty()) {
            if let Some(share) = self.labels.contamination {
                self.line.set(Some(threshold(depths, weights.as_deref(), share)?));
            }
            if self.labels.p_values.is_some() {
                p = Some(own_p_values(depths, weights.as_deref())?);
            }
        }
        let q = match (&p, self.labels.fdr) {
            (Some(p), Some(_)) => Some(adjust(p, Fdr::BenjaminiHochberg)?),
            _ => None,
        };
        Ok([p, q])
    }

    /// The values that go with [`fields`](Self::fields).
    pub(crate) fn columns(
        &self,
        depths: &[f64],
        p: Option<&[f64]>,
        q: Option<&[f64]>,
    ) -> Vec<Values<'static>> {
        let below = |line: f64| depths.iter().map(|depth| i64::from(*depth < line)).collect::<Vec<_>>();
        let chosen = |(q, rate): (&[f64], f64)| q.iter().map(|q| i64::from(*q <= rate)).collect::<Vec<_>>();
        let outlier = self.line.get().map(below).or_else(|| q.zip(self.labels.fdr).map(chosen));
        if let Some(outlier) = &outlier {
            self.outliers.set(self.outliers.get() + outlier.iter().filter(|o| **o == 1).count());
        }
        let numbers = |list: &[f64]| Values::Numbers(list.to_vec().into());
        let outlier = outlier.map(|outlier| Values::Integers(outlier.into()));
        [outlier, p.map(numbers), q.map(numbers)].into_iter().flatten().collect()
    }

    /// What came of it, in a line.
    pub(crate) fn summary(&self) -> Option<String> {
        let outliers = count(self.outliers.get(), "outlier");
        match (self.line.get(), self.labels.fdr) {
            (Some(line), _) => Some(format!("{outliers}: depth below {line:.6}")),
            (_, Some(rate)) => Some(format!("{outliers} at a false discovery rate of {rate}")),
            _ => None,
        }
    }
}

impl Labels {
    /// Checks what can be checked before any work is done; `against` says whether there is a reference or a model.
    pub(crate) fn check(&self, against: bool) -> Result<()> {
        if self.fdr.is_some() && !against {
            let and = if self.p_values.is_some() { "" } else { "`--p-values` and " };
            return Err(Error::Usage(format!(
                "`--fdr` needs {and}`--reference` or `--model`: among the rows of one table p-values are their ranks, and \
                 nothing can be found in those"
            )));
        }
        if self.fdr.is_some() && self.p_values.is_none() {
            return Err(Error::Usage(
                "`--fdr` needs p-values: add `--p-values`, `--p-values=cross` or `--p-values=leave-one-out`"
                    .to_owned(),
            ));
        }
        let within = |name: &str, value: Option<f64>, most: f64| match value {
            Some(value) if !(0.0..=most).contains(&value) => {
                Err(Error::Usage(format!("`--{name}` must be between 0 and {most}, got {value}")))
            }
            _ => Ok(()),
        };
        within("contamination", self.contamination, 0.5)?;
        within("fdr", self.fdr, 1.0)
    }
}
