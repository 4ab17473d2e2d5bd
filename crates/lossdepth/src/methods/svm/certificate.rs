//! From a dual point to a solution with a proven error.

use super::prepared::PreparedSvm;
use super::solution::SvmSolution;
use crate::certify::gap::at_least_zero;
use crate::error::Result;
use crate::numerics::linalg::dot;
use crate::numerics::simd::vectorised;
use crate::problem::{Stop, Variant};
use crate::solver::dual_active_set::{
    ActiveSet, DualPoint, KernelColumns, QueryKernel, ResidualError, UPDATE_UNITS, dot_error,
};

/// What determines a classifier, its depth and their errors.
struct Evaluated {
    /// $s$ and $s b$ of [`SvmSolution`].
    scale: f64,
    bias: f64,
    norm: f64,
    depth: f64,
    error: f64,
    /// The objective: depth and exact depth are between 0 and this, so that it bounds the error too.
    ceiling: f64,
}

impl PreparedSvm {
    /// A bound on the error of $\mu(x)$, and of half of $G$ where all variables are at their outer bounds.
    pub(super) fn value_error(&self, query_diagonal: f64) -> f64 {
        self.k_beta_error(query_diagonal, 0) + self.space.rounding(query_diagonal)
    }

    /// A bound on the rounding error of $G = K \beta$ for given kernel values.
    fn k_beta_error(&self, query_diagonal: f64, updates: usize) -> f64 {
        let largest = self.space.largest.max(query_diagonal);
        // The absolute values of β sum to at most 1, and |G| is at most half of the largest kernel value for either
        // sign of β. A weight that is a sum of several has one rounding error more for each.
        let updates = UPDATE_UNITS * updates as f64 + 2.0 * self.space.copies as f64;
        dot_error(self.space.len(), largest) + 0.25 * f64::EPSILON * largest * updates
    }

    /// Bounds on the errors of the residuals at a point.
    fn residual_error(
        &self,
        point: &DualPoint,
        query: QueryKernel<'_>,
        reg: f64,
        bias: f64,
    ) -> ResidualError {
        let (n, diagonal) = (self.space.len(), query.diagonal);
        let (kernel, largest) = (self.space.rounding(diagonal), self.space.largest.max(diagonal));
        // G at the query came from a product of matrices with another order of summation: compare it with a fresh value.
        let fresh = dot(query.column, &point.beta[..n]) + point.beta[n] * diagonal;
        let at_query = (fresh - point.k_beta[n]).abs() + dot_error(n, largest) + f64::EPSILON * largest;
        let k_beta = self.k_beta_error(diagonal, point.updates).max(at_query);
        // A free intercept needs Σβ = 0: the query's variable is thought to take what rounding leaves.
        let infeasible = if self.free_intercept { dot_error(n, largest) } else { 0.0 };
        let arithmetic = 2.0 * f64::EPSILON * (2.0 * reg + bias.abs());
        ResidualError { residual: k_beta + infeasible + arithmetic + kernel, kernel }
    }

    /// A bound on the relative error of the weights: two divisions and a sum, and the sums over equal rows.
    fn weight_error(&self) -> f64 {
        f64::EPSILON * (2.0 + self.space.copies as f64)
    }

    /// The solution of the penalised problem at a dual point.
    pub(super) fn penalised_solution(
        &self,
        set: &mut ActiveSet,
        mut point: DualPoint,
        query: QueryKernel<'_>,
        columns: &mut KernelColumns<'_>,
        reg: f64,
    ) -> Result<SvmSolution> {
        set.restore_feasibility(&mut point, query);
        let optimality = set.evaluate(&point, query, reg);
        let bias = set.bias(&point);
        let error = self.residual_error(&point, query, reg, bias);
        let gap = set.scaled_gap_bound(&point, error.residual) / (2.0 * reg);
        let norm = optimality.norm_squared.sqrt() / (2.0 * reg);
        let risk = set.scaled_risk(&point) / (2.0 * reg);
        let penalty = reg * norm * norm;
        // Masses sum to 1: the risk is as accurate as the margins, and the penalty twice as accurate (K16).
        let risk_rounding = error.residual / (2.0 * reg) + self.weight_error() * (1.0 + risk);
        let penalty_rounding = 0.25 * error.residual / reg;
        let (depth, bound) = if self.task.variant == Variant::Objective {
            (risk + penalty, gap + risk_rounding + penalty_rounding)
        } else {
            let exact_norm = (optimality.norm_squared + error.residual).sqrt() / (2.0 * reg);
            let bound = |suboptimality: f64| {
                risk_rounding + self.risk_error(gap, suboptimality, reg, exact_norm, query.diagonal)
            };
            // The gap bounds the dual suboptimality; where that is too coarse, a tighter bound is computed.
            let coarse = bound(gap);
            if coarse <= self.task.tol {
                (risk, coarse)
            } else {
                let tighter = set.dual_suboptimality_bound(&point, query, columns, error, reg)?;
                (risk, bound(if tighter < gap { tighter } else { gap }))
            }
        };
        let ceiling = risk + penalty + risk_rounding + penalty_rounding;
        let evaluated = Evaluated { scale: 2.0 * reg, bias, norm, depth, error: bound, ceiling };
        Ok(self.solution(point, &evaluated))
    }

    /// The error of the risk where the objective is at most `gap` above its minimum, and the dual at most `suboptimality`
    /// below its maximum. The dual is strongly concave in $w$: $\lambda \|w - w^*\|^2$ is at most the latter (C9).
    fn risk_error(&self, gap: f64, suboptimality: f64, reg: f64, norm: f64, query_diagonal: f64) -> f64 {
        // Exact weights move the dual's classifier by at most this, times √λ.
        let largest = self.space.largest.max(query_diagonal);
        let weights = self.weight_error() * (largest / reg).sqrt();
        let root = suboptimality.sqrt() + weights;
        gap + root * (root + 2.0 * norm * reg.sqrt())
    }

    /// The solution under the constraint $\|w\| \le W$ at a dual point for the penalty `reg`.
    ///
    /// With `interior` the classifier keeps its norm, which is below $W$; else it is scaled to the norm $W$.
    pub(super) fn constrained_solution(
        &self,
        set: &mut ActiveSet,
        point: &DualPoint,
        query: QueryKernel<'_>,
        reg: f64,
        radius: f64,
        interior: bool,
    ) -> SvmSolution {
        let mut point = point.clone();
        set.restore_feasibility(&mut point, query);
        let (square, mass) = point.norm_squared(query);
        let length = square.sqrt();
        let scale = if interior || length == 0.0 { 2.0 * reg } else { length / radius };
        let norm = if length == 0.0 { 0.0 } else { length / scale };
        // The intercept was found for the scale 2 reg.
        let bias = set.bias(&point) * scale / (2.0 * reg);
        let error = self.residual_error(&point, query, 0.5 * scale, bias).residual;
        set.evaluate_with(&point, 0.5 * scale, bias);
        // (K16): the length is between these, for its square is a sum of terms that may cancel.
        let square_error = 2.0 * error * mass;
        let (shortest, longest) =
            (at_least_zero(square - square_error).sqrt(), (square + square_error).sqrt());
        // (C11): W ‖v‖ - ⟨w, v⟩ with w = v / s, at its largest over that interval.
        let worst = (0.5 * radius * scale).max(shortest).min(longest);
        let gap = set.scaled_gap_bound(&point, error) / scale + worst * at_least_zero(radius - worst / scale);
        // (C12): a classifier that may be longer than W is scaled back.
        let infeasible = at_least_zero(1.0 - radius * scale / longest);
        let risk = set.scaled_risk(&point) / scale;
        // (K17): a query that equals a row has a depth of at least its weight.
        let floor = query.equal_point.map_or(0.0, |point| 2.0 * self.space.half_weights[point]);
        let gap = gap.min(at_least_zero(risk - floor));
        let rounding = error / scale + self.weight_error() * (1.0 + risk);
        let bound = gap + infeasible + rounding;
        let ceiling = risk + infeasible + rounding;
        self.solution(point, &Evaluated { scale, bias, norm, depth: risk, error: bound, ceiling })
    }

    fn solution(&self, point: DualPoint, evaluated: &Evaluated) -> SvmSolution {
        let Evaluated { scale, bias, norm, depth, error, ceiling } = *evaluated;
        let n = self.space.len();
        let query_value = (point.k_beta[n] + bias) / scale;
        let mut values = point.k_beta;
        values.truncate(n);
        vectorised!(values.iter_mut().for_each(|g| *g = (*g + bias) / scale));
        SvmSolution {
            beta: Some(point.beta),
            scale,
            values,
            query_value,
            intercept: bias / scale,
            norm,
            depth,
            error: if error < ceiling { error } else { ceiling },
            iterations: 0,
            stop: Stop::Converged,
        }
    }
}
