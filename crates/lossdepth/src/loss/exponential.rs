use super::{Dual, Loss, Smooth};
use crate::numerics::elementary;

/// The exponential loss $\ell(m) = e^{-m}$ of boosting.
///
/// Beyond $m = -709$ the value itself cannot be represented: it is infinite there, never NaN.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exponential;

impl Loss for Exponential {
    fn value(&self, m: f64) -> f64 {
        (-m).exp()
    }
    fn grad(&self, m: f64) -> f64 {
        -(-m).exp()
    }
    fn lipschitz(&self) -> f64 {
        f64::INFINITY
    }
}

impl Smooth for Exponential {
    fn hess(&self, m: f64) -> f64 {
        (-m).exp()
    }
    fn curvature_bound(&self, low: f64, _: f64) -> f64 {
        (1.0 + 4.0 * f64::EPSILON) * (-low).exp()
    }
}

impl Dual for Exponential {
    fn conjugate(&self, a: f64) -> f64 {
        if a > 0.0 {
            a * (a.ln() - 1.0)
        } else if a == 0.0 {
            0.0
        } else {
            f64::INFINITY
        }
    }
    fn excess(&self, m: f64, shift: f64, slack: f64) -> f64 {
        elementary::entropy((-m).exp(), -m, shift.abs() + slack)
    }
}
