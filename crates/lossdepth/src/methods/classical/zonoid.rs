//! The zonoid depth.

use super::cloud::{Cloud, Distances};
use super::frame::Scatter;
use super::piecewise_linear::{HingeMinimum, HingeProgram};
use super::{Answer, Asked, Notion, Why, hypothesis};
use crate::data::Reference;
use crate::error::Result;
use crate::methods::setters::setters;

/// The zonoid depth of Koshevoy and Mosler (N8): the largest $\alpha$ for which $z$ is a mean of the sample with weights of at
/// most $\omega_i / \alpha$; 1 at the mean, 0 outside of the convex hull.
///
/// By duality it is a loss depth: the least hinge loss $\sum_i \omega_i (1 - \langle w, x_i - z \rangle)_+$ of a linear function that
/// vanishes at $z$ (N9). `explain` shows that function, and `depth` is its loss.
///
/// `error` is the gap between the losses of the linear program and its dual plus rounding to first order; on the border of the
/// convex hull, where the depth jumps to 0, it also has the mass of the rows on the supporting hyperplane.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::classical::Zonoid};
/// let sample = Reference::new(&[[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])?;
/// let fits = Depth::new(Zonoid::new()).fit(&sample)?.score(&[[1.0, 1.0], [1.0, 0.5], [3.0, 1.0]])?;
/// assert!((fits[0].depth - 1.0).abs() < 1e-9 && (fits[1].depth - 2.0 / 3.0).abs() < 1e-9);
/// assert_eq!((fits[2].depth, fits[2].error), (0.0, 0.0));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zonoid {
    tol: f64,
}

impl Default for Zonoid {
    fn default() -> Self {
        Self { tol: 1e-6 }
    }
}

impl Zonoid {
    /// A tolerance of 1e-6.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The largest error bound to accept.
        tol: f64 => tol;
    }
}

/// What all queries of a zonoid depth share.
#[derive(Debug, Clone)]
pub struct PreparedZonoid {
    cloud: Cloud,
}

/// Below this a loss may be 0: the query may be outside of the hull.
const SMALL: f64 = 1e-9;
/// How far a query on the border is moved towards the mean, relative to its distance.
const INWARD: f64 = 1e-9;

impl PreparedZonoid {
    /// Solves for the query moved by this share of the way towards the mean, which is the origin of the frame.
    fn solve(&self, scratch: &mut (Distances, HingeProgram), moved: f64) -> HingeMinimum {
        let (distances, program) = scratch;
        let (n, r) = (self.cloud.len(), distances.at.len());
        program.columns.resize(n * r, 0.0);
        for (j, t) in distances.at.iter().enumerate() {
            let t = t * (1.0 - moved);
            let out = &mut program.columns[j * n..(j + 1) * n];
            out.iter_mut().zip(self.cloud.column(j)).for_each(|(o, x)| *o = x - t);
        }
        program.minimise(&self.cloud.weights, r)
    }
}

impl Notion for Zonoid {
    const NAME: &'static str = "zonoid";
    type Prepared = PreparedZonoid;
    type Scratch = (Distances, HingeProgram);

    fn tol(&self) -> f64 {
        self.tol
    }

    fn prepare_sample(&self, sample: &Reference) -> Result<PreparedZonoid> {
        Ok(PreparedZonoid { cloud: Cloud::new(sample, Scatter::Moment, 0.75)? })
    }

    fn answer(
        &self,
        prepared: &PreparedZonoid,
        query: &[f64],
        asked: Asked,
        scratch: &mut Self::Scratch,
    ) -> Answer {
        let cloud = &prepared.cloud;
        if !cloud.measure(query, &mut scratch.0) {
            let influence = asked.explanation().then(|| cloud.no_influence());
            let why = Why::Smooth { gradient: None, influence, at_mean: 1.0 };
            return Answer { why, ..Answer::default() };
        }
        let mut found = prepared.solve(scratch, 0.0);
        let (n, noise) = (cloud.len(), scratch.0.noise);
        let size = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>().sqrt();
        let at_query: f64 = (0..n).filter(|&i| scratch.0.square[i] == 0.0).map(|i| cloud.weights[i]).sum();
        let (mut on_border, mut separated) = (0.0, false);
        if found.upper - at_query < SMALL {
            // Either the query is outside of the hull of the other points, or it is on its border.
            let margin = 2.0 * size(&found.w) * noise + 1e-9;
            let other = |i: &usize| scratch.0.square[*i] > 0.0;
            let near: f64 = (0..n)
                .filter(other)
                .filter(|&i| scratch.1.values()[i] <= margin)
                .map(|i| cloud.weights[i])
                .sum();
            if near == 0.0 {
                // All others are strictly on one side: a longer w has no loss but that of the points at the query.
                (found.upper, found.lower, separated) = (at_query, at_query, true);
            } else {
                found = prepared.solve(scratch, INWARD);
                on_border = near;
            }
        }
        let depth = found.upper.min(1.0);
        let gap = (found.upper - found.lower).max(0.0);
        // The rounding of the points and of the multipliers, each to first order.
        let first_order = 2.0 * size(&found.w) * (noise + found.residual);
        let sums = 2.0 * cloud.sum_rounding() * depth;
        let rounding = if separated { sums } else { first_order + sums + 2.0 * cloud.sum_rounding() };
        let error = if cloud.frame.is_singular() { 1.0 } else { gap + rounding + on_border };
        let mut answer = Answer { depth, error, work: found.steps, ..Answer::default() };
        if asked.standard_error() {
            let loss = |i: usize| match scratch.0.square[i] {
                _ if !separated => (1.0 - scratch.1.values()[i]).max(0.0),
                distance => f64::from(u8::from(distance == 0.0)),
            };
            let losses: Vec<f64> = (0..n).map(loss).collect();
            answer.stderr = cloud.standard_error(&losses);
            answer.withhold_stderr_of_few_rows();
            if asked.explanation() {
                let weights = cloud.frame.pull_back(&found.w);
                let intercept = -weights.iter().zip(query).map(|(w, z)| w * z).sum::<f64>();
                let influence: Vec<f64> = losses.iter().map(|l| l - depth).collect();
                let influence = Some(cloud.by_row(&influence));
                answer.why = Why::Linear { weights, intercept, influence };
            }
        }
        answer
    }
}

hypothesis!(Zonoid, PreparedZonoid);
