//! What depths are used for: detection rates, p-values, false discovery rates, central regions, comparing two samples.

pub mod central;
pub mod conformal;
pub mod evaluation;
pub mod two_sample;
