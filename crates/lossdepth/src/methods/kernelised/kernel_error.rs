//! The error of a kernel depth that its coordinates cause, with the exact kernel as the reference.
//!
//! Every kernel value of the coordinates is within $\varepsilon$ of the exact one: rounding, and the distance of points from the
//! span of the pivots. (K21), (C22), (C23) with (K22) bound the effect on the depth, with the dual mass $A$ of (K23).
//! A query outside of the span has a component $e_i$ (K13) in common with points that are taken to be in it
//! ([`non_pivots`](super::non_pivots)); (K14) bounds what that adds to the gap at the classifier found.

use super::non_pivots::QueryResidual;
use super::{FactoredSample, Kernelised};
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{dot, norm};
use crate::problem::{Features, Outcome, Task, Variant};

/// Covers the rounding of margins, where they only limit slopes and curvatures.
const MARGIN_ROUNDING: f64 = 1e-9;
/// Powers of two tried for $s$ in (K23), from $2^{-4}$ on.
const MASS_TRIALS: i32 = 40;

/// The difference between the exact kernel and that of the coordinates, and what it acts on.
pub(super) struct KernelPerturbation {
    /// $\varepsilon$.
    kernel_error: f64,
    /// The largest $|e_i|$.
    component: f64,
    /// $\sum c_i |\ell'(m_i) e_i|$ over the sample.
    component_slopes: f64,
    /// $A$.
    dual_mass: f64,
    /// $\bar\kappa$.
    curvature: f64,
    /// A lower bound on $W \|v\|$ under a constraint; 0 if there is none.
    constraint_slope: f64,
}

impl KernelPerturbation {
    /// A bound on the error of the depth beyond that of the solver.
    pub(super) fn error(&self, task: &Task, free: usize, outcome: &Outcome) -> f64 {
        let Self { kernel_error, component, component_slopes, dual_mass, curvature, constraint_slope } =
            *self;
        let (theta, reg) = (&outcome.theta, task.reg);
        let (norm_w, own) = (norm(&theta[free..]), theta[theta.len() - 1].abs());
        let square = dual_mass * dual_mass * kernel_error;
        // (K14): divergences, the change of the risk at the classifier, and the change of the root of the gap.
        let shift = component * own;
        let divergence = if shift > 0.0 { 0.5 * curvature * shift * shift } else { 0.0 };
        let moved = component_slopes * own + divergence;
        let root = component_slopes / (2.0 * reg.sqrt()) + divergence.sqrt();
        let root_gap = outcome.gap.sqrt();
        let error = match task.variant {
            Variant::Risk => {
                let norm_exact = norm_w + (root_gap + root + 0.5 * (square / reg).sqrt()) / reg.sqrt();
                let margin = 0.5 * dual_mass * kernel_error / reg;
                let rounding = margin
                    * (dual_mass + 1.5 * curvature * margin + norm_exact * (2.0 * reg * curvature).sqrt());
                let gap = if root > 0.0 {
                    root * (4.0 * root_gap + 2.0 * root + 2.0 * norm_w * reg.sqrt())
                } else {
                    0.0
                };
                rounding + gap + moved
            }
            Variant::Objective => {
                let gap = if root > 0.0 { root * (2.0 * root_gap + root) } else { 0.0 };
                0.25 * square / reg + gap + moved
            }
            Variant::Constrained { radius } => {
                let length = (radius * square.sqrt()).min(radius * radius * square / constraint_slope);
                length + 2.0 * radius * component_slopes + divergence + moved
            }
        };
        if error.is_nan() { f64::INFINITY } else { error }
    }
}

impl<L: Smooth + Dual> Kernelised<L> {
    /// $A$ for any kernel: the Lipschitz bound of the loss, or (K23).
    fn dual_mass_bound(&self) -> f64 {
        let ratios = (0..MASS_TRIALS).map(|k| {
            let s = 0.0625 * f64::from(k).exp2();
            self.loss.value(-s) / s
        });
        let least = ratios.filter(|ratio| !ratio.is_nan()).fold(f64::INFINITY, f64::min);
        self.loss.lipschitz().min(least * (1.0 + 16.0 * f64::EPSILON))
    }

    /// $\bar\kappa$ for any classifier.
    fn global_curvature(&self) -> f64 {
        let bound = self.loss.curvature_bound(f64::NEG_INFINITY, f64::INFINITY);
        if bound.is_nan() { f64::INFINITY } else { bound }
    }

    /// For any classifier; infinite if slopes or curvatures of the loss are not bounded.
    pub(super) fn perturbation(
        &self,
        prepared: &FactoredSample,
        query: &QueryResidual,
    ) -> KernelPerturbation {
        let slope = self.loss.lipschitz();
        let component = if prepared.non_pivots.points.is_empty() {
            0.0
        } else {
            query.component_bound(query.max_residual)
        };
        KernelPerturbation {
            kernel_error: query.kernel_error(prepared.non_pivots.kernel_error),
            component,
            component_slopes: if component > 0.0 { 0.5 * slope * component } else { 0.0 },
            dual_mass: slope,
            curvature: self.global_curvature(),
            constraint_slope: 0.0,
        }
    }

    /// From the margins of the classifier found, in `features` with the query at `located`, for coordinates with a
    /// kernel error and a bound on $|e_i|$ for each point that is no pivot.
    pub(super) fn perturbation_at(
        &self,
        prepared: &FactoredSample,
        (features, located): (&Features, &[f64]),
        query_diagonal: f64,
        kernel_error: f64,
        components: &[f64],
        outcome: &Outcome,
    ) -> KernelPerturbation {
        let (FactoredSample { space, non_pivots, .. }, theta) = (prepared, &outcome.theta);
        let (value, half) = (dot(located, theta), &features.half_weights);
        let mut margins = vec![0.0; features.len()];
        features.products(theta, &mut margins);
        let component = components.iter().fold(0.0f64, |m, e| m.max(*e));
        let slope = |i: usize| half[i] * self.loss.grad(margins[i]).abs();
        let component_slopes: f64 =
            non_pivots.points.iter().zip(components).map(|(&i, e)| slope(i) * e).sum();
        let displacement = component * theta[theta.len() - 1].abs() + MARGIN_ROUNDING;
        // How far the optimal margins are from those found, and the exact kernel's from them.
        let norm_max = space.largest.max(query_diagonal).sqrt();
        let all = || margins.iter().copied().zip(half.iter().copied()).chain([(-value, 0.5)]);
        let curvature_within =
            |shift: f64| all().map(|(m, c)| c * self.loss.curvature_bound(m - shift, m + shift)).sum::<f64>();
        let shift = displacement
            + if let Variant::Constrained { .. } = self.task.variant {
                0.0
            } else {
                let reg = self.task.reg;
                let divergence = 0.5 * curvature_within(displacement) * displacement * displacement;
                let root = outcome.gap.sqrt() + 0.5 * component_slopes / reg.sqrt() + divergence.sqrt();
                let distance = norm_max * root / reg.sqrt();
                let mass = self.dual_mass_bound();
                let intercept = self.intercept_shift(features, &margins, value, distance);
                distance + intercept + 0.5 * mass * kernel_error / reg
            };
        let mass: f64 = all().map(|(m, c)| c * self.loss.grad(m - shift).abs()).sum();
        let curvature = curvature_within(shift);
        let (global_mass, global_curvature) = (self.dual_mass_bound(), self.global_curvature());
        let penalised = !matches!(self.task.variant, Variant::Constrained { .. });
        let dual_mass = if penalised && mass < global_mass { mass } else { global_mass };
        let curvature = if curvature < global_curvature { curvature } else { global_curvature };
        let constraint_slope = match self.task.variant {
            Variant::Constrained { radius } => {
                // (K22), with twice the classifier and the coarse bound of (C23) on both risks.
                for m in &mut margins {
                    *m *= 2.0;
                }
                let doubled = self.loss.total(&margins, half) + 0.5 * self.loss.value(-2.0 * value);
                let coarse = 3.0 * radius * dual_mass * kernel_error.sqrt() + 6.0 * radius * component_slopes;
                (outcome.depth - outcome.error - doubled - coarse - MARGIN_ROUNDING).max(0.0)
            }
            _ => 0.0,
        };
        KernelPerturbation {
            kernel_error,
            component,
            component_slopes,
            dual_mass,
            curvature,
            constraint_slope,
        }
    }

    /// A bound on how far the optimal intercept is from the one found, where that is free.
    ///
    /// The optimal objective is at most 1, so $\ell(-f(z)) \le 2$ and, by Jensen's inequality, $\ell(\bar f) \le 2$ at the mean
    /// $\bar f$ of the sample: with $\ell(-s) \ge 2$ it follows that $f(z) \le s$ and $\bar f \ge -s$. `distance` bounds what the
    /// norm allows values to change.
    fn intercept_shift(&self, features: &Features, margins: &[f64], value: f64, distance: f64) -> f64 {
        if features.free == 0 {
            return 0.0;
        }
        let mut levels = (0..MASS_TRIALS).map(|k| 0.0625 * f64::from(k).exp2());
        let level = levels.find(|s| self.loss.value(-s) >= 2.0).unwrap_or(f64::INFINITY);
        let mean = 2.0 * dot(margins, &features.half_weights);
        (level - value).max(level + mean).max(0.0) + distance
    }
}
