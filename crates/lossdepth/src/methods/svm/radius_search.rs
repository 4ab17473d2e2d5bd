//! The search for the penalty whose minimiser has the norm of a constraint.

use super::prepared::PreparedSvm;
use super::solution::SvmSolution;
use crate::error::Result;
use crate::problem::Task;
use crate::solver::dual_active_set::{ActiveSet, DualPoint, KernelColumns, QueryKernel};
use crate::solver::radius::Radius;

/// Penalties tried for a constraint; about ten are usual.
const MAX_PENALTIES: usize = 100;
/// Factor of the penalties tried next to the best one if none meets the tolerance: half a decade, where steps are at most
/// a decade (heuristic).
const NEIGHBOUR_FACTOR: f64 = 3.0;
/// Relative change of the penalty at which the search ends.
const PENALTY_RESOLUTION: f64 = 1e-14;

/// One query under the constraint $\|w\| \le W$.
pub(super) struct RadiusSearch<'a, 'b> {
    pub(super) prepared: &'a PreparedSvm,
    pub(super) set: &'a mut ActiveSet,
    pub(super) query: QueryKernel<'a>,
    pub(super) columns: &'a mut KernelColumns<'b>,
    pub(super) radius: f64,
    pub(super) cancelled: &'a dyn Fn() -> bool,
}

/// The solution with the smallest error, and its penalty.
type Best = Option<(SvmSolution, f64)>;

impl RadiusSearch<'_, '_> {
    /// Solves for one penalty after the other, each from the solution of the one before.
    pub(super) fn run(mut self, mut point: DualPoint) -> Result<SvmSolution> {
        let Task { tol, .. } = self.prepared.task;
        let length = self.set.evaluate(&point, self.query, 1.0).norm_squared.sqrt();
        let (mut search, mut reg) = Radius::new(self.radius, tol, length);
        let (mut best, mut rounds, mut enough): (Best, usize, bool) = (None, 0, false);
        for _ in 0..MAX_PENALTIES {
            let norm;
            (norm, enough) = self.try_penalty(reg, &mut point, &mut best, &mut rounds)?;
            let over = enough || norm == 0.0 || search.inactive(reg, norm);
            let next = search.next(reg, norm);
            if over || (next - reg).abs() <= PENALTY_RESOLUTION * reg {
                break;
            }
            reg = next;
        }
        // If the constraint is inactive the gap grows with the penalty, and rounding with its inverse: the best penalty may
        // be between two steps.
        if let Some((_, at)) = best
            && !enough
        {
            for reg in [at / NEIGHBOUR_FACTOR, at * NEIGHBOUR_FACTOR] {
                if self.try_penalty(reg, &mut point, &mut best, &mut rounds)?.1 {
                    break;
                }
            }
        }
        match best {
            Some((solution, _)) => Ok(SvmSolution { iterations: rounds, ..solution }),
            None => unreachable!("at least one penalty is tried"),
        }
    }

    /// Solves for a penalty; returns the norm of its minimiser and whether the search is over.
    fn try_penalty(
        &mut self,
        reg: f64,
        point: &mut DualPoint,
        best: &mut Best,
        rounds: &mut usize,
    ) -> Result<(f64, bool)> {
        let Self { prepared, set, query, columns, radius, cancelled } = self;
        let (query, radius) = (*query, *radius);
        let Task { tol, max_iter, .. } = prepared.task;
        let (end, taken) = prepared.solve_penalised(set, point, query, columns, reg, cancelled)?;
        *rounds += taken;
        let norm = set.evaluate(point, query, reg).norm_squared.sqrt() / (2.0 * reg);
        for interior in [false, true] {
            if !interior || norm <= radius {
                let solution = prepared.constrained_solution(set, point, query, reg, radius, interior);
                if best.as_ref().is_none_or(|(b, _)| solution.error < b.error || b.error.is_nan()) {
                    *best = Some((prepared.finished(solution, end, *rounds), reg));
                }
            }
        }
        Ok((norm, *rounds >= max_iter || best.as_ref().is_some_and(|(b, _)| b.error <= tol)))
    }
}
