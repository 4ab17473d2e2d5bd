//! One detector on one data set.

use super::EXPERIMENT;
use super::sets::{LARGE, Loaded};
use crate::candidate::{Candidate, CommonSettings};
use crate::data::Data;
use crate::error::Result;
use crate::session::{Finished, Session};
use lossdepth::stats::evaluation::Ranking;
use lossdepth::{Preset, Run};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The level of the confidence intervals.
const LEVEL: f64 = 0.95;

/// The numbers of neighbours of LOF; the paper selects the best of them with the labels.
const NEIGHBOURS: [usize; 5] = [5, 10, 15, 20, 30];

/// The number of row orders for a detector that breaks ties by row order.
const ORDERS: u64 = 20;

/// The seeds of the networks.
const SEEDS: [u64; 3] = [0, 1, 2];

/// The performance of a detector on a data set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Performance {
    /// AUC-ROC with its confidence interval.
    pub(super) auc: [f64; 3],
    /// Average precision with its confidence interval.
    pub(super) precision: [f64; 3],
    /// The smallest and the largest AUC-ROC over several row orders.
    pub(super) range: [f64; 2],
    pub(super) not_converged: usize,
}

/// A cell of a table.
pub(super) struct Entry {
    pub(super) set: &'static str,
    pub(super) block: &'static str,
    pub(super) column: String,
    /// The detector with its settings: a column may have several, such as the neighbours of LOF.
    pub(super) detector: String,
    pub(super) found: Performance,
    pub(super) seconds: f64,
    pub(super) printed: Option<f64>,
}

/// The detectors of a column of the paper, as in `lossdepth evaluate --methods`.
pub(super) fn detectors(column: &str, rows: usize) -> Vec<String> {
    match column {
        "OC-SVM" => vec!["oc-svm:nu=0.1,solver=libsvm".to_owned()],
        "LOF" => NEIGHBOURS.iter().filter(|k| **k < rows).map(|k| format!("lof:k={k}")).collect(),
        "LR" => vec!["logistic:tol=1e-7".to_owned()],
        "SVM" => vec!["svm".to_owned()],
        "RF" => vec!["forest".to_owned()],
        "MLP" => seeds(rows).iter().map(|seed| format!("mlp:seed={seed}")).collect(),
        // An error of 1e-4 is small enough to rank a few thousand rows, and takes a third of the time.
        _ => vec![if rows > LARGE { "gp:tol=1e-4" } else { "gp" }.to_owned()],
    }
}

/// The seeds of a network: one where a run is expensive. A seed sets the start of the training; the results hardly depend
/// on it.
fn seeds(rows: usize) -> &'static [u64] {
    if rows > LARGE { &SEEDS[..1] } else { &SEEDS }
}

/// A detector by name: `svm:reg=0.05,gamma=2` as the method and its settings.
fn parse(detector: &str) -> (&str, Vec<(&str, String)>) {
    let (method, settings) = detector.split_once(':').unwrap_or((detector, ""));
    let pairs = settings.split(',').filter_map(|pair| pair.split_once('='));
    (method, pairs.map(|(name, value)| (name, value.to_owned())).collect())
}

/// One detector on one data set.
pub(super) fn cell(
    session: &Session<'_>,
    loaded: &Loaded,
    detector: &str,
    preset: Option<Preset>,
) -> Result<Finished<Performance>> {
    #[derive(Serialize)]
    struct Key<'a> {
        data: &'a str,
        detector: &'a str,
        settings: Vec<(&'static str, lossdepth::model::Value)>,
        orders: u64,
    }
    let sample = loaded.data.reference()?;
    let (method, settings) = parse(detector);
    let common = CommonSettings { preset, memory: session.memory, ..CommonSettings::default() };
    let mut candidate = Candidate::new(method, &settings, &common)?;
    candidate.resolve(&sample)?;
    // Results do not depend on the memory.
    let settings: Vec<_> = candidate.values().into_iter().filter(|(name, _)| *name != "memory").collect();
    // Which of several rows at the same distance are neighbours depends on the row order.
    let orders = if method == "lof" && loaded.data.len() <= 1000 { ORDERS } else { 1 };
    let key = Key { data: &loaded.fingerprint, detector: method, settings, orders };
    let mut name = format!("{}-{detector}", loaded.set.name);
    if let Some(preset) = preset {
        let _ = write!(name, "-{preset}");
    }
    let name = session.shared_name(name.replace([':', '=', ' ', '(', ')'], "-"), &key);
    let size = usize::try_from(orders).unwrap_or(1) * loaded.data.len();
    session.cell(EXPERIMENT, &name, &key, Some(size), |run| {
        let found = (0..orders).map(|order| evaluate(&candidate, &loaded.data.shuffled(order), run));
        Ok(mean(&found.collect::<Result<Vec<_>>>()?))
    })
}

/// The performance of a detector on a data set.
fn evaluate(candidate: &Candidate, data: &Data, run: &Run<'_>) -> Result<Performance> {
    let sample = data.reference()?;
    let scores = candidate.fit(&sample, run)?.score(data.rows()?, true, run)?;
    let of = |label: u8| {
        let pairs = scores.values.iter().zip(&data.labels);
        pairs.filter(move |(_, l)| **l == label).map(|(score, _)| *score).collect::<Vec<f64>>()
    };
    let ranking = Ranking::new(of(1), of(0))?;
    let (auc, precision) = (ranking.auc(LEVEL)?, ranking.average_precision(LEVEL)?);
    Ok(Performance {
        auc: [auc.value, auc.low, auc.high],
        precision: [precision.value, precision.low, precision.high],
        range: [auc.value; 2],
        not_converged: scores.not_converged,
    })
}

/// The mean over several orders of the same rows.
fn mean(all: &[Performance]) -> Performance {
    let over = |f: &dyn Fn(&Performance) -> f64| all.iter().map(f).sum::<f64>() / all.len() as f64;
    let aucs = || all.iter().map(|found| found.auc[0]);
    Performance {
        auc: [0, 1, 2].map(|i| over(&|found| found.auc[i])),
        precision: [0, 1, 2].map(|i| over(&|found| found.precision[i])),
        range: [aucs().fold(1.0, f64::min), aucs().fold(0.0, f64::max)],
        not_converged: all.iter().map(|found| found.not_converged).max().unwrap_or(0),
    }
}

/// One detector on one data set, outside the paper's table.
pub(super) fn single_entry(
    session: &Session<'_>,
    loaded: &Loaded,
    block: &'static str,
    detector: &str,
    preset: Option<Preset>,
) -> Result<Entry> {
    let Finished { value, seconds } = cell(session, loaded, detector, preset)?;
    let (set, column, detector) = (loaded.set.name, String::new(), detector.to_owned());
    Ok(Entry { set, block, column, detector, found: value, seconds, printed: None })
}
