//! The optimality conditions at a dual point: residuals (K8), their violations and the duality gap (K9).

use super::dual_point::DualPoint;
use crate::numerics::simd::{LANES, fold};

/// Residuals of free variables below this multiple of their rounding error have converged (heuristic).
const CONVERGED_RESIDUAL: f64 = 1e3;

/// The duality gap of a dual point and the extremes of its residuals.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Optimality {
    /// The terms of (K9) of variables at a bound, and of free variables.
    pub(super) gap_at_bounds: f64,
    pub(super) gap_free: f64,
    /// $\langle \beta, G \rangle = \|\sum_j \beta_j \varphi_j\|^2$.
    pub(crate) norm_squared: f64,
    /// $\sum_j |\beta_j|$.
    pub(super) sum_abs_beta: f64,
    /// The largest violation of the optimality conditions, without regard to $\sum \beta = 0$.
    pub(super) max_violation: f64,
    /// The largest residual of a variable below its upper bound, and the smallest of one above its lower bound.
    pub(super) max_up: f64,
    pub(super) min_down: f64,
}

impl Optimality {
    /// The duality gap (K9) of the penalised objective.
    pub(crate) fn gap(&self) -> f64 {
        self.gap_at_bounds + self.gap_free
    }

    /// An **estimate** of how far the dual objective is below its maximum, for residuals accurate to `noise`. It decides
    /// when the solver stops; it is part of no error bound.
    ///
    /// At convergence the free variables' terms of the gap, distance to the bound times residual, are rounding errors.
    /// Their Newton step would gain $\frac12 r^\top M^{-1} r / 2 \lambda$, which is estimated with the smallest pivot of the factor.
    pub(crate) fn estimated_suboptimality(&self, point: &DualPoint, noise: f64, reg: f64) -> f64 {
        self.gap_at_bounds + self.estimated_free_suboptimality(point, noise, reg)
    }

    /// The free variables' part of [`estimated_suboptimality`](Self::estimated_suboptimality).
    pub(crate) fn estimated_free_suboptimality(&self, point: &DualPoint, noise: f64, reg: f64) -> f64 {
        let count = point.free.len() as f64;
        let converged = CONVERGED_RESIDUAL * noise;
        let gain =
            (self.max_violation.min(converged) + noise).powi(2) * count / point.factor.smallest_pivot();
        let newton = if self.max_violation <= converged { gain / (2.0 * reg) } else { f64::INFINITY };
        self.gap_free.min(newton)
    }
}

/// Sums over the sample, in units of the kernel: (K9) without its factor $1 / 2 \lambda$.
pub(super) struct ResidualSums {
    pub(super) gap_at_bounds: f64,
    pub(super) gap_free: f64,
    pub(super) norm_squared: f64,
    pub(super) mass: f64,
    pub(super) max_up: f64,
    pub(super) min_down: f64,
}

/// Evaluates the residuals `target - k_beta` in one pass.
///
/// `up` receives the residuals of variables below their upper bounds, `down` minus the residuals of variables above their
/// lower bounds; -∞ for the others.
#[inline(always)]
pub(super) fn residual_sums(
    beta: &[f64],
    k_beta: &[f64],
    high: &[f64],
    target: f64,
    up: &mut [f64],
    down: &mut [f64],
) -> ResidualSums {
    let n = up.len();
    let body = n - n % LANES;
    let (mut gap_at_bounds, mut gap_free) = ([0.0; LANES], [0.0; LANES]);
    let (mut norm_squared, mut mass) = ([0.0; LANES], [0.0; LANES]);
    let (mut max_up, mut max_down) = ([f64::NEG_INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    macro_rules! one {
        ($k:expr, $b:expr, $g:expr, $h:expr, $u:expr, $d:expr) => {
            let r = target - $g;
            let (room_up, room_down) = ($h - $b, -$b);
            let room = if r > 0.0 { room_up } else { room_down };
            let term = room * r;
            let free = (room_up > 0.0) & (room_down < 0.0);
            gap_at_bounds[$k] += if free { 0.0 } else { term };
            gap_free[$k] += if free { term } else { 0.0 };
            norm_squared[$k] += $b * $g;
            mass[$k] += $b;
            let upward = if room_up > 0.0 { r } else { f64::NEG_INFINITY };
            let downward = if room_down < 0.0 { -r } else { f64::NEG_INFINITY };
            max_up[$k] = if upward > max_up[$k] { upward } else { max_up[$k] };
            max_down[$k] = if downward > max_down[$k] { downward } else { max_down[$k] };
            $u = upward;
            $d = downward;
        };
    }
    for c in 0..body / LANES {
        let at = c * LANES..(c + 1) * LANES;
        let (b, g, h) = (&beta[at.clone()], &k_beta[at.clone()], &high[at.clone()]);
        let (up, down) = (&mut up[at.clone()], &mut down[at]);
        for k in 0..LANES {
            one!(k, b[k], g[k], h[k], up[k], down[k]);
        }
    }
    for i in body..n {
        one!(i - body, beta[i], k_beta[i], high[i], up[i], down[i]);
    }
    let largest = |lanes: [f64; LANES]| lanes.iter().fold(f64::NEG_INFINITY, |w, x| w.max(*x));
    ResidualSums {
        gap_at_bounds: fold(gap_at_bounds),
        gap_free: fold(gap_free),
        norm_squared: fold(norm_squared),
        mass: fold(mass),
        max_up: largest(max_up),
        min_down: -largest(max_down),
    }
}
