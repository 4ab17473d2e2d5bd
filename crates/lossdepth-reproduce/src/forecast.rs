//! How long a candidate would take on a table, from short runs on parts of it.

use crate::candidate::Candidate;
use lossdepth::{DepthError, Reference, Rows, Run};
use std::time::{Duration, Instant};

/// How many rows of the reference the larger of the two short runs has; the other has a quarter. Tables of no more rows are not worth a
/// forecast. A heuristic, as the other numbers here.
const LARGE: usize = 512;

/// How many rows are scored at a time in a short run: the smaller number first, and the larger one where that is fast, since
/// methods solve rows in blocks.
const QUERIES: [usize; 2] = [4, 64];

/// A call is repeated until all took so long and there were three, unless one is long enough by itself; the shortest counts, for it
/// was disturbed the least.
const ENOUGH: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_millis(50);

/// No method has a time that grows faster than this power of the reference's size.
const LARGEST_POWER: f64 = 3.0;

impl Candidate {
    /// About how many seconds it takes to fit to a sample and score rows: measured on two parts of the sample and extrapolated by
    /// a power law. `None` if the table is so small that one may simply run it.
    ///
    /// # Errors
    /// Those of the method or baseline.
    pub fn forecast(
        &self,
        sample: &Reference,
        rows: Rows<'_>,
        run: &Run<'_>,
    ) -> Result<Option<f64>, DepthError> {
        let (n, queries) = (sample.len(), rows.len());
        if n.max(queries) <= LARGE {
            return Ok(None);
        }
        let large = n.min(LARGE);
        let small = (large / 4).max(2);
        let (small_fit, small_row) = self.short_run(&part(sample, small)?, rows, run)?;
        let (large_fit, large_row) = self.short_run(&part(sample, large)?, rows, run)?;
        let grown = |small_time: f64, large_time: f64| {
            let power = ((large_time / small_time).ln() / (large as f64 / small as f64).ln())
                .clamp(0.0, LARGEST_POWER);
            large_time * (n as f64 / large as f64).powf(power)
        };
        Ok(Some(grown(small_fit, large_fit) + queries as f64 * grown(small_row, large_row)))
    }

    /// The seconds of a fit, and of scoring one row.
    fn short_run(&self, sample: &Reference, rows: Rows<'_>, run: &Run<'_>) -> Result<(f64, f64), DepthError> {
        let fitted = self.fit(sample, run)?;
        let fit = timed(|| self.fit(sample, run).map(|_| ()))?;
        let score = |count: usize| {
            let chosen: Vec<f64> =
                spaced(rows.len(), count).flat_map(|row| rows.row(row).iter().copied()).collect();
            let chosen = Rows::new(&chosen, rows.width())?;
            Ok::<_, DepthError>(timed(|| fitted.score(chosen, false, run).map(|_| ()))? / chosen.len() as f64)
        };
        let [few, many] = QUERIES;
        let alone = score(few)?;
        let fast = alone * many as f64 <= LONG.as_secs_f64();
        Ok((fit, if fast { score(many)?.min(alone) } else { alone }))
    }
}

/// The shortest time of a call.
fn timed(mut call: impl FnMut() -> Result<(), DepthError>) -> Result<f64, DepthError> {
    let (started, mut calls, mut shortest) = (Instant::now(), 0u32, Duration::MAX);
    loop {
        let now = Instant::now();
        call()?;
        let took = now.elapsed();
        (calls, shortest) = (calls + 1, shortest.min(took));
        if took >= LONG || calls >= 3 && started.elapsed() >= ENOUGH {
            return Ok(shortest.as_secs_f64());
        }
    }
}

/// So many of the numbers below `all`, at equal steps.
fn spaced(all: usize, count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(all);
    (0..count).map(move |i| i * all / count)
}

/// Some rows of a sample, at equal steps.
fn part(sample: &Reference, count: usize) -> Result<Reference, DepthError> {
    let rows: Vec<usize> = spaced(sample.len(), count).collect();
    let data = rows.iter().flat_map(|&row| sample.rows().row(row).iter().copied()).collect();
    let weights = sample.given_weights().map(|weights| rows.iter().map(|&row| weights[row]).collect());
    let part = Reference::from_vec(data, sample.width(), weights)?;
    match sample.layout() {
        Some(layout) => part.with_layout(layout.clone()),
        None => Ok(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::CommonSettings;

    fn sample(rows: usize) -> Reference {
        let rows: Vec<[f64; 2]> =
            (0..rows).map(|i| [(i * 7919 % 1009) as f64, (i * 104_729 % 1013) as f64]).collect();
        Reference::new(rows.as_slice()).unwrap()
    }

    #[test]
    fn small_tables_are_not_tried_and_others_have_a_positive_time() {
        let candidate = |name| Candidate::new(name, &[], &CommonSettings::default()).unwrap();
        let (small, large) = (sample(512), sample(2000));
        for name in ["logistic", "lof"] {
            let forecast =
                |sample: &Reference, rows| candidate(name).forecast(sample, rows, &Run::default()).unwrap();
            assert_eq!(forecast(&small, small.rows()), None);
            assert!(forecast(&large, large.rows()).unwrap() > 0.0);
            // Many rows against few.
            assert!(forecast(&sample(9), large.rows()).unwrap() > 0.0);
        }
    }

    #[test]
    fn a_part_has_rows_from_all_over_with_their_weights() {
        assert_eq!(spaced(10, 4).collect::<Vec<_>>(), [0, 2, 5, 7]);
        assert_eq!(spaced(3, 8).collect::<Vec<_>>(), [0, 1, 2]);
        let weighted = Reference::weighted(&[[0.0], [1.0], [2.0], [3.0]], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let found = part(&weighted, 2).unwrap();
        assert_eq!(
            (found.rows().as_slice(), found.given_weights()),
            (&[0.0, 2.0][..], Some(&[1.0, 3.0][..]))
        );
    }
}
