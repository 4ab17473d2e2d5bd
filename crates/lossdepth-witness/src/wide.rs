//! Binary floating point with a significand of 256 bits (77 digits) and an exponent that does not overflow here.
//!
//! Sums and products are truncated, so that a result is off by less than $2^{-254}$ of itself; quotients, roots,
//! exponentials and logarithms are off by less than [`Wide::EPSILON`]. All of the proof is done in this type.

use crate::real::Real;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use std::sync::LazyLock;

/// Limbs of the significand, the least significant one first.
const LIMBS: usize = 4;
/// Bits of the significand.
const BITS: i64 = 256;

/// $\pm s \cdot 2^{e - 256}$, where the highest bit of the significand $s$ is set, or zero.
#[derive(Clone, Copy)]
pub(crate) struct Wide {
    negative: bool,
    exponent: i64,
    significand: [u64; LIMBS],
}

impl Wide {
    const ZERO: Self = Self { negative: false, exponent: 0, significand: [0; LIMBS] };

    fn is_zero(self) -> bool {
        self.significand[LIMBS - 1] == 0
    }

    /// $2^k$ times the number, without any error.
    fn scaled(mut self, k: i64) -> Self {
        if !self.is_zero() {
            self.exponent += k;
        }
        self
    }

    /// Compares absolute values.
    fn compare_magnitude(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self
                .exponent
                .cmp(&other.exponent)
                .then_with(|| self.significand.iter().rev().cmp(other.significand.iter().rev())),
        }
    }

    /// The significand with a limb of guard bits below, shifted right.
    fn shifted(&self, by: u64) -> [u64; LIMBS + 1] {
        let mut out = [0; LIMBS + 1];
        let (limbs, bits) = (usize::try_from(by / 64).unwrap_or(LIMBS + 1), by % 64);
        for i in 0..=LIMBS {
            // Limb i of the result starts at limb i + limbs of the source (which has the guard limb as limb 0).
            let limb = |k: usize| if (1..=LIMBS).contains(&k) { self.significand[k - 1] } else { 0 };
            let low = limb(i + limbs);
            out[i] = if bits == 0 { low } else { low >> bits | limb(i + limbs + 1) << (64 - bits) };
        }
        out
    }

    /// From a significand with guard bits whose highest bit may not be set.
    fn normalised(negative: bool, exponent: i64, digits: [u64; LIMBS + 1]) -> Self {
        let Some(top) = (0..=LIMBS).rev().find(|&i| digits[i] != 0) else { return Self::ZERO };
        let zeros = digits[top].leading_zeros();
        let mut significand = [0; LIMBS];
        for i in 0..LIMBS {
            // Limb LIMBS - 1 - i of the result comes from limbs top - i and top - i - 1.
            let limb = |back: usize| if back <= top { digits[top - back] } else { 0 };
            let high = limb(i) << zeros;
            significand[LIMBS - 1 - i] = if zeros == 0 { high } else { high | limb(i + 1) >> (64 - zeros) };
        }
        let lost = 64 * i64::try_from(LIMBS - top).unwrap_or(0) + i64::from(zeros);
        Self { negative, exponent: exponent - lost, significand }
    }

    /// Adds absolute values, of which the first is not the smaller.
    fn add_magnitudes(negative: bool, large: &Self, small: &Self) -> Self {
        let shift = large.exponent.abs_diff(small.exponent);
        if small.is_zero() || shift > BITS.unsigned_abs() {
            return Self { negative, ..*large };
        }
        let (mut digits, other) = (large.shifted(0), small.shifted(shift));
        let mut carry = false;
        for (a, b) in digits.iter_mut().zip(other) {
            let (sum, first) = a.overflowing_add(b);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*a, carry) = (sum, first || second);
        }
        if !carry {
            return Self::normalised(negative, large.exponent, digits);
        }
        let mut significand = [0; LIMBS];
        for i in 0..LIMBS {
            let above = if i + 2 <= LIMBS { digits[i + 2] } else { 1 };
            significand[i] = digits[i + 1] >> 1 | above << 63;
        }
        Self { negative, exponent: large.exponent + 1, significand }
    }

    /// Subtracts absolute values, of which the first is not the smaller.
    fn subtract_magnitudes(negative: bool, large: &Self, small: &Self) -> Self {
        let shift = large.exponent.abs_diff(small.exponent);
        if small.is_zero() || shift > BITS.unsigned_abs() + 1 {
            return Self { negative, ..*large };
        }
        let (mut digits, other) = (large.shifted(0), small.shifted(shift));
        let mut borrow = false;
        for (a, b) in digits.iter_mut().zip(other) {
            let (rest, first) = a.overflowing_sub(b);
            let (rest, second) = rest.overflowing_sub(u64::from(borrow));
            (*a, borrow) = (rest, first || second);
        }
        Self::normalised(negative, large.exponent, digits)
    }

    /// $1/x$ by Newton's iteration from a double.
    fn reciprocal(self) -> Self {
        let unit = Self { exponent: 0, ..self };
        let mut inverse = Self::from_f64(1.0 / unit.to_f64());
        for _ in 0..3 {
            inverse += inverse * (Self::one() - unit * inverse);
        }
        inverse.scaled(-self.exponent)
    }

    /// $\ln x$ for $x > 0$.
    pub(crate) fn ln(self) -> Self {
        // x = u 2^e with u in [1/2, 1); Halley's iteration on e^y = u from a double.
        let unit = Self { exponent: 0, ..self };
        let mut y = Self::from_f64(unit.to_f64().ln());
        for _ in 0..2 {
            let e = y.exp();
            y += (unit - e).scaled(1) / (unit + e);
        }
        #[expect(clippy::cast_precision_loss, reason = "exponents are far below 2^53")]
        let exponent = Self::from_f64(self.exponent as f64);
        y + exponent * *LN_2
    }

    /// The number with so many decimal digits, in scientific notation.
    pub(crate) fn decimal(self, digits: usize) -> String {
        if self.is_zero() {
            return "0".into();
        }
        let (ten, tenth) = (Self::from_f64(10.0), Self::one() / Self::from_f64(10.0));
        let (mut rest, mut power) = (self.abs(), 0i64);
        while rest >= ten {
            (rest, power) = (rest * tenth, power + 1);
        }
        while rest < Self::one() {
            (rest, power) = (rest * ten, power - 1);
        }
        let mut text = String::from(if self.negative { "-" } else { "" });
        for i in 0..digits {
            let digit = rest.to_f64().floor().clamp(0.0, 9.0);
            text += &digit.to_string();
            if i == 0 {
                text.push('.');
            }
            rest = (rest - Self::from_f64(digit)) * ten;
        }
        text + &format!("e{power}")
    }
}

/// $\ln 2 = 18 \operatorname{artanh} \frac1{26} - 2 \operatorname{artanh} \frac1{4801} + 8 \operatorname{artanh} \frac1{8749}$.
static LN_2: LazyLock<Wide> = LazyLock::new(|| {
    let artanh = |n: f64| {
        let x = Wide::one() / Wide::from_f64(n);
        let (square, mut power, mut sum) = (x * x, x, x);
        for k in (3..240).step_by(2) {
            power = power * square;
            sum += power / Wide::from_f64(f64::from(k));
        }
        sum
    };
    let times = |k: f64, n: f64| Wide::from_f64(k) * artanh(n);
    times(18.0, 26.0) - times(2.0, 4801.0) + times(8.0, 8749.0)
});

/// $1 / \ln 2$.
static LOG2_E: LazyLock<Wide> = LazyLock::new(|| Wide::one() / *LN_2);

/// $1/k!$ for the Taylor series of the exponential.
static INVERSE_FACTORIALS: LazyLock<[Wide; 22]> = LazyLock::new(|| {
    let mut inverse = [Wide::one(); 22];
    for k in 1..22u8 {
        inverse[usize::from(k)] = inverse[usize::from(k) - 1] / Wide::from_f64(f64::from(k));
    }
    inverse
});

impl Add for Wide {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (large, small) =
            if self.compare_magnitude(&other) == Ordering::Less { (&other, &self) } else { (&self, &other) };
        if self.negative == other.negative {
            Self::add_magnitudes(large.negative, large, small)
        } else {
            Self::subtract_magnitudes(large.negative, large, small)
        }
    }
}

impl Neg for Wide {
    type Output = Self;
    fn neg(self) -> Self {
        Self { negative: !self.negative && !self.is_zero(), ..self }
    }
}

impl Sub for Wide {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Wide {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        let mut product = [0u64; 2 * LIMBS];
        for i in 0..LIMBS {
            let mut carry = 0u128;
            for j in 0..LIMBS {
                let sum = u128::from(self.significand[i]) * u128::from(other.significand[j])
                    + u128::from(product[i + j])
                    + carry;
                product[i + j] = low(sum);
                carry = sum >> 64;
            }
            product[i + LIMBS] = low(carry);
        }
        let mut significand = [0; LIMBS];
        significand.copy_from_slice(&product[LIMBS..]);
        let mut exponent = self.exponent + other.exponent;
        if significand[LIMBS - 1] >> 63 == 0 {
            for i in 0..LIMBS {
                significand[i] = product[LIMBS + i] << 1 | product[LIMBS + i - 1] >> 63;
            }
            exponent -= 1;
        }
        Self { negative: self.negative != other.negative, exponent, significand }
    }
}

/// The lower half.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
fn low(x: u128) -> u64 {
    x as u64
}

impl Div for Wide {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let inverse = other.reciprocal();
        let quotient = self * inverse;
        quotient + (self - quotient * other) * inverse
    }
}

impl AddAssign for Wide {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Wide {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl PartialEq for Wide {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        })
    }
}

impl fmt::Debug for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.decimal(40))
    }
}

impl Real for Wide {
    const EPSILON: f64 = 1e-72;
    const TARGET: f64 = 1e-54;
    const STALLS: usize = 1000;

    fn from_f64(x: f64) -> Self {
        debug_assert!(x.is_finite());
        let bits = x.to_bits();
        let (fraction, field) = (bits & ((1 << 52) - 1), i64::try_from(bits >> 52 & 0x7ff).unwrap_or(0));
        // A double is `integer` times 2^(exponent); a subnormal one has no hidden bit.
        let (integer, exponent) =
            if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        if integer == 0 {
            return Self::ZERO;
        }
        let zeros = integer.leading_zeros();
        let mut significand = [0; LIMBS];
        significand[LIMBS - 1] = integer << zeros;
        Self { negative: x < 0.0, exponent: exponent + 64 - i64::from(zeros), significand }
    }

    fn to_f64(self) -> f64 {
        // The highest 64 bits, in three factors so that no intermediate result over- or underflows early.
        let magnitude = self.significand[LIMBS - 1] as f64 * 2f64.powi(-64);
        let clamped = i32::try_from(self.exponent.clamp(-2200, 2200)).unwrap_or(0);
        let third = clamped / 3;
        let scaled = magnitude * 2f64.powi(third) * 2f64.powi(third) * 2f64.powi(clamped - 2 * third);
        if self.negative { -scaled } else { scaled }
    }

    fn from_wide(x: Wide) -> Self {
        x
    }

    fn to_wide(self) -> Wide {
        self
    }

    fn sqrt(self) -> Self {
        if self.negative || self.is_zero() {
            return Self::ZERO;
        }
        // An even power of two aside, Newton's iteration on 1/sqrt(x) from a double.
        let half = self.exponent.div_euclid(2);
        let unit = self.scaled(-2 * half);
        let mut inverse = Self::from_f64(1.0 / unit.to_f64().sqrt());
        for _ in 0..3 {
            inverse += (inverse * (Self::one() - unit * inverse * inverse)).scaled(-1);
        }
        let root = unit * inverse;
        (root + ((unit - root * root) * inverse).scaled(-1)).scaled(half)
    }

    fn exp(self) -> Self {
        // Clamped so that the exponent cannot overflow; no margin here is of that size.
        let leading = self.to_f64().clamp(-1e15, 1e15);
        if leading == -1e15 {
            return Self::ZERO;
        }
        let x = if leading == 1e15 { Self::from_f64(leading) } else { self };
        // e^x = 2^k (e^r)^256 with |r| <= ln(2)/512.
        let k = (leading / std::f64::consts::LN_2).round();
        let r = (x - Self::from_f64(k) * *LN_2).scaled(-8);
        let mut sum = INVERSE_FACTORIALS[21];
        for inverse in INVERSE_FACTORIALS[..21].iter().rev() {
            sum = sum * r + *inverse;
        }
        for _ in 0..8 {
            sum = sum * sum;
        }
        #[expect(clippy::cast_possible_truncation, reason = "an integer below 2^53")]
        sum.scaled(k as i64)
    }

    fn log2_e() -> Self {
        *LOG2_E
    }

    fn is_finite(self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(x: f64) -> Wide {
        Wide::from_f64(x)
    }

    fn close(a: Wide, b: Wide) -> bool {
        (a - b).abs().to_f64() <= Wide::EPSILON * b.abs().to_f64()
    }

    #[test]
    fn doubles_survive() {
        for x in [1.0, -3.5, 0.1, 1e300, -1e-300, 5e-324, f64::MAX, f64::MIN_POSITIVE] {
            assert_eq!(number(x).to_f64(), x);
        }
        assert_eq!(number(0.0).to_f64(), 0.0);
    }

    #[test]
    fn sums_cancel_exactly() {
        let (big, tiny) = (number(1e50), number(2f64.powi(-60)));
        assert_eq!(((big + tiny) - big - tiny).to_f64(), 0.0);
        assert_eq!((number(1.0) - number(2f64.powi(-200))).decimal(3), "9.99e-1");
        let almost = number(1.0) - number(2f64.powi(-250));
        assert_eq!((number(1.0) - almost).to_f64(), 2f64.powi(-250));
        assert!(number(-2.0) < number(-1.0) && number(-1.0) < number(0.0) && number(0.0) < number(1e-300));
    }

    #[test]
    fn ring_identities_hold() {
        let mut x = number(0.3);
        for i in 1..200 {
            let (a, b) = (number(f64::from(i)) / number(7.0), x);
            assert!(close((a + b) * (a - b), a * a - b * b) || (a - b).abs().to_f64() < 1e-3);
            assert!(close(a / b * b, a));
            assert!(close(a.sqrt() * a.sqrt(), a));
            assert!(close((a + b) - b, a) && close((a - b) + b, a));
            x = b * number(-1.01) + number(0.01);
        }
    }

    #[test]
    fn exponential_and_logarithm_are_inverse() {
        for i in -60..60 {
            let (a, b) = (number(f64::from(i)) / number(3.0), number(f64::from(i * i)) / number(-7.0));
            assert!(close(a.exp() * b.exp(), (a + b).exp()), "{i}");
            assert!((a.exp().ln() - a).abs().to_f64() < 1e-72, "{i}");
        }
    }

    #[test]
    fn constants_have_their_known_digits() {
        assert_eq!(LN_2.decimal(60), "6.93147180559945309417232121458176568075500134360255254120680e-1");
        assert_eq!(
            number(1.0).exp().decimal(60),
            "2.71828182845904523536028747135266249775724709369995957496696e0"
        );
        assert_eq!(
            number(2.0).sqrt().decimal(60),
            "1.41421356237309504880168872420969807856967187537694807317667e0"
        );
        assert_eq!((number(1.0) / number(3.0)).decimal(60), format!("3.{}e-1", "3".repeat(59)));
    }
}
