//! Where to start: the exact answer for a Gaussian sample (L9).
//!
//! If the sample were $N(0, \Sigma)$ with $\Sigma = \operatorname{diag}(\sigma_j^2)$, its margins would be
//! $N(b, v)$ with $v = w^\top \Sigma w$, and by Stein's identity the minimiser would be
//!
//! $$ w = -\tfrac12 a \, (\kappa \Sigma + 2 \lambda)^{-1} z, \qquad
//!    \kappa = \tfrac12 \mathbb{E} \ell''(m), \quad a = \mathbb{E}[-\ell'(m)] = -\ell'(-f(z)). $$
//!
//! Three scalars, found without the sample. Under a weak penalty this saves the ten
//! iterations that Newton-type methods need to grow the margins step by step.

use crate::loss::Smooth;

/// Gauss–Hermite quadrature for a standard normal: nodes and weights.
const NODES: [f64; 16] = [
    -6.630_878_198_393_129,
    -5.472_225_705_949_343,
    -4.492_955_302_520_011,
    -3.600_873_624_171_548_7,
    -2.760_245_047_630_701_4,
    -1.951_980_345_716_333_4,
    -1.163_829_100_554_964_8,
    -0.386_760_604_500_557_4,
    0.386_760_604_500_557_4,
    1.163_829_100_554_964_8,
    1.951_980_345_716_333_4,
    2.760_245_047_630_701_4,
    3.600_873_624_171_548_7,
    4.492_955_302_520_011,
    5.472_225_705_949_343,
    6.630_878_198_393_129,
];
const WEIGHTS: [f64; 16] = [
    1.497_814_723_161_841_2e-10,
    1.309_473_216_286_817e-07,
    1.530_003_216_248_732e-05,
    0.000_525_984_926_573_908_7,
    0.007_266_937_601_184_749,
    0.047_284_752_354_014_06,
    0.158_338_372_750_949_7,
    0.286_568_521_238_012,
    0.286_568_521_238_012,
    0.158_338_372_750_949_7,
    0.047_284_752_354_014_06,
    0.007_266_937_601_184_749,
    0.000_525_984_926_573_908_7,
    1.530_003_216_248_732e-05,
    1.309_473_216_286_817e-07,
    1.497_814_723_161_841_2e-10,
];

/// The squared distance (L10) of a query, in the metric at the origin, from which on the warm start saves time (heuristic).
const DISTANCE: f64 = 30.0;

/// How accurately the three numbers are found (heuristics: a start needs few digits): rounds for the curvature and its relative
/// change at the last, and the bracket of the intercept at the last and at most.
const ROUNDS: usize = 8;
const CURVATURE_TOL: f64 = 0.2;
const INTERCEPT_TOL: f64 = 0.1;
const WIDEST: f64 = 1e3;

/// Margins around a mean: $E[-\ell']$ and $\frac12 E \ell''$.
fn gaussian_means(loss: &impl Smooth, mean: f64, spread: f64) -> (f64, f64) {
    let margins = NODES.map(|x| mean + spread * x);
    let mut slopes = [0.0; 16];
    let sums = loss.slopes_along(&margins, &margins, 0.0, &WEIGHTS, &mut slopes);
    (-sums.total, 0.5 * sums.curvature)
}

/// Whether the margins will grow so far from the origin that the warm start saves more than it costs.
pub(crate) fn is_worthwhile(loss: &impl Smooth, moments: &[f64], query: &[f64], reg: f64) -> bool {
    let curvature = 0.5 * loss.hess(0.0);
    let variances = moments[1..].iter().chain([&0.0]);
    let terms = query[1..].iter().zip(variances).map(|(z, v)| z * (z / (curvature * v + 2.0 * reg)));
    terms.sum::<f64>() > DISTANCE
}

/// Writes the Gaussian minimiser for a free intercept (the first coordinate) to `theta`; false if there is
/// no sensible one.
pub(crate) fn gaussian(
    loss: &impl Smooth,
    moments: &[f64],
    query: &[f64],
    reg: f64,
    theta: &mut [f64],
) -> bool {
    let penalty = 2.0 * reg;
    // The distance ρ from the sample's span is the last coordinate, without a moment.
    let coordinates = || query[1..].iter().zip(moments[1..].iter().chain([&0.0]));
    let (mut curvature, mut spread, mut bias, mut slope) = (0.5 * loss.hess(0.0), 0.0, 0.0, 0.0);
    for round in 0..ROUNDS {
        let (mut query_energy, mut spread_energy) = (0.0, 0.0);
        for (z, v) in coordinates() {
            let u = z / (curvature * v + penalty);
            query_energy += z * u;
            spread_energy += v * u * u;
        }
        (bias, slope) = balanced_intercept(loss, query_energy, spread, bias);
        spread = 0.5 * slope * spread_energy.sqrt();
        let found = gaussian_means(loss, bias, spread).1;
        if !(found > 0.0 && found.is_finite() && query_energy.is_finite()) {
            return false;
        }
        let ratio = found / curvature;
        // The first change is large; after that half of it on a logarithmic scale.
        curvature = if round == 0 { found } else { curvature * ratio.sqrt() };
        if (ratio - 1.0).abs() < CURVATURE_TOL {
            break;
        }
    }
    theta[0] = bias;
    for (t, (z, v)) in theta[1..].iter_mut().zip(coordinates()) {
        *t = -0.5 * slope * z / (curvature * v + penalty);
    }
    theta.iter().all(|t| t.is_finite())
}

/// The intercept at which sample and query slope equally hard, and how hard: with
/// $a(b) = E[-\ell'(N(b, v))]$, the root of $a(b) + \ell'(\frac12 a(b) \cdot e_z - b)$, which falls in $b$.
fn balanced_intercept(loss: &impl Smooth, query_energy: f64, spread: f64, guess: f64) -> (f64, f64) {
    let slope = |b: f64| gaussian_means(loss, b, spread).0;
    let imbalance = |b: f64| {
        let a = slope(b);
        a + loss.grad(0.5 * a * query_energy - b)
    };
    let (mut b, mut width) = (guess, 1.0);
    let rising = imbalance(b) > 0.0;
    // Doubled steps until the sign changes, then bisection.
    while width < WIDEST {
        let next = if rising { b + width } else { b - width };
        if (imbalance(next) > 0.0) != rising {
            break;
        }
        b = next;
        width *= 2.0;
    }
    let (mut low, mut high) = if rising { (b, b + width) } else { (b - width, b) };
    while high - low > INTERCEPT_TOL {
        let middle = 0.5 * (low + high);
        if imbalance(middle) > 0.0 { low = middle } else { high = middle }
    }
    let b = 0.5 * (low + high);
    (b, slope(b))
}
