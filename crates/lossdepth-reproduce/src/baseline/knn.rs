//! The distance to the nearest neighbours.

use super::neighbours::{Nearest, NeighbourSearch, neighbour_count};
use lossdepth::{DepthError, Reference, Result, Rows, Run};
use std::str::FromStr;

/// Minus the distance to the $k$-th nearest row of the reference, or minus the mean distance to the $k$ nearest
/// (Ramaswamy, Rastogi and Shim 2000; Angiulli and Pizzuti 2002).
///
/// The distances are Euclidean and those of scikit-learn's `NearestNeighbors`. The rows of the reference themselves
/// ([`score_own`](super::FittedBaseline::score_own)) are no neighbours of themselves, but copies of them are. $k$ is at
/// most one less than the number of rows. Weights are refused: distances do not depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knn {
    /// How many neighbours.
    pub k: usize,
    /// Which distance.
    pub distance: KnnDistance,
}

/// Which distance to the $k$ nearest rows is the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KnnDistance {
    /// That of the farthest of them.
    #[default]
    Largest,
    /// Their mean.
    Mean,
}

impl KnnDistance {
    /// The names in settings.
    pub const NAMES: [&str; 2] = ["largest", "mean"];

    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Largest => Self::NAMES[0],
            Self::Mean => Self::NAMES[1],
        }
    }
}

impl FromStr for KnnDistance {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        [Self::Largest, Self::Mean].into_iter().find(|d| d.name() == s).ok_or_else(|| DepthError::Name {
            name: "distance",
            expected: Self::NAMES.join(", "),
            got: s.to_owned(),
        })
    }
}

impl Default for Knn {
    /// The distance to the fifth neighbour.
    fn default() -> Self {
        Self { k: 5, distance: KnnDistance::Largest }
    }
}

/// [`Knn`] fitted to a sample.
#[derive(Debug)]
pub(super) struct FittedKnn {
    neighbours: NeighbourSearch,
    knn: Knn,
}

impl Knn {
    pub(super) fn fit(self, sample: &Reference) -> Result<FittedKnn> {
        let k = neighbour_count(self.k, sample)?;
        Ok(FittedKnn { neighbours: NeighbourSearch::new(sample.rows()), knn: Self { k, ..self } })
    }

    fn score(self, near: &Nearest) -> f64 {
        match self.distance {
            KnnDistance::Largest => -near.radius(),
            KnnDistance::Mean => {
                -near.rows.iter().map(|(distance, _)| distance).sum::<f64>() / near.rows.len() as f64
            }
        }
    }
}

impl FittedKnn {
    pub(super) fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<f64>> {
        let nearest = self.neighbours.of(queries, self.knn.k, run)?;
        Ok(nearest.iter().map(|near| self.knn.score(near)).collect())
    }

    pub(super) fn own(&self, run: &Run<'_>) -> Result<Vec<f64>> {
        let nearest = self.neighbours.own(self.knn.k, run)?;
        Ok(nearest.iter().map(|near| self.knn.score(near)).collect())
    }
}
