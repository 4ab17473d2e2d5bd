//! The Mahalanobis depth.

use super::cloud::Cloud;
use super::frame::{Coordinates, Scatter, unbiased};
use super::measure::by_scatter;
use super::{Answer, Asked, Notion, Why, hypothesis};
use crate::data::{Reference, Rows};
use crate::error::{DepthError, Result};
use crate::numerics::linalg::axpy;
use crate::numerics::simd::{LANES, vectorised};

by_scatter! {
    /// The Mahalanobis depth (N1): $1 / (1 + d^2)$ with $d^2 = (z - m)^\top S^{-1} (z - m)$.
    ///
    /// $m$ and $S$ are mean and covariance of the sample, or its minimum covariance determinant with its own centre. Where the
    /// sample does not have full rank $S$ is inverted on its span, and a query off the span has depth 0.
    ///
    /// `explain` shows the linear function $f(x) = -\langle S^{-1} (z - m), x - m \rangle$: by its columns it adds up to $-d^2$
    /// at the query. `stderr` is first-order in mean and covariance; with the minimum covariance determinant it is a heuristic.
    ///
    /// ```
    /// use lossdepth::{Depth, Reference, methods::classical::Mahalanobis};
    /// let sample = Reference::new(&[[0.0], [1.0], [2.0]])?;
    /// let fits = Depth::new(Mahalanobis::new()).fit(&sample)?.score(&[[1.0], [2.0]])?;
    /// assert!(fits[0].depth == 1.0 && (fits[1].depth - 0.5).abs() <= fits[1].error);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    Mahalanobis {}
}

/// What all queries of a Mahalanobis depth share.
#[derive(Debug, Clone)]
pub struct PreparedMahalanobis {
    cloud: Cloud,
    unbiased: f64,
}

impl Notion for Mahalanobis {
    const NAME: &'static str = "mahalanobis";
    type Prepared = PreparedMahalanobis;
    type Scratch = Coordinates;

    fn tol(&self) -> f64 {
        self.measure.tol
    }

    fn prepare_sample(&self, sample: &Reference) -> Result<PreparedMahalanobis> {
        if self.measure.scatter == Scatter::None {
            let text = "method `mahalanobis` needs a scatter: `moment` or `mcd`, not `none`";
            return Err(DepthError::Settings(text.to_owned()));
        }
        let cloud = Cloud::new(sample, self.measure.scatter, self.measure.support_fraction)?;
        Ok(PreparedMahalanobis { cloud, unbiased: unbiased(sample) })
    }

    fn answer(
        &self,
        prepared: &PreparedMahalanobis,
        query: &[f64],
        asked: Asked,
        coordinates: &mut Coordinates,
    ) -> Answer {
        let cloud = &prepared.cloud;
        if cloud.frame.is_outside(query) {
            let influence = asked.explanation().then(|| cloud.no_influence());
            let why = Why::Smooth { gradient: None, influence, at_mean: 1.0 };
            return Answer { why, ..Answer::default() };
        }
        let [depth, error] = prepared.depths([query].into_iter(), coordinates)[0];
        let mut answer = Answer { depth, error, ..Answer::default() };
        if asked.standard_error() {
            let at: Vec<f64> = coordinates.of(0).collect();
            self.details(prepared, &at, asked, &mut answer);
        }
        answer
    }

    fn depths(
        &self,
        prepared: &PreparedMahalanobis,
        queries: Rows<'_>,
        coordinates: &mut Coordinates,
    ) -> Option<[[f64; 2]; LANES]> {
        prepared.cloud.frame.is_onto().then(|| prepared.depths(queries.iter(), coordinates))
    }
}

impl PreparedMahalanobis {
    /// The depths and errors of up to [`LANES`] queries in the span.
    fn depths<'a>(
        &self,
        queries: impl Iterator<Item = &'a [f64]>,
        coordinates: &mut Coordinates,
    ) -> [[f64; 2]; LANES] {
        let frame = &self.cloud.frame;
        frame.apply_all(queries, coordinates);
        let (square, noise) = (&coordinates.square, &coordinates.noise);
        let (rounding, singular) = (4.0 * f64::EPSILON * frame.rank() as f64, frame.is_singular());
        let mut found = [[0.0; 2]; LANES];
        vectorised!({
            for l in 0..LANES {
                let (distance, noise) = (square[l].sqrt(), noise[l] + rounding);
                let depth = 1.0 / (1.0 + square[l]);
                // Depths of the ends of the interval of the distance.
                let (low, high) = ((distance - noise).max(0.0), distance + noise);
                let spread = (1.0 / (1.0 + low * low) - depth).max(depth - 1.0 / (1.0 + high * high));
                found[l] = [depth, if singular { 1.0 } else { spread + 4.0 * f64::EPSILON }];
            }
        });
        found
    }
}

impl Mahalanobis {
    /// Adds the standard error and the explanation of a query with these coordinates.
    fn details(
        &self,
        PreparedMahalanobis { cloud, unbiased }: &PreparedMahalanobis,
        at: &[f64],
        asked: Asked,
        answer: &mut Answer,
    ) {
        let mut along = vec![0.0; cloud.len()];
        at.iter().enumerate().for_each(|(j, t)| axpy(*t, cloud.column(j), &mut along));
        // (N3): how the squared distance changes with the mass at a point.
        let (square, slope) = (at.iter().map(|t| t * t).sum::<f64>(), -answer.depth * answer.depth);
        for s in &mut along {
            *s = slope * (square - 2.0 * *s - unbiased * *s * *s);
        }
        answer.stderr = cloud.standard_error(&along);
        if asked.explanation() {
            let weights: Vec<f64> = cloud.frame.pull_back(at).iter().map(|w| -w).collect();
            let intercept = -weights.iter().zip(&cloud.frame.center()).map(|(w, m)| w * m).sum::<f64>();
            let influence = (self.measure.scatter == Scatter::Moment).then(|| cloud.by_row(&along));
            answer.why = Why::Linear { weights, intercept, influence };
        }
    }
}

hypothesis!(Mahalanobis, PreparedMahalanobis);
