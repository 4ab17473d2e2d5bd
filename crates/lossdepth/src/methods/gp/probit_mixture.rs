//! The logistic function averaged over a Gaussian, by the five error functions of Williams and Barber.
//!
//! $\sigma(x) \approx \sum_k c_k \frac12 (1 + \operatorname{erf}(\lambda_k x))$, so that for $x \sim N(f, v)$
//!
//! $$ \bar\pi(f, v) = \mathbb{E} \sigma(x) \approx
//!    \sum_k \frac{c_k}{2} \left( 1 + \operatorname{erf} \frac{\lambda_k f}{\sqrt{1 + 2 \lambda_k^2 v}} \right). $$
//!
//! The constants are those that scikit-learn's `GaussianProcessClassifier` uses, and so are the values. They are right
//! to 1e-3 for $|f| \le 4$; beyond $|f| \approx 8$ their tail falls faster than the logistic function's. Probabilities
//! are cut off at [`LEAST`].

use crate::numerics::elementary::exp_neg;
use crate::numerics::simd::vectorised;
use std::f64::consts::LOG2_E;
use std::sync::LazyLock;

const LAMBDAS: [f64; 5] = [0.41, 0.4, 0.37, 0.44, 0.39];
const COEFS: [f64; 5] =
    [-1_854.821_415_1, 3_516.898_936_46, 221.293_467_12, 128.123_238_05, -2_010.494_226_54];

/// Probabilities below this count as this: 40 bits.
pub(super) const LEAST: f64 = 1e-12;

/// Nodes per unit of the table, its end, and the terms of each series.
const NODES: usize = 16;
const END: usize = 6;
const TERMS: usize = 11;

/// The Taylor series of the error function around the nodes.
///
/// Its derivative $y = 2 e^{-x^2} / \sqrt\pi$ obeys $y' = -2 x y$, which gives one coefficient after the other; the value
/// at the next node is the series of the last one.
static TABLE: LazyLock<Vec<[f64; TERMS]>> = LazyLock::new(|| {
    let (step, mut value) = (1.0 / NODES as f64, 0.0);
    (0..=NODES * END)
        .map(|i| {
            let x = i as f64 * step;
            let mut slopes = [0.0; TERMS + 4];
            slopes[0] = 2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp();
            slopes[1] = -2.0 * x * slopes[0];
            for k in 1..TERMS + 3 {
                slopes[k + 1] = -2.0 * (x * slopes[k] + slopes[k - 1]) / (k + 1) as f64;
            }
            let mut terms = [0.0; TERMS];
            terms[0] = value;
            for k in 1..TERMS {
                terms[k] = slopes[k - 1] / k as f64;
            }
            let rest = (0..TERMS + 4).rev().fold(0.0, |sum, k| (sum + slopes[k] / (k + 1) as f64) * step);
            value += rest;
            terms
        })
        .collect()
});

/// The error function, right to 2e-16.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the table's end")]
#[inline(always)]
fn erf(table: &[[f64; TERMS]], x: f64) -> f64 {
    let size = x.abs().min(END as f64);
    let node = (size * NODES as f64 + 0.5) as usize;
    let h = size - node as f64 / NODES as f64;
    let terms = &table[node];
    let mut sum = terms[TERMS - 1];
    for k in (0..TERMS - 1).rev() {
        sum = sum.mul_add(h, terms[k]);
    }
    sum.copysign(x)
}

/// $\bar\pi(f, v)$.
#[inline(always)]
fn averaged(table: &[[f64; TERMS]], f: f64, v: f64) -> f64 {
    let mut sum = 0.0;
    for k in 0..5 {
        let l = LAMBDAS[k];
        sum += COEFS[k] * (0.5 * erf(table, l * f / (2.0 * l * l).mul_add(v, 1.0).sqrt()));
    }
    sum + 0.5 * COEFS.iter().sum::<f64>()
}

/// The loss $-\log_2$ of the probability of the right side: the sample's, or the query's.
#[inline(always)]
fn bits(table: &[[f64; TERMS]], f: f64, v: f64, query: bool) -> f64 {
    let p = averaged(table, f, v);
    let p = if query { 1.0 - p } else { p };
    -p.clamp(LEAST, 1.0).log2()
}

/// A loss and its derivatives in mean and variance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slope {
    pub(super) value: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// The losses of probabilities averaged over $N(f_i, v_i)$, with their slopes if these are asked for.
pub(super) fn losses(f: &[f64], v: &[f64], query: bool, slopes: bool, out: &mut [Slope]) {
    let table: &[[f64; TERMS]] = &TABLE;
    vectorised(
        #[inline(always)]
        || {
            for ((&f, &v), out) in f.iter().zip(v).zip(out) {
                let p = averaged(table, f, v);
                let (mut mean, mut variance) = (0.0, 0.0);
                for k in 0..if slopes { 5 } else { 0 } {
                    let (l, s) = (LAMBDAS[k], (2.0 * LAMBDAS[k] * LAMBDAS[k]).mul_add(v, 1.0));
                    let x = l * f / s.sqrt();
                    let density = COEFS[k] / std::f64::consts::PI.sqrt() * (l / s.sqrt()) * exp_neg(-x * x);
                    mean += density;
                    variance -= density * (f * l * l / s);
                }
                let sign = if query { -1.0 } else { 1.0 };
                let p = if query { 1.0 - p } else { p };
                let inner = p > LEAST && p < 1.0;
                let scale = if inner { -LOG2_E * sign / p } else { 0.0 };
                *out = Slope {
                    value: -p.clamp(LEAST, 1.0).log2(),
                    mean: scale * mean,
                    variance: scale * variance,
                };
            }
        },
    );
}

/// How far the losses may be off if the means are within `shift` and the variances between `low` and `high`:
/// $\sum_i c_i \max |h(f, v) - h_i|$ over all of these.
///
/// The probability grows with the mean and comes nearer to ½ with the variance, so that two corners are enough.
pub(super) fn uncertainty(
    f: &[f64],
    (low, high): (&[f64], &[f64]),
    shift: f64,
    query: bool,
    values: &[Slope],
    weights: &[f64],
) -> f64 {
    let table: &[[f64; TERMS]] = &TABLE;
    let n = f.len();
    let (low, high, values, weights) = (&low[..n], &high[..n], &values[..n], &weights[..n]);
    vectorised(
        #[inline(always)]
        || {
            let mut total = 0.0;
            for i in 0..n {
                let (left, right) = (f[i] - shift, f[i] + shift);
                let least = bits(table, left, if left > 0.0 { high[i] } else { low[i] }, query);
                let most = bits(table, right, if right > 0.0 { low[i] } else { high[i] }, query);
                let value = values[i].value;
                total += weights[i] * (least - value).abs().max((most - value).abs());
            }
            total
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_is_right() {
        // From mpmath, to 17 digits.
        let known = [
            (0.0, 0.0),
            (0.03, 0.033_841_222_341_735_433),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (1.7, 0.983_790_458_590_774_6),
            (2.5, 0.999_593_047_982_555),
            (4.0, 0.999_999_984_582_742_1),
            (9.0, 1.0),
        ];
        for (x, exact) in known {
            assert!((erf(&TABLE, x) - exact).abs() <= 1e-15, "erf({x}) {:e}", erf(&TABLE, x) - exact);
            assert_eq!(erf(&TABLE, -x), -erf(&TABLE, x));
        }
    }

    #[test]
    fn the_average_is_near_the_integral() {
        for f in [-4.0, -1.3, 0.0, 0.4, 2.0, 5.0] {
            for v in [1e-9, 0.1, 0.9, 4.0f64] {
                let (mut integral, mut mass) = (0.0, 0.0);
                for i in -4000..=4000 {
                    let x = f64::from(i) * 0.0025;
                    let density = (-0.5 * x * x).exp();
                    integral += density / (1.0 + (-(f + v.sqrt() * x)).exp());
                    mass += density;
                }
                assert!((averaged(&TABLE, f, v) - integral / mass).abs() < 1e-3, "{f} {v}");
            }
        }
    }

    #[test]
    fn probabilities_grow_with_the_mean_and_shrink_with_the_variance() {
        // Up to rounding, which the coefficients make some 1e-12.
        for i in 0..1200 {
            for j in 0..140 {
                let (f, v) = (f64::from(i) * 0.01, 1e-6 * 1.3f64.powi(j));
                let here = averaged(&TABLE, f, v);
                assert!(here <= averaged(&TABLE, f + 0.01, v) + 4e-12, "{f} {v}");
                assert!(here >= averaged(&TABLE, f, 1.3 * v) - 4e-12, "{f} {v}");
            }
        }
    }

    #[test]
    fn slopes_match_differences() {
        for query in [false, true] {
            for f in [-4.0, -0.3, 1.0, 6.0] {
                for v in [0.05, 0.8] {
                    let at = |f: f64, v: f64| {
                        let mut out = [Slope::default()];
                        losses(&[f], &[v], query, true, &mut out);
                        out[0]
                    };
                    // The coefficients reach 3500, so a loss carries about 1e-11 of rounding.
                    let (h, slope) = (1e-4, at(f, v));
                    let mean = (at(f + h, v).value - at(f - h, v).value) / (2.0 * h);
                    let variance = (at(f, v + h).value - at(f, v - h).value) / (2.0 * h);
                    assert!((mean - slope.mean).abs() < 1e-5 * (1.0 + mean.abs()), "{f} {v} {query}");
                    assert!(
                        (variance - slope.variance).abs() < 1e-5 * (1.0 + variance.abs()),
                        "{f} {v} {query}"
                    );
                }
            }
        }
    }
}
