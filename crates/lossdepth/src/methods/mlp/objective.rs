//! The objective of networks whose kinks meet in the query.

use crate::numerics::elementary::{exp_neg, ln_1p_unit};
use crate::numerics::linalg::{Matrix, accumulate_transposed, dot, multiply_first, norm};
use crate::numerics::simd::{LANES, fold, vectorised};
use crate::solver::descent::Objective;
use std::f64::consts::LOG2_E;

/// One query's problem: minimise over $c$, $v$ and $w_1, \dots, w_k$
///
/// $$ \tfrac12 \sum_i \omega_i \ell(f_i) + \tfrac12 \ell(-c) + 2 \lambda \bigl(\|v\| + \sum_k \|w_k\|\bigr), \quad
///    f_i = c + \langle v, y_i \rangle + \sum_k \max(0, \langle w_k, y_i \rangle), \quad y_i = x_i - z. $$
///
/// A point is laid out as $c, v, w_1, \dots, w_k$; the number of units follows from its length.
pub(crate) struct Cone<'a> {
    /// n × q: the sample as the query sees it.
    pub(crate) seen: Matrix,
    /// $\tfrac12 \omega_i$.
    half_weights: &'a [f64],
    /// $\sum_i \omega_i y_{ij}^2$.
    moments: Vec<f64>,
    reg: f64,
    /// $\langle w_k, y_i \rangle$, one column a unit.
    products: Matrix,
    /// The slopes of the losses where the unit is on, one column a unit.
    active: Matrix,
    /// The units as columns, and the slopes along them.
    units: Matrix,
    slopes: Matrix,
    /// $f_i$ of the last evaluation.
    pub(crate) margins: Vec<f64>,
    /// $\alpha_i = -\tfrac12 \omega_i \ell'(f_i) \ge 0$ of the last evaluation.
    pub(crate) pull: Vec<f64>,
    /// The risk alone, of the last evaluation.
    pub(crate) risk: f64,
    curvature: f64,
    curvature_at_query: f64,
}

/// What one pass over the margins gives.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    /// $\sum_i c_i \ell(m_i)$.
    pub(crate) loss: f64,
    /// $-\sum_i c_i \ell'(m_i)$.
    pub(crate) pull: f64,
    /// $\sum_i c_i \ell''(m_i)$.
    pub(crate) curvature: f64,
}

/// Writes $-c_i \ell'(m_i)$ for the logistic loss in bits, and sums up.
pub(crate) fn logistic_pass(margins: &[f64], weights: &[f64], pull: &mut [f64]) -> Sums {
    #[inline(always)]
    fn kernel(m: f64, c: f64) -> (f64, f64, f64) {
        let e = exp_neg(-m.abs());
        let s = (if m >= 0.0 { e } else { 1.0 }) / (1.0 + e);
        let pull = c * s;
        (c * ((-m).max(0.0) + ln_1p_unit(e)), pull, pull * (1.0 - s))
    }
    vectorised(
        #[inline(always)]
        || {
            let n = margins.len();
            let (weights, pull) = (&weights[..n], &mut pull[..n]);
            let (mut loss, mut total, mut curvature) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            let body = n - n % LANES;
            let chunks = margins[..body].chunks_exact(LANES).zip(weights.chunks_exact(LANES));
            for ((m, c), p) in chunks.zip(pull.chunks_exact_mut(LANES)) {
                for k in 0..LANES {
                    let (l, a, h) = kernel(m[k], c[k]);
                    p[k] = LOG2_E * a;
                    loss[k] += l;
                    total[k] += a;
                    curvature[k] += h;
                }
            }
            let mut sums = Sums { loss: fold(loss), pull: fold(total), curvature: fold(curvature) };
            for i in body..n {
                let (l, a, h) = kernel(margins[i], weights[i]);
                pull[i] = LOG2_E * a;
                sums.loss += l;
                sums.pull += a;
                sums.curvature += h;
            }
            Sums { loss: LOG2_E * sums.loss, pull: LOG2_E * sums.pull, curvature: LOG2_E * sums.curvature }
        },
    )
}

/// $\tfrac12 \ell(-c)$ and its two derivatives.
pub(crate) fn at_query(c: f64) -> Sums {
    let mut pull = [0.0];
    logistic_pass(&[-c], &[0.5], &mut pull)
}

/// $\sum_i a_i \max(0, p_i - t)$.
pub(crate) fn lifted(a: &[f64], p: &[f64], t: f64) -> f64 {
    crate::numerics::simd::sum_of(
        a.len().min(p.len()),
        #[inline(always)]
        |i| a[i] * (p[i] - t).max(0.0),
    )
}

/// `out = a` where `p > 0`, else 0.
pub(crate) fn gate(a: &[f64], p: &[f64], out: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || {
            for ((o, a), p) in out.iter_mut().zip(a).zip(p) {
                *o = if *p > 0.0 { *a } else { 0.0 };
            }
        },
    );
}

/// `y += max(0, x)`.
fn add_lifted(x: &[f64], y: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || {
            for (y, x) in y.iter_mut().zip(x) {
                *y += x.max(0.0);
            }
        },
    );
}

impl<'a> Cone<'a> {
    pub(crate) fn new(seen: Matrix, half_weights: &'a [f64], reg: f64) -> Self {
        let n = seen.rows();
        let moments = (0..seen.cols())
            .map(|j| {
                let y = seen.col(j);
                2.0 * crate::numerics::simd::sum_of(n, |i| half_weights[i] * (y[i] * y[i]))
            })
            .collect();
        Self {
            seen,
            half_weights,
            moments,
            reg,
            products: Matrix::zeros(0, 0),
            active: Matrix::zeros(0, 0),
            units: Matrix::zeros(0, 0),
            slopes: Matrix::zeros(0, 0),
            margins: vec![0.0; n],
            pull: vec![0.0; n],
            risk: 1.0,
            curvature: 0.0,
            curvature_at_query: 0.0,
        }
    }

    /// How many coordinates there are.
    pub(crate) fn width(&self) -> usize {
        self.seen.cols()
    }

    pub(crate) fn half_weights(&self) -> &'a [f64] {
        self.half_weights
    }

    fn make_room(&mut self, columns: usize) {
        if self.units.cols() < columns {
            let (n, q, room) = (self.seen.rows(), self.width(), columns.next_multiple_of(8));
            self.products = Matrix::zeros(n, room);
            self.active = Matrix::zeros(n, room);
            self.units = Matrix::zeros(q, room);
            self.slopes = Matrix::zeros(q, room);
        }
    }

    /// $\langle u, y_i \rangle$ for every column $u$ of `directions`.
    pub(crate) fn project(&mut self, directions: &[Vec<f64>]) -> &Matrix {
        self.make_room(directions.len());
        for (j, u) in directions.iter().enumerate() {
            self.units.col_mut(j).copy_from_slice(u);
        }
        multiply_first(&mut self.products, &self.seen, &self.units, directions.len());
        &self.products
    }

    /// $\sum_{i: \langle u, y_i \rangle > 0} \alpha_i y_i$ for every direction that was projected last.
    pub(crate) fn steepest(&mut self, count: usize) -> &Matrix {
        for k in 0..count {
            gate(&self.pull, self.products.col(k), self.active.col_mut(k));
        }
        self.gather(count);
        &self.slopes
    }

    fn gather(&mut self, count: usize) {
        for k in 0..count {
            self.slopes.col_mut(k).fill(0.0);
        }
        let n = self.seen.rows();
        accumulate_transposed(&mut self.slopes, &self.seen, &self.active, 0, n, count);
    }
}

impl Objective for Cone<'_> {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let (c, q) = (x[0], self.width());
        let count = (x.len() - 1) / q;
        self.make_room(count);
        for (k, w) in x[1..].chunks_exact(q).enumerate() {
            self.units.col_mut(k).copy_from_slice(w);
        }
        multiply_first(&mut self.products, &self.seen, &self.units, count);
        let linear = self.products.col(0);
        vectorised(
            #[inline(always)]
            || {
                for (m, p) in self.margins.iter_mut().zip(linear) {
                    *m = c + p;
                }
            },
        );
        for k in 1..count {
            add_lifted(self.products.col(k), &mut self.margins);
        }
        let sums = logistic_pass(&self.margins, self.half_weights, &mut self.pull);
        let here = at_query(c);
        self.risk = sums.loss + here.loss;
        self.curvature = sums.curvature;
        self.curvature_at_query = here.curvature;

        self.active.col_mut(0).copy_from_slice(&self.pull);
        for k in 1..count {
            gate(&self.pull, self.products.col(k), self.active.col_mut(k));
        }
        self.gather(count);
        gradient[0] = here.pull - sums.pull;
        let mut penalty = 0.0;
        for (k, (w, g)) in x[1..].chunks_exact(q).zip(gradient[1..].chunks_exact_mut(q)).enumerate() {
            let (length, slopes) = (norm(w), self.slopes.col(k));
            penalty += length;
            if length > 0.0 {
                let pull = 2.0 * self.reg / length;
                for ((g, w), s) in g.iter_mut().zip(w).zip(slopes) {
                    *g = pull * w - s;
                }
            } else {
                // The shortest subgradient: a unit at zero stays there unless the slope outweighs the penalty.
                let steep = norm(slopes);
                let rest = if steep > 2.0 * self.reg { 1.0 - 2.0 * self.reg / steep } else { 0.0 };
                for (g, s) in g.iter_mut().zip(slopes) {
                    *g = -rest * s;
                }
            }
        }
        self.risk + 2.0 * self.reg * penalty
    }

    fn metric(&self, x: &[f64], diagonal: &mut [f64]) {
        let q = self.width();
        let curvature = self.curvature.max(1e-12);
        diagonal[0] = curvature + self.curvature_at_query.max(1e-12);
        for (k, (w, h)) in x[1..].chunks_exact(q).zip(diagonal[1..].chunks_exact_mut(q)).enumerate() {
            let length = norm(w);
            // Half of the sample is on one side of a kink; along the unit the penalty does not bend.
            let share = if k == 0 { 2.0 } else { 1.0 };
            let bend = if length > 0.0 { 2.0 * self.reg / length } else { 0.0 };
            for (h, m) in h.iter_mut().zip(&self.moments) {
                *h = share * curvature * m + bend + f64::MIN_POSITIVE;
            }
        }
    }
}

/// The best way to add the function $h \ge 0$ with the values `h`, 0 at the query, to the margins: minimises over
/// $a \ge 0$ and $\delta$ the convex function $R(f + \delta + a h, c + \delta) + 2 \lambda a$.
pub(crate) fn best_amount(margins: &[f64], c: f64, h: &[f64], half_weights: &[f64], reg: f64) -> (f64, f64) {
    let n = margins.len();
    let (mut at, mut pull) = (margins.to_vec(), vec![0.0; n]);
    let mut bend = vec![0.0; n];
    let (mut amount, mut shift) = (0.0, 0.0);
    let mut value = f64::INFINITY;
    let (mut step, mut damp) = ((0.0, 0.0), 1.0);
    for _ in 0..NEWTON_STEPS {
        let (a, d) = (f64::max(amount + damp * step.0, 0.0), shift + damp * step.1);
        vectorised(
            #[inline(always)]
            || {
                for ((t, m), h) in at.iter_mut().zip(margins).zip(h) {
                    *t = a.mul_add(*h, m + d);
                }
            },
        );
        let sums = logistic_pass(&at, half_weights, &mut pull);
        let here = at_query(c + d);
        let now = sums.loss + here.loss + 2.0 * reg * a;
        if now > value {
            damp *= 0.25;
            continue;
        }
        let gain = value - now;
        (amount, shift, value, damp) = (a, d, now, 1.0);
        if gain <= 1e-3 * value {
            break;
        }
        // -c l' times (1 - s) is the curvature; s = pull / (c log2 e).
        vectorised(
            #[inline(always)]
            || {
                for ((b, p), c) in bend.iter_mut().zip(&pull).zip(half_weights) {
                    *b = p * (1.0 - p / (LOG2_E * c));
                }
            },
        );
        let slope = (2.0 * reg - dot(&pull, h), here.pull - sums.pull);
        let mixed = dot(&bend, h);
        let square = crate::numerics::simd::sum_of(n, |i| bend[i] * (h[i] * h[i]));
        let flat = (sums.curvature + here.curvature).max(1e-300);
        let determinant = square * flat - mixed * mixed;
        if determinant <= 1e-12 * square * flat {
            step = (-slope.0 / square.max(1e-300), 0.0);
        } else {
            step = (
                (mixed * slope.1 - flat * slope.0) / determinant,
                (mixed * slope.0 - square * slope.1) / determinant,
            );
        }
    }
    (amount, shift)
}

/// How often the curvature is looked at when a unit is added.
const NEWTON_STEPS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::Random;

    #[test]
    fn gradients_match_differences() {
        let mut random = Random::of_restart(3, 0);
        let seen = Matrix::from_fn(40, 3, |_, _| random.normal());
        let weights: Vec<f64> = (0..40).map(|i| 0.5 * f64::from(i + 1) / 820.0).collect();
        let mut cone = Cone::new(seen, &weights, 0.02);
        for units in 0..4 {
            let x: Vec<f64> = (0..=3 * (units + 1)).map(|_| random.normal()).collect();
            let (mut gradient, mut ignored) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            cone.evaluate(&x, &mut gradient);
            for k in 0..x.len() {
                let h = 1e-6;
                let (mut up, mut down) = (x.clone(), x.clone());
                up[k] += h;
                down[k] -= h;
                let slope =
                    (cone.evaluate(&up, &mut ignored) - cone.evaluate(&down, &mut ignored)) / (2.0 * h);
                assert!((slope - gradient[k]).abs() < 1e-7, "{units} units, {k}: {slope} {}", gradient[k]);
            }
        }
    }

    #[test]
    fn the_best_amount_is_flat_in_both_directions() {
        let mut random = Random::of_restart(4, 0);
        let n = 60;
        let margins: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let h: Vec<f64> = (0..n).map(|_| random.normal().max(0.0)).collect();
        let weights = vec![0.5 / f64::from(n); 60];
        let value = |a: f64, d: f64| {
            let at: Vec<f64> = margins.iter().zip(&h).map(|(m, h)| m + d + a * h).collect();
            logistic_pass(&at, &weights, &mut vec![0.0; 60]).loss + at_query(0.3 + d).loss + 0.02 * a
        };
        let (a, d) = best_amount(&margins, 0.3, &h, &weights, 0.01);
        assert!(a > 0.0);
        for (da, dd) in [(0.1, 0.0), (-0.1, 0.0), (0.0, 0.1), (0.0, -0.1)] {
            assert!(value(a, d) <= value(a + da * a, d + dd) + 1e-4, "{da} {dd}");
        }
    }
}
