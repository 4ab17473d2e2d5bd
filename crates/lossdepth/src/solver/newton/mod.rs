//! Newton's method with the full Hessian for one query.
//!
//! Takes over the few queries on which the quasi-Newton iterations make no progress: a weak penalty on
//! ill-conditioned data, where curvature sits in a handful of sample points.

mod influence;
mod refine;

pub(crate) use influence::shift_response;
pub(crate) use refine::refine;

use super::line_search::search;
use super::radius::{Radius, scale_to_sphere};
use crate::certify::axes::{AxesCertificate, Candidate, smallest};
use crate::certify::gap::{Certificate, PROGRESS};
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{Cholesky, Matrix, axpy, dot, hadamard, hessian, multiply_symmetric, norm};
use crate::problem::{Features, Outcome, Stop, Task, Variant};

// All of these are heuristics: they decide which step is tried and when to give up, never what is proven.

/// Steps with a line search before another method is tried; ten to thirty are usual.
const ITERATIONS: usize = 50;
/// How many steps may improve neither the certificate nor the objective, and which relative decrease of the objective counts:
/// with a line search, where another method may go on, and with damped steps, the last resort.
const SEARCHED: Stalls = Stalls { most: 5, decrease: 1e-14 };
const DAMPED: Stalls = Stalls { most: 100, decrease: ROUNDED };
/// Objectives that differ by no more than this share are taken for equal: some hundred times their rounding.
const ROUNDED: f64 = 1e-13;
/// The least that is added to the Hessian where it does not lead downhill, as a share of its diagonal, and the most.
const DAMPING_LEAST: f64 = 1e-15;
const DAMPING_MOST: f64 = 1e-3;
/// The share of what the slope predicts that a damped step must gain (Armijo).
const ARMIJO: f64 = 0.1;
/// How much shorter the next trial is, and the share of Newton's step below which there is none.
const SHORTER: f64 = 0.4;
const SHORTEST: f64 = 1e-5;
/// Under a constraint: penalties tried; the relative gradient at which the penalised problem counts as solved; and the relative
/// change of the penalty that is too small to matter.
const RADIUS_STEPS: usize = 200;
const INNER_TOL: f64 = 1e-9;
const SAME_PENALTY: f64 = 1e-15;

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
        for _ in 0..RADIUS_STEPS {
            let goal = |_: &L, p: &Candidate<'_>, _: f64, _: &Task| {
                let (g, w) = (norm(p.gradient), norm(&p.theta[free..]));
                (g, g <= INNER_TOL * 2.0 * reg * w)
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
            if (next - reg).abs() <= SAME_PENALTY * reg {
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
            scale_to_sphere(&mut scaled[free..], length, radius);
        }
        let mut best = (f64::INFINITY, scaled.clone());
        let inside = (length <= radius).then(|| theta.to_vec());
        for candidate in [scaled].into_iter().chain(inside) {
            let gradient = self.gradient_at(query, &candidate, 0.0);
            let certified = self.candidate(query, &candidate, &gradient).certify(
                self.loss,
                reg,
                self.task,
                f64::INFINITY,
            );
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
    fn goal(reg: f64) -> impl Fn(&L, &Candidate<'_>, f64, &Task) -> (f64, bool) {
        move |loss, candidate, objective, task| {
            let certificate = candidate.certify(loss, reg, task, task.tol);
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
        goal: impl Fn(&L, &Candidate<'_>, f64, &Task) -> (f64, bool),
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
        goal: &impl Fn(&L, &Candidate<'_>, f64, &Task) -> (f64, bool),
    ) -> (f64, Stop) {
        self.iterate_steps((query, theta, reg), iterations, SEARCHED, goal, |newton, at, used| {
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
        goal: &impl Fn(&L, &Candidate<'_>, f64, &Task) -> (f64, bool),
    ) -> (f64, Stop) {
        let mut damping = 0.0;
        self.iterate_steps((query, theta, reg), iterations, DAMPED, goal, |newton, at, _| {
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
        goal: &impl Fn(&L, &Candidate<'_>, f64, &Task) -> (f64, bool),
        mut step: impl FnMut(&mut Self, &State, usize) -> Option<State>,
    ) -> (f64, Stop) {
        let mut at = self.evaluate(query, theta.clone(), reg);
        let (mut best, mut lowest, mut stalls) = (f64::INFINITY, f64::INFINITY, 0);
        loop {
            let point = self.candidate(query, &at.theta, &at.gradient);
            let (error, met) = goal(self.loss, &point, at.objective, self.task);
            // Where curvature jumps the gradient may grow while the objective falls.
            let progress = error < PROGRESS * best || at.objective < lowest * (1.0 - allowed.decrease);
            stalls = if progress { 0 } else { stalls + 1 };
            lowest = lowest.min(at.objective);
            if error < best || met {
                best = best.min(error);
                theta.clone_from(&at.theta);
            }
            let over = *iterations >= self.task.max_iter;
            let ended = met || over || stalls > allowed.most;
            let Some(next) = (if ended { None } else { step(self, &at, *iterations) }) else {
                return (best, Stop::of(met, over));
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
        let (free, value) = (self.features.free, dot(query, theta));
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
        self.features.products(&direction, &mut self.along);
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
                let lower = next.objective <= objective + ARMIJO * length * slope;
                let level = (next.objective - objective).abs() <= ROUNDED * objective.abs();
                if lower || level && size(&next.gradient, factor.units()) < (1.0 - ARMIJO * length) * before {
                    *damping = if *damping > DAMPING_LEAST { 0.1 * *damping } else { 0.0 };
                    return Some(next);
                }
                length *= SHORTER;
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
        features.products(theta, &mut self.margins);
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
        let (features, free) = (self.features, self.features.free);
        features.products(theta, &mut self.margins);
        self.loss.slopes_along(&self.margins, &self.margins, 0.0, &features.half_weights, &mut self.slopes);
        let mut g = features.combination(&self.slopes);
        g.push(0.0);
        axpy(-0.5 * self.loss.grad(-dot(query, theta)), query, &mut g);
        axpy(2.0 * reg, &theta[free..], &mut g[free..]);
        g
    }

    fn candidate<'s>(&self, query: &'s [f64], theta: &'s [f64], gradient: &'s [f64]) -> Candidate<'s>
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
        Candidate { features, theta, gradient, query, value, slope_mass, smallest_margin, margin_error }
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
        let candidate = self.candidate(query, &theta, &gradient);
        let AxesCertificate { given, own_error } =
            candidate.certify(self.loss, reg, self.task, f64::INFINITY);
        let (given, own_error) = (given.capped(risk + penalty), own_error.min(risk + penalty));
        let depth = self.task.variant.depth(risk, penalty);
        let value = candidate.value;
        let stderr = if self.task.stderr { self.standard_error(query, &theta, reg) } else { f64::NAN };
        let stop = stop.for_error(own_error, self.task.tol);
        let Certificate { gap, error, .. } = given;
        Outcome { depth, error, gap, stderr, iterations, stop, theta, value, multipliers: None }
    }

    /// The margins of the sample, and the gradient of the bare risk.
    pub(crate) fn margins_and_gradient(&mut self, query: &[f64], theta: &[f64]) -> (&[f64], Vec<f64>) {
        let gradient = self.gradient_at(query, theta, 0.0);
        (&self.margins, gradient)
    }
}
