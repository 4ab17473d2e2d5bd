//! Lower bounds of a cone by groups of undecided points.

use super::{ConeSearch, SimplicialCone};
use crate::methods::halfspace::expansions::ExactPredicates;
use crate::methods::halfspace::farkas_packing::PackingResult;
use crate::methods::halfspace::weighted_points::WeightedPoints;
use crate::methods::halfspace::work_budget::WorkBudget;
use std::cmp::Ordering;

/// Cones with more undecided points are bisected without trying to pack them (heuristic, cost only).
const MAX_PACKED: usize = 256;
/// Packing is tried only if twice the undecided mass is at least this many times what has to be proven
/// (heuristic, cost only).
const PACK_RATIO: u64 = 5;

impl<const D: usize> ConeSearch<'_, D> {
    /// Whether groups of undecided points prove that no direction of the cone, nor of its opposite, has less
    /// than `goal`.
    pub(super) fn packing_proves(
        &mut self,
        cone: &SimplicialCone<D>,
        goal: u64,
        work: &mut WorkBudget<'_>,
    ) -> bool {
        let count = self.arena.len() - cone.first;
        if count > MAX_PACKED {
            return false;
        }
        let undecided: u64 =
            self.arena[cone.first..].iter().map(|e| self.points.masses[e.point as usize]).sum();
        let needs = [cone.inside, cone.outside].map(|mass| goal.saturating_sub(mass));
        if needs.iter().any(|need| PACK_RATIO * *need > 2 * undecided) {
            return false;
        }
        work.spent += (count * D * (D + 4)) as u64;
        let norm1: [f64; D] = std::array::from_fn(|j| cone.corners[j].iter().map(|v| v.abs()).sum());
        // The side with more to prove first: it fails sooner.
        let sides = if needs[0] >= needs[1] {
            [(needs[0], 1.0), (needs[1], -1.0)]
        } else {
            [(needs[1], -1.0), (needs[0], 1.0)]
        };
        for (need, sign) in sides {
            if need == 0 {
                continue;
            }
            self.packing.clear(D);
            for e in &self.arena[cone.first..] {
                let i = e.point as usize;
                let t = &self.t[i];
                for (corner, norm1) in cone.corners.iter().zip(&norm1) {
                    let value: f64 = (0..D).map(|j| corner[j] * t[j]).sum();
                    self.packing.values.push(sign * value / norm1);
                }
                self.packing.error.push(1.01 * self.error[i]);
                self.packing.masses.push(self.points.masses[i]);
            }
            let (points, frame, exact, arena) =
                (self.points, self.frame, &mut self.exact, &self.arena[cone.first..]);
            let mut exact_decisions = 0;
            let mut decide_exactly = |i: usize, k: usize| {
                exact_decisions += 1;
                pair_covers_cone(points, frame, &cone.corners, sign, [arena[i].point, arena[k].point], exact)
            };
            let packed = self.packing.pack(need, &mut work.spent, &mut decide_exactly);
            work.spent += (exact_decisions * 100 * D * D) as u64;
            match packed {
                PackingResult::Proven(mass) if mass >= need => {}
                PackingResult::Proven(_) => return false,
                PackingResult::Separating(weights) => {
                    let mut c = [0.0; D];
                    for ((corner, w), norm1) in cone.corners.iter().zip(&weights).zip(&norm1) {
                        (0..D).for_each(|j| c[j] += sign * w * corner[j] / norm1);
                    }
                    self.evaluate(&c, work);
                    return false;
                }
            }
        }
        true
    }
}

/// Whether one of two nearly opposite points is in the halfspace of every direction of a cone (or, for the
/// sign −1, of its opposite): exactly.
fn pair_covers_cone<const D: usize>(
    points: &WeightedPoints,
    frame: &[f64],
    corners: &[[f64; D]; D],
    sign: f64,
    pair: [u32; 2],
    exact: &mut ExactPredicates,
) -> bool {
    let [x, y] = pair.map(|i| points.point(i as usize));
    let (mut across, mut size, mut other) = (0.0, 0.0, 0.0);
    for k in 0..D {
        let (a, b) = (x[k] - points.z[k], y[k] - points.z[k]);
        across += a * b;
        size += b * b;
        other += a * a;
    }
    if across >= 0.0 || across * across < (1.0 - 1e-9) * size * other {
        return false;
    }
    let ratio = -across / size;
    let wrong = if sign > 0.0 { Ordering::Less } else { Ordering::Greater };
    corners.iter().all(|c| exact.pair_in_frame(c, frame, [x, y, &points.z], ratio) != wrong)
}
