//! The fast path: the certificate of a solver's candidate from the gradient in the principal axes.
//!
//! With the slopes $a_i = -\ell'(\hat m_i)$ at the computed margins as multipliers the residual of (C4) is the gradient. A free
//! intercept asks for $\sum_i \omega_i a_i = a_z$: the query's multiplier is moved there, (C7). Rounding of margins, slopes, weights
//! and sums, and the displacement of rows by the rotation, enter as in (C16)–(C19).

use super::gap::{Certificate, at_least_zero, second_order_change};
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{Real, dot, norm};
use crate::numerics::simd::{LANES, sum_of, vectorised};
use crate::problem::features::{Features, gamma};
use crate::problem::{Task, Variant};

/// Units in the last place that slopes, weights and their product may be off by.
const SLOPE_UNITS: usize = 16;

/// A candidate for a query's minimiser, with what its certificate needs.
pub(crate) struct Candidate<'a> {
    pub(crate) features: &'a Features,
    /// The parameters; the first is not penalised if the intercept is free.
    pub(crate) theta: &'a [f64],
    /// The gradient of the objective, or under a constraint of the bare risk.
    pub(crate) gradient: &'a [f64],
    /// The query, in the same coordinates.
    pub(crate) query: &'a [f64],
    /// $f(z)$.
    pub(crate) value: f64,
    /// $\frac12 \sum_i \omega_i |\ell'(m_i)|$.
    pub(crate) slope_mass: f64,
    /// The smallest margin of the sample.
    pub(crate) smallest_margin: f64,
    /// Bounds on the rounding of a margin of the sample, and of the query's.
    pub(crate) margin_error: (f64, f64),
}

/// What is proven of a candidate.
#[derive(Clone, Copy)]
pub(crate) struct AxesCertificate {
    /// For the rows as they were given.
    pub(crate) given: Certificate,
    /// The error for the rows in the axes. A solver stops by this: no iteration reduces the displacement.
    pub(crate) own_error: f64,
}

/// The terms of (C19) for one displacement of the rows.
struct Terms {
    /// First-order change of the losses by the errors of the margins.
    first_order: f64,
    /// Second-order change, which is also what the multipliers of shifted margins cost.
    second_order: f64,
    /// Bound on the error of the gradient.
    gradient_error: f64,
    /// Gradient in the intercept, and the Fenchel–Young term of the moved multiplier.
    bias: f64,
    fenchel: f64,
}

impl Candidate<'_> {
    /// The error for the rows in the axes and, if that is at most `tol`, the certificate for the rows as they were given.
    pub(crate) fn certify(
        &self,
        loss: &(impl Smooth + Dual),
        reg: f64,
        task: &Task,
        tol: f64,
    ) -> AxesCertificate {
        let displacement = self.features.displacement(norm(self.query));
        let own = self.certificate(loss, reg, task, (0.0, 0.0));
        let given = if own.error > tol {
            Certificate::NOTHING
        } else if displacement == (0.0, 0.0) {
            own
        } else {
            self.certificate(loss, reg, task, displacement)
        };
        AxesCertificate { given, own_error: own.error }
    }

    fn certificate(
        &self,
        loss: &(impl Smooth + Dual),
        reg: f64,
        task: &Task,
        displacement: (f64, f64),
    ) -> Certificate {
        let terms = self.terms(loss, displacement);
        let gap = terms.fenchel
            + terms.second_order
            + match task.variant {
                Variant::Constrained { radius } => self.constraint_part(&terms, radius),
                _ => self.penalty_part(&terms, reg),
            };
        // The objective at the candidate is at most 1 and the gap; its terms are rounded like those of any sum.
        let sum = gamma(self.features.len() + SLOPE_UNITS) * (1.0 + gap);
        let rounding = terms.first_order + terms.second_order + sum;
        Certificate::new(task.variant, gap, reg, norm(self.w()), rounding)
    }

    fn w(&self) -> &[f64] {
        &self.theta[self.features.free..]
    }

    fn terms(&self, loss: &(impl Smooth + Dual), displacement: (f64, f64)) -> Terms {
        let (length, margin) = (norm(self.w()), -self.value);
        let sample = self.margin_error.0 + length * displacement.0;
        let query = self.margin_error.1 + length * displacement.1;
        let at_query = 0.5 * loss.grad(margin).abs();
        // No margin is larger than the sum of the sizes of its terms.
        let largest = self.features.term_sizes(self.theta) + sample;
        let curvature = loss.curvature_bound(self.smallest_margin - sample, largest);
        let query_curvature = loss.curvature_bound(margin - query, margin + query);
        // Half of the mass is on either side.
        let mut second_order =
            0.25 * (second_order_change(curvature, sample) + second_order_change(query_curvature, query));
        let sizes = self.slope_mass * self.features.largest_norm + at_query * norm(self.query);
        let mut gradient_error = gamma(self.features.len() + SLOPE_UNITS) * sizes
            + self.slope_mass * displacement.0
            + at_query.max(self.slope_mass) * displacement.1;
        let (mut bias, mut fenchel) = (0.0, 0.0);
        if self.features.free == 1 {
            bias = self.gradient[0];
            // The multiplier moves by twice the gradient, and so much of that is rounding.
            let slack = 2.0 * gamma(self.features.len() + SLOPE_UNITS) * (self.slope_mass + at_query);
            fenchel = 0.5 * loss.excess(margin, -2.0 * bias, slack);
            second_order += (bias.abs() + slack) * query;
            gradient_error += slack * norm(self.query);
        }
        let first_order = self.slope_mass * sample + at_query * query;
        Terms { first_order, second_order, gradient_error, bias, fenchel }
    }

    fn penalty_part(&self, terms: &Terms, reg: f64) -> f64 {
        let length =
            self.gradient_norm(terms.bias) + terms.gradient_error + 2.0 * f64::EPSILON * reg * norm(self.w());
        // One factor at a time: the square alone may leave the range of the numbers.
        length / (4.0 * reg) * length
    }

    /// $W \|v\| - \langle w, v \rangle$ of (C11), and what rounding may have left of $\|w\|$ beyond $W$, (C12).
    fn constraint_part(&self, terms: &Terms, radius: f64) -> f64 {
        let (w, free) = (self.w(), self.features.free);
        let along = dot(w, &self.gradient[free..]) - terms.bias * dot(w, &self.query[free..]);
        let length = self.gradient_norm(terms.bias);
        let units = gamma(self.features.query_width() + 8);
        let rounding =
            2.0 * units * radius * (norm(&self.gradient[free..]) + terms.bias.abs() * norm(self.query));
        at_least_zero(radius * length + along) + rounding + 2.0 * radius * terms.gradient_error + units
    }

    /// The norm of the gradient after the query's multiplier was moved, $\|g_w - g_b \hat z_w\|$.
    fn gradient_norm(&self, bias: f64) -> f64 {
        let free = self.features.free;
        let (gradient, query) = (&self.gradient[free..], &self.query[free..]);
        let square = sum_of(
            gradient.len().min(query.len()),
            #[inline(always)]
            |j| {
                let x = gradient[j] - bias * query[j];
                x * x
            },
        );
        let units = 1.0 + gamma(query.len() + 4);
        if (1e-200..1e200).contains(&square) || square.is_nan() {
            return units * square.sqrt();
        }
        // Squares of numbers beyond this range would overflow or vanish; the bound may be generous there.
        let pairs = gradient.iter().zip(query);
        let largest = pairs.fold(0.0f64, |largest, (g, z)| largest.max((g - bias * z).abs()));
        units * largest * (query.len() as f64).sqrt()
    }

    /// Whether the gradient is no more than what rounding to `epsilon` usually makes of it (a heuristic).
    pub(crate) fn gradient_is_rounding(&self, loss: &impl Dual, epsilon: f64) -> bool {
        let noise =
            2.0 * epsilon * loss.grad(-self.value).abs() * (self.features.largest_norm + norm(self.query));
        norm(self.gradient) <= noise
    }
}

/// The smallest of some margins; infinite if there is none.
pub(crate) fn smallest<T: Real>(margins: &[T]) -> f64 {
    let smaller = |s: f64, m: f64| if m < s { m } else { s };
    let chunks = margins.chunks_exact(LANES);
    let rest = chunks.remainder().iter().fold(f64::INFINITY, |s, m| smaller(s, m.widened()));
    let lanes = vectorised!({
        // Of its own, so that it is kept in registers.
        let mut lanes = [f64::INFINITY; LANES];
        for chunk in chunks {
            for (lane, m) in lanes.iter_mut().zip(chunk) {
                *lane = smaller(*lane, m.widened());
            }
        }
        lanes
    });
    lanes.into_iter().fold(rest, smaller)
}
