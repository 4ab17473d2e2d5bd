//! The losses, as their formulas say.

use crate::real::Real;
use crate::wide::Wide;

/// A margin loss with $\ell(0) = 1$.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// $\log_2(1 + e^{-m})$.
    Logistic,
    /// $\max(0, 1 - m)$.
    Hinge,
    /// $\max(0, 1 - m)^2$.
    SquaredHinge,
    /// $e^{-m}$.
    Exponential,
    /// $e^{-3m}$, a loss that a user may define: $\ell'' > |\ell'|$.
    CubedExponential,
    /// $0$ beyond 1, $(1 - m)^2$ between 0 and 1, $1 - 2m$ below 0: a loss that a user may define.
    SmoothedHinge,
}

/// A loss $\max_{0 \le a \le u} a (1 - m) - \frac q2 a^2$, whose conjugate is $\ell^*(-a) = \frac q2 a^2 - a$.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PiecewiseQuadratic {
    /// The largest multiplier $u$, if there is one.
    pub(crate) upper: Option<f64>,
    /// The curvature $q$ of the conjugate.
    pub(crate) curvature: f64,
}

impl Loss {
    pub(crate) const ALL: [Self; 6] = [
        Self::Logistic,
        Self::Hinge,
        Self::SquaredHinge,
        Self::Exponential,
        Self::CubedExponential,
        Self::SmoothedHinge,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Hinge => "hinge",
            Self::SquaredHinge => "squared-hinge",
            Self::Exponential => "exponential",
            Self::CubedExponential => "cubed-exponential",
            Self::SmoothedHinge => "smoothed-hinge",
        }
    }

    /// The form that a quadratic program has, where the loss has one.
    pub(crate) fn piecewise_quadratic(self) -> Option<PiecewiseQuadratic> {
        match self {
            Self::Hinge => Some(PiecewiseQuadratic { upper: Some(1.0), curvature: 0.0 }),
            Self::SquaredHinge => Some(PiecewiseQuadratic { upper: None, curvature: 0.5 }),
            Self::SmoothedHinge => Some(PiecewiseQuadratic { upper: Some(2.0), curvature: 0.5 }),
            Self::Logistic | Self::Exponential | Self::CubedExponential => None,
        }
    }

    /// $\ell'(m)$ (a subgradient at a kink) and $\ell''(m)$.
    pub(crate) fn derivatives<T: Real>(self, m: T) -> (T, T) {
        let (zero, one, two) = (T::zero(), T::one(), T::from_f64(2.0));
        match self {
            Self::Logistic => {
                let e = (-m.abs()).exp();
                let total = one + e;
                let (share, rest) =
                    if m < zero { (one / total, e / total) } else { (e / total, one / total) };
                (-(share * T::log2_e()), share * rest * T::log2_e())
            }
            Self::Exponential => {
                let e = (-m).exp();
                (-e, e)
            }
            Self::CubedExponential => {
                let three = T::from_f64(3.0);
                let e = (-(three * m)).exp() * three;
                (-e, three * e)
            }
            Self::Hinge => (if m < one { -one } else { zero }, zero),
            Self::SquaredHinge => {
                if m < one {
                    (-(two * (one - m)), two)
                } else {
                    (zero, zero)
                }
            }
            Self::SmoothedHinge => {
                if m < zero {
                    (-two, zero)
                } else if m < one {
                    (-(two * (one - m)), two)
                } else {
                    (zero, zero)
                }
            }
        }
    }

    /// $\ell(m)$.
    pub(crate) fn value(self, m: Wide) -> Wide {
        let (zero, one) = (Wide::zero(), Wide::one());
        match self {
            Self::Logistic => ((-m).max(zero) + (one + (-m.abs()).exp()).ln()) * Wide::log2_e(),
            Self::Hinge => (one - m).max(zero),
            Self::SquaredHinge => {
                let short = (one - m).max(zero);
                short * short
            }
            Self::Exponential => (-m).exp(),
            Self::CubedExponential => (-(Wide::from_f64(3.0) * m)).exp(),
            Self::SmoothedHinge => {
                if m < zero {
                    one - m - m
                } else {
                    Self::SquaredHinge.value(m)
                }
            }
        }
    }

    /// The largest multiplier $a = -\ell'$ that any margin has.
    pub(crate) fn largest_multiplier(self) -> Option<Wide> {
        match self {
            Self::Logistic => Some(Wide::log2_e()),
            Self::Hinge => Some(Wide::one()),
            Self::SmoothedHinge => Some(Wide::from_f64(2.0)),
            Self::SquaredHinge | Self::Exponential | Self::CubedExponential => None,
        }
    }

    /// $\ell^*(-a)$ for $a$ between 0 and the largest multiplier.
    pub(crate) fn conjugate(self, a: Wide) -> Wide {
        let (zero, one) = (Wide::zero(), Wide::one());
        let entropy = |t: Wide| if t <= zero { zero } else { t * t.ln() };
        match self {
            Self::Logistic => {
                let t = (a / Wide::log2_e()).min(one);
                (entropy(t) + entropy(one - t)) * Wide::log2_e()
            }
            Self::Hinge => -a,
            Self::SquaredHinge | Self::SmoothedHinge => a * (a * Wide::from_f64(0.25) - one),
            Self::Exponential => entropy(a) - a,
            Self::CubedExponential => {
                let third = a / Wide::from_f64(3.0);
                entropy(third) - third
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenchel_holds_with_equality_at_the_slope() {
        for loss in Loss::ALL {
            for i in -40..40 {
                let m = Wide::from_f64(f64::from(i)) / Wide::from_f64(7.0);
                let a = -loss.derivatives(m).0;
                let excess = |a: Wide| (loss.value(m) + loss.conjugate(a) + a * m).to_f64();
                assert!(excess(a).abs() < 1e-65, "{loss:?} at {m:?}: {:e}", excess(a));
                assert!(excess(a * Wide::from_f64(0.9)) > -1e-65);
                assert!(loss.largest_multiplier().is_none_or(|most| a <= most));
            }
            assert!((loss.value(Wide::zero()) - Wide::one()).abs().to_f64() < 1e-70);
        }
    }

    #[test]
    fn derivatives_match_differences() {
        let h = Wide::from_f64(1e-25);
        for loss in Loss::ALL {
            for i in -20..20 {
                let m = Wide::from_f64(f64::from(i) * 0.17 + 0.01);
                let (slope, curvature) = loss.derivatives(m);
                let rise = (loss.value(m + h) - loss.value(m - h)) / (h + h);
                let bend = (loss.derivatives(m + h).0 - loss.derivatives(m - h).0) / (h + h);
                assert!(
                    (rise - slope).abs().to_f64() <= 1e-40 * (1.0 + slope.abs().to_f64()),
                    "{loss:?} at {m:?}"
                );
                assert!((bend - curvature).abs().to_f64() <= 1e-40 * (1.0 + curvature.to_f64()));
            }
        }
    }
}
