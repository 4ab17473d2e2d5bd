//! The objective of networks whose kinks pass through the query.

use crate::numerics::elementary::{exp_neg, ln_1p_unit};
use crate::numerics::linalg::{Matrix, accumulate_transposed, dot, multiply_first, norm};
use crate::numerics::simd::{LANES, fold, vectorised};
use crate::solver::descent::Objective;
use std::f64::consts::LOG2_E;

/// One query's convex problem (M5): minimise over $c$, $v$ and $w_1, \dots, w_k$
///
/// $$ \tfrac12 \sum_i \omega_i \ell(f_i) + \tfrac12 \ell(-c) + 2 \lambda \bigl(\|v\| + \sum_k \|w_k\|\bigr), \quad
///    f_i = c + \langle v, y_i \rangle + \sum_k \max(0, \langle w_k, y_i \rangle), \quad y_i = x_i - z. $$
///
/// The parameters are laid out as $c, v, w_1, \dots, w_k$; the number of units follows from their length.
pub(crate) struct ConvexObjective<'a> {
    /// n × q: $y_i = x_i - z$.
    pub(crate) differences: Matrix,
    /// $\tfrac12 \omega_i$.
    half_weights: &'a [f64],
    /// $\sum_i \omega_i y_{ij}^2$.
    moments: Vec<f64>,
    reg: f64,
    /// $\langle w_k, y_i \rangle$, one column a unit.
    products: Matrix,
    /// $\alpha_i$ where the unit is active, else 0; one column a unit.
    gated_alpha: Matrix,
    /// The units as columns, and $\sum_i \alpha_i y_i$ over the rows where each is active.
    units: Matrix,
    gradients: Matrix,
    /// $f_i$ of the last evaluation.
    pub(crate) margins: Vec<f64>,
    /// $\alpha_i = -\tfrac12 \omega_i \ell'(f_i) \ge 0$ of the last evaluation.
    pub(crate) alpha: Vec<f64>,
    /// The risk alone, of the last evaluation.
    pub(crate) risk: f64,
    curvature: f64,
    query_curvature: f64,
}

/// The sums of one pass over the margins.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LossSums {
    /// $\sum_i c_i \ell(m_i)$.
    pub(crate) loss: f64,
    /// $-\sum_i c_i \ell'(m_i)$.
    pub(crate) alpha: f64,
    /// $\sum_i c_i \ell''(m_i)$.
    pub(crate) curvature: f64,
}

/// Writes $\alpha_i = -c_i \ell'(m_i)$ for the logistic loss in bits, and sums up.
pub(crate) fn logistic_pass(margins: &[f64], weights: &[f64], alpha: &mut [f64]) -> LossSums {
    #[inline(always)]
    fn kernel(m: f64, c: f64) -> (f64, f64, f64) {
        let e = exp_neg(-m.abs());
        let s = (if m >= 0.0 { e } else { 1.0 }) / (1.0 + e);
        let a = c * s;
        (c * ((-m).max(0.0) + ln_1p_unit(e)), a, a * (1.0 - s))
    }
    vectorised!({
        let n = margins.len();
        let (weights, alpha) = (&weights[..n], &mut alpha[..n]);
        let (mut loss, mut total, mut curvature) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let body = n - n % LANES;
        let chunks = margins[..body].chunks_exact(LANES).zip(weights.chunks_exact(LANES));
        for ((m, c), p) in chunks.zip(alpha.chunks_exact_mut(LANES)) {
            for k in 0..LANES {
                let (l, a, h) = kernel(m[k], c[k]);
                p[k] = LOG2_E * a;
                loss[k] += l;
                total[k] += a;
                curvature[k] += h;
            }
        }
        let mut sums = LossSums { loss: fold(loss), alpha: fold(total), curvature: fold(curvature) };
        for i in body..n {
            let (l, a, h) = kernel(margins[i], weights[i]);
            alpha[i] = LOG2_E * a;
            sums.loss += l;
            sums.alpha += a;
            sums.curvature += h;
        }
        LossSums { loss: LOG2_E * sums.loss, alpha: LOG2_E * sums.alpha, curvature: LOG2_E * sums.curvature }
    })
}

/// $\tfrac12 \ell(-c)$ and its two derivatives.
pub(crate) fn at_query(c: f64) -> LossSums {
    let mut alpha = [0.0];
    logistic_pass(&[-c], &[0.5], &mut alpha)
}

/// $\sum_i a_i \max(0, p_i - t)$.
pub(crate) fn relu_sum(a: &[f64], p: &[f64], t: f64) -> f64 {
    crate::numerics::simd::sum_of(
        a.len().min(p.len()),
        #[inline(always)]
        |i| a[i] * (p[i] - t).max(0.0),
    )
}

/// `out = a` where `p > 0`, else 0.
pub(crate) fn gate(a: &[f64], p: &[f64], out: &mut [f64]) {
    vectorised!({
        for ((o, a), p) in out.iter_mut().zip(a).zip(p) {
            *o = if *p > 0.0 { *a } else { 0.0 };
        }
    });
}

/// `y += max(0, x)`.
fn add_relu(x: &[f64], y: &mut [f64]) {
    vectorised!({
        for (y, x) in y.iter_mut().zip(x) {
            *y += x.max(0.0);
        }
    });
}

impl<'a> ConvexObjective<'a> {
    pub(crate) fn new(differences: Matrix, half_weights: &'a [f64], reg: f64) -> Self {
        let n = differences.rows();
        let moments = (0..differences.cols())
            .map(|j| {
                let y = differences.col(j);
                2.0 * crate::numerics::simd::sum_of(n, |i| half_weights[i] * (y[i] * y[i]))
            })
            .collect();
        Self {
            differences,
            half_weights,
            moments,
            reg,
            products: Matrix::zeros(0, 0),
            gated_alpha: Matrix::zeros(0, 0),
            units: Matrix::zeros(0, 0),
            gradients: Matrix::zeros(0, 0),
            margins: vec![0.0; n],
            alpha: vec![0.0; n],
            risk: 1.0,
            curvature: 0.0,
            query_curvature: 0.0,
        }
    }

    /// How many coordinates there are.
    pub(crate) fn width(&self) -> usize {
        self.differences.cols()
    }

    pub(crate) fn half_weights(&self) -> &'a [f64] {
        self.half_weights
    }

    fn resize_scratch(&mut self, columns: usize) {
        if self.units.cols() < columns {
            let columns = columns.next_multiple_of(8);
            let (n, q) = (self.differences.rows(), self.width());
            self.products = Matrix::zeros(n, columns);
            self.gated_alpha = Matrix::zeros(n, columns);
            self.units = Matrix::zeros(q, columns);
            self.gradients = Matrix::zeros(q, columns);
        }
    }

    /// $\langle u, y_i \rangle$ for every column $u$ of `directions`.
    pub(crate) fn project(&mut self, directions: &[Vec<f64>]) -> &Matrix {
        self.resize_scratch(directions.len());
        for (j, u) in directions.iter().enumerate() {
            self.units.col_mut(j).copy_from_slice(u);
        }
        multiply_first(&mut self.products, &self.differences, &self.units, directions.len());
        &self.products
    }

    /// $\sum_{i: \langle u, y_i \rangle > 0} \alpha_i y_i$ for every direction of the last
    /// [`project`](Self::project).
    pub(crate) fn gated_sums(&mut self, count: usize) -> &Matrix {
        for k in 0..count {
            gate(&self.alpha, self.products.col(k), self.gated_alpha.col_mut(k));
        }
        self.set_gradients(count);
        &self.gradients
    }

    fn set_gradients(&mut self, count: usize) {
        for k in 0..count {
            self.gradients.col_mut(k).fill(0.0);
        }
        let n = self.differences.rows();
        accumulate_transposed(&mut self.gradients, &self.differences, &self.gated_alpha, 0, n, count);
    }
}

impl Objective for ConvexObjective<'_> {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let (c, q) = (x[0], self.width());
        let count = (x.len() - 1) / q;
        self.resize_scratch(count);
        for (k, w) in x[1..].chunks_exact(q).enumerate() {
            self.units.col_mut(k).copy_from_slice(w);
        }
        multiply_first(&mut self.products, &self.differences, &self.units, count);
        let linear = self.products.col(0);
        vectorised!({
            for (m, p) in self.margins.iter_mut().zip(linear) {
                *m = c + p;
            }
        });
        for k in 1..count {
            add_relu(self.products.col(k), &mut self.margins);
        }
        let sums = logistic_pass(&self.margins, self.half_weights, &mut self.alpha);
        let query = at_query(c);
        self.risk = sums.loss + query.loss;
        self.curvature = sums.curvature;
        self.query_curvature = query.curvature;

        self.gated_alpha.col_mut(0).copy_from_slice(&self.alpha);
        for k in 1..count {
            gate(&self.alpha, self.products.col(k), self.gated_alpha.col_mut(k));
        }
        self.set_gradients(count);
        gradient[0] = query.alpha - sums.alpha;
        let mut penalty = 0.0;
        for (k, (w, g)) in x[1..].chunks_exact(q).zip(gradient[1..].chunks_exact_mut(q)).enumerate() {
            let (norm_w, gradients) = (norm(w), self.gradients.col(k));
            penalty += norm_w;
            if norm_w > 0.0 {
                let scale = 2.0 * self.reg / norm_w;
                for ((g, w), s) in g.iter_mut().zip(w).zip(gradients) {
                    *g = scale * w - s;
                }
            } else {
                // The subgradient of least norm: a unit at zero stays there unless the slope exceeds the
                // penalty's.
                let slope_norm = norm(gradients);
                let shrinkage =
                    if slope_norm > 2.0 * self.reg { 1.0 - 2.0 * self.reg / slope_norm } else { 0.0 };
                for (g, s) in g.iter_mut().zip(gradients) {
                    *g = -shrinkage * s;
                }
            }
        }
        self.risk + 2.0 * self.reg * penalty
    }

    fn metric(&self, x: &[f64], diagonal: &mut [f64]) {
        let q = self.width();
        let curvature = self.curvature.max(LEAST_CURVATURE);
        diagonal[0] = curvature + self.query_curvature.max(LEAST_CURVATURE);
        for (k, (w, h)) in x[1..].chunks_exact(q).zip(diagonal[1..].chunks_exact_mut(q)).enumerate() {
            let norm_w = norm(w);
            // About half of the sample is on the active side of a kink; the linear unit is active on all of
            // it.
            let active_share = if k == 0 { 2.0 } else { 1.0 };
            let curvatures = if norm_w > 0.0 { 2.0 * self.reg / norm_w } else { 0.0 };
            for (h, m) in h.iter_mut().zip(&self.moments) {
                *h = active_share * curvature * m + curvatures + f64::MIN_POSITIVE;
            }
        }
    }
}

/// The best length of a new unit with the values `h` $\ge 0$ on the sample and 0 at the query: minimises over
/// $a \ge 0$ and $\delta$ the convex function $R(f + \delta + a h, c + \delta) + 2 \lambda a$, by damped
/// Newton steps. Returns $(a, \delta)$.
pub(crate) fn best_length(margins: &[f64], c: f64, h: &[f64], half_weights: &[f64], reg: f64) -> (f64, f64) {
    let n = margins.len();
    let (mut at, mut alpha) = (margins.to_vec(), vec![0.0; n]);
    let mut curvatures = vec![0.0; n];
    let (mut length, mut shift) = (0.0, 0.0);
    let mut value = f64::INFINITY;
    let (mut step, mut damping) = ((0.0, 0.0), 1.0);
    for _ in 0..MAX_NEWTON_STEPS {
        let (a, d) = (f64::max(length + damping * step.0, 0.0), shift + damping * step.1);
        vectorised!({
            for ((t, m), h) in at.iter_mut().zip(margins).zip(h) {
                *t = a.mul_add(*h, m + d);
            }
        });
        let sums = logistic_pass(&at, half_weights, &mut alpha);
        let query = at_query(c + d);
        let now = sums.loss + query.loss + 2.0 * reg * a;
        if now > value {
            damping *= 0.25;
            continue;
        }
        let gain = value - now;
        (length, shift, value, damping) = (a, d, now, 1.0);
        if gain <= ENOUGH * value {
            break;
        }
        // α (1 − s) is the curvature, where s = α / (c log₂ e).
        vectorised!({
            for ((b, p), c) in curvatures.iter_mut().zip(&alpha).zip(half_weights) {
                *b = p * (1.0 - p / (LOG2_E * c));
            }
        });
        let slope = (2.0 * reg - dot(&alpha, h), query.alpha - sums.alpha);
        let mixed = dot(&curvatures, h);
        let square = crate::numerics::simd::sum_of(n, |i| curvatures[i] * (h[i] * h[i]));
        let shift_curvature = (sums.curvature + query.curvature).max(NO_DIVISION_BY_ZERO);
        let determinant = square * shift_curvature - mixed * mixed;
        if determinant <= DEPENDENT * square * shift_curvature {
            step = (-slope.0 / square.max(NO_DIVISION_BY_ZERO), 0.0);
        } else {
            step = (
                (mixed * slope.1 - shift_curvature * slope.0) / determinant,
                (mixed * slope.0 - square * slope.1) / determinant,
            );
        }
    }
    (length, shift)
}

/// The largest number of these steps, and the relative gain below which they end: training moves the length anyway (heuristic).
const MAX_NEWTON_STEPS: usize = 12;
const ENOUGH: f64 = 1e-3;
/// Below this share of the product of its diagonal the determinant of the two equations is rounding, and $a$ moves alone.
const DEPENDENT: f64 = 1e-12;
const NO_DIVISION_BY_ZERO: f64 = 1e-300;
/// The least curvature of the metric: without it, steps would be of any length where all losses are flat (heuristic).
const LEAST_CURVATURE: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::Random;

    #[test]
    fn gradients_match_differences() {
        let mut random = Random::new(3);
        let differences = Matrix::from_fn(40, 3, |_, _| random.normal());
        let weights: Vec<f64> = (0..40).map(|i| 0.5 * f64::from(i + 1) / 820.0).collect();
        let mut objective = ConvexObjective::new(differences, &weights, 0.02);
        for units in 0..4 {
            let x: Vec<f64> = (0..=3 * (units + 1)).map(|_| random.normal()).collect();
            let (mut gradient, mut ignored) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            objective.evaluate(&x, &mut gradient);
            for k in 0..x.len() {
                let h = 1e-6;
                let (mut up, mut down) = (x.clone(), x.clone());
                up[k] += h;
                down[k] -= h;
                let slope = (objective.evaluate(&up, &mut ignored) - objective.evaluate(&down, &mut ignored))
                    / (2.0 * h);
                assert!((slope - gradient[k]).abs() < 1e-7, "{units} units, {k}: {slope} {}", gradient[k]);
            }
        }
    }

    #[test]
    fn the_best_amount_is_flat_in_both_directions() {
        let mut random = Random::new(4);
        let n = 60;
        let margins: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let h: Vec<f64> = (0..n).map(|_| random.normal().max(0.0)).collect();
        let weights = vec![0.5 / f64::from(n); 60];
        let value = |a: f64, d: f64| {
            let at: Vec<f64> = margins.iter().zip(&h).map(|(m, h)| m + d + a * h).collect();
            logistic_pass(&at, &weights, &mut vec![0.0; 60]).loss + at_query(0.3 + d).loss + 0.02 * a
        };
        let (a, d) = best_length(&margins, 0.3, &h, &weights, 0.01);
        assert!(a > 0.0);
        for (da, dd) in [(0.1, 0.0), (-0.1, 0.0), (0.0, 0.1), (0.0, -0.1)] {
            assert!(value(a, d) <= value(a + da * a, d + dd) + 1e-4, "{da} {dd}");
        }
    }
}
