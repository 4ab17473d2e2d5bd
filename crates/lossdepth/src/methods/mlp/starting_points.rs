//! Where training starts: computed once, shared by all queries.

use super::Mlp;
use super::deep::{self, DeepObjective};
use crate::numerics::Random;
use crate::numerics::linalg::{Matrix, multiply, norm};
use crate::problem::Features;
use crate::solver::descent::Descent;

/// How many projections of the sample are stored at most.
const MAX_PROJECTIONS: usize = 1 << 25;

/// The starting points of training, one for each restart.
#[derive(Debug)]
pub(super) enum StartingPoints {
    /// For one hidden layer.
    Directions(Vec<SharedDirections>),
    /// For several.
    Networks(Vec<InitialNetwork>),
}

impl StartingPoints {
    /// `scales` are those of [`PreparedNetworks`](super::PreparedNetworks).
    pub(super) fn new(mlp: &Mlp, features: &Features, scales: &[f64]) -> Self {
        let streams = (0..mlp.restarts).map(|restart| Random::of_restart(mlp.seed, restart));
        if mlp.hidden.len() == 1 {
            let directions = |mut random| SharedDirections::new(features, mlp.hidden[0], &mut random);
            return Self::Directions(streams.map(directions).collect());
        }
        let mut descent = Descent::default();
        let network = |mut random| InitialNetwork::new(mlp, features, scales, &mut random, &mut descent);
        Self::Networks(streams.map(network).collect())
    }
}

/// Random directions that are candidates for hidden units.
#[derive(Debug)]
pub(super) struct SharedDirections {
    /// Coordinates × directions, of length 1.
    pub(super) unit: Matrix,
    /// The sample projected on them.
    pub(super) projected: Matrix,
}

impl SharedDirections {
    fn new(features: &Features, units: usize, random: &mut Random) -> Self {
        let (n, rank) = (features.len(), features.width() - 1);
        // Every round uses the projections, so they are stored.
        let count = units.min((MAX_PROJECTIONS / n.max(1)).max(8));
        let mut unit = Matrix::zeros(rank, count);
        for k in 0..count {
            let power = [0.0, 0.25, 0.5][k % 3];
            let u = unit.col_mut(k);
            for (u, moment) in u.iter_mut().zip(&features.moments[1..]) {
                *u = random.normal() * (features.moments[1] / moment).powf(power);
            }
            let length = norm(u);
            if length > 0.0 {
                for u in u {
                    *u /= length;
                }
            }
        }
        let points = Matrix::from_fn(n, rank, |i, j| features.tall.at(i, j + 1));
        let mut projected = Matrix::zeros(n, count);
        multiply(&mut projected, &points, &unit);
        Self { unit, projected }
    }
}

/// A network trained for the mean of the sample, which every query starts from.
#[derive(Debug)]
pub(super) struct InitialNetwork {
    /// For the coordinates of the sample.
    parameters: Vec<f64>,
    /// The weights of the first layer for a query's distance from the span of the sample, in units of that distance.
    outside_weights: Vec<f64>,
}

impl InitialNetwork {
    fn new(
        mlp: &Mlp,
        features: &Features,
        scales: &[f64],
        random: &mut Random,
        descent: &mut Descent,
    ) -> Self {
        let (mean, rank) = (vec![0.0; features.query_width()], scales.len());
        let sizes = mlp.sizes(rank);
        let mut parameters = deep::initial(&sizes, scales, random);
        let outside_weights = deep::initial(&[1, mlp.hidden[0]], &[1.0], random);
        // A sample of one point has no coordinates to train on.
        if rank > 0 {
            let differences = differences(features, &mean, true);
            let mut objective = DeepObjective::new(differences, &features.half_weights, mlp.reg, &sizes);
            let settings = mlp.training_settings();
            parameters = deep::train(&mut objective, parameters, &settings, descent, &|| false).0;
        }
        Self { parameters, outside_weights: outside_weights[..mlp.hidden[0]].to_vec() }
    }

    /// The parameters for `to` coordinates instead of `from`; the additional one is the distance `rho`.
    pub(super) fn widened(&self, from: usize, to: usize, rho: f64) -> Vec<f64> {
        let units = self.outside_weights.len();
        let mut parameters = Vec::with_capacity(self.parameters.len() + (to - from) * units);
        for (k, weight) in self.outside_weights.iter().enumerate() {
            parameters.extend_from_slice(&self.parameters[k * from..(k + 1) * from]);
            parameters.extend(std::iter::repeat_n(if rho > 0.0 { weight / rho } else { 0.0 }, to - from));
        }
        parameters.extend_from_slice(&self.parameters[from * units..]);
        parameters
    }
}

/// $x_i - z$ in the coordinates of the features, one row each, for the query with coordinates `query`; with a last row of zeros for
/// the query itself if `with_query`.
pub(super) fn differences(features: &Features, query: &[f64], with_query: bool) -> Matrix {
    let (n, rank) = (features.len(), features.width() - 1);
    let width = rank + usize::from(query[rank + 1] > 0.0 || rank == 0);
    let mut differences = Matrix::zeros(n + usize::from(with_query), width);
    for (j, &t) in query[1..=width].iter().enumerate() {
        let out = &mut differences.col_mut(j)[..n];
        if j == rank {
            out.fill(-t);
        } else {
            for (o, x) in out.iter_mut().zip(features.tall.col(j + 1)) {
                *o = x - t;
            }
        }
    }
    differences
}
