//! The least hinge loss of a linear function: an exact method for a small number of coordinates.
//!
//! $F(w) = \sum_i \omega_i (1 - \langle w, y_i \rangle)_+$ is convex and piecewise linear (N9). At a vertex as many points as there
//! are coordinates have $\langle w, y_b \rangle = 1$, and their multipliers decide: all between 0 and $\omega_b$ means optimal;
//! otherwise $F$ decreases along the edge that releases the worst one, and an exact line search passes all breakpoints on the
//! way down, as in the method of Barrodale and Roberts for least absolute deviations. The same multipliers solve the dual
//! linear program, hence a lower bound.
//!
//! The ones are replaced by $1 + \varepsilon_i$ with different tiny $\varepsilon_i$ while the search runs, so that no two breakpoints
//! coincide and it cannot cycle; the bounds are those of the program without them.

use crate::numerics::linalg::{axpy, dot};
use crate::numerics::simd::vectorised;

/// Size of the perturbations; the bounds differ by no more than this.
const PERTURBATION: f64 = 1e-11;
/// A multiplier this far outside of its bounds is outside (heuristic, against rounding; the bounds hold anyway).
const SLACK: f64 = 1e-13;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Satisfied,
    Violated,
    Basic,
}

/// A search for the least hinge loss; its scratch memory.
#[derive(Debug, Default)]
pub(super) struct HingeProgram {
    /// The $y_i$, one coordinate after the other.
    pub(super) columns: Vec<f64>,
    state: Vec<State>,
    along: Vec<f64>,
    values: Vec<f64>,
    breakpoints: Vec<Breakpoint>,
    edges: Vec<Vec<f64>>,
    basis: Vec<Option<usize>>,
}

#[derive(Debug, Clone, Copy)]
struct Breakpoint {
    step: f64,
    slope: f64,
    point: usize,
}

/// The minimum, between two bounds.
#[derive(Debug, Clone, Default)]
pub(super) struct HingeMinimum {
    /// Attained by `w`.
    pub(super) upper: f64,
    /// $\sum_i \mu_i$ for multipliers with $\sum_i \mu_i y_i$ of norm `residual`.
    pub(super) lower: f64,
    pub(super) residual: f64,
    pub(super) w: Vec<f64>,
    pub(super) steps: usize,
}

/// Deterministic numbers in (0, 1), a different one for every point.
fn perturbation(i: usize) -> f64 {
    let x = (i as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    1.0 + PERTURBATION * ((x >> 11) as f64 / (1u64 << 53) as f64)
}

impl HingeProgram {
    /// The values $\langle w, y_i \rangle$ at the minimum.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Minimises for the points in `columns`, with weights that sum to at most 1.
    pub(super) fn minimise(&mut self, weights: &[f64], r: usize) -> HingeMinimum {
        let n = weights.len();
        self.state.clear();
        self.state.resize(n, State::Violated);
        for scratch in [&mut self.along, &mut self.values] {
            scratch.clear();
            scratch.resize(n, 0.0);
        }
        let mut w = vec![0.0; r];
        // Σ ωᵢ yᵢ over the violated points.
        let mut pull: Vec<f64> =
            (0..r).map(|j| dot(weights, &self.columns[j * n..(j + 1) * n])).collect();
        self.start(&pull, r);
        let limit = 200 * (r + 10) + n;
        let mut steps = 0;
        while steps < limit {
            let Some((k, sign, slope)) = self.worst_multiplier(weights, &pull) else { break };
            steps += 1;
            let direction: Vec<f64> = self.edges[k].iter().map(|e| sign * e).collect();
            if !self.step(weights, k, sign, slope, &direction, &mut w, &mut pull) {
                break;
            }
        }
        self.bounds(weights, r, &pull, steps)
    }

    /// Artificial basic points without weight: an orthonormal frame whose first axis is the steepest descent.
    fn start(&mut self, pull: &[f64], r: usize) {
        let length = dot(pull, pull).sqrt();
        self.basis = vec![None; r];
        self.edges = (0..r).map(|k| (0..r).map(|j| f64::from(u8::from(j == k))).collect()).collect();
        if length == 0.0 || r == 0 {
            return;
        }
        // The reflection that maps the first axis to ∓ pull / length.
        let side = if pull[0] > 0.0 { 1.0 } else { -1.0 };
        let mut v: Vec<f64> = pull.iter().map(|p| p / length).collect();
        v[0] += side;
        let square = dot(&v, &v);
        for edge in &mut self.edges {
            let along = 2.0 * dot(&v, edge) / square;
            edge.iter_mut().zip(&v).for_each(|(e, v)| *e -= along * v);
        }
    }

    fn weight(&self, weights: &[f64], k: usize) -> f64 {
        self.basis[k].map_or(0.0, |b| weights[b])
    }

    /// The basic point whose multiplier is farthest out of bounds, where its value goes, and the slope on that way.
    fn worst_multiplier(&self, weights: &[f64], pull: &[f64]) -> Option<(usize, f64, f64)> {
        let mut worst: Option<(usize, f64, f64, f64)> = None;
        for (k, edge) in self.edges.iter().enumerate() {
            let (multiplier, most) = (-dot(edge, pull), self.weight(weights, k));
            let (sign, slope) =
                if multiplier < 0.0 { (1.0, multiplier) } else { (-1.0, most - multiplier) };
            // Steepest in units of length.
            let size = dot(edge, edge).sqrt();
            let rate = slope / size;
            if slope < -SLACK && worst.is_none_or(|(.., best)| rate < best) {
                worst = Some((k, sign, slope, rate));
            }
        }
        worst.map(|(k, sign, slope, _)| (k, sign, slope))
    }

    /// Releases basic point `k` and moves to the minimum along its edge; false if there is none.
    #[expect(clippy::too_many_arguments, reason = "one step of one algorithm")]
    fn step(
        &mut self,
        weights: &[f64],
        k: usize,
        sign: f64,
        slope: f64,
        direction: &[f64],
        w: &mut [f64],
        pull: &mut [f64],
    ) -> bool {
        let n = weights.len();
        self.along.fill(0.0);
        for (j, p) in direction.iter().enumerate() {
            axpy(*p, &self.columns[j * n..(j + 1) * n], &mut self.along);
        }
        let least = 1e-13 * dot(direction, direction).sqrt();
        self.breakpoints.clear();
        for i in 0..n {
            let q = self.along[i];
            let gap = perturbation(i) - self.values[i];
            let (towards, distance) = match self.state[i] {
                State::Violated => (q, gap),
                State::Satisfied => (-q, -gap),
                State::Basic => continue,
            };
            if towards > least {
                let step = (distance / towards).max(0.0);
                self.breakpoints.push(Breakpoint { step, slope: weights[i] * towards, point: i });
            }
        }
        let Some((passed, entering)) = select(&mut self.breakpoints, -slope) else { return false };
        let Breakpoint { step, point, .. } = entering;
        if let Some(b) = self.basis[k] {
            self.state[b] = if sign > 0.0 { State::Satisfied } else { State::Violated };
            if sign < 0.0 {
                pull.iter_mut().enumerate().for_each(|(j, p)| *p += weights[b] * self.columns[j * n + b]);
            }
        }
        for at in 0..passed {
            let i = self.breakpoints[at].point;
            let (state, change) = match self.state[i] {
                State::Violated => (State::Satisfied, -weights[i]),
                _ => (State::Violated, weights[i]),
            };
            self.state[i] = state;
            pull.iter_mut().enumerate().for_each(|(j, p)| *p += change * self.columns[j * n + i]);
        }
        if self.state[point] == State::Violated {
            pull.iter_mut().enumerate().for_each(|(j, p)| *p -= weights[point] * self.columns[j * n + point]);
        }
        self.state[point] = State::Basic;
        axpy(step, direction, w);
        let (values, along) = (&mut self.values[..n], &self.along[..n]);
        vectorised!({
            for i in 0..n {
                values[i] = step.mul_add(along[i], values[i]);
            }
        });
        // The inverse of the basis with row k replaced.
        let y: Vec<f64> = (0..direction.len()).map(|j| self.columns[j * n + point]).collect();
        let pivot = dot(&self.edges[k], &y);
        self.edges[k].iter_mut().for_each(|e| *e /= pivot);
        let new = self.edges[k].clone();
        for (_, edge) in self.edges.iter_mut().enumerate().filter(|(l, _)| *l != k) {
            let along = dot(edge, &y);
            axpy(-along, &new, edge);
        }
        self.basis[k] = Some(point);
        true
    }

    /// Both bounds at the last vertex, without perturbations.
    fn bounds(&mut self, weights: &[f64], r: usize, pull: &[f64], steps: usize) -> HingeMinimum {
        let n = weights.len();
        let mut w = vec![0.0; r];
        for (edge, basic) in self.edges.iter().zip(&self.basis) {
            if basic.is_some() {
                axpy(1.0, edge, &mut w);
            }
        }
        self.values.fill(0.0);
        for (j, w) in w.iter().enumerate() {
            axpy(*w, &self.columns[j * n..(j + 1) * n], &mut self.values);
        }
        let upper = (0..n).map(|i| weights[i] * (1.0 - self.values[i]).max(0.0)).sum();
        let mut lower: f64 =
            (0..n).filter(|&i| self.state[i] == State::Violated).map(|i| weights[i]).sum();
        let mut residual = vec![0.0; r];
        for i in (0..n).filter(|&i| self.state[i] == State::Violated) {
            residual.iter_mut().enumerate().for_each(|(j, s)| *s += weights[i] * self.columns[j * n + i]);
        }
        for k in 0..r {
            let multiplier = (-dot(&self.edges[k], pull)).clamp(0.0, self.weight(weights, k));
            lower += multiplier;
            if let Some(b) = self.basis[k] {
                residual.iter_mut().enumerate().for_each(|(j, s)| *s += multiplier * self.columns[j * n + b]);
            }
        }
        HingeMinimum { upper, lower, residual: dot(&residual, &residual).sqrt(), w, steps }
    }
}

/// The first breakpoint at which the slopes passed sum to `needed`, with all before it moved to the front; their number.
fn select(breakpoints: &mut [Breakpoint], needed: f64) -> Option<(usize, Breakpoint)> {
    let order = |a: &Breakpoint, b: &Breakpoint| a.step.total_cmp(&b.step).then(a.point.cmp(&b.point));
    let (mut first, mut end, mut passed) = (0, breakpoints.len(), 0.0);
    if first == end {
        return None;
    }
    while end - first > 8 {
        let middle = first + (end - first) / 2;
        breakpoints[first..end].select_nth_unstable_by(middle - first, order);
        let part: f64 = breakpoints[first..middle].iter().map(|b| b.slope).sum();
        if passed + part >= needed {
            end = middle;
        } else {
            (first, passed) = (middle, passed + part);
        }
    }
    breakpoints[first..end].sort_unstable_by(order);
    for at in first..end {
        passed += breakpoints[at].slope;
        if passed >= needed {
            return Some((at, breakpoints[at]));
        }
    }
    // All are passed without reaching a slope of 0: only rounding can do that, for the loss is not negative.
    Some((end - 1, breakpoints[end - 1]))
}
