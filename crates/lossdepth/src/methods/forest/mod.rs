//! Random forests: the average of all randomised trees, exactly, or of a finite number of them.

mod bit_counts;
mod feature_subsets;
mod features;
mod grow;
mod influence;
mod last_level;
mod membership;
mod presorted;
mod query_bitsets;
mod risk;
mod rotation;

pub use presorted::Presorted;

use super::Hypothesis;
use super::setters::{at_least_one, at_most_ten_million, setters};
use crate::data::{Reference, Rows};
use crate::error::{DepthError, Result, named, positive};
use crate::methods::explanation::Explanation;
use crate::numerics::whole_count;
use crate::problem::{Batch, Fit, Reported, Run, Ticket};
use feature_subsets::{FeatureSubsets, SplitProbabilities};
use features::FeatureColumns;
use influence::QueryScorer;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The most features for the average over all trees. The work for a query grows with the square of the number of features a
/// split considers times the number of features; beyond this it takes minutes (heuristic).
const MAX_EXACT_FEATURES: usize = 100_000;

/// How many features a node considers for its split.
///
/// By name: `sqrt`, `log2`, `all`, a whole number, or a fraction with a decimal point (`1` is one feature,
/// `1.0` all of them), as in scikit-learn.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MaxFeatures {
    /// $\lfloor \sqrt d \rfloor$.
    #[default]
    Sqrt,
    /// $\lfloor \log_2 d \rfloor$, at least 1.
    Log2,
    /// All of them: trees then differ only by ties.
    All,
    /// This many; at most the number of columns.
    Count(usize),
    /// This share, rounded down, at least 1.
    Fraction(f64),
}

impl MaxFeatures {
    /// The names there are.
    pub const NAMES: [&'static str; 3] = ["sqrt", "log2", "all"];

    const EXPECTED: &'static str = "sqrt, log2, all, a number of columns or a fraction of them";

    /// How many of `width` columns.
    ///
    /// # Errors
    /// A number or fraction out of its range.
    pub fn count(self, width: usize) -> Result<usize> {
        let wrong = |expected, got| Err(DepthError::Setting { name: "max_features", expected, got });
        match self {
            Self::Sqrt => Ok(width.isqrt().max(1)),
            Self::Log2 => Ok(width.checked_ilog2().unwrap_or(0).max(1) as usize),
            Self::All => Ok(width),
            Self::Count(count) if (1..=width).contains(&count) => Ok(count),
            Self::Count(count) => wrong("between 1 and the number of columns", count as f64),
            Self::Fraction(f) if f > 0.0 && f <= 1.0 => Ok(whole_count(f * width as f64).max(1)),
            Self::Fraction(f) => wrong("a fraction above 0 and up to 1", f),
        }
    }
}

impl fmt::Display for MaxFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqrt => f.pad("sqrt"),
            Self::Log2 => f.pad("log2"),
            Self::All => f.pad("all"),
            Self::Count(count) => f.pad(&count.to_string()),
            // Debug writes a decimal point: 1.0 stays a fraction.
            Self::Fraction(fraction) => f.pad(&format!("{fraction:?}")),
        }
    }
}

impl FromStr for MaxFeatures {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        let parsed = match s {
            "sqrt" => Some(Self::Sqrt),
            "log2" => Some(Self::Log2),
            "all" => Some(Self::All),
            _ => match s.parse() {
                Ok(count) => Some(Self::Count(count)),
                Err(_) => s.parse().ok().filter(|f: &f64| f.is_finite()).map(Self::Fraction),
            },
        };
        parsed.ok_or_else(|| DepthError::Name {
            name: "max_features",
            expected: Self::EXPECTED.to_owned(),
            got: s.to_owned(),
        })
    }
}

impl TryFrom<String> for MaxFeatures {
    type Error = DepthError;
    fn try_from(s: String) -> Result<Self> {
        s.parse()
    }
}

impl From<MaxFeatures> for String {
    fn from(features: MaxFeatures) -> Self {
        features.to_string()
    }
}

/// The loss of an averaged probability, 1 where the two classes are equally likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForestLoss {
    /// $-\log_2$ of the probability of the true class. It needs no clipping: at the query this probability is
    /// at least ½, and at row $i$ at least $\omega_i / (1 + \omega_i)$, since a box that contains the row has
    /// at least its mass.
    #[default]
    Log,
    /// Four times the squared probability of the wrong class.
    Brier,
    /// 1 if the wrong class has a probability above one half.
    ZeroOne,
}

named!(ForestLoss, "loss", Log => "log", Brier => "brier", ZeroOne => "zero-one");

/// The depth of random forests.
///
/// A forest is trained to separate the query $z$, of mass ½, from the rows $x_i$ of the sample, of mass
/// $\omega_i / 2$. With $p(x)$ the probability of the query's class at $x$, averaged over the trees, the
/// depth is
///
/// $$ \frac12 \sum_i \omega_i \ell(1 - p(x_i)) + \frac12 \ell(p(z)), $$
///
/// (F1) of `docs/math/forest.md`. Trees are those of scikit-learn's `RandomForestClassifier(max_depth,
/// max_features, bootstrap=False)`, by entropy or Gini index alike: with one point in a class a split is the
/// better the less of the sample it leaves on the query's side, so the best split of a feature is next to the
/// query, below or above it, and leaves $\min(\\#\lbrace x_{ij} \ge z_j \rbrace, \\#\lbrace x_{ij} \le z_j
/// \rbrace)$ of the rows in the node (F2), (F3). The leaf that contains the query is a box made of at most
/// `max_depth` such splits; all other leaves are pure. A box with a share $q$ of the sample gives the query's
/// class the probability $1/(1+q)$ at every point inside.
///
/// * A node visits the features in random order: the first `max_features` of them and, if these are all
///   constant in the node, further ones up to the first that is not. Features that are equally good win
///   equally often.
/// * If both sides of a feature are equally good, each is taken with probability one half. (scikit-learn
///   takes the lower one where its sums are exact; the fair coin makes the depth the same for $x$ and $-x$.)
/// * A category is one feature, whatever its number of levels. Its best split keeps the rows of the query's level
///   and no others; if the sample lacks that level, none.
/// * Rows that equal the query in a feature stay on its side of a split; rows that equal it everywhere stay
///   in every box.
/// * Numbers are equal if they are the same double. (scikit-learn rounds to single precision and ignores
///   differences of 1e-7.)
/// * Weights are whole-number masses, exactly: counts as they are, other weights as multiples of the smallest
///   where they are that up to rounding, else in units of $2^{-52}$ of their sum.
///
/// # All trees
///
/// By default the average is over *all* trees, with the probability the random feature subsets give them: the
/// limit of ever larger forests, without their noise. At every node a feature's probability to win follows
/// from its rank alone (F4), (F5), and trees with the same splits are counted together. While a level has at
/// most 512 boxes, and the last one at most 16,384 splits, all are made: `error` is rounding. Where there are
/// more (many columns, or deep trees), the least probable boxes are not split further, and the least probable
/// of the last splits not made, as long as their probability is within `tol`; beyond `max_boxes` boxes are not
/// split in any case. `error` is a proven bound that includes them (F7), (F8), with an a-priori count
/// of roundings; if it exceeds `tol` the fit's [`stop`](crate::Fit::stop) is
/// [`IterationLimit`](crate::Stop::IterationLimit). A finite number of [`trees`](Self::trees) is then an
/// alternative; nothing switches by itself.
///
/// # Some trees
///
/// With [`trees`](Self::trees) the average is over a forest of that many, drawn with the seed and the same
/// for all queries. Its depth is as exact: `error` does not include the distance to the average over all
/// trees.
///
/// # Rotations
///
/// Boxes along the axes describe round samples badly. [`rotations`](Self::rotations) grows the trees in as
/// many random orthogonal frames and averages over them (Blaser and Fryzlewicz 2016). Units then matter:
/// scale the columns. Categories are not rotated, each stays a feature of its own. `error` is about the rotated
/// coordinates as computed.
///
/// # Standard error
///
/// There is none: `stderr` is not a number. The delta method (F9) takes the order of the features by merit as fixed, and it
/// changes from sample to sample; its standard error would be several times too small. The influences of the rows, which
/// [`explain`](crate::FittedDepth::explain) returns, are derivatives with that order held fixed. The setting `resamples` of
/// [`Settings`](crate::Settings) estimates it from random halves of the sample.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::Forest};
/// let sample = Reference::new(&[[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [1.0, 3.0], [3.0, 1.0]])?;
/// let depth = Depth::new(Forest::new().max_depth(2)).fit(&sample)?;
/// let fits = depth.score(&[[1.0, 1.0], [9.0, -4.0]])?;
/// assert!(fits[0].depth > fits[1].depth && fits[1].depth == 0.0);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forest {
    max_depth: usize,
    max_features: MaxFeatures,
    loss: ForestLoss,
    value: Reported,
    trees: usize,
    rotations: usize,
    seed: u64,
    tol: f64,
    max_boxes: usize,
}

impl Default for Forest {
    fn default() -> Self {
        Self::new()
    }
}

impl Forest {
    pub(crate) const MAX_BOXES: usize = 20_000;

    /// All trees of depth 2, $\sqrt d$ features a split, log-loss.
    pub fn new() -> Self {
        Self {
            max_depth: 2,
            max_features: MaxFeatures::Sqrt,
            loss: ForestLoss::Log,
            value: Reported::Risk,
            trees: 0,
            rotations: 0,
            seed: 0,
            tol: 1e-6,
            max_boxes: Self::MAX_BOXES,
        }
    }

    setters! {
        /// The maximum depth of a tree, and so the largest number of splits around the query; at least 1.
        max_depth: usize => max_depth;
        /// How many features a node considers.
        max_features: MaxFeatures => max_features;
        /// The loss of the averaged probabilities.
        loss: ForestLoss => loss;
        /// Which number is the depth.
        value: Reported => value;
        /// How many trees to draw, in every frame; 0 for the average over all trees.
        trees: usize => trees;
        /// How many random frames to grow trees in; 0 for the columns as they are.
        rotations: usize => rotations;
        /// The seed of the random numbers for trees and rotations.
        seed: u64 => seed;
        /// The largest error to accept where boxes are not split further.
        tol: f64 => tol;
        /// How many boxes of one level are split further at most.
        max_boxes: usize => max_boxes;
    }

    fn check(&self) -> Result<()> {
        positive("tol", self.tol)?;
        at_least_one("max_depth", self.max_depth)?;
        at_least_one("max_boxes", self.max_boxes)?;
        at_most_ten_million("trees", self.trees)?;
        at_most_ten_million("rotations", self.rotations)
    }

    fn for_each_query<T: Send>(
        &self,
        prepared: &PreparedForest,
        queries: Rows<'_>,
        run: &Run<'_>,
        make: impl Fn(&mut QueryScorer, &[f64], Fit, &dyn Fn() -> bool) -> Option<T> + Sync,
    ) -> Result<Vec<T>> {
        Batch::new(queries, run).run(|mut ticket: Ticket<'_, '_, T>| {
            let mut scorer = QueryScorer::default();
            while let Some((first, rows)) = ticket.take(4, 1) {
                for (at, query) in rows.iter().enumerate() {
                    let cancelled = || ticket.cancelled();
                    let fit = scorer.isolate(self, prepared, query, false, &cancelled);
                    let made = fit.and_then(|fit| make(&mut scorer, query, fit, &cancelled));
                    let Some(made) = made else { return };
                    ticket.done(first + at, made);
                }
            }
        })
    }
}

/// A sample prepared for a forest, with the random feature subsets of its trees.
pub struct PreparedForest {
    sample: Presorted,
    split_probabilities: SplitProbabilities,
    feature_subsets: Option<FeatureSubsets>,
}

impl Hypothesis for Forest {
    type Prepared = PreparedForest;

    fn prepare(&self, sample: &Reference) -> Result<PreparedForest> {
        self.check()?;
        let frames = self.rotations.max(1);
        let features = FeatureColumns::of(sample).count;
        let count = self.max_features.count(features)?;
        if self.trees == 0 && features > MAX_EXACT_FEATURES {
            return Err(DepthError::Settings(format!(
                "the average over all trees is for at most {MAX_EXACT_FEATURES} columns, the reference has {features}: set \
                 `trees`, for example to 1000, to draw a number of trees"
            )));
        }
        let sample = Presorted::new(sample, self.rotations, self.seed)?;
        let feature_subsets = (self.trees > 0)
            .then(|| FeatureSubsets::new(self.seed, features, count, self.trees, self.max_depth, frames));
        Ok(PreparedForest {
            sample,
            split_probabilities: SplitProbabilities::new(features, count),
            feature_subsets,
        })
    }

    fn isolate(&self, prepared: &PreparedForest, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.for_each_query(prepared, queries, run, |_, _, fit, _| Some(fit))
    }

    fn explain(
        &self,
        prepared: &PreparedForest,
        queries: Rows<'_>,
        run: &Run<'_>,
    ) -> Result<Vec<Explanation>> {
        self.for_each_query(prepared, queries, run, |scorer, query, fit, cancelled| {
            scorer.explain(self, prepared, query, fit, cancelled)
        })
    }
}
