//! What all queries share: the kernel, and the norm of the mean embedding, in as many readings as it takes.

use super::Reading;
use super::certificate::divisor;
use super::mean_norm::{BlockSums, MeanNorm};
use super::plan::{Plan, Planner};
use crate::data::{RowSource, Scale, for_each_chunk};
use crate::error::Result;
use crate::kernel::{Kernel, KernelSource, Standard};
use crate::methods::Hypothesis;
use crate::methods::passes::{PassProgress, Watch, check_cancelled, check_same};
use crate::methods::svm::{PreparedSvm, Svm};
use std::sync::Arc;

/// Rows that standard errors are estimated on, at most. A heuristic.
const STDERR_ROWS: usize = 4096;
/// Numbers of a chunk of blocks.
const CHUNK_NUMBERS: usize = 1 << 21;
/// The share of the tolerance that the norm of the mean embedding is planned to take, and the one beyond which a reading is given up for
/// one with larger blocks.
const PLANNED: f64 = 0.85;
const ENOUGH: f64 = 0.98;
/// Readings for this norm, at most. A heuristic.
const READINGS: usize = 3;

/// What is found once for all queries.
#[derive(Debug)]
pub(crate) struct SvmReference {
    pub(super) kernel: Standard,
    pub(super) norm: MeanNorm,
    /// How often the rows were read for it.
    pub(super) readings: usize,
    /// Fewer rows, for standard errors.
    pub(super) few: (Svm, PreparedSvm),
}

/// One reading for the norm.
struct NormReading<'a> {
    svm: &'a Svm,
    reading: &'a Reading<'a>,
    kernel: Standard,
    plan: &'a Plan,
    /// What the blocks may leave.
    limit: f64,
    /// Which reading this is, and how many queries come after it.
    number: usize,
    queries: usize,
}

impl SvmReference {
    pub(super) fn new<S: RowSource>(
        svm: &Svm,
        reading: &Reading<'_>,
        (scale, seed): (Scale, u64),
        source: &mut S,
        queries: usize,
        watch: Watch<'_>,
    ) -> Result<Self, S::Error> {
        let survey = reading.survey;
        survey.sample.check_mapped(reading.scaling)?;
        let sample = survey.sample.scaled(scale, reading.scaling);
        let KernelSource::Choice(choice) = svm.kernel else { unreachable!("checked") };
        let Some(kernel) = choice.learn(&sample)? else { unreachable!("checked") };
        svm.check_reg(sample.rows().iter().map(|x| kernel.diagonal(x)).fold(0.0, f64::max))?;
        // Half of the interval's length enters depths.
        let allowed = 2.0 * divisor(&svm.task) * svm.task.tol;
        let planner = Planner::new(kernel, (&sample, survey.complete), survey.rows, seed)?;
        let (mut readings, mut planned) = (0, PLANNED * allowed);
        let norm = loop {
            readings += 1;
            let plan = planner.plan(planned)?;
            let last = plan.last || readings == READINGS;
            let limit = if last { f64::INFINITY } else { ENOUGH * allowed };
            let once = NormReading { svm, reading, kernel, plan: &plan, limit, number: readings, queries };
            match once.run(source, watch)? {
                Ok(norm) => break norm,
                Err(left) => planned *= planned / left,
            }
        };
        let few = sample.first(STDERR_ROWS)?;
        let svm = svm.clone().kernel(KernelSource::Own(Arc::new(kernel)));
        let prepared = svm.prepare(&few)?;
        Ok(Self { kernel, norm, readings, few: (svm, prepared) })
    }
}

impl NormReading<'_> {
    /// Bounds on $\|\mu\|^2$, or what the blocks would leave: the rest is not summed once that is beyond the limit.
    fn run<S: RowSource>(
        &self,
        source: &mut S,
        watch: Watch<'_>,
    ) -> Result<std::result::Result<MeanNorm, f64>, S::Error> {
        let Self { svm, plan, limit, number: pass, queries: open, .. } = *self;
        let Reading { survey, scaling, unit, run } = *self.reading;
        let (width, of) = (survey.sample.width(), survey.rows);
        let chunk = plan.block * (CHUNK_NUMBERS / width / plan.block).max(1);
        let mut sums = BlockSums::new(self.kernel, &plan.centres, plan.block);
        let part = plan.cost() / (plan.cost() + open as f64);
        let whole = survey.total * unit;
        let (mut beyond, mut seen, mut own) = (None, 0, Vec::new());
        let mut tell = |rows: usize| {
            let share = Some(part * rows as f64 / of as f64);
            watch(&PassProgress { pass, rows, of, open, error: f64::INFINITY, share });
        };
        tell(0);
        for_each_chunk(source, width, chunk, &mut |rows, weights| {
            seen += rows.len();
            if beyond.is_none() {
                own.clear();
                own.extend(weights.iter().map(|weight| weight * unit));
                sums.add(scaling, rows, &own)?;
                svm.check_reg(sums.largest())?;
                let left = sums.distances() / whole;
                if plan.block < of && left > limit {
                    // As if the other rows were like these.
                    beyond = Some(left * (of as f64 / seen as f64));
                }
            }
            tell(seen);
            check_cancelled(run)
        })?;
        if let Some(left) = beyond {
            return Ok(Err(left));
        }
        check_same((sums.rows, sums.total()), (of, whole))?;
        Ok(Ok(sums.norm()))
    }
}
