//! The table of all methods: the name, settings, defaults and constructor of each, written once.

use super::declaration::{Declaration, Given, Own};
use super::setting::Range;
use super::settings::Settings;
use crate::data::{ReferenceRows, Scale};
use crate::kernel::{Gamma, KernelChoice};
use crate::loss::{Exponential, Hinge, Logistic, SquaredHinge};
use crate::methods::Auto;
use crate::methods::classical::{Projection, Scatter, Simplicial};
use crate::problem::Intercept;
use serde::{Deserialize, Serialize};

/// Makes [`Method`] and its table of declarations: what every method must say, then the fields of [`Declaration`] in which it
/// differs from [`Declaration::new`].
macro_rules! methods {
    ($($method:ident {
        name: $name:literal,
        summary: $summary:literal,
        title: $title:literal,
        settings: $settings:expr,
        hypothesis: |$s:ident| $hypothesis:expr,
        $($field:ident: $value:expr,)*
    })*) => {
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
        pub(super) static DECLARATIONS: &[Declaration] = &[$(
            Declaration {
                $($field: $value,)*
                ..Declaration::new($name, $summary, $title, $settings, |$s, sample, learned| {
                    $s.fit_hypothesis($hypothesis, sample, learned)
                })
            },
        )*];

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
        settings: &[
            "reg", "variant", "radius", "value", "intercept", "scale", "support_fraction", "reference_rows",
            "resamples", "tol", "max_iter",
        ],
        hypothesis: |s| s.linear(Logistic).value(s.value),
        aliases: &["lr"],
        recommended: || vec![("reg", 10.0.into()), robust()],
    }

    Hinge {
        name: "hinge",
        summary: "linear classifiers, hinge loss: linear support vector machine depth",
        title: "Linear support vector machine depth",
        settings: LINEAR,
        hypothesis: |s| s.linear(Hinge),
        aliases: &["linear-svm"],
        recommended: || vec![("reg", 10.0.into()), robust()],
    }

    SquaredHinge {
        name: "squared-hinge",
        summary: "linear classifiers, squared hinge loss",
        title: "Linear depth by the squared hinge loss",
        settings: LINEAR,
        hypothesis: |s| s.linear(SquaredHinge),
        recommended: || vec![("reg", 1.0.into()), robust()],
    }

    Exponential {
        name: "exponential",
        summary: "linear classifiers, exponential loss",
        title: "Linear depth by the exponential loss",
        settings: LINEAR,
        hypothesis: |s| s.linear(Exponential),
        recommended: || vec![("reg", 1.0.into()), robust()],
    }

    Svm {
        name: "svm",
        summary: "classifiers with a kernel, hinge loss: support vector machine depth",
        title: "Support vector machine depth",
        settings: KERNEL,
        hypothesis: |s| s.svm()?,
        own: &[Own::help(
            "memory",
            "Limit in bytes for the kernel values of the reference, half of the machine's memory by default; \
             beyond it they are computed as needed, which takes longer",
        )],
        defaults: |s| s.intercept = Intercept::None,
        recommended: recommended_kernel,
        depends_on_units: has_columns,
    }

    Klr {
        name: "klr",
        summary: "classifiers with a kernel, logistic loss in bits: kernel logistic depth",
        title: "Kernel logistic regression depth",
        settings: KERNEL,
        hypothesis: |s| s.kernelised(Logistic)?,
        own: &[FACTORED],
        defaults: |s| s.intercept = Intercept::None,
        recommended: recommended_kernel,
        depends_on_units: has_columns,
    }

    Gp {
        name: "gp",
        summary: "Gaussian process classification by Laplace's approximation",
        title: "Gaussian process depth",
        settings: &[
            "kernel", "gamma", "sigma", "c", "beta", "degree", "coef0", "probabilities", "scale",
            "support_fraction", "reference_rows", "resamples", "tol", "max_iter", "memory",
        ],
        hypothesis: |s| s.gp()?,
        own: &[FACTORED],
        defaults: |s| {
            s.intercept = Intercept::None;
            s.kernel = KernelChoice::Gaussian { gamma: Gamma::Quartile };
        },
        recommended: || vec![("kernel", "gaussian".into()), ("gamma", "quartile".into()), robust()],
        depends_on_units: has_columns,
    }

    Forest {
        name: "forest",
        summary: "random forests, the exact average of all trees or a number of them",
        title: "Random forest depth",
        settings: &[
            "max_depth", "max_features", "loss", "value", "trees", "rotations", "scale", "support_fraction",
            "reference_rows", "resamples",
            "seed", "tol", "max_boxes",
        ],
        hypothesis: |s| s.forest(),
        aliases: &["rf"],
        own: &[
            Own::help("scale", "How the columns are scaled, which matters with `rotations` only"),
            Own::help("tol", "Largest error bound to accept where boxes have to be left out"),
            Own::help("seed", "Seed of the random numbers of `trees` and `rotations`"),
        ],
        defaults: unscaled,
        recommended: || vec![("rotations", 20.into()), robust()],
        depends_on_units: |s| s.rotations > 0,
    }

    Mlp {
        name: "mlp",
        summary: "neural networks, logistic loss in bits: multilayer perceptron depth",
        title: "Neural network depth",
        settings: &[
            "hidden", "reg", "variant", "scale", "support_fraction", "reference_rows", "resamples",
            "restarts", "seed", "tol", "max_iter",
        ],
        hypothesis: |s| s.mlp(),
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
    }

    Halfspace {
        name: "halfspace",
        summary: "linear classifiers, 0-1 loss: Tukey's halfspace depth, exact or in an interval",
        title: "Halfspace depth",
        settings: &["scale", "support_fraction", "reference_rows", "resamples", "tol", "budget", "num_directions"],
        hypothesis: |s| s.halfspace(),
        aliases: &["tukey", "location", "depth.halfspace"],
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
        numbers_only: true,
        depends_on_units: never,
    }

    Mahalanobis {
        name: "mahalanobis",
        summary: "distance from the mean in units of the covariance: Mahalanobis depth",
        title: "Mahalanobis depth",
        settings: &["scatter", "scale", "support_fraction", "reference_rows", "resamples", "tol"],
        hypothesis: |s| s.mahalanobis(),
        aliases: &["depth.mahalanobis"],
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
        numbers_only: true,
        depends_on_units: never,
    }

    Spatial {
        name: "spatial",
        summary: "length of the mean of the unit vectors to the rows: spatial or L1 depth",
        title: "Spatial depth",
        settings: &["scatter", "scale", "support_fraction", "reference_rows", "resamples", "tol"],
        hypothesis: |s| s.spatial(),
        aliases: &["depth.spatial", "l1"],
        own: &[BY_SCATTER, ROUNDING],
        defaults: unscaled,
        numbers_only: true,
        depends_on_units: by_scatter,
    }

    Projection {
        name: "projection",
        summary: "distance from the median in the worst direction: projection or Stahel-Donoho depth",
        title: "Projection depth",
        settings: &["num_directions", "scale", "support_fraction", "reference_rows", "resamples", "seed", "tol"],
        hypothesis: |s| s.projection(),
        aliases: &["depth.projection", "stahel-donoho"],
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
        numbers_only: true,
        depends_on_units: never,
    }

    Zonoid {
        name: "zonoid",
        summary: "how evenly the rows can be weighted to average to the row: zonoid depth, a hinge loss depth",
        title: "Zonoid depth",
        settings: &["scale", "support_fraction", "reference_rows", "resamples", "tol"],
        hypothesis: |s| s.zonoid(),
        aliases: &["depth.zonoid"],
        own: &[INVARIANT, ROUNDING],
        defaults: unscaled,
        numbers_only: true,
        depends_on_units: never,
    }

    Simplicial {
        name: "simplicial",
        summary: "share of the simplices of rows that contain the row: simplicial depth",
        title: "Simplicial depth",
        settings: &["samples", "scale", "support_fraction", "reference_rows", "resamples", "seed", "tol"],
        hypothesis: |s| s.simplicial(),
        aliases: &["depth.simplicial", "liu"],
        own: &[
            INVARIANT,
            Own::help("tol", "Largest error bound to accept where simplices are drawn at random"),
            Own::help("seed", "Seed of the random simplices"),
        ],
        defaults: |s| {
            unscaled(s);
            s.tol = Simplicial::TOL;
        },
        numbers_only: true,
        depends_on_units: never,
    }

    L2 {
        name: "l2",
        summary: "mean distance from the rows: L2 depth",
        title: "L2 depth",
        settings: &["scatter", "scale", "support_fraction", "reference_rows", "resamples", "tol"],
        hypothesis: |s| s.l2(),
        aliases: &["depth.l2"],
        own: &[BY_SCATTER, ROUNDING],
        defaults: unscaled,
        numbers_only: true,
        depends_on_units: by_scatter,
    }

    Potential {
        name: "potential",
        summary: "mean of a Gaussian kernel over the rows: potential, a density estimate",
        title: "Potential",
        settings: &["bandwidth", "scatter", "scale", "support_fraction", "reference_rows", "resamples", "tol"],
        hypothesis: |s| s.potential(),
        aliases: &["depth.potential"],
        own: &[BY_SCATTER, ROUNDING],
        defaults: unscaled,
        numbers_only: true,
        depends_on_units: by_scatter,
    }

    Auto {
        name: "auto",
        summary: "kernels and balls in robust units and in ranks, calibrated and combined: needs no settings",
        title: "Combined depth",
        settings: &["scale", "support_fraction", "reference_rows", "resamples", "trim", "tol"],
        hypothesis: |s| s.auto(),
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
        depends_on_units: never,
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
    "resamples",
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
    "resamples",
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

/// A kernel of columns depends on their units.
fn has_columns(settings: &Settings) -> bool {
    settings.kernel != KernelChoice::Precomputed
}

/// A scatter matrix takes the place of units.
fn by_scatter(settings: &Settings) -> bool {
    settings.scatter == Scatter::None
}

fn never(_: &Settings) -> bool {
    false
}

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
