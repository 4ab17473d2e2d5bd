//! Solvers: they improve an iterate and report what is proven about it.
//!
//! The problem of every query is to minimise
//!
//! $$ F(\theta) = \tfrac12 \sum_i \omega_i \ell(\langle \theta, t_i \rangle)
//!    + \tfrac12 \ell(-\langle \theta, \hat z \rangle) + \lambda \|w\|^2, $$
//!
//! which is (L1); only $\hat z$ differs from one query to the next. [`block_lbfgs`] solves many of them side
//! by side with two matrix products an iteration; [`newton`] finishes the few that are too
//! ill-conditioned for it; [`interior_point`] is for the hinge, which has no second derivative; [`dual_active_set`] for the hinge with
//! a kernel. They certify in the principal axes ([`crate::certify::axes`]); what misses the tolerance is refined afterwards.

pub(crate) mod block_lbfgs;
pub(crate) mod descent;
pub(crate) mod dual_active_set;
pub(crate) mod interior_point;
pub(crate) mod lbfgs;
pub(crate) mod line_search;
pub(crate) mod newton;
pub(crate) mod radius;
pub(crate) mod warm_start;
