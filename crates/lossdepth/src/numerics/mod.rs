//! Arithmetic that the rest is built on: matrices, vector instructions, double-double numbers, special functions, random numbers.

pub(crate) mod double_double;
pub(crate) mod elementary;
pub(crate) mod linalg;
pub(crate) mod random;
pub(crate) mod simd;
pub(crate) mod special;

pub use random::Random;

/// The whole part of a number, 0 below 0 and for NaN; what is too large becomes the largest integer.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "that is what it is for")]
#[inline]
pub(crate) fn whole_part(x: f64) -> u64 {
    x as u64
}

/// [`whole_part`] as an index or a count.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "that is what it is for")]
#[inline]
pub(crate) fn whole_count(x: f64) -> usize {
    x as usize
}
