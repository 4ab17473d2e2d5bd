//! Six deterministic guesses at the shape of the bulk (Hubert, Rousseeuw and Verdonck 2012, section 2).
//!
//! Each is a cheap, robust correlation matrix. Only its eigenvectors are trusted: the spread along them and
//! the centre are measured anew with a robust scale and medians, and every row gets its distance from there.

use super::cloud::Cloud;
use super::matrix::eigen;
use super::quantile::{Weighted, median, mid_ranks, tau_scale};
use super::subset::closest;
use crate::numerics::special::normal_quantile;

/// Where the concentration steps begin.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// The correlation of $\tanh z$.
    Tanh,
    /// Spearman's rank correlation.
    Ranks,
    /// The correlation of the normal scores $\Phi^{-1}(F(z))$, with mid-ranks as $F$.
    NormalScores,
    /// The covariance of the spatial signs $z / |z|$.
    SpatialSigns,
    /// The covariance of the half with the smallest norms (the first step of BACON).
    InnerHalf,
    /// The raw estimator of Gnanadesikan and Kettenring, made orthogonal by Maronna and Zamar.
    Ogk,
}

impl Start {
    pub(super) const ALL: [Start; 6] =
        [Start::Tanh, Start::Ranks, Start::NormalScores, Start::SpatialSigns, Start::InnerHalf, Start::Ogk];

    /// Squared distances of the rows of `z`, which are centred by medians and scaled by $\tau$-scales.
    /// `None` if all rows lie on a hyperplane.
    pub(super) fn distances(self, z: &Cloud) -> Option<Vec<f64>> {
        let axes = eigen(&self.shape(z), z.width)?.vectors;
        distances_along(&axes, z)
    }

    fn shape(self, z: &Cloud) -> Vec<f64> {
        match self {
            Start::Tanh => correlation(&z.map(f64::tanh)),
            Start::Ranks => correlation(&ranked(z, |rank| rank)),
            Start::NormalScores => correlation(&ranked(z, normal_quantile)),
            Start::SpatialSigns => {
                let inverse_norms: Vec<f64> =
                    norms(z).iter().map(|r| 1.0 / r.max(f64::EPSILON.powi(2))).collect();
                let weights: Vec<f64> = z.weights.iter().zip(&inverse_norms).map(|(w, i)| w * i).collect();
                z.scatter_about(&vec![0.0; z.width], &weights, 1.0)
            }
            Start::InnerHalf => z.moments(&closest(&norms(z), &z.weights, 0.5)).scatter,
            Start::Ogk => gnanadesikan_kettenring(z),
        }
    }
}

/// $|z_i|^2$.
fn norms(z: &Cloud) -> Vec<f64> {
    z.rows().map(|row| row.iter().map(|x| x * x).sum()).collect()
}

/// The weighted correlation matrix; a column that has become constant counts as uncorrelated.
fn correlation(z: &Cloud) -> Vec<f64> {
    let d = z.width;
    let scatter = z.moments(&z.weights).scatter;
    let sd = |i: usize| scatter[i * d + i].sqrt().max(f64::MIN_POSITIVE);
    (0..d * d).map(|at| scatter[at] / (sd(at / d) * sd(at % d))).collect()
}

/// Every number replaced by `score` of its mid-rank within its column.
fn ranked(z: &Cloud, score: impl Fn(f64) -> f64) -> Cloud {
    let mut scores = z.map(|_| 0.0);
    for j in 0..z.width {
        for (i, rank) in mid_ranks(&z.column(j)).into_iter().enumerate() {
            scores.data[i * z.width + j] = score(rank);
        }
    }
    scores
}

/// $\frac14 (\tau(z_i + z_j)^2 - \tau(z_i - z_j)^2)$, a covariance out of two scales; 1 on the diagonal.
fn gnanadesikan_kettenring(z: &Cloud) -> Vec<f64> {
    let d = z.width;
    let columns: Vec<Vec<Weighted>> = (0..d).map(|j| z.column(j)).collect();
    let mut sums = Vec::with_capacity(z.len());
    let mut combined = |i: usize, j: usize, sign: f64| {
        sums.clear();
        sums.extend(columns[i].iter().zip(&columns[j]).map(|(a, b)| (a.0 + sign * b.0, a.1)));
        tau_scale(&mut sums).powi(2)
    };
    let mut shape = vec![0.0; d * d];
    for i in 0..d {
        shape[i * d + i] = 1.0;
        for j in 0..i {
            shape[i * d + j] = (combined(i, j, 1.0) - combined(i, j, -1.0)) / 4.0;
            shape[j * d + i] = shape[i * d + j];
        }
    }
    shape
}

/// Squared distances when the bulk has the given axes.
///
/// With axes $P$ and spreads $\lambda_k = \tau((Z P)_k)$ the scatter is $\Sigma = P \Lambda^2 P^\top$; the
/// centre is the columnwise median of $Z \Sigma^{-1/2}$, carried back. In the coordinates
/// $Z P \Lambda^{-1}$ that is the median times $P$.
fn distances_along(axes: &[f64], z: &Cloud) -> Option<Vec<f64>> {
    let d = z.width;
    let mut rotated = z.times(axes);
    let spreads: Vec<f64> = (0..d).map(|k| tau_scale(&mut rotated.column(k))).collect();
    if spreads.iter().any(|s| s.is_nan() || *s <= 1e-14) {
        return None;
    }
    for row in rotated.data.chunks_exact_mut(d) {
        row.iter_mut().zip(&spreads).for_each(|(y, s)| *y /= s);
    }
    let axes_transposed: Vec<f64> = (0..d * d).map(|at| axes[at % d * d + at / d]).collect();
    let sphered = rotated.times(&axes_transposed);
    let medians: Vec<f64> = (0..d).map(|j| median(&mut sphered.column(j))).collect();
    // Distances do not change under the rotation back, so they can be taken from the medians themselves.
    Some(sphered.rows().map(|row| row.iter().zip(&medians).map(|(x, m)| (x - m).powi(2)).sum()).collect())
}
