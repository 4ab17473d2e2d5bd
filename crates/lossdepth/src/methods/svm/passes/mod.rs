//! Depths of a reference of any size by the closed form (K7): docs/math/passes.md.
//!
//! $\mu(z)$ is a sum over all rows. $\|\mu\|^2$ is a sum over all pairs of rows; it is found between proven bounds from all pairs of
//! rows within blocks and from the mean of every block at a few centres.

mod centres;
mod certificate;
mod depths;
mod mean_norm;
mod plan;
mod reference;
mod tile;

pub(crate) use self::reference::SvmReference;

use super::Svm;
use crate::data::{RowSource, Rows, Scale, Scaling, Survey, unit_of};
use crate::error::{DepthError, Result};
use crate::kernel::{KernelChoice, KernelSource};
use crate::methods::passes::{Watch, on_threads};
use crate::methods::setters;
use crate::problem::{Fit, Run};
use std::sync::{Arc, OnceLock};

/// Queries that go through a pass together.
const TOGETHER: usize = 8192;

/// How the reference is read: a survey of it, the scaling, and how the call runs.
struct Reading<'a> {
    survey: &'a Survey,
    scaling: &'a Scaling,
    unit: f64,
    run: &'a Run<'a>,
}

impl Svm {
    /// Refuses what the closed form does not cover.
    ///
    /// # Errors
    /// [`DepthError::Settings`].
    pub(crate) fn check_passes(&self) -> Result<()> {
        setters::check(&self.task)?;
        let KernelSource::Choice(choice) = self.kernel else {
            return Err(DepthError::Settings("reference_rows `passes` goes with kernels by name".to_owned()));
        };
        match choice {
            KernelChoice::Precomputed => Err(DepthError::Settings(
                "reference_rows `passes` goes with kernels of rows, not with `precomputed`".to_owned(),
            )),
            KernelChoice::Gaussian { .. } | KernelChoice::Laplacian { .. } => self.check_reg(1.0),
            KernelChoice::Imq { c, beta } => self.check_reg(c.powf(2.0 * beta)),
            KernelChoice::Linear | KernelChoice::Polynomial { .. } => Ok(()),
        }
    }

    /// Refuses a penalty below the one from which on the closed form holds.
    fn check_reg(&self, largest: f64) -> Result<()> {
        let least = 0.25 * largest;
        if self.task.reg >= least {
            return Ok(());
        }
        Err(DepthError::Settings(format!(
            "method `svm` with reference_rows `passes` needs reg of at least {least}, a quarter of the largest k(x, x): from there on \
             its depth is a sum over rows. It is {}: give a larger reg, or compare with a number of rows",
            self.task.reg
        )))
    }

    /// The depths of queries, which are scaled, in a reference that a survey was made of. `source` gives the rows before scaling.
    /// `known` is filled in by the first call.
    pub(crate) fn isolate_by_passes<S: RowSource + Send>(
        &self,
        (survey, (scale, scaling)): (&Survey, (Scale, &Scaling)),
        (known, seed): (&OnceLock<Arc<SvmReference>>, u64),
        source: &mut S,
        queries: Rows<'_>,
        run: &Run<'_>,
        watch: Watch<'_>,
    ) -> Result<Vec<Fit>, S::Error>
    where
        S::Error: Send,
    {
        self.check_passes()?;
        if queries.is_empty() {
            return Ok(Vec::new());
        }
        on_threads(run, || {
            let reading = Reading { survey, scaling, unit: unit_of(survey.largest_weight), run };
            let mut fits = Vec::with_capacity(queries.len());
            let found = if let Some(found) = known.get() {
                found.clone()
            } else {
                let found = SvmReference::new(self, &reading, (scale, seed), source, queries.len(), watch)?;
                known.get_or_init(|| Arc::new(found)).clone()
            };
            for first in (0..queries.len()).step_by(TOGETHER) {
                let last = (first + TOGETHER).min(queries.len());
                let (now, later) = (queries.range(first, last), queries.len() - last);
                fits.extend(found.fits(self, &reading, source, (now, later), watch)?);
            }
            Ok(fits)
        })
    }
}
