//! Kernels $k(x, z) = \langle \varphi(x), \varphi(z) \rangle$, and the sample in their Hilbert space.
//!
//! | name | $k(x, z)$ | settings |
//! |---|---|---|
//! | `gaussian` | $e^{-\gamma \|x - z\|^2}$ | `gamma` |
//! | `laplacian` | $e^{-\|x - z\|_1 / \sigma}$ | `sigma` |
//! | `imq` | $(c^2 + \|x - z\|^2)^\beta$, $\beta < 0$ | `c`, `beta` |
//! | `linear` | $\langle x, z \rangle$ | |
//! | `polynomial` | $(\gamma \langle x, z \rangle + \text{coef0})^\text{degree}$ | `gamma`, `degree`, `coef0` |
//! | `precomputed` | given as data | |
//!
//! A user's kernel implements [`Kernel`]; with the distances and products of [`Points`] it is as fast as these.
//!
//! ```
//! use lossdepth::kernel::{Columns, Kernel, Points};
//! use lossdepth::Rows;
//!
//! /// The Cauchy kernel 1 / (1 + r²).
//! #[derive(Debug)]
//! struct Cauchy;
//!
//! impl Kernel for Cauchy {
//!     fn value(&self, x: &[f64], z: &[f64]) -> f64 {
//!         1.0 / (1.0 + x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum::<f64>())
//!     }
//!     fn gradient(&self, x: &[f64], z: &[f64], scale: f64, out: &mut [f64]) {
//!         let k = self.value(x, z);
//!         for ((o, x), z) in out.iter_mut().zip(x).zip(z) {
//!             *o += scale * 2.0 * k * k * (x - z);
//!         }
//!     }
//!     fn block(&self, sample: &Points, queries: Rows<'_>, out: &mut Columns<'_>) {
//!         sample.squared_distances(queries, out);
//!         for j in 0..out.len() {
//!             out.column(j).iter_mut().for_each(|r2| *r2 = 1.0 / (1.0 + *r2));
//!         }
//!     }
//! }
//! assert_eq!(Cauchy.value(&[0.0], &[1.0]), 0.5);
//! ```

mod bandwidth;
mod neighbour_distance;
pub(crate) mod pivoted_cholesky;
mod points;
mod precomputed;
mod space;
mod sparse;
mod standard;

pub(crate) use bandwidth::representatives;
pub use bandwidth::{Gamma, Sigma};
pub(crate) use neighbour_distance::weighted_quantile;
pub use points::{Columns, Points};
pub use space::Space;
pub(crate) use sparse::SparseSample;
pub use standard::{KernelChoice, Standard};

use crate::data::Rows;
use std::sync::Arc;

/// A symmetric, positive semidefinite function of two points.
///
/// All values must be finite for finite points. [`block`](Self::block) must give each entry as a function of its two
/// points alone, bit for bit, so that a score does not depend on its batch.
pub trait Kernel: std::fmt::Debug + Send + Sync {
    /// $k(x, z)$.
    fn value(&self, x: &[f64], z: &[f64]) -> f64;

    /// Adds `scale` times the gradient of $k(x, z)$ in $z$ to `out`.
    ///
    /// It is used to explain depths, not to compute them.
    fn gradient(&self, x: &[f64], z: &[f64], scale: f64, out: &mut [f64]);

    /// $k(x, x)$.
    fn diagonal(&self, x: &[f64]) -> f64 {
        self.value(x, x)
    }

    /// $k(x_i, z_j)$ for all sample points and some queries, one column a query.
    fn block(&self, sample: &Points, queries: Rows<'_>, out: &mut Columns<'_>) {
        for (j, z) in queries.iter().enumerate() {
            for (k, x) in out.column(j).iter_mut().zip(sample.iter()) {
                *k = self.value(x, z);
            }
        }
    }

    /// A bound on the rounding error of $k(x, z)$ for points of `width` coordinates, as a multiple of
    /// $\sqrt{k(x, x) \, k(z, z)}$. The errors of kernel depths rely on it.
    fn precision(&self, width: usize) -> f64 {
        f64::EPSILON * (4.0 + width as f64)
    }
}

/// A kernel of this crate, or a user's.
#[derive(Debug, Clone)]
pub enum KernelSource {
    /// A kernel by name; its bandwidth may depend on the sample.
    Choice(KernelChoice),
    /// A user's kernel.
    Own(Arc<dyn Kernel>),
    /// The rows are kernel values, as for [`KernelChoice::Precomputed`], of a function that is known to be a kernel.
    Values {
        /// A bound on the error of each value, as a multiple of the largest $k(x, x)$ of the two points and the sample.
        precision: f64,
    },
}

impl Default for KernelSource {
    fn default() -> Self {
        Self::Choice(KernelChoice::default())
    }
}

impl From<KernelChoice> for KernelSource {
    fn from(choice: KernelChoice) -> Self {
        Self::Choice(choice)
    }
}

impl From<Arc<dyn Kernel>> for KernelSource {
    fn from(kernel: Arc<dyn Kernel>) -> Self {
        Self::Own(kernel)
    }
}

impl<K: Kernel + 'static> From<K> for KernelSource {
    fn from(kernel: K) -> Self {
        Self::Own(Arc::new(kernel))
    }
}
