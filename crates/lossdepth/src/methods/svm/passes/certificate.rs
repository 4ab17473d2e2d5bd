//! The depth of a query from bounds on $\|\mu\|^2$ and the mean embedding at the query: (P13)–(P15) of docs/math/passes.md.

use super::mean_norm::MeanNorm;
use crate::certify::gap::{ROUNDED_UP, at_least_zero, risk_error};
use crate::problem::{Fit, Stop, Task, Variant};

/// What is known of a query.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryMean {
    /// $\mu(z)$, and a bound on its error as a multiple of the largest kernel value.
    pub(super) mean: f64,
    pub(super) unit: f64,
    /// $k(z, z)$, and a bound on the relative error of this and of the largest $k(x, x)$.
    pub(super) diagonal: f64,
    pub(super) diagonal_unit: f64,
}

/// By how much less a depth changes than the squared distance of the query from $\mu$: (K7).
pub(super) fn divisor(task: &Task) -> f64 {
    if task.variant == Variant::Objective { 16.0 * task.reg } else { 8.0 * task.reg }
}

impl QueryMean {
    /// The depth by the closed form, with an error that holds wherever the margins are.
    pub(super) fn fit(
        &self,
        norm: &MeanNorm,
        (task, free, non_negative): (&Task, bool, bool),
        stderr: f64,
        iterations: usize,
    ) -> Fit {
        let Self { mean, unit, diagonal, diagonal_unit } = *self;
        let rounding = ROUNDED_UP * norm.largest.max(diagonal) * (unit + 8.0 * f64::EPSILON);
        let middle = 0.5 * (norm.low + norm.high);
        let square = at_least_zero(middle - 2.0 * mean + diagonal);
        let off = 0.5 * ROUNDED_UP * (norm.high - norm.low) + 3.0 * rounding;
        // Margins times 4 reg, without an intercept: those of the rows by Cauchy and Schwarz, and the query's.
        let distance = (1.0 + 4.0 * f64::EPSILON) * (square + off).sqrt();
        let (mut of_rows, mut of_query) = (norm.largest.sqrt() * distance, diagonal - mean + rounding);
        if non_negative {
            // No mean of kernel values is negative, or above the largest of them.
            of_rows = of_rows.min(norm.largest.sqrt() * norm.high.sqrt()).min(norm.largest);
            of_query = of_query.min(diagonal);
        }
        let highest =
            |margin: f64| 0.5 * at_least_zero((1.0 + diagonal_unit) * margin / (4.0 * task.reg) - 1.0);
        let gap = if free {
            2.0 * highest(0.5 * (of_rows + of_query))
        } else {
            highest(of_rows) + highest(of_query)
        };
        let of_gap = match task.variant {
            Variant::Objective => gap,
            _ if gap > 0.0 => gap + risk_error(gap, task.reg, distance / (4.0 * task.reg)),
            _ => gap,
        };
        let (depth, error) = (1.0 - square / divisor(task), off / divisor(task) + ROUNDED_UP * of_gap);
        if depth.is_nan() || error.is_nan() {
            // After an overflow only the range of a depth is known.
            return Fit { depth: 1.0, error: 1.0, stderr, iterations, stop: Stop::Stalled };
        }
        let depth = depth.clamp(0.0, 1.0);
        let error = error + 8.0 * f64::EPSILON;
        let fit = Fit { depth, error: error.min(1.0), stderr, iterations, stop: Stop::Stalled }.capped();
        Fit { stop: Stop::Converged.for_error(fit.error, task.tol), ..fit }
    }
}
