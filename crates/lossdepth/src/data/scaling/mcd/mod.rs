//! Centre and scatter by the minimum covariance determinant, started deterministically.
//!
//! Among all parts of the sample with mass $h$ (the support fraction) the MCD looks for the one whose
//! scatter matrix has the smallest determinant: the tightest bulk. Six cheap robust guesses (DetMCD: Hubert,
//! Rousseeuw and Verdonck 2012, *A deterministic algorithm for robust location and scatter*, J. Comput.
//! Graph. Stat. 21) are each improved by concentration steps — take mean and scatter of the mass $h$ closest
//! to the current centre, measure anew, repeat — which never raise the determinant (Rousseeuw and Van
//! Driessen 1999). Each guess goes two ways, at mass $h$ at once and by way of the tightest half, which drops
//! outliers that the guess let in; the smallest determinant wins. In one dimension the best window is found
//! exactly instead.
//!
//! The guesses measure spread by the $\tau$-scale, which takes weights, where the paper has $Q_n$ for small samples.
//!
//! # Conventions
//!
//! With $d$ columns, $q_p$ the $p$-quantile of $\chi^2_d$ and
//! $c_p = p / P(\chi^2_{d+2} \le q_p)$ (Croux and Haesbroeck 1999):
//!
//! 1. the raw scatter is multiplied by $c_h$, so that it is consistent at the normal distribution;
//! 2. rows with a squared distance of at most $q_{0.975}$ from it are kept, the others dropped;
//! 3. mean and scatter of the kept rows, the scatter times $c_{0.975}$, are the result.
//!
//! Scatters are divided by the mass, not by a count less one, and there are no small-sample corrections:
//! both would need to know how many rows a weight stands for. The factors are those of scikit-learn's
//! `MinCovDet`. robustbase's `covMcd(use.correction = FALSE)` differs by known factors: it divides by
//! the number of rows less one and uses $c_p$ at the share $p$ of rows it kept, which for a contaminated
//! sample is smaller than 0.975. Neither changes the shape or, unless a row falls between the two cut-offs,
//! the centre.
//!
//! The mass is exactly $h$: rows at the boundary take part with a fraction of their weight. So a row of
//! weight $k$ is as good as $k$ rows, in every step.

mod cloud;
mod matrix;
mod quantile;
mod starts;
mod subset;
mod univariate;

use std::collections::HashSet;

pub(in crate::data) use cloud::Column;
pub(super) use cloud::{Cloud, negligible};
pub(super) use matrix::inverse_square_root;
pub(super) use quantile::quantile;

use super::ScalingWarning;
use crate::numerics::special::{chi2_cdf, chi2_quantile};
use cloud::{Moments, VANISHING};
use matrix::{Root, root};
use quantile::{median, tau_scale};
use starts::Start;
use subset::closest;

/// Rows farther out than this quantile of $\chi^2_d$ are dropped before the final mean and scatter.
const KEPT: f64 = 0.975;
/// Concentration steps stop once $\ln\det$ falls by less: at $n$ rows an exchange of two is worth about $n^{-2}$.
const SMALL_GAIN: f64 = 1e-10;
/// Far more concentration steps than have ever been seen to be needed.
const MAX_STEPS: usize = 200;

/// A robust centre, and a robust scatter measured in units of the columns.
pub(super) struct Estimate {
    pub(super) center: Vec<f64>,
    pub(super) unit: Vec<f64>,
    pub(super) scatter: Vec<f64>,
}

/// The reweighted MCD of the given columns, none of which is constant.
///
/// # Errors
/// If the MCD is not defined: fewer than $2d + 1$ different rows, or a part of the sample with mass $h$ that
/// lies on a hyperplane (many ties, columns that determine each other).
pub(super) fn mcd(cloud: &Cloud, columns: &[usize], h: f64) -> Result<Estimate, ScalingWarning> {
    let d = columns.len();
    let needed = 2 * d + 1;
    let distinct = distinct_rows(cloud, columns, needed);
    if distinct < needed {
        return Err(ScalingWarning::TooFewRows { distinct, needed });
    }
    // One entry for each column of the cloud, as `standardised` takes them.
    let center: Vec<f64> = (0..cloud.width).map(|j| median(&mut cloud.column(j))).collect();
    let unit: Vec<f64> = (0..cloud.width).map(|j| tau_scale(&mut cloud.column(j))).collect();
    let degenerate = ScalingWarning::Degenerate { support_fraction: h };
    if columns.iter().any(|&j| unit[j] < VANISHING) {
        return Err(degenerate);
    }
    // Beyond 1e100 a number is an outlier whatever its size, and its square must not overflow.
    let z = cloud.standardised(columns, &center, &unit).map(|x| x.clamp(-1e100, 1e100));
    let Moments { mean, scatter } = reweighted(&z, h).ok_or(degenerate)?;
    let center = columns.iter().zip(&mean).map(|(&j, m)| center[j] + unit[j] * m).collect();
    Ok(Estimate { center, unit: columns.iter().map(|&j| unit[j]).collect(), scatter })
}

/// How many different rows there are, counted up to `enough`.
fn distinct_rows(cloud: &Cloud, columns: &[usize], enough: usize) -> usize {
    let mut seen = HashSet::new();
    for row in cloud.rows() {
        // Adding 0 turns -0 into 0.
        seen.insert(columns.iter().map(|&j| (row[j] + 0.0).to_bits()).collect::<Vec<_>>());
        if seen.len() == enough {
            break;
        }
    }
    seen.len()
}

/// Mean and scatter of the rows that the raw MCD does not find outlying. `None` if it is degenerate.
fn reweighted(z: &Cloud, h: f64) -> Option<Moments> {
    let d = z.width;
    let raw = raw(z, h)?;
    let cutoff = chi2_quantile(KEPT, d) * consistency(d, h);
    let distances = z.distances(&raw.moments.mean, &raw.root.inverse);
    let kept: Vec<f64> =
        z.weights.iter().zip(&distances).map(|(w, far)| if *far <= cutoff { *w } else { 0.0 }).collect();
    let mut moments = z.moments(&kept);
    root(&moments.scatter, d)?;
    moments.scatter.iter_mut().for_each(|s| *s *= consistency(d, KEPT));
    Some(moments)
}

/// $c_p = p / P(\chi^2_{d+2} \le q_p)$: how much the scatter of the inner part $p$ of a normal distribution
/// falls short.
fn consistency(d: usize, p: f64) -> f64 {
    if p < 1.0 { p / chi2_cdf(chi2_quantile(p, d), d + 2) } else { 1.0 }
}

/// A part of the sample: its mean, its scatter, and the factored scatter.
struct Part {
    moments: Moments,
    root: Root,
}

/// The raw MCD: of what the starts lead to, the part with the smallest determinant. If any has the
/// determinant 0, that is the minimum, and of no use.
fn raw(z: &Cloud, h: f64) -> Option<Part> {
    if z.width == 1 {
        return concentrated(z, univariate::distances(z, h), h);
    }
    let mut best: Option<Part> = None;
    for start in Start::ALL {
        let direct = start.distances(z)?;
        let by_the_core = distances_from_the_core(z, &direct);
        for distances in std::iter::once(direct).chain(by_the_core) {
            let part = concentrated(z, distances, h)?;
            // Starts mostly lead to the same part; then rounding must not choose.
            let better = |best: &Part| part.root.log_det < best.root.log_det - 10.0 * SMALL_GAIN;
            if best.as_ref().is_none_or(better) {
                best = Some(part);
            }
        }
    }
    best
}

/// Distances from the tightest half that a start leads to: outliers that slipped into the start find it harder
/// to stay in there. `None` if that half lies on a hyperplane, which says nothing about a larger part.
fn distances_from_the_core(z: &Cloud, distances: &[f64]) -> Option<Vec<f64>> {
    let core = concentrated(z, distances.to_vec(), 0.5)?;
    Some(z.distances(&core.moments.mean, &core.root.inverse))
}

/// Concentration steps from given distances until the determinant stays. `None` if it reaches 0.
fn concentrated(z: &Cloud, mut distances: Vec<f64>, h: f64) -> Option<Part> {
    let part = |distances: &[f64]| -> Option<Part> {
        let moments = z.moments(&closest(distances, &z.weights, h));
        let root = root(&moments.scatter, z.width)?;
        Some(Part { moments, root })
    };
    let mut best = part(&distances)?;
    for _ in 0..MAX_STEPS {
        distances = z.distances(&best.moments.mean, &best.root.inverse);
        let next = part(&distances)?;
        let gain = best.root.log_det - next.root.log_det;
        if gain > 0.0 {
            best = next;
        }
        if gain <= SMALL_GAIN {
            break;
        }
    }
    Some(best)
}
