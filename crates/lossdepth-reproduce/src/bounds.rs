//! The constants of the propositions of *Data Depth as a Risk*.
//!
//! | statement | here |
//! |---|---|
//! | a penalty bounds $\|w\|$ (Assumption W) | [`radius`] |
//! | a depth is Lipschitz continuous | [`Bounds::lipschitz`] |
//! | the depth in a sample converges to that in its distribution as $n^{-1/2}$ | [`Bounds::rate`], [`Bounds::penalised_rate`] |
//!
//! Losses have $\ell(0) = 1$ as in the library, so that the logistic loss is $1 / \ln 2$ times that of the paper's proofs; the
//! constants account for it.
//!
//! ```
//! use lossdepth_reproduce::bounds::{Bounds, radius};
//! let svm = Bounds::hinge(radius(0.01)?, 1.0)?;
//! assert_eq!(svm.radius, 10.0);
//! assert!(svm.rate(400, 0.05)? < svm.rate(100, 0.05)? / 1.99);
//! # Ok::<(), lossdepth::DepthError>(())
//! ```

use crate::positive;
use lossdepth::loss::{Hinge, Logistic, Loss};
use lossdepth::{DepthError, Result};

/// An upper bound of $\|w\|$ at the penalised minimiser: $W = \sqrt{1 / \text{reg}}$, since $w = 0$ has the objective 1.
///
/// # Errors
/// `reg` is not positive and finite.
pub fn radius(reg: f64) -> Result<f64> {
    positive("reg", reg)?;
    Ok(reg.recip().sqrt())
}

/// The Lipschitz constant of the features of a Gaussian kernel: $\|\varphi(x) - \varphi(y)\| \le \sqrt{2 \gamma} \|x - y\|$.
///
/// # Errors
/// `gamma` is not positive and finite.
pub fn gaussian_slope(gamma: f64) -> Result<f64> {
    positive("gamma", gamma)?;
    Ok((2.0 * gamma).sqrt())
}

/// The constants of a family of classifiers $f(x) = \langle w, \varphi(x) \rangle$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// $L$: the Lipschitz constant of the loss.
    pub slope: f64,
    /// $W$: the largest $\|w\|$ (Assumption W).
    pub radius: f64,
    /// $B$: the largest $\|\varphi(x)\|$ in the support of the distribution (Assumption B).
    pub feature_norm: f64,
    /// $C = \ell(-WB)$: the largest loss.
    pub largest: f64,
}

impl Bounds {
    /// For the logistic loss, $L = 1 / \ln 2$.
    ///
    /// # Errors
    /// A number that is not positive and finite.
    pub fn logistic(radius: f64, feature_norm: f64) -> Result<Self> {
        Self::new(&Logistic, std::f64::consts::LN_2.recip(), radius, feature_norm)
    }

    /// For the hinge loss, $L = 1$.
    ///
    /// # Errors
    /// A number that is not positive and finite.
    pub fn hinge(radius: f64, feature_norm: f64) -> Result<Self> {
        Self::new(&Hinge, 1.0, radius, feature_norm)
    }

    fn new(loss: &impl Loss, slope: f64, radius: f64, feature_norm: f64) -> Result<Self> {
        positive("radius", radius)?;
        positive("feature_norm", feature_norm)?;
        Ok(Self { slope, radius, feature_norm, largest: loss.value(-radius * feature_norm) })
    }

    /// The Lipschitz constant of the depth, $\frac12 L W K$, where $\|\varphi(x) - \varphi(y)\| \le K \|x - y\|$: in the
    /// query, and in the distribution by the Wasserstein distance.
    ///
    /// Proven for infima, that is for the variants `constrained` and `objective`. The variant `risk` reports the risk at the
    /// minimiser of another function: the proof does not cover it.
    pub fn lipschitz(&self, features: f64) -> f64 {
        0.5 * self.slope * self.radius * features
    }

    /// A bound on the difference of the depths in a sample of `n` and in its distribution, for all queries at once, with
    /// probability at least $1 - \delta$:
    ///
    /// $$ \frac{2 L W B}{\sqrt n} + 2 C \sqrt{\frac{\ln(2/\delta)}{n}}. $$
    ///
    /// It is the bound in the proof of the theorem on convergence rates, with the Rademacher complexity $WB / \sqrt n$. (It
    /// bounds the generalisation error; the depth weighs the loss on the sample by one half, so half of it would suffice.)
    ///
    /// # Errors
    /// `n` is 0, or `delta` is not between 0 and 1.
    pub fn rate(&self, n: usize, delta: f64) -> Result<f64> {
        let n = checked(n, delta)?;
        let complexity = self.slope * self.radius * self.feature_norm / n.sqrt();
        Ok(2.0 * complexity + 2.0 * self.largest * ((2.0 / delta).ln() / n).sqrt())
    }

    /// The bound for the risk at the penalised minimiser and one query: [`rate`](Self::rate) plus, for the difference of the
    /// penalties,
    ///
    /// $$ 2 W L B \Bigl( \sqrt{\frac{2 \tau}{n}} + \sqrt{\frac1n} + \frac{4 \tau}{3 n} \Bigr), \qquad \tau = \ln(1/\delta'), $$
    ///
    /// by Theorem 6.24 of Steinwart and Christmann (2008). Each part fails with probability at most $\delta' = \delta / 2$.
    ///
    /// # Errors
    /// As for [`rate`](Self::rate).
    pub fn penalised_rate(&self, n: usize, delta: f64) -> Result<f64> {
        let first = self.rate(n, 0.5 * delta)?;
        let (n, tau) = (checked(n, delta)?, (2.0 / delta).ln());
        let penalties = (2.0 * tau / n).sqrt() + n.recip().sqrt() + 4.0 * tau / (3.0 * n);
        Ok(first + 2.0 * self.radius * self.slope * self.feature_norm * penalties)
    }
}

fn checked(n: usize, delta: f64) -> Result<f64> {
    if n == 0 {
        return Err(DepthError::TooFewRows { expected: 1, got: 0 });
    }
    if delta > 0.0 && delta < 1.0 {
        return Ok(n as f64);
    }
    Err(DepthError::Setting { name: "delta", expected: "between 0 and 1", got: delta })
}

/// A power law $y = c x^a$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerLaw {
    /// $a$.
    pub exponent: f64,
    /// $c$.
    pub factor: f64,
}

impl PowerLaw {
    /// The least-squares line through the logarithms of some points.
    ///
    /// ```
    /// use lossdepth_reproduce::bounds::PowerLaw;
    /// let law = PowerLaw::fit(&[[1.0, 3.0], [4.0, 1.5], [16.0, 0.75]])?;
    /// assert!((law.exponent + 0.5).abs() < 1e-12 && (law.at(64.0) - 0.375).abs() < 1e-12);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate is not positive and finite, or all abscissae are equal.
    pub fn fit(points: &[[f64; 2]]) -> Result<Self> {
        for [x, y] in points {
            positive("abscissa", *x)?;
            positive("ordinate", *y)?;
        }
        let logs: Vec<[f64; 2]> = points.iter().map(|point| point.map(f64::ln)).collect();
        let mean = |k: usize| logs.iter().map(|p| p[k]).sum::<f64>() / logs.len().max(1) as f64;
        let centre = [mean(0), mean(1)];
        let moment = |k: usize| logs.iter().map(|p| (p[0] - centre[0]) * (p[k] - centre[k])).sum::<f64>();
        let spread = moment(0);
        if spread <= 0.0 {
            return Err(DepthError::TooFewRows { expected: 2, got: points.len().min(1) });
        }
        let exponent = moment(1) / spread;
        Ok(Self { exponent, factor: (centre[1] - exponent * centre[0]).exp() })
    }

    /// $c x^a$.
    pub fn at(&self, x: f64) -> f64 {
        self.factor * x.powf(self.exponent)
    }
}
