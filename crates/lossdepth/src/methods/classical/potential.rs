//! The potential of a Gaussian kernel.

use super::cloud::{Cloud, Distances};
use super::frame::Scatter;
use super::{Answer, Asked, Notion, Why, hypothesis};
use crate::data::Reference;
use crate::error::{Result, positive};
use crate::methods::setters::setters;
use crate::numerics::simd::sum_of;

/// The potential (N7): $\sum_i \omega_i \exp(-\|x_i - z\|^2 / 2h)$, a kernel density estimate without its constant.
///
/// The bandwidth $h$ is a variance; by default it is $n^{-2 / (r + 4)}$ for $n$ observations of rank $r$, which suits
/// distances measured by a scatter matrix. The sum over rows of densities that ddalpha reports is $n (2 \pi h)^{-r/2}$ times
/// this.
///
/// `stderr` and influence are first-order with the scatter taken as known.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::classical::{Potential, Scatter}};
/// let sample = Reference::new(&[[0.0], [2.0]])?;
/// let depth = Depth::new(Potential::new().scatter(Scatter::None).bandwidth(Some(0.5)));
/// assert_eq!(depth.fit(&sample)?.score(&[[1.0]])?[0].depth, (-1f64).exp());
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Potential {
    bandwidth: Option<f64>,
    scatter: Scatter,
    support_fraction: f64,
    tol: f64,
}

impl Default for Potential {
    fn default() -> Self {
        Self { bandwidth: None, scatter: Scatter::Moment, support_fraction: 0.75, tol: 1e-6 }
    }
}

impl Potential {
    /// In units of the covariance, with the default bandwidth.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The variance of the kernel.
        bandwidth: Option<f64> => bandwidth;
        /// By what distances are measured.
        scatter: Scatter => scatter;
        /// The share of the rows that the minimum covariance determinant uses.
        support_fraction: f64 => support_fraction;
        /// The largest error bound to accept.
        tol: f64 => tol;
    }
}

/// What all queries of a potential share.
#[derive(Debug, Clone)]
pub struct PreparedPotential {
    cloud: Cloud,
    bandwidth: f64,
    at_mean: f64,
}

impl Notion for Potential {
    const NAME: &'static str = "potential";
    type Prepared = PreparedPotential;
    type Scratch = Distances;

    fn tol(&self) -> f64 {
        self.tol
    }

    fn prepare_sample(&self, sample: &Reference) -> Result<PreparedPotential> {
        if let Some(bandwidth) = self.bandwidth {
            positive("bandwidth", bandwidth)?;
        }
        let cloud = Cloud::new(sample, self.scatter, self.support_fraction)?;
        let usual = || cloud.observations().powf(-2.0 / (cloud.frame.rank() as f64 + 4.0));
        let bandwidth = self.bandwidth.unwrap_or_else(usual);
        let mut prepared = PreparedPotential { cloud, bandwidth, at_mean: 0.0 };
        let mean = prepared.cloud.frame.center();
        prepared.at_mean = self.answer(&prepared, &mean, Asked::Depth, &mut Distances::default()).depth;
        Ok(prepared)
    }

    fn answer(
        &self,
        PreparedPotential { cloud, bandwidth, at_mean }: &PreparedPotential,
        query: &[f64],
        asked: Asked,
        scratch: &mut Distances,
    ) -> Answer {
        let (n, at_mean, h) = (cloud.len(), *at_mean, *bandwidth);
        if !cloud.measure(query, scratch) {
            let influence = asked.explanation().then(|| cloud.by_row(&vec![0.0; n]));
            let why = Why::Smooth { gradient: None, influence, at_mean };
            return Answer { why, ..Answer::default() };
        }
        let Distances { at, distance, terms, noise, relative } = scratch;
        for (k, r) in terms.iter_mut().zip(distance.iter()) {
            *k = (-r * r / (2.0 * h)).exp();
        }
        let depth = cloud.mean(terms);
        // exp(-q) changes by at most the relative part of q exp(-q) ≤ 1/e, and by noise times its steepest slope.
        let steepest = (-0.5f64).exp() / h.sqrt();
        let off = *noise * steepest + 4.0 * (*relative + f64::EPSILON) + cloud.sum_rounding() * depth;
        let mut answer = Answer { depth, error: off, ..Answer::default() };
        if asked.standard_error() {
            answer.stderr = cloud.standard_error(terms);
        }
        if asked.explanation() {
            let gradient: Vec<f64> = (0..at.len())
                .map(|j| {
                    let (column, t, weights) = (cloud.column(j), at[j], &cloud.weights);
                    sum_of(n, |i| weights[i] * terms[i] * (column[i] - t)) / h
                })
                .collect();
            let influence: Vec<f64> = terms.iter().map(|k| k - depth).collect();
            let (gradient, influence) =
                (Some(cloud.frame.pull_back(&gradient)), Some(cloud.by_row(&influence)));
            answer.why = Why::Smooth { gradient, influence, at_mean };
        }
        answer
    }
}

hypothesis!(Potential, PreparedPotential);
