//! The Newton step of a candidate, what the multipliers expected after it prove, and how far to go along it.

use super::{Evaluation, Problem};
use crate::certify::gap::Certificate;
use crate::loss::{Dual, Smooth};
use crate::numerics::double_double::{Twofold, TwofoldVector, dot_twofold, two_sum};
use crate::numerics::linalg::{Cholesky, HessianFactor, WeightedQr, axpy, dot};

/// How many corrections of a Newton step by the residual of its equations, each of which must halve the gap or the residual
/// (heuristic).
const CORRECTIONS: usize = 6;
/// The equations count as solved once their residual is below this share of the gradient; else the factor of the weighted
/// rows is used from then on (heuristic).
const SOLVED: f64 = 1e-3;
/// A search ends where the slope is at most this share of the slope at the start (heuristic).
const FLAT: f64 = 0.1;
/// Steps of a search for where the slope vanishes.
const TRIALS: usize = 60;

impl<L: Smooth + Dual> Problem<'_, L> {
    /// The Newton step, the best certificate that the multipliers expected after it give, and whether its equations were
    /// solved.
    pub(super) fn newton_step(
        &self,
        evaluation: &Evaluation,
        at: &TwofoldVector,
        reg: f64,
        exact_factor: bool,
    ) -> (TwofoldVector, Certificate, bool) {
        let (given, free) = (self.given, self.given.free());
        let n = evaluation.slopes.len() - 1;
        let factor = self.factor(&evaluation.curvatures, reg, exact_factor);
        let mut step = TwofoldVector::new(vec![0.0; given.width()]);
        let masses = self.masses(evaluation, None);
        // The gradient is minus the residual.
        let mut left: Vec<f64> = given.residual(&masses, at, 2.0 * reg).value;
        let start = self.units_norm(&left, evaluation, reg);
        let mut best = Certificate::NOTHING;
        let mut remaining = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            let correction = self.solve(factor.as_ref(), &left, reg);
            if correction.iter().any(|x| !x.is_finite()) {
                break;
            }
            step.add(1.0, &correction);
            let along = given.margins(&step).high;
            let mut shifts: Vec<f64> =
                (0..=n).map(|j| -evaluation.curvatures[j] / given.mass(j).0 * along[j]).collect();
            let masses = self.masses(evaluation, Some(&shifts));
            let mut residual = given.residual(&masses, at, 2.0 * reg);
            left.clone_from(&residual.value);
            axpy(-2.0 * reg, &step.high[free..], &mut left[free..]);
            // Shifts that lead out of the domain are taken back.
            let mut outside = false;
            for (j, shift) in shifts.iter_mut().enumerate() {
                if !self.fenchel_young(evaluation, j, *shift, 0.0).is_finite() {
                    (*shift, outside) = (0.0, true);
                }
            }
            let constrained = self.penalty() != 2.0 * reg;
            let mut admissible = masses;
            if outside || constrained {
                admissible = self.masses(evaluation, Some(&shifts));
                residual = given.residual(&admissible, at, self.penalty());
            }
            let found = self.certificate(evaluation, at, &shifts, &admissible, &residual);
            let better = found.gap < 0.5 * best.gap;
            if found.gap < best.gap {
                best = found;
            }
            let now = self.units_norm(&left, evaluation, reg);
            let contracts = now < 0.5 * remaining;
            remaining = remaining.min(now);
            if self.meets(&best) || !(better || contracts) {
                break;
            }
        }
        (step, best, remaining <= SOLVED * start)
    }

    /// The norm of a residual in units of the diagonal of the Hessian, for comparisons.
    fn units_norm(&self, residual: &[f64], evaluation: &Evaluation, reg: f64) -> f64 {
        let curvature: f64 = evaluation.curvatures.iter().sum();
        let axes = self.given.to_axes(residual);
        let moments = self.given.features.moments.iter().chain([&0.0]);
        let terms = axes.iter().zip(moments).map(|(x, m)| x * (x / (curvature * m + 2.0 * reg)));
        terms.sum::<f64>().abs().sqrt()
    }

    fn factor(&self, curvatures: &[f64], reg: f64, exact: bool) -> Option<HessianFactor> {
        let (features, query) = (self.given.features, self.given.coordinates);
        let (sample, at_query) = (&curvatures[..features.len()], curvatures[features.len()]);
        if !exact {
            return Cholesky::of_hessian(&features.tall, sample, query, at_query, reg, features.free)
                .map(HessianFactor::Square);
        }
        let qr = WeightedQr::of_hessian(&features.tall, sample, query, at_query, reg, features.free);
        Some(HessianFactor::Root(qr))
    }

    /// Solves the Newton equations for a right-hand side in the coordinates as given.
    fn solve(&self, factor: Option<&HessianFactor>, rhs: &[f64], reg: f64) -> Vec<f64> {
        let mut axes = self.given.to_axes(rhs);
        match factor {
            Some(factor) => factor.solve(&mut axes),
            None => axes.fill(f64::NAN),
        }
        let mut step = self.given.vector_of_axes(&axes);
        // Outside of the span of the axes the Hessian is that of the penalty.
        if let Some(beyond) = self.given.beyond_axes(rhs) {
            axpy(1.0 / (2.0 * reg), &beyond, &mut step);
        }
        step
    }

    /// How far along the step the slope vanishes, or nearly so.
    pub(super) fn step_length(
        &self,
        evaluation: &Evaluation,
        at: &TwofoldVector,
        reg: f64,
        step: &TwofoldVector,
    ) -> Option<f64> {
        let (given, free) = (self.given, self.given.free());
        let along = given.margins(step).high;
        let (w, p) = (&at.high[free..], &step.high[free..]);
        let (wp, pp) = (dot_twofold(w, p).value(), dot(p, p));
        let slope_at = |j: usize, change: f64| {
            let (sum, left) = two_sum(evaluation.margins.high[j], change);
            let (sum, rest) = two_sum(sum, evaluation.margins.low[j] + left);
            self.loss.derivatives_near(sum, rest).0
        };
        let slope = |t: f64| {
            let mut sum = Twofold::default();
            for (j, along) in along.iter().enumerate() {
                sum.add_product(given.mass(j).0 * slope_at(j, t * along), *along);
            }
            sum.add_product(2.0 * reg, wp + t * pp);
            sum.value()
        };
        flat(slope(0.0), evaluation.risk + evaluation.penalty, slope)
    }
}

/// A step at which the slope of a convex function, `start` at 0, has as good as vanished, however short it is; `None` if the
/// function does not fall. A step that may have climbed by more than `room` is not taken.
///
/// Curvature that sets in just beyond 0 makes the minimum as near as 1e-17. False position, with one end halved
/// whenever the other has moved twice, gets there; bisection would not.
fn flat(start: f64, room: f64, slope: impl Fn(f64) -> f64) -> Option<f64> {
    if start.is_nan() || start >= 0.0 {
        return None;
    }
    let (mut low, mut high) = ((0.0, start), (f64::INFINITY, f64::NAN));
    // How much lower than at 0 the function is at least at the lower end.
    let mut fallen = 0.0;
    let (mut t, mut side) = (1.0, 0);
    for _ in 0..TRIALS {
        let s = slope(t);
        let climbed = s > 0.0 && (t - low.0) * s - fallen > room;
        if s.abs() <= FLAT * start.abs() && !climbed {
            return Some(t);
        }
        if s < 0.0 {
            (low, fallen) = ((t, s), -t * s);
            if side < 0 {
                high.1 *= 0.5;
            }
            side = -1;
        } else {
            high = (t, s);
            if side > 0 {
                low.1 *= 0.5;
            }
            side = 1;
        }
        t = if high.0.is_infinite() {
            4.0 * t
        } else if high.1.is_finite() {
            low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1))
        } else {
            0.5 * (low.0 + high.0)
        };
        if t <= low.0 || t >= high.0 {
            break;
        }
    }
    (low.0 > 0.0).then_some(low.0)
}

#[cfg(test)]
mod tests {
    use super::flat;

    #[test]
    fn minima_at_any_distance() {
        for minimum in [1e-17, 1e-9, 0.3, 1.0, 50.0] {
            // Curvature that sets in at once, and one that sets in late.
            for late in [0.0, 0.999] {
                let slope = |t: f64| 1e-3 * t / minimum + 1e6 * (t / minimum - late).max(0.0) - 1.0;
                let t = flat(slope(0.0).min(-1.0), f64::INFINITY, slope).expect("it falls");
                assert!(slope(t).abs() <= 0.1 || t >= 0.9 * late * minimum, "{minimum} {late}: {t}");
            }
        }
        let kink = |t: f64| if t < 1e-7 { -1e6 } else { 5e4 };
        let t = flat(-1e6, 0.5, kink).expect("it falls");
        assert!(5e4 * (t - 1e-7) - 0.1 <= 0.5, "{t}");
    }
}
