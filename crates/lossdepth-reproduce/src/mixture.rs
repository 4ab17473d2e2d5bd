//! Mixtures of spherical Gaussian distributions: samples and densities.
//!
//! ```
//! use lossdepth::numerics::Random;
//! use lossdepth_reproduce::mixture::Mixture;
//! // Two components of 100 points each, as in the paper.
//! let mixture = Mixture::two_modes(3.5, 2)?;
//! let rows = mixture.draw(&[100, 100], &mut Random::new(0))?;
//! assert_eq!(rows.len(), 400);
//! assert!(mixture.log_density(&[3.5, 3.5])? > mixture.log_density(&[0.0, 0.0])?);
//! # Ok::<(), lossdepth::DepthError>(())
//! ```

use crate::positive;
use lossdepth::numerics::Random;
use lossdepth::{DepthError, Result, Rows};

/// A component: $N(\text{mean}, \text{sd}^2 I)$.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Its weight; weights are normalised to sum to 1.
    pub weight: f64,
    /// Its mean.
    pub mean: Vec<f64>,
    /// Its standard deviation, the same in every direction.
    pub sd: f64,
}

/// A mixture of spherical Gaussian distributions, with density
///
/// $$ p(x) = \sum_k \frac{s_k}{(2 \pi \sigma_k^2)^{d/2}} e^{-\|x - \mu_k\|^2 / 2 \sigma_k^2}. $$
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    components: Vec<Component>,
}

impl Mixture {
    /// A mixture of these components.
    ///
    /// # Errors
    /// No component, means that are empty or differ in length, a number that is not finite, a weight or a standard deviation
    /// that is not positive.
    pub fn new(mut components: Vec<Component>) -> Result<Self> {
        let width = components.first().map_or(0, |component| component.mean.len());
        if width == 0 {
            return Err(DepthError::NoColumns);
        }
        for (row, component) in components.iter().enumerate() {
            let got = component.mean.len();
            if got != width {
                return Err(DepthError::Dimension { row, expected: width, got });
            }
            Rows::new(&component.mean, width)?.check_finite()?;
            positive("weight", component.weight)?;
            positive("sd", component.sd)?;
        }
        let total: f64 = components.iter().map(|component| component.weight).sum();
        for component in &mut components {
            component.weight /= total;
        }
        Ok(Self { components })
    }

    /// Two components of variance 1 and equal weight, with means (-`shift`, …) and (`shift`, …).
    ///
    /// # Errors
    /// `width` is 0 or `shift` is not finite.
    pub fn two_modes(shift: f64, width: usize) -> Result<Self> {
        let component = |at: f64| Component { weight: 0.5, mean: vec![at; width], sd: 1.0 };
        Self::new(vec![component(-shift), component(shift)])
    }

    /// The components.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The dimension.
    pub fn width(&self) -> usize {
        self.components[0].mean.len()
    }

    /// A sample, row by row, with a given number of points of each component in order.
    ///
    /// # Errors
    /// There is not one count per component.
    pub fn draw(&self, counts: &[usize], random: &mut Random) -> Result<Vec<f64>> {
        let expected = self.components.len();
        if counts.len() != expected {
            return Err(DepthError::WeightCount { expected, got: counts.len() });
        }
        let mut rows = Vec::with_capacity(counts.iter().sum::<usize>() * self.width());
        for (component, count) in self.components.iter().zip(counts) {
            for _ in 0..*count {
                rows.extend(component.mean.iter().map(|mean| mean + component.sd * random.normal()));
            }
        }
        Ok(rows)
    }

    /// The logarithm of the density at a point.
    ///
    /// # Errors
    /// The point has another dimension.
    pub fn log_density(&self, row: &[f64]) -> Result<f64> {
        let (expected, got) = (self.width(), row.len());
        if got != expected {
            return Err(DepthError::Dimension { row: 0, expected, got });
        }
        let terms: Vec<f64> = self.components.iter().map(|component| component.log_term(row)).collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Log-sum-exp: without the shift all terms underflow far from the means.
        Ok(largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln())
    }
}

impl Component {
    fn log_term(&self, row: &[f64]) -> f64 {
        let square: f64 = row.iter().zip(&self.mean).map(|(x, mean)| ((x - mean) / self.sd).powi(2)).sum();
        let scale = 0.5 * std::f64::consts::TAU.ln() + self.sd.ln();
        self.weight.ln() - 0.5 * square - self.mean.len() as f64 * scale
    }
}
