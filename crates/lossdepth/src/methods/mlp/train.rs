//! One query: training from every starting point, and the fit of the best network.

use super::certificate::{self, NetworkBounds, ROUNDING};
use super::deep::{self, DeepObjective};
use super::objective::ConvexObjective;
use super::starting_points::{InitialNetwork, SharedDirections, StartingPoints, differences};
use super::{Mlp, PreparedNetworks, grow};
use crate::loss::{Logistic, Loss};
use crate::numerics::linalg::{axpy, dot, norm};
use crate::problem::{Fit, Stop, Variant};
use crate::solver::descent::{Descent, Objective};
use std::f64::consts::LOG2_E;

/// The step of central differences, as a share of a coordinate's scale (heuristic; for explanations only).
const DIFFERENCE: f64 = 1e-3;

/// The trained network of one query: its fit, and what an explanation needs.
pub(super) struct TrainedNetwork {
    pub(super) fit: Fit,
    /// $f(z)$, $f$ at the mean of the sample, and the gradient of $f$ at $z$.
    pub(super) value: f64,
    pub(super) baseline: f64,
    pub(super) gradient: Vec<f64>,
    /// The losses of the sample.
    pub(super) losses: Vec<f64>,
}

/// How good a trained network is.
#[derive(Clone, Copy)]
struct Quality {
    objective: f64,
    /// A bound on what the rounding of the coordinates changes in the objective.
    coordinate_part: f64,
    risk: f64,
    bounds: NetworkBounds,
    iterations: usize,
    stop: Stop,
}

impl PreparedNetworks {
    /// A bound on the rounding error of $x_i - z$ in the coordinates of the features, in norm.
    fn coordinate_error(&self, query: &[f64]) -> f64 {
        let (sample, query) = self.features.displacement(norm(&query[1..]));
        sample + query
    }
}

impl Mlp {
    /// Trains the network of the query with these coordinates.
    pub(super) fn train(
        &self,
        prepared: &PreparedNetworks,
        query: &[f64],
        descent: &mut Descent,
        cancelled: &dyn Fn() -> bool,
    ) -> TrainedNetwork {
        match &prepared.starting_points {
            StartingPoints::Directions(starts) => {
                self.train_shallow(prepared, starts, query, descent, cancelled)
            }
            StartingPoints::Networks(starts) => self.train_deep(prepared, starts, query, descent, cancelled),
        }
    }

    fn train_shallow(
        &self,
        prepared: &PreparedNetworks,
        starts: &[SharedDirections],
        query: &[f64],
        descent: &mut Descent,
        cancelled: &dyn Fn() -> bool,
    ) -> TrainedNetwork {
        let features = &prepared.features;
        let settings = self.training_settings();
        let differences = differences(features, query, false);
        let mut problem = ConvexObjective::new(differences, &features.half_weights, self.reg);
        let mut best = grow::train(&mut problem, &starts[0], query, &settings, descent, cancelled);
        for start in &starts[1..] {
            let other = grow::train(&mut problem, start, query, &settings, descent, cancelled);
            let iterations = best.iterations + other.iterations;
            if other.objective < best.objective {
                best = other;
            }
            best.iterations = iterations;
        }
        if starts.len() > 1 {
            problem.evaluate(&best.parameters, &mut vec![0.0; best.parameters.len()]);
        }
        let coordinate_error = prepared.coordinate_error(query);
        let lipschitz: f64 = best.parameters[1..].chunks_exact(problem.width()).map(norm).sum();
        let coordinate_part = 0.5 * LOG2_E * lipschitz * coordinate_error;
        let upper = best.objective + coordinate_part;
        let bounds = certificate::bounds(&problem, upper, self.reg, coordinate_error);
        let (q, x) = (problem.width(), &best.parameters);
        let mut gradient = x[1..=q].to_vec();
        for w in x[1 + q..].chunks_exact(q) {
            axpy(0.5, w, &mut gradient);
        }
        // The mean of the sample is the origin of the features.
        let mean: Vec<f64> = query[1..=q].iter().map(|t| -t).collect();
        let relu: f64 = x[1 + q..].chunks_exact(q).map(|w| dot(w, &mean).max(0.0)).sum();
        let baseline = x[0] + dot(&x[1..=q], &mean) + relu;
        let quality = Quality {
            objective: best.objective,
            coordinate_part,
            risk: best.risk,
            bounds,
            iterations: best.iterations,
            stop: best.stop,
        };
        self.trained(prepared, quality, &problem.margins, (x[0], baseline, gradient))
    }

    fn train_deep(
        &self,
        prepared: &PreparedNetworks,
        starts: &[InitialNetwork],
        query: &[f64],
        descent: &mut Descent,
        cancelled: &dyn Fn() -> bool,
    ) -> TrainedNetwork {
        let features = &prepared.features;
        let differences = differences(features, query, true);
        let sizes = self.sizes(differences.cols());
        let mut problem = DeepObjective::new(differences, &features.half_weights, self.reg, &sizes);
        let mut best: Option<(Vec<f64>, f64, Stop)> = None;
        let mut iterations = 0;
        for start in starts {
            let initial = start.widened(features.width() - 1, sizes[0], query[features.width()]);
            let (parameters, objective, count, stop) =
                deep::train(&mut problem, initial, &self.training_settings(), descent, cancelled);
            iterations += count;
            if best.as_ref().is_none_or(|b| objective < b.1) {
                best = Some((parameters, objective, stop));
            }
        }
        let Some((parameters, objective, stop)) = best else { unreachable!("there is at least one start") };
        problem.evaluate(&parameters, &mut vec![0.0; parameters.len()]);
        let value = -problem.margins[features.len()];
        let lipschitz = deep::lipschitz_bound(&sizes, &parameters);
        let coordinate_part = 0.5 * LOG2_E * lipschitz * prepared.coordinate_error(query);
        let bounds = NetworkBounds { objective: 0.0, risk: (0.0, objective + coordinate_part) };

        // The gradient at the query by central differences, which average over a kink there.
        let q = sizes[0];
        let mut points = vec![query[1..=q].iter().map(|t| -t).collect::<Vec<f64>>()];
        let steps: Vec<f64> =
            (0..q).map(|j| DIFFERENCE * prepared.scales.get(j).copied().unwrap_or(query[q])).collect();
        for (j, step) in steps.iter().enumerate() {
            for sign in [1.0, -1.0] {
                let mut point = vec![0.0; q];
                point[j] = sign * step;
                points.push(point);
            }
        }
        let outputs = deep::outputs(&sizes, &parameters, &points);
        let gradient = (0..q).map(|j| (outputs[1 + 2 * j] - outputs[2 + 2 * j]) / (2.0 * steps[j])).collect();
        let quality = Quality { objective, coordinate_part, risk: problem.risk, bounds, iterations, stop };
        self.trained(prepared, quality, &problem.margins[..features.len()], (value, outputs[0], gradient))
    }

    fn trained(
        &self,
        prepared: &PreparedNetworks,
        quality: Quality,
        margins: &[f64],
        (value, baseline, gradient): (f64, f64, Vec<f64>),
    ) -> TrainedNetwork {
        let Quality { objective, coordinate_part, risk, bounds, iterations, stop } = quality;
        let (depth, error) = match self.variant {
            Variant::Objective => (objective, (objective - bounds.objective).max(coordinate_part)),
            _ => (risk, (risk - bounds.risk.0).max(bounds.risk.1 - risk)),
        };
        let losses: Vec<f64> = margins.iter().map(|&m| Logistic.value(m)).collect();
        let zeros = vec![0.0; losses.len()];
        let stderr = prepared.features.standard_error(&mut losses.clone(), &zeros, &zeros, None);
        // The constant classifier has the risk 1; rounding may leave a sum of many losses slightly above.
        let depth = depth.min(1.0);
        let fit = Fit { depth, error: error.max(0.0) + ROUNDING, stderr, iterations, stop };
        TrainedNetwork { fit, value, baseline, gradient, losses }
    }
}
