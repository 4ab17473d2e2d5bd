//! Data to try things on: random numbers that are the same everywhere, and Gaussian mixtures with their densities.
//!
//! ```
//! use lossdepth::numerics::Random;
//! use lossdepth::simulate::Mixture;
//! // Two clusters of 100 points each, as in the paper.
//! let mixture = Mixture::two_modes(3.5, 2)?;
//! let rows = mixture.draw(&[100, 100], &mut Random::new(0))?;
//! assert_eq!(rows.len(), 400);
//! assert!(mixture.log_density(&[3.5, 3.5])? > mixture.log_density(&[0.0, 0.0])?);
//! # Ok::<(), lossdepth::DepthError>(())
//! ```

mod mixture;

pub use mixture::{Mixture, Part};
