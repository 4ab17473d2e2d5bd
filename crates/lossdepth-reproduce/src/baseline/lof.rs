//! The local outlier factor.

use super::neighbours::{Nearest, NeighbourSearch, neighbour_count};
use lossdepth::{Reference, Result, Rows, Run};

/// The local outlier factor (Breunig, Kriegel, Ng and Sander 2000): the density at the neighbours of a row, relative to
/// its own.
///
/// With $N_k(x)$ the $k$ nearest rows of the reference and $d_k(y)$ the distance of $y$ to the $k$-th nearest other row,
///
/// $$ \text{lrd}(x) = \left( \frac1k \sum_{y \in N_k(x)} \max(\|x - y\|, d_k(y)) + 10^{-10} \right)^{-1}, \qquad
///    \text{LOF}(x) = \frac1k \sum_{y \in N_k(x)} \frac{\text{lrd}(y)}{\text{lrd}(x)}. $$
///
/// The score is $-\text{LOF}(x)$, so that high is normal: about $-1$ in a cluster, far below for an outlier. It equals
/// scikit-learn's `negative_outlier_factor_` for the rows of the reference themselves
/// ([`score_own`](super::FittedBaseline::score_own), where a row is no neighbour of itself) and `score_samples` with
/// `novelty=True` for new rows, the $10^{-10}$ that keeps copies from dividing by zero included.
///
/// Where several rows are at the $k$-th distance, those that come first in the reference are the neighbours.
/// scikit-learn takes some of them too, which depends on its algorithm; on data with many ties (whole numbers, few
/// levels) the two can therefore differ.
///
/// $k$ is at most one less than the number of rows. Weights are refused: which rows are neighbours does not
/// depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lof {
    /// How many neighbours.
    pub k: usize,
}

impl Default for Lof {
    /// Twenty neighbours.
    fn default() -> Self {
        Self { k: 20 }
    }
}

/// [`Lof`] fitted to a sample.
#[derive(Debug)]
pub(super) struct FittedLof {
    neighbours: NeighbourSearch,
    k: usize,
    /// The distance to the k-th nearest other row, for every row.
    radii: Vec<f64>,
    densities: Vec<f64>,
    own: Vec<f64>,
}

impl Lof {
    pub(super) fn fit(self, sample: &Reference, run: &Run<'_>) -> Result<FittedLof> {
        let k = neighbour_count(self.k, sample)?;
        let neighbours = NeighbourSearch::new(sample.rows());
        let nearest = neighbours.own(k, run)?;
        let radii: Vec<f64> = nearest.iter().map(Nearest::radius).collect();
        let densities: Vec<f64> = nearest.iter().map(|near| density(near, &radii)).collect();
        let own = nearest.iter().zip(&densities).map(|(near, own)| factor(near, *own, &densities)).collect();
        Ok(FittedLof { neighbours, k, radii, densities, own })
    }
}

impl FittedLof {
    pub(super) fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<f64>> {
        let nearest = self.neighbours.of(queries, self.k, run)?;
        Ok(nearest.iter().map(|near| factor(near, density(near, &self.radii), &self.densities)).collect())
    }

    pub(super) fn own(&self) -> &[f64] {
        &self.own
    }
}

/// The local reachability density: one over the mean reachability distance from the neighbours of a row.
fn density(near: &Nearest, radii: &[f64]) -> f64 {
    let reachability = near.rows.iter().map(|(distance, row)| distance.max(radii[*row]));
    1.0 / (reachability.sum::<f64>() / near.rows.len() as f64 + 1e-10)
}

/// Minus the mean ratio of the neighbours' densities to a row's own.
fn factor(near: &Nearest, own: f64, densities: &[f64]) -> f64 {
    let ratios = near.rows.iter().map(|(_, row)| densities[*row] / own);
    -(ratios.sum::<f64>() / near.rows.len() as f64)
}
