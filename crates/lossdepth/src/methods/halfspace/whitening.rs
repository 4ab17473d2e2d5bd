//! Coordinates in which the sample is round.

use super::cones::{self, generic_rotation};
use super::modular_rank::ExactSpan;
use crate::numerics::linalg::{dot, norm};

/// $e$ with $2^e \le |v| < 2^{e+1}$, for a normal number.
pub(super) fn exponent(value: f64) -> i32 {
    i32::try_from(value.to_bits() >> 52 & 0x7ff).unwrap_or(1023) - 1023
}

/// A frame in which the sample has unit variances and no correlations, rotated generically, and the mean. In
/// the plane: the power of two that scales the second column to the size of the first.
pub(super) fn whitening_frame(reduced: &[f64], masses: &[u64], r: usize) -> (Vec<f64>, Vec<f64>) {
    if r < 2 {
        return (vec![1.0; r], vec![0.0; r]);
    }
    let total: f64 = masses.iter().map(|m| *m as f64).sum();
    let mut mean = vec![0.0; r];
    for (x, m) in reduced.chunks_exact(r).zip(masses) {
        mean.iter_mut().zip(x).for_each(|(s, x)| *s += *m as f64 / total * x);
    }
    let mut sizes = vec![0.0; r];
    for (x, m) in reduced.chunks_exact(r).zip(masses) {
        for k in 0..r {
            sizes[k] += *m as f64 / total * (x[k] - mean[k]) * (x[k] - mean[k]);
        }
    }
    for s in &mut sizes {
        *s = if *s > 0.0 { s.sqrt() } else { 1.0 };
    }
    if r == 2 {
        return (vec![2f64.powi((exponent(sizes[0]) - exponent(sizes[1])).clamp(-1000, 1000))], mean);
    }
    let rotation = if r > cones::MAX_CONE_DIMENSION {
        (0..r * r).map(|at| if at / r == at % r { 1.0 } else { 0.0 }).collect()
    } else {
        generic_rotation(r)
    };
    let frame = whitening(reduced, masses, &mean, &sizes, &rotation);
    // Cones need a frame that spans the space, exactly.
    let origin = vec![0.0; r];
    if r <= cones::MAX_CONE_DIMENSION && ExactSpan::new(frame.chunks_exact(r), &origin).rank() < r {
        let plain = rotation.iter().enumerate().map(|(at, v)| v / sizes[at % r]).collect();
        return (plain, mean);
    }
    (frame, mean)
}

/// The points in the frame relative to their mean, and bounds on the sums of the absolute terms; only where
/// there are more than two columns.
pub(super) fn whiten(reduced: &[f64], frame: &[f64], mean: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let r = mean.len();
    if r < 3 {
        return (Vec::new(), Vec::new());
    }
    let n = reduced.len() / r;
    let centred: Vec<f64> = reduced.iter().enumerate().map(|(at, x)| x - mean[at % r]).collect();
    let mut whitened = Vec::with_capacity(n * r);
    let mut longest = 0.0f64;
    for row in frame.chunks_exact(r) {
        longest = longest.max(norm(row));
        whitened.extend(centred.chunks_exact(r).map(|x| dot(row, x)));
    }
    // By the Cauchy–Schwarz inequality.
    let whitened_norms = centred.chunks_exact(r).map(|x| longest * norm(x)).collect();
    (whitened, whitened_norms)
}

/// What is added to the correlations, and their least pivot (heuristic: bounds hold whatever directions are tried).
const RIDGE: f64 = 1e-9;

/// Directions in which the points have unit variances and no correlations, one a row, after `rotation`.
///
/// With the correlations $C = L L^\top$ and the standard deviations $s$ these are the rows of `rotation`
/// times $L^{-1} \operatorname{diag}(1/s)$. A small multiple of the identity keeps $C$ invertible for any
/// data.
fn whitening(points: &[f64], masses: &[u64], mean: &[f64], sizes: &[f64], rotation: &[f64]) -> Vec<f64> {
    let (r, n) = (mean.len(), masses.len());
    let total: f64 = masses.iter().map(|m| *m as f64).sum();
    let columns: Vec<Vec<f64>> = (0..r)
        .map(|k| {
            (0..n)
                .map(|i| (points[i * r + k] - mean[k]) / sizes[k] * (masses[i] as f64 / total).sqrt())
                .collect()
        })
        .collect();
    let mut l = vec![0.0; r * r];
    for i in 0..r {
        for j in 0..=i {
            l[i * r + j] = dot(&columns[i], &columns[j]);
        }
        l[i * r + i] += RIDGE;
    }
    for j in 0..r {
        let left: f64 = l[j * r + j] - (0..j).map(|k| l[j * r + k] * l[j * r + k]).sum::<f64>();
        let pivot = left.max(RIDGE).sqrt();
        l[j * r + j] = pivot;
        for i in j + 1..r {
            let (upper, lower) = l.split_at_mut(i * r);
            lower[j] = (lower[j] - dot(&lower[..j], &upper[j * r..j * r + j])) / pivot;
        }
    }
    // Rows of `rotation` times the inverse, by substitution in the transposed system.
    let mut frame = rotation.to_vec();
    for row in frame.chunks_exact_mut(r) {
        for j in (0..r).rev() {
            let value = (row[j] - (j + 1..r).map(|i| row[i] * l[i * r + j]).sum::<f64>()) / l[j * r + j];
            row[j] = value;
        }
        row.iter_mut().zip(sizes).for_each(|(v, s)| *v /= s);
    }
    frame
}
