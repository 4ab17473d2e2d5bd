//! Where to start: the exact answer for a Gaussian sample.
//!
//! If the sample were $N(0, \Sigma)$ with $\Sigma = \operatorname{diag}(\sigma_j^2)$, its margins would be $N(b, v)$ with
//! $v = w^\top \Sigma w$, and by Stein's identity the minimiser would be
//!
//! $$ w = -\tfrac12 a \, (\kappa \Sigma + 2 \lambda)^{-1} z, \qquad
//!    \kappa = \tfrac12 \mathbb{E} \ell''(m), \quad a = \mathbb{E}[-\ell'(m)] = -\ell'(-f(z)). $$
//!
//! Three scalars, found without looking at the sample. Under a weak penalty this jumps over the ten iterations that
//! Newton-type methods need to grow the margins step by step.

use crate::loss::Smooth;

/// Nodes and weights of Gauss–Hermite quadrature for a standard normal.
const NODES: [(f64, f64); 5] = [
    (0.0, 0.406_349_206_349_206_3),
    (1.023_255_663_789_132_6, 0.244_097_502_894_939_05),
    (2.076_847_978_677_83, 0.049_916_406_765_217_87),
    (3.205_429_002_856_47, 0.002_789_141_321_231_769),
    (4.512_745_863_399_783, 2.234_584_400_774_66e-5),
];

/// Gaussian mean of `f` around `mean` with standard deviation `sd`.
fn expectation(mean: f64, sd: f64, f: impl Fn(f64) -> f64) -> f64 {
    let pair = |(x, w): &(f64, f64)| w * (f(mean + sd * x) + f(mean - sd * x));
    NODES[0].1 * f(mean) + NODES[1..].iter().map(pair).sum::<f64>()
}

/// Writes the Gaussian minimiser for a free intercept (the first coordinate) to `theta`; false if there is no
/// sensible one.
pub(crate) fn gaussian(
    loss: &impl Smooth,
    moments: &[f64],
    query: &[f64],
    reg: f64,
    theta: &mut [f64],
) -> bool {
    let penalty = 2.0 * reg;
    let z = &query[1..];
    // The distance ρ from the sample's span is the last coordinate, without a moment.
    let variance = |j: usize| moments.get(j + 1).copied().unwrap_or(0.0);
    let (mut curvature, mut spread, mut bias, mut pull) = (0.5 * loss.hess(0.0), 0.0f64, 0.0, 0.0);
    for round in 0..10 {
        let (mut reach, mut wobble) = (0.0, 0.0);
        for (j, z) in z.iter().enumerate() {
            let u = z / (curvature * variance(j) + penalty);
            reach += z * u;
            wobble += variance(j) * u * u;
        }
        (bias, pull) = balance(loss, reach, spread);
        spread = 0.5 * pull * wobble.sqrt();
        let found = 0.5 * expectation(bias, spread, |m| loss.hess(m));
        if !(found > 0.0 && found.is_finite() && reach.is_finite()) {
            return false;
        }
        let ratio = found / curvature;
        // The first jump is large; after that go half the way on a logarithmic scale.
        curvature = if round == 0 { found } else { curvature * ratio.sqrt() };
        if (ratio - 1.0).abs() < 0.1 {
            break;
        }
    }
    theta[0] = bias;
    for (j, z) in z.iter().enumerate() {
        theta[j + 1] = -0.5 * pull * z / (curvature * variance(j) + penalty);
    }
    theta.iter().all(|t| t.is_finite())
}

/// The intercept at which sample and query pull equally hard, and how hard: with
/// $a(b) = \mathbb{E}[-\ell'(N(b, v))]$, the root of $a(b) + \ell'(\frac12 a(b) \cdot \text{reach} - b)$.
fn balance(loss: &impl Smooth, reach: f64, spread: f64) -> (f64, f64) {
    let pull = |b: f64| -expectation(b, spread, |m| loss.grad(m));
    let excess = |b: f64| {
        let a = pull(b);
        a + loss.grad(0.5 * a * reach - b)
    };
    // The excess falls in b. By symmetry the root is near half of the reach that a pull leaves.
    let (mut low, mut high) = (-1.0, 1.0);
    let mut fall = (excess(low), excess(high));
    while fall.0 < 0.0 && low > -1e3 {
        (high, fall.1) = (low, fall.0);
        low *= 2.0;
        fall.0 = excess(low);
    }
    while fall.1 > 0.0 && high < 1e3 {
        (low, fall.0) = (high, fall.1);
        high *= 2.0;
        fall.1 = excess(high);
    }
    for _ in 0..6 {
        if high - low < 0.02 {
            break;
        }
        let middle = 0.5 * (low + high);
        let e = excess(middle);
        if e > 0.0 { low = middle } else { high = middle }
    }
    let b = 0.5 * (low + high);
    (b, pull(b))
}
