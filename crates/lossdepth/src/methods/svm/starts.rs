//! Data for the queries beyond the closed form: the Gram matrix and starting points of the active-set method.

use super::galerkin_basis::GalerkinBasis;
use super::prepared::PreparedSvm;
use crate::error::Result;
use crate::numerics::linalg::{Matrix, axpy, dot};
use crate::problem::Variant;
use crate::solver::dual_active_set::{
    ActiveSet, DualPoint, KernelColumns, LargestEntries, QueryKernel, UpdatedCholesky,
};

/// Sample points whose solutions are starts, at most; and the fewest sample points for each (heuristic).
const MAX_STARTS: usize = 32;
const POINTS_PER_START: usize = 8;
/// The estimated dual suboptimality of a start, and the rounds spent on it (heuristic: a start need not be optimal).
const START_TOLERANCE: f64 = 1e-9;
const START_ROUNDS: usize = 200;
/// Queries start from their nearest rows if a typical solution has at most this many support vectors, and at most one in
/// eight of the sample (heuristic).
const FEW_SUPPORT_VECTORS: usize = 128;

/// Computed once, for the first query beyond the closed form.
#[derive(Debug)]
pub(super) struct ActiveSetData {
    /// The Gram matrix, if the memory limit allows it.
    pub(super) gram: Option<Matrix>,
    pub(super) starts: Vec<Start>,
    /// The dual variables of all starts, one row a start.
    pub(super) start_betas: Matrix,
    pub(super) basis: GalerkinBasis,
    /// The nearest sample points in a query's first working set, if few support vectors are usual; 0 if queries begin
    /// with a start.
    pub(super) nearest_count: usize,
}

/// A dual point of the sample alone, from which the queries can begin.
#[derive(Debug)]
pub(super) struct Start {
    beta: Vec<f64>,
    k_beta: Vec<f64>,
    /// $2 \lambda b$.
    bias: f64,
    /// $\sum \beta$ and $\beta^\top K \beta$.
    sum: f64,
    norm_squared: f64,
    free: Vec<usize>,
    factor: UpdatedCholesky,
    updates: usize,
}

impl Start {
    /// All variables at their upper bounds, as in the closed form.
    fn upper_bounds(prepared: &PreparedSvm) -> Self {
        let beta = prepared.space.half_weights.clone();
        let k_beta: Vec<f64> = prepared.mean.iter().map(|m| 0.5 * m).collect();
        let (sum, norm_squared) = (beta.iter().sum(), dot(&beta, &k_beta));
        let (free, factor) = (Vec::new(), UpdatedCholesky::default());
        Self { beta, k_beta, bias: 0.0, sum, norm_squared, free, factor, updates: 1 }
    }

    /// The sample's variables of a solution.
    fn without_query(mut point: DualPoint, query: QueryKernel<'_>, bias: f64) -> Self {
        let n = query.column.len();
        if let Some(at) = point.free.iter().position(|&j| j == n) {
            point.free.remove(at);
            point.factor.remove(at);
        }
        axpy(-point.beta[n], query.column, &mut point.k_beta[..n]);
        point.beta.truncate(n);
        point.k_beta.truncate(n);
        let (sum, norm_squared) = (point.beta.iter().sum(), dot(&point.beta, &point.k_beta));
        let DualPoint { beta, k_beta, free, factor, updates, .. } = point;
        Self { beta, k_beta, bias, sum, norm_squared, free, factor, updates: updates + 1 }
    }

    /// Minus the query's best dual variable at this start, and $4 \lambda$ times the dual objective with it; `product` is
    /// $\langle \beta, k(\cdot, z) \rangle$.
    fn dual_objective(&self, product: f64, diagonal: f64, reg: f64, free_intercept: bool) -> (f64, f64) {
        let at_query = if free_intercept {
            self.sum.min(0.5)
        } else if diagonal > 0.0 {
            ((2.0 * reg + product) / diagonal).clamp(0.0, 0.5)
        } else {
            0.5
        };
        let norm_squared = self.norm_squared - 2.0 * at_query * product + at_query * at_query * diagonal;
        (at_query, 4.0 * reg * (self.sum + at_query) - norm_squared)
    }

    /// The dual point of a query with the variable `-at_query`.
    fn point(&self, at_query: f64, product: f64, query: QueryKernel<'_>, set: &ActiveSet) -> DualPoint {
        let n = self.beta.len();
        let mut point = DualPoint {
            beta: self.beta.iter().copied().chain([-at_query]).collect(),
            k_beta: self.k_beta.iter().copied().chain([product]).collect(),
            multiplier: self.bias,
            sum: 0.0,
            penalty: set.multiplier_penalty(query.diagonal),
            free: self.free.clone(),
            factor: self.factor.clone(),
            updates: self.updates + 1,
            first_working_set: Vec::new(),
        };
        axpy(-at_query, query.column, &mut point.k_beta[..n]);
        point.k_beta[n] -= at_query * query.diagonal;
        point.sum = set.sum(&point);
        if at_query > 0.0 && at_query < 0.5 {
            set.add_free(&mut point, n, query, |j| if j == n { query.diagonal } else { query.column[j] });
        }
        point
    }
}

impl ActiveSetData {
    pub(super) fn new(prepared: &PreparedSvm, cancelled: &dyn Fn() -> bool) -> Result<Self> {
        let space = &prepared.space;
        let n = space.len();
        let gram = if space.gram_bytes() <= prepared.memory { Some(space.gram()?) } else { None };
        let mut data = Self {
            gram,
            starts: vec![Start::upper_bounds(prepared)],
            start_betas: Matrix::zeros(0, 0),
            basis: GalerkinBasis::empty(n),
            nearest_count: 0,
        };
        if let Variant::Constrained { .. } = prepared.task.variant {
            data.store_betas();
            return Ok(data);
        }
        let gram = data.gram.take();
        let mut columns = prepared.columns(gram.as_ref(), 1);
        data.basis = GalerkinBasis::new(prepared, &mut columns)?;
        let mut set = prepared.active_set();
        if !prepared.free_intercept {
            // The sample without a query: one with zero kernel values.
            let zeros = vec![0.0; n];
            let query = QueryKernel::new(&zeros, 0.0);
            data.add_start(prepared, query, &mut columns, &mut set, cancelled)?;
        }
        // Solutions for sample points as queries, from the most outlying to the most central.
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| prepared.mean[a].total_cmp(&prepared.mean[b]).then(a.cmp(&b)));
        let count = MAX_STARTS.min(n / POINTS_PER_START);
        for k in 0..count {
            let row = order[(2 * k + 1) * n / (2 * count)];
            columns.require([row].into_iter())?;
            let column = columns.column(row).to_vec();
            let query = QueryKernel::new(&column, space.diagonal[row]);
            data.add_start(prepared, query, &mut columns, &mut set, cancelled)?;
        }
        drop(columns);
        data.gram = gram;
        if prepared.free_intercept {
            data.nearest_count = data.usual_support();
        }
        data.store_betas();
        Ok(data)
    }

    /// A little more than the median number of support vectors of the starts, if that is small, else 0.
    ///
    /// With a free intercept and a small penalty only the rows near a query are its support vectors. It then begins better
    /// with its neighbours alone than with the support vectors of another query.
    fn usual_support(&self) -> usize {
        let mut counts: Vec<usize> =
            self.starts[1..].iter().map(|start| start.beta.iter().filter(|b| **b != 0.0).count()).collect();
        counts.sort_unstable();
        match counts.get(counts.len() / 2) {
            Some(&median) if median <= FEW_SUPPORT_VECTORS.min(self.starts[0].beta.len() / 8) => {
                5 * median / 4 + 1
            }
            _ => 0,
        }
    }

    /// Solves for a query and adds the solution to the starts.
    fn add_start(
        &mut self,
        prepared: &PreparedSvm,
        query: QueryKernel<'_>,
        columns: &mut KernelColumns<'_>,
        set: &mut ActiveSet,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<()> {
        let products: Vec<f64> = self.starts.iter().map(|s| dot(&s.beta, query.column)).collect();
        let mut point = self.initial_point(&products, query, prepared, set);
        let enough = |_: f64, suboptimality: f64, _: f64| suboptimality <= START_TOLERANCE;
        let rounds = prepared.task.max_iter.min(START_ROUNDS);
        set.solve(&mut point, query, columns, prepared.task.reg, rounds, enough, cancelled)?;
        let bias = set.bias(&point);
        self.starts.push(Start::without_query(point, query, bias));
        Ok(())
    }

    /// The start with the largest dual objective for a query; `products` are those of its column with the starts.
    pub(super) fn initial_point(
        &self,
        products: &[f64],
        query: QueryKernel<'_>,
        prepared: &PreparedSvm,
        set: &ActiveSet,
    ) -> DualPoint {
        if self.nearest_count > 0 {
            let n = query.column.len();
            // All variables at zero; the first working set is the query and its nearest sample points.
            let mut largest = LargestEntries::default();
            let nearest = largest.of(query.column, f64::NEG_INFINITY, self.nearest_count).to_vec();
            return DualPoint {
                beta: vec![0.0; n + 1],
                k_beta: vec![0.0; n + 1],
                penalty: set.multiplier_penalty(query.diagonal),
                first_working_set: nearest.into_iter().map(|(_, j)| j).chain([n]).collect(),
                ..DualPoint::default()
            };
        }
        let free_intercept = prepared.free_intercept;
        let mut best: Option<(f64, f64, usize)> = None;
        for (k, (start, &product)) in self.starts.iter().zip(products).enumerate() {
            // A query with another ϑ (K10) cannot use the factor of the start.
            if free_intercept && query.diagonal > prepared.space.largest && !start.free.is_empty() {
                continue;
            }
            let reg = prepared.task.reg;
            let (at_query, value) = start.dual_objective(product, query.diagonal, reg, free_intercept);
            if best.is_none_or(|(largest, ..)| value > largest) {
                best = Some((value, at_query, k));
            }
        }
        let (_, at_query, k) = best.unwrap_or((0.0, 0.0, 0));
        self.starts[k].point(at_query, products[k], query, set)
    }

    fn store_betas(&mut self) {
        let n = self.starts[0].beta.len();
        self.start_betas = Matrix::from_fn(self.starts.len(), n, |k, i| self.starts[k].beta[i]);
    }
}
