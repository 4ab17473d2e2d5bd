//! What the depths that are functions of the distances from the rows have in common.

use super::cloud::{Cloud, Distances};
use super::measure::Measure;
use super::{Answer, Asked, Notion, Why};
use crate::data::Reference;
use crate::error::Result;
use crate::numerics::simd::{sum_of, vectorised};

/// A depth that is a function of the distances from the rows.
pub(super) trait ByDistances: Send + Sync {
    const NAME: &'static str;

    fn measure(&self) -> &Measure;

    /// Checks settings of its own.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The answer for a query in the span of the sample, from its squared distances.
    fn at(&self, prepared: &PreparedDistances, distances: &mut Distances, asked: Asked) -> Answer;
}

/// What all queries of such a depth share.
#[derive(Debug, Clone)]
pub struct PreparedDistances {
    pub(super) cloud: Cloud,
    at_mean: f64,
}

impl PreparedDistances {
    /// Adds to influences what learning the covariance adds (N18), with $M = \sum_i a_i v_i v_i^\top + b e e^\top$ where $v_i$ goes from
    /// the query to a point, $a$ are the `factors`, and $b$ and $e$ the `rank_one`.
    pub(super) fn add_scatter(
        &self,
        query: &[f64],
        factors: &[f64],
        rank_one: Option<(f64, &[f64])>,
        influence: &mut [f64],
    ) {
        let Some(unbiased) = self.cloud.frame.unbiased() else { return };
        let n = self.cloud.len();
        for (j, &z) in query.iter().enumerate() {
            let x = self.cloud.column(j);
            for (k, &t) in query[..=j].iter().enumerate() {
                let y = self.cloud.column(k);
                let mut m = sum_of(n, |i| factors[i] * (x[i] - z) * (y[i] - t));
                m += rank_one.map_or(0.0, |(b, e)| b * e[j] * e[k]);
                let (twice, trace) = if j == k { (m * unbiased, m) } else { (2.0 * m * unbiased, 0.0) };
                vectorised!({
                    for ((influence, x), y) in influence.iter_mut().zip(x).zip(y) {
                        *influence += twice * x * y - trace;
                    }
                });
            }
        }
    }

    /// Why, from the gradient in the coordinates of the frame and the influence of every point.
    pub(super) fn why(&self, gradient: &[f64], influence: &[f64]) -> Why {
        let (gradient, influence) = (self.cloud.frame.pull_back(gradient), self.cloud.by_row(influence));
        Why::Smooth { gradient: Some(gradient), influence: Some(influence), at_mean: self.at_mean }
    }
}

impl<D: ByDistances> Notion for D {
    const NAME: &'static str = D::NAME;
    type Prepared = PreparedDistances;
    type Scratch = Distances;

    fn tol(&self) -> f64 {
        self.measure().tol
    }

    fn prepare_sample(&self, sample: &Reference) -> Result<PreparedDistances> {
        self.check()?;
        let &Measure { scatter, support_fraction, .. } = self.measure();
        let cloud = Cloud::new(sample, scatter, support_fraction)?;
        let mut prepared = PreparedDistances { cloud, at_mean: 0.0 };
        let mean = prepared.cloud.frame.center();
        prepared.at_mean = self.answer(&prepared, &mean, Asked::Depth, &mut Distances::default()).depth;
        Ok(prepared)
    }

    fn answer(
        &self,
        prepared: &PreparedDistances,
        query: &[f64],
        asked: Asked,
        scratch: &mut Distances,
    ) -> Answer {
        if prepared.cloud.measure(query, scratch) {
            return self.at(prepared, scratch, asked);
        }
        let influence = asked.explanation().then(|| prepared.cloud.no_influence());
        let why = Why::Smooth { gradient: None, influence, at_mean: prepared.at_mean };
        Answer { why, ..Answer::default() }
    }
}
