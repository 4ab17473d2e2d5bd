//! The logistic function averaged over a Gaussian, by the five error functions of Williams and Barber (G3).
//!
//! The constants are those of scikit-learn's `GaussianProcessClassifier`, and so are the values. Probabilities are cut off at
//! [`MIN_PROBABILITY`]. That $\bar\pi$ increases in $f$ and moves towards ½ as $v$ grows follows from an inequality in one
//! variable (G18), which a test of this module verifies; the rounding of $\bar\pi$ is derived in `docs/math/gp.md` too.

use crate::numerics::elementary::exp_neg;
use crate::numerics::simd::vectorised;
use std::f64::consts::LOG2_E;
use std::sync::LazyLock;

const LAMBDA: [f64; 5] = [0.41, 0.4, 0.37, 0.44, 0.39];
const ZETA: [f64; 5] =
    [-1_854.821_415_1, 3_516.898_936_46, 221.293_467_12, 128.123_238_05, -2_010.494_226_54];

/// Probabilities below this are replaced by it: a loss of at most 40 bits.
const MIN_PROBABILITY: f64 = 1e-12;
/// A bound on the rounding error of a computed $\bar\pi$, derived in `docs/math/gp.md`.
const PROBABILITY_ROUNDING: f64 = 4e-12;

/// Nodes per unit of the table, its end, and the terms of each series.
const NODES: usize = 16;
const END: usize = 6;
const TERMS: usize = 11;

/// The Taylor series of the error function at the nodes.
///
/// Its derivative $y = 2 e^{-x^2} / \sqrt\pi$ satisfies $y' = -2 x y$, which gives one coefficient after the
/// other; the value at the next node is the series at the last one.
static TABLE: LazyLock<Vec<[f64; TERMS]>> = LazyLock::new(|| {
    let (step, mut value) = (1.0 / NODES as f64, 0.0);
    (0..=NODES * END)
        .map(|i| {
            let x = i as f64 * step;
            let mut derivatives = [0.0; TERMS + 4];
            derivatives[0] = 2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp();
            derivatives[1] = -2.0 * x * derivatives[0];
            for k in 1..TERMS + 3 {
                derivatives[k + 1] = -2.0 * (x * derivatives[k] + derivatives[k - 1]) / (k + 1) as f64;
            }
            let mut terms = [0.0; TERMS];
            terms[0] = value;
            for k in 1..TERMS {
                terms[k] = derivatives[k - 1] / k as f64;
            }
            let increment =
                (0..TERMS + 4).rev().fold(0.0, |sum, k| (sum + derivatives[k] / (k + 1) as f64) * step);
            value += increment;
            terms
        })
        .collect()
});

/// The error function within $4.7 u$, $u = 2^{-53}$.
///
/// The values at the nodes are within $4 u$ (a test compares all of them with exact ones). The last
/// addition of Horner's scheme rounds by $\frac12 u$, the earlier ones and the coefficients by less than
/// $\frac15 u$, since $|h| \le \frac1{32}$. The series omits less than $10^{-19}$, the end of the table
/// $10^{-16} / 4$.
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
fn mean_probability(table: &[[f64; TERMS]], f: f64, v: f64) -> f64 {
    let mut sum = 0.0;
    for k in 0..5 {
        let l = LAMBDA[k];
        sum += ZETA[k] * (0.5 * erf(table, l * f / (2.0 * l * l).mul_add(v, 1.0).sqrt()));
    }
    sum + 0.5 * ZETA.iter().sum::<f64>()
}

/// The loss $-\log_2$ of the probability of the true class, for $\bar\pi$ raised by `change`: of the sample's
/// class, or of the query's.
#[inline(always)]
fn loss(table: &[[f64; TERMS]], f: f64, v: f64, change: f64, query: bool) -> f64 {
    let p = mean_probability(table, f, v) + change;
    let p = if query { 1.0 - p } else { p };
    -p.clamp(MIN_PROBABILITY, 1.0).log2()
}

/// A loss and its derivatives in mean and variance of the latent function.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LossDerivatives {
    pub(super) value: f64,
    pub(super) d_mean: f64,
    pub(super) d_variance: f64,
}

/// The losses of probabilities averaged over $N(f_i, v_i)$, with their derivatives if `derivatives`.
pub(super) fn losses(f: &[f64], v: &[f64], query: bool, derivatives: bool, out: &mut [LossDerivatives]) {
    let table: &[[f64; TERMS]] = &TABLE;
    vectorised!({
        for ((&f, &v), out) in f.iter().zip(v).zip(out) {
            let p = mean_probability(table, f, v);
            let (mut mean, mut variance) = (0.0, 0.0);
            for k in 0..if derivatives { 5 } else { 0 } {
                let (l, s) = (LAMBDA[k], (2.0 * LAMBDA[k] * LAMBDA[k]).mul_add(v, 1.0));
                let x = l * f / s.sqrt();
                let density = ZETA[k] / std::f64::consts::PI.sqrt() * (l / s.sqrt()) * exp_neg(-x * x);
                mean += density;
                variance -= density * (f * l * l / s);
            }
            let sign = if query { -1.0 } else { 1.0 };
            let p = if query { 1.0 - p } else { p };
            let in_range = p > MIN_PROBABILITY && p < 1.0;
            let scale = if in_range { -LOG2_E * sign / p } else { 0.0 };
            *out = LossDerivatives {
                value: -p.clamp(MIN_PROBABILITY, 1.0).log2(),
                d_mean: scale * mean,
                d_variance: scale * variance,
            };
        }
    });
}

/// A bound on $\sum_i c_i |h(f, v) - h_i|$ over all means within `f_error` of $f_i$ and all variances between
/// `low` and `high`, where $h_i$ are the computed losses in `values`.
///
/// The probability is monotone in mean and variance (see above), so two corners are enough (G16). Their
/// rounding is in the bound.
pub(super) fn loss_error(
    f: &[f64],
    (low, high): (&[f64], &[f64]),
    f_error: f64,
    query: bool,
    values: &[LossDerivatives],
    weights: &[f64],
) -> f64 {
    let table: &[[f64; TERMS]] = &TABLE;
    let n = f.len();
    let (low, high, values, weights) = (&low[..n], &high[..n], &values[..n], &weights[..n]);
    vectorised!({
        let mut total = 0.0;
        for i in 0..n {
            let (left, right) = (f[i] - f_error, f[i] + f_error);
            let (v_left, v_right) =
                (if left > 0.0 { high[i] } else { low[i] }, if right > 0.0 { low[i] } else { high[i] });
            let at_left = loss(table, left, v_left, -PROBABILITY_ROUNDING, query);
            let at_right = loss(table, right, v_right, PROBABILITY_ROUNDING, query);
            let value = values[i].value;
            total += weights[i] * (at_left - value).abs().max((at_right - value).abs());
        }
        total
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// erf at the nodes, from mpmath to 17 digits.
    #[rustfmt::skip]
    #[allow(clippy::excessive_precision)]
    const ERF_AT_NODES: [f64; NODES * END + 1] = [
        0.0, 0.070_431_977_722_387_078, 0.140_316_204_801_333_82, 0.209_117_677_059_375_85,
        0.276_326_390_168_236_93, 0.341_468_633_501_595_01, 0.404_116_909_434_822_3, 0.463_898_135_749_932_97,
        0.520_499_877_813_046_54, 0.573_674_456_615_591_95, 0.623_240_882_188_417_97, 0.669_084_662_886_081_28,
        0.711_155_633_653_515_13, 0.749_464_025_586_362_07, 0.784_075_061_059_859_66, 0.815_102_401_034_399_8,
        0.842_700_792_949_714_87, 0.867_058_269_434_952_76, 0.888_388_231_701_707_76, 0.906_921_719_781_686_49,
        0.922_900_128_256_458_23, 0.936_568_574_711_388_71, 0.948_170_072_782_090_32, 0.957_940_606_056_460_06,
        0.966_105_146_475_310_73, 0.972_874_613_820_933_54, 0.978_443_733_239_983_66, 0.982_989_716_601_978_03,
        0.986_671_671_219_182_44, 0.989_630_625_794_775_18, 0.991_990_057_670_119_97, 0.993_856_806_395_213_2,
        0.995_322_265_018_952_73, 0.996_463_750_874_790_21, 0.997_345_970_640_517_66, 0.998_022_508_816_389_2,
        0.998_537_283_413_318_85, 0.998_925_926_709_277_62, 0.999_217_061_782_108_88, 0.999_433_456_745_419_84,
        0.999_593_047_982_555_04, 0.999_709_831_138_326_59, 0.999_794_624_263_858_78, 0.999_855_711_482_574_52,
        0.999_899_378_077_880_36, 0.999_930_349_245_607_36, 0.999_952_145_160_256_23, 0.999_967_364_712_852_44,
        0.999_977_909_503_001_41, 0.999_985_158_589_207_1, 0.999_990_103_265_374_75, 0.999_993_449_849_223_97,
        0.999_995_697_220_536_32, 0.999_997_194_687_395_83, 0.999_998_184_718_572_56, 0.999_998_834_174_651_03,
        0.999_999_256_901_627_66, 0.999_999_529_912_160_97, 0.999_999_704_859_807_49, 0.999_999_816_095_987_53,
        0.999_999_886_272_743_43, 0.999_999_930_201_586_81, 0.999_999_957_486_055_92, 0.999_999_974_300_809_39,
        0.999_999_984_582_742_1, 0.999_999_990_821_070_98, 0.999_999_994_576_599_2, 0.999_999_996_819_876_95,
        0.999_999_998_149_425_86, 0.999_999_998_931_296_39, 0.999_999_999_387_516_7, 0.999_999_999_651_650_3,
        0.999_999_999_803_383_96, 0.999_999_999_889_870_68, 0.999_999_999_938_783_89, 0.999_999_999_966_231_99,
        0.999_999_999_981_514_95, 0.999_999_999_989_958_25, 0.999_999_999_994_586_59, 0.999_999_999_997_103_97,
        0.999_999_999_998_462_54, 0.999_999_999_999_190_02, 0.999_999_999_999_576_54, 0.999_999_999_999_780_31,
        0.999_999_999_999_886_9, 0.999_999_999_999_942_22, 0.999_999_999_999_970_71, 0.999_999_999_999_985_26,
        0.999_999_999_999_992_64, 0.999_999_999_999_996_35, 0.999_999_999_999_998_21, 0.999_999_999_999_999_13,
        0.999_999_999_999_999_58, 0.999_999_999_999_999_8, 0.999_999_999_999_999_9, 0.999_999_999_999_999_95,
        0.999_999_999_999_999_98,
    ];

    /// $2^{-53}$.
    const UNIT: f64 = 0.5 * f64::EPSILON;

    #[test]
    fn nodes_of_the_error_function_are_within_the_bound_that_the_rounding_is_derived_from() {
        for (node, exact) in TABLE.iter().zip(ERF_AT_NODES) {
            assert!((node[0] - exact).abs() <= 4.0 * UNIT, "{exact}: {:e}", node[0] - exact);
        }
    }

    #[test]
    fn error_function_is_odd_and_accurate_between_the_nodes() {
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
            assert!((erf(&TABLE, x) - exact).abs() <= 4.7 * UNIT, "erf({x}) {:e}", erf(&TABLE, x) - exact);
            assert_eq!(erf(&TABLE, -x), -erf(&TABLE, x));
        }
    }

    /// With the bound on the derivative between grid points this proves monotonicity, see the module's documentation.
    #[test]
    fn density_of_the_mixture_decreases_for_positive_arguments() {
        // Divided by e^{-λ² y} of the smallest λ, so that no term vanishes too early.
        let smallest = LAMBDA.iter().fold(1.0f64, |m, l| m.min(*l)).powi(2);
        let terms: Vec<(f64, f64)> =
            LAMBDA.iter().zip(ZETA).map(|(l, c)| (c * l.powi(3), l * l - smallest)).collect();
        let (step, end) = (1e-3, 500);
        let slope: f64 = terms.iter().map(|(c, rate)| c.abs() * rate).sum();
        for i in 0..=end * 1000 {
            let y = step * f64::from(i);
            let sum: f64 = terms.iter().map(|(c, rate)| c * (-rate * y).exp()).sum();
            assert!(sum > 0.5 * step * slope + 1e-10, "{y}: {sum}");
        }
        // Beyond the grid the term of the smallest λ, which is positive, outweighs all others.
        let others: f64 = terms
            .iter()
            .filter(|(_, rate)| *rate > 0.0)
            .map(|(c, rate)| c.abs() * (-rate * f64::from(end)).exp())
            .sum();
        let first: f64 = terms.iter().filter(|(_, rate)| *rate == 0.0).map(|(c, _)| c).sum();
        assert!(first > others, "{first} {others}");
    }

    #[test]
    fn mixture_is_within_a_thousandth_of_the_integral() {
        for f in [-4.0, -1.3, 0.0, 0.4, 2.0, 5.0] {
            for v in [1e-9, 0.1, 0.9, 4.0f64] {
                let (mut integral, mut mass) = (0.0, 0.0);
                for i in -4000..=4000 {
                    let x = f64::from(i) * 0.0025;
                    let density = (-0.5 * x * x).exp();
                    integral += density / (1.0 + (-(f + v.sqrt() * x)).exp());
                    mass += density;
                }
                assert!((mean_probability(&TABLE, f, v) - integral / mass).abs() < 1e-3, "{f} {v}");
            }
        }
    }

    #[test]
    fn computed_probabilities_are_monotone_up_to_rounding() {
        for i in 0..1200 {
            for j in 0..140 {
                let (f, v) = (f64::from(i) * 0.01, 1e-6 * 1.3f64.powi(j));
                let here = mean_probability(&TABLE, f, v);
                assert!(
                    here <= mean_probability(&TABLE, f + 0.01, v) + 2.0 * PROBABILITY_ROUNDING,
                    "{f} {v}"
                );
                assert!(here >= mean_probability(&TABLE, f, 1.3 * v) - 2.0 * PROBABILITY_ROUNDING, "{f} {v}");
            }
        }
    }

    #[test]
    fn derivatives_match_differences() {
        for query in [false, true] {
            for f in [-4.0, -0.3, 1.0, 6.0] {
                for v in [0.05, 0.8] {
                    let at = |f: f64, v: f64| {
                        let mut out = [LossDerivatives::default()];
                        losses(&[f], &[v], query, true, &mut out);
                        out[0]
                    };
                    // A loss carries up to some 1e-11 of rounding, so the step must not be too small.
                    let (h, slope) = (1e-4, at(f, v));
                    let mean = (at(f + h, v).value - at(f - h, v).value) / (2.0 * h);
                    let variance = (at(f, v + h).value - at(f, v - h).value) / (2.0 * h);
                    assert!((mean - slope.d_mean).abs() < 1e-5 * (1.0 + mean.abs()), "{f} {v} {query}");
                    assert!(
                        (variance - slope.d_variance).abs() < 1e-5 * (1.0 + variance.abs()),
                        "{f} {v} {query}"
                    );
                }
            }
        }
    }
}
