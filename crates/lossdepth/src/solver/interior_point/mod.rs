//! The hinge, which has no second derivative: a primal-dual interior-point method, many queries side by side.
//!
//! With rows $u_i = t_i$, $u_z = -\hat z$ and masses $c_i = \frac12 \omega_i$, $c_z = \frac12$, the problem is (L12),
//!
//! $$ \min \sum_j c_j \xi_j + \lambda \|w\|^2 \quad\text{s.t.}\quad
//!    \langle u_j, \theta \rangle + \xi_j - s_j = 1, \quad \xi_j, s_j \ge 0 $$
//!
//! with multipliers $c_j a_j$, $0 \le a_j \le 1$. Mehrotra's predictor and corrector (L14), (L15) follow the central path
//! (L13), $a_j s_j = (1 - a_j) \xi_j = \mu$ ([`central_path`](self::central_path)); [`path_end`](self::path_end) says what follows
//! where a path ends. An iteration needs, for each query, one weighted second moment of the sample and a few products with
//! it; all queries that are being solved share the matrix products that give them ([`Gram`]). A lane whose query is done takes
//! the next one.
//!
//! Where every margin is at most 1 all multipliers are 1 and the answer is closed form,
//! $w = (\bar t - \hat z) / 4 \lambda$; a lane tries this first. The certificate is the duality gap of the point
//! reached, whatever the path.

mod central_path;
mod certificate;
pub(crate) mod gram;
pub(crate) mod influence;
mod path_end;

use self::central_path::PathRows;
use self::certificate::PathCertificate;
use self::gram::Gram;
use super::radius::Radius;
use crate::certify::gap::Certificate;
use crate::numerics::linalg::{
    COLUMN_GROUP, Cholesky, HessianFactor, Matrix, WeightedQr, axpy, dot, multiply_first, norm,
};
use crate::problem::features::Features;
use crate::problem::{Outcome, Queue, Stop, Task, Variant};

/// Most iterations of a path; it takes ten to thirty.
const PATH_LENGTH: usize = 100;
/// Iterations without progress after which a path has stalled (heuristic).
const STALLS: usize = 12;
/// The same once the multipliers are complementary to the tolerance.
const ROUNDED_STALLS: usize = 5;
/// Penalties tried for a constraint; it takes about ten.
const RADIUS_STEPS: usize = 100;
/// How close to the boundary a step may go.
const DAMPING: f64 = 0.995;
/// The share of the mean complementarity that a path with more centering aims at, at least (heuristic).
const CENTERING: f64 = 0.1;
/// An error, or a complementarity, counts as progress if it is below this share of the best one before (heuristic).
const PROGRESS: (f64, f64) = (0.95, 0.9);
/// A relative change of the penalty that is too small to matter.
const SAME_PENALTY: f64 = 1e-14;

/// Solves everything in the queue, `width` queries at a time.
pub(crate) fn solve(features: &Features, task: &Task, width: usize, queue: &mut impl Queue) {
    let mut block = Block::new(features, task, width);
    loop {
        let idle: Vec<usize> = (0..width).filter(|&k| !block.lanes[k].busy).collect();
        if idle.len() >= COLUMN_GROUP {
            let queries = queue.next(idle.len());
            for (k, (id, query)) in idle.into_iter().zip(queries) {
                block.start(k, id, query);
            }
        }
        if queue.cancelled() || block.lanes.iter().all(|s| !s.busy) {
            return;
        }
        let done = block.advance();
        block.estimate_curvatures(&done);
        for (k, iterate) in done {
            let (id, outcome) = block.report(k, iterate);
            queue.done(id, outcome);
        }
    }
}

/// Solves one query on a path whose steps do not square the range of the rows, for where the others end too early.
pub(crate) fn solve_exactly(
    features: &Features,
    task: &Task,
    query: &[f64],
    cancelled: &dyn Fn() -> bool,
) -> Option<Outcome> {
    let mut block = Block::new(features, task, COLUMN_GROUP);
    block.start(0, 0, query.to_vec());
    block.lanes[0].attempt = Attempt::WeightedRows;
    loop {
        let done = block.advance();
        block.estimate_curvatures(&done);
        if let Some((k, iterate)) = done.into_iter().next() {
            return Some(block.report(k, iterate).1);
        }
        if cancelled() {
            return None;
        }
    }
}

/// A point on or near the end of a path.
#[derive(Clone)]
struct Iterate {
    theta: Vec<f64>,
    /// Margins and multipliers of every row, the query last.
    margin: Vec<f64>,
    dual: Vec<f64>,
    reg: f64,
    /// What is proven for the rows as given, and the error in the axes that decides when to stop.
    certificate: Certificate,
    error: f64,
    stop: Stop,
}

/// How a path is followed; the next one is tried where one stalls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Attempt {
    /// By Mehrotra's heuristics.
    #[default]
    Mehrotra,
    /// With more centering and without the corrector, whose heuristics may stall near a corner.
    Centred,
    /// By Mehrotra's heuristics, without squaring what the second moments square.
    WeightedRows,
}

/// The state of one query; `Block::start` sets what the first iteration reads.
#[derive(Default)]
struct Lane {
    busy: bool,
    id: usize,
    query: Vec<f64>,
    theta: Vec<f64>,
    rows: PathRows,
    reg: f64,
    /// The change of the parameters; the query's own curvature and right-hand side.
    change: Vec<f64>,
    at_query: f64,
    query_rhs: f64,
    factor: Option<HessianFactor>,
    iterations: usize,
    /// Since this path began: its length, the smallest μ and error, and how long there was no progress.
    path: usize,
    nearest: f64,
    best: Option<Iterate>,
    stalls: usize,
    attempt: Attempt,
    /// Under a constraint: the search for the penalty, its steps, and the best feasible point.
    search: Option<Radius>,
    steps: usize,
    feasible: Option<Iterate>,
}

struct Block<'a> {
    features: &'a Features,
    task: &'a Task,
    /// ½ωᵢ, and ½ for the query.
    masses: Vec<f64>,
    /// Σ ωᵢ tᵢ.
    mean: Vec<f64>,
    lanes: Vec<Lane>,
    gram: Gram,
    curvatures: Matrix,
    rhs: Matrix,
    gathered: Matrix,
    directions: Matrix,
    margin_step: Matrix,
}

impl<'a> Block<'a> {
    fn new(features: &'a Features, task: &'a Task, width: usize) -> Self {
        let (n, q) = (features.len(), features.width());
        let lanes = (0..width).map(|_| Lane::idle(n + 1, q + 1)).collect();
        Self {
            features,
            task,
            masses: features.half_weights.iter().copied().chain([0.5]).collect(),
            mean: features.combination(&features.half_weights).into_iter().map(|m| 2.0 * m).collect(),
            lanes,
            gram: Gram::new(&features.tall, width),
            curvatures: Matrix::zeros(n, width),
            rhs: Matrix::zeros(n, width),
            gathered: Matrix::zeros(q, width),
            directions: Matrix::zeros(q, width),
            margin_step: Matrix::zeros(n, width),
        }
    }

    fn start(&mut self, k: usize, id: usize, query: Vec<f64>) {
        let (free, lane) = (self.features.free, &mut self.lanes[k]);
        (lane.busy, lane.id, lane.iterations, lane.steps) = (true, id, 0, 0);
        (lane.reg, lane.search) = match self.task.variant {
            Variant::Constrained { radius } => {
                let (search, reg) = Radius::new(radius, self.task.tol, norm(&query[free..]));
                (reg, Some(search))
            }
            _ => (self.task.reg, None),
        };
        lane.feasible = None;
        lane.query = query;
        lane.restart();
    }

    /// Takes every path one iteration further and returns the queries that are done.
    fn advance(&mut self) -> Vec<(usize, Iterate)> {
        let mut done = Vec::new();
        for k in 0..self.lanes.len() {
            while self.lanes[k].busy && self.lanes[k].path == 0 {
                let Some(iterate) = self.closed_form(k) else { break };
                self.lanes[k].iterations += 1;
                if let Some(iterate) = self.end_of_path(k, iterate) {
                    self.lanes[k].busy = false;
                    done.push((k, iterate));
                }
            }
        }
        if self.lanes.iter().all(|s| !s.busy) {
            return done;
        }
        self.iterate();
        for k in 0..self.lanes.len() {
            if self.lanes[k].busy
                && let Some(iterate) = self.check(k)
            {
                self.lanes[k].busy = false;
                done.push((k, iterate));
            }
        }
        done
    }

    /// One iteration of every path: predictor, then corrector.
    fn iterate(&mut self) {
        let width = self.lanes.len();
        for (k, lane) in self.lanes.iter_mut().enumerate().filter(|(_, s)| s.busy) {
            let (curvatures, rhs) = (self.curvatures.col_mut(k), self.rhs.col_mut(k));
            let (at_query, query_rhs) = lane.rows.predict(&self.masses, curvatures, rhs);
            (lane.query_rhs, lane.at_query) = (query_rhs, at_query);
        }
        self.gram.load(&self.features.tall, &self.curvatures, width);
        for k in 0..width {
            if self.lanes[k].busy {
                let sample = self.gram.lower(&self.features.tall, &self.curvatures, k);
                let lane = &mut self.lanes[k];
                let (query, at_query, reg, free) = (&lane.query, lane.at_query, lane.reg, self.features.free);
                lane.factor = if lane.attempt == Attempt::WeightedRows {
                    let (tall, curvatures) = (&self.features.tall, self.curvatures.col(k));
                    let qr = WeightedQr::of_hessian(tall, curvatures, query, at_query, reg, free);
                    Some(HessianFactor::Root(qr))
                } else {
                    Cholesky::of_moments(&sample, query, at_query, reg, free).map(HessianFactor::Square)
                };
            }
        }
        self.solve_for_steps();
        for k in 0..width {
            let lane = &mut self.lanes[k];
            if lane.busy {
                let reach = lane.rows.direct(true).min(1.0);
                let mu = lane.rows.complementarity(&self.masses, 0.0);
                let after = lane.rows.complementarity(&self.masses, reach);
                let (least, share) =
                    if lane.attempt == Attempt::Centred { (CENTERING, 0.0) } else { (0.0, 1.0) };
                let center = mu * (after / mu).powi(3).clamp(least, 1.0);
                lane.query_rhs = lane.rows.correct(&self.masses, center, share, self.rhs.col_mut(k));
            }
        }
        self.solve_for_steps();
        for lane in self.lanes.iter_mut().filter(|s| s.busy) {
            let length = (DAMPING * lane.rows.direct(false)).min(1.0);
            axpy(length, &lane.change, &mut lane.theta);
            lane.rows.step(length);
            (lane.iterations, lane.path) = (lane.iterations + 1, lane.path + 1);
        }
        // The multipliers, gathered for the certificates.
        for (k, lane) in self.lanes.iter().enumerate().filter(|(_, s)| s.busy) {
            for ((p, c), a) in self.rhs.col_mut(k).iter_mut().zip(&self.masses).zip(&lane.rows.dual) {
                *p = c * a.clamp(0.0, 1.0);
            }
        }
        multiply_first(&mut self.gathered, &self.features.wide, &self.rhs, width);
    }

    /// From the right-hand sides of the rows to the change of the parameters and of the margins.
    fn solve_for_steps(&mut self) {
        let (width, q, free) = (self.lanes.len(), self.features.width(), self.features.free);
        multiply_first(&mut self.gathered, &self.features.wide, &self.rhs, width);
        for (k, lane) in self.lanes.iter_mut().enumerate().filter(|(_, s)| s.busy) {
            lane.change.clear();
            lane.change.extend(self.gathered.col(k).iter().chain([&0.0]));
            axpy(-lane.query_rhs, &lane.query, &mut lane.change);
            axpy(-2.0 * lane.reg, &lane.theta[free..], &mut lane.change[free..]);
            if let Some(factor) = &lane.factor {
                factor.solve(&mut lane.change);
            }
            self.directions.col_mut(k).copy_from_slice(&lane.change[..q]);
        }
        multiply_first(&mut self.margin_step, &self.features.tall, &self.directions, width);
        let n = self.features.len();
        for (k, lane) in self.lanes.iter_mut().enumerate().filter(|(_, s)| s.busy) {
            lane.rows.margin_step[..n].copy_from_slice(self.margin_step.col(k));
            lane.rows.margin_step[n] = -dot(&lane.query, &lane.change);
        }
    }

    /// All multipliers 1: the answer whenever it leaves every margin at 1 or below.
    fn closed_form(&mut self, k: usize) -> Option<Iterate> {
        if self.lanes[k].attempt == Attempt::WeightedRows {
            return None;
        }
        let (n, free) = (self.features.len(), self.features.free);
        let Lane { query, reg, .. } = &self.lanes[k];
        let reg = *reg;
        let means = self.mean.iter().chain([&0.0]);
        let mut theta: Vec<f64> = means.zip(query).map(|(m, z)| (m - z) / (4.0 * reg)).collect();
        theta[..free].fill(0.0);
        let dual = vec![1.0; n + 1];
        let (margin, certificate, stop) = (vec![0.0; n + 1], Certificate::NOTHING, Stop::Converged);
        let mut iterate = Iterate { theta, margin, dual, reg, certificate, error: 0.0, stop };
        self.refresh(k, &mut iterate);
        if free == 1 {
            // Any intercept with max f(xᵢ) ≤ 1 and -f(z) ≤ 1 is optimal: take the middle one.
            let largest = iterate.margin[..n].iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
            let (low, high) = (iterate.margin[n] - 1.0, 1.0 - largest);
            if low > high {
                return None;
            }
            iterate.theta[0] = 0.5 * (low + high);
            self.refresh(k, &mut iterate);
        }
        if iterate.margin.iter().any(|m| *m > 1.0) {
            return None;
        }
        let gathered: Vec<f64> = self.mean.iter().map(|m| 0.5 * m).collect();
        let PathCertificate { given, own, .. } = self.certify(k, &mut iterate, &gathered, None);
        (iterate.certificate, iterate.error) = (given, own.error);
        Some(iterate)
    }

    /// The sample's part of $\sum_j c_j a_j u_j$.
    fn gather(&self, dual: &[f64]) -> Vec<f64> {
        let weighted: Vec<f64> = self.features.half_weights.iter().zip(dual).map(|(c, a)| c * a).collect();
        self.features.combination(&weighted)
    }

    /// Computes the margins at the parameters.
    fn refresh(&self, k: usize, iterate: &mut Iterate) {
        let n = self.features.len();
        self.features.products(&iterate.theta, &mut iterate.margin[..n]);
        iterate.margin[n] = -dot(&self.lanes[k].query, &iterate.theta);
    }

    fn report(&mut self, k: usize, iterate: Iterate) -> (usize, Outcome) {
        let free = self.features.free;
        let w = &iterate.theta[free..];
        let risk: f64 = self.masses.iter().zip(&iterate.margin).map(|(c, m)| c * (1.0 - m).max(0.0)).sum();
        let penalty = iterate.reg * dot(w, w);
        let stderr = if self.task.stderr {
            let (mut losses, slopes) = self.losses_and_slopes(&iterate);
            let (shifts, q) = self.shifts(k, &iterate);
            let reaction = self.reaction(k, &iterate, (&slopes, &shifts), q.as_deref());
            self.features.standard_error(&mut losses, &slopes, &shifts, Some(reaction))
        } else {
            f64::NAN
        };
        let objective = match self.task.variant {
            Variant::Constrained { .. } => risk,
            _ => risk + penalty,
        };
        let certificate = iterate.certificate.capped(objective);
        let value = -iterate.margin[self.features.len()];
        let Iterate { theta, stop, dual, .. } = iterate;
        let stop = stop.for_error(iterate.error.min(certificate.error), self.task.tol);
        // A refinement starts from the multipliers.
        let kept = self.task.multipliers || certificate.error > self.task.tol;
        let multipliers = kept.then_some(dual);
        let Certificate { gap, error, .. } = certificate;
        let Lane { id, iterations, .. } = self.lanes[k];
        let depth = self.task.variant.depth(risk, penalty);
        (id, Outcome { depth, error, gap, stderr, iterations, stop, theta, value, multipliers })
    }
}

impl Lane {
    fn idle(rows: usize, width: usize) -> Self {
        let zeros = || vec![0.0; width];
        Self { query: zeros(), theta: zeros(), rows: PathRows::new(rows), change: zeros(), ..Self::default() }
    }

    /// Back to the beginning of a path.
    fn restart(&mut self) {
        self.theta.fill(0.0);
        self.rows.reset();
        (self.path, self.stalls, self.nearest, self.best) = (0, 0, f64::INFINITY, None);
        self.attempt = Attempt::Mehrotra;
    }
}
