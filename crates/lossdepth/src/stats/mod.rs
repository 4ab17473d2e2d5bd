//! What depths are used for: detection rates, p-values, false discovery rates, central points and regions.

pub mod central;
pub mod conformal;
pub mod evaluation;
