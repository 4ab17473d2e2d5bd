//! What is proven of a point near the end of a path: the duality gap, and what rounding may do to it.

use super::{Found, Paths};
use crate::certify::gap::at_least_zero;
use crate::numerics::linalg::{axpy, dot, norm};

impl Paths<'_> {
    /// What rounding of the margins may do to a depth: the loss has slope 1, and the masses sum to 1.
    pub(super) fn blur(&self, k: usize, found: &Found) -> f64 {
        let (sample, query) = self.blurs(k, found);
        0.5 * (sample + query)
    }

    /// What rounding may do to a margin of the sample, and to the query's.
    fn blurs(&self, k: usize, found: &Found) -> (f64, f64) {
        let at_query: f64 = self.slots[k].query.iter().zip(&found.theta).map(|(z, t)| (z * t).abs()).sum();
        (self.features.blur(self.features.span(&found.theta), 1), self.features.blur(at_query, 1))
    }

    /// Makes the multipliers feasible; returns the Fenchel–Young sum, a bound on it that allows for the rounding of the margins, and
    /// $\sum_j c_j a_j u_j$ on the penalised coordinates, given the sample's part of that sum.
    fn dual_point(&self, k: usize, found: &mut Found, gathered: &[f64]) -> (f64, f64, Vec<f64>) {
        let (n, free) = (self.features.len(), self.features.free);
        if free == 1 {
            found.dual[n] = (2.0 * dot(&self.features.half_weights, &found.dual[..n])).clamp(0.0, 1.0);
        }
        let mut pull: Vec<f64> = gathered.iter().chain([&0.0]).copied().collect();
        axpy(-0.5 * found.dual[n], &self.slots[k].query, &mut pull);
        let blurs = self.blurs(k, found);
        let (mut fenchel, mut bound) = (0.0, 0.0);
        for (j, (m, a)) in found.margin.iter().zip(&found.dual).enumerate() {
            let off = if j < n { blurs.0 } else { blurs.1 };
            let at = |off: f64| (1.0 - a) * at_least_zero(1.0 - m + off) + a * at_least_zero(m - 1.0 + off);
            fenchel += self.masses[j] * at(0.0);
            bound += self.masses[j] * at(off);
        }
        (fenchel, bound, pull[free..].to_vec())
    }

    /// The Fenchel–Young sum, and the gap.
    pub(super) fn penalised_gap(&self, k: usize, found: &mut Found, gathered: &[f64]) -> (f64, f64) {
        let (fenchel, bound, mut pull) = self.dual_point(k, found, gathered);
        axpy(-2.0 * found.reg, &found.theta[self.features.free..], &mut pull);
        let length = norm(&pull) + self.rounding(k);
        (fenchel, bound + length / (4.0 * found.reg) * length)
    }

    pub(super) fn constrained_gap(&self, k: usize, found: &mut Found, radius: f64) -> f64 {
        let weighted: Vec<f64> =
            self.features.half_weights.iter().zip(&found.dual).map(|(c, a)| c * a).collect();
        let q = self.features.width();
        let gathered: Vec<f64> = (0..q).map(|j| dot(self.features.tall.col(j), &weighted)).collect();
        let (_, bound, pull) = self.dual_point(k, found, &gathered);
        let w = &found.theta[self.features.free..];
        let slack = at_least_zero(radius * norm(&pull) - dot(w, &pull));
        // The turn into the axes counts on the margins, and on the gathered multipliers: half the mass is on either side.
        bound + slack + radius * (self.rounding(k) + self.drift(k))
    }

    /// How far the turn into the axes may have carried row and query off, together.
    pub(super) fn drift(&self, k: usize) -> f64 {
        let (sample, query) = self.features.drift(norm(&self.slots[k].query));
        sample + query
    }

    /// What rounding may have done to the gathered multipliers.
    fn rounding(&self, k: usize) -> f64 {
        // Half the mass on either side; sums of n terms are rounded by at most n half units.
        let units = 0.25 * (self.features.len() + 4) as f64;
        units * f64::EPSILON * (self.features.reach + norm(&self.slots[k].query))
    }
}
