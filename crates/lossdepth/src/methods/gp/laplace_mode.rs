//! The search for the mode of one query's posterior.
//!
//! The mode is $f = T w + r$ with $r = E \alpha$. An inner Newton iteration finds $w$ for fixed $r$, an outer
//! [fixed-point iteration](super::anderson) updates $r$. Where $E = F F^\top + R$ is a [low-rank
//! residual](super::residual), the outer iteration runs with $F F^\top$, and $R \alpha$ is a constant that is recomputed a few
//! times.

use super::LaplaceProblem;
use super::anderson::FixedPoint;
use super::gram_split::{GramSplit, QuerySplit};
use super::likelihood::Likelihood;
use super::solver::PosteriorSolver;
use crate::numerics::linalg::{Cholesky, axpy, dot, norm};
use crate::numerics::simd::sum_of;
use crate::problem::Stop;

/// How often $R \alpha$ is recomputed at most (heuristic: each time its error shrinks by orders of magnitude).
const MAX_REMAINDER_UPDATES: usize = 4;
/// How often a Newton step is halved at most.
const MAX_HALVINGS: usize = 50;
/// Objectives that differ by less than this share differ by rounding only (heuristic).
const OBJECTIVE_ROUNDING: f64 = 1e-13;
/// The Hessian is factored again if the last step left more than this share of the gradient (heuristic).
const REFACTOR: f64 = 0.4;

/// How the search for a mode ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModeOutcome {
    /// $\delta$, the norm of the gradient in the Hilbert space.
    pub(super) delta: f64,
    /// A bound on the error of the latent function because $R \alpha$ was computed for other coefficients.
    pub(super) remainder_error: f64,
    pub(super) stop: Stop,
}

/// The state of one query's search for its mode.
pub(super) struct ModeSearch {
    pub(super) query: QuerySplit,
    pub(super) likelihood: Likelihood,
    pub(super) newton: InnerNewton,
    pub(super) fixed_point: FixedPoint,
    remainder: RemainderTerm,
    /// How often the likelihood was evaluated.
    pub(super) iterations: usize,
    pub(super) outcome: Option<ModeOutcome>,
}

/// Newton's method for $w$ with $r$ held fixed.
pub(super) struct InnerNewton {
    pub(super) w: Vec<f64>,
    /// The point that the last step started from.
    previous_w: Vec<f64>,
    objective: f64,
    /// The objective at `previous_w`.
    lowest_objective: f64,
    gradient: Vec<f64>,
    pub(super) gradient_norm: f64,
    previous_norm: f64,
    /// The Hessian $I + T^\top W T$, factored at this iterate or an earlier one.
    hessian: Option<Cholesky>,
    halvings: usize,
}

/// $R \alpha$ for a low-rank residual: held constant between updates.
struct RemainderTerm {
    /// $(R - g g^\top) \alpha_0$; empty if there is no remainder.
    value: Vec<f64>,
    /// $\alpha_0$.
    alpha: Vec<f64>,
    updates: usize,
}

impl InnerNewton {
    fn new(width: usize) -> Self {
        Self {
            w: vec![0.0; width],
            previous_w: vec![0.0; width],
            objective: f64::INFINITY,
            lowest_objective: f64::INFINITY,
            gradient: vec![0.0; width],
            gradient_norm: f64::INFINITY,
            previous_norm: f64::INFINITY,
            hessian: None,
            halvings: 0,
        }
    }

    /// Discards objective and gradient, after $r$ has changed.
    fn restart(&mut self) {
        (self.lowest_objective, self.previous_norm, self.halvings) = (f64::INFINITY, f64::INFINITY, 0);
    }
}

impl ModeSearch {
    /// Starts at $f = 0$.
    pub(super) fn new(query: QuerySplit) -> Self {
        let (n, width) = (query.own_column.len(), query.coordinates.len());
        let remainder = if query.completion.is_empty() { 0 } else { n };
        Self {
            query,
            likelihood: Likelihood::new(n),
            newton: InnerNewton::new(width),
            fixed_point: FixedPoint::new(n),
            remainder: RemainderTerm { value: vec![0.0; remainder], alpha: vec![0.0; remainder], updates: 0 },
            iterations: 0,
            outcome: None,
        }
    }

    /// Evaluates likelihood and objective at the current $w$; `projected` is $T w$ without the query's own column.
    pub(super) fn evaluate(&mut self, projected: &[f64], problem: &LaplaceProblem<'_>) {
        let w = &self.newton.w;
        let own = (w[w.len() - 1], &self.query.own_column[..]);
        let f_query = dot(w, &self.query.coordinates);
        let loss =
            self.likelihood.evaluate(projected, own, &self.fixed_point.residual_term, f_query, problem);
        self.newton.objective = loss + 0.5 * dot(w, w);
        self.iterations += 1;
    }

    /// Computes the gradient in $w$; `projected` is $T^\top \alpha$ without the query's own column.
    pub(super) fn set_gradient(&mut self, projected: &[f64]) {
        let (m, newton) = (projected.len(), &mut self.newton);
        newton.gradient[..m].iter_mut().zip(projected).for_each(|(g, x)| *g = -x);
        newton.gradient[m] = -dot(&self.query.own_column, &self.likelihood.alpha);
        axpy(-self.likelihood.alpha_query, &self.query.coordinates, &mut newton.gradient);
        axpy(1.0, &newton.w, &mut newton.gradient);
        newton.gradient_norm = norm(&newton.gradient);
    }

    /// The norm of the gradient that Newton's method has to reach before the next update of $r$: a fiftieth of the outer
    /// $\delta$ (heuristic), and no less than `goal`.
    pub(super) fn inner_goal(&self, goal: f64, has_residual: bool) -> f64 {
        match self.fixed_point.last_delta {
            _ if !has_residual || self.remainder.updates > 0 => goal,
            outer if outer.is_finite() => goal.max(0.02 * outer),
            _ => goal.max(0.02),
        }
    }

    /// A Newton step, or half of the last one if that increased the objective; false if no progress is possible.
    pub(super) fn step(&mut self, solver: &mut PosteriorSolver<'_>) -> bool {
        let newton = &mut self.newton;
        let rounding = OBJECTIVE_ROUNDING * newton.lowest_objective.abs();
        let increased = newton.objective > newton.lowest_objective + rounding;
        if increased || !newton.objective.is_finite() {
            newton.halvings += 1;
            newton.w.iter_mut().zip(&newton.previous_w).for_each(|(w, b)| *w = 0.5 * (*w + b));
            return newton.halvings < MAX_HALVINGS;
        }
        let level = newton.objective >= newton.lowest_objective - rounding;
        if newton.halvings == 0 && newton.gradient_norm >= newton.previous_norm && level {
            // Neither the objective nor the gradient decreases: rounding.
            return false;
        }
        newton.halvings = 0;
        newton.lowest_objective = newton.objective;
        if newton.hessian.is_none() || newton.gradient_norm > REFACTOR * newton.previous_norm {
            newton.hessian = solver.approximate_hessian(&self.query, &self.likelihood);
        }
        newton.previous_norm = newton.gradient_norm;
        let Some(hessian) = &newton.hessian else { return false };
        let mut direction = newton.gradient.clone();
        hessian.solve(&mut direction);
        newton.previous_w.clone_from(&newton.w);
        axpy(-1.0, &direction, &mut newton.w);
        true
    }

    /// Completes the product of the residual (or of $F F^\top$) with $\alpha$ for this query: less its own column, with
    /// $g g^\top \alpha$ and the constant part of $R \alpha$.
    fn complete(&self, residual_alpha: &mut [f64]) {
        let (QuerySplit { own_column, completion, .. }, alpha) = (&self.query, &self.likelihood.alpha);
        axpy(-dot(own_column, alpha), own_column, residual_alpha);
        if !completion.is_empty() {
            axpy(dot(completion, alpha), completion, residual_alpha);
            axpy(1.0, &self.remainder.value, residual_alpha);
        }
    }

    /// Computes $\delta$ from `residual_alpha` $= E \alpha$, and either ends the search or sets the next $r$.
    ///
    /// True if the search can end only after [`update_remainder`](Self::update_remainder).
    pub(super) fn update_residual(
        &mut self,
        residual_alpha: &mut [f64],
        problem: &LaplaceProblem<'_>,
        split: &GramSplit,
    ) -> bool {
        let (n, has_residual) = (residual_alpha.len(), !split.residual.is_zero());
        if has_residual {
            self.complete(residual_alpha);
        }
        let (likelihood, fixed_point, newton) = (&self.likelihood, &self.fixed_point, &self.newton);
        let (alpha, term) = (&likelihood.alpha, &fixed_point.residual_term);
        // dᵀ E d with d = α − α̂.
        let energy = if has_residual {
            sum_of(n, |i| (alpha[i] - fixed_point.alpha[i]) * (residual_alpha[i] - term[i]))
        } else {
            0.0
        };
        // Estimates of the rounding in dᵀ E d (whose sign may be lost to it) and in the gradient.
        let rounding = if has_residual { f64::EPSILON * dot(alpha, term).abs() } else { 0.0 };
        let sizes = norm(&newton.w) + likelihood.alpha_query.abs() * norm(&self.query.coordinates);
        let delta = (newton.gradient_norm * newton.gradient_norm + energy.abs() + rounding).sqrt()
            + 4.0 * f64::EPSILON * sizes;
        let out_of_iterations = self.iterations >= problem.max_iter;
        let stalled = fixed_point.is_slow(delta) && fixed_point.is_exhausted();
        if delta <= problem.target || out_of_iterations || !has_residual || stalled || delta.is_nan() {
            let stop = if out_of_iterations { Stop::IterationLimit } else { Stop::Stalled };
            let delta = if delta.is_nan() { f64::INFINITY } else { delta };
            let (error, rounding) = self.remainder_error(delta, problem, split);
            let goal = 3.0 * problem.target * split.max_diagonal.sqrt();
            if error > goal && delta <= problem.target && self.remainder.updates < MAX_REMAINDER_UPDATES {
                return true;
            }
            let stop = if delta <= problem.target { Stop::Converged } else { stop };
            self.outcome = Some(ModeOutcome { delta, remainder_error: error + rounding, stop });
            return false;
        }
        self.fixed_point.advance(residual_alpha, &self.likelihood.alpha, delta);
        self.newton.restart();
        false
    }

    /// Bounds on the error of the latent function: because $R \alpha$ was computed for $\alpha_0$, and because of its rounding.
    ///
    /// $\tilde f = \tilde K \alpha(\tilde f) + R \alpha_0$ instead of $f = (\tilde K + R) \alpha(f)$. So $f - \tilde f = (I + K
    /// D)^{-1} e$ with $e = R (\alpha(\tilde f) - \alpha_0)$ and a diagonal $0 \le D \le c / 4$, hence $|f - \tilde f|(x) \le \|e\| (1
    /// + \frac14 \sqrt{c\,k(x, x)})$.
    fn remainder_error(&self, delta: f64, problem: &LaplaceProblem<'_>, split: &GramSplit) -> (f64, f64) {
        let Some(low_rank) = split.residual.low_rank() else { return (0.0, 0.0) };
        let pairs = self.likelihood.alpha.iter().zip(&self.remainder.alpha);
        let distance = pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        // α at the mode differs from α here by at most a quarter of the counts times the error of f.
        let distance = distance + 0.25 * norm(problem.counts) * split.max_diagonal.sqrt() * delta;
        let max_count = problem.counts.iter().fold(0.0f64, |m, c| m.max(*c));
        let max_norm = split.max_diagonal.max(norm(&self.query.coordinates).powi(2)).sqrt();
        let amplification = 1.0 + 0.25 * max_count.sqrt() * max_norm;
        let error = amplification * low_rank.remainder.norm * distance;
        let error = if error.is_nan() { f64::INFINITY } else { error };
        (error, amplification * low_rank.remainder.rounding(norm(&self.remainder.alpha)))
    }

    /// Sets the constant part of $R \alpha$ from `remainder_alpha` $= R \alpha$ at the current $\alpha$.
    pub(super) fn update_remainder(&mut self, remainder_alpha: &[f64]) {
        let completion = &self.query.completion;
        let along = dot(completion, &self.likelihood.alpha);
        for i in 0..remainder_alpha.len() {
            let value = remainder_alpha[i] - along * completion[i];
            self.fixed_point.residual_term[i] += value - self.remainder.value[i];
            self.remainder.value[i] = value;
        }
        self.remainder.alpha.clone_from(&self.likelihood.alpha);
        self.remainder.updates += 1;
        self.fixed_point.restart();
        self.newton.restart();
    }
}
