//! The settings of the depths that measure distances by a scatter matrix.

use super::frame::Scatter;

/// By what distances are measured, and how exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measure {
    pub(super) scatter: Scatter,
    pub(super) support_fraction: f64,
    pub(super) tol: f64,
}

impl Default for Measure {
    fn default() -> Self {
        Self { scatter: Scatter::Moment, support_fraction: 0.75, tol: 1e-6 }
    }
}

/// Declares such a depth with its setters, and with settings of its own, which have defaults by type.
macro_rules! by_scatter {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct $name {
            measure: $crate::methods::classical::measure::Measure,
            $($field: $type,)*
        }

        impl $name {
            /// In units of the covariance, and with a tolerance of 1e-6.
            pub fn new() -> Self {
                Self::default()
            }

            $crate::methods::setters::setters! {
                /// By what distances are measured.
                scatter: $crate::methods::classical::Scatter => measure.scatter;
                /// The share of the rows that the minimum covariance determinant uses.
                support_fraction: f64 => measure.support_fraction;
                /// The largest error bound to accept.
                tol: f64 => measure.tol;
                $($(#[$about])* $field: $type => $field;)*
            }
        }
    };
}
pub(super) use by_scatter;
