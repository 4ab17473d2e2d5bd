//! Networks of two and more hidden layers.

use super::grow::Plan;
use super::objective::logistic_pass;
use crate::numerics::Random;
use crate::numerics::linalg::{Matrix, accumulate_transposed, dot, multiply};
use crate::numerics::simd::vectorised;
use crate::problem::Stop;
use crate::solver::descent::{Descent, Objective, Rule};

/// One query's problem. A point is laid out layer by layer: the weights into one unit after the other, then the
/// biases; the output is a layer of one unit. Coordinates are measured from the query.
pub(crate) struct Deep<'a> {
    /// (n + 1) × q: the sample as the query sees it, and the query itself, the origin, in the last row.
    seen: Matrix,
    /// $\frac12 \omega_i$, and $\frac12$ for the query.
    weights: Vec<f64>,
    reg: f64,
    /// q, the hidden sizes, 1.
    sizes: &'a [usize],
    /// Whether hidden units may have biases; without, every kink passes through the query.
    pub(crate) free_biases: bool,
    /// The outcome of every layer after its activation; the last one is $f$.
    outcomes: Vec<Matrix>,
    /// The slope of the objective in what goes into every activation.
    slopes: Vec<Matrix>,
    gradients: Vec<Matrix>,
    /// $f(x_i)$, and $-f(z)$.
    pub(crate) margins: Vec<f64>,
    pull: Vec<f64>,
    pub(crate) risk: f64,
    curvature: f64,
}

/// How many numbers a network has.
pub(crate) fn parameters(sizes: &[usize]) -> usize {
    sizes.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum()
}

/// Glorot's uniform weights, the first layer in units of the sample's spread along each coordinate; biases 0.
pub(crate) fn initial(sizes: &[usize], spread: &[f64], random: &mut Random) -> Vec<f64> {
    let mut point = Vec::with_capacity(parameters(sizes));
    for (layer, pair) in sizes.windows(2).enumerate() {
        let bound = (6.0 / (pair[0] + pair[1]) as f64).sqrt();
        for _ in 0..pair[1] {
            for j in 0..pair[0] {
                let weight = bound * (2.0 * random.unit() - 1.0);
                point.push(if layer > 0 { weight } else { weight / spread[j] });
            }
        }
        point.extend(std::iter::repeat_n(0.0, pair[1]));
    }
    point
}

impl<'a> Deep<'a> {
    /// `seen` has a last row of zeros, for the query.
    pub(crate) fn new(seen: Matrix, half_weights: &[f64], reg: f64, sizes: &'a [usize]) -> Self {
        let rows = seen.rows();
        let layers = || sizes[1..].iter().map(|&k| Matrix::zeros(rows, k)).collect();
        Self {
            seen,
            weights: half_weights.iter().copied().chain([0.5]).collect(),
            reg,
            sizes,
            free_biases: false,
            outcomes: layers(),
            slopes: layers(),
            gradients: sizes.windows(2).map(|pair| Matrix::zeros(pair[0], pair[1])).collect(),
            margins: vec![0.0; rows],
            pull: vec![0.0; rows],
            risk: 1.0,
            curvature: 0.0,
        }
    }

    /// Where the weights and the biases of every layer are.
    fn layout(&self) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
        let mut at = 0;
        let mut layout = Vec::with_capacity(self.sizes.len() - 1);
        for pair in self.sizes.windows(2) {
            let weights = at..at + pair[0] * pair[1];
            at = weights.end + pair[1];
            layout.push((weights.clone(), weights.end..at));
        }
        layout
    }

    fn forward(&mut self, x: &[f64]) {
        let (layers, rows) = (self.layout(), self.seen.rows());
        for (l, (weights, biases)) in layers.iter().enumerate() {
            let (before, after) = self.outcomes.split_at_mut(l);
            let input = before.last().unwrap_or(&self.seen);
            let w = matrix(&x[weights.clone()], self.sizes[l]);
            multiply(&mut after[0], input, &w);
            let hidden = l + 1 < layers.len();
            for (k, b) in x[biases.clone()].iter().enumerate() {
                let column = &mut after[0].col_mut(k)[..rows];
                vectorised(
                    #[inline(always)]
                    || {
                        for p in column {
                            *p = if hidden { (*p + b).max(0.0) } else { *p + b };
                        }
                    },
                );
            }
        }
    }
}

/// What the network says about points, one after the other, each with as many coordinates as the network takes.
pub(crate) fn outputs(sizes: &[usize], x: &[f64], points: &[Vec<f64>]) -> Vec<f64> {
    let output = |point: &Vec<f64>| {
        let (mut at, mut values) = (0, point.clone());
        for (l, pair) in sizes.windows(2).enumerate() {
            let (weights, rest) = x[at..].split_at(pair[0] * pair[1]);
            let next = weights.chunks_exact(pair[0]).zip(rest).map(|(w, b)| dot(w, &values) + b);
            let hidden = l + 2 < sizes.len();
            values = next.map(|p| if hidden { p.max(0.0) } else { p }).collect();
            at += (pair[0] + 1) * pair[1];
        }
        values[0]
    };
    points.iter().map(output).collect()
}

/// Numbers column by column as a matrix.
fn matrix(numbers: &[f64], rows: usize) -> Matrix {
    let mut m = Matrix::zeros(rows, numbers.len() / rows);
    for (j, column) in numbers.chunks_exact(rows).enumerate() {
        m.col_mut(j).copy_from_slice(column);
    }
    m
}

impl Objective for Deep<'_> {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.forward(x);
        let (layers, rows) = (self.layout(), self.seen.rows());
        let (last, deepest) = (rows - 1, layers.len() - 1);
        self.margins.copy_from_slice(self.outcomes[deepest].col(0));
        self.margins[last] = -self.margins[last];
        let sums = logistic_pass(&self.margins, &self.weights, &mut self.pull);
        (self.risk, self.curvature) = (sums.loss, sums.curvature);

        let output = self.slopes[deepest].col_mut(0);
        for (s, p) in output.iter_mut().zip(&self.pull) {
            *s = -p;
        }
        output[last] = self.pull[last];
        let mut penalty = 0.0;
        for (l, (weights, biases)) in layers.iter().enumerate().rev() {
            let w = &x[weights.clone()];
            let input = if l > 0 { &self.outcomes[l - 1] } else { &self.seen };
            let into = &mut self.gradients[l];
            for k in 0..self.sizes[l + 1] {
                into.col_mut(k).fill(0.0);
            }
            accumulate_transposed(into, input, &self.slopes[l], 0, rows, self.sizes[l + 1]);
            for (k, (g, w)) in gradient[weights.clone()]
                .chunks_exact_mut(self.sizes[l])
                .zip(w.chunks_exact(self.sizes[l]))
                .enumerate()
            {
                for ((g, w), s) in g.iter_mut().zip(w).zip(into.col(k)) {
                    *g = s + 2.0 * self.reg * w;
                }
            }
            penalty += dot(w, w);
            for (k, g) in gradient[biases.clone()].iter_mut().enumerate() {
                let column = self.slopes[l].col(k);
                let free = self.free_biases || l == deepest;
                *g = if free { crate::numerics::simd::sum_of(rows, |i| column[i]) } else { 0.0 };
            }
            if l > 0 {
                let back = matrix(w, self.sizes[l]).transposed();
                let (before, after) = self.slopes.split_at_mut(l);
                multiply(&mut before[l - 1], &after[0], &back);
                for k in 0..self.sizes[l] {
                    let on = self.outcomes[l - 1].col(k);
                    for (s, on) in before[l - 1].col_mut(k).iter_mut().zip(on) {
                        *s = if *on > 0.0 { *s } else { 0.0 };
                    }
                }
            }
        }
        self.risk + self.reg * penalty
    }

    fn metric(&self, _: &[f64], diagonal: &mut [f64]) {
        let rows = self.seen.rows();
        for (l, (weights, biases)) in self.layout().iter().enumerate() {
            let input = if l > 0 { &self.outcomes[l - 1] } else { &self.seen };
            let share = self.curvature / self.sizes[l + 1] as f64;
            let moments: Vec<f64> = (0..self.sizes[l])
                .map(|j| {
                    let column = input.col(j);
                    2.0 * crate::numerics::simd::sum_of(rows, |i| self.weights[i] * (column[i] * column[i]))
                })
                .collect();
            for h in diagonal[weights.clone()].chunks_exact_mut(self.sizes[l]) {
                for (h, m) in h.iter_mut().zip(&moments) {
                    *h = share * m + 2.0 * self.reg;
                }
            }
            diagonal[biases.clone()].fill(share + self.reg);
        }
    }
}

/// Trains from a point: first with the hidden kinks held in the query, then with all biases free.
pub(crate) fn train(
    deep: &mut Deep<'_>,
    mut point: Vec<f64>,
    plan: &Plan,
    descent: &mut Descent,
    cancelled: &dyn Fn() -> bool,
) -> (Vec<f64>, f64, usize, Stop) {
    let mut iterations = 0;
    let mut stop = Stop::Converged;
    for free_biases in [false, true] {
        if stop != Stop::Converged {
            break;
        }
        deep.free_biases = free_biases;
        let rule = Rule { tol: plan.tol, max_iter: plan.max_iter - iterations };
        let end = descent.minimise(deep, &mut point, rule, cancelled);
        iterations += end.iterations;
        stop = end.stop;
    }
    let mut gradient = vec![0.0; point.len()];
    let objective = deep.evaluate(&point, &mut gradient);
    (point, objective, iterations, stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_match_differences() {
        let mut random = Random::of_restart(5, 0);
        let sizes = [3, 5, 4, 1];
        let seen = Matrix::from_fn(12, 3, |i, _| if i < 11 { random.normal() } else { 0.0 });
        let weights = [0.5 / 11.0; 11];
        let mut deep = Deep::new(seen, &weights, 0.01, &sizes);
        deep.free_biases = true;
        let mut x = initial(&sizes, &[1.0; 3], &mut random);
        // Away from kinks.
        for x in &mut x {
            *x += 0.1 * random.normal();
        }
        let mut gradient = vec![0.0; x.len()];
        let mut ignored = gradient.clone();
        deep.evaluate(&x, &mut gradient);
        for k in 0..x.len() {
            let h = 1e-6;
            let (mut up, mut down) = (x.clone(), x.clone());
            up[k] += h;
            down[k] -= h;
            let slope = (deep.evaluate(&up, &mut ignored) - deep.evaluate(&down, &mut ignored)) / (2.0 * h);
            assert!((slope - gradient[k]).abs() < 1e-7, "{k}: {slope} {}", gradient[k]);
        }
    }
}
