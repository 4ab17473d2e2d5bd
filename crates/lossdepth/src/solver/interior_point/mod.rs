//! The hinge, which has no second derivative: a primal-dual interior-point method, many queries side by side.
//!
//! With rows $u_i = t_i$, $u_z = -\hat z$ and masses $c_i = \frac12 \omega_i$, $c_z = \frac12$, the problem is
//!
//! $$ \min \sum_j c_j \xi_j + \lambda \|w\|^2 \quad\text{s.t.}\quad
//!    \langle u_j, \theta \rangle + \xi_j - s_j = 1, \quad \xi_j, s_j \ge 0 $$
//!
//! with multipliers $c_j a_j$, $0 \le a_j \le 1$. Mehrotra's predictor and corrector follow the central path
//! $a_j s_j = (1 - a_j) \xi_j = \mu$ ([`central_path`](self::central_path)). An iteration needs, for each query,
//! one weighted second moment of the sample and a few products with it; all queries in flight share the matrix
//! products that give them ([`Gram`]). A slot whose query is done takes the next one.
//!
//! Where every margin is at most 1 all multipliers are 1 and the answer is closed form,
//! $w = (\bar t - \hat z) / 4 \lambda$; a slot tries this first. The certificate is the duality gap of the point
//! reached, whatever the path.

mod central_path;
mod certificate;
pub(crate) mod gram;
mod influence;

use self::central_path::Rows;
use self::certificate::Certified;
use self::gram::Gram;
use super::radius::Radius;
use crate::certify::gap::{Certificate, risk_error};
use crate::numerics::linalg::{COLUMN_GROUP, Cholesky, Matrix, WeightedQr, axpy, dot, multiply_first, norm};
use crate::problem::Variant;
use crate::problem::features::Features;
use crate::problem::{ErrorBudget, Stop, Task};
use crate::problem::{Outcome, Queue};

/// Iterations after which a path is given up; it takes ten to thirty.
const PATH_LENGTH: usize = 100;
/// Iterations without progress after which rounding is blamed.
const STALLS: usize = 12;
/// The same once the multipliers are complementary to the tolerance.
const ROUNDED_STALLS: usize = 2;
/// Penalties tried for a constraint; it takes about ten.
const RADIUS_STEPS: usize = 100;
/// How close to the boundary a step may go.
const DAMPING: f64 = 0.995;

/// Solves everything in the queue, `width` queries at a time.
pub(crate) fn solve(features: &Features, task: &Task, width: usize, queue: &mut impl Queue) {
    let mut paths = Paths::new(features, task, width);
    loop {
        let idle: Vec<usize> = (0..width).filter(|&k| !paths.slots[k].busy).collect();
        if idle.len() >= COLUMN_GROUP {
            let queries = queue.next(idle.len());
            for (k, (id, query)) in idle.into_iter().zip(queries) {
                paths.start(k, id, query);
            }
        }
        if queue.cancelled() || paths.slots.iter().all(|s| !s.busy) {
            return;
        }
        let done = paths.advance();
        paths.weigh(&done);
        for (k, found) in done {
            let (id, outcome) = paths.report(k, found);
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
    let mut paths = Paths::new(features, task, COLUMN_GROUP);
    paths.start(0, 0, query.to_vec());
    paths.slots[0].attempt = Attempt::Exact;
    loop {
        let done = paths.advance();
        paths.weigh(&done);
        if let Some((k, found)) = done.into_iter().next() {
            return Some(paths.report(k, found).1);
        }
        if cancelled() {
            return None;
        }
    }
}

/// The influence of every reference row on the depth of one query.
pub(crate) fn influence(features: &Features, task: &Task, query: &[f64]) -> Vec<f64> {
    let mut paths = Paths::new(features, task, COLUMN_GROUP);
    paths.start(0, 0, query.to_vec());
    loop {
        let done = paths.advance();
        paths.weigh(&done);
        if let Some((k, found)) = done.first() {
            let (losses, slopes) = paths.losses_and_slopes(found);
            let shifts = paths.shifts(*k, found);
            return features.influence(losses, &slopes, &shifts);
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

/// How a path is followed; the next way where one comes to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    /// By Mehrotra's heuristics.
    Bold,
    /// With more centering and less cleverness: those may jam in a corner.
    Cautious,
    /// By Mehrotra's heuristics, without squaring what the second moments square.
    Exact,
}

/// What solves for the change of the parameters.
enum Factor {
    /// Of the second moments.
    Square(Cholesky),
    /// Of the rows themselves.
    Root(WeightedQr),
}

impl Factor {
    fn solve(&self, rhs: &mut [f64]) {
        match self {
            Self::Square(factor) => factor.solve(rhs),
            Self::Root(factor) => factor.solve(rhs),
        }
    }
}

/// One query on its way.
struct Slot {
    busy: bool,
    id: usize,
    query: Vec<f64>,
    theta: Vec<f64>,
    rows: Rows,
    reg: f64,
    /// The change of the parameters; the query's own curvature and pull.
    change: Vec<f64>,
    at_query: f64,
    pull: f64,
    factor: Option<Factor>,
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

struct Paths<'a> {
    features: &'a Features,
    task: &'a Task,
    /// ½ωᵢ, and ½ for the query.
    masses: Vec<f64>,
    /// Σ ωᵢ tᵢ.
    mean: Vec<f64>,
    slots: Vec<Slot>,
    gram: Gram,
    curvatures: Matrix,
    pulls: Matrix,
    gathered: Matrix,
    directions: Matrix,
    moved: Matrix,
}

impl<'a> Paths<'a> {
    fn new(features: &'a Features, task: &'a Task, width: usize) -> Self {
        let (n, q) = (features.len(), features.width());
        let slots = (0..width).map(|_| Slot::idle(n + 1, q + 1)).collect();
        Self {
            features,
            task,
            masses: features.half_weights.iter().copied().chain([0.5]).collect(),
            mean: (0..q).map(|j| 2.0 * dot(features.tall.col(j), &features.half_weights)).collect(),
            slots,
            gram: Gram::new(&features.tall, width),
            curvatures: Matrix::zeros(n, width),
            pulls: Matrix::zeros(n, width),
            gathered: Matrix::zeros(q, width),
            directions: Matrix::zeros(q, width),
            moved: Matrix::zeros(n, width),
        }
    }

    fn start(&mut self, k: usize, id: usize, query: Vec<f64>) {
        let (free, slot) = (self.features.free, &mut self.slots[k]);
        (slot.busy, slot.id, slot.iterations, slot.steps) = (true, id, 0, 0);
        (slot.reg, slot.search) = match self.task.variant {
            Variant::Constrained { radius } => {
                let (search, reg) = Radius::new(radius, self.task.tol, norm(&query[free..]));
                (reg, Some(search))
            }
            _ => (self.task.reg, None),
        };
        slot.feasible = None;
        slot.query = query;
        slot.restart();
    }

    /// Takes every path one iteration further and returns the queries that are done.
    fn advance(&mut self) -> Vec<(usize, Iterate)> {
        let mut done = Vec::new();
        for k in 0..self.slots.len() {
            while self.slots[k].busy && self.slots[k].path == 0 {
                let Some(found) = self.closed_form(k) else { break };
                self.slots[k].iterations += 1;
                if let Some(found) = self.settle(k, found) {
                    self.slots[k].busy = false;
                    done.push((k, found));
                }
            }
        }
        if self.slots.iter().all(|s| !s.busy) {
            return done;
        }
        self.iterate();
        for k in 0..self.slots.len() {
            if self.slots[k].busy
                && let Some(found) = self.check(k)
            {
                self.slots[k].busy = false;
                done.push((k, found));
            }
        }
        done
    }

    /// One iteration of every path: predictor, then corrector.
    fn iterate(&mut self) {
        let width = self.slots.len();
        for (k, slot) in self.slots.iter_mut().enumerate().filter(|(_, s)| s.busy) {
            let (curvatures, pulls) = (self.curvatures.col_mut(k), self.pulls.col_mut(k));
            let (at_query, pull) = slot.rows.predict(&self.masses, curvatures, pulls);
            (slot.pull, slot.at_query) = (pull, at_query);
        }
        self.gram.load(&self.features.tall, &self.curvatures, width);
        for k in 0..width {
            if self.slots[k].busy {
                let sample = self.gram.lower(&self.features.tall, &self.curvatures, k);
                let slot = &mut self.slots[k];
                let (query, at_query, reg, free) = (&slot.query, slot.at_query, slot.reg, self.features.free);
                slot.factor = if slot.attempt == Attempt::Exact {
                    let (tall, curvatures) = (&self.features.tall, self.curvatures.col(k));
                    let qr = WeightedQr::of_hessian(tall, curvatures, query, at_query, reg, free);
                    Some(Factor::Root(qr))
                } else {
                    Cholesky::of_moments(&sample, query, at_query, reg, free).map(Factor::Square)
                };
            }
        }
        self.follow();
        for k in 0..width {
            let slot = &mut self.slots[k];
            if slot.busy {
                let reach = slot.rows.direct(true).min(1.0);
                let mu = slot.rows.complementarity(&self.masses, 0.0);
                let after = slot.rows.complementarity(&self.masses, reach);
                let (least, share) = if slot.attempt == Attempt::Cautious { (0.1, 0.0) } else { (0.0, 1.0) };
                let center = mu * (after / mu).powi(3).clamp(least, 1.0);
                slot.pull = slot.rows.correct(&self.masses, center, share, self.pulls.col_mut(k));
            }
        }
        self.follow();
        for slot in self.slots.iter_mut().filter(|s| s.busy) {
            let length = (DAMPING * slot.rows.direct(false)).min(1.0);
            axpy(length, &slot.change, &mut slot.theta);
            slot.rows.step(length);
            (slot.iterations, slot.path) = (slot.iterations + 1, slot.path + 1);
        }
        // The multipliers, gathered for the certificates.
        for (k, slot) in self.slots.iter().enumerate().filter(|(_, s)| s.busy) {
            for ((p, c), a) in self.pulls.col_mut(k).iter_mut().zip(&self.masses).zip(&slot.rows.dual) {
                *p = c * a.clamp(0.0, 1.0);
            }
        }
        multiply_first(&mut self.gathered, &self.features.wide, &self.pulls, width);
    }

    /// From the pulls on the rows to the change of the parameters and of the margins.
    fn follow(&mut self) {
        let (width, q, free) = (self.slots.len(), self.features.width(), self.features.free);
        multiply_first(&mut self.gathered, &self.features.wide, &self.pulls, width);
        for (k, slot) in self.slots.iter_mut().enumerate().filter(|(_, s)| s.busy) {
            slot.change.clear();
            slot.change.extend(self.gathered.col(k).iter().chain([&0.0]));
            axpy(-slot.pull, &slot.query, &mut slot.change);
            axpy(-2.0 * slot.reg, &slot.theta[free..], &mut slot.change[free..]);
            if let Some(factor) = &slot.factor {
                factor.solve(&mut slot.change);
            }
            self.directions.col_mut(k).copy_from_slice(&slot.change[..q]);
        }
        multiply_first(&mut self.moved, &self.features.tall, &self.directions, width);
        let n = self.features.len();
        for (k, slot) in self.slots.iter_mut().enumerate().filter(|(_, s)| s.busy) {
            slot.rows.moved[..n].copy_from_slice(self.moved.col(k));
            slot.rows.moved[n] = -dot(&slot.query, &slot.change);
        }
    }

    /// Whether a query is done, its path or its search for a penalty at an end.
    fn check(&mut self, k: usize) -> Option<Iterate> {
        let slot = &self.slots[k];
        let broken = slot.factor.is_none() || slot.theta.iter().any(|t| !t.is_finite());
        let end = if broken { self.path_jammed(k) } else { self.path_check(k) };
        self.settle(k, end?)
    }

    /// No headway: once more in another way, or the end.
    fn path_jammed(&mut self, k: usize) -> Option<Iterate> {
        let next = match self.slots[k].attempt {
            Attempt::Bold => Attempt::Cautious,
            Attempt::Cautious => Attempt::Exact,
            Attempt::Exact => return Some(self.path_end(k, Stop::Stalled)),
        };
        let best = self.slots[k].best.take();
        self.slots[k].restart();
        (self.slots[k].best, self.slots[k].attempt) = (best, next);
        None
    }

    /// What the end of a path means: the answer, or under a constraint perhaps another penalty.
    fn settle(&mut self, k: usize, end: Iterate) -> Option<Iterate> {
        match self.task.variant {
            Variant::Constrained { radius } => self.next_penalty(k, end, radius),
            _ => Some(end),
        }
    }

    /// Looks at the path's newest point.
    fn path_check(&mut self, k: usize) -> Option<Iterate> {
        let free = self.features.free;
        let slot = &self.slots[k];
        let dual: Vec<f64> = slot.rows.dual.iter().map(|a| a.clamp(0.0, 1.0)).collect();
        let (theta, margin) = (slot.theta.clone(), slot.rows.margin.clone());
        let (reg, stop) = (slot.reg, Stop::Converged);
        let certificate = Certificate::NOTHING;
        let mut found = Iterate { theta, margin, dual, reg, certificate, error: f64::INFINITY, stop };
        self.refresh(k, &mut found);
        let gathered = self.gathered.col(k).to_vec();
        let Certified { given, own, fenchel } = self.certify(k, &mut found, &gathered, None);
        let length = norm(&found.theta[free..]);
        let risk = risk_error(own.gap, reg, length) + own.rounding;
        found.certificate = given;
        found.error = if self.task.variant == Variant::Objective { own.gap + own.rounding } else { risk };
        let mu = self.slots[k].rows.complementarity(&self.masses, 0.0);

        let slot = &mut self.slots[k];
        let before = slot.best.as_ref().map_or(f64::INFINITY, |b| b.error);
        let progress = found.error < 0.95 * before || mu < 0.9 * slot.nearest;
        slot.stalls = if progress { 0 } else { slot.stalls + 1 };
        slot.nearest = slot.nearest.min(mu);
        // A constraint follows the minimiser itself, so there its objective's error alone will not do. A proof of where that
        // is takes the root of rounding, though; the path knows better, and what is found on the sphere has a proof of its own.
        let complementary = risk_error(mu, reg, length) <= ErrorBudget::new(self.task.tol).complementarity();
        let arrived = own.gap + own.rounding <= self.task.tol && complementary;
        let met = if slot.search.is_some() {
            risk <= self.task.tol || arrived
        } else {
            found.error <= self.task.tol
        };
        if found.error < before {
            slot.best = Some(found);
        }
        if met {
            return Some(self.path_end(k, Stop::Converged));
        }
        // Complementary, and yet not within the tolerance: what is left is rounding, and the certificate a posteriori is for that.
        let rounded = self.slots[k].search.is_none() && risk_error(fenchel, reg, length) <= self.task.tol;
        if rounded && self.slots[k].stalls > ROUNDED_STALLS {
            return Some(self.path_end(k, Stop::Stalled));
        }
        if self.slots[k].stalls > STALLS {
            return self.path_jammed(k);
        }
        let out = self.slots[k].path >= PATH_LENGTH || self.slots[k].iterations >= self.task.max_iter;
        out.then(|| self.path_end(k, Stop::IterationLimit))
    }

    /// The best point of the path.
    fn path_end(&mut self, k: usize, stop: Stop) -> Iterate {
        let (rows, width) = (self.masses.len(), self.features.query_width());
        let slot = &mut self.slots[k];
        let reg = slot.reg;
        let origin = || Iterate {
            theta: vec![0.0; width],
            margin: vec![0.0; rows],
            dual: vec![1.0; rows],
            reg,
            certificate: Certificate::NOTHING,
            error: f64::INFINITY,
            stop,
        };
        let mut found = slot.best.take().unwrap_or_else(origin);
        found.stop = stop;
        found
    }

    /// Keeps the best feasible point and moves on to the next penalty, or ends the search.
    fn next_penalty(&mut self, k: usize, end: Iterate, radius: f64) -> Option<Iterate> {
        let free = self.features.free;
        let length = norm(&end.theta[free..]);
        let (reg, stop) = (end.reg, end.stop);
        // On the sphere, and where it is already inside the ball also as it is.
        let mut pulled = end.clone();
        if length > 0.0 {
            let scale = radius / length * (1.0 - f64::EPSILON);
            pulled.theta[free..].iter_mut().for_each(|w| *w *= scale);
            self.refresh(k, &mut pulled);
        }
        for mut found in [pulled].into_iter().chain((length <= radius).then_some(end)) {
            let gathered = self.gather(&found.dual);
            found.certificate = self.certify(k, &mut found, &gathered, Some(radius)).given;
            found.error = found.certificate.error;
            if self.slots[k].feasible.as_ref().is_none_or(|f| found.error < f.error) {
                self.slots[k].feasible = Some(found);
            }
        }
        let slot = &mut self.slots[k];
        slot.steps += 1;
        let best = slot.feasible.as_ref().map_or(f64::INFINITY, |f| f.error);
        let next = slot.search.as_mut().and_then(|search| {
            let over = best <= self.task.tol || length == 0.0 || search.inactive(reg, length);
            let next = search.next(reg, length);
            let out = slot.steps >= RADIUS_STEPS || slot.iterations >= self.task.max_iter;
            (!over && !out && (next - reg).abs() > 1e-14 * reg).then_some(next)
        });
        let Some(next) = next else {
            return slot.feasible.take().map(|found| Iterate { stop, ..found });
        };
        slot.reg = next;
        slot.restart();
        None
    }

    /// All multipliers 1: the answer whenever it leaves every margin at 1 or below.
    fn closed_form(&mut self, k: usize) -> Option<Iterate> {
        if self.slots[k].attempt == Attempt::Exact {
            return None;
        }
        let (n, free) = (self.features.len(), self.features.free);
        let Slot { query, reg, .. } = &self.slots[k];
        let reg = *reg;
        let means = self.mean.iter().chain([&0.0]);
        let mut theta: Vec<f64> = means.zip(query).map(|(m, z)| (m - z) / (4.0 * reg)).collect();
        theta[..free].fill(0.0);
        let dual = vec![1.0; n + 1];
        let (margin, certificate, stop) = (vec![0.0; n + 1], Certificate::NOTHING, Stop::Converged);
        let mut found = Iterate { theta, margin, dual, reg, certificate, error: 0.0, stop };
        self.refresh(k, &mut found);
        if free == 1 {
            // Any intercept with max f(xᵢ) ≤ 1 and -f(z) ≤ 1 will do: the middle one.
            let largest = found.margin[..n].iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
            let (low, high) = (found.margin[n] - 1.0, 1.0 - largest);
            if low > high {
                return None;
            }
            found.theta[0] = 0.5 * (low + high);
            self.refresh(k, &mut found);
        }
        if found.margin.iter().any(|m| *m > 1.0) {
            return None;
        }
        let gathered: Vec<f64> = self.mean.iter().map(|m| 0.5 * m).collect();
        let Certified { given, own, .. } = self.certify(k, &mut found, &gathered, None);
        (found.certificate, found.error) = (given, own.error);
        Some(found)
    }

    /// The sample's part of $\sum_j c_j a_j u_j$.
    fn gather(&self, dual: &[f64]) -> Vec<f64> {
        let weighted: Vec<f64> = self.features.half_weights.iter().zip(dual).map(|(c, a)| c * a).collect();
        (0..self.features.width()).map(|j| dot(self.features.tall.col(j), &weighted)).collect()
    }

    /// Computes the margins at the parameters.
    fn refresh(&self, k: usize, found: &mut Iterate) {
        let (n, q) = (self.features.len(), self.features.width());
        let margin = &mut found.margin;
        margin.fill(0.0);
        for (j, t) in found.theta[..q].iter().enumerate() {
            axpy(*t, self.features.tall.col(j), &mut margin[..n]);
        }
        margin[n] = -dot(&self.slots[k].query, &found.theta);
    }

    fn report(&mut self, k: usize, found: Iterate) -> (usize, Outcome) {
        let free = self.features.free;
        let w = &found.theta[free..];
        let risk: f64 = self.masses.iter().zip(&found.margin).map(|(c, m)| c * (1.0 - m).max(0.0)).sum();
        let found_penalty = found.reg * dot(w, w);
        let penalty = if self.task.variant == Variant::Objective { found_penalty } else { 0.0 };
        let stderr = if self.task.stderr {
            let (mut losses, slopes) = self.losses_and_slopes(&found);
            self.features.standard_error(&mut losses, &slopes, &self.shifts(k, &found))
        } else {
            f64::NAN
        };
        let above =
            if matches!(self.task.variant, Variant::Constrained { .. }) { 0.0 } else { found_penalty };
        let certificate = found.certificate.capped(risk + above);
        let value = -found.margin[self.features.len()];
        let Iterate { theta, stop, dual, .. } = found;
        let stop = stop.judge(found.error.min(certificate.error), self.task.tol);
        // Whoever refines the candidate needs its multipliers.
        let dual = if certificate.error <= self.task.tol { Vec::new() } else { dual };
        let Certificate { gap, error, .. } = certificate;
        let Slot { id, iterations, .. } = self.slots[k];
        (id, Outcome { depth: risk + penalty, error, gap, stderr, iterations, stop, theta, value, dual })
    }
}

impl Slot {
    fn idle(rows: usize, width: usize) -> Self {
        Self {
            busy: false,
            id: 0,
            query: vec![0.0; width],
            theta: vec![0.0; width],
            rows: Rows::new(rows),
            reg: 1.0,
            change: vec![0.0; width],
            at_query: 0.0,
            pull: 0.0,
            factor: None,
            iterations: 0,
            path: 0,
            nearest: f64::INFINITY,
            best: None,
            stalls: 0,
            attempt: Attempt::Bold,
            search: None,
            steps: 0,
            feasible: None,
        }
    }

    /// Back to the beginning of a path.
    fn restart(&mut self) {
        self.theta.fill(0.0);
        self.rows.reset();
        (self.path, self.stalls, self.nearest, self.best) = (0, 0, f64::INFINITY, None);
        self.attempt = Attempt::Bold;
    }
}
