//! Training a network of one hidden layer: units are born where they help most, polished together, and pruned.

use super::Directions;
use super::objective::{Cone, best_amount, lifted};
use crate::numerics::linalg::{dot, norm};
use crate::problem::Stop;
use crate::solver::descent::{Descent, Objective, Rule};

/// A trained network, as a point of [`Cone`].
#[derive(Debug, Clone)]
pub(crate) struct Trained {
    /// $c, v, w_1, \dots, w_k$.
    pub(crate) point: Vec<f64>,
    /// Risk plus penalty.
    pub(crate) objective: f64,
    pub(crate) risk: f64,
    pub(crate) iterations: usize,
    pub(crate) stop: Stop,
}

/// How the training goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) reg: f64,
    pub(crate) tol: f64,
    pub(crate) max_iter: usize,
    /// How many units there may be, the linear one included.
    pub(crate) units: usize,
}

/// A unit is born if the slope along it exceeds what it costs by this share.
const WORTH: f64 = 1e-3;
/// How many of the shared directions are improved before the best one becomes a unit.
const FINALISTS: usize = 7;
/// The cosine above which two of them are taken for much the same.
const ALIKE: f64 = 0.8;
/// How often they are improved at most.
const CLIMBS: usize = 10;
/// Between births the units are polished to this tolerance only.
const ROUGH: f64 = 1e-3;
/// A round that lowers the objective by no more than this share is followed by a polish to the tolerance asked for.
const SLOW: f64 = 1e-2;
/// A unit below this share of the longest one is taken away if that does no harm.
const SHORT: f64 = 0.02;

/// Trains the network that tells the query at the origin of `cone` from the sample.
pub(crate) fn train(
    cone: &mut Cone<'_>,
    start: &Directions,
    at: &[f64],
    plan: &Plan,
    descent: &mut Descent,
    cancelled: &dyn Fn() -> bool,
) -> Trained {
    let q = cone.width();
    let mut x = vec![0.0; 1 + q];
    let mut gradient = x.clone();
    let mut value = cone.evaluate(&x, &mut gradient);
    let (mut iterations, mut stop) = (0, Stop::Converged);
    let mut round = |cone: &mut Cone<'_>, x: &mut Vec<f64>, tol: f64| {
        let rule = Rule { tol, max_iter: plan.max_iter - iterations };
        let end = descent.minimise(cone, x, rule, cancelled);
        iterations += end.iterations;
        stop = end.stop;
        (prune(cone, x, end.value), stop == Stop::Converged)
    };
    loop {
        let before = value;
        let born = give_birth(cone, start, at, plan, &mut x);
        let (rough, mut go_on) = round(cone, &mut x, plan.tol.max(ROUGH));
        value = rough;
        // Hardly better: only a finer polish can tell whether there is more to gain.
        if go_on && (!born || before - value <= SLOW * value) {
            (value, go_on) = round(cone, &mut x, plan.tol);
            go_on &= before - value > 10.0 * plan.tol * value;
        }
        if !go_on {
            break;
        }
    }
    gradient.resize(x.len(), 0.0);
    let objective = cone.evaluate(&x, &mut gradient);
    Trained { point: x, objective, risk: cone.risk, iterations, stop }
}

/// Adds the units that promise most, if any does; `cone` was evaluated at `x` last.
fn give_birth(cone: &mut Cone<'_>, start: &Directions, at: &[f64], plan: &Plan, x: &mut Vec<f64>) -> bool {
    let q = cone.width();
    let enough = 2.0 * plan.reg * (1.0 + WORTH);
    let mut units = x[1 + q..].len() / q + usize::from(norm(&x[1..=q]) > 0.0);
    let (unit, steep) = steepest_direction(cone, start, at);
    let mut born = false;
    // The straight one first: it costs as much as any other, and one is enough.
    let mut straight = vec![0.0; q];
    for (j, s) in straight.iter_mut().enumerate() {
        *s = dot(&cone.pull, cone.seen.col(j));
    }
    let slope = norm(&straight);
    if slope > enough && units < plan.units && norm(&x[1..=q]) == 0.0 {
        for s in &mut straight {
            *s /= slope;
        }
        let h = cone.project(std::slice::from_ref(&straight)).col(0).to_vec();
        let (amount, shift) = best_amount(&cone.margins, x[0], &h, cone.half_weights(), plan.reg);
        if amount > 0.0 {
            x[0] += shift;
            for (x, s) in x[1..=q].iter_mut().zip(&straight) {
                *x = amount * s;
            }
            for (m, h) in cone.margins.iter_mut().zip(&h) {
                *m += amount * h + shift;
            }
            units += 1;
            born = true;
        }
    }
    if steep > enough && units < plan.units {
        let mut h = cone.project(std::slice::from_ref(&unit)).col(0).to_vec();
        for h in &mut h {
            *h = h.max(0.0);
        }
        let (amount, shift) = best_amount(&cone.margins, x[0], &h, cone.half_weights(), plan.reg);
        if amount > 0.0 {
            x[0] += shift;
            x.extend(unit.iter().map(|u| amount * u));
            born = true;
        }
    }
    born
}

/// The direction $u$, $\|u\| = 1$, with the largest $\sum_i \alpha_i \max(0, \langle u, y_i \rangle)$ that a search from
/// the shared directions finds, and that sum.
///
/// The sum is convex in $u$, so stepping to the direction of its gradient, $\sum_{i \text{ on}} \alpha_i y_i$, never
/// makes it smaller.
fn steepest_direction(cone: &mut Cone<'_>, start: &Directions, at: &[f64]) -> (Vec<f64>, f64) {
    let (q, rank) = (cone.width(), start.unit.rows());
    let mut ranked: Vec<(f64, usize)> = (0..start.unit.cols())
        .map(|k| {
            let here = dot(start.unit.col(k), &at[1..=rank]);
            (lifted(&cone.pull, start.projected.col(k), here), k)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // The steepest ones that are not much the same.
    let mut chosen: Vec<usize> = Vec::with_capacity(FINALISTS);
    for &(_, k) in &ranked {
        let u = start.unit.col(k);
        if chosen.iter().all(|&other| dot(u, start.unit.col(other)) < ALIKE) {
            chosen.push(k);
        }
        if chosen.len() == FINALISTS {
            break;
        }
    }
    let mut directions = vec![vec![0.0; q]; chosen.len()];
    for (u, k) in directions.iter_mut().zip(chosen) {
        u[..rank].copy_from_slice(start.unit.col(k));
    }
    directions.push((0..q).map(|j| dot(&cone.pull, cone.seen.col(j))).collect());
    let mut steep = vec![0.0; directions.len()];
    for _ in 0..=CLIMBS {
        cone.project(&directions);
        let slopes = cone.steepest(directions.len());
        let mut climbing = false;
        for (j, (u, steep)) in directions.iter_mut().zip(&mut steep).enumerate() {
            // The slope at u along the next direction; the sum there is at least that.
            let length = norm(slopes.col(j));
            climbing |= length > *steep * (1.0 + 1e-3);
            if length > *steep {
                *steep = length;
                for (u, s) in u.iter_mut().zip(slopes.col(j)) {
                    *u = s / length;
                }
            }
        }
        if !climbing {
            break;
        }
    }
    let best = (0..steep.len()).fold(0, |best, j| if steep[j] > steep[best] { j } else { best });
    (directions.swap_remove(best), steep[best])
}

/// Takes away short units where that does no harm; returns the value, with `cone` evaluated at `x`.
fn prune(cone: &mut Cone<'_>, x: &mut Vec<f64>, value: f64) -> f64 {
    let q = cone.width();
    let mut gradient = vec![0.0; x.len()];
    let mut value = value;
    let lengths: Vec<f64> = x[1..].chunks_exact(q).map(norm).collect();
    let longest = lengths.iter().fold(0.0f64, |m, l| m.max(*l));
    for k in (0..lengths.len()).rev().filter(|&k| lengths[k] <= SHORT * longest) {
        let mut without = x.clone();
        if k > 0 {
            without.drain(1 + k * q..=(k + 1) * q);
        } else {
            without[1..=q].fill(0.0);
        }
        let at = cone.evaluate(&without, &mut gradient[..without.len()]);
        if at <= value {
            (value, *x) = (at, without);
        }
    }
    cone.evaluate(x, &mut gradient[..x.len()])
}
