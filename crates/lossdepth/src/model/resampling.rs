//! Standard errors from random halves of the reference: docs/math/inference.md, (I21).

use super::depth::Fitted;
use super::settings::Settings;
use crate::data::{Reference, ReferenceRows, Rows};
use crate::error::{DepthError, Result};
use crate::kernel::KernelChoice;
use crate::problem::Run;

/// The method fitted to random halves of the reference, with all that it learns from the sample.
pub(super) struct Halves {
    fitted: Vec<Box<dyn Fitted>>,
    /// The variance over samples as a multiple of that over the halves of one.
    factor: f64,
}

impl Settings {
    /// Refuses a number of halves that gives no standard error, and references that have no halves.
    pub(super) fn check_resamples(&self, sample: &Reference) -> Result<()> {
        let refused = |what: String| Err(DepthError::Settings(what));
        let rows = sample.observations();
        if self.resamples == 0 {
            Ok(())
        } else if self.resamples == 1 {
            let (name, expected) = ("resamples", "0 or at least 2");
            Err(DepthError::Setting { name, expected, got: 1.0 })
        } else if self.reference_rows == ReferenceRows::Passes {
            refused(
                "resamples goes with reference_rows `all`, `auto` or a number, not with `passes`".to_owned(),
            )
        } else if self.method.settings().contains(&"kernel") && self.kernel == KernelChoice::Precomputed {
            refused("resamples needs the rows: kernel `precomputed` has kernel values only".to_owned())
        } else if rows < 4.0 {
            refused(format!("resamples needs a reference of at least 4 rows, it has {rows}"))
        } else {
            Ok(())
        }
    }
}

impl Halves {
    /// Fits as many halves as `resamples` says.
    pub(super) fn learn(settings: &Settings, sample: &Reference) -> Result<Self> {
        let (mut fitted, mut factor) = (Vec::with_capacity(settings.resamples), 1.0);
        for index in 0..settings.resamples {
            let (half, [chosen, others]) = sample.half(settings.seed, index)?;
            factor = chosen as f64 / others as f64;
            fitted.push(settings.method.fit(settings, &half, None)?);
        }
        Ok(Self { fitted, factor })
    }

    /// The standard error of each query.
    pub(super) fn standard_errors(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<f64>> {
        let quiet = Run { progress: None, depths_only: true, ..*run };
        // The running mean and the sum of squares around it, by Welford's recurrence.
        let mut moments = vec![(0.0f64, 0.0f64); queries.len()];
        for (k, half) in self.fitted.iter().enumerate() {
            let fits = half.score(queries, &quiet)?;
            for ((mean, squares), fit) in moments.iter_mut().zip(&fits) {
                let off = fit.depth - *mean;
                *mean += off / (k + 1) as f64;
                *squares += off * (fit.depth - *mean);
            }
        }
        let degrees = (self.fitted.len() - 1) as f64;
        Ok(moments.iter().map(|(_, squares)| (self.factor * squares / degrees).sqrt()).collect())
    }
}
