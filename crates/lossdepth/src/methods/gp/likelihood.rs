//! The logistic likelihood at a latent function, and its derivatives.

use super::LaplaceProblem;
use crate::numerics::elementary::{exp_neg, ln_1p_unit};
use crate::numerics::linalg::dot;
use crate::numerics::simd::vectorised;

/// The latent function $f$ at the sample and the query, with the first two derivatives of the log likelihood there.
///
/// The sample is the positive class with counts $c_i$, the query the negative class with count $N$.
pub(super) struct Likelihood {
    /// $f_i$ at the sample.
    pub(super) f: Vec<f64>,
    /// The gradient $\alpha_i = c_i \sigma(-f_i)$.
    pub(super) alpha: Vec<f64>,
    /// The diagonal of the negative Hessian, $W_i = c_i \sigma(f_i) \sigma(-f_i)$.
    pub(super) w: Vec<f64>,
    /// $\ln(1 + e^{-f_i})$.
    losses: Vec<f64>,
    /// $f(z)$.
    pub(super) f_query: f64,
    /// $\alpha_z = -N \sigma(f(z))$.
    pub(super) alpha_query: f64,
    /// $W_z = N \sigma(f(z)) \sigma(-f(z))$.
    pub(super) w_query: f64,
}

impl Likelihood {
    /// Zeros for `points` points.
    pub(super) fn new(points: usize) -> Self {
        let zeros = || vec![0.0; points];
        Self {
            f: zeros(),
            alpha: zeros(),
            w: zeros(),
            losses: zeros(),
            f_query: 0.0,
            alpha_query: 0.0,
            w_query: 0.0,
        }
    }

    /// Evaluates at $f_i = p_i + \beta o_i + r_i$ and $f(z)$; returns the negative log likelihood.
    ///
    /// `projected` is $p$, the part of $f$ in the shared columns of the low-rank factor, `(beta, own_column)` the part in the
    /// query's own column, `residual_term` $r = E \hat\alpha$.
    pub(super) fn evaluate(
        &mut self,
        projected: &[f64],
        (beta, own_column): (f64, &[f64]),
        residual_term: &[f64],
        f_query: f64,
        problem: &LaplaceProblem<'_>,
    ) -> f64 {
        let n = projected.len();
        let (rest, side, counts) = (&residual_term[..n], &own_column[..n], &problem.counts[..n]);
        let (f, alpha, w) = (&mut self.f[..n], &mut self.alpha[..n], &mut self.w[..n]);
        let losses = &mut self.losses[..n];
        vectorised!({
            for i in 0..n {
                let x = beta.mul_add(side[i], projected[i]) + rest[i];
                let e = exp_neg(-x.abs());
                let sigma = (if x >= 0.0 { e } else { 1.0 }) / (1.0 + e);
                f[i] = x;
                alpha[i] = counts[i] * sigma;
                w[i] = counts[i] * (e / ((1.0 + e) * (1.0 + e)));
                losses[i] = (-x).max(0.0) + ln_1p_unit(e);
            }
        });
        let sample = dot(counts, losses);
        self.f_query = f_query;
        let e = (-f_query.abs()).exp();
        let sigma = (if f_query >= 0.0 { 1.0 } else { e }) / (1.0 + e);
        self.alpha_query = -problem.total * sigma;
        self.w_query = problem.total * e / ((1.0 + e) * (1.0 + e));
        let query = problem.total * (f_query.max(0.0) + e.ln_1p());
        sample + query
    }

    /// The largest entry of $W$, the query's included.
    pub(super) fn max_w(&self) -> f64 {
        self.w.iter().fold(self.w_query, |m, w| m.max(*w))
    }
}
