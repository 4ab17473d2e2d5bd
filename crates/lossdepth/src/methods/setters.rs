//! The builder methods of the depths.

use crate::error::{DepthError, Result, positive};
use crate::problem::Task;

/// Setters by the names of settings, with their documentation, and the fields they set.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty => $($field:ident).+;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Self {
            self.$($field).+ = $name;
            self
        }
    )*};
}

/// The setters of a type with the fields `task: Task` and `intercept: Intercept`.
macro_rules! convex_setters {
    () => {
        $crate::methods::setters::setters! {
            /// The weight of the penalty: $R_z + \text{reg} \cdot \|w\|^2$.
            reg: f64 => task.reg;
            /// Which number is the depth.
            variant: $crate::problem::Variant => task.variant;
            /// Whether there is an intercept, and whether it is penalised; with a kernel a penalised one means $k + 1$.
            intercept: $crate::problem::Intercept => intercept;
            /// The largest error bound to accept.
            tol: f64 => task.tol;
            /// The iteration limit of a query.
            max_iter: usize => task.max_iter;
        }
    };
}

/// The setters of a type with the fields `kernel: KernelSource` and `memory: u64`.
macro_rules! kernel_setters {
    ($(#[$memory:meta])*) => {
        /// The kernel: a [`KernelChoice`](crate::kernel::KernelChoice), or any type that implements
        /// [`Kernel`](crate::kernel::Kernel).
        #[must_use]
        pub fn kernel(mut self, kernel: impl Into<$crate::kernel::KernelSource>) -> Self {
            self.kernel = kernel.into();
            self
        }

        $crate::methods::setters::setters! {
            $(#[$memory])*
            memory: u64 => memory;
        }
    };
}

pub(crate) use {convex_setters, kernel_setters, setters};

/// Checks the ranges of the settings that [`convex_setters`] sets.
pub(super) fn check(task: &Task) -> Result<()> {
    positive("reg", task.reg)?;
    positive("tol", task.tol)?;
    task.variant.check()?;
    at_least_one("max_iter", task.max_iter)
}

/// Checks a number of directions.
pub(super) fn at_most_ten_million(name: &'static str, count: usize) -> Result<()> {
    if count > 10_000_000 {
        return Err(DepthError::Setting { name, expected: "at most 10000000", got: count as f64 });
    }
    Ok(())
}

/// Checks a count that must not be 0.
pub(super) fn at_least_one(name: &'static str, count: usize) -> Result<()> {
    if count == 0 {
        return Err(DepthError::Setting { name, expected: "at least 1", got: 0.0 });
    }
    Ok(())
}
