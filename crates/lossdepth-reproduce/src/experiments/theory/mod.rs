//! The propositions of the paper, tested on random problems (sections 3 to 5).

mod bounded;
mod convex;
mod lipschitz;
mod rates;

use crate::error::Result;
use crate::report::Report;
use crate::session::Session;

const NAME: &str = "theory";

pub(super) fn run(session: &Session<'_>) -> Result<Report> {
    let mut report = Report::new("Theory: the propositions, tried");
    report.text(
        "What the paper proves about loss depths, on problems drawn at random: the ranges, the shapes of the level sets, how steep \
         a depth is, and how fast the depth in a sample comes close to that in its distribution. Every depth here comes with a \
         proven error, so that a violation is one only if it exceeds that. Losses have ℓ(0) = 1 (the logistic loss in bits): the \
         range [0, 1] of the paper needs it, and its proofs with natural logarithms change by a factor of 1 / ln 2.",
    );
    bounded::run(session, &mut report)?;
    convex::run(session, &mut report)?;
    lipschitz::run(session, &mut report)?;
    rates::run(session, &mut report)?;
    Ok(report)
}
