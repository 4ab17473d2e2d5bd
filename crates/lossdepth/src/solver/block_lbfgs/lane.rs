//! The state of one query, and what it needs from the next iteration.

use super::influence::Influence;
use crate::certify::gap::Certificate;
use crate::solver::lbfgs::Memory;
use crate::solver::radius::Radius;

/// What a lane needs from the next iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Idle,
    /// A step along the direction.
    Descend,
    /// Slopes at the parameters themselves, pulled to the radius of the constraint.
    Rescale,
    /// The Hessian times the direction.
    Influence,
    /// Slopes at the parameters that single precision has found.
    Verify,
}

/// The state of one query; `Block::start` sets what the first iteration reads.
#[derive(Default)]
pub(super) struct Lane {
    pub(super) id: usize,
    pub(super) stage: Stage,
    pub(super) query: Vec<f64>,
    pub(super) theta: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    /// The gradient before, then what became of it.
    pub(super) change: Vec<f64>,
    /// What the next iteration multiplies the sample with.
    pub(super) direction: Vec<f64>,
    pub(super) memory: Memory,
    /// The penalty, which a constraint moves.
    pub(super) reg: f64,
    pub(super) radius: Option<Radius>,
    /// Under a constraint: how accurately the penalised problem is solved before its norm is compared with the radius.
    pub(super) inner_tol: f64,
    /// Whether the first step was that of [`warm_start`](crate::solver::warm_start).
    pub(super) warm_started: bool,
    /// f(z).
    pub(super) value: f64,
    /// $\frac12 \sum_i \omega_i |\ell'(m_i)|$, and the smallest margin of the sample.
    pub(super) slope_mass: f64,
    pub(super) smallest_margin: f64,
    /// How large the terms of all that was added up to a margin are together, and in how many steps that was done.
    pub(super) term_sizes: f64,
    pub(super) steps: usize,
    /// Mean curvature over the sample, and at the query.
    pub(super) curvature: f64,
    pub(super) query_curvature: f64,
    /// The step taken in this iteration.
    pub(super) step: Option<f64>,
    pub(super) depth: f64,
    /// The certificate of the depth, and the error in the axes that decides when to stop.
    pub(super) certificate: Certificate,
    pub(super) error: f64,
    /// The last error that was half of the best before it, and when that was.
    pub(super) best: f64,
    pub(super) best_at: usize,
    pub(super) iterations: usize,
    pub(super) influence: Influence,
    /// In single precision: a last step, taken without a check.
    pub(super) predicted_step: Vec<f64>,
    /// The shifts of the influence, if single precision got that far.
    pub(super) shift: Vec<f32>,
    pub(super) has_influence: bool,
}

impl Lane {
    /// A lane for queries with this many coordinates that has none.
    pub(super) fn idle(width: usize) -> Self {
        let zeros = || vec![0.0; width];
        Self { theta: zeros(), gradient: zeros(), change: zeros(), direction: zeros(), ..Self::default() }
    }
}
