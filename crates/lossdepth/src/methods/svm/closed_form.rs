//! The closed form (K4)–(K7): all dual variables at their outer bounds.

use super::prepared::PreparedSvm;
use super::solution::SvmSolution;
use crate::certify::gap::risk_error;
use crate::numerics::linalg::dot;
use crate::numerics::simd::{LANES, vectorised};
use crate::problem::{Stop, Variant};
use crate::solver::dual_active_set::QueryKernel;

impl PreparedSvm {
    /// The solution if all dual variables at their outer bounds are optimal, which is if all margins are at most 1 (K6).
    pub(super) fn closed_form(&self, query: QueryKernel<'_>) -> Option<SvmSolution> {
        let QueryKernel { column, diagonal, .. } = query;
        let n = column.len();
        let mean_at_query = 2.0 * dot(column, &self.space.half_weights);
        let square = (self.mean_square - 2.0 * mean_at_query + diagonal).max(0.0);
        let distance = square.sqrt();
        let (scale, radius) = match self.task.variant {
            Variant::Constrained { radius } => (0.5 * distance / radius, radius),
            _ => (2.0 * self.task.reg, distance / (4.0 * self.task.reg)),
        };
        // In units of 1 / 2s: f = (μ - k(·, z)) / 2s + b.
        let largest = self.largest_difference(column);
        let at_query = mean_at_query - diagonal;
        let intercept = if self.free_intercept { -0.5 * (largest + at_query) } else { 0.0 };
        let unit = 2.0 * scale;
        if scale == 0.0 {
            return Some(self.coincident(query));
        }
        if !(largest + intercept <= unit && -at_query - intercept <= unit) {
            return None;
        }
        // For the exact kernel the points within the error of margin 1 may be above it: each adds its excess to the gap.
        let error = 2.0 * self.value_error(diagonal);
        let mut mass = 0.0;
        if largest + intercept > unit - error {
            let near = (0..n).filter(|&i| self.mean[i] - column[i] + intercept > unit - error);
            mass += near.map(|i| self.space.half_weights[i]).sum::<f64>();
        }
        if -at_query - intercept > unit - error {
            mass += 0.5;
        }
        let gap = mass * error / unit;
        // (K5) is within four errors of a value: those of ‖μ‖², 2 μ(z) and k(z, z).
        let square_error = 4.0 * error;
        let (depth, error) = match self.task.variant {
            Variant::Risk => {
                let rounding = square_error / (8.0 * self.task.reg);
                (1.0 - square / (8.0 * self.task.reg), risk_error(gap, self.task.reg, radius) + rounding)
            }
            Variant::Objective => {
                let rounding = square_error / (16.0 * self.task.reg);
                (1.0 - square / (16.0 * self.task.reg), gap + rounding)
            }
            // |√a - √b| ≤ min(|a - b| / √a, √|a - b|).
            Variant::Constrained { radius } => {
                let rounding = (square_error / distance).min(square_error.sqrt());
                (1.0 - 0.5 * radius * distance, gap + 0.5 * radius * rounding)
            }
        };
        let stop = Stop::Converged.for_error(error, self.task.tol);
        Some(SvmSolution {
            beta: None,
            scale,
            values: Vec::new(),
            query_value: (at_query + intercept) / unit,
            intercept: intercept / unit,
            norm: radius,
            depth,
            error,
            iterations: 0,
            stop,
        })
    }

    /// $\max_i \mu(x_i) - k(x_i, z)$.
    fn largest_difference(&self, column: &[f64]) -> f64 {
        let n = column.len();
        let mean = &self.mean[..n];
        vectorised!({
            let mut lanes = [f64::NEG_INFINITY; LANES];
            let body = n - n % LANES;
            for (m, k) in mean[..body].chunks_exact(LANES).zip(column[..body].chunks_exact(LANES)) {
                for i in 0..LANES {
                    let value = m[i] - k[i];
                    lanes[i] = if value > lanes[i] { value } else { lanes[i] };
                }
            }
            let all = mean[body..].iter().zip(&column[body..]).map(|(m, k)| m - k).chain(lanes);
            all.fold(f64::NEG_INFINITY, |m, x| if x > m { x } else { m })
        })
    }

    /// $\mu = \varphi(z)$: no classifier of any norm separates the query from the sample, and the depth is 1.
    fn coincident(&self, query: QueryKernel<'_>) -> SvmSolution {
        let Variant::Constrained { radius } = self.task.variant else {
            unreachable!("a penalty is positive")
        };
        let exact = self.space.len() == 1 && query.equal_point.is_some();
        let error = if exact { 0.0 } else { radius * (2.0 * self.value_error(query.diagonal)).sqrt() };
        SvmSolution {
            beta: None,
            scale: 1.0,
            values: Vec::new(),
            query_value: 0.0,
            intercept: 0.0,
            norm: 0.0,
            depth: 1.0,
            error,
            iterations: 0,
            stop: Stop::Converged.for_error(error, self.task.tol),
        }
    }

    /// $f - b$ at every sample point, in units of $1 / 2 s$.
    pub(super) fn closed_form_values(&self, query: QueryKernel<'_>, values: &mut Vec<f64>) {
        values.resize(query.column.len(), 0.0);
        let (mean, values) = (&self.mean[..], &mut values[..]);
        vectorised!({
            for ((v, m), k) in values.iter_mut().zip(mean).zip(query.column) {
                *v = m - k;
            }
        });
    }
}
