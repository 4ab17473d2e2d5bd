//! The certificate of a smooth loss a posteriori, and Newton steps on a double-double candidate until it meets the tolerance.
//!
//! Three things go wrong where features are large and the penalty is small, all because numbers are squared. The certificate
//! divides the square of the gradient by the penalty; the Hessian squares the range of the coordinates and of the curvatures;
//! margins of 1 are differences of much larger numbers. So here
//!
//! * parameters, margins and gradients have twice the digits, in the coordinates as given;
//! * steps are computed in the principal axes, if need be from the triangular factor of the weighted rows ([`WeightedQr`]), and
//!   improved by what they leave of the Newton equations;
//! * the multipliers are those expected after the step $q$, $a_i = -\ell'(m_i) - \ell''(m_i) \langle u_i, q \rangle$: that
//!   cancels the gradient but for $-2 \lambda q$, at a price of second order (C8).
//!
//! The certificate holds for any multipliers in the domain of the conjugate.

mod newton_step;

use super::gap::{Certificate, PROGRESS, ROUNDED_UP};
use super::given::{DualMasses, Given, Margins, Residual, constraint_part};
use crate::loss::{Dual, Smooth};
use crate::numerics::double_double::{Twofold, TwofoldVector};
use crate::numerics::linalg::{axpy, norm};
use crate::problem::{Outcome, Stop, Task, Variant};

/// How often neither the error nor the objective may improve, beside once for each coordinate: where curvature jumps, rows
/// change sides one by one (heuristic).
const STALLS: usize = 10;
/// The relative decrease of the objective that counts: well above the last place of a double (heuristic).
const DECREASE: f64 = 1e-14;
/// The least multiplier of a constraint, so that the Hessian has an inverse.
const LEAST_MULTIPLIER: f64 = f64::MIN_POSITIVE * 1e30;

/// A candidate with its certificate.
#[derive(Debug, Clone)]
pub(crate) struct Certified {
    /// The parameters in the axes.
    pub(crate) theta: Vec<f64>,
    /// The bare risk, and the penalty.
    pub(crate) risk: f64,
    pub(crate) penalty: f64,
    /// $f(z)$.
    pub(crate) value: f64,
    pub(crate) certificate: Certificate,
    pub(crate) iterations: usize,
    pub(crate) stop: Stop,
    /// The multipliers of the rows, where they do not follow from the candidate.
    pub(crate) multipliers: Option<Vec<f64>>,
}

impl Outcome {
    /// The better of two solutions: this one, or a candidate with its certificate.
    pub(crate) fn better(&self, found: &Certified, task: &Task) -> Self {
        let Certificate { gap, error, .. } = found.certificate;
        // Not a number is no bound.
        if !(error < self.error || error <= task.tol && gap < self.gap) {
            return self.clone();
        }
        let Certified { theta, risk, penalty, value, iterations, multipliers, .. } = found.clone();
        // Keep the iteration limit as the reason unless the refined candidate converged.
        let limit = found.stop != Stop::Converged && self.stop == Stop::IterationLimit;
        let stop = if limit { Stop::IterationLimit } else { found.stop };
        let depth = task.variant.depth(risk, penalty);
        Self { depth, error, gap, stderr: self.stderr, iterations, stop, theta, value, multipliers }
    }
}

/// The losses of all rows at a candidate, the query's last.
struct Evaluation {
    margins: Margins,
    /// $\ell'(m_j)$, and $c_j \ell''(m_j)$.
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
    risk: f64,
    /// Bound on the rounding of the risk.
    rounding: f64,
    penalty: f64,
}

/// Certifies the candidate `theta` (in the axes), and improves it until the error is within the tolerance, no step
/// improves it, or the iterations run out.
pub(crate) fn certify_or_refine<L: Smooth + Dual>(
    loss: &L,
    given: &Given<'_>,
    task: &Task,
    theta: &[f64],
    used: usize,
    cancelled: &dyn Fn() -> bool,
) -> Certified {
    let problem = Problem { loss, given, task };
    problem.refine(TwofoldVector::new(given.vector_of_axes(theta)), used, cancelled)
}

struct Problem<'a, L> {
    loss: &'a L,
    given: &'a Given<'a>,
    task: &'a Task,
}

impl<L: Smooth + Dual> Problem<'_, L> {
    fn refine(&self, mut at: TwofoldVector, used: usize, cancelled: &dyn Fn() -> bool) -> Certified {
        let (mut iterations, mut lowest, mut stalls) = (used, f64::INFINITY, 0);
        let mut best: Option<Certified> = None;
        let mut exact_factor = false;
        let mut reg = self.task.reg;
        loop {
            if let Variant::Constrained { radius } = self.task.variant {
                self.given.scale_to_ball(&mut at, radius);
            }
            let evaluation = self.evaluate(&at);
            let objective = evaluation.risk + evaluation.penalty;
            if let Variant::Constrained { radius } = self.task.variant {
                reg = self.multiplier(&evaluation, &at, radius);
            }
            let plain = self.plain_certificate(&evaluation, &at);
            let mut certificate = plain;
            let mut step = None;
            if !self.meets(&certificate) {
                let (found, other, converged) = self.newton_step(&evaluation, &at, reg, exact_factor);
                exact_factor |= !converged;
                if other.error < certificate.error {
                    certificate = other;
                }
                step = Some(found);
            }
            let before = best.as_ref().map_or(f64::INFINITY, |b| b.certificate.error);
            let progress = certificate.error < PROGRESS * before || objective < lowest * (1.0 - DECREASE);
            stalls = if progress { 0 } else { stalls + 1 };
            lowest = lowest.min(objective);
            if certificate.error < before || best.is_none() {
                let theta = self.given.to_axes(&at.high);
                let Evaluation { risk, penalty, ref margins, .. } = evaluation;
                let value = -margins.high[margins.high.len() - 1];
                let (stop, multipliers) = (Stop::Stalled, None);
                let found =
                    Certified { theta, risk, penalty, value, certificate, iterations, stop, multipliers };
                best = Some(found);
            }
            let met = self.meets(&certificate);
            let over = iterations >= self.task.max_iter;
            let length = match &step {
                Some(step) if !met && !over && stalls <= STALLS + at.high.len() && !cancelled() => {
                    self.step_length(&evaluation, &at, reg, step)
                }
                _ => None,
            };
            let (Some(length), Some(step)) = (length, step) else {
                let stop = Stop::of(met, over);
                // The factor of the rows may still give a useful step where that of the moments does not.
                if stop == Stop::Stalled && !exact_factor && !cancelled() {
                    exact_factor = true;
                    stalls = 0;
                    continue;
                }
                return match best {
                    Some(best) => Certified { iterations, stop, ..best },
                    None => unreachable!("the first candidate is kept"),
                };
            };
            at.add(length, &step.high);
            at.add(length, &step.low);
            iterations += 1;
        }
    }

    fn meets(&self, certificate: &Certificate) -> bool {
        certificate.error <= self.task.tol && certificate.gap <= self.task.gap_tol
    }

    /// The multiplier of the constraint that the gradient of the risk suggests, $\|v\| / 2 W$.
    fn multiplier(&self, evaluation: &Evaluation, at: &TwofoldVector, radius: f64) -> f64 {
        let masses = self.masses(evaluation, None);
        let residual = self.given.residual(&masses, at, 0.0);
        (norm(&residual.value[self.given.free()..]) / (2.0 * radius)).max(LEAST_MULTIPLIER)
    }

    fn evaluate(&self, at: &TwofoldVector) -> Evaluation {
        let (loss, given) = (self.loss, self.given);
        let margins = given.margins(at);
        let rows = margins.high.len();
        let (mut slopes, mut curvatures) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let (mut risk, mut rounding) = (Twofold::default(), 0.0);
        for j in 0..rows {
            let (mass, margin, rest) = (given.mass(j), margins.high[j], margins.low[j]);
            let (slope, curvature) = loss.derivatives_near(margin, rest);
            slopes.push(slope);
            curvatures.push(mass.0 * curvature);
            risk.add_scaled(mass, loss.value(margin));
            risk.add(mass.0 * slope * rest);
            // (C16): the loss is evaluated within 4 units in the last place of the margin.
            let off = margins.error[j] + 4.0 * f64::EPSILON * margin.abs();
            let wide = off + rest.abs();
            let bound = loss.curvature_bound(margin - wide, margin + wide);
            let second = if wide == 0.0 { 0.0 } else { 0.5 * bound * wide * wide };
            rounding += mass.0 * (slope.abs() * off + second);
        }
        let risk = risk.value();
        let rounding = ROUNDED_UP * rounding + 9.0 * f64::EPSILON * risk;
        let penalty = match self.task.variant {
            Variant::Constrained { .. } => 0.0,
            _ => self.task.reg * given.square(at).value(),
        };
        Evaluation { margins, slopes, curvatures, risk, rounding, penalty }
    }

    /// $\alpha_j = c_j (a_j + \sigma_j)$ for the slopes $-a_j$ and shifts of the multipliers.
    fn masses(&self, evaluation: &Evaluation, shifts: Option<&[f64]>) -> DualMasses {
        let shift = |j: usize| shifts.map_or(0.0, |shifts| shifts[j]);
        self.given.dual_masses(evaluation.slopes.iter().enumerate().map(|(j, slope)| (-slope, shift(j))))
    }

    /// The certificate with the slopes as multipliers: (C6), (C7), (C14).
    fn plain_certificate(&self, evaluation: &Evaluation, at: &TwofoldVector) -> Certificate {
        let shifts = vec![0.0; evaluation.slopes.len()];
        let masses = self.masses(evaluation, None);
        let residual = self.given.residual(&masses, at, self.penalty());
        self.certificate(evaluation, at, &shifts, &masses, &residual)
    }

    /// $2 \lambda$ of the residual; under a constraint the residual is $v$ itself.
    fn penalty(&self) -> f64 {
        match self.task.variant {
            Variant::Constrained { .. } => 0.0,
            _ => 2.0 * self.task.reg,
        }
    }

    /// A bound on $e(m_j, a_j)$ of (C3) per unit of mass, for $a_j = -\ell'(m_j) + \sigma_j$; infinite beyond the domain.
    fn fenchel_young(&self, evaluation: &Evaluation, j: usize, shift: f64, slack: f64) -> f64 {
        let Evaluation { margins, slopes, .. } = evaluation;
        let (margin, slope) = (margins.high[j], slopes[j]);
        if !shift.is_finite() || shift - slope < 0.0 {
            return f64::INFINITY;
        }
        let off = margins.low[j].abs() + margins.error[j];
        let wide = off + 4.0 * f64::EPSILON * margin.abs();
        let bound = self.loss.curvature_bound(margin - wide, margin + wide);
        let times = |x: f64| if x == 0.0 { 0.0 } else { bound * x };
        let slack = slack + 8.0 * f64::EPSILON * slope.abs() + times(wide) + 2.0 * f64::EPSILON * shift.abs();
        self.loss.excess(margin, shift, slack) + (shift.abs() + slack) * off + 0.5 * times(off) * off
    }

    /// The certificate that slopes with these shifts prove; `masses` and `residual` are those of the shifted multipliers, before
    /// the query's is moved to balance the others.
    fn certificate(
        &self,
        evaluation: &Evaluation,
        at: &TwofoldVector,
        shifts: &[f64],
        masses: &DualMasses,
        residual: &Residual,
    ) -> Certificate {
        let (given, n) = (self.given, shifts.len() - 1);
        let mut sum: f64 =
            (0..n).map(|j| given.mass(j).0 * self.fenchel_young(evaluation, j, shifts[j], 0.0)).sum();
        let (mut length, mut v) = (residual.error, residual.value[given.free()..].to_vec());
        let (mut shift, mut slack) = (shifts[n], 0.0);
        if given.free() == 1 {
            // The query's multiplier makes up for what the others leave: (C7).
            let bias = residual.value[0];
            shift += 2.0 * bias;
            slack = 2.0 * (residual.error + 2.0 * f64::EPSILON * bias.abs());
            axpy(-bias, &given.query_row()[1..], &mut v);
            length += (2.0 * f64::EPSILON * bias.abs() + residual.error) * given.query_norm();
        }
        sum += 0.5 * self.fenchel_young(evaluation, n, shift, slack);
        let total: f64 = masses.high.iter().map(|m| m.abs()).sum();
        let (mut gap, norm_w) = (ROUNDED_UP * sum, norm(&at.high[given.free()..]));
        length += 4.0 * f64::EPSILON * norm(&v);
        gap += if let Variant::Constrained { radius } = self.task.variant {
            constraint_part(given, at, &v, length, radius)
        } else {
            let length = norm(&v) + length;
            length / (4.0 * self.task.reg) * length
        };
        // Masses are known up to four units of twice the digits: where one is beyond its domain by that, scaling all of
        // them down costs this much at most.
        gap += f64::EPSILON * f64::EPSILON * (total + evaluation.risk + evaluation.penalty + 1.0);
        let rounding = match self.task.variant {
            Variant::Constrained { .. } => evaluation.rounding,
            _ => evaluation.rounding + 4.0 * f64::EPSILON * evaluation.penalty,
        };
        Certificate::new(self.task.variant, gap, self.task.reg, norm_w, rounding)
            .capped(evaluation.risk + evaluation.penalty)
    }
}
