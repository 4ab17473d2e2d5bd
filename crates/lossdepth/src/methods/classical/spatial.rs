//! The spatial depth.

use super::by_distances::{ByDistances, PreparedDistances};
use super::cloud::Distances;
use super::measure::{Measure, by_scatter};
use super::{Answer, Asked, hypothesis};
use crate::numerics::simd::sum_of;

by_scatter! {
    /// The spatial depth (N4), also called $L_1$ depth: $1 - \|\sum_i \omega_i u_i\|$ with the unit vectors $u_i$ from $z$ to
    /// $x_i$; a row equal to $z$ has $u_i = 0$.
    ///
    /// Distances are measured by the [`scatter`](Self::scatter): with the covariance or the minimum covariance determinant the
    /// depth is affine-invariant, and 0 off the span of the sample; with `none` it is invariant to rotations only.
    ///
    /// `stderr` and influence are first-order and include that a covariance is learned (N18); the minimum covariance determinant is
    /// taken as known.
    ///
    /// ```
    /// use lossdepth::{Depth, Reference, methods::classical::Spatial};
    /// let sample = Reference::new(&[[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])?;
    /// let fits = Depth::new(Spatial::new()).fit(&sample)?.score(&[[0.0, 0.0], [1e9, 0.0]])?;
    /// assert!(fits[0].depth == 1.0 && fits[1].depth < 1e-9);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    Spatial {}
}

impl ByDistances for Spatial {
    const NAME: &'static str = "spatial";

    fn measure(&self) -> &Measure {
        &self.measure
    }

    fn at(&self, prepared: &PreparedDistances, distances: &mut Distances, asked: Asked) -> Answer {
        let (cloud, n) = (&prepared.cloud, prepared.cloud.len());
        distances.take_roots();
        let Distances { at, square: distance, terms, noise, relative } = distances;
        let (noise, relative) = (*noise, *relative);
        // ωᵢ / ‖xᵢ - z‖, and what the error of a distance changes in a unit vector.
        let mut error = 0.0;
        for i in 0..n {
            let (w, r) = (cloud.weights[i], distance[i]);
            terms[i] = if r > 0.0 { w / r } else { 0.0 };
            error += if r > 0.0 { w * (2.0 * noise / r + relative).min(2.0) } else { 0.0 };
        }
        let mean: Vec<f64> = (0..at.len())
            .map(|j| {
                let (column, t) = (cloud.column(j), at[j]);
                sum_of(n, |i| terms[i] * (column[i] - t))
            })
            .collect();
        let length = mean.iter().map(|g| g * g).sum::<f64>().sqrt();
        let rounding = (at.len() as f64).sqrt() * cloud.sum_rounding() + 4.0 * f64::EPSILON;
        let mut answer = Answer { depth: 1.0 - length, error: error + rounding, ..Answer::default() };
        if asked.standard_error() {
            let axis: Vec<f64> = mean.iter().map(|g| if length > 0.0 { g / length } else { 0.0 }).collect();
            // ⟨g/‖g‖, uᵢ⟩ of every point.
            let mut along = vec![0.0; n];
            for (j, a) in axis.iter().enumerate() {
                let (column, t) = (cloud.column(j), at[j]);
                along.iter_mut().zip(column).for_each(|(s, x)| *s += a * (x - t));
            }
            along.iter_mut().zip(distance.iter()).for_each(|(s, r)| *s = if *r > 0.0 { *s / r } else { 0.0 });
            let mut influence: Vec<f64> = along.iter().map(|s| length - s).collect();
            let part =
                |i: usize| if distance[i] > 0.0 { -0.5 * terms[i] * along[i] / distance[i] } else { 0.0 };
            let factors: Vec<f64> = (0..n).map(part).collect();
            prepared.add_scatter(at, &factors, Some((0.5 * length, axis.as_slice())), &mut influence);
            answer.stderr = cloud.standard_error(&influence);
            if asked.explanation() {
                // Σᵢ ωᵢ (ĝ - uᵢ ⟨uᵢ, ĝ⟩) / rᵢ (N5).
                let whole: f64 = terms.iter().sum();
                let gradient: Vec<f64> = (0..at.len())
                    .map(|j| {
                        let (column, t) = (cloud.column(j), at[j]);
                        let bent = |i: usize| match distance[i] {
                            r if r > 0.0 => terms[i] * along[i] * (column[i] - t) / r,
                            _ => 0.0,
                        };
                        axis[j] * whole - (0..n).map(bent).sum::<f64>()
                    })
                    .collect();
                answer.why = prepared.why(&gradient, &influence);
            }
        }
        answer
    }
}

hypothesis!(Spatial, PreparedDistances);
