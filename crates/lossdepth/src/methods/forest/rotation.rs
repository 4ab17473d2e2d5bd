//! Random orthogonal frames.

use crate::numerics::Random;
use crate::numerics::linalg::{axpy, dot};

/// An orthogonal matrix by the uniform (Haar) distribution, row by row.
///
/// Gram and Schmidt's method on normal numbers: the factor $Q$ of $A = QR$ with a positive diagonal of $R$, which is
/// what makes it uniform (Mezzadri 2007). Two passes leave it orthogonal to the last bits.
pub(super) fn haar(width: usize, random: &mut Random) -> Vec<f64> {
    let mut q: Vec<f64> = Vec::with_capacity(width * width);
    while q.len() < width * width {
        let mut row: Vec<f64> = (0..width).map(|_| random.normal()).collect();
        let size = dot(&row, &row);
        for _ in 0..2 {
            for basis in q.chunks_exact(width) {
                let along = dot(&row, basis);
                axpy(-along, basis, &mut row);
            }
        }
        let left = dot(&row, &row);
        // Hardly anything left is mostly rounding: draw again. It happens with probability 1e-10.
        if left > 1e-20 * size {
            let unit = left.sqrt().recip();
            q.extend(row.iter().map(|x| x * unit));
        }
    }
    q
}

/// Writes the coordinates of `x` in a frame; the same bits for the same numbers, wherever they stand.
pub(super) fn turn(rotation: &[f64], x: &[f64], out: &mut [f64]) {
    for (out, axis) in out.iter_mut().zip(rotation.chunks_exact(x.len())) {
        *out = dot(axis, x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_orthogonal() {
        for width in [1, 2, 3, 16, 60] {
            let q = haar(width, &mut Random::of_purpose(3, 0, width as u64));
            for a in 0..width {
                for b in 0..width {
                    let product = dot(&q[a * width..(a + 1) * width], &q[b * width..(b + 1) * width]);
                    assert!((product - f64::from(u8::from(a == b))).abs() < 1e-14, "{width} {a} {b}");
                }
            }
        }
    }

    // An entry of a Haar matrix has mean 0, variance 1/d and fourth moment 3/(d(d+2)); the trace has variance 1.
    #[test]
    fn frames_are_uniform() {
        let (width, tries) = (3, 20_000);
        let mut moments = [[0.0; 3]; 9];
        let mut trace = [0.0; 2];
        for k in 0..tries {
            let q = haar(width, &mut Random::of_purpose(11, 0, k));
            for (m, x) in moments.iter_mut().zip(&q) {
                m[0] += x;
                m[1] += x * x;
                m[2] += x.powi(4);
            }
            let t = q[0] + q[4] + q[8];
            trace[0] += t;
            trace[1] += t * t;
        }
        let mean = |s: f64| s / tries as f64;
        for m in moments {
            assert!(mean(m[0]).abs() < 0.02 && (mean(m[1]) - 1.0 / 3.0).abs() < 0.01, "{m:?}");
            assert!((mean(m[2]) - 0.2).abs() < 0.01, "{m:?}");
        }
        assert!(mean(trace[0]).abs() < 0.035 && (mean(trace[1]) - 1.0).abs() < 0.04, "{trace:?}");
    }
}
