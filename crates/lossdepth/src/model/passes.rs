//! Depths in a reference of any size, proven for all of its rows: docs/math/passes.md.

use super::depth::Fitted;
use super::fitted::Learned;
use super::method::Method;
use super::settings::Settings;
use crate::data::{Reference, ReferenceRows, RowSource, Rows, Scaling, ScalingWarning, Survey};
use crate::error::{DepthError, Result};
use crate::loss::{Exponential, Logistic, SquaredHinge};
use crate::methods::explanation::Explanation;
pub use crate::methods::passes::PassProgress;
use crate::methods::svm::passes::SvmReference;
use crate::problem::{Fit, Reported, Run, Variant};
use std::sync::{Arc, OnceLock};

/// How many different rows the first solutions and the Hessians are made of. A heuristic: more rows take fewer passes.
const SAMPLE: usize = 50_000;

/// A linear depth of a smooth loss, or one of `svm` under a large penalty, in a reference that need not be in memory.
///
/// The reference is read once to draw a sample and to learn the scaling. For a linear depth queries are solved on the sample; then every
/// reading of the reference sums losses and slopes of all queries over all rows. For `svm` the closed form needs the mean of all kernel
/// functions: its norm takes a reading or two, once, and its values at the queries one more. [`Fit::error`] is proven for all rows, as if
/// all of them had been in memory, and [`Fit::iterations`] is the number of readings. The scaling `standard` is that of all rows,
/// `robust`, `whiten` and `mcd` are those of the sample, and so are widths of kernels that are not given as numbers. [`Fit::stderr`] is
/// estimated on the sample.
///
/// A depth does not depend on the pieces that the rows come in, on other queries or on threads; its last bits depend on the order of
/// the rows.
///
/// ```
/// use lossdepth::model::Passes;
/// use lossdepth::{Method, Reference, Rows, Run, Settings};
/// let rows: Vec<[f64; 2]> = (0..5000).map(|i| [f64::from(i).sin(), f64::from(7 * i).cos()]).collect();
/// // Anything that implements `RowSource`; here rows that are in memory.
/// let all = Reference::new(&rows[..])?;
/// let settings = Settings { reg: 0.1, ..Settings::new(Method::Logistic) };
/// let depth = Passes::with_sample(&settings, &mut &all, 2, 500)?;
/// let fits = depth.score(&mut &all, Rows::new(&[0.0, 0.1, 3.0, 3.0], 2)?, &Run::default(), &mut |_| ())?;
/// assert!(fits[0].depth > fits[1].depth && fits[1].error <= 1e-6);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Passes {
    settings: Settings,
    survey: Survey,
    scaling: Scaling,
    warning: Option<ScalingWarning>,
    /// What `svm` finds in the first call.
    svm: OnceLock<Arc<SvmReference>>,
}

impl Passes {
    /// Reads the reference, of so many columns, once.
    ///
    /// # Errors
    /// Settings that this does not go with, a setting out of its range, or what the source reports.
    pub fn new<S: RowSource>(settings: &Settings, source: &mut S, width: usize) -> Result<Self, S::Error> {
        Self::with_sample(settings, source, width, SAMPLE)
    }

    /// [`new`](Self::new) with a sample of at most so many different rows.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_sample<S: RowSource>(
        settings: &Settings,
        source: &mut S,
        width: usize,
        rows: usize,
    ) -> Result<Self, S::Error> {
        Self::check(settings)?;
        let survey = Survey::of(source, width, rows, settings.seed)?;
        let (scaling, warning) = Scaling::of_survey(settings.scale, &survey, settings.support_fraction)?;
        Ok(Self { settings: settings.clone(), survey, scaling, warning, svm: OnceLock::new() })
    }

    /// Refuses other methods, the variant `constrained`, what is not the risk, and penalties too small for the closed form of `svm`.
    ///
    /// # Errors
    /// [`DepthError::Settings`].
    pub fn check(settings: &Settings) -> Result<()> {
        let refused =
            |what: &str| Err(DepthError::Settings(format!("reference_rows `passes` goes with {what}")));
        match (settings.method, settings.variant) {
            (_, Variant::Constrained { .. }) => refused("the variants `risk` and `objective`"),
            (Method::Logistic, _) if settings.value != Reported::Risk => refused("value `risk`"),
            (Method::Logistic | Method::SquaredHinge | Method::Exponential, _) => Ok(()),
            (Method::Svm, _) => settings.svm()?.check_passes(),
            (other, _) => refused(&format!(
                "the methods logistic, squared-hinge, exponential and svm, not with `{other}`"
            )),
        }
    }

    /// The depth of each query. `source` gives the rows that it gave before; `watch` is told how far the passes are.
    ///
    /// # Errors
    /// As for [`Model::score`](super::Model::score), what the source reports, or rows that changed.
    pub fn score<S: RowSource + Send>(
        &self,
        source: &mut S,
        queries: Rows<'_>,
        run: &Run<'_>,
        watch: &mut (dyn FnMut(&PassProgress) + Send),
    ) -> Result<Vec<Fit>, S::Error>
    where
        S::Error: Send,
    {
        let (width, got) = (self.width(), queries.width());
        if got != width && !queries.is_empty() {
            return Err(DepthError::Dimension { row: 0, expected: width, got }.into());
        }
        queries.check_finite()?;
        let mut data = vec![0.0; queries.as_slice().len()];
        for (row, out) in queries.iter().zip(data.chunks_exact_mut(width)) {
            self.scaling.apply(row, out);
        }
        let learned = (self.settings.scale.learned(self.warning()), &self.scaling);
        let (scaled, known) = (Rows::new(&data, width)?, (&self.survey, learned));
        let s = &self.settings;
        match s.method {
            Method::SquaredHinge => {
                s.linear(SquaredHinge).isolate_by_passes(known, source, scaled, run, watch)
            }
            Method::Svm => s.svm()?.isolate_by_passes(known, (&self.svm, s.seed), source, scaled, run, watch),
            Method::Exponential => s.linear(Exponential).isolate_by_passes(known, source, scaled, run, watch),
            _ => s.linear(Logistic).value(s.value).isolate_by_passes(known, source, scaled, run, watch),
        }
    }

    /// How many columns a query must have.
    pub fn width(&self) -> usize {
        self.survey.sample.width()
    }

    /// How many rows with a positive weight the reference has.
    pub fn rows(&self) -> usize {
        self.survey.rows
    }

    /// The sample, before scaling.
    pub fn sample(&self) -> &Reference {
        &self.survey.sample
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The scaling.
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// A warning: the scaling is not the one that was asked for.
    pub fn warning(&self) -> Option<&ScalingWarning> {
        self.warning.as_ref()
    }
}

/// Passes over a reference that is in memory.
struct InMemory {
    passes: Passes,
    reference: Reference,
}

impl Settings {
    /// Fits a depth that passes over all rows of a sample in memory; the scaling is learned on all of them.
    pub(super) fn fit_passes(&self, sample: &Reference, learned: Option<Learned>) -> Result<Box<dyn Fitted>> {
        let mut passes = Passes::new(self, &mut &*sample, sample.width())?;
        (passes.scaling, passes.warning) = match learned {
            Some(learned) => learned,
            None => Scaling::learn(self.scale, sample.rows(), sample.weights(), self.support_fraction)?,
        };
        sample.check_mapped(&passes.scaling)?;
        Ok(Box::new(InMemory { passes, reference: sample.clone() }))
    }

    /// Whether depths come from passes over all rows.
    pub(super) fn by_passes(&self) -> bool {
        self.reference_rows == ReferenceRows::Passes
    }
}

impl Fitted for InMemory {
    fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.passes.score(&mut &self.reference, queries, run, &mut |_| ())
    }

    fn explain(&self, _: Rows<'_>, _: &Run<'_>) -> Result<Vec<Explanation>> {
        Err(DepthError::Settings(
            "explanations go with reference_rows `all`, `auto` or a number, not with `passes`".to_owned(),
        ))
    }

    fn learned(&self) -> (&Scaling, Option<&ScalingWarning>) {
        (&self.passes.scaling, self.passes.warning.as_ref())
    }
}
