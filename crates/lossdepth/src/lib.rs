//! Loss depths: how central is a point? As hard as it is to tell it apart from the data.
//!
//! For a query $z$ and a sample $Q$, train the best classifier of a family to separate $z$ from $Q$;
//! the risk that remains is the *depth* of $z$. Deep means central, shallow means outlying. Every depth
//! comes with a proven bound on its numerical error and a standard error for the sampling.
//!
//! ```
//! use lossdepth::{Depth, Reference, reference::Scale};
//!
//! let sample = Reference::new(&[[1.0, 2.0], [2.0, 1.0], [3.0, 3.5], [2.5, 2.0], [1.5, 3.0]])?;
//! let depth = Depth::logistic().reg(0.1).scale(Scale::Standard).fit(&sample)?;
//!
//! let fits = depth.score(&[[2.0, 2.3], [9.0, -4.0]])?;
//! assert!(fits[0].depth > 0.8 && fits[1].depth < 0.2);
//! assert!(fits.iter().all(|fit| fit.error <= 1e-6));
//!
//! let why = &depth.explain(&[[9.0, -4.0]])?[0];
//! let sum = why.contributions.iter().fold(why.baseline, |sum, c| sum + c);
//! assert_eq!(sum, why.value);
//! # Ok::<(), lossdepth::DepthError>(())
//! ```
//!
//! # How data flows
//!
//! | step | module | what it knows |
//! |---|---|---|
//! | rows in | [`Rows`], [`AsRows`] | a table of numbers |
//! | 1. the sample | [`mod@reference`] | shapes, finiteness, weights, scaling |
//! | 2. the question | [`loss`] × [`hypothesis`] × [`penalty`] | what is minimised |
//! | 3. the answer | `solver` | gradients, bounds; not that this is about depth |
//! | 4. the estimator | [`depth`] | fit, score, threads; [`Method`] and [`Settings`] by name |
//! | 5. why | [`explain`] | weights, contributions, influence |
//! | 6. what it is good for | [`evaluation`], [`baseline`], [`conformal`] | AUC and precision, detectors to compare with, labels and p-values |
//! | 7. random numbers | [`simulate`] | the same numbers from a seed on every machine |
//!
//! The crate reads no file, prints nothing, and has no `unsafe` code.

// rustfmt sorts neighbouring `mod` lines; the comments keep the order of the flow.

mod rows;
// 1. the sample
pub mod reference;
// 2. the question
pub mod loss;
// ×
pub mod hypothesis;
// ×
pub mod penalty;
// 3. the answer
mod solver;
// 4. the estimator
pub mod depth;
// 5. why
pub mod explain;
// 6. what it is good for
pub mod baseline;
// ×
pub mod evaluation;
// ×
pub mod conformal;
// 7. random numbers
pub mod simulate;

// Beneath it all.
mod error;
mod linalg;
mod principal;
mod simd;

pub use depth::method::{Method, Model};
pub use depth::{Depth, Fit, FittedDepth, Preset, Run, Settings};
pub use error::{DepthError, Result};
pub use explain::Explanation;
pub use hypothesis::Intercept;
pub use penalty::{Reported, Variant};
pub use principal::PrincipalAxes;
pub use reference::{Reference, Scale};
pub use rows::{AsRows, Rows};
pub use solver::Stop;
