//! What is proven about a trained network: how far any network, however wide, can be from it.
//!
//! Take a network of one hidden layer, any width, and balance each unit (scale its two weights to the same length, which
//! changes no output): its penalty is $2 \lambda \gamma$ with $\gamma$ the sum over its units of
//! $\|w_\text{in}\| |w_\text{out}|$. So the objective is convex in the function, and has a dual. For
//! $0 \le \alpha_i \le \frac12 \omega_i / \ln 2$ with $\sum_i \alpha_i = \alpha_z$ and
//!
//! $$ M(\alpha) = \sup_{\|u\| = 1} \sum_i \alpha_i \max(0, \langle u, x_i - z \rangle) \le 2 \lambda, $$
//!
//! every network has an objective of at least
//! $D(\alpha) = \frac12 \sum_i \omega_i H(p_i) + \frac12 H(\bar p)$, where $H$ is the binary entropy in bits,
//! $p_i = 2 \alpha_i \ln 2 / \omega_i$ and $\bar p = \sum_i \omega_i p_i$. Other kinks than those through $z$ need no
//! condition of their own: along a direction $u$, $\sum_i \alpha_i \max(0, \langle u, y_i \rangle - t) - \alpha_z
//! \max(0, -t)$ falls with growing $t \ge 0$, and for $t < 0$ equals $\sum_i \alpha_i \max(\langle u, y_i \rangle, t)$,
//! which lies between its limits $\langle u, \sum_i \alpha_i y_i \rangle$ and the value at $t = 0$.
//!
//! The supremum itself is not computed but bounded: $\max(0, a) = \frac12 (a + |a|)$ and the Cauchy–Schwarz inequality
//! give, with $\bar y = \sum_i \alpha_i y_i$,
//!
//! $$ M(\alpha) \le \tfrac12 \Bigl( \|\bar y\| + \sqrt{\sum_i \alpha_i \|y_i\| \cdot
//!    \lambda_{\max} \Bigl( \sum_i \alpha_i \frac{y_i y_i^\top}{\|y_i\|} \Bigr)} \Bigr). $$
//!
//! A multiple of the $\alpha$ of the trained network is then admissible for any penalty.
//! For the bare risk $R^\ast$ of the best network with objective $F^\ast \le F$ and any $r > 0$, the bound for the penalty
//! $r \lambda$ says $R^\ast + r (F^\ast - R^\ast) \ge D_r$. So $R^\ast \ge (D_r - r F) / (1 - r)$ for $r < 1$ and
//! $R^\ast \le (r F - D_r) / (r - 1)$ for $r > 1$.

use super::objective::Cone;
use crate::numerics::linalg::{Matrix, dot, eigen, multiply_symmetric, norm};
use std::f64::consts::LOG2_E;

/// Proven bounds for the best network of any width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    /// For its risk plus penalty; from above the trained network bounds it.
    pub(crate) objective: f64,
    /// For its risk, from below and above.
    pub(crate) risk: (f64, f64),
}

/// An allowance for rounding in sums of numbers of order one.
const ROUNDING: f64 = 1e-12;

/// The bounds that follow from the network `cone` was evaluated at last, of the given objective.
pub(crate) fn prove(cone: &Cone<'_>, objective: f64, reg: f64) -> Bounds {
    let half_weights = cone.half_weights();
    let shares: Vec<f64> =
        cone.pull.iter().zip(half_weights).map(|(a, c)| (a / (LOG2_E * c)).clamp(0.0, 1.0)).collect();
    let mean = (2.0 * dot(&shares, half_weights)).min(1.0);
    let reach = reach(cone) * (1.0 + 1e-10);
    let largest = shares.iter().fold(mean, |m, s| m.max(*s));
    // Up to which multiple the numbers stay within [0, 1], and which one the penalty allows.
    let most = if largest > 0.0 { 1.0 / largest } else { 0.0 };
    // An overflow proves nothing.
    let allowed = if reach.is_nan() { 0.0 } else { 2.0 * reg / reach };
    let value = |t: f64| {
        let sum: f64 = shares.iter().zip(half_weights).map(|(s, c)| c * entropy(t * s)).sum();
        sum + 0.5 * entropy(t * mean) - ROUNDING
    };
    // Concave in the multiple, and best near 1, where it is the objective: smaller ones are admissible too.
    let dual = |penalty: f64| {
        let t = (penalty * allowed).min(most);
        if t > 1.0 { value(t).max(value(1.0)) } else { value(t) }
    };
    let bound = |r: f64| (dual(r) - r * objective) / (1.0 - r);
    let lower = dual(1.0);
    let low = LESS.iter().fold(0.0f64, |m, &r| m.max(bound(r)));
    let high = LESS.iter().map(|r| 1.0 / r).filter(|r| r * allowed <= most);
    let high = high.fold(objective, |m, r| m.min(bound(r)));
    Bounds { objective: lower.max(0.0).min(objective), risk: (low, high.max(low)) }
}

/// The multiples of the penalty that are tried, and their inverses.
const LESS: [f64; 9] = [0.05, 0.2, 0.4, 0.6, 0.75, 0.87, 0.95, 0.98, 0.995];

/// $H(p)$ in bits.
fn entropy(p: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    part(p) + part(1.0 - p)
}

/// An upper bound on $M(\alpha)$.
pub(crate) fn reach(cone: &Cone<'_>) -> f64 {
    let (n, q) = (cone.seen.rows(), cone.width());
    let middle: Vec<f64> = (0..q).map(|j| dot(&cone.pull, cone.seen.col(j))).collect();
    let mut squares = vec![0.0; n];
    for j in 0..q {
        for (s, y) in squares.iter_mut().zip(cone.seen.col(j)) {
            *s += y * y;
        }
    }
    // sqrt(a / |y|) y, so that the product with itself is the matrix in question.
    let scale: Vec<f64> = squares
        .iter()
        .zip(&cone.pull)
        .map(|(s, a)| if *s > 0.0 { (a / s.sqrt()).sqrt() } else { 0.0 })
        .collect();
    let scaled = Matrix::from_fn(n, q, |i, j| scale[i] * cone.seen.at(i, j));
    let mut moments = Matrix::zeros(q, q);
    multiply_symmetric(&mut moments, &scaled, &scaled);
    let trace: f64 = (0..q).map(|j| moments.at(j, j)).sum();
    let top = eigen(&moments).and_then(|(values, _)| values.first().copied());
    let top = top.filter(|t| t.is_finite()).map_or(trace, |t| (t + 1e-12 * trace).min(trace));
    let length: f64 = squares.iter().zip(&cone.pull).map(|(s, a)| a * s.sqrt()).sum();
    0.5 * (norm(&middle) + (length * top).sqrt())
}
