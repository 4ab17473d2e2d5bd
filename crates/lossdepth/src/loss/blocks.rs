//! Loops over many margins at once, to be called from within [`vectorised`](crate::numerics::simd::vectorised).

use super::LineSums;
use crate::numerics::simd::{LANES, fold};

/// The loop behind [`Smooth::slopes_along`](super::Smooth::slopes_along): `kernel(margin)` gives slope and curvature.
#[inline(always)]
pub(crate) fn slopes_along(
    m: &[f64],
    d: &[f64],
    step: f64,
    weights: &[f64],
    slopes: &mut [f64],
    kernel: impl Fn(f64) -> (f64, f64),
) -> LineSums {
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
    let mut sums = LineSums { along: fold(along), total: fold(total), curvature: fold(curvature) };
    for i in body..n {
        let (slope, curve) = kernel(step.mul_add(d[i], m[i]));
        slopes[i] = slope * weights[i];
        sums.add(slopes[i], d[i], curve * weights[i]);
    }
    sums
}

/// [`slopes_along`] in single precision.
#[inline(always)]
pub(crate) fn slopes_along_single(
    m: &[f32],
    d: &[f32],
    step: f32,
    weights: &[f32],
    slopes: &mut [f32],
    kernel: impl Fn(f32) -> (f32, f32),
) -> LineSums {
    const WIDE: usize = 2 * LANES;
    let n = m.len();
    let (d, weights, slopes) = (&d[..n], &weights[..n], &mut slopes[..n]);
    let (mut along, mut total, mut curvature) = ([0.0f32; WIDE], [0.0f32; WIDE], [0.0f32; WIDE]);
    let body = n - n % WIDE;
    let chunks = m[..body].chunks_exact(WIDE).zip(d.chunks_exact(WIDE)).zip(weights.chunks_exact(WIDE));
    for (((m, d), c), s) in chunks.zip(slopes.chunks_exact_mut(WIDE)) {
        for k in 0..WIDE {
            let (slope, curve) = kernel(step.mul_add(d[k], m[k]));
            let slope = slope * c[k];
            s[k] = slope;
            along[k] = slope.mul_add(d[k], along[k]);
            total[k] += slope;
            curvature[k] = curve.mul_add(c[k], curvature[k]);
        }
    }
    let sum = |lanes: [f32; WIDE]| lanes.iter().map(|x| f64::from(*x)).sum::<f64>();
    let mut sums = LineSums { along: sum(along), total: sum(total), curvature: sum(curvature) };
    for i in body..n {
        let (slope, curve) = kernel(step.mul_add(d[i], m[i]));
        slopes[i] = slope * weights[i];
        sums.add(f64::from(slopes[i]), f64::from(d[i]), f64::from(curve * weights[i]));
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
