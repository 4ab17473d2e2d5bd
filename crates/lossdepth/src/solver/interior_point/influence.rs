//! How rows of the reference act on a depth: directly, and through the minimiser.

use super::{Iterate, Paths};
use crate::numerics::linalg::{Cholesky, axpy, dot};
use crate::problem::Variant;

impl Paths<'_> {
    /// For every sample row its loss and weighted slope; on the kink the multiplier is the slope.
    pub(super) fn losses_and_slopes(&self, found: &Iterate) -> (Vec<f64>, Vec<f64>) {
        let rows = self.features.half_weights.iter().zip(&found.margin).zip(&found.dual);
        rows.map(|((c, m), a)| ((1.0 - m).max(0.0), -c * a)).unzip()
    }

    /// Prepares the second moments that [`shifts`](Self::shifts) needs, for all queries just done.
    ///
    /// The curvature of the expected loss at the margin is estimated by a Gaussian kernel of Silverman's width, as
    /// is usual for support vector machines.
    pub(super) fn weigh(&mut self, done: &[(usize, Iterate)]) {
        if done.is_empty() || self.task.variant != Variant::Risk || !self.task.stderr {
            return;
        }
        let (n, weights) = (self.features.len(), &self.features.half_weights);
        for (k, found) in done {
            let margins = &found.margin[..n];
            let mean = 2.0 * dot(margins, weights);
            let squares = margins.iter().zip(weights).map(|(m, c)| 2.0 * c * (m - mean) * (m - mean));
            let width = 1.06 * squares.sum::<f64>().sqrt() * self.features.observations().powf(-0.2);
            let height = if width > 0.0 { 1.0 / (width * (2.0 * std::f64::consts::PI).sqrt()) } else { 0.0 };
            for ((h, m), c) in self.curvatures.col_mut(*k).iter_mut().zip(margins).zip(weights) {
                let x = if width > 0.0 { (1.0 - m) / width } else { 0.0 };
                *h = c * height * (-0.5 * x * x).exp();
            }
        }
        self.gram.load(&self.features.tall, &self.curvatures, self.slots.len());
    }

    /// ⟨tᵢ, q⟩ with H q = 2 reg w: how the minimiser's reaction adds to the influence of a row on the risk. Zero
    /// for the other variants, by the envelope theorem.
    pub(super) fn shifts(&mut self, k: usize, found: &Iterate) -> Vec<f64> {
        let (n, q, free) = (self.features.len(), self.features.width(), self.features.free);
        let mut shifts = vec![0.0; n];
        if self.task.variant != Variant::Risk {
            return shifts;
        }
        // A query on the kink stays there: its curvature is as good as infinite.
        let kink = (found.margin[n] - 1.0).abs() <= 1e-6;
        let total: f64 = self.curvatures.col(k).iter().sum();
        let at_query = if kink { 1e6 * (total + found.reg) } else { 0.0 };
        let sample = self.gram.lower(&self.features.tall, &self.curvatures, k);
        let factor = Cholesky::of_moments(&sample, &self.slots[k].query, at_query, found.reg, free);
        let Some(factor) = factor else { return shifts };
        let mut rhs: Vec<f64> = found.theta.iter().map(|w| 2.0 * found.reg * w).collect();
        rhs[..free].fill(0.0);
        factor.solve(&mut rhs);
        if rhs.iter().all(|x| x.is_finite()) {
            for (j, t) in rhs[..q].iter().enumerate() {
                axpy(*t, self.features.tall.col(j), &mut shifts);
            }
        }
        shifts
    }
}
