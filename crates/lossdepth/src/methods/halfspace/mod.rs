//! Halfspace depth (Tukey): the best 0-1 risk of a linear classifier, exactly.
//!
//! $$ D(z) = \min_{u \ne 0} \sum_i \omega_i \mathbf 1[\langle u, x_i \rangle \ge \langle u, z \rangle] $$
//!
//! This is (H1). Halfspaces are closed: points equal to $z$ always count. The depth is twice the least risk $R_z$ of a
//! non-zero linear classifier under the 0-1 loss. Every result is an interval that contains the true value;
//! its upper end is attained by a direction, and where both ends are equal the depth is exact. The comments
//! refer to the equations (H1), ... of `docs/math/halfspace.md`.
//!
//! | dimension of the sample | method |
//! |---|---|
//! | 1 | sorted once, a binary search a query |
//! | 2 | a circular sweep of a line, linear time (`circular_sweep`) |
//! | 3 to 6 | branch and bound over cones of directions (`cones`), exact if the budget suffices; on request as for more |
//! | more | descent along great circles (`great_circle_descent`), separating hyperplanes and disjoint simplices (`simplex_search`) |
//!
//! Which side of a hyperplane a point lies on is decided by a rounding error bound where that is enough and
//! by exact arithmetic otherwise (`expansions`, `modular_rank`); ties, duplicates and data in a lower
//! dimension are treated exactly.

pub(super) mod expansions;
pub(super) mod modular_rank;
mod weighted_points;
mod work_budget;

pub(super) mod circular_sweep;
mod cones;
mod farkas_packing;
mod great_circle_descent;
mod simplex_search;
mod wolfe;

mod polygon;
mod regions;
pub(super) mod sample;
mod whitening;

pub use regions::{Bagplot, Contour, Median, Regions};
pub use sample::PreparedSample;

use self::sample::{DepthInterval, HalfspaceScratch};
use self::work_budget::WorkBudget;
use super::Hypothesis;
use super::setters::{at_least_one, at_most_ten_million, setters};
use crate::data::{Reference, Rows};
use crate::error::{DepthError, Result};
use crate::methods::explanation::Explanation;
use crate::numerics::whole_part;
use crate::problem::{Batch, Fit, Run, Stop};

/// The halfspace depth.
///
/// `depth` is the upper end of the interval, attained by the direction that
/// [`explain`](crate::FittedDepth::explain) shows; `error` is its width plus rounding; `stderr` is $\sqrt{\tilde p
/// (1 - \tilde p) / (n + 4)}$ with $\tilde p = (n p + 2) / (n + 4)$ for the mass $p$ of that halfspace; `iterations` counts thousands of multiplications.
///
/// A row of the reference has the influence $\mathbf 1[x_i \in H] - p$ on the depth, $H$ being the halfspace.
/// The direction is rounded to floating-point numbers after it was found: where the directions that attain
/// the depth are closer together than that, the rounded one may count more than `depth`.
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
    num_directions: usize,
}

impl Default for Halfspace {
    fn default() -> Self {
        Self { tol: 1e-6, budget: 100, num_directions: 0 }
    }
}

impl Halfspace {
    /// A tolerance of 1e-6, which is exact for fewer than a million points, and a budget of 100.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The widest interval to accept.
        tol: f64 => tol;
        /// The largest work for a query, in millions of multiplications.
        budget: usize => budget;
        /// How many directions to try for a query in three or more dimensions, in place of the exact search; 0 for that one.
        num_directions: usize => num_directions;
    }

    fn solve_all<T: Send>(
        &self,
        sample: &PreparedSample,
        queries: Rows<'_>,
        run: &Run<'_>,
        finish: impl Fn(&[f64], DepthInterval, &mut HalfspaceScratch) -> T + Sync,
    ) -> Result<Vec<T>> {
        let share_tol = (self.tol - sample.rounding() - f64::EPSILON).max(0.0);
        let mass_tol = whole_part(share_tol * sample.total() as f64);
        // A direction costs about eight passes over the sample (heuristic).
        let budget = match self.num_directions as u64 {
            0 => (self.budget as u64).saturating_mul(1_000_000),
            directions => directions.saturating_mul(8 * sample.numbers()),
        };
        let approximate = self.num_directions > 0;
        Batch::new(queries, run).run(|mut ticket| {
            let mut scratch = HalfspaceScratch::default();
            while let Some((first, rows)) = ticket.take(1, 1) {
                for (j, query) in rows.iter().enumerate() {
                    let interval = {
                        let cancelled = || ticket.cancelled();
                        let mut work = WorkBudget { spent: 0, budget, approximate, cancelled: &cancelled };
                        sample.solve(query, mass_tol, &mut work, &mut scratch)
                    };
                    let result = finish(query, interval, &mut scratch);
                    ticket.done(first + j, result);
                }
            }
        })
    }

    fn fit(
        &self,
        sample: &PreparedSample,
        query: &[f64],
        interval: &DepthInterval,
        scratch: &mut HalfspaceScratch,
    ) -> Fit {
        let total = sample.total() as f64;
        let depth = interval.upper as f64 / total;
        let gap = (interval.upper - interval.lower) as f64 / total;
        let stderr = sample.standard_error(depth, || sample.attained(query, interval, scratch).1);
        let error = gap + sample.rounding() + f64::EPSILON * depth;
        // Where both ends are equal nothing can be improved, whatever the tolerance.
        let done = gap == 0.0 || error <= self.tol;
        Fit {
            depth,
            error,
            stderr,
            iterations: usize::try_from(interval.spent.div_ceil(1000)).unwrap_or(usize::MAX),
            stop: if done { Stop::Converged } else { Stop::IterationLimit },
        }
    }
}

impl Hypothesis for Halfspace {
    type Prepared = PreparedSample;

    fn prepare(&self, sample: &Reference) -> Result<PreparedSample> {
        if !(self.tol >= 0.0 && self.tol.is_finite()) {
            let expected = "finite and not negative";
            return Err(DepthError::Setting { name: "tol", expected, got: self.tol });
        }
        sample.layout().map_or(Ok(()), |layout| layout.check_numeric("halfspace"))?;
        at_least_one("budget", self.budget)?;
        at_most_ten_million("num_directions", self.num_directions)?;
        Ok(PreparedSample::new(sample))
    }

    fn isolate(&self, sample: &PreparedSample, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.solve_all(sample, queries, run, |query, interval, scratch| {
            self.fit(sample, query, &interval, scratch)
        })
    }

    fn explain(&self, sample: &PreparedSample, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        self.solve_all(sample, queries, run, |query, interval, scratch| {
            let fit = self.fit(sample, query, &interval, scratch);
            let (direction, inside) = sample.attained(query, &interval, scratch);
            let influence = inside.iter().map(|i| f64::from(u8::from(*i)) - fit.depth).collect();
            // The sample is to have f > 0: away from the halfspace.
            let weights: Vec<f64> = direction.iter().map(|u| -u).collect();
            let intercept = -weights.iter().zip(query).map(|(w, z)| w * z).sum::<f64>();
            Explanation::linear(fit, weights, intercept, query, influence)
        })
    }
}
