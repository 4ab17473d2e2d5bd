//! Labels and p-values: which rows are so shallow that they are called outliers.
//!
//! - [`threshold`]: the depth below which a chosen share of the reference lies (`contamination`).
//! - [`Conformal`]: p-values of new rows against the reference, valid whatever the distribution.
//! - [`adjust`]: q-values, to choose rows with a bounded false discovery rate.
//!
//! # What is guaranteed
//!
//! The null hypothesis of a row is that it comes from the same distribution as the reference. Its p-value is the share of
//! calibration rows that are at most as deep, the row itself counted as one of them:
//!
//! $$ p(z) = \frac{1 + \\#\\{ i : s_i \le s(z) \\}}{1 + n}. $$
//!
//! | way | $s_i$, $s(z)$ | cost | under the null |
//! |---|---|---|---|
//! | [`Split`](Conformal::Split) | depths in the rest of the reference | one more fit, each row scored twice | $P(p \le \alpha) \le \alpha$ exactly |
//! | [`Cross`](Conformal::Cross) | $s_i$: depth in the reference without its fold; $s(z)$: depth in all of it | `folds` fits | approximately |
//! | [`LeaveOneOut`](Conformal::LeaveOneOut) | $s_i$: depth in the reference without row $i$; $s(z)$: in all of it | $n$ fits | approximately |
//! | [`own_p_values`] | all rows in the sample that they make up | none | $P(p \le \alpha) \le \alpha$ exactly |
//!
//! `Split` asks only that reference and row are exchangeable (Vovk, Gammerman and Shafer 2005): the depth is a fixed function
//! once the training rows are set aside, and the row's rank among calibration rows and itself is uniform. p-values
//! of many rows share their calibration rows, which makes them dependent, but positively so: Benjamini and Hochberg's
//! procedure still controls the false discovery rate (Bates, Candès, Lei, Romano and Sesia 2023). A p-value cannot be below
//! $1 / (1 + n)$, so a small calibration part finds little at a small rate.
//!
//! `LeaveOneOut` and `Cross` use every row for both parts, so depths are better and p-values finer. It is the jackknife:
//! row $i$ is compared with $n - 1$ rows and $z$ with $n$, and their scores are almost, not exactly, exchangeable; the
//! difference vanishes as $n$ grows. (Scoring the reference against itself instead would be invalid: a row in the sample is
//! deeper than the same row outside of it.)
//!
//! Where the data is **its own reference** all depths are the same symmetric function of the rows. They are exchangeable, and
//! the rank is an exact p-value ([`own_p_values`]), without another fit. But those p-values are a permutation of $1/n, \dots, 1$
//! whatever the data, so procedures for many tests find nothing in them: to *choose* outliers at a false discovery rate, a
//! reference of rows that are known to be normal is needed.

mod calibration;
mod discovery;
mod threshold;

pub use calibration::{Calibration, Conformal, own_p_values};
pub use discovery::{Fdr, adjust};
pub use threshold::threshold;
