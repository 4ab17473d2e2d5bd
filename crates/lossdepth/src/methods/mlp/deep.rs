//! Networks with two or more hidden layers.

use super::grow::TrainingSettings;
use super::objective::logistic_pass;
use crate::numerics::Random;
use crate::numerics::linalg::{Matrix, accumulate_transposed, dot, multiply, norm};
use crate::numerics::simd::vectorised;
use crate::problem::Stop;
use crate::solver::descent::{Descent, Objective, StoppingRule};

/// One query's objective (M2). The parameters are laid out layer by layer: the weights into one unit after
/// the other, then the biases; the output is a layer of one unit. Coordinates are relative to the query.
pub(crate) struct DeepObjective<'a> {
    /// (n + 1) × q: $x_i - z$, and zeros for the query itself in the last row.
    differences: Matrix,
    /// $\frac12 \omega_i$, and $\frac12$ for the query.
    weights: Vec<f64>,
    reg: f64,
    /// q, the hidden sizes, 1.
    sizes: &'a [usize],
    /// Whether hidden units may have biases; without, every kink of the first layer passes through the query.
    pub(crate) free_biases: bool,
    /// The output of every layer after its activation; the last one is $f$.
    activations: Vec<Matrix>,
    /// The derivative of the objective in the input of every activation.
    deltas: Vec<Matrix>,
    gradients: Vec<Matrix>,
    /// $f(x_i)$, and $-f(z)$.
    pub(crate) margins: Vec<f64>,
    alpha: Vec<f64>,
    pub(crate) risk: f64,
    curvature: f64,
}

/// How many parameters a network has.
pub(crate) fn parameters(sizes: &[usize]) -> usize {
    sizes.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum()
}

/// Glorot's uniform weights, the first layer divided by the sample's scale along each coordinate; biases 0.
pub(crate) fn initial(sizes: &[usize], scales: &[f64], random: &mut Random) -> Vec<f64> {
    let mut weights = Vec::with_capacity(parameters(sizes));
    for (layer, pair) in sizes.windows(2).enumerate() {
        let bound = (6.0 / (pair[0] + pair[1]) as f64).sqrt();
        for _ in 0..pair[1] {
            for j in 0..pair[0] {
                let weight = bound * (2.0 * random.unit() - 1.0);
                weights.push(if layer > 0 { weight } else { weight / scales[j] });
            }
        }
        weights.extend(std::iter::repeat_n(0.0, pair[1]));
    }
    weights
}

impl<'a> DeepObjective<'a> {
    /// `differences` has a last row of zeros, for the query.
    pub(crate) fn new(differences: Matrix, half_weights: &[f64], reg: f64, sizes: &'a [usize]) -> Self {
        let rows = differences.rows();
        let layers = || sizes[1..].iter().map(|&k| Matrix::zeros(rows, k)).collect();
        Self {
            differences,
            weights: half_weights.iter().copied().chain([0.5]).collect(),
            reg,
            sizes,
            free_biases: false,
            activations: layers(),
            deltas: layers(),
            gradients: sizes.windows(2).map(|pair| Matrix::zeros(pair[0], pair[1])).collect(),
            margins: vec![0.0; rows],
            alpha: vec![0.0; rows],
            risk: 1.0,
            curvature: 0.0,
        }
    }

    /// The ranges of the weights and the biases of every layer.
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
        let (layers, rows) = (self.layout(), self.differences.rows());
        for (l, (weights, biases)) in layers.iter().enumerate() {
            let (before, after) = self.activations.split_at_mut(l);
            let input = before.last().unwrap_or(&self.differences);
            let w = matrix(&x[weights.clone()], self.sizes[l]);
            multiply(&mut after[0], input, &w);
            let hidden = l + 1 < layers.len();
            for (k, b) in x[biases.clone()].iter().enumerate() {
                let column = &mut after[0].col_mut(k)[..rows];
                vectorised!({
                    for p in column {
                        *p = if hidden { (*p + b).max(0.0) } else { *p + b };
                    }
                });
            }
        }
    }
}

/// The output of the network at each of these points.
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

/// A Lipschitz constant of the network: the product of the Frobenius norms of its layers.
pub(crate) fn lipschitz_bound(sizes: &[usize], x: &[f64]) -> f64 {
    let (mut at, mut product) = (0, 1.0);
    for pair in sizes.windows(2) {
        product *= norm(&x[at..at + pair[0] * pair[1]]);
        at += (pair[0] + 1) * pair[1];
    }
    product
}

/// A column-major slice as a matrix.
fn matrix(numbers: &[f64], rows: usize) -> Matrix {
    let mut m = Matrix::zeros(rows, numbers.len() / rows);
    for (j, column) in numbers.chunks_exact(rows).enumerate() {
        m.col_mut(j).copy_from_slice(column);
    }
    m
}

impl Objective for DeepObjective<'_> {
    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.forward(x);
        let (layers, rows) = (self.layout(), self.differences.rows());
        let (last, deepest) = (rows - 1, layers.len() - 1);
        self.margins.copy_from_slice(self.activations[deepest].col(0));
        self.margins[last] = -self.margins[last];
        let sums = logistic_pass(&self.margins, &self.weights, &mut self.alpha);
        (self.risk, self.curvature) = (sums.loss, sums.curvature);

        let output = self.deltas[deepest].col_mut(0);
        for (s, p) in output.iter_mut().zip(&self.alpha) {
            *s = -p;
        }
        output[last] = self.alpha[last];
        let mut penalty = 0.0;
        for (l, (weights, biases)) in layers.iter().enumerate().rev() {
            let w = &x[weights.clone()];
            let input = if l > 0 { &self.activations[l - 1] } else { &self.differences };
            let into = &mut self.gradients[l];
            for k in 0..self.sizes[l + 1] {
                into.col_mut(k).fill(0.0);
            }
            accumulate_transposed(into, input, &self.deltas[l], 0, rows, self.sizes[l + 1]);
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
                let column = self.deltas[l].col(k);
                let free = self.free_biases || l == deepest;
                *g = if free { crate::numerics::simd::sum_of(rows, |i| column[i]) } else { 0.0 };
            }
            if l > 0 {
                let back = matrix(w, self.sizes[l]).transposed();
                let (before, after) = self.deltas.split_at_mut(l);
                multiply(&mut before[l - 1], &after[0], &back);
                for k in 0..self.sizes[l] {
                    let on = self.activations[l - 1].col(k);
                    for (s, on) in before[l - 1].col_mut(k).iter_mut().zip(on) {
                        *s = if *on > 0.0 { *s } else { 0.0 };
                    }
                }
            }
        }
        self.risk + self.reg * penalty
    }

    fn metric(&self, _: &[f64], diagonal: &mut [f64]) {
        let rows = self.differences.rows();
        for (l, (weights, biases)) in self.layout().iter().enumerate() {
            let input = if l > 0 { &self.activations[l - 1] } else { &self.differences };
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

/// Trains from initial parameters: first with hidden biases held at 0, then with all biases free.
pub(crate) fn train(
    deep: &mut DeepObjective<'_>,
    mut weights: Vec<f64>,
    settings: &TrainingSettings,
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
        let rule = StoppingRule { tol: settings.tol, max_iter: settings.max_iter - iterations };
        let result = descent.minimise(deep, &mut weights, rule, cancelled);
        iterations += result.iterations;
        stop = result.stop;
    }
    let mut gradient = vec![0.0; weights.len()];
    let objective = deep.evaluate(&weights, &mut gradient);
    (weights, objective, iterations, stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_match_differences() {
        let mut random = Random::new(5);
        let sizes = [3, 5, 4, 1];
        let differences = Matrix::from_fn(12, 3, |i, _| if i < 11 { random.normal() } else { 0.0 });
        let weights = [0.5 / 11.0; 11];
        let mut deep = DeepObjective::new(differences, &weights, 0.01, &sizes);
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
