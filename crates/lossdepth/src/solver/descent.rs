//! Quasi-Newton descent for functions that need be neither convex nor smooth.
//!
//! L-BFGS directions ([`Memory`]) on a diagonal metric that the objective proposes, and a line search for the
//! weak Wolfe conditions by bisection, which tolerates kinks (Lewis and Overton 2013). The result is a
//! function of the objective and the starting point alone.

use super::lbfgs::{Memory, Metric};
use crate::numerics::linalg::{axpy, dot};
use crate::problem::Stop;

/// A function to minimise.
pub(crate) trait Objective {
    /// The value at `x`; writes the gradient.
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64;

    /// Writes a positive diagonal, of about the size of the second derivatives at the point of the last
    /// [`evaluate`](Self::evaluate).
    fn metric(&self, x: &[f64], diagonal: &mut [f64]);
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoppingRule {
    /// Stops when the decrease over [`WINDOW`] iterations is at most this share of the value.
    pub(crate) tol: f64,
    /// The largest number of iterations.
    pub(crate) max_iter: usize,
}

/// How a descent ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DescentResult {
    /// The final value.
    pub(crate) value: f64,
    /// How many directions were searched.
    pub(crate) iterations: usize,
    /// `Converged` or `IterationLimit`; `Stalled` if cancelled.
    pub(crate) stop: Stop,
}

/// Progress is measured over this many iterations.
pub(crate) const WINDOW: usize = 5;
/// Sufficient decrease: the share of what the slope predicts (Armijo).
const ARMIJO: f64 = 1e-4;
/// Curvature condition: the slope after a step is at most this share of the slope before.
const CURVATURE: f64 = 0.9;
/// How many steps a line search tries, and the relative width of a bracket that ends it.
const MAX_TRIALS: usize = 25;
const NARROW: f64 = 1e-10;
/// The range of the scale by which the last step corrects the metric (heuristic).
const METRIC_SCALE: (f64, f64) = (1e-6, 1e6);

/// The state of a descent; its memory is reused by the next.
#[derive(Debug, Default)]
pub(crate) struct Descent {
    memory: Memory,
    gradient: Vec<f64>,
    next: Vec<f64>,
    next_gradient: Vec<f64>,
    direction: Vec<f64>,
    diagonal: Vec<f64>,
    zeros: Vec<f64>,
    step: Vec<f64>,
    change: Vec<f64>,
}

impl Descent {
    /// Minimises from `x`, which becomes the best point found; the last call of `evaluate` may be for another
    /// point.
    pub(crate) fn minimise(
        &mut self,
        objective: &mut impl Objective,
        x: &mut [f64],
        stopping_rule: StoppingRule,
        cancelled: impl Fn() -> bool,
    ) -> DescentResult {
        let size = x.len();
        for buffer in [
            &mut self.gradient,
            &mut self.next,
            &mut self.next_gradient,
            &mut self.direction,
            &mut self.diagonal,
            &mut self.zeros,
            &mut self.step,
            &mut self.change,
        ] {
            buffer.clear();
            buffer.resize(size, 0.0);
        }
        self.memory.clear();
        let mut value = objective.evaluate(x, &mut self.gradient);
        objective.metric(x, &mut self.diagonal);
        let mut recent = [f64::INFINITY; WINDOW];
        // The scale of the metric that fits the last step, and whether the last line search failed.
        let (mut metric_scale, mut restarted) = (1.0, false);
        let mut iterations = 0;
        let stop = loop {
            let before = recent[iterations % WINDOW];
            if before - value <= stopping_rule.tol * value.abs() {
                break Stop::Converged;
            }
            recent[iterations % WINDOW] = value;
            if iterations >= stopping_rule.max_iter {
                break Stop::IterationLimit;
            }
            if cancelled() {
                break Stop::Stalled;
            }
            iterations += 1;
            let slope = self.set_direction(metric_scale);
            match self.search(objective, x, value, slope) {
                Some(lower) => {
                    value = lower;
                    restarted = false;
                    metric_scale = self.accept(objective, x);
                }
                // Restart from the gradient direction; if that fails too, the point is stationary to working
                // precision.
                None if restarted => break Stop::Converged,
                None => {
                    restarted = true;
                    self.memory.clear();
                    metric_scale = 1.0;
                }
            }
        };
        DescentResult { value, iterations, stop }
    }

    /// Sets the search direction and returns the slope along it.
    fn set_direction(&mut self, metric_scale: f64) -> f64 {
        for pass in 0..2 {
            for (d, g) in self.direction.iter_mut().zip(&self.gradient) {
                *d = -g;
            }
            for h in &mut self.diagonal {
                *h *= metric_scale;
            }
            let metric = Metric { diagonal: &self.diagonal, query: &self.zeros, curvature: 0.0 };
            self.memory.apply(&mut self.direction, &metric);
            for h in &mut self.diagonal {
                *h /= metric_scale;
            }
            let slope = dot(&self.direction, &self.gradient);
            if slope < 0.0 && slope.is_finite() {
                return slope;
            }
            if pass == 0 {
                self.memory.clear();
            }
        }
        0.0
    }

    /// Searches a step that satisfies the weak Wolfe conditions, or at least sufficient decrease; leaves the
    /// point in `next`.
    fn search(&mut self, objective: &mut impl Objective, x: &[f64], value: f64, slope: f64) -> Option<f64> {
        if slope >= 0.0 {
            return None;
        }
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, 1.0);
        let mut armijo_value = None;
        for _ in 0..MAX_TRIALS {
            for ((n, x), d) in self.next.iter_mut().zip(x).zip(&self.direction) {
                *n = t * d + x;
            }
            let trial = objective.evaluate(&self.next, &mut self.next_gradient);
            if trial.is_finite() && trial <= value + ARMIJO * t * slope {
                let slope_at_trial = dot(&self.next_gradient, &self.direction);
                if slope_at_trial >= CURVATURE * slope {
                    return Some(trial);
                }
                (low, armijo_value) = (t, Some(trial));
                t = if high.is_finite() { 0.5 * (low + high) } else { 4.0 * t };
            } else {
                high = t;
                let excess = trial - value - slope * t;
                let parabola = -0.5 * slope * t * t / excess;
                t = if low == 0.0 && parabola.is_finite() && excess > 0.0 {
                    parabola.clamp(0.1 * t, 0.5 * t)
                } else {
                    0.5 * (low + high)
                };
            }
            if t <= low || t >= high || high - low <= NARROW * high {
                break;
            }
        }
        // The longest step with sufficient decrease.
        armijo_value?;
        for ((n, x), d) in self.next.iter_mut().zip(x).zip(&self.direction) {
            *n = low * d + x;
        }
        Some(objective.evaluate(&self.next, &mut self.next_gradient))
    }

    /// Moves `x` to `next` and updates the memory; returns the scale of the metric that fits the step.
    fn accept(&mut self, objective: &mut impl Objective, x: &mut [f64]) -> f64 {
        self.step.copy_from_slice(&self.next);
        axpy(-1.0, x, &mut self.step);
        self.change.copy_from_slice(&self.next_gradient);
        axpy(-1.0, &self.gradient, &mut self.change);
        self.memory.push(&self.step, &self.change);
        x.copy_from_slice(&self.next);
        self.gradient.copy_from_slice(&self.next_gradient);
        objective.metric(x, &mut self.diagonal);
        let curvature = dot(&self.step, &self.change);
        let size: f64 = self.change.iter().zip(&self.diagonal).map(|(y, h)| y * y / h).sum();
        if curvature > 0.0 && size > 0.0 {
            (size / curvature).clamp(METRIC_SCALE.0, METRIC_SCALE.1)
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's function plus |u - 1|.
    struct NonsmoothRosenbrock;

    impl Objective for NonsmoothRosenbrock {
        fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            gradient[0] = -2.0 * a - 400.0 * x[0] * b;
            gradient[1] = 200.0 * b;
            gradient[2] = (x[2] - 1.0).signum();
            1.0 + a * a + 100.0 * b * b + (x[2] - 1.0).abs()
        }
        fn metric(&self, _: &[f64], diagonal: &mut [f64]) {
            diagonal.fill(1.0);
        }
    }

    #[test]
    fn minimises_a_nonsmooth_rosenbrock_function() {
        let mut x = [-1.2, 1.0, 3.7];
        let stopping_rule = StoppingRule { tol: 1e-12, max_iter: 2000 };
        let result = Descent::default().minimise(&mut NonsmoothRosenbrock, &mut x, stopping_rule, || false);
        assert_eq!(result.stop, Stop::Converged);
        assert!(result.value < 1.0 + 1e-6, "{result:?} {x:?}");
    }

    #[test]
    fn reports_the_iteration_limit() {
        let mut x = [-1.2, 1.0, 3.7];
        let result = Descent::default().minimise(
            &mut NonsmoothRosenbrock,
            &mut x,
            StoppingRule { tol: 0.0, max_iter: 3 },
            || false,
        );
        assert_eq!((result.stop, result.iterations), (Stop::IterationLimit, 3));
    }
}
