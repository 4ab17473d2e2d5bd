//! From averaged probabilities to the depth and its error.

use super::ForestLoss;
use super::presorted::Presorted;
use crate::numerics::elementary::ln_1p_unit;
use crate::numerics::simd::{sum_of, vectorised};
use crate::problem::Reported;
use std::f64::consts::{LN_2, LOG2_E};

/// The probability of the query's class, averaged over all trees.
pub(super) struct AveragedProbabilities<'a> {
    /// At each row of the sample.
    pub(super) rows: &'a [f64],
    /// At the query.
    pub(super) query: f64,
    /// A bound on the relative rounding error of each of them.
    pub(super) rounding: f64,
    /// The total probability of boxes that were not split further: no probability is off by more for that
    /// reason.
    pub(super) unsplit_probability: f64,
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

    /// Writes the derivative of the loss, where it exists, times `share` and the weight of the row.
    pub(super) fn derivatives(self, sample: &Presorted, rows: &[f64], share: f64, out: &mut [f64]) {
        let n = sample.rows;
        let (rows, max_probabilities, weights, out) =
            (&rows[..n], &sample.max_probabilities[..n], &sample.weights[..n], &mut out[..n]);
        vectorised(
            #[inline(always)]
            || match self {
                Self::Log => {
                    let share = LOG2_E * share;
                    for i in 0..n {
                        out[i] = share * weights[i] / (1.0 - min_finite(rows[i], max_probabilities[i]));
                    }
                }
                Self::Brier => (0..n).for_each(|i| out[i] = 8.0 * share * weights[i] * rows[i]),
                Self::ZeroOne => out.fill(0.0),
            },
        );
    }

    /// Adds the loss at each row, times `share`; the absolute error of the logarithms is about 1e-15.
    pub(super) fn add_losses(self, sample: &Presorted, rows: &[f64], share: f64, out: &mut [f64]) {
        let n = sample.rows;
        let (rows, max_probabilities, out) = (&rows[..n], &sample.max_probabilities[..n], &mut out[..n]);
        vectorised(
            #[inline(always)]
            || match self {
                Self::Log => (0..n).for_each(
                    #[inline(always)]
                    |i| out[i] -= share * log2_unit(1.0 - min_finite(rows[i], max_probabilities[i])),
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

    /// The number of nats in one unit of the loss.
    pub(super) fn unit(self) -> f64 {
        if self == Self::Log { LN_2 } else { 1.0 }
    }

    pub(super) fn derivative_at_query(self, p: f64) -> f64 {
        match self {
            Self::Log => -LOG2_E / p,
            Self::Brier => -8.0 * (1.0 - p),
            Self::ZeroOne => 0.0,
        }
    }
}

impl AveragedProbabilities<'_> {
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
            let max_probability = sample.max_probabilities[0];
            let sum = vectorised(
                #[inline(always)]
                || log_sum(self.rows, max_probability),
            );
            return -sum / self.rows.len() as f64;
        }
        let rows = self.rows.iter().zip(&sample.max_probabilities).zip(&sample.weights);
        rows.map(|((p, max_probability), weight)| weight * loss.at_row(p.min(*max_probability))).sum()
    }

    fn mean_error(&self, sample: &Presorted, loss: ForestLoss, mean: f64) -> f64 {
        let rows = self.rows.len() as f64;
        // (F7).
        let error = |p: f64| self.rounding * p + self.unsplit_probability;
        let weighted = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
            self.rows.iter().zip(&sample.weights).map(|(p, weight)| weight * f(*weight, *p)).sum()
        };
        match loss {
            ForestLoss::Log => {
                // (F8). 1 − p is off by half a unit in the last place of 1, a product of sixteen factors by
                // eight more.
                let (p, weights) = (&self.rows[..sample.rows], &sample.weights[..sample.rows]);
                let slope = sum_of(
                    sample.rows,
                    #[inline(always)]
                    |i| {
                        let error = self.rounding * p[i] + self.unsplit_probability;
                        let lower = 1.0 - p[i] - error;
                        let floor = weights[i] / (1.0 + weights[i]);
                        weights[i] * (error + f64::EPSILON) / if lower > floor { lower } else { floor }
                    },
                );
                LOG2_E * (slope + 16.0 * f64::EPSILON) + rows * f64::EPSILON * mean
            }
            ForestLoss::Brier => {
                weighted(&|_, p| 4.0 * error(p) * (2.0 * p + error(p))) + (rows + 8.0) * f64::EPSILON * mean
            }
            ForestLoss::ZeroOne => {
                let exact = self.rounding == 0.0 && self.unsplit_probability == 0.0;
                let undecided = |_: f64, p: f64| f64::from(u8::from(!exact && (p - 0.5).abs() <= error(p)));
                weighted(&undecided) + rows * f64::EPSILON * mean
            }
        }
    }

    fn query_error(&self, loss: ForestLoss) -> f64 {
        let error = self.rounding * self.query + self.unsplit_probability;
        match loss {
            // The probability at the query is at least one half.
            ForestLoss::Log => LOG2_E * error / (self.query - error).max(0.5) + 2.0 * f64::EPSILON,
            ForestLoss::Brier => 4.0 * error * (2.0 * (1.0 - self.query).abs() + error) + 2.0 * f64::EPSILON,
            ForestLoss::ZeroOne => 0.0,
        }
    }
}

/// $\sum_i \log_2(1 - p_i)$ with one logarithm for every sixteen rows.
///
/// A factor is at least $1/(n+1) > 2^{-33}$, so the product of sixteen does not underflow.
#[inline(always)]
fn log_sum(p: &[f64], max_probability: f64) -> f64 {
    const LANES: usize = 8;
    let mut sum = 0.0;
    for block in p.chunks(16 * LANES) {
        let mut products = [1.0; LANES];
        let whole = block.chunks_exact(LANES);
        let tail = whole.remainder();
        for lane in whole {
            for (product, p) in products.iter_mut().zip(lane) {
                *product *= 1.0 - if *p < max_probability { *p } else { max_probability };
            }
        }
        for (product, p) in products.iter_mut().zip(tail) {
            *product *= 1.0 - if *p < max_probability { *p } else { max_probability };
        }
        sum += products.iter().map(|x| x.log2()).sum::<f64>();
    }
    sum
}

#[inline(always)]
fn min_finite(a: f64, b: f64) -> f64 {
    // One instruction, unlike `min`, which also handles NaN: there is none here.
    if a < b { a } else { b }
}

/// $\log_2 x$ for normal numbers up to 1, without branches; the error is absolute.
#[inline(always)]
fn log2_unit(x: f64) -> f64 {
    // x = m 2^k with m in [1, 2). In the low bits of 2^52 the exponent is a number without a conversion
    // instruction.
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
