//! The certificate of a candidate from sums over all rows of the reference: docs/math/passes.md.
//!
//! With the slopes as multipliers, and the query's moved to where a free intercept needs it, the gap is (C6) or (C7). The sums are those of
//! blocks in plain double precision, added with twice the digits; (P5)–(P8) bound their rounding.

use super::gap::{Certificate, ROUNDED_UP, second_order_change};
use crate::loss::{Dual, Smooth};
use crate::numerics::double_double::twofold_rounding;
use crate::numerics::linalg::{axpy, dot, norm};
use crate::problem::features::gamma;
use crate::problem::{Task, Variant};

/// Units in the last place that a slope or a loss, its weight and their product may be off by, and the division by the total
/// weight.
const VALUE_UNITS: usize = 32;
/// Units that a margin may be off by beside its products: eight for the accuracy of the losses, one for the difference from the
/// centre.
const MARGIN_UNITS: usize = 12;

/// The sums of a pass at one candidate.
#[derive(Debug, Clone)]
pub(crate) struct PassSums<'a> {
    /// The parameters; the first is not penalised if `free` is 1.
    pub(crate) theta: &'a [f64],
    pub(crate) free: usize,
    /// The query in the same coordinates: a 1 first if the intercept is free.
    pub(crate) query: &'a [f64],
    /// $\frac12 \sum_i \omega_i \ell(m_i)$.
    pub(crate) loss: f64,
    /// $\frac12 \sum_i \omega_i \ell'(m_i) x_i$.
    pub(crate) slopes: &'a [f64],
    /// $\frac12 \sum_i \omega_i |\ell'(m_i)| \nu_i$ with $\nu_i \ge \|x_i\|$.
    pub(crate) slope_norms: f64,
    /// A bound on the norms of all rows.
    pub(crate) largest_norm: f64,
    /// A lower bound on all computed margins.
    pub(crate) smallest_margin: f64,
    /// Rows of a block, and how many blocks were added.
    pub(crate) block: usize,
    pub(crate) blocks: usize,
}

/// The objective at a candidate, and what is proven of it.
#[derive(Debug, Clone)]
pub(crate) struct PassEvaluation {
    pub(crate) risk: f64,
    pub(crate) penalty: f64,
    pub(crate) gradient: Vec<f64>,
    /// Bound on the norm of the gradient's rounding.
    pub(crate) gradient_error: f64,
    pub(crate) certificate: Certificate,
}

impl PassSums<'_> {
    /// The objective, its gradient, and the certificate (P9).
    pub(crate) fn evaluate(&self, loss: &(impl Smooth + Dual), task: &Task) -> PassEvaluation {
        let Self { theta, free, query, .. } = *self;
        let (w, size, query_norm) = (&theta[free..], ROUNDED_UP * norm(theta), ROUNDED_UP * norm(query));
        let margin = -dot(theta, query);
        let slope = 0.5 * loss.grad(margin);
        let risk = self.loss + 0.5 * loss.value(margin);
        let penalty = task.reg * dot(w, w);
        let mut gradient = self.slopes.to_vec();
        axpy(-slope, query, &mut gradient);
        axpy(2.0 * task.reg, w, &mut gradient[free..]);

        // (P5): margins are off by this much per unit of the norm of a row.
        let per_norm = gamma(theta.len() + MARGIN_UNITS) * size;
        let (largest, at_query) = (per_norm * self.largest_norm, per_norm * query_norm);
        let curvature = loss.curvature_bound(self.smallest_margin - largest, f64::INFINITY);
        let query_curvature = loss.curvature_bound(margin - at_query, margin + at_query);
        let mut second_order =
            0.25 * (second_order_change(curvature, largest) + second_order_change(query_curvature, at_query));
        let first_order = ROUNDED_UP * per_norm * self.slope_norms + slope.abs() * at_query;
        // (P6): the sums.
        let units = gamma(self.block + VALUE_UNITS) + twofold_rounding(self.blocks);
        let mut gradient_error = ROUNDED_UP * units * (self.slope_norms + slope.abs() * query_norm)
            + 2.0 * gamma(8) * task.reg * norm(w);
        // The query's multiplier makes up for what the others leave: (C7).
        let (mut residual, mut fenchel) = (gradient[free..].to_vec(), 0.0);
        if free == 1 {
            let bias = gradient[0];
            let slack = 2.0 * ROUNDED_UP * units * (self.slopes[0].abs() + slope.abs());
            fenchel = 0.5 * loss.excess(margin, -2.0 * bias, slack);
            second_order += (bias.abs() + slack) * at_query;
            axpy(-bias, &query[1..], &mut residual);
            gradient_error += (slack + gamma(8) * bias.abs()) * query_norm;
        }
        let length = (1.0 + gamma(theta.len() + 8)) * norm(&residual) + gradient_error;
        // One factor at a time: the square alone may leave the range of the numbers.
        let gap = fenchel + second_order + length / (4.0 * task.reg) * length;
        let rounding = first_order + second_order + ROUNDED_UP * units * risk;
        let rounding = match task.variant {
            Variant::Objective => rounding + gamma(theta.len() + 8) * penalty,
            _ => rounding,
        };
        let certificate = Certificate::new(task.variant, gap, task.reg, ROUNDED_UP * norm(w), rounding)
            .capped(risk + penalty);
        PassEvaluation { risk, penalty, gradient, gradient_error, certificate }
    }
}
