//! The value that the scripts behind the paper's tables print, from the solution of the regularised problem.
//!
//! They divide the sample's part by $n$ twice and use natural logarithms. The solver does not depend on it: it finds the minimiser
//! of the risk with its penalty to a gap that is small enough for this combination of the two parts.

use crate::loss::{Logistic, Loss, Smooth};
use crate::problem::{Fit, Functional, Outcome, Reported};
use std::f64::consts::LN_2;

/// The factors of both parts of the risk, for a sample with this many rows.
pub(super) fn functional(value: Reported, rows: f64) -> Functional {
    // Losses come in bits.
    let [sample, query] = value.shares(LN_2, rows).map(|share| 2.0 * share);
    Functional { sample, query }
}

/// The duality gap to ask for: the query's loss is off by up to about its root, times $|\ell'| / \sqrt{\ell''}$, which is
/// between 0 and 2 for a query that is not deep on the wrong side; and it must be well below $\ell''$, which is small for a query
/// that is separated well (heuristic; the error is computed from the gap reached).
pub(super) fn gap_tol(value: Reported, tol: f64) -> f64 {
    match value {
        Reported::Risk => f64::INFINITY,
        Reported::PaperCode => (0.1 * tol * tol).min(1e-9),
    }
}

/// The combination of both parts, with its error.
pub(super) fn fit(outcome: &Outcome, functional: Functional, tol: f64) -> Fit {
    let fit = outcome.fit();
    if functional == Functional::RISK {
        return fit;
    }
    let at_query = 0.5 * Logistic.value(-outcome.value);
    let sample = (outcome.depth - at_query).max(0.0);
    let off = query_error(outcome);
    let Functional { sample: of_sample, query: of_query } = functional;
    let depth = of_sample * sample + of_query * at_query;
    // What the risk is off by beyond the query's loss, the sample's may be off by.
    let error = of_sample * (outcome.error + off) + of_query * off + 16.0 * f64::EPSILON * depth;
    Fit { depth: depth.clamp(0.0, 1.0), error, stop: outcome.stop.for_error(error, tol), ..fit }
}

/// A bound on the error of half of the query's loss.
///
/// The objective exceeds its minimum by the Bregman divergences of all its terms, that of the query's loss among them:
/// $\frac12 D(m, m^*) \le \text{gap}$ for its margin $m$. The logistic loss has $|\ell^{(3)}| \le \ell''$, so that
/// $D(m, m^*) \ge \ell''(m) (1 - e^{-h} (1 + h))$ with $h = |m - m^*|$, which bounds $h$.
fn query_error(outcome: &Outcome) -> f64 {
    let margin = -outcome.value;
    let now = Logistic.value(margin);
    // At the minimum half of the loss is at most the risk, which is at most 1.
    let most = f64::max(1.0, 0.5 * now);
    let ratio = 2.0 * outcome.gap / Logistic.hess(margin);
    if ratio.is_nan() || ratio >= 0.9 {
        return most;
    }
    // The computed margin is off by rounding, which the error of the risk bounds in the loss.
    (0.5 * (Logistic.value(margin - margin_change(ratio)) - now) + outcome.error).min(most)
}

/// An $h$ with $1 - e^{-h} (1 + h) \ge$ `ratio`, which is below 1.
fn margin_change(ratio: f64) -> f64 {
    let start = (2.0 * ratio).sqrt();
    if start < 0.1 {
        return start * (1.0 + 0.5 * start);
    }
    let mut h = start;
    while 1.0 - (-h).exp() * (1.0 + h) < ratio {
        h *= 1.1;
    }
    h
}
