//! Mixtures of round Gaussian clusters.

use super::Random;
use crate::error::{DepthError, Result};

/// A cluster: $N(\text{mean}, \text{sd}^2 I)$.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its share of the mass; shares are made to sum to 1.
    pub share: f64,
    /// Its centre.
    pub mean: Vec<f64>,
    /// Its standard deviation in every direction.
    pub sd: f64,
}

/// A mixture of round Gaussian clusters, with density
///
/// $$ p(x) = \sum_k \frac{s_k}{(2 \pi \sigma_k^2)^{d/2}} e^{-\|x - \mu_k\|^2 / 2 \sigma_k^2}. $$
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    parts: Vec<Part>,
}

impl Mixture {
    /// A mixture of these clusters.
    ///
    /// # Errors
    /// No cluster, means of different lengths or none, a number that is not finite, a share or a standard deviation
    /// that is not positive.
    pub fn new(mut parts: Vec<Part>) -> Result<Self> {
        let width = parts.first().map_or(0, |part| part.mean.len());
        if width == 0 {
            return Err(DepthError::NoColumns);
        }
        for (row, part) in parts.iter().enumerate() {
            let got = part.mean.len();
            if got != width {
                return Err(DepthError::Dimension { row, expected: width, got });
            }
            crate::rows::Rows::new(&part.mean, width)?.check_finite()?;
            crate::penalty::positive("share", part.share)?;
            crate::penalty::positive("sd", part.sd)?;
        }
        let total: f64 = parts.iter().map(|part| part.share).sum();
        for part in &mut parts {
            part.share /= total;
        }
        Ok(Self { parts })
    }

    /// Two clusters of variance 1 and the same mass, with every coordinate of their centres at -`shift` and `shift`.
    ///
    /// # Errors
    /// `width` is 0 or `shift` is not finite.
    pub fn two_modes(shift: f64, width: usize) -> Result<Self> {
        let part = |at: f64| Part { share: 0.5, mean: vec![at; width], sd: 1.0 };
        Self::new(vec![part(-shift), part(shift)])
    }

    /// The clusters.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How many coordinates a point has.
    pub fn width(&self) -> usize {
        self.parts[0].mean.len()
    }

    /// Points, row by row: so many of each cluster, one cluster after the other.
    ///
    /// # Errors
    /// Not one count for each cluster.
    pub fn draw(&self, counts: &[usize], random: &mut Random) -> Result<Vec<f64>> {
        let expected = self.parts.len();
        if counts.len() != expected {
            return Err(DepthError::WeightCount { expected, got: counts.len() });
        }
        let mut rows = Vec::with_capacity(counts.iter().sum::<usize>() * self.width());
        for (part, count) in self.parts.iter().zip(counts) {
            for _ in 0..*count {
                rows.extend(part.mean.iter().map(|mean| mean + part.sd * random.normal()));
            }
        }
        Ok(rows)
    }

    /// The logarithm of the density at a point.
    ///
    /// # Errors
    /// A point of another width.
    pub fn log_density(&self, row: &[f64]) -> Result<f64> {
        let (expected, got) = (self.width(), row.len());
        if got != expected {
            return Err(DepthError::Dimension { row: 0, expected, got });
        }
        let terms: Vec<f64> = self.parts.iter().map(|part| part.log_term(row)).collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // The largest term in front: no sum of zeros far away from all clusters.
        Ok(largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln())
    }
}

impl Part {
    fn log_term(&self, row: &[f64]) -> f64 {
        let square: f64 = row.iter().zip(&self.mean).map(|(x, mean)| ((x - mean) / self.sd).powi(2)).sum();
        let scale = 0.5 * std::f64::consts::TAU.ln() + self.sd.ln();
        self.share.ln() - 0.5 * square - self.mean.len() as f64 * scale
    }
}
