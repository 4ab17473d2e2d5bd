//! Anderson acceleration of the fixed-point iteration $r \leftarrow E \alpha(f(r))$.

use crate::numerics::linalg::{Cholesky, Matrix, axpy, dot};

/// How many earlier iterates the next one is combined from.
const MEMORY: usize = 4;
/// Relaxation factors below this mean that the iteration no longer converges (heuristic).
const MIN_RELAXATION: f64 = 0.2;

/// An iteration that leaves more than this share of $\delta$ is slow (heuristic).
const SLOW: f64 = 0.95;
/// What is added to the normal equations, as a share of their diagonal, so that dependent changes have a solution; and the
/// size of its coefficients from which on a plain step is safer (heuristics).
const DAMPING: f64 = 1e-10;
const LARGE_COEFFICIENT: f64 = 1e2;

/// The state of the fixed-point iteration for $r = E \hat\alpha$.
pub(super) struct FixedPoint {
    /// The current $r$ and the coefficients $\hat\alpha$ it belongs to.
    pub(super) residual_term: Vec<f64>,
    pub(super) alpha: Vec<f64>,
    /// $\delta$ of the last iterate, see [`solver`](super::solver).
    pub(super) last_delta: f64,
    relaxation: f64,
    history: Vec<FixedPointStep>,
}

/// An iterate $(r, \hat\alpha)$ and how the map would change it.
struct FixedPointStep {
    residual_term: Vec<f64>,
    alpha: Vec<f64>,
    residual_change: Vec<f64>,
    alpha_change: Vec<f64>,
}

impl FixedPoint {
    /// Starts at $r = 0$.
    pub(super) fn new(points: usize) -> Self {
        Self {
            residual_term: vec![0.0; points],
            alpha: vec![0.0; points],
            last_delta: f64::INFINITY,
            relaxation: 1.0,
            history: Vec::new(),
        }
    }

    /// Whether an iterate with this `delta` is hardly better than the last one.
    pub(super) fn is_slow(&self, delta: f64) -> bool {
        delta > SLOW * self.last_delta
    }

    /// Whether a slow iteration has also been relaxed as far as is useful.
    pub(super) fn is_exhausted(&self) -> bool {
        self.relaxation < MIN_RELAXATION
    }

    /// The next iterate, where the map takes the current one to `mapped` $= E \alpha$ and `alpha`.
    pub(super) fn advance(&mut self, mapped: &[f64], alpha: &[f64], delta: f64) {
        let step = FixedPointStep {
            residual_term: self.residual_term.clone(),
            alpha: self.alpha.clone(),
            residual_change: difference(mapped, &self.residual_term),
            alpha_change: difference(alpha, &self.alpha),
        };
        if let Some(last) = self.history.last() {
            // The map has the derivative −Q with Q ⪰ 0: with relaxation θ a change shrinks to 1 − θ(1 + q) of itself. The
            // observed shrinkage gives q.
            let before = dot(&last.residual_change, &last.residual_change);
            let along = dot(&last.residual_change, &step.residual_change);
            let q = (1.0 - along / before) / self.relaxation - 1.0;
            if self.history.len() == 1 && q > 0.0 && q.is_finite() {
                self.relaxation = 1.0 / (1.0 + 0.5 * q);
            }
        }
        if self.is_slow(delta) {
            self.relaxation *= 0.5;
            self.history.clear();
        }
        step.extrapolate(&self.history, self.relaxation, &mut self.residual_term, &mut self.alpha);
        if self.history.len() == MEMORY {
            self.history.remove(0);
        }
        self.history.push(step);
        self.last_delta = delta;
    }

    /// Discards earlier iterates, after the map itself has changed.
    pub(super) fn restart(&mut self) {
        self.history.clear();
        self.last_delta = f64::INFINITY;
    }
}

impl FixedPointStep {
    /// Anderson's step: the affine combination of this iterate and earlier ones whose change is least in norm, and
    /// `relaxation` times that change.
    fn extrapolate(&self, earlier: &[Self], relaxation: f64, residual_term: &mut [f64], alpha: &mut [f64]) {
        axpy(relaxation, &self.residual_change, residual_term);
        axpy(relaxation, &self.alpha_change, alpha);
        let columns: Vec<Vec<f64>> =
            earlier.iter().map(|t| difference(&self.residual_change, &t.residual_change)).collect();
        let count = columns.len();
        let mut normal =
            Matrix::from_fn(count, count, |i, j| if i >= j { dot(&columns[i], &columns[j]) } else { 0.0 });
        let mut coefficients: Vec<f64> = columns.iter().map(|c| dot(c, &self.residual_change)).collect();
        if count == 0 {
            return;
        }
        let Some(factor) = Cholesky::damped(&mut normal, DAMPING) else { return };
        factor.solve(&mut coefficients);
        // NaN counts as large.
        if !coefficients.iter().all(|s| s.abs() < LARGE_COEFFICIENT) {
            return;
        }
        let mut add = |coefficient: f64, step: &Self| {
            axpy(coefficient, &step.residual_term, residual_term);
            axpy(coefficient * relaxation, &step.residual_change, residual_term);
            axpy(coefficient, &step.alpha, alpha);
            axpy(coefficient * relaxation, &step.alpha_change, alpha);
        };
        add(-coefficients.iter().sum::<f64>(), self);
        coefficients.iter().zip(earlier).for_each(|(coefficient, step)| add(*coefficient, step));
    }
}

/// $a - b$.
fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = a.to_vec();
    axpy(-1.0, b, &mut out);
    out
}
