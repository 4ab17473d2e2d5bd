//! The classifier test: can logistic regression tell rows apart that it was not trained on (Lopez-Paz and Oquab 2017)?

use super::permutation::{CLASSIFIER, Statistic, divisions, means, p_value};
use super::{CompareOptions, Pooled};
use crate::error::{DepthError, Result};
use crate::loss::{Logistic, Loss, Smooth};
use crate::numerics::linalg::{axpy, dot};
use crate::numerics::random::Random;
use crate::problem::Run;
use std::sync::atomic::Ordering;

/// The penalty on the squared norm of the weights, for standardised columns (heuristic). The test is valid for any.
const REG: f64 = 0.01;

/// The risk on held-out rows (TS4), and the p-value.
///
/// A random half of each sample trains the classifier. The labels of the other halves are permuted, which does not change
/// the classifier.
pub(super) fn test(pooled: &Pooled, options: &CompareOptions, run: &Run<'_>) -> Result<(f64, f64)> {
    let mut random = Random::stream(options.seed, CLASSIFIER);
    let (mut trained, mut held_out) = (Vec::new(), Vec::new());
    for second in [false, true] {
        let places = pooled.shuffled(second, &mut random);
        let (train, test) = places.split_at(places.len() / 2);
        trained.extend_from_slice(train);
        held_out.extend_from_slice(test);
    }
    held_out.sort_unstable();
    let classifier = Training::new(pooled, &trained).fit(run)?;
    // The loss of each row under either label.
    let losses: Vec<[f64; 2]> = held_out
        .iter()
        .map(|&at| {
            let margin = classifier.value(pooled.rows().row(at));
            [Logistic.value(margin), Logistic.value(-margin)]
        })
        .collect();
    let weights: Vec<f64> = held_out.iter().map(|&at| pooled.weights[at]).collect();
    let is_second: Vec<bool> = held_out.iter().map(|&at| pooled.is_second[at]).collect();
    let risks: Vec<f64> = divisions(&is_second, options.permutations, options.seed, CLASSIFIER)
        .iter()
        .map(|division| means(|at| losses[at], &weights, division))
        .map(|[first, second]| 0.5 * (first + second))
        .collect();
    let evidence: Vec<Statistic> = risks.iter().map(|risk| Statistic::plain(-risk)).collect();
    Ok((risks[0], p_value(&evidence)))
}

/// A linear classifier: positive for the first sample.
struct Classifier {
    weights: Vec<f64>,
    intercept: f64,
}

impl Classifier {
    fn value(&self, row: &[f64]) -> f64 {
        dot(&self.weights, row) + self.intercept
    }
}

/// Rows with labels and weights: both samples have a mass of one half.
struct Training<'a> {
    rows: Vec<&'a [f64]>,
    labels: Vec<f64>,
    masses: Vec<f64>,
    width: usize,
}

impl<'a> Training<'a> {
    fn new(pooled: &'a Pooled, places: &[usize]) -> Self {
        let mut totals = [0.0; 2];
        for &at in places {
            totals[usize::from(pooled.is_second[at])] += pooled.weights[at];
        }
        let mass = |&at: &usize| 0.5 * pooled.weights[at] / totals[usize::from(pooled.is_second[at])];
        Self {
            rows: places.iter().map(|&at| pooled.rows().row(at)).collect(),
            labels: places.iter().map(|&at| if pooled.is_second[at] { -1.0 } else { 1.0 }).collect(),
            masses: places.iter().map(mass).collect(),
            width: pooled.sample.width(),
        }
    }

    /// Newton's method with conjugate gradients and step halving. The test is valid wherever it stops.
    fn fit(&self, run: &Run<'_>) -> Result<Classifier> {
        const ITERATIONS: usize = 50;
        // The last coordinate is the intercept.
        let mut w = vec![0.0; self.width + 1];
        let mut objective = self.objective(&w);
        for _ in 0..ITERATIONS {
            if run.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(DepthError::Cancelled);
            }
            let (gradient, curvatures) = self.derivatives(&w);
            let step = self.newton_step(&gradient, &curvatures);
            let slope = dot(&gradient, &step);
            if slope > -1e-12 {
                break;
            }
            let mut length = 1.0;
            let improved = loop {
                let mut next = w.clone();
                axpy(length, &step, &mut next);
                let value = self.objective(&next);
                if value <= objective + 1e-4 * length * slope {
                    break Some((next, value));
                }
                length *= 0.5;
                if length < 1e-8 {
                    break None;
                }
            };
            let Some((next, value)) = improved else { break };
            (w, objective) = (next, value);
        }
        let intercept = w.pop().unwrap_or(0.0);
        Ok(Classifier { weights: w, intercept })
    }

    fn margin(&self, i: usize, w: &[f64]) -> f64 {
        self.labels[i] * (dot(&w[..self.width], self.rows[i]) + w[self.width])
    }

    fn objective(&self, w: &[f64]) -> f64 {
        let risk: f64 =
            (0..self.rows.len()).map(|i| self.masses[i] * Logistic.value(self.margin(i, w))).sum();
        risk + REG * dot(&w[..self.width], &w[..self.width])
    }

    /// The gradient of the objective, and the curvature of the loss at each row.
    fn derivatives(&self, w: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut gradient: Vec<f64> = w.iter().map(|w| 2.0 * REG * w).collect();
        gradient[self.width] = 0.0;
        let mut curvatures = Vec::with_capacity(self.rows.len());
        for i in 0..self.rows.len() {
            let margin = self.margin(i, w);
            let slope = self.masses[i] * self.labels[i] * Logistic.grad(margin);
            axpy(slope, self.rows[i], &mut gradient[..self.width]);
            gradient[self.width] += slope;
            curvatures.push(self.masses[i] * Logistic.hess(margin));
        }
        (gradient, curvatures)
    }

    fn hessian_times(&self, v: &[f64], curvatures: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = v.iter().map(|v| 2.0 * REG * v).collect();
        out[self.width] = 0.0;
        for (row, curvature) in self.rows.iter().zip(curvatures) {
            let scale = curvature * (dot(&v[..self.width], row) + v[self.width]);
            axpy(scale, row, &mut out[..self.width]);
            out[self.width] += scale;
        }
        out
    }

    /// The direction $-H^{-1} g$, to a tenth of the gradient.
    fn newton_step(&self, gradient: &[f64], curvatures: &[f64]) -> Vec<f64> {
        const STEPS: usize = 100;
        let mut step = vec![0.0; gradient.len()];
        let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut direction = residual.clone();
        let mut square = dot(&residual, &residual);
        let enough = 1e-4 * square;
        for _ in 0..STEPS {
            if square <= enough {
                break;
            }
            let product = self.hessian_times(&direction, curvatures);
            let curvature = dot(&direction, &product);
            if curvature <= 0.0 {
                break;
            }
            let length = square / curvature;
            axpy(length, &direction, &mut step);
            axpy(-length, &product, &mut residual);
            let next = dot(&residual, &residual);
            let share = next / square;
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + share * *d);
            square = next;
        }
        step
    }
}
