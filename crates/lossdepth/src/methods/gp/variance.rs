//! The variances of the latent function at a mode.
//!
//! With $W = \operatorname{diag}(c_i \sigma (1 - \sigma))$, $E = Y Y^\top$, $A = (I + T^\top W T)^{-1}$ the
//! posterior variance at $x_i$ is exactly
//!
//! $$ v_i = t_i^\top A t_i + u_i^\top (I + N)^{-1} u_i, \quad u_i = y_i - Y^\top W T A t_i, \quad
//!    N = Y^\top (W^{-1} + T T^\top)^{-1} Y. $$
//!
//! One product $Z = E W T$ gives $\|u_i\|^2$, $\tau_i^2 = \|u_i - y_i\|^2$ and, with $(E \circ E) W$, also
//! $q_i = y_i^\top N y_i$ and $\eta = \|W^{1/2} E W^{1/2}\|_F \ge \|N\|$; since $x - x^2 \le x / (1 + x) \le x$,
//!
//! $$ \|u_i\|^2 - (\sqrt{q_i} + \sqrt\eta \tau_i)^2 \le u_i^\top (I + N)^{-1} u_i
//!    \le \|u_i\|^2 - \frac{(\sqrt{q_i} - \sqrt\eta \tau_i)_+^2}{1 + \eta}. $$
//!
//! An error $\delta$ in $f$ changes every $\ln W_i$ by at most $\delta$, hence every $v_i$ by a factor within $e^{\pm \delta}$.
//!
//! Where $E$ is a thin product and a small $R$, all this is done with the product, and $R$ adds, by the same formula, at most
//! $(\sqrt{R_{ii}} + \sqrt{\mu v_i})^2$ with $\mu = \|W^{1/2} R W^{1/2}\|$, since $\|W^{1/2} T A t_i\|^2 \le t_i^\top A t_i$.

use super::Problem;
use super::basis::{Basis, Place};
use super::laplace_mode::Walker;
use super::posterior::Variances;
use super::residual::Rest;
use super::solve::Solver;
use crate::numerics::linalg::{
    COLUMN_GROUP, MIXED_ERROR, Matrix, Real, accumulate_transposed, axpy, dot, hadamard, multiply,
    multiply_mixed, norm,
};
use crate::numerics::simd::vectorised;
use std::cmp::Ordering;

/// $E W T$ of a few queries at a time in single precision, where that is enough.
pub(super) struct Corrections {
    /// $W T$, and room for products.
    factors: Matrix<f32>,
    part: Matrix<f32>,
    /// For a thin rest: $F^\top W T$ in both precisions.
    between: Matrix,
    between_single: Matrix<f32>,
    /// $E W T$, or that of the thin product.
    products: Matrix,
}

impl Corrections {
    pub(super) fn new(problem: &Problem<'_>, basis: &Basis, queries: usize) -> Self {
        let n = basis.len();
        let single = match &basis.rest {
            Rest::Nothing => false,
            Rest::Dense(dense) => dense.single.is_some(),
            Rest::Thin(thin) => thin.single.is_some(),
        };
        let columns = if single && problem.averaged && basis.gram.is_none() {
            queries * slot(basis.width())
        } else {
            0
        };
        let thin = if basis.rest.thin().is_some() { columns } else { 0 };
        Self {
            factors: Matrix::zeros(n, columns),
            part: Matrix::zeros(n, columns),
            between: Matrix::zeros(basis.rest.room(), thin),
            between_single: Matrix::zeros(basis.rest.room(), thin),
            products: Matrix::zeros(n, columns),
        }
    }

    /// For these queries in one pass over the rest.
    pub(super) fn multiply(&mut self, basis: &Basis, walkers: &[Walker]) {
        let m = basis.width();
        if self.factors.cols() == 0 {
            return;
        }
        for (k, walker) in walkers.iter().enumerate() {
            for j in 0..slot(m) {
                let (out, curvatures) = (self.factors.col_mut(k * slot(m) + j), &walker.curvatures[..]);
                match j.cmp(&m) {
                    Ordering::Less => product_single(basis.tall.col(j), curvatures, out),
                    Ordering::Equal => product_single(&walker.place.own, curvatures, out),
                    Ordering::Greater => out.fill(0.0),
                }
            }
        }
        let columns = walkers.len() * slot(m);
        match &basis.rest {
            Rest::Dense(dense) => {
                if let Some(rest) = &dense.single {
                    multiply_mixed(&mut self.products, rest, &self.factors, columns, &mut self.part);
                }
            }
            Rest::Thin(thin) => {
                if let Some((tall, wide)) = &thin.single {
                    multiply_mixed(&mut self.between, wide, &self.factors, columns, &mut self.part);
                    for j in 0..columns {
                        round(self.between.col(j), self.between_single.col_mut(j));
                    }
                    multiply_mixed(&mut self.products, tall, &self.between_single, columns, &mut self.part);
                }
            }
            Rest::Nothing => {}
        }
    }
}

impl Solver<'_> {
    /// $(E \circ E) W$ for every query, and for a thin rest $F F^\top W g$.
    pub(super) fn squares(&mut self, walkers: &[Walker]) -> (Matrix, Matrix) {
        let empty = || Matrix::zeros(self.basis.len(), self.pulls.cols());
        let (mut squares, mut completions) = (empty(), empty());
        if !self.problem.averaged || self.basis.rest.is_nothing() || self.whole.is_some() {
            return (squares, completions);
        }
        for (k, walker) in walkers.iter().enumerate() {
            self.pulls.col_mut(k).copy_from_slice(&walker.curvatures);
        }
        self.basis.rest.apply_squares(&self.pulls, &mut squares);
        if self.basis.rest.thin().is_some() {
            for (k, walker) in walkers.iter().enumerate() {
                hadamard(&walker.curvatures, &walker.place.completion, self.pulls.col_mut(k));
            }
            let columns = walkers.len().next_multiple_of(COLUMN_GROUP);
            self.basis.rest.apply(&self.pulls, &mut self.room, &mut completions, columns);
        }
        (squares, completions)
    }

    /// $E W T$ for the $W T$ in `weighted`, which is that of the query in this `place` of those multiplied last; and how large
    /// its rounding errors are: those of row $i$ are this number times [`size_of_row`](Self::size_of_row), column by column.
    fn apply_rest(&mut self, place: usize) -> Vec<f64> {
        let columns = self.weighted.cols();
        let first = place * slot(columns - 1);
        let (unit, single) = match &self.basis.rest {
            Rest::Dense(dense) => (MIXED_ERROR, dense.single.is_some()),
            // Twice: each of the two products is off by at most that share of the product of the sizes of its factors.
            Rest::Thin(thin) => (2.0 * MIXED_ERROR * thin.size, thin.single.is_some()),
            Rest::Nothing => (0.0, false),
        };
        if !single {
            let mut room = Matrix::zeros(self.basis.rest.room(), columns);
            self.basis.rest.apply(&self.weighted, &mut room, &mut self.product, columns);
            return vec![0.0; columns];
        }
        for j in 0..columns {
            self.product.col_mut(j).copy_from_slice(self.corrections.products.col(first + j));
        }
        (0..columns).map(|j| unit * norm(self.weighted.col(j))).collect()
    }

    /// Adds to the variances within the leading directions what the rest does.
    pub(super) fn correct(
        &mut self,
        variances: &mut Variances,
        walker: &Walker,
        shared: &Shared<'_>,
        inverse: &Matrix,
        at: &[f64],
    ) {
        let Walker { place, curvatures, .. } = walker;
        let n = self.basis.len();
        let rounding = self.apply_rest(shared.place);
        let own_moved = self.product.col(self.basis.width()).to_vec();
        let coupling = self.coupling(place);
        multiply(&mut self.again, &self.turned, &coupling);
        let tau = row_products(&self.again, &self.turned);
        let cross = row_products(&self.turned, &self.product);
        let (inner, rough) = self.inner(inverse);
        let blur = self.blur(&rounding, curvatures, &variances.low);
        let (near, eta) = self.nearness(walker, shared, &own_moved, (&inner, &rough), &rounding, &blur);
        // q and the norms are between two bounds each.
        let bracket = |(u, blur): (f64, f64), (q_low, q_high): (f64, f64), tau: f64| {
            if !(u + blur).is_finite() {
                return (0.0, f64::INFINITY);
            }
            let (least, most) = ((u - blur).max(0.0), (u + blur).max(0.0));
            let (a, b) = (q_high.sqrt(), (eta * tau).sqrt());
            let low = (least - (a + b) * (a + b)).max(least / (1.0 + eta));
            let high = most - (q_low.sqrt() - b).max(0.0).powi(2) / (1.0 + eta);
            (low, high.max(low))
        };
        let left = self.basis.rest.diagonal();
        for i in 0..n {
            let completion = place.completion.get(i).map_or(0.0, |g| g * g);
            let left = (left[i] + completion - place.own[i] * place.own[i]).max(0.0);
            let (tau, off) = (tau[i].max(0.0), blur.tau[i]);
            let u = left - 2.0 * cross[i] + tau;
            variances.add(i, bracket((u, blur.cross[i] + off), near[i], tau + off));
        }
        let off = blur.query(&rounding, at, curvatures, variances.low_query);
        let tau = dot(at, &apply(&coupling, at)).max(0.0);
        variances.add_to_query(bracket((tau, off), (0.0, 0.0), tau + off));
        if let Some(thin) = self.basis.rest.thin() {
            let mu = greatest_share(curvatures, self.problem.counts) * thin.beyond.weighted;
            for i in 0..n {
                let more = thin.beyond.diagonal[i].sqrt() + (mu * variances.high[i]).sqrt();
                variances.high[i] += more * more;
                variances.around[i] += 0.5 * more * more;
            }
            variances.high_query *= 1.0 + mu;
        }
    }

    /// Makes of $E W T$ in `product` $Z$, less the query's own direction and with what completes a thin rest; $T^\top W Z$.
    fn coupling(&mut self, place: &Place) -> Matrix {
        let width = self.weighted.cols();
        for j in 0..width {
            let along = dot(self.weighted.col(j), &place.own);
            axpy(-along, &place.own, self.product.col_mut(j));
            if !place.completion.is_empty() {
                let along = dot(self.weighted.col(j), &place.completion);
                axpy(along, &place.completion, self.product.col_mut(j));
            }
        }
        // Both triangles: the bound on what rounding in Z does is one for their mean.
        let mut coupling = Matrix::zeros(width, width);
        accumulate_transposed(&mut coupling, &self.weighted, &self.product, 0, self.basis.len(), width);
        for j in 0..width {
            for i in 0..j {
                let x = 0.5 * (coupling.at(j, i) + coupling.at(i, j));
                coupling.set(i, j, x);
                coupling.set(j, i, x);
            }
        }
        coupling
    }

    /// Bounds on $q_i$ for every point, and $\eta$.
    fn nearness(
        &self,
        walker: &Walker,
        shared: &Shared<'_>,
        own_moved: &[f64],
        (inner, rough): (&[f64], &[f64]),
        rounding: &[f64],
        blur: &Blur,
    ) -> (Vec<(f64, f64)>, f64) {
        let (Walker { place, curvatures, .. }, m) = (walker, self.basis.width());
        let own_square = dot(self.weighted.col(m), &place.own);
        let completed = Completed::new(curvatures, place, shared.completion);
        let mass = self.basis.rest.thin().map_or(0.0, |thin| thin.mass(curvatures));
        let (mut frobenius, mut near) = (0.0, Vec::with_capacity(inner.len()));
        for (i, sum) in shared.squares.iter().enumerate().take(inner.len()) {
            let e = place.own[i];
            let square = sum - 2.0 * e * own_moved[i] + e * e * own_square + completed.square(place, i);
            let touched = blur.sizes[i] * blur.length;
            let mut off =
                2.0 * touched * (inner[i].max(0.0) + rough[i]).sqrt() + touched * touched + rough[i];
            off += 2.0 * e.abs() * blur.sizes[i] * rounding[m];
            if let Some(thin) = self.basis.rest.thin() {
                off += thin.rounding(i, *sum, mass);
            }
            frobenius += curvatures[i] * (square + off);
            let q = square - inner[i];
            near.push(((q - off).max(0.0), (q + off).max(0.0)));
        }
        (near, if frobenius.is_nan() { f64::INFINITY } else { frobenius.max(0.0).sqrt() })
    }

    /// $z_i^\top A z_i$ for every row of $Z = E W T$ in `product`, and how far these may be off.
    ///
    /// They are small, so that single precision is enough; $|A_{jk}| \le (A_{jj} A_{kk})^{1/2}$ bounds its sums.
    fn inner(&mut self, inverse: &Matrix) -> (Vec<f64>, Vec<f64>) {
        let (n, width) = (self.basis.len(), inverse.cols());
        let Some(single) = &mut self.single else {
            multiply(&mut self.again, &self.product, inverse);
            return (row_products(&self.again, &self.product), vec![0.0; n]);
        };
        let mut sizes = vec![0.0; n];
        for j in 0..width {
            let root = inverse.at(j, j).max(1e-9).sqrt();
            let (sizes, column) = (&mut sizes[..], self.product.col(j));
            vectorised(
                #[inline(always)]
                || sizes.iter_mut().zip(column).for_each(|(s, z)| *s = z.abs().mul_add(root, *s)),
            );
        }
        let unit = (width + 8) as f64 * f64::from(f32::EPSILON);
        let off = sizes.iter().map(|s| unit * s * s).collect();
        (single.forms(&self.product, inverse), off)
    }

    /// What rounding of the corrections, column by column, does to sums that they are in.
    fn blur(&self, rounding: &[f64], curvatures: &[f64], base: &[f64]) -> Blur {
        let n = self.basis.len();
        let (sizes, length) = (self.sizes(), norm(rounding));
        let mut along = vec![0.0; n];
        for (j, rounding) in rounding.iter().enumerate().filter(|(_, r)| **r > 0.0) {
            for (sum, x) in along.iter_mut().zip(self.turned.col(j)) {
                *sum += rounding * x.abs();
            }
        }
        let all = norm(&sizes);
        let most = curvatures.iter().fold(0.0f64, |m, c| m.max(*c));
        // Z is off by a matrix D with |D_ij| at most the size of row i times the rounding of column j: 2 t A d and t A (T W D) A t,
        // where |W T A t| ≤ (max W · t A t)^½.
        let cross = along.iter().zip(&sizes).map(|(sum, size)| 2.0 * sum * size).collect();
        let tau =
            along.iter().zip(base).map(|(sum, base)| sum * all * (most * base).max(0.0).sqrt()).collect();
        Blur { sizes, all, length, cross, tau }
    }

    /// The sizes of the rows of the rest that rounding of its products goes by.
    fn sizes(&self) -> Vec<f64> {
        match &self.basis.rest {
            Rest::Nothing => vec![0.0; self.basis.len()],
            Rest::Dense(dense) => dense.norms.clone(),
            Rest::Thin(thin) => thin.diagonal.iter().map(|d| d.sqrt()).collect(),
        }
    }
}

/// What rounding of $E W T$ does.
struct Blur {
    /// The sizes of the rows, their norm, and that of the columns' rounding.
    sizes: Vec<f64>,
    all: f64,
    length: f64,
    /// How far $2 t A z$ and $\tau^2$ may be off, for every point.
    cross: Vec<f64>,
    tau: Vec<f64>,
}

impl Blur {
    /// How far $\tau^2$ may be off for the query.
    fn query(&self, rounding: &[f64], at: &[f64], curvatures: &[f64], base: f64) -> f64 {
        let most = curvatures.iter().fold(0.0f64, |m, c| m.max(*c));
        let sum: f64 = rounding.iter().zip(at).map(|(r, a)| r * a.abs()).sum();
        sum * self.all * (most * base).max(0.0).sqrt()
    }
}

/// What completing a thin rest by $g g^\top$ adds to $\sum_j E_{ij}^2 W_j$, the query's own direction being taken off.
struct Completed<'a> {
    /// $F F^\top W g$, $g^\top W g$ and $g^\top W o$.
    moved: &'a [f64],
    square: f64,
    mixed: f64,
}

impl<'a> Completed<'a> {
    fn new(curvatures: &[f64], place: &Place, moved: &'a [f64]) -> Self {
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).zip(curvatures).map(|((a, b), w)| a * b * w).sum();
        let g = &place.completion;
        Self { moved, square: sum(g, g), mixed: sum(g, &place.own) }
    }

    fn square(&self, place: &Place, i: usize) -> f64 {
        let Some(g) = place.completion.get(i) else { return 0.0 };
        2.0 * g * self.moved[i] + g * g * self.square - 2.0 * g * place.own[i] * self.mixed
    }
}

/// The largest of the curvatures, each as a share of its point's count.
fn greatest_share(curvatures: &[f64], counts: &[f64]) -> f64 {
    curvatures.iter().zip(counts).fold(0.0f64, |m, (w, c)| if *c > 0.0 { m.max(w / c) } else { m })
}

/// What a group computes for each of its queries together.
pub(super) struct Shared<'a> {
    /// $(E \circ E) W$, and for a thin rest $F F^\top W g$.
    pub(super) squares: &'a [f64],
    pub(super) completion: &'a [f64],
    /// Which of those multiplied last the query is.
    pub(super) place: usize,
}

/// `out = a ∘ b` in single precision, element by element.
fn product_single(a: &[f64], b: &[f64], out: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            for ((o, a), b) in out.iter_mut().zip(a).zip(b) {
                *o = f32::rounded(a * b);
            }
        },
    );
}

/// The same numbers in single precision.
pub(super) fn round(from: &[f64], to: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || to.iter_mut().zip(from).for_each(|(t, x)| *t = f32::rounded(*x)),
    );
}

/// Columns that a query with `width` directions and its own takes among others.
fn slot(width: usize) -> usize {
    (width + 1).next_multiple_of(COLUMN_GROUP)
}

/// $\sum_j a_{ij} b_{ij}$ for every row.
pub(super) fn row_products(a: &Matrix, b: &Matrix) -> Vec<f64> {
    let mut out = vec![0.0; a.rows()];
    for j in 0..a.cols() {
        let (a, b) = (a.col(j), b.col(j));
        let out = &mut out[..];
        vectorised(
            #[inline(always)]
            || {
                for ((o, a), b) in out.iter_mut().zip(a).zip(b) {
                    *o = a.mul_add(*b, *o);
                }
            },
        );
    }
    out
}

/// A symmetric matrix times a vector.
pub(super) fn apply(symmetric: &Matrix, x: &[f64]) -> Vec<f64> {
    (0..symmetric.cols()).map(|j| dot(symmetric.col(j), x)).collect()
}
