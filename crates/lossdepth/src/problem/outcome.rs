//! The solution of one query's problem, and the queue that queries come from.

use super::{Fit, Stop};

/// The solution of one query's problem.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) depth: f64,
    /// Bound on the error of the depth, and on how far the objective is above its minimum.
    pub(crate) error: f64,
    pub(crate) gap: f64,
    pub(crate) stderr: f64,
    pub(crate) iterations: usize,
    pub(crate) stop: Stop,
    /// The minimiser, in the coordinates of [`Features`](super::Features).
    pub(crate) theta: Vec<f64>,
    /// $f(z)$ there.
    pub(crate) value: f64,
    /// For the hinge: the multipliers $a_i \in [0, 1]$ of the rows, the query's last. They are kept if
    /// [`Task::multipliers`](super::Task::multipliers) asks for them or the error is above the tolerance.
    pub(crate) multipliers: Option<Vec<f64>>,
}

impl Outcome {
    /// The public part.
    pub(crate) fn fit(&self) -> Fit {
        let Self { stderr, iterations, stop, .. } = *self;
        // Rounding may put a depth just outside of its range.
        let depth = self.depth.clamp(0.0, 1.0);
        Fit { depth, error: self.error, stderr, iterations, stop }
    }
}

/// Queries to solve, handed out one group of coordinates at a time.
pub(crate) trait Queue {
    /// The next few queries with their numbers, at most `most`; empty when there are no more.
    fn next(&mut self, most: usize) -> Vec<(usize, Vec<f64>)>;
    /// Stores the solution of query `id`.
    fn done(&mut self, id: usize, outcome: Outcome);
    /// Whether the caller has cancelled.
    fn cancelled(&self) -> bool;
}
