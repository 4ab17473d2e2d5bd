//! The builder methods that the penalised convex depths share.

use crate::error::{DepthError, Result, positive};
use crate::problem::Task;

/// The setters of a type with the fields `task: Task` and `intercept: Intercept`.
macro_rules! convex_setters {
    () => {
        /// The weight of the penalty: $R_z + \text{reg} \cdot \|w\|^2$.
        #[must_use]
        pub fn reg(mut self, reg: f64) -> Self {
            self.task.reg = reg;
            self
        }

        /// Which number is the depth.
        #[must_use]
        pub fn variant(mut self, variant: crate::problem::Variant) -> Self {
            self.task.variant = variant;
            self
        }

        /// Whether there is an intercept, and whether it is penalised; with a kernel a penalised one means
        /// $k + 1$.
        #[must_use]
        pub fn intercept(mut self, intercept: crate::problem::Intercept) -> Self {
            self.intercept = intercept;
            self
        }

        /// The largest error bound to accept.
        #[must_use]
        pub fn tol(mut self, tol: f64) -> Self {
            self.task.tol = tol;
            self
        }

        /// The iteration limit of a query.
        #[must_use]
        pub fn max_iter(mut self, max_iter: usize) -> Self {
            self.task.max_iter = max_iter;
            self
        }
    };
}

/// The setters of a type with the fields `kernel: KernelSource` and `memory: u64`.
macro_rules! kernel_setters {
    ($(#[$memory:meta])*) => {
        /// The kernel: a [`KernelChoice`](crate::kernel::KernelChoice), or any type that implements
        /// [`Kernel`](crate::kernel::Kernel).
        #[must_use]
        pub fn kernel(mut self, kernel: impl Into<crate::kernel::KernelSource>) -> Self {
            self.kernel = kernel.into();
            self
        }

        $(#[$memory])*
        #[must_use]
        pub fn memory(mut self, bytes: u64) -> Self {
            self.memory = bytes;
            self
        }
    };
}

pub(crate) use {convex_setters, kernel_setters};

/// Checks the ranges of the settings that [`convex_setters`] sets.
pub(super) fn check(task: &Task) -> Result<()> {
    positive("reg", task.reg)?;
    positive("tol", task.tol)?;
    task.variant.check()?;
    if task.max_iter == 0 {
        return Err(DepthError::Setting { name: "max_iter", expected: "at least 1", got: 0.0 });
    }
    Ok(())
}
