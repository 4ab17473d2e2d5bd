//! The certificate of the hinge where rounding stands in its way: large features with a small penalty.
//!
//! The multipliers of the path meet $\sum_j c_j a_j u_j = 2 \lambda w$ only up to rounding of the terms of the sum, and the
//! square of that is divided by the penalty. Rows on the kink, however, may change their multipliers at next to no
//! cost: $|m_j - 1|$ each. So they take up what is left, by least squares: with
//! $H x = \sum_j c_j a_j u_j - 2 \lambda w$ the changes are $-h_j \langle u_j, x \rangle$. The weights $h_j$ are in
//! proportion to the room that a multiplier has, and 0 off the kink.

use super::{Found, Paths};
use crate::certify::double_double_residual as balance;
use crate::numerics::double_double::TwofoldVector;
use crate::numerics::linalg::{WeightedQr, axpy, norm};

/// How often the solution is improved by what it leaves.
const REFINEMENTS: usize = 6;
/// Weights are this many times the room that a multiplier has, for rows whose margin is as close to 1 as that.
const STIFFNESS: f64 = 1e4;

impl Paths<'_> {
    /// A bound on how far the objective of a point near the end of a path is above its minimum; makes the multipliers
    /// those that prove it, and the margins exact.
    ///
    /// The same solution of $H x = \dots$ says where the minimum is expected; if more is proven there, the point is moved.
    /// Beside the bound, what the rounding of the exact margins may do to the depth.
    pub(super) fn careful_gap(&self, k: usize, found: &mut Found) -> (f64, f64) {
        let (features, slot) = (self.features, &self.slots[k]);
        let (n, free) = (features.len(), features.free);
        let (query, reg) = (&slot.query, found.reg);
        // Masses cⱼaⱼ, and changes of them that are kept apart.
        let masses: Vec<f64> = self.masses.iter().zip(&found.dual).map(|(c, a)| c * a).collect();
        let weight = |j: usize| {
            let (c, a) = (self.masses[j], found.dual[j]);
            let most = STIFFNESS * a * (1.0 - a);
            if slot.rows.give[j] > most { c * most } else { 0.0 }
        };
        let weights: Vec<f64> = (0..=n).map(weight).collect();
        let factor = WeightedQr::of_hessian(&features.tall, &weights, query, weights[n], reg, free);

        let here = TwofoldVector::new(found.theta.clone());
        let mut best = (f64::INFINITY, found.dual.clone(), found.theta.clone(), found.margin.clone());
        let mut x = TwofoldVector::new(vec![0.0; query.len()]);
        // The path has led rows to the kink in coordinates as they are; in corrected ones that much is missing.
        let missing: Vec<f64> = if self.drift.is_some() {
            self.exact_margins(query, &here).iter().map(|m| 1.0 - m).collect()
        } else {
            vec![0.0; n + 1]
        };
        let change = |j: usize, moved: f64| {
            (weights[j] * (missing[j] - moved)).clamp(-masses[j], self.masses[j] - masses[j])
        };
        let mut changes: Vec<f64> = (0..=n).map(|j| change(j, 0.0)).collect();
        let mut left = self.imbalance(query, &here, reg, &masses, &changes);
        let mut last = f64::INFINITY;
        for _ in 0..REFINEMENTS {
            axpy(-2.0 * reg, &x.high[free..], &mut left[free..]);
            factor.solve(&mut left);
            x.add(1.0, &left);
            changes[..n].copy_from_slice(&x.project(&features.tall).high);
            changes[n] = -x.dot(query).value();
            for j in 0..=n {
                changes[j] = change(j, changes[j]);
            }
            left = self.imbalance(query, &here, reg, &masses, &changes);
            let mut there = here.clone();
            there.add(1.0, &x.high);
            there.add(1.0, &x.low);
            let before = best.0;
            for point in [&here, &there] {
                let margin = self.exact_margins(query, point);
                let (gap, changes) = self.gap_of(query, point, reg, &margin, &masses, &changes);
                if gap < best.0 {
                    let dual = (0..=n).map(|j| ((masses[j] + changes[j]) / self.masses[j]).clamp(0.0, 1.0));
                    best = (gap, dual.collect(), point.high.clone(), margin);
                }
            }
            let after = norm(&left);
            if best.0 > 0.5 * before && after > 0.5 * last {
                break;
            }
            last = after;
        }
        let gap = best.0;
        if gap.is_finite() {
            (_, found.dual, found.theta, found.margin) = best;
        }
        let beyond = self.drift.as_ref().map_or((0.0, 0.0), |drift| drift.blur(&found.theta[free..]));
        let rounding = f64::EPSILON * found.margin.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        (gap, rounding + 0.5 * (beyond.0 + beyond.1))
    }

    /// The margins of all rows, the query's last.
    fn exact_margins(&self, query: &[f64], at: &TwofoldVector) -> Vec<f64> {
        let (mut margins, mut value) = (at.project(&self.features.tall), at.dot(query));
        if let Some(drift) = &self.drift {
            drift.correct(&at.high[self.features.free..], &mut margins, &mut value);
        }
        margins.high.push(-value.value());
        margins.high
    }

    /// $\sum_j (c_j a_j + \delta_j) u_j - 2 \lambda w$.
    fn imbalance(
        &self,
        query: &[f64],
        at: &TwofoldVector,
        reg: f64,
        masses: &[f64],
        changes: &[f64],
    ) -> Vec<f64> {
        let n = self.features.len();
        let (sample, at_query) = ([&masses[..n], &changes[..n]], [-masses[n], -changes[n]]);
        balance::sum(self.features, query, sample, at_query, at, -2.0 * reg, self.drift.as_ref())
    }

    /// The gap that masses with these changes prove at a point; and the changes, balanced.
    fn gap_of(
        &self,
        query: &[f64],
        at: &TwofoldVector,
        reg: f64,
        margin: &[f64],
        masses: &[f64],
        changes: &[f64],
    ) -> (f64, Vec<f64>) {
        let (n, free) = (self.features.len(), self.features.free);
        let mut left = self.imbalance(query, at, reg, masses, changes);
        let mut changes = changes.to_vec();
        let mut bias = 0.0;
        if free == 1 {
            // The multipliers have to balance: the query's makes up for what is left.
            bias = left[0];
            changes[n] += bias;
            axpy(-bias, query, &mut left);
        }
        let (mut fenchel, mut objective) = (0.0, 0.0);
        let beyond = self.drift.as_ref().map_or((0.0, 0.0), |drift| drift.blur(&at.high[free..]));
        for j in 0..=n {
            let (c, m) = (self.masses[j], margin[j]);
            let (at_least, at_most) = (masses[j] + changes[j], (c - masses[j]) - changes[j]);
            if !(at_least >= -f64::EPSILON * c && at_most >= -f64::EPSILON * c && m.is_finite()) {
                return (f64::INFINITY, changes);
            }
            objective += c * (1.0 - m).max(0.0);
            // A margin is known to a unit in its last place, and on the kink that may be on either side.
            let off = f64::EPSILON * m.abs() + if j < n { beyond.0 } else { beyond.1 };
            fenchel +=
                at_most.max(0.0) * (1.0 - m + off).max(0.0) + at_least.max(0.0) * (m - 1.0 + off).max(0.0);
        }
        let sizes = self.features.reach + norm(query) + 2.0 * reg * norm(&at.high);
        let mut length = balance::length(self.features, query, &left, bias, sizes);
        if let Some(drift) = &self.drift {
            length += drift.beyond(masses.iter().copied(), masses[n])
                + drift.beyond(changes.iter().copied(), changes[n]);
        }
        // Where a multiplier has rounded to beyond its domain, scaling all of them down costs this much at most.
        let domain = 2.0 * f64::EPSILON * (objective + reg * norm(&at.high[free..]).powi(2));
        let gap = fenchel + length / (4.0 * reg) * length + domain;
        (if gap.is_nan() { f64::INFINITY } else { gap }, changes)
    }
}
