//! Average precision.

use super::{Estimate, Ranking, critical};
use crate::error::Result;

impl Ranking {
    /// The average precision: the area under the steps of the precision-recall curve,
    ///
    /// $$ \text{AP} = \sum_t (R_t - R_{t-1}) P_t $$
    ///
    /// over all different scores $t$ from the lowest on, where $P_t$ is the share of outliers among rows with a score of at
    /// most $t$ and $R_t$ the share of the outliers that are there: scikit-learn's `average_precision_score`. Without
    /// any order it is about the share of outliers in the data, so it says more than the AUC where outliers are rare.
    ///
    /// The interval treats it as a share of $m$ outliers, as the binomial interval of Boyd, Eng and Page (2013) does, in
    /// Wilson's form: all $\theta$ with $|\text{AP} - \theta| \le z \sqrt{\theta (1 - \theta) / m}$. That stays within $[0, 1]$ and says
    /// something at 1 too.
    ///
    /// # Errors
    /// `level` is not between 0 and 1.
    pub fn average_precision(&self, level: f64) -> Result<Estimate> {
        let z = critical(level)?;
        let m = self.outliers.len() as f64;
        let (mut value, mut others) = (0.0, 0);
        let mut found = 0;
        while found < self.outliers.len() {
            let score = self.outliers[found];
            let tied = self.outliers[found..].iter().take_while(|s| **s == score).count();
            found += tied;
            while others < self.others.len() && self.others[others] <= score {
                others += 1;
            }
            value += tied as f64 * (found as f64 / (found + others) as f64);
        }
        let value = value / m;
        let (middle, square) = (value + 0.5 * z * z / m, z * z / m);
        let half = (square * (value * (1.0 - value) + 0.25 * square)).sqrt();
        let end = |sum: f64| (sum / (1.0 + square)).clamp(0.0, 1.0);
        let (low, high) = (end(middle - half), end(middle + half));
        // The value belongs to it, whatever rounding says.
        Ok(Estimate { value, low: low.min(value), high: high.max(value) })
    }
}
