use super::{Dual, Loss};

/// The hinge loss $\ell(m) = \max(0, 1 - m)$ of the support vector machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hinge;

impl Loss for Hinge {
    fn value(&self, m: f64) -> f64 {
        (1.0 - m).max(0.0)
    }
    fn grad(&self, m: f64) -> f64 {
        if m < 1.0 { -1.0 } else { 0.0 }
    }
    fn lipschitz(&self) -> f64 {
        1.0
    }
}

impl Dual for Hinge {
    fn conjugate(&self, a: f64) -> f64 {
        if (0.0..=1.0).contains(&a) { -a } else { f64::INFINITY }
    }
}
