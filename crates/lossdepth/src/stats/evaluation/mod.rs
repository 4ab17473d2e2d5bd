//! How well scores tell outliers from the others: AUC-ROC, average precision, the ROC curve; and how well they follow
//! another order: rank correlations.
//!
//! Scores are oriented like a depth: an outlier should have a **lower** score than another row.
//!
//! ```
//! use lossdepth::stats::evaluation::Ranking;
//! let ranking = Ranking::new(vec![0.1, 0.5], vec![0.4, 0.8, 0.9])?;
//! let auc = ranking.auc(0.95)?;
//! assert_eq!(auc.value, 5.0 / 6.0);
//! assert!(0.0 < auc.low && auc.low < auc.value && auc.value < auc.high && auc.high < 1.0);
//! # Ok::<(), lossdepth::DepthError>(())
//! ```

mod correlation;
mod precision;
mod roc;

pub use correlation::{kendall, spearman};
pub use roc::RocPoint;

use crate::error::{DepthError, Result};
use crate::numerics::special::normal_quantile;
use serde::Serialize;

/// The scores of two classes, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    outliers: Vec<f64>,
    others: Vec<f64>,
}

/// An estimate with a confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Ranking {
    /// Takes the scores of outliers and of others, in any order.
    ///
    /// # Errors
    /// One of them is empty, or a score is NaN.
    pub fn new(mut outliers: Vec<f64>, mut others: Vec<f64>) -> Result<Self> {
        if outliers.is_empty() || others.is_empty() {
            return Err(DepthError::Labels("there must be outliers and other rows to compare".to_owned()));
        }
        if outliers.iter().chain(&others).any(|score| score.is_nan()) {
            return Err(DepthError::Labels("a score is NaN".to_owned()));
        }
        outliers.sort_by(f64::total_cmp);
        others.sort_by(f64::total_cmp);
        Ok(Self { outliers, others })
    }

    /// How many outliers there are.
    pub fn outliers(&self) -> usize {
        self.outliers.len()
    }

    /// How many other rows there are.
    pub fn others(&self) -> usize {
        self.others.len()
    }

    /// The area under the ROC curve: the chance that an outlier has a lower score than another row, ties counted half.
    ///
    /// The variance is that of DeLong, DeLong and Clarke-Pearson (1988). With $p_i$ the share of the others that
    /// outlier $i$ of $m$ is below (ties half), and $q_j$ the share of the outliers that other row $j$ of $n$ is above,
    ///
    /// $$ A = \frac1m \sum_i p_i = \frac1n \sum_j q_j, \qquad
    ///    s^2 = \frac{1}{m(m-1)} \sum_i (p_i - A)^2 + \frac{1}{n(n-1)} \sum_j (q_j - A)^2. $$
    ///
    /// The interval is $\operatorname{logit}^{-1}(\operatorname{logit} A \pm z \frac{s}{A(1-A)})$, which stays within $[0, 1]$. Where
    /// that says nothing — $A$ is 0 or 1, $s = 0$, or a class has one row — it is Newcombe's (2006, method 5): all
    /// areas $\theta$ with $|A - \theta| \le z \sqrt{v(\theta)}$ for the variance $v$ of Hanley and McNeil at exponential scores.
    ///
    /// # Errors
    /// `level` is not between 0 and 1.
    pub fn auc(&self, level: f64) -> Result<Estimate> {
        let z = critical(level)?;
        let (value, variance) = self.delong();
        let (m, n) = (self.outliers.len() as f64, self.others.len() as f64);
        let sound = variance > 0.0 && variance.is_finite() && value > 0.0 && value < 1.0;
        Ok(if sound { logit_interval(value, z * variance.sqrt()) } else { newcombe(value, m, n, z) })
    }

    /// The area, and DeLong's variance of it; NaN if a class has one row.
    fn delong(&self) -> (f64, f64) {
        let (m, n) = (self.outliers.len() as f64, self.others.len() as f64);
        let below = shares(&self.others, &self.outliers);
        let above = shares(&self.outliers, &self.others).into_iter().map(|share| 1.0 - share);
        // Halves of whole numbers: the sum is exact.
        let value = shares_sum(&self.outliers, &self.others) / (m * n);
        let spread = |list: &mut dyn Iterator<Item = f64>, count: f64| {
            list.map(|x| (x - value).powi(2)).sum::<f64>() / (count * (count - 1.0))
        };
        let variance = spread(&mut above.into_iter(), m) + spread(&mut below.into_iter(), n);
        (value, variance)
    }
}

/// For each of `rows`, the share of `list` below it, ties counted half; both sorted.
fn shares(rows: &[f64], list: &[f64]) -> Vec<f64> {
    counts(rows, list).map(|count| count / list.len() as f64).collect()
}

/// In how many pairs the outlier has the lower score.
fn shares_sum(outliers: &[f64], others: &[f64]) -> f64 {
    counts(others, outliers).sum()
}

/// For each of `rows`, how many of `list` are below it, ties counted half.
fn counts(rows: &[f64], list: &[f64]) -> impl Iterator<Item = f64> {
    let (mut below, mut upto) = (0, 0);
    rows.iter().map(move |row| {
        while below < list.len() && list[below] < *row {
            below += 1;
        }
        upto = upto.max(below);
        while upto < list.len() && list[upto] <= *row {
            upto += 1;
        }
        0.5 * (below + upto) as f64
    })
}

/// The quantile of the normal distribution that belongs to a two-sided level.
fn critical(level: f64) -> Result<f64> {
    if level > 0.0 && level < 1.0 {
        Ok(normal_quantile(0.5 + 0.5 * level))
    } else {
        Err(DepthError::Setting { name: "level", expected: "between 0 and 1", got: level })
    }
}

/// `value` ± `spread` on the logit scale, to first order; for values between 0 and 1.
fn logit_interval(value: f64, spread: f64) -> Estimate {
    let t = spread / (value * (1.0 - value));
    let moved = |t: f64| value / (value + (1.0 - value) * (-t).exp());
    Estimate { value, low: moved(-t), high: moved(t) }
}

/// Newcombe's interval for an area from `m` outliers and `n` others.
fn newcombe(value: f64, m: f64, n: f64, z: f64) -> Estimate {
    let half = 0.5 * (m + n) - 1.0;
    let spread = |a: f64| {
        let (b, pairs) = (1.0 - a, m * n);
        z * (a * b * (1.0 + half * b / (2.0 - a) + half * a / (1.0 + a)) / pairs).sqrt()
    };
    // The smallest θ with value - θ ≤ spread(θ); the other end by symmetry.
    let lower = |value: f64| {
        let (mut low, mut high) = (0.0, value);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if value - middle > spread(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    Estimate { value, low: lower(value), high: 1.0 - lower(1.0 - value) }
}
