//! Models of sparse rows: methods that need no more of the rows than their kernel values.
//!
//! A linear classifier is one in the Hilbert space of the linear kernel. So every method here is the same with a kernel, of which
//! only the values of the sample with itself and with the queries are needed: $n$ numbers a query, whatever the number of
//! columns. They come from the rows as they are stored, and the methods take them as a precomputed kernel, with the accuracy
//! that they are known to have. Memory grows with the numbers stored and with $n^2$.

mod explanation;

pub use explanation::{ColumnWeight, SparseExplanation};

use super::depth::{Depth, Fitted};
use super::method::Method;
use super::on_demand::OnDemand;
use super::percentiles::Percentiles;
use super::settings::Settings;
use crate::data::{ReferenceRows, Rows, Scale, Scaling, SparseReference, SparseRows};
use crate::error::{DepthError, Result, in_bytes};
use crate::kernel::{KernelChoice, KernelSource, SparseSample, Standard, representatives};
use crate::loss::{Exponential, Logistic, Loss, SquaredHinge};
use crate::methods::Hypothesis;
use crate::problem::{Batch, Fit, Intercept, Reported, Run};

/// The bytes that kernel values may take by default.
const MEMORY: u64 = 4 << 30;

/// About how many bytes a column takes, whether a row has a number in it or not: scaling, moments, and where its numbers are.
const COLUMN: u64 = 128;

/// Kernel values of queries held at a time: 64 MB.
const HELD: usize = 1 << 23;

/// Queries whose kernel values a worker computes at a time.
const BLOCK: usize = 32;

/// A method fitted to sparse rows.
pub struct SparseModel {
    settings: Settings,
    sample: SparseReference,
    scaling: Scaling,
    kernel: Standard,
    rows: SparseSample,
    fitted: Box<dyn Fitted>,
    percentiles: OnDemand<Percentiles>,
}

impl Settings {
    /// Fits a linear method or one with a kernel to sparse rows, without making them dense.
    ///
    /// The depths are those of the dense rows, within the errors of both. `memory` limits the bytes of kernel values where the
    /// settings do not, 4 GiB by default; $n$ rows take $16 n^2$ with the losses of support vector machines, $56 n^2$ otherwise.
    ///
    /// ```
    /// use lossdepth::data::{SparseReference, SparseRows};
    /// use lossdepth::{Method, Run, Settings};
    /// let rows = SparseRows::new(vec![0, 1, 2, 4], vec![1, 1, 1, 3], vec![2.0, 1.0, 1.0, 9.0], 4)?;
    /// let sample = SparseReference::new(rows.clone(), None)?;
    /// let model = Settings::new(Method::Logistic).fit_sparse(&sample, None)?;
    /// let fits = model.score(&rows, &Run::default())?;
    /// assert!(fits[2].depth < fits[1].depth);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// A setting is out of its range, or one that needs dense rows; kernel values that need more memory.
    pub fn fit_sparse(&self, sample: &SparseReference, memory: Option<u64>) -> Result<SparseModel> {
        self.check_sparse(sample)?;
        let bytes = self.bytes()?.or(memory).unwrap_or(MEMORY);
        let (n, width) = (sample.len(), sample.width());
        // The values as rows and as a matrix.
        within(bytes, 16 * n as u128 * (n as u128 + 1), || format!("kernel values of {n} sparse rows"))?;
        within(bytes, u128::from(COLUMN) * width as u128, || format!("{width} columns of sparse rows"))?;
        let scaling = if self.scale == Scale::None && self.is_linear() && self.intercept == Intercept::Free {
            // It changes no depth, and keeps digits where the origin is far from the data.
            Scaling::center_of_sparse(sample)
        } else {
            Scaling::of_sparse(self.scale, sample)?
        };
        let rows = SparseSample::new(sample, &scaling);
        let kernel = rows.learn(&self.sparse_kernel())?;
        let Some(kernel) = kernel else {
            return Err(refused("kernel `precomputed` needs dense rows: of kernel values"));
        };
        let fitted = {
            let mut values = Vec::with_capacity(n * (n + 1));
            for first in (0..n).step_by(CHUNK) {
                let count = CHUNK.min(n - first);
                for part in in_blocks(count, &Run::default(), |from, to| {
                    rows.own_values(&kernel, first + from..first + to)
                })? {
                    values.extend(part);
                }
            }
            let values = sample.with_numbers(values, n + 1);
            let source = KernelSource::Values { precision: rows.precision(&kernel) };
            self.fit_values(&values, source, bytes)?
        };
        let (settings, sample) = (self.clone(), sample.clone());
        Ok(SparseModel { settings, sample, scaling, kernel, rows, fitted, percentiles: OnDemand::default() })
    }

    /// Whether the method and its settings do without dense rows.
    fn check_sparse(&self, sample: &SparseReference) -> Result<()> {
        use Method::{Exponential, Gp, Hinge, Klr, Logistic, SquaredHinge, Svm};
        let can = [Logistic, Hinge, SquaredHinge, Exponential, Svm, Klr, Gp];
        if !can.contains(&self.method) {
            return Err(refused(&format!(
                "method `{}` needs dense rows: sparse ones go with {}",
                self.method,
                can.map(Method::name).join(", ")
            )));
        }
        if self.value != Reported::Risk {
            return Err(refused(&format!(
                "value `{}` needs dense rows: sparse ones go with `risk`",
                self.value
            )));
        }
        if self.resamples > 0 {
            return Err(refused("resamples needs dense rows: sparse ones go with 0"));
        }
        let all = match self.reference_rows {
            ReferenceRows::All => true,
            ReferenceRows::Auto => sample.len() <= ReferenceRows::EXACT,
            ReferenceRows::Count(rows) => sample.len() <= rows,
            ReferenceRows::Passes => false,
        };
        if !all {
            return Err(refused(&format!(
                "reference_rows `{}` needs dense rows: {} sparse ones go with `all`",
                self.reference_rows,
                sample.len()
            )));
        }
        Ok(())
    }

    /// Of a linear method the linear kernel.
    fn sparse_kernel(&self) -> KernelChoice {
        if self.is_linear() { KernelChoice::Linear } else { self.kernel }
    }

    fn is_linear(&self) -> bool {
        !self.method.settings().contains(&"kernel")
    }

    /// Fits the method to kernel values.
    fn fit_values(
        &self,
        values: &crate::Reference,
        source: KernelSource,
        memory: u64,
    ) -> Result<Box<dyn Fitted>> {
        fn fit<H: Hypothesis + 'static>(hypothesis: H, values: &crate::Reference) -> Result<Box<dyn Fitted>> {
            Ok(Box::new(Depth::new(hypothesis).fit(values)?))
        }
        fn smooth<L: Loss>(
            settings: &Settings,
            loss: L,
            source: KernelSource,
            memory: u64,
        ) -> Result<crate::methods::Kernelised<L>> {
            Ok(settings.kernelised(loss)?.kernel(source).memory(memory))
        }
        match self.method {
            Method::Hinge | Method::Svm => fit(self.svm()?.kernel(source).memory(memory), values),
            Method::SquaredHinge => fit(smooth(self, SquaredHinge, source, memory)?, values),
            Method::Exponential => fit(smooth(self, Exponential, source, memory)?, values),
            Method::Gp => fit(self.gp()?.kernel(source).memory(memory), values),
            _ => fit(smooth(self, Logistic, source, memory)?, values),
        }
    }
}

/// Rows whose kernel values are computed before they are put together.
const CHUNK: usize = 1024;

/// Refuses what takes more memory than is allowed.
fn within(allowed: u64, needed: u128, what: impl Fn() -> String) -> Result<()> {
    if needed <= u128::from(allowed) {
        return Ok(());
    }
    let (needed, most) = (in_bytes(u64::try_from(needed).unwrap_or(u64::MAX)), in_bytes(allowed));
    Err(DepthError::Kernel(format!(
        "the {} need {needed}, more than the {most} that `memory` allows",
        what()
    )))
}

fn refused(reason: &str) -> DepthError {
    DepthError::Settings(reason.to_owned())
}

/// Does `work` for blocks of `count` rows on the threads of `run`, in order.
fn in_blocks<T: Send>(
    count: usize,
    run: &Run<'_>,
    work: impl Fn(usize, usize) -> T + Sync,
) -> Result<Vec<T>> {
    let blocks = vec![0.0; count.div_ceil(BLOCK)];
    let run = Run { progress: None, ..*run };
    Batch::new(Rows::new(&blocks, 1)?, &run).run(|mut ticket| {
        while let Some((block, _)) = ticket.take(1, 1) {
            ticket.done(block, work(block * BLOCK, ((block + 1) * BLOCK).min(count)));
        }
    })
}

impl SparseModel {
    /// The depth of each query, which depends on the query alone.
    ///
    /// # Errors
    /// Rows of another width than the reference, or [`DepthError::Cancelled`].
    pub fn score(&self, queries: &SparseRows, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.in_parts(queries, run, |_, values| self.fitted.score(values, run))
    }

    /// Why each query has the depth it has. Of a linear method: the `most` columns with the largest contributions in either direction.
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    pub fn explain(
        &self,
        queries: &SparseRows,
        most: usize,
        run: &Run<'_>,
    ) -> Result<Vec<SparseExplanation>> {
        let linear = self.settings.is_linear();
        let mean =
            if linear { Scaling::center_of_sparse(&self.sample).center().to_vec() } else { Vec::new() };
        self.in_parts(queries, run, |first, values| {
            let found = self.fitted.explain(values, run)?;
            let each = (first..).zip(found);
            Ok(each
                .map(|(i, explanation)| {
                    if linear {
                        self.by_columns(queries.row(i), &mean, most, explanation)
                    } else {
                        SparseExplanation::without_columns(explanation)
                    }
                })
                .collect())
        })
    }

    /// Calls `work` with the kernel values of some queries after the other and the number of the first.
    fn in_parts<T>(
        &self,
        queries: &SparseRows,
        run: &Run<'_>,
        work: impl Fn(usize, Rows<'_>) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let (expected, got) = (self.width(), queries.width());
        if expected != got && !queries.is_empty() {
            return Err(DepthError::Dimension { row: 0, expected, got });
        }
        let width = self.sample.len() + 1;
        let most = (HELD / width).clamp(BLOCK, CHUNK);
        let mut results = Vec::with_capacity(queries.len());
        for first in (0..queries.len()).step_by(most) {
            let count = most.min(queries.len() - first);
            let parts = in_blocks(count, run, |from, to| {
                self.rows.values(&self.kernel, queries, first + from..first + to)
            })?;
            let values = parts.concat();
            results.extend(work(first, Rows::new(&values, width)?)?);
        }
        Ok(results)
    }

    /// The settings that it was fitted with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The sample that it was fitted to.
    pub fn reference(&self) -> &SparseReference {
        &self.sample
    }

    /// How many columns a query must have.
    pub fn width(&self) -> usize {
        self.sample.width()
    }

    /// How deep the reference is, as for [`Model::percentiles`](super::Model::percentiles).
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    pub fn percentiles(&self, run: &Run<'_>) -> Result<&Percentiles> {
        self.percentiles.get(|| {
            let compare = |a: usize, b: usize| self.sample.compare(a, b);
            let (rows, weights): (Vec<usize>, Vec<f64>) =
                representatives(self.sample.weights(), compare, Percentiles::MOST).into_iter().unzip();
            let run = Run { depths_only: true, ..*run };
            let fits = self.score(&self.sample.rows().chosen(&rows), &run)?;
            Ok(Percentiles::of_pool(&fits, &weights, self.sample.observations()))
        })
    }

    /// [`percentiles`](Self::percentiles), if they are known already.
    pub fn known_percentiles(&self) -> Option<&Percentiles> {
        self.percentiles.known()
    }

    /// The same model with the percentiles that were saved with it.
    pub(super) fn with_percentiles(self, percentiles: Option<Percentiles>) -> Self {
        Self { percentiles: percentiles.into(), ..self }
    }
}

impl std::fmt::Debug for SparseModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseModel").field("settings", &self.settings).finish_non_exhaustive()
    }
}
