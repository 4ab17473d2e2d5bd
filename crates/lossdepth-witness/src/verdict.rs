//! Whether an answer of the library is within its own error of the exact depth.

use crate::formulation::Problem;
use crate::real::Real;
use crate::subject::Answer;
use crate::wide::Wide;
use crate::witness::{self, Path, Witness};

/// Below this the witness's own bound counts as nothing, whatever error is reported.
const NOTHING: f64 = 1e-28;

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
    } else if off + bound <= error || bound.to_f64() <= NOTHING {
        Verdict::Holds
    } else {
        Verdict::Undecided
    };
    let off = off.to_f64();
    let ratio = if off <= NOTHING { 0.0 } else { off / answer.error };
    Examined { answer, witness: Some(found), verdict, off, ratio }
}
