//! Training of one hidden layer: add the units that lower the objective fastest, optimise all, prune; repeat.

use super::objective::{ConvexObjective, best_length, relu_sum};
use super::starting_points::SharedDirections;
use crate::numerics::linalg::{dot, norm};
use crate::problem::Stop;
use crate::solver::descent::{Descent, Objective, StoppingRule};

/// A trained network with one hidden layer, as a point of [`ConvexObjective`].
#[derive(Debug, Clone)]
pub(crate) struct ShallowNetwork {
    /// $c, v, w_1, \dots, w_k$.
    pub(crate) parameters: Vec<f64>,
    /// Risk plus penalty.
    pub(crate) objective: f64,
    pub(crate) risk: f64,
    pub(crate) iterations: usize,
    pub(crate) stop: Stop,
}

/// The penalty, and when training ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrainingSettings {
    pub(crate) reg: f64,
    pub(crate) tol: f64,
    pub(crate) max_iter: usize,
    /// How many units there may be, the linear one included.
    pub(crate) max_units: usize,
}

// All constants are heuristics: they decide how close training gets to the best network, not whether the bound holds.

/// A unit is added if the slope (M6) along it exceeds the penalty's by this share.
const MARGIN: f64 = 1e-3;
/// How many of the shared directions are improved before the best one becomes a unit.
const MAX_CANDIDATES: usize = 7;
/// Candidates with a larger cosine to a better one are skipped.
const MAX_COSINE: f64 = 0.8;
/// How often candidates are improved at most.
const MAX_ASCENT_STEPS: usize = 10;
/// They are improved as long as the slope along one of them grows by this share.
const ASCENT: f64 = 1e-3;
/// The tolerance of the optimisation between additions of units.
const ROUGH_TOL: f64 = 1e-3;
/// A round that lowers the objective by no more than this share is followed by an optimisation to the full tolerance.
const SMALL_DECREASE: f64 = 1e-2;
/// Units below this share of the longest are removed where that does not raise the objective.
const SHORT_UNIT: f64 = 0.02;

/// Trains the network that separates the query, the origin of `problem`, from the sample.
pub(crate) fn train(
    problem: &mut ConvexObjective<'_>,
    directions: &SharedDirections,
    query: &[f64],
    settings: &TrainingSettings,
    descent: &mut Descent,
    cancelled: &dyn Fn() -> bool,
) -> ShallowNetwork {
    let q = problem.width();
    let mut x = vec![0.0; 1 + q];
    let mut gradient = x.clone();
    let mut value = problem.evaluate(&x, &mut gradient);
    let (mut iterations, mut stop) = (0, Stop::Converged);
    let mut optimise = |problem: &mut ConvexObjective<'_>, x: &mut Vec<f64>, tol: f64| {
        let rule = StoppingRule { tol, max_iter: settings.max_iter - iterations };
        let result = descent.minimise(problem, x, rule, cancelled);
        iterations += result.iterations;
        stop = result.stop;
        (prune(problem, x, result.value), stop == Stop::Converged)
    };
    loop {
        let before = value;
        let added = add_units(problem, directions, query, settings, &mut x);
        let (rough, mut proceed) = optimise(problem, &mut x, settings.tol.max(ROUGH_TOL));
        value = rough;
        // After a small decrease only the full tolerance shows whether another round is worthwhile.
        if proceed && (!added || before - value <= SMALL_DECREASE * value) {
            (value, proceed) = optimise(problem, &mut x, settings.tol);
            proceed &= before - value > 10.0 * settings.tol * value;
        }
        if !proceed {
            break;
        }
    }
    gradient.resize(x.len(), 0.0);
    let objective = problem.evaluate(&x, &mut gradient);
    ShallowNetwork { parameters: x, objective, risk: problem.risk, iterations, stop }
}

/// Adds the linear unit and the best ReLU unit, where they lower the objective; `problem` was last evaluated at `x`.
fn add_units(
    problem: &mut ConvexObjective<'_>,
    directions: &SharedDirections,
    query: &[f64],
    settings: &TrainingSettings,
    x: &mut Vec<f64>,
) -> bool {
    let q = problem.width();
    let threshold = 2.0 * settings.reg * (1.0 + MARGIN);
    let mut units = x[1 + q..].len() / q + usize::from(norm(&x[1..=q]) > 0.0);
    let (unit, unit_slope) = steepest_direction(problem, directions, query);
    let mut added = false;
    // The linear unit first: it costs as much as any other, and one is enough.
    let mut linear = vec![0.0; q];
    for (j, s) in linear.iter_mut().enumerate() {
        *s = dot(&problem.alpha, problem.differences.col(j));
    }
    let linear_slope = norm(&linear);
    if linear_slope > threshold && units < settings.max_units && norm(&x[1..=q]) == 0.0 {
        for s in &mut linear {
            *s /= linear_slope;
        }
        let h = problem.project(std::slice::from_ref(&linear)).col(0).to_vec();
        let (length, shift) = best_length(&problem.margins, x[0], &h, problem.half_weights(), settings.reg);
        if length > 0.0 {
            x[0] += shift;
            for (x, s) in x[1..=q].iter_mut().zip(&linear) {
                *x = length * s;
            }
            for (m, h) in problem.margins.iter_mut().zip(&h) {
                *m += length * h + shift;
            }
            units += 1;
            added = true;
        }
    }
    if unit_slope > threshold && units < settings.max_units {
        let mut h = problem.project(std::slice::from_ref(&unit)).col(0).to_vec();
        for h in &mut h {
            *h = h.max(0.0);
        }
        let (length, shift) = best_length(&problem.margins, x[0], &h, problem.half_weights(), settings.reg);
        if length > 0.0 {
            x[0] += shift;
            x.extend(unit.iter().map(|u| length * u));
            added = true;
        }
    }
    added
}

/// The unit vector $u$ with the largest $s(u) = \sum_i \alpha_i \max(0, \langle u, y_i \rangle)$ that a search from the shared
/// directions finds, and that sum.
///
/// $s$ is convex, so a step to the direction of its gradient (M7) never makes it smaller.
fn steepest_direction(
    problem: &mut ConvexObjective<'_>,
    shared: &SharedDirections,
    query: &[f64],
) -> (Vec<f64>, f64) {
    let (q, rank) = (problem.width(), shared.unit.rows());
    let mut ranked: Vec<(f64, usize)> = (0..shared.unit.cols())
        .map(|k| {
            let at_query = dot(shared.unit.col(k), &query[1..=rank]);
            (relu_sum(&problem.alpha, shared.projected.col(k), at_query), k)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut chosen: Vec<usize> = Vec::with_capacity(MAX_CANDIDATES);
    for &(_, k) in &ranked {
        let u = shared.unit.col(k);
        if chosen.iter().all(|&other| dot(u, shared.unit.col(other)) < MAX_COSINE) {
            chosen.push(k);
        }
        if chosen.len() == MAX_CANDIDATES {
            break;
        }
    }
    let mut candidates = vec![vec![0.0; q]; chosen.len()];
    for (u, k) in candidates.iter_mut().zip(chosen) {
        u[..rank].copy_from_slice(shared.unit.col(k));
    }
    candidates.push((0..q).map(|j| dot(&problem.alpha, problem.differences.col(j))).collect());
    let mut slopes = vec![0.0; candidates.len()];
    for _ in 0..=MAX_ASCENT_STEPS {
        problem.project(&candidates);
        let gradients = problem.gated_sums(candidates.len());
        let mut ascending = false;
        for (j, (u, slope)) in candidates.iter_mut().zip(&mut slopes).enumerate() {
            // s at the next direction is at least the norm of the gradient here.
            let length = norm(gradients.col(j));
            ascending |= length > *slope * (1.0 + ASCENT);
            if length > *slope {
                *slope = length;
                for (u, s) in u.iter_mut().zip(gradients.col(j)) {
                    *u = s / length;
                }
            }
        }
        if !ascending {
            break;
        }
    }
    let best = (0..slopes.len()).fold(0, |best, j| if slopes[j] > slopes[best] { j } else { best });
    (candidates.swap_remove(best), slopes[best])
}

/// Removes short units where that does not raise the objective; returns its value, with `problem` evaluated at `x`.
fn prune(problem: &mut ConvexObjective<'_>, x: &mut Vec<f64>, value: f64) -> f64 {
    let q = problem.width();
    let mut gradient = vec![0.0; x.len()];
    let mut value = value;
    let lengths: Vec<f64> = x[1..].chunks_exact(q).map(norm).collect();
    let longest = lengths.iter().fold(0.0f64, |m, l| m.max(*l));
    for k in (0..lengths.len()).rev().filter(|&k| lengths[k] <= SHORT_UNIT * longest) {
        let mut without = x.clone();
        if k > 0 {
            without.drain(1 + k * q..=(k + 1) * q);
        } else {
            without[1..=q].fill(0.0);
        }
        let value_without = problem.evaluate(&without, &mut gradient[..without.len()]);
        if value_without <= value {
            (value, *x) = (value_without, without);
        }
    }
    problem.evaluate(x, &mut gradient[..x.len()])
}
