//! What the queries beyond the closed form share: kernel columns and starting points.

use super::machine::Machine;
use crate::error::Result;
use crate::numerics::linalg::{Matrix, dot};
use crate::problem::Variant;
use crate::solver::dual_active_set::{ActiveSet, Columns, Factor, Point, Query, Top};

/// Starting points, at most.
const STARTS: usize = 32;
/// Support vectors of a query that count as few.
const FEW: usize = 128;
/// Functions that span the space in which influence is computed, at most.
pub(super) const BASIS: usize = 16;

/// Made once, when the first query needs it.
#[derive(Debug)]
pub(super) struct Shared {
    /// The Gram matrix, if it fits the memory.
    pub(super) gram: Option<Matrix>,
    pub(super) starts: Vec<Start>,
    /// The dual variables of all starts, one row each.
    pub(super) rows: Matrix,
    pub(super) basis: Basis,
    /// With how many of its nearest sample points a query begins, if few points matter to it; 0 if it begins with a start.
    pub(super) nearest: usize,
}

/// A dual point of the sample alone that is a good place to begin.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) beta: Vec<f64>,
    pub(super) pulled: Vec<f64>,
    pub(super) multiplier: f64,
    pub(super) sum: f64,
    /// $\beta^\top K \beta$.
    square: f64,
    free: Vec<usize>,
    factor: Factor,
    updates: usize,
}

/// Orthonormal functions, combinations of the kernel at a few well spread points.
#[derive(Debug)]
pub(super) struct Basis {
    /// The points.
    pub(super) chosen: Vec<usize>,
    /// The lower triangular factor of their kernel matrix, row by row.
    factor: Vec<Vec<f64>>,
    /// Values of the functions at the sample points, one column each.
    pub(super) values: Matrix,
}

impl Basis {
    fn none(n: usize) -> Self {
        Self { chosen: Vec::new(), factor: Vec::new(), values: Matrix::zeros(n, 0) }
    }

    /// The coordinates in the basis of a function with these values at the chosen points.
    pub(super) fn coordinates(&self, at_chosen: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut x: Vec<f64> = at_chosen.collect();
        for i in 0..x.len() {
            let sum: f64 = self.factor[i][..i].iter().zip(&x).map(|(l, x)| l * x).sum();
            x[i] = (x[i] - sum) / self.factor[i][i];
        }
        x
    }

    /// Pivoted Cholesky, weighted: the points that take most from the mean squared distance to the span.
    fn new(machine: &Machine, columns: &mut Columns<'_>) -> Result<Self> {
        let space = &machine.space;
        let n = space.len();
        let (mut chosen, mut factor, mut values) = (Vec::new(), Vec::new(), Vec::<Vec<f64>>::new());
        let mut left = space.diagonal.clone();
        let scale = left.iter().fold(0.0f64, |m, k| m.max(*k));
        let relevant =
            |left: &[f64]| 2.0 * dot(left, &space.half_weights) > 1e-2 * machine.task.reg.min(scale);
        while chosen.len() < BASIS.min(n) && relevant(&left) {
            let best = |a: &usize, b: &usize| left[*a].total_cmp(&left[*b]).then(b.cmp(a));
            let Some(next) = (0..n).max_by(best).filter(|&i| left[i] > 1e-8 * scale) else { break };
            columns.require([next].into_iter())?;
            let mut value = columns.column(next).to_vec();
            let row: Vec<f64> = values.iter().map(|v| v[next]).collect();
            for (l, v) in row.iter().zip(&values) {
                crate::numerics::linalg::axpy(-l, v, &mut value);
            }
            let pivot = value[next].max(1e-12 * scale).sqrt();
            for v in &mut value {
                *v /= pivot;
            }
            for (l, v) in left.iter_mut().zip(&value) {
                *l = (*l - v * v).max(0.0);
            }
            left[next] = 0.0;
            factor.push(row.into_iter().chain([pivot]).collect());
            chosen.push(next);
            values.push(value);
        }
        let values = Matrix::from_fn(n, values.len(), |i, j| values[j][i]);
        Ok(Self { chosen, factor, values })
    }
}

impl Start {
    /// All variables at their upper bounds, as in the closed form.
    fn upper(machine: &Machine) -> Self {
        let beta = machine.space.half_weights.clone();
        let pulled: Vec<f64> = machine.mean.iter().map(|m| 0.5 * m).collect();
        let (sum, square) = (beta.iter().sum(), dot(&beta, &pulled));
        let (free, factor) = (Vec::new(), Factor::default());
        Self { beta, pulled, multiplier: 0.0, sum, square, free, factor, updates: 1 }
    }

    /// The sample's part of a solution.
    fn from(mut point: Point, query: Query<'_>, bias: f64) -> Self {
        let n = query.column.len();
        if let Some(at) = point.free.iter().position(|&j| j == n) {
            point.free.remove(at);
            point.factor.remove(at);
        }
        crate::numerics::linalg::axpy(-point.beta[n], query.column, &mut point.pulled[..n]);
        point.beta.truncate(n);
        point.pulled.truncate(n);
        let (sum, square) = (point.beta.iter().sum(), dot(&point.beta, &point.pulled));
        let Point { beta, pulled, free, factor, updates, .. } = point;
        Self { beta, pulled, multiplier: bias, sum, square, free, factor, updates: updates + 1 }
    }

    /// The query's best dual variable here, and four penalties times the dual objective that gives.
    fn promise(&self, along: f64, own: f64, reg: f64, balanced: bool) -> (f64, f64) {
        let at_query = if balanced {
            self.sum.min(0.5)
        } else if own > 0.0 {
            ((2.0 * reg + along) / own).clamp(0.0, 0.5)
        } else {
            0.5
        };
        let square = self.square - 2.0 * at_query * along + at_query * at_query * own;
        (at_query, 4.0 * reg * (self.sum + at_query) - square)
    }

    /// A point for a query to begin from.
    fn point(&self, at_query: f64, along: f64, query: Query<'_>, set: &ActiveSet) -> Point {
        let n = self.beta.len();
        let mut point = Point {
            beta: self.beta.iter().copied().chain([-at_query]).collect(),
            pulled: self.pulled.iter().copied().chain([along]).collect(),
            multiplier: self.multiplier,
            sum: 0.0,
            constant: set.constant(query.own),
            free: self.free.clone(),
            factor: self.factor.clone(),
            updates: self.updates + 1,
            first: Vec::new(),
        };
        crate::numerics::linalg::axpy(-at_query, query.column, &mut point.pulled[..n]);
        point.pulled[n] -= at_query * query.own;
        point.sum = set.sum(&point);
        if at_query > 0.0 && at_query < 0.5 {
            set.release(&mut point, n, query, |j| if j == n { query.own } else { query.column[j] });
        }
        point
    }
}

impl Shared {
    pub(super) fn new(machine: &Machine, cancelled: &dyn Fn() -> bool) -> Result<Self> {
        let space = &machine.space;
        let n = space.len();
        let gram = if space.gram_bytes() <= machine.memory { Some(space.gram()?) } else { None };
        let mut shared = Self {
            gram,
            starts: vec![Start::upper(machine)],
            rows: Matrix::zeros(0, 0),
            basis: Basis::none(n),
            nearest: 0,
        };
        if let Variant::Constrained { .. } = machine.task.variant {
            shared.lay_out();
            return Ok(shared);
        }
        let gram = shared.gram.take();
        let mut columns = machine.columns(gram.as_ref(), 1);
        shared.basis = Basis::new(machine, &mut columns)?;
        let mut set = machine.active_set();
        if !machine.balanced {
            // Without a query: one that the kernel does not see.
            let nothing = vec![0.0; n];
            let query = Query::new(&nothing, 0.0);
            shared.add(machine, query, &mut columns, &mut set, cancelled)?;
        }
        // Solutions for sample points, from the most outlying to the most central.
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| machine.mean[a].total_cmp(&machine.mean[b]).then(a.cmp(&b)));
        let count = STARTS.min(n / 8);
        for k in 0..count {
            let row = order[(2 * k + 1) * n / (2 * count)];
            columns.require([row].into_iter())?;
            let column = columns.column(row).to_vec();
            let query = Query::new(&column, space.diagonal[row]);
            shared.add(machine, query, &mut columns, &mut set, cancelled)?;
        }
        drop(columns);
        shared.gram = gram;
        if machine.balanced {
            shared.nearest = shared.reach();
        }
        shared.lay_out();
        Ok(shared)
    }

    /// How many points a query has to look at, if they are few.
    ///
    /// With a free intercept and a weak penalty only points near the query keep it in its place; all other variables are
    /// zero. Then a query is better off with nothing but its neighbours than with what matters elsewhere.
    fn reach(&self) -> usize {
        let mut counts: Vec<usize> =
            self.starts[1..].iter().map(|start| start.beta.iter().filter(|b| **b != 0.0).count()).collect();
        counts.sort_unstable();
        match counts.get(counts.len() / 2) {
            Some(&typical) if typical <= FEW.min(self.starts[0].beta.len() / 8) => 5 * typical / 4 + 1,
            _ => 0,
        }
    }

    /// Solves for a query and keeps what it finds, unless it is worse than useless.
    fn add(
        &mut self,
        machine: &Machine,
        query: Query<'_>,
        columns: &mut Columns<'_>,
        set: &mut ActiveSet,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<()> {
        let along: Vec<f64> = self.starts.iter().map(|s| dot(&s.beta, query.column)).collect();
        let mut point = self.begin(&along, query, machine, set);
        let good = |_: f64, below: f64, _: f64| below <= 1e-9;
        let rounds = machine.task.max_iter.min(200);
        set.solve(&mut point, query, columns, machine.task.reg, rounds, good, cancelled)?;
        let bias = set.bias(&point);
        self.starts.push(Start::from(point, query, bias));
        Ok(())
    }

    /// The start with the best dual objective for a query; `along` are the products of its column with the starts.
    pub(super) fn begin(&self, along: &[f64], query: Query<'_>, machine: &Machine, set: &ActiveSet) -> Point {
        if self.nearest > 0 {
            let n = query.column.len();
            // Nothing but the query and the points that it is most alike.
            let nearest = Top::default().of(query.column, f64::NEG_INFINITY, self.nearest).to_vec();
            return Point {
                beta: vec![0.0; n + 1],
                pulled: vec![0.0; n + 1],
                constant: set.constant(query.own),
                first: nearest.into_iter().map(|(_, j)| j).chain([n]).collect(),
                ..Point::default()
            };
        }
        let mut best: Option<(f64, f64, usize)> = None;
        for (k, (start, &along)) in self.starts.iter().zip(along).enumerate() {
            // A factor that was made for another constant is of no use.
            if machine.balanced && query.own > machine.space.largest && !start.free.is_empty() {
                continue;
            }
            let (at_query, value) = start.promise(along, query.own, machine.task.reg, machine.balanced);
            if best.is_none_or(|(most, ..)| value > most) {
                best = Some((value, at_query, k));
            }
        }
        let (_, at_query, k) = best.unwrap_or((0.0, 0.0, 0));
        self.starts[k].point(at_query, along[k], query, set)
    }

    fn lay_out(&mut self) {
        let n = self.starts[0].beta.len();
        self.rows = Matrix::from_fn(self.starts.len(), n, |k, i| self.starts[k].beta[i]);
    }
}
