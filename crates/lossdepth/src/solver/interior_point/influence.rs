//! How rows of the reference act on a depth: directly, and through the minimiser.

use super::{Block, Iterate};
use crate::certify::gap::Certificate;
use crate::numerics::linalg::{COLUMN_GROUP, Cholesky, Matrix, axpy, dot};
use crate::problem::features::{Features, Reaction, ShiftResponse};
use crate::problem::{Outcome, Task, Variant};

/// The influence of every reference row on the depths of up to [`COLUMN_GROUP`] queries, from outcomes that have their
/// multipliers; the coordinates of the queries are columns.
pub(crate) fn influence(
    features: &Features,
    task: &Task,
    queries: &Matrix,
    outcomes: &[Outcome],
) -> Vec<Vec<f64>> {
    let mut block = Block::new(features, task, COLUMN_GROUP);
    let mut solved = Vec::with_capacity(outcomes.len());
    for (k, outcome) in outcomes.iter().enumerate() {
        block.lanes[k].query = queries.col(k).to_vec();
        let Some(dual) = outcome.multipliers.clone() else { unreachable!("the task asks for multipliers") };
        let (theta, margin) = (outcome.theta.clone(), vec![0.0; dual.len()]);
        let (certificate, error, stop) = (Certificate::NOTHING, outcome.error, outcome.stop);
        let mut iterate = Iterate { theta, margin, dual, reg: task.reg, certificate, error, stop };
        block.refresh(k, &mut iterate);
        solved.push((k, iterate));
    }
    block.estimate_curvatures(&solved);
    let influence = |(k, iterate): &(usize, Iterate)| {
        let (losses, slopes) = block.losses_and_slopes(iterate);
        let (shifts, q) = block.shifts(*k, iterate);
        features.influence(
            losses,
            &slopes,
            &shifts,
            block.reaction(*k, iterate, (&slopes, &shifts), q.as_deref()),
        )
    };
    solved.iter().map(influence).collect()
}

impl Block<'_> {
    /// For every sample row its loss and weighted slope; on the kink the multiplier is the slope.
    pub(super) fn losses_and_slopes(&self, iterate: &Iterate) -> (Vec<f64>, Vec<f64>) {
        let rows = self.features.half_weights.iter().zip(&iterate.margin).zip(&iterate.dual);
        rows.map(|((c, m), a)| ((1.0 - m).max(0.0), -c * a)).unzip()
    }

    /// Prepares the second moments that [`shifts`](Self::shifts) needs, for all queries just done.
    ///
    /// The curvature of the expected loss at the margin is estimated by a Gaussian kernel of Silverman's width, as
    /// is usual for support vector machines.
    pub(super) fn estimate_curvatures(&mut self, done: &[(usize, Iterate)]) {
        if done.is_empty() || self.task.variant != Variant::Risk || !self.task.stderr {
            return;
        }
        let (n, weights) = (self.features.len(), &self.features.half_weights);
        for (k, iterate) in done {
            let margins = &iterate.margin[..n];
            let mean = 2.0 * dot(margins, weights);
            let squares = margins.iter().zip(weights).map(|(m, c)| 2.0 * c * (m - mean) * (m - mean));
            let width = 1.06 * squares.sum::<f64>().sqrt() * self.features.observations().powf(-0.2);
            let height = if width > 0.0 { 1.0 / (width * (2.0 * std::f64::consts::PI).sqrt()) } else { 0.0 };
            for ((h, m), c) in self.curvatures.col_mut(*k).iter_mut().zip(margins).zip(weights) {
                let x = if width > 0.0 { (1.0 - m) / width } else { 0.0 };
                *h = c * height * (-0.5 * x * x).exp();
            }
        }
        self.gram.load(&self.features.tall, &self.curvatures, self.lanes.len());
    }

    /// ⟨tᵢ, q⟩ with H q = 2 reg w: how the minimiser's reaction adds to the influence of a row on the risk. Zero
    /// for the other variants, by the envelope theorem. And q itself.
    pub(super) fn shifts(&mut self, k: usize, iterate: &Iterate) -> (Vec<f64>, Option<Vec<f64>>) {
        let (n, q, free) = (self.features.len(), self.features.width(), self.features.free);
        let mut shifts = vec![0.0; n];
        if self.task.variant != Variant::Risk {
            return (shifts, None);
        }
        let at_query = self.query_curvature(k, iterate);
        let sample = self.gram.lower(&self.features.tall, &self.curvatures, k);
        let factor = Cholesky::of_moments(&sample, &self.lanes[k].query, at_query, iterate.reg, free);
        let Some(factor) = factor else { return (shifts, None) };
        let mut rhs: Vec<f64> = iterate.theta.iter().map(|w| 2.0 * iterate.reg * w).collect();
        rhs[..free].fill(0.0);
        factor.solve(&mut rhs);
        if rhs.iter().any(|x| !x.is_finite()) {
            return (shifts, None);
        }
        for (j, t) in rhs[..q].iter().enumerate() {
            axpy(*t, self.features.tall.col(j), &mut shifts);
        }
        (shifts, Some(rhs))
    }

    /// The curvature of the query's loss: a query on the kink stays there, as if it were infinite.
    fn query_curvature(&self, k: usize, iterate: &Iterate) -> f64 {
        let kink = (iterate.margin[self.features.len()] - 1.0).abs() <= 1e-6;
        let total: f64 = self.curvatures.col(k).iter().sum();
        if kink { 1e6 * (total + iterate.reg) } else { 0.0 }
    }

    /// How the minimiser reacts to a change of the scaling.
    pub(super) fn reaction<'t>(
        &self,
        k: usize,
        iterate: &'t Iterate,
        (slopes, shifts): (&[f64], &[f64]),
        q: Option<&'t [f64]>,
    ) -> Reaction<'t> {
        let (features, theta) = (self.features, &iterate.theta[..]);
        let (n, free, query) = (features.len(), features.free, &self.lanes[k].query);
        let (w, at_query) = (&theta[free..], self.masses[n] * iterate.dual[n]);
        let reg = match self.task.variant {
            // The gradient of the risk is -2 reg w on the sphere.
            Variant::Constrained { .. } if dot(w, w) > 0.0 => {
                let constant = if free == 1 { theta[0] } else { 0.0 };
                let sample: f64 = slopes.iter().zip(&iterate.margin).map(|(s, m)| s * (m - constant)).sum();
                let along = sample + at_query * (-iterate.margin[n] - constant);
                (-0.5 * along / dot(w, w)).max(0.0)
            }
            Variant::Constrained { .. } => 0.0,
            Variant::Risk | Variant::Objective => iterate.reg,
        };
        let shift = if features.learns_shift() {
            let of_slopes = q.map_or(0.0, |q| {
                dot(self.curvatures.col(k), shifts) + self.query_curvature(k, iterate) * dot(query, q)
            });
            ShiftResponse::new(self.task.functional, [slopes.iter().sum(), at_query], of_slopes)
        } else {
            ShiftResponse::default()
        };
        Reaction { theta, q, reg, shift }
    }
}
