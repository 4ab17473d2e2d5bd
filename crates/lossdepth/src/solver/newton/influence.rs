//! How rows of the reference act on a depth: directly, through the minimiser, and through the scaling.

use super::Newton;
use crate::loss::{Dual, Smooth};
use crate::numerics::linalg::{Cholesky, dot};
use crate::problem::features::{Features, Reaction, ShiftResponse};
use crate::problem::{Task, Variant};

impl<L: Smooth + Dual> Newton<'_, L> {
    /// The sampling standard error of the functional at a minimiser.
    pub(crate) fn standard_error(&mut self, query: &[f64], theta: &[f64], reg: f64) -> f64 {
        let (shifts, q) = self.influence(query, theta, reg);
        let reaction = self.reaction(query, theta, q.as_deref(), reg);
        let mut losses = self.losses_and_curvatures();
        self.task.functional.scale_losses(&mut losses);
        self.features.standard_error(&mut losses, &self.slopes, &shifts, Some(reaction))
    }

    /// ⟨tᵢ, q⟩ with H q = −∇(depth), which is 2 reg w for the risk: how the minimiser's reaction adds to the influence of a row on the
    /// risk. Zero for the other variants, by the envelope theorem. And q itself.
    fn influence(&mut self, query: &[f64], theta: &[f64], reg: f64) -> (Vec<f64>, Option<Vec<f64>>) {
        let mut shifts = vec![0.0; self.features.len()];
        if self.task.variant != Variant::Risk {
            return (shifts, None);
        }
        let Some(factor) = Cholesky::scaled(&mut self.hessian(query, theta, reg)) else {
            return (shifts, None);
        };
        let mut rhs = theta.to_vec();
        let at_query = -0.5 * self.loss.grad(-dot(query, theta));
        self.task.functional.descent(&mut rhs, reg, self.features.free, at_query, query);
        factor.solve(&mut rhs);
        if rhs.iter().any(|x| !x.is_finite()) {
            return (shifts, None);
        }
        self.features.products(&rhs, &mut shifts);
        (shifts, Some(rhs))
    }

    /// How the minimiser reacts to a change of the scaling; sets margins and slopes.
    fn reaction<'t>(
        &mut self,
        query: &[f64],
        theta: &'t [f64],
        q: Option<&'t [f64]>,
        reg: f64,
    ) -> Reaction<'t> {
        let free = self.features.free;
        let gradient = self.gradient_at(query, theta, 0.0);
        let reg = match self.task.variant {
            // The gradient of the risk is -2 reg w on the sphere.
            Variant::Constrained { .. } => {
                let (along, square) =
                    (dot(&gradient[free..], &theta[free..]), dot(&theta[free..], &theta[free..]));
                if square > 0.0 { (-0.5 * along / square).max(0.0) } else { 0.0 }
            }
            Variant::Risk | Variant::Objective => reg,
        };
        let shift = if self.features.learns_shift() {
            shift_response(self.loss, self.features, self.task, (query, theta, q))
        } else {
            ShiftResponse::default()
        };
        Reaction { theta, q, reg, shift }
    }

    /// The influence of every reference row on the depth that `theta` gives a query.
    pub(crate) fn explain(&mut self, query: &[f64], theta: &[f64]) -> Vec<f64> {
        let (shifts, q) = self.influence(query, theta, self.task.reg);
        let reaction = self.reaction(query, theta, q.as_deref(), self.task.reg);
        let mut losses = self.losses_and_curvatures();
        self.task.functional.scale_losses(&mut losses);
        self.features.influence(losses, &self.slopes, &shifts, reaction)
    }
}

/// How the depth of a query with the parameters `theta` responds to a shift of all rows (I20), given `q` with H q = −∇(depth).
pub(crate) fn shift_response<L: Smooth>(
    loss: &L,
    features: &Features,
    task: &Task,
    (query, theta, q): (&[f64], &[f64], Option<&[f64]>),
) -> ShiftResponse {
    let (n, weights) = (features.len(), &features.half_weights);
    let [mut margins, mut slopes, mut losses] = std::array::from_fn(|_| vec![0.0; n]);
    features.products(theta, &mut margins);
    loss.losses_and_slopes(&margins, weights, &mut losses, &mut slopes);
    let value = dot(query, theta);
    let constant = [slopes.iter().sum(), -0.5 * loss.grad(-value)];
    let of_slopes = q.map_or(0.0, |q| {
        let (mut along, mut curvatures) = (slopes, vec![0.0; n]);
        loss.losses_and_curvatures(&margins, weights, &mut losses, &mut curvatures);
        features.products(q, &mut along);
        dot(&curvatures, &along) + 0.5 * loss.hess(-value) * dot(query, q)
    });
    ShiftResponse::new(task.functional, constant, of_slopes)
}
