//! The L2 depth.

use super::cloud::{Cloud, Distances};
use super::frame::Scatter;
use super::{Answer, Asked, Notion, Why, hypothesis};
use crate::data::Reference;
use crate::error::Result;
use crate::methods::setters::setters;
use crate::numerics::simd::sum_of;

/// The $L_2$ depth (N6): $1 / (1 + \sum_i \omega_i \|x_i - z\|)$.
///
/// Distances are measured by the [`scatter`](Self::scatter): with the covariance or the minimum covariance determinant the
/// depth is affine-invariant, and 0 off the span of the sample; with `none` it depends on units.
///
/// `stderr` and influence are first-order with the scatter taken as known.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::classical::{L2, Scatter}};
/// let sample = Reference::new(&[[0.0], [2.0]])?;
/// let fits = Depth::new(L2::new().scatter(Scatter::None)).fit(&sample)?.score(&[[1.0], [4.0]])?;
/// assert_eq!((fits[0].depth, fits[1].depth), (0.5, 0.25));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct L2 {
    scatter: Scatter,
    support_fraction: f64,
    tol: f64,
}

impl Default for L2 {
    fn default() -> Self {
        Self { scatter: Scatter::Moment, support_fraction: 0.75, tol: 1e-6 }
    }
}

impl L2 {
    /// In units of the covariance.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// By what distances are measured.
        scatter: Scatter => scatter;
        /// The share of the rows that the minimum covariance determinant uses.
        support_fraction: f64 => support_fraction;
        /// The largest error bound to accept.
        tol: f64 => tol;
    }
}

/// What all queries of an L2 depth share.
#[derive(Debug, Clone)]
pub struct PreparedL2 {
    cloud: Cloud,
    at_mean: f64,
}

impl Notion for L2 {
    const NAME: &'static str = "l2";
    type Prepared = PreparedL2;
    type Scratch = Distances;

    fn tol(&self) -> f64 {
        self.tol
    }

    fn prepare_sample(&self, sample: &Reference) -> Result<PreparedL2> {
        let cloud = Cloud::new(sample, self.scatter, self.support_fraction)?;
        let mut prepared = PreparedL2 { cloud, at_mean: 0.0 };
        let mean = prepared.cloud.frame.center();
        prepared.at_mean = self.answer(&prepared, &mean, Asked::Depth, &mut Distances::default()).depth;
        Ok(prepared)
    }

    fn answer(
        &self,
        PreparedL2 { cloud, at_mean }: &PreparedL2,
        query: &[f64],
        asked: Asked,
        scratch: &mut Distances,
    ) -> Answer {
        let (n, at_mean) = (cloud.len(), *at_mean);
        if !cloud.measure(query, scratch) {
            let influence = asked.explanation().then(|| cloud.by_row(&vec![0.0; n]));
            let why = Why::Smooth { gradient: None, influence, at_mean };
            return Answer { why, ..Answer::default() };
        }
        let mean = cloud.mean(&scratch.distance);
        let depth = 1.0 / (1.0 + mean);
        let off = scratch.noise + mean * (scratch.relative + cloud.sum_rounding());
        let error = if off.is_finite() {
            depth - 1.0 / (1.0 + mean + off) + off * depth * depth + 4.0 * f64::EPSILON
        } else {
            1.0
        };
        let mut answer = Answer { depth, error, ..Answer::default() };
        let slope = depth * depth;
        if asked.standard_error() {
            answer.stderr = slope * cloud.standard_error(&scratch.distance);
        }
        if asked.explanation() {
            let Distances { at, distance, terms, .. } = scratch;
            for i in 0..n {
                terms[i] = if distance[i] > 0.0 { cloud.weights[i] / distance[i] } else { 0.0 };
            }
            let gradient: Vec<f64> = (0..at.len())
                .map(|j| {
                    let (column, t) = (cloud.column(j), at[j]);
                    slope * sum_of(n, |i| terms[i] * (column[i] - t))
                })
                .collect();
            let influence: Vec<f64> = distance.iter().map(|r| slope * (mean - r)).collect();
            let (gradient, influence) =
                (Some(cloud.frame.pull_back(&gradient)), Some(cloud.by_row(&influence)));
            answer.why = Why::Smooth { gradient, influence, at_mean };
        }
        answer
    }
}

hypothesis!(L2, PreparedL2);
