//! The hinge, which has no second derivative: a primal-dual interior-point method.
//!
//! With rows $u_i = t_i$, $u_z = -\hat z$, masses $c_i = \frac12 \omega_i$, $c_z = \frac12$, the problem is
//!
//! $$ \min \sum_j c_j \xi_j + \lambda \|w\|^2 \quad\text{s.t.}\quad
//!    \langle u_j, \theta \rangle + \xi_j - s_j = 1, \quad \xi_j, s_j \ge 0 $$
//!
//! with multipliers $c_j a_j$, $0 \le a_j \le 1$. Mehrotra's predictor and corrector follow the central
//! path $a_j s_j = (1 - a_j) \xi_j = \mu$; each iteration factors one matrix of the size of the features, of the same
//! form as a Newton step. The certificate is the duality gap of the point reached, whatever the path.
//!
//! Where every margin is at most 1 all multipliers are 1 and the answer is closed form,
//! $w = (\bar t - \hat z) / 4 \lambda$; this is checked first, and exact.

use super::certificate::risk_error;
use super::newton::{hessian_factor, project};
use super::quasi_newton::Outcome;
use super::radius::Radius;
use super::{Stop, Task};
use crate::hypothesis::linear::Features;
use crate::linalg::{Cholesky, Matrix, axpy, dot, norm};
use crate::penalty::Variant;

/// Iterations after which the path is given up; it takes ten to thirty.
const PATH_LENGTH: usize = 100;
/// The slack every row starts with: roomy, so that the first steps are long.
const SLACK: f64 = 10.0;
/// Penalties tried for a constraint; it takes about ten.
const RADIUS_STEPS: usize = 100;
/// How close to the boundary a step may go.
const DAMPING: f64 = 0.995;

/// The problem of one query, and room to work on it.
pub(crate) struct Interior<'a> {
    features: &'a Features,
    task: &'a Task,
    weighted: Matrix,
    curvatures: Vec<f64>,
    scratch: Vec<f64>,
}

/// A point: parameters, and for every row (the query last) its margin, slacks and multiplier.
#[derive(Clone)]
struct State {
    theta: Vec<f64>,
    margin: Vec<f64>,
    over: Vec<f64>,
    short: Vec<f64>,
    dual: Vec<f64>,
}

/// Where the path ended, and for which penalty.
struct Answer {
    state: State,
    reg: f64,
    iterations: usize,
    stop: Stop,
}

/// A direction in which to change a [`State`].
struct Step {
    theta: Vec<f64>,
    margin: Vec<f64>,
    over: Vec<f64>,
    short: Vec<f64>,
    dual: Vec<f64>,
}

impl<'a> Interior<'a> {
    pub(crate) fn new(features: &'a Features, task: &'a Task) -> Self {
        let n = features.len();
        Self {
            features,
            task,
            weighted: Matrix::zeros(n, features.width()),
            curvatures: vec![0.0; n],
            scratch: vec![0.0; n],
        }
    }

    /// Solves one query.
    pub(crate) fn solve(&mut self, query: &[f64]) -> Outcome {
        let Answer { state, reg, iterations, stop } = self.answer(query);
        let (n, free) = (self.features.len(), self.features.free);
        let error = self.error(query, &state, reg);
        let mut depth = self.risk(&state);
        if self.task.variant == Variant::Objective {
            depth += reg * dot(&state.theta[free..], &state.theta[free..]);
        }
        let (mut losses, slopes) = self.losses_and_slopes(&state);
        let shifts = self.influence(query, &state, reg);
        let stderr = self.features.standard_error(&mut losses[..n], &slopes, &shifts);
        let stop = if error <= self.task.tol { Stop::Converged } else { stop };
        Outcome { depth, error, stderr, iterations, stop, theta: state.theta }
    }

    /// The influence of every reference row on a query's depth.
    pub(crate) fn explain(&mut self, query: &[f64]) -> Vec<f64> {
        let Answer { state, reg, .. } = self.answer(query);
        let (losses, slopes) = self.losses_and_slopes(&state);
        let shifts = self.influence(query, &state, reg);
        self.features.influence(losses, &slopes, &shifts)
    }

    /// The minimiser in the variant asked for.
    fn answer(&mut self, query: &[f64]) -> Answer {
        match self.task.variant {
            Variant::Constrained { radius } => self.within(query, radius),
            _ => self.minimise(query, self.task.reg),
        }
    }

    /// Follows the penalty until the minimiser reaches the radius, or the penalty no longer matters.
    fn within(&mut self, query: &[f64], radius: f64) -> Answer {
        let free = self.features.free;
        let (mut search, mut reg) = Radius::new(radius, self.task.tol, norm(&query[free..]));
        let mut best = (f64::INFINITY, State::start(self.features), reg);
        let (mut iterations, mut stop) = (0, Stop::Stalled);
        for _ in 0..RADIUS_STEPS {
            let inner = self.minimise(query, reg);
            iterations += inner.iterations;
            let length = norm(&inner.state.theta[free..]);
            // On the sphere, and where it is already inside the ball also as it is.
            let mut pulled = inner.state.clone();
            if length > 0.0 {
                let scale = radius / length * (1.0 - f64::EPSILON);
                pulled.theta[free..].iter_mut().for_each(|w| *w *= scale);
                self.refresh_margins(query, &mut pulled);
            }
            let inside = (length <= radius).then_some(inner.state);
            for state in [pulled].into_iter().chain(inside) {
                let error = self.error(query, &state, reg);
                if error < best.0 {
                    best = (error, state, reg);
                }
            }
            if best.0 <= self.task.tol || length == 0.0 || search.inactive(reg, length) {
                stop = inner.stop;
                break;
            }
            let next = search.next(reg, length);
            if (next - reg).abs() <= 1e-14 * reg {
                break;
            }
            reg = next;
        }
        Answer { state: best.1, reg: best.2, iterations, stop }
    }

    /// For every sample row its loss and weighted slope; on the kink the multiplier is the slope.
    fn losses_and_slopes(&self, state: &State) -> (Vec<f64>, Vec<f64>) {
        let rows = self.features.half_weights.iter().zip(&state.margin).zip(&state.dual);
        rows.map(|((c, m), a)| ((1.0 - m).max(0.0), -c * a.clamp(0.0, 1.0))).unzip()
    }

    fn masses(&self) -> impl Iterator<Item = f64> + '_ {
        self.features.half_weights.iter().copied().chain([0.5])
    }

    fn risk(&self, state: &State) -> f64 {
        self.masses().zip(&state.margin).map(|(c, m)| c * (1.0 - m).max(0.0)).sum()
    }

    /// Follows the central path for one penalty.
    fn minimise(&mut self, query: &[f64], reg: f64) -> Answer {
        if let Some(state) = self.closed_form(query, reg) {
            return Answer { state, reg, iterations: 1, stop: Stop::Converged };
        }
        let mut state = State::start(self.features);
        let (mut best, mut best_error, mut stalls) = (state.clone(), f64::INFINITY, 0);
        let (mut nearest, mut iterations, mut stop) = (f64::INFINITY, 0, Stop::IterationLimit);
        while iterations < PATH_LENGTH.min(self.task.max_iter) {
            let Some(step) = self.direction(query, &state, reg) else {
                stop = Stop::Stalled;
                break;
            };
            iterations += 1;
            state.take(&step, self.step_length(&state, &step));
            if iterations % 8 == 0 {
                self.refresh_margins(query, &mut state);
            }
            let gap = self.gap(query, &state, reg);
            let error = risk_error(gap, reg, norm(&state.theta[self.features.free..]));
            let mu = self.complementarity(&state);
            stalls = if error < 0.95 * best_error || mu < 0.9 * nearest { 0 } else { stalls + 1 };
            nearest = nearest.min(mu);
            if error < best_error {
                best_error = error;
                best.clone_from(&state);
            }
            if error <= self.task.tol || stalls > 12 {
                stop = if error <= self.task.tol { Stop::Converged } else { Stop::Stalled };
                break;
            }
        }
        self.refresh_margins(query, &mut best);
        Answer { state: best, reg, iterations, stop }
    }

    /// All multipliers 1: the answer whenever it leaves every margin at 1 or below.
    fn closed_form(&mut self, query: &[f64], reg: f64) -> Option<State> {
        let (features, free) = (self.features, self.features.free);
        let mut state = State::start(features);
        state.dual.fill(1.0);
        for (j, t) in state.theta.iter_mut().enumerate().skip(free) {
            let mean = if j < features.width() {
                2.0 * dot(features.tall.col(j), &features.half_weights)
            } else {
                0.0
            };
            *t = (mean - query[j]) / (4.0 * reg);
        }
        self.refresh_margins(query, &mut state);
        let n = features.len();
        let largest = state.margin[..n].iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        if free == 1 {
            // Any intercept with max f(xᵢ) ≤ 1 and -f(z) ≤ 1 will do: the middle one.
            let (low, high) = (state.margin[n] - 1.0, 1.0 - largest);
            if low > high {
                return None;
            }
            state.theta[0] = 0.5 * (low + high);
            self.refresh_margins(query, &mut state);
        }
        state.margin.iter().all(|m| *m <= 1.0).then_some(state)
    }

    fn refresh_margins(&mut self, query: &[f64], state: &mut State) {
        let (n, q) = (self.features.len(), self.features.width());
        project(&self.features.tall, &state.theta[..q], &mut state.margin[..n]);
        state.margin[n] = -dot(query, &state.theta);
    }

    /// $\sum_j c_j x_j u_j$ for numbers $x_j$ on the rows.
    fn gather(&mut self, query: &[f64], x: &[f64]) -> Vec<f64> {
        let (n, q) = (self.features.len(), self.features.width());
        for ((s, c), x) in self.scratch.iter_mut().zip(&self.features.half_weights).zip(x) {
            *s = c * x;
        }
        let mut out: Vec<f64> = (0..q).map(|j| dot(self.features.tall.col(j), &self.scratch)).collect();
        out.push(0.0);
        axpy(-0.5 * x[n], query, &mut out);
        out
    }

    /// Half of $\sum_j c_j (a_j s_j + (1 - a_j) \xi_j)$, which goes to 0 along the path.
    fn complementarity(&self, state: &State) -> f64 {
        let product = |j: usize| state.dual[j] * state.over[j] + (1.0 - state.dual[j]) * state.short[j];
        0.5 * self.masses().enumerate().map(|(j, c)| c * product(j)).sum::<f64>()
    }

    /// Predictor and corrector.
    fn direction(&mut self, query: &[f64], state: &State, reg: f64) -> Option<Step> {
        let n = self.features.len();
        let stiffness: Vec<f64> = (0..=n)
            .map(|j| state.over[j] / state.dual[j] + state.short[j] / (1.0 - state.dual[j]))
            .collect();
        for ((h, c), k) in self.curvatures.iter_mut().zip(&self.features.half_weights).zip(&stiffness) {
            *h = c / k;
        }
        let at_query = 0.5 / stiffness[n];
        let factor =
            hessian_factor(self.features, &self.curvatures, query, at_query, reg, &mut self.weighted)?;
        let mu = self.complementarity(state);
        let predictor = self.follow(query, state, reg, &factor, &stiffness, |_| (0.0, 0.0));
        let reach = self.step_length(state, &predictor);
        let after = 0.5
            * self
                .masses()
                .enumerate()
                .map(|(j, c)| {
                    let a = state.dual[j] + reach * predictor.dual[j];
                    let s = state.over[j] + reach * predictor.over[j];
                    let x = state.short[j] + reach * predictor.short[j];
                    c * (a * s + (1.0 - a) * x)
                })
                .sum::<f64>();
        let center = mu * (after / mu).powi(3).clamp(0.0, 1.0);
        let corrector = self.follow(query, state, reg, &factor, &stiffness, |j| {
            let a = predictor.dual[j];
            (center - a * predictor.over[j], center + a * predictor.short[j])
        });
        corrector.theta.iter().all(|x| x.is_finite()).then_some(corrector)
    }

    /// Solves the linearised conditions with the products `aim(j)` for $a_j s_j$ and $(1 - a_j) \xi_j$.
    fn follow(
        &mut self,
        query: &[f64],
        state: &State,
        reg: f64,
        factor: &Cholesky,
        stiffness: &[f64],
        aim: impl Fn(usize) -> (f64, f64),
    ) -> Step {
        let (n, q, free) = (self.features.len(), self.features.width(), self.features.free);
        let State { theta, margin, over, short, dual } = state;
        let products = |j: usize| {
            let (first, second) = aim(j);
            (first - dual[j] * over[j], second - (1.0 - dual[j]) * short[j])
        };
        let wanted: Vec<f64> = (0..=n)
            .map(|j| {
                let (first, second) = products(j);
                let primal = 1.0 - (margin[j] + short[j] - over[j]);
                primal + first / dual[j] - second / (1.0 - dual[j])
            })
            .collect();
        let pull: Vec<f64> = (0..=n).map(|j| dual[j] + wanted[j] / stiffness[j]).collect();
        let mut change = self.gather(query, &pull);
        axpy(-2.0 * reg, &theta[free..], &mut change[free..]);
        factor.solve(&mut change);
        let mut moved = vec![0.0; n + 1];
        project(&self.features.tall, &change[..q], &mut moved[..n]);
        moved[n] = -dot(query, &change);
        let turned: Vec<f64> = (0..=n).map(|j| (wanted[j] - moved[j]) / stiffness[j]).collect();
        let over = (0..=n).map(|j| (products(j).0 - over[j] * turned[j]) / dual[j]).collect();
        let short = (0..=n).map(|j| (products(j).1 + short[j] * turned[j]) / (1.0 - dual[j])).collect();
        Step { theta: change, margin: moved, over, short, dual: turned }
    }

    /// The longest step, up to 1, that keeps everything inside its bounds.
    #[allow(clippy::unused_self)]
    fn step_length(&self, state: &State, step: &Step) -> f64 {
        let mut longest = 1.0 / DAMPING;
        for j in 0..state.dual.len() {
            let mut limit = |x: f64, d: f64| {
                if d < 0.0 {
                    longest = longest.min(-x / d);
                }
            };
            limit(state.dual[j], step.dual[j]);
            limit(1.0 - state.dual[j], -step.dual[j]);
            limit(state.over[j], step.over[j]);
            limit(state.short[j], step.short[j]);
        }
        (DAMPING * longest).min(1.0)
    }

    /// The multipliers made feasible, the Fenchel–Young sum, and $\sum_j c_j a_j u_j$ on the penalised coordinates.
    fn dual_point(&mut self, query: &[f64], state: &State) -> (f64, Vec<f64>) {
        let (n, free) = (self.features.len(), self.features.free);
        let mut dual: Vec<f64> = state.dual.iter().map(|a| a.clamp(0.0, 1.0)).collect();
        if free == 1 {
            dual[n] = (2.0 * dot(&self.features.half_weights, &dual[..n])).clamp(0.0, 1.0);
        }
        let pull = self.gather(query, &dual);
        let fenchel = self
            .masses()
            .zip(&state.margin)
            .zip(&dual)
            .map(|((c, m), a)| c * if *m < 1.0 { (1.0 - m) * (1.0 - a) } else { a * (m - 1.0) })
            .sum();
        (fenchel, pull[free..].to_vec())
    }

    fn gap(&mut self, query: &[f64], state: &State, reg: f64) -> f64 {
        let free = self.features.free;
        let (fenchel, mut pull) = self.dual_point(query, state);
        axpy(-2.0 * reg, &state.theta[free..], &mut pull);
        let length = norm(&pull) + f64::EPSILON * (self.features.reach + norm(query));
        fenchel + length / (4.0 * reg) * length
    }

    /// The proven error of the depth reported.
    fn error(&mut self, query: &[f64], state: &State, reg: f64) -> f64 {
        let w = &state.theta[self.features.free..];
        match self.task.variant {
            Variant::Objective => self.gap(query, state, reg),
            Variant::Risk => risk_error(self.gap(query, state, reg), reg, norm(w)),
            Variant::Constrained { radius } => {
                let (fenchel, pull) = self.dual_point(query, state);
                fenchel
                    + (radius * norm(&pull) - dot(w, &pull)).max(0.0)
                    + radius * f64::EPSILON * (self.features.reach + norm(query))
            }
        }
    }

    /// ⟨tᵢ, q⟩ as in [`newton`](super::newton), with the curvature of the expected loss at the margin
    /// estimated by a Gaussian kernel of Silverman's width, as is usual for support vector machines.
    fn influence(&mut self, query: &[f64], state: &State, reg: f64) -> Vec<f64> {
        let (n, q, free) = (self.features.len(), self.features.width(), self.features.free);
        let mut shifts = vec![0.0; n];
        if self.task.variant != Variant::Risk {
            return shifts;
        }
        let (margins, weights) = (&state.margin[..n], &self.features.half_weights);
        let mean = 2.0 * dot(margins, weights);
        let spread = margins.iter().zip(weights).map(|(m, c)| 2.0 * c * (m - mean) * (m - mean)).sum::<f64>().sqrt();
        let width = 1.06 * spread * self.features.observations().powf(-0.2);
        if width == 0.0 {
            return shifts;
        }
        for ((h, m), c) in self.curvatures.iter_mut().zip(margins).zip(weights) {
            let x = (1.0 - m) / width;
            *h = c * (-0.5 * x * x).exp() / (width * (2.0 * std::f64::consts::PI).sqrt());
        }
        // A query on the kink stays there: its curvature is as good as infinite.
        let kink = (state.margin[n] - 1.0).abs() <= 1e-6;
        let total: f64 = self.curvatures.iter().sum();
        let at_query = if kink { 1e6 * (total + reg) } else { 0.0 };
        let factor =
            hessian_factor(self.features, &self.curvatures, query, at_query, reg, &mut self.weighted);
        let Some(factor) = factor else { return shifts };
        let mut rhs: Vec<f64> = state.theta.iter().map(|w| 2.0 * reg * w).collect();
        rhs[..free].fill(0.0);
        factor.solve(&mut rhs);
        if rhs.iter().all(|x| x.is_finite()) {
            project(&self.features.tall, &rhs[..q], &mut shifts);
        }
        shifts
    }
}

impl State {
    /// The middle of everything.
    fn start(features: &Features) -> Self {
        let rows = features.len() + 1;
        Self {
            theta: vec![0.0; features.query_width()],
            margin: vec![0.0; rows],
            over: vec![SLACK - 1.0; rows],
            short: vec![SLACK; rows],
            dual: vec![0.5; rows],
        }
    }

    fn take(&mut self, step: &Step, length: f64) {
        axpy(length, &step.theta, &mut self.theta);
        axpy(length, &step.margin, &mut self.margin);
        axpy(length, &step.over, &mut self.over);
        axpy(length, &step.short, &mut self.short);
        axpy(length, &step.dual, &mut self.dual);
    }
}
