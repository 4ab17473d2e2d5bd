//! A support vector machine's side of the sample, and the queries' way through it.

use super::influence::{GROUP, Shifts};
use super::shared::Shared;
use crate::certify::gap::{at_least_zero, risk_error};
use crate::data::Rows;
use crate::error::{DepthError, Result};
use crate::kernel::Space;
use crate::methods::explanation::Explanation;
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, dot, multiply_first};
use crate::numerics::simd::{LANES, vectorised};
use crate::problem::ErrorBudget;
use crate::problem::Variant;
use crate::problem::{Batch, Ticket};
use crate::problem::{Fit, Run};
use crate::problem::{Stop, Task};
use crate::solver::dual_active_set::{ActiveSet, Columns, End, Point, Query};
use crate::solver::radius::Radius;
use std::cell::RefCell;
use std::sync::{Mutex, OnceLock};

/// Penalties tried for a constraint; it takes about ten.
const RADIUS_STEPS: usize = 100;
/// How far from the best penalty others are tried where none will do: half of a decade, steps being decades at most.
const NEXT: f64 = 3.0;

/// What all queries of a support vector machine depth share.
#[derive(Debug)]
pub struct Machine {
    pub(super) space: Space,
    pub(super) task: Task,
    /// Whether the intercept is free: the dual variables of sample and query balance.
    pub(super) balanced: bool,
    pub(super) memory: u64,
    /// μ at the sample points.
    pub(super) mean: Vec<f64>,
    /// ‖μ‖².
    mean_square: f64,
    /// Made when a query is beyond the closed form.
    shared: OnceLock<Shared>,
    making: Mutex<()>,
}

/// A query's classifier $f = (\sum_i \beta_i k(x_i, \cdot) + \beta_z k(z, \cdot)) / s + b$ and what is known about it.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// The dual variables, the query's last; `None` when all are at their bounds.
    pub(super) beta: Option<Vec<f64>>,
    /// $s$: twice the penalty, or what stands for it under a constraint.
    pub(super) scale: f64,
    /// $f$ at the sample points (not filled in for the closed form) and at the query.
    pub(super) values: Vec<f64>,
    pub(super) at_query: f64,
    pub(super) intercept: f64,
    pub(super) norm: f64,
    pub(super) depth: f64,
    pub(super) error: f64,
    pub(super) iterations: usize,
    pub(super) stop: Stop,
}

impl Machine {
    pub(super) fn new(space: Space, task: Task, balanced: bool, memory: u64) -> Result<Self> {
        let mean = space.mean_embedding()?;
        let mean_square = 2.0 * dot(&mean, &space.half_weights);
        let (shared, making) = (OnceLock::new(), Mutex::new(()));
        Ok(Self { space, task, balanced, memory, mean, mean_square, shared, making })
    }

    pub(super) fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.each(queries, run, |worker, _, query, found, shifts| {
            let stderr = if run.depths_only { f64::NAN } else { self.stderr(query, &found, shifts, worker) };
            Self::fit(&found, stderr)
        })
    }

    pub(super) fn explain(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let run = run.with_standard_errors();
        let explained = self.each(queries, &run, |worker, z, query, mut found, shifts| {
            let fit = Self::fit(&found, self.stderr(query, &found, shifts, worker));
            if found.beta.is_none() {
                let unit = 2.0 * found.scale;
                let values = self.mean.iter().zip(query.column);
                found.values = values.map(|(m, k)| (m - k) / unit + found.intercept).collect();
            }
            let influence = self.space.influence(&self.influence(&found, shifts));
            self.explanation(fit, z, &found, influence)
        })?;
        explained.into_iter().collect()
    }

    /// The classifier of a query `z`, given its values at the sample points.
    fn explanation(&self, fit: Fit, z: &[f64], found: &Found, influence: Vec<f64>) -> Result<Explanation> {
        let half_weights = &self.space.half_weights;
        let (n, scale) = (self.space.len(), found.scale);
        let coefficients: Vec<f64> = match &found.beta {
            Some(beta) => beta[..n].iter().map(|b| b / scale).collect(),
            None => half_weights.iter().map(|c| c / scale).collect(),
        };
        let own = found.beta.as_ref().map_or(-0.5, |beta| beta[n]) / scale;
        let gradient = self.space.gradient(&coefficients, own, z);
        let witness = self.space.witness(&coefficients, own, found.intercept, &found.values, z)?;
        let values = (found.at_query, 2.0 * dot(&found.values, half_weights));
        Ok(Explanation::kernel(fit, values, gradient, witness, z, Some(influence)))
    }

    /// How many queries a worker takes at a time: their kernel columns should stay in cache.
    fn width(&self) -> usize {
        match self.space.len() {
            0..=4_096 => 64,
            4_097..=32_768 => 16,
            _ => COLUMN_GROUP,
        }
    }

    /// How many queries are solved before their standard errors are looked for.
    fn group(&self) -> usize {
        self.width().min(GROUP)
    }

    /// Solves every query and lets `make` of it what it will.
    fn each<T: Send>(
        &self,
        queries: Rows<'_>,
        run: &Run<'_>,
        make: impl Fn(&Worker<'_>, &[f64], Query<'_>, Found, Option<&[f64]>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let batch = Batch::new(queries, run);
        let workers = batch.workers();
        let results = batch.run(|mut ticket: Ticket<'_, '_, Result<T>>| {
            let mut worker = Worker::new(self, workers);
            while let Some((first, rows)) = ticket.take(self.width(), COLUMN_GROUP) {
                let failed = worker.load(rows).err();
                for start in (0..rows.len()).step_by(self.group()) {
                    let mut group = Vec::with_capacity(self.group());
                    for j in start..rows.len().min(start + self.group()) {
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
                    let bent =
                        if run.depths_only { vec![None; group.len()] } else { worker.shift(start, &group) };
                    for (k, found) in group.into_iter().enumerate() {
                        let shifts = worker.shifts.as_ref().zip(bent[k]).map(|(shifts, at)| shifts.of(at));
                        let (row, query) = (rows.row(start + k), || worker.query(start + k));
                        let result = found.map(|found| make(&worker, row, query(), found, shifts));
                        ticket.done(first + start + k, result);
                    }
                }
            }
        })?;
        results.into_iter().collect()
    }

    /// Columns for one of so many workers.
    pub(super) fn columns<'a>(&'a self, gram: Option<&'a Matrix>, workers: usize) -> Columns<'a> {
        match gram {
            Some(gram) => Columns::Stored(gram),
            None => Columns::cached(&self.space, self.memory / workers as u64),
        }
    }

    pub(super) fn active_set(&self) -> ActiveSet {
        // The factor of the free variables is the only thing that grows with their square.
        let most_free = usize::try_from((self.memory / 64).isqrt()).unwrap_or(usize::MAX);
        ActiveSet::new(&self.space.half_weights, self.balanced, self.space.largest, most_free.max(1024))
    }

    fn shared(&self, cancelled: &dyn Fn() -> bool) -> Result<&Shared> {
        if let Some(shared) = self.shared.get() {
            return Ok(shared);
        }
        let _guard = self.making.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(shared) = self.shared.get() {
            return Ok(shared);
        }
        let shared = Shared::new(self, cancelled)?;
        if cancelled() {
            return Err(DepthError::Cancelled);
        }
        Ok(self.shared.get_or_init(|| shared))
    }

    /// How far rounding may have carried a value of the classifier off, in units of the kernel, given its values.
    fn rounding(&self, own: f64, updates: usize) -> f64 {
        // Weights that are sums themselves are off by half a unit for each, twice what a sum of two halves is.
        let sums = self.space.len() as f64 / LANES as f64 + 8.0 + 2.0 * self.space.copies as f64;
        f64::EPSILON * self.space.largest.max(own) * 0.25 * (sums + updates as f64)
    }

    /// All dual variables at their bounds: the answer whenever it leaves every margin at 1 or below.
    fn closed_form(&self, query: Query<'_>) -> Option<Found> {
        let Query { column, own, .. } = query;
        let n = column.len();
        let mean_at_query = 2.0 * dot(column, &self.space.half_weights);
        let square = (self.mean_square - 2.0 * mean_at_query + own).max(0.0);
        let distance = square.sqrt();
        let (scale, radius) = match self.task.variant {
            Variant::Constrained { radius } => (0.5 * distance / radius, radius),
            _ => (2.0 * self.task.reg, distance / (4.0 * self.task.reg)),
        };
        // In units of the kernel, times two: f = (μ - k(·, z)) / 2s.
        let (mean, values) = (&self.mean[..n], &column[..n]);
        let largest = vectorised(
            #[inline(always)]
            || {
                let mut lanes = [f64::NEG_INFINITY; LANES];
                let body = n - n % LANES;
                for (m, k) in mean[..body].chunks_exact(LANES).zip(values[..body].chunks_exact(LANES)) {
                    for i in 0..LANES {
                        let value = m[i] - k[i];
                        lanes[i] = if value > lanes[i] { value } else { lanes[i] };
                    }
                }
                let all = mean[body..].iter().zip(&values[body..]).map(|(m, k)| m - k).chain(lanes);
                all.fold(f64::NEG_INFINITY, |m, x| if x > m { x } else { m })
            },
        );
        let at_query = mean_at_query - own;
        let intercept = if self.balanced { -0.5 * (largest + at_query) } else { 0.0 };
        let unit = 2.0 * scale;
        if scale == 0.0 {
            return Some(self.coincident(query));
        }
        if !(largest + intercept <= unit && -at_query - intercept <= unit) {
            return None;
        }
        // The mass of points so near the kink that rounding may have carried them over it.
        let slip = 2.0 * (self.rounding(own, 0) + self.space.rounding(own));
        let mut near = 0.0;
        if largest + intercept > unit - slip {
            let close = (0..n).filter(|&i| self.mean[i] - column[i] + intercept > unit - slip);
            near += close.map(|i| self.space.half_weights[i]).sum::<f64>();
        }
        if -at_query - intercept > unit - slip {
            near += 0.5;
        }
        let gap = near * slip / unit;
        let (depth, error) = match self.task.variant {
            Variant::Risk => {
                let slope = 4.0 * slip / (8.0 * self.task.reg);
                (1.0 - square / (8.0 * self.task.reg), risk_error(gap, self.task.reg, radius) + slope)
            }
            Variant::Objective => (1.0 - square / (16.0 * self.task.reg), gap + slip / (4.0 * self.task.reg)),
            // |√a - √b| ≤ min(|a - b| / √a, √|a - b|), and the square is right to 4 slip.
            Variant::Constrained { radius } => {
                let off = (4.0 * slip / distance).min((4.0 * slip).sqrt());
                (1.0 - 0.5 * radius * distance, gap + 0.5 * radius * off)
            }
        };
        let stop = Stop::Converged.judge(error, self.task.tol);
        Some(Found {
            beta: None,
            scale,
            values: Vec::new(),
            at_query: (at_query + intercept) / unit,
            intercept: intercept / unit,
            norm: radius,
            depth,
            error,
            iterations: 0,
            stop,
        })
    }

    /// The sample is one point and the query is there too: no constraint lets anything tell them apart.
    fn coincident(&self, query: Query<'_>) -> Found {
        let Variant::Constrained { radius } = self.task.variant else {
            unreachable!("a penalty is positive")
        };
        let slip = self.rounding(query.own, 0) + self.space.rounding(query.own);
        let proven = self.space.len() == 1 && query.twin.is_some();
        let error = if proven { 0.0 } else { radius * (2.0 * slip).sqrt() };
        Found {
            beta: None,
            scale: 1.0,
            values: Vec::new(),
            at_query: 0.0,
            intercept: 0.0,
            norm: 0.0,
            depth: 1.0,
            error,
            iterations: 0,
            stop: Stop::Converged.judge(error, self.task.tol),
        }
    }

    /// What a point of the dual says under a penalty.
    fn penalised(&self, set: &mut ActiveSet, mut point: Point, query: Query<'_>, reg: f64) -> Found {
        set.balance(&mut point, query);
        let seen = set.look(&point, query, reg);
        let slip = self.rounding(query.own, point.updates);
        let kernel = self.space.rounding(query.own);
        let allowance = set.allowance(&point, slip) / (2.0 * reg);
        let (gap, below) = (seen.total() + allowance, seen.below(&point, slip, reg) + allowance);
        let norm = seen.square.sqrt() / (2.0 * reg);
        let risk = set.risk(&point) / (2.0 * reg);
        let penalty = reg * norm * norm;
        // Once for the value itself, once for the room of variables in between; masses add up to 1.
        let rounding = (slip + kernel) / reg;
        let (depth, error) = match self.task.variant {
            Variant::Objective => (risk + penalty, gap + rounding),
            _ => (risk, gap_and_norm(gap, below, reg, norm) + rounding),
        };
        let bias = set.bias(&point);
        self.found(point, 2.0 * reg, bias, norm, depth, error, risk + penalty + rounding)
    }

    /// What a point of the dual says about the constraint ‖w‖ ≤ radius: `reg` is the penalty it came from.
    fn constrained(
        &self,
        set: &mut ActiveSet,
        point: &Point,
        query: Query<'_>,
        reg: f64,
        radius: f64,
        inside: bool,
    ) -> Found {
        let mut point = point.clone();
        set.balance(&mut point, query);
        let slip = self.rounding(query.own, point.updates);
        let kernel = self.space.rounding(query.own);
        let (square, mass) = point.square(query);
        let length = square.sqrt();
        let bias = set.bias(&point);
        // On the sphere, or where it already is inside the ball as it is.
        let scale = if inside || length == 0.0 { 2.0 * reg } else { length / radius };
        let norm = if length == 0.0 { 0.0 } else { length / scale };
        // The intercept belongs to the classifier of `reg`.
        let shifted = bias * scale / (2.0 * reg);
        let fenchel = set.look_with(&point, 0.5 * scale, shifted);
        // The square of the length is what is left of terms that may cancel: the length lies between these.
        let off = 2.0 * (slip + kernel) * mass;
        let (shortest, longest) = (at_least_zero(square - off).sqrt(), (square + off).sqrt());
        let worst = (0.5 * radius * scale).max(shortest).min(longest);
        let gap =
            (fenchel + set.allowance(&point, slip)) / scale + worst * at_least_zero(radius - worst / scale);
        // Longer than the radius, it would have to shrink: convexity says what that costs.
        let beyond = at_least_zero(1.0 - radius * scale / longest);
        let risk = set.risk(&point) / scale;
        // No classifier tells a query from the point that it is: ℓ(m) + ℓ(-m) ≥ 2.
        let floor = query.twin.map_or(0.0, |twin| 2.0 * self.space.half_weights[twin]);
        let gap = gap.min(at_least_zero(risk - floor));
        let rounding = 2.0 * (slip + kernel) / scale;
        self.found(point, scale, shifted, norm, risk, gap + beyond + rounding, risk + beyond + rounding)
    }

    #[expect(clippy::too_many_arguments, reason = "one number each")]
    fn found(
        &self,
        point: Point,
        scale: f64,
        bias: f64,
        norm: f64,
        depth: f64,
        error: f64,
        ceiling: f64,
    ) -> Found {
        let n = self.space.len();
        // Both the depth and its estimate lie between 0 and the objective.
        let error = if error < ceiling { error } else { ceiling };
        let at_query = (point.pulled[n] + bias) / scale;
        let mut values = point.pulled;
        values.truncate(n);
        vectorised(
            #[inline(always)]
            || values.iter_mut().for_each(|g| *g = (*g + bias) / scale),
        );
        Found {
            beta: Some(point.beta),
            scale,
            values,
            at_query,
            intercept: bias / scale,
            norm,
            depth,
            error,
            iterations: 0,
            stop: Stop::Converged,
        }
    }

    /// The sampling standard error of a depth.
    fn stderr(&self, query: Query<'_>, found: &Found, shifts: Option<&[f64]>, worker: &Worker<'_>) -> f64 {
        if found.beta.is_some() {
            self.space.standard_error(&self.influence(found, shifts))
        } else {
            // f = (μ - k(·, z)) / 2s + b at every point, and the depth changes by -f for the risk, by half of that else.
            let mut values = worker.spare.borrow_mut();
            values.resize(query.column.len(), 0.0);
            let (mean, values) = (&self.mean[..], &mut values[..]);
            vectorised(
                #[inline(always)]
                || {
                    for ((v, m), k) in values.iter_mut().zip(mean).zip(query.column) {
                        *v = m - k;
                    }
                },
            );
            let slope = if self.task.variant == Variant::Risk { 1.0 } else { 0.5 };
            slope * self.space.standard_error(values) / (2.0 * found.scale)
        }
    }

    fn fit(found: &Found, stderr: f64) -> Fit {
        let Found { depth, error, iterations, stop, .. } = *found;
        if depth.is_nan() || error.is_nan() {
            // After an overflow nothing is known but what every classifier has.
            return Fit { depth: 1.0, error: 1.0, stderr, iterations, stop: Stop::Stalled };
        }
        let depth = depth.clamp(0.0, 1.0);
        Fit { depth, error: (error + 8.0 * f64::EPSILON * depth).min(1.0), stderr, iterations, stop }
    }
}

/// One thread's work space.
pub(super) struct Worker<'a> {
    machine: &'a Machine,
    workers: usize,
    shared: Option<&'a Shared>,
    spare: RefCell<Vec<f64>>,
    /// Made when a query is beyond the closed form.
    shifts: Option<Shifts>,
    columns: Option<Columns<'a>>,
    set: ActiveSet,
    /// Kernel values of the queries in hand, one column each, and with themselves.
    block: Matrix,
    own: Vec<f64>,
    /// The points that the queries are; looked for where cancellation matters, under a constraint.
    twins: Vec<Option<usize>>,
    /// Products with the starts, if they were computed for this block.
    along: Matrix,
    aligned: bool,
}

impl<'a> Worker<'a> {
    fn new(machine: &'a Machine, workers: usize) -> Self {
        let block = Matrix::zeros(machine.space.len(), machine.width());
        let (along, own) = (Matrix::zeros(0, 0), Vec::new());
        let set = machine.active_set();
        let spare = RefCell::new(Vec::new());
        Self {
            machine,
            workers,
            shared: None,
            spare,
            shifts: None,
            columns: None,
            set,
            block,
            own,
            twins: Vec::new(),
            along,
            aligned: false,
        }
    }

    fn load(&mut self, rows: Rows<'_>) -> Result<()> {
        self.aligned = false;
        self.machine.space.block(rows, &mut self.block)?;
        let space = &self.machine.space;
        self.own = rows.iter().map(|z| space.own(z)).collect::<Result<_>>()?;
        let constrained = matches!(self.machine.task.variant, Variant::Constrained { .. });
        self.twins = rows.iter().map(|z| if constrained { space.twin(z) } else { None }).collect();
        Ok(())
    }

    fn query(&self, j: usize) -> Query<'_> {
        Query { column: self.block.col(j), own: self.own[j], twin: self.twins[j] }
    }

    /// Finds how the minimisers move for the queries from `start` on, where that matters; returns which is which.
    fn shift(&mut self, start: usize, group: &[Result<Found>]) -> Vec<Option<usize>> {
        let mut places = vec![None; group.len()];
        let (Some(shared), Variant::Risk) = (self.shared, self.machine.task.variant) else { return places };
        let mut list = Vec::with_capacity(group.len());
        for (k, found) in group.iter().enumerate() {
            if let Ok(found) = found
                && found.beta.is_some()
            {
                places[k] = Some(list.len());
                list.push((Query::new(self.block.col(start + k), self.own[start + k]), found));
            }
        }
        let shifts = self.shifts.get_or_insert_with(|| Shifts::new(&shared.basis, self.machine.group()));
        shifts.find(self.machine, &shared.basis, &list);
        places
    }

    fn solve(&mut self, j: usize, cancelled: &dyn Fn() -> bool) -> Result<Found> {
        let machine = self.machine;
        let query = self.query(j);
        if let Some(found) = machine.closed_form(query) {
            return Ok(found);
        }
        let shared = machine.shared(cancelled)?;
        self.shared = Some(shared);
        if !self.aligned && shared.nearest == 0 {
            self.along = Matrix::zeros(shared.starts.len(), self.block.cols());
            multiply_first(&mut self.along, &shared.rows, &self.block, self.block.cols());
            self.aligned = true;
        }
        let workers = self.workers;
        let columns = self.columns.get_or_insert_with(|| machine.columns(shared.gram.as_ref(), workers));
        let query = Query { column: self.block.col(j), own: self.own[j], twin: self.twins[j] };
        let along = if shared.nearest == 0 { self.along.col(j) } else { &[] };
        let point = shared.begin(along, query, machine, &self.set);
        let set = &mut self.set;
        if shared.nearest > 0 {
            // The neighbours are most of it.
            set.offenders = 32;
        }
        if let Variant::Constrained { radius } = machine.task.variant {
            return search(machine, set, point, query, columns, radius, cancelled);
        }
        let (mut point, reg) = (point, machine.task.reg);
        let (end, rounds) = settle(machine, set, &mut point, query, columns, reg, cancelled)?;
        let found = machine.penalised(set, point, query, reg);
        Ok(conclude(machine, found, end, rounds))
    }
}

/// The error of the bare risk, where the objective is above its minimum by at most `gap` and the dual `below` its maximum: the dual
/// is strongly concave in $w$, hence $\lambda \|w - w^*\|^2 \le$ `below`.
fn gap_and_norm(gap: f64, below: f64, reg: f64, norm: f64) -> f64 {
    gap + below + 2.0 * norm * (reg * below).sqrt()
}

/// Solves for one penalty.
fn settle(
    machine: &Machine,
    set: &mut ActiveSet,
    point: &mut Point,
    query: Query<'_>,
    columns: &mut Columns<'_>,
    reg: f64,
    cancelled: &dyn Fn() -> bool,
) -> Result<(End, usize)> {
    let Task { variant, tol, max_iter, .. } = machine.task;
    let share = ErrorBudget::new(tol).dual_active_set();
    let enough = |gap: f64, below: f64, norm: f64| match variant {
        Variant::Objective => gap <= share,
        _ => gap_and_norm(gap, below, reg, norm) <= share,
    };
    let (end, rounds) = set.solve(point, query, columns, reg, max_iter, enough, cancelled)?;
    if end == End::Cancelled { Err(DepthError::Cancelled) } else { Ok((end, rounds)) }
}

fn conclude(machine: &Machine, mut found: Found, end: End, rounds: usize) -> Found {
    let stop = if end == End::Limit { Stop::IterationLimit } else { Stop::Converged };
    found.stop = stop.judge(found.error, machine.task.tol);
    found.iterations = rounds;
    found
}

/// Looks for the penalty at which the minimiser reaches the radius.
fn search(
    machine: &Machine,
    set: &mut ActiveSet,
    mut point: Point,
    query: Query<'_>,
    columns: &mut Columns<'_>,
    radius: f64,
    cancelled: &dyn Fn() -> bool,
) -> Result<Found> {
    let Task { tol, max_iter, .. } = machine.task;
    let distance = set.look(&point, query, 1.0).square.sqrt();
    let (mut search, mut reg) = Radius::new(radius, tol, distance);
    let (mut best, mut rounds): (Option<(Found, f64)>, usize) = (None, 0);
    // Solves for a penalty; returns the norm of the minimiser and whether that is it.
    let mut attempt = |reg: f64, best: &mut Option<(Found, f64)>| -> Result<(f64, bool)> {
        let (end, taken) = settle(machine, set, &mut point, query, columns, reg, cancelled)?;
        rounds += taken;
        let norm = set.look(&point, query, reg).square.sqrt() / (2.0 * reg);
        for inside in [false, true] {
            if !inside || norm <= radius {
                let found = machine.constrained(set, &point, query, reg, radius, inside);
                if best.as_ref().is_none_or(|(b, _)| found.error < b.error || b.error.is_nan()) {
                    *best = Some((conclude(machine, found, end, rounds), reg));
                }
            }
        }
        Ok((norm, rounds >= max_iter || best.as_ref().is_some_and(|(b, _)| b.error <= tol)))
    };
    let mut enough = false;
    for _ in 0..RADIUS_STEPS {
        let norm;
        (norm, enough) = attempt(reg, &mut best)?;
        let over = enough || norm == 0.0 || search.inactive(reg, norm);
        let next = search.next(reg, norm);
        if over || (next - reg).abs() <= 1e-14 * reg {
            break;
        }
        reg = next;
    }
    // Inside the ball the gap grows with the penalty and rounding with its inverse: the best may be between two steps.
    if let Some((_, at)) = best
        && !enough
    {
        for reg in [at / NEXT, at * NEXT] {
            if attempt(reg, &mut best)?.1 {
                break;
            }
        }
    }
    match best {
        Some((found, _)) => Ok(Found { iterations: rounds, ..found }),
        None => unreachable!("at least one penalty is tried"),
    }
}
