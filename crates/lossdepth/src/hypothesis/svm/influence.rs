//! How the depth reacts to the sample.
//!
//! By the envelope theorem the objective and the constrained depth change with the mass of row $i$ by $\frac12 \ell_i$. The
//! risk also feels how the minimiser moves: $\frac12 (\ell_i + \ell_i' s_i)$ with $s = H^{-1} 2 \, \text{reg} \, w$, where $H$ is the
//! curvature of the *expected* objective. The hinge has none but at its kink, so the density of margins there is estimated
//! by a Gaussian kernel of Silverman's width, as for the linear hinge. $H$ acts on functions; it is inverted on the
//! span of the classifier, the query's kernel function and up to 16 well spread sample points' (Galerkin's method).

use super::machine::{Found, Machine, Worker};
use super::shared::Shared;
use crate::linalg::{Cholesky, Matrix, axpy, dot, hadamard, multiply_symmetric};
use crate::loss::simd::exp_neg;
use crate::penalty::Variant;
use crate::simd::{sum_of, vectorised};
use crate::solver::active_set::Query;

impl Machine {
    /// ½(ℓᵢ + ℓ'ᵢ sᵢ) for every sample point.
    pub(super) fn influence(&self, query: Query<'_>, found: &Found, worker: &Worker<'_>) -> Vec<f64> {
        // Half the losses.
        let mut influence = found.values.clone();
        let values = &mut influence[..];
        vectorised(
            #[inline(always)]
            || values.iter_mut().for_each(|f| *f = if *f < 1.0 { 0.5 * (1.0 - *f) } else { 0.0 }),
        );
        if self.task.variant != Variant::Risk {
            return influence;
        }
        match (&found.beta, worker.shared) {
            (Some(beta), Some(shared)) => {
                let shifts = self.shifts(query, found, beta, shared, worker);
                let (values, weights) = (&mut influence[..], &self.space.half_weights);
                vectorised(
                    #[inline(always)]
                    || {
                        // On the kink the multiplier is the slope.
                        for (((value, shift), b), c) in values.iter_mut().zip(&shifts).zip(beta).zip(weights)
                        {
                            *value -= 0.5 * b / c * shift;
                        }
                    },
                );
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
    fn shifts(
        &self,
        query: Query<'_>,
        found: &Found,
        beta: &[f64],
        shared: &Shared,
        worker: &Worker<'_>,
    ) -> Vec<f64> {
        let n = self.space.len();
        let (reg, weights, basis) = (self.task.reg, &self.space.half_weights, &shared.basis);
        let mut shifts = vec![0.0; n];
        let mean = 2.0 * dot(&found.values, weights);
        let (values, masses) = (&found.values[..n], &weights[..n]);
        let variance = 2.0 * sum_of(n, |i| masses[i] * ((values[i] - mean) * (values[i] - mean)));
        let width = 1.06 * variance.sqrt() * self.space.observations().powf(-0.2);
        if width.is_nan() || width <= 0.0 {
            return shifts;
        }
        // Orthonormal functions: the shared ones; then the query's kernel function and the classifier less what the
        // others have of them; and the constant of a free intercept.
        let shared_count = basis.chosen.len();
        let query_part = basis.coordinates(basis.chosen.iter().map(|&i| query.column[i]));
        let mut target = basis.coordinates(basis.chosen.iter().map(|&i| found.values[i] - found.intercept));
        let mut at_query = query_part.clone();
        let mut own: Vec<Vec<f64>> = Vec::with_capacity(3);
        let rest = query.own - dot(&query_part, &query_part);
        if rest > 1e-8 * query.own {
            let unit = rest.sqrt();
            let mut values = query.column.to_vec();
            for (j, part) in query_part.iter().enumerate() {
                axpy(-part, basis.values.col(j), &mut values);
            }
            for v in &mut values {
                *v /= unit;
            }
            target.push((found.at_query - found.intercept - dot(&query_part, &target)) / unit);
            at_query.push(unit);
            own.push(values);
        }
        let rest = found.norm * found.norm - dot(&target, &target);
        if rest > 1e-8 * found.norm * found.norm {
            let unit = rest.sqrt();
            let mut values: Vec<f64> = found.values.iter().map(|f| f - found.intercept).collect();
            for (j, part) in target.iter().enumerate() {
                let function =
                    own.get(j.wrapping_sub(shared_count)).map_or_else(|| basis.values.col(j), Vec::as_slice);
                axpy(-part, function, &mut values);
            }
            for v in &mut values {
                *v /= unit;
            }
            at_query.push((found.at_query - found.intercept - dot(&at_query, &target)) / unit);
            target.push(unit);
            own.push(values);
        }
        let penalised = target.len();
        if self.balanced {
            own.push(vec![1.0; n]);
            at_query.push(1.0);
            target.push(0.0);
        }

        let bends = bends(&found.values, weights, width);
        let mut bent = worker.functions.borrow_mut();
        if bent.cols() != shared_count {
            *bent = Matrix::zeros(n, shared_count);
        }
        for j in 0..shared_count {
            hadamard(basis.values.col(j), &bends, bent.col_mut(j));
        }
        let mut among = Matrix::zeros(shared_count, shared_count);
        multiply_symmetric(&mut among, &bent, &basis.values);
        let q = target.len();
        let mut hessian = Matrix::zeros(q, q);
        for j in 0..shared_count {
            hessian.col_mut(j)[j..shared_count].copy_from_slice(&among.col(j)[j..]);
            for (i, function) in own.iter().enumerate() {
                hessian.set(shared_count + i, j, dot(function, bent.col(j)));
            }
        }
        let mut bent = vec![0.0; n];
        for (j, function) in own.iter().enumerate() {
            hadamard(function, &bends, &mut bent);
            for (i, other) in own.iter().enumerate().skip(j) {
                hessian.set(shared_count + i, shared_count + j, dot(other, &bent));
            }
        }
        // A query on the kink stays there: its curvature is as good as infinite.
        let kink = beta[n] > -0.5 && beta[n] < 0.0;
        let stiff = if kink { 1e6 * (bends.iter().sum::<f64>() + reg) } else { 0.0 };
        for j in 0..q {
            for i in j..q {
                let entry = hessian.at(i, j) + stiff * at_query[i] * at_query[j];
                hessian.set(i, j, entry + if i == j && j < penalised { 2.0 * reg } else { 0.0 });
            }
        }
        let Some(factor) = Cholesky::scaled(&mut hessian) else { return shifts };
        for t in &mut target {
            *t *= 2.0 * reg;
        }
        factor.solve(&mut target);
        if target.iter().all(|t| t.is_finite()) {
            for (j, t) in target.iter().enumerate() {
                let function =
                    own.get(j.wrapping_sub(shared_count)).map_or_else(|| basis.values.col(j), Vec::as_slice);
                axpy(*t, function, &mut shifts);
            }
        }
        shifts
    }
}

/// The curvature that each point's loss stands for: a Gaussian bump of this width around the kink.
fn bends(values: &[f64], weights: &[f64], width: f64) -> Vec<f64> {
    let height = 1.0 / (width * (2.0 * std::f64::consts::PI).sqrt());
    let mut bends = vec![0.0; values.len()];
    vectorised(
        #[inline(always)]
        || {
            for ((bend, f), c) in bends.iter_mut().zip(values).zip(weights) {
                let x = (1.0 - f) / width;
                *bend = c * height * exp_neg(-0.5 * x * x);
            }
        },
    );
    bends
}
