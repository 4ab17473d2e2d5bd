use super::{Dual, LineSums, Loss, Smooth, blocks};
use crate::numerics::simd::vectorised;

/// The squared hinge loss $\ell(m) = \max(0, 1 - m)^2$.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SquaredHinge;

impl Loss for SquaredHinge {
    fn value(&self, m: f64) -> f64 {
        let short = (1.0 - m).max(0.0);
        short * short
    }
    fn grad(&self, m: f64) -> f64 {
        -2.0 * (1.0 - m).max(0.0)
    }
    fn lipschitz(&self) -> f64 {
        f64::INFINITY
    }
}

impl Smooth for SquaredHinge {
    fn hess(&self, m: f64) -> f64 {
        if m < 1.0 { 2.0 } else { 0.0 }
    }
    fn curvature_bound(&self, low: f64, _: f64) -> f64 {
        if low < 1.0 { 2.0 } else { 0.0 }
    }
    fn derivatives_near(&self, m: f64, rest: f64) -> (f64, f64) {
        let short = (1.0 - m) - rest;
        if short > 0.0 { (-2.0 * short, 2.0) } else { (0.0, 0.0) }
    }
    fn slopes_along(&self, m: &[f64], d: &[f64], step: f64, weights: &[f64], slopes: &mut [f64]) -> LineSums {
        vectorised!({
            blocks::slopes_along(
                m,
                d,
                step,
                weights,
                slopes,
                #[inline(always)]
                |m| (-2.0 * (1.0 - m).max(0.0), if m < 1.0 { 2.0 } else { 0.0 }),
            )
        })
    }
}

impl Dual for SquaredHinge {
    fn conjugate(&self, a: f64) -> f64 {
        if a >= 0.0 { a * (0.25 * a - 1.0) } else { f64::INFINITY }
    }
    fn excess(&self, m: f64, shift: f64, slack: f64) -> f64 {
        let off = shift.abs() + slack;
        0.25 * off * off + off * (m - 1.0).max(0.0)
    }
}
