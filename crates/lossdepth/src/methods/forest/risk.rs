//! From averaged probabilities to the depth, and what rounding and boxes left out can do to it.

use super::ForestLoss;
use super::presorted::Presorted;
use crate::numerics::elementary::ln_1p_unit;
use crate::numerics::simd::{sum_of, vectorised};
use crate::problem::Reported;
use std::f64::consts::{LN_2, LOG2_E};

/// The probabilities of the query's class, averaged over all trees.
pub(super) struct Averages<'a> {
    /// At each row of the sample.
    pub(super) rows: &'a [f64],
    /// At the query.
    pub(super) query: f64,
    /// A bound on the relative rounding error of each of them.
    pub(super) rounding: f64,
    /// No probability is further off than this for trees that were not grown to the end.
    pub(super) rest: f64,
}

impl ForestLoss {
    /// The loss at a row of the sample where the query's class has probability `p`.
    #[inline(always)]
    pub(super) fn at_row(self, p: f64) -> f64 {
        match self {
            Self::Log => -LOG2_E * (-p).ln_1p(),
            Self::Brier => 4.0 * p * p,
            Self::ZeroOne => f64::from(u8::from(p > 0.5)),
        }
    }

    /// Writes its derivative, where it has one, to the first of `out`, times `share` and the weight of the row.
    pub(super) fn slopes(self, sample: &Presorted, rows: &[f64], share: f64, out: &mut [f64]) {
        let n = sample.rows;
        let (rows, caps, weights, out) = (&rows[..n], &sample.caps[..n], &sample.weights[..n], &mut out[..n]);
        vectorised(
            #[inline(always)]
            || match self {
                Self::Log => {
                    let share = LOG2_E * share;
                    for i in 0..n {
                        out[i] = share * weights[i] / (1.0 - least(rows[i], caps[i]));
                    }
                }
                Self::Brier => (0..n).for_each(|i| out[i] = 8.0 * share * weights[i] * rows[i]),
                Self::ZeroOne => out.fill(0.0),
            },
        );
    }

    /// Adds the loss at each row, times `share`; the logarithms have an absolute error of some 1e-15.
    pub(super) fn add_losses(self, sample: &Presorted, rows: &[f64], share: f64, out: &mut [f64]) {
        let n = sample.rows;
        let (rows, caps, out) = (&rows[..n], &sample.caps[..n], &mut out[..n]);
        vectorised(
            #[inline(always)]
            || match self {
                Self::Log => (0..n).for_each(
                    #[inline(always)]
                    |i| out[i] -= share * log2_unit(1.0 - least(rows[i], caps[i])),
                ),
                _ => (0..n).for_each(|i| out[i] += share * self.at_row(rows[i])),
            },
        );
    }

    /// The loss at the query, where its own class has probability `p`.
    pub(super) fn at_query(self, p: f64) -> f64 {
        match self {
            Self::Log => -p.log2(),
            Self::Brier => 4.0 * (1.0 - p) * (1.0 - p),
            Self::ZeroOne => f64::from(u8::from(p < 0.5)),
        }
    }

    /// How many nats one of its units is.
    pub(super) fn unit(self) -> f64 {
        if self == Self::Log { LN_2 } else { 1.0 }
    }

    pub(super) fn slope_at_query(self, p: f64) -> f64 {
        match self {
            Self::Log => -LOG2_E / p,
            Self::Brier => -8.0 * (1.0 - p),
            Self::ZeroOne => 0.0,
        }
    }
}

impl Averages<'_> {
    /// The depth and a bound on its error.
    pub(super) fn risk(&self, sample: &Presorted, loss: ForestLoss, value: Reported) -> (f64, f64) {
        let [rows_share, query_share] = value.shares(loss.unit(), sample.observations);
        let mean = self.mean(sample, loss);
        // Adding 0 turns the minus zero of a logarithm of 1 into zero.
        let depth = rows_share * mean + query_share * loss.at_query(self.query) + 0.0;
        let error = rows_share * self.mean_error(sample, loss, mean) + query_share * self.query_error(loss);
        (depth, error + 4.0 * f64::EPSILON * depth)
    }

    /// The weighted mean of the losses at the rows.
    fn mean(&self, sample: &Presorted, loss: ForestLoss) -> f64 {
        if sample.masses.is_none() && loss == ForestLoss::Log {
            let cap = sample.caps[0];
            let sum = vectorised(
                #[inline(always)]
                || log_sum(self.rows, cap),
            );
            return -sum / self.rows.len() as f64;
        }
        let rows = self.rows.iter().zip(&sample.caps).zip(&sample.weights);
        rows.map(|((p, cap), weight)| weight * loss.at_row(p.min(*cap))).sum()
    }

    fn mean_error(&self, sample: &Presorted, loss: ForestLoss, mean: f64) -> f64 {
        let rows = self.rows.len() as f64;
        // A bound for every row on how far its probability is off.
        let off = |p: f64| self.rounding * p + self.rest;
        let weighted = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
            self.rows.iter().zip(&sample.weights).map(|(p, weight)| weight * f(*weight, *p)).sum()
        };
        match loss {
            ForestLoss::Log => {
                // Near 1 - p the loss has a slope of at most 1/(1 - p); one less p loses half a unit of the last place
                // of 1, a product of sixteen numbers eight of its own.
                let (p, weights) = (&self.rows[..sample.rows], &sample.weights[..sample.rows]);
                let slope = sum_of(
                    sample.rows,
                    #[inline(always)]
                    |i| {
                        let off = self.rounding * p[i] + self.rest;
                        let least = 1.0 - p[i] - off;
                        let floor = weights[i] / (1.0 + weights[i]);
                        weights[i] * (off + f64::EPSILON) / if least > floor { least } else { floor }
                    },
                );
                LOG2_E * (slope + 16.0 * f64::EPSILON) + rows * f64::EPSILON * mean
            }
            ForestLoss::Brier => {
                weighted(&|_, p| 4.0 * off(p) * (2.0 * p + off(p))) + (rows + 8.0) * f64::EPSILON * mean
            }
            ForestLoss::ZeroOne => {
                let exact = self.rounding == 0.0 && self.rest == 0.0;
                let doubtful = |_: f64, p: f64| f64::from(u8::from(!exact && (p - 0.5).abs() <= off(p)));
                weighted(&doubtful) + rows * f64::EPSILON * mean
            }
        }
    }

    fn query_error(&self, loss: ForestLoss) -> f64 {
        let off = self.rounding * self.query + self.rest;
        match loss {
            // The probability is at least one half.
            ForestLoss::Log => LOG2_E * off / (self.query - off).max(0.5) + 2.0 * f64::EPSILON,
            ForestLoss::Brier => 4.0 * off * (2.0 * (1.0 - self.query).abs() + off) + 2.0 * f64::EPSILON,
            ForestLoss::ZeroOne => 0.0,
        }
    }
}

/// $\sum_i \log_2(1 - p_i)$ by one logarithm for every sixteen rows.
///
/// A factor is at least $1/(n+1) > 2^{-33}$, so the product of sixteen does not underflow.
#[inline(always)]
fn log_sum(p: &[f64], cap: f64) -> f64 {
    const LANES: usize = 8;
    let mut sum = 0.0;
    for block in p.chunks(16 * LANES) {
        let mut products = [1.0; LANES];
        let whole = block.chunks_exact(LANES);
        let tail = whole.remainder();
        for lane in whole {
            for (product, p) in products.iter_mut().zip(lane) {
                *product *= 1.0 - if *p < cap { *p } else { cap };
            }
        }
        for (product, p) in products.iter_mut().zip(tail) {
            *product *= 1.0 - if *p < cap { *p } else { cap };
        }
        sum += products.iter().map(|x| x.log2()).sum::<f64>();
    }
    sum
}

#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    // Unlike `min` this is one instruction: no number here is NaN.
    if a < b { a } else { b }
}

/// $\log_2 x$ for normal numbers up to 1, without branches; the error is absolute.
#[inline(always)]
fn log2_unit(x: f64) -> f64 {
    // x = m 2^k with m in [1, 2). In the low bits of 2^52 the exponent is a number without a conversion.
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let bits = x.to_bits();
    let m = f64::from_bits(bits & ((1 << 52) - 1) | 1.0f64.to_bits());
    let k = f64::from_bits(bits >> 52 | TWO_52.to_bits()) - TWO_52 - 1023.0;
    LOG2_E.mul_add(ln_1p_unit(m - 1.0), k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_match_the_standard_library() {
        let numbers =
            (0..100_000).map(|i| 1.0 - f64::from(i) * 1e-5).chain([1e-300, 1e-9, 0.5, 0.25, 1.0 - 1e-16]);
        for x in numbers {
            assert!((log2_unit(x) - x.log2()).abs() <= 1e-15 * (1.0 + x.log2().abs()), "{x}");
        }
    }
}
