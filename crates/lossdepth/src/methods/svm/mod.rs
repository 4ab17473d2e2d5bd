//! Support vector machines: the hinge loss in the Hilbert space of a kernel.
//!
//! With $\mu(x) = \sum_i \omega_i k(x_i, x)$, the mean embedding of the sample, a **strong penalty** leaves every margin at or
//! below 1. Then all dual variables sit at their upper bounds and the answer is closed form:
//!
//! $$ f(x) = \frac{\mu(x) - k(x, z)}{4 \, \text{reg}}, \qquad
//!    \text{depth}(z) = 1 - \frac{\|\mu - \varphi_z\|^2}{8 \, \text{reg}}, \qquad
//!    \|\mu - \varphi_z\|^2 = \sum_{ij} \omega_i \omega_j k(x_i, x_j) - 2 \mu(z) + k(z, z). $$
//!
//! $\|\mu - \varphi_z\|$ is the maximum mean discrepancy between the sample and the point mass at $z$. Where $k(z, z)$ is
//! constant the depth is thus an increasing function of $\mu(z)$: it ranks like a **kernel density estimate**. $\text{reg} \ge
//! \frac14 \max k(x, x)$ is enough for non-negative kernels; a query is asked, not assumed, whether it holds. The
//! objective is then $1 - \|\mu - \varphi_z\|^2 / 16 \, \text{reg}$, and under a constraint the depth $1 - \frac12
//! \text{radius} \, \|\mu - \varphi_z\|$. It holds with a free intercept too, as long as $\max_i f(x_i) - f(z) \le 2$.
//!
//! A **weaker penalty** lets the classifier give up on some points and fit others; then the depth sees shape and
//! modes, not density alone. It is found by an exact active-set method on the dual, started from the best of a few
//! solutions that all queries share, or, where only few points matter to a query, from the points next to it. Both are one method to the caller; the duality gap certifies either.

mod influence;
mod machine;
mod shared;

pub use machine::Machine;

use super::Hypothesis;
use super::setters::{self, convex_setters, kernel_setters};
use crate::data::Reference;
use crate::data::Rows;
use crate::error::Result;
use crate::kernel::{KernelSource, Space};
use crate::methods::explanation::Explanation;
use crate::problem::Intercept;
use crate::problem::Task;
use crate::problem::{Fit, Run};

/// The depth of a support vector machine with a kernel.
///
/// $$ \text{depth}(z) = R_z(f^*), \qquad f^* = \arg\min_f \;
///    \tfrac12 \sum_i \omega_i \max(0, 1 - f(x_i)) + \tfrac12 \max(0, 1 + f(z)) + \text{reg} \, \|f\|^2. $$
///
/// ```
/// use lossdepth::kernel::{Gamma, KernelChoice};
/// use lossdepth::{Depth, Reference, methods::Svm};
/// // Two clusters: nothing is central about the middle between them.
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
        /// between the bounds than both 1024 and $\sqrt{\text{memory} / 64}$ is given up for lack of room, with the error
        /// that is proven at that point.
    }
}

impl Hypothesis for Svm {
    type Prepared = Machine;

    fn prepare(&self, sample: &Reference) -> Result<Machine> {
        setters::check(&self.task)?;
        let space = Space::new(&self.kernel, sample, self.intercept == Intercept::Penalised)?;
        Machine::new(space, self.task, self.intercept == Intercept::Free, self.memory)
    }

    fn isolate(&self, machine: &Machine, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        machine.score(queries, run)
    }

    fn explain(&self, machine: &Machine, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        machine.explain(queries, run)
    }
}
