//! The estimator: a hypothesis and a scaling, fitted to a reference sample.

pub mod archive;
pub(crate) mod batch;
pub mod method;
mod preset;
mod setting;
mod settings;

use crate::error::{DepthError, Result};
use crate::explain::Explanation;
use crate::hypothesis::{
    Forest, GaussianProcess, Halfspace, Hypothesis, Intercept, Kernelised, Linear, Mlp, Svm,
};
use crate::loss::{Exponential, Hinge, Logistic, Loss, SquaredHinge};
use crate::penalty::Variant;
use crate::reference::{Reference, Scale, Scaling, ScalingWarning, normal_quantile};
use crate::rows::{AsRows, Rows};
use crate::solver::Stop;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

pub use preset::Preset;
pub use setting::{Kind, Setting, Value};
pub use settings::Settings;

/// One query's depth, with what is known about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The depth, in $[0, 1]$: high is central, low is outlying.
    pub depth: f64,
    /// A proven bound on the difference between `depth` and the exact optimum; at most the larger of `depth` and
    /// 1 - `depth`, since the optimum is in $[0, 1]$ too.
    pub error: f64,
    /// The sampling standard error: how much `depth` would vary over samples like the reference. Not a number if it was not
    /// asked for, by [`Run::depths_only`].
    pub stderr: f64,
    /// How many iterations the solver took.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
}

impl Fit {
    /// Depths are between 0 and 1: the exact one is no farther off than the farther end.
    fn capped(self) -> Self {
        Self { error: self.error.min(self.depth.max(1.0 - self.depth)), ..self }
    }

    /// A confidence interval for the depth in the distribution that the reference was drawn from.
    ///
    /// With the quantile $q$ of the normal distribution and $\operatorname{logit} d = \ln \frac{d}{1-d}$, the ends are
    ///
    /// $$ \operatorname{logit}^{-1} \left( \operatorname{logit} d \pm q \frac{\text{stderr}}{d (1-d)} \right), $$
    ///
    /// moved apart by `error`. To first order that is $d \pm q \cdot \text{stderr}$, but it stays within $[0, 1]$,
    /// and follows the skewness of a depth close to one of the ends: an outlier's depth is rather too small than too
    /// large.
    ///
    /// ```
    /// use lossdepth::{Depth, Reference};
    /// let sample = Reference::new(&[[0.0], [1.0], [2.0], [5.0]])?;
    /// let fit = Depth::logistic().fit(&sample)?.score(&[[9.0]])?[0];
    /// let (low, high) = fit.interval(0.95)?;
    /// assert!(0.0 < low && low < fit.depth && fit.depth < high && high < 1.0);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// Both ends are not a number if `stderr` is not.
    ///
    /// # Errors
    /// `level` is not between 0 and 1.
    pub fn interval(&self, level: f64) -> Result<(f64, f64)> {
        if !(level > 0.0 && level < 1.0) {
            return Err(DepthError::Setting { name: "level", expected: "between 0 and 1", got: level });
        }
        let (d, spread) = (self.depth, normal_quantile(0.5 + 0.5 * level) * self.stderr);
        let scale = d * (1.0 - d);
        let (low, high) = if scale > 0.0 {
            // logit⁻¹(logit d + t) = d / (d + (1-d) e⁻ᵗ), without a logarithm.
            let moved = |t: f64| d / (d + (1.0 - d) * (-t).exp());
            (moved(-spread / scale), moved(spread / scale))
        } else {
            (d - spread, d + spread)
        };
        Ok(((low - self.error).clamp(0.0, 1.0), (high + self.error).clamp(0.0, 1.0)))
    }
}

/// How a call runs; no setting here changes a depth.
#[derive(Clone, Copy, Default)]
pub struct Run<'a> {
    /// How many threads to use; by default as many as there are cores.
    pub threads: Option<usize>,
    /// Called from the workers with the number of queries just finished.
    pub progress: Option<&'a (dyn Fn(usize) + Sync)>,
    /// Set it to true from anywhere to end the call with [`DepthError::Cancelled`].
    pub cancel: Option<&'a AtomicBool>,
    /// Leave out the standard errors, which take up to half of the time: [`Fit::stderr`] is not a number then, and all else
    /// the same to the last bit. Explanations always have them.
    pub depths_only: bool,
}

impl Run<'_> {
    /// The same with standard errors, for explanations.
    pub(crate) fn with_standard_errors(&self) -> Self {
        Self { depths_only: false, ..*self }
    }
}

/// A depth, defined but not yet fitted.
///
/// A classifier $f$ that should tell $z$ from the sample $x_1, \dots, x_n$ has the risk
///
/// $$ R_z(f) = \frac12 \sum_{i=1}^n \omega_i \ell(f(x_i)) + \frac12 \ell(-f(z)). $$
///
/// The depth of $z$ is $R_z(f^*)$, where $f^*$ minimises $R_z(f) + \text{reg} \cdot \|w\|^2$ (or another
/// [`Variant`]). Central points are hard to isolate, so they are deep; outliers are shallow.
///
/// ```
/// use lossdepth::{Depth, Reference};
/// let sample = Reference::new(&[[0.0], [1.0], [2.0]])?;
/// let fits = Depth::logistic().reg(0.1).fit(&sample)?.score(&[[1.0], [9.0]])?;
/// assert!(fits[0].depth > fits[1].depth);
/// assert!(fits[0].error <= 1e-6);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Depth<H> {
    hypothesis: H,
    scale: Scale,
    support_fraction: f64,
}

impl Depth<Linear<Logistic>> {
    /// The logistic regression depth.
    pub fn logistic() -> Self {
        Self::new(Linear::new(Logistic))
    }
}

impl Depth<Linear<Hinge>> {
    /// The depth of a linear support vector machine.
    pub fn hinge() -> Self {
        Self::new(Linear::new(Hinge))
    }
}

impl Depth<Linear<SquaredHinge>> {
    /// The linear depth of the squared hinge loss.
    pub fn squared_hinge() -> Self {
        Self::new(Linear::new(SquaredHinge))
    }
}

impl Depth<Linear<Exponential>> {
    /// The linear depth of the exponential loss.
    pub fn exponential() -> Self {
        Self::new(Linear::new(Exponential))
    }
}

impl Depth<Kernelised<Logistic>> {
    /// The kernel logistic regression depth; [`Kernelised`] has its settings.
    pub fn klr() -> Self {
        Self::new(Kernelised::new(Logistic))
    }
}

impl Depth<GaussianProcess> {
    /// The Gaussian process depth; [`GaussianProcess`] has its settings.
    pub fn gp() -> Self {
        Self::new(GaussianProcess::new())
    }
}

impl Depth<Svm> {
    /// The depth of a support vector machine with a kernel; [`Svm`] has its settings.
    pub fn svm() -> Self {
        Self::new(Svm::new())
    }
}

impl Depth<Forest> {
    /// The random forest depth: all trees of depth 2; see [`Forest`] for everything else.
    pub fn forest() -> Self {
        Self::new(Forest::new())
    }
}

impl Depth<Mlp> {
    /// The depth of a neural network with one hidden layer of 100 units; see [`Mlp`] for everything else.
    pub fn mlp() -> Self {
        Self::new(Mlp::new())
    }
}

impl Depth<Halfspace> {
    /// The halfspace depth of Tukey.
    pub fn halfspace() -> Self {
        Self::new(Halfspace::new())
    }

    /// See [`Halfspace::tol`].
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.hypothesis = self.hypothesis.tol(tol);
        self
    }

    /// See [`Halfspace::budget`].
    #[must_use]
    pub fn budget(mut self, budget: usize) -> Self {
        self.hypothesis = self.hypothesis.budget(budget);
        self
    }
}

impl<L: Loss> Depth<Linear<L>> {
    /// See [`Linear::reg`].
    #[must_use]
    pub fn reg(mut self, reg: f64) -> Self {
        self.hypothesis = self.hypothesis.reg(reg);
        self
    }

    /// See [`Linear::variant`].
    #[must_use]
    pub fn variant(mut self, variant: Variant) -> Self {
        self.hypothesis = self.hypothesis.variant(variant);
        self
    }

    /// See [`Linear::intercept`].
    #[must_use]
    pub fn intercept(mut self, intercept: Intercept) -> Self {
        self.hypothesis = self.hypothesis.intercept(intercept);
        self
    }

    /// See [`Linear::tol`].
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.hypothesis = self.hypothesis.tol(tol);
        self
    }

    /// See [`Linear::max_iter`].
    #[must_use]
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.hypothesis = self.hypothesis.max_iter(max_iter);
        self
    }
}

impl<H: Hypothesis> Depth<H> {
    /// A depth by any hypothesis, on the features as they are.
    pub fn new(hypothesis: H) -> Self {
        Self { hypothesis, scale: Scale::None, support_fraction: 0.75 }
    }

    /// How features are scaled; learned on the reference, applied to every query.
    #[must_use]
    pub fn scale(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// The share of the rows that [`Scale::Mcd`] trusts; 0.75 by default.
    #[must_use]
    pub fn support_fraction(mut self, fraction: f64) -> Self {
        self.support_fraction = fraction;
        self
    }

    /// Checks the settings and does all work that queries share.
    ///
    /// # Errors
    /// A setting is out of its range.
    pub fn fit(self, sample: &Reference) -> Result<FittedDepth<H>> {
        let (scaling, warning) =
            Scaling::learn(self.scale, sample.rows(), sample.weights(), self.support_fraction)?;
        self.fit_scaled(sample, scaling, warning)
    }

    /// [`fit`](Self::fit) with a scaling that was learned before.
    pub(crate) fn fit_scaled(
        self,
        sample: &Reference,
        scaling: Scaling,
        warning: Option<ScalingWarning>,
    ) -> Result<FittedDepth<H>> {
        let fraction = self.support_fraction;
        if !(0.5..=1.0).contains(&fraction) {
            let (name, expected) = ("support_fraction", "between 0.5 and 1");
            return Err(DepthError::Setting { name, expected, got: fraction });
        }
        let prepared = if self.scale == Scale::None {
            self.hypothesis.prepare(sample)?
        } else {
            self.hypothesis.prepare(&sample.mapped(&scaling))?
        };
        let (mean, rows) = (sample.mean(), sample.len());
        Ok(FittedDepth { hypothesis: self.hypothesis, scaling, prepared, mean, rows, warning })
    }
}

/// A depth fitted to a reference sample: scores and explains queries.
pub struct FittedDepth<H: Hypothesis> {
    hypothesis: H,
    scaling: Scaling,
    prepared: H::Prepared,
    mean: Vec<f64>,
    rows: usize,
    warning: Option<ScalingWarning>,
}

impl<H: Hypothesis> FittedDepth<H> {
    /// The depth of each query.
    ///
    /// # Errors
    /// A row of another width than the reference, or a number that is not finite.
    pub fn score(&self, queries: &(impl AsRows + ?Sized)) -> Result<Vec<Fit>> {
        self.score_with(queries, &Run::default())
    }

    /// [`score`](Self::score) with a say in how it runs.
    ///
    /// # Errors
    /// As for [`score`](Self::score), or [`DepthError::Cancelled`].
    pub fn score_with(&self, queries: &(impl AsRows + ?Sized), run: &Run<'_>) -> Result<Vec<Fit>> {
        queries.with_rows(|rows| {
            let fits = self.scaled(rows, |scaled| self.hypothesis.isolate(&self.prepared, scaled, run))?;
            let told = |fit: Fit| if run.depths_only { Fit { stderr: f64::NAN, ..fit } } else { fit };
            Ok(fits.into_iter().map(|fit| told(fit.capped())).collect())
        })
    }

    /// Why each query has the depth it has, in terms of the original columns.
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    pub fn explain(&self, queries: &(impl AsRows + ?Sized)) -> Result<Vec<Explanation>> {
        self.explain_with(queries, &Run::default())
    }

    /// [`explain`](Self::explain) with a say in how it runs.
    ///
    /// # Errors
    /// As for [`score`](Self::score), or [`DepthError::Cancelled`].
    pub fn explain_with(&self, queries: &(impl AsRows + ?Sized), run: &Run<'_>) -> Result<Vec<Explanation>> {
        queries.with_rows(|rows| {
            let found = self.scaled(rows, |scaled| self.hypothesis.explain(&self.prepared, scaled, run))?;
            let each = found.into_iter().zip(rows.iter());
            let told = |e: Explanation| Explanation { fit: e.fit.capped(), ..e };
            Ok(each.map(|(e, row)| told(e).in_columns(&self.scaling, &self.mean, row)).collect())
        })
    }

    /// How many columns a query must have.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// How many rows the reference has.
    pub fn reference_len(&self) -> usize {
        self.rows
    }

    /// The scaling learned on the reference.
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Something the user should know about how the scaling came out.
    pub fn warning(&self) -> Option<&ScalingWarning> {
        self.warning.as_ref()
    }

    fn scaled<R>(&self, rows: Rows<'_>, f: impl FnOnce(Rows<'_>) -> Result<R>) -> Result<R> {
        let (expected, got) = (self.width(), rows.width());
        if got != expected && !rows.is_empty() {
            return Err(DepthError::Dimension { row: 0, expected, got });
        }
        rows.check_finite()?;
        if *self.scaling.transform() == crate::reference::Transform::Identity {
            return f(rows);
        }
        let mut data = vec![0.0; rows.as_slice().len()];
        for (row, out) in rows.iter().zip(data.chunks_exact_mut(expected)) {
            self.scaling.apply(row, out);
        }
        f(Rows::new(&data, expected)?)
    }
}
