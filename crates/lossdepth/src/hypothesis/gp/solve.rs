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
//! **Variances.** With $W = \operatorname{diag}(c_i \sigma (1 - \sigma))$, $E = Y Y^\top$, $A = (I + T^\top W T)^{-1}$ the
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

use super::averaged::{LEAST, Slope, losses, uncertainty};
use super::basis::{Basis, Place};
use super::{Posterior, Problem};
use crate::linalg::{
    COLUMN_GROUP, Cholesky, Matrix, Real, axpy, dot, hadamard, multiply, multiply_first, multiply_symmetric,
    norm,
};
use crate::loss::simd::{exp_neg, ln_1p_unit};
use crate::simd::{sum_of, vectorised};
use crate::solver::Stop;
use std::cmp::Ordering;
use std::f64::consts::LOG2_E;

/// Queries that share a pass over the rest of the Gram matrix for their variances.
const TOGETHER: usize = 8;

/// A query on its way to its mode.
struct Walker {
    place: Place,
    w: Vec<f64>,
    /// What the last accepted step started from.
    before: Vec<f64>,
    /// $E \hat\alpha$ and $\hat\alpha$.
    rest: Vec<f64>,
    carried: Vec<f64>,
    f: Vec<f64>,
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
    at_query: f64,
    pull: f64,
    bend: f64,
    objective: f64,
    lowest: f64,
    gradient: Vec<f64>,
    length: f64,
    last_length: f64,
    factor: Option<Cholesky>,
    halvings: usize,
    /// The gradient's norm at the last product with the rest, and the relaxation.
    outer: f64,
    relax: f64,
    moved: Vec<f64>,
    iterations: usize,
    fresh: bool,
    done: Option<(f64, Stop)>,
}

/// Room for one worker.
pub(super) struct Solver<'a> {
    problem: &'a Problem<'a>,
    basis: &'a Basis,
    /// n × (m + 1): the shared directions and the query's own.
    own: Matrix,
    weighted: Matrix,
    product: Matrix,
    turned: Matrix,
    again: Matrix,
    /// $W T$ and $E W T$ of [`TOGETHER`] queries in single precision.
    single: Option<(Matrix<f32>, Matrix<f32>)>,
    steps: Matrix,
    values: Matrix,
    pulls: Matrix,
    gathered: Matrix,
    moved: Matrix,
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
        let together = TOGETHER.min(width) * slot(m);
        let single = basis.single.as_ref().map(|_| (Matrix::zeros(n, together), Matrix::zeros(n, together)));
        Self {
            problem,
            basis,
            own,
            weighted: tall(),
            product: tall(),
            turned: tall(),
            again: tall(),
            single,
            steps: group(m),
            values: group(n),
            pulls: group(n),
            gathered: group(m),
            moved: group(n),
        }
    }

    /// The posteriors of a group of queries, no more than there is room for; `None` if cancelled.
    pub(super) fn group(
        &mut self,
        places: Vec<Place>,
        cancelled: impl Fn() -> bool,
    ) -> Option<Vec<Posterior>> {
        let mut walkers: Vec<Walker> = places.into_iter().map(|p| self.start(p)).collect();
        while walkers.iter().any(|w| w.done.is_none()) {
            if cancelled() {
                return None;
            }
            self.settle(&mut walkers, &cancelled);
            self.refresh(&mut walkers);
        }
        let squares = self.squares(&walkers);
        let mut found = Vec::with_capacity(walkers.len());
        for (k, walker) in walkers.iter().enumerate() {
            if cancelled() {
                return None;
            }
            let place = k % TOGETHER;
            if place == 0 {
                self.multiply_single(&walkers[k..walkers.len().min(k + TOGETHER)]);
            }
            found.push(self.posterior(walker, squares.col(k), place));
        }
        Some(found)
    }

    fn start(&self, place: Place) -> Walker {
        let (n, m) = (self.basis.len(), self.basis.width());
        Walker {
            place,
            w: vec![0.0; m + 1],
            before: vec![0.0; m + 1],
            rest: vec![0.0; n],
            carried: vec![0.0; n],
            f: vec![0.0; n],
            slopes: vec![0.0; n],
            curvatures: vec![0.0; n],
            at_query: 0.0,
            pull: 0.0,
            bend: 0.0,
            objective: f64::INFINITY,
            lowest: f64::INFINITY,
            gradient: vec![0.0; m + 1],
            length: f64::INFINITY,
            last_length: f64::INFINITY,
            factor: None,
            halvings: 0,
            outer: f64::INFINITY,
            relax: 1.0,
            moved: Vec::new(),
            iterations: 0,
            fresh: true,
            done: None,
        }
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
                    _ if self.basis.rest.is_none() => goal,
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
        self.basis.apply(&self.pulls, &mut self.moved, columns);
        for (k, &j) in busy.iter().enumerate() {
            let (walker, column) = (&mut walkers[j], self.moved.col_mut(k));
            if self.basis.rest.is_some() {
                axpy(-dot(&walker.place.own, &walker.slopes), &walker.place.own, column);
            }
            walker.judge(column, self.problem, self.basis.rest.is_some());
        }
    }

    /// $(E \circ E) W$ for every query.
    fn squares(&mut self, walkers: &[Walker]) -> Matrix {
        let mut out = Matrix::zeros(self.basis.len(), self.pulls.cols());
        if self.problem.averaged && self.basis.rest.is_some() {
            for (k, walker) in walkers.iter().enumerate() {
                self.pulls.col_mut(k).copy_from_slice(&walker.curvatures);
            }
            self.basis.apply_squares(&self.pulls, &mut out);
        }
        out
    }

    /// The lower triangle of $I + T^\top W T$, factored; leaves $W T$ in `weighted`.
    fn factor(
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
        for j in 0..=m {
            axpy(bend * coordinates[j], coordinates, hessian.col_mut(j));
            let diagonal = hessian.at(j, j) + 1.0;
            hessian.set(j, j, diagonal);
        }
        Cholesky::scaled(&mut hessian)
    }

    /// $E W T$ for a few queries in one pass over $E$, if single precision is enough.
    fn multiply_single(&mut self, walkers: &[Walker]) {
        let m = self.basis.width();
        let (Some((factors, products)), Some(rest)) = (&mut self.single, &self.basis.single) else { return };
        for (k, walker) in walkers.iter().enumerate() {
            for j in 0..slot(m) {
                let (out, curvatures) = (factors.col_mut(k * slot(m) + j), &walker.curvatures[..]);
                match j.cmp(&m) {
                    Ordering::Less => product_single(self.basis.tall.col(j), curvatures, out),
                    Ordering::Equal => product_single(&walker.place.own, curvatures, out),
                    Ordering::Greater => out.fill(0.0),
                }
            }
        }
        multiply_first(products, rest, factors, walkers.len() * slot(m));
    }

    /// $E W T$ for the $W T$ in `weighted`, which is that of the query in this `place` of those multiplied last; and how large
    /// its rounding errors are: those of row $i$ are this number times the norm of row $i$ of $E$, column by column.
    fn apply_rest(&mut self, place: usize) -> Vec<f64> {
        let columns = self.weighted.cols();
        let Some((_, products)) = &self.single else {
            self.basis.apply(&self.weighted, &mut self.product, columns);
            return vec![0.0; columns];
        };
        for j in 0..columns {
            let (to, from) = (self.product.col_mut(j), products.col(place * slot(columns - 1) + j));
            vectorised(
                #[inline(always)]
                || to.iter_mut().zip(from).for_each(|(t, x)| *t = f64::from(*x)),
            );
        }
        (0..columns).map(|j| 8.0 * f64::from(f32::EPSILON) * norm(self.weighted.col(j))).collect()
    }

    /// Everything that is asked of a mode.
    fn posterior(&mut self, walker: &Walker, squares: &[f64], slot: usize) -> Posterior {
        let (n, m, problem) = (self.basis.len(), self.basis.width(), self.problem);
        let Walker { place, f, slopes, curvatures, done, .. } = walker;
        let Walker { at_query, bend, pull, iterations, .. } = *walker;
        let (delta, stop) = done.unwrap_or((f64::INFINITY, Stop::Stalled));
        // Rounding of kernel values moves f by at most their error times the sum of the coefficients.
        let rounding = 2.0 * place.slack * (slopes.iter().sum::<f64>() + pull.abs());
        let shift = delta * self.basis.largest.max(norm(&place.coordinates).powi(2)).sqrt() + rounding;
        let factor = self.factor(&place.own, &place.coordinates, curvatures, bend);
        let failed = factor.is_none();
        let inverse = factor.map_or_else(
            || Matrix::from_fn(m + 1, m + 1, |i, j| f64::from(u8::from(i == j))),
            |factor| factor.inverse(m + 1),
        );
        // T A, row by row: base = t A t.
        multiply(&mut self.turned, &self.own, &inverse);
        let mut base = row_products(&self.turned, &self.own);
        let at = apply(&inverse, &place.coordinates);
        let mut base_query = dot(&at, &place.coordinates);
        let (mut low, mut high, mut around) = (base.clone(), base.clone(), vec![0.0; n]);
        let (mut low_query, mut high_query) = (base_query, base_query);
        if problem.averaged && self.basis.rest.is_some() {
            // Z = E W T, less the query's own direction.
            let rounding = self.apply_rest(slot);
            let own_square = dot(self.weighted.col(m), &place.own);
            let own_moved = self.product.col(m).to_vec();
            for j in 0..=m {
                let along = dot(self.weighted.col(j), &place.own);
                axpy(-along, &place.own, self.product.col_mut(j));
            }
            let mut coupling = Matrix::zeros(m + 1, m + 1);
            multiply_symmetric(&mut coupling, &self.weighted, &self.product);
            for j in 0..=m {
                for i in 0..j {
                    let x = coupling.at(j, i);
                    coupling.set(i, j, x);
                }
            }
            multiply(&mut self.again, &self.turned, &coupling);
            let tau = row_products(&self.again, &self.turned);
            let cross = row_products(&self.turned, &self.product);
            multiply(&mut self.again, &self.product, &inverse);
            let inner = row_products(&self.again, &self.product);
            let (mut frobenius, mut near) = (0.0, vec![0.0; n]);
            for i in 0..n {
                let e = place.own[i];
                let square = squares[i] - 2.0 * e * own_moved[i] + e * e * own_square;
                frobenius += curvatures[i] * square;
                near[i] = (square - inner[i]).max(0.0);
            }
            let eta = frobenius.max(0.0).sqrt();
            let bracket = |u: f64, q: f64, tau: f64| {
                let (a, b) = (q.sqrt(), (eta * tau).sqrt());
                let low = (u - (a + b) * (a + b)).max(u / (1.0 + eta));
                let high = u - (a - b).max(0.0).powi(2) / (1.0 + eta);
                (low, high.max(low))
            };
            // What single precision does to 2 t A z, the largest of the terms it touches.
            let mut blur = vec![0.0; n];
            for (j, rounding) in rounding.iter().enumerate().filter(|(_, r)| **r > 0.0) {
                let (blur, norms, column) = (&mut blur[..], &self.basis.norms[..n], self.turned.col(j));
                for ((b, x), size) in blur.iter_mut().zip(column).zip(norms) {
                    *b += 3.0 * rounding * size * x.abs();
                }
            }
            for i in 0..n {
                let tau = tau[i].max(0.0);
                let left = (self.basis.beyond[i] - place.own[i] * place.own[i]).max(0.0);
                let (l, h) = bracket((left - 2.0 * cross[i] + tau).max(0.0), near[i], tau);
                around[i] = 0.5 * (l + h);
                low[i] = base[i] + l - blur[i];
                high[i] = base[i] + h + blur[i];
            }
            let tau = dot(&at, &apply(&coupling, &at)).max(0.0);
            let (l, h) = bracket(tau, 0.0, tau);
            (low_query, high_query) = (base_query + l, base_query + h);
        }
        for i in 0..n {
            base[i] = 0.5 * (low[i] + high[i]);
        }
        base_query = 0.5 * (low_query + high_query);
        let mut sides =
            Sides { f: f.clone(), at_query, v: base, v_query: base_query, low, high, low_query, high_query };
        let (losses, loss_query, error) = sides.losses(problem, shift);
        // Nothing is known about variances that could not be computed.
        let error = if failed && problem.averaged { f64::INFINITY } else { error };
        let half = &problem.half_weights;
        let depth = sum_of(n, |i| half[i] * losses[i].value) + 0.5 * loss_query.value;
        let influence = self.influence(
            &sides.f, curvatures, place, bend, &losses, loss_query, &inverse, &at, &around, at_query,
        );
        Posterior {
            depth,
            error,
            influence,
            f: sides.f,
            at_query,
            slopes: slopes.clone(),
            pull,
            iterations,
            stop,
        }
    }

    /// How the depth reacts to more mass at each point, per unit: directly, through the mode and through the variances.
    #[allow(clippy::too_many_arguments)]
    fn influence(
        &mut self,
        f: &[f64],
        curvatures: &[f64],
        place: &Place,
        bend: f64,
        losses: &[Slope],
        loss_query: Slope,
        inverse: &Matrix,
        at: &[f64],
        around: &[f64],
        at_query: f64,
    ) -> Vec<f64> {
        let (n, m, problem) = (self.basis.len(), self.basis.width(), self.problem);
        let (half, total) = (&problem.half_weights, problem.total);
        // b = −Σ a C², where a are the slopes of the depth in the variances and C the posterior covariance.
        let mut through = vec![0.0; n];
        let mut through_query = 0.0;
        if problem.averaged {
            let slopes: Vec<f64> = half.iter().zip(losses).map(|(c, l)| c * l.variance).collect();
            for j in 0..=m {
                hadamard(self.own.col(j), &slopes, self.weighted.col_mut(j));
            }
            let mut moments = Matrix::zeros(m + 1, m + 1);
            multiply_symmetric(&mut moments, &self.weighted, &self.own);
            for j in 0..=m {
                axpy(
                    0.5 * loss_query.variance * place.coordinates[j],
                    &place.coordinates,
                    moments.col_mut(j),
                );
                for i in 0..j {
                    let x = moments.at(j, i);
                    moments.set(i, j, x);
                }
            }
            multiply(&mut self.again, &self.turned, &moments);
            let squares = row_products(&self.again, &self.turned);
            let base = row_products(&self.turned, &self.own);
            for i in 0..n {
                through[i] = -squares[i] - slopes[i] * around[i] * (2.0 * base[i] + around[i]);
            }
            through_query = -dot(at, &apply(&moments, at));
        }
        // s: the slopes of the depth in f, with what f does to W; then C s.
        let tilt = |f: f64| (0.5 * f).tanh();
        let s: Vec<f64> =
            (0..n).map(|i| half[i] * losses[i].mean - through[i] * curvatures[i] * tilt(f[i])).collect();
        let s_query = 0.5 * loss_query.mean - through_query * bend * tilt(at_query);
        let mut gathered: Vec<f64> = (0..=m).map(|j| dot(self.own.col(j), &s)).collect();
        axpy(s_query, &place.coordinates, &mut gathered);
        let moved = apply(inverse, &gathered);
        let mut response = vec![0.0; n];
        for j in 0..=m {
            axpy(moved[j], self.own.col(j), &mut response);
        }
        (0..n)
            .map(|i| {
                let right = 0.5 * (1.0 + (0.5 * f[i]).tanh());
                let wrong = 1.0 - right;
                0.5 * losses[i].value
                    + total * (wrong * (response[i] + around[i] * s[i]) + through[i] * right * wrong)
            })
            .collect()
    }
}

/// The latent function's posterior at the sample and at the query.
struct Sides {
    f: Vec<f64>,
    at_query: f64,
    v: Vec<f64>,
    v_query: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    low_query: f64,
    high_query: f64,
}

impl Sides {
    /// The losses, and a bound on the error of the depth they make if the mode is off by `shift`.
    fn losses(&mut self, problem: &Problem<'_>, shift: f64) -> (Vec<Slope>, Slope, f64) {
        let n = self.f.len();
        let (mut sample, mut query) = (vec![Slope::default(); n], [Slope::default()]);
        if !problem.averaged {
            for (out, f) in sample.iter_mut().zip(&self.f) {
                *out = plain(*f);
            }
            query[0] = plain(-self.at_query);
            query[0].mean = -query[0].mean;
            // The loss has slope at most log₂ e on either side.
            return (sample, query[0], LOG2_E * shift + 8.0 * f64::EPSILON);
        }
        losses(&self.f, &self.v, false, &mut sample);
        losses(&[self.at_query], &[self.v_query], true, &mut query);
        // The 2e-16 of each error function, times coefficients of up to 4e3; and the variances' own rounding.
        let rounding = 1e-13 * self.v.iter().fold(1.0f64, |m, v| m.max(*v));
        let stretch = shift.exp();
        self.low.iter_mut().for_each(|v| *v = (*v / stretch - rounding).max(0.0));
        self.high.iter_mut().for_each(|v| *v = *v * stretch + rounding);
        let low = (self.low_query / stretch - rounding).max(0.0);
        let high = self.high_query * stretch + rounding;
        let error =
            uncertainty(&self.f, (&self.low, &self.high), shift, false, &sample, problem.half_weights)
                + uncertainty(&[self.at_query], (&[low], &[high]), shift, true, &query, &[0.5]);
        let error = error + cancellation(&sample, problem.half_weights) + cancellation(&query, &[0.5]);
        let error = if error.is_nan() { f64::INFINITY } else { error };
        (sample, query[0], error + 2e-12)
    }
}

/// What rounding does to losses: probabilities are differences of error functions times up to 4e3, so that small ones have
/// few digits.
fn cancellation(losses: &[Slope], weights: &[f64]) -> f64 {
    const NOISE: f64 = 4e-12;
    let off = |loss: &Slope| LOG2_E * NOISE / ((-loss.value).exp2() - NOISE).max(LEAST);
    losses.iter().zip(weights).map(|(loss, w)| w * off(loss)).sum()
}

/// The loss at the mode itself.
fn plain(f: f64) -> Slope {
    let wrong = 0.5 * (1.0 - (0.5 * f).tanh());
    let value = LOG2_E * ((-f).max(0.0) + (-f.abs()).exp().ln_1p());
    Slope { value, mean: -LOG2_E * wrong, variance: 0.0 }
}

impl Walker {
    /// Margins, slopes, curvatures and objective at the current point; `inside` is its part in the shared directions.
    fn look(&mut self, inside: &[f64], problem: &Problem<'_>) {
        let own = self.w[self.w.len() - 1];
        let n = inside.len();
        let (rest, side, counts) = (&self.rest[..n], &self.place.own[..n], &problem.counts[..n]);
        let (f, slopes, curvatures) = (&mut self.f[..n], &mut self.slopes[..n], &mut self.curvatures[..n]);
        vectorised(
            #[inline(always)]
            || {
                for i in 0..n {
                    let x = own.mul_add(side[i], inside[i]) + rest[i];
                    let e = exp_neg(-x.abs());
                    let wrong = (if x >= 0.0 { e } else { 1.0 }) / (1.0 + e);
                    f[i] = x;
                    slopes[i] = counts[i] * wrong;
                    curvatures[i] = counts[i] * (e / ((1.0 + e) * (1.0 + e)));
                }
            },
        );
        let f = &self.f;
        let sample = sum_of(
            n,
            #[inline(always)]
            |i| counts[i] * ((-f[i]).max(0.0) + ln_1p_unit(exp_neg(-f[i].abs()))),
        );
        self.at_query = dot(&self.w, &self.place.coordinates);
        let (z, e) = (self.at_query, (-self.at_query.abs()).exp());
        let right = (if z >= 0.0 { 1.0 } else { e }) / (1.0 + e);
        self.pull = -problem.total * right;
        self.bend = problem.total * e / ((1.0 + e) * (1.0 + e));
        let query = problem.total * (z.max(0.0) + e.ln_1p());
        self.objective = sample + query + 0.5 * dot(&self.w, &self.w);
        self.iterations += 1;
    }

    /// The gradient in the leading directions; `gathered` is the slopes' part in the shared ones.
    fn slope(&mut self, gathered: &[f64]) {
        let m = gathered.len();
        self.gradient[..m].iter_mut().zip(gathered).for_each(|(g, x)| *g = -x);
        self.gradient[m] = -dot(&self.place.own, &self.slopes);
        axpy(-self.pull, &self.place.coordinates, &mut self.gradient);
        axpy(1.0, &self.w, &mut self.gradient);
        self.length = norm(&self.gradient);
    }

    /// A Newton step, or half of the last one if that went uphill; false if there is no headway.
    fn step(&mut self, solver: &mut Solver<'_>) -> bool {
        let uphill = self.objective > self.lowest + 1e-13 * self.lowest.abs();
        if uphill || !self.objective.is_finite() {
            self.halvings += 1;
            self.w.iter_mut().zip(&self.before).for_each(|(w, b)| *w = 0.5 * (*w + b));
            return self.halvings < 50;
        }
        let level = self.objective >= self.lowest - 1e-13 * self.lowest.abs();
        if self.halvings == 0 && self.length >= self.last_length && level {
            // Rounding: the objective no longer falls and neither does the gradient.
            return false;
        }
        self.halvings = 0;
        self.lowest = self.objective;
        if self.fresh || self.factor.is_none() || self.length > 0.4 * self.last_length {
            let (own, coordinates) = (&self.place.own, &self.place.coordinates);
            self.factor = solver.factor(own, coordinates, &self.curvatures, self.bend);
        }
        self.fresh = false;
        self.last_length = self.length;
        let Some(factor) = &self.factor else { return false };
        let mut direction = self.gradient.clone();
        factor.solve(&mut direction);
        self.before.clone_from(&self.w);
        axpy(-1.0, &direction, &mut self.w);
        true
    }

    /// The certificate, with $E \alpha$ for the current slopes; and the next right-hand side if it is not good enough.
    fn judge(&mut self, moved: &[f64], problem: &Problem<'_>, has_rest: bool) {
        let n = moved.len();
        let (rest, slopes, carried) = (&self.rest, &self.slopes, &self.carried);
        let energy =
            if has_rest { sum_of(n, |i| (slopes[i] - carried[i]) * (moved[i] - rest[i])) } else { 0.0 };
        // What rounding leaves below zero is rounding.
        let sizes = if has_rest { f64::EPSILON * dot(slopes, &self.rest).abs() } else { 0.0 };
        let delta = (self.length * self.length + energy.abs() + sizes).sqrt()
            + 4.0 * f64::EPSILON * (norm(&self.w) + self.pull.abs() * norm(&self.place.coordinates));
        let out_of_time = self.iterations >= problem.max_iter;
        let stuck = delta > 0.95 * self.outer;
        if delta <= problem.target
            || out_of_time
            || !has_rest
            || (stuck && self.relax < 0.2)
            || delta.is_nan()
        {
            let stop = if out_of_time { Stop::IterationLimit } else { Stop::Stalled };
            let delta = if delta.is_nan() { f64::INFINITY } else { delta };
            self.done = Some((delta, if delta <= problem.target { Stop::Converged } else { stop }));
            return;
        }
        // The map from one right-hand side to the next has derivative −Q with 0 ≤ Q: changes alternate, and how fast they
        // shrink tells how much to relax.
        let change: Vec<f64> = moved.iter().zip(&self.rest).map(|(a, b)| a - b).collect();
        if self.moved.len() == n {
            let (before, along) = (dot(&self.moved, &self.moved), dot(&self.moved, &change));
            // With relaxation θ the change becomes 1 − θ(1 + q) of what it was.
            let q = (1.0 - along / before) / self.relax - 1.0;
            if q > 0.0 && q.is_finite() {
                self.relax = 1.0 / (1.0 + 0.5 * q);
            }
        }
        if stuck {
            self.relax *= 0.5;
        }
        let relax = self.relax;
        for i in 0..n {
            self.carried[i] += relax * (self.slopes[i] - self.carried[i]);
            self.rest[i] += relax * change[i];
        }
        self.moved = change;
        self.outer = delta;
        // Another problem: its objective and gradient start anew.
        (self.lowest, self.last_length, self.halvings) = (f64::INFINITY, f64::INFINITY, 0);
    }
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

/// Columns that a query with `width` directions and its own takes among others.
fn slot(width: usize) -> usize {
    (width + 1).next_multiple_of(COLUMN_GROUP)
}

/// Which queries are still on their way.
fn unfinished(walkers: &[Walker]) -> Vec<usize> {
    (0..walkers.len()).filter(|&j| walkers[j].done.is_none()).collect()
}

/// How many columns a product for these queries has.
fn whole_groups(busy: &[usize]) -> usize {
    busy.len().next_multiple_of(COLUMN_GROUP)
}

/// $\sum_j a_{ij} b_{ij}$ for every row.
fn row_products(a: &Matrix, b: &Matrix) -> Vec<f64> {
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
fn apply(symmetric: &Matrix, x: &[f64]) -> Vec<f64> {
    (0..symmetric.cols()).map(|j| dot(symmetric.col(j), x)).collect()
}
