//! From a point and its gradient to a proven bound.
//!
//! With $a_i = -\ell'(m_i)$ as dual variables the duality gap has no cancellation: by Fenchel–Young
//! $\ell(m_i) + \ell^*(-a_i) = -a_i m_i$, so that all of it collapses to
//!
//! $$ F(\theta) - F^* \le \frac{\|g_w\|^2}{4 \lambda}. $$
//!
//! A free intercept asks of the dual that $\sum_i \omega_i a_i = a_z$. Moving $a_z$ to
//! $a_z' = \sum_i \omega_i a_i$ makes it so: that is an average of numbers in the domain of
//! $\ell^*$, hence in it. The price is one Fenchel–Young term for the query, and the gradient
//! becomes $g' = g_w - g_b \hat z_w$.
//!
//! The bare risk $R = F - \lambda \|w\|^2$ needs more: strong convexity gives
//! $\lambda \|w - w^*\|^2 \le \text{gap}$, hence
//! $|R - R^*| \le 2 \text{gap} + 2 \|w\| \sqrt{\lambda \cdot \text{gap}}$.
//!
//! What is reported is computed from margins that are rounded by up to $\delta$ (`blur`); a loss with $|\ell''| \le |\ell'|$ or
//! $\ell'' \le 2$ is then off by at most $|\ell'| \delta e^\delta + \delta^2$, which comes on top. Sums of $n$ terms are rounded by
//! at most $n$ half units of the sum of their sizes.
//!
//! Under the constraint $\|w\| \le W$ the gap is $W \|v\| - \langle w, v \rangle$, plus the same term, where $v$ is
//! minus the gradient of the risk.

use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{dot, norm};
use crate::numerics::simd::sum_of;
use crate::problem::Variant;
use crate::problem::{Shares, Task};

/// A point with what its certificate needs.
pub(crate) struct Point<'a> {
    /// The parameters; the first `free` are not penalised.
    pub(crate) theta: &'a [f64],
    /// The gradient of the objective, or under a constraint of the bare risk.
    pub(crate) gradient: &'a [f64],
    /// The query, in the same coordinates.
    pub(crate) query: &'a [f64],
    /// $f(z)$.
    pub(crate) value: f64,
    pub(crate) free: usize,
    /// How many sample points there are, and the largest norm of one.
    pub(crate) count: usize,
    pub(crate) reach: f64,
    /// How far the turn into the principal axes may have carried a row of the sample off, and the query.
    pub(crate) drift: (f64, f64),
    /// $\frac12 \sum_i \omega_i |\ell'(m_i)|$.
    pub(crate) pull: f64,
    /// How far rounding may have carried a margin of the sample off, and that of the query.
    pub(crate) blur: (f64, f64),
}

impl Point<'_> {
    /// A bound on the error of the depth that `task` asks for at this point.
    pub(crate) fn error(&self, loss: &(impl Smooth + Dual), reg: f64, task: &Task) -> f64 {
        let gap = match task.variant {
            Variant::Constrained { radius } => self.constrained_gap(loss, radius),
            _ => self.penalised_gap(loss, reg),
        };
        self.error_of_gap(loss, reg, task, gap)
    }

    /// The same, from a bound on how far the objective is above its minimum.
    pub(crate) fn error_of_gap(&self, loss: &impl Smooth, reg: f64, task: &Task, gap: f64) -> f64 {
        let error = match task.variant {
            Variant::Objective | Variant::Constrained { .. } => gap,
            Variant::Risk => {
                let risk = risk_error(gap, reg, norm(&self.theta[self.free..]));
                if task.shares == Shares::RISK {
                    risk
                } else {
                    self.shared_error(loss, gap, risk, task.shares)
                }
            }
        };
        let error = error + self.blurred(loss, task.shares);
        // After an overflow nothing is proven.
        if error.is_nan() { f64::INFINITY } else { error }
    }

    /// What the rounding of the margins may do to the depth.
    pub(crate) fn blurred(&self, loss: &impl Smooth, shares: Shares) -> f64 {
        let off = |pull: f64, blur: f64| pull * blur * blur.exp() + blur * blur;
        let query = off(0.5 * loss.grad(-self.value).abs(), self.blur.1);
        shares.sample * off(self.pull, self.blur.0) + shares.query * query
    }

    /// The error where sample and query do not count alike, for the logistic loss.
    ///
    /// The objective exceeds its minimum by the Bregman divergences of all its terms, that of the query's loss among
    /// them: $\frac12 D(m, m^*) \le \text{gap}$ for its margin $m$. The logistic loss has $|\ell^{(3)}| \le \ell''$, so that
    /// $D(m, m^*) \ge \ell''(m) (1 - e^{-h} (1 + h))$ with $h = |m - m^*|$, which bounds $h$ and with it the query's loss;
    /// what the risk is off by beyond that, the sample's loss may be off by.
    fn shared_error(&self, loss: &impl Smooth, gap: f64, risk: f64, shares: Shares) -> f64 {
        let margin = -self.value;
        let ratio = 2.0 * gap / loss.hess(margin);
        let now = loss.value(margin);
        // At the minimum half of the loss is at most the risk, which is at most 1.
        let most = f64::max(1.0, 0.5 * now);
        let query =
            if ratio < 0.9 { (0.5 * (loss.value(margin - reach(ratio)) - now)).min(most) } else { most };
        shares.sample * (risk + query) + shares.query * query
    }

    /// Whether the gradient is no more than what rounding to `epsilon` makes of it.
    pub(crate) fn drowned(&self, loss: &impl Dual, epsilon: f64) -> bool {
        // As large as it usually is, not as large as it may be.
        let noise = 2.0 * epsilon * loss.grad(-self.value).abs() * (self.reach + norm(self.query));
        norm(self.gradient) <= noise
    }

    fn penalised_gap(&self, loss: &impl Dual, reg: f64) -> f64 {
        let (bias, fenchel) = self.feasible(loss);
        let length = self.gradient_norm(bias)
            + self.rounding(loss)
            + 2.0 * f64::EPSILON * reg * norm(&self.theta[self.free..]);
        // One factor at a time: the square alone may leave the range of the numbers.
        fenchel + length / (4.0 * reg) * length
    }

    fn constrained_gap(&self, loss: &impl Dual, radius: f64) -> f64 {
        let (bias, fenchel) = self.feasible(loss);
        let (w, z) = (&self.theta[self.free..], &self.query[self.free..]);
        let along = dot(w, &self.gradient[self.free..]) - bias * dot(w, z);
        let slack = radius * self.gradient_norm(bias) + along;
        // The turn into the axes counts on the margins, and on the gradient.
        let at_query = 0.5 * loss.grad(-self.value).abs();
        let turned = self.pull * self.drift.0 + at_query * self.drift.1;
        let beyond = second_order(0.5, self.pull, radius * self.drift.0)
            + second_order(0.5, at_query, radius * self.drift.1);
        fenchel + at_least_zero(slack) + 2.0 * (radius * (self.rounding(loss) + turned) + beyond)
    }

    /// By how much the risk may be above what it is found to be under a constraint, where the turn into the axes has moved the margins.
    pub(crate) fn risk_above(&self, loss: &impl Smooth, radius: f64) -> f64 {
        let pulls = (self.pull, 0.5 * loss.grad(-self.value).abs());
        let (sample, query) = (radius * self.drift.0, radius * self.drift.1);
        pulls.0 * sample
            + pulls.1 * query
            + second_order(0.5, pulls.0, sample)
            + second_order(0.5, pulls.1, query)
    }

    /// The gradient in the intercept, and the Fenchel–Young term that making the dual variables feasible costs.
    fn feasible(&self, loss: &impl Dual) -> (f64, f64) {
        if self.free == 0 {
            return (0.0, 0.0);
        }
        let (margin, bias) = (-self.value, self.gradient[0]);
        // The multiplier moves by twice the gradient, and so much of that is rounding.
        let rounding = f64::EPSILON * (self.count + 4) as f64 * (self.pull + 0.5 * loss.grad(margin).abs());
        (bias, 0.5 * loss.excess(margin, -2.0 * bias, rounding))
    }

    /// The norm of the gradient after the dual variables were made feasible, $\|g_w - g_b \hat z_w\|$.
    fn gradient_norm(&self, bias: f64) -> f64 {
        let (gradient, query) = (&self.gradient[self.free..], &self.query[self.free..]);
        let square = sum_of(
            gradient.len().min(query.len()),
            #[inline(always)]
            |j| {
                let x = gradient[j] - bias * query[j];
                x * x
            },
        );
        if (1e-200..1e200).contains(&square) || square.is_nan() {
            return square.sqrt();
        }
        // Squares of numbers beyond this range would overflow or vanish; the bound may be generous there.
        let pairs = gradient.iter().zip(query);
        let largest = pairs.fold(0.0f64, |largest, (g, z)| largest.max((g - bias * z).abs()));
        largest * (query.len() as f64).sqrt()
    }

    /// What rounding may have done to the gradient: it is a sum of terms of this size.
    fn rounding(&self, loss: &impl Dual) -> f64 {
        let sizes = self.pull * self.reach + 0.5 * loss.grad(-self.value).abs() * norm(self.query);
        0.5 * f64::EPSILON * (self.count + 4) as f64 * sizes
    }
}

/// What a change of margins by `shift` adds to their losses, of mass $c$, and to a gap, beyond its first order: the mass times half of
/// the curvature, which is below $|\ell'| e^{\text{shift}}$ (`slope` has the mass in it) or below 2, times the square.
pub(crate) fn second_order(c: f64, slope: f64, shift: f64) -> f64 {
    (c + 0.5 * slope.abs() * shift.exp()) * shift * shift
}

/// An $h$ with $1 - e^{-h} (1 + h) \ge$ `ratio`, which is below 1.
fn reach(ratio: f64) -> f64 {
    let start = (2.0 * ratio).sqrt();
    if start < 0.1 {
        return start * (1.0 + 0.5 * start);
    }
    let mut h = start;
    while 1.0 - (-h).exp() * (1.0 + h) < ratio {
        h *= 1.1;
    }
    h
}

/// The error of the bare risk that a gap in the objective allows.
pub(crate) fn risk_error(gap: f64, reg: f64, norm_w: f64) -> f64 {
    2.0 * gap + 2.0 * norm_w * reg.sqrt() * gap.sqrt()
}

/// Cuts off what rounding leaves below zero, and leaves NaN alone, unlike `f64::max`.
pub(crate) fn at_least_zero(x: f64) -> f64 {
    if x < 0.0 { 0.0 } else { x }
}
