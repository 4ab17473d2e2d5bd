//! The experiments of the paper *Data Depth as a Risk*: tables, figures and propositions.
//!
//! [`run`] runs some [`Experiment`]s. An experiment computes *cells*, which are cached in the output folder, and makes a page
//! of them (Markdown), tables for programs (CSV) and pictures (PNG and SVG). A cell is computed again only if its settings,
//! its data or the version change.
//!
//! The crate knows no file formats and prints nothing: the program that runs the experiments is a [`Host`], which loads data
//! sets, writes files and shows messages.
//!
//! | module | what it has |
//! |---|---|
//! | `experiments` | a module for each experiment |
//! | `session`, `report` | options, the cache of cells, the output; pages and tables |
//! | `candidate` | [`Candidate`]: a method or baseline with settings, by name |
//! | [`baseline`] | detectors to compare with: one-class SVM, local outlier factor, neighbour distance |
//! | [`mixture`] | Gaussian mixtures: samples and densities |
//! | [`bounds`] | the constants of the propositions: Lipschitz constants, convergence rates |

mod candidate;
mod compared;
mod data;
mod error;
mod experiments;
mod forecast;
mod format;
mod grid;
mod host;
mod report;
mod selection;
mod session;
mod statistics;

pub mod baseline;
pub mod bounds;
pub mod mixture;

pub use candidate::{Candidate, CommonSettings, FittedCandidate, Scores};
pub use data::Data;
pub use error::{Error, HostError, Result};
pub use experiments::{Experiment, run};
pub use host::Host;
pub use session::Options;

use lossdepth::DepthError;

/// Checks that a number is positive and finite.
fn positive(name: &'static str, got: f64) -> Result<(), DepthError> {
    if got > 0.0 && got.is_finite() {
        Ok(())
    } else {
        Err(DepthError::Setting { name, expected: "a positive, finite number", got })
    }
}
