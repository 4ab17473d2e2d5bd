//! Arithmetic that the rest is built on: matrices, vector instructions, double-double numbers, special functions, random numbers.

pub(crate) mod double_double;
pub(crate) mod elementary;
pub(crate) mod linalg;
pub(crate) mod random;
pub(crate) mod simd;
pub(crate) mod special;

pub use random::Random;
