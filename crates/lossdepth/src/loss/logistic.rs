use super::{Dual, LineSums, Loss, Single, Smooth, blocks};
use crate::numerics::elementary;
use crate::numerics::linalg::dot;
use crate::numerics::simd::vectorised;
use std::f64::consts::{LN_2, LOG2_E};

/// The logistic loss in bits, $\ell(m) = \log_2(1 + e^{-m})$.
///
/// ```
/// use lossdepth::loss::{Logistic, Loss};
/// assert_eq!(Logistic.value(0.0), 1.0);
/// assert!(Logistic.value(-1e4).is_finite() && Logistic.value(1e4) >= 0.0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Logistic;

/// $\sigma(-m) = 1 / (1 + e^m)$ without overflow.
#[inline(always)]
fn sigmoid_neg(m: f64, e: f64) -> f64 {
    // e = exp(-|m|)
    (if m >= 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// Slope and curvature from one exponential and one division.
#[inline(always)]
fn kernel(m: f64) -> (f64, f64) {
    let s = sigmoid_neg(m, elementary::exp_neg(-m.abs()));
    // s(1-s) loses all digits for m << 0, where s rounds to 1; there the curvature is below 1e-16 anyway.
    (-LOG2_E * s, LOG2_E * (s * (1.0 - s)))
}

/// [`kernel`] in single precision.
#[inline(always)]
fn kernel_single(m: f32) -> (f32, f32) {
    const SCALE: f32 = std::f32::consts::LOG2_E;
    let e = elementary::exp_neg_single(-m.abs());
    let s = (if m >= 0.0 { e } else { 1.0 }) / (1.0 + e);
    (-SCALE * s, SCALE * (s * (1.0 - s)))
}

impl Loss for Logistic {
    fn value(&self, m: f64) -> f64 {
        // log(1 + exp(-m)) overflows for m << 0; this form does not.
        LOG2_E * ((-m).max(0.0) + (-m.abs()).exp().ln_1p())
    }
    fn grad(&self, m: f64) -> f64 {
        -LOG2_E * sigmoid_neg(m, (-m.abs()).exp())
    }
    fn lipschitz(&self) -> f64 {
        LOG2_E
    }
    fn total(&self, margins: &[f64], weights: &[f64]) -> f64 {
        vectorised!({
            LOG2_E
                * blocks::weighted_sum(
                    margins,
                    weights,
                    #[inline(always)]
                    |m| (-m).max(0.0) + elementary::ln_1p_unit(elementary::exp_neg(-m.abs())),
                )
        })
    }
}

impl Smooth for Logistic {
    fn hess(&self, m: f64) -> f64 {
        let e = (-m.abs()).exp();
        LOG2_E * e / ((1.0 + e) * (1.0 + e))
    }
    fn curvature_bound(&self, low: f64, high: f64) -> f64 {
        // Largest at 0, and falling on either side of it.
        let nearest = if low > 0.0 { low } else { high.min(0.0) };
        (1.0 + 8.0 * f64::EPSILON) * self.hess(nearest)
    }
    fn slopes_along(&self, m: &[f64], d: &[f64], step: f64, weights: &[f64], slopes: &mut [f64]) -> LineSums {
        vectorised!(blocks::slopes_along(m, d, step, weights, slopes, kernel))
    }
    fn losses_and_curvatures(
        &self,
        margins: &[f64],
        weights: &[f64],
        losses: &mut [f64],
        curvatures: &mut [f64],
    ) -> f64 {
        vectorised!({
            for (((&m, &c), l), h) in margins.iter().zip(weights).zip(&mut *losses).zip(curvatures) {
                let e = elementary::exp_neg(-m.abs());
                *l = LOG2_E * ((-m).max(0.0) + elementary::ln_1p_unit(e));
                *h = c * (LOG2_E * e / ((1.0 + e) * (1.0 + e)));
            }
        });
        dot(losses, weights)
    }
    fn losses_and_slopes(
        &self,
        margins: &[f64],
        weights: &[f64],
        losses: &mut [f64],
        slopes: &mut [f64],
    ) -> f64 {
        vectorised!({
            for (((&m, &c), l), s) in margins.iter().zip(weights).zip(&mut *losses).zip(slopes) {
                let e = elementary::exp_neg(-m.abs());
                // One division serves the slope, over 1 + e, and the logarithm, over 2 + e.
                let shared = 1.0 / ((1.0 + e) * (2.0 + e));
                let share = (if m >= 0.0 { e } else { 1.0 }) * (shared * (2.0 + e));
                *l = LOG2_E * ((-m).max(0.0) + elementary::ln_1p_from(e * (shared * (1.0 + e))));
                *s = c * (-LOG2_E * share);
            }
        });
        dot(losses, weights)
    }
    fn single(&self) -> Option<&dyn Single> {
        Some(self)
    }
}

impl Single for Logistic {
    fn slopes_along_single(
        &self,
        m: &[f32],
        d: &[f32],
        step: f32,
        weights: &[f32],
        slopes: &mut [f32],
    ) -> LineSums {
        vectorised!(blocks::slopes_along_single(m, d, step, weights, slopes, kernel_single))
    }
    fn curvatures_single(&self, margins: &[f32], weights: &[f32], curvatures: &mut [f32]) {
        vectorised!({
            for ((&m, &c), h) in margins.iter().zip(weights).zip(curvatures) {
                *h = c * kernel_single(m).1;
            }
        });
    }
}

impl Dual for Logistic {
    fn conjugate(&self, a: f64) -> f64 {
        let t = a * LN_2;
        let entropy = |t: f64| if t == 0.0 { 0.0 } else { t * t.ln() };
        // Slopes of large negative margins round to just beyond the domain's end.
        if (-1e-15..0.0).contains(&t) || (1.0..1.0 + 1e-15).contains(&t) {
            0.0
        } else if (0.0..1.0).contains(&t) {
            (entropy(t) + (1.0 - t) * (-t).ln_1p()) * LOG2_E
        } else {
            f64::INFINITY
        }
    }
    fn excess(&self, m: f64, shift: f64, slack: f64) -> f64 {
        // The relative entropy of two Bernoulli distributions.
        let e = (-m.abs()).exp();
        let (heads, tails) = (sigmoid_neg(m, e), sigmoid_neg(-m, e));
        let (shift, off) = (shift * LN_2, (shift.abs() + slack) * LN_2);
        if shift > tails {
            return f64::INFINITY;
        }
        let (ln_heads, ln_tails) = (-(m.max(0.0) + e.ln_1p()), -((-m).max(0.0) + e.ln_1p()));
        LOG2_E * (elementary::entropy(heads, ln_heads, off) + elementary::entropy(tails, ln_tails, off))
    }
}
