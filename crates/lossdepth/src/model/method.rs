//! The declaration of every method: its name, settings, defaults and constructor, each written once.

use super::depth::Fitted;
use super::fitted::Learned;
use super::setting::{Kind, Range, Setting};
use super::settings::Settings;
use super::value::Value;
use crate::data::{Reference, ReferenceRows, Scale};
use crate::error::{DepthError, Result};
use crate::kernel::{Gamma, KernelChoice};
use crate::loss::{Exponential, Hinge, Logistic, SquaredHinge};
use crate::methods::Auto;
use crate::methods::classical::{Projection, Simplicial};
use crate::problem::Intercept;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A setting with its value.
type Given = (&'static str, Value);

/// Constructs the hypothesis that settings describe and fits it to a sample.
type Fit = fn(&Settings, &Reference, Option<Learned>) -> Result<Box<dyn Fitted>>;

/// What is known of a method.
struct Declaration {
    name: &'static str,
    summary: &'static str,
    /// For headings and pictures.
    title: &'static str,
    /// Other names, in lower case: those of statisticians, and of the paper's tables.
    aliases: &'static [&'static str],
    settings: &'static [&'static str],
    /// Settings that mean something else for this method than the table of settings says.
    own: &'static [Own],
    /// Defaults that differ from those in the table of settings.
    defaults: fn(&mut Settings),
    /// What the preset `recommended` sets.
    recommended: fn() -> Vec<Given>,
    fit: Fit,
}

/// What a method says of a setting in place of the table of settings.
struct Own {
    name: &'static str,
    help: &'static str,
    range: Option<Range>,
    choices: Option<&'static [&'static str]>,
    /// Whether the setting is another quantity here, which the help of the flag has to mention.
    redefined: bool,
}

impl Own {
    const fn help(name: &'static str, help: &'static str) -> Self {
        Self { name, help, range: None, choices: None, redefined: false }
    }
}

/// Makes [`Method`] and its table of declarations.
macro_rules! methods {
    ($($method:ident { name: $name:literal, summary: $summary:literal, $($rest:tt)* })*) => {
        /// A method of this crate.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Method {
            $(
                #[doc = concat!("`", $name, "`: ", $summary, ".")]
                #[serde(rename = $name)]
                $method,
            )*
        }

        /// In the order of the methods.
        static DECLARATIONS: &[Declaration] =
            &[$(Declaration { name: $name, summary: $summary, $($rest)* }),*];

        impl Method {
            /// All methods.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$method),*];
        }
    };
}

methods! {
    Logistic {
        name: "logistic",
        summary: "linear classifiers, logistic loss in bits: logistic regression depth",
        title: "Logistic regression depth",
        aliases: &["lr"],
        settings: &[
            "reg", "variant", "radius", "value", "intercept", "scale", "support_fraction", "reference_rows", "tol", "max_iter",
        ],
        own: &[],
        defaults: |_| (),
        recommended: || vec![("reg", 10.0.into()), robust()],
        fit: |s, sample, learned| s.fit_hypothesis(s.linear(Logistic).value(s.value), sample, learned),
    }

    Hinge {
        name: "hinge",
        summary: "linear classifiers, hinge loss: linear support vector machine depth",
        title: "Linear support vector machine depth",
        aliases: &["linear-svm"],
        settings: LINEAR,
        own: &[],
        defaults: |_| (),
        recommended: || vec![("reg", 10.0.into()), robust()],
        fit: |s, sample, learned| s.fit_hypothesis(s.linear(Hinge), sample, learned),
    }

    SquaredHinge {
        name: "squared-hinge",
        summary: "linear classifiers, squared hinge loss",
        title: "Linear depth by the squared hinge loss",
        aliases: &[],
        settings: LINEAR,
        own: &[],
        defaults: |_| (),
        recommended: || vec![("reg", 1.0.into()), robust()],
        fit: |s, sample, learned| s.fit_hypothesis(s.linear(SquaredHinge), sample, learned),
    }

    Exponential {
        name: "exponential",
        summary: "linear classifiers, exponential loss",
        title: "Linear depth by the exponential loss",
        aliases: &[],
        settings: LINEAR,
        own: &[],
        defaults: |_| (),
        recommended: || vec![("reg", 1.0.into()), robust()],
        fit: |s, sample, learned| s.fit_hypothesis(s.linear(Exponential), sample, learned),
    }

    Svm {
        name: "svm",
        summary: "classifiers with a kernel, hinge loss: support vector machine depth",
        title: "Support vector machine depth",
        aliases: &[],
        settings: KERNEL,
        own: &[Own::help(
            "memory",
            "Limit in bytes for the kernel values of the reference, half of the machine's memory by default; \
             beyond it they are computed as needed, which takes longer",
        )],
        defaults: |s| s.intercept = Intercept::None,
        recommended: recommended_kernel,
        fit: |s, sample, learned| s.fit_hypothesis(s.svm()?, sample, learned),
    }

    Klr {
        name: "klr",
        summary: "classifiers with a kernel, logistic loss in bits: kernel logistic depth",
        title: "Kernel logistic regression depth",
        aliases: &[],
        settings: KERNEL,
        own: &[FACTORED],
        defaults: |s| s.intercept = Intercept::None,
        recommended: recommended_kernel,
        fit: |s, sample, learned| s.fit_hypothesis(s.kernelised(Logistic)?, sample, learned),
    }

    Gp {
        name: "gp",
        summary: "Gaussian process classification by Laplace's approximation",
        title: "Gaussian process depth",
        aliases: &[],
        settings: &[
            "kernel", "gamma", "sigma", "c", "beta", "degree", "coef0", "probabilities", "scale",
            "support_fraction", "reference_rows", "tol", "max_iter", "memory",
        ],
        own: &[FACTORED],
        defaults: |s| {
            s.intercept = Intercept::None;
            s.kernel = KernelChoice::Gaussian { gamma: Gamma::Quartile };
        },
        recommended: || vec![("kernel", "gaussian".into()), ("gamma", "quartile".into()), robust()],
        fit: |s, sample, learned| s.fit_hypothesis(s.gp()?, sample, learned),
    }

    Forest {
        name: "forest",
        summary: "random forests, the exact average of all trees or a number of them",
        title: "Random forest depth",
        aliases: &["rf"],
        settings: &[
            "max_depth", "max_features", "loss", "value", "trees", "rotations", "scale", "support_fraction", "reference_rows",
            "seed", "tol", "max_boxes",
        ],
        own: &[
            Own::help("scale", "How the columns are scaled, which matters with `rotations` only"),
            Own::help("tol", "Largest error bound to accept where boxes have to be left out"),
            Own::help("seed", "Seed of the random numbers of `trees` and `rotations`"),
        ],
        defaults: unscaled,
        recommended: || vec![("rotations", 20.into()), robust()],
        fit: |s, sample, learned| s.fit_hypothesis(s.forest(), sample, learned),
    }

    Mlp {
        name: "mlp",
        summary: "neural networks, logistic loss in bits: multilayer perceptron depth",
        title: "Neural network depth",
        aliases: &[],
        settings: &[
            "hidden", "reg", "variant", "scale", "support_fraction", "reference_rows", "restarts", "seed", "tol", "max_iter",
        ],
        own: &[
            Own::help("reg", "Weight of the penalty: training minimises risk + reg ‖weights‖²"),
            Own {
                choices: Some(&["risk", "objective"]),
                ..Own::help("variant", "Which number is the depth: the risk of the network, or risk plus penalty")
            },
            Own {
                redefined: true,
                ..Own::help("tol", "Relative decrease of risk plus penalty over five steps at which training ends")
            },
            Own::help("max_iter", "Limit on the training steps of a query, for each restart"),
        ],
        defaults: |s| {
            s.reg = 0.01;
            s.tol = 1e-5;
        },
        recommended: || vec![("reg", 0.3.into()), robust()],
        fit: |s, sample, learned| s.fit_hypothesis(s.mlp(), sample, learned),
    }

    Halfspace {
        name: "halfspace",
        summary: "linear classifiers, 0-1 loss: Tukey's halfspace depth, exact or in an interval",
        title: "Halfspace depth",
        aliases: &["tukey", "location", "depth.halfspace"],
        settings: &["scale", "support_fraction", "reference_rows", "tol", "budget", "num_directions"],
        own: &[
            Own::help("scale", "How the columns are scaled; the depth depends on it by rounding only"),
            Own {
                range: Some(Range::AtLeast(0.0)),
                ..Own::help("tol", "Widest interval to accept: 1e-6 is exact for fewer than a million rows")
            },
            Own {
                range: Some(Range::Between(0.0, 1e7)),
                redefined: true,
                ..Own::help(
                    "num_directions",
                    "How many directions to try for a row of three or more columns, in place of the exact search and its budget; \
                     0 for the exact search",
                )
            },
        ],
        defaults: |s| {
            unscaled(s);
            s.num_directions = 0;
        },
        // The depth is the same in any units.
        recommended: Vec::new,
        fit: |s, sample, learned| s.fit_hypothesis(s.halfspace(), sample, learned),
    }

    Mahalanobis {
        name: "mahalanobis",
        summary: "distance from the mean in units of the covariance: Mahalanobis depth",
        title: "Mahalanobis depth",
        aliases: &["depth.mahalanobis"],
        settings: &["scatter", "scale", "support_fraction", "reference_rows", "tol"],
        own: &[
            Own {
                choices: Some(&["moment", "mcd"]),
                ..Own::help(
                    "scatter",
                    "By which centre and scatter distances are measured: mean and covariance, or minimum covariance \
                     determinant",
                )
            },
            INVARIANT,
            ROUNDING,
        ],
        defaults: unscaled,
        recommended: || vec![("scatter", "mcd".into())],
        fit: |s, sample, learned| s.fit_hypothesis(s.mahalanobis(), sample, learned),
    }

    Spatial {
        name: "spatial",
        summary: "length of the mean of the unit vectors to the rows: spatial or L1 depth",
        title: "Spatial depth",
        aliases: &["depth.spatial", "l1"],
        settings: &["scatter", "scale", "support_fraction", "reference_rows", "tol"],
        own: &[BY_SCATTER, ROUNDING],
        defaults: unscaled,
        recommended: Vec::new,
        fit: |s, sample, learned| s.fit_hypothesis(s.spatial(), sample, learned),
    }

    Projection {
        name: "projection",
        summary: "distance from the median in the worst direction: projection or Stahel-Donoho depth",
        title: "Projection depth",
        aliases: &["depth.projection", "stahel-donoho"],
        settings: &["num_directions", "scale", "support_fraction", "reference_rows", "seed", "tol"],
        own: &[
            INVARIANT,
            Own::help(
                "tol",
                "Widest interval to accept; beyond two dimensions only its upper end is known, and only 1 accepts that",
            ),
            Own::help("seed", "Seed of the random directions"),
        ],
        defaults: |s| {
            unscaled(s);
            s.tol = Projection::TOL;
        },
        recommended: Vec::new,
        fit: |s, sample, learned| s.fit_hypothesis(s.projection(), sample, learned),
    }

    Zonoid {
        name: "zonoid",
        summary: "how evenly the rows can be weighted to average to the row: zonoid depth, a hinge loss depth",
        title: "Zonoid depth",
        aliases: &["depth.zonoid"],
        settings: &["scale", "support_fraction", "reference_rows", "tol"],
        own: &[INVARIANT, ROUNDING],
        defaults: unscaled,
        recommended: Vec::new,
        fit: |s, sample, learned| s.fit_hypothesis(s.zonoid(), sample, learned),
    }

    Simplicial {
        name: "simplicial",
        summary: "share of the simplices of rows that contain the row: simplicial depth",
        title: "Simplicial depth",
        aliases: &["depth.simplicial", "liu"],
        settings: &["samples", "scale", "support_fraction", "reference_rows", "seed", "tol"],
        own: &[
            INVARIANT,
            Own::help("tol", "Largest error bound to accept where simplices are drawn at random"),
            Own::help("seed", "Seed of the random simplices"),
        ],
        defaults: |s| {
            unscaled(s);
            s.tol = Simplicial::TOL;
        },
        recommended: Vec::new,
        fit: |s, sample, learned| s.fit_hypothesis(s.simplicial(), sample, learned),
    }

    L2 {
        name: "l2",
        summary: "mean distance from the rows: L2 depth",
        title: "L2 depth",
        aliases: &["depth.l2"],
        settings: &["scatter", "scale", "support_fraction", "reference_rows", "tol"],
        own: &[BY_SCATTER, ROUNDING],
        defaults: unscaled,
        recommended: Vec::new,
        fit: |s, sample, learned| s.fit_hypothesis(s.l2(), sample, learned),
    }

    Potential {
        name: "potential",
        summary: "mean of a Gaussian kernel over the rows: potential, a density estimate",
        title: "Potential",
        aliases: &["depth.potential"],
        settings: &["bandwidth", "scatter", "scale", "support_fraction", "reference_rows", "tol"],
        own: &[BY_SCATTER, ROUNDING],
        defaults: unscaled,
        recommended: Vec::new,
        fit: |s, sample, learned| s.fit_hypothesis(s.potential(), sample, learned),
    }

    Auto {
        name: "auto",
        summary: "kernels and balls in robust units and in ranks, calibrated and combined: needs no settings",
        title: "Combined depth",
        aliases: &[],
        settings: &["scale", "support_fraction", "reference_rows", "trim", "tol"],
        own: &[Own::help(
            "scale",
            "How the columns are scaled; units do not matter here, but `whiten` and `mcd` also turn the axes",
        ), Own {
            range: Some(Range::Between(2.0, 1e6)),
            ..Own::help(
                "reference_rows",
                "How many rows of the reference a row is compared with at most: in lexicographic order, at equal steps of \
                 the cumulative weight",
            )
        }],
        defaults: |s| s.reference_rows = ReferenceRows::Count(Auto::REFERENCE_ROWS),
        recommended: Vec::new,
        fit: |s, sample, learned| s.fit_hypothesis(s.auto(), sample, learned),
    }
}

/// The settings of the linear methods.
const LINEAR: &[&str] = &[
    "reg",
    "variant",
    "radius",
    "intercept",
    "scale",
    "support_fraction",
    "reference_rows",
    "tol",
    "max_iter",
];

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
    "reference_rows",
    "tol",
    "max_iter",
    "memory",
];

/// The scaling of the methods that do not depend on units or axes.
const INVARIANT: Own =
    Own::help("scale", "How the columns are scaled; the depth depends on it by rounding only");

/// The scaling of the methods that measure distances by a scatter matrix.
const BY_SCATTER: Own = Own::help(
    "scale",
    "How the columns are scaled; it matters with scatter `none` only, otherwise the depth depends on it by rounding",
);

/// The tolerance of closed forms.
const ROUNDING: Own = Own::help(
    "tol",
    "Largest error bound to accept; rounding is all there is, so a larger one is only reported",
);

/// The memory of the methods that factor the Gram matrix.
const FACTORED: Own = Own::help(
    "memory",
    "Limit in bytes for the Gram matrix, its factor and their copies, half of the machine's memory by default; \
     a reference that needs more is refused",
);

/// The defaults of methods whose depths are the same for columns in any units: an affine map would only round them.
///
/// These are the forest without rotations, which sees the order of the values alone, and the depths that are affine
/// invariant by their definition or by their default scatter matrix. With `scatter` `none` these take the columns as they
/// are, as in the package ddalpha.
fn unscaled(settings: &mut Settings) {
    settings.scale = Scale::None;
}

/// The scaling of the preset `recommended`.
fn robust() -> Given {
    ("scale", "mcd".into())
}

fn recommended_kernel() -> Vec<Given> {
    vec![("reg", 1.0.into()), ("kernel", "gaussian".into()), ("gamma", "neighbours".into()), robust()]
}

impl Method {
    fn declaration(self) -> &'static Declaration {
        &DECLARATIONS[self as usize]
    }

    /// The name used everywhere.
    pub fn name(self) -> &'static str {
        self.declaration().name
    }

    /// Other names for it, in lower case.
    pub fn aliases(self) -> &'static [&'static str] {
        self.declaration().aliases
    }

    /// Whether it compares numbers only, and refuses categories.
    pub fn numbers_only(self) -> bool {
        matches!(
            self,
            Self::Halfspace
                | Self::Mahalanobis
                | Self::Spatial
                | Self::Projection
                | Self::Zonoid
                | Self::Simplicial
                | Self::L2
                | Self::Potential
        )
    }

    /// What it is, in a line.
    pub fn summary(self) -> &'static str {
        self.declaration().summary
    }

    /// Its name in headings and pictures.
    pub fn title(self) -> &'static str {
        self.declaration().title
    }

    /// The names of the settings that it has.
    pub fn settings(self) -> &'static [&'static str] {
        self.declaration().settings
    }

    /// What is known of one of its settings.
    ///
    /// # Errors
    /// It has no such setting.
    pub fn setting(self, name: &str) -> Result<Setting> {
        let known = Setting::ALL.iter().find(|setting| setting.name == name);
        let Some(setting) = known.filter(|_| self.settings().contains(&name)) else {
            return Err(DepthError::NoSuchSetting {
                method: self.name(),
                name: name.to_owned(),
                has: self.settings().join(", "),
            });
        };
        Ok(match self.declaration().own.iter().find(|own| own.name == name) {
            Some(own) => Setting {
                help: own.help,
                details: "",
                range: own.range.unwrap_or(setting.range),
                kind: own.choices.map_or(setting.kind, Kind::Choice),
                ..*setting
            },
            None => *setting,
        })
    }

    /// What the setting is for this method, if that is another quantity than for the others.
    pub fn redefines(self, name: &str) -> Option<&'static str> {
        let own = self.declaration().own.iter().find(|own| own.name == name)?;
        own.redefined.then_some(own.help)
    }

    pub(super) fn set_defaults(self, settings: &mut Settings) {
        (self.declaration().defaults)(settings);
    }

    pub(super) fn recommended(self) -> Vec<Given> {
        (self.declaration().recommended)()
    }

    pub(super) fn fit(
        self,
        settings: &Settings,
        sample: &Reference,
        learned: Option<Learned>,
    ) -> Result<Box<dyn Fitted>> {
        (self.declaration().fit)(settings, sample, learned)
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
        let lower = s.to_lowercase();
        let known = |m: &Self| m.name() == lower || m.aliases().contains(&&*lower);
        Self::ALL.into_iter().find(known).ok_or_else(|| DepthError::Name {
            name: "method",
            expected: Self::ALL.map(Self::name).join(", "),
            got: s.to_owned(),
        })
    }
}
