//! Adjustment for many tests.

use crate::error::{DepthError, Result, named};

/// A procedure that bounds the false discovery rate: the expected share of rows among the chosen ones that are not outliers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fdr {
    /// Benjamini and Hochberg (1995): for independent or positively dependent p-values, as those of a
    /// [`Split`](super::Conformal::Split) are.
    #[default]
    BenjaminiHochberg,
    /// Benjamini and Yekutieli (2001): for any dependence, at the cost of a factor $\sum_{k \le m} 1/k$.
    BenjaminiYekutieli,
}

named!(Fdr, "fdr", BenjaminiHochberg => "bh", BenjaminiYekutieli => "by");

/// The q-value of each p-value: the smallest false discovery rate at which its row is chosen.
///
/// With the p-values in order $p_{(1)} \le \dots \le p_{(m)}$ it is $q_{(i)} = \min_{j \ge i} \min(1, c_m \frac{m}{j} p_{(j)})$, with
/// $c_m = 1$, or $\sum_{k \le m} 1/k$ for [`Fdr::BenjaminiYekutieli`]. Rows with $q$ of at most a rate are those that the
/// procedure chooses at that rate; scipy's `false_discovery_control`.
///
/// ```
/// use lossdepth::stats::conformal::{Fdr, adjust};
/// let q = adjust(&[0.01, 0.04, 0.02, 0.9], Fdr::BenjaminiHochberg)?;
/// assert_eq!(q, [0.04, 0.16 / 3.0, 0.04, 0.9]);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
///
/// # Errors
/// A p-value is not between 0 and 1.
pub fn adjust(p: &[f64], how: Fdr) -> Result<Vec<f64>> {
    if let Some(row) = p.iter().position(|p| !(0.0..=1.0).contains(p)) {
        return Err(DepthError::Labels(format!("p-value {row} must be between 0 and 1, got {}", p[row])));
    }
    let m = p.len() as f64;
    let factor = match how {
        Fdr::BenjaminiHochberg => 1.0,
        Fdr::BenjaminiYekutieli => (1..=p.len()).map(|k| 1.0 / k as f64).sum(),
    };
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let (mut q, mut least) = (vec![0.0; p.len()], 1.0f64);
    for (rank, &i) in order.iter().enumerate().rev() {
        least = least.min(p[i] * m * factor / (rank + 1) as f64);
        q[i] = least;
    }
    Ok(q)
}
