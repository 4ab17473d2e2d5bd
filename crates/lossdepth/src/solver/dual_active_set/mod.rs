//! The hinge loss in a kernel's Hilbert space: an active-set method for the dual problem.
//!
//! With signed dual variables $\beta_i \in [0, \frac12 \omega_i]$, $\beta_z \in [-\frac12, 0]$ and $G = K \beta$ the classifier is
//! $f = G / 2 \lambda + b$, and the gradient of the dual, times $2 \lambda$, is the residual (K8) of `docs/math/kernel.md`,
//!
//! $$ r_j = 2 \lambda y_j - G_j - 2 \lambda b, \qquad y_i = 1, \; y_z = -1. $$
//!
//! At the maximum $r_j \le 0$ at the lower bound, $r_j \ge 0$ at the upper bound and $r_j = 0$ in between. Most variables are
//! at a bound, and few are free. A *round* selects a working set, the free variables and those that violate the conditions
//! most ([`largest`]), and solves the dual on it, first approximately ([`coordinate_steps`]), then exactly
//! ([`working_set_problem`]). It then updates $G$ with the kernel columns of the variables that changed ([`add_columns`]):
//! tens of columns of length $n$, while the pivots in between need small matrices only. The duality gap (K9) is a sum of
//! non-negative terms at every point ([`optimality`]), and [`certificate`] bounds its error.
//!
//! A free intercept $b$ requires $\sum_j \beta_j = 0$, which the method of multipliers imposes: the same problem with the
//! kernel $K + \vartheta \mathbf{1} \mathbf{1}^\top$ (K10).

mod add_columns;
mod certificate;
mod coordinate_steps;
mod dual_point;
mod kernel_columns;
mod largest;
mod optimality;
mod updated_cholesky;
mod working_set_problem;

pub(crate) use certificate::{ResidualError, UPDATE_UNITS, dot_error};
pub(crate) use dual_point::{DualPoint, QueryKernel};
pub(crate) use kernel_columns::KernelColumns;
pub(crate) use largest::LargestEntries;
pub(crate) use updated_cholesky::UpdatedCholesky;

use crate::error::Result;
use crate::numerics::linalg::axpy;
use crate::numerics::simd::{sum_of, vectorised};
use add_columns::add_columns;
use optimality::{Optimality, ResidualSums, residual_sums};
use working_set_problem::{PACK, ProblemConstants, WorkingSetProblem};

/// Violating variables added to the working set in a round, unless the caller sets another number (heuristic).
const VIOLATING_VARIABLES: usize = 64;
/// $\vartheta$ of (K10) as a multiple of the largest kernel value (heuristic: large against the eigenvalues that matter,
/// small against the inverse of rounding).
const MULTIPLIER_PENALTY: f64 = 1e2;
/// The ridge on the factor, as a multiple of the largest kernel value: admits singular matrices (heuristic).
const RIDGE: f64 = 1e-12;
/// $|\sum \beta|$ below this counts as zero; the certificate restores the constraint.
const SUM_TOLERANCE: f64 = 1e-14;
/// A round makes progress if gap and suboptimality fall by a tenth, or the dual objective rises by more than rounding.
const GAP_REDUCTION: f64 = 0.9;
const DUAL_INCREASE: f64 = 1e-13;
/// Rounds without progress before the solver stops.
const MAX_STALLED_ROUNDS: usize = 8;

/// The problem data that all queries have in common, and the solver's buffers.
pub(crate) struct ActiveSet {
    /// Bounds of the variables, the query's last.
    low: Vec<f64>,
    high: Vec<f64>,
    /// Whether the intercept is free: the variables then sum to zero.
    free_intercept: bool,
    /// The largest $k(x_i, x_i)$ of the sample.
    max_diagonal: f64,
    max_free: usize,
    /// Violating variables added to the working set in a round.
    pub(crate) violating_variables: usize,
    /// Of the point last evaluated: the residual of a sample point where $G = 0$, and the residual of the query.
    target: f64,
    query_residual: f64,
    /// Residuals of the variables below their upper bounds; minus the residuals of those above their lower bounds; else -∞.
    up_residuals: Vec<f64>,
    down_residuals: Vec<f64>,
    largest: LargestEntries,
    working_set: Vec<usize>,
    problem: WorkingSetProblem,
    changes: Vec<(f64, usize)>,
}

/// Why a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Termination {
    /// The caller's criterion is met, or no variable violates the optimality conditions by more than rounding.
    Optimal,
    /// The limit of rounds, or of free variables, is reached.
    Limit,
    Cancelled,
}

impl ActiveSet {
    /// `masses` are $\frac12 \omega_i$; at most `max_free` variables are free at once.
    pub(crate) fn new(masses: &[f64], free_intercept: bool, max_diagonal: f64, max_free: usize) -> Self {
        let max_diagonal = if max_diagonal > 0.0 { max_diagonal } else { 1.0 };
        let low = std::iter::repeat_n(0.0, masses.len()).chain([-0.5]).collect();
        let high = masses.iter().copied().chain([0.0]).collect();
        Self {
            low,
            high,
            free_intercept,
            max_diagonal,
            max_free,
            violating_variables: VIOLATING_VARIABLES,
            target: 0.0,
            query_residual: 0.0,
            up_residuals: Vec::new(),
            down_residuals: Vec::new(),
            largest: LargestEntries::default(),
            working_set: Vec::new(),
            problem: WorkingSetProblem::default(),
            changes: Vec::new(),
        }
    }

    fn constants(&self, query_diagonal: f64) -> ProblemConstants {
        let scale = self.max_diagonal.max(query_diagonal);
        let penalty = self.multiplier_penalty(query_diagonal);
        let noise = f64::EPSILON * (4.0 * scale + penalty);
        ProblemConstants {
            penalty,
            ridge: RIDGE * self.max_diagonal,
            noise,
            free_intercept: self.free_intercept,
        }
    }

    /// $\vartheta$ of (K10): the same for all queries with $k(z, z)$ at most that of the sample points.
    pub(crate) fn multiplier_penalty(&self, query_diagonal: f64) -> f64 {
        if self.free_intercept { MULTIPLIER_PENALTY * self.max_diagonal.max(query_diagonal) } else { 0.0 }
    }

    /// $2 \lambda b$.
    pub(crate) fn bias(&self, point: &DualPoint) -> f64 {
        if self.free_intercept { point.multiplier + point.penalty * point.sum } else { 0.0 }
    }

    /// Adds a variable strictly between its bounds to the free ones; `kernel` gives its kernel values with them.
    pub(crate) fn add_free(
        &self,
        point: &mut DualPoint,
        variable: usize,
        query: QueryKernel<'_>,
        kernel: impl Fn(usize) -> f64,
    ) {
        let constants = self.constants(query.diagonal);
        let DualPoint { free, factor, .. } = point;
        let diagonal = kernel(variable) + constants.penalty + constants.ridge;
        factor.push(free.iter().map(|&k| kernel(k) + constants.penalty), diagonal, constants.ridge);
        free.push(variable);
    }

    /// Computes the residuals, the gap and the norm of a point.
    pub(crate) fn evaluate(&mut self, point: &DualPoint, query: QueryKernel<'_>, reg: f64) -> Optimality {
        let bias = self.bias(point);
        let n = query.column.len();
        self.up_residuals.resize(n + 1, 0.0);
        self.down_residuals.resize(n + 1, 0.0);
        let high = &self.high[..n];
        let (up, down) = (&mut self.up_residuals[..n], &mut self.down_residuals[..n]);
        let (beta, k_beta) = (&point.beta[..n], &point.k_beta[..n]);
        let target = 2.0 * reg - bias;
        let sums = vectorised!(residual_sums(beta, k_beta, high, target, up, down));
        let ResidualSums {
            mut gap_at_bounds,
            mut gap_free,
            mut norm_squared,
            mut mass,
            mut max_up,
            mut min_down,
        } = sums;
        let r = -2.0 * reg - bias - point.k_beta[n];
        let (room_up, room_down) = (self.high[n] - point.beta[n], self.low[n] - point.beta[n]);
        let term = r * if r > 0.0 { room_up } else { room_down };
        if room_up > 0.0 && room_down < 0.0 {
            gap_free += term;
        } else {
            gap_at_bounds += term;
        }
        norm_squared += point.beta[n] * point.k_beta[n];
        mass -= point.beta[n];
        (self.target, self.query_residual) = (target, r);
        self.up_residuals[n] = if room_up > 0.0 { r } else { f64::NEG_INFINITY };
        self.down_residuals[n] = if room_down < 0.0 { -r } else { f64::NEG_INFINITY };
        max_up = max_up.max(self.up_residuals[n]);
        min_down = min_down.min(-self.down_residuals[n]);
        let max_violation = max_up.max(-min_down).max(0.0);
        // If all variables are at their upper bounds, or all at their lower bounds, one of the two is missing.
        (max_up, min_down) = match (max_up.is_finite(), min_down.is_finite()) {
            (true, false) => (max_up, max_up),
            (false, true) => (min_down, min_down),
            (true, true) => (max_up, min_down),
            _ => (0.0, 0.0),
        };
        let unit = 2.0 * reg;
        Optimality {
            gap_at_bounds: gap_at_bounds / unit,
            gap_free: gap_free / unit,
            norm_squared: norm_squared.max(0.0),
            sum_abs_beta: mass,
            max_violation,
            max_up,
            min_down,
        }
    }

    /// Improves a point until `enough`, given its gap, its estimated dual suboptimality and the norm of its classifier, or
    /// until nothing can be gained; returns the number of rounds.
    #[expect(clippy::too_many_arguments, reason = "the problem, its data, and when to stop")]
    pub(crate) fn solve(
        &mut self,
        point: &mut DualPoint,
        query: QueryKernel<'_>,
        columns: &mut KernelColumns<'_>,
        reg: f64,
        max_rounds: usize,
        enough: impl Fn(f64, f64, f64) -> bool,
        cancelled: impl Fn() -> bool,
    ) -> Result<(Termination, usize)> {
        let constants = self.constants(query.diagonal);
        let (mut rounds, mut stalled) = (0, 0);
        let (mut least_gap, mut most_dual) = (f64::INFINITY, f64::NEG_INFINITY);
        if !point.first_working_set.is_empty() {
            self.working_set.clear();
            self.working_set.extend(&point.free);
            self.working_set.append(&mut point.first_working_set);
            self.round(point, query, columns, reg, constants)?;
            rounds += 1;
        }
        loop {
            let mut optimality = self.evaluate(point, query, reg);
            if self.free_intercept && point.free.is_empty() {
                // No free variable determines the intercept: take the middle of its interval.
                point.multiplier += 0.5 * (optimality.max_up + optimality.min_down);
                optimality = self.evaluate(point, query, reg);
            }
            let gap = optimality.gap();
            let suboptimality = optimality.estimated_suboptimality(point, constants.noise, reg);
            let feasible = !self.free_intercept || point.sum.abs() <= SUM_TOLERANCE;
            if feasible && enough(gap, suboptimality, optimality.norm_squared.sqrt() / (2.0 * reg)) {
                return Ok((Termination::Optimal, rounds));
            }
            // Rounding can produce violating variables for ever; then neither the gap falls nor the dual rises.
            let dual = 4.0 * reg * optimality.sum_abs_beta - optimality.norm_squared;
            let progress = gap + suboptimality < GAP_REDUCTION * least_gap
                || dual > most_dual + DUAL_INCREASE * most_dual.abs();
            stalled = if progress { 0 } else { stalled + 1 };
            (least_gap, most_dual) = (least_gap.min(gap + suboptimality), most_dual.max(dual));
            let optimal = feasible && optimality.max_violation <= constants.noise;
            if optimal || stalled > MAX_STALLED_ROUNDS {
                return Ok((Termination::Optimal, rounds));
            }
            if rounds >= max_rounds || point.free.len() > self.max_free {
                return Ok((Termination::Limit, rounds));
            }
            if cancelled() {
                return Ok((Termination::Cancelled, rounds));
            }
            self.select_working_set(point, constants.noise, optimality);
            self.round(point, query, columns, reg, constants)?;
            rounds += 1;
        }
    }

    /// Solves the dual on the working set, whose first members are the free variables.
    fn round(
        &mut self,
        point: &mut DualPoint,
        query: QueryKernel<'_>,
        columns: &mut KernelColumns<'_>,
        reg: f64,
        constants: ProblemConstants,
    ) -> Result<()> {
        let n = query.column.len();
        columns.require(self.working_set.iter().copied().filter(|&j| j < n))?;
        self.load_problem(point, query, columns, reg);
        let (problem, factor, sum) = (&mut self.problem, &mut point.factor, &mut point.sum);
        let multiplier_change = vectorised!(problem.solve(factor, constants, sum));
        point.multiplier += multiplier_change;

        self.changes.clear();
        for (&j, &value) in self.working_set.iter().zip(&self.problem.beta) {
            let change = value - point.beta[j];
            if change != 0.0 {
                point.beta[j] = value;
                self.changes.push((change, j));
            }
        }
        point.free.clear();
        point.free.extend(self.problem.free.iter().map(|&k| self.working_set[k]));
        point.updates += self.changes.len();
        add_columns(&mut point.k_beta, &self.changes, query, columns);
        Ok(())
    }

    /// Copies variables, bounds, residuals and kernel values of the working set to its problem.
    fn load_problem(
        &mut self,
        point: &DualPoint,
        query: QueryKernel<'_>,
        columns: &KernelColumns<'_>,
        reg: f64,
    ) {
        let (n, m) = (query.column.len(), self.working_set.len());
        let stride = m.next_multiple_of(PACK);
        let bias = self.bias(point);
        let WorkingSetProblem { len, beta, low, high, residual, matrix, free, .. } = &mut self.problem;
        *len = m;
        for list in [&mut *beta, low, high, residual] {
            list.clear();
        }
        for &j in &self.working_set {
            let target = if j == n { -2.0 * reg } else { 2.0 * reg };
            beta.push(point.beta[j]);
            low.push(self.low[j]);
            high.push(self.high[j]);
            residual.push(target - bias - point.k_beta[j]);
        }
        for list in [&mut *beta, low, high, residual] {
            list.resize(stride, 0.0);
        }
        matrix.resize(m * stride, 0.0);
        // The lower triangle, column by column; then its transpose.
        for (c, &j) in self.working_set.iter().enumerate() {
            let column = if j == n { query.column } else { columns.column(j) };
            let at_query = if j == n { query.diagonal } else { query.column[j] };
            let (whole, below) = (&mut matrix[c * stride..(c + 1) * stride], &self.working_set[c..]);
            for (value, &i) in whole[c..].iter_mut().zip(below) {
                *value = if i == n { at_query } else { column[i] };
            }
            whole[m..].fill(0.0);
        }
        for c in 1..m {
            for r in 0..c {
                matrix[c * stride + r] = matrix[r * stride + c];
            }
        }
        free.clear();
        free.extend(0..point.free.len());
    }

    /// The free variables, and the variables at a bound with the largest residuals of the wrong sign.
    fn select_working_set(&mut self, point: &DualPoint, noise: f64, optimality: Optimality) {
        for &j in &point.free {
            (self.up_residuals[j], self.down_residuals[j]) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        }
        self.working_set.clear();
        self.working_set.extend(&point.free);
        if self.free_intercept {
            // Pairs that violate the conditions for every intercept: residuals upward above the least downward one.
            let half = self.violating_variables / 2;
            let up = self.largest.of(&self.up_residuals, optimality.min_down + noise, half);
            self.working_set.extend(up.iter().map(|(_, j)| *j));
            for &(_, j) in self.largest.of(&self.down_residuals, noise - optimality.max_up, half) {
                if !self.working_set.contains(&j) {
                    self.working_set.push(j);
                }
            }
            return;
        }
        let (violations, down) = (&mut self.up_residuals[..], &self.down_residuals[..]);
        vectorised!({
            for (v, d) in violations.iter_mut().zip(down) {
                *v = if *d > *v { *d } else { *v };
            }
        });
        let violating = self.largest.of(&self.up_residuals, noise, self.violating_variables);
        self.working_set.extend(violating.iter().map(|(_, j)| *j));
    }

    /// $\sum \beta$ if the intercept is free, else 0.
    pub(crate) fn sum(&self, point: &DualPoint) -> f64 {
        let beta = &point.beta[..];
        if self.free_intercept { sum_of(beta.len(), |i| beta[i]) } else { 0.0 }
    }

    /// $2 \lambda$ times the risk of the point last evaluated.
    pub(crate) fn scaled_risk(&self, point: &DualPoint) -> f64 {
        let n = self.high.len() - 1;
        let (masses, k_beta, target) = (&self.high[..n], &point.k_beta[..n], self.target);
        let loss = |g: f64| if target > g { target - g } else { 0.0 };
        sum_of(n, |i| masses[i] * loss(k_beta[i])) + 0.5 * (-self.query_residual).max(0.0)
    }

    /// Evaluates the residuals for another penalty and bias $2 \lambda b$.
    pub(crate) fn evaluate_with(&mut self, point: &DualPoint, reg: f64, bias: f64) {
        let n = self.high.len() - 1;
        (self.target, self.query_residual) = (2.0 * reg - bias, -2.0 * reg - bias - point.k_beta[n]);
    }

    /// With a free intercept: moves the query's variable so that $\sum \beta = 0$ but for rounding.
    pub(crate) fn restore_feasibility(&self, point: &mut DualPoint, query: QueryKernel<'_>) {
        if !self.free_intercept {
            return;
        }
        let n = query.column.len();
        let beta = &point.beta[..n];
        let total: f64 = sum_of(beta.len(), |i| beta[i]);
        let change = (-total).clamp(-0.5, 0.0) - point.beta[n];
        point.multiplier = self.bias(point);
        point.sum = 0.0;
        point.beta[n] += change;
        axpy(change, query.column, &mut point.k_beta[..n]);
        point.k_beta[n] += change * query.diagonal;
        point.updates += 1;
    }
}
