//! The fast path of the hinge: the certificate of an iterate near the end of a path, in the principal axes.
//!
//! Every multiplier is between 0 and 1, and half of the mass is on either side. The terms of (C5) are exact; rounding of
//! margins and sums, and the displacement of rows by the rotation, enter as in (C14) and (C19).

use super::{Block, Iterate};
use crate::certify::gap::{Certificate, at_least_zero};
use crate::numerics::linalg::{axpy, dot, norm};
use crate::problem::Variant;
use crate::problem::features::gamma;

/// Units in the last place that weights, multipliers and their product may be off by.
const MASS_UNITS: usize = 16;

/// What is proven about an iterate.
pub(super) struct PathCertificate {
    /// For the rows as they were given.
    pub(super) given: Certificate,
    /// For the rows in the axes.
    pub(super) own: Certificate,
    /// The Fenchel–Young sum alone, without rounding.
    pub(super) fenchel: f64,
}

impl Block<'_> {
    /// Makes the multipliers feasible and certifies the iterate, as a minimiser with its penalty or as one within a radius;
    /// `gathered` is the sample's part of $\sum_j c_j a_j u_j$.
    pub(super) fn certify(
        &self,
        k: usize,
        iterate: &mut Iterate,
        gathered: &[f64],
        radius: Option<f64>,
    ) -> PathCertificate {
        let (features, query) = (self.features, &self.lanes[k].query);
        let (n, free) = (features.len(), features.free);
        if free == 1 {
            iterate.dual[n] = (2.0 * dot(&features.half_weights, &iterate.dual[..n])).clamp(0.0, 1.0);
        }
        let mut v: Vec<f64> = gathered.iter().chain([&0.0]).copied().collect();
        axpy(-0.5 * iterate.dual[n], query, &mut v);
        let v = v.split_off(free);
        let displacement = features.displacement(norm(query));
        let (own, fenchel) = self.certificate(k, iterate, &v, radius, (0.0, 0.0));
        let (given, _) = self.certificate(k, iterate, &v, radius, displacement);
        PathCertificate { given, own, fenchel }
    }

    fn certificate(
        &self,
        k: usize,
        iterate: &Iterate,
        v: &[f64],
        radius: Option<f64>,
        displacement: (f64, f64),
    ) -> (Certificate, f64) {
        let (features, query) = (self.features, &self.lanes[k].query);
        let (n, w) = (features.len(), &iterate.theta[features.free..]);
        let norm_w = norm(w);
        let at_query: f64 = query.iter().zip(&iterate.theta).map(|(z, t)| (z * t).abs()).sum();
        let sample_error =
            features.margin_rounding(features.term_sizes(&iterate.theta), 1) + norm_w * displacement.0;
        let query_error = features.margin_rounding(at_query, 1) + norm_w * displacement.1;
        let (mut fenchel, mut bound) = (0.0, 0.0);
        for (j, (m, a)) in iterate.margin.iter().zip(&iterate.dual).enumerate() {
            let error = if j < n { sample_error } else { query_error };
            let at = |off: f64| (1.0 - a) * at_least_zero(1.0 - m + off) + a * at_least_zero(m - 1.0 + off);
            fenchel += self.masses[j] * at(0.0);
            bound += self.masses[j] * at(error);
        }
        let units = gamma(n + MASS_UNITS);
        bound += units * (bound + (iterate.margin[n] - 1.0).abs() + query_error);
        let residual_error =
            units * (features.largest_norm + 2.0 * norm(query)) + 0.5 * (displacement.0 + displacement.1);
        let reg = iterate.reg;
        let part = if let Some(radius) = radius {
            let columns = gamma(features.query_width() + 8);
            at_least_zero(radius * norm(v) - dot(w, v))
                + 2.0 * radius * (residual_error + columns * norm(v))
                + columns
        } else {
            let left: Vec<f64> = v.iter().zip(w).map(|(v, w)| v - 2.0 * reg * w).collect();
            let length = norm(&left) + residual_error + 8.0 * f64::EPSILON * reg * norm_w;
            length / (4.0 * reg) * length
        };
        let gap = bound + part;
        // The loss has slope 1 at most, the masses sum to 1, and the objective is at most 1 and the gap.
        let rounding = 0.5 * (sample_error + query_error) + units * (1.0 + gap);
        let variant = match (radius, self.task.variant) {
            (Some(radius), _) => Variant::Constrained { radius },
            (None, Variant::Objective) => Variant::Objective,
            _ => Variant::Risk,
        };
        (Certificate::new(variant, gap, reg, norm_w, rounding), fenchel)
    }
}
