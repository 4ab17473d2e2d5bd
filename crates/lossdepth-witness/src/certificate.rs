//! A proof of the exact depth by duality, from any classifier and any multipliers.
//!
//! With $m_j = \langle g_j, \theta \rangle$, $P$ the penalised risk and $v = \sum_j c_j a_j g_j$,
//!
//! $$ P - D = \sum_j c_j [\ell(m_j) + \ell^*(-a_j) + a_j m_j] + \text{reg} \|w - v / (2 \text{reg})\|^2, $$
//!
//! where $v$ vanishes at a free intercept. So the minimum is in $[P - \text{gap}, P]$, and the risk at the minimiser differs
//! from the risk here by at most $2 \text{gap} + 2 \|w\| \sqrt{\text{reg} \cdot \text{gap}}$. Under a constraint the last term
//! is $\text{radius} \cdot \|v\| - \langle w, v \rangle$.
//!
//! The rounding of [`Wide`] is part of the bound: every sum is allowed [`ROUNDING`] of the sum of its absolute terms.

use crate::formulation::{Formulation, Variant};
use crate::real::Real;
use crate::wide::Wide;

/// A bound on the relative rounding error of any sum, product or loss here: $2^{-254}$ times the number of operations and the
/// condition of an exponential are well below it.
const ROUNDING: f64 = 1e-66;

/// A value, and how far from it the exact one may be.
#[derive(Debug, Clone)]
pub(crate) struct Proven {
    pub(crate) value: Wide,
    pub(crate) bound: Wide,
    pub(crate) gap: Wide,
    /// The classifier that attains the value.
    pub(crate) theta: Vec<Wide>,
}

/// Multipliers within the domain of the conjugate and, with a free intercept, in balance.
fn feasible(f: &Formulation<Wide>, mut a: Vec<Wide>) -> Vec<Wide> {
    let most = f.loss.largest_multiplier();
    for a in &mut a {
        *a = a.max(Wide::zero());
        if let Some(most) = most {
            *a = a.min(most);
        }
    }
    if f.penalised == f.width {
        return a;
    }
    // The side with the larger sum is scaled down: the domain is an interval that begins at zero.
    let query = a.len() - 1;
    let (mut sample, single) = (Wide::zero(), f.costs[query] * a[query]);
    for j in 0..query {
        sample += f.costs[j] * a[j];
    }
    if sample > single {
        let share = single / sample;
        for a in &mut a[..query] {
            *a = *a * share;
        }
    } else if single > Wide::zero() {
        a[query] = a[query] * (sample / single);
    }
    a
}

/// $-\ell'$ at the margins of a point: multipliers for a loss without a kink.
pub(crate) fn multipliers_at(f: &Formulation<Wide>, theta: &[Wide]) -> Vec<Wide> {
    f.margins(theta).into_iter().map(|m| -f.loss.derivatives(m).0).collect()
}

/// Proves the depth, as well as the point and the multipliers allow.
pub(crate) fn prove(
    f: &Formulation<Wide>,
    variant: Variant,
    reg: f64,
    theta: &[Wide],
    multipliers: Vec<Wide>,
) -> Option<Proven> {
    let rounding = Wide::from_f64(ROUNDING);
    let zero = Wide::zero();
    let mut theta = theta.to_vec();
    if let Variant::Constrained { radius } = variant {
        let (norm, radius) = (f.squared_norm(&theta).sqrt(), Wide::from_f64(radius));
        let inside = radius * (Wide::one() - rounding);
        if norm > inside {
            let share = inside / norm;
            for w in &mut theta[..f.penalised] {
                *w = *w * share;
            }
        }
    }
    let a = feasible(f, multipliers);
    let (mut risk, mut fenchel, mut inexact) = (zero, zero, rounding);
    let (mut v, mut v_size) = (vec![zero; f.width], vec![zero; f.width]);
    for j in 0..f.terms() {
        let (c, g) = (f.costs[j], f.feature(j));
        let (mut m, mut size) = (zero, zero);
        for (&x, &t) in g.iter().zip(&theta) {
            let term = x * t;
            m += term;
            size += term.abs();
        }
        let shift = rounding * size;
        if shift.to_f64() > 1e-3 {
            return None;
        }
        let (value, conjugate) = (f.loss.value(m), f.loss.conjugate(a[j]));
        // A loss at a margin that is off by less than 1e-3 is off by less than twice its slope times that.
        let steep = f.loss.derivatives(m - shift).0.abs();
        let size = value + conjugate.abs() + (a[j] + steep) * (m.abs() + Wide::one());
        let allowed = rounding * size + (steep + steep + a[j]) * shift;
        risk += c * value;
        inexact += c * allowed;
        fenchel += c * ((value + conjugate + a[j] * m).max(zero) + allowed);
        for ((v, v_size), &x) in v.iter_mut().zip(&mut v_size).zip(g) {
            let term = c * a[j] * x;
            *v += term;
            *v_size += term.abs();
        }
    }
    let norm = f.squared_norm(&theta).sqrt();
    let penalised = 0..f.penalised;
    Some(match variant {
        Variant::Constrained { radius } => {
            let radius = Wide::from_f64(radius);
            let (mut along, mut slack) = (zero, zero);
            for k in penalised {
                along += theta[k] * v[k];
                slack += (theta[k].abs() + radius) * v_size[k];
            }
            let gap = fenchel + (radius * f.squared_norm(&v).sqrt() - along).max(zero) + rounding * slack;
            Proven { value: risk, bound: gap.min(risk) + inexact, gap, theta }
        }
        Variant::Risk | Variant::Objective => {
            let reg = Wide::from_f64(reg);
            let inverse = Wide::one() / (reg + reg);
            let mut distance = zero;
            for k in penalised {
                let off =
                    (theta[k] - v[k] * inverse).abs() + rounding * (theta[k].abs() + v_size[k] * inverse);
                distance += off * off;
            }
            let gap = fenchel + reg * distance;
            let objective = risk + reg * norm * norm;
            let inexact = inexact + rounding * objective;
            if variant == Variant::Objective {
                Proven { value: objective, bound: gap.min(objective) + inexact, gap, theta }
            } else {
                let two = Wide::from_f64(2.0);
                let bound = two * gap + two * norm * (reg * gap).sqrt();
                // Both risks are between 0 and the objective here.
                Proven { value: risk, bound: bound.min(objective) + inexact, gap, theta }
            }
        }
    })
}
