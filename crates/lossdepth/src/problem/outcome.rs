//! What became of one query, and the queue that queries come from.

use super::{Fit, Stop};

/// What became of one query.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) depth: f64,
    pub(crate) error: f64,
    pub(crate) stderr: f64,
    pub(crate) iterations: usize,
    pub(crate) stop: Stop,
    /// The minimiser, in the coordinates of [`Features`].
    pub(crate) theta: Vec<f64>,
    /// $f(z)$ there, and $\frac12 \sum_i \omega_i |\ell'(m_i)|$.
    pub(crate) value: f64,
    pub(crate) pull: f64,
    /// For the hinge, if [`Task::multipliers`](super::Task::multipliers) asks for them: the multipliers $a_i \in [0, 1]$ of the
    /// rows, the query's last.
    pub(crate) multipliers: Option<Vec<f64>>,
}

impl Outcome {
    /// What the caller gets to see.
    pub(crate) fn fit(&self) -> Fit {
        let Self { stderr, iterations, stop, .. } = *self;
        // Rounding may carry a depth a hair beyond its range.
        let depth = self.depth.clamp(0.0, 1.0);
        Fit { depth, error: self.error + 8.0 * f64::EPSILON * depth, stderr, iterations, stop }
    }
}

/// Queries to solve, handed out one group of coordinates at a time.
pub(crate) trait Queue {
    /// The next few queries with their numbers, at most `most`; empty when there are no more.
    fn next(&mut self, most: usize) -> Vec<(usize, Vec<f64>)>;
    /// Takes the result of query `id`.
    fn done(&mut self, id: usize, outcome: Outcome);
    /// Whether the caller has lost interest.
    fn cancelled(&self) -> bool;
}
