//! Cones around a ray in which many hyperplanes meet.

use super::geometry::{certainly_span, remove_components, scaled_rotation, solve_linear};
use super::{ConeSearch, SimplicialCone, solve};
use crate::methods::halfspace::great_circle_descent::scale_to_unit;
use crate::methods::halfspace::modular_rank::ExactSpan;
use crate::methods::halfspace::weighted_points::MassBounds;
use crate::methods::halfspace::work_budget::WorkBudget;

/// Heuristics: how far from the span of the others a vector of length 1 must be for the undecided points to span the space
/// for certain (exact arithmetic decides otherwise), and to be one more direction to step along.
const CLEARLY_OUTSIDE: f64 = 1e-6;
const INDEPENDENT: f64 = 1e-8;

/// A lower bound on the mass of a cone's undecided points, and a direction that attains their upper bound.
#[derive(Debug, Clone)]
pub(super) struct DegenerateBound {
    lower: u64,
    /// In the frame.
    direction: Vec<f64>,
}

impl<const D: usize> ConeSearch<'_, D> {
    /// A lower bound on the mass that the undecided points of a narrow cone add to any direction; also
    /// evaluates directions near the ray.
    pub(super) fn degenerate_bound(&mut self, cone: &SimplicialCone<D>, work: &mut WorkBudget<'_>) -> u64 {
        let undecided: Vec<u32> = self.arena[cone.first..].iter().map(|e| e.point).collect();
        if undecided.is_empty() {
            return 0;
        }
        if !self.degenerate_bounds.contains_key(&undecided) {
            let bound = self.compute_degenerate_bound(&undecided, work);
            self.degenerate_bounds.insert(undecided.clone(), bound);
        }
        let Some(Some(bound)) = self.degenerate_bounds.get(&undecided) else { return 0 };
        let bound = bound.clone();
        if cone.inside.min(cone.outside) + bound.lower < self.upper {
            self.try_near_ray(cone, &undecided, &bound.direction, work);
        }
        bound.lower
    }

    /// Solves the problem of the undecided points alone, if they do not span the space.
    fn compute_degenerate_bound(
        &mut self,
        undecided: &[u32],
        work: &mut WorkBudget<'_>,
    ) -> Option<DegenerateBound> {
        let rows = || undecided.iter().map(|&i| i as usize);
        if undecided.len() >= D && certainly_span(rows().map(|i| &self.t[i]), CLEARLY_OUTSIDE) {
            return None;
        }
        let span = ExactSpan::new(rows().map(|i| self.points.point(i)), &self.points.z);
        work.spent += (64 * undecided.len() * D) as u64;
        if span.rank() == D {
            return None;
        }
        let columns = span.columns();
        let part = self.points.part(rows(), &columns);
        let bounds = if part.len() == part.dim {
            // Linearly independent: some direction has all of them outside.
            let y = |i: usize, k: usize| part.point(i)[k] - part.z[k];
            let matrix = (0..part.dim).map(|i| (0..part.dim).map(|k| y(i, k)).collect()).collect();
            MassBounds { lower: 0, upper: 0, direction: solve_linear(matrix, vec![-1.0; part.dim]) }
        } else {
            solve(&part, &scaled_rotation(&part), 0, work)
        };
        let mut u = [0.0; D];
        columns.iter().zip(&bounds.direction).for_each(|(&k, v)| u[k] = *v);
        Some(DegenerateBound { lower: bounds.lower, direction: self.in_frame(&u) })
    }

    /// $c$ with $\sum_j c_j b_j = u$.
    fn in_frame(&self, u: &[f64; D]) -> Vec<f64> {
        let transposed = (0..D).map(|k| (0..D).map(|j| self.frame[j * D + k]).collect()).collect();
        solve_linear(transposed, u.to_vec())
    }

    /// Evaluates directions close to the ray in which the hyperplanes of the undecided points meet.
    fn try_near_ray(
        &mut self,
        cone: &SimplicialCone<D>,
        undecided: &[u32],
        direction: &[f64],
        work: &mut WorkBudget<'_>,
    ) {
        let mut ray = [0.0; D];
        for corner in &cone.corners {
            let length = corner.iter().map(|v| v * v).sum::<f64>().sqrt();
            ray.iter_mut().zip(corner).for_each(|(r, v)| *r += v / length);
        }
        let mut basis: Vec<[f64; D]> = Vec::new();
        for &i in undecided {
            let mut t = self.t[i as usize];
            // Two passes of Gram–Schmidt make it orthogonal to working precision.
            for _ in 0..2 {
                remove_components(&mut t, &basis);
            }
            if scale_to_unit(&mut t) > INDEPENDENT && basis.len() < D {
                basis.push(t);
            }
        }
        remove_components(&mut ray, &basis);
        if scale_to_unit(&mut ray) == 0.0 {
            return;
        }
        let mut step_direction: [f64; D] = std::array::from_fn(|j| direction[j]);
        scale_to_unit(&mut step_direction);
        for step in [4, 10, 16, 24, 34] {
            let size = 0.5f64.powi(step);
            for sign in [1.0, -1.0] {
                let c: [f64; D] = std::array::from_fn(|j| sign * ray[j] + size * step_direction[j]);
                self.evaluate(&c, work);
            }
        }
    }
}
