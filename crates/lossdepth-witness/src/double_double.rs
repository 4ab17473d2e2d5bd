//! A number as the unevaluated sum of two doubles: about 31 digits, at the range of a double.
//!
//! The error-free transformations are those of Dekker (1971) and Knuth; see Hida, Li & Bailey, "Algorithms for
//! quad-double precision floating point arithmetic" (2001). Only the solvers use it: nothing is proven with it.

use crate::real::Real;
use crate::wide::Wide;
use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// `hi + lo`, where `hi` is the sum rounded to a double.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DoubleDouble {
    hi: f64,
    lo: f64,
}

/// $\ln 2$.
const LN_2: DoubleDouble = DoubleDouble { hi: std::f64::consts::LN_2, lo: 2.319_046_813_846_299_6e-17 };

/// $1 / \ln 2$.
const LOG2_E: DoubleDouble = DoubleDouble { hi: std::f64::consts::LOG2_E, lo: 2.035_527_374_093_103_3e-17 };

/// `a + b` and its rounding error, for $|a| \ge |b|$.
#[inline]
fn fast_two_sum(a: f64, b: f64) -> DoubleDouble {
    let hi = a + b;
    DoubleDouble { hi, lo: b - (hi - a) }
}

/// `a + b` and its rounding error.
#[inline]
fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let hi = a + b;
    let part = hi - a;
    DoubleDouble { hi, lo: (a - (hi - part)) + (b - part) }
}

/// A double as the sum of two of 26 bits.
#[inline]
fn split(a: f64) -> (f64, f64) {
    let t = 134_217_729.0 * a;
    let hi = t - (t - a);
    (hi, a - hi)
}

/// `a * b` and its rounding error. (`mul_add` would be a function call where the target has no such instruction.)
#[inline]
fn two_product(a: f64, b: f64) -> DoubleDouble {
    let hi = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    DoubleDouble { hi, lo: ((ah * bh - hi) + ah * bl + al * bh) + al * bl }
}

impl DoubleDouble {
    /// $a - b$ without any error.
    #[cfg(test)]
    fn difference(a: f64, b: f64) -> Self {
        two_sum(a, -b)
    }

    /// $2^k$ times the number.
    fn scaled(self, k: i32) -> Self {
        // In two steps: a power of two that is too large or too small for a double may lead to a number that is not.
        let (a, b) = (2f64.powi(k / 2), 2f64.powi(k - k / 2));
        Self { hi: self.hi * a * b, lo: self.lo * a * b }
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let (s, t) = (two_sum(self.hi, other.hi), two_sum(self.lo, other.lo));
        let s = fast_two_sum(s.hi, s.lo + t.hi);
        fast_two_sum(s.hi, s.lo + t.lo)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let p = two_product(self.hi, other.hi);
        fast_two_sum(p.hi, p.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let times = |q: f64| other * Self { hi: q, lo: 0.0 };
        let q0 = self.hi / other.hi;
        let rest = self - times(q0);
        let q1 = rest.hi / other.hi;
        let q2 = (rest - times(q1)).hi / other.hi;
        fast_two_sum(q0, q1) + Self { hi: q2, lo: 0.0 }
    }
}

impl AddAssign for DoubleDouble {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for DoubleDouble {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl PartialOrd for DoubleDouble {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.hi.partial_cmp(&other.hi) {
            Some(Ordering::Equal) => self.lo.partial_cmp(&other.lo),
            order => order,
        }
    }
}

impl Real for DoubleDouble {
    const EPSILON: f64 = 1e-31;
    const TARGET: f64 = 1e-42;
    const STALLS: usize = 12;

    #[inline]
    fn from_f64(x: f64) -> Self {
        Self { hi: x, lo: 0.0 }
    }
    #[inline]
    fn to_f64(self) -> f64 {
        self.hi
    }
    fn from_wide(x: Wide) -> Self {
        let hi = x.to_f64();
        if !hi.is_finite() {
            return Self { hi, lo: 0.0 };
        }
        fast_two_sum(hi, (x - Wide::from_f64(hi)).to_f64())
    }
    fn to_wide(self) -> Wide {
        Wide::from_f64(self.hi) + Wide::from_f64(self.lo)
    }
    fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Self::zero();
        }
        // One Newton step from the root of the leading part.
        let root = Self { hi: self.hi.sqrt(), lo: 0.0 };
        root + (self - root * root) / (root + root)
    }
    fn exp(self) -> Self {
        if self.hi > 700.0 {
            return Self { hi: f64::INFINITY, lo: 0.0 };
        }
        if self.hi < -700.0 {
            return Self::zero();
        }
        // e^x = 2^k (e^r)^512 with |r| <= ln(2)/1024, by the Taylor series of e^r - 1.
        let k = (self.hi / LN_2.hi).round();
        let r = (self - LN_2 * Self { hi: k, lo: 0.0 }).scaled(-9);
        let (mut term, mut sum) = (r, r);
        for i in 2..=10 {
            term = term * r / Self::from_f64(f64::from(i));
            sum += term;
        }
        for _ in 0..9 {
            sum = sum + sum + sum * sum;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 1011")]
        (sum + Self::one()).scaled(k as i32)
    }
    #[inline]
    fn log2_e() -> Self {
        LOG2_E
    }
    #[inline]
    fn is_finite(self) -> bool {
        self.hi.is_finite() && self.lo.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(x: f64) -> DoubleDouble {
        DoubleDouble::from_f64(x)
    }

    fn close(a: DoubleDouble, b: DoubleDouble) -> bool {
        (a - b).abs().to_f64() <= DoubleDouble::EPSILON * b.abs().to_f64()
    }

    #[test]
    fn sums_and_products_of_doubles_are_exact() {
        // (1 + 2^-52)(1 - 2^-52) = 1 - 2^-104 needs 105 bits.
        let e = f64::EPSILON;
        let product = number(1.0 + e) * number(1.0 - e);
        assert_eq!((product - number(1.0)).to_f64(), -e * e);
        let (large, small) = (number(2f64.powi(50)), number(2f64.powi(-50)));
        assert_eq!(large + number(1.0) + small - large - number(1.0), small);
        assert_eq!((DoubleDouble::difference(1e8, 1e-9) - number(1e8)).to_f64(), -1e-9);
    }

    #[test]
    fn quotients_and_roots_are_inverse_to_products() {
        for i in 1..100 {
            let (a, b) = (number(f64::from(i)) / number(7.0), number(f64::from(101 - i)) / number(3.0));
            assert!(close(a / b * b, a));
            assert!(close(a.sqrt() * a.sqrt(), a));
        }
    }

    #[test]
    fn exponentials_multiply_where_arguments_add() {
        for i in -40..40 {
            let (a, b) = (number(f64::from(i)) / number(3.0), number(f64::from(i * i)) / number(-77.0));
            // The condition of an exponential is its argument.
            let (product, whole) = (a.exp() * b.exp(), (a + b).exp());
            assert!((product / whole - number(1.0)).abs().to_f64() < 100.0 * DoubleDouble::EPSILON, "{i}");
        }
        assert_eq!(number(0.0).exp(), number(1.0));
        assert!(close(LN_2.exp(), number(2.0)) && close(LN_2 * LOG2_E, number(1.0)));
    }

    #[test]
    fn agrees_with_wide() {
        for i in 1..60 {
            let x = number(f64::from(i)) / number(11.0);
            let wide = x.to_wide();
            assert!(close(DoubleDouble::from_wide(wide), x));
            for (narrow, wide) in [
                (x.exp(), wide.exp()),
                (x.sqrt(), wide.sqrt()),
                (x / number(3.0), wide / Wide::from_f64(3.0)),
            ] {
                let relative = ((narrow.to_wide() - wide) / wide).abs().to_f64();
                assert!(relative < DoubleDouble::EPSILON, "{i}: {relative:e}");
            }
        }
    }
}
