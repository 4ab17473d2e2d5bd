//! A fitted method of any kind, and how settings construct it.

use super::depth::{Depth, Fitted};
use super::on_demand::OnDemand;
use super::percentiles::Percentiles;
use super::resampling::Halves;
use super::settings::Settings;
use crate::data::{Encoding, EncodingOptions, Reference, Rows, Scale, Scaling, ScalingWarning, Table};
use crate::error::{DepthError, Result};
use crate::kernel::KernelChoice;
use crate::loss::Loss;
use crate::methods::classical::{L2, Mahalanobis, Potential, Projection, Simplicial, Spatial, Zonoid};
use crate::methods::explanation::Explanation;
use crate::methods::{Auto, Forest, GaussianProcess, Halfspace, Hypothesis, Kernelised, Linear, Mlp, Svm};
use crate::numerics::whole_part;
use crate::problem::{Fit, Run};

/// A scaling that was learned, and the warning that came with it.
pub(super) type Learned = (Scaling, Option<ScalingWarning>);

/// A fitted method of any kind.
pub struct Model {
    settings: Settings,
    sample: Reference,
    fitted: Box<dyn Fitted>,
    encoding: Option<Encoding>,
    /// How deep the reference is: learned at the first call of [`percentiles`](Self::percentiles).
    percentiles: OnDemand<Percentiles>,
    /// Random halves of the reference, fitted at the first call that wants standard errors from them.
    halves: OnDemand<Halves>,
}

impl Settings {
    /// Fits the method to a reference sample, or to as much of it as `reference_rows` says.
    ///
    /// # Errors
    /// A setting is out of its range.
    pub fn fit(&self, sample: &Reference) -> Result<Model> {
        match self.reference_sample(sample)? {
            Some(sample) => self.fit_scaled(&sample, None),
            None => self.fit_scaled(sample, None),
        }
    }

    /// Learns how to encode a table, and fits the method to the rows that it becomes.
    ///
    /// The model keeps the encoding: it takes queries as [`Model::encoding`] encodes them.
    ///
    /// ```
    /// use lossdepth::data::{Column, EncodingOptions, Table, Values};
    /// use lossdepth::{Method, Rows, Run, Settings};
    /// let column = |values: &[f64]| Column { name: "price".into(), values: Values::Numbers(values.to_vec()) };
    /// let reference = Table::new(vec![column(&[2.5, 3.0, f64::NAN, 4.0])])?;
    /// let model = Settings::new(Method::Logistic).fit_table(&reference, None, &EncodingOptions::default())?;
    /// let encoding = model.encoding().expect("it was fitted to a table");
    /// let queries = encoding.encode(&Table::new(vec![column(&[3.1])])?)?;
    /// model.score(Rows::new(&queries.values, queries.width)?, &Run::default())?;
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Encoding::learn`], [`Reference::weighted`] and [`fit`](Self::fit).
    pub fn fit_table(
        &self,
        table: &Table,
        weights: Option<&[f64]>,
        options: &EncodingOptions,
    ) -> Result<Model> {
        let (encoding, encoded) = Encoding::learn(table, weights, options)?;
        let weights = weights.map(|weights| encoded.rows.iter().map(|&row| weights[row]).collect());
        let sample = Reference::from_vec(encoded.values, encoded.width, weights)?;
        let sample = sample.with_layout(encoding.layout().clone())?;
        Ok(self.fit(&sample)?.with_encoding(encoding))
    }

    /// [`fit`](Self::fit), with the scaling if it was learned before.
    pub(super) fn fit_scaled(&self, sample: &Reference, learned: Option<Learned>) -> Result<Model> {
        self.check_resamples(sample)?;
        let fitted = if self.by_passes() {
            self.fit_passes(sample, learned)?
        } else {
            self.method.fit(self, sample, learned)?
        };
        let (settings, sample) = (self.clone(), sample.clone());
        let (percentiles, halves) = (OnDemand::default(), OnDemand::default());
        Ok(Model { settings, sample, fitted, encoding: None, percentiles, halves })
    }

    pub(super) fn fit_hypothesis<H: Hypothesis + 'static>(
        &self,
        hypothesis: H,
        sample: &Reference,
        learned: Option<Learned>,
    ) -> Result<Box<dyn Fitted>> {
        let kernel = self.method.settings().contains(&"kernel");
        if kernel && self.kernel == KernelChoice::Precomputed && self.scale != Scale::None {
            return Err(DepthError::Settings("kernel `precomputed` goes with scale `none`".to_owned()));
        }
        let depth = Depth::new(hypothesis).scale(self.scale).support_fraction(self.support_fraction);
        Ok(Box::new(match learned {
            Some((scaling, warning)) => depth.fit_scaled(sample, scaling, warning)?,
            None => depth.fit(sample)?,
        }))
    }
}

/// Passes on the settings of the penalised convex depths.
macro_rules! convex {
    ($hypothesis:expr, $settings:expr) => {
        $hypothesis
            .reg($settings.reg)
            .variant($settings.variant)
            .intercept($settings.intercept)
            .tol($settings.tol)
            .max_iter($settings.max_iter)
    };
}

/// Passes on the settings of the depths by distances.
macro_rules! by_scatter {
    ($hypothesis:expr, $settings:expr) => {
        $hypothesis.scatter($settings.scatter).support_fraction($settings.support_fraction).tol($settings.tol)
    };
}

/// The hypothesis that the settings describe.
impl Settings {
    pub(super) fn linear<L: Loss>(&self, loss: L) -> Linear<L> {
        convex!(Linear::new(loss), self)
    }

    pub(super) fn kernelised<L: Loss>(&self, loss: L) -> Result<Kernelised<L>> {
        let method = convex!(Kernelised::new(loss).kernel(self.kernel), self);
        Ok(if let Some(bytes) = self.bytes()? { method.memory(bytes) } else { method })
    }

    pub(super) fn svm(&self) -> Result<Svm> {
        let method = convex!(Svm::new().kernel(self.kernel), self);
        Ok(if let Some(bytes) = self.bytes()? { method.memory(bytes) } else { method })
    }

    pub(super) fn gp(&self) -> Result<GaussianProcess> {
        let method = GaussianProcess::new().kernel(self.kernel).probabilities(self.probabilities);
        let method = method.tol(self.tol).max_iter(self.max_iter);
        Ok(if let Some(bytes) = self.bytes()? { method.memory(bytes) } else { method })
    }

    pub(super) fn forest(&self) -> Forest {
        Forest::new()
            .max_depth(self.max_depth)
            .max_features(self.max_features)
            .loss(self.loss)
            .value(self.value)
            .trees(self.trees)
            .rotations(self.rotations)
            .max_boxes(self.max_boxes)
            .seed(self.seed)
            .tol(self.tol)
    }

    pub(super) fn mlp(&self) -> Mlp {
        Mlp::new()
            .hidden(&self.hidden)
            .reg(self.reg)
            .variant(self.variant)
            .restarts(self.restarts)
            .seed(self.seed)
            .tol(self.tol)
            .max_iter(self.max_iter)
    }

    pub(super) fn auto(&self) -> Auto {
        Auto::new().reference_rows(self.rows_of_auto()).trim(self.trim).tol(self.tol)
    }

    pub(super) fn halfspace(&self) -> Halfspace {
        Halfspace::new().tol(self.tol).budget(self.budget).num_directions(self.num_directions)
    }

    pub(super) fn mahalanobis(&self) -> Mahalanobis {
        by_scatter!(Mahalanobis::new(), self)
    }

    pub(super) fn spatial(&self) -> Spatial {
        by_scatter!(Spatial::new(), self)
    }

    pub(super) fn l2(&self) -> L2 {
        by_scatter!(L2::new(), self)
    }

    pub(super) fn potential(&self) -> Potential {
        by_scatter!(Potential::new().bandwidth(self.bandwidth), self)
    }

    pub(super) fn zonoid(&self) -> Zonoid {
        Zonoid::new().tol(self.tol)
    }

    pub(super) fn projection(&self) -> Projection {
        Projection::new().num_directions(self.num_directions).seed(self.seed).tol(self.tol)
    }

    pub(super) fn simplicial(&self) -> Simplicial {
        Simplicial::new().samples(self.samples).seed(self.seed).tol(self.tol)
    }

    /// The limit for kernel values in whole bytes, if one is set.
    ///
    /// # Errors
    /// A limit that is not positive.
    pub fn bytes(&self) -> Result<Option<u64>> {
        let Some(memory) = self.memory else { return Ok(None) };
        crate::error::positive("memory", memory)?;
        Ok(Some(whole_part(memory)))
    }
}

impl Model {
    /// The depth of each query.
    ///
    /// # Errors
    /// A row of another width than the reference, a number that is not finite, or
    /// [`DepthError::Cancelled`].
    pub fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        let mut fits = self.fitted.score(queries, run)?;
        if !run.depths_only
            && let Some(halves) = self.halves()?
        {
            let standard_errors = halves.standard_errors(queries, run)?;
            fits.iter_mut().zip(standard_errors).for_each(|(fit, stderr)| fit.stderr = stderr);
        }
        Ok(fits)
    }

    /// Why each query has the depth it has.
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    pub fn explain(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let mut found = self.fitted.explain(queries, run)?;
        if let Some(halves) = self.halves()? {
            let standard_errors = halves.standard_errors(queries, run)?;
            found.iter_mut().zip(standard_errors).for_each(|(e, stderr)| e.fit.stderr = stderr);
        }
        Ok(found)
    }

    /// The fitted halves of the reference, if standard errors come from them.
    fn halves(&self) -> Result<Option<&Halves>> {
        if self.settings.resamples == 0 {
            return Ok(None);
        }
        self.halves.get(|| Halves::learn(&self.settings, &self.sample)).map(Some)
    }

    /// The settings that it was fitted with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The same model with the encoding of the tables that its reference came from.
    #[must_use]
    pub fn with_encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = Some(encoding);
        self
    }

    /// How tables become the rows that the model takes; `None` if it was fitted to rows of numbers.
    pub fn encoding(&self) -> Option<&Encoding> {
        self.encoding.as_ref()
    }

    /// How deep the reference is: scored at the first call, up to [`Percentiles::MOST`] rows of it, and kept.
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    pub fn percentiles(&self, run: &Run<'_>) -> Result<&Percentiles> {
        self.percentiles.get(|| Percentiles::learn(self, run))
    }

    /// [`percentiles`](Self::percentiles), if they are known already.
    pub fn known_percentiles(&self) -> Option<&Percentiles> {
        self.percentiles.known()
    }

    /// The same model with the percentiles that were saved with it.
    pub(super) fn with_percentiles(self, percentiles: Option<Percentiles>) -> Self {
        Self { percentiles: percentiles.into(), ..self }
    }

    /// How many columns a query must have.
    pub fn width(&self) -> usize {
        self.sample.width()
    }

    /// How many rows the reference has.
    pub fn reference_len(&self) -> usize {
        self.sample.len()
    }

    /// The sample that it was fitted to.
    pub fn reference(&self) -> &Reference {
        &self.sample
    }

    /// The scaling learned on the reference.
    pub fn scaling(&self) -> &Scaling {
        self.fitted.learned().0
    }

    /// A warning of the fit: the scaling is not the one that was asked for.
    pub fn warning(&self) -> Option<&ScalingWarning> {
        self.fitted.learned().1
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("settings", &self.settings).finish_non_exhaustive()
    }
}
