//! Why an experiment failed.

use lossdepth::DepthError;

/// The result of an experiment, or of a part of one.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a [`Host`](crate::Host).
pub type HostError = Box<dyn std::error::Error + Send + Sync>;

/// An error of an experiment.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library refused data or settings.
    #[error(transparent)]
    Depth(#[from] DepthError),
    /// The host could not load or write a file.
    #[error(transparent)]
    Host(HostError),
    /// Anything else, for the user to read.
    #[error("{0}")]
    Message(String),
}
