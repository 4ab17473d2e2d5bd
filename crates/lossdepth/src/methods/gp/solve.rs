//! The mode and the variances of a group of queries.
//!
//! **Mode.** In the split $K = T T^\top + E$ of [`basis`](super::basis), now with the query's own direction in $T$, the
//! latent function is $f = T w + E \alpha$ and minimises
//!
//! $$ \Psi(f) = \sum_i c_i \ln(1 + e^{-f_i}) + N \ln(1 + e^{f_z}) + \tfrac12 \|f\|^2. $$
//!
//! Newton's method finds $w$ for a given $r = E \alpha$; then $r$ is updated from the new slopes $\alpha_i = c_i
//! \sigma(-f_i)$, which is a contraction by $\|W^{1/2} E W^{1/2}\|$. $\Psi$ is strongly convex with modulus 1 in the norm
//! of the Hilbert space, so that with the gradient's parts $g_T$ and $d$ (coefficients of $E$)
//!
//! $$ |f(x) - f^*(x)| \le \sqrt{k(x, x)} \, \delta, \qquad \delta^2 = \|g_T\|^2 + d^\top E d. $$
//!
//! Where the rest is a thin product, most passes are with that, and what it leaves is looked at once or twice; how far that may
//! be off is in [`walk`](super::laplace_mode). The variances are in [`variance`](super::variance) and [`whole`](super::dense_variance).

use super::basis::{Basis, Place};
use super::dense_variance::Whole;
use super::laplace_mode::Walker;
use super::variance::{Corrections, Shared, round};
use super::{Posterior, Problem};
use crate::numerics::linalg::{
    COLUMN_GROUP, Cholesky, Matrix, axpy, hadamard, multiply_first, multiply_symmetric,
};
use crate::numerics::simd::vectorised;

/// Queries that share a pass over the rest of the Gram matrix for their variances.
const TOGETHER: usize = 8;

/// The shared directions and the query's own in single precision, and room for products.
pub(super) struct Single {
    own: Matrix<f32>,
    weighted: Matrix<f32>,
    turned: Matrix<f32>,
    again: Matrix<f32>,
}

impl Single {
    fn new(own: &Matrix) -> Self {
        let room = || Matrix::zeros(own.rows(), own.cols());
        Self { own: own.single(), weighted: room(), turned: room(), again: room() }
    }

    /// The lower triangle of $T^\top W T$, with the query's own direction last.
    pub(super) fn products(&mut self, own: &[f64], weights: &[f64]) -> Matrix {
        let width = self.own.cols();
        round(own, self.own.col_mut(width - 1));
        let mut single = vec![0.0; weights.len()];
        round(weights, &mut single);
        for j in 0..width {
            hadamard(self.own.col(j), &single, self.weighted.col_mut(j));
        }
        let mut out = Matrix::zeros(width, width);
        multiply_symmetric(&mut out, &self.weighted, &self.own);
        Matrix::from_fn(width, width, |i, j| f64::from(out.at(i, j)))
    }

    /// $a_i^\top S a_i$ for every row of the matrix $A$.
    pub(super) fn forms(&mut self, rows: &Matrix, symmetric: &Matrix) -> Vec<f64> {
        (0..rows.cols()).for_each(|j| round(rows.col(j), self.turned.col_mut(j)));
        multiply_first(&mut self.again, &self.turned, &symmetric.single(), rows.cols());
        let mut out = vec![0.0; rows.rows()];
        for j in 0..rows.cols() {
            let (a, b, out) = (self.again.col(j), self.turned.col(j), &mut out[..]);
            vectorised(
                #[inline(always)]
                || out.iter_mut().zip(a).zip(b).for_each(|((o, a), b)| *o += f64::from(a * b)),
            );
        }
        out
    }
}

/// Room for one worker.
pub(super) struct Solver<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) basis: &'a Basis,
    /// n × (m + 1): the shared directions and the query's own.
    pub(super) own: Matrix,
    pub(super) weighted: Matrix,
    pub(super) product: Matrix,
    pub(super) turned: Matrix,
    pub(super) again: Matrix,
    /// For what need not be exact, unless numbers are too large or small for that.
    pub(super) single: Option<Single>,
    /// $E W T$ of [`TOGETHER`] queries.
    pub(super) corrections: Corrections,
    /// Where the sample is treated as a whole.
    pub(super) whole: Option<Whole>,
    steps: Matrix,
    values: Matrix,
    pub(super) pulls: Matrix,
    gathered: Matrix,
    pub(super) moved: Matrix,
    pub(super) room: Matrix,
}

impl<'a> Solver<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, basis: &'a Basis, width: usize) -> Self {
        let (n, m) = (basis.len(), basis.width());
        let tall = || Matrix::zeros(n, m + 1);
        let mut own = tall();
        for j in 0..m {
            own.col_mut(j).copy_from_slice(basis.tall.col(j));
        }
        let group = |rows| Matrix::zeros(rows, width);
        Self {
            problem,
            basis,
            weighted: tall(),
            product: tall(),
            turned: tall(),
            again: tall(),
            single: (1e-12..1e12).contains(&basis.largest).then(|| Single::new(&own)),
            own,
            corrections: Corrections::new(problem, basis, TOGETHER.min(width)),
            whole: basis.gram.as_ref().filter(|_| problem.averaged).map(|_| Whole::new(n)),
            steps: group(m),
            values: group(n),
            pulls: group(n),
            gathered: group(m),
            moved: group(n),
            room: group(basis.rest.room()),
        }
    }

    /// The posteriors of a group of queries, no more than there is room for; `None` if cancelled.
    pub(super) fn group(
        &mut self,
        places: Vec<Place>,
        cancelled: impl Fn() -> bool,
    ) -> Option<Vec<Posterior>> {
        let mut walkers: Vec<Walker> = places.into_iter().map(Walker::new).collect();
        while walkers.iter().any(|w| w.done.is_none()) {
            if cancelled() {
                return None;
            }
            self.settle(&mut walkers, &cancelled);
            self.refresh(&mut walkers);
        }
        let (squares, completions) = self.squares(&walkers);
        let mut found = Vec::with_capacity(walkers.len());
        for (k, walker) in walkers.iter().enumerate() {
            if cancelled() {
                return None;
            }
            let place = k % TOGETHER;
            if place == 0 {
                let next = &walkers[k..walkers.len().min(k + TOGETHER)];
                self.corrections.multiply(self.basis, next);
            }
            let shared = Shared { squares: squares.col(k), completion: completions.col(k), place };
            found.push(self.posterior(walker, &shared));
        }
        Some(found)
    }

    /// Newton's method in the leading directions, side by side, with what the rest adds held fixed.
    fn settle(&mut self, walkers: &mut [Walker], cancelled: &impl Fn() -> bool) {
        let m = self.basis.width();
        let goal = 0.3 * self.problem.target;
        let mut busy = unfinished(walkers);
        while !busy.is_empty() && !cancelled() {
            let columns = whole_groups(&busy);
            for (k, &j) in busy.iter().enumerate() {
                self.steps.col_mut(k).copy_from_slice(&walkers[j].w[..m]);
            }
            (busy.len()..columns).for_each(|k| self.steps.col_mut(k).fill(0.0));
            multiply_first(&mut self.values, &self.basis.tall, &self.steps, columns);
            for (k, &j) in busy.iter().enumerate() {
                walkers[j].look(self.values.col(k), self.problem);
                self.pulls.col_mut(k).copy_from_slice(&walkers[j].slopes);
            }
            (busy.len()..columns).for_each(|k| self.pulls.col_mut(k).fill(0.0));
            multiply_first(&mut self.gathered, &self.basis.wide, &self.pulls, columns);
            let mut left = Vec::with_capacity(busy.len());
            for (k, &j) in busy.iter().enumerate() {
                let walker = &mut walkers[j];
                walker.slope(self.gathered.col(k));
                let enough = match walker.outer {
                    _ if self.basis.rest.is_nothing() || walker.settlings > 0 => goal,
                    outer if outer.is_finite() => goal.max(0.02 * outer),
                    _ => goal.max(0.02),
                };
                let limit = walker.iterations >= self.problem.max_iter;
                if walker.length > enough && !limit && walker.step(self) {
                    left.push(j);
                }
            }
            busy = left;
        }
    }

    /// One product with the rest for all queries: certificates, and the next right-hand sides.
    fn refresh(&mut self, walkers: &mut [Walker]) {
        let busy = unfinished(walkers);
        let columns = whole_groups(&busy);
        for (k, &j) in busy.iter().enumerate() {
            self.pulls.col_mut(k).copy_from_slice(&walkers[j].slopes);
        }
        (busy.len()..columns).for_each(|k| self.pulls.col_mut(k).fill(0.0));
        self.basis.rest.apply(&self.pulls, &mut self.room, &mut self.moved, columns);
        let mut unsettled = Vec::new();
        for (k, &j) in busy.iter().enumerate() {
            if walkers[j].judge(self.moved.col_mut(k), self.problem, self.basis) {
                unsettled.push(j);
            }
        }
        let Some(thin) = self.basis.rest.thin().filter(|_| !unsettled.is_empty()) else { return };
        let columns = whole_groups(&unsettled);
        for (k, &j) in unsettled.iter().enumerate() {
            self.pulls.col_mut(k).copy_from_slice(&walkers[j].slopes);
        }
        (unsettled.len()..columns).for_each(|k| self.pulls.col_mut(k).fill(0.0));
        thin.beyond.apply(&self.pulls, &mut self.moved, columns);
        for (k, &j) in unsettled.iter().enumerate() {
            walkers[j].settle(self.moved.col(k));
        }
    }

    /// $I + T^\top W T$, factored; leaves $W T$ in `weighted`.
    pub(super) fn factor(
        &mut self,
        own: &[f64],
        coordinates: &[f64],
        curvatures: &[f64],
        bend: f64,
    ) -> Option<Cholesky> {
        let m = self.basis.width();
        self.own.col_mut(m).copy_from_slice(own);
        for j in 0..=m {
            hadamard(self.own.col(j), curvatures, self.weighted.col_mut(j));
        }
        let mut hessian = Matrix::zeros(m + 1, m + 1);
        multiply_symmetric(&mut hessian, &self.weighted, &self.own);
        complete(hessian, coordinates, bend)
    }

    /// The same, but for rounding.
    pub(super) fn rough_factor(
        &mut self,
        own: &[f64],
        coordinates: &[f64],
        curvatures: &[f64],
        bend: f64,
    ) -> Option<Cholesky> {
        match &mut self.single {
            Some(single) => complete(single.products(own, curvatures), coordinates, bend),
            None => self.factor(own, coordinates, curvatures, bend),
        }
    }
}

/// Adds what the query and the penalty do to the lower triangle of $T^\top W T$, and factors it.
fn complete(mut hessian: Matrix, coordinates: &[f64], bend: f64) -> Option<Cholesky> {
    for j in 0..coordinates.len() {
        axpy(bend * coordinates[j], coordinates, hessian.col_mut(j));
        let diagonal = hessian.at(j, j) + 1.0;
        hessian.set(j, j, diagonal);
    }
    Cholesky::scaled(&mut hessian)
}

/// Which queries are still on their way.
fn unfinished(walkers: &[Walker]) -> Vec<usize> {
    (0..walkers.len()).filter(|&j| walkers[j].done.is_none()).collect()
}

/// How many columns a product for these queries has.
fn whole_groups(busy: &[usize]) -> usize {
    busy.len().next_multiple_of(COLUMN_GROUP)
}
