//! Average precision.

use super::{Estimate, Ranking, critical, logit_interval};
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
    /// The interval is the one that Boyd, Eng and Page (2013) recommend, with $m$ outliers:
    /// $\operatorname{logit}^{-1}(\operatorname{logit} \text{AP} \pm z / \sqrt{m \text{AP} (1 - \text{AP})})$; and for $\text{AP} = 1$ Wilson's interval for
    /// $m$ successes of $m$, $[m / (m + z^2), 1]$.
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
            value += tied as f64 / m * (found as f64 / (found + others) as f64);
        }
        // Sums of shares may end a unit in the last place above 1.
        let value = value.min(1.0);
        Ok(if value < 1.0 {
            logit_interval(value, z * (value * (1.0 - value) / m).sqrt())
        } else {
            Estimate { value, low: m / (m + z * z), high: 1.0 }
        })
    }
}
