//! The depths of some queries, in one reading.

use super::Reading;
use super::certificate::{QueryMean, divisor};
use super::reference::SvmReference;
use super::tile::{Scratch, TILE, Tile, scaled, tiles};
use crate::data::{RowSource, Rows, for_each_chunk};
use crate::error::Result;
use crate::kernel::{Kernel, Standard};
use crate::methods::Hypothesis;
use crate::methods::passes::{PassProgress, Watch, check_cancelled, check_same};
use crate::methods::svm::Svm;
use crate::numerics::double_double::{Twofold, twofold_rounding};
use crate::problem::features::gamma;
use crate::problem::{Fit, Intercept, Run};
use rayon::prelude::*;

/// Rows of a chunk.
const CHUNK: usize = 64 * TILE;

impl SvmReference {
    /// One reading for some queries.
    pub(super) fn fits<S: RowSource>(
        &self,
        svm: &Svm,
        reading: &Reading<'_>,
        source: &mut S,
        (queries, later): (Rows<'_>, usize),
        watch: Watch<'_>,
    ) -> Result<Vec<Fit>, S::Error> {
        let Reading { survey, scaling, unit, run } = *reading;
        let width = survey.sample.width();
        let norm = &self.norm;
        let mut progress = PassProgress {
            pass: self.readings + 1,
            rows: 0,
            of: survey.rows,
            open: queries.len() + later,
            error: 0.5 * (norm.high - norm.low) / divisor(&svm.task),
            share: Some(0.0),
        };
        watch(&progress);
        let own_share = queries.len() as f64 / (queries.len() + later) as f64;
        let mut means = vec![Twofold::default(); queries.len()];
        let (mut total, mut rows_read, mut count) = (Twofold::default(), 0, 0);
        let kernel = &self.kernel;
        for_each_chunk(source, width, CHUNK, &mut |rows, weights| {
            let own: Vec<f64> = weights.iter().map(|weight| weight * unit).collect();
            let parts: Vec<Vec<f64>> = tiles(0..rows.len())
                .collect::<Vec<_>>()
                .into_par_iter()
                .map_init(Scratch::new, |scratch, range| {
                    let data = scaled(scaling, rows.range(range.start, range.end));
                    let rows = Rows::new(&data, width)?;
                    let mut sums = Vec::new();
                    Tile::new(rows, &own[range]).sums(kernel, queries, scratch, &mut sums);
                    Ok(sums)
                })
                .collect::<Result<_>>()?;
            for part in &parts {
                means.iter_mut().zip(part).for_each(|(mean, sum)| mean.add(*sum));
            }
            for weight in &own {
                total.add(*weight);
            }
            (rows_read, count) = (rows_read + rows.len(), count + parts.len());
            progress.rows = rows_read;
            progress.share = Some(own_share * (rows_read as f64 / survey.rows as f64));
            watch(&progress);
            check_cancelled(run)
        })?;
        check_same((rows_read, total.value()), (survey.rows, survey.total * unit))?;
        let precision = kernel.precision(width) + 2.0 * f64::EPSILON;
        let rounding = precision + gamma(TILE + 32) + twofold_rounding(count);
        let (alike, few) = &self.few;
        let stderr = if run.depths_only {
            vec![f64::NAN; queries.len()]
        } else {
            let run = Run { progress: None, ..*run };
            alike.isolate(few, queries, &run)?.iter().map(|fit| fit.stderr).collect()
        };
        let exact = matches!(kernel, Standard::Gaussian { .. } | Standard::Laplacian { .. });
        let diagonal_unit = if exact { 0.0 } else { precision + 4.0 * f64::EPSILON };
        let how = (&svm.task, svm.intercept == Intercept::Free, kernel.is_non_negative());
        let fit = |(z, (mean, stderr)): (&[f64], (&Twofold, &f64))| {
            let query = QueryMean {
                mean: mean.value() / total.value(),
                unit: rounding,
                diagonal: kernel.diagonal(z),
                diagonal_unit,
            };
            query.fit(norm, how, *stderr, self.readings + 1)
        };
        let fits: Vec<Fit> = queries.iter().zip(means.iter().zip(&stderr)).map(fit).collect();
        if let Some(progress) = run.progress {
            progress(fits.len());
        }
        Ok(fits)
    }
}
