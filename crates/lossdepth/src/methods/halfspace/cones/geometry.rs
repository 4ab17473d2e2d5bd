//! Small linear systems, edges and midpoints of cones, fixed rotations.

use crate::methods::halfspace::great_circle_descent::scale_to_unit;
use crate::methods::halfspace::weighted_points::WeightedPoints;
use crate::numerics::double_double::two_sum;

/// Solves a small linear system by elimination; for a singular one the result is arbitrary (callers only
/// evaluate it as a direction).
pub(super) fn solve_linear(mut m: Vec<Vec<f64>>, mut c: Vec<f64>) -> Vec<f64> {
    let d = c.len();
    for p in 0..d {
        let best = (p..d).max_by(|&i, &j| m[i][p].abs().total_cmp(&m[j][p].abs())).unwrap_or(p);
        m.swap(p, best);
        c.swap(p, best);
        if m[p][p] == 0.0 {
            m[p][p] = f64::EPSILON;
        }
        for i in 0..d {
            if i != p {
                let factor = m[i][p] / m[p][p];
                for k in p..d {
                    m[i][k] -= factor * m[p][k];
                }
                c[i] -= factor * c[p];
            }
        }
    }
    (0..d).map(|j| c[j] / m[j][j]).collect()
}

/// The two corners with the largest angle between them.
pub(super) fn longest_edge<const D: usize>(corners: &[[f64; D]; D]) -> (usize, usize) {
    let dot = |a: &[f64; D], b: &[f64; D]| (0..D).map(|j| a[j] * b[j]).sum::<f64>();
    let inverse: [f64; D] = std::array::from_fn(|j| 1.0 / dot(&corners[j], &corners[j]).sqrt());
    let (mut longest, mut least) = ((0, 1), f64::INFINITY);
    for a in 0..D {
        for b in a + 1..D {
            let cosine = dot(&corners[a], &corners[b]) * inverse[a] * inverse[b];
            if cosine < least {
                (longest, least) = ((a, b), cosine);
            }
        }
    }
    longest
}

/// The sum of two corners, one of them scaled by a power of two to about the length of the other; `None` if
/// that is not exact.
pub(super) fn exact_midpoint<const D: usize>(a: &[f64; D], b: &[f64; D]) -> Option<[f64; D]> {
    let size = |v: &[f64; D]| v.iter().map(|x| x * x).sum::<f64>();
    let ratio = (0.5 * (size(a) / size(b)).log2()).round();
    #[expect(clippy::cast_possible_truncation, reason = "a small whole number")]
    let (p, q) = (2f64.powi((-ratio).max(0.0) as i32), 2f64.powi(ratio.max(0.0) as i32));
    let mut sum = [0.0; D];
    for j in 0..D {
        let (s, error) = two_sum(p * a[j], q * b[j]);
        if error != 0.0 || s.abs() > 1e100 {
            return None;
        }
        sum[j] = s;
    }
    Some(sum)
}

/// One pass of Gram–Schmidt: subtracts from a vector its components along the vectors of an orthonormal basis.
pub(super) fn remove_components(v: &mut [f64], basis: &[impl AsRef<[f64]>]) {
    for b in basis {
        let b = b.as_ref();
        let along: f64 = v.iter().zip(b).map(|(v, b)| v * b).sum();
        v.iter_mut().zip(b).for_each(|(v, b)| *v -= along * b);
    }
}

/// Whether some vectors certainly span the space.
pub(super) fn certainly_span<'a, const D: usize>(
    vectors: impl Iterator<Item = &'a [f64; D]>,
    least: f64,
) -> bool {
    let mut basis: Vec<[f64; D]> = Vec::new();
    for v in vectors {
        let mut t = *v;
        remove_components(&mut t, &basis);
        if scale_to_unit(&mut t) > least {
            basis.push(t);
            if basis.len() == D {
                return true;
            }
        }
    }
    false
}

/// A frame for a part of the points: columns scaled to one size, then rotated generically.
pub(super) fn scaled_rotation(points: &WeightedPoints) -> Vec<f64> {
    let d = points.dim;
    let sizes: Vec<f64> = (0..d)
        .map(|k| {
            let largest =
                (0..points.len()).fold(0.0f64, |m, i| m.max((points.point(i)[k] - points.z[k]).abs()));
            if largest > 0.0 { 1.0 / largest } else { 1.0 }
        })
        .collect();
    let rotation = generic_rotation(d);
    (0..d * d).map(|at| rotation[at] * sizes[at % d]).collect()
}

/// A fixed rotation in which no axis is close to another.
pub(in super::super) fn generic_rotation(d: usize) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(d);
    let mut state = 0.5f64;
    while rows.len() < d {
        // Multiples of the golden ratio modulo 1: equidistributed, never periodic.
        let mut row: Vec<f64> = (0..d)
            .map(|_| {
                state = (state + 0.618_033_988_749_894_9).fract();
                state + 0.137 - (2.0 * state).floor()
            })
            .collect();
        state = (state + 0.414_213_562_373_095_1).fract();
        for _ in 0..2 {
            remove_components(&mut row, &rows);
        }
        if scale_to_unit(&mut row) > 1e-3 {
            rows.push(row);
        }
    }
    rows.concat()
}
