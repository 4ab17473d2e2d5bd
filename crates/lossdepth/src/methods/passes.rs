//! What all methods that read a reference in passes have in common.

use crate::error::{DepthError, Result};
use crate::problem::Run;
use std::sync::atomic::Ordering;

/// How far the passes are.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PassProgress {
    /// The pass, from 1, for this group of queries.
    pub pass: usize,
    /// The rows that were read in this pass, and how many there are.
    pub rows: usize,
    /// How many rows there are.
    pub of: usize,
    /// Queries whose error is not within the tolerance yet, in this group and in groups that come later.
    pub open: usize,
    /// The largest proven error of these after the pass before; infinite in the first pass.
    pub error: f64,
    /// Of the work that this pass began with, its own and that of later ones, the share that is done, where that is known.
    pub share: Option<f64>,
}

/// How a call goes through the passes.
pub(crate) type Watch<'a> = &'a mut (dyn FnMut(&PassProgress) + Send);

/// Runs `work` on the threads that were asked for.
pub(crate) fn on_threads<T: Send, E: From<DepthError> + Send>(
    run: &Run<'_>,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, E> {
    match run.threads {
        None => work(),
        Some(0) => Err(DepthError::Setting { name: "threads", expected: "at least 1", got: 0.0 }.into()),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|e| DepthError::Threads { threads, reason: e.to_string() })?;
            pool.install(work)
        }
    }
}

/// Ends the call if it was cancelled.
pub(crate) fn check_cancelled(run: &Run<'_>) -> Result<()> {
    let cancelled = run.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed));
    if cancelled { Err(DepthError::Cancelled) } else { Ok(()) }
}

/// Refuses rows that are not those that were read before.
pub(crate) fn check_same(found: (usize, f64), expected: (usize, f64)) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let how = match (expected.0, found.0) {
        (rows, other) if rows == other => format!("{rows} rows, then as many of another weight"),
        (rows, other) => format!("{rows} rows, then {other}"),
    };
    Err(DepthError::Table(format!("the reference changed while it was read: {how}")))
}
