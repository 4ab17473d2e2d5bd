//! Baselines: well-known detectors to compare the depths with.
//!
//! | name | what it is | settings |
//! |---|---|---|
//! | `oc-svm` | [`OneClassSvm`] | `nu`, `solver`, `kernel` and its settings, `scale`, `tol`, `max_iter`, `memory` |
//! | `lof` | [`Lof`] | `k`, `scale` |
//! | `knn` | [`Knn`] | `k`, `distance`, `scale` |
//! | `iforest` | [`IsolationForest`] | `trees`, `max_samples`, `seed`, `scale` |
//!
//! All are oriented like a depth — **high is normal, low is outlying** — but their scores are not confined to $[0, 1]$. They
//! equal what scikit-learn computes (`OneClassSVM`, `LocalOutlierFactor`, `NearestNeighbors`; `IsolationForest` up to the random
//! numbers), and like a depth they are a
//! function of sample, settings and query alone: same bits for any batch and any number of threads.
//!
//! ```
//! use lossdepth::{Reference, Run};
//! use lossdepth_reproduce::baseline::{Baseline, Lof};
//! let sample = Reference::new(&[[0.0], [0.1], [0.2], [0.3], [5.0]])?;
//! let lof = Baseline::from(Lof { k: 2 }).fit(&sample, &Run::default())?;
//! let own = lof.score_own(&Run::default())?;
//! assert!(own[4] < own[0]);
//! # Ok::<(), lossdepth::DepthError>(())
//! ```

mod isolation_forest;
mod knn;
mod libsvm_smo;
mod lof;
mod neighbours;
mod one_class_svm;

pub use isolation_forest::IsolationForest;
pub use knn::{Knn, KnnDistance};
pub use lof::Lof;
pub use one_class_svm::{OneClassSolver, OneClassSvm};

use lossdepth::data::{Scaling, ScalingWarning, Transform};
use lossdepth::kernel::KernelSource;
use lossdepth::methods::svm::FittedOneClassSvm;
use lossdepth::model::{Kind, Range, Setting, Value};
use lossdepth::{AsRows, DepthError, Method, Reference, Result, Rows, Run, Scale, Settings};

/// Which detector, with its settings.
#[derive(Debug, Clone)]
pub enum Detector {
    /// The one-class support vector machine.
    OneClassSvm(OneClassSvm),
    /// The local outlier factor.
    Lof(Lof),
    /// The distance to the nearest neighbours.
    Knn(Knn),
    /// The isolation forest.
    IsolationForest(IsolationForest),
}

/// A detector and the scaling of its columns.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The detector.
    pub detector: Detector,
    /// The scaling of the columns: estimated on the reference, applied to every query.
    pub scale: Scale,
    /// The settings it was made with by name, for [`values`](Self::values).
    kernel: Settings,
}

/// The settings of `oc-svm` that it shares with the kernel depths.
const OF_KERNELS: [&str; 12] = [
    "kernel",
    "gamma",
    "sigma",
    "c",
    "beta",
    "degree",
    "coef0",
    "scale",
    "support_fraction",
    "tol",
    "max_iter",
    "memory",
];

const NU: Setting =
    Setting::new("nu", Kind::Number, "The share of the reference that may be outside, above 0 and at most 1");
const SOLVER: Setting = Setting::new(
    "solver",
    Kind::Choice(&OneClassSolver::NAMES),
    "How far the problem is solved: to the end, or as far as libsvm does",
);
const K: Setting = Setting::new("k", Kind::Count, "How many neighbours").range(Range::AtLeast(1.0));
const DISTANCE: Setting =
    Setting::new("distance", Kind::Choice(&KnnDistance::NAMES), "Which distance to the neighbours counts");

const TREES: Setting = Setting::new("trees", Kind::Count, "How many trees").range(Range::Between(1.0, 1e5));
const MAX_SAMPLES: Setting = Setting::new("max_samples", Kind::Count, "How many rows each tree is grown on")
    .range(Range::AtLeast(1.0));
const SEED: Setting = Setting::new("seed", Kind::Count, "Seed of the random numbers");

impl Baseline {
    /// Their names.
    pub const NAMES: [&str; 4] = ["oc-svm", "lof", "knn", "iforest"];

    /// A baseline by name, with its defaults.
    ///
    /// # Errors
    /// An unknown name.
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "oc-svm" => OneClassSvm::default().into(),
            "lof" => Lof::default().into(),
            "knn" => Knn::default().into(),
            "iforest" => IsolationForest::default().into(),
            _ => {
                let expected = Self::NAMES.join(", ");
                return Err(DepthError::Name { name: "baseline", expected, got: name.to_owned() });
            }
        })
    }

    /// A baseline by name, with some settings in any order.
    ///
    /// ```
    /// use lossdepth::model::Value;
    /// use lossdepth_reproduce::baseline::Baseline;
    /// let lof = Baseline::with("lof", [("k", Value::Count(10))])?;
    /// assert_eq!(lof.values()[0], ("k", Value::Count(10)));
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// An unknown name, a setting that it does not have, or a value out of the range of its setting.
    pub fn with<'a>(name: &str, values: impl IntoIterator<Item = (&'a str, Value)>) -> Result<Self> {
        let mut baseline = Self::named(name)?;
        let mut of_kernel = Vec::new();
        for (name, value) in values {
            let setting = baseline.setting(name)?;
            match (&mut baseline.detector, setting.name) {
                (Detector::OneClassSvm(svm), "nu") => svm.nu = setting.number(&value)?,
                (Detector::OneClassSvm(svm), "solver") => svm.solver = setting.named(&value)?,
                (Detector::Lof(Lof { k }) | Detector::Knn(Knn { k, .. }), "k") => {
                    *k = setting.count(&value)?;
                }
                (Detector::Knn(knn), "distance") => knn.distance = setting.named(&value)?,
                (Detector::IsolationForest(forest), "trees") => forest.trees = setting.count(&value)?,
                (Detector::IsolationForest(forest), "max_samples") => {
                    forest.max_samples = setting.count(&value)?;
                }
                (Detector::IsolationForest(forest), "seed") => forest.seed = setting.count(&value)? as u64,
                (_, name) => of_kernel.push((name, value)),
            }
        }
        // Baselines take the columns as they are unless something else is said.
        let unscaled = [("scale", Value::from("none"))];
        let kernel = Settings::with(Method::Svm, unscaled.into_iter().chain(of_kernel.iter().cloned()))?;
        if let Detector::OneClassSvm(svm) = &mut baseline.detector {
            svm.kernel = KernelSource::Choice(kernel.kernel);
            svm.tol = kernel.tol;
            if of_kernel.iter().any(|(name, _)| *name == "max_iter") {
                svm.max_iter = kernel.max_iter;
            }
            if let Some(bytes) = kernel.bytes()? {
                svm.memory = bytes;
            }
        }
        baseline.scale = kernel.scale;
        baseline.kernel = kernel;
        Ok(baseline)
    }

    /// The name used on the command line and in tables.
    pub fn name(&self) -> &'static str {
        match &self.detector {
            Detector::OneClassSvm(_) => Self::NAMES[0],
            Detector::Lof(_) => Self::NAMES[1],
            Detector::Knn(_) => Self::NAMES[2],
            Detector::IsolationForest(_) => Self::NAMES[3],
        }
    }

    /// A description in one line.
    pub fn summary(&self) -> &'static str {
        match &self.detector {
            Detector::OneClassSvm(_) => "one-class support vector machine",
            Detector::Lof(_) => "local outlier factor, negative",
            Detector::Knn(_) => "distance to the nearest neighbours, negative",
            Detector::IsolationForest(_) => "isolation forest, its score negative",
        }
    }

    /// The settings that it has.
    pub fn settings(&self) -> Vec<Setting> {
        let shared = |names: &[&str]| {
            let known = Setting::ALL.iter().copied();
            known.filter(|setting| names.contains(&setting.name)).collect::<Vec<_>>()
        };
        match &self.detector {
            Detector::OneClassSvm(_) => [vec![NU, SOLVER], shared(&OF_KERNELS)].concat(),
            Detector::Lof(_) => [vec![K], shared(&["scale", "support_fraction"])].concat(),
            Detector::Knn(_) => [vec![K, DISTANCE], shared(&["scale", "support_fraction"])].concat(),
            Detector::IsolationForest(_) => {
                [vec![TREES, MAX_SAMPLES, SEED], shared(&["scale", "support_fraction"])].concat()
            }
        }
    }

    /// One of its settings by name.
    ///
    /// # Errors
    /// It has no such setting.
    pub fn setting(&self, name: &str) -> Result<Setting> {
        let settings = self.settings();
        settings.iter().find(|setting| setting.name == name).copied().ok_or_else(|| {
            DepthError::NoSuchSetting {
                method: self.name(),
                name: name.to_owned(),
                has: settings.iter().map(|setting| setting.name).collect::<Vec<_>>().join(", "),
            }
        })
    }

    /// Its settings with their values, without those of other kernels.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        let kernel = self.kernel.values();
        let shared = |name: &str| {
            let value = match (name, &self.detector) {
                ("scale", _) => Value::Text(self.scale.name().to_owned()),
                ("tol", Detector::OneClassSvm(svm)) => Value::Number(svm.tol),
                ("max_iter", Detector::OneClassSvm(svm)) => Value::Count(svm.max_iter as u64),
                _ => kernel.iter().find(|(known, _)| *known == name)?.1.clone(),
            };
            Some(value)
        };
        let value = |setting: &Setting| {
            let value = match (&self.detector, setting.name) {
                (Detector::OneClassSvm(svm), "nu") => Value::Number(svm.nu),
                (Detector::OneClassSvm(svm), "solver") => Value::Text(svm.solver.name().to_owned()),
                (Detector::Lof(Lof { k }) | Detector::Knn(Knn { k, .. }), "k") => Value::Count(*k as u64),
                (Detector::Knn(knn), "distance") => Value::Text(knn.distance.name().to_owned()),
                (Detector::IsolationForest(forest), "trees") => Value::Count(forest.trees as u64),
                (Detector::IsolationForest(forest), "max_samples") => Value::Count(forest.max_samples as u64),
                (Detector::IsolationForest(forest), "seed") => Value::Count(forest.seed),
                (_, name) => shared(name)?,
            };
            Some((setting.name, value))
        };
        self.settings().iter().filter_map(value).collect()
    }

    /// The same with another scaling.
    #[must_use]
    pub fn scale(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// Fits it to a reference sample.
    ///
    /// # Errors
    /// A setting is out of its range, weights for a detector that takes none, or [`DepthError::Cancelled`].
    pub fn fit(&self, sample: &Reference, run: &Run<'_>) -> Result<FittedBaseline> {
        let fraction = self.kernel.support_fraction;
        let (scaling, warning) = Scaling::of(self.scale, sample, fraction)?;
        let scaled = sample.mapped(&scaling);
        let sample = if self.scale == Scale::None { sample } else { &scaled };
        let fitted = match &self.detector {
            Detector::OneClassSvm(svm) => {
                Fitted::OneClassSvm(Box::new(svm.fit(sample, run)?), sample.clone())
            }
            Detector::Lof(lof) => Fitted::Lof(lof.fit(sample, run)?),
            Detector::Knn(knn) => Fitted::Knn(knn.fit(sample)?),
            Detector::IsolationForest(forest) => Fitted::IsolationForest(forest.fit(sample)?),
        };
        Ok(FittedBaseline { fitted, scaling, warning })
    }
}

impl From<OneClassSvm> for Baseline {
    fn from(svm: OneClassSvm) -> Self {
        Detector::OneClassSvm(svm).into()
    }
}

impl From<Lof> for Baseline {
    fn from(lof: Lof) -> Self {
        Detector::Lof(lof).into()
    }
}

impl From<Knn> for Baseline {
    fn from(knn: Knn) -> Self {
        Detector::Knn(knn).into()
    }
}

impl From<IsolationForest> for Baseline {
    fn from(forest: IsolationForest) -> Self {
        Detector::IsolationForest(forest).into()
    }
}

impl From<Detector> for Baseline {
    fn from(detector: Detector) -> Self {
        let mut kernel = Settings::new(Method::Svm);
        if let Detector::OneClassSvm(OneClassSvm { kernel: KernelSource::Choice(choice), .. }) = &detector {
            kernel.kernel = *choice;
        }
        Self { detector, scale: Scale::None, kernel }
    }
}

/// A baseline fitted to a reference sample.
#[derive(Debug)]
pub struct FittedBaseline {
    fitted: Fitted,
    scaling: Scaling,
    warning: Option<ScalingWarning>,
}

#[derive(Debug)]
enum Fitted {
    OneClassSvm(Box<FittedOneClassSvm>, Reference),
    Lof(lof::FittedLof),
    Knn(knn::FittedKnn),
    IsolationForest(isolation_forest::FittedIsolationForest),
}

impl FittedBaseline {
    /// The score of each query, as a row that is not in the reference: high is normal.
    ///
    /// # Errors
    /// A row of another width than the reference, a number that is not finite, or [`DepthError::Cancelled`].
    pub fn score(&self, queries: &(impl AsRows + ?Sized), run: &Run<'_>) -> Result<Vec<f64>> {
        queries.with_rows(|rows| {
            let (expected, got) = (self.scaling.width(), rows.width());
            if got != expected && !rows.is_empty() {
                return Err(DepthError::Dimension { row: 0, expected, got });
            }
            rows.check_finite()?;
            if *self.scaling.transform() == Transform::Identity {
                return self.scaled(rows, run);
            }
            let mut data = vec![0.0; rows.as_slice().len()];
            for (row, out) in rows.iter().zip(data.chunks_exact_mut(expected)) {
                self.scaling.apply(row, out);
            }
            self.scaled(Rows::new(&data, expected)?, run)
        })
    }

    fn scaled(&self, rows: Rows<'_>, run: &Run<'_>) -> Result<Vec<f64>> {
        match &self.fitted {
            Fitted::OneClassSvm(svm, _) => svm.score(rows, run),
            Fitted::Lof(lof) => lof.score(rows, run),
            Fitted::Knn(knn) => knn.score(rows, run),
            Fitted::IsolationForest(forest) => forest.score(rows, run),
        }
    }

    /// The score of each row of the reference itself; a row is then no neighbour of itself.
    ///
    /// # Errors
    /// [`DepthError::Cancelled`].
    pub fn score_own(&self, run: &Run<'_>) -> Result<Vec<f64>> {
        match &self.fitted {
            Fitted::OneClassSvm(svm, sample) => svm.score(sample.rows(), run),
            Fitted::Lof(lof) => Ok(lof.own().to_vec()),
            Fitted::Knn(knn) => knn.own(run),
            Fitted::IsolationForest(forest) => forest.own(run),
        }
    }

    /// The score below which the detector's own rule calls a row an outlier, if it has one.
    pub fn offset(&self) -> Option<f64> {
        match &self.fitted {
            Fitted::OneClassSvm(svm, _) => Some(svm.offset()),
            _ => None,
        }
    }

    /// A proven bound on the error of the score of a row; 0 for detectors that solve no optimisation problem.
    ///
    /// # Errors
    /// A row of another width than the reference.
    pub fn error(&self, row: &[f64]) -> Result<f64> {
        let (expected, got) = (self.scaling.width(), row.len());
        if got != expected {
            return Err(DepthError::Dimension { row: 0, expected, got });
        }
        match &self.fitted {
            Fitted::OneClassSvm(svm, _) => {
                let mut scaled = vec![0.0; row.len()];
                match self.scaling.transform() {
                    Transform::Identity => scaled.copy_from_slice(row),
                    _ => self.scaling.apply(row, &mut scaled),
                }
                svm.error(&scaled)
            }
            _ => Ok(0.0),
        }
    }

    /// Whether the solver met its tolerance.
    pub fn converged(&self) -> bool {
        match &self.fitted {
            Fitted::OneClassSvm(svm, _) => svm.converged(),
            _ => true,
        }
    }

    /// A warning from the estimation of the scaling, for the user.
    pub fn warning(&self) -> Option<&ScalingWarning> {
        self.warning.as_ref()
    }
}
