//! The dual problem on the working set, solved exactly by a primal active-set method.

use super::updated_cholesky::UpdatedCholesky;

/// Numbers processed together by one vector instruction.
pub(super) const PACK: usize = 8;

/// A quadratic program with box constraints, small enough to hold its matrix:
///
/// $$ \max_\beta \; \langle r, \beta - \beta_0 \rangle - \tfrac12 (\beta - \beta_0)^\top M (\beta - \beta_0)
///    \quad\text{s.t.}\quad l \le \beta \le h, $$
///
/// with $M = K + \vartheta \mathbf{1} \mathbf{1}^\top$. A free intercept adds the constraint $\sum \beta = 0$, imposed by the
/// method of multipliers (K10).
///
/// All lists are padded to a multiple of [`PACK`] with variables that are fixed at 0.
#[derive(Default)]
pub(super) struct WorkingSetProblem {
    /// The number of variables without the padding.
    pub(super) len: usize,
    pub(super) beta: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// $r$, the gradient at the current $\beta$.
    pub(super) residual: Vec<f64>,
    /// $K$ on the working set, column by column.
    pub(super) matrix: Vec<f64>,
    /// The free variables, in the order of the factor.
    pub(super) free: Vec<usize>,
    is_free: Vec<bool>,
    step: Vec<f64>,
    /// Residuals of the variables below their upper bounds, -∞ for the others; residuals of the variables above their
    /// lower bounds, ∞ for the others.
    pub(super) up_residuals: Vec<f64>,
    pub(super) down_residuals: Vec<f64>,
    pub(super) zeros: Vec<f64>,
}

/// Constants of one query's problem.
#[derive(Clone, Copy)]
pub(super) struct ProblemConstants {
    /// $\vartheta$ of (K10); 0 without a free intercept.
    pub(super) penalty: f64,
    /// Added to the diagonal of the factor, not to the problem, so that singular matrices are admitted. Steps are then
    /// inexact, and repeated until the residuals are small.
    pub(super) ridge: f64,
    /// Residuals below this are taken for rounding (heuristic).
    pub(super) noise: f64,
    /// Whether the variables must sum to zero.
    pub(super) free_intercept: bool,
}

impl WorkingSetProblem {
    /// Moves $\beta$ to the maximum. `sum` is $\sum \beta$ over all variables, the ones outside of the working set
    /// included; returns the change of the multiplier $2 \lambda b$.
    #[inline(always)]
    pub(super) fn solve(
        &mut self,
        factor: &mut UpdatedCholesky,
        constants: ProblemConstants,
        sum: &mut f64,
    ) -> f64 {
        let m = self.beta.len();
        self.is_free.clear();
        self.is_free.resize(m, false);
        for &k in &self.free {
            self.is_free[k] = true;
        }
        self.zeros.resize(self.beta.len(), 0.0);
        self.coordinate_steps(constants, sum);
        self.update_free_set(factor, constants);
        let (mut change, mut pivots) = (0.0, 0);
        let max_pivots = 40 * m + 200;
        if constants.free_intercept && !self.free.is_empty() {
            // At the maximum the residuals of free variables are zero: their mean is a good first change.
            let mean = self.free.iter().map(|&k| self.residual[k]).sum::<f64>() / self.free.len() as f64;
            change = mean;
            self.residual.iter_mut().for_each(|r| *r -= mean);
        }
        let mut last_sum = f64::INFINITY;
        for _ in 0..30 {
            self.maximise(factor, constants, sum, &mut pivots, max_pivots);
            let shift = constants.penalty * *sum;
            if !constants.free_intercept || shift.abs() <= 0.5 * constants.noise || pivots >= max_pivots {
                break;
            }
            // While the free set stays the same the sums are a geometric sequence: add its limit.
            let ratio = *sum / last_sum;
            last_sum = *sum;
            let shift = if ratio > 0.0 && ratio < 0.5 { shift / (1.0 - ratio) } else { shift };
            change += shift;
            self.residual.iter_mut().for_each(|r| *r -= shift);
        }
        change
    }

    /// Makes the free set the variables strictly between their bounds.
    #[inline(always)]
    fn update_free_set(&mut self, factor: &mut UpdatedCholesky, constants: ProblemConstants) {
        let is_interior = |k: usize, this: &Self| this.beta[k] > this.low[k] && this.beta[k] < this.high[k];
        for at in (0..self.free.len()).rev() {
            let k = self.free[at];
            if !is_interior(k, self) {
                self.free.remove(at);
                self.is_free[k] = false;
                factor.remove(at);
            }
        }
        for k in 0..self.len {
            if !self.is_free[k] && is_interior(k, self) {
                self.add_free(k, factor, constants);
            }
        }
    }

    #[inline(always)]
    fn add_free(&mut self, k: usize, factor: &mut UpdatedCholesky, constants: ProblemConstants) {
        let column = &self.matrix[k * self.beta.len()..(k + 1) * self.beta.len()];
        let diagonal = column[k] + constants.penalty + constants.ridge;
        factor.push(self.free.iter().map(|&k| column[k] + constants.penalty), diagonal, constants.ridge);
        self.free.push(k);
        self.is_free[k] = true;
    }

    #[inline(always)]
    fn maximise(
        &mut self,
        factor: &mut UpdatedCholesky,
        constants: ProblemConstants,
        sum: &mut f64,
        pivots: &mut usize,
        max_pivots: usize,
    ) {
        let mut full_steps = 0;
        while *pivots < max_pivots {
            let max_residual = self.free.iter().fold(0.0f64, |w, &k| w.max(self.residual[k].abs()));
            if max_residual > constants.noise && full_steps < 6 {
                *pivots += 1;
                if self.newton_step(factor, constants, sum) {
                    full_steps = 0;
                } else {
                    full_steps += 1;
                }
                continue;
            }
            full_steps = 0;
            let Some(entering) = self.entering(constants.noise) else { return };
            self.add_free(entering, factor, constants);
        }
    }

    /// The variable at a bound with the largest residual of the wrong sign, if that is above `noise`.
    #[expect(clippy::needless_bitwise_bool, reason = "no branches")]
    #[inline(always)]
    fn entering(&self, noise: f64) -> Option<usize> {
        let (beta, residual) = (self.beta.as_chunks::<PACK>().0, self.residual.as_chunks::<PACK>().0);
        let (low, high) = (self.low.as_chunks::<PACK>().0, self.high.as_chunks::<PACK>().0);
        let is_free = self.is_free.as_chunks::<PACK>().0;
        let (mut violation, mut chunk_of) = ([noise; PACK], [usize::MAX; PACK]);
        let lists = beta.iter().zip(residual).zip(low.iter().zip(high)).zip(is_free);
        for (chunk, (((b, r), (l, h)), free)) in lists.enumerate() {
            for k in 0..PACK {
                let inward = if r[k] > 0.0 { b[k] < h[k] } else { b[k] > l[k] };
                let larger = inward & !free[k] & (r[k].abs() > violation[k]);
                violation[k] = if larger { r[k].abs() } else { violation[k] };
                chunk_of[k] = if larger { chunk } else { chunk_of[k] };
            }
        }
        let best = (1..PACK).fold(0, |best, k| if violation[k] > violation[best] { k } else { best });
        (chunk_of[best] != usize::MAX).then(|| chunk_of[best] * PACK + best)
    }

    /// A Newton step of the free variables, cut at the first bound; returns whether a bound was hit.
    #[inline(always)]
    fn newton_step(
        &mut self,
        factor: &mut UpdatedCholesky,
        constants: ProblemConstants,
        sum: &mut f64,
    ) -> bool {
        let m = self.beta.len();
        self.step.clear();
        self.step.extend(self.free.iter().map(|&k| self.residual[k]));
        factor.solve(&mut self.step);
        let (mut step_length, mut blocking) = (1.0, None);
        for (at, (&k, &d)) in self.free.iter().zip(&self.step).enumerate() {
            let room = if d > 0.0 { self.high[k] - self.beta[k] } else { self.low[k] - self.beta[k] };
            // room / d < step_length, without the division in most cases.
            if d != 0.0 && room.abs() < step_length * d.abs() {
                (step_length, blocking) = (room / d, Some(at));
            }
        }
        let mut total = 0.0;
        for (&k, &d) in self.free.iter().zip(&self.step) {
            let change = step_length * d;
            let before = self.beta[k];
            self.beta[k] = (before + change).clamp(self.low[k], self.high[k]);
            let change = self.beta[k] - before;
            total += change;
            let column = &self.matrix[k * m..(k + 1) * m];
            for (r, q) in self.residual.iter_mut().zip(column) {
                *r -= change * q;
            }
        }
        *sum += total;
        let shift = constants.penalty * total;
        if shift != 0.0 {
            self.residual.iter_mut().for_each(|r| *r -= shift);
        }
        let Some(at) = blocking else { return false };
        let k = self.free.remove(at);
        let bound = if self.step[at] > 0.0 { self.high[k] } else { self.low[k] };
        let change = bound - self.beta[k];
        self.beta[k] = bound;
        if change != 0.0 {
            *sum += change;
            let column = &self.matrix[k * m..(k + 1) * m];
            for (r, q) in self.residual.iter_mut().zip(column) {
                *r -= change * (q + constants.penalty);
            }
        }
        self.is_free[k] = false;
        factor.remove(at);
        true
    }
}
