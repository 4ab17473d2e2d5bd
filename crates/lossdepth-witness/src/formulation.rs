//! A depth as the convex program that defines it.

use crate::loss::Loss;
use crate::real::{Real, dot};
use crate::wide::Wide;

/// What the intercept may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intercept {
    Free,
    Penalised,
    None,
}

/// Which number is the depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Variant {
    /// The risk at the minimiser of risk + reg·‖w‖².
    Risk,
    /// The minimum of risk + reg·‖w‖².
    Objective,
    /// The least risk where ‖w‖ is at most `radius`.
    Constrained { radius: f64 },
}

/// Sample, query and settings: all that defines a depth.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) query: Vec<f64>,
    pub(crate) loss: Loss,
    pub(crate) intercept: Intercept,
    pub(crate) variant: Variant,
    pub(crate) reg: f64,
    pub(crate) tol: f64,
}

/// Minimise $\sum_j c_j \ell(\langle g_j, \theta \rangle)$, where the leading entries of $\theta$ are penalised or bounded.
///
/// With a free intercept the rows are differences to the query, which changes nothing and costs no rounding in [`Wide`].
#[derive(Debug, Clone)]
pub(crate) struct Formulation<T> {
    /// The loss.
    pub(crate) loss: Loss,
    /// $g_j = y_j [x_j, 1]$ one after the other, the query last.
    features: Vec<T>,
    /// How many entries $\theta$ has.
    pub(crate) width: usize,
    /// How many of them are in the norm.
    pub(crate) penalised: usize,
    /// $c_j$: half the weight of a row, one half for the query.
    pub(crate) costs: Vec<T>,
}

impl Formulation<Wide> {
    pub(crate) fn new(problem: &Problem) -> Self {
        let columns = problem.query.len();
        let (width, penalised) = match problem.intercept {
            Intercept::Free => (columns + 1, columns),
            Intercept::Penalised => (columns + 1, columns + 1),
            Intercept::None => (columns, columns),
        };
        let one = Wide::one();
        let (mut features, mut costs) = (Vec::new(), Vec::new());
        let mut push = |row: &[f64], sign: Wide| {
            for (&x, &z) in row.iter().zip(&problem.query) {
                let x = Wide::from_f64(x);
                features.push(
                    sign * if problem.intercept == Intercept::Free { x - Wide::from_f64(z) } else { x },
                );
            }
            if width > columns {
                features.push(sign);
            }
        };
        let weight = |i: usize| problem.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let total = (0..problem.rows.len()).fold(Wide::zero(), |sum, i| sum + Wide::from_f64(weight(i)));
        for (i, row) in problem.rows.iter().enumerate().filter(|(i, _)| weight(*i) > 0.0) {
            push(row, one);
            costs.push(Wide::from_f64(weight(i)) / (total + total));
        }
        push(&problem.query, -one);
        costs.push(Wide::from_f64(0.5));
        Self { loss: problem.loss, features, width, penalised, costs }
    }

    /// The same in another precision.
    pub(crate) fn rounded<T: Real>(&self) -> Formulation<T> {
        let round = |values: &[Wide]| values.iter().map(|&x| T::from_wide(x)).collect();
        Formulation {
            loss: self.loss,
            features: round(&self.features),
            width: self.width,
            penalised: self.penalised,
            costs: round(&self.costs),
        }
    }
}

impl<T: Real> Formulation<T> {
    /// How many losses are summed: the rows and the query.
    pub(crate) fn terms(&self) -> usize {
        self.costs.len()
    }

    /// $g_j$.
    pub(crate) fn feature(&self, j: usize) -> &[T] {
        &self.features[j * self.width..(j + 1) * self.width]
    }

    /// $\langle g_j, \theta \rangle$ for all $j$.
    pub(crate) fn margins(&self, theta: &[T]) -> Vec<T> {
        (0..self.terms()).map(|j| dot(self.feature(j), theta)).collect()
    }

    /// $\sum_j s_j g_j$.
    pub(crate) fn combine(&self, s: &[T]) -> Vec<T> {
        let mut sum = vec![T::zero(); self.width];
        for (j, &s) in s.iter().enumerate() {
            for (total, &g) in sum.iter_mut().zip(self.feature(j)) {
                *total += s * g;
            }
        }
        sum
    }

    /// The squared norm of the entries that are penalised.
    pub(crate) fn squared_norm(&self, theta: &[T]) -> T {
        dot(&theta[..self.penalised], &theta[..self.penalised])
    }
}
