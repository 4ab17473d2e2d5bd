//! Limited-memory quasi-Newton directions on top of a metric that changes with every iteration.

use crate::numerics::linalg::{axpy, dot};

/// How many pairs are remembered.
const MEMORY: usize = 10;

/// The metric $\operatorname{diag}(h) + k \hat z \hat z^\top$, applied inversely by Sherman–Morrison.
pub(crate) struct Metric<'a> {
    pub(crate) diagonal: &'a [f64],
    pub(crate) query: &'a [f64],
    /// The curvature $k$ along the query.
    pub(crate) curvature: f64,
}

impl Metric<'_> {
    fn solve(&self, x: &mut [f64]) {
        for (x, h) in x.iter_mut().zip(self.diagonal) {
            *x /= h;
        }
        let query_energy: f64 = self
            .query
            .iter()
            .zip(self.diagonal)
            .map(|(z, h)| if *z == 0.0 { 0.0 } else { z * (z / h) })
            .sum();
        let scale = self.curvature * dot(self.query, x) / (1.0 + self.curvature * query_energy);
        for ((x, z), h) in x.iter_mut().zip(self.query).zip(self.diagonal) {
            *x -= scale * (z / h);
        }
    }
}

/// The last few steps and what they did to the gradient.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    steps: Vec<Vec<f64>>,
    changes: Vec<Vec<f64>>,
    inverse: Vec<f64>,
    newest: usize,
}

impl Memory {
    pub(crate) fn clear(&mut self) {
        self.inverse.clear();
        self.newest = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inverse.is_empty()
    }

    /// Remembers a step unless it shows no curvature.
    pub(crate) fn push(&mut self, step: &[f64], change: &[f64]) {
        let along = dot(step, change);
        let floor = f64::EPSILON * dot(step, step).sqrt() * dot(change, change).sqrt();
        if along.is_nan() || along <= floor {
            return;
        }
        let at = if self.inverse.len() < MEMORY { self.inverse.len() } else { (self.newest + 1) % MEMORY };
        if at == self.inverse.len() {
            self.inverse.push(0.0);
        }
        if at == self.steps.len() {
            self.steps.push(Vec::new());
            self.changes.push(Vec::new());
        }
        self.inverse[at] = 1.0 / along;
        self.steps[at].clear();
        self.steps[at].extend_from_slice(step);
        self.changes[at].clear();
        self.changes[at].extend_from_slice(change);
        self.newest = at;
    }

    /// Tells the memory that the penalty grew by `delta` on the coordinates from `free` on.
    pub(crate) fn shift_penalty(&mut self, delta: f64, free: usize) {
        for i in 0..self.inverse.len() {
            axpy(2.0 * delta, &self.steps[i][free..], &mut self.changes[i][free..]);
            let along = dot(&self.steps[i], &self.changes[i]);
            if along > 0.0 {
                self.inverse[i] = 1.0 / along;
            } else {
                self.clear();
                return;
            }
        }
    }

    /// Replaces `x` by the inverse Hessian estimate times `x`: the two-loop recursion.
    pub(crate) fn apply(&self, x: &mut [f64], metric: &Metric<'_>) {
        let count = self.inverse.len();
        let mut weights = [0.0; MEMORY];
        let newest_first = (0..count).map(|age| (self.newest + count - age) % count);
        for i in newest_first.clone() {
            weights[i] = self.inverse[i] * dot(&self.steps[i], x);
            axpy(-weights[i], &self.changes[i], x);
        }
        metric.solve(x);
        for i in newest_first.rev() {
            let back = self.inverse[i] * dot(&self.changes[i], x);
            axpy(weights[i] - back, &self.steps[i], x);
        }
    }
}
