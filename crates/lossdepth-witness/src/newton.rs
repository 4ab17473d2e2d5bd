//! Newton's method for the losses without a kink: logistic and exponential ones.

use crate::formulation::Formulation;
use crate::linalg::Symmetric;
use crate::real::{Real, dot};

/// A point, the multiplier of the penalty it belongs to, and the factored Hessian there.
#[derive(Debug, Clone)]
pub(crate) struct Iterate<T> {
    pub(crate) theta: Vec<T>,
    pub(crate) reg: T,
    factor: Symmetric<T>,
    /// The sum of all slopes, a measure of the risk where that is small.
    slopes: T,
}

/// Minimises the risk plus `reg` times the squared norm, from a point.
pub(crate) fn penalised<T: Real>(
    f: &Formulation<T>,
    reg: T,
    mut theta: Vec<T>,
    most: usize,
) -> Option<Iterate<T>> {
    let twice = reg + reg;
    let (mut best, mut stalled) = (f64::INFINITY, 0);
    let mut last = None;
    for _ in 0..most {
        let margins = f.margins(&theta);
        let (mut slopes, mut hessian) = (Vec::with_capacity(f.terms()), Symmetric::zero(f.width));
        let mut total = T::zero();
        for (j, &m) in margins.iter().enumerate() {
            let (slope, curvature) = f.loss.derivatives(m);
            slopes.push(f.costs[j] * slope);
            total -= slopes[j];
            hessian.add_outer(f.costs[j] * curvature, f.feature(j));
        }
        let mut gradient = f.combine(&slopes);
        for k in 0..f.penalised {
            gradient[k] += twice * theta[k];
            hessian.add_diagonal(k, twice);
        }
        if !total.is_finite() || !gradient.iter().all(|g| g.is_finite()) {
            return None;
        }
        hessian.factor();
        let mut direction: Vec<T> = gradient.iter().map(|&g| -g).collect();
        hessian.solve(&mut direction);
        let decrement = -dot(&gradient, &direction).to_f64();
        let done = decrement.abs() <= T::TARGET;
        if decrement < 0.5 * best {
            (best, stalled) = (decrement, 0);
        } else {
            stalled += 1;
        }
        let step =
            if done { T::one() } else { line_search(f, twice, &theta, &direction, &margins, decrement) };
        for (t, &d) in theta.iter_mut().zip(&direction) {
            *t += step * d;
        }
        last = Some(Iterate { theta: theta.clone(), reg, factor: hessian, slopes: total });
        if done || stalled > T::STALLS {
            break;
        }
    }
    last
}

/// A step along a direction of descent: one, if that is about where the slope vanishes.
fn line_search<T: Real>(
    f: &Formulation<T>,
    twice: T,
    theta: &[T],
    direction: &[T],
    margins: &[T],
    decrement: f64,
) -> T {
    let change = f.margins(direction);
    let penalised = &direction[..f.penalised];
    let (linear, square) = (dot(&theta[..f.penalised], penalised), dot(penalised, penalised));
    let slope_at = |s: T| {
        let mut slope = twice * (linear + s * square);
        for j in 0..f.terms() {
            slope += f.costs[j] * f.loss.derivatives(margins[j] + s * change[j]).0 * change[j];
        }
        slope.to_f64()
    };
    let (mut low, mut high, mut step) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..80 {
        let slope = slope_at(T::from_f64(step));
        if slope.is_finite() && slope <= 0.1 * decrement && slope >= -0.9 * decrement {
            return T::from_f64(step);
        }
        if slope.is_finite() && slope < 0.0 {
            low = step;
        } else {
            high = step;
        }
        step = match (low > 0.0, high.is_finite()) {
            (_, false) => 4.0 * step,
            (false, true) => 0.2 * step,
            (true, true) => 0.5 * (low + high),
        };
    }
    T::from_f64(if low > 0.0 { low } else { step })
}

/// Minimises the risk where the norm is at most `radius`: the root in `reg` of $1/\|w(\text{reg})\| = 1/\text{radius}$.
pub(crate) fn constrained<T: Real>(f: &Formulation<T>, radius: T, negligible: f64) -> Option<Iterate<T>> {
    let origin = vec![T::zero(); f.width];
    let slopes: Vec<T> = f.costs.iter().map(|&c| c * f.loss.derivatives(T::zero()).0).collect();
    let gradient = f.combine(&slopes);
    // ‖w(reg)‖ <= ‖∇R(0)‖ / (2 reg), so that the root is below this.
    let mut high = f.squared_norm(&gradient).sqrt() / (radius + radius);
    if high <= T::zero() {
        high = T::from_f64(1e-40);
    }
    let (mut low, mut reg) = (T::zero(), high);
    let mut at = penalised(f, reg, origin, 150)?;
    for _ in 0..200 {
        let squared = f.squared_norm(&at.theta);
        let norm = squared.sqrt();
        let off = norm / radius - T::one();
        // The gap of an interior point is at most 4 reg radius².
        let interior = norm <= radius && (reg * radius * radius).to_f64() < negligible;
        if off.abs().to_f64() < 10.0 * T::EPSILON || interior || at.slopes.to_f64() < negligible {
            return Some(at);
        }
        if norm < radius {
            high = reg;
        } else {
            low = reg;
        }
        if low > T::zero() && ((high - low) / high).to_f64() < 10.0 * T::EPSILON {
            return Some(at);
        }
        let mut image = at.theta.clone();
        image[f.penalised..].fill(T::zero());
        at.factor.solve(&mut image);
        let quotient = dot(&at.theta[..f.penalised], &image[..f.penalised]);
        let newton = reg + off * squared / (quotient + quotient);
        let least = if low > T::zero() { low } else { high * T::from_f64(1e-3) };
        reg = if newton > least && newton < high {
            newton
        } else if low > T::zero() {
            (low * high).sqrt()
        } else {
            least
        };
        at = penalised(f, reg, at.theta, 150)?;
    }
    Some(at)
}

/// Newton's method on the optimality conditions with $\|w\| = \text{radius}$, from a point close by.
pub(crate) fn polish_constrained<T: Real>(
    f: &Formulation<T>,
    radius: T,
    at: Iterate<T>,
) -> Option<Iterate<T>> {
    let mut at = at;
    for _ in 0..2 {
        // A step at fixed `reg` first: it also gives the Hessian here.
        let mut next = penalised(f, at.reg, at.theta, 1)?;
        let mut image = next.theta.clone();
        image[f.penalised..].fill(T::zero());
        next.factor.solve(&mut image);
        let squared = f.squared_norm(&next.theta);
        let quotient = dot(&next.theta[..f.penalised], &image[..f.penalised]);
        let two = T::from_f64(2.0);
        // ‖w - 2 shift H⁻¹ w‖² = radius² to first order.
        let shift = (squared - radius * radius) / (T::from_f64(4.0) * quotient);
        for (t, &i) in next.theta.iter_mut().zip(&image) {
            *t -= two * shift * i;
        }
        next.reg += shift;
        at = next;
    }
    Some(at)
}
