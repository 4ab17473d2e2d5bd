//! Hypotheses: families of classifiers that try to tell a query from the sample.
//!
//! *Prepare once, isolate many*: what does not depend on the query is computed in
//! [`prepare`](Hypothesis::prepare); [`isolate`](Hypothesis::isolate) gets all queries at once.

pub mod auto;
pub mod classical;
pub mod explanation;
pub mod forest;
pub mod gp;
pub mod halfspace;

pub mod kernelised;
pub mod linear;
pub mod mlp;
pub(crate) mod passes;
mod setters;
pub mod svm;

use crate::error::Result;
use crate::problem::{Fit, Run};

use crate::data::{Reference, Rows, Scale, Scaling};

pub use auto::Auto;
pub use explanation::{Expansion, Explanation, Reason};
pub use forest::Forest;
pub use gp::GaussianProcess;
pub use halfspace::Halfspace;
pub use kernelised::Kernelised;
pub use linear::Linear;
pub use mlp::Mlp;
pub use svm::Svm;

/// A family of classifiers, a loss and a penalty: everything that defines a depth but the data.
pub trait Hypothesis: Send + Sync {
    /// What is computed once for a sample and shared by all queries.
    type Prepared: Send + Sync;

    /// Checks the settings and does all work that does not depend on the query.
    ///
    /// # Errors
    /// A setting is out of its range.
    fn prepare(&self, sample: &Reference) -> Result<Self::Prepared>;

    /// [`prepare`](Self::prepare) on the sample after a scaling of this kind that was learned on it. A hypothesis that compares with a
    /// few of the rows need not scale all of them.
    ///
    /// # Errors
    /// As for [`prepare`](Self::prepare).
    fn prepare_scaled(&self, sample: &Reference, scale: Scale, scaling: &Scaling) -> Result<Self::Prepared> {
        self.prepare(&sample.scaled(scale, scaling))
    }

    /// Finds, for each query, the classifier that best isolates it from the sample.
    ///
    /// A fit is a function of the sample, the settings and its query alone: not of the other queries, their
    /// order, or the number of threads. Its standard error need not be computed if
    /// [`run.depths_only`](Run::depths_only).
    ///
    /// # Errors
    /// [`Cancelled`](crate::DepthError::Cancelled) if `run` says so.
    fn isolate(&self, prepared: &Self::Prepared, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>>;

    /// Why each query has the depth it has.
    ///
    /// # Errors
    /// As for [`isolate`](Self::isolate).
    fn explain(
        &self,
        prepared: &Self::Prepared,
        queries: Rows<'_>,
        run: &Run<'_>,
    ) -> Result<Vec<Explanation>>;
}
