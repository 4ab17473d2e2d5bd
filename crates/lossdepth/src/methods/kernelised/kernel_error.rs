//! What the coordinates of a kernel leave open, and what that may do to a depth.
//!
//! **Every kernel value** may be off by $\varepsilon$: rounding, and what is left of a point or a query that is taken to be in the
//! span of the pivots. With dual variables $\alpha$ the minimum is $\max_\alpha -C(\alpha) - \alpha^\top K \alpha / 4 \lambda$. Along the
//! way from one kernel to the other its derivative is at most $A^2 \varepsilon / 4 \lambda$, where $A = \sum |\alpha|$; that of the
//! penalty $\lambda \|w\|^2 = \alpha^\top K \alpha / 4 \lambda$ is as large, plus $f^\top H^{-1} \Delta \alpha / 2 \lambda$ for how
//! $\alpha$ reacts. There $H \ge K / 2 \lambda$ and $H \ge \operatorname{diag}(1 / c_i \ell''_i)$, so that it is at most
//! $\|w\| \varepsilon A \sqrt{\sum c_i \ell''_i / 2 \lambda}$. Under a constraint $W$ the term is $W \sqrt{\alpha^\top K \alpha}$ instead.
//!
//! **A query outside of the span**, at the distance $\rho$, sees a part $e_i = p_i / \rho$ of points that are taken to be in it
//! ([`aside`](super::non_pivots)). At the classifier found margins are then off by $e_i w_\rho$, the gradient by $s = \sum c_i \ell'(m_i) e_i$ in the query's own direction, and
//! with the same dual variables the gap obeys $\sqrt{\text{gap}'} \le \sqrt{\text{gap}} + |s| / 2 \sqrt\lambda + \sqrt B$, with
//! the Bregman divergences $B$ between the losses at the two margins.

use super::non_pivots::Place;
use super::{Factored, Kernelised};
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{dot, norm};
use crate::problem::Features;
use crate::problem::Outcome;
use crate::problem::Task;
use crate::problem::Variant;
use crate::solver::newton::project;

/// How far a kernel may be from that of the coordinates, and how much that matters at a classifier.
pub(super) struct Doubt {
    /// How far any kernel value may be off.
    slack: f64,
    /// The largest $|e_i|$.
    seen: f64,
    /// $\sum c_i |\ell'(m_i)|$ of the sample, and the same with each $|e_i|$.
    pull: f64,
    pulled: f64,
    /// $\sum |\alpha|$ and $\sum c_i \ell''_i$, the query's among them, anywhere between the two kernels.
    pulls: f64,
    curvature: f64,
    /// The norm of the gradient of the risk, for a constraint.
    length: f64,
}

impl Doubt {
    /// What a depth may be off by because of it, beyond the error of the solver.
    pub(super) fn bound(&self, task: &Task, free: usize, outcome: &Outcome) -> f64 {
        let Self { slack, seen, pull, pulled, pulls, curvature, length } = *self;
        let (theta, error, reg) = (&outcome.theta, outcome.error, task.reg);
        let (size, own) = (norm(&theta[free..]), theta[theta.len() - 1].abs());
        let squared = pulls * pulls * slack;
        let shift = seen * own;
        // A loss has ℓ'' ≤ |ℓ'| or ℓ'' ≤ 2, and the sample's masses sum to a half.
        let bregman = 0.5 * shift * shift * (1.0 + pull * shift.exp());
        let moved = pulled * own + bregman;
        let root = pulled / (2.0 * reg.sqrt()) + bregman.sqrt();
        let bound = match task.variant {
            Variant::Risk => {
                let reaction = size * slack * pulls * (curvature / (2.0 * reg)).sqrt();
                let gap = root * (4.0 * (0.5 * error).sqrt() + 2.0 * root + 2.0 * size * reg.sqrt());
                0.5 * squared / reg + reaction + gap + moved
            }
            Variant::Objective => 0.25 * squared / reg + root * (2.0 * error.sqrt() + root) + moved,
            Variant::Constrained { radius } => {
                let longer = squared.sqrt().min(0.5 * squared / length);
                radius * (longer + 2.0 * pulled) + bregman + moved
            }
        };
        if bound.is_nan() { f64::INFINITY } else { bound }
    }
}

impl<L: Smooth + Dual> Kernelised<L> {
    /// A bound on $\sum_i |\alpha_i|$: half the slope of the loss at the sample, half at the query.
    fn pull(&self) -> f64 {
        let steepest = self.loss.lipschitz();
        if steepest.is_finite() { steepest } else { 2.0 * self.loss.grad(0.0).abs() }
    }

    /// What is known of any classifier.
    pub(super) fn doubt(&self, prepared: &Factored, place: &Place) -> Doubt {
        let (pulls, seen) = (self.pull(), place.seen(place.part));
        let seen = if prepared.aside.points.is_empty() { 0.0 } else { seen };
        Doubt {
            slack: place.slack(prepared.aside.square),
            seen,
            pull: 0.5 * pulls,
            pulled: 0.5 * pulls * seen,
            pulls,
            curvature: pulls.max(2.0),
            length: 0.0,
        }
    }

    /// The same from the margins of the classifier, in coordinates that miss no more than `slack` of a kernel value, and `seen` of each
    /// point aside.
    pub(super) fn closer(
        &self,
        prepared: &Factored,
        (features, located): (&Features, &[f64]),
        own: f64,
        slack: f64,
        seen: &[f64],
        outcome: &Outcome,
    ) -> Doubt {
        let (Factored { space, aside, .. }, theta) = (prepared, &outcome.theta);
        let (value, half) = (dot(located, theta), &features.half_weights);
        let mut margins = vec![0.0; features.len()];
        project(&features.tall, &theta[..features.width()], &mut margins);
        let slopes: Vec<f64> = margins.iter().zip(half).map(|(m, c)| c * self.loss.grad(*m)).collect();
        let pull = slopes.iter().map(|s| s.abs()).sum::<f64>();
        let pulled = aside.points.iter().zip(seen).map(|(&i, e)| slopes[i].abs() * e).sum();
        let (sample, at_query) = (margins.iter().zip(half), 0.5 * self.loss.grad(-value));
        let curvature =
            sample.map(|(m, c)| c * self.loss.hess(*m)).sum::<f64>() + 0.5 * self.loss.hess(-value);
        let length = match self.task.variant {
            Variant::Constrained { .. } => {
                let sample = |j: usize| {
                    if j < features.width() { dot(features.tall.col(j), &slopes) } else { 0.0 }
                };
                let gradient = (features.free..located.len()).map(|j| sample(j) - at_query * located[j]);
                norm(&gradient.collect::<Vec<f64>>())
            }
            _ => 0.0,
        };
        // Slopes and curvatures of a Lipschitz loss grow by no more than the exponential of how far margins may still move.
        let growth = if self.loss.lipschitz().is_finite() {
            (2.0 * space.largest.max(own).sqrt() * self.distance(features, outcome)).exp()
        } else {
            f64::INFINITY
        };
        let most = self.pull();
        Doubt {
            slack,
            seen: seen.iter().fold(0.0f64, |m, e| m.max(*e)),
            pull,
            pulled,
            pulls: (growth * (pull + at_query.abs())).min(most),
            curvature: (growth * curvature).min(most.max(2.0)),
            length,
        }
    }

    /// How far the classifier may be from the best one, by strong convexity; a constraint gives none.
    fn distance(&self, features: &Features, outcome: &Outcome) -> f64 {
        let (reg, size, error) = (self.task.reg, norm(&outcome.theta[features.free..]), outcome.error);
        let root = match self.task.variant {
            Variant::Risk => (0.5 * error).sqrt().min(error / (2.0 * size * reg.sqrt())),
            Variant::Objective => error.sqrt(),
            Variant::Constrained { .. } => f64::INFINITY,
        };
        root / reg.sqrt()
    }
}
