//! From averaged probabilities to the depth, and what rounding and boxes left out can do to it.

use super::presorted::Presorted;
use super::{ForestLoss, ForestValue};
use crate::simd::vectorised;
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

    /// Its derivative, where it has one.
    #[inline(always)]
    pub(super) fn slope_at_row(self, p: f64) -> f64 {
        match self {
            Self::Log => LOG2_E / (1.0 - p),
            Self::Brier => 8.0 * p,
            Self::ZeroOne => 0.0,
        }
    }

    /// The loss at the query, where its own class has probability `p`.
    pub(super) fn at_query(self, p: f64) -> f64 {
        match self {
            Self::Log => -p.log2(),
            Self::Brier => 4.0 * (1.0 - p) * (1.0 - p),
            Self::ZeroOne => f64::from(u8::from(p < 0.5)),
        }
    }

    pub(super) fn slope_at_query(self, p: f64) -> f64 {
        match self {
            Self::Log => -LOG2_E / p,
            Self::Brier => -8.0 * (1.0 - p),
            Self::ZeroOne => 0.0,
        }
    }
}

impl ForestValue {
    /// What the losses of the sample and of the query count for.
    pub(super) fn shares(self, loss: ForestLoss, observations: f64) -> [f64; 2] {
        match self {
            Self::Risk => [0.5, 0.5],
            Self::PaperCode => {
                let unit = if loss == ForestLoss::Log { LN_2 } else { 1.0 };
                [0.5 * unit / observations, 0.5 * unit]
            }
        }
    }
}

/// The largest probability a row can have: its box holds at least itself, so it is at most $1 / (1 + \omega_i)$.
#[inline(always)]
pub(super) fn cap(weight: f64) -> f64 {
    (1.0 + weight).recip()
}

impl Averages<'_> {
    /// The depth and a bound on its error.
    pub(super) fn risk(&self, sample: &Presorted, loss: ForestLoss, value: ForestValue) -> (f64, f64) {
        let [rows_share, query_share] = value.shares(loss, sample.observations);
        let mean = self.mean(sample, loss);
        let depth = rows_share * mean + query_share * loss.at_query(self.query);
        let error = rows_share * self.mean_error(sample, loss, mean) + query_share * self.query_error(loss);
        (depth, error + 4.0 * f64::EPSILON * depth)
    }

    /// The weighted mean of the losses at the rows.
    fn mean(&self, sample: &Presorted, loss: ForestLoss) -> f64 {
        match (&sample.masses, loss) {
            (None, ForestLoss::Log) => {
                let cap = cap(sample.weight(0));
                let sum = vectorised(
                    #[inline(always)]
                    || log_sum(self.rows, cap),
                );
                -sum / self.rows.len() as f64
            }
            _ => {
                let each = |(i, p): (usize, &f64)| {
                    let weight = sample.weight(i);
                    weight * loss.at_row(p.min(cap(weight)))
                };
                self.rows.iter().enumerate().map(each).sum()
            }
        }
    }

    fn mean_error(&self, sample: &Presorted, loss: ForestLoss, mean: f64) -> f64 {
        let rows = self.rows.len() as f64;
        // A bound for every row on how far its probability is off.
        let off = |p: f64| self.rounding * p + self.rest;
        let weighted = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
            self.rows.iter().enumerate().map(|(i, p)| sample.weight(i) * f(sample.weight(i), *p)).sum()
        };
        match loss {
            ForestLoss::Log => {
                let largest = self.rows.iter().fold(0.0f64, |m, p| m.max(*p));
                // Up to 1 - p the loss has a slope of at most 1/(1 - p); one less p loses half a unit of the last
                // place of 1, a product of sixteen numbers eight of its own.
                let slope = if largest + self.rest < 0.9 {
                    // The weighted mean of the probabilities at the rows is 1 less that at the query.
                    let moved = self.rounding * (1.0 - self.query + self.rounding) + self.rest;
                    (moved + f64::EPSILON) / (1.0 - largest - off(largest))
                } else {
                    weighted(&|weight, p| {
                        let least = (1.0 - p - off(p)).max(weight / (1.0 + weight));
                        (off(p) + f64::EPSILON).min(1.0) / least
                    })
                };
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
                *product *= 1.0 - p.min(cap);
            }
        }
        for (product, p) in products.iter_mut().zip(tail) {
            *product *= 1.0 - p.min(cap);
        }
        sum += products.iter().map(|x| x.log2()).sum::<f64>();
    }
    sum
}
