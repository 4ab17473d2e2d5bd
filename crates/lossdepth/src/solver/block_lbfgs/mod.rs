//! Many queries side by side: two matrix products an iteration serve them all.
//!
//! A *lane* holds the state of one query. One iteration of the block multiplies the sample with the
//! directions of all lanes, lets every lane do its own elementwise work on its column (line search,
//! slopes), and multiplies back. A lane that is done takes the next query, so the products stay full.
//! Nothing passes between columns: what a query gets depends on it and the sample alone.
//!
//! The direction is a limited-memory quasi-Newton step on top of the metric
//! $\operatorname{diag}(\kappa \sigma_j^2 + 2 \lambda) + \kappa_z \hat z \hat z^\top$, where the mean
//! curvature $\kappa = \frac12 \sum_i \omega_i \ell''(m_i)$ follows the query from iteration to iteration. In
//! the principal axes of the sample that costs nothing, and at a strong penalty it is Newton's
//! method to within a few percent.
//!
//! When a query has converged, its lane continues, in the same iterations, with the conjugate gradients that the
//! standard error of the risk needs. Queries that are too ill-conditioned are handed to
//! [`newton`](super::newton).

mod constraint;
mod influence;
mod lane;
mod precision;
mod progress;

use self::lane::{Lane, Stage};
use self::precision::{Line, Precision, Sample};
use super::lbfgs::Metric;
use super::line_search::search;
use super::radius::Radius;
use super::warm_start;
use crate::certify::axes::smallest;
use crate::loss::{Dual, LineSums, Smooth};
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, axpy, dot, hadamard, multiply_first, norm};
use crate::problem::{Features, Outcome, Queue, Task, Variant};

/// Iterations without a new best error after which a query is handed to Newton's method (heuristic).
const STALLED_ITERATIONS: usize = 20;

/// The least mean curvature of the metric, as a share of the query's own, and at all: the metric needs an inverse where all
/// slopes have vanished (heuristic).
const CURVATURE_SHARE: f64 = 1e-3;
const LEAST_CURVATURE: f64 = f64::MIN_POSITIVE * 1e30;

/// Solves everything in the queue, `width` queries at a time.
pub(crate) fn solve<L: Smooth + Dual>(
    loss: &L,
    features: &Features,
    task: &Task,
    width: usize,
    queue: &mut impl Queue,
) {
    let Some(mut exact) = Block::<L, f64>::new(loss, features, task, width) else { return };
    let draft = match task.variant {
        Variant::Constrained { .. } => None,
        _ => Block::<L, f32>::new(loss, features, task, width),
    };
    if let Some(draft) = draft {
        return solve_in_two_precisions(draft, &mut exact, queue);
    }
    loop {
        let more = exact.refill(queue);
        let active = if more { width } else { exact.gather() };
        if queue.cancelled() || active == 0 {
            return;
        }
        exact.iterate_active(active, queue);
    }
}

/// First in single precision, then, once there are enough to fill a block, in double.
fn solve_in_two_precisions<L: Smooth + Dual>(
    mut draft: Block<'_, L, f32>,
    exact: &mut Block<'_, L, f64>,
    queue: &mut impl Queue,
) {
    // What waits for double precision, and idle lanes to take its place.
    let (mut waiting, mut spare): (Vec<Lane>, Vec<Lane>) = (Vec::new(), Vec::new());
    loop {
        let more = draft.refill(queue);
        let active = if more { draft.lanes.len() } else { draft.gather() };
        draft.run(active.next_multiple_of(COLUMN_GROUP));
        for k in 0..active {
            if draft.advance(k).is_some() {
                let idle = spare.pop().unwrap_or_else(|| Lane::idle(draft.features.query_width()));
                waiting.push(std::mem::replace(&mut draft.lanes[k], idle));
            }
        }
        loop {
            let busy = exact.gather();
            let full = waiting.len() + busy >= exact.lanes.len();
            if queue.cancelled() || !(full || active == 0 && waiting.len() + busy > 0) {
                break;
            }
            let room = waiting.len().min(exact.lanes.len() - busy);
            for (k, lane) in (busy..).zip(waiting.drain(..room)) {
                spare.push(exact.adopt(k, lane));
            }
            exact.iterate_active(busy + room, queue);
        }
        if queue.cancelled() || active == 0 {
            return;
        }
    }
}

/// How a query leaves a block.
enum End {
    /// Solved.
    Done(usize, Outcome),
    /// As far as single precision goes; the lane has it all.
    Draft,
}

struct Block<'a, L, T: Precision> {
    loss: &'a L,
    features: &'a Features,
    sample: Sample<'a, T>,
    task: &'a Task,
    lanes: Vec<Lane>,
    /// Σ ½ωᵢ tᵢ.
    mean: Vec<f64>,
    directions: Matrix<T>,
    /// One column a lane, one row a sample point: the change of the margins along the direction,
    along: Matrix<T>,
    /// the margins,
    margins: Matrix<T>,
    /// the weighted slopes,
    slopes: Matrix<T>,
    /// the losses (in double precision only) and the weighted curvatures of a query that has converged,
    losses: Matrix,
    curvatures: Matrix<T>,
    /// and ⟨tᵢ, q⟩ of the influence.
    shift: Matrix<T>,
    gradients: Matrix<T>,
    diagonal: Vec<f64>,
    iteration_limit: usize,
}

impl<'a, L: Smooth + Dual, T: Precision> Block<'a, L, T> {
    /// `None` if there is no such precision.
    fn new(loss: &'a L, features: &'a Features, task: &'a Task, width: usize) -> Option<Self> {
        let sample = T::sample(loss, features)?;
        let (n, q) = (features.len(), features.width());
        let mean = features.combination(&features.half_weights);
        let lanes = (0..width).map(|_| Lane::idle(q + 1)).collect();
        let tall = || Matrix::zeros(n, width);
        // Six Newton steps cost about as much as this many iterations (heuristic).
        let iteration_limit = 15 + 3 * q / 2 + q * q / (2 * n);
        Some(Self {
            loss,
            features,
            sample,
            task,
            lanes,
            mean,
            directions: Matrix::zeros(q, width),
            along: tall(),
            margins: tall(),
            slopes: tall(),
            losses: Matrix::zeros(if T::EXACT { n } else { 0 }, width),
            curvatures: tall(),
            shift: tall(),
            gradients: Matrix::zeros(q, width),
            diagonal: vec![0.0; q + 1],
            iteration_limit,
        })
    }

    /// Gives waiting queries to idle lanes; false once there are no more.
    fn refill(&mut self, queue: &mut impl Queue) -> bool {
        let idle: Vec<usize> =
            (0..self.lanes.len()).filter(|&k| self.lanes[k].stage == Stage::Idle).collect();
        if idle.len() < COLUMN_GROUP {
            return true;
        }
        let queries = queue.next(idle.len());
        let more = !queries.is_empty();
        for (k, (id, query)) in idle.into_iter().zip(queries) {
            self.start(k, id, query);
        }
        more
    }

    /// Starts a query at the origin, where slopes and gradient are known without a product.
    fn start(&mut self, k: usize, id: usize, query: Vec<f64>) {
        let (loss, free) = (self.loss, self.features.free);
        let slope = loss.grad(0.0);
        let lane = &mut self.lanes[k];
        lane.id = id;
        lane.stage = Stage::Descend;
        lane.theta.fill(0.0);
        lane.memory.clear();
        lane.value = 0.0;
        (lane.slope_mass, lane.smallest_margin) = (0.5 * loss.grad(0.0).abs(), 0.0);
        (lane.term_sizes, lane.steps) = (0.0, 0);
        lane.curvature = 0.5 * loss.hess(0.0);
        lane.query_curvature = 0.5 * loss.hess(0.0);
        lane.depth = 1.0;
        lane.error = f64::INFINITY;
        (lane.best, lane.best_at) = (f64::INFINITY, 0);
        lane.iterations = 0;
        lane.has_influence = false;
        lane.predicted_step.clear();
        for ((g, m), z) in lane.gradient.iter_mut().zip(self.mean.iter().chain([&0.0])).zip(&query) {
            *g = slope * (m - 0.5 * z);
        }
        lane.query = query;
        (lane.reg, lane.radius) = match self.task.variant {
            Variant::Constrained { radius } => {
                let (search, start) = Radius::new(radius, self.task.tol, norm(&lane.gradient[free..]));
                (start, Some(search))
            }
            _ => (self.task.reg, None),
        };
        lane.inner_tol = constraint::INNER_TOL;
        self.margins.col_mut(k).fill(T::default());
        let Lane { query, reg, direction, gradient, .. } = lane;
        let worthwhile = free == 1 && warm_start::is_worthwhile(loss, &self.features.moments, query, *reg);
        lane.warm_started = worthwhile
            && warm_start::gaussian(loss, &self.features.moments, query, *reg, direction)
            && dot(gradient, direction) < 0.0;
        if !lane.warm_started {
            self.find_direction(k);
        }
    }

    /// Moves the busy lanes to the front and counts them, so that the products serve no idle ones.
    fn gather(&mut self) -> usize {
        let mut active = 0;
        for k in 0..self.lanes.len() {
            if self.lanes[k].stage == Stage::Idle {
                continue;
            }
            if k != active {
                self.lanes.swap(k, active);
                self.margins.copy_col(k, active);
                self.losses.copy_col(k, active);
                self.curvatures.copy_col(k, active);
                self.shift.copy_col(k, active);
            }
            active += 1;
        }
        active
    }

    /// The two products over the first `width` lanes, and each lane's own work in between.
    fn run(&mut self, width: usize) {
        let q = self.features.width();
        for (k, lane) in self.lanes[..width].iter().enumerate() {
            let column = self.directions.col_mut(k);
            let from = match lane.stage {
                Stage::Descend | Stage::Influence => &lane.direction[..q],
                Stage::Rescale | Stage::Verify => &lane.theta[..q],
                Stage::Idle => {
                    column.fill(T::default());
                    continue;
                }
            };
            for (to, from) in column.iter_mut().zip(from) {
                *to = T::rounded(*from);
            }
        }
        multiply_first(&mut self.along, self.sample.tall, &self.directions, width);
        for k in 0..width {
            match self.lanes[k].stage {
                Stage::Descend => self.step(k),
                Stage::Rescale => self.evaluate_at_theta(k),
                Stage::Verify => self.evaluate_losses_at_theta(k),
                Stage::Influence => {
                    hadamard(self.curvatures.col(k), self.along.col(k), self.slopes.col_mut(k));
                }
                Stage::Idle => self.slopes.col_mut(k).fill(T::default()),
            }
        }
        multiply_first(&mut self.gradients, self.sample.wide, &self.slopes, width);
    }

    /// Finds the step along the direction and takes it.
    fn step(&mut self, k: usize) {
        let (loss, free, lane) = (self.loss, self.features.free, &mut self.lanes[k]);
        let weights = self.sample.half_weights;
        let (along, slopes) = (self.along.col(k), self.slopes.col_mut(k));
        let margins = self.margins.col_mut(k);
        let (w, p) = (&lane.theta[free..], &lane.direction[free..]);
        let (wp, pp, zp) = (dot(w, p), dot(p, p), dot(&lane.query, &lane.direction));
        let (value, reg) = (lane.value, lane.reg);
        let mut last = LineSums::default();
        let start = dot(&lane.gradient, &lane.direction);
        // A bound on the objective: small losses are about as large as their slopes, and the risk was 1 at the origin.
        let risk = lane.slope_mass + 0.5 * loss.value(-value) + reg * dot(w, w);
        lane.step = search(start, risk.min(loss.value(0.0)), |t| {
            let line = Line { margins: &*margins, direction: along, step: t };
            let sums = T::slopes_along(loss, line, weights, slopes);
            last = sums;
            sums.along - 0.5 * loss.grad(-(value + t * zp)) * zp + 2.0 * reg * (wp + t * pp)
        });
        if let Some(t) = lane.step {
            axpy(T::rounded(t), along, margins);
            axpy(t, &lane.direction, &mut lane.theta);
            lane.value = dot(&lane.query, &lane.theta);
            lane.term_sizes += t * self.features.term_sizes(&lane.direction);
            lane.steps += 1;
            (lane.curvature, lane.slope_mass) = (last.curvature, -last.total);
            lane.smallest_margin = if T::EXACT { smallest(margins) } else { 0.0 };
            lane.query_curvature = 0.5 * loss.hess(-lane.value);
        }
    }

    /// Takes the product as the margins at the parameters themselves.
    fn evaluate_at_theta(&mut self, k: usize) {
        let lane = &mut self.lanes[k];
        let margins = self.margins.col_mut(k);
        margins.copy_from_slice(self.along.col(k));
        let along = self.along.col(k);
        let line = Line { margins: &*margins, direction: along, step: 0.0 };
        let sums = T::slopes_along(self.loss, line, self.sample.half_weights, self.slopes.col_mut(k));
        lane.value = dot(&lane.query, &lane.theta);
        (lane.curvature, lane.slope_mass) = (sums.curvature, -sums.total);
        lane.smallest_margin = if T::EXACT { smallest(margins) } else { 0.0 };
        (lane.term_sizes, lane.steps) = (self.features.term_sizes(&lane.theta), 1);
        lane.query_curvature = 0.5 * self.loss.hess(-lane.value);
    }

    /// Takes the product as the margins at the parameters themselves, for losses and slopes.
    fn evaluate_losses_at_theta(&mut self, k: usize) {
        let (losses, slopes) = (self.losses.col_mut(k), self.slopes.col_mut(k));
        let lane = &mut self.lanes[k];
        let at = (self.along.col(k), self.sample.half_weights);
        lane.depth = T::losses_and_slopes(self.loss, at, losses, slopes);
        lane.value = dot(&lane.query, &lane.theta);
        lane.slope_mass = slopes.iter().map(|s| s.widened().abs()).sum();
        lane.smallest_margin = smallest(self.along.col(k));
        (lane.term_sizes, lane.steps) = (self.features.term_sizes(&lane.theta), 1);
    }

    /// The depth, from what the sample adds to the risk.
    fn depth(&self, k: usize, sample: f64) -> f64 {
        let lane = &self.lanes[k];
        let w = &lane.theta[self.features.free..];
        let risk = sample + 0.5 * self.loss.value(-lane.value);
        self.task.variant.depth(risk, lane.reg * dot(w, w))
    }

    /// The gradient of risk + reg · ‖w‖² after an iteration.
    fn find_gradient(&mut self, k: usize, reg: f64) {
        let (lane, free) = (&mut self.lanes[k], self.features.free);
        let at_query = -0.5 * self.loss.grad(-lane.value);
        let Lane { gradient, query, theta, .. } = lane;
        gradient.clear();
        gradient.extend(self.gradients.col(k).iter().map(|g| g.widened()).chain([0.0]));
        axpy(at_query, query, gradient);
        axpy(2.0 * reg, &theta[free..], &mut gradient[free..]);
    }

    /// Points the lane's direction downhill.
    fn find_direction(&mut self, k: usize) {
        self.precondition(k);
        let lane = &mut self.lanes[k];
        lane.stage = Stage::Descend;
        let mut direction = std::mem::take(&mut lane.direction);
        direction.clear();
        direction.extend(lane.gradient.iter().map(|g| -g));
        let metric = Metric { diagonal: &self.diagonal, query: &lane.query, curvature: lane.query_curvature };
        lane.memory.apply(&mut direction, &metric);
        lane.direction = direction;
    }

    /// Fills in the diagonal of the metric for a lane.
    fn precondition(&mut self, k: usize) {
        let (lane, free) = (&self.lanes[k], self.features.free);
        let curvature = lane.curvature.max(CURVATURE_SHARE * lane.query_curvature).max(LEAST_CURVATURE);
        let penalty = 2.0 * lane.reg;
        for (j, (h, m)) in self.diagonal.iter_mut().zip(&self.features.moments).enumerate() {
            *h = curvature * m + if j < free { 0.0 } else { penalty };
        }
        if let Some(last) = self.diagonal.last_mut() {
            *last = penalty;
        }
    }
}

impl<L: Smooth + Dual> Block<'_, L, f64> {
    /// One iteration of the first `active` lanes.
    fn iterate_active(&mut self, active: usize, queue: &mut impl Queue) {
        self.run(active.next_multiple_of(COLUMN_GROUP));
        for k in 0..active {
            if let Some(End::Done(id, outcome)) = self.advance(k) {
                queue.done(id, outcome);
            }
        }
    }

    /// Takes over what single precision has found; returns the idle lane that was there.
    fn adopt(&mut self, k: usize, lane: Lane) -> Lane {
        let idle = std::mem::replace(&mut self.lanes[k], lane);
        let lane = &mut self.lanes[k];
        lane.stage = Stage::Verify;
        (lane.error, lane.best, lane.best_at) = (f64::INFINITY, f64::INFINITY, lane.iterations);
        if lane.has_influence {
            for (to, from) in self.shift.col_mut(k).iter_mut().zip(&lane.shift) {
                *to = f64::from(*from);
            }
        }
        idle
    }
}
