//! Influence values of the sample on a depth: (L18), with (K18) and (K19).
//!
//! By the envelope theorem the derivative of the objective and of the constrained depth in the mass of row $i$ is
//! $\frac12 \ell_i$. That of the risk also contains the derivative of the minimiser: $\frac12 (\ell_i + \ell_i' s_i)$ with
//! $s = H^{-1} 2 \lambda w$, where $H$ is the curvature of the *expected* objective. The hinge has curvature at its kink only, so
//! the density of margins there is estimated by a Gaussian kernel of Silverman's width (L19). $H$ acts on functions; the
//! equation is solved by Galerkin's method on the span of the classifier, the query's kernel function and up to 16 sample
//! functions.
//!
//! A group of queries is solved together: the products with the basis, and the values of the solutions, are matrix
//! products.

use super::galerkin_basis::GalerkinBasis;
use super::prepared::PreparedSvm;
use super::solution::SvmSolution;
use crate::numerics::elementary::exp_neg;
use crate::numerics::linalg::{
    COLUMN_GROUP, Cholesky, Matrix, accumulate_transposed, axpy, dot, multiply_first,
};
use crate::numerics::simd::{sum_of, vectorised};
use crate::problem::Variant;
use crate::solver::dual_active_set::QueryKernel;
use crate::solver::interior_point::gram::Gram;

/// Queries solved together, at most.
pub(super) const GROUP: usize = 32;
/// A function whose squared distance from the span of the others is below this share of its square adds no direction.
const DEPENDENT: f64 = 1e-8;
/// The curvature of a query on the kink, as a multiple of the sample's and of the penalty: large enough to hold its margin
/// fixed (heuristic).
const KINK_CURVATURE: f64 = 1e6;
/// The least width of the density of margins, relative to 1 plus their mean: margins that should be equal differ by the
/// solver's tolerance, and what is on the kink must not depend on that (heuristic).
const MIN_WIDTH: f64 = 1e-6;

impl PreparedSvm {
    /// $\frac12 (\ell_i + \ell_i' s_i)$ for every sample point, given $s$ there. Without it $s = w$, as in the closed form.
    pub(super) fn influence(&self, solution: &SvmSolution, derivative: Option<&[f64]>) -> Vec<f64> {
        // Half the losses.
        let mut influence = solution.values.clone();
        let values = &mut influence[..];
        vectorised!(values.iter_mut().for_each(|f| *f = if *f < 1.0 { 0.5 * (1.0 - *f) } else { 0.0 }));
        if self.task.variant != Variant::Risk {
            return influence;
        }
        if let (Some(beta), Some(derivative)) = (&solution.beta, derivative) {
            let (values, weights) = (&mut influence[..], &self.space.half_weights);
            vectorised!({
                // The multiplier is minus the slope, on the kink too.
                for (((value, s), b), c) in values.iter_mut().zip(derivative).zip(beta).zip(weights) {
                    *value -= 0.5 * b / c * s;
                }
            });
        } else {
            // A constant does not matter.
            for (value, f) in influence.iter_mut().zip(&solution.values) {
                *value -= 0.5 * (f - solution.intercept);
            }
        }
        influence
    }
}

/// Galerkin's method for a group of queries, one column each.
pub(super) struct GalerkinSolver {
    gram: Gram,
    /// The curvature of the loss at each sample point, times 1, the query's kernel function, and the classifier without
    /// its intercept.
    curvatures: [Matrix; 3],
    /// Their products with the basis functions.
    products: [Matrix; 3],
    /// The solutions: their coefficients in the basis, and their values at the sample points.
    coefficients: Matrix,
    values: Matrix,
}

/// $\langle u, v \rangle_h = \sum_i h_i u_i v_i$ with the curvatures $h$, for the query's kernel function $k$, the classifier
/// $g$ without its intercept and the constant.
#[derive(Clone, Copy)]
struct CurvatureMoments {
    kk: f64,
    kg: f64,
    gg: f64,
    k: f64,
    g: f64,
    one: f64,
}

/// A function as a combination of the basis functions and of $k$, $g$ and the constant.
struct FunctionCoefficients {
    basis: Vec<f64>,
    own: [f64; 3],
}

impl GalerkinSolver {
    /// For up to `group` queries.
    pub(super) fn new(basis: &GalerkinBasis, group: usize) -> Self {
        let (n, size) = (basis.values.rows(), basis.values.cols());
        let three = |rows: usize| std::array::from_fn(|_| Matrix::zeros(rows, group));
        Self {
            gram: Gram::new(&basis.values, group),
            curvatures: three(n),
            products: three(size),
            coefficients: Matrix::zeros(size, group),
            values: Matrix::zeros(n, group),
        }
    }

    /// $s$ at the sample points for query `j` of the last group.
    pub(super) fn values(&self, j: usize) -> &[f64] {
        self.values.col(j)
    }

    /// Computes $s$ for a group of queries beyond the closed form.
    pub(super) fn solve(
        &mut self,
        prepared: &PreparedSvm,
        basis: &GalerkinBasis,
        group: &[(QueryKernel<'_>, &SvmSolution)],
    ) {
        let moments: Vec<Option<CurvatureMoments>> = group
            .iter()
            .enumerate()
            .map(|(j, (query, solution))| self.load_curvatures(prepared, j, *query, solution))
            .collect();
        let (n, count) = (prepared.space.len(), group.len().next_multiple_of(COLUMN_GROUP));
        self.gram.load(&basis.values, &self.curvatures[0], count);
        for (products, curvatures) in self.products.iter_mut().zip(&self.curvatures) {
            (0..count).for_each(|j| products.col_mut(j).fill(0.0));
            accumulate_transposed(products, &basis.values, curvatures, 0, n, count);
        }
        let mut own = vec![[0.0; 3]; group.len()];
        for (j, (query, solution)) in group.iter().enumerate() {
            self.coefficients.col_mut(j).fill(0.0);
            let solved = moments[j]
                .and_then(|moments| self.solve_projected(prepared, basis, j, *query, solution, moments));
            if let Some(s) = solved {
                self.coefficients.col_mut(j).copy_from_slice(&s.basis);
                own[j] = s.own;
            }
        }
        multiply_first(&mut self.values, &basis.values, &self.coefficients, count);
        for (j, (query, solution)) in group.iter().enumerate() {
            let [k, g, one] = own[j];
            let one = one - g * solution.intercept;
            let (s, column, values) = (self.values.col_mut(j), query.column, &solution.values[..]);
            vectorised!({
                for ((s, x), f) in s.iter_mut().zip(column).zip(values) {
                    *s += (k * x + g * f) + one;
                }
            });
        }
    }

    /// The curvatures of a query, a Gaussian density around the kink (L19); none if the margins are not finite.
    fn load_curvatures(
        &mut self,
        prepared: &PreparedSvm,
        j: usize,
        query: QueryKernel<'_>,
        solution: &SvmSolution,
    ) -> Option<CurvatureMoments> {
        let n = prepared.space.len();
        let (values, masses) = (&solution.values[..n], &prepared.space.half_weights[..n]);
        let mean = 2.0 * dot(values, masses);
        let variance = 2.0 * sum_of(n, |i| masses[i] * ((values[i] - mean) * (values[i] - mean)));
        let width = 1.06 * variance.sqrt() * prepared.space.observations().powf(-0.2);
        let width = width.max(MIN_WIDTH * (1.0 + mean.abs()));
        let [curvatures, with_query, with_values] = &mut self.curvatures;
        let (curvatures, with_query) = (curvatures.col_mut(j), with_query.col_mut(j));
        let with_values = with_values.col_mut(j);
        if !width.is_finite() {
            for list in [curvatures, with_query, with_values] {
                list.fill(0.0);
            }
            return None;
        }
        let height = 1.0 / (width * (2.0 * std::f64::consts::PI).sqrt());
        let (column, intercept) = (&query.column[..n], solution.intercept);
        vectorised!({
            for i in 0..n {
                let x = (1.0 - values[i]) / width;
                let curvature = masses[i] * height * exp_neg(-0.5 * x * x);
                curvatures[i] = curvature;
                with_query[i] = curvature * column[i];
                with_values[i] = curvature * (values[i] - intercept);
            }
        });
        let (k, g) = (sum_of(n, |i| with_query[i]), sum_of(n, |i| with_values[i]));
        Some(CurvatureMoments {
            kk: dot(with_query, column),
            kg: dot(with_query, values) - intercept * k,
            gg: dot(with_values, values) - intercept * g,
            k,
            g,
            one: sum_of(n, |i| curvatures[i]),
        })
    }

    /// Solves for $s$ in the span of the basis, $k$, $g$ and, if the intercept is free, the constant.
    fn solve_projected(
        &mut self,
        prepared: &PreparedSvm,
        basis: &GalerkinBasis,
        j: usize,
        query: QueryKernel<'_>,
        solution: &SvmSolution,
        moments: CurvatureMoments,
    ) -> Option<FunctionCoefficients> {
        let (reg, size) = (prepared.task.reg, basis.points.len());
        let within_basis = self.gram.lower(&basis.values, &self.curvatures[0], j);
        let with_basis = [1, 2, 0].map(|part| self.products[part].col(j));
        let products = QueryProducts { within_basis, with_basis, moments };
        let Span { functions, mut target, at_query, penalised } =
            Span::new(prepared, basis, query, solution, &products);
        let mut hessian = products.hessian(&functions);
        // A query on the kink stays there.
        let multiplier = solution.beta.as_ref().map_or(0.0, |beta| beta[query.column.len()]);
        let on_kink = multiplier > -0.5 && multiplier < 0.0;
        let query_curvature = if on_kink { KINK_CURVATURE * (moments.one + reg) } else { 0.0 };
        for l in 0..target.len() {
            for i in l..target.len() {
                let entry = hessian.at(i, l) + query_curvature * at_query[i] * at_query[l];
                hessian.set(i, l, entry + if i == l && l < penalised { 2.0 * reg } else { 0.0 });
            }
        }
        let factor = Cholesky::scaled(&mut hessian)?;
        for t in &mut target {
            *t *= 2.0 * reg;
        }
        factor.solve(&mut target);
        let mut s = FunctionCoefficients { basis: target[..size].to_vec(), own: [0.0; 3] };
        for (function, t) in functions.iter().zip(&target[size..]) {
            axpy(*t, &function.basis, &mut s.basis);
            for (x, y) in s.own.iter_mut().zip(function.own) {
                *x += t * y;
            }
        }
        let finite = s.basis.iter().chain(&s.own).all(|x| x.is_finite());
        finite.then_some(s)
    }
}

/// The products $\langle u, v \rangle_h$ of one query.
struct QueryProducts<'a> {
    /// Of the basis functions with each other, lower triangle.
    within_basis: Matrix,
    /// Of $k$, $g$ and the constant with the basis functions, and with each other.
    with_basis: [&'a [f64]; 3],
    moments: CurvatureMoments,
}

impl QueryProducts<'_> {
    /// $k$, $g$ or the constant.
    fn function(&self, which: usize) -> QueryFunction {
        let CurvatureMoments { kk, kg, gg, k, g, one } = self.moments;
        let (basis, with_basis) = (vec![0.0; self.within_basis.cols()], self.with_basis[which].to_vec());
        let mut own = [0.0; 3];
        own[which] = 1.0;
        QueryFunction { basis, own, with_basis, with_own: [[kk, kg, k], [kg, gg, g], [k, g, one]][which] }
    }

    /// $k$ or $g$ less a combination of the basis functions.
    fn less_basis(&self, which: usize, part: &[f64]) -> QueryFunction {
        let size = part.len();
        let entry = |i: usize, l: usize| self.within_basis.at(i.max(l), i.min(l));
        let with_basis: Vec<f64> =
            (0..size).map(|i| (0..size).map(|l| entry(i, l) * part[l]).sum()).collect();
        let mut function = self.function(which);
        function.subtract_basis(part, &with_basis, self.with_basis);
        function
    }

    /// The products of the basis functions and some others with each other, lower triangle.
    fn hessian(&self, functions: &[QueryFunction]) -> Matrix {
        let size = self.within_basis.cols();
        let mut hessian = Matrix::zeros(size + functions.len(), size + functions.len());
        for l in 0..size {
            hessian.col_mut(l)[l..size].copy_from_slice(&self.within_basis.col(l)[l..]);
            for (i, function) in functions.iter().enumerate() {
                hessian.set(size + i, l, function.with_basis[l]);
            }
        }
        for (l, function) in functions.iter().enumerate() {
            for (i, other) in functions.iter().enumerate().skip(l) {
                hessian.set(size + i, size + l, other.product(function));
            }
        }
        hessian
    }
}

/// Orthonormal functions: the basis; the query's kernel function and the classifier, orthogonalised; and the constant of a free
/// intercept.
struct Span {
    /// Those that are not in the basis.
    functions: Vec<QueryFunction>,
    /// The coordinates of $w$ in all of them, and their values at the query.
    target: Vec<f64>,
    at_query: Vec<f64>,
    /// How many are penalised: all but the constant.
    penalised: usize,
}

impl Span {
    fn new(
        prepared: &PreparedSvm,
        basis: &GalerkinBasis,
        query: QueryKernel<'_>,
        solution: &SvmSolution,
        products: &QueryProducts<'_>,
    ) -> Self {
        let size = basis.points.len();
        let query_part = basis.coordinates(basis.points.iter().map(|&i| query.column[i]));
        let centred = basis.points.iter().map(|&i| solution.values[i] - solution.intercept);
        let mut target = basis.coordinates(centred);
        let mut at_query = query_part.clone();
        let mut functions: Vec<QueryFunction> = Vec::with_capacity(3);
        let (at, norm) = (solution.query_value - solution.intercept, solution.norm);
        let distance = query.diagonal - dot(&query_part, &query_part);
        if distance > DEPENDENT * query.diagonal {
            let unit = distance.sqrt();
            target.push((at - dot(&query_part, &target)) / unit);
            at_query.push(unit);
            let mut function = products.less_basis(0, &query_part);
            function.divide(unit);
            functions.push(function);
        }
        let distance = norm * norm - dot(&target, &target);
        if distance > DEPENDENT * norm * norm {
            let unit = distance.sqrt();
            let mut function = products.less_basis(1, &target[..size]);
            if let Some(other) = functions.first() {
                function.subtract(target[size], other);
            }
            function.divide(unit);
            at_query.push((at - dot(&at_query, &target)) / unit);
            target.push(unit);
            functions.push(function);
        }
        let penalised = target.len();
        if prepared.free_intercept {
            functions.push(products.function(2));
            at_query.push(1.0);
            target.push(0.0);
        }
        Self { functions, target, at_query, penalised }
    }
}

/// A function of the span that is not in the basis.
struct QueryFunction {
    /// Its coefficients of the basis functions, and of $k$, $g$ and the constant.
    basis: Vec<f64>,
    own: [f64; 3],
    /// Its products $\langle \cdot, \cdot \rangle_h$ with the basis functions, and with $k$, $g$ and the constant.
    with_basis: Vec<f64>,
    with_own: [f64; 3],
}

impl QueryFunction {
    /// Subtracts a combination of the basis functions, whose products with the basis are `with_basis`; `others` are those
    /// of the basis with $k$, $g$ and 1.
    fn subtract_basis(&mut self, part: &[f64], with_basis: &[f64], others: [&[f64]; 3]) {
        axpy(-1.0, part, &mut self.basis);
        axpy(-1.0, with_basis, &mut self.with_basis);
        for (product, other) in self.with_own.iter_mut().zip(others) {
            *product -= dot(part, other);
        }
    }

    fn subtract(&mut self, factor: f64, other: &Self) {
        axpy(-factor, &other.basis, &mut self.basis);
        axpy(-factor, &other.with_basis, &mut self.with_basis);
        for k in 0..3 {
            self.own[k] -= factor * other.own[k];
            self.with_own[k] -= factor * other.with_own[k];
        }
    }

    fn divide(&mut self, unit: f64) {
        let lists = [&mut self.basis[..], &mut self.own, &mut self.with_basis, &mut self.with_own];
        lists.into_iter().flatten().for_each(|x| *x /= unit);
    }

    /// $\langle u, v \rangle_h$.
    fn product(&self, other: &Self) -> f64 {
        let own = self.own.iter().zip(other.with_own).map(|(x, y)| x * y).sum::<f64>();
        dot(&self.basis, &other.with_basis) + own
    }
}
