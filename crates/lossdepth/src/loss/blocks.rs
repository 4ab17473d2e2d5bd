//! Loops over many margins at once, to be called from within [`vectorised`](crate::numerics::simd::vectorised).

use super::LineSums;
use crate::numerics::linalg::Real;
use crate::numerics::simd::{LANES, fold};

/// The loop behind [`Smooth::slopes_along`](super::Smooth::slopes_along), for numbers of one precision: `kernel(margin)` gives
/// slope and curvature.
macro_rules! slopes_along {
    ($name:ident, $number:ty, $lanes:expr, $sum:expr) => {
        #[inline(always)]
        pub(crate) fn $name(
            m: &[$number],
            d: &[$number],
            step: $number,
            weights: &[$number],
            slopes: &mut [$number],
            kernel: impl Fn($number) -> ($number, $number),
        ) -> LineSums {
            const WIDE: usize = $lanes;
            let n = m.len();
            let (d, weights, slopes) = (&d[..n], &weights[..n], &mut slopes[..n]);
            let (mut along, mut total, mut curvature) = ([0.0; WIDE], [0.0; WIDE], [0.0; WIDE]);
            let body = n - n % WIDE;
            let chunks =
                m[..body].chunks_exact(WIDE).zip(d.chunks_exact(WIDE)).zip(weights.chunks_exact(WIDE));
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
            let mut sums = LineSums { along: $sum(along), total: $sum(total), curvature: $sum(curvature) };
            for i in body..n {
                let (slope, curve) = kernel(step.mul_add(d[i], m[i]));
                slopes[i] = slope * weights[i];
                sums.add(slopes[i].widened(), d[i].widened(), (curve * weights[i]).widened());
            }
            sums
        }
    };
}

slopes_along!(slopes_along, f64, LANES, fold);
slopes_along!(slopes_along_single, f32, 2 * LANES, sum_in_double);

#[inline(always)]
fn sum_in_double(lanes: [f32; 2 * LANES]) -> f64 {
    lanes.iter().map(|x| f64::from(*x)).sum()
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
