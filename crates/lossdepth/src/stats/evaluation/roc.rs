//! The ROC curve.

use super::Ranking;
use serde::Serialize;

/// A point of the ROC curve: what calling rows with a score of at most `threshold` outliers gets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RocPoint {
    /// The score; $-\infty$ for the first point.
    pub threshold: f64,
    /// The share of the others that are called outliers.
    pub false_positives: f64,
    /// The share of the outliers that are called outliers.
    pub true_positives: f64,
}

impl Ranking {
    /// The ROC curve, from $(0, 0)$ to $(1, 1)$: a point for each different score, less those within a straight piece.
    ///
    /// The area under the straight lines between the points is [`auc`](Self::auc).
    pub fn roc(&self) -> Vec<RocPoint> {
        let (mut i, mut j) = (0, 0);
        let mut counts = vec![(f64::NEG_INFINITY, 0, 0)];
        while i < self.outliers.len() || j < self.others.len() {
            let next = |list: &[f64], at: usize| list.get(at).copied().unwrap_or(f64::INFINITY);
            let threshold = next(&self.outliers, i).min(next(&self.others, j));
            i += self.outliers[i..].iter().take_while(|s| **s <= threshold).count();
            j += self.others[j..].iter().take_while(|s| **s <= threshold).count();
            if let [.., (_, a, b), (_, c, d)] = counts[..]
                && (c - a) * (j - d) == (i - c) * (d - b)
            {
                counts.pop();
            }
            counts.push((threshold, i, j));
        }
        let (m, n) = (self.outliers.len() as f64, self.others.len() as f64);
        let point = |(threshold, i, j): (f64, usize, usize)| RocPoint {
            threshold,
            false_positives: j as f64 / n,
            true_positives: i as f64 / m,
        };
        counts.into_iter().map(point).collect()
    }
}
