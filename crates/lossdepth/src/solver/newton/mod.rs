//! Newton's method with the full Hessian for one query.
//!
//! Takes over the few queries on which the quasi-Newton iterations make no progress: a weak penalty on
//! ill-conditioned data, where curvature sits in a handful of sample points.

use super::line_search::search;
use super::radius::Radius;
use crate::certify::axes::{Certified, Iterate, smallest};
use crate::certify::gap::Certificate;
use crate::certify::given::Given;
use crate::certify::smooth;
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{Cholesky, Matrix, axpy, dot, hadamard, hessian, multiply_symmetric, norm};
use crate::problem::features::{Features, Reaction, ShiftResponse};
use crate::problem::{Outcome, Stop, Task, Variant};

/// How often a searched step may fail to improve the certificate before another method is tried.
const DESCENT_STALLS: usize = 5;
/// Steps with a line search before another method is tried; ten to thirty are usual (heuristic).
const ITERATIONS: usize = 50;
/// The least that is added to the Hessian where it does not lead downhill, as a share of its diagonal, and the most.
const DAMPING_LEAST: f64 = 1e-15;
const DAMPING_MOST: f64 = 1e-3;
/// How many steps may improve neither the certificate nor the objective.
const STALLS: usize = 100;
/// Steps are not made shorter than this share of Newton's.
const SHORTEST: f64 = 1e-5;

/// The problem of one query, and scratch memory.
pub(crate) struct Newton<'a, L> {
    loss: &'a L,
    features: &'a Features,
    task: &'a Task,
    weighted: Matrix,
    margins: Vec<f64>,
    along: Vec<f64>,
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
}

/// An iterate with its gradient and objective.
struct State {
    theta: Vec<f64>,
    gradient: Vec<f64>,
    objective: f64,
}

/// How many steps may leave both the certificate and the objective as they are, and which decrease of the objective counts.
#[derive(Clone, Copy)]
struct Stalls {
    most: usize,
    decrease: f64,
}

impl<'a, L: Smooth + Dual> Newton<'a, L> {
    pub(crate) fn new(loss: &'a L, features: &'a Features, task: &'a Task) -> Self {
        let n = features.len();
        let room = || vec![0.0; n];
        let weighted = Matrix::zeros(n, features.width());
        let (margins, along, slopes, curvatures) = (room(), room(), room(), room());
        Self { loss, features, task, weighted, margins, along, slopes, curvatures }
    }

    /// Goes on from `theta` until converged, stalled or out of iterations.
    pub(crate) fn finish(&mut self, query: &[f64], mut theta: Vec<f64>, used: usize) -> Outcome {
        let free = self.features.free;
        let mut iterations = used;
        if theta.iter().any(|t| !t.is_finite()) {
            theta.fill(0.0);
        }
        let Variant::Constrained { radius } = self.task.variant else {
            let reg = self.task.reg;
            // An iterate that rounding has made worse than the origin is dropped.
            let (objective, origin) =
                (self.evaluate(query, theta.clone(), reg).objective, self.loss.value(0.0));
            if objective.is_nan() || objective > origin {
                theta.fill(0.0);
            }
            let most = iterations + ITERATIONS;
            let goal = Self::goal(reg);
            let (_, stop) =
                self.minimise_by_line_search(query, &mut theta, reg, &mut iterations, most, &goal);
            return self.report(query, theta, reg, iterations, stop);
        };
        let start = self.gradient_at(query, &theta, 0.0);
        let (mut search, mut reg) = Radius::new(radius, self.task.tol, norm(&start[free..]));
        // What came before may be as good as rounding allows.
        let mut best = self.best_in_ball(query, &theta, reg, radius);
        let mut stop = Stop::Stalled;
        for _ in 0..200 {
            let goal = |_: &L, p: &Iterate<'_>, _: f64, _: &Task| {
                let (g, w) = (norm(p.gradient), norm(&p.theta[free..]));
                (g, g <= 1e-9 * 2.0 * reg * w)
            };
            let (_, inner) = self.minimise(query, &mut theta, reg, &mut iterations, goal);
            let length = norm(&theta[free..]);
            let found = self.best_in_ball(query, &theta, reg, radius);
            if found.0 < best.0 {
                best = found;
            }
            if best.0 <= self.task.tol || length == 0.0 || search.inactive(reg, length) {
                stop = Stop::Converged;
                break;
            }
            if inner == Stop::IterationLimit {
                stop = inner;
                break;
            }
            let next = search.next(reg, length);
            if (next - reg).abs() <= 1e-15 * reg {
                break;
            }
            reg = next;
        }
        self.report(query, best.1, reg, iterations, stop)
    }

    /// The better of a point on the sphere and, if it is inside the ball, as it is; with its error.
    fn best_in_ball(&mut self, query: &[f64], theta: &[f64], reg: f64, radius: f64) -> (f64, Vec<f64>) {
        let free = self.features.free;
        let length = norm(&theta[free..]);
        let mut scaled = theta.to_vec();
        if length > 0.0 {
            let scale = radius / length * (1.0 - f64::EPSILON);
            scaled[free..].iter_mut().for_each(|w| *w *= scale);
        }
        let mut best = (f64::INFINITY, scaled.clone());
        let inside = (length <= radius).then(|| theta.to_vec());
        for candidate in [scaled].into_iter().chain(inside) {
            let gradient = self.gradient_at(query, &candidate, 0.0);
            let certified =
                self.iterate(query, &candidate, &gradient).certify(self.loss, reg, self.task, f64::INFINITY);
            // The depth and its estimate lie between 0 and the risk, and below that of the origin.
            let certificate = certified.given.capped(self.risk(query, &candidate));
            let error = certificate.error.min(self.loss.value(0.0));
            if error < best.0 {
                best = (error, candidate);
            }
        }
        best
    }

    /// Goes on from `theta` with damped steps of any length, where a search along full ones has stalled.
    pub(crate) fn damped(&mut self, query: &[f64], mut theta: Vec<f64>, used: usize) -> Outcome {
        let (reg, mut iterations) = (self.task.reg, used);
        let (_, stop) = self.minimise_damped(query, &mut theta, reg, &mut iterations, &Self::goal(reg));
        self.report(query, theta, reg, iterations, stop)
    }

    /// The error in the axes, and whether it is within the tolerance.
    fn goal(reg: f64) -> impl Fn(&L, &Iterate<'_>, f64, &Task) -> (f64, bool) {
        move |loss, iterate, objective, task| {
            let certificate = iterate.certify(loss, reg, task, task.tol);
            // The depth and its estimate lie between 0 and the objective.
            let error = certificate.own_error.min(objective);
            (error, error <= task.tol && certificate.given.gap.min(objective) <= task.gap_tol)
        }
    }

    /// Minimises the penalised objective until `goal` is met.
    ///
    /// Where one method stalls the other may not: kinks stop steps that are shortened, and rounding misleads a
    /// search by slopes.
    fn minimise(
        &mut self,
        query: &[f64],
        theta: &mut Vec<f64>,
        reg: f64,
        iterations: &mut usize,
        goal: impl Fn(&L, &Iterate<'_>, f64, &Task) -> (f64, bool),
    ) -> (f64, Stop) {
        let mut other = theta.clone();
        let first = self.minimise_by_line_search(query, theta, reg, iterations, usize::MAX, &goal);
        if first.1 != Stop::Stalled {
            return first;
        }
        let second = self.minimise_damped(query, &mut other, reg, iterations, &goal);
        if second.0 < first.0 {
            *theta = other;
            return second;
        }
        first
    }

    /// Newton's method with a search along each step for where the slope vanishes: made for curvature that jumps. Stalled
    /// also after `most` iterations, counted from the beginning.
    fn minimise_by_line_search(
        &mut self,
        query: &[f64],
        theta: &mut Vec<f64>,
        reg: f64,
        iterations: &mut usize,
        most: usize,
        goal: &impl Fn(&L, &Iterate<'_>, f64, &Task) -> (f64, bool),
    ) -> (f64, Stop) {
        let stalls = Stalls { most: DESCENT_STALLS, decrease: 1e-14 };
        self.iterate_steps((query, theta, reg), iterations, stalls, goal, |newton, at, used| {
            if used >= most {
                return None;
            }
            let step = newton.line_search_step(query, &at.theta, &at.gradient, reg, at.objective)?;
            let mut theta = at.theta.clone();
            axpy(1.0, &step, &mut theta);
            Some(newton.evaluate(query, theta, reg))
        })
    }

    /// Newton's method with steps that are damped and shortened until they help.
    fn minimise_damped(
        &mut self,
        query: &[f64],
        theta: &mut Vec<f64>,
        reg: f64,
        iterations: &mut usize,
        goal: &impl Fn(&L, &Iterate<'_>, f64, &Task) -> (f64, bool),
    ) -> (f64, Stop) {
        let (stalls, mut damping) = (Stalls { most: STALLS, decrease: 1e-13 }, 0.0);
        self.iterate_steps((query, theta, reg), iterations, stalls, goal, |newton, at, _| {
            newton.step(query, at, reg, &mut damping)
        })
    }

    /// Takes steps until `goal` is met, there is none, or they no longer help; `theta` becomes the iterate that
    /// meets the goal, or the one with the smallest error. A step gets the iterate and the number of iterations so far.
    fn iterate_steps(
        &mut self,
        (query, theta, reg): (&[f64], &mut Vec<f64>, f64),
        iterations: &mut usize,
        allowed: Stalls,
        goal: &impl Fn(&L, &Iterate<'_>, f64, &Task) -> (f64, bool),
        mut step: impl FnMut(&mut Self, &State, usize) -> Option<State>,
    ) -> (f64, Stop) {
        let mut at = self.evaluate(query, theta.clone(), reg);
        let (mut best, mut lowest, mut stalls) = (f64::INFINITY, f64::INFINITY, 0);
        loop {
            let point = self.iterate(query, &at.theta, &at.gradient);
            let (error, met) = goal(self.loss, &point, at.objective, self.task);
            // Where curvature jumps the gradient may grow while the objective falls.
            let progress = error < 0.9 * best || at.objective < lowest * (1.0 - allowed.decrease);
            stalls = if progress { 0 } else { stalls + 1 };
            lowest = lowest.min(at.objective);
            if error < best || met {
                best = best.min(error);
                theta.clone_from(&at.theta);
            }
            let over = *iterations >= self.task.max_iter;
            let ended = met || over || stalls > allowed.most;
            let Some(next) = (if ended { None } else { step(self, &at, *iterations) }) else {
                let stop = match (met, over) {
                    (true, _) => Stop::Converged,
                    (_, true) => Stop::IterationLimit,
                    _ => Stop::Stalled,
                };
                return (best, stop);
            };
            at = next;
            *iterations += 1;
        }
    }

    /// The Newton step, shortened as needed; `objective` is the value at `theta`.
    fn line_search_step(
        &mut self,
        query: &[f64],
        theta: &[f64],
        gradient: &[f64],
        reg: f64,
        objective: f64,
    ) -> Option<Vec<f64>> {
        let (q, free) = (self.features.width(), self.features.free);
        let value = dot(query, theta);
        let factor = Cholesky::scaled(&mut self.hessian(query, theta, reg))?;
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        factor.solve(&mut direction);
        let mut start = dot(gradient, &direction);
        if start.is_nan() || start >= 0.0 {
            // Not a descent direction because of rounding: the gradient, scaled by the diagonal.
            direction = gradient.iter().zip(factor.units()).map(|(g, u)| -g * u * u).collect();
            start = dot(gradient, &direction);
        }
        if start.is_nan() || start >= 0.0 {
            return None;
        }
        project(&self.features.tall, &direction[..q], &mut self.along);
        let (w, p) = (&theta[free..], &direction[free..]);
        let (wp, pp, zp) = (dot(w, p), dot(p, p), dot(query, &direction));
        let (loss, weights) = (self.loss, &self.features.half_weights);
        let (margins, along, slopes) = (&self.margins, &self.along, &mut self.slopes);
        let t = search(start, objective, |t| {
            loss.slopes_along(margins, along, t, weights, slopes).along
                - 0.5 * loss.grad(-(value + t * zp)) * zp
                + 2.0 * reg * (wp + t * pp)
        })?;
        for p in &mut direction {
            *p *= t;
        }
        Some(direction)
    }

    /// A Newton step, damped and shortened until it improves the iterate; none if no step does.
    ///
    /// The objective must decrease. Where it changes by rounding only, the norm of the gradient in units of the curvature
    /// must decrease instead.
    fn step(&mut self, query: &[f64], from: &State, reg: f64, damping: &mut f64) -> Option<State> {
        let State { theta, gradient, objective } = from;
        let hessian = self.hessian(query, theta, reg);
        let size = |gradient: &[f64], units: &[f64]| {
            gradient.iter().zip(units).map(|(g, u)| (g * u) * (g * u)).sum::<f64>().sqrt()
        };
        while *damping <= DAMPING_MOST {
            let factor = Cholesky::damped(&mut hessian.clone(), *damping)?;
            let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
            factor.solve(&mut direction);
            let (slope, before) = (dot(gradient, &direction), size(gradient, factor.units()));
            // Rounding may have made it an ascent direction.
            let mut length = if slope < 0.0 { 1.0 } else { 0.0 };
            while length > SHORTEST {
                let mut theta = theta.clone();
                axpy(length, &direction, &mut theta);
                let next = self.evaluate(query, theta, reg);
                let lower = next.objective <= objective + 0.1 * length * slope;
                let level = (next.objective - objective).abs() <= 1e-13 * objective.abs();
                if lower || level && size(&next.gradient, factor.units()) < (1.0 - 0.1 * length) * before {
                    *damping = if *damping > DAMPING_LEAST { 0.1 * *damping } else { 0.0 };
                    return Some(next);
                }
                length *= 0.4;
            }
            *damping = (100.0 * *damping).max(DAMPING_LEAST);
        }
        None
    }

    /// Margins, gradient and objective at a point.
    fn evaluate(&mut self, query: &[f64], theta: Vec<f64>, reg: f64) -> State {
        let gradient = self.gradient_at(query, &theta, reg);
        let w = &theta[self.features.free..];
        let objective = self.risk(query, &theta) + reg * dot(w, w);
        State { theta, gradient, objective }
    }

    /// The Hessian, lower triangle.
    fn hessian(&mut self, query: &[f64], theta: &[f64], reg: f64) -> Matrix {
        let features = self.features;
        project(&features.tall, &theta[..features.width()], &mut self.margins);
        self.losses_and_curvatures();
        for j in 0..features.width() {
            hadamard(features.tall.col(j), &self.curvatures, self.weighted.col_mut(j));
        }
        let mut sample = Matrix::zeros(features.width(), features.width());
        multiply_symmetric(&mut sample, &self.weighted, &features.tall);
        hessian(&sample, query, 0.5 * self.loss.hess(-dot(query, theta)), reg, features.free)
    }

    /// Sets the curvatures at the current margins and returns the losses.
    fn losses_and_curvatures(&mut self) -> Vec<f64> {
        let (weights, mut losses) = (&self.features.half_weights, vec![0.0; self.features.len()]);
        self.loss.losses_and_curvatures(&self.margins, weights, &mut losses, &mut self.curvatures);
        losses
    }

    /// Computes margins and gradient afresh.
    fn gradient_at(&mut self, query: &[f64], theta: &[f64], reg: f64) -> Vec<f64> {
        let (features, q, free) = (self.features, self.features.width(), self.features.free);
        project(&features.tall, &theta[..q], &mut self.margins);
        self.loss.slopes_along(&self.margins, &self.margins, 0.0, &features.half_weights, &mut self.slopes);
        let mut g: Vec<f64> = (0..q).map(|j| dot(features.tall.col(j), &self.slopes)).collect();
        g.push(0.0);
        axpy(-0.5 * self.loss.grad(-dot(query, theta)), query, &mut g);
        axpy(2.0 * reg, &theta[free..], &mut g[free..]);
        g
    }

    fn iterate<'s>(&self, query: &'s [f64], theta: &'s [f64], gradient: &'s [f64]) -> Iterate<'s>
    where
        'a: 's,
    {
        let (features, value) = (self.features, dot(query, theta));
        let slope_mass = self.slopes.iter().map(|s| s.abs()).sum();
        let smallest_margin = smallest(&self.margins);
        let margin_error = (
            features.margin_rounding(features.term_sizes(theta), 1),
            features.margin_rounding(norm(query) * norm(theta), 1),
        );
        Iterate { features, theta, gradient, query, value, slope_mass, smallest_margin, margin_error }
    }

    /// The risk at the current margins.
    fn risk(&self, query: &[f64], theta: &[f64]) -> f64 {
        let sample = self.loss.total(&self.margins, &self.features.half_weights);
        sample + 0.5 * self.loss.value(-dot(query, theta))
    }

    /// The certificate of a minimiser, and what is reported of it; `reg` is the penalty that led to it.
    fn report(&mut self, query: &[f64], theta: Vec<f64>, reg: f64, iterations: usize, stop: Stop) -> Outcome {
        let free = self.features.free;
        let (inside, penalty) = match self.task.variant {
            Variant::Constrained { .. } => (0.0, 0.0),
            _ => (reg, reg * dot(&theta[free..], &theta[free..])),
        };
        let gradient = self.gradient_at(query, &theta, inside);
        let risk = self.risk(query, &theta);
        let iterate = self.iterate(query, &theta, &gradient);
        let Certified { given, own_error } = iterate.certify(self.loss, reg, self.task, f64::INFINITY);
        let (given, own_error) = (given.capped(risk + penalty), own_error.min(risk + penalty));
        let depth = if self.task.variant == Variant::Objective { risk + penalty } else { risk };
        let value = iterate.value;
        let stderr = if self.task.stderr { self.standard_error(query, &theta, reg) } else { f64::NAN };
        let stop = stop.for_error(own_error, self.task.tol);
        let Certificate { gap, error, .. } = given;
        Outcome { depth, error, gap, stderr, iterations, stop, theta, value, multipliers: None }
    }

    /// The sampling standard error of the functional at a minimiser.
    pub(crate) fn standard_error(&mut self, query: &[f64], theta: &[f64], reg: f64) -> f64 {
        let (shifts, q) = self.influence(query, theta, reg);
        let reaction = self.reaction(query, theta, q.as_deref(), reg);
        let mut losses = self.losses_and_curvatures();
        self.task.functional.scale_losses(&mut losses);
        self.features.standard_error(&mut losses, &self.slopes, &shifts, Some(reaction))
    }

    /// ⟨tᵢ, q⟩ with H q = −∇(depth), which is 2 reg w for the risk: how the minimiser's reaction adds to the influence of a row on the
    /// risk. Zero for the other variants, by the envelope theorem. And q itself.
    fn influence(&mut self, query: &[f64], theta: &[f64], reg: f64) -> (Vec<f64>, Option<Vec<f64>>) {
        let (q, free) = (self.features.width(), self.features.free);
        let mut shifts = vec![0.0; self.features.len()];
        if self.task.variant != Variant::Risk {
            return (shifts, None);
        }
        let Some(factor) = Cholesky::scaled(&mut self.hessian(query, theta, reg)) else {
            return (shifts, None);
        };
        let mut rhs = theta.to_vec();
        let at_query = -0.5 * self.loss.grad(-dot(query, theta));
        self.task.functional.descent(&mut rhs, reg, free, at_query, query);
        factor.solve(&mut rhs);
        if rhs.iter().any(|x| !x.is_finite()) {
            return (shifts, None);
        }
        project(&self.features.tall, &rhs[..q], &mut shifts);
        (shifts, Some(rhs))
    }

    /// How the minimiser reacts to a change of the scaling; sets margins and slopes.
    fn reaction<'t>(
        &mut self,
        query: &[f64],
        theta: &'t [f64],
        q: Option<&'t [f64]>,
        reg: f64,
    ) -> Reaction<'t> {
        let free = self.features.free;
        let gradient = self.gradient_at(query, theta, 0.0);
        let reg = match self.task.variant {
            // The gradient of the risk is -2 reg w on the sphere.
            Variant::Constrained { .. } => {
                let (along, square) =
                    (dot(&gradient[free..], &theta[free..]), dot(&theta[free..], &theta[free..]));
                if square > 0.0 { (-0.5 * along / square).max(0.0) } else { 0.0 }
            }
            Variant::Risk | Variant::Objective => reg,
        };
        let shift = if self.features.learns_shift() {
            shift_response(self.loss, self.features, self.task, (query, theta, q))
        } else {
            ShiftResponse::default()
        };
        Reaction { theta, q, reg, shift }
    }

    /// The margins of the sample, and the gradient of the bare risk.
    pub(crate) fn margins_and_gradient(&mut self, query: &[f64], theta: &[f64]) -> (&[f64], Vec<f64>) {
        let gradient = self.gradient_at(query, theta, 0.0);
        (&self.margins, gradient)
    }

    /// The influence of every reference row on the depth that `theta` gives a query.
    pub(crate) fn explain(&mut self, query: &[f64], theta: &[f64]) -> Vec<f64> {
        let (shifts, q) = self.influence(query, theta, self.task.reg);
        let reaction = self.reaction(query, theta, q.as_deref(), self.task.reg);
        let mut losses = self.losses_and_curvatures();
        self.task.functional.scale_losses(&mut losses);
        self.features.influence(losses, &self.slopes, &shifts, reaction)
    }
}

/// How the depth of a query with the parameters `theta` responds to a shift of all rows (I20), given `q` with H q = −∇(depth).
pub(crate) fn shift_response<L: Smooth>(
    loss: &L,
    features: &Features,
    task: &Task,
    (query, theta, q): (&[f64], &[f64], Option<&[f64]>),
) -> ShiftResponse {
    let (n, width, weights) = (features.len(), features.width(), &features.half_weights);
    let [mut margins, mut slopes, mut losses] = std::array::from_fn(|_| vec![0.0; n]);
    project(&features.tall, &theta[..width], &mut margins);
    loss.losses_and_slopes(&margins, weights, &mut losses, &mut slopes);
    let value = dot(query, theta);
    let constant = [slopes.iter().sum(), -0.5 * loss.grad(-value)];
    let of_slopes = q.map_or(0.0, |q| {
        let (mut along, mut curvatures) = (slopes, vec![0.0; n]);
        loss.losses_and_curvatures(&margins, weights, &mut losses, &mut curvatures);
        project(&features.tall, &q[..width], &mut along);
        dot(&curvatures, &along) + 0.5 * loss.hess(-value) * dot(query, q)
    });
    ShiftResponse::new(task.functional, constant, of_slopes)
}

/// The best of a solution and what refinement in the coordinates as given makes of it, if need be with damped steps in the axes
/// in between.
pub(crate) fn refine<L: Smooth + Dual>(
    loss: &L,
    given: &Given<'_>,
    task: &Task,
    outcome: &Outcome,
    cancelled: &dyn Fn() -> bool,
) -> Outcome {
    let (mut best, mut theta, mut iterations) = (outcome.clone(), outcome.theta.clone(), outcome.iterations);
    let mut newton = Newton::new(loss, given.features, task);
    let constrained = matches!(task.variant, Variant::Constrained { .. });
    for last in [false, true] {
        let found = smooth::certify_or_refine(loss, given, task, &theta, iterations, cancelled);
        best = best.better(&found, task);
        let met = best.error <= task.tol && best.gap <= task.gap_tol;
        if last || met || constrained || found.iterations >= task.max_iter || cancelled() {
            break;
        }
        let damped = newton.damped(given.coordinates, found.theta, found.iterations);
        (theta, iterations) = (damped.theta, damped.iterations);
    }
    if task.stderr && best.theta != outcome.theta {
        best.stderr = newton.standard_error(given.coordinates, &best.theta, task.reg);
    }
    best
}

/// `out = tall · theta`.
pub(crate) fn project(tall: &Matrix, theta: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (j, t) in theta.iter().enumerate() {
        axpy(*t, tall.col(j), out);
    }
}
