//! What is put to the test: the library, through its public interface only. No other file here names it.

use crate::formulation::{Intercept, Problem, Variant};
use crate::loss::Loss;
use lossdepth::loss::{Dual, Exponential, Hinge, Logistic, Smooth, SquaredHinge};
use lossdepth::methods::{Hypothesis, Linear};
use lossdepth::{Depth, Reference, Run, Stop};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the library says about a problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) depth: f64,
    pub(crate) error: f64,
    pub(crate) converged: bool,
    pub(crate) iterations: usize,
}

/// $e^{-3m}$: a loss of a user.
#[derive(Debug, Clone, Copy)]
struct CubedExponential;

impl lossdepth::loss::Loss for CubedExponential {
    fn value(&self, m: f64) -> f64 {
        (-3.0 * m).exp()
    }
    fn grad(&self, m: f64) -> f64 {
        -3.0 * (-3.0 * m).exp()
    }
    fn lipschitz(&self) -> f64 {
        f64::INFINITY
    }
}

impl Smooth for CubedExponential {
    fn hess(&self, m: f64) -> f64 {
        9.0 * (-3.0 * m).exp()
    }
    fn curvature_bound(&self, low: f64, _: f64) -> f64 {
        9.0 * (-3.0 * low).exp()
    }
}

impl Dual for CubedExponential {
    fn conjugate(&self, a: f64) -> f64 {
        let third = a / 3.0;
        if a > 0.0 {
            third * (third.ln() - 1.0)
        } else if a == 0.0 {
            0.0
        } else {
            f64::INFINITY
        }
    }
}

/// The loss of the library's example `own_loss`.
#[derive(Debug, Clone, Copy)]
struct SmoothedHinge;

impl lossdepth::loss::Loss for SmoothedHinge {
    fn value(&self, m: f64) -> f64 {
        if m < 0.0 { 1.0 - 2.0 * m } else { (1.0 - m).max(0.0).powi(2) }
    }
    fn grad(&self, m: f64) -> f64 {
        -2.0 * (1.0 - m).clamp(0.0, 1.0)
    }
    fn lipschitz(&self) -> f64 {
        2.0
    }
}

impl Smooth for SmoothedHinge {
    fn hess(&self, m: f64) -> f64 {
        if (0.0..1.0).contains(&m) { 2.0 } else { 0.0 }
    }
    fn curvature_bound(&self, low: f64, high: f64) -> f64 {
        if high < 0.0 || low > 1.0 { 0.0 } else { 2.0 }
    }
}

impl Dual for SmoothedHinge {
    fn conjugate(&self, a: f64) -> f64 {
        if (0.0..=2.0).contains(&a) { a * (0.25 * a - 1.0) } else { f64::INFINITY }
    }
}

/// The answer of the library. An error of it, or a panic, is returned as text.
pub(crate) fn answer(problem: &Problem) -> Result<Answer, String> {
    let answered = catch_unwind(AssertUnwindSafe(|| match problem.loss {
        Loss::Logistic => score(Logistic, problem),
        Loss::Hinge => score(Hinge, problem),
        Loss::SquaredHinge => score(SquaredHinge, problem),
        Loss::Exponential => score(Exponential, problem),
        Loss::CubedExponential => score(CubedExponential, problem),
        Loss::SmoothedHinge => score(SmoothedHinge, problem),
    }));
    match answered {
        Ok(answer) => answer.map_err(|error| format!("refused: {error}")),
        Err(_) => Err("panicked".into()),
    }
}

fn score<L>(loss: L, problem: &Problem) -> lossdepth::Result<Answer>
where
    L: lossdepth::loss::Loss,
    Linear<L>: Hypothesis,
{
    let intercept = match problem.intercept {
        Intercept::Free => lossdepth::Intercept::Free,
        Intercept::Penalised => lossdepth::Intercept::Penalised,
        Intercept::None => lossdepth::Intercept::None,
    };
    let variant = match problem.variant {
        Variant::Risk => lossdepth::Variant::Risk,
        Variant::Objective => lossdepth::Variant::Objective,
        Variant::Constrained { radius } => lossdepth::Variant::Constrained { radius },
    };
    let sample = match &problem.weights {
        None => Reference::new(problem.rows.as_slice())?,
        Some(weights) => Reference::weighted(problem.rows.as_slice(), weights)?,
    };
    let linear = Linear::new(loss).reg(problem.reg).tol(problem.tol).variant(variant).intercept(intercept);
    let run = Run { threads: Some(1), depths_only: true, ..Run::default() };
    let fits = Depth::new(linear).fit(&sample)?.score_with(std::slice::from_ref(&problem.query), &run)?;
    let fit = fits[0];
    Ok(Answer {
        depth: fit.depth,
        error: fit.error,
        converged: fit.stop == Stop::Converged,
        iterations: fit.iterations,
    })
}
