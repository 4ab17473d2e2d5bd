//! The one-class support vector machine of the library, solved to the end or as far as libsvm does.

use super::libsvm_smo::{self, GramColumns};
use lossdepth::kernel::{KernelSource, Space};
use lossdepth::methods::svm::{self, FittedOneClassSvm, OneClassSolution};
use lossdepth::{DepthError, Reference, Result, Run};
use std::str::FromStr;
use std::sync::atomic::Ordering;

/// The [one-class support vector machine](svm::OneClassSvm), and how it is solved.
#[derive(Debug, Clone)]
pub struct OneClassSvm {
    /// The kernel.
    pub kernel: KernelSource,
    /// The share of the rows that may be outside, above 0 and at most 1.
    pub nu: f64,
    /// The accuracy of the solution.
    pub solver: OneClassSolver,
    /// The largest proven error to accept, relative to the largest $k(x, x)$; for [`OneClassSolver::Exact`].
    pub tol: f64,
    /// The limit of rounds of the solver.
    pub max_iter: usize,
    /// The memory limit of kernel values, in bytes.
    pub memory: u64,
}

impl Default for OneClassSvm {
    /// A Gaussian kernel of automatic width and `nu` 0.1, as in the paper.
    fn default() -> Self {
        let svm::OneClassSvm { kernel, nu, tol, max_iter, memory } = svm::OneClassSvm::default();
        Self { kernel, nu, solver: OneClassSolver::Exact, tol, max_iter, memory }
    }
}

/// The accuracy to which the problem of a [`OneClassSvm`] is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OneClassSolver {
    /// To `tol`, with a proven error.
    #[default]
    Exact,
    /// To the tolerance of libsvm's defaults, by its algorithm (equal rows are one row here, several there): to compare
    /// with published numbers. The error is with respect to the exact solution, from a duality gap evaluated without its
    /// rounding.
    Libsvm,
}

impl OneClassSolver {
    /// Their names.
    pub const NAMES: [&'static str; 2] = ["exact", "libsvm"];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => Self::NAMES[0],
            Self::Libsvm => Self::NAMES[1],
        }
    }
}

impl FromStr for OneClassSolver {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        [Self::Exact, Self::Libsvm].into_iter().find(|solver| solver.name() == s).ok_or_else(|| {
            DepthError::Name { name: "solver", expected: Self::NAMES.join(", "), got: s.to_owned() }
        })
    }
}

impl OneClassSvm {
    pub(super) fn fit(&self, sample: &Reference, run: &Run<'_>) -> Result<FittedOneClassSvm> {
        let Self { kernel, nu, solver, tol, max_iter, memory } = self.clone();
        let machine = svm::OneClassSvm { kernel, nu, tol, max_iter, memory };
        match solver {
            OneClassSolver::Exact => machine.fit(sample, run),
            OneClassSolver::Libsvm => {
                let unit = nu * sample.observations();
                machine.fit_by(sample, |space| self.solve_as_libsvm(space, unit, run))
            }
        }
    }

    /// The solution of libsvm's algorithm; its variables sum to `unit`, ν N.
    fn solve_as_libsvm(&self, space: &Space, unit: f64, run: &Run<'_>) -> Result<OneClassSolution> {
        // Counts are whole numbers: undo the rounding of their division, so that variables end at their bounds.
        let count = |w: &f64| {
            let count = w * unit / self.nu;
            if (count - count.round()).abs() < 1e-9 { count.round() } else { count }
        };
        let bounds: Vec<f64> = space.weights().iter().map(count).collect();
        let mut columns = GramColumns::new(space, self.memory);
        let cancelled = || run.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed));
        let found = libsvm_smo::minimise(space, &bounds, unit, &mut columns, self.max_iter, cancelled)?;
        if cancelled() {
            return Err(DepthError::Cancelled);
        }
        let scaled = |list: &[f64]| list.iter().map(|x| x / unit).collect::<Vec<f64>>();
        let (alpha, values, bounds) = (scaled(&found.alpha), scaled(&found.values), scaled(&bounds));
        let rho = OneClassSolution::threshold(&alpha, &bounds, &values);
        // The terms of the duality gap.
        let term = |i: usize| alpha[i] * (values[i] - rho) + bounds[i] * (rho - values[i]).max(0.0);
        let suboptimality = (0..alpha.len()).map(term).sum::<f64>().max(0.0);
        Ok(OneClassSolution { alpha, rho, suboptimality, estimate: None, converged: found.converged })
    }
}
