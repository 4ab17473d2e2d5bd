//! How many rows of a large reference are enough: docs/math/scale.md, (B5).

use super::settings::Settings;
use crate::data::{Reference, ReferenceRows};
use crate::error::{DepthError, Result};
use crate::kernel::KernelChoice;
use crate::methods::auto::Auto;
use crate::model::Method;
use crate::numerics::whole_count;
use crate::problem::Run;

/// The standard error that the size of a sample aims at.
const TARGET: f64 = 0.004;
/// How many rows the first sample has. A heuristic: enough for standard errors to be within a few per cent.
const PILOT: usize = 2_000;
/// How many of them are scored to learn the standard errors; likewise.
const SCORED: usize = 200;

impl Settings {
    /// The sample of the reference that the setting `reference_rows` asks for; `None` if that is all of it.
    pub(super) fn reference_sample(&self, sample: &Reference) -> Result<Option<Reference>> {
        if self.method == Method::Auto {
            return Ok(None);
        }
        let rows = match self.reference_rows {
            ReferenceRows::All | ReferenceRows::Passes => return Ok(None),
            ReferenceRows::Count(rows) => rows,
            ReferenceRows::Auto if sample.len() <= ReferenceRows::EXACT => return Ok(None),
            ReferenceRows::Auto => self.enough_rows(sample)?,
        };
        if self.method.settings().contains(&"kernel") && self.kernel == KernelChoice::Precomputed {
            return Err(DepthError::Settings(
                "kernel `precomputed` goes with reference_rows `all`".to_owned(),
            ));
        }
        let sampled = sample.sampled(rows, self.seed)?;
        Ok((sampled.len() < sample.len()).then_some(sampled))
    }

    /// So many rows that the largest standard error of a depth among those of a first sample is the target: it falls with
    /// the square root of the number of rows.
    fn enough_rows(&self, sample: &Reference) -> Result<usize> {
        let pilot = sample.sampled(PILOT, self.seed)?;
        let model = self.fit_scaled(&pilot, None)?;
        let rows = pilot.rows().range(0, pilot.len().min(SCORED));
        let fits = model.score(rows, &Run::default())?;
        let largest = fits.iter().fold(0.0f64, |largest, fit| largest.max(fit.stderr));
        // Methods without a standard error are treated as a share, whose standard error is at most a half over the root.
        let rows =
            if largest > 0.0 { PILOT as f64 * (largest / TARGET).powi(2) } else { 0.25 / (TARGET * TARGET) };
        Ok(whole_count(rows.ceil()).min(sample.len()).max(PILOT))
    }

    /// The rows that the method `auto` compares with.
    pub(super) fn rows_of_auto(&self) -> usize {
        match self.reference_rows {
            ReferenceRows::All | ReferenceRows::Passes => 1_000_000,
            ReferenceRows::Auto => Auto::REFERENCE_ROWS,
            ReferenceRows::Count(rows) => rows,
        }
    }
}
