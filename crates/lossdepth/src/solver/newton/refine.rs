//! Newton's method where rounding is what stands in the way: features of 1e6 with a penalty of 1e-8.
//!
//! Three things go wrong there, and all of them because numbers are squared. The certificate divides the square of the
//! gradient, which is never known better than rounding of its terms, by the penalty. The Hessian squares the range of the
//! sample's coordinates and of the curvatures. And margins of 1 are differences of much larger numbers. So here
//!
//! * parameters and margins have twice the digits, and gradients are summed with twice the digits;
//! * steps come from the triangular factor of the weighted sample, not of its second moments ([`WeightedQr`]);
//! * the multipliers of the certificate are not the slopes $-\ell'(m_i)$ but those that the next Newton step $q$ expects,
//!   $a_i = -\ell'(m_i) - \ell''(m_i) \langle t_i, q \rangle$. That cancels the gradient but for $-2 \lambda q$, at a price
//!   of second order ([`Dual::excess`]), and the gap comes down from $\|g\|^2 / 4 \lambda$ to about
//!   $\frac12 g^\top H^{-1} g$: the units of features and penalty have gone.
//!
//! Any multipliers in the domain of the conjugate prove what they prove: the gap
//!
//! $$ \sum_j c_j \left( \ell(m_j) + \ell^*(-a_j) + a_j m_j \right)
//!    + \frac{1}{4 \lambda} \Big\| 2 \lambda w - \sum_j c_j a_j u_j \Big\|^2 $$
//!
//! is computed from the multipliers as they are, slopes and their changes kept apart so that no digit is lost.

use super::{Found, Newton};
use crate::certify::double_double_residual as balance;
use crate::certify::gap::second_order;
use crate::loss::{Dual, Smooth};
use crate::numerics::double_double::{Twofold, TwofoldVector, dot_twofold, two_sum};
use crate::numerics::linalg::{WeightedQr, axpy, dot, norm};
use crate::problem::{Shares, Stop};

/// How often neither the error nor the objective may improve, beside once for each coordinate: rows on a corner come in
/// one by one.
const STALLS: usize = 10;
/// How often a Newton step is improved by what it leaves of the gradient.
const REFINEMENTS: usize = 6;
/// Steps of a search for where the slope vanishes.
const TRIALS: usize = 60;

/// What is known at a point; slopes and curvatures of the sample are in the rows of [`Newton`].
struct Look {
    gradient: Vec<f64>,
    margins: TwofoldVector,
    /// f(z); slope and curvature of the query's term.
    value: (f64, f64),
    at_query: f64,
    query_curvature: f64,
    /// What sample and query add to the risk.
    losses: (f64, f64),
    objective: f64,
}

/// Changes of the slopes.
struct Shifts {
    sample: Vec<f64>,
    query: f64,
}

impl<L: Smooth + Dual> Newton<'_, L> {
    /// Minimises the penalised objective until its depth is proven to the tolerance; what is proven, and why it ended.
    pub(super) fn careful(
        &mut self,
        query: &[f64],
        theta: &mut Vec<f64>,
        reg: f64,
        iterations: &mut usize,
    ) -> (Found, Stop) {
        let mut at = TwofoldVector::new(theta.clone());
        let mut best = Found { error: f64::INFINITY, losses: None };
        let (mut lowest, mut stalls) = (f64::INFINITY, 0);
        let stop = loop {
            let look = self.look_carefully(query, &at, reg);
            let (step, error) = self.careful_step(query, &at, reg, &look);
            let headway = error < 0.9 * best.error || look.objective < lowest * (1.0 - 1e-14);
            stalls = if headway { 0 } else { stalls + 1 };
            lowest = lowest.min(look.objective);
            if error < best.error {
                best = Found { error, losses: Some(look.losses) };
                theta.clone_from(&at.high);
            }
            if best.error <= self.task.tol {
                break Stop::Converged;
            }
            if *iterations >= self.task.max_iter {
                break Stop::IterationLimit;
            }
            if stalls > STALLS + query.len() {
                break Stop::Stalled;
            }
            let length = self.careful_length(query, &at, reg, &look, &step);
            let Some(length) = length else { break Stop::Stalled };
            at.add(length, &step.high);
            at.add(length, &step.low);
            *iterations += 1;
        };
        (best, stop)
    }

    /// Margins, slopes and curvatures of the sample, and the rest of what is known at a point.
    fn look_carefully(&mut self, query: &[f64], at: &TwofoldVector, reg: f64) -> Look {
        let (features, free) = (self.features, self.features.free);
        let (mut margins, mut value) = (at.project(&features.tall), at.dot(query));
        if let Some(drift) = &self.drift {
            drift.correct(&at.high[free..], &mut margins, &mut value);
        }
        for (i, c) in features.half_weights.iter().enumerate() {
            let (slope, curvature) = self.loss.near(margins.high[i], margins.low[i]);
            (self.slopes[i], self.curvatures[i]) = (c * slope, c * curvature);
        }
        let value = value.parts();
        let (slope, curvature) = self.loss.near(-value.0, -value.1);
        let (at_query, query_curvature) = (-0.5 * slope, 0.5 * curvature);
        let w = &at.high[free..];
        let sample = self.loss.total(&margins.high, &features.half_weights);
        let losses = (sample, 0.5 * self.loss.value(-value.0));
        let objective = losses.0 + losses.1 + reg * dot(w, w);
        let gradient = self.residual(query, at, reg, at_query, &Shifts { sample: Vec::new(), query: 0.0 });
        Look { gradient, margins, value, at_query, query_curvature, losses, objective }
    }

    /// $\sum_i (s_i + \sigma_i) t_i + (s_z + \sigma_z) \hat z + 2 \lambda w$ for slopes $s$ and changes $\sigma$ of them.
    fn residual(
        &self,
        query: &[f64],
        at: &TwofoldVector,
        reg: f64,
        at_query: f64,
        shifts: &Shifts,
    ) -> Vec<f64> {
        let (sample, at_query) = ([&self.slopes[..], &shifts.sample[..]], [at_query, shifts.query]);
        balance::sum(self.features, query, sample, at_query, at, 2.0 * reg, self.drift.as_ref())
    }

    /// The Newton step, and the error of the depth that it proves.
    fn careful_step(&self, query: &[f64], at: &TwofoldVector, reg: f64, look: &Look) -> (TwofoldVector, f64) {
        let free = self.features.free;
        let factor = self.careful_factor(query, reg, look.query_curvature);
        let mut step = TwofoldVector::new(vec![0.0; query.len()]);
        let mut left = look.gradient.clone();
        let mut gap = f64::INFINITY;
        for _ in 0..REFINEMENTS {
            // What the step so far leaves of g + H q.
            factor.solve(&mut left);
            step.add(-1.0, &left);
            let along = step.project(&self.features.tall);
            let sample = self.curvatures.iter().zip(&along.high).map(|(h, a)| h * a).collect();
            let mut shifts = Shifts { sample, query: look.query_curvature * step.dot(query).value() };
            left = self.residual(query, at, reg, look.at_query, &shifts);
            let next = self.careful_gap(query, at, reg, look, &mut shifts, &left);
            let better = next < 0.5 * gap;
            gap = if next < gap { next } else { gap };
            if !better {
                break;
            }
            axpy(2.0 * reg, &step.high[free..], &mut left[free..]);
        }
        let mut point = self.point(query, &at.high, &look.gradient);
        // Margins have twice the digits until they are rounded once.
        let largest = look.margins.high.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        point.blur = (f64::EPSILON * largest, f64::EPSILON * look.value.0.abs());
        if let Some(drift) = &self.drift {
            let (sample, at_query) = drift.blur(&at.high[free..]);
            point.blur = (point.blur.0 + sample, point.blur.1 + at_query);
            gap += second_order(0.5, point.pull, sample) + second_order(0.5, look.at_query, at_query);
        }
        let error = point.error_of_gap(self.loss, reg, self.task, gap);
        // Whatever the gap says: both the depth and its estimate lie between 0 and the objective, as far as that is known.
        let ceiling = look.objective + point.blurred(self.loss, Shares::RISK);
        (step, error.min(ceiling))
    }

    /// The gap that the slopes with these changes prove, where `left` is the residual with them; changes that lead out
    /// of the domain are taken back.
    fn careful_gap(
        &self,
        query: &[f64],
        at: &TwofoldVector,
        reg: f64,
        look: &Look,
        shifts: &mut Shifts,
        left: &[f64],
    ) -> f64 {
        let (loss, free) = (self.loss, self.features.free);
        // Per unit of mass. A slope is known to a few units in the last place.
        let excess = |margin: (f64, f64), slope: f64, shift: f64| {
            if slope + shift > 0.0 {
                return f64::INFINITY;
            }
            let slack = 8.0 * f64::EPSILON * slope.abs();
            loss.excess(margin.0, -shift, slack) + (shift.abs() + slack) * margin.1.abs()
        };
        let (mut sum, mut taken_back) = (0.0, false);
        for (i, shift) in shifts.sample.iter_mut().enumerate() {
            let (c, margin) = (self.features.half_weights[i], (look.margins.high[i], look.margins.low[i]));
            let slope = self.slopes[i] / c;
            let mut more = excess(margin, slope, *shift / c);
            if !more.is_finite() {
                (*shift, taken_back) = (0.0, true);
                more = excess(margin, slope, 0.0);
            }
            sum += c * more;
        }
        let margin = (-look.value.0, -look.value.1);
        let at_query = |shift: f64| 0.5 * excess(margin, -2.0 * look.at_query, -2.0 * shift);
        if !at_query(shifts.query).is_finite() {
            (shifts.query, taken_back) = (0.0, true);
        }
        let again = taken_back.then(|| self.residual(query, at, reg, look.at_query, shifts));
        let mut left = again.unwrap_or_else(|| left.to_vec());
        let mut bias = 0.0;
        if free == 1 {
            // The multipliers have to balance: the query's makes up for what is left.
            bias = left[0];
            shifts.query -= bias;
            axpy(-bias, query, &mut left);
        }
        sum += at_query(shifts.query);
        let slopes: f64 = self.slopes.iter().zip(&shifts.sample).map(|(s, t)| s.abs() + t.abs()).sum();
        let query_terms = (look.at_query.abs() + shifts.query.abs() + bias.abs()) * norm(query);
        let sizes = slopes * self.features.reach + query_terms + 2.0 * reg * norm(&at.high);
        let mut length = balance::length(self.features, query, &left, bias, sizes);
        if let Some(drift) = &self.drift {
            let masses = self.slopes.iter().zip(&shifts.sample).map(|(s, t)| s.abs() + t.abs());
            length += drift.beyond(masses, look.at_query.abs() + shifts.query.abs() + bias.abs());
            // And the margins of multipliers beside the best ones.
            let (sample, at_query) = drift.blur(&at.high[free..]);
            sum +=
                sample * shifts.sample.iter().map(|t| t.abs()).sum::<f64>() + at_query * shifts.query.abs();
        }
        // Where a slope has rounded to beyond its domain, scaling all of them down costs this much at most.
        sum + length / (4.0 * reg) * length + 2.0 * f64::EPSILON * look.objective
    }

    /// The triangular factor of the Hessian at the current curvatures.
    fn careful_factor(&self, query: &[f64], reg: f64, query_curvature: f64) -> WeightedQr {
        let Self { features, curvatures, .. } = self;
        WeightedQr::of_hessian(&features.tall, curvatures, query, query_curvature, reg, features.free)
    }

    /// How far along the step the slope vanishes, or nearly so.
    fn careful_length(
        &self,
        query: &[f64],
        at: &TwofoldVector,
        reg: f64,
        look: &Look,
        step: &TwofoldVector,
    ) -> Option<f64> {
        let free = self.features.free;
        let along = step.project(&self.features.tall).high;
        let (w, p) = (&at.high[free..], &step.high[free..]);
        let (wp, pp, zp) = (dot_twofold(w, p).value(), dot(p, p), step.dot(query).value());
        let slope_at = |(margin, rest): (f64, f64), change: f64| {
            let (sum, left) = two_sum(margin, change);
            let (sum, rest) = two_sum(sum, rest + left);
            self.loss.near(sum, rest).0
        };
        let slope = |t: f64| {
            let mut sum = Twofold::default();
            for (i, c) in self.features.half_weights.iter().enumerate() {
                let margin = (look.margins.high[i], look.margins.low[i]);
                sum.add_product(c * slope_at(margin, t * along[i]), along[i]);
            }
            sum.add_product(-0.5 * slope_at((-look.value.0, -look.value.1), -t * zp), zp);
            sum.add_product(2.0 * reg, wp + t * pp);
            sum.value()
        };
        flat(dot_twofold(&look.gradient, &step.high).value(), look.objective, slope)
    }
}

/// A step at which the slope of a convex function, `start` at 0, has as good as vanished, however short it is; `None` if the
/// function does not fall. As in [`search`](crate::solver::line_search::search), a step that may have climbed by more than `room` is
/// not taken.
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
        if s.abs() <= 0.1 * start.abs() && !climbed {
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
