//! Neural networks: multilayer perceptrons with ReLU units.

mod certificate;
mod cone;
mod grow;
mod random;

use super::Hypothesis;
use super::linear::Features;
use crate::depth::batch::{Batch, Ticket};
use crate::depth::{Fit, Run};
use crate::error::{DepthError, Result};
use crate::explain::Explanation;
use crate::linalg::{Matrix, multiply, norm};
use crate::penalty::{Variant, positive};
use crate::reference::Reference;
use crate::rows::Rows;
use crate::solver::Stop;
use crate::solver::descent::Descent;
use cone::Cone;
use grow::{Plan, Trained};
use random::Random;

/// TODO
#[derive(Debug, Clone, PartialEq)]
pub struct Mlp {
    hidden: Vec<usize>,
    reg: f64,
    variant: Variant,
    tol: f64,
    max_iter: usize,
    seed: u64,
    restarts: usize,
}

/// The directions that the hidden units of one restart can start from.
#[derive(Debug)]
pub(crate) struct Start {
    /// Coordinates × directions, of length 1.
    pub(crate) directions: Matrix,
    /// The sample along them.
    pub(crate) projected: Matrix,
}

/// What all queries of a network depth share.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) features: Features,
    starts: Vec<Start>,
}

struct Outcome {
    fit: Fit,
    trained: Trained,
}

impl Default for Mlp {
    fn default() -> Self {
        Self::new()
    }
}

impl Mlp {
    /// One hidden layer of 100 units, `reg` 0.01, the bare risk, seed 0, one start.
    pub fn new() -> Self {
        Self {
            hidden: vec![100],
            reg: 0.01,
            variant: Variant::Risk,
            tol: 1e-6,
            max_iter: 1000,
            seed: 0,
            restarts: 1,
        }
    }

    /// tol
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = tol;
        self
    }
    /// variant
    #[must_use]
    pub fn variant(mut self, v: Variant) -> Self {
        self.variant = v;
        self
    }
    /// seed
    #[must_use]
    pub fn seed(mut self, v: u64) -> Self {
        self.seed = v;
        self
    }
    /// seed
    #[must_use]
    pub fn restarts(mut self, v: usize) -> Self {
        self.restarts = v;
        self
    }

    fn check(&self) -> Result<()> {
        positive("reg", self.reg)?;
        positive("tol", self.tol)?;
        Ok(())
    }

    fn train(&self, prepared: &Prepared, at: &[f64], descent: &mut Descent, cancelled: &dyn Fn() -> bool) -> Outcome {
        let features = &prepared.features;
        let mut cone = Cone::new(grow::seen_from(prepared, at), &features.half_weights, self.reg);
        let plan = Plan { reg: self.reg, tol: self.tol, max_iter: self.max_iter, units: self.hidden[0] };
        let mut best: Option<Trained> = None;
        let mut iterations = 0;
        for start in &prepared.starts {
            let trained = grow::train(&mut cone, start, at, &plan, descent, cancelled);
            iterations += trained.iterations;
            if best.as_ref().is_none_or(|b| trained.objective < b.objective) {
                best = Some(trained);
            }
        }
        let Some(mut trained) = best else { unreachable!("there is at least one start") };
        if prepared.starts.len() > 1 {
            let mut gradient = vec![0.0; trained.point.len()];
            crate::solver::descent::Objective::evaluate(&mut cone, &trained.point, &mut gradient);
        }
        trained.iterations = iterations;
        let bounds = certificate::prove(&cone, trained.objective, self.reg);
        let (depth, error) = match self.variant {
            Variant::Objective => (trained.objective, trained.objective - bounds.objective),
            _ => (trained.risk, (trained.risk - bounds.risk.0).max(bounds.risk.1 - trained.risk)),
        };
        let fit = Fit { depth, error, stderr: 0.0, iterations, stop: trained.stop };
        Outcome { fit, trained }
    }

    fn outcomes(&self, prepared: &Prepared, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Outcome>> {
        Batch::new(queries, run).run(|mut ticket: Ticket<'_, '_, Outcome>| {
            let mut descent = Descent::default();
            while let Some((first, rows)) = ticket.take(1, 1) {
                let coordinates = prepared.features.locate(rows);
                let outcome = {
                    let cancelled = || ticket.cancelled();
                    self.train(prepared, coordinates.col(0), &mut descent, &cancelled)
                };
                ticket.done(first, outcome);
            }
        })
    }
}

impl Hypothesis for Mlp {
    type Prepared = Prepared;

    fn prepare(&self, sample: &Reference) -> Result<Prepared> {
        self.check()?;
        let features = Features::new(&sample.merged(), true);
        let starts = (0..self.restarts).map(|r| Start::new(&features, self.hidden[0], self.seed, r)).collect();
        Ok(Prepared { features, starts })
    }

    fn isolate(&self, prepared: &Prepared, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        Ok(self.outcomes(prepared, queries, run)?.iter().map(|o| o.fit).collect())
    }

    fn explain(&self, prepared: &Prepared, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        let o = self.outcomes(prepared, queries, run)?;
        let _ = (o[0].trained.point.len(), norm(&[]), Stop::Converged, DepthError::NoColumns);
        Ok(Vec::new())
    }
}

impl Start {
    fn new(features: &Features, units: usize, seed: u64, restart: usize) -> Self {
        let (n, rank) = (features.len(), features.width() - 1);
        // Directions are looked at in every round, so their projections are kept; not too many of them.
        let count = units.min((MOST_NUMBERS / n.max(1)).max(8));
        let mut random = Random::new(seed, restart);
        let mut directions = Matrix::zeros(rank, count);
        for k in 0..count {
            let power = 0.5 * f64::from(u8::try_from(k % 3).unwrap_or(0));
            let u = directions.col_mut(k);
            for (u, moment) in u.iter_mut().zip(&features.moments[1..]) {
                *u = random.normal() * (features.moments[1] / moment).powf(0.5 * power);
            }
            let length = norm(u);
            if length > 0.0 {
                u.iter_mut().for_each(|u| *u /= length);
            }
        }
        let mut points = Matrix::zeros(n, rank);
        for j in 0..rank {
            points.col_mut(j).copy_from_slice(features.tall.col(j + 1));
        }
        let mut projected = Matrix::zeros(n, count);
        multiply(&mut projected, &points, &directions);
        Self { directions, projected }
    }
}

/// How many projections are kept at most.
const MOST_NUMBERS: usize = 1 << 25;
