//! What is reported of one query: its depth, and what is known about it.

use super::Stop;
use crate::error::{DepthError, Result};
use crate::numerics::special::normal_quantile;
use serde::{Deserialize, Serialize};

/// One query's depth, with what is known about it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Fit {
    /// The depth, in $[0, 1]$: high is central, low is outlying.
    pub depth: f64,
    /// A proven bound on the difference between `depth` and the exact optimum; at most the larger of `depth` and
    /// 1 - `depth`, since the optimum is in $[0, 1]$ too.
    pub error: f64,
    /// The sampling standard error: how much `depth` would vary over samples like the reference. Not a number if it was not
    /// asked for, by [`Run::depths_only`](super::Run::depths_only), where a method has no formula for it (`forest`, `auto`) and the setting
    /// `resamples` is 0, and where few rows decide about a depth of `potential`, `zonoid` or `simplicial`.
    ///
    /// It is an estimate to first order, and worst where few rows decide. For linear depths it includes that the scalings `standard` and
    /// `whiten` are learned on the sample; the other scalings, and those of all other methods, it takes for given, as well as the
    /// width of a kernel. docs/math/inference.md has, for every method, how often
    /// [`interval`](Self::interval) covers the truth.
    pub stderr: f64,
    /// How many iterations the solver took.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
}

impl PartialEq for Fit {
    /// Equal numbers; two standard errors that are absent are equal.
    fn eq(&self, other: &Self) -> bool {
        let numbers = |fit: &Self| (fit.depth, fit.error, fit.iterations, fit.stop);
        let stderr = self.stderr == other.stderr || self.stderr.is_nan() && other.stderr.is_nan();
        stderr && numbers(self) == numbers(other)
    }
}

impl Fit {
    /// Depths are between 0 and 1: the exact one is no farther off than the farther end.
    pub(crate) fn capped(self) -> Self {
        Self { error: self.error.min(self.depth.max(1.0 - self.depth)), ..self }
    }

    /// A confidence interval for the depth in the distribution that the reference was drawn from.
    ///
    /// With the quantile $q$ of the normal distribution and $\operatorname{logit} d = \ln \frac{d}{1-d}$, the ends are
    ///
    /// $$ \operatorname{logit}^{-1} \left( \operatorname{logit} d \pm q \frac{\text{stderr}}{d (1-d)} \right), $$
    ///
    /// moved apart by `error`. To first order that is $d \pm q \cdot \text{stderr}$, but it stays within $[0, 1]$,
    /// and follows the skewness of a depth close to one of the ends: an outlier's depth is rather too small than too
    /// large.
    ///
    /// ```
    /// use lossdepth::{Depth, Reference};
    /// let sample = Reference::new(&[[0.0], [1.0], [2.0], [5.0]])?;
    /// let fit = Depth::logistic().fit(&sample)?.score(&[[9.0]])?[0];
    /// let (low, high) = fit.interval(0.95)?;
    /// assert!(0.0 < low && low < fit.depth && fit.depth < high && high < 1.0);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// Both ends are not a number if `stderr` is not.
    ///
    /// # Errors
    /// `level` is not between 0 and 1.
    pub fn interval(&self, level: f64) -> Result<(f64, f64)> {
        if !(level > 0.0 && level < 1.0) {
            return Err(DepthError::Setting { name: "level", expected: "between 0 and 1", got: level });
        }
        let (d, spread) = (self.depth, normal_quantile(0.5 + 0.5 * level) * self.stderr);
        let scale = d * (1.0 - d);
        let (low, high) = if scale > 0.0 {
            // logit⁻¹(logit d + t) = d / (d + (1-d) e⁻ᵗ), without a logarithm.
            let moved = |t: f64| d / (d + (1.0 - d) * (-t).exp());
            (moved(-spread / scale), moved(spread / scale))
        } else {
            (d - spread, d + spread)
        };
        Ok(((low - self.error).clamp(0.0, 1.0), (high + self.error).clamp(0.0, 1.0)))
    }
}
