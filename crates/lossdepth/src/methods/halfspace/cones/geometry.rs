//! Directions, frames and small systems: what cones are made of and cut by.

use crate::methods::halfspace::cloud::Cloud;
use crate::methods::halfspace::exact::two_sum;
use crate::methods::halfspace::search::scale_to_unit;

/// Solves a small linear system; what comes out of a singular one is of no use, and harmless.
pub(super) fn eliminate(mut m: Vec<Vec<f64>>, mut c: Vec<f64>) -> Vec<f64> {
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

/// The corners whose directions are farthest apart.
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

/// A sum of two corners, one of them stretched by a power of two to about the length of the other; `None` if that
/// cannot be done without rounding.
pub(super) fn middle<const D: usize>(a: &[f64; D], b: &[f64; D]) -> Option<[f64; D]> {
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

/// Whether some vectors surely span the space.
pub(super) fn spans<'a, const D: usize>(vectors: impl Iterator<Item = &'a [f64; D]>, least: f64) -> bool {
    let mut basis: Vec<[f64; D]> = Vec::new();
    for v in vectors {
        let mut t = *v;
        for b in &basis {
            let along: f64 = (0..D).map(|j| b[j] * t[j]).sum();
            (0..D).for_each(|j| t[j] -= along * b[j]);
        }
        if scale_to_unit(&mut t) > least {
            basis.push(t);
            if basis.len() == D {
                return true;
            }
        }
    }
    false
}

/// A frame for the points of a knot: columns brought to one size, turned so that no axis is special.
pub(super) fn own_frame(cloud: &Cloud) -> Vec<f64> {
    let d = cloud.dim;
    let sizes: Vec<f64> = (0..d)
        .map(|k| {
            let largest = (0..cloud.len()).fold(0.0f64, |m, i| m.max((cloud.point(i)[k] - cloud.z[k]).abs()));
            if largest > 0.0 { 1.0 / largest } else { 1.0 }
        })
        .collect();
    let turn = rotation(d);
    (0..d * d).map(|at| turn[at] * sizes[at % d]).collect()
}

/// A fixed rotation that brings no axis close to another.
pub(in super::super) fn rotation(d: usize) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(d);
    let mut state = 0.5f64;
    while rows.len() < d {
        // Golden-ratio steps: spread out, never periodic.
        let mut row: Vec<f64> = (0..d)
            .map(|_| {
                state = (state + 0.618_033_988_749_894_9).fract();
                state + 0.137 - (2.0 * state).floor()
            })
            .collect();
        state = (state + 0.414_213_562_373_095_1).fract();
        for _ in 0..2 {
            for b in &rows {
                let along: f64 = row.iter().zip(b).map(|(r, b)| r * b).sum();
                row.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
            }
        }
        if scale_to_unit(&mut row) > 1e-3 {
            rows.push(row);
        }
    }
    rows.concat()
}
