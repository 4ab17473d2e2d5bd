//! The potential.

use super::by_distances::{ByDistances, PreparedDistances};
use super::cloud::Distances;
use super::measure::{Measure, by_scatter};
use super::{Answer, Asked, hypothesis};
use crate::error::{Result, positive};
use crate::numerics::elementary::exp_neg;
use crate::numerics::simd::{sum_of, vectorised};

by_scatter! {
    /// The potential (N7): $\sum_i \omega_i \exp(-\|x_i - z\|^2 / 2h)$, a kernel density estimate without its constant.
    ///
    /// The bandwidth $h$ is a variance; by default it is $n^{-2 / (r + 4)}$ for $n$ observations of rank $r$, which suits
    /// distances measured by a scatter matrix. The sum over rows of densities that ddalpha reports is $n (2 \pi h)^{-r/2}$ times
    /// this.
    ///
    /// `stderr` and influence are first-order and include that a covariance is learned (N18); the minimum covariance determinant is
    /// taken as known. `stderr` is not a number where few rows decide.
    ///
    /// ```
    /// use lossdepth::{Depth, Reference, methods::classical::{Potential, Scatter}};
    /// let sample = Reference::new(&[[0.0], [2.0]])?;
    /// let depth = Depth::new(Potential::new().scatter(Scatter::None).bandwidth(Some(0.5)));
    /// assert_eq!(depth.fit(&sample)?.score(&[[1.0]])?[0].depth, (-1f64).exp());
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    Potential {
        /// The variance of the kernel; `None` for the default.
        bandwidth: Option<f64>,
    }
}

impl ByDistances for Potential {
    const NAME: &'static str = "potential";

    fn measure(&self) -> &Measure {
        &self.measure
    }

    fn check(&self) -> Result<()> {
        self.bandwidth.map_or(Ok(()), |bandwidth| positive("bandwidth", bandwidth))
    }

    fn at(&self, prepared: &PreparedDistances, distances: &mut Distances, asked: Asked) -> Answer {
        let (cloud, n) = (&prepared.cloud, prepared.cloud.len());
        let usual = || cloud.observations().powf(-2.0 / (cloud.frame.rank() as f64 + 4.0));
        let h = self.bandwidth.unwrap_or_else(usual);
        let Distances { at, square, terms, noise, relative } = distances;
        let (values, squares, steep) = (&mut terms[..n], &square[..n], 0.5 / h);
        vectorised!({
            for i in 0..n {
                values[i] = exp_neg(-squares[i] * steep);
            }
        });
        let depth = cloud.mean(terms);
        // exp(-q) changes by at most the relative part of q exp(-q) ≤ 1/e, and by noise times its steepest slope.
        let steepest = (-0.5f64).exp() / h.sqrt();
        let off = *noise * steepest + 4.0 * (*relative + f64::EPSILON) + cloud.sum_rounding() * depth;
        let mut answer = Answer { depth, error: off, ..Answer::default() };
        if !asked.standard_error() {
            return answer;
        }
        let mut influence: Vec<f64> = terms.iter().map(|k| k - depth).collect();
        let factors: Vec<f64> = terms.iter().zip(&cloud.weights).map(|(k, w)| steep * k * w).collect();
        prepared.add_scatter(at, &factors, None, &mut influence);
        answer.stderr = cloud.standard_error(&influence);
        answer.withhold_stderr_of_few_rows();
        if asked.explanation() {
            let gradient: Vec<f64> = (0..at.len())
                .map(|j| {
                    let (column, t, weights) = (cloud.column(j), at[j], &cloud.weights);
                    sum_of(n, |i| weights[i] * terms[i] * (column[i] - t)) / h
                })
                .collect();
            answer.why = prepared.why(&gradient, &influence);
        }
        answer
    }
}

hypothesis!(Potential, PreparedDistances);
