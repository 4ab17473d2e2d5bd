//! How the depths of the reference are distributed: a depth as a share of the reference.

use super::fitted::Model;
use super::pool::Pool;
use crate::error::{DepthError, Result};
use crate::problem::{Fit, Run};
use std::sync::OnceLock;

/// The depths of the reference in order: which share of it is at most as deep as a row.
///
/// Scored are all different rows of the reference or, of more than [`MOST`](Self::MOST), as many at equal steps of the
/// cumulative weight in lexicographic order. So the percentile is a function of model and row alone: neither the order of the
/// reference nor copies written as weights matter.
///
/// ```
/// use lossdepth::{Method, Reference, Rows, Run, Settings};
/// let model = Settings::new(Method::Logistic).fit(&Reference::new(&[[0.0], [1.0], [2.0], [3.0]])?)?;
/// let shares = model.percentiles(&Run::default())?;
/// let depths = model.score(Rows::new(&[1.5, 90.0], 1)?, &Run::default())?;
/// assert_eq!((shares.of(depths[0].depth), shares.of(depths[1].depth)), (1.0, 0.0));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Percentiles {
    /// Different depths of the reference, increasing.
    depths: Vec<f64>,
    /// The share of the reference that is at most as deep.
    shares: Vec<f64>,
}

/// Percentiles that are learned when they are first asked for.
#[derive(Default)]
pub(super) struct OnDemand(OnceLock<Percentiles>);

impl From<Option<Percentiles>> for OnDemand {
    fn from(known: Option<Percentiles>) -> Self {
        Self(known.map_or_else(OnceLock::new, OnceLock::from))
    }
}

impl OnDemand {
    pub(super) fn known(&self) -> Option<&Percentiles> {
        self.0.get()
    }

    /// No lock is held meanwhile: two callers at once may both learn them, and find the same.
    pub(super) fn get(&self, learn: impl FnOnce() -> Result<Percentiles>) -> Result<&Percentiles> {
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let learned = learn()?;
        Ok(self.0.get_or_init(|| learned))
    }
}

impl Percentiles {
    /// The most rows of the reference that are scored (heuristic): the standard error of a share is at most
    /// $\frac12 / \sqrt{5000} < 0.0071$.
    pub const MOST: usize = 5000;

    /// From depths with their weights, of which one is positive.
    pub(in crate::model) fn new(depths: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut pairs: Vec<(f64, f64)> = depths.filter(|(_, weight)| *weight > 0.0).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
        let (mut depths, mut shares, mut sum) = (Vec::<f64>::new(), Vec::<f64>::new(), 0.0);
        for (depth, weight) in pairs {
            sum += weight;
            if depths.last() != Some(&depth) {
                depths.push(depth);
                shares.push(0.0);
            }
            if let Some(share) = shares.last_mut() {
                *share = (sum / total).min(1.0);
            }
        }
        Self { depths, shares }
    }

    /// Scores the reference of a model, or the part of it that is enough.
    pub(super) fn learn(model: &Model, run: &Run<'_>) -> Result<Self> {
        let pool = Pool::new(model.reference(), Self::MOST);
        let fits = model.score(pool.rows(), &Run { depths_only: true, ..*run })?;
        Ok(Self::of_pool(&fits, &pool.weights, model.reference().observations()))
    }

    /// From the scores of rows that stand for the reference, with their weights, and how many observations that has.
    pub(super) fn of_pool(fits: &[Fit], weights: &[f64], total: f64) -> Self {
        // Weights sum to 1 or count rows; as counts they are whole numbers but for rounding, and shares are exact.
        let sum = weights.iter().sum::<f64>();
        let counts = weights.iter().map(|weight| {
            let count = weight / sum * total;
            if (count - count.round()).abs() < 1e-6 { count.round() } else { count }
        });
        Self::new(fits.iter().map(|fit| fit.depth).zip(counts))
    }

    /// From what was saved: increasing depths with increasing shares up to 1.
    pub(super) fn from_parts(depths: Vec<f64>, shares: Vec<f64>) -> Result<Self> {
        let fits = depths.len() == shares.len()
            && depths.windows(2).all(|pair| pair[0] < pair[1])
            && shares.windows(2).all(|pair| pair[0] <= pair[1])
            && depths.iter().all(|depth| depth.is_finite())
            && shares.first().is_some_and(|share| *share > 0.0)
            && shares.last().is_some_and(|share| (share - 1.0).abs() < 1e-9);
        if fits {
            Ok(Self { depths, shares })
        } else {
            let reason = "its percentiles are no increasing depths with shares up to 1".to_owned();
            Err(DepthError::DamagedModel { reason })
        }
    }

    /// The share of the reference that is at most this deep.
    pub fn of(&self, depth: f64) -> f64 {
        let at = self.depths.partition_point(|other| *other <= depth);
        if at == 0 { 0.0 } else { self.shares[at - 1] }
    }

    /// The smallest depth of the reference at which [`of`](Self::of) is at least this share.
    pub fn depth_at(&self, share: f64) -> f64 {
        let at = self.shares.partition_point(|known| *known < share);
        self.depths[at.min(self.depths.len() - 1)]
    }

    /// The different depths of the reference, increasing.
    pub fn depths(&self) -> &[f64] {
        &self.depths
    }

    /// The share of the reference that is at most as deep as each of [`depths`](Self::depths).
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_count_ties_and_weights() {
        let copies = Percentiles::new([(0.1, 1.0), (0.4, 1.0), (0.4, 1.0), (0.9, 1.0)].into_iter());
        let weights = Percentiles::new([(0.4, 2.0), (0.9, 1.0), (0.1, 1.0), (0.2, 0.0)].into_iter());
        assert_eq!(copies, weights);
        let shares = [0.05, 0.1, 0.3, 0.4, 0.8, 0.9, 2.0].map(|depth| copies.of(depth));
        assert_eq!(shares, [0.0, 0.25, 0.25, 0.75, 0.75, 1.0, 1.0]);
        let depths = [0.0, 0.25, 0.3, 0.75, 0.8, 1.0].map(|share| copies.depth_at(share));
        assert_eq!(depths, [0.1, 0.1, 0.4, 0.4, 0.9, 0.9]);
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        assert!(Percentiles::from_parts(vec![0.1, 0.2], vec![0.5, 1.0]).is_ok());
        for (depths, shares) in [
            (vec![], vec![]),
            (vec![0.1], vec![0.5, 1.0]),
            (vec![0.2, 0.1], vec![0.5, 1.0]),
            (vec![0.1, 0.2], vec![1.0, 0.5]),
            (vec![0.1, 0.2], vec![0.5, 0.9]),
            (vec![0.1, f64::NAN], vec![0.5, 1.0]),
            (vec![0.1, 0.2], vec![0.0, 1.0]),
        ] {
            assert!(Percentiles::from_parts(depths, shares).is_err());
        }
    }
}
