//! Sums of products with twice the digits, for sums in which large terms cancel.
//!
//! A product and its rounding error are both numbers, and so are a sum and its rounding error (Ogita, Rump and Oishi,
//! *Accurate sum and dot product*, 2005). The order of summation depends on the length alone.

use super::linalg::dot;
use crate::numerics::simd::{LANES, vectorised};

/// A number as the unevaluated sum of two.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Twofold {
    high: f64,
    low: f64,
}

impl Twofold {
    /// Adds one number.
    #[inline(always)]
    pub(crate) fn add(&mut self, x: f64) {
        let (sum, rest) = two_sum(self.high, x);
        self.low += rest;
        self.high = sum;
    }

    /// Adds a product.
    #[inline(always)]
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let (product, rest) = two_product(a, b);
        self.low += rest;
        self.add(product);
    }

    /// Adds a number with twice the digits.
    #[inline(always)]
    pub(crate) fn add_parts(&mut self, (high, low): (f64, f64)) {
        self.low += low;
        self.add(high);
    }

    /// Adds the product of a number with twice the digits and one with once the digits.
    #[inline(always)]
    pub(crate) fn add_scaled(&mut self, (high, low): (f64, f64), b: f64) {
        self.low = low.mul_add(b, self.low);
        self.add_product(high, b);
    }

    /// The nearest number.
    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }

    /// The nearest number, and the remainder.
    pub(crate) fn parts(self) -> (f64, f64) {
        two_sum(self.high, self.low)
    }
}

/// `Σ aᵢ bᵢ`.
pub(crate) fn dot_twofold(a: &[f64], b: &[f64]) -> Twofold {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let body = n - n % LANES;
    let mut lanes = [Twofold::default(); LANES];
    vectorised!({
        let (mut high, mut low) = ([0.0; LANES], [0.0; LANES]);
        for (a, b) in a[..body].chunks_exact(LANES).zip(b[..body].chunks_exact(LANES)) {
            for k in 0..LANES {
                let mut sum = Twofold { high: high[k], low: low[k] };
                sum.add_product(a[k], b[k]);
                (high[k], low[k]) = (sum.high, sum.low);
            }
        }
        for k in 0..LANES {
            lanes[k] = Twofold { high: high[k], low: low[k] };
        }
    });
    let mut sum = Twofold::default();
    for lane in lanes {
        sum.add(lane.high);
        sum.add(lane.low);
    }
    for i in body..n {
        sum.add_product(a[i], b[i]);
    }
    sum
}

/// The sum of two numbers, and its rounding error.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The product of two numbers, and its rounding error.
#[inline(always)]
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// Half a unit in the last place of 1.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// A bound on the rounding of a sum of so many terms with twice the digits, relative to the sum of their absolute values: twice the
/// $\gamma_n^2$ of Ogita, Rump and Oishi, for low parts that are summed with once the digits as well (C13).
pub(crate) fn twofold_rounding(terms: usize) -> f64 {
    let product = (terms + 4) as f64 * UNIT;
    4.0 * product * product
}

/// A vector with twice the digits.
#[derive(Debug, Clone, Default)]
pub(crate) struct TwofoldVector {
    pub(crate) high: Vec<f64>,
    pub(crate) low: Vec<f64>,
}

impl TwofoldVector {
    pub(crate) fn new(high: Vec<f64>) -> Self {
        let low = vec![0.0; high.len()];
        Self { high, low }
    }

    /// `self += a x`, to the digits of `a x`.
    pub(crate) fn add(&mut self, a: f64, x: &[f64]) {
        for ((high, low), x) in self.high.iter_mut().zip(&mut self.low).zip(x) {
            let (sum, rest) = two_sum(*high, a * x);
            (*high, *low) = two_sum(sum, *low + rest);
        }
    }

    /// Adds a number to an entry.
    pub(crate) fn add_to(&mut self, j: usize, x: f64) {
        (self.high[j], self.low[j]) = two_sum(self.high[j], self.low[j] + x);
    }

    /// Multiplies some entries by a number.
    pub(crate) fn scale(&mut self, entries: std::ops::Range<usize>, a: f64) {
        for (high, low) in self.high[entries.clone()].iter_mut().zip(&mut self.low[entries]) {
            let (product, rest) = two_product(a, *high);
            (*high, *low) = two_sum(product, rest + a * *low);
        }
    }

    /// `Σ xᵢ selfᵢ`.
    pub(crate) fn dot(&self, x: &[f64]) -> Twofold {
        let mut sum = dot_twofold(x, &self.high);
        sum.add(dot(x, &self.low));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cancels_leaves_the_rest() {
        let n = 101;
        let a: Vec<f64> = (0..n).map(|i| f64::from(i * 7).sin() * 1e9).collect();
        let b: Vec<f64> = (0..n).map(|i| f64::from(i * 3).cos()).collect();
        let (mut left, mut right) = (a.clone(), b.clone());
        left.extend(a.iter().map(|x| -x));
        left.push(1e-9);
        right.extend(&b);
        right.push(1.0);
        // The error is of the order of the squared unit roundoff times the terms that cancelled.
        assert!((dot_twofold(&left, &right).value() - 1e-9).abs() < 1e-19);
    }
}
