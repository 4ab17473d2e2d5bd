//! From p-values to what follows when rows up to a p-value are flagged.

use super::text;
use lossdepth::stats::conformal::{Fdr, adjust};
use lossdepth::{DepthError, Result};
use serde::Serialize;

/// The smallest p-values are thresholds each; beyond, they are spaced by a constant factor.
const EACH: usize = 120;
const FACTOR: f64 = 1.06;
/// Where a page starts: the false discovery rate, or else the p-value.
const START_FDR: f64 = 0.1;
const START_P: f64 = 0.01;

/// What p-values mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PValues {
    /// Against a reference of other rows: under the null a share of at most p of the rows has a p-value of at most p, and
    /// false discovery rates can be estimated.
    Calibrated,
    /// Ranks of rows in the table that they make up themselves: a share p of the rows always has a p-value of at most p.
    Ranks,
}

/// Thresholds that a reader can choose from, each with its consequence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Thresholds {
    /// What the p-values mean.
    pub kind: PValues,
    /// How many rows have one.
    pub rows: u64,
    /// The thresholds, smallest p-value first.
    pub steps: Vec<Step>,
    /// Which of `steps` is shown first.
    pub start: usize,
}

/// A threshold: rows with a p-value of at most `p` are flagged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The p-value.
    pub p: f64,
    /// How many rows are flagged.
    pub flagged: u64,
    /// The largest depth of a flagged row.
    pub depth: f64,
    /// Where the line is drawn: halfway from `depth` to the smallest depth of a row that is not flagged, if that is larger.
    pub cut: f64,
    /// The false discovery rate by Benjamini and Hochberg; `None` for [`PValues::Ranks`], where it cannot be estimated.
    pub fdr: Option<f64>,
}

impl Thresholds {
    /// From the p-values and depths of all rows, in the same order.
    ///
    /// ```
    /// use lossdepth_plot::report::{PValues, Thresholds};
    /// let p = [0.01, 0.01, 0.5, 1.0];
    /// let thresholds = Thresholds::new(&p, &[0.1, 0.2, 0.6, 0.9], PValues::Calibrated)?;
    /// let first = &thresholds.steps[0];
    /// assert_eq!((first.flagged, first.depth, first.cut, first.fdr), (2, 0.2, 0.4, Some(0.02)));
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// There are no rows, not as many depths as p-values, or a p-value is not between 0 and 1.
    pub fn new(p: &[f64], depths: &[f64], kind: PValues) -> Result<Self> {
        if p.is_empty() {
            return Err(DepthError::TooFewRows { expected: 1, got: 0 });
        }
        if p.len() != depths.len() {
            return Err(DepthError::Labels(format!("{} p-values, but {} depths", p.len(), depths.len())));
        }
        let q = adjust(p, Fdr::BenjaminiHochberg)?;
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
        // The smallest depth from each rank on.
        let mut deeper = vec![f64::INFINITY; order.len() + 1];
        for (rank, &i) in order.iter().enumerate().rev() {
            deeper[rank] = deeper[rank + 1].min(depths[i]);
        }
        let (mut steps, mut depth): (Vec<Step>, f64) = (Vec::new(), f64::NEG_INFINITY);
        for (rank, &i) in order.iter().enumerate() {
            depth = depth.max(depths[i]);
            let last_of_its_p = order.get(rank + 1).is_none_or(|&next| p[next] > p[i]);
            let near = steps.len() >= EACH && steps.last().is_some_and(|last| p[i] < FACTOR * last.p);
            if last_of_its_p && !near {
                let fdr = (kind == PValues::Calibrated).then_some(q[i]);
                let next = deeper[rank + 1];
                let cut = if next.is_finite() { depth.max(f64::midpoint(depth, next)) } else { depth };
                steps.push(Step { p: p[i], flagged: rank as u64 + 1, depth, cut, fdr });
            }
        }
        let within = |step: &Step| match step.fdr {
            Some(fdr) => fdr <= START_FDR,
            None => step.p <= START_P,
        };
        let start =
            steps.iter().rposition(within).or_else(|| steps.iter().rposition(|step| step.p <= START_P));
        let start = start.unwrap_or(0);
        Ok(Self { kind, rows: p.len() as u64, steps, start })
    }

    /// What follows when a threshold is chosen, in whole sentences.
    pub fn consequence(&self, step: &Step) -> String {
        let p = text::p_value(step.p);
        let flagged = format!(
            "At p ≤ {p}, {} of {} {} flagged.",
            text::count(step.flagged),
            text::counted(self.rows, "row", "rows"),
            if step.flagged == 1 { "is" } else { "are" }
        );
        match step.fdr {
            None => format!(
                "{flagged} These p-values are ranks in the table itself: a table without a single error would have as \
                 many rows at this p-value. It says how many rows you look at, not how many are wrong."
            ),
            Some(fdr) => {
                let (about, verdict) = (
                    self.chance_in_words(step),
                    if self.is_chance(step) { ", so chance explains them all" } else { "" },
                );
                format!(
                    "{flagged} If nothing had changed since the reference, {about} would be expected by chance{verdict}. \
                     Benjamini–Hochberg false discovery rate: {}.",
                    text::percent(fdr)
                )
            }
        }
    }

    /// How many rows chance alone would flag, in words.
    pub(crate) fn chance_in_words(&self, step: &Step) -> String {
        let chance = self.by_chance(step);
        if chance < 0.05 {
            "fewer than 0.1".to_owned()
        } else if chance < 9.95 {
            format!("about {}", text::number((chance * 10.0).round() / 10.0))
        } else {
            format!("about {}", text::number(chance.round()))
        }
    }

    /// Whether no more rows are flagged than chance alone would.
    pub(crate) fn is_chance(&self, step: &Step) -> bool {
        step.flagged as f64 <= self.by_chance(step)
    }

    /// How many rows would be flagged if all of them were ordinary.
    pub fn by_chance(&self, step: &Step) -> f64 {
        step.p * self.rows as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossdepth::stats::conformal::own_p_values;

    #[test]
    fn many_rows_need_few_thresholds() {
        let depths: Vec<f64> = (0..100_000).map(|i| f64::from((i * 7919) % 100_003)).collect();
        let p = own_p_values(&depths, None).unwrap();
        let thresholds = Thresholds::new(&p, &depths, PValues::Ranks).unwrap();
        assert!(thresholds.steps.len() < 400, "{}", thresholds.steps.len());
        for step in &thresholds.steps {
            let flagged = p.iter().filter(|p| **p <= step.p).count() as u64;
            let deepest = p.iter().zip(&depths).filter(|(p, _)| **p <= step.p).map(|(_, depth)| *depth);
            assert_eq!((step.flagged, step.depth), (flagged, deepest.fold(f64::NEG_INFINITY, f64::max)));
        }
        let start = &thresholds.steps[thresholds.start];
        assert!(start.p <= START_P && start.p > START_P / FACTOR / FACTOR, "{start:?}");
    }

    #[test]
    fn rates_are_those_of_benjamini_and_hochberg() {
        let p: Vec<f64> = (1..=50).map(|i| (f64::from(i) / 50.0).powi(3)).collect();
        let q = adjust(&p, Fdr::BenjaminiHochberg).unwrap();
        let thresholds = Thresholds::new(&p, &p, PValues::Calibrated).unwrap();
        let rates: Vec<f64> = thresholds.steps.iter().filter_map(|step| step.fdr).collect();
        assert_eq!(rates, q);
        let start = thresholds.start;
        assert!(rates[start] <= START_FDR && rates[start + 1] > START_FDR);
    }

    #[test]
    fn ranks_promise_no_rate() {
        let depths = [0.3, 0.1, 0.2];
        let p = own_p_values(&depths, None).unwrap();
        let thresholds = Thresholds::new(&p, &depths, PValues::Ranks).unwrap();
        let words = thresholds.consequence(&thresholds.steps[0]);
        assert!(
            words.starts_with("At p ≤ 0.33, 1 of 3 rows is flagged.") && words.contains("ranks"),
            "{words}"
        );
    }

    #[test]
    fn unusable_p_values_are_refused() {
        assert!(Thresholds::new(&[], &[], PValues::Ranks).is_err());
        assert!(Thresholds::new(&[0.5], &[0.1, 0.2], PValues::Ranks).is_err());
        assert!(Thresholds::new(&[f64::NAN], &[0.1], PValues::Calibrated).is_err());
    }
}
