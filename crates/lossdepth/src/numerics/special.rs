//! The distribution functions behind consistency factors and cut-offs.
//!
//! Small versions of what a statistics library offers, good to about 12 digits for up to some thousand
//! degrees of freedom.

/// The distribution function $P(\chi^2_k \le x)$ of the $\chi^2$ distribution with `k` degrees of freedom.
pub(crate) fn chi2_cdf(x: f64, k: usize) -> f64 {
    gamma(k as f64 / 2.0, x / 2.0).0
}

/// The number $q$ with $P(\chi^2_k \le q) = p$, for $0 < p < 1$; 0 below and infinity above.
///
/// Newton's method from Wilson and Hilferty's approximation; a step that leaves the bracket known so far is replaced by a
/// bisection, so the search converges.
pub(crate) fn chi2_quantile(p: f64, k: usize) -> f64 {
    if p <= 0.0 || k == 0 {
        return 0.0;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let a = k as f64 / 2.0;
    let spread = 2.0 / (9.0 * k as f64);
    let cube = 1.0 - spread + normal_quantile(p) * spread.sqrt();
    // Far in the lower tail the approximation is poor; there P is its leading term x^a / Γ(a + 1).
    let tail = ((p.ln() + ln_gamma(a + 1.0)) / a).exp();
    let mut x = if cube > 0.3 { a * cube.powi(3) } else { tail };
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..100 {
        // In the upper half compare the upper tail: 1 - p is exact there.
        let (lower, upper) = gamma(a, x);
        let miss = if p > 0.5 { (1.0 - p) - upper } else { lower - p };
        if miss > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let density = ((a - 1.0) * x.ln() - x - ln_gamma(a)).exp();
        let mut next = x - miss / density;
        if !(next > low && next < high) {
            next = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * x };
        }
        if (next - x).abs() <= 4.0 * f64::EPSILON * x {
            break;
        }
        x = next;
    }
    2.0 * x
}

/// The regularised incomplete gamma function
/// $P(a, x) = \frac{1}{\Gamma(a)} \int_0^x t^{a-1} e^{-t} dt$ and its complement $1 - P(a, x)$:
/// by the power series for small $x$, by the continued fraction of the complement for large $x$.
fn gamma(a: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * f64::EPSILON {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        let lower = (front * sum).min(1.0);
        (lower, 1.0 - lower)
    } else {
        let upper = front * upper_fraction(a, x);
        (1.0 - upper, upper)
    }
}

/// The continued fraction of $x^{-a} e^x \int_x^\infty t^{a-1} e^{-t} dt$ for $x > a$, by Lentz's method.
fn upper_fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (f64::INFINITY, 1.0 / b);
    let mut value = d;
    for i in 1..100_000 {
        let i = f64::from(i);
        let numerator = i * (a - i);
        b += 2.0;
        d = 1.0 / (b + numerator * d);
        c = b + numerator / c;
        value *= c * d;
        if (c * d - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    value
}

/// $\ln \Gamma(a)$ for $a > 0$: Stirling's series, reached by the recurrence from below 10.
fn ln_gamma(a: f64) -> f64 {
    let (mut x, mut product) = (a, 1.0);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0
        - y * (1.0 / 360.0
            - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y * (1.0 / 1188.0 - y * 691.0 / 360_360.0)))))
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - f64::ln(product)
}

/// The number $z$ with $\Phi(z) = p$ for the normal distribution function $\Phi$: Wichura's rational
/// approximations (1988, algorithm AS 241, PPND16), good to about 16 digits.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(&CENTRAL, r);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail <= 0.0 {
        return q.signum() * f64::INFINITY;
    }
    let r = (-tail.ln()).sqrt();
    q.signum() * if r <= 5.0 { ratio(&MIDDLE, r - 1.6) } else { ratio(&FAR, r - 5.0) }
}

/// Numerator over denominator, coefficients from the constant upwards.
fn ratio([numerator, denominator]: &[[f64; 8]; 2], r: f64) -> f64 {
    let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * r + c);
    horner(numerator) / horner(denominator)
}

/// $|p - 1/2| \le 0.425$, in $0.425^2 - (p - 1/2)^2$.
const CENTRAL: [[f64; 8]; 2] = [
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
];

/// Tail above $e^{-25}$, in $\sqrt{-\ln(\text{tail})} - 1.6$.
const MIDDLE: [[f64; 8]; 2] = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];

/// Tail below $e^{-25}$, in $\sqrt{-\ln(\text{tail})} - 5$.
const FAR: [[f64; 8]; 2] = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_887_9,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Degrees of freedom $k$, $p$, the quantile and $P(\chi^2_{k+2} \le q)$ by SciPy 1.17.1.
    const CHI2: [(usize, f64, f64, f64); 18] = [
        (1, 1e-6, 1.570_796_326_795_718_7e-12, 5.235_987_755_984_626e-19),
        (1, 0.5, 0.454_936_423_119_572, 0.071_325_917_744_259_23),
        (1, 0.975, 5.023_886_187_314_888, 0.829_943_587_245_932_6),
        (2, 1e-6, 2.000_001_000_000_667_6e-6, 5.000_001_666_667_512e-13),
        (2, 0.5, 1.386_294_361_119_891, 0.153_426_409_720_027_44),
        (2, 0.75, 2.772_588_722_239_781, 0.403_426_409_720_027_25),
        (3, 0.75, 4.108_344_935_632_312, 0.466_075_160_674_837_73),
        (3, 0.975, 9.348_403_604_496_148, 0.904_051_219_004_923_6),
        (3, 0.999_999_999, 44.841_275_388_361_254, 0.999_999_984_372_284_3),
        (10, 1e-6, 0.338_126_003_242_954_5, 2.806_213_433_926_722_8e-8),
        (10, 0.75, 12.548_861_396_889_377, 0.597_334_902_726_036),
        (10, 0.975, 20.483_177_350_807_388, 0.941_519_652_694_225_3),
        (50, 1e-6, 15.855_062_815_648_32, 3.002_861_688_812_759_7e-7),
        (50, 0.5, 49.334_936_733_976_83, 0.420_654_294_595_548_15),
        (50, 0.975, 71.420_195_187_506_42, 0.961_804_315_739_900_3),
        (1000, 1e-6, 801.624_437_606_865_7, 7.941_585_433_431_425e-7),
        (1000, 0.5, 999.333_412_403_381, 0.482_163_714_460_996_7),
        (1000, 0.975, 1_089.530_912_774_913_5, 0.972_310_073_628_348_9),
    ];

    #[test]
    fn chi2_agrees_with_scipy() {
        for (k, p, quantile, above) in CHI2 {
            let ours = chi2_quantile(p, k);
            assert!((ours / quantile - 1.0).abs() < 1e-11, "quantile k={k} p={p}: {ours} not {quantile}");
            let ours = chi2_cdf(quantile, k + 2);
            assert!((ours / above - 1.0).abs() < 1e-11, "cdf k={k} p={p}: {ours} not {above}");
        }
    }

    #[test]
    fn normal_quantile_agrees_with_scipy() {
        for (p, quantile) in [
            (1e-300, -37.047_096_299_361_2),
            (1e-12, -7.034_483_825_301_131),
            (0.01, -2.326_347_874_040_840_8),
            (0.3, -0.524_400_512_708_040_9),
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.999_999_999, 5.997_807_019_601_637),
        ] {
            let ours = normal_quantile(p);
            assert!(
                (ours - quantile).abs() <= 1e-14 * (1.0 + f64::abs(quantile)),
                "{p}: {ours} not {quantile}"
            );
        }
    }

    #[test]
    fn the_ends_are_the_ends() {
        assert_eq!((chi2_quantile(0.0, 3), chi2_quantile(1.0, 3)), (0.0, f64::INFINITY));
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(chi2_cdf(0.0, 3), 0.0);
    }
}
