//! Bringing the columns to a common scale before anything is measured.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

mod mcd;
mod numbers;
mod sparse;

pub(in crate::data) use self::mcd::Column;
use self::mcd::{Cloud, Estimate, inverse_square_root, negligible, quantile};
use crate::data::{Rows, Survey};
use crate::error::{DepthError, Result};
use crate::numerics::double_double::{TwofoldVector, two_sum};

/// How the columns are scaled before anything is measured.
///
/// Every choice is an affine map $x \mapsto A (x - m)$ learned from the weighted reference sample. It depends
/// on the normalised weights only: a row of weight $k$ is as good as $k$ rows. The coordinates of categories stay as
/// they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The numbers as they are: $m = 0$, $A = I$.
    #[default]
    None,
    /// Mean 0 and standard deviation 1: $A = \text{diag}(1/s_j)$ with the weighted mean $m$ and the population
    /// standard deviation $s_j$ (divided by the weight, not by a count less one), as scikit-learn's
    /// `StandardScaler`. A constant column — one whose numbers differ by no more than a few units in the last
    /// place — is centred and divided by 1.
    Standard,
    /// Median 0 and interquartile range 1: $A = \text{diag}(1/r_j)$ with the weighted median $m$ and
    /// $r_j = Q_{3/4} - Q_{1/4}$, quantiles by the averaged inverted distribution function (NumPy's
    /// `averaged_inverted_cdf`). Where both quartiles are the same, the column is divided by 1.
    Robust,
    /// Uncorrelated columns of variance 1: $A = R^{-1/2} \text{diag}(1/s_j)$ with the standard deviations $s_j$
    /// and the correlation matrix $R$ of the sample (known as ZCA-cor; it stays as close to the standardised
    /// columns as whitening can).
    ///
    /// Directions in which the sample does not vary, be it because columns determine each other or because there
    /// are fewer rows than columns, are not dropped: eigenvalues of $R$ are floored at
    /// $64 d \varepsilon \lambda_{\max}$, the level of rounding noise, so a query off the sample's span comes out
    /// very far away, by a factor of up to $10^7 / \sqrt d$. A constant column is left out of all this and moved by
    /// its plain difference, as with [`Standard`](Scale::Standard).
    Whiten,
    /// As [`Whiten`](Scale::Whiten), with centre, standard deviations and correlations of the bulk of the sample by
    /// the reweighted minimum covariance determinant (DetMCD: Hubert, Rousseeuw and Verdonck 2012). Outliers cannot
    /// spoil it as long as their share is below one less the support fraction.
    ///
    /// Consistent at the normal distribution, without small-sample corrections, as scikit-learn's `MinCovDet`.
    /// Where it is not defined — fewer than $2d + 1$ different rows, or a bulk on a hyperplane — this falls back to
    /// [`Standard`](Scale::Standard) and says so in a [`ScalingWarning`]: whitening by a covariance that is close to singular
    /// would blow up the noise in directions that say nothing.
    Mcd,
}

impl Scale {
    /// All scalings there are.
    pub const ALL: [Scale; 5] = [Scale::None, Scale::Standard, Scale::Robust, Scale::Whiten, Scale::Mcd];

    /// Their names.
    pub const NAMES: [&str; 5] = ["none", "standard", "robust", "whiten", "mcd"];

    /// What was learned when this was asked for: a warning always says that it was [`Standard`](Self::Standard) instead.
    pub(crate) fn learned(self, warning: Option<&ScalingWarning>) -> Self {
        warning.map_or(self, |_| Scale::Standard)
    }

    /// The name in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scale::None => Scale::NAMES[0],
            Scale::Standard => Scale::NAMES[1],
            Scale::Robust => Scale::NAMES[2],
            Scale::Whiten => Scale::NAMES[3],
            Scale::Mcd => Scale::NAMES[4],
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Scale {
    type Err = DepthError;

    fn from_str(name: &str) -> Result<Self> {
        Scale::ALL.into_iter().find(|scale| scale.name() == name).ok_or_else(|| DepthError::Name {
            name: "scale",
            expected: Scale::NAMES.join(", "),
            got: name.to_owned(),
        })
    }
}

/// What happened instead of the scaling that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ScalingWarning {
    /// The minimum covariance determinant needs more rows; the sample was standardised instead.
    TooFewRows {
        /// How many different rows with a positive weight there are.
        distinct: usize,
        /// How many it needs: twice the number of columns that vary, plus 1.
        needed: usize,
    },
    /// The bulk of the sample lies on a hyperplane; the sample was standardised instead.
    Degenerate {
        /// The share of the sample that was looked at as bulk.
        support_fraction: f64,
    },
    /// The correlation matrix could not be decomposed; the sample was standardised instead.
    NotDecomposed {
        /// What was asked for.
        asked: Scale,
    },
}

impl fmt::Display for ScalingWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalingWarning::TooFewRows { distinct, needed } => write!(
                f,
                "scale `mcd` needs at least {needed} different rows, the reference has {distinct}: \
                 used `standard` instead"
            ),
            ScalingWarning::Degenerate { support_fraction } => write!(
                f,
                "scale `mcd` found a share {support_fraction} of the reference on a hyperplane (many ties, or \
                 columns that determine each other): used `standard` instead"
            ),
            ScalingWarning::NotDecomposed { asked } => write!(
                f,
                "scale `{asked}` could not find the eigenvalues of the correlation matrix: used `standard` instead"
            ),
        }
    }
}

/// The linear part $A$ of a [`Scaling`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transform {
    /// $A = I$.
    Identity,
    /// $A = \text{diag}(a_1, \dots, a_d)$.
    Diagonal(Vec<f64>),
    /// $A$ row by row, $d \times d$ numbers.
    Full(Vec<f64>),
}

/// A learned affine map $x \mapsto A (x - m)$.
///
/// ```
/// use lossdepth::Rows;
/// use lossdepth::data::{Scale, Scaling};
/// let numbers = [0.0, 10.0, 2.0, 30.0];
/// let rows = Rows::new(&numbers, 2)?;
/// let (scaling, warning) = Scaling::learn(Scale::Standard, rows, &[0.5, 0.5], 0.75)?;
/// let mut scaled = [0.0; 2];
/// scaling.apply(&[0.0, 10.0], &mut scaled);
/// assert_eq!((scaled, warning), ([-1.0, -1.0], None));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    center: Vec<f64>,
    transform: Transform,
}

impl Scaling {
    /// Learns a scaling from weighted rows.
    ///
    /// `weights` has one number for each row, not negative, of which only the ratios matter; rows of weight 0 are
    /// ignored. `support_fraction` is the share of the sample that [`Scale::Mcd`] takes for the bulk; the other
    /// scalings do not use it. If the scaling asked for is not defined, a simpler one is learned and a warning says
    /// which and why.
    ///
    /// # Errors
    /// If `support_fraction` is not between 0.5 and 1, the number of weights is not the number of rows, a weight is
    /// negative or not finite, no weight is positive, a number is not finite or too large, the numbers of a column
    /// differ by less than 1e-140, or there are more than 23,170 columns to whiten.
    pub fn learn(
        scale: Scale,
        rows: Rows<'_>,
        weights: &[f64],
        support_fraction: f64,
    ) -> Result<(Scaling, Option<ScalingWarning>)> {
        check(rows, weights, support_fraction)?;
        if scale == Scale::None {
            let center = vec![0.0; rows.width()];
            return Ok((Scaling { center, transform: Transform::Identity }, None));
        }
        if scale == Scale::Whiten {
            check_width(scale, rows.width())?;
        }
        let cloud = Cloud::new(rows, weights);
        let columns = cloud.columns();
        check_spread(&columns)?;
        Ok(match scale {
            Scale::None | Scale::Standard => (standard_of(&columns), None),
            Scale::Robust => (robust(&cloud), None),
            Scale::Whiten => whiten(&cloud),
            Scale::Mcd => whiten_by_mcd(&cloud, support_fraction),
        })
    }

    /// Learns a scaling from a reference that was read once: `standard` from all rows, the others from the sample.
    pub(crate) fn of_survey(
        scale: Scale,
        survey: &Survey,
        support_fraction: f64,
    ) -> Result<(Scaling, Option<ScalingWarning>)> {
        if scale != Scale::Standard {
            let sample = &survey.sample;
            return Self::learn(scale, sample.rows(), sample.weights(), support_fraction);
        }
        let columns = survey.columns();
        check_spread(&columns)?;
        Ok((standard_of(&columns), None))
    }

    /// A scaling that was learned before.
    ///
    /// # Errors
    /// If there is no column, the numbers of the transform do not go with those of the centre, or one is not finite or
    /// absurdly large.
    pub fn from_parts(center: Vec<f64>, transform: Transform) -> Result<Scaling> {
        let width = center.len();
        Rows::new(&center, width)?.check_finite()?;
        let (numbers, expected): (&[f64], _) = match &transform {
            Transform::Identity => (&[], Some(0)),
            Transform::Diagonal(a) => (a, Some(width)),
            Transform::Full(a) => (a, width.checked_mul(width)),
        };
        let got = numbers.len();
        if expected != Some(got) {
            let text = format!("a scaling of {width} columns cannot have {got} factors");
            return Err(DepthError::Settings(text));
        }
        // No scaling that is learned comes near: columns that vary by less than 1e-140 count as constant.
        let wrong = |a: &f64| a.is_nan() || a.abs() > 1e160;
        if let Some(at) = numbers.iter().position(wrong) {
            return Err(DepthError::Settings(format!("a scaling cannot have the factor {:e}", numbers[at])));
        }
        Ok(Scaling { center, transform })
    }

    /// How many columns a row has.
    pub fn width(&self) -> usize {
        self.center.len()
    }

    /// The centre $m$.
    pub fn center(&self) -> &[f64] {
        &self.center
    }

    /// The linear part $A$.
    pub fn transform(&self) -> &Transform {
        &self.transform
    }

    /// Writes $A (x - m)$ for the row $x$ to `out`; both are [`width`](Self::width) long.
    ///
    /// Differences and sums of products are computed with twice the digits and rounded once (S1r): where $x$ is close to a
    /// space in which the sample lies, terms of up to $10^7$ cancel.
    pub fn apply(&self, row: &[f64], out: &mut [f64]) {
        let differences = || row.iter().zip(&self.center).map(|(x, m)| x - m);
        match &self.transform {
            Transform::Identity => out.iter_mut().zip(differences()).for_each(|(o, x)| *o = x),
            Transform::Diagonal(a) => {
                out.iter_mut().zip(differences().zip(a)).for_each(|(o, (x, a))| *o = x * a);
            }
            Transform::Full(a) => {
                let difference = |(x, m): (&f64, &f64)| two_sum(*x, -*m);
                let (high, low) = row.iter().zip(&self.center).map(difference).unzip();
                let differences = TwofoldVector { high, low };
                for (o, a) in out.iter_mut().zip(a.chunks_exact(self.width())) {
                    *o = differences.dot(a).value();
                }
            }
        }
    }

    /// What becomes of a value of a column, where each column is mapped by itself.
    pub(crate) fn columnwise(&self) -> Option<impl Fn(usize, f64) -> f64 + Copy> {
        let Transform::Diagonal(factors) = &self.transform else { return None };
        Some(|column: usize, x: f64| (x - self.center[column]) * factors[column])
    }

    /// Writes $A^\top w$ to `out`: weights on the scaled columns become weights on the original ones,
    /// $w \cdot A (x - m) = (A^\top w) \cdot (x - m)$.
    pub fn pull_back(&self, w: &[f64], out: &mut [f64]) {
        match &self.transform {
            Transform::Identity => out.iter_mut().zip(w).for_each(|(o, w)| *o = *w),
            Transform::Diagonal(a) => out.iter_mut().zip(w.iter().zip(a)).for_each(|(o, (w, a))| *o = w * a),
            Transform::Full(a) => {
                out.fill(0.0);
                for (w, a) in w.iter().zip(a.chunks_exact(self.width())) {
                    out.iter_mut().zip(a).for_each(|(o, a)| *o += w * a);
                }
            }
        }
    }
}

/// 4 GiB of numbers.
const MOST_CORRELATIONS: usize = 1 << 29;

/// Whether a matrix of so many columns can be had.
fn check_width(scale: Scale, width: usize) -> Result<()> {
    if width.saturating_mul(width) <= MOST_CORRELATIONS {
        return Ok(());
    }
    let what =
        format!("the scaling `{scale}` would need the correlations of {width} columns, which is too many");
    Err(DepthError::Settings(format!("{what}: `standard` and `robust` do without")))
}

fn check(rows: Rows<'_>, weights: &[f64], support_fraction: f64) -> Result<()> {
    if !(0.5..=1.0).contains(&support_fraction) {
        let (name, expected) = ("support_fraction", "between 0.5 and 1");
        return Err(DepthError::Setting { name, expected, got: support_fraction });
    }
    if weights.len() != rows.len() {
        return Err(DepthError::WeightCount { expected: rows.len(), got: weights.len() });
    }
    if let Some(row) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        return Err(DepthError::Weight { row, value: weights[row] });
    }
    let total: f64 = weights.iter().sum();
    if !total.is_finite() {
        return Err(DepthError::Settings("the sum of the weights is too large".to_owned()));
    }
    if total <= 0.0 {
        return Err(DepthError::TooFewRows { expected: 1, got: 0 });
    }
    rows.check_finite()
}

fn check_spread(columns: &[Column]) -> Result<()> {
    match columns.iter().enumerate().find_map(|(column, found)| Some((column, found.vanishing?))) {
        Some((column, spread)) => Err(DepthError::TooSmall { column, spread }),
        None => Ok(()),
    }
}

fn standard(cloud: &Cloud) -> Scaling {
    standard_of(&cloud.columns())
}

fn standard_of(columns: &[Column]) -> Scaling {
    let center = columns.iter().map(|c| c.mean).collect();
    let factors = columns.iter().map(|c| if c.constant { 1.0 } else { c.sd.recip() }).collect();
    Scaling { center, transform: Transform::Diagonal(factors) }
}

fn robust(cloud: &Cloud) -> Scaling {
    let (center, factors) = (0..cloud.width)
        .map(|j| {
            let mut numbers = cloud.column(j);
            let [low, median, high] = [0.25, 0.5, 0.75].map(|p| quantile(&mut numbers, p));
            (median, if negligible(low, high) { 1.0 } else { (high - low).recip() })
        })
        .unzip();
    Scaling { center, transform: Transform::Diagonal(factors) }
}

fn varying(columns: &[Column]) -> Vec<usize> {
    (0..columns.len()).filter(|j| !columns[*j].constant).collect()
}

fn whiten(cloud: &Cloud) -> (Scaling, Option<ScalingWarning>) {
    let columns = cloud.columns();
    let varying = varying(&columns);
    if varying.is_empty() {
        return (standard(cloud), None);
    }
    let (mean, sd): (Vec<f64>, Vec<f64>) = columns.iter().map(|c| (c.mean, c.sd)).unzip();
    let z = cloud.standardised(&varying, &mean, &sd);
    let scatter = z.scatter_about(&vec![0.0; z.width], &z.weights, 1.0);
    let pick = |of: &[f64]| varying.iter().map(|&j| of[j]).collect();
    let estimate = Estimate { center: pick(&mean), unit: pick(&sd), scatter };
    whitened(cloud, &varying, &estimate, Scale::Whiten)
}

fn whiten_by_mcd(cloud: &Cloud, support_fraction: f64) -> (Scaling, Option<ScalingWarning>) {
    let varying = varying(&cloud.columns());
    if varying.is_empty() {
        return (standard(cloud), None);
    }
    match mcd::mcd(cloud, &varying, support_fraction) {
        Ok(estimate) => whitened(cloud, &varying, &estimate, Scale::Mcd),
        Err(warning) => (standard(cloud), Some(warning)),
    }
}

/// $A = R^{-1/2} \text{diag}(1/s_j)$ on the columns that vary, the plain difference on the others.
fn whitened(
    cloud: &Cloud,
    varying: &[usize],
    estimate: &Estimate,
    asked: Scale,
) -> (Scaling, Option<ScalingWarning>) {
    let plain = standard(cloud);
    let (d, k) = (cloud.width, varying.len());
    let sd: Vec<f64> = (0..k).map(|i| estimate.scatter[i * k + i].sqrt()).collect();
    let correlation: Vec<f64> =
        (0..k * k).map(|at| estimate.scatter[at] / (sd[at / k] * sd[at % k])).collect();
    let Some(root) = inverse_square_root(&correlation, k) else {
        return (plain, Some(ScalingWarning::NotDecomposed { asked }));
    };
    let mut center = plain.center;
    let mut a: Vec<f64> = (0..d * d).map(|at| f64::from(u8::from(at / d == at % d))).collect();
    for (i, &row) in varying.iter().enumerate() {
        center[row] = estimate.center[i];
        for (j, &column) in varying.iter().enumerate() {
            a[row * d + column] = root[i * k + j] / (sd[j] * estimate.unit[j]);
        }
    }
    (Scaling { center, transform: Transform::Full(a) }, None)
}
