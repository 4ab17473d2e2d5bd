//! Bounds on the best network of one hidden layer, of any width, by weak duality: (M8)–(M11).
//!
//! The coordinates $y_i$ are rotated to principal axes with rounding. If each is off by at most $\rho$, $M(\alpha)$ is off by at most
//! $\rho \sum_i \alpha_i$, since $\max(0, \cdot)$ has slope at most 1, and the objective of a network with Lipschitz constant $L$ by at
//! most $\frac12 \rho L / \ln 2$, since the loss has slope at most $1 / \ln 2$.

use super::objective::ConvexObjective;
use crate::numerics::linalg::{Matrix, dot, eigen, multiply_symmetric, norm};
use std::f64::consts::LOG2_E;

/// Bounds on the best network of any width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NetworkBounds {
    /// A lower bound on its risk plus penalty; the trained network gives an upper one.
    pub(crate) objective: f64,
    /// A lower and an upper bound on its risk.
    pub(crate) risk: (f64, f64),
}

/// The rounding of sums of numbers of order one, and of an eigenvalue as a share of the trace (heuristic: some 5000 roundings).
pub(super) const ROUNDING: f64 = 1e-12;
/// The relative rounding of the bound on $M(\alpha)$ (heuristic).
const DUAL_NORM_ROUNDING: f64 = 1e-10;
/// The ratios $r < 1$ that are tried in (M11), and their inverses.
const PENALTY_RATIOS: [f64; 9] = [0.05, 0.2, 0.4, 0.6, 0.75, 0.87, 0.95, 0.98, 0.995];

/// The bounds that follow from the network that `problem` was last evaluated at.
///
/// `objective` is an upper bound on its objective, `coordinate_error` one on the error of every $y_i$.
pub(crate) fn bounds(
    problem: &ConvexObjective<'_>,
    objective: f64,
    reg: f64,
    coordinate_error: f64,
) -> NetworkBounds {
    let half_weights = problem.half_weights();
    let p: Vec<f64> =
        problem.alpha.iter().zip(half_weights).map(|(a, c)| (a / (LOG2_E * c)).clamp(0.0, 1.0)).collect();
    let mean = (2.0 * dot(&p, half_weights)).min(1.0);
    let coordinate_part = coordinate_error * problem.alpha.iter().sum::<f64>();
    let dual_norm = (dual_norm_bound(problem) + coordinate_part) * (1.0 + DUAL_NORM_ROUNDING);
    // The largest multiple of p within [0, 1], and the largest that is feasible for the penalty; NaN proves nothing.
    let largest = p.iter().fold(mean, |m, s| m.max(*s));
    let max_multiple = if largest > 0.0 { 1.0 / largest } else { 0.0 };
    let feasible = if dual_norm.is_nan() { 0.0 } else { 2.0 * reg / dual_norm };
    let value = |t: f64| {
        let sum: f64 = p.iter().zip(half_weights).map(|(p, c)| c * entropy(t * p)).sum();
        sum + 0.5 * entropy(t * mean) - ROUNDING
    };
    // Concave in the multiple, and best near 1, where it is the objective; smaller multiples are feasible too.
    let dual = |ratio: f64| {
        let t = (ratio * feasible).min(max_multiple);
        if t > 1.0 { value(t).max(value(1.0)) } else { value(t) }
    };
    let bound = |r: f64| (dual(r) - r * objective) / (1.0 - r);
    let lower = dual(1.0);
    let low = PENALTY_RATIOS.iter().fold(0.0f64, |m, &r| m.max(bound(r)));
    let high = PENALTY_RATIOS.iter().map(|r| 1.0 / r).filter(|r| r * feasible <= max_multiple);
    let high = high.fold(objective, |m, r| m.min(bound(r)));
    NetworkBounds { objective: lower.max(0.0).min(objective), risk: (low, high.max(low)) }
}

/// $H(p)$ in bits.
fn entropy(p: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    part(p) + part(1.0 - p)
}

/// An upper bound on $M(\alpha)$ (M10), up to rounding.
fn dual_norm_bound(problem: &ConvexObjective<'_>) -> f64 {
    let (differences, alpha) = (&problem.differences, &problem.alpha);
    let (n, q) = (differences.rows(), problem.width());
    let mean: Vec<f64> = (0..q).map(|j| dot(alpha, differences.col(j))).collect();
    let mut squares = vec![0.0; n];
    for j in 0..q {
        for (s, y) in squares.iter_mut().zip(differences.col(j)) {
            *s += y * y;
        }
    }
    // (α / ‖y‖)^½ y: its products with itself are the matrix in (M10).
    let scale: Vec<f64> =
        squares.iter().zip(alpha).map(|(s, a)| if *s > 0.0 { (a / s.sqrt()).sqrt() } else { 0.0 }).collect();
    let scaled = Matrix::from_fn(n, q, |i, j| scale[i] * differences.at(i, j));
    let mut moments = Matrix::zeros(q, q);
    multiply_symmetric(&mut moments, &scaled, &scaled);
    let trace: f64 = (0..q).map(|j| moments.at(j, j)).sum();
    let top = eigen(&moments).and_then(|(values, _)| values.first().copied());
    let top = top.filter(|t| t.is_finite()).map_or(trace, |t| (t + ROUNDING * trace).min(trace));
    let length: f64 = squares.iter().zip(alpha).map(|(s, a)| a * s.sqrt()).sum();
    0.5 * (norm(&mean) + (length * top).sqrt())
}
