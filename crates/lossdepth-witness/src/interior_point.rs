//! A primal-dual interior point method (Mehrotra's predictor and corrector) for the piecewise quadratic losses.
//!
//! With slacks $s, \xi \ge 0$ and multipliers $\alpha_j = c_j a_j \in [0, c_j u]$ the margins are
//! $m_j = 1 - q a_j + s_j - \xi_j$, and at the optimum $\alpha_j s_j = 0 = (c_j u - \alpha_j) \xi_j$ and
//! $2 \lambda w = \sum_j \alpha_j g_j$. Under a constraint $\lambda$ is the multiplier of
//! $t = \text{radius}^2 - \|w\|^2 \ge 0$; like the other equations, this one need not hold before the end.

use crate::formulation::Formulation;
use crate::linalg::Symmetric;
use crate::loss::PiecewiseQuadratic;
use crate::real::{Real, dot};
use crate::wide::Wide;

/// How the norm of $w$ is held down.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Penalty<T> {
    /// $\lambda \|w\|^2$ is added.
    Weight(T),
    /// $\|w\|$ is at most this.
    Radius(T),
}

/// A point strictly within all bounds.
#[derive(Debug, Clone)]
pub(crate) struct Iterate<T> {
    pub(crate) theta: Vec<T>,
    /// $\alpha$.
    pub(crate) multipliers: Vec<T>,
    /// $c u - \alpha$; empty where there is no upper bound.
    complement: Vec<T>,
    /// $s$.
    surplus: Vec<T>,
    /// $\xi$; empty where there is no upper bound.
    shortfall: Vec<T>,
    lambda: T,
    /// $t$.
    slack: T,
}

/// A Newton step, for everything in [`Iterate`].
struct Step<T> {
    theta: Vec<T>,
    multipliers: Vec<T>,
    surplus: Vec<T>,
    shortfall: Vec<T>,
    lambda: T,
    slack: T,
}

/// The right-hand side of a Newton system.
struct Targets<T> {
    /// What the products of slacks and multipliers should become, less what they are.
    lower: Vec<T>,
    upper: Vec<T>,
    norm: T,
    /// The residual of $2 \lambda w = \sum_j \alpha_j g_j$.
    gradient: Vec<T>,
    /// The residual of $t = \text{radius}^2 - \|w\|^2$.
    slack_residual: T,
}

/// The matrix of the Newton system at a point, factored, and what its right-hand sides are made of.
struct System<T> {
    factor: Symmetric<T>,
    /// $q / c_j + s_j / \alpha_j + \xi_j / \beta_j$, inverted.
    inverse: Vec<T>,
    margin_residual: Vec<T>,
}

/// The method on one problem.
pub(crate) struct InteriorPoint<'a, T> {
    pub(crate) formulation: &'a Formulation<T>,
    pub(crate) shape: PiecewiseQuadratic,
    pub(crate) penalty: Penalty<T>,
    pub(crate) strategy: Strategy,
}

/// How the central path is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Strategy {
    /// By a predictor and a corrector, which takes few steps.
    Mehrotra,
    /// By short steps that stay close to it, which hardly ever fails.
    Short,
}

impl<T: Real> Iterate<T> {
    /// The same in another precision.
    pub(crate) fn widened(&self) -> Iterate<Wide> {
        let wide = |values: &[T]| values.iter().map(|x| x.to_wide()).collect();
        Iterate {
            theta: wide(&self.theta),
            multipliers: wide(&self.multipliers),
            complement: wide(&self.complement),
            surplus: wide(&self.surplus),
            shortfall: wide(&self.shortfall),
            lambda: self.lambda.to_wide(),
            slack: self.slack.to_wide(),
        }
    }

    fn is_finite(&self) -> bool {
        let vectors = [&self.theta, &self.multipliers, &self.complement, &self.surplus, &self.shortfall];
        self.lambda.is_finite()
            && self.slack.is_finite()
            && vectors.into_iter().flatten().all(|x| x.is_finite())
    }
}

impl<T: Real> InteriorPoint<'_, T> {
    /// A point in the middle of the box, with slacks of this size.
    pub(crate) fn start(&self, size: f64) -> Iterate<T> {
        let f = self.formulation;
        let (n, size) = (f.terms(), T::from_f64(size));
        let half = T::from_f64(0.5);
        let bounded = self.shape.upper.map(|u| T::from_f64(u) * half);
        let multipliers: Vec<T> = f.costs.iter().map(|&c| c * bounded.unwrap_or(T::one())).collect();
        let (complement, shortfall) = match bounded {
            Some(_) => (multipliers.clone(), vec![size; n]),
            None => (Vec::new(), Vec::new()),
        };
        let (lambda, slack) = match self.penalty {
            Penalty::Weight(reg) => (reg, T::zero()),
            Penalty::Radius(radius) => (size / (T::from_f64(n as f64) * radius * radius), radius * radius),
        };
        Iterate {
            theta: vec![T::zero(); f.width],
            multipliers,
            complement,
            surplus: vec![size; n],
            shortfall,
            lambda,
            slack,
        }
    }

    /// The sum of all products of slacks and multipliers, and their number.
    fn complementarity(&self, at: &Iterate<T>) -> (T, f64) {
        let sum = dot(&at.multipliers, &at.surplus) + dot(&at.complement, &at.shortfall);
        let count = at.multipliers.len() + at.complement.len();
        match self.penalty {
            Penalty::Weight(_) => (sum, count as f64),
            Penalty::Radius(_) => (sum + at.lambda * at.slack, (count + 1) as f64),
        }
    }

    fn system(&self, at: &Iterate<T>) -> System<T> {
        let f = self.formulation;
        let (q, twice) = (T::from_f64(self.shape.curvature), at.lambda + at.lambda);
        let mut matrix = Symmetric::zero(f.width);
        let mut margin_residual = f.margins(&at.theta);
        let mut inverse = Vec::with_capacity(f.terms());
        for j in 0..f.terms() {
            let (a, s) = (at.multipliers[j], at.surplus[j]);
            let bend = q / f.costs[j];
            let mut total = bend + s / a;
            margin_residual[j] = margin_residual[j] - T::one() + bend * a - s;
            if !at.complement.is_empty() {
                total += at.shortfall[j] / at.complement[j];
                margin_residual[j] += at.shortfall[j];
            }
            inverse.push(T::one() / total);
            matrix.add_outer(inverse[j], f.feature(j));
        }
        for k in 0..f.penalised {
            matrix.add_diagonal(k, twice);
        }
        if let Penalty::Radius(_) = self.penalty {
            matrix.add_outer(T::from_f64(4.0) * at.lambda / at.slack, &at.theta[..f.penalised]);
        }
        matrix.factor();
        System { factor: matrix, inverse, margin_residual }
    }

    /// The right-hand side that leads to the optimum itself.
    fn affine_targets(&self, at: &Iterate<T>) -> Targets<T> {
        let f = self.formulation;
        let product = |a: &[T], b: &[T]| a.iter().zip(b).map(|(&a, &b)| -(a * b)).collect();
        let mut gradient = f.combine(&at.multipliers);
        for (k, g) in gradient.iter_mut().enumerate() {
            *g = if k < f.penalised { (at.lambda + at.lambda) * at.theta[k] - *g } else { -*g };
        }
        let slack_residual = match self.penalty {
            Penalty::Weight(_) => T::zero(),
            Penalty::Radius(radius) => at.slack + f.squared_norm(&at.theta) - radius * radius,
        };
        Targets {
            lower: product(&at.multipliers, &at.surplus),
            upper: product(&at.complement, &at.shortfall),
            norm: -(at.lambda * at.slack),
            gradient,
            slack_residual,
        }
    }

    /// The right-hand side that leads to products of the size `goal`; with the terms of second order of a predictor.
    fn corrected_targets(&self, affine: Targets<T>, goal: T, predictor: Option<&Step<T>>) -> Targets<T> {
        let mut targets = affine;
        for t in targets.lower.iter_mut().chain(&mut targets.upper) {
            *t += goal;
        }
        targets.norm += goal;
        let Some(step) = predictor else { return targets };
        for (t, (&a, &s)) in targets.lower.iter_mut().zip(step.multipliers.iter().zip(&step.surplus)) {
            *t -= a * s;
        }
        for (t, (&a, &s)) in targets.upper.iter_mut().zip(step.multipliers.iter().zip(&step.shortfall)) {
            *t += a * s;
        }
        if let Penalty::Radius(_) = self.penalty {
            let f = self.formulation;
            targets.norm -= step.lambda * step.slack;
            targets.slack_residual += f.squared_norm(&step.theta);
            for k in 0..f.penalised {
                targets.gradient[k] += (step.lambda + step.lambda) * step.theta[k];
            }
        }
        targets
    }

    fn step(&self, at: &Iterate<T>, system: &System<T>, targets: &Targets<T>) -> Step<T> {
        let f = self.formulation;
        let rhs: Vec<T> = (0..f.terms())
            .map(|j| {
                let mut h = targets.lower[j] / at.multipliers[j] - system.margin_residual[j];
                if !at.complement.is_empty() {
                    h -= targets.upper[j] / at.complement[j];
                }
                h
            })
            .collect();
        let scaled: Vec<T> = rhs.iter().zip(&system.inverse).map(|(&h, &i)| h * i).collect();
        let mut theta = f.combine(&scaled);
        for (t, &g) in theta.iter_mut().zip(&targets.gradient) {
            *t -= g;
        }
        if let Penalty::Radius(_) = self.penalty {
            let half = (targets.norm + at.lambda * targets.slack_residual) / at.slack;
            let share = half + half;
            for (t, &w) in theta.iter_mut().zip(&at.theta[..f.penalised]) {
                *t -= share * w;
            }
        }
        system.factor.solve(&mut theta);
        let change = f.margins(&theta);
        let multipliers: Vec<T> = (0..f.terms()).map(|j| (rhs[j] - change[j]) * system.inverse[j]).collect();
        let surplus = (0..f.terms())
            .map(|j| (targets.lower[j] - at.surplus[j] * multipliers[j]) / at.multipliers[j])
            .collect();
        let shortfall = (0..at.complement.len())
            .map(|j| (targets.upper[j] + at.shortfall[j] * multipliers[j]) / at.complement[j])
            .collect();
        let (lambda, slack) = match self.penalty {
            Penalty::Weight(_) => (T::zero(), T::zero()),
            Penalty::Radius(_) => {
                let along = dot(&at.theta[..f.penalised], &theta[..f.penalised]);
                let slack = -(targets.slack_residual + along + along);
                ((targets.norm - at.lambda * slack) / at.slack, slack)
            }
        };
        Step { theta, multipliers, surplus, shortfall, lambda, slack }
    }

    /// The longest step, at most one, that leaves this share of every slack and multiplier.
    fn longest(&self, at: &Iterate<T>, step: &Step<T>, keep: f64) -> T {
        let mut longest = T::one();
        let share = T::from_f64(1.0 - keep);
        let mut limit = |value: T, change: T| {
            if change < T::zero() {
                longest = longest.min(-(share * value) / change);
            }
        };
        for j in 0..at.multipliers.len() {
            limit(at.multipliers[j], step.multipliers[j]);
            limit(at.surplus[j], step.surplus[j]);
        }
        for j in 0..at.complement.len() {
            limit(at.complement[j], -step.multipliers[j]);
            limit(at.shortfall[j], step.shortfall[j]);
        }
        if let Penalty::Radius(_) = self.penalty {
            limit(at.lambda, step.lambda);
            limit(at.slack, step.slack);
        }
        longest
    }

    fn moved(at: &Iterate<T>, step: &Step<T>, length: T) -> Iterate<T> {
        let along = |values: &[T], changes: &[T]| -> Vec<T> {
            values.iter().zip(changes).map(|(&x, &d)| x + length * d).collect()
        };
        let complement = at.complement.iter().zip(&step.multipliers).map(|(&x, &d)| x - length * d).collect();
        Iterate {
            theta: along(&at.theta, &step.theta),
            multipliers: along(&at.multipliers, &step.multipliers),
            complement,
            surplus: along(&at.surplus, &step.surplus),
            shortfall: along(&at.shortfall, &step.shortfall),
            lambda: at.lambda + length * step.lambda,
            slack: at.slack + length * step.slack,
        }
    }

    /// Improves a point until the complementarity is below `target` or nothing is gained any more.
    pub(crate) fn improve(&self, mut at: Iterate<T>, target: f64, most: usize) -> Iterate<T> {
        let (mut best, mut stalled, mut length) = (f64::INFINITY, 0, 1.0);
        for _ in 0..most {
            let (sum, count) = self.complementarity(&at);
            let (mean, complementarity) = (sum / T::from_f64(count), sum.to_f64());
            if complementarity < 0.7 * best {
                (best, stalled) = (complementarity, 0);
            } else {
                stalled += 1;
            }
            if complementarity <= target || stalled > 30 {
                break;
            }
            let system = self.system(&at);
            let short = matches!(self.strategy, Strategy::Short);
            let step = if short || length < 0.1 {
                // After a step that ended at a bound: towards the central path first.
                let goal = T::from_f64(if length < 0.1 { 0.8 } else { 0.3 }) * mean;
                self.step(&at, &system, &self.corrected_targets(self.affine_targets(&at), goal, None))
            } else {
                let affine = self.affine_targets(&at);
                let predictor = self.step(&at, &system, &affine);
                let predicted = Self::moved(&at, &predictor, self.longest(&at, &predictor, 0.0));
                let ratio = (self.complementarity(&predicted).0 / sum).to_f64().clamp(0.0, 1.0);
                let goal = T::from_f64((ratio * ratio * ratio).max(1e-12)) * mean;
                self.step(&at, &system, &self.corrected_targets(affine, goal, Some(&predictor)))
            };
            let keep = if short { 0.2 } else { mean.to_f64().clamp(1e-10, 0.005) };
            let longest = self.longest(&at, &step, keep);
            length = longest.to_f64();
            let next = Self::moved(&at, &step, longest);
            if !next.is_finite() {
                break;
            }
            at = next;
        }
        at
    }
}
