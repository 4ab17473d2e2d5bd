//! Good directions quickly: descent on a smoothed 0-1 loss with an exact search along great circles.
//!
//! The mass of a halfspace is piecewise constant in its direction $u$. Smoothed over a band of margins it has
//! the gradient $g = \sum_i \omega_i \mathcal{K}(\langle u, t_i \rangle / h) t_i$ (H7), and on the great
//! circle through $u$ and $-g$ the *unsmoothed* mass has a minimum that a [`CircularSweep`] finds. With a
//! wide band the first steps are those of a surrogate loss; it narrows from step to step, so that the last
//! steps depend on single points. The mass never grows.

use super::circular_sweep::CircularSweep;
use crate::numerics::linalg::{axpy, dot, norm};
use crate::numerics::whole_count;
use std::cmp::Ordering;

/// Unit vectors from the query to the points, in coordinates in which the sample is round.
#[derive(Debug, Default)]
pub(super) struct UnitVectors {
    pub(super) len: usize,
    pub(super) dim: usize,
    /// One coordinate after the other.
    pub(super) columns: Vec<f64>,
}

impl UnitVectors {
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
pub(super) struct DirectionMass {
    pub(super) mass: u64,
    pub(super) u: Vec<f64>,
}

/// The share of the points within the band, step by step (heuristic).
const BANDS: [f64; 14] = [1.0, 0.7, 0.5, 0.35, 0.25, 0.25, 0.18, 0.12, 0.12, 0.08, 0.08, 0.05, 0.05, 0.03];

#[derive(Debug, Default)]
pub(super) struct GreatCircleDescent {
    sweep: CircularSweep,
    margins: Vec<f64>,
    cross_margins: Vec<f64>,
    kernel_weights: Vec<f64>,
    sizes: Vec<f64>,
}

impl GreatCircleDescent {
    /// Descends from `u`. Adds the multiplications to `spent`, and stops when that reaches `limit`.
    pub(super) fn descend(
        &mut self,
        vectors: &UnitVectors,
        masses: &[u64],
        mut u: Vec<f64>,
        max_idle_steps: usize,
        spent: &mut u64,
        limit: u64,
    ) -> DirectionMass {
        let n = vectors.len;
        for list in [&mut self.margins, &mut self.cross_margins, &mut self.kernel_weights] {
            list.resize(n, 0.0);
        }
        scale_to_unit(&mut u);
        vectors.project(&u, &mut self.margins);
        let mut best = u64::MAX;
        let mut steps_without_progress = 0;
        for step in 0..usize::MAX {
            let band_share = BANDS[step.min(BANDS.len() - 1)];
            let Some(w) = self.descent_direction(vectors, masses, &u, band_share) else { break };
            vectors.project(&w, &mut self.cross_margins);
            *spent += (2 * n * (vectors.dim + 8)) as u64;
            let (a, b) = (&self.margins, &self.cross_margins);
            let mut compare = |i: usize, j: usize| angular_order(a, b, i, j);
            let minimum = self.sweep.minimum(a, b, masses, &mut compare);
            let [p, q] = self.sweep.direction(minimum, a, b, &mut compare);
            steps_without_progress = if minimum.mass < best { 0 } else { steps_without_progress + 1 };
            if minimum.mass < best {
                best = minimum.mass;
                for (u, w) in u.iter_mut().zip(&w) {
                    *u = p * *u + q * w;
                }
                scale_to_unit(&mut u);
                vectors.project(&u, &mut self.margins);
                *spent += (n * vectors.dim) as u64;
            }
            if best == 0 || step >= BANDS.len() && steps_without_progress >= max_idle_steps || *spent >= limit
            {
                break;
            }
        }
        DirectionMass { mass: best, u }
    }

    /// The direction of steepest descent of the smoothed mass, orthogonal to `u`.
    fn descent_direction(
        &mut self,
        vectors: &UnitVectors,
        masses: &[u64],
        u: &[f64],
        band_share: f64,
    ) -> Option<Vec<f64>> {
        self.sizes.clear();
        self.sizes.extend(self.margins.iter().map(|m| m.abs()));
        let last = vectors.len - 1;
        let rank = whole_count(vectors.len as f64 * band_share).max(vectors.dim + 1).min(last);
        let width = *self.sizes.select_nth_unstable_by(rank, f64::total_cmp).1;
        let width = 1.0001 * width + f64::MIN_POSITIVE;
        for ((kernel_weights, m), mass) in self.kernel_weights.iter_mut().zip(&self.margins).zip(masses) {
            let s = m / width;
            let inside = (1.0 - s * s).max(0.0);
            *kernel_weights = *mass as f64 * inside * inside;
        }
        let mut w: Vec<f64> =
            (0..vectors.dim).map(|j| -dot(&self.kernel_weights, vectors.column(j))).collect();
        let along = dot(&w, u);
        axpy(-along, u, &mut w);
        (scale_to_unit(&mut w) > 0.0).then_some(w)
    }
}

/// The angular order of two vectors, those of the lower half plane replaced by their opposites: by position,
/// which remains a total order under rounding.
fn angular_order(a: &[f64], b: &[f64], i: usize, j: usize) -> Ordering {
    let position = |i: usize| {
        let flip = b[i] < 0.0 || b[i] == 0.0 && a[i] < 0.0;
        let (x, y) = if flip { (-a[i], -b[i]) } else { (a[i], b[i]) };
        1.0 - x / (x.abs() + y)
    };
    position(i).total_cmp(&position(j))
}

/// Scales to length 1; returns the original length.
pub(super) fn scale_to_unit(u: &mut [f64]) -> f64 {
    let length = norm(u);
    if length > 0.0 && length.is_finite() {
        for x in u {
            *x /= length;
        }
    }
    length
}
