//! Classical notions of depth: what statisticians had before losses, with the same care for ties, weights and errors.
//!
//! | type | depth of $z$ | computed |
//! |---|---|---|
//! | [`Mahalanobis`] | $1 / (1 + d^2)$ with the Mahalanobis distance $d$ | closed form |
//! | [`Spatial`] | $1 - \|\sum_i \omega_i (x_i - z) / \|x_i - z\|\|$ | closed form |
//! | [`L2`] | $1 / (1 + \sum_i \omega_i \|x_i - z\|)$ | closed form |
//! | [`Potential`] | $\sum_i \omega_i \exp(-\|x_i - z\|^2 / 2h)$ | closed form |
//! | [`Zonoid`] | least hinge loss of a linear function that vanishes at $z$ | linear program |
//! | [`Projection`] | $1 / (1 + O)$ with the outlyingness $O$ of Stahel and Donoho | exact in the plane, else directions |
//! | [`Simplicial`] | share of the simplices of the sample that contain $z$ | counted up to three dimensions, else sampled |
//!
//! The comments refer to the equations (N1), ... of `docs/math/classical.md`.

mod by_distances;
mod cloud;
mod direction_cells;
mod frame;
mod half_turn;
mod measure;
mod piecewise_linear;
mod planar_breakpoints;
mod sampled_simplices;
mod sphere_counts;
mod tetrahedra;

mod l2;
mod mahalanobis;
mod potential;
mod projection;
mod simplicial;
mod spatial;
mod zonoid;

pub use by_distances::PreparedDistances;
pub use frame::Scatter;
pub use l2::L2;
pub use mahalanobis::{Mahalanobis, PreparedMahalanobis};
pub use potential::Potential;
pub use projection::{PreparedProjection, Projection};
pub use simplicial::{PreparedSimplicial, Simplicial};
pub use spatial::Spatial;
pub use zonoid::{PreparedZonoid, Zonoid};

use crate::data::{Reference, Rows};
use crate::error::{Result, positive};
use crate::methods::explanation::{Explanation, Reason, Tangent};
use crate::numerics::simd::LANES;
use crate::problem::{Batch, Fit, Run, Stop, Ticket};

/// What is asked of a query beside its depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The depth and its error.
    Depth,
    /// The standard error as well.
    StandardError,
    /// Everything.
    Explanation,
}

impl Asked {
    fn standard_error(self) -> bool {
        self != Self::Depth
    }

    fn explanation(self) -> bool {
        self == Self::Explanation
    }
}

/// What a notion says of one query.
#[derive(Debug, Clone, Default)]
struct Answer {
    depth: f64,
    error: f64,
    stderr: f64,
    work: usize,
    why: Why,
}

/// A standard error of more than this share of the depth is withheld (heuristic).
///
/// With the depth a mean of terms of which few rows have a large one, the share is $1 / \sqrt m$ for the effective number $m$ of rows
/// that decide (Kish): so nine are needed, and more for `simplicial`. At queries with fewer, 95 % intervals covered 10 to 63 %
/// (docs/math/inference.md).
const LARGEST_STDERR: f64 = 1.0 / 3.0;

impl Answer {
    /// Withholds the standard error where so few rows decide that first order says nothing of it; among them a depth of 0.
    fn withhold_stderr_of_few_rows(&mut self) {
        let known = self.stderr < LARGEST_STDERR * self.depth;
        if !known {
            self.stderr = f64::NAN;
        }
    }
}

/// Why, if that was asked for.
#[derive(Debug, Clone, Default)]
enum Why {
    #[default]
    NotAsked,
    /// $f(x) = \langle w, x \rangle + b$, positive for the sample.
    Linear { weights: Vec<f64>, intercept: f64, influence: Option<Vec<f64>> },
    /// The gradient of the depth where it is known, and the influence of each row.
    Smooth { gradient: Option<Vec<f64>>, influence: Option<Vec<f64>>, at_mean: f64 },
}

/// A notion of depth that answers queries.
trait Notion: Send + Sync {
    const NAME: &'static str;
    type Prepared: Send + Sync;
    type Scratch: Default;

    fn tol(&self) -> f64;
    fn prepare_sample(&self, sample: &Reference) -> Result<Self::Prepared>;

    /// Answers one query.
    fn answer(
        &self,
        prepared: &Self::Prepared,
        query: &[f64],
        asked: Asked,
        scratch: &mut Self::Scratch,
    ) -> Answer;

    /// The depths and errors of up to [`LANES`] queries, the same as by [`answer`](Self::answer): for notions that compute
    /// several of them faster than one by one.
    fn depths(&self, _: &Self::Prepared, _: Rows<'_>, _: &mut Self::Scratch) -> Option<[[f64; 2]; LANES]> {
        None
    }
}

/// Checks what all notions want: numbers, and a positive tolerance.
fn prepare<N: Notion>(notion: &N, sample: &Reference) -> Result<N::Prepared> {
    positive("tol", notion.tol())?;
    sample.layout().map_or(Ok(()), |layout| layout.check_numeric(N::NAME))?;
    notion.prepare_sample(sample)
}

fn for_each_query<N: Notion, T: Send>(
    notion: &N,
    prepared: &N::Prepared,
    (queries, run): (Rows<'_>, &Run<'_>),
    asked: Asked,
    make: impl Fn(&[f64], Answer) -> T + Sync,
) -> Result<Vec<T>> {
    Batch::new(queries, run).run(|mut ticket: Ticket<'_, '_, T>| {
        let mut scratch = N::Scratch::default();
        while let Some((first, rows)) = ticket.take(LANES, 1) {
            if asked == Asked::Depth
                && let Some(found) = notion.depths(prepared, rows, &mut scratch)
            {
                for (at, (query, [depth, error])) in rows.iter().zip(found).enumerate() {
                    ticket.done(first + at, make(query, Answer { depth, error, ..Answer::default() }));
                }
                continue;
            }
            for (at, query) in rows.iter().enumerate() {
                let answer = notion.answer(prepared, query, asked, &mut scratch);
                ticket.done(first + at, make(query, answer));
            }
        }
    })
}

fn fit_of(answer: &Answer, tol: f64) -> Fit {
    // Adding 0 makes -0, the sum of no numbers, 0.
    let (depth, error) = (answer.depth.clamp(0.0, 1.0) + 0.0, answer.error.max(0.0));
    let error = if error.is_nan() { 1.0 } else { error };
    let stop = Stop::Converged.for_error(error, tol);
    Fit { depth, error, stderr: answer.stderr, iterations: answer.work.max(1), stop }
}

fn isolate<N: Notion>(
    notion: &N,
    prepared: &N::Prepared,
    queries: Rows<'_>,
    run: &Run<'_>,
) -> Result<Vec<Fit>> {
    let asked = if run.depths_only { Asked::Depth } else { Asked::StandardError };
    let tol = notion.tol();
    for_each_query(notion, prepared, (queries, run), asked, |_, answer| fit_of(&answer, tol))
}

fn explain<N: Notion>(
    notion: &N,
    prepared: &N::Prepared,
    queries: Rows<'_>,
    run: &Run<'_>,
) -> Result<Vec<Explanation>> {
    let tol = notion.tol();
    for_each_query(notion, prepared, (queries, run), Asked::Explanation, |query, answer| {
        let fit = fit_of(&answer, tol);
        match answer.why {
            Why::Linear { weights, intercept, influence } => {
                let explanation = Explanation::linear(fit, weights, intercept, query, Vec::new());
                Explanation { influence, ..explanation }
            }
            Why::Smooth { gradient, influence, at_mean } => {
                let tangent = gradient.map(|gradient| Tangent::new(gradient, fit.depth, query));
                let (value, baseline) = (fit.depth, at_mean);
                Explanation { fit, value, baseline, influence, reason: Reason::Depth { tangent } }
            }
            Why::NotAsked => {
                let reason = Reason::Depth { tangent: None };
                Explanation { fit, value: fit.depth, baseline: fit.depth, influence: None, reason }
            }
        }
    })
}

/// Makes a hypothesis of a notion.
macro_rules! hypothesis {
    ($notion:ty, $prepared:ty) => {
        impl $crate::methods::Hypothesis for $notion {
            type Prepared = $prepared;

            fn prepare(&self, sample: &$crate::data::Reference) -> $crate::error::Result<$prepared> {
                $crate::methods::classical::prepare(self, sample)
            }

            fn isolate(
                &self,
                prepared: &$prepared,
                queries: $crate::data::Rows<'_>,
                run: &$crate::problem::Run<'_>,
            ) -> $crate::error::Result<Vec<$crate::problem::Fit>> {
                $crate::methods::classical::isolate(self, prepared, queries, run)
            }

            fn explain(
                &self,
                prepared: &$prepared,
                queries: $crate::data::Rows<'_>,
                run: &$crate::problem::Run<'_>,
            ) -> $crate::error::Result<Vec<$crate::methods::Explanation>> {
                $crate::methods::classical::explain(self, prepared, queries, run)
            }
        }
    };
}
use hypothesis;
