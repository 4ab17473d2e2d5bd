//! A query on its way to its mode.

use super::Problem;
use super::basis::{Basis, Place};
use super::solve::Solver;
use crate::numerics::elementary::{exp_neg, ln_1p_unit};
use crate::numerics::linalg::{Cholesky, Matrix, axpy, dot, norm};
use crate::numerics::simd::{sum_of, vectorised};
use crate::problem::Stop;

/// How often what a thin product leaves is looked at before it is left at that.
const SETTLINGS: usize = 4;
/// Earlier right-hand sides that the next one is made of.
const MEMORY: usize = 4;

/// How a query arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    /// The norm of the gradient.
    pub(super) delta: f64,
    /// How far the latent function may be off because the rest is a thin product.
    pub(super) drift: f64,
    pub(super) stop: Stop,
}

/// A query on its way to its mode.
pub(super) struct Walker {
    pub(super) place: Place,
    pub(super) w: Vec<f64>,
    /// What the last accepted step started from.
    pub(super) before: Vec<f64>,
    /// $E \hat\alpha$ and $\hat\alpha$.
    pub(super) rest: Vec<f64>,
    pub(super) carried: Vec<f64>,
    pub(super) f: Vec<f64>,
    pub(super) slopes: Vec<f64>,
    pub(super) curvatures: Vec<f64>,
    losses: Vec<f64>,
    pub(super) at_query: f64,
    pub(super) pull: f64,
    pub(super) bend: f64,
    pub(super) objective: f64,
    pub(super) lowest: f64,
    pub(super) gradient: Vec<f64>,
    pub(super) length: f64,
    pub(super) last_length: f64,
    pub(super) factor: Option<Cholesky>,
    pub(super) halvings: usize,
    /// The gradient's norm at the last product with the rest, and the relaxation.
    pub(super) outer: f64,
    pub(super) relax: f64,
    trials: Vec<Trial>,
    pub(super) iterations: usize,
    pub(super) fresh: bool,
    /// What the part of the rest beyond a thin product adds, and the slopes it was computed for.
    offset: Vec<f64>,
    settled: Vec<f64>,
    pub(super) settlings: usize,
    pub(super) done: Option<Done>,
}

/// A right-hand side $r = E \hat\alpha$ that was tried, and what the map made of it: how $r$ and $\hat\alpha$ would change.
struct Trial {
    rest: Vec<f64>,
    carried: Vec<f64>,
    change: Vec<f64>,
    pull: Vec<f64>,
}

impl Trial {
    /// The next right-hand side after Anderson: the combination of this trial and earlier ones whose change would be least, and a
    /// step along that.
    fn extrapolate(&self, earlier: &[Self], step: f64, rest: &mut [f64], carried: &mut [f64]) {
        axpy(step, &self.change, rest);
        axpy(step, &self.pull, carried);
        let columns: Vec<Vec<f64>> = earlier.iter().map(|t| apart(&self.change, &t.change)).collect();
        let count = columns.len();
        let mut normal =
            Matrix::from_fn(count, count, |i, j| if i >= j { dot(&columns[i], &columns[j]) } else { 0.0 });
        let mut shares: Vec<f64> = columns.iter().map(|c| dot(c, &self.change)).collect();
        if count == 0 {
            return;
        }
        let Some(factor) = Cholesky::damped(&mut normal, 1e-10) else { return };
        factor.solve(&mut shares);
        if !shares.iter().all(|s| s.abs() < 1e2) {
            return;
        }
        let mut take = |share: f64, trial: &Self| {
            axpy(share, &trial.rest, rest);
            axpy(share * step, &trial.change, rest);
            axpy(share, &trial.carried, carried);
            axpy(share * step, &trial.pull, carried);
        };
        take(-shares.iter().sum::<f64>(), self);
        shares.iter().zip(earlier).for_each(|(share, trial)| take(*share, trial));
    }
}

/// $a - b$.
fn apart(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = a.to_vec();
    axpy(-1.0, b, &mut out);
    out
}

impl Walker {
    /// At the beginning: the function 0.
    pub(super) fn new(place: Place) -> Self {
        let (n, m) = (place.own.len(), place.coordinates.len() - 1);
        let thin = !place.completion.is_empty();
        Self {
            place,
            w: vec![0.0; m + 1],
            before: vec![0.0; m + 1],
            rest: vec![0.0; n],
            carried: vec![0.0; n],
            f: vec![0.0; n],
            slopes: vec![0.0; n],
            curvatures: vec![0.0; n],
            losses: vec![0.0; n],
            at_query: 0.0,
            pull: 0.0,
            bend: 0.0,
            objective: f64::INFINITY,
            lowest: f64::INFINITY,
            gradient: vec![0.0; m + 1],
            length: f64::INFINITY,
            last_length: f64::INFINITY,
            factor: None,
            halvings: 0,
            outer: f64::INFINITY,
            relax: 1.0,
            trials: Vec::new(),
            iterations: 0,
            fresh: true,
            offset: if thin { vec![0.0; n] } else { Vec::new() },
            settled: if thin { vec![0.0; n] } else { Vec::new() },
            settlings: 0,
            done: None,
        }
    }

    /// Margins, slopes, curvatures and objective at the current point; `inside` is its part in the shared directions.
    pub(super) fn look(&mut self, inside: &[f64], problem: &Problem<'_>) {
        let own = self.w[self.w.len() - 1];
        let n = inside.len();
        let (rest, side, counts) = (&self.rest[..n], &self.place.own[..n], &problem.counts[..n]);
        let (f, slopes, curvatures) = (&mut self.f[..n], &mut self.slopes[..n], &mut self.curvatures[..n]);
        let losses = &mut self.losses[..n];
        vectorised(
            #[inline(always)]
            || {
                for i in 0..n {
                    let x = own.mul_add(side[i], inside[i]) + rest[i];
                    let e = exp_neg(-x.abs());
                    let wrong = (if x >= 0.0 { e } else { 1.0 }) / (1.0 + e);
                    f[i] = x;
                    slopes[i] = counts[i] * wrong;
                    curvatures[i] = counts[i] * (e / ((1.0 + e) * (1.0 + e)));
                    losses[i] = (-x).max(0.0) + ln_1p_unit(e);
                }
            },
        );
        let sample = dot(counts, losses);
        self.at_query = dot(&self.w, &self.place.coordinates);
        let (z, e) = (self.at_query, (-self.at_query.abs()).exp());
        let right = (if z >= 0.0 { 1.0 } else { e }) / (1.0 + e);
        self.pull = -problem.total * right;
        self.bend = problem.total * e / ((1.0 + e) * (1.0 + e));
        let query = problem.total * (z.max(0.0) + e.ln_1p());
        self.objective = sample + query + 0.5 * dot(&self.w, &self.w);
        self.iterations += 1;
    }

    /// The gradient in the leading directions; `gathered` is the slopes' part in the shared ones.
    pub(super) fn slope(&mut self, gathered: &[f64]) {
        let m = gathered.len();
        self.gradient[..m].iter_mut().zip(gathered).for_each(|(g, x)| *g = -x);
        self.gradient[m] = -dot(&self.place.own, &self.slopes);
        axpy(-self.pull, &self.place.coordinates, &mut self.gradient);
        axpy(1.0, &self.w, &mut self.gradient);
        self.length = norm(&self.gradient);
    }

    /// A Newton step, or half of the last one if that went uphill; false if there is no headway.
    pub(super) fn step(&mut self, solver: &mut Solver<'_>) -> bool {
        let uphill = self.objective > self.lowest + 1e-13 * self.lowest.abs();
        if uphill || !self.objective.is_finite() {
            self.halvings += 1;
            self.w.iter_mut().zip(&self.before).for_each(|(w, b)| *w = 0.5 * (*w + b));
            return self.halvings < 50;
        }
        let level = self.objective >= self.lowest - 1e-13 * self.lowest.abs();
        if self.halvings == 0 && self.length >= self.last_length && level {
            // Rounding: the objective no longer falls and neither does the gradient.
            return false;
        }
        self.halvings = 0;
        self.lowest = self.objective;
        if self.fresh || self.factor.is_none() || self.length > 0.4 * self.last_length {
            let (own, coordinates) = (&self.place.own, &self.place.coordinates);
            self.factor = solver.rough_factor(own, coordinates, &self.curvatures, self.bend);
        }
        self.fresh = false;
        self.last_length = self.length;
        let Some(factor) = &self.factor else { return false };
        let mut direction = self.gradient.clone();
        factor.solve(&mut direction);
        self.before.clone_from(&self.w);
        axpy(-1.0, &direction, &mut self.w);
        true
    }

    /// Completes the product of a thin rest with the current slopes to that of all the rest, as far as it is known.
    fn complete(&self, moved: &mut [f64]) {
        let Place { own, completion, .. } = &self.place;
        axpy(-dot(own, &self.slopes), own, moved);
        if !completion.is_empty() {
            axpy(dot(completion, &self.slopes), completion, moved);
            axpy(1.0, &self.offset, moved);
        }
    }

    /// The certificate, with $E \alpha$ for the current slopes; and the next right-hand side if it is not good enough. True if
    /// what a thin product leaves has to be looked at for that.
    pub(super) fn judge(&mut self, moved: &mut [f64], problem: &Problem<'_>, basis: &Basis) -> bool {
        let (n, has_rest) = (moved.len(), !basis.rest.is_nothing());
        if has_rest {
            self.complete(moved);
        }
        let (rest, slopes, carried) = (&self.rest, &self.slopes, &self.carried);
        let energy =
            if has_rest { sum_of(n, |i| (slopes[i] - carried[i]) * (moved[i] - rest[i])) } else { 0.0 };
        // What rounding leaves below zero is rounding.
        let sizes = if has_rest { f64::EPSILON * dot(slopes, &self.rest).abs() } else { 0.0 };
        let delta = (self.length * self.length + energy.abs() + sizes).sqrt()
            + 4.0 * f64::EPSILON * (norm(&self.w) + self.pull.abs() * norm(&self.place.coordinates));
        let out_of_time = self.iterations >= problem.max_iter;
        let stuck = delta > 0.95 * self.outer;
        if delta <= problem.target
            || out_of_time
            || !has_rest
            || (stuck && self.relax < 0.2)
            || delta.is_nan()
        {
            let stop = if out_of_time { Stop::IterationLimit } else { Stop::Stalled };
            let delta = if delta.is_nan() { f64::INFINITY } else { delta };
            let (drift, rounding) = self.drift(delta, problem, basis);
            let goal = 3.0 * problem.target * basis.largest.sqrt();
            if drift > goal && delta <= problem.target && self.settlings < SETTLINGS {
                return true;
            }
            let drift = drift + rounding;
            let stop = if delta <= problem.target { Stop::Converged } else { stop };
            self.done = Some(Done { delta, drift, stop });
            return false;
        }
        let trial = Trial {
            rest: self.rest.clone(),
            carried: self.carried.clone(),
            change: apart(moved, &self.rest),
            pull: apart(&self.slopes, &self.carried),
        };
        if let Some(last) = self.trials.last() {
            // The map from one right-hand side to the next has derivative −Q with 0 ≤ Q, and how fast changes shrink tells how much
            // to relax: with θ they become 1 − θ(1 + q) of what they were.
            let (before, along) = (dot(&last.change, &last.change), dot(&last.change, &trial.change));
            let q = (1.0 - along / before) / self.relax - 1.0;
            if self.trials.len() == 1 && q > 0.0 && q.is_finite() {
                self.relax = 1.0 / (1.0 + 0.5 * q);
            }
        }
        if stuck {
            self.relax *= 0.5;
            self.trials.clear();
        }
        trial.extrapolate(&self.trials, self.relax, &mut self.rest, &mut self.carried);
        if self.trials.len() == MEMORY {
            self.trials.remove(0);
        }
        self.trials.push(trial);
        self.outer = delta;
        self.restart();
        false
    }

    /// Another problem: its objective and gradient start anew.
    fn restart(&mut self) {
        (self.lowest, self.last_length, self.halvings) = (f64::INFINITY, f64::INFINITY, 0);
    }

    /// How far the latent function may be off because what a thin product leaves, $R$, was looked at for other slopes; and
    /// because of rounding in that.
    ///
    /// $\tilde f = \tilde K \alpha(\tilde f) + R \alpha_0$ instead of $f = (\tilde K + R) \alpha(f)$; so $f - \tilde f = (I + K D)^{-1} e$
    /// with $e = R (\alpha(\tilde f) - \alpha_0)$ and a diagonal $0 \le D \le c / 4$, hence $|f - \tilde f|(x) \le \|e\| (1 + \frac14
    /// \sqrt{c\,k(x, x)})$.
    fn drift(&self, delta: f64, problem: &Problem<'_>, basis: &Basis) -> (f64, f64) {
        let Some(thin) = basis.rest.thin() else { return (0.0, 0.0) };
        let root = basis.largest.sqrt();
        let apart = self.slopes.iter().zip(&self.settled).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let apart = apart + 0.25 * norm(problem.counts) * root * delta;
        let most = problem.counts.iter().fold(0.0f64, |m, c| m.max(*c));
        let far = basis.largest.max(norm(&self.place.coordinates).powi(2)).sqrt();
        let factor = 1.0 + 0.25 * most.sqrt() * far;
        let drift = factor * thin.beyond.norm * apart;
        let drift = if drift.is_nan() { f64::INFINITY } else { drift };
        (drift, factor * thin.beyond.rounding(norm(&self.settled)))
    }

    /// Takes what the part of the rest beyond a thin product makes of the current slopes.
    pub(super) fn settle(&mut self, beyond: &[f64]) {
        let completion = &self.place.completion;
        let along = dot(completion, &self.slopes);
        for i in 0..beyond.len() {
            let offset = beyond[i] - along * completion[i];
            self.rest[i] += offset - self.offset[i];
            self.offset[i] = offset;
        }
        self.settled.clone_from(&self.slopes);
        self.settlings += 1;
        // Changes of the right-hand side before and after do not compare.
        self.trials.clear();
        self.outer = f64::INFINITY;
        self.restart();
    }
}
