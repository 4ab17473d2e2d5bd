//! Support vector machines: the hinge loss in the Hilbert space of a kernel.
//!
//! Under a **large penalty** no margin exceeds one, and the solution has a closed form, (K4)–(K7) of `docs/math/kernel.md`: the
//! depth is $1 - \|\mu - \varphi_z\|^2 / 8 \, \text{reg}$, where the norm is the maximum mean discrepancy between the sample and
//! the point mass at $z$. Where $k(z, z)$ is constant it ranks like a **kernel density estimate**. $\text{reg} \ge \frac14 \max
//! k(x, x)$ is sufficient for non-negative kernels; the condition (K6) is checked for every query.
//!
//! Under a **smaller penalty** some margins exceed 1, and the depth depends on shape and modes, not on density alone. The
//! dual is solved by an active-set method (`solver::dual_active_set`). It starts from the best of
//! a few dual points that all queries have in common or, where few rows are support vectors, from the query's nearest rows.
//!
//! The **error** is proven in both cases, for the exact kernel within the accuracy that the kernel states. For the risk it is
//! of the order of the square root of rounding over the penalty, or better where (K20) applies.

mod certificate;
mod closed_form;
mod galerkin_basis;
mod influence;
mod one_class;
pub(crate) mod passes;
mod prepared;
mod radius_search;
mod solution;
mod starts;
mod worker;

pub use one_class::{FittedOneClassSvm, OneClassSolution, OneClassSvm};
pub use prepared::PreparedSvm;

use super::Hypothesis;
use super::setters::{self, convex_setters, kernel_setters};
use crate::data::{Reference, Rows};
use crate::error::Result;
use crate::kernel::{KernelSource, Space};
use crate::methods::explanation::Explanation;
use crate::problem::{Fit, Intercept, Run, Task};

/// The depth of a support vector machine with a kernel.
///
/// $$ \text{depth}(z) = R_z(f^*), \qquad f^* = \arg\min_f \;
///    \tfrac12 \sum_i \omega_i \max(0, 1 - f(x_i)) + \tfrac12 \max(0, 1 + f(z)) + \text{reg} \, \|f\|^2. $$
///
/// ```
/// use lossdepth::kernel::{Gamma, KernelChoice};
/// use lossdepth::{Depth, Reference, methods::Svm};
/// // Two clusters: the middle between them is not central.
/// let kernel = KernelChoice::Gaussian { gamma: Gamma::Value(0.5) };
/// let sample = Reference::new(&[[-5.0], [-4.8], [-5.2], [-4.9], [5.0], [4.8], [5.2], [5.1]])?;
/// let depth = Depth::new(Svm::new().kernel(kernel).reg(0.1)).fit(&sample)?;
/// let fits = depth.score(&[[-5.0], [0.0]])?;
/// assert!(fits[0].depth > fits[1].depth);
/// assert!(fits.iter().all(|fit| fit.error <= 1e-6));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Svm {
    kernel: KernelSource,
    intercept: Intercept,
    task: Task,
    memory: u64,
}

impl Default for Svm {
    fn default() -> Self {
        Self::new()
    }
}

impl Svm {
    /// A Gaussian kernel of automatic width, no intercept, `reg` 1, the bare risk, a tolerance of 1e-6, 4 GiB.
    pub fn new() -> Self {
        Self {
            kernel: KernelSource::default(),
            intercept: Intercept::None,
            task: Task::DEFAULT,
            memory: 4 << 30,
        }
    }

    convex_setters!();

    kernel_setters! {
        /// How many bytes the kernel values may take. If the Gram matrix of the sample is larger, its columns are computed
        /// when they are needed; that takes longer, and the result is the same. Only a query with more support vectors
        /// between the bounds than both 1024 and $\sqrt{\text{memory} / 64}$ is not solved further, and
        /// has the error that is proven at that point.
    }
}

impl Hypothesis for Svm {
    type Prepared = PreparedSvm;

    fn prepare(&self, sample: &Reference) -> Result<PreparedSvm> {
        setters::check(&self.task)?;
        let space = Space::new(&self.kernel, sample, self.intercept == Intercept::Penalised)?;
        PreparedSvm::new(space, self.task, self.intercept == Intercept::Free, self.memory)
    }

    fn isolate(&self, prepared: &PreparedSvm, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        prepared.score(queries, run)
    }

    fn explain(&self, prepared: &PreparedSvm, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        prepared.explain(queries, run)
    }
}
