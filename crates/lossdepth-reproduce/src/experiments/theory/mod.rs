//! The propositions of the paper in pictures and numbers (sections 3 to 5).

mod bounded;
mod convex;
mod lipschitz;
mod rates;

use super::report::{Report, Table};
use super::sketch;
use super::workshop::Workshop;
use crate::error::Result;

const NAME: &str = "theory";

pub(crate) fn run(shop: &Workshop) -> Result<Report> {
    let mut report = Report::new("Theory: the propositions, tried");
    report.text(
        "What the paper proves about loss depths, on problems drawn at random: the ranges, the shapes of the level sets, how steep \
         a depth is, and how fast the depth in a sample comes close to that in its distribution. Every depth here comes with a \
         proven error, so that a violation is one only if it exceeds that. Losses have ℓ(0) = 1 (the logistic loss in bits): the \
         range [0, 1] of the paper needs it, and its proofs with natural logarithms change by a factor of 1 / ln 2.",
    );
    bounded::run(shop, &mut report)?;
    convex::run(shop, &mut report)?;
    lipschitz::run(shop, &mut report)?;
    rates::run(shop, &mut report)?;
    Ok(report)
}
