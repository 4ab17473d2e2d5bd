//! How the depth reacts to the sample.
//!
//! By the envelope theorem the objective and the constrained depth change with the mass of row $i$ by $\frac12 \ell_i$. The
//! risk also feels how the minimiser moves: $\frac12 (\ell_i + \ell_i' s_i)$ with $s = H^{-1} 2 \, \text{reg} \, w$, where $H$ is the
//! curvature of the *expected* objective. The hinge has none but at its kink, so the density of margins there is estimated
//! by a Gaussian kernel of Silverman's width, as for the linear hinge. $H$ acts on functions; it is inverted on the
//! span of the classifier, the query's kernel function and up to 24 well spread sample points' (Galerkin's method).

use super::machine::{Found, Machine};
use super::shared::Shared;
use crate::linalg::{Cholesky, Matrix, axpy, dot, multiply_symmetric};
use crate::penalty::Variant;
use crate::solver::active_set::Query;

impl Machine {
    /// ½(ℓᵢ + ℓ'ᵢ sᵢ) for every sample point.
    pub(super) fn influence(
        &self,
        query: Query<'_>,
        found: &Found,
        shared: Option<&Shared>,
        _careful: bool,
    ) -> Vec<f64> {
        let mut influence: Vec<f64> = found.values.iter().map(|f| 0.5 * (1.0 - f).max(0.0)).collect();
        if self.task.variant != Variant::Risk {
            return influence;
        }
        match (&found.beta, shared) {
            (Some(beta), Some(shared)) => {
                let shifts = self.shifts(query, found, beta, shared);
                for (i, (value, shift)) in influence.iter_mut().zip(&shifts).enumerate() {
                    // On the kink the multiplier is the slope.
                    *value -= 0.5 * beta[i] / self.space.half_weights[i] * shift;
                }
            }
            // In the closed form nothing bends: s = w, and only differences count.
            _ => {
                for (value, f) in influence.iter_mut().zip(&found.values) {
                    *value -= 0.5 * (f - found.intercept);
                }
            }
        }
        influence
    }

    /// $s$ at the sample points.
    fn shifts(&self, query: Query<'_>, found: &Found, beta: &[f64], shared: &Shared) -> Vec<f64> {
        let n = self.space.len();
        let (reg, weights, basis) = (self.task.reg, &self.space.half_weights, &shared.basis);
        let mut shifts = vec![0.0; n];
        let plain: Vec<f64> = found.values.iter().map(|f| f - found.intercept).collect();
        let mean = 2.0 * dot(&found.values, weights);
        let squares = found.values.iter().zip(weights).map(|(m, c)| 2.0 * c * (m - mean) * (m - mean));
        let width = 1.06 * squares.sum::<f64>().sqrt() * self.space.observations().powf(-0.2);
        if !(width > 0.0) {
            return shifts;
        }
        let height = 1.0 / (width * (2.0 * std::f64::consts::PI).sqrt());
        let bend = |m: f64, c: f64| c * height * (-0.5 * ((1.0 - m) / width).powi(2)).exp();
        let bends: Vec<f64> = found.values.iter().zip(weights).map(|(m, c)| bend(*m, *c)).collect();

        // Orthonormal functions: the shared ones, the query's kernel function, the classifier; each with its
        // values at the sample and at the query.
        let mut functions: Vec<(Vec<f64>, f64)> = Vec::with_capacity(basis.values.len() + 3);
        let query_part = basis.coordinates(basis.chosen.iter().map(|&i| query.column[i]));
        for (values, at_query) in basis.values.iter().zip(&query_part) {
            functions.push((values.clone(), *at_query));
        }
        let residual_own = query.own - dot(&query_part, &query_part);
        let mut residual = query.column.to_vec();
        for (values, part) in basis.values.iter().zip(&query_part) {
            axpy(-part, values, &mut residual);
        }
        let query_kept = residual_own > 1e-8 * query.own;
        if query_kept {
            let unit = residual_own.sqrt();
            residual.iter_mut().for_each(|v| *v /= unit);
            functions.push((residual, unit));
        }
        // The classifier's coordinates, and what is left of it.
        let mut target = basis.coordinates(basis.chosen.iter().map(|&i| plain[i]));
        let at_query = found.at_query - found.intercept;
        if query_kept {
            let (_, unit) = &functions[basis.values.len()];
            target.push((at_query - dot(&query_part, &target)) / unit);
        }
        let left = found.norm * found.norm - dot(&target, &target);
        if left > 1e-8 * found.norm * found.norm {
            let (mut rest, mut rest_at_query) = (plain.clone(), at_query);
            for ((values, v), part) in functions.iter().zip(&target) {
                axpy(-part, values, &mut rest);
                rest_at_query -= part * v;
            }
            let unit = left.sqrt();
            rest.iter_mut().for_each(|v| *v /= unit);
            functions.push((rest, rest_at_query / unit));
            target.push(unit);
        }
        let penalised = functions.len();
        if self.balanced {
            functions.push((vec![1.0; n], 1.0));
            target.push(0.0);
        }

        let q = functions.len();
        let tall = Matrix::from_fn(n, q, |i, j| functions[j].0[i]);
        let bent = Matrix::from_fn(n, q, |i, j| bends[i] * functions[j].0[i]);
        let mut hessian = Matrix::zeros(q, q);
        multiply_symmetric(&mut hessian, &bent, &tall);
        // A query on the kink stays there: its curvature is as good as infinite.
        let kink = beta[n] > -0.5 && beta[n] < 0.0;
        let stiff = if kink { 1e6 * (bends.iter().sum::<f64>() + reg) } else { 0.0 };
        for j in 0..q {
            for i in j..q {
                let entry = hessian.at(i, j) + stiff * functions[i].1 * functions[j].1;
                hessian.set(i, j, entry + if i == j && j < penalised { 2.0 * reg } else { 0.0 });
            }
        }
        let Some(factor) = Cholesky::scaled(&mut hessian) else { return shifts };
        target.iter_mut().for_each(|t| *t *= 2.0 * reg);
        factor.solve(&mut target);
        if target.iter().all(|t| t.is_finite()) {
            for ((values, _), t) in functions.iter().zip(&target) {
                axpy(*t, values, &mut shifts);
            }
        }
        shifts
    }
}
