//! The prepared sample of a support vector machine depth, and the loop over its queries.

use super::influence::GROUP;
use super::solution::SvmSolution;
use super::starts::ActiveSetData;
use super::worker::Worker;
use crate::data::Rows;
use crate::error::{DepthError, Result};
use crate::kernel::Space;
use crate::methods::explanation::{Expansion, Explanation};
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, dot};
use crate::problem::{Batch, Fit, Run, Task, Ticket, Variant};
use crate::solver::dual_active_set::{ActiveSet, KernelColumns, QueryKernel};
use std::sync::{Mutex, OnceLock};

/// The sample of a support vector machine depth with everything that its queries have in common.
#[derive(Debug)]
pub struct PreparedSvm {
    pub(super) space: Space,
    pub(super) task: Task,
    /// Whether the intercept is free: the dual variables then sum to zero.
    pub(super) free_intercept: bool,
    pub(super) memory: u64,
    /// The mean embedding $\mu$ at the sample points.
    pub(super) mean: Vec<f64>,
    /// $\|\mu\|^2$.
    pub(super) mean_square: f64,
    /// Computed for the first query beyond the closed form.
    active_set_data: OnceLock<ActiveSetData>,
    active_set_lock: Mutex<()>,
}

impl PreparedSvm {
    pub(super) fn new(space: Space, task: Task, free_intercept: bool, memory: u64) -> Result<Self> {
        let mean = space.mean_embedding()?;
        let mean_square = 2.0 * dot(&mean, &space.half_weights);
        let (active_set_data, active_set_lock) = (OnceLock::new(), Mutex::new(()));
        Ok(Self { space, task, free_intercept, memory, mean, mean_square, active_set_data, active_set_lock })
    }

    pub(super) fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.for_each_query(queries, run, |worker, _, query, solution, derivative| {
            let stderr =
                if run.depths_only { f64::NAN } else { self.stderr(query, &solution, derivative, worker) };
            solution.fit(stderr)
        })
    }

    pub(super) fn explain(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let run = run.with_standard_errors();
        let explained =
            self.for_each_query(queries, &run, |worker, z, query, mut solution, derivative| {
                let fit = solution.fit(self.stderr(query, &solution, derivative, worker));
                if solution.beta.is_none() {
                    let unit = 2.0 * solution.scale;
                    let values = self.mean.iter().zip(query.column);
                    solution.values = values.map(|(m, k)| (m - k) / unit + solution.intercept).collect();
                }
                let influence = self.space.influence(&self.influence(&solution, derivative));
                self.explanation(fit, z, &solution, influence)
            })?;
        explained.into_iter().collect()
    }

    /// The classifier of a query `z`, given its values at the sample points.
    fn explanation(
        &self,
        fit: Fit,
        z: &[f64],
        solution: &SvmSolution,
        influence: Vec<f64>,
    ) -> Result<Explanation> {
        let half_weights = &self.space.half_weights;
        let (n, scale) = (self.space.len(), solution.scale);
        let coefficients: Vec<f64> = match &solution.beta {
            Some(beta) => beta[..n].iter().map(|b| b / scale).collect(),
            None => half_weights.iter().map(|c| c / scale).collect(),
        };
        let query_coefficient = solution.beta.as_ref().map_or(-0.5, |beta| beta[n]) / scale;
        let gradient = self.space.gradient(&coefficients, query_coefficient, z);
        let (intercept, values) = (solution.intercept, &solution.values);
        let witness = self.space.witness(&coefficients, query_coefficient, intercept, values, z)?;
        let baseline = 2.0 * dot(values, half_weights);
        let rows = self.space.coefficients_by_row(&coefficients);
        let expansion = Expansion { rows, query: query_coefficient, intercept };
        let values = (solution.query_value, baseline);
        let explanation = Explanation::kernel(fit, values, gradient, witness, z, Some(influence));
        Ok(explanation.with_expansion(Some(expansion)))
    }

    /// Queries that a worker takes at a time: their kernel columns should stay in cache.
    pub(super) fn block_width(&self) -> usize {
        match self.space.len() {
            0..=4_096 => 64,
            4_097..=32_768 => 16,
            _ => COLUMN_GROUP,
        }
    }

    /// Queries whose standard errors are computed together.
    pub(super) fn group_width(&self) -> usize {
        self.block_width().min(GROUP)
    }

    /// Solves every query and hands its row, kernel values and solution to `make`, with the derivative of the minimiser
    /// (K19) if it was computed.
    fn for_each_query<T: Send>(
        &self,
        queries: Rows<'_>,
        run: &Run<'_>,
        make: impl Fn(&Worker<'_>, &[f64], QueryKernel<'_>, SvmSolution, Option<&[f64]>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let batch = Batch::new(queries, run);
        let workers = batch.workers();
        let results = batch.run(|mut ticket: Ticket<'_, '_, Result<T>>| {
            let mut worker = Worker::new(self, workers);
            while let Some((first, rows)) = ticket.take(self.block_width(), COLUMN_GROUP) {
                let failed = worker.load(rows).err();
                for start in (0..rows.len()).step_by(self.group_width()) {
                    let mut group = Vec::with_capacity(self.group_width());
                    for j in start..rows.len().min(start + self.group_width()) {
                        if ticket.cancelled() {
                            return;
                        }
                        let result = match &failed {
                            Some(error) => Err(error.clone()),
                            None => worker.solve(j, &|| ticket.cancelled()),
                        };
                        if matches!(result, Err(DepthError::Cancelled)) {
                            return;
                        }
                        group.push(result);
                    }
                    let columns = if run.depths_only {
                        vec![None; group.len()]
                    } else {
                        worker.minimiser_derivatives(start, &group)
                    };
                    for (k, solution) in group.into_iter().enumerate() {
                        let result = solution.map(|solution| {
                            let derivative = worker.minimiser_derivative(columns[k]);
                            let (row, query) = (rows.row(start + k), worker.query(start + k));
                            make(&worker, row, query, solution, derivative)
                        });
                        ticket.done(first + start + k, result);
                    }
                }
            }
        })?;
        results.into_iter().collect()
    }

    /// Kernel columns for one of so many workers.
    pub(super) fn columns<'a>(&'a self, gram: Option<&'a Matrix>, workers: usize) -> KernelColumns<'a> {
        match gram {
            Some(gram) => KernelColumns::Stored(gram),
            None => KernelColumns::cached(&self.space, self.memory / workers as u64),
        }
    }

    pub(super) fn active_set(&self) -> ActiveSet {
        // Only the factor of the free variables grows with the square of their number.
        let max_free = usize::try_from((self.memory / 64).isqrt()).unwrap_or(usize::MAX);
        let Space { half_weights, largest, .. } = &self.space;
        ActiveSet::new(half_weights, self.free_intercept, *largest, max_free.max(1024))
    }

    /// The data for queries beyond the closed form, computed by the first that needs it.
    pub(super) fn active_set_data(&self, cancelled: &dyn Fn() -> bool) -> Result<&ActiveSetData> {
        if let Some(data) = self.active_set_data.get() {
            return Ok(data);
        }
        let _guard = self.active_set_lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(data) = self.active_set_data.get() {
            return Ok(data);
        }
        let data = ActiveSetData::new(self, cancelled)?;
        if cancelled() {
            return Err(DepthError::Cancelled);
        }
        Ok(self.active_set_data.get_or_init(|| data))
    }

    /// The sampling standard error of a depth.
    fn stderr(
        &self,
        query: QueryKernel<'_>,
        solution: &SvmSolution,
        derivative: Option<&[f64]>,
        worker: &Worker<'_>,
    ) -> f64 {
        if solution.beta.is_some() {
            return self.space.standard_error(&self.influence(solution, derivative));
        }
        // (K18); a constant does not matter to the standard error.
        let mut values = worker.buffer.borrow_mut();
        self.closed_form_values(query, &mut values);
        let slope = if self.task.variant == Variant::Risk { 1.0 } else { 0.5 };
        slope * self.space.standard_error(&values) / (2.0 * solution.scale)
    }
}
