//! Good directions, quickly: descent on a smoothed 0-1 loss with an exact search along great circles.
//!
//! The mass of a halfspace is piecewise constant in its direction $u$. Smoothed over a band of margins it has a slope
//! $g = \sum_i \omega_i K(\langle u, t_i \rangle / h) t_i$, and on the great circle through $u$ and $-g$ the *unsmoothed* mass has a
//! minimum that half a turn finds ([`Fan`]). A wide band makes the first steps those of a surrogate loss; it narrows
//! from step to step, so that the last ones turn on single points. The mass never grows.

use super::plane::Fan;
use crate::numerics::linalg::{axpy, dot, norm};
use std::cmp::Ordering;

/// Unit vectors from the query to the points, in coordinates in which the sample is round.
#[derive(Debug, Default)]
pub(super) struct Sky {
    pub(super) len: usize,
    pub(super) dim: usize,
    /// One coordinate after the other.
    pub(super) columns: Vec<f64>,
}

impl Sky {
    fn column(&self, j: usize) -> &[f64] {
        &self.columns[j * self.len..(j + 1) * self.len]
    }

    /// $\langle u, t_i \rangle$ for every point.
    fn project(&self, u: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (j, u) in u.iter().enumerate() {
            axpy(*u, self.column(j), out);
        }
    }
}

/// A direction and the mass of its closed halfspace, both up to rounding.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) mass: u64,
    pub(super) u: Vec<f64>,
}

/// Shares of the points within the band, from the first step to the last.
const BANDS: [f64; 14] = [1.0, 0.7, 0.5, 0.35, 0.25, 0.25, 0.18, 0.12, 0.12, 0.08, 0.08, 0.05, 0.05, 0.03];

#[derive(Debug, Default)]
pub(super) struct Search {
    fan: Fan,
    along: Vec<f64>,
    across: Vec<f64>,
    pull: Vec<f64>,
    sizes: Vec<f64>,
}

impl Search {
    /// Descends from `u`; `work` grows by the multiplications it took, and ends the descent at `limit`.
    pub(super) fn descend(
        &mut self,
        sky: &Sky,
        masses: &[u64],
        mut u: Vec<f64>,
        patience: usize,
        work: &mut u64,
        limit: u64,
    ) -> Found {
        let n = sky.len;
        for list in [&mut self.along, &mut self.across, &mut self.pull] {
            list.resize(n, 0.0);
        }
        scale_to_unit(&mut u);
        sky.project(&u, &mut self.along);
        let mut best = u64::MAX;
        let mut idle = 0;
        for step in 0..usize::MAX {
            let share = BANDS[step.min(BANDS.len() - 1)];
            let Some(w) = self.slope(sky, masses, &u, share) else { break };
            sky.project(&w, &mut self.across);
            *work += (2 * n * (sky.dim + 8)) as u64;
            let (a, b) = (&self.along, &self.across);
            let mut compare = |i: usize, j: usize| turn(a, b, i, j);
            let least = self.fan.least(a, b, masses, &mut compare);
            let [p, q] = self.fan.direction(least, a, b, &mut compare);
            idle = if least.mass < best { 0 } else { idle + 1 };
            if least.mass < best {
                best = least.mass;
                for (u, w) in u.iter_mut().zip(&w) {
                    *u = p * *u + q * w;
                }
                scale_to_unit(&mut u);
                sky.project(&u, &mut self.along);
                *work += (n * sky.dim) as u64;
            }
            if best == 0 || step >= BANDS.len() && idle >= patience || *work >= limit {
                break;
            }
        }
        Found { mass: best, u }
    }

    /// The direction in which the smoothed mass falls, at a right angle to `u`.
    fn slope(&mut self, sky: &Sky, masses: &[u64], u: &[f64], share: f64) -> Option<Vec<f64>> {
        self.sizes.clear();
        self.sizes.extend(self.along.iter().map(|m| m.abs()));
        let last = sky.len - 1;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the points")]
        let rank = ((sky.len as f64 * share) as usize).max(sky.dim + 1).min(last);
        let width = *self.sizes.select_nth_unstable_by(rank, f64::total_cmp).1;
        let width = 1.0001 * width + f64::MIN_POSITIVE;
        for ((pull, m), mass) in self.pull.iter_mut().zip(&self.along).zip(masses) {
            let s = m / width;
            let inside = (1.0 - s * s).max(0.0);
            *pull = *mass as f64 * inside * inside;
        }
        let mut w: Vec<f64> = (0..sky.dim).map(|j| -dot(&self.pull, sky.column(j))).collect();
        let along = dot(&w, u);
        axpy(-along, u, &mut w);
        (scale_to_unit(&mut w) > 0.0).then_some(w)
    }
}

/// The angular order of two vectors, those of the lower half plane turned around: by position, which rounding keeps
/// an order.
fn turn(a: &[f64], b: &[f64], i: usize, j: usize) -> Ordering {
    let position = |i: usize| {
        let flip = b[i] < 0.0 || b[i] == 0.0 && a[i] < 0.0;
        let (x, y) = if flip { (-a[i], -b[i]) } else { (a[i], b[i]) };
        1.0 - x / (x.abs() + y)
    };
    position(i).total_cmp(&position(j))
}

/// Scales to length 1; the length it had.
pub(super) fn scale_to_unit(u: &mut [f64]) -> f64 {
    let length = norm(u);
    if length > 0.0 && length.is_finite() {
        for x in u {
            *x /= length;
        }
    }
    length
}

/// Directions in which the points have unit variance and no correlation, one a row, after `turn`.
///
/// With the correlations $C = L L^\top$ and the standard deviations $s$ these are the rows of `turn` times
/// $L^{-1} \operatorname{diag}(1/s)$. A trace on the diagonal keeps it invertible whatever the data.
pub(super) fn whitening(
    points: &[f64],
    masses: &[u64],
    mean: &[f64],
    sizes: &[f64],
    turn: &[f64],
) -> Vec<f64> {
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
        l[i * r + i] += 1e-9;
    }
    for j in 0..r {
        let left: f64 = l[j * r + j] - (0..j).map(|k| l[j * r + k] * l[j * r + k]).sum::<f64>();
        let pivot = left.max(1e-9).sqrt();
        l[j * r + j] = pivot;
        for i in j + 1..r {
            let (upper, lower) = l.split_at_mut(i * r);
            lower[j] = (lower[j] - dot(&lower[..j], &upper[j * r..j * r + j])) / pivot;
        }
    }
    // Rows of `turn` times the inverse: forward through the transposed system.
    let mut frame = turn.to_vec();
    for row in frame.chunks_exact_mut(r) {
        for j in (0..r).rev() {
            let value = (row[j] - (j + 1..r).map(|i| row[i] * l[i * r + j]).sum::<f64>()) / l[j * r + j];
            row[j] = value;
        }
        row.iter_mut().zip(sizes).for_each(|(v, s)| *v /= s);
    }
    frame
}
