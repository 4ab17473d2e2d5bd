//! What the solvers need of a number type: [`DoubleDouble`](crate::double_double::DoubleDouble) for speed,
//! [`Wide`] for the proof.

use crate::wide::Wide;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A real number of extended precision.
pub(crate) trait Real:
    Copy
    + Debug
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// The unit roundoff of the type, with room to spare.
    const EPSILON: f64;
    /// A Newton decrement, or the complementarity of an interior point method, at which a solver may stop.
    const TARGET: f64;
    /// How many Newton steps in a row may fail to halve the decrement (heuristic). Far from the optimum it may rise from
    /// step to step; a small number is for a type in which rounding may keep it above [`TARGET`](Self::TARGET).
    const STALLS: usize;

    /// The same number.
    fn from_f64(x: f64) -> Self;
    /// The nearest double, up to its last bit.
    fn to_f64(self) -> f64;
    /// The same number up to the roundoff of the type.
    fn from_wide(x: Wide) -> Self;
    /// The same number.
    fn to_wide(self) -> Wide;
    /// The square root of a number that is not negative.
    fn sqrt(self) -> Self;
    /// $e^x$.
    fn exp(self) -> Self;
    /// $1 / \ln 2$.
    fn log2_e() -> Self;
    /// Whether it is a number, and a finite one.
    fn is_finite(self) -> bool;

    /// 0.
    fn zero() -> Self {
        Self::from_f64(0.0)
    }
    /// 1.
    fn one() -> Self {
        Self::from_f64(1.0)
    }
    /// The absolute value.
    fn abs(self) -> Self {
        if self < Self::zero() { -self } else { self }
    }
    /// The larger of two.
    fn max(self, other: Self) -> Self {
        if self < other { other } else { self }
    }
    /// The smaller of two.
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

/// $\sum_k a_k b_k$.
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |sum, (&x, &y)| sum + x * y)
}
