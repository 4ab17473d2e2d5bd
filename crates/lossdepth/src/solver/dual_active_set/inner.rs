//! The dual problem on a few variables, solved exactly by an active-set method.

use super::factor::Factor;

/// Numbers that are worked on together.
pub(super) const PACK: usize = 8;

/// A quadratic program in a box, small enough to keep its matrix:
///
/// $$ \max_\beta \; \langle r, \beta - \beta_0 \rangle - \tfrac12 (\beta - \beta_0)^\top M (\beta - \beta_0)
///    \quad\text{s.t.}\quad l \le \beta \le h, $$
///
/// with $M = K + c$. With a free intercept also $\sum \beta = 0$, met by a multiplier.
///
/// All lists are filled up to a multiple of [`PACK`] with variables that cannot move.
#[derive(Default)]
pub(super) struct Inner {
    /// How many variables there are.
    pub(super) len: usize,
    pub(super) beta: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// The gradient.
    pub(super) residual: Vec<f64>,
    /// K, one column after the other.
    pub(super) matrix: Vec<f64>,
    /// The variables inside their bounds, in the order of the factor.
    pub(super) free: Vec<usize>,
    is_free: Vec<bool>,
    step: Vec<f64>,
    /// Residuals of the variables that can rise, and of those that can fall; infinite for the others.
    pub(super) rising: Vec<f64>,
    pub(super) falling: Vec<f64>,
    pub(super) zeros: Vec<f64>,
}

/// What does not change while a query is solved.
#[derive(Clone, Copy)]
pub(super) struct Stiffness {
    /// c.
    pub(super) constant: f64,
    /// Added to the diagonal of the factor, not of the problem: the steps that follow put it right.
    pub(super) ridge: f64,
    /// Residuals below this are rounding.
    pub(super) noise: f64,
    /// Whether the variables must sum to zero.
    pub(super) balanced: bool,
}

impl Inner {
    /// Goes to the maximum. `sum` is $\sum \beta$ over all variables, also those not here; returns how far the
    /// multiplier moved.
    #[inline(always)]
    pub(super) fn solve(&mut self, factor: &mut Factor, stiff: Stiffness, sum: &mut f64) -> f64 {
        let m = self.beta.len();
        self.is_free.clear();
        self.is_free.resize(m, false);
        for &k in &self.free {
            self.is_free[k] = true;
        }
        self.zeros.resize(self.beta.len(), 0.0);
        self.approach(stiff, sum);
        self.settle(factor, stiff);
        let (mut moved, mut pivots) = (0.0, 0);
        let most = 40 * m + 200;
        if stiff.balanced && !self.free.is_empty() {
            // The residuals of free variables end at zero: their mean is a good guess of what the multiplier lacks.
            let mean = self.free.iter().map(|&k| self.residual[k]).sum::<f64>() / self.free.len() as f64;
            moved = mean;
            self.residual.iter_mut().for_each(|r| *r -= mean);
        }
        let mut last = f64::INFINITY;
        for _ in 0..30 {
            self.maximise(factor, stiff, sum, &mut pivots, most);
            let shift = stiff.constant * *sum;
            if !stiff.balanced || shift.abs() <= 0.5 * stiff.noise || pivots >= most {
                break;
            }
            // As long as the same variables are free, each sum is the same part of the one before.
            let part = *sum / last;
            last = *sum;
            let shift = if part > 0.0 && part < 0.5 { shift / (1.0 - part) } else { shift };
            moved += shift;
            self.residual.iter_mut().for_each(|r| *r -= shift);
        }
        moved
    }

    /// Frees the variables between their bounds and no others.
    #[inline(always)]
    fn settle(&mut self, factor: &mut Factor, stiff: Stiffness) {
        let inside = |k: usize, this: &Self| this.beta[k] > this.low[k] && this.beta[k] < this.high[k];
        for at in (0..self.free.len()).rev() {
            let k = self.free[at];
            if !inside(k, self) {
                self.free.remove(at);
                self.is_free[k] = false;
                factor.remove(at);
            }
        }
        for k in 0..self.len {
            if !self.is_free[k] && inside(k, self) {
                self.release(k, factor, stiff);
            }
        }
    }

    #[inline(always)]
    fn release(&mut self, k: usize, factor: &mut Factor, stiff: Stiffness) {
        let column = &self.matrix[k * self.beta.len()..(k + 1) * self.beta.len()];
        let diagonal = column[k] + stiff.constant + stiff.ridge;
        factor.push(self.free.iter().map(|&k| column[k] + stiff.constant), diagonal, stiff.ridge);
        self.free.push(k);
        self.is_free[k] = true;
    }

    #[inline(always)]
    fn maximise(
        &mut self,
        factor: &mut Factor,
        stiff: Stiffness,
        sum: &mut f64,
        pivots: &mut usize,
        most: usize,
    ) {
        let mut whole_steps = 0;
        while *pivots < most {
            let worst = self.free.iter().fold(0.0f64, |w, &k| w.max(self.residual[k].abs()));
            if worst > stiff.noise && whole_steps < 6 {
                *pivots += 1;
                if self.newton(factor, stiff, sum) {
                    whole_steps = 0;
                } else {
                    whole_steps += 1;
                }
                continue;
            }
            whole_steps = 0;
            let Some(enter) = self.entering(stiff.noise) else { return };
            self.release(enter, factor, stiff);
        }
    }

    /// The variable at a bound that gains most from leaving it.
    #[expect(clippy::needless_bitwise_bool, reason = "no branches")]
    #[inline(always)]
    fn entering(&self, noise: f64) -> Option<usize> {
        let (beta, residual) = (self.beta.as_chunks::<PACK>().0, self.residual.as_chunks::<PACK>().0);
        let (low, high) = (self.low.as_chunks::<PACK>().0, self.high.as_chunks::<PACK>().0);
        let is_free = self.is_free.as_chunks::<PACK>().0;
        let (mut gain, mut place) = ([noise; PACK], [usize::MAX; PACK]);
        let lists = beta.iter().zip(residual).zip(low.iter().zip(high)).zip(is_free);
        for (chunk, (((b, r), (l, h)), free)) in lists.enumerate() {
            for k in 0..PACK {
                let inward = if r[k] > 0.0 { b[k] < h[k] } else { b[k] > l[k] };
                let better = inward & !free[k] & (r[k].abs() > gain[k]);
                gain[k] = if better { r[k].abs() } else { gain[k] };
                place[k] = if better { chunk } else { place[k] };
            }
        }
        let best = (1..PACK).fold(0, |best, k| if gain[k] > gain[best] { k } else { best });
        (place[best] != usize::MAX).then(|| place[best] * PACK + best)
    }

    /// A Newton step of the free variables, as far as the bounds allow; whether one of them was hit.
    #[inline(always)]
    fn newton(&mut self, factor: &mut Factor, stiff: Stiffness, sum: &mut f64) -> bool {
        let m = self.beta.len();
        self.step.clear();
        self.step.extend(self.free.iter().map(|&k| self.residual[k]));
        factor.solve(&mut self.step);
        let (mut length, mut hit) = (1.0, None);
        for (at, (&k, &d)) in self.free.iter().zip(&self.step).enumerate() {
            let room = if d > 0.0 { self.high[k] - self.beta[k] } else { self.low[k] - self.beta[k] };
            // room / d < length, without the division in most cases.
            if d != 0.0 && room.abs() < length * d.abs() {
                (length, hit) = (room / d, Some(at));
            }
        }
        let mut total = 0.0;
        for (&k, &d) in self.free.iter().zip(&self.step) {
            let change = length * d;
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
        let shift = stiff.constant * total;
        if shift != 0.0 {
            self.residual.iter_mut().for_each(|r| *r -= shift);
        }
        let Some(at) = hit else { return false };
        let k = self.free.remove(at);
        let bound = if self.step[at] > 0.0 { self.high[k] } else { self.low[k] };
        let change = bound - self.beta[k];
        self.beta[k] = bound;
        if change != 0.0 {
            *sum += change;
            let column = &self.matrix[k * m..(k + 1) * m];
            for (r, q) in self.residual.iter_mut().zip(column) {
                *r -= change * (q + stiff.constant);
            }
        }
        self.is_free[k] = false;
        factor.remove(at);
        true
    }
}
