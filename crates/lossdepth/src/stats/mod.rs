//! What depths are used for: detection rates, p-values and false discovery rates, comparing two samples.

pub mod conformal;
pub mod evaluation;
pub mod two_sample;
