//! Whether an answer of the library is within its own error of the exact depth.

use crate::formulation::Problem;
use crate::real::Real;
use crate::subject::Answer;
use crate::wide::Wide;
use crate::witness::{self, Path, Witness};

/// A bound of the witness below this counts as zero, whatever error is reported.
const NEGLIGIBLE: f64 = 1e-30;

/// What became of a problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    /// $|\text{depth} - \text{exact}| \le \text{error}$.
    Holds,
    /// $|\text{depth} - \text{exact}| > \text{error}$, or what is no error at all.
    Violated,
    /// The witness is not sure enough to tell.
    Undecided,
}

/// An answer, the exact depth, and how they compare.
#[derive(Debug, Clone)]
pub(crate) struct Examined {
    pub(crate) answer: Answer,
    pub(crate) witness: Option<Witness>,
    pub(crate) verdict: Verdict,
    /// $|\text{depth} - \text{exact}|$.
    pub(crate) off: f64,
    /// The same over the error.
    pub(crate) ratio: f64,
}

impl Examined {
    /// How the witness came to its value, if it did.
    pub(crate) fn path(&self) -> Option<Path> {
        self.witness.as_ref().map(|witness| witness.path)
    }
}

/// Compares an answer with the exact depth.
pub(crate) fn examine(problem: &Problem, answer: Answer) -> Examined {
    let sound = (0.0..=1.0).contains(&answer.depth) && answer.error >= 0.0 && answer.error.is_finite();
    let witness = witness::exact(problem, if sound { answer.error } else { 1e-10 });
    let unknown =
        |verdict, witness| Examined { answer, witness, verdict, off: f64::NAN, ratio: f64::INFINITY };
    if !sound {
        return unknown(Verdict::Violated, witness);
    }
    let Some(found) = witness else { return unknown(Verdict::Undecided, None) };
    let off = (Wide::from_f64(answer.depth) - found.proven.value).abs();
    let (error, bound) = (Wide::from_f64(answer.error), found.proven.bound);
    let verdict = if off > error + bound {
        Verdict::Violated
    } else if off + bound <= error || bound.to_f64() <= NEGLIGIBLE {
        Verdict::Holds
    } else {
        Verdict::Undecided
    };
    let off = off.to_f64();
    let ratio = if off <= NEGLIGIBLE { 0.0 } else { off / answer.error };
    Examined { answer, witness: Some(found), verdict, off, ratio }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulation::{Intercept, Variant};
    use crate::loss::Loss;

    #[test]
    fn an_error_that_is_too_small_is_found() {
        let problem = Problem {
            rows: vec![vec![0.0], vec![1.0], vec![3.0]],
            weights: None,
            query: vec![2.0],
            loss: Loss::Logistic,
            intercept: Intercept::Free,
            variant: Variant::Risk,
            reg: 0.01,
            tol: 1e-6,
        };
        let depth = witness::exact(&problem, 1e-15).unwrap().proven.value.to_f64();
        for error in [1e-4, 1e-9, 1e-13] {
            let verdict = |off: f64| {
                let answer = Answer { depth: depth + off, error, converged: true, iterations: 1 };
                examine(&problem, answer).verdict
            };
            assert_eq!(verdict(1.01 * error), Verdict::Violated);
            assert_eq!(verdict(-1.01 * error), Verdict::Violated);
            assert_eq!(verdict(0.98 * error), Verdict::Holds);
        }
        for answer in [(f64::NAN, 1e-6), (1.5, 1.0), (0.5, f64::NAN), (0.5, -1.0), (0.5, f64::INFINITY)] {
            let answer = Answer { depth: answer.0, error: answer.1, converged: true, iterations: 1 };
            assert_eq!(examine(&problem, answer).verdict, Verdict::Violated);
        }
    }
}
