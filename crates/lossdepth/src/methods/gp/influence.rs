//! How the depth responds to more mass at each point of the sample.

use super::dense_variance;
use super::gram_split::QuerySplit;
use super::laplace_mode::ModeSearch;
use super::matrix_ops::{row_products, symmetric_times};
use super::solver::PosteriorSolver;
use super::variance_bounds::Losses;
use crate::numerics::linalg::{Matrix, axpy, dot, hadamard, multiply, multiply_symmetric};

/// The posterior covariance $C$, as far as influences need it.
pub(super) enum Covariance {
    /// Within the low-rank factor: $A = (I + T^\top W T)^{-1}$ and $A t_z$.
    Projected { inverse: Matrix, a_query: Vec<f64> },
    /// The lower triangle of the covariance of the points and, last, the query.
    Dense(Matrix<f32>),
}

impl PosteriorSolver<'_> {
    /// The influence of each point up to a constant (G17): directly, through the mode and through the variances.
    ///
    /// An estimate where the covariance is projected: the residual then counts on the diagonal only, as `residual_part`.
    pub(super) fn influence(
        &mut self,
        mode: &ModeSearch,
        losses: &Losses,
        covariance: &Covariance,
        residual_part: &[f64],
    ) -> Vec<f64> {
        let (query, likelihood) = (&mode.query, &mode.likelihood);
        let f = &likelihood.f;
        let (n, problem) = (self.split.len(), self.problem);
        let (half, total) = (&problem.half_weights, problem.total);
        // The derivatives of the depth in the variances.
        let mut d_variance: Vec<f64> =
            half.iter().zip(&losses.sample).map(|(c, l)| c * l.d_variance).collect();
        d_variance.push(0.5 * losses.query.d_variance);
        // β = −(C ∘ C) d_variance.
        let squares: Vec<f64> = match covariance {
            _ if !problem.averaged => vec![0.0; n + 1],
            Covariance::Projected { a_query, .. } => {
                self.squared_covariance_times(query, a_query, &d_variance, residual_part)
            }
            Covariance::Dense(lower) => dense_variance::apply(lower, &d_variance, true),
        };
        let beta: Vec<f64> = squares.iter().map(|sum| -sum).collect();
        // s: the derivatives of the depth in f, directly and through W.
        let tanh_half = |f: f64| (0.5 * f).tanh();
        let mut s: Vec<f64> = (0..n)
            .map(|i| half[i] * losses.sample[i].d_mean - beta[i] * likelihood.w[i] * tanh_half(f[i]))
            .collect();
        s.push(0.5 * losses.query.d_mean - beta[n] * likelihood.w_query * tanh_half(likelihood.f_query));
        let covariance_s = match covariance {
            Covariance::Projected { inverse, .. } => self.covariance_times(query, inverse, &s, residual_part),
            Covariance::Dense(lower) => dense_variance::apply(lower, &s, false),
        };
        (0..n)
            .map(|i| {
                let sigma = 0.5 * (1.0 + (0.5 * f[i]).tanh());
                let complement = 1.0 - sigma;
                0.5 * losses.sample[i].value
                    + total * (complement * covariance_s[i] + beta[i] * sigma * complement)
            })
            .collect()
    }

    /// $\sum_j x_j C_{ij}^2$ for every point and, last, for the query: within the low-rank factor, and on the diagonal with the
    /// residual's part.
    fn squared_covariance_times(
        &mut self,
        query: &QuerySplit,
        a_query: &[f64],
        x: &[f64],
        residual_part: &[f64],
    ) -> Vec<f64> {
        let (n, m) = (self.split.len(), self.split.width());
        // Single precision is enough for an influence.
        let mut moments = if let Some(single) = &mut self.single {
            single.products(&query.own_column, &x[..n])
        } else {
            for j in 0..=m {
                hadamard(self.t.col(j), &x[..n], self.wt.col_mut(j));
            }
            let mut moments = Matrix::zeros(m + 1, m + 1);
            multiply_symmetric(&mut moments, &self.wt, &self.t);
            moments
        };
        for j in 0..=m {
            axpy(x[n] * query.coordinates[j], &query.coordinates, moments.col_mut(j));
            for i in 0..j {
                let entry = moments.at(j, i);
                moments.set(i, j, entry);
            }
        }
        let mut squares = if let Some(single) = &mut self.single {
            single.quadratic_forms(&self.ta, &moments)
        } else {
            multiply(&mut self.scratch, &self.ta, &moments);
            row_products(&self.scratch, &self.ta)
        };
        let within = row_products(&self.ta, &self.t);
        for i in 0..n {
            squares[i] += x[i] * residual_part[i] * (2.0 * within[i] + residual_part[i]);
        }
        squares.push(dot(a_query, &symmetric_times(&moments, a_query)));
        squares
    }

    /// $\sum_j C_{ij} s_j$ for every point, the same way.
    fn covariance_times(
        &self,
        query: &QuerySplit,
        inverse: &Matrix,
        s: &[f64],
        residual_part: &[f64],
    ) -> Vec<f64> {
        let (n, m) = (self.split.len(), self.split.width());
        let mut projected: Vec<f64> = (0..=m).map(|j| dot(self.t.col(j), &s[..n])).collect();
        axpy(s[n], &query.coordinates, &mut projected);
        let coefficients = symmetric_times(inverse, &projected);
        let mut out: Vec<f64> = (0..n).map(|i| residual_part[i] * s[i]).collect();
        for j in 0..=m {
            axpy(coefficients[j], self.t.col(j), &mut out);
        }
        out
    }
}
