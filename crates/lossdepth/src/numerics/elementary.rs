//! Exponentials and logarithms in plain Rust without branches, to be called from within
//! [`vectorised`](super::simd::vectorised).

/// $e^x$ for $x \le 0$, within 1 ulp; results below the smallest normal number are flushed to about 1e-307.
#[inline(always)]
pub(crate) fn exp_neg(x: f64) -> f64 {
    const LOG2_E: f64 = std::f64::consts::LOG2_E;
    const LN2_HI: f64 = 6.931_471_803_691_238e-1;
    const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;
    // Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let x = if x < -707.0 { -707.0 } else { x };
    let shifted = x.mul_add(LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN2_LO, k.mul_add(-LN2_HI, x));
    // The best polynomial of degree 11 with the first two terms fixed: relative error below 2^-55.
    let mut p: f64 = 2.510_038_549_551_032e-08;
    p = p.mul_add(r, 2.762_008_844_540_974_6e-07);
    p = p.mul_add(r, 2.755_726_845_999_706_4e-06);
    p = p.mul_add(r, 2.480_152_129_595_437_6e-05);
    p = p.mul_add(r, 0.000_198_412_698_630_536_18);
    p = p.mul_add(r, 0.001_388_888_891_721_371_7);
    p = p.mul_add(r, 0.008_333_333_333_330_062);
    p = p.mul_add(r, 0.041_666_666_666_624_13);
    p = p.mul_add(r, 0.166_666_666_666_666_69);
    p = p.mul_add(r, 0.500_000_000_000_000_1);
    p = p.mul_add(r, 1.0);
    p = p.mul_add(r, 1.0);
    let power = f64::from_bits((shifted.to_bits().wrapping_add(1023)) << 52);
    p * power
}

/// $e^x$ for $x \le 0$ in single precision, within 2 ulp; results below 1e-26 are flushed to about that,
/// so that products of two of them are not subnormal.
#[inline(always)]
pub(crate) fn exp_neg_single(x: f32) -> f32 {
    const LN2_HI: f32 = 0.693_359_4;
    const LN2_LO: f32 = -2.121_944_4e-4;
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = if x < -60.0 { -60.0 } else { x };
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN2_LO, k.mul_add(-LN2_HI, x));
    let mut p: f32 = 0.001_393_365_2;
    p = p.mul_add(r, 0.008_363_182);
    p = p.mul_add(r, 0.041_666_465);
    p = p.mul_add(r, 0.166_665_77);
    p = p.mul_add(r, 0.5);
    p = p.mul_add(r, 1.0);
    p = p.mul_add(r, 1.0);
    let power = f32::from_bits((shifted.to_bits().wrapping_add(127)) << 23);
    p * power
}

/// $\ln(1 + e)$ for $0 \le e \le 1$, through $2 \operatorname{artanh}(e / (2 + e))$.
#[inline(always)]
pub(crate) fn ln_1p_unit(e: f64) -> f64 {
    ln_1p_from(e / (2.0 + e))
}

/// $2 \operatorname{artanh}(s)$ for $0 \le s \le 1/3$.
#[inline(always)]
pub(crate) fn ln_1p_from(s: f64) -> f64 {
    let t = s * s; // at most 1/9
    // The best polynomial for (artanh(s) / s - 1) / t, with an error below 2^-57.
    let mut p: f64 = 0.080_820_228_059_717_66;
    p = t.mul_add(p, 0.044_003_692_430_723_37);
    p = t.mul_add(p, 0.060_005_364_047_953_56);
    p = t.mul_add(p, 0.066_570_721_048_274_68);
    p = t.mul_add(p, 0.076_927_850_324_793_12);
    p = t.mul_add(p, 0.090_908_947_180_664_29);
    p = t.mul_add(p, 0.111_111_113_587_139_32);
    p = t.mul_add(p, 0.142_857_142_835_543_8);
    p = t.mul_add(p, 0.200_000_000_000_072_92);
    p = t.mul_add(p, 0.333_333_333_333_333_3);
    2.0 * t.mul_add(p * s, s)
}

/// A bound on $(s + d) \ln(1 + d / s) - d$ for $|d| \le$ `off`, $d \ge -s$: the relative entropy of $s + d$ and $s$,
/// where $s$ may underflow and only its logarithm is known.
///
/// With $x = d / s$ that is $s \cdot ((1 + x) \ln(1 + x) - x)$, in which the bracket is at most $x^2$; at most 1 for
/// $x \le 0$; and rising for $x \ge 0$.
pub(crate) fn entropy(s: f64, ln_s: f64, off: f64) -> f64 {
    if off <= s {
        return if s > 0.0 { off / s * off } else { 0.0 };
    }
    s.max((s + off) * ((s + off).ln() - ln_s) - off)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_log_match_the_standard_library() {
        for i in 0..200_000 {
            let x = -f64::from(i) * 0.0035;
            let (ours, std) = (exp_neg(x), x.exp());
            assert!((ours - std).abs() <= 4e-16 * std, "exp({x}): {ours:e} {std:e}");
            let (ours, std) = (ln_1p_unit(std), std.ln_1p());
            assert!((ours - std).abs() <= 8e-16 * std, "ln_1p: {ours:e} {std:e}");
        }
        for i in 0..20_000_u16 {
            let x = -f32::from(i) * 0.003;
            let (ours, std) = (f64::from(exp_neg_single(x)), f64::from(x).exp());
            assert!((ours - std).abs() <= 2.5e-7 * std, "exp({x}): {ours:e} {std:e}");
        }
        assert!(exp_neg_single(-1e9) > 0.0 && exp_neg_single(-1e9) < 1e-26);
        assert_eq!(exp_neg_single(0.0), 1.0);
        assert!(exp_neg(-1e9) > 0.0 && exp_neg(-1e9) < 1e-300);
        assert_eq!(exp_neg(0.0), 1.0);
    }
}
