//! The Mahalanobis depth.

use super::cloud::Cloud;
use super::frame::{Scatter, unbiased};
use super::{Answer, Asked, Notion, Why, hypothesis};
use crate::data::Reference;
use crate::error::{DepthError, Result};
use crate::methods::setters::setters;
use crate::numerics::linalg::axpy;

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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mahalanobis {
    scatter: Scatter,
    support_fraction: f64,
    tol: f64,
}

impl Default for Mahalanobis {
    fn default() -> Self {
        Self { scatter: Scatter::Moment, support_fraction: 0.75, tol: 1e-6 }
    }
}

impl Mahalanobis {
    /// By mean and covariance.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Covariance or minimum covariance determinant.
        scatter: Scatter => scatter;
        /// The share of the rows that the minimum covariance determinant uses.
        support_fraction: f64 => support_fraction;
        /// The largest error bound to accept.
        tol: f64 => tol;
    }
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
    type Scratch = (Vec<f64>, Vec<f64>);

    fn tol(&self) -> f64 {
        self.tol
    }

    fn prepare_sample(&self, sample: &Reference) -> Result<PreparedMahalanobis> {
        if self.scatter == Scatter::None {
            let text = "method `mahalanobis` needs a scatter: `moment` or `mcd`, not `none`";
            return Err(DepthError::Settings(text.to_owned()));
        }
        let cloud = Cloud::new(sample, self.scatter, self.support_fraction)?;
        Ok(PreparedMahalanobis { cloud, unbiased: unbiased(sample) })
    }

    fn answer(
        &self,
        PreparedMahalanobis { cloud, unbiased }: &PreparedMahalanobis,
        query: &[f64],
        asked: Asked,
        (at, along): &mut Self::Scratch,
    ) -> Answer {
        let frame = &cloud.frame;
        if frame.is_outside(query) {
            let why = if asked.explanation() {
                let influence = Some(cloud.by_row(&vec![0.0; cloud.len()]));
                Why::Smooth { gradient: None, influence, at_mean: 1.0 }
            } else {
                Why::NotAsked
            };
            return Answer { why, ..Answer::default() };
        }
        at.resize(frame.rank(), 0.0);
        let noise = frame.apply(query, at) + 4.0 * f64::EPSILON * frame.rank() as f64;
        let square: f64 = at.iter().map(|t| t * t).sum();
        let depth = 1.0 / (1.0 + square);
        // Depths of the ends of the interval of the distance.
        let (low, high) = ((square.sqrt() - noise).max(0.0), square.sqrt() + noise);
        let spread = (1.0 / (1.0 + low * low) - depth).max(depth - 1.0 / (1.0 + high * high));
        let error = if frame.is_singular() { 1.0 } else { spread + 4.0 * f64::EPSILON };
        let mut answer = Answer { depth, error, ..Answer::default() };
        if asked.standard_error() {
            along.clear();
            along.resize(cloud.len(), 0.0);
            at.iter().enumerate().for_each(|(j, t)| axpy(*t, cloud.column(j), along));
            // (N3): how the squared distance changes with the mass at a point.
            let slope = -depth * depth;
            for s in along.iter_mut() {
                *s = slope * (square - 2.0 * *s - unbiased * *s * *s);
            }
            answer.stderr = cloud.standard_error(along);
        }
        if asked.explanation() {
            let weights: Vec<f64> = frame.pull_back(at).iter().map(|w| -w).collect();
            let intercept = -weights.iter().zip(&frame.center()).map(|(w, m)| w * m).sum::<f64>();
            let influence = (self.scatter == Scatter::Moment).then(|| cloud.by_row(along));
            answer.why = Why::Linear { weights, intercept, influence };
        }
        answer
    }
}

hypothesis!(Mahalanobis, PreparedMahalanobis);
