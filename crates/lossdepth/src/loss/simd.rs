//! Vector code for the transcendental losses.
//!
//! Plain Rust without branches, to be called from within [`vectorised`].

use super::Walk;
pub(crate) use crate::simd::vectorised;
use crate::simd::{LANES, fold};

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
    // Taylor to degree 13: |r| <= ln 2 / 2, remainder below 2^-57.
    let mut p: f64 = 1.605_904_383_682_161_5e-10;
    p = p.mul_add(r, 2.087_675_698_786_81e-9);
    p = p.mul_add(r, 2.505_210_838_544_172e-8);
    p = p.mul_add(r, 2.755_731_922_398_589e-7);
    p = p.mul_add(r, 2.755_731_922_398_589_3e-6);
    p = p.mul_add(r, 2.480_158_730_158_73e-5);
    p = p.mul_add(r, 1.984_126_984_126_984e-4);
    p = p.mul_add(r, 1.388_888_888_888_889e-3);
    p = p.mul_add(r, 8.333_333_333_333_333e-3);
    p = p.mul_add(r, 4.166_666_666_666_666_4e-2);
    p = p.mul_add(r, 1.666_666_666_666_666_6e-1);
    p = p.mul_add(r, 0.5);
    p = p.mul_add(r, 1.0);
    p = p.mul_add(r, 1.0);
    let power = f64::from_bits((shifted.to_bits().wrapping_add(1023)) << 52);
    p * power
}

/// $\ln(1 + e)$ for $0 \le e \le 1$, through $2 \operatorname{artanh}(e / (2 + e))$.
#[inline(always)]
pub(crate) fn ln_1p_unit(e: f64) -> f64 {
    let s = e / (2.0 + e);
    let t = s * s; // at most 1/9: the terms fall by a factor of nine
    let mut p: f64 = 1.0 / 35.0;
    p = t.mul_add(p, 1.0 / 33.0);
    p = t.mul_add(p, 1.0 / 31.0);
    p = t.mul_add(p, 1.0 / 29.0);
    p = t.mul_add(p, 1.0 / 27.0);
    p = t.mul_add(p, 1.0 / 25.0);
    p = t.mul_add(p, 1.0 / 23.0);
    p = t.mul_add(p, 1.0 / 21.0);
    p = t.mul_add(p, 1.0 / 19.0);
    p = t.mul_add(p, 1.0 / 17.0);
    p = t.mul_add(p, 1.0 / 15.0);
    p = t.mul_add(p, 1.0 / 13.0);
    p = t.mul_add(p, 1.0 / 11.0);
    p = t.mul_add(p, 1.0 / 9.0);
    p = t.mul_add(p, 1.0 / 7.0);
    p = t.mul_add(p, 1.0 / 5.0);
    p = t.mul_add(p, 1.0 / 3.0);
    2.0 * t.mul_add(p * s, s)
}

/// The loop behind [`Smooth::walk`](super::Smooth::walk): `kernel(margin)` gives slope and curvature.
#[inline(always)]
pub(crate) fn walk(
    m: &[f64],
    d: &[f64],
    step: f64,
    weights: &[f64],
    slopes: &mut [f64],
    kernel: impl Fn(f64) -> (f64, f64),
) -> Walk {
    let n = m.len();
    let (d, weights, slopes) = (&d[..n], &weights[..n], &mut slopes[..n]);
    let (mut along, mut total, mut curvature) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let body = n - n % LANES;
    let chunks = m[..body].chunks_exact(LANES).zip(d.chunks_exact(LANES)).zip(weights.chunks_exact(LANES));
    for (((m, d), c), s) in chunks.zip(slopes.chunks_exact_mut(LANES)) {
        for k in 0..LANES {
            let (slope, curve) = kernel(step.mul_add(d[k], m[k]));
            let slope = slope * c[k];
            s[k] = slope;
            along[k] = slope.mul_add(d[k], along[k]);
            total[k] += slope;
            curvature[k] = curve.mul_add(c[k], curvature[k]);
        }
    }
    let mut sums = Walk { along: fold(along), total: fold(total), curvature: fold(curvature) };
    for i in body..n {
        let (slope, curve) = kernel(step.mul_add(d[i], m[i]));
        slopes[i] = slope * weights[i];
        sums.add(slopes[i], d[i], curve * weights[i]);
    }
    sums
}

/// $\sum_i c_i \, \text{kernel}(m_i)$.
#[inline(always)]
pub(crate) fn weighted_sum(margins: &[f64], weights: &[f64], kernel: impl Fn(f64) -> f64) -> f64 {
    let n = margins.len();
    let weights = &weights[..n];
    let mut sums = [0.0; LANES];
    let body = n - n % LANES;
    for (m, c) in margins[..body].chunks_exact(LANES).zip(weights.chunks_exact(LANES)) {
        for k in 0..LANES {
            sums[k] = c[k].mul_add(kernel(m[k]), sums[k]);
        }
    }
    (body..n).fold(fold(sums), |sum, i| weights[i].mul_add(kernel(margins[i]), sum))
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
        assert!(exp_neg(-1e9) > 0.0 && exp_neg(-1e9) < 1e-300);
        assert_eq!(exp_neg(0.0), 1.0);
    }
}
