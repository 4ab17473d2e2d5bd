//! Many queries side by side: two matrix products an iteration serve them all.
//!
//! A *slot* holds one query on its way to its minimum. One *sweep* multiplies the sample with the
//! directions of all slots, lets every slot do its own elementwise work on its column (line search,
//! slopes), and multiplies back. A slot that is done takes the next query, so the products stay full.
//! Nothing passes between columns: what a query gets depends on it and the sample alone.
//!
//! The direction is a limited-memory quasi-Newton step on top of the metric
//! $\operatorname{diag}(\kappa \sigma_j^2 + 2 \lambda) + \kappa_z \hat z \hat z^\top$, where the mean
//! curvature $\kappa = \frac12 \sum_i \omega_i \ell''(m_i)$ follows the query from sweep to sweep. In
//! the principal axes of the sample that costs nothing, and at a strong penalty it is Newton's
//! method to within a few percent.
//!
//! When a query has converged, its slot goes on, in the same sweeps, to the conjugate gradients that the
//! standard error of the risk asks for. Queries that are too ill-conditioned are handed to
//! [`newton`](super::newton).

mod constraint;
mod influence;
mod precision;
mod slot;

use self::precision::{Precision, Sample};
use self::slot::{Slot, Stage};
use super::lbfgs::Metric;
use super::line_search::search;
use super::radius::Radius;
use super::warm_start;
use crate::certify::axes::{Certified, Iterate, smallest};
use crate::loss::{Dual, Smooth, Walk};
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, axpy, dot, hadamard, multiply_first, norm};
use crate::problem::Features;
use crate::problem::Variant;
use crate::problem::{ErrorBudget, Outcome, Queue, Task};

/// Sweeps without a new best error after which a query is stubborn.
const HEADWAY: usize = 20;

/// Solves everything in the queue, `width` queries at a time.
pub(crate) fn solve<L: Smooth + Dual>(
    loss: &L,
    features: &Features,
    task: &Task,
    width: usize,
    queue: &mut impl Queue,
) {
    let Some(mut exact) = Sweep::<L, f64>::new(loss, features, task, width) else { return };
    let draft = match task.variant {
        Variant::Constrained { .. } => None,
        _ => Sweep::<L, f32>::new(loss, features, task, width),
    };
    if let Some(draft) = draft {
        return solve_twice(draft, &mut exact, queue);
    }
    loop {
        let more = exact.refill(queue);
        let active = if more { width } else { exact.gather() };
        if queue.cancelled() || active == 0 {
            return;
        }
        exact.sweep(active, queue);
    }
}

/// First in single precision, then, once there are enough to fill a sweep, in double.
fn solve_twice<L: Smooth + Dual>(
    mut draft: Sweep<'_, L, f32>,
    exact: &mut Sweep<'_, L, f64>,
    queue: &mut impl Queue,
) {
    // What waits for double precision, and idle slots to take its place.
    let (mut waiting, mut spare): (Vec<Slot>, Vec<Slot>) = (Vec::new(), Vec::new());
    loop {
        let more = draft.refill(queue);
        let active = if more { draft.slots.len() } else { draft.gather() };
        draft.run(active.next_multiple_of(COLUMN_GROUP));
        for k in 0..active {
            if draft.advance(k).is_some() {
                let idle = spare.pop().unwrap_or_else(|| Slot::idle(draft.features.query_width()));
                waiting.push(std::mem::replace(&mut draft.slots[k], idle));
            }
        }
        loop {
            let busy = exact.gather();
            let full = waiting.len() + busy >= exact.slots.len();
            if queue.cancelled() || !(full || active == 0 && waiting.len() + busy > 0) {
                break;
            }
            let room = waiting.len().min(exact.slots.len() - busy);
            for (k, slot) in (busy..).zip(waiting.drain(..room)) {
                spare.push(exact.adopt(k, slot));
            }
            exact.sweep(busy + room, queue);
        }
        if queue.cancelled() || active == 0 {
            return;
        }
    }
}

/// How a query leaves a sweep.
enum End {
    /// Solved.
    Done(usize, Outcome),
    /// As far as single precision goes; the slot has it all.
    Draft,
}

struct Sweep<'a, L, T: Precision> {
    loss: &'a L,
    features: &'a Features,
    sample: Sample<'a, T>,
    task: &'a Task,
    slots: Vec<Slot>,
    /// Σ ½ωᵢ tᵢ.
    mean: Vec<f64>,
    directions: Matrix<T>,
    /// One column a slot, one row a sample point: the change of the margins along the direction,
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
    patience: usize,
}

impl<'a, L: Smooth + Dual, T: Precision> Sweep<'a, L, T> {
    /// `None` if there is no such precision.
    fn new(loss: &'a L, features: &'a Features, task: &'a Task, width: usize) -> Option<Self> {
        let sample = T::sample(loss, features)?;
        let (n, q) = (features.len(), features.width());
        let mean = (0..q).map(|j| dot(features.tall.col(j), &features.half_weights)).collect();
        let slots = (0..width).map(|_| Slot::idle(q + 1)).collect();
        let tall = || Matrix::zeros(n, width);
        // Six Newton steps cost about as much as this many sweeps.
        let patience = 15 + 3 * q / 2 + q * q / (2 * n);
        Some(Self {
            loss,
            features,
            sample,
            task,
            slots,
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
            patience,
        })
    }

    /// Gives waiting queries to idle slots; false once there are no more.
    fn refill(&mut self, queue: &mut impl Queue) -> bool {
        let idle: Vec<usize> =
            (0..self.slots.len()).filter(|&k| self.slots[k].stage == Stage::Idle).collect();
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

    /// Puts a query at the origin, where everything is known without looking at the sample.
    fn start(&mut self, k: usize, id: usize, query: Vec<f64>) {
        let (loss, free) = (self.loss, self.features.free);
        let slope = loss.grad(0.0);
        let slot = &mut self.slots[k];
        slot.id = id;
        slot.stage = Stage::Descend;
        slot.theta.fill(0.0);
        slot.memory.clear();
        slot.value = 0.0;
        (slot.slope_mass, slot.smallest_margin) = (0.5 * loss.grad(0.0).abs(), 0.0);
        (slot.walked, slot.steps) = (0.0, 0);
        slot.curvature = 0.5 * loss.hess(0.0);
        slot.query_curvature = 0.5 * loss.hess(0.0);
        slot.depth = 1.0;
        slot.error = f64::INFINITY;
        (slot.best, slot.best_at) = (f64::INFINITY, 0);
        slot.iterations = 0;
        slot.influenced = false;
        slot.leap.clear();
        for ((g, m), z) in slot.gradient.iter_mut().zip(self.mean.iter().chain([&0.0])).zip(&query) {
            *g = slope * (m - 0.5 * z);
        }
        slot.query = query;
        (slot.reg, slot.radius) = match self.task.variant {
            Variant::Constrained { radius } => {
                let (search, start) = Radius::new(radius, self.task.tol, norm(&slot.gradient[free..]));
                (start, Some(search))
            }
            _ => (self.task.reg, None),
        };
        slot.looseness = 1e-2;
        self.margins.col_mut(k).fill(T::default());
        let Slot { query, reg, direction, gradient, .. } = slot;
        let far = free == 1 && warm_start::pays(loss, &self.features.moments, query, *reg);
        slot.jumped = far
            && warm_start::gaussian(loss, &self.features.moments, query, *reg, direction)
            && dot(gradient, direction) < 0.0;
        if !slot.jumped {
            self.head_downhill(k);
        }
    }

    /// Moves the busy slots to the front and counts them, so that the products serve no idle ones.
    fn gather(&mut self) -> usize {
        let mut active = 0;
        for k in 0..self.slots.len() {
            if self.slots[k].stage == Stage::Idle {
                continue;
            }
            if k != active {
                self.slots.swap(k, active);
                self.margins.copy_col(k, active);
                self.losses.copy_col(k, active);
                self.curvatures.copy_col(k, active);
                self.shift.copy_col(k, active);
            }
            active += 1;
        }
        active
    }

    /// The two products over the first `width` slots, and each slot's own work in between.
    fn run(&mut self, width: usize) {
        let q = self.features.width();
        for (k, slot) in self.slots[..width].iter().enumerate() {
            let column = self.directions.col_mut(k);
            let from = match slot.stage {
                Stage::Descend | Stage::Influence => &slot.direction[..q],
                Stage::Rescale | Stage::Verify => &slot.theta[..q],
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
            match self.slots[k].stage {
                Stage::Descend => self.step(k),
                Stage::Rescale => self.look_again(k),
                Stage::Verify => self.look_closely(k),
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
        let (loss, free, slot) = (self.loss, self.features.free, &mut self.slots[k]);
        let weights = self.sample.half_weights;
        let (along, slopes) = (self.along.col(k), self.slopes.col_mut(k));
        let margins = self.margins.col_mut(k);
        let (w, p) = (&slot.theta[free..], &slot.direction[free..]);
        let (wp, pp, zp) = (dot(w, p), dot(p, p), dot(&slot.query, &slot.direction));
        let (value, reg) = (slot.value, slot.reg);
        let mut last = Walk::default();
        let start = dot(&slot.gradient, &slot.direction);
        // Losses are about as large as their slopes once they are small, and there the room has to be too; the risk was
        // 1 at the origin.
        let risk = slot.slope_mass + 0.5 * loss.value(-value) + reg * dot(w, w);
        slot.step = search(start, risk.min(loss.value(0.0)), |t| {
            let walk = T::walk(loss, margins, along, t, weights, slopes);
            last = walk;
            walk.along - 0.5 * loss.grad(-(value + t * zp)) * zp + 2.0 * reg * (wp + t * pp)
        });
        if let Some(t) = slot.step {
            axpy(T::rounded(t), along, margins);
            axpy(t, &slot.direction, &mut slot.theta);
            slot.value = dot(&slot.query, &slot.theta);
            slot.walked += t * self.features.span(&slot.direction);
            slot.steps += 1;
            (slot.curvature, slot.slope_mass) = (last.curvature, -last.total);
            slot.smallest_margin = smallest(margins);
            slot.query_curvature = 0.5 * loss.hess(-slot.value);
        }
    }

    /// Takes the product as the margins at the parameters themselves.
    fn look_again(&mut self, k: usize) {
        let slot = &mut self.slots[k];
        let margins = self.margins.col_mut(k);
        margins.copy_from_slice(self.along.col(k));
        let along = self.along.col(k);
        let walk = T::walk(self.loss, margins, along, 0.0, self.sample.half_weights, self.slopes.col_mut(k));
        slot.value = dot(&slot.query, &slot.theta);
        (slot.curvature, slot.slope_mass) = (walk.curvature, -walk.total);
        slot.smallest_margin = smallest(margins);
        (slot.walked, slot.steps) = (self.features.span(&slot.theta), 1);
        slot.query_curvature = 0.5 * self.loss.hess(-slot.value);
    }

    /// Takes the product as the margins at the parameters themselves, for losses and slopes.
    fn look_closely(&mut self, k: usize) {
        let (losses, slopes) = (self.losses.col_mut(k), self.slopes.col_mut(k));
        let slot = &mut self.slots[k];
        slot.depth = T::assess(self.loss, self.along.col(k), self.sample.half_weights, losses, slopes);
        slot.value = dot(&slot.query, &slot.theta);
        slot.slope_mass = slopes.iter().map(|s| s.widened().abs()).sum();
        slot.smallest_margin = smallest(self.along.col(k));
        (slot.walked, slot.steps) = (self.features.span(&slot.theta), 1);
    }

    /// Whether what single precision has found stands up to a closer look.
    fn verify(&mut self, k: usize) -> Option<End> {
        self.slots[k].iterations += 1;
        self.find_gradient(k, self.slots[k].reg);
        if self.certified(k, self.task.tol) && self.slots[k].influenced {
            self.slots[k].depth = self.depth(k, self.slots[k].depth);
            return Some(T::finish(self, k));
        }
        let slot = &mut self.slots[k];
        // What single precision makes of a point that is not good enough is not good enough either.
        slot.influenced = false;
        self.look_again(k);
        self.check(k)
    }

    /// The depth, from what the sample adds to the risk.
    fn depth(&self, k: usize, sample: f64) -> f64 {
        let slot = &self.slots[k];
        let w = &slot.theta[self.features.free..];
        let penalty = if self.task.variant == Variant::Objective { slot.reg * dot(w, w) } else { 0.0 };
        sample + 0.5 * self.loss.value(-slot.value) + penalty
    }

    /// Reads the products' outcome and decides what a slot does next.
    fn advance(&mut self, k: usize) -> Option<End> {
        match self.slots[k].stage {
            Stage::Idle => None,
            Stage::Descend if self.slots[k].step.is_none() => self.forget(k),
            Stage::Descend => {
                let slot = &mut self.slots[k];
                slot.iterations += 1;
                std::mem::swap(&mut slot.gradient, &mut slot.change);
                self.find_gradient(k, self.slots[k].reg);
                let slot = &mut self.slots[k];
                let step = slot.step.unwrap_or(0.0);
                slot.direction.iter_mut().for_each(|p| *p *= step);
                slot.change.iter_mut().zip(&slot.gradient).for_each(|(c, g)| *c = g - *c);
                // The jump from the origin says nothing about the curvature where it landed.
                if slot.iterations > 1 || !slot.jumped {
                    slot.memory.push(&slot.direction, &slot.change);
                }
                if slot.radius.is_some() { self.follow_radius(k) } else { self.check(k) }
            }
            Stage::Rescale => {
                self.slots[k].iterations += 1;
                self.find_gradient(k, 0.0);
                self.check_radius(k)
            }
            Stage::Influence => self.follow_influence(k),
            Stage::Verify => self.verify(k),
        }
    }

    /// No headway along the last direction: once more from what the sample alone says about the curvature.
    fn forget(&mut self, k: usize) -> Option<End> {
        let slot = &mut self.slots[k];
        let jumped = slot.iterations == 0 && slot.jumped;
        if slot.memory.is_empty() && !jumped {
            return Some(T::give_up(self, k));
        }
        slot.memory.clear();
        slot.iterations += 1;
        self.go_on(k)
    }

    /// The gradient of risk + reg · ‖w‖² after a sweep.
    fn find_gradient(&mut self, k: usize, reg: f64) {
        let (slot, free) = (&mut self.slots[k], self.features.free);
        let at_query = -0.5 * self.loss.grad(-slot.value);
        let Slot { gradient, query, theta, .. } = slot;
        gradient.clear();
        gradient.extend(self.gradients.col(k).iter().map(|g| g.widened()).chain([0.0]));
        axpy(at_query, query, gradient);
        axpy(2.0 * reg, &theta[free..], &mut gradient[free..]);
    }

    fn iterate<'s>(&'s self, slot: &'s Slot) -> Iterate<'s> {
        let Slot { theta, gradient, query, value, slope_mass, smallest_margin, .. } = slot;
        Iterate {
            features: self.features,
            theta,
            gradient,
            query,
            value: *value,
            slope_mass: *slope_mass,
            smallest_margin: *smallest_margin,
            margin_error: (
                self.features.blur(slot.walked, slot.steps),
                self.features.blur(norm(query) * norm(theta), 1),
            ),
        }
    }

    /// Certifies the iterate of a slot; whether its error in the axes is at most `tol`.
    fn certified(&mut self, k: usize, tol: f64) -> bool {
        let reg = self.slots[k].reg;
        let Certified { given, own_error } = self.iterate(&self.slots[k]).certify(self.loss, reg, self.task);
        let slot = &mut self.slots[k];
        (slot.certificate, slot.error) = (given, own_error);
        own_error <= tol && given.gap <= self.task.gap_tol
    }

    /// Converged, hopeless, or once more?
    fn check(&mut self, k: usize) -> Option<End> {
        let (before, tol) = (self.slots[k].error, T::tolerance(self.task));
        let met = self.certified(k, tol);
        let error = self.slots[k].error;
        let iterate = self.iterate(&self.slots[k]);
        let hopeless = !T::EXACT && !met && iterate.gradient_is_rounding(self.loss, f64::from(f32::EPSILON));
        let slot = &mut self.slots[k];
        if error < 0.5 * slot.best {
            (slot.best, slot.best_at) = (error, slot.iterations);
        }
        if met {
            return self.converged(k);
        }
        if hopeless {
            return Some(T::give_up(self, k));
        }
        // If the next step does as much as this one did it is the last, and double precision looks at it anyway.
        let predicted = error / before * error;
        if !T::EXACT && before.is_finite() && predicted <= ErrorBudget::new(tol).predicted_step() {
            self.head_downhill(k);
            let Slot { leap, direction, .. } = &mut self.slots[k];
            leap.clone_from(direction);
            return self.converged(k);
        }
        self.go_on(k)
    }

    /// One more direction, unless that has gone on for too long.
    fn go_on(&mut self, k: usize) -> Option<End> {
        let Slot { iterations, best_at, .. } = self.slots[k];
        let stuck = self.slots[k].radius.is_none() && iterations >= best_at + HEADWAY;
        if stuck || iterations >= self.patience || iterations >= self.task.max_iter {
            return Some(T::give_up(self, k));
        }
        self.head_downhill(k);
        None
    }

    /// Points the slot's direction downhill.
    fn head_downhill(&mut self, k: usize) {
        self.precondition(k);
        let slot = &mut self.slots[k];
        slot.stage = Stage::Descend;
        let mut direction = std::mem::take(&mut slot.direction);
        direction.clear();
        direction.extend(slot.gradient.iter().map(|g| -g));
        let metric = Metric { diagonal: &self.diagonal, query: &slot.query, curvature: slot.query_curvature };
        slot.memory.apply(&mut direction, &metric);
        slot.direction = direction;
    }

    /// Fills in the diagonal of the metric for a slot.
    fn precondition(&mut self, k: usize) {
        let (slot, free) = (&self.slots[k], self.features.free);
        let curvature = slot.curvature.max(1e-3 * slot.query_curvature).max(f64::MIN_POSITIVE * 1e30);
        let penalty = 2.0 * slot.reg;
        for (j, (h, m)) in self.diagonal.iter_mut().zip(&self.features.moments).enumerate() {
            *h = curvature * m + if j < free { 0.0 } else { penalty };
        }
        if let Some(last) = self.diagonal.last_mut() {
            *last = penalty;
        }
    }
}

impl<L: Smooth + Dual> Sweep<'_, L, f64> {
    /// One sweep over the first `active` slots.
    fn sweep(&mut self, active: usize, queue: &mut impl Queue) {
        self.run(active.next_multiple_of(COLUMN_GROUP));
        for k in 0..active {
            if let Some(End::Done(id, outcome)) = self.advance(k) {
                queue.done(id, outcome);
            }
        }
    }

    /// Takes over what single precision has found; returns the idle slot that was there.
    fn adopt(&mut self, k: usize, slot: Slot) -> Slot {
        let idle = std::mem::replace(&mut self.slots[k], slot);
        let slot = &mut self.slots[k];
        slot.stage = Stage::Verify;
        (slot.error, slot.best, slot.best_at) = (f64::INFINITY, f64::INFINITY, slot.iterations);
        if slot.influenced {
            for (to, from) in self.shift.col_mut(k).iter_mut().zip(&slot.shift) {
                *to = f64::from(*from);
            }
        }
        idle
    }
}
