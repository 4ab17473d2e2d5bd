//! How a call runs: threads, progress, cancellation.

use std::sync::atomic::AtomicBool;

/// How a call runs; no setting here changes a depth.
#[derive(Clone, Copy, Default)]
pub struct Run<'a> {
    /// How many threads to use; by default as many as there are cores.
    pub threads: Option<usize>,
    /// Called from the workers with the number of queries just finished.
    pub progress: Option<&'a (dyn Fn(usize) + Sync)>,
    /// Set it to true from anywhere to end the call with [`DepthError::Cancelled`](crate::DepthError::Cancelled).
    pub cancel: Option<&'a AtomicBool>,
    /// Leave out the standard errors, which take up to half of the time: [`Fit::stderr`](super::Fit::stderr) is not a number then, and all else
    /// the same to the last bit. Explanations always have them.
    pub depths_only: bool,
}

impl Run<'_> {
    /// The same with standard errors, for explanations.
    pub(crate) fn with_standard_errors(&self) -> Self {
        Self { depths_only: false, ..*self }
    }
}
