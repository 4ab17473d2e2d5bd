//! The penalty at which the minimiser just reaches the radius of a constraint.
//!
//! $1 / \|w(\lambda)\|$ of (L16) grows with $\lambda$ and is nearly straight, so secants on it converge fast;
//! a bracket safeguards them.

use crate::problem::ErrorBudget;

/// The most by which a penalty grows in one step beyond the largest known to be too small, and by which it grows or falls
/// where secants say nothing; and how far above the floor penalties fall by that rather than to the floor (heuristics).
const LONGEST_STEP: f64 = 100.0;
const DECADE: f64 = 10.0;
const ABOVE_FLOOR: f64 = 1e3;

/// The search for $\lambda$ with $\|w(\lambda)\| = W$.
#[derive(Debug, Clone)]
pub(crate) struct Radius {
    target: f64,
    /// Below this penalty the gap it leaves is within the tolerance.
    floor: f64,
    low: f64,
    high: f64,
    last: Option<(f64, f64)>,
    /// The bracket's ratio when it was last halved, and how many secants have been tried since.
    ratio: f64,
    secants: usize,
}

impl Radius {
    /// Starts from the penalty that a quadratic model at 0 with this gradient suggests.
    pub(crate) fn new(radius: f64, tol: f64, gradient_norm: f64) -> (Self, f64) {
        // Inside the ball the penalty leaves a gap of at most λW²/2.
        let floor = ErrorBudget::new(tol).inactive_constraint() / radius / radius;
        let start = (gradient_norm / (2.0 * radius)).max(floor);
        (
            Self {
                target: radius,
                floor,
                low: floor,
                high: f64::INFINITY,
                last: None,
                ratio: f64::INFINITY,
                secants: 0,
            },
            start,
        )
    }

    /// Whether the minimiser is inside the ball and the penalty too small to matter.
    pub(crate) fn inactive(&self, reg: f64, norm: f64) -> bool {
        norm <= self.target && reg <= self.floor
    }

    /// The next penalty to try after `reg` gave a minimiser of this norm.
    pub(crate) fn next(&mut self, reg: f64, norm: f64) -> f64 {
        let excess = 1.0 / norm - 1.0 / self.target;
        if norm > self.target {
            self.low = self.low.max(reg);
        } else {
            self.high = self.high.min(reg);
        }
        let guess = match self.last {
            Some((other, there)) if other != reg => reg - excess * (reg - other) / (excess - there),
            _ => reg * norm / self.target,
        };
        self.last = Some((reg, excess));
        let next = if self.high.is_infinite() {
            if guess > self.low && guess.is_finite() {
                guess.min(LONGEST_STEP * self.low)
            } else {
                DECADE * self.low
            }
        } else if guess > self.low && guess < self.high && self.shrinks() {
            guess
        } else if self.low == self.floor {
            // Nothing known below: go down by decades rather than by halves, and at last to the floor.
            if self.high > ABOVE_FLOOR * self.floor { 0.1 * self.high } else { self.floor }
        } else {
            // One root at a time: the product may leave the range of the numbers.
            self.low.sqrt() * self.high.sqrt()
        };
        next.max(self.floor)
    }

    /// Whether secants still converge: three in a row must halve the bracket on a logarithmic scale.
    fn shrinks(&mut self) -> bool {
        let ratio = (self.high / self.low).ln();
        self.secants += 1;
        if ratio <= 0.5 * self.ratio {
            (self.ratio, self.secants) = (ratio, 0);
        }
        if self.secants > 3 {
            self.secants = 0;
            return false;
        }
        true
    }
}

/// Scales $w$, which has this length, to the sphere, from the inside.
pub(crate) fn scale_to_sphere(w: &mut [f64], length: f64, radius: f64) {
    let scale = radius / length * (1.0 - f64::EPSILON);
    for x in w {
        *x *= scale;
    }
}

#[cfg(test)]
mod tests {
    use super::Radius;

    #[test]
    fn finds_the_penalty() {
        for (scale, stiffness, radius) in [(1.0, 0.1, 0.3), (50.0, 1e-3, 1e-2), (1.0, 1e-6, 1e5)] {
            let norm = |reg: f64| scale / (stiffness + reg) + 0.1 * scale / (1.0 + reg);
            let (mut search, mut reg) = Radius::new(radius, 1e-6, scale);
            for _ in 0..60 {
                if (norm(reg) / radius - 1.0).abs() < 1e-9 {
                    break;
                }
                reg = search.next(reg, norm(reg));
            }
            assert!((norm(reg) / radius - 1.0).abs() < 1e-9, "{scale} {radius}: {reg} {}", norm(reg));
        }
        // Never reaches the radius: ends at the floor.
        let (mut search, mut reg) = Radius::new(10.0, 1e-6, 1.0);
        for _ in 0..60 {
            if search.inactive(reg, 1.0 / (1.0 + reg)) {
                return;
            }
            reg = search.next(reg, 1.0 / (1.0 + reg));
        }
        panic!("stopped at {reg:e}");
    }
}
