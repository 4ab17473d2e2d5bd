//! What depths are used for: detection rates, p-values and false discovery rates.

pub mod conformal;
pub mod evaluation;
