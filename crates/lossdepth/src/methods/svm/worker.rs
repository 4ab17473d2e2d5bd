//! One thread's buffers, and the solution of one query.

use super::influence::GalerkinSolver;
use super::prepared::PreparedSvm;
use super::radius_search::RadiusSearch;
use super::solution::SvmSolution;
use super::starts::ActiveSetData;
use crate::data::Rows;
use crate::error::{DepthError, Result};
use crate::numerics::linalg::{Matrix, multiply_first};
use crate::problem::{ErrorBudget, Stop, Task, Variant};
use crate::solver::dual_active_set::{ActiveSet, DualPoint, KernelColumns, QueryKernel, Termination};
use std::cell::RefCell;

/// Violating variables a round where the nearest rows are in the first working set: most of the others do not matter.
const FEW_VIOLATING_VARIABLES: usize = 32;

/// One thread's state.
pub(super) struct Worker<'a> {
    prepared: &'a PreparedSvm,
    workers: usize,
    data: Option<&'a ActiveSetData>,
    pub(super) buffer: RefCell<Vec<f64>>,
    /// Made for the first query beyond the closed form, like the columns.
    derivatives: Option<GalerkinSolver>,
    columns: Option<KernelColumns<'a>>,
    set: ActiveSet,
    /// Kernel values of the current queries with the sample, one column each, and with themselves.
    block: Matrix,
    diagonals: Vec<f64>,
    /// The sample points that equal the queries. Searched for under a constraint, where terms of (K16) may cancel.
    equal_points: Vec<Option<usize>>,
    /// Inner products of the current kernel columns with the dual variables of all starts, if `has_products`.
    start_products: Matrix,
    has_products: bool,
}

impl<'a> Worker<'a> {
    pub(super) fn new(prepared: &'a PreparedSvm, workers: usize) -> Self {
        Self {
            prepared,
            workers,
            data: None,
            buffer: RefCell::new(Vec::new()),
            derivatives: None,
            columns: None,
            set: prepared.active_set(),
            block: Matrix::zeros(prepared.space.len(), prepared.block_width()),
            diagonals: Vec::new(),
            equal_points: Vec::new(),
            start_products: Matrix::zeros(0, 0),
            has_products: false,
        }
    }

    /// Computes the kernel values of the next queries.
    pub(super) fn load(&mut self, rows: Rows<'_>) -> Result<()> {
        self.has_products = false;
        self.prepared.space.block(rows, &mut self.block)?;
        let space = &self.prepared.space;
        self.diagonals = rows.iter().map(|z| space.own(z)).collect::<Result<_>>()?;
        let constrained = matches!(self.prepared.task.variant, Variant::Constrained { .. });
        self.equal_points =
            rows.iter().map(|z| if constrained { space.equal_point(z) } else { None }).collect();
        Ok(())
    }

    pub(super) fn query(&self, j: usize) -> QueryKernel<'_> {
        QueryKernel {
            column: self.block.col(j),
            diagonal: self.diagonals[j],
            equal_point: self.equal_points[j],
        }
    }

    /// Computes the derivatives (K19) of the minimisers of the queries from `start` on, where the standard error needs them;
    /// returns the column of each.
    pub(super) fn minimiser_derivatives(
        &mut self,
        start: usize,
        group: &[Result<SvmSolution>],
    ) -> Vec<Option<usize>> {
        let mut columns = vec![None; group.len()];
        let (Some(data), Variant::Risk) = (self.data, self.prepared.task.variant) else { return columns };
        let mut list = Vec::with_capacity(group.len());
        for (k, solution) in group.iter().enumerate() {
            if let Ok(solution) = solution
                && solution.beta.is_some()
            {
                columns[k] = Some(list.len());
                let query = QueryKernel::new(self.block.col(start + k), self.diagonals[start + k]);
                list.push((query, solution));
            }
        }
        let group_width = self.prepared.group_width();
        let solver = self.derivatives.get_or_insert_with(|| GalerkinSolver::new(&data.basis, group_width));
        solver.solve(self.prepared, &data.basis, &list);
        columns
    }

    /// The derivative in a column that [`minimiser_derivatives`](Self::minimiser_derivatives) returned.
    pub(super) fn minimiser_derivative(&self, column: Option<usize>) -> Option<&[f64]> {
        self.derivatives.as_ref().zip(column).map(|(solver, column)| solver.values(column))
    }

    /// Solves query `j` of the current ones.
    pub(super) fn solve(&mut self, j: usize, cancelled: &dyn Fn() -> bool) -> Result<SvmSolution> {
        let prepared = self.prepared;
        if let Some(solution) = prepared.closed_form(self.query(j)) {
            return Ok(solution);
        }
        let data = prepared.active_set_data(cancelled)?;
        self.data = Some(data);
        let from_starts = data.nearest_count == 0;
        if !self.has_products && from_starts {
            self.start_products = Matrix::zeros(data.starts.len(), self.block.cols());
            multiply_first(&mut self.start_products, &data.start_betas, &self.block, self.block.cols());
            self.has_products = true;
        }
        let workers = self.workers;
        let columns = self.columns.get_or_insert_with(|| prepared.columns(data.gram.as_ref(), workers));
        let query = QueryKernel {
            column: self.block.col(j),
            diagonal: self.diagonals[j],
            equal_point: self.equal_points[j],
        };
        let products = if from_starts { self.start_products.col(j) } else { &[] };
        let mut point = data.initial_point(products, query, prepared, &self.set);
        let set = &mut self.set;
        if !from_starts {
            set.violating_variables = FEW_VIOLATING_VARIABLES;
        }
        if let Variant::Constrained { radius } = prepared.task.variant {
            return RadiusSearch { prepared, set, query, columns, radius, cancelled }.run(point);
        }
        let reg = prepared.task.reg;
        let (end, rounds) = prepared.solve_penalised(set, &mut point, query, columns, reg, cancelled)?;
        let solution = prepared.penalised_solution(set, point, query, columns, reg)?;
        Ok(prepared.finished(solution, end, rounds))
    }
}

impl PreparedSvm {
    /// Solves the dual for one penalty.
    pub(super) fn solve_penalised(
        &self,
        set: &mut ActiveSet,
        point: &mut DualPoint,
        query: QueryKernel<'_>,
        columns: &mut KernelColumns<'_>,
        reg: f64,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(Termination, usize)> {
        let Task { variant, tol, max_iter, .. } = self.task;
        let share = ErrorBudget::new(tol).dual_active_set();
        let enough = |gap: f64, suboptimality: f64, norm: f64| match variant {
            Variant::Objective => gap <= share,
            _ => gap + suboptimality + 2.0 * norm * (reg * suboptimality).sqrt() <= share,
        };
        let (end, rounds) = set.solve(point, query, columns, reg, max_iter, enough, cancelled)?;
        if end == Termination::Cancelled { Err(DepthError::Cancelled) } else { Ok((end, rounds)) }
    }

    /// Records how a solution was found.
    pub(super) fn finished(&self, mut solution: SvmSolution, end: Termination, rounds: usize) -> SvmSolution {
        let stop = if end == Termination::Limit { Stop::IterationLimit } else { Stop::Converged };
        solution.stop = stop.for_error(solution.error, self.task.tol);
        solution.iterations = rounds;
        solution
    }
}
