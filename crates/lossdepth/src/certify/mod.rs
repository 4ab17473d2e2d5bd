//! Certificates: from a candidate and multipliers to a proven bound on the error of its depth.
//!
//! The equations are those of `docs/math/certificates.md`. For any classifier $(w, b)$ and any feasible multipliers $a$,
//!
//! $$ P(w, b) - D(a) = \sum_j c_j \left( \ell(m_j) + \ell^*(-a_j) + a_j m_j \right)
//!    + \lambda \Big\| w - \frac{v(a)}{2 \lambda} \Big\|^2, \qquad v(a) = \sum_j c_j a_j y_j x_j \tag{C4} $$
//!
//! in the coordinates of the rows as they were given. Both parts are non-negative.
//!
//! * [`axes`]: the fast path. A solver's iterate, with the gradient that it has anyway, and an a-priori bound on what the
//!   rotation into the principal axes does.
//! * [`given`]: a posteriori, in the coordinates as given, in double-double arithmetic.
//! * [`smooth`] and [`hinge`]: that certificate, and Newton steps on a double-double candidate until it meets the tolerance.
//! * [`pass`]: the same for a reference that is read in passes, from sums over all rows.
//! * [`gap`]: from a gap to the error of a depth.

pub(crate) mod axes;
pub(crate) mod gap;
pub(crate) mod given;
pub(crate) mod hinge;
pub(crate) mod pass;
pub(crate) mod smooth;
