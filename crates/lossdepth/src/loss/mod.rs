//! Losses $\ell$ of a margin $m$: one number in, one number out.
//!
//! A margin is positive where the classifier is right. Every loss here is convex, non-increasing,
//! non-negative and normalised to $\ell(0) = 1$, so that a depth, the best attainable mean loss,
//! lies in $[0, 1]$.
//!
//! | loss | $\ell(m)$ | $\ell^*(-a)$, the conjugate | `Smooth` |
//! |---|---|---|---|
//! | [`Logistic`] | $\log_2(1 + e^{-m})$ | $\frac{1}{\ln 2}(t \ln t + (1-t) \ln(1-t))$ with $t = a \ln 2$ | yes |
//! | [`Hinge`] | $\max(0, 1-m)$ | $-a$ on $[0, 1]$ | no |
//! | [`SquaredHinge`] | $\max(0, 1-m)^2$ | $a^2/4 - a$ on $[0, \infty)$ | yes |
//! | [`Exponential`] | $e^{-m}$ | $a \ln a - a$ on $[0, \infty)$ | yes |
//!
//! A solver names the abilities it needs ([`Smooth`], [`Dual`]) in its `where` clause: a loss it
//! cannot handle does not compile. A loss of your own is a type with these traits; see
//! `examples/own_loss.rs`.

mod blocks;
mod exponential;
mod hinge;
mod logistic;
mod squared_hinge;

pub use exponential::Exponential;
pub use hinge::Hinge;
pub use logistic::Logistic;
pub use squared_hinge::SquaredHinge;

/// A convex, non-increasing, non-negative loss $\ell(m)$ of the margin $m$ with $\ell(0) = 1$.
pub trait Loss: Send + Sync {
    /// $\ell(m)$. Finite wherever the result can be represented, never NaN for finite `margin`.
    fn value(&self, margin: f64) -> f64;
    /// $\ell'(m)$, or a subgradient where $\ell$ has a kink.
    fn grad(&self, margin: f64) -> f64;
    /// The smallest $L$ with $|\ell(m) - \ell(m')| \le L |m - m'|$, infinite if there is none.
    fn lipschitz(&self) -> f64;

    /// $\sum_i c_i \ell(m_i)$.
    fn total(&self, margins: &[f64], weights: &[f64]) -> f64 {
        margins.iter().zip(weights).map(|(&m, c)| c * self.value(m)).sum()
    }
}

/// Losses with a known conjugate $\ell^*(s) = \sup_m \{ s m - \ell(m) \}$, hence with provable lower bounds.
pub trait Dual: Loss {
    /// $\ell^*(-a)$, infinite outside the domain.
    fn conjugate(&self, a: f64) -> f64;

    /// A bound on $\ell(m) + \ell^*(-a) + a m \ge 0$ for $a = -\ell'(m) + \text{shift} \ge 0$, up to `slack` within the
    /// domain: the term of a duality gap for a multiplier that is not the best one for its margin. Infinite where
    /// `shift` leads out of the domain.
    ///
    /// The terms cancel up to second order in the shift. This form adds a bound on its rounding; a loss may override it with a
    /// form without cancellation.
    fn excess(&self, margin: f64, shift: f64, slack: f64) -> f64 {
        let value = self.value(margin);
        let at = |a: f64| {
            let (conjugate, product) = (self.conjugate(a), a * margin);
            let size = value.abs() + conjugate.abs() + product.abs();
            (value + conjugate + product).max(0.0) + 8.0 * f64::EPSILON * size
        };
        // Convex in the multiplier, so the largest value is at an end; ends outside of the domain are ignored.
        let a = (shift - self.grad(margin)).max(0.0);
        let ends = [(a - slack).max(0.0), a + slack].map(at).into_iter().filter(|e| e.is_finite());
        ends.fold(at(a), f64::max)
    }
}

/// Losses that a Newton-type solver accepts: differentiable, with a second derivative almost everywhere.
///
/// [`hess`](Smooth::hess) and [`curvature_bound`](Smooth::curvature_bound) are needed. The others act on many margins at
/// once; a loss may override them with vector code, and must then return the same sums up to rounding.
///
/// The proven errors rely on this: values and slopes are within 8 units in the last place of the exact ones at a margin
/// within 4 units in the last place of the one given, slopes are in the domain of the conjugate, and `curvature_bound` holds.
/// No relation between $\ell''$ and $\ell'$ and no growth rate of the slopes is assumed.
pub trait Smooth: Loss {
    /// $\ell''(m)$. Where the slope has a corner, either side.
    fn hess(&self, margin: f64) -> f64;

    /// An upper bound on $\ell''$ between two margins: $|\ell'(m) - \ell'(m')| \le \kappa |m - m'|$ for all
    /// $m, m'$ in $[\text{low}, \text{high}]$. Infinite where there is none; it should be tight on short intervals.
    fn curvature_bound(&self, low: f64, high: f64) -> f64;

    /// $\ell'$ and $\ell''$ at a margin that is the sum of a number and a `rest` below its last place.
    ///
    /// A loss with a corner should use `rest` to find the side.
    fn derivatives_near(&self, margin: f64, rest: f64) -> (f64, f64) {
        let curvature = self.hess(margin);
        (self.grad(margin) + curvature * rest, curvature)
    }

    /// Moves from the margins `m` along `d` by `step`: writes the weighted slopes
    /// $s_i = c_i \ell'(m_i + \text{step} \cdot d_i)$ and returns the sums a line search needs.
    fn slopes_along(&self, m: &[f64], d: &[f64], step: f64, weights: &[f64], slopes: &mut [f64]) -> LineSums {
        let mut sums = LineSums::default();
        for (((&m, &d), &c), s) in m.iter().zip(d).zip(weights).zip(slopes) {
            let at = m + step * d;
            *s = c * self.grad(at);
            sums.add(*s, d, c * self.hess(at));
        }
        sums
    }

    /// Writes the losses $\ell(m_i)$ and the weighted curvatures $c_i \ell''(m_i)$, and returns
    /// $\sum_i c_i \ell(m_i)$.
    fn losses_and_curvatures(
        &self,
        margins: &[f64],
        weights: &[f64],
        losses: &mut [f64],
        curvatures: &mut [f64],
    ) -> f64 {
        let mut total = 0.0;
        for (((&m, &c), l), h) in margins.iter().zip(weights).zip(losses).zip(curvatures) {
            *l = self.value(m);
            *h = c * self.hess(m);
            total += c * *l;
        }
        total
    }

    /// Writes the losses $\ell(m_i)$ and the weighted slopes $c_i \ell'(m_i)$, and returns
    /// $\sum_i c_i \ell(m_i)$.
    fn losses_and_slopes(
        &self,
        margins: &[f64],
        weights: &[f64],
        losses: &mut [f64],
        slopes: &mut [f64],
    ) -> f64 {
        let mut total = 0.0;
        for (((&m, &c), l), s) in margins.iter().zip(weights).zip(losses).zip(slopes) {
            *l = self.value(m);
            *s = c * self.grad(m);
            total += c * *l;
        }
        total
    }

    /// The same loss in single precision, if there is vector code for it: a solver may then do
    /// its first iterations with that, at twice the speed.
    fn single(&self) -> Option<&dyn Single> {
        None
    }
}

/// A smooth loss in single precision.
pub trait Single: Send + Sync {
    /// [`Smooth::slopes_along`].
    fn slopes_along_single(
        &self,
        m: &[f32],
        d: &[f32],
        step: f32,
        weights: &[f32],
        slopes: &mut [f32],
    ) -> LineSums;

    /// Writes the weighted curvatures $c_i \ell''(m_i)$.
    fn curvatures_single(&self, margins: &[f32], weights: &[f32], curvatures: &mut [f32]);
}

/// What [`Smooth::slopes_along`] sums up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LineSums {
    /// $\sum_i s_i d_i$: the slope along the direction.
    pub along: f64,
    /// $\sum_i s_i$: the slope along a constant.
    pub total: f64,
    /// $\sum_i c_i \ell''$: the mean curvature.
    pub curvature: f64,
}

impl LineSums {
    #[inline(always)]
    fn add(&mut self, slope: f64, direction: f64, curvature: f64) {
        self.along += slope * direction;
        self.total += slope;
        self.curvature += curvature;
    }
}
