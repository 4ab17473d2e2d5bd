//! How many subsets of directions lie in an open halfspace.
//!
//! A closed simplex, degenerate or not, does not contain the origin if and only if all its corners lie in one open halfspace
//! (N13). On a line and in the plane such subsets are counted by their first direction.

use crate::methods::halfspace::circular_sweep::certain_orientation;
use crate::methods::halfspace::expansions::ExactPredicates;
use std::cmp::Ordering;

/// Numbers of subsets: $\binom{x}{k}$ where masses count observations, $x^k / k!$ (draws with replacement) where they are shares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choose {
    pub(super) counts: bool,
}

impl Choose {
    /// The number of subsets of size `k` of the mass `x`.
    pub(super) fn of(self, x: f64, k: usize) -> f64 {
        // The product first: of whole numbers it is exact below 2^53, and so is the quotient.
        let factor = |i: usize| if self.counts { (x - i as f64).max(0.0) } else { x.max(0.0) };
        (0..k).map(factor).product::<f64>() / (1..=k).map(|i| i as f64).product::<f64>()
    }

    /// The mass of one row less.
    pub(super) fn less(self, x: f64) -> f64 {
        if self.counts { (x - 1.0).max(0.0) } else { x }
    }
}

/// Subsets in an open halfspace: their number, and the number of those that contain a given point of each group.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenSubsets {
    pub(super) number: f64,
    pub(super) with_group: Vec<f64>,
}

/// On a line: two groups, the masses on either side.
pub(super) fn on_line(masses: [f64; 2], k: usize, choose: Choose) -> OpenSubsets {
    OpenSubsets {
        number: masses.iter().map(|m| choose.of(*m, k)).sum(),
        with_group: masses.iter().map(|m| choose.of(choose.less(*m), k - 1)).collect(),
    }
}

/// In the plane, for the masses of different rays in angular order; `is_ahead(i, j)` says whether ray `j` is strictly less than
/// half a turn counterclockwise of ray `i`, and not the same.
pub(super) fn in_plane(
    masses: &[f64],
    k: usize,
    choose: Choose,
    mut is_ahead: impl FnMut(usize, usize) -> bool,
) -> OpenSubsets {
    let g = masses.len();
    let mut found = OpenSubsets { number: 0.0, with_group: vec![0.0; g] };
    // Differences of what is added to ranges of rays, twice around.
    let mut added = vec![0.0; 2 * g + 1];
    let (mut end, mut ahead) = (1, 0.0);
    for i in 0..g {
        if end <= i {
            (end, ahead) = (i + 1, 0.0);
        }
        while end < i + g && is_ahead(i, end % g) {
            ahead += masses[end % g];
            end += 1;
        }
        let all = masses[i] + ahead;
        found.number += choose.of(all, k) - choose.of(ahead, k);
        found.with_group[i] += choose.of(choose.less(all), k - 1);
        let others = choose.of(choose.less(all), k - 1) - choose.of(choose.less(ahead), k - 1);
        added[i + 1] += others;
        added[end] -= others;
        if end > i + 1 {
            ahead -= masses[(i + 1) % g];
        }
    }
    let mut sum = 0.0;
    for (at, change) in added[..2 * g].iter().enumerate() {
        sum += change;
        found.with_group[at % g] += sum;
    }
    found
}

/// Which of the rays from `z` a point is on, in angular order; `None` for points at `z`. Returns the number of rays as well.
pub(super) fn planar_rays(points: &[[f64; 2]], z: [f64; 2], exact: &mut ExactPredicates) -> PlanarRays {
    let mut order: Vec<usize> = (0..points.len()).filter(|&i| points[i] != z).collect();
    let y: Vec<[f64; 2]> = points.iter().map(|p| [p[0] - z[0], p[1] - z[1]]).collect();
    let lower = |i: usize| y[i][1] < 0.0 || y[i][1] == 0.0 && y[i][0] < 0.0;
    let mut compare = |i: usize, j: usize| {
        lower(i).cmp(&lower(j)).then_with(|| {
            certain_orientation(y[i], y[j])
                .unwrap_or_else(|| exact.orientation(points[i], points[j], z))
                .reverse()
        })
    };
    order.sort_by(|&i, &j| compare(i, j));
    let mut rays = PlanarRays { first: Vec::new(), ray_of_point: vec![None; points.len()] };
    for at in 0..order.len() {
        if at == 0 || compare(order[at - 1], order[at]) != Ordering::Equal {
            rays.first.push(order[at]);
        }
        rays.ray_of_point[order[at]] = Some(rays.first.len() - 1);
    }
    rays
}

/// The rays from a query through points of the plane, counterclockwise.
#[derive(Debug, Clone)]
pub(super) struct PlanarRays {
    /// A point on each ray.
    pub(super) first: Vec<usize>,
    pub(super) ray_of_point: Vec<Option<usize>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts subsets of rays (in units of 1/8 turn) in an open half plane one by one.
    fn one_by_one(rays: &[usize], k: usize) -> f64 {
        let n = rays.len();
        let open = |set: u32| {
            (0..8).any(|start| {
                (0..n).filter(|i| set >> i & 1 == 1).all(|i| (rays[i] + 16 - start) % 8 < 4)
            })
        };
        (0..1u32 << n).filter(|set| set.count_ones() as usize == k && open(*set)).count() as f64
    }

    #[test]
    fn subsets_of_rays_are_counted_as_one_by_one() {
        let mut state = 5u64;
        let mut next = |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % end
        };
        for _ in 0..300 {
            let rays: Vec<usize> = (0..1 + next(9)).map(|_| next(8)).collect();
            let present: Vec<usize> = (0..8).filter(|r| rays.contains(r)).collect();
            let mass = |r: usize| rays.iter().filter(|x| **x == r).count() as f64;
            let masses: Vec<f64> = present.iter().map(|r| mass(*r)).collect();
            for k in 1..5 {
                let ahead = |i: usize, j: usize| (1..4).contains(&((present[j] + 8 - present[i]) % 8));
                let found = in_plane(&masses, k, Choose { counts: true }, ahead);
                assert_eq!(found.number, one_by_one(&rays, k), "{rays:?} {k}");
                // Every subset is counted once for each of its points.
                let all: f64 = found.with_group.iter().zip(&masses).map(|(w, m)| w * m).sum();
                assert_eq!(all, k as f64 * found.number, "{rays:?} {k}");
            }
        }
    }
}
