//! Every method by name, and what it needs to be fitted.

use super::setting::Setting;
use super::settings::Settings;
use super::{Depth, FittedDepth};
use crate::data::Rows;
use crate::data::{Reference, Scale, Scaling, ScalingWarning};
use crate::error::{DepthError, Result};
use crate::kernel::KernelChoice;
use crate::loss::{Exponential, Hinge, Logistic, SquaredHinge};
use crate::methods::explanation::Explanation;
use crate::methods::{Forest, GaussianProcess, Halfspace, Hypothesis, Kernelised, Linear, Mlp, Svm};
use crate::problem::{Fit, Run};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A method of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Linear classifiers, logistic loss: the logistic regression depth.
    Logistic,
    /// Linear classifiers, hinge loss: the linear support vector machine depth.
    Hinge,
    /// Linear classifiers, squared hinge loss.
    SquaredHinge,
    /// Linear classifiers, exponential loss.
    Exponential,
    /// Classifiers in the Hilbert space of a kernel, hinge loss: the support vector machine depth.
    Svm,
    /// Classifiers in the Hilbert space of a kernel, logistic loss: the kernel logistic regression depth.
    Klr,
    /// Gaussian process classification by Laplace's approximation.
    Gp,
    /// Random forests: the average of all trees, or of a number of them.
    Forest,
    /// Neural networks, logistic loss: the multilayer perceptron depth.
    Mlp,
    /// Linear classifiers, 0-1 loss: the halfspace depth of Tukey.
    Halfspace,
}

/// The settings of the other linear methods.
const LINEAR: &[&str] =
    &["reg", "variant", "radius", "intercept", "scale", "support_fraction", "tol", "max_iter"];

/// The settings of the logistic depth.
const LOGISTIC: &[&str] =
    &["reg", "variant", "radius", "value", "intercept", "scale", "support_fraction", "tol", "max_iter"];

/// The settings of the methods with a kernel and a penalty.
const KERNEL: &[&str] = &[
    "reg",
    "kernel",
    "gamma",
    "sigma",
    "c",
    "beta",
    "degree",
    "coef0",
    "variant",
    "radius",
    "intercept",
    "scale",
    "support_fraction",
    "tol",
    "max_iter",
    "memory",
];

/// The settings of the Gaussian process.
const GP: &[&str] = &[
    "kernel",
    "gamma",
    "sigma",
    "c",
    "beta",
    "degree",
    "coef0",
    "probabilities",
    "scale",
    "support_fraction",
    "tol",
    "max_iter",
    "memory",
];

/// The settings of the forest.
const FOREST: &[&str] = &[
    "max_depth",
    "max_features",
    "loss",
    "value",
    "trees",
    "rotations",
    "scale",
    "support_fraction",
    "seed",
    "tol",
    "max_boxes",
];

/// The settings of the networks.
const MLP: &[&str] =
    &["hidden", "reg", "variant", "scale", "support_fraction", "restarts", "seed", "tol", "max_iter"];

/// The settings of the halfspace depth.
const HALFSPACE: &[&str] = &["scale", "support_fraction", "tol", "budget"];

impl Method {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Logistic,
        Self::Hinge,
        Self::SquaredHinge,
        Self::Exponential,
        Self::Svm,
        Self::Klr,
        Self::Gp,
        Self::Forest,
        Self::Mlp,
        Self::Halfspace,
    ];

    /// The name used everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Hinge => "hinge",
            Self::SquaredHinge => "squared-hinge",
            Self::Exponential => "exponential",
            Self::Svm => "svm",
            Self::Klr => "klr",
            Self::Gp => "gp",
            Self::Forest => "forest",
            Self::Mlp => "mlp",
            Self::Halfspace => "halfspace",
        }
    }

    /// What it is, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Logistic => "linear classifiers, logistic loss in bits: logistic regression depth",
            Self::Hinge => "linear classifiers, hinge loss: linear support vector machine depth",
            Self::SquaredHinge => "linear classifiers, squared hinge loss",
            Self::Exponential => "linear classifiers, exponential loss",
            Self::Svm => "classifiers with a kernel, hinge loss: support vector machine depth",
            Self::Klr => "classifiers with a kernel, logistic loss in bits: kernel logistic depth",
            Self::Gp => "Gaussian process classification by Laplace's approximation",
            Self::Forest => "random forests, the exact average of all trees or a number of them",
            Self::Mlp => "neural networks, logistic loss in bits: multilayer perceptron depth",
            Self::Halfspace => {
                "linear classifiers, 0-1 loss: Tukey's halfspace depth, exact or in an interval"
            }
        }
    }

    /// The names of the settings that it has.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Logistic => LOGISTIC,
            Self::Hinge | Self::SquaredHinge | Self::Exponential => LINEAR,
            Self::Svm | Self::Klr => KERNEL,
            Self::Gp => GP,
            Self::Forest => FOREST,
            Self::Mlp => MLP,
            Self::Halfspace => HALFSPACE,
        }
    }

    /// What is known about one of its settings.
    ///
    /// # Errors
    /// It has no such setting.
    pub fn setting(self, name: &str) -> Result<Setting> {
        let found = Setting::ALL.iter().find(|setting| setting.name == name);
        match found {
            Some(setting) if self.settings().contains(&name) => Ok(*setting),
            _ => Err(DepthError::NoSuchSetting {
                method: self.name(),
                name: name.to_owned(),
                has: self.settings().join(", "),
            }),
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|m| m.name() == s).ok_or_else(|| DepthError::Name {
            name: "method",
            expected: Self::ALL.map(Self::name).join(", "),
            got: s.to_owned(),
        })
    }
}

impl Settings {
    /// Fits the method to a reference sample.
    ///
    /// # Errors
    /// A setting is out of its range.
    pub fn fit(&self, sample: &Reference) -> Result<Model> {
        self.fit_scaled(sample, None)
    }

    /// [`fit`](Self::fit), with the scaling if it was learned before.
    pub(super) fn fit_scaled(&self, sample: &Reference, scaled: Option<Learned>) -> Result<Model> {
        let scorer: Box<dyn Scorer> = match self.method {
            Method::Logistic => self.scorer(self.linear(Logistic).value(self.value), sample, scaled)?,
            Method::Hinge => self.scorer(self.linear(Hinge), sample, scaled)?,
            Method::SquaredHinge => self.scorer(self.linear(SquaredHinge), sample, scaled)?,
            Method::Exponential => self.scorer(self.linear(Exponential), sample, scaled)?,
            Method::Svm => self.scorer(self.svm()?, sample, scaled)?,
            Method::Klr => self.scorer(self.klr()?, sample, scaled)?,
            Method::Gp => self.scorer(self.gp()?, sample, scaled)?,
            Method::Forest => self.scorer(self.forest(), sample, scaled)?,
            Method::Mlp => self.scorer(self.mlp(), sample, scaled)?,
            Method::Halfspace => {
                self.scorer(Halfspace::new().tol(self.tol).budget(self.budget), sample, scaled)?
            }
        };
        Ok(Model { settings: self.clone(), sample: sample.clone(), scorer })
    }

    fn linear<L: crate::loss::Loss>(&self, loss: L) -> Linear<L> {
        Linear::new(loss)
            .reg(self.reg)
            .variant(self.variant)
            .intercept(self.intercept)
            .tol(self.tol)
            .max_iter(self.max_iter)
    }

    fn svm(&self) -> Result<Svm> {
        let svm = Svm::new()
            .kernel(self.kernel)
            .reg(self.reg)
            .variant(self.variant)
            .intercept(self.intercept)
            .tol(self.tol)
            .max_iter(self.max_iter);
        Ok(match self.bytes()? {
            Some(bytes) => svm.memory(bytes),
            None => svm,
        })
    }

    fn klr(&self) -> Result<Kernelised<Logistic>> {
        let klr = Kernelised::new(Logistic)
            .kernel(self.kernel)
            .reg(self.reg)
            .variant(self.variant)
            .intercept(self.intercept)
            .tol(self.tol)
            .max_iter(self.max_iter);
        Ok(match self.bytes()? {
            Some(bytes) => klr.memory(bytes),
            None => klr,
        })
    }

    fn gp(&self) -> Result<GaussianProcess> {
        let gp = GaussianProcess::new()
            .kernel(self.kernel)
            .probabilities(self.probabilities)
            .tol(self.tol)
            .max_iter(self.max_iter);
        Ok(match self.bytes()? {
            Some(bytes) => gp.memory(bytes),
            None => gp,
        })
    }

    /// The memory for kernel values, if it was said.
    pub(crate) fn bytes(&self) -> Result<Option<u64>> {
        let Some(memory) = self.memory else { return Ok(None) };
        crate::error::positive("memory", memory)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and whole bytes will do"
        )]
        let bytes = memory as u64;
        Ok(Some(bytes))
    }

    fn forest(&self) -> Forest {
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

    fn mlp(&self) -> Mlp {
        Mlp::new()
            .hidden(&self.hidden)
            .reg(self.reg)
            .variant(self.variant)
            .restarts(self.restarts)
            .seed(self.seed)
            .tol(self.tol)
            .max_iter(self.max_iter)
    }

    fn scorer<H: Hypothesis + 'static>(
        &self,
        hypothesis: H,
        sample: &Reference,
        scaled: Option<Learned>,
    ) -> Result<Box<dyn Scorer>> {
        let kernel = self.method.settings().contains(&"kernel");
        if kernel && self.kernel == KernelChoice::Precomputed && self.scale != Scale::None {
            return Err(DepthError::Settings("kernel `precomputed` goes with scale `none`".to_owned()));
        }
        let depth = Depth::new(hypothesis).scale(self.scale).support_fraction(self.support_fraction);
        Ok(Box::new(match scaled {
            Some((scaling, warning)) => depth.fit_scaled(sample, scaling, warning)?,
            None => depth.fit(sample)?,
        }))
    }
}

/// A scaling that was learned, and how that came out.
pub(super) type Learned = (Scaling, Option<ScalingWarning>);

/// A [`FittedDepth`] whose hypothesis does not show.
trait Scorer: Send + Sync {
    fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>>;
    fn explain(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>>;
    fn width(&self) -> usize;
    fn scaling(&self) -> &Scaling;
    fn warning(&self) -> Option<&ScalingWarning>;
}

impl<H: Hypothesis> Scorer for FittedDepth<H> {
    fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.score_with(&queries, run)
    }
    fn explain(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        self.explain_with(&queries, run)
    }
    fn width(&self) -> usize {
        self.width()
    }
    fn scaling(&self) -> &Scaling {
        self.scaling()
    }
    fn warning(&self) -> Option<&ScalingWarning> {
        self.warning()
    }
}

/// A fitted method of any kind.
pub struct Model {
    settings: Settings,
    sample: Reference,
    scorer: Box<dyn Scorer>,
}

impl Model {
    /// The depth of each query.
    ///
    /// # Errors
    /// A row of another width than the reference, a number that is not finite, or
    /// [`DepthError::Cancelled`].
    pub fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.scorer.score(queries, run)
    }

    /// Why each query has the depth it has.
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    pub fn explain(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        self.scorer.explain(queries, run)
    }

    /// The settings it was fitted with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many columns a query must have.
    pub fn width(&self) -> usize {
        self.scorer.width()
    }

    /// How many rows the reference has.
    pub fn reference_len(&self) -> usize {
        self.sample.len()
    }

    /// The sample it was fitted to.
    pub fn reference(&self) -> &Reference {
        &self.sample
    }

    /// The scaling learned on the reference.
    pub fn scaling(&self) -> &Scaling {
        self.scorer.scaling()
    }

    /// Something the user should know about how the fit came out.
    pub fn warning(&self) -> Option<&ScalingWarning> {
        self.scorer.warning()
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("settings", &self.settings).finish_non_exhaustive()
    }
}
