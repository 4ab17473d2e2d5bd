//! How the depth reacts to the sample.
//!
//! By the envelope theorem the objective and the constrained depth change with the mass of row $i$ by $\frac12 \ell_i$. The
//! risk also feels how the minimiser moves: $\frac12 (\ell_i + \ell_i' s_i)$ with $s = H^{-1} 2 \, \text{reg} \, w$, where $H$ is the
//! curvature of the *expected* objective. The hinge has none but at its kink, so the density of margins there is estimated
//! by a Gaussian kernel of Silverman's width, as for the linear hinge. $H$ acts on functions; it is inverted on the
//! span of the classifier, the query's kernel function and up to 16 well spread sample points' (Galerkin's method).
//!
//! That is done for a group of queries at a time: what the bends of the loss make of the shared functions, and the shifts
//! that come out, are products of matrices.

use super::machine::{Found, Machine};
use super::shared::Basis;
use crate::numerics::elementary::exp_neg;
use crate::numerics::linalg::{
    COLUMN_GROUP, Cholesky, Matrix, accumulate_transposed, axpy, dot, multiply_first,
};
use crate::numerics::simd::{sum_of, vectorised};
use crate::problem::Variant;
use crate::solver::dual_active_set::Query;
use crate::solver::interior_point::gram::Gram;

/// Queries whose shifts are found together, at most.
pub(super) const GROUP: usize = 32;

impl Machine {
    /// ½(ℓᵢ + ℓ'ᵢ sᵢ) for every sample point, given $s$ there; without it nothing bends, as in the closed form.
    pub(super) fn influence(&self, found: &Found, shifts: Option<&[f64]>) -> Vec<f64> {
        // Half the losses.
        let mut influence = found.values.clone();
        let values = &mut influence[..];
        vectorised(
            #[inline(always)]
            || values.iter_mut().for_each(|f| *f = if *f < 1.0 { 0.5 * (1.0 - *f) } else { 0.0 }),
        );
        if self.task.variant != Variant::Risk {
            return influence;
        }
        if let (Some(beta), Some(shifts)) = (&found.beta, shifts) {
            let (values, weights) = (&mut influence[..], &self.space.half_weights);
            vectorised(
                #[inline(always)]
                || {
                    // On the kink the multiplier is the slope.
                    for (((value, shift), b), c) in values.iter_mut().zip(shifts).zip(beta).zip(weights) {
                        *value -= 0.5 * b / c * shift;
                    }
                },
            );
        } else {
            // s = w, and only differences count.
            for (value, f) in influence.iter_mut().zip(&found.values) {
                *value -= 0.5 * (f - found.intercept);
            }
        }
        influence
    }
}

/// Room for the shifts of a group of queries, one column each.
pub(super) struct Shifts {
    gram: Gram,
    /// The curvature that each point's loss stands for; the same times the query's kernel function, and times the
    /// classifier without its intercept.
    bends: [Matrix; 3],
    /// Their products with the shared functions.
    along: [Matrix; 3],
    /// The shifts in terms of the shared functions, and at the sample points.
    parts: Matrix,
    values: Matrix,
}

/// $\langle u, v \rangle = \sum_i h_i u_i v_i$, with the bends $h$, for the query's kernel function $k$, the classifier $g$ and
/// the constant.
#[derive(Clone, Copy)]
struct Moments {
    kk: f64,
    kg: f64,
    gg: f64,
    k: f64,
    g: f64,
    one: f64,
}

/// A function: its part in the span of the shared functions, and multiples of $k$, $g$ and the constant.
struct Combination {
    shared: Vec<f64>,
    own: [f64; 3],
}

impl Shifts {
    /// For up to `group` queries.
    pub(super) fn new(basis: &Basis, group: usize) -> Self {
        let (n, shared) = (basis.values.rows(), basis.values.cols());
        let three = |rows: usize| std::array::from_fn(|_| Matrix::zeros(rows, group));
        Self {
            gram: Gram::new(&basis.values, group),
            bends: three(n),
            along: three(shared),
            parts: Matrix::zeros(shared, group),
            values: Matrix::zeros(n, group),
        }
    }

    /// $s$ at the sample points for query `j` of the group that was last.
    pub(super) fn of(&self, j: usize) -> &[f64] {
        self.values.col(j)
    }

    /// Finds $s$ for a group of queries beyond the closed form.
    pub(super) fn find(&mut self, machine: &Machine, basis: &Basis, group: &[(Query<'_>, &Found)]) {
        let bent = |(j, (query, found)): (usize, &(Query<'_>, &Found))| self.bend(machine, j, *query, found);
        let moments: Vec<Option<Moments>> = group.iter().enumerate().map(bent).collect();
        let (n, count) = (machine.space.len(), group.len().next_multiple_of(COLUMN_GROUP));
        self.gram.load(&basis.values, &self.bends[0], count);
        for (along, bends) in self.along.iter_mut().zip(&self.bends) {
            (0..count).for_each(|j| along.col_mut(j).fill(0.0));
            accumulate_transposed(along, &basis.values, bends, 0, n, count);
        }
        let mut own = vec![[0.0; 3]; group.len()];
        for (j, (query, found)) in group.iter().enumerate() {
            self.parts.col_mut(j).fill(0.0);
            let shift =
                moments[j].and_then(|moments| self.galerkin(machine, basis, j, *query, found, moments));
            if let Some(shift) = shift {
                self.parts.col_mut(j).copy_from_slice(&shift.shared);
                own[j] = shift.own;
            }
        }
        multiply_first(&mut self.values, &basis.values, &self.parts, count);
        for (j, (query, found)) in group.iter().enumerate() {
            let [k, g, one] = own[j];
            let one = one - g * found.intercept;
            let (shifts, column, values) = (self.values.col_mut(j), query.column, &found.values[..]);
            vectorised(
                #[inline(always)]
                || {
                    for ((s, x), f) in shifts.iter_mut().zip(column).zip(values) {
                        *s += (k * x + g * f) + one;
                    }
                },
            );
        }
    }

    /// The bends of a query, a Gaussian bump around the kink; none if all margins are the same.
    fn bend(&mut self, machine: &Machine, j: usize, query: Query<'_>, found: &Found) -> Option<Moments> {
        let n = machine.space.len();
        let (values, masses) = (&found.values[..n], &machine.space.half_weights[..n]);
        let mean = 2.0 * dot(values, masses);
        let variance = 2.0 * sum_of(n, |i| masses[i] * ((values[i] - mean) * (values[i] - mean)));
        let width = 1.06 * variance.sqrt() * machine.space.observations().powf(-0.2);
        let [bends, with_query, with_values] = &mut self.bends;
        let (bends, with_query) = (bends.col_mut(j), with_query.col_mut(j));
        let with_values = with_values.col_mut(j);
        if width.is_nan() || width <= 0.0 {
            for list in [bends, with_query, with_values] {
                list.fill(0.0);
            }
            return None;
        }
        let height = 1.0 / (width * (2.0 * std::f64::consts::PI).sqrt());
        let (column, intercept) = (&query.column[..n], found.intercept);
        vectorised(
            #[inline(always)]
            || {
                for i in 0..n {
                    let x = (1.0 - values[i]) / width;
                    let bend = masses[i] * height * exp_neg(-0.5 * x * x);
                    bends[i] = bend;
                    with_query[i] = bend * column[i];
                    with_values[i] = bend * (values[i] - intercept);
                }
            },
        );
        let (k, g) = (sum_of(n, |i| with_query[i]), sum_of(n, |i| with_values[i]));
        Some(Moments {
            kk: dot(with_query, column),
            kg: dot(with_query, values) - intercept * k,
            gg: dot(with_values, values) - intercept * g,
            k,
            g,
            one: sum_of(n, |i| bends[i]),
        })
    }

    /// Solves for $s$ in the span of the shared functions, $k$, $g$ and, if the intercept is free, the constant.
    fn galerkin(
        &mut self,
        machine: &Machine,
        basis: &Basis,
        j: usize,
        query: Query<'_>,
        found: &Found,
        moments: Moments,
    ) -> Option<Combination> {
        let reg = machine.task.reg;
        let shared = basis.chosen.len();
        let among = self.gram.lower(&basis.values, &self.bends[0], j);
        let [with_one, with_query, with_values] = [0, 1, 2].map(|part| self.along[part].col(j));
        let bent = |x: &[f64]| -> Vec<f64> {
            let entry = |i: usize, l: usize| if i < l { among.at(l, i) } else { among.at(i, l) };
            (0..shared).map(|i| (0..shared).map(|l| entry(i, l) * x[l]).sum()).collect()
        };
        // Orthonormal functions: the shared ones; then the query's kernel function and the classifier less what the
        // others have of them; and the constant of a free intercept. For each of the latter three: the function in terms of
        // what it is made of, its products with the shared functions, and with what the three are made of.
        let query_part = basis.coordinates(basis.chosen.iter().map(|&i| query.column[i]));
        let mut target = basis.coordinates(basis.chosen.iter().map(|&i| found.values[i] - found.intercept));
        let mut at_query = query_part.clone();
        let mut own: Vec<Addition> = Vec::with_capacity(3);
        let (at, norm) = (found.at_query - found.intercept, found.norm);
        let pure = |function: usize| {
            let Moments { kk, kg, gg, k, g, one } = moments;
            let (with, products) =
                [(with_query, [kk, kg, k]), (with_values, [kg, gg, g]), (with_one, [k, g, one])][function];
            let mut own = [0.0; 3];
            own[function] = 1.0;
            Addition { shared: vec![0.0; shared], own, with: with.to_vec(), products }
        };
        let rest = query.own - dot(&query_part, &query_part);
        if rest > 1e-8 * query.own {
            let unit = rest.sqrt();
            target.push((at - dot(&query_part, &target)) / unit);
            at_query.push(unit);
            let mut function = pure(0);
            function.leave(&query_part, &bent(&query_part), [with_query, with_values, with_one]);
            function.divide(unit);
            own.push(function);
        }
        let rest = norm * norm - dot(&target, &target);
        if rest > 1e-8 * norm * norm {
            let unit = rest.sqrt();
            let mut function = pure(1);
            function.leave(&target[..shared], &bent(&target[..shared]), [with_query, with_values, with_one]);
            if let Some(other) = own.first() {
                function.subtract(target[shared], other);
            }
            function.divide(unit);
            at_query.push((at - dot(&at_query, &target)) / unit);
            target.push(unit);
            own.push(function);
        }
        let penalised = target.len();
        if machine.balanced {
            own.push(pure(2));
            at_query.push(1.0);
            target.push(0.0);
        }
        let q = target.len();
        let mut hessian = Matrix::zeros(q, q);
        for l in 0..shared {
            hessian.col_mut(l)[l..shared].copy_from_slice(&among.col(l)[l..]);
            for (i, function) in own.iter().enumerate() {
                hessian.set(shared + i, l, function.with[l]);
            }
        }
        for (l, function) in own.iter().enumerate() {
            for (i, other) in own.iter().enumerate().skip(l) {
                hessian.set(shared + i, shared + l, other.product(function));
            }
        }
        // A query on the kink stays there: its curvature is as good as infinite.
        let multiplier = found.beta.as_ref().map_or(0.0, |beta| beta[query.column.len()]);
        let kink = multiplier > -0.5 && multiplier < 0.0;
        let stiff = if kink { 1e6 * (moments.one + reg) } else { 0.0 };
        for l in 0..q {
            for i in l..q {
                let entry = hessian.at(i, l) + stiff * at_query[i] * at_query[l];
                hessian.set(i, l, entry + if i == l && l < penalised { 2.0 * reg } else { 0.0 });
            }
        }
        let factor = Cholesky::scaled(&mut hessian)?;
        for t in &mut target {
            *t *= 2.0 * reg;
        }
        factor.solve(&mut target);
        let mut shift = Combination { shared: target[..shared].to_vec(), own: [0.0; 3] };
        for (function, t) in own.iter().zip(&target[shared..]) {
            axpy(*t, &function.shared, &mut shift.shared);
            for (x, y) in shift.own.iter_mut().zip(function.own) {
                *x += t * y;
            }
        }
        let finite = shift.shared.iter().chain(&shift.own).all(|x| x.is_finite());
        finite.then_some(shift)
    }
}

/// A query's own function.
struct Addition {
    /// What it is made of: the shared functions, and $k$, $g$ and the constant.
    shared: Vec<f64>,
    own: [f64; 3],
    /// Its products with the shared functions, and with $k$, $g$ and the constant.
    with: Vec<f64>,
    products: [f64; 3],
}

impl Addition {
    /// Takes away a part in the shared functions: their products with it are `bent`, those with $k$, $g$ and 1 `others`.
    fn leave(&mut self, part: &[f64], bent: &[f64], others: [&[f64]; 3]) {
        axpy(-1.0, part, &mut self.shared);
        axpy(-1.0, bent, &mut self.with);
        for (product, other) in self.products.iter_mut().zip(others) {
            *product -= dot(part, other);
        }
    }

    fn subtract(&mut self, factor: f64, other: &Self) {
        axpy(-factor, &other.shared, &mut self.shared);
        axpy(-factor, &other.with, &mut self.with);
        for k in 0..3 {
            self.own[k] -= factor * other.own[k];
            self.products[k] -= factor * other.products[k];
        }
    }

    fn divide(&mut self, unit: f64) {
        let lists = [&mut self.shared[..], &mut self.own, &mut self.with, &mut self.products];
        lists.into_iter().flatten().for_each(|x| *x /= unit);
    }

    /// $\langle u, v \rangle$.
    fn product(&self, other: &Self) -> f64 {
        dot(&self.shared, &other.with) + self.own.iter().zip(other.products).map(|(x, y)| x * y).sum::<f64>()
    }
}
