//! What a score is compared with: the depths of the reference, made once when somebody asks for it.

use lossdepth::{Model, Result, Run};
use std::sync::{Arc, Mutex, PoisonError};

/// A value that is made once per process, when it is first needed.
pub(super) struct OnDemand<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for OnDemand<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> OnDemand<T> {
    /// The value; others that need it wait until it is made.
    pub(super) fn get<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*slot {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(make()?);
        *slot = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// The depths of the reference in ascending order, and the weight up to each.
pub(super) struct Shares {
    depths: Vec<f64>,
    weights: Vec<f64>,
}

impl Shares {
    pub(super) fn of(model: &Model, run: &Run<'_>) -> Result<Self> {
        let sample = model.reference();
        let fits = model.score(sample.rows(), &Run { depths_only: true, ..*run })?;
        let given = sample.given_weights();
        let weight = |row: usize| given.map_or(1.0, |weights| weights[row]);
        let mut pairs: Vec<(f64, f64)> =
            fits.iter().enumerate().map(|(row, fit)| (fit.depth, weight(row))).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut total = 0.0;
        let sums = pairs.iter().map(|(_, weight)| {
            total += weight;
            total
        });
        let weights = sums.collect();
        Ok(Self { depths: pairs.into_iter().map(|(depth, _)| depth).collect(), weights })
    }

    /// The share of the reference, by weight, that is at most as deep.
    pub(super) fn percentile(&self, depth: f64) -> f64 {
        let below = self.depths.partition_point(|other| *other <= depth);
        match (below.checked_sub(1), self.weights.last()) {
            (Some(last), Some(total)) => self.weights[last] / total,
            _ => 0.0,
        }
    }
}
