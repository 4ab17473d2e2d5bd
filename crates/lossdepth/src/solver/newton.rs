//! One query by Newton's method with the full Hessian: slow, and nearly impossible to defeat.
//!
//! Takes over the few queries on which the quasi-Newton sweeps make no headway: a weak penalty on
//! ill-conditioned data, where curvature sits in a handful of sample points.

use super::certificate::Point;
use super::line_search::search;
use super::quasi_newton::Outcome;
use super::radius::Radius;
use super::{Stop, Task};
use crate::hypothesis::linear::Features;
use crate::linalg::{Cholesky, Matrix, axpy, dot, hadamard, multiply_symmetric, norm};
use crate::loss::{Dual, Smooth};
use crate::penalty::Variant;

/// How often a step may fail to improve the certificate before rounding is blamed.
const STALLS: usize = 5;

/// The problem of one query, and room to work on it.
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
            let goal = |loss: &L, p: &Point<'_>, objective: f64, task: &Task| {
                // Whatever the gradient says: both the depth and its estimate lie between 0 and the objective.
                let error = p.error(loss, reg, task.variant).min(objective);
                (error, error <= task.tol)
            };
            let (error, stop) = self.minimise(query, &mut theta, reg, &mut iterations, goal);
            return self.report(query, theta, reg, error, iterations, stop);
        };
        let start = self.gradient_at(query, &theta, 0.0);
        let (mut search, mut reg) = Radius::new(radius, self.task.tol, norm(&start[free..]));
        let mut best = (f64::INFINITY, theta.clone());
        let mut stop = Stop::Stalled;
        for _ in 0..200 {
            let goal = |_: &L, p: &Point<'_>, _: f64, _: &Task| {
                let (g, w) = (norm(p.gradient), norm(&p.theta[p.free..]));
                (g, g <= 1e-9 * 2.0 * reg * w)
            };
            let (_, inner) = self.minimise(query, &mut theta, reg, &mut iterations, goal);
            let length = norm(&theta[free..]);
            // On the sphere, and where it is already inside the ball also as it is.
            let mut pulled = theta.clone();
            if length > 0.0 {
                let scale = radius / length * (1.0 - f64::EPSILON);
                pulled[free..].iter_mut().for_each(|w| *w *= scale);
            }
            let inside = (length <= radius).then(|| theta.clone());
            for candidate in [pulled].into_iter().chain(inside) {
                let gradient = self.gradient_at(query, &candidate, 0.0);
                let point = self.point(query, &candidate, &gradient);
                let error = point.error(self.loss, reg, self.task.variant).min(self.risk(query, &candidate));
                if error < best.0 {
                    best = (error, candidate);
                }
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
        let (error, theta) = best;
        self.report(query, theta, reg, error, iterations, stop)
    }

    /// Minimises the penalised objective until `goal` says so.
    fn minimise(
        &mut self,
        query: &[f64],
        theta: &mut Vec<f64>,
        reg: f64,
        iterations: &mut usize,
        goal: impl Fn(&L, &Point<'_>, f64, &Task) -> (f64, bool),
    ) -> (f64, Stop) {
        let (mut best, mut best_theta, mut stalls) = (f64::INFINITY, theta.clone(), 0);
        let (mut lowest, free) = (f64::INFINITY, self.features.free);
        loop {
            let gradient = self.gradient_at(query, theta, reg);
            let objective = self.risk(query, theta) + reg * dot(&theta[free..], &theta[free..]);
            let (error, met) = goal(self.loss, &self.point(query, theta, &gradient), objective, self.task);
            // Where curvature jumps the gradient may grow on the way down; the objective may not.
            if error < 0.9 * best || objective < lowest * (1.0 - 1e-14) {
                stalls = 0;
            } else {
                stalls += 1;
            }
            lowest = lowest.min(objective);
            if error < best {
                best = error;
                best_theta.clone_from(theta);
            }
            if met {
                return (best, Stop::Converged);
            }
            let over = *iterations >= self.task.max_iter;
            let step = if over || stalls > STALLS { None } else { self.step(query, theta, &gradient, reg) };
            let Some(step) = step else {
                theta.clone_from(&best_theta);
                return (best, if over { Stop::IterationLimit } else { Stop::Stalled });
            };
            axpy(1.0, &step, theta);
            *iterations += 1;
        }
    }

    /// The Newton step, shortened as needed.
    fn step(&mut self, query: &[f64], theta: &[f64], gradient: &[f64], reg: f64) -> Option<Vec<f64>> {
        let (q, free) = (self.features.width(), self.features.free);
        let value = dot(query, theta);
        let factor = self.factor(query, value, reg)?;
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        factor.solve(&mut direction);
        let mut start = dot(gradient, &direction);
        if start.is_nan() || start >= 0.0 {
            // Rounding has turned the step uphill: the plain slope, in the units of the diagonal.
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
        let t = search(start, |t| {
            loss.walk(margins, along, t, weights, slopes).along - 0.5 * loss.grad(-(value + t * zp)) * zp
                + 2.0 * reg * (wp + t * pp)
        })?;
        for p in &mut direction {
            *p *= t;
        }
        Some(direction)
    }

    /// The factored Hessian at the current margins.
    fn factor(&mut self, query: &[f64], value: f64, reg: f64) -> Option<Cholesky> {
        let features = self.features;
        let mut losses = vec![0.0; features.len()];
        self.loss.settle(&self.margins, &features.half_weights, &mut losses, &mut self.curvatures);
        for j in 0..features.width() {
            hadamard(features.tall.col(j), &self.curvatures, self.weighted.col_mut(j));
        }
        let mut sample = Matrix::zeros(features.width(), features.width());
        multiply_symmetric(&mut sample, &self.weighted, &features.tall);
        factor_hessian(&sample, query, 0.5 * self.loss.hess(-value), reg, features.free)
    }

    /// Computes margins and gradient afresh.
    fn gradient_at(&mut self, query: &[f64], theta: &[f64], reg: f64) -> Vec<f64> {
        let (features, q, free) = (self.features, self.features.width(), self.features.free);
        project(&features.tall, &theta[..q], &mut self.margins);
        self.loss.walk(&self.margins, &self.margins, 0.0, &features.half_weights, &mut self.slopes);
        let mut g: Vec<f64> = (0..q).map(|j| dot(features.tall.col(j), &self.slopes)).collect();
        g.push(0.0);
        axpy(-0.5 * self.loss.grad(-dot(query, theta)), query, &mut g);
        axpy(2.0 * reg, &theta[free..], &mut g[free..]);
        g
    }

    fn point<'s>(&self, query: &'s [f64], theta: &'s [f64], gradient: &'s [f64]) -> Point<'s> {
        let (value, free, reach) = (dot(query, theta), self.features.free, self.features.reach);
        Point { theta, gradient, query, value, free, reach }
    }

    /// The risk at the current margins.
    fn risk(&self, query: &[f64], theta: &[f64]) -> f64 {
        self.loss.total(&self.margins, &self.features.half_weights)
            + 0.5 * self.loss.value(-dot(query, theta))
    }

    fn report(
        &mut self,
        query: &[f64],
        theta: Vec<f64>,
        reg: f64,
        error: f64,
        iterations: usize,
        stop: Stop,
    ) -> Outcome {
        let free = self.features.free;
        self.gradient_at(query, &theta, reg);
        let mut depth = self.risk(query, &theta);
        if self.task.variant == Variant::Objective {
            depth += reg * dot(&theta[free..], &theta[free..]);
        }
        let shifts = self.influence(query, &theta, reg);
        let mut losses = vec![0.0; self.features.len()];
        self.loss.settle(&self.margins, &self.features.half_weights, &mut losses, &mut self.curvatures);
        let stderr = self.features.standard_error(&mut losses, &self.slopes, &shifts);
        let stop = stop.judge(error, self.task.tol);
        Outcome { depth, error, stderr, iterations, stop, theta }
    }

    /// ⟨tᵢ, q⟩ with H q = 2 reg w: how the minimiser's reaction adds to the influence of a row on the
    /// risk. Zero for the other variants, by the envelope theorem.
    fn influence(&mut self, query: &[f64], theta: &[f64], reg: f64) -> Vec<f64> {
        let (q, free) = (self.features.width(), self.features.free);
        let mut shifts = vec![0.0; self.features.len()];
        if self.task.variant != Variant::Risk {
            return shifts;
        }
        self.gradient_at(query, theta, reg);
        let Some(factor) = self.factor(query, dot(query, theta), reg) else { return shifts };
        let mut rhs: Vec<f64> = theta.iter().map(|w| 2.0 * reg * w).collect();
        rhs[..free].fill(0.0);
        factor.solve(&mut rhs);
        if rhs.iter().all(|x| x.is_finite()) {
            project(&self.features.tall, &rhs[..q], &mut shifts);
        }
        shifts
    }

    /// The margins of the sample, and the gradient of the bare risk.
    pub(crate) fn look(&mut self, query: &[f64], theta: &[f64]) -> (&[f64], Vec<f64>) {
        let gradient = self.gradient_at(query, theta, 0.0);
        (&self.margins, gradient)
    }

    /// The influence of every reference row on the depth that `theta` gives a query.
    pub(crate) fn explain(&mut self, query: &[f64], theta: &[f64]) -> Vec<f64> {
        let shifts = self.influence(query, theta, self.task.reg);
        self.gradient_at(query, theta, 0.0);
        let mut losses = vec![0.0; self.features.len()];
        self.loss.settle(&self.margins, &self.features.half_weights, &mut losses, &mut self.curvatures);
        self.features.influence(losses, &self.slopes, &shifts)
    }
}

/// `out = tall · theta`.
pub(crate) fn project(tall: &Matrix, theta: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (j, t) in theta.iter().enumerate() {
        axpy(*t, tall.col(j), out);
    }
}

/// Factors $S + k \hat z \hat z^\top + 2 \lambda I$ (no penalty on a free intercept), where the lower triangle of
/// $S = \sum_i h_i t_i t_i^\top$ is given.
pub(crate) fn factor_hessian(
    sample: &Matrix,
    query: &[f64],
    query_curvature: f64,
    reg: f64,
    free: usize,
) -> Option<Cholesky> {
    let q = sample.rows();
    let mut hessian = Matrix::zeros(q + 1, q + 1);
    for j in 0..=q {
        for i in j..=q {
            let mut h = query_curvature * query[i] * query[j];
            if i < q {
                h += sample.at(i, j);
            }
            if i == j && j >= free {
                h += 2.0 * reg;
            }
            hessian.set(i, j, h);
        }
    }
    Cholesky::scaled(&mut hessian)
}
