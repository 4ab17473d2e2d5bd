//! Loss depths: how central is a point? As hard as it is to tell it apart from the data.
//!
//! For a query $z$ and a sample $Q$, train the best classifier of a family to separate $z$ from $Q$;
//! the risk that remains is the *depth* of $z$. Deep means central, shallow means outlying. Every depth
//! comes with a bound on its numerical error, proven for the linear depths, and a standard error for the sampling.
//!
//! ```
//! use lossdepth::{Depth, Reason, Reference, data::Scale};
//!
//! let sample = Reference::new(&[[1.0, 2.0], [2.0, 1.0], [3.0, 3.5], [2.5, 2.0], [1.5, 3.0]])?;
//! let depth = Depth::logistic().reg(0.1).scale(Scale::Standard).fit(&sample)?;
//!
//! let fits = depth.score(&[[2.0, 2.3], [9.0, -4.0]])?;
//! assert!(fits[0].depth > 0.8 && fits[1].depth < 0.2);
//! assert!(fits.iter().all(|fit| fit.error <= 1e-6));
//!
//! let why = &depth.explain(&[[9.0, -4.0]])?[0];
//! let Reason::Linear { contributions, .. } = &why.reason else { unreachable!() };
//! let sum = contributions.iter().fold(why.baseline, |sum, c| sum + c);
//! assert_eq!(sum, why.value);
//! # Ok::<(), lossdepth::DepthError>(())
//! ```
//!
//! # How data flows
//!
//! | step | module | what it knows |
//! |---|---|---|
//! | 1. the data | [`data`] | tables and their encoding, rows, weights, scaling |
//! | 2. the question | [`loss`], [`kernel`], [`problem`] | what is minimised, and how well |
//! | 3. the answer | `solver`, `certify` | gradients and bounds; not that this is about depth |
//! | 4. the families of classifiers | [`methods`] | what to prepare once, how to isolate queries, why |
//! | 5. the estimator | [`model`] | fit and score; [`Method`] and [`Settings`] by name; models as bytes |
//! | 6. what it is good for | [`stats`], [`outliers`] | p-values, AUC and precision; the oddest rows with reasons |
//!
//! The crate reads no file, prints nothing, and has no `unsafe` code.

// Modules in the order of the flow; each imports from those above it only (`tests/suite/layers.rs`). rustfmt sorts
// neighbouring `mod` lines; the comments keep the order.

mod error;
// arithmetic
pub mod numerics;
// 1. the data
pub mod data;
// 2. the question
pub mod loss;
// ×
pub mod kernel;
// ×
pub mod problem;
// 3. the answer, and what is proven of it
mod certify;
// ×
mod solver;
// 4. families of classifiers
pub mod methods;
// 5. the estimator, by name
pub mod model;
// 6. what it is good for
pub mod stats;
// ×
pub mod outliers;

pub use data::{AsRows, Reference, Rows, Scale};
pub use error::{DepthError, Result};
pub use methods::{Explanation, Reason};
pub use model::{Depth, FittedDepth, Method, Model, Preset, Settings};
pub use problem::{Fit, Intercept, PrincipalAxes, Reported, Run, Stop, Variant};
