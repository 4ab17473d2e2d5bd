//! A depth that needs no settings: three complementary depths, calibrated on the sample and combined, and the tails of single columns.

mod column_tails;
mod compared;
mod coordinates;
mod level_pairs;
mod prepared;
mod regressions;
mod side;
mod space;
mod tail;

pub use prepared::PreparedAuto;

use super::Hypothesis;
use crate::data::{Reference, Rows, Scale, Scaling};
use crate::error::{DepthError, Result, positive};
use crate::methods::explanation::Explanation;
use crate::problem::{Batch, Fit, Run, Ticket};
use compared::Compared;
use prepared::{Solved, Worker};

/// The default depth, a combination of depths that fail on different data; `docs/math/auto.md` has the definition and how it was
/// chosen.
///
/// | part | classifiers | columns |
/// |---|---|---|
/// | `narrow kernel` | support vector machines, Laplacian kernel as wide as a nearest neighbour is away | robust units |
/// | `ball` | balls around the query that hold 20 rows | robust units |
/// | `wide kernel` | support vector machines, Laplacian kernel as wide as a tenth of the sample | ranks |
/// | `column tails` | cuts of one column, and of what a column is given the others | as they are; robust units |
///
/// With $p_k(z)$ the share of the sample that part $k \le 3$ finds at most as deep as $z$, each row compared with the others, the depth is
/// the weighted geometric mean of these times a factor for gross errors,
///
/// $$ D(z) = \prod_{k=1}^3 p_k(z)^{w_k} \cdot p_4(z)^8, \qquad \sum_{k=1}^3 w_k = 1. $$
///
/// $p_4$ is 1 for nearly all rows. It is below 1 where a single value is farther out than the tail of its column, or its distance
/// from what the other columns let expect, makes plausible in a sample of this size.
///
/// Beyond the sample $p_k$ goes on falling, so that far outliers stay ordered. The weight of ranks rises with the skewness of
/// the columns: where columns are symmetric their units say more than ranks, where they are skewed less. The ball and the wide
/// kernel leave out the share [`trim`](Self::trim) of the sample that is oddest at first sight, so that outliers in
/// the sample do not hide each other. A query that equals a row of the sample is compared with the other rows.
///
/// At most [`reference_rows`](Self::reference_rows) rows are compared with, so the time of a query does not depend on the size of
/// the sample.
///
/// `error` bounds the rounding of the distances, sums and probabilities, with what was prepared taken as computed. `stderr`
/// is not a number: the sampling error of the shares $p_k$ alone is several times too small, and that of widths, weights and
/// scores is not known by a formula. The setting `resamples` of [`Settings`](crate::Settings) estimates it from random halves of the sample.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::Auto};
/// let sample = Reference::new(&[[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [1.0, 3.0], [3.0, 1.0]])?;
/// let fits = Depth::new(Auto::new()).fit(&sample)?.score(&[[1.0, 1.0], [9.0, -4.0], [1e6, 0.0]])?;
/// assert!(fits[0].depth > fits[1].depth && fits[1].depth > fits[2].depth && fits[2].depth > 0.0);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Auto {
    reference_rows: usize,
    trim: f64,
    tol: f64,
}

impl Default for Auto {
    fn default() -> Self {
        Self::new()
    }
}

impl Auto {
    pub(crate) const REFERENCE_ROWS: usize = 2000;
    pub(crate) const TRIM: f64 = 0.1;

    /// Compares with 2000 rows and trims a tenth.
    pub fn new() -> Self {
        Self { reference_rows: Self::REFERENCE_ROWS, trim: Self::TRIM, tol: 1e-6 }
    }

    /// How many rows of the sample a query is compared with at most.
    #[must_use]
    pub fn reference_rows(mut self, rows: usize) -> Self {
        self.reference_rows = rows;
        self
    }

    /// The share of the sample that the ball and the wide kernel leave out, from 0 (a sample known to be normal) to 0.45.
    #[must_use]
    pub fn trim(mut self, share: f64) -> Self {
        self.trim = share;
        self
    }

    /// The largest error bound to accept; there is nothing to improve, so a larger one is only reported as such.
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = tol;
        self
    }

    /// Prepares the rows that a map of each column makes of those of the sample.
    fn prepare_as(&self, sample: &Reference, map: impl Fn(usize, f64) -> f64) -> Result<PreparedAuto> {
        positive("tol", self.tol)?;
        let (rows, trim) = (self.reference_rows, self.trim);
        if !(2..=1_000_000).contains(&rows) {
            let (name, expected) = ("reference_rows", "between 2 and 1000000");
            return Err(DepthError::Setting { name, expected, got: rows as f64 });
        }
        if !(0.0..=0.45).contains(&trim) {
            return Err(DepthError::Setting { name: "trim", expected: "between 0 and 0.45", got: trim });
        }
        let zeros: Vec<Option<f64>> =
            (0..sample.width()).map(|j| sample.zero(j).map(|zero| map(j, zero))).collect();
        let compared = Compared::mapped(sample, rows, map);
        Ok(PreparedAuto::new(compared, sample.layout(), &zeros, trim, self.tol))
    }

    fn for_each_query<T: Send>(
        prepared: &PreparedAuto,
        queries: Rows<'_>,
        run: &Run<'_>,
        make: impl Fn(Solved) -> T + Sync,
    ) -> Result<Vec<T>> {
        Batch::new(queries, run).run(|mut ticket: Ticket<'_, '_, T>| {
            let mut worker = Worker::new(prepared);
            while let Some((first, rows)) = ticket.take(16, 1) {
                for (at, query) in rows.iter().enumerate() {
                    let made = make(worker.solve(query));
                    ticket.done(first + at, made);
                }
            }
        })
    }
}

impl Hypothesis for Auto {
    type Prepared = PreparedAuto;

    fn prepare(&self, sample: &Reference) -> Result<PreparedAuto> {
        self.prepare_as(sample, |_, x| x)
    }

    fn prepare_scaled(&self, sample: &Reference, scale: Scale, scaling: &Scaling) -> Result<PreparedAuto> {
        match scaling.columnwise() {
            Some(map) => self.prepare_as(sample, map),
            None => self.prepare(&sample.scaled(scale, scaling)),
        }
    }

    fn isolate(&self, prepared: &PreparedAuto, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        Self::for_each_query(prepared, queries, run, |solved| solved.fit)
    }

    fn explain(&self, prepared: &PreparedAuto, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        Self::for_each_query(prepared, queries, run, |solved| prepared.explanation(solved))
    }
}
