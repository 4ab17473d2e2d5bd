//! Halfspace depth (Tukey): the best 0-1 risk of a linear classifier, exactly.
//!
//! $$ D(z) = \min_{u \ne 0} \sum_i \omega_i \mathbf 1[\langle u, x_i \rangle \ge \langle u, z \rangle] $$
//!
//! Halfspaces are closed: points equal to $z$ always count. The depth is twice the least risk $R_z$ of a non-zero linear
//! classifier under the 0-1 loss. Every answer is an interval that holds the true value; its upper end is attained by a
//! direction, and where the interval has closed the depth is exact.
//!
//! | dimension of the sample | method |
//! |---|---|
//! | 1 | sorted once, a binary search a query |
//! | 2 | half a turn of a line, linear time (`plane`) |
//! | 3 to 6 | branch and bound over cones of directions (`cones`), exact while the budget lasts |
//! | more | descent along great circles (`search`), separating hyperplanes and disjoint simplices (`far`) |
//!
//! Which side of a hyperplane a point lies on is decided by an error bound where that is enough and by exact
//! arithmetic otherwise (`exact`); ties, duplicates and data in a lower dimension come out right.

mod cloud;
mod cones;
mod exact;
mod high_dimension;
mod packing;
mod plane;
mod regions;
mod sample;
mod search;

pub use regions::{Bagplot, Contour, Median, Regions};
pub use sample::Sample;

use self::cones::Purse;
use self::sample::{Answer, Bench};
use super::Hypothesis;
use crate::data::Reference;
use crate::data::Rows;
use crate::error::{DepthError, Result};
use crate::methods::explanation::Explanation;
use crate::problem::Batch;
use crate::problem::Stop;
use crate::problem::{Fit, Run};

/// The halfspace depth.
///
/// `depth` is the upper end of the interval, attained by the direction that
/// [`explain`](crate::FittedDepth::explain) shows; `error` is its width plus rounding; `stderr` is
/// $\sqrt{p (1 - p) / n}$ for the mass $p$ of that halfspace; `iterations` counts thousands of multiplications.
///
/// A row of the reference has the influence $\mathbf 1[x_i \in H] - p$ on the depth, $H$ being the halfspace. The
/// direction is rounded to floating-point numbers after it was found: on data that leave a gap thinner than that, it
/// may count more than `depth`, which is attained all the same.
///
/// ```
/// use lossdepth::{Depth, Reference};
/// let sample = Reference::new(&[[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.0]])?;
/// let fits = Depth::halfspace().fit(&sample)?.score(&[[1.0, 1.0], [0.5, 0.5], [3.0, 1.0]])?;
/// assert_eq!([fits[0].depth, fits[1].depth, fits[2].depth], [0.6, 0.2, 0.0]);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halfspace {
    tol: f64,
    budget: usize,
}

impl Default for Halfspace {
    fn default() -> Self {
        Self { tol: 1e-6, budget: 100 }
    }
}

impl Halfspace {
    /// A tolerance of 1e-6, which is exact for fewer than a million points, and a budget of 100.
    pub fn new() -> Self {
        Self::default()
    }

    /// The widest interval to accept.
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = tol;
        self
    }

    /// How much work a query gets, in millions of multiplications.
    #[must_use]
    pub fn budget(mut self, budget: usize) -> Self {
        self.budget = budget;
        self
    }

    fn answers<T: Send>(
        &self,
        sample: &Sample,
        queries: Rows<'_>,
        run: &Run<'_>,
        finish: impl Fn(&[f64], Answer, &mut Bench) -> T + Sync,
    ) -> Result<Vec<T>> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative; saturates"
        )]
        let enough = ((self.tol - sample.rounding() - f64::EPSILON).max(0.0) * sample.total() as f64) as u64;
        let budget = (self.budget as u64).saturating_mul(1_000_000);
        Batch::new(queries, run).run(|mut ticket| {
            let mut bench = Bench::default();
            while let Some((first, rows)) = ticket.take(1, 1) {
                for (j, query) in rows.iter().enumerate() {
                    let answer = {
                        let cancelled = || ticket.cancelled();
                        let mut purse = Purse { spent: 0, budget, cancelled: &cancelled };
                        sample.solve(query, enough, &mut purse, &mut bench)
                    };
                    let result = finish(query, answer, &mut bench);
                    ticket.done(first + j, result);
                }
            }
        })
    }

    fn fit(&self, sample: &Sample, query: &[f64], answer: &Answer, bench: &mut Bench) -> Fit {
        let total = sample.total() as f64;
        let depth = answer.upper as f64 / total;
        let gap = (answer.upper - answer.lower) as f64 / total;
        let stderr = sample.standard_error(depth, || sample.attained(query, answer, bench).1);
        let error = gap + sample.rounding() + f64::EPSILON * depth;
        // A closed interval is as good as it gets, whatever the tolerance.
        let done = gap == 0.0 || error <= self.tol;
        Fit {
            depth,
            error,
            stderr,
            iterations: usize::try_from(answer.spent.div_ceil(1000)).unwrap_or(usize::MAX),
            stop: if done { Stop::Converged } else { Stop::IterationLimit },
        }
    }
}

impl Hypothesis for Halfspace {
    type Prepared = Sample;

    fn prepare(&self, sample: &Reference) -> Result<Sample> {
        if !(self.tol >= 0.0 && self.tol.is_finite()) {
            return Err(DepthError::Setting {
                name: "tol",
                expected: "finite and not negative",
                got: self.tol,
            });
        }
        if self.budget == 0 {
            return Err(DepthError::Setting { name: "budget", expected: "at least 1", got: 0.0 });
        }
        Ok(Sample::new(sample))
    }

    fn isolate(&self, sample: &Sample, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.answers(sample, queries, run, |query, answer, bench| self.fit(sample, query, &answer, bench))
    }

    fn explain(&self, sample: &Sample, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        self.answers(sample, queries, run, |query, answer, bench| {
            let fit = self.fit(sample, query, &answer, bench);
            let (direction, inside) = sample.attained(query, &answer, bench);
            let influence = inside.iter().map(|i| f64::from(u8::from(*i)) - fit.depth).collect();
            // The sample is to have f > 0: away from the halfspace.
            let weights: Vec<f64> = direction.iter().map(|u| -u).collect();
            let intercept = -weights.iter().zip(query).map(|(w, z)| w * z).sum::<f64>();
            Explanation::linear(fit, weights, intercept, query, influence)
        })
    }
}
