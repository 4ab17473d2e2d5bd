//! The L2 depth.

use super::by_distances::{ByDistances, PreparedDistances};
use super::cloud::Distances;
use super::measure::{Measure, by_scatter};
use super::{Answer, Asked, hypothesis};
use crate::numerics::simd::sum_of;

by_scatter! {
    /// The $L_2$ depth (N6): $1 / (1 + \sum_i \omega_i \|x_i - z\|)$.
    ///
    /// Distances are measured by the [`scatter`](Self::scatter): with the covariance or the minimum covariance determinant the
    /// depth is affine-invariant, and 0 off the span of the sample; with `none` it depends on units.
    ///
    /// `stderr` and influence are first-order and include that a covariance is learned (N18); the minimum covariance determinant is
    /// taken as known.
    ///
    /// ```
    /// use lossdepth::{Depth, Reference, methods::classical::{L2, Scatter}};
    /// let sample = Reference::new(&[[0.0], [2.0]])?;
    /// let fits = Depth::new(L2::new().scatter(Scatter::None)).fit(&sample)?.score(&[[1.0], [4.0]])?;
    /// assert_eq!((fits[0].depth, fits[1].depth), (0.5, 0.25));
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    L2 {}
}

impl ByDistances for L2 {
    const NAME: &'static str = "l2";

    fn measure(&self) -> &Measure {
        &self.measure
    }

    fn at(&self, prepared: &PreparedDistances, distances: &mut Distances, asked: Asked) -> Answer {
        let (cloud, n) = (&prepared.cloud, prepared.cloud.len());
        let mean = cloud.mean(distances.take_roots());
        let Distances { at, square: distance, terms, noise, relative } = distances;
        let depth = 1.0 / (1.0 + mean);
        let off = *noise + mean * (*relative + cloud.sum_rounding());
        let error = if off.is_finite() {
            depth - 1.0 / (1.0 + mean + off) + off * depth * depth + 4.0 * f64::EPSILON
        } else {
            1.0
        };
        let mut answer = Answer { depth, error, ..Answer::default() };
        let slope = depth * depth;
        if !asked.standard_error() {
            return answer;
        }
        let weights = cloud.weights.iter().zip(distance.iter());
        terms.iter_mut().zip(weights).for_each(|(t, (w, r))| *t = if *r > 0.0 { w / r } else { 0.0 });
        let mut influence: Vec<f64> = distance.iter().map(|r| slope * (mean - r)).collect();
        let factors: Vec<f64> = terms.iter().map(|t| 0.5 * slope * t).collect();
        prepared.add_scatter(at, &factors, None, &mut influence);
        answer.stderr = cloud.standard_error(&influence);
        if asked.explanation() {
            let gradient: Vec<f64> = (0..at.len())
                .map(|j| {
                    let (column, t) = (cloud.column(j), at[j]);
                    slope * sum_of(n, |i| terms[i] * (column[i] - t))
                })
                .collect();
            answer.why = prepared.why(&gradient, &influence);
        }
        answer
    }
}

hypothesis!(L2, PreparedDistances);
