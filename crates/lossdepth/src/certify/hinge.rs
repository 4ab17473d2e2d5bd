//! The certificate of the hinge a posteriori, and steps of an active-set method until it meets the tolerance.
//!
//! Rows with margins away from 1 have the multipliers 0 and 1. Those on the kink are free: their multipliers take up what is
//! left of $v(a) = 2 \lambda w$, and $w$ moves so that their margins become 1. Both follow from one weighted least-squares
//! problem, the step of the method of multipliers: with $H = \sum_j h_j u_j u_j^\top + 2 \lambda I$ and the residual $r = v(a) - 2
//! \lambda w$,
//!
//! $$ H x = r + \sum_j h_j (1 - m_j) u_j, \qquad \Delta w = x, \qquad
//!    \Delta \alpha_j = h_j (1 - m_j - \langle u_j, x \rangle). $$
//!
//! The terms of (C5) are exact, so that the certificate holds for any multipliers in $[0, 1]$.

use super::gap::{Certificate, PROGRESS, ROUNDED_UP, at_least_zero};
use super::given::{DualMasses, Given, Margins};
use super::smooth::Certified;
use crate::numerics::double_double::{Twofold, TwofoldVector};
use crate::numerics::linalg::{WeightedQr, axpy, norm};
use crate::problem::{Stop, Task, Variant};

/// Margins this close to 1 are on the kink; with a multiplier inside of its range, margins that are less close (heuristic).
const KINK: f64 = 1e-4;
const NEAR_KINK: f64 = 0.05;
const INSIDE: std::ops::Range<f64> = 0.05..0.95;
/// Weights $h_j$, as multiples of the mass of a row (heuristic).
const STIFFNESS: f64 = 1e4;
/// The least share of that for a row whose multiplier is at the wrong end (heuristic).
const LEAST: f64 = 1e-3;
/// Steps without progress, and steps in all (heuristic).
const STALLS: usize = 8;
const STEPS: usize = 60;
/// Corrections of a step by the residual of its equations, as long as each leaves less than this share of it (heuristic).
const CORRECTIONS: usize = 4;
const CONTRACTION: f64 = 0.1;
/// Steps that leave the multipliers of rows away from the kink as the solver found them (heuristic).
const FIRST_STEPS: usize = 4;

/// Certifies the candidate `theta` (in the axes) with the multipliers `dual` of all rows, and improves both until the error is
/// within the tolerance or no step improves it.
pub(crate) fn certify_or_refine(
    given: &Given<'_>,
    task: &Task,
    (theta, dual): (&[f64], &[f64]),
    used: usize,
    cancelled: &dyn Fn() -> bool,
) -> Certified {
    let problem = Problem { given, task };
    let mut at = TwofoldVector::new(given.vector_of_axes(theta));
    if let Variant::Constrained { radius } = task.variant {
        given.scale_to_ball(&mut at, radius);
    }
    let mut margins = given.margins(&at);
    let mut masses = given.dual_masses(dual.iter().map(|a| (a.clamp(0.0, 1.0), 0.0)));
    let mut best = problem.certified(&at, &margins, masses.clone(), used);
    let mut stalls = 0;
    // A constraint is certified as it is: its multiplier is not known.
    let refinable = !matches!(task.variant, Variant::Constrained { .. });
    for step in 0..STEPS {
        if best.certificate.error <= task.tol || !refinable || stalls > STALLS || cancelled() {
            break;
        }
        if step >= FIRST_STEPS {
            problem.to_ends(&margins, &mut masses);
        }
        problem.step(&mut at, &margins, &mut masses);
        margins = given.margins(&at);
        let found = problem.certified(&at, &margins, masses.clone(), used + step + 1);
        stalls = if found.certificate.error < PROGRESS * best.certificate.error { 0 } else { stalls + 1 };
        if found.certificate.error < best.certificate.error {
            best = found;
        }
    }
    if best.certificate.error <= task.tol {
        best.stop = Stop::Converged;
    }
    best
}

/// Whether a row is taken to be on the kink.
fn on_kink(margin: f64, dual: f64) -> bool {
    let off = (margin - 1.0).abs();
    off <= KINK || off <= NEAR_KINK && INSIDE.contains(&dual)
}

struct Problem<'a> {
    given: &'a Given<'a>,
    task: &'a Task,
}

impl Problem<'_> {
    /// Gives rows away from the kink the multiplier that belongs to their margin.
    fn to_ends(&self, margins: &Margins, masses: &mut DualMasses) {
        for (j, m) in margins.high.iter().enumerate() {
            let mass = self.given.mass(j);
            if !on_kink(*m, masses.high[j] / mass.0) {
                (masses.high[j], masses.low[j]) = if *m > 1.0 { (0.0, 0.0) } else { mass };
            }
        }
    }

    /// One step of the method of multipliers.
    fn step(&self, at: &mut TwofoldVector, margins: &Margins, masses: &mut DualMasses) {
        let (given, reg) = (self.given, self.task.reg);
        let n = margins.high.len() - 1;
        let missing = |j: usize| (1.0 - margins.high[j]) - margins.low[j];
        let weight = |j: usize| {
            let c = given.mass(j).0;
            let a = (masses.high[j] / c).clamp(0.0, 1.0);
            if !on_kink(margins.high[j], a) {
                return 0.0;
            }
            let wrong_end = a <= 0.0 && missing(j) > 0.0 || a >= 1.0 && missing(j) < 0.0;
            let inside = if wrong_end { LEAST } else { a * (1.0 - a) };
            STIFFNESS * c * inside
        };
        let weights: Vec<f64> = (0..=n).map(weight).collect();
        let features = given.features;
        let factor = WeightedQr::of_hessian(
            &features.tall,
            &weights[..n],
            given.coordinates,
            weights[n],
            reg,
            features.free,
        );
        // Masses as if the margins stayed as they are: the right-hand side is their residual.
        let mut shifted = masses.clone();
        (0..=n).for_each(|j| shifted.add_to(j, weights[j] * missing(j)));
        let mut left = given.residual(&shifted, at, 2.0 * reg).value;
        let mut x = TwofoldVector::new(vec![0.0; given.width()]);
        let (mut to, mut after) = (at.clone(), shifted.clone());
        let mut last = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            let mut axes = given.to_axes(&left);
            factor.solve(&mut axes);
            let mut correction = given.vector_of_axes(&axes);
            if let Some(beyond) = given.beyond_axes(&left) {
                axpy(1.0 / (2.0 * reg), &beyond, &mut correction);
            }
            if correction.iter().any(|x| !x.is_finite()) {
                return;
            }
            x.add(1.0, &correction);
            let moved = given.margins(&x).high;
            after.clone_from(&shifted);
            (0..=n).for_each(|j| after.add_to(j, -weights[j] * moved[j]));
            to.clone_from(at);
            to.add(1.0, &x.high);
            to.add(1.0, &x.low);
            left = given.residual(&after, &to, 2.0 * reg).value;
            let now = norm(&left);
            if now.is_nan() || now > CONTRACTION * last || now == 0.0 {
                break;
            }
            last = now;
        }
        (*at, *masses) = (to, self.clamped(after));
    }

    /// Masses within $[0, c_j]$.
    fn clamped(&self, mut masses: DualMasses) -> DualMasses {
        for j in 0..masses.high.len() {
            let c = self.given.mass(j);
            if masses.high[j] < 0.0 || masses.high[j] == 0.0 && masses.low[j] < 0.0 {
                (masses.high[j], masses.low[j]) = (0.0, 0.0);
            } else if masses.high[j] > c.0 || masses.high[j] == c.0 && masses.low[j] > c.1 {
                (masses.high[j], masses.low[j]) = c;
            }
        }
        masses
    }

    /// The candidate with the certificate that these masses give once they are balanced: (C4), (C5), (C14).
    fn certified(
        &self,
        at: &TwofoldVector,
        margins: &Margins,
        mut masses: DualMasses,
        iterations: usize,
    ) -> Certified {
        let (given, task) = (self.given, self.task);
        let (n, free) = (margins.high.len() - 1, given.free());
        let mut slack = 0.0;
        if free == 1 {
            slack = given.balance(&mut masses);
            // More mass on the sample than the query may have: all of the sample's are scaled down.
            if masses.high[n] > 0.5 {
                let scale = 0.5 / masses.high[n] * (1.0 - f64::EPSILON);
                masses.scale(0..n, scale);
                slack = given.balance(&mut masses);
            }
        }
        let (mut fenchel, mut risk, mut rounding) = (0.0, Twofold::default(), 0.0);
        for j in 0..=n {
            let (c, c_low) = given.mass(j);
            let (below, off) = ((1.0 - margins.high[j]) - margins.low[j], margins.error[j]);
            let off = off + 2.0 * f64::EPSILON * f64::EPSILON * (1.0 + margins.high[j].abs());
            let mass = masses.high[j] + masses.low[j];
            let room = (c - masses.high[j]) + (c_low - masses.low[j]);
            let slack = if j == n { slack } else { 0.0 };
            // Differences of pairs are exact to four units of twice the digits.
            let units = 8.0 * f64::EPSILON * f64::EPSILON * c + slack;
            fenchel += (at_least_zero(room) + units) * at_least_zero(below + off)
                + (at_least_zero(mass) + units) * at_least_zero(off - below);
            if below > 0.0 {
                risk.add_scaled((c, c_low), below);
            }
            rounding += c * off;
        }
        let (risk, norm_w) = (risk.value(), norm(&at.high[free..]));
        let square = given.square(at).value();
        let (mut residual, length) = match task.variant {
            Variant::Constrained { .. } => (given.residual(&masses, at, 0.0), 0.0),
            _ => (given.residual(&masses, at, 2.0 * task.reg), slack * given.query_norm()),
        };
        let v = residual.value.split_off(free);
        let part = if let Variant::Constrained { radius } = task.variant {
            let error = residual.error + slack * given.query_norm();
            super::given::constraint_part(given, at, &v, error, radius)
        } else {
            let length = norm(&v) + residual.error + length + 4.0 * f64::EPSILON * norm(&v);
            length / (4.0 * task.reg) * length
        };
        let penalty = match task.variant {
            Variant::Constrained { .. } => 0.0,
            _ => task.reg * square,
        };
        // Masses beyond their domain by rounding: scaling all of them down costs this much at most.
        let gap = ROUNDED_UP * fenchel + part + 16.0 * f64::EPSILON * f64::EPSILON * (1.0 + risk + penalty);
        let rounding = rounding + 3.0 * f64::EPSILON * (risk + penalty);
        let certificate =
            Certificate::new(task.variant, gap, task.reg, norm_w, rounding).capped(risk + penalty);
        let value = -margins.high[n];
        let theta = given.to_axes(&at.high);
        let dual = (0..=n).map(|j| (masses.high[j] / given.mass(j).0).clamp(0.0, 1.0));
        let (multipliers, stop) = (Some(dual.collect()), Stop::Stalled);
        Certified { theta, risk, penalty, value, certificate, iterations, stop, multipliers }
    }
}
