//! Quasi-Newton descent for functions that are neither convex nor quite smooth.
//!
//! Limited-memory directions ([`Memory`]) on a diagonal metric the objective proposes, and a line search for the weak
//! Wolfe conditions by bisection, which copes with kinks (Lewis and Overton 2013). Everything is a function of the
//! objective and the start alone.

use super::lbfgs::{Memory, Metric};
use crate::numerics::linalg::{axpy, dot};
use crate::problem::Stop;

/// What is to be minimised.
pub(crate) trait Objective {
    /// The value at `x`; writes the gradient.
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64;

    /// A positive diagonal about as large as the second derivatives where [`evaluate`](Self::evaluate) was called last.
    fn metric(&self, x: &[f64], diagonal: &mut [f64]);
}

/// When to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// The decrease over [`WINDOW`] iterations, as a share of the value, that is not worth going on for.
    pub(crate) tol: f64,
    /// How many iterations there may be.
    pub(crate) max_iter: usize,
}

/// How a descent ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// The value reached.
    pub(crate) value: f64,
    /// How many directions were tried.
    pub(crate) iterations: usize,
    /// `Converged` or `IterationLimit`; `Stalled` if the caller wanted to stop.
    pub(crate) stop: Stop,
}

/// Progress is measured over this many iterations.
pub(crate) const WINDOW: usize = 5;
/// A step must bring this share of the decrease its slope promises.
const ARMIJO: f64 = 1e-4;
/// The slope after a step is at most this share of the slope before.
const CURVATURE: f64 = 0.9;
/// How often a step may be changed.
const TRIALS: usize = 25;

/// Scratch memory, used again from one descent to the next.
#[derive(Debug, Default)]
pub(crate) struct Descent {
    memory: Memory,
    gradient: Vec<f64>,
    next: Vec<f64>,
    next_gradient: Vec<f64>,
    direction: Vec<f64>,
    diagonal: Vec<f64>,
    nothing: Vec<f64>,
    step: Vec<f64>,
    change: Vec<f64>,
}

impl Descent {
    /// Improves `x`; the last call of `evaluate` is not necessarily for what is left in `x`.
    pub(crate) fn minimise(
        &mut self,
        objective: &mut impl Objective,
        x: &mut [f64],
        rule: Rule,
        cancelled: impl Fn() -> bool,
    ) -> End {
        let size = x.len();
        for buffer in [
            &mut self.gradient,
            &mut self.next,
            &mut self.next_gradient,
            &mut self.direction,
            &mut self.diagonal,
            &mut self.nothing,
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
        // How the metric compares with the last step, and whether the last direction led nowhere.
        let (mut stretch, mut stuck) = (1.0, false);
        let mut iterations = 0;
        let stop = loop {
            let before = recent[iterations % WINDOW];
            if before - value <= rule.tol * value.abs() {
                break Stop::Converged;
            }
            recent[iterations % WINDOW] = value;
            if iterations >= rule.max_iter {
                break Stop::IterationLimit;
            }
            if cancelled() {
                break Stop::Stalled;
            }
            iterations += 1;
            let slope = self.point_down(stretch);
            match self.search(objective, x, value, slope) {
                Some(lower) => {
                    value = lower;
                    stuck = false;
                    stretch = self.accept(objective, x);
                }
                // From scratch, along the plain gradient; if that leads nowhere either, this is the end.
                None if stuck => break Stop::Converged,
                None => {
                    stuck = true;
                    self.memory.clear();
                    stretch = 1.0;
                }
            }
        };
        End { value, iterations, stop }
    }

    /// Sets the direction and returns the slope along it.
    fn point_down(&mut self, stretch: f64) -> f64 {
        for pass in 0..2 {
            for (d, g) in self.direction.iter_mut().zip(&self.gradient) {
                *d = -g;
            }
            for h in &mut self.diagonal {
                *h *= stretch;
            }
            let metric = Metric { diagonal: &self.diagonal, query: &self.nothing, curvature: 0.0 };
            self.memory.apply(&mut self.direction, &metric);
            for h in &mut self.diagonal {
                *h /= stretch;
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

    /// Finds a step that satisfies the weak Wolfe conditions, or at least the first of them, and leaves it in `next`.
    fn search(&mut self, objective: &mut impl Objective, x: &[f64], value: f64, slope: f64) -> Option<f64> {
        if slope >= 0.0 {
            return None;
        }
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, 1.0);
        let mut reached = None;
        for _ in 0..TRIALS {
            for ((n, x), d) in self.next.iter_mut().zip(x).zip(&self.direction) {
                *n = t * d + x;
            }
            let at = objective.evaluate(&self.next, &mut self.next_gradient);
            if at.is_finite() && at <= value + ARMIJO * t * slope {
                let along = dot(&self.next_gradient, &self.direction);
                if along >= CURVATURE * slope {
                    return Some(at);
                }
                (low, reached) = (t, Some(at));
                t = if high.is_finite() { 0.5 * (low + high) } else { 4.0 * t };
            } else {
                high = t;
                let excess = at - value - slope * t;
                let parabola = -0.5 * slope * t * t / excess;
                t = if low == 0.0 && parabola.is_finite() && excess > 0.0 {
                    parabola.clamp(0.1 * t, 0.5 * t)
                } else {
                    0.5 * (low + high)
                };
            }
            if t <= low || t >= high || high - low <= 1e-10 * high {
                break;
            }
        }
        // The longest step that went down enough.
        reached?;
        for ((n, x), d) in self.next.iter_mut().zip(x).zip(&self.direction) {
            *n = low * d + x;
        }
        Some(objective.evaluate(&self.next, &mut self.next_gradient))
    }

    /// Moves `x` to `next` and learns from the step; returns how the metric should be stretched.
    fn accept(&mut self, objective: &mut impl Objective, x: &mut [f64]) -> f64 {
        self.step.copy_from_slice(&self.next);
        axpy(-1.0, x, &mut self.step);
        self.change.copy_from_slice(&self.next_gradient);
        axpy(-1.0, &self.gradient, &mut self.change);
        self.memory.push(&self.step, &self.change);
        x.copy_from_slice(&self.next);
        self.gradient.copy_from_slice(&self.next_gradient);
        objective.metric(x, &mut self.diagonal);
        let along = dot(&self.step, &self.change);
        let size: f64 = self.change.iter().zip(&self.diagonal).map(|(y, h)| y * y / h).sum();
        if along > 0.0 && size > 0.0 { (size / along).clamp(1e-6, 1e6) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley, and beside it a kink |u - 1|.
    struct Valley;

    impl Objective for Valley {
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
    fn goes_down_a_bent_valley_with_a_kink() {
        let mut x = [-1.2, 1.0, 3.7];
        let rule = Rule { tol: 1e-12, max_iter: 2000 };
        let end = Descent::default().minimise(&mut Valley, &mut x, rule, || false);
        assert_eq!(end.stop, Stop::Converged);
        assert!(end.value < 1.0 + 1e-6, "{end:?} {x:?}");
    }

    #[test]
    fn says_when_iterations_run_out() {
        let mut x = [-1.2, 1.0, 3.7];
        let end = Descent::default().minimise(&mut Valley, &mut x, Rule { tol: 0.0, max_iter: 3 }, || false);
        assert_eq!((end.stop, end.iterations), (Stop::IterationLimit, 3));
    }
}
