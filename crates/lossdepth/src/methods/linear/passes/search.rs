//! The search of one query between passes: steps to the minimum of a quadratic model of all rows and the query's own loss as it is. The
//! model has the Hessian of the sample, corrected by pairs of steps and gradients of all rows (BFGS). Steps are shortened where the
//! objective of all rows did not fall.
//!
//! Nothing here is part of a proof. The certificate holds for any candidate.

use super::frame::{BLOCK, RowBlock};
use crate::certify::gap::Certificate;
use crate::certify::pass::PassEvaluation;
use crate::loss::Smooth;
use crate::numerics::linalg::{Cholesky, Matrix, axpy, dot, hadamard, hessian, multiply_symmetric, norm};
use crate::problem::{Stop, Task, Variant};

/// Pairs that are kept; a heuristic.
const PAIRS: usize = 12;
/// After so many passes without a tenth of improvement a search ends; a heuristic.
const STALLS: usize = 20;

/// A point that was evaluated on all rows.
#[derive(Debug, Clone)]
struct Point {
    theta: Vec<f64>,
    objective: f64,
    gradient: Vec<f64>,
    /// The gradient without the query's loss.
    of_rows: Vec<f64>,
}

impl Point {
    fn new(theta: Vec<f64>, objective: f64, gradient: Vec<f64>, query: &[f64], loss: &impl Smooth) -> Self {
        let mut of_rows = gradient.clone();
        axpy(0.5 * loss.grad(-dot(&theta, query)), query, &mut of_rows);
        Self { theta, objective, gradient, of_rows }
    }
}

/// What is known of one query's solution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) depth: f64,
    pub(super) certificate: Certificate,
    pub(super) passes: usize,
    pub(super) stop: Stop,
}

/// The search of one query.
pub(super) struct Search {
    /// The query in the coordinates of the pass.
    pub(super) query: Vec<f64>,
    /// The candidate of the next pass.
    pub(super) trial: Vec<f64>,
    base: Point,
    /// Steps and changes of the gradient without the query's loss, the oldest first.
    pairs: Vec<(Vec<f64>, Vec<f64>)>,
    /// No step may be longer, after one that did not lower the objective.
    longest: f64,
    stalls: usize,
    pub(super) found: Found,
    pub(super) done: bool,
}

impl Search {
    /// From the solution on the sample. The origin, where the objective is 1, is the point to fall back to; `mean` is the
    /// mean of all rows.
    pub(super) fn new(query: Vec<f64>, start: Vec<f64>, mean: &[f64], loss: &impl Smooth) -> Self {
        let slope = 0.5 * loss.grad(0.0);
        let gradient = mean.iter().zip(&query).map(|(x, z)| slope * (x - z)).collect();
        let base = Point::new(vec![0.0; start.len()], 1.0, gradient, &query, loss);
        // At the origin the risk is 1, and a depth is between 0 and 1.
        let certificate = Certificate { gap: 1.0, error: 1.0, rounding: 0.0 };
        let found = Found { depth: 1.0, certificate, passes: 0, stop: Stop::Stalled };
        Self {
            query,
            trial: start,
            base,
            pairs: Vec::new(),
            longest: f64::INFINITY,
            stalls: 0,
            found,
            done: false,
        }
    }

    /// Takes in what a pass found at the trial point.
    pub(super) fn take(&mut self, evaluation: PassEvaluation, loss: &impl Smooth, task: &Task, pass: usize) {
        let PassEvaluation { risk, penalty, gradient, gradient_error, certificate } = evaluation;
        let objective = risk + penalty;
        let before = self.found.certificate.error;
        // The error may say nothing for a while: it is at most the objective.
        let progress = certificate.error < 0.9 * before || objective < (1.0 - 1e-3) * self.base.objective;
        self.stalls = if progress { 0 } else { self.stalls + 1 };
        // Not a number is no improvement.
        if certificate.error < before {
            let depth = if task.variant == Variant::Objective { objective } else { risk };
            self.found = Found { depth, certificate, ..self.found };
        }
        let error = certificate.error.min(before);
        let over = pass >= task.max_iter;
        let stop = if over { Stop::IterationLimit } else { Stop::Stalled };
        self.found = Found { passes: pass, stop: stop.for_error(error, task.tol), ..self.found };
        self.done = error <= task.tol || over || self.stalls > STALLS;
        if !self.done {
            let at = Point::new(self.trial.clone(), objective, gradient, &self.query, loss);
            self.advance(at, gradient_error);
        }
    }

    /// Accepts or rejects the trial point, and learns from it either way.
    fn advance(&mut self, at: Point, gradient_error: f64) {
        let step: Vec<f64> = at.theta.iter().zip(&self.base.theta).map(|(a, b)| a - b).collect();
        let change: Vec<f64> = at.of_rows.iter().zip(&self.base.of_rows).map(|(a, b)| a - b).collect();
        let (start, end) = (dot(&step, &self.base.gradient), dot(&step, &at.gradient));
        let finite = at.objective.is_finite() && at.gradient.iter().all(|g| g.is_finite());
        let lower = at.objective <= self.base.objective + 1e-4 * start;
        // Near the minimum rounding hides the fall of the objective; the slopes still tell.
        let level = at.objective <= (1.0 + 1e-9) * self.base.objective;
        let accepted = finite && (lower || level && end.abs() <= 0.5 * start.abs());
        let curvature = dot(&step, &change);
        // The mean curvature on the way from the origin, or to a point far above, says little about here.
        let origin = self.base.theta.iter().all(|t| *t == 0.0);
        let near = finite && !origin && at.objective <= 2.0 * self.base.objective;
        if near && norm(&change) > 100.0 * gradient_error && curvature > 1e-12 * norm(&step) * norm(&change) {
            if self.pairs.len() == PAIRS {
                self.pairs.remove(0);
            }
            self.pairs.push((step.clone(), change));
        }
        if accepted {
            self.base = at;
            self.longest *= 4.0;
        } else {
            let share = if finite { minimum(self.base.objective, start, at.objective, end) } else { 0.1 };
            self.longest = share.clamp(0.1, 0.6) * norm(&step);
        }
    }

    /// Sets the next trial point.
    pub(super) fn step(&mut self, sample: &Sample, loss: &impl Smooth, task: &Task, free: usize) {
        let step = self
            .newton_step(sample, loss, task, free)
            .unwrap_or_else(|| self.base.gradient.iter().map(|g| -g / (2.0 * task.reg)).collect());
        let length = norm(&step);
        let share = if length > self.longest { self.longest / length } else { 1.0 };
        self.trial.clone_from(&self.base.theta);
        axpy(share, &step, &mut self.trial);
    }

    fn newton_step(&self, sample: &Sample, loss: &impl Smooth, task: &Task, free: usize) -> Option<Vec<f64>> {
        let moments = sample.hessian(loss, &self.base.theta);
        let padded = |x: &[f64]| x.iter().copied().chain([0.0]).collect::<Vec<f64>>();
        let query = padded(&self.query);
        let mut matrix = hessian(&moments, &query, 0.0, task.reg, free);
        for (step, change) in &self.pairs {
            update(&mut matrix, &padded(step), &padded(change));
        }
        let factor = Cholesky::scaled(&mut matrix)?;
        let mut step: Vec<f64> = padded(&self.base.of_rows).iter().map(|g| -g).collect();
        let mut along = query.clone();
        factor.solve(&mut step);
        factor.solve(&mut along);
        // The query's loss as it is: the margin at the minimum is the root of an increasing function.
        let margin = -dot(&padded(&self.base.theta), &query) - dot(&query, &step);
        let margin = proximal(loss, margin, 0.5 * dot(&query, &along));
        axpy(0.5 * loss.grad(margin), &along, &mut step);
        step.pop();
        let falls = dot(&step, &self.base.gradient) < 0.0;
        (falls && step.iter().all(|x| x.is_finite())).then_some(step)
    }
}

/// The minimum of $\ell(m) + (m - c)^2 / 2 \kappa$: where $m + \kappa \ell'(m) = c$.
fn proximal(loss: &impl Smooth, c: f64, kappa: f64) -> f64 {
    let above = c.max(0.0);
    let (mut low, mut high) = (c, above - kappa * loss.grad(above));
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle + kappa * loss.grad(middle) > c {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

/// Where the cubic with these values and slopes at 0 and 1 has its minimum (Nocedal and Wright, 3.59).
fn minimum(value: f64, slope: f64, other_value: f64, other_slope: f64) -> f64 {
    let a = slope + other_slope - 3.0 * (other_value - value);
    let root = a.mul_add(a, -slope * other_slope).max(0.0).sqrt();
    let share = 1.0 - (other_slope + root - a) / (other_slope - slope + 2.0 * root);
    if share.is_finite() { share } else { 0.1 }
}

/// The BFGS update of the lower triangle of $B$: $B - B s s^\top B / s^\top B s + y y^\top / s^\top y$.
fn update(lower: &mut Matrix, step: &[f64], change: &[f64]) {
    let size = step.len();
    let mut image = vec![0.0; size];
    for j in 0..size {
        for i in j..size {
            image[i] += lower.at(i, j) * step[j];
            if i > j {
                image[j] += lower.at(i, j) * step[i];
            }
        }
    }
    let (before, after) = (dot(step, &image), dot(step, change));
    if !(before > 0.0 && after > 0.0) {
        return;
    }
    for j in 0..size {
        for i in j..size {
            let value = lower.at(i, j) - image[i] * (image[j] / before) + change[i] * (change[j] / after);
            lower.set(i, j, value);
        }
    }
}

/// The rows of the sample that Hessians are made of.
pub(super) struct Sample {
    blocks: Vec<RowBlock>,
    parameters: usize,
}

impl Sample {
    /// Blocks whose weights sum to a half.
    pub(super) fn new(blocks: Vec<RowBlock>, parameters: usize) -> Self {
        Self { blocks, parameters }
    }

    /// The lower triangle of $\sum_i c_i \ell''(m_i) x_i x_i^\top$.
    fn hessian(&self, loss: &impl Smooth, theta: &[f64]) -> Matrix {
        let p = self.parameters;
        let (mut sum, mut part) = (Matrix::zeros(p, p), Matrix::zeros(p, p));
        let (mut points, mut weighted) = (Matrix::zeros(BLOCK, p), Matrix::zeros(BLOCK, p));
        let (mut margins, mut losses, mut curvatures) =
            (vec![0.0; BLOCK], vec![0.0; BLOCK], vec![0.0; BLOCK]);
        for block in &self.blocks {
            margins.fill(0.0);
            for (k, t) in theta.iter().enumerate() {
                axpy(*t, block.points.col(k), &mut margins);
            }
            loss.losses_and_curvatures(&margins, &block.weights, &mut losses, &mut curvatures);
            for k in 0..p {
                points.col_mut(k).copy_from_slice(block.points.col(k));
                hadamard(block.points.col(k), &curvatures, weighted.col_mut(k));
            }
            multiply_symmetric(&mut part, &weighted, &points);
            for j in 0..p {
                axpy(1.0, &part.col(j)[j..], &mut sum.col_mut(j)[j..]);
            }
        }
        sum
    }
}
