//! Depths of a reference that is read in passes: solved on a sample, improved and proven on all rows.
//!
//! A pass sums losses and slopes of all queries at their candidates, by matrix products. From these sums come a certificate for all
//! rows (docs/math/passes.md) and the next candidates. A query whose error is within the tolerance is left out of later passes.

mod frame;
mod search;
mod sums;

use self::frame::{BLOCK, Frame};
use self::search::{Found, Sample, Search};
use self::sums::Pass;
use super::Linear;
use crate::certify::pass::PassSums;
use crate::data::{RowSource, Rows, Scale, Scaling, Survey, unit_of};
use crate::error::Result;
use crate::loss::{Dual, Smooth};
use crate::methods::passes::{PassProgress, Watch, check_cancelled, check_same, on_threads};
use crate::problem::{Features, Fit, Intercept, Outcome, Run, Task};
use rayon::prelude::*;

/// Queries that go through the passes together: more would take more memory and be no faster.
const TOGETHER: usize = 8192;
/// The error of the solution on the sample, where that is not everything: a start only.
const START_ERROR: f64 = 1e-5;
/// Multiplications of a Hessian; it takes fewer rows of the sample where there are many columns. A heuristic.
const HESSIAN: usize = 1 << 26;

impl<L: Smooth + Dual> Linear<L> {
    /// The depths of queries, which are scaled, in a reference that a survey was made of. `source` gives the rows before scaling.
    pub(crate) fn isolate_by_passes<S: RowSource + Send>(
        &self,
        (survey, learned): (&Survey, (Scale, &Scaling)),
        source: &mut S,
        queries: Rows<'_>,
        run: &Run<'_>,
        watch: Watch<'_>,
    ) -> Result<Vec<Fit>, S::Error>
    where
        S::Error: Send,
    {
        self.check()?;
        on_threads(run, || {
            let solver = Solver::new(self, survey, learned, run)?;
            let mut fits = Vec::with_capacity(queries.len());
            for first in (0..queries.len()).step_by(TOGETHER) {
                let last = (first + TOGETHER).min(queries.len());
                fits.extend(solver.solve(source, queries.range(first, last), queries.len() - last, watch)?);
            }
            Ok(fits)
        })
    }
}

/// What all queries share.
struct Solver<'a, L> {
    linear: &'a Linear<L>,
    survey: &'a Survey,
    run: &'a Run<'a>,
    frame: Frame,
    features: Features,
    hessian_rows: Sample,
    mean: Vec<f64>,
    task: Task,
    /// A power of two that brings the largest weight close to 1.
    unit: f64,
}

impl<'a, L: Smooth + Dual> Solver<'a, L> {
    fn new(
        linear: &'a Linear<L>,
        survey: &'a Survey,
        (scale, scaling): (Scale, &Scaling),
        run: &'a Run<'a>,
    ) -> Result<Self> {
        survey.sample.check_mapped(scaling)?;
        let sample = survey.sample.scaled(scale, scaling);
        let frame = Frame::new(scaling.clone(), sample.mean(), linear.intercept);
        let (p, raw) = (frame.parameters(), survey.sample.rows());
        let tol = if survey.complete { 0.1 * linear.task.tol } else { START_ERROR.max(linear.task.tol) };
        let rows = (HESSIAN / (p * p)).max(4 * p).max(BLOCK).min(raw.len());
        let weights = &sample.weights()[..rows];
        let total: f64 = weights.iter().sum();
        let blocks = (0..rows).step_by(BLOCK).map(|first| {
            let last = (first + BLOCK).min(rows);
            frame.block(raw.range(first, last), weights[first..last].iter().map(|w| 0.5 * w / total))
        });
        let hessian_rows = Sample::new(blocks.collect(), p);
        let mut scaled = vec![0.0; raw.width()];
        scaling.apply(&survey.means().collect::<Vec<f64>>(), &mut scaled);
        let mean = frame.of_scaled(&scaled);
        let features = linear.prepare_features(&sample)?;
        let features = if linear.loss.single().is_some() { features.with_single() } else { features };
        let task = Task { tol, stderr: !run.depths_only, ..linear.task };
        let unit = unit_of(survey.largest_weight);
        Ok(Self { linear, survey, run, frame, features, hessian_rows, mean, task, unit })
    }

    fn solve<S: RowSource>(
        &self,
        source: &mut S,
        queries: Rows<'_>,
        later: usize,
        watch: Watch<'_>,
    ) -> Result<Vec<Fit>, S::Error> {
        let (linear, survey, loss) = (self.linear, self.survey, &self.linear.loss);
        let run = Run { progress: None, ..*self.run };
        let starts = linear.outcomes_of_task(&self.features, queries, &run, self.task)?;
        let mut searches: Vec<Search> = starts
            .iter()
            .zip(queries.iter())
            .map(|(outcome, row)| {
                let (mut w, mut b) = self.features.classifier(&outcome.theta, &linear.extended(row));
                if linear.intercept == Intercept::Penalised {
                    b = w.pop().unwrap_or(0.0);
                }
                Search::new(self.frame.of_scaled(row), self.frame.parameters_of(&w, b), &self.mean, loss)
            })
            .collect();
        let (free, width) = (self.frame.free(), survey.sample.width());
        for number in 1.. {
            let open: Vec<usize> = (0..searches.len()).filter(|&j| !searches[j].done).collect();
            if open.is_empty() {
                break;
            }
            let largest = open.iter().map(|&j| searches[j].found.certificate.error);
            let error = if number == 1 { f64::INFINITY } else { largest.fold(0.0, f64::max) };
            let mut progress = PassProgress {
                pass: number,
                rows: 0,
                of: survey.rows,
                open: open.len() + later,
                error,
                share: None,
            };
            watch(&progress);
            let candidates: Vec<&[f64]> = open.iter().map(|&j| &searches[j].trial[..]).collect();
            let mut pass = Pass::new(&candidates);
            pass.run(source, (&self.frame, loss, self.unit), width, &mut |rows| {
                progress.rows = rows;
                watch(&progress);
                check_cancelled(self.run)
            })?;
            check_same((pass.rows, pass.total()), (survey.rows, survey.total * self.unit))?;
            let half = 0.5 / pass.total();
            let mut active: Vec<(usize, &mut Search)> =
                searches.iter_mut().filter(|search| !search.done).enumerate().collect();
            active.par_iter_mut().for_each(|(column, search)| {
                let sums = pass.sums(*column);
                let slopes: Vec<f64> = sums.slopes.iter().map(|s| half * s).collect();
                let sums = PassSums {
                    theta: &search.trial,
                    free,
                    query: &search.query,
                    loss: half * sums.loss,
                    slopes: &slopes,
                    slope_norms: half * sums.slope_norms,
                    largest_norm: pass.largest_norm,
                    smallest_margin: sums.smallest_margin,
                    block: BLOCK,
                    blocks: pass.blocks,
                };
                let evaluation = sums.evaluate(loss, &linear.task);
                search.take(evaluation, loss, &linear.task, number);
                if !search.done {
                    search.step(&self.hessian_rows, loss, &linear.task, free);
                }
            });
            let done = active.iter().filter(|(_, search)| search.done).count();
            if let Some(progress) = self.run.progress.filter(|_| done > 0) {
                progress(done);
            }
        }
        let fit = |(search, start): (&Search, &Outcome)| {
            let Found { depth, certificate, passes: iterations, stop } = search.found;
            let depth = depth.clamp(0.0, 1.0);
            Fit { depth, error: certificate.error, stderr: start.stderr, iterations, stop }.capped()
        };
        Ok(searches.iter().zip(&starts).map(fit).collect())
    }
}
