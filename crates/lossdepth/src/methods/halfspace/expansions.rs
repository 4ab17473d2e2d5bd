//! Exact signs of polynomials of the data, by floating-point expansions.
//!
//! A floating-point *expansion* is a sum of numbers that do not overlap, smallest first; its sign is that of
//! its last component. Sums and products of two floating-point numbers are expansions of two components,
//! computed without error (Dekker, Knuth, Shewchuk), so the sign of any polynomial can be computed exactly.
//! These predicates are slow; callers decide the clear cases with an error bound first.
//!
//! Numbers are expected within about 1e±130 of 1, so that no product leaves the range of `f64`. [`ExactPredicates::side`],
//! [`orientation`](ExactPredicates::orientation) and [`determinant`](ExactPredicates::determinant) are exact for smaller ones as
//! well.

use crate::numerics::double_double::{two_product, two_sum};
use std::cmp::Ordering;

/// A sum of floating-point numbers, represented exactly.
#[derive(Debug, Default)]
struct Expansion {
    parts: Vec<f64>,
}

impl Expansion {
    fn clear(&mut self) {
        self.parts.clear();
    }

    fn add(&mut self, value: f64) {
        let (mut carry, mut kept) = (value, 0);
        for k in 0..self.parts.len() {
            let (sum, error) = two_sum(carry, self.parts[k]);
            if error != 0.0 {
                self.parts[kept] = error;
                kept += 1;
            }
            carry = sum;
        }
        self.parts.truncate(kept);
        if carry != 0.0 {
            self.parts.push(carry);
        }
    }

    fn add_product(&mut self, a: f64, b: f64) {
        let (product, error) = two_product(a, b);
        self.add(error);
        self.add(product);
    }

    fn sign(&self) -> Ordering {
        self.parts.last().map_or(Ordering::Equal, |p| p.total_cmp(&0.0))
    }
}

/// Exact predicates, with their scratch memory.
#[derive(Debug, Default)]
pub(in crate::methods) struct ExactPredicates {
    sum: Expansion,
    products: Vec<[f64; 3]>,
}

impl ExactPredicates {
    /// The sign of $\langle u, x - z \rangle$.
    pub(in crate::methods) fn side(&mut self, u: &[f64], x: &[f64], z: &[f64]) -> Ordering {
        let products = || u.iter().zip(x).chain(u.iter().zip(z)).zip(0..);
        if products().any(|((u, x), _)| is_small(u * x, &[*u, *x], LEAST_PRODUCT)) {
            let sign = |at: usize| if at < x.len() { 1.0 } else { -1.0 };
            return sign_of_sum(products().map(|((u, x), at)| [*u, *x, sign(at)]));
        }
        self.sum.clear();
        for ((u, x), z) in u.iter().zip(x).zip(z) {
            self.sum.add_product(*u, *x);
            self.sum.add_product(-*u, *z);
        }
        self.sum.sign()
    }

    /// The sign of $\sum_j c_j \langle b_j, x - z \rangle$, the rows of `frame` being the $b_j$.
    pub(super) fn side_in_frame(&mut self, c: &[f64], frame: &[f64], x: &[f64], z: &[f64]) -> Ordering {
        self.sum.clear();
        for (c, row) in c.iter().zip(frame.chunks_exact(x.len())) {
            for ((b, x), z) in row.iter().zip(x).zip(z) {
                let (high, low) = two_product(*c, *b);
                for factor in [high, low] {
                    self.sum.add_product(factor, *x);
                    self.sum.add_product(-factor, *z);
                }
            }
        }
        self.sum.sign()
    }

    /// The sign of $\sum_j c_j \langle b_j, (x - z) + r (y - z) \rangle$.
    pub(super) fn pair_in_frame(
        &mut self,
        c: &[f64],
        frame: &[f64],
        [x, y, z]: [&[f64]; 3],
        ratio: f64,
    ) -> Ordering {
        self.sum.clear();
        for (c, row) in c.iter().zip(frame.chunks_exact(x.len())) {
            for (k, b) in row.iter().enumerate() {
                let (high, low) = two_product(*c, *b);
                for factor in [high, low] {
                    self.sum.add_product(factor, x[k]);
                    self.sum.add_product(-factor, z[k]);
                    let (high, low) = two_product(factor, ratio);
                    for factor in [high, low] {
                        self.sum.add_product(factor, y[k]);
                        self.sum.add_product(-factor, z[k]);
                    }
                }
            }
        }
        self.sum.sign()
    }

    /// The sign of the determinant of $a - z$, $b - z$ and $c - z$ in three dimensions.
    pub(in crate::methods) fn determinant(&mut self, [a, b, c]: [[f64; 3]; 3], z: [f64; 3]) -> Ordering {
        let parts = |x: [f64; 3]| -> [(f64, f64); 3] { std::array::from_fn(|k| two_sum(x[k], -z[k])) };
        let (a, b, c) = (parts(a), parts(b), parts(c));
        self.sum.clear();
        self.products.clear();
        let mut small = false;
        for [i, j, k] in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
            for (sign, j, k) in [(1.0, j, k), (-1.0, k, j)] {
                for p in [a[i].0, a[i].1].into_iter().filter(|p| *p != 0.0) {
                    for q in [b[j].0, b[j].1].into_iter().filter(|q| *q != 0.0) {
                        let (high, low) = two_product(sign * p, q);
                        for r in [c[k].0, c[k].1].into_iter().filter(|r| *r != 0.0) {
                            small |= is_small(p * q, &[p, q], LEAST_PRODUCT);
                            small |= is_small(high * r, &[p, q, r], LEAST_TRIPLE);
                            self.products.push([sign * p, q, r]);
                            self.sum.add_product(high, r);
                            self.sum.add_product(low, r);
                        }
                    }
                }
            }
        }
        if small { sign_of_sum(self.products.iter().copied()) } else { self.sum.sign() }
    }

    /// The sign of $(a - z) \times (b - z)$ in the plane: positive if `b` lies counterclockwise of `a`.
    pub(in crate::methods) fn orientation(&mut self, a: [f64; 2], b: [f64; 2], z: [f64; 2]) -> Ordering {
        // (a0 - z0)(b1 - z1) - (a1 - z1)(b0 - z0), where the product of the z cancels.
        let products =
            [(a[0], b[1]), (-a[0], z[1]), (-z[0], b[1]), (-a[1], b[0]), (a[1], z[0]), (z[1], b[0])];
        if products.iter().any(|(p, q)| is_small(p * q, &[*p, *q], LEAST_PRODUCT)) {
            return sign_of_sum(products.into_iter().map(|(p, q)| [p, q, 1.0]));
        }
        self.sum.clear();
        for (p, q) in products {
            self.sum.add_product(p, q);
        }
        self.sum.sign()
    }
}

/// The error of a smaller product of two numbers may not be representable, and that of one of three: it has 53 bits more.
const LEAST_PRODUCT: f64 = 1e-290;
const LEAST_TRIPLE: f64 = 1e-270;

/// Whether a product of factors other than 0 is too small.
fn is_small(product: f64, factors: &[f64], least: f64) -> bool {
    product.abs() < least && factors.iter().all(|factor| *factor != 0.0)
}

/// The sign of a sum of products of three numbers, however small, by integers of any length.
fn sign_of_sum(products: impl Iterator<Item = [f64; 3]>) -> Ordering {
    // A product is an integer below 2^159 times a power of two: one of 106 bits, and one of 53.
    let terms = products.map(|factors| {
        let [(m, e), (n, f), (o, g)] = factors.map(decode);
        let negative = factors.iter().filter(|factor| **factor < 0.0).count() % 2 == 1;
        (u128::from(m) * u128::from(n), u128::from(o), e + f + g, negative)
    });
    let terms: Vec<_> = terms.filter(|term| term.0 != 0 && term.1 != 0).collect();
    let least = terms.iter().map(|term| term.2).min().unwrap_or(0);
    let mut sums = [Vec::new(), Vec::new()];
    for (pair, third, exponent, negative) in terms {
        let (sum, shift) = (&mut sums[usize::from(negative)], (exponent - least).unsigned_abs() as usize);
        add_shifted(sum, (pair & u128::from(u64::MAX)) * third, shift);
        add_shifted(sum, (pair >> 64) * third, shift + 64);
    }
    let length = sums[0].len().max(sums[1].len());
    for sum in &mut sums {
        sum.resize(length, 0);
    }
    sums[0].iter().rev().cmp(sums[1].iter().rev())
}

/// Adds $m 2^s$ to a number with digits of 32 bits, the lowest first.
fn add_shifted(sum: &mut Vec<u32>, mantissa: u128, shift: usize) {
    let (mut rest, mut place) = (mantissa, shift / 32);
    // Carries to the next digit: of the shift, and of the addition.
    let (mut over, mut carry) = (0u64, 0u64);
    while rest != 0 || over != 0 || carry != 0 {
        if sum.len() <= place {
            sum.resize(place + 1, 0);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a digit")]
        let digit = u64::from(rest as u32) << (shift % 32) | over;
        over = digit >> 32;
        let total = u64::from(sum[place]) + (digit & u64::from(u32::MAX)) + carry;
        carry = total >> 32;
        #[expect(clippy::cast_possible_truncation, reason = "a digit")]
        {
            sum[place] = total as u32;
        }
        rest >>= 32;
        place += 1;
    }
}

/// Mantissa and exponent: $|v| = m 2^e$.
pub(super) fn decode(value: f64) -> (u64, i32) {
    let bits = value.abs().to_bits();
    let exponent = i32::try_from(bits >> 52).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    match (exponent, fraction) {
        (0, 0) => (0, 0),
        (0, f) => (f >> f.trailing_zeros(), -1074 + f.trailing_zeros().cast_signed()),
        (e, f) => {
            let m = f | 1 << 52;
            (m >> m.trailing_zeros(), e - 1075 + m.trailing_zeros().cast_signed())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_of_very_different_magnitudes_has_the_exact_sign() {
        let mut sum = Expansion::default();
        for value in [1e30, 1.0, -1e30, 1e-30, -1.0] {
            sum.add(value);
        }
        assert_eq!(sum.sign(), Ordering::Greater);
        sum.add(-1e-30);
        assert_eq!(sum.sign(), Ordering::Equal);
    }

    #[test]
    fn orientation_distinguishes_collinear_points_from_nearly_collinear_ones() {
        let mut exact = ExactPredicates::default();
        let z = [0.1, 0.3];
        // Equal in decimal, but not in binary.
        assert_eq!(exact.orientation([1.1, 1.3], [2.1, 2.3], z), Ordering::Less);
        assert_eq!(exact.orientation([1.5, 1.75], [2.5, 2.75], [0.5, 0.75]), Ordering::Equal);
        let up = f64::from_bits(2.75f64.to_bits() + 1);
        assert_eq!(exact.orientation([1.5, 1.75], [2.5, up], [0.5, 0.75]), Ordering::Greater);
        assert_eq!(exact.side(&[1.0, -1.0], &[2.5, up], &[0.5, 0.75]), Ordering::Less);
        let corner = [[1.5, 0.5, 0.5], [0.5, 1.5, 0.5], [1.5, 1.5, 0.5]];
        assert_eq!(exact.determinant(corner, [0.5; 3]), Ordering::Equal);
        let raised = f64::from_bits(0.5f64.to_bits() + 1);
        let corner = [corner[0], corner[1], [1.5, 1.5, raised]];
        assert_eq!(exact.determinant(corner, [0.5; 3]), Ordering::Greater);
        // Of products that vanish: as of the same numbers in other units.
        let units = |x: [f64; 3]| [1e-150 * x[0], x[1], 2f64.powi(-700) * x[2]].map(|x| x * 2f64.powi(-100));
        let corner = corner.map(units);
        assert_eq!(exact.determinant(corner, units([0.5; 3])), Ordering::Greater);
        let flat = [corner[0], corner[1], [corner[2][0], corner[2][1], corner[0][2]]];
        assert_eq!(exact.determinant(flat, units([0.5; 3])), Ordering::Equal);
        // (1 + ε)² is above 1 + 2 ε.
        let (unit, rest) = (2f64.powi(-1000), f64::EPSILON);
        let (x, z) = ([(1.0 + rest) * unit, 0.0], [0.0, (1.0 + 2.0 * rest) * unit]);
        assert_eq!(exact.side(&[1.0 + rest, 1.0], &x, &z), Ordering::Greater);
        assert_eq!(exact.side_in_frame(&[3.0], &[1.0, -1.0], &[2.5, 2.75], &[0.5, 0.75]), Ordering::Equal);
    }
}
