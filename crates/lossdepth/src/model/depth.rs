//! The estimator: a hypothesis and a scaling, fitted to a reference sample.

use crate::data::{AsRows, Rows};
use crate::data::{Reference, Scale, Scaling, ScalingWarning};
use crate::error::{DepthError, Result};
use crate::loss::{Exponential, Hinge, Logistic, Loss, SquaredHinge};
use crate::methods::explanation::Explanation;
use crate::methods::{Auto, Forest, GaussianProcess, Halfspace, Hypothesis, Kernelised, Linear, Mlp, Svm};
use crate::problem::{Fit, Intercept, Run, Variant};

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
///
/// The formula is about the numbers as given, and so is this type unless [`scale`](Self::scale) says otherwise. Methods by
/// name ([`Settings`](super::Settings), the command line, Python, R) standardise the columns by default where units matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Depth<H> {
    hypothesis: H,
    scale: Scale,
    support_fraction: f64,
}

/// Setters of the hypothesis, on the depth.
macro_rules! forward {
    ($($setting:ident: $type:ty),*) => {$(
        #[doc = concat!("Sets `", stringify!($setting), "` of the hypothesis.")]
        #[must_use]
        pub fn $setting(mut self, $setting: $type) -> Self {
            self.hypothesis = self.hypothesis.$setting($setting);
            self
        }
    )*};
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

impl Depth<Auto> {
    /// The depth that needs no settings, on standardised columns; [`Auto`] has its definition.
    pub fn auto() -> Self {
        Self::new(Auto::new()).scale(Scale::Standard)
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

    forward!(tol: f64, budget: usize, num_directions: usize);
}

impl<L: Loss> Depth<Linear<L>> {
    forward!(reg: f64, variant: Variant, intercept: Intercept, tol: f64, max_iter: usize);
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

    /// The share of the rows that [`Scale::Mcd`] uses; 0.75 by default.
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
        let (scaling, warning) = Scaling::of(self.scale, sample, self.support_fraction)?;
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
            self.hypothesis.prepare_scaled(sample, self.scale.learned(warning.as_ref()), &scaling)?
        };
        let (mean, rows) = (sample.mean(), sample.len());
        Ok(FittedDepth { hypothesis: self.hypothesis, scaling, prepared, mean, rows, warning })
    }
}

/// How many numbers of queries are scaled at a time: a copy of all of them would take as much memory as they do.
const SCALED: usize = 1 << 22;

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

    /// [`score`](Self::score) with threads, progress and cancellation of one's own.
    ///
    /// # Errors
    /// As for [`score`](Self::score), or [`DepthError::Cancelled`].
    pub fn score_with(&self, queries: &(impl AsRows + ?Sized), run: &Run<'_>) -> Result<Vec<Fit>> {
        queries.with_rows(|rows| Fitted::score(self, rows, run))
    }

    /// Why each query has the depth it has, in terms of the original columns.
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    pub fn explain(&self, queries: &(impl AsRows + ?Sized)) -> Result<Vec<Explanation>> {
        self.explain_with(queries, &Run::default())
    }

    /// [`explain`](Self::explain) with threads, progress and cancellation of one's own.
    ///
    /// # Errors
    /// As for [`score`](Self::score), or [`DepthError::Cancelled`].
    pub fn explain_with(&self, queries: &(impl AsRows + ?Sized), run: &Run<'_>) -> Result<Vec<Explanation>> {
        queries.with_rows(|rows| Fitted::explain(self, rows, run))
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

    /// A warning of the fit: the scaling is not the one that was asked for.
    pub fn warning(&self) -> Option<&ScalingWarning> {
        self.warning.as_ref()
    }

    /// What `f` finds for all queries, which it gets scaled, a part at a time.
    fn scaled<T>(&self, queries: Rows<'_>, mut f: impl FnMut(Rows<'_>) -> Result<Vec<T>>) -> Result<Vec<T>> {
        let (expected, got) = (self.width(), queries.width());
        if got != expected && !queries.is_empty() {
            return Err(DepthError::Dimension { row: 0, expected, got });
        }
        queries.check_finite()?;
        if *self.scaling.transform() == crate::data::Transform::Identity {
            return f(queries);
        }
        let step = (SCALED / expected.max(1)).max(1);
        if queries.len() <= step {
            return f(Rows::new(&self.in_units(queries), expected)?);
        }
        let mut found = Vec::with_capacity(queries.len());
        for start in (0..queries.len()).step_by(step) {
            let part = queries.range(start, (start + step).min(queries.len()));
            found.extend(f(Rows::new(&self.in_units(part), expected)?)?);
        }
        Ok(found)
    }

    fn in_units(&self, rows: Rows<'_>) -> Vec<f64> {
        let mut data = vec![0.0; rows.as_slice().len()];
        for (row, out) in rows.iter().zip(data.chunks_exact_mut(self.width())) {
            self.scaling.apply(row, out);
        }
        data
    }
}

/// A [`FittedDepth`] of some hypothesis: what [`Model`](super::Model) calls.
pub(super) trait Fitted: Send + Sync {
    fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>>;
    fn explain(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>>;
    fn learned(&self) -> (&Scaling, Option<&ScalingWarning>);
}

impl<H: Hypothesis> Fitted for FittedDepth<H> {
    fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        let mut fits = self.scaled(queries, |rows| self.hypothesis.isolate(&self.prepared, rows, run))?;
        for fit in &mut fits {
            *fit = fit.capped();
            if run.depths_only {
                fit.stderr = f64::NAN;
            }
        }
        Ok(fits)
    }

    fn explain(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let found = self.scaled(queries, |rows| self.hypothesis.explain(&self.prepared, rows, run))?;
        let capped = |e: Explanation| Explanation { fit: e.fit.capped(), ..e };
        let each = found.into_iter().zip(queries.iter());
        Ok(each.map(|(e, row)| capped(e).in_columns(&self.scaling, &self.mean, row)).collect())
    }

    fn learned(&self) -> (&Scaling, Option<&ScalingWarning>) {
        (&self.scaling, self.warning.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_beyond_the_first_part_have_the_depths_they_have_alone() {
        let rows: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i % 7), 100.0 * f64::from(i % 11)]).collect();
        let depth = Depth::new(Halfspace::new())
            .scale(Scale::Standard)
            .fit(&Reference::new(rows.as_slice()).unwrap())
            .unwrap();
        let queries: Vec<f64> = (0..SCALED + 8).map(|i| ((i * 31) % 97) as f64).collect();
        let all = depth.score(&Rows::new(&queries, 2).unwrap()).unwrap();
        assert_eq!(all.len(), SCALED / 2 + 4);
        for at in [0, SCALED / 2 - 1, SCALED / 2, SCALED / 2 + 3] {
            let alone = depth.score(&Rows::new(&queries[2 * at..2 * at + 2], 2).unwrap()).unwrap();
            assert_eq!(all[at].depth.to_bits(), alone[0].depth.to_bits(), "row {at}");
        }
    }
}
