//! From a duality gap to the error of a depth.

use crate::problem::Variant;

/// What is proven about a candidate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Certificate {
    /// Bound on how far its objective is above the minimum.
    pub(crate) gap: f64,
    /// Bound on the error of the depth that is reported for it.
    pub(crate) error: f64,
    /// Bound on the difference between what is reported and the exact value at the candidate.
    pub(crate) rounding: f64,
}

impl Certificate {
    /// Before anything is proven.
    pub(crate) const NOTHING: Self =
        Self { gap: f64::INFINITY, error: f64::INFINITY, rounding: f64::INFINITY };

    /// From a gap, the norm of $w$ and a bound on the rounding of the depth that is reported: (C10).
    pub(crate) fn new(variant: Variant, gap: f64, reg: f64, norm_w: f64, rounding: f64) -> Self {
        let error = rounding
            + match variant {
                Variant::Risk => risk_error(gap, reg, norm_w),
                Variant::Objective | Variant::Constrained { .. } => gap,
            };
        // After an overflow nothing is proven.
        Self { gap, error: if error.is_nan() { f64::INFINITY } else { error }, rounding }
    }

    /// Whatever the gap says: the depth and what is reported for it lie between 0 and the objective at the candidate.
    pub(crate) fn capped(self, objective: f64) -> Self {
        let ceiling = objective + self.rounding;
        if ceiling < self.error { Self { error: ceiling, ..self } } else { self }
    }
}

impl Default for Certificate {
    fn default() -> Self {
        Self::NOTHING
    }
}

/// The error of the bare risk that a gap in the objective allows: (C10).
pub(crate) fn risk_error(gap: f64, reg: f64, norm_w: f64) -> f64 {
    2.0 * gap + 2.0 * norm_w * reg.sqrt() * gap.sqrt()
}

/// An error counts as progress if it is below this share of the best one before (heuristic).
pub(crate) const PROGRESS: f64 = 0.9;

/// Covers the rounding of a sum of numbers that are not negative, or of a norm: each of up to $4 \cdot 10^{13}$ additions
/// adds less than $2^{-52}$ of the sum, together less than one percent.
pub(crate) const ROUNDED_UP: f64 = 1.01;

/// $\kappa \delta^2$ for a bound $\kappa$ on the curvature, 0 if there is no error $\delta$ (the curvature may be infinite).
pub(crate) fn second_order_change(curvature: f64, error: f64) -> f64 {
    if error == 0.0 { 0.0 } else { curvature * error * error }
}

/// Cuts off what rounding leaves below zero, and leaves NaN alone, unlike `f64::max`.
pub(crate) fn at_least_zero(x: f64) -> f64 {
    if x < 0.0 { 0.0 } else { x }
}
