//! From a point to a proven bound on how far it is from the optimum.

pub(crate) mod double_double_residual;
pub(crate) mod gap;
