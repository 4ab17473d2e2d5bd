//! Neural networks: multilayer perceptrons with rectified linear units.

mod certificate;
mod deep;
mod grow;
mod objective;
mod starting_points;
mod train;

use self::grow::TrainingSettings;
use self::starting_points::StartingPoints;
use self::train::TrainedNetwork;
use super::Hypothesis;
use super::setters::{at_least_one, setters};
use crate::data::{Reference, Rows};
use crate::error::{DepthError, Result, positive};
use crate::methods::explanation::Explanation;
use crate::numerics::linalg::dot;
use crate::problem::{Batch, Features, Fit, Run, Ticket, Variant};
use crate::solver::descent::Descent;

/// The depth by neural networks: fully connected, ReLU, one logistic output.
///
/// A network with hidden layers of $h_1, \dots, h_L$ units computes $a_0 = x$, $a_l = \max(0, W_l^\top
/// a_{l-1} + b_l)$ and $f(x) = \langle w, a_L \rangle + c$. The depth of $z$ is $R_z(f)$, with the logistic
/// loss in bits, for a network trained to minimise
///
/// $$ F(f) = R_z(f) + \text{reg} \cdot \bigl( \sum_l \|W_l\|^2 + \|w\|^2 \bigr); $$
///
/// (M2); biases are not penalised. ([`Variant::Objective`] reports $F(f)$ instead.) `MLPClassifier` of scikit-learn
/// minimises the same function if it gets $x_1, \dots, x_n$ with `sample_weight` $\frac12 \omega_i$, $z$ with
/// $\frac12$, `solver="lbfgs"` and `alpha` = 2 ln 2 · `reg`; with $z$ repeated $n$ times in place of weights,
/// `alpha` = 2 ln 2 · `reg` times the size of a batch. The comments refer to the equations (M1), ... of
/// `docs/math/mlp.md`.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::Mlp};
/// // A ring: its centre is easy to separate from it, but not for a linear classifier.
/// let ring: Vec<Vec<f64>> = (0..60).map(|i| f64::from(i) * 0.1047).map(|t| vec![4.0 * t.cos(), 4.0 * t.sin()]).collect();
/// let depth = Depth::new(Mlp::new()).fit(&Reference::new(&ring)?)?;
/// let fits = depth.score(&[[0.0, 0.0], [4.0, 0.0]])?;
/// assert!(fits[0].depth < 0.5 * fits[1].depth);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
///
/// **One hidden layer** is a problem that is convex in the function $f$ (M5), and is solved as such: units are added one by
/// one, all parameters are improved by L-BFGS, and short units are removed, until a round lowers $F$ by less than the share
/// $10 \cdot \text{tol}$. By weak duality (M8)–(M11) `depth` is within `error` of the depth by the best networks of *any* width.
/// This is proven in exact arithmetic, whatever the search found; two allowances for rounding, named where they stand, are
/// heuristics. It is often a loose bound: restarts differ by far less.
///
/// **More hidden layers** have no such structure, and the depth is what training finds. Every query continues from one network
/// that was trained with the mean of the sample as the query. `error` states only that the risk of the best network is between
/// 0 and $F$.
///
/// With `restarts` > 1 training is repeated with other random numbers, and the network with the smallest $F$
/// is reported. `stderr` is $\frac12$ the standard deviation of $\ell(f(x_i))$ over $\sqrt n$: for the objective exact to first
/// order; for the risk it omits the change of the network itself. [`Stop::Converged`](crate::Stop::Converged) means that the
/// rule above was met. The result does not depend, to the last bit, on the order of the rows, nor on whether copies are written
/// as whole-number weights.
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

impl Default for Mlp {
    fn default() -> Self {
        Self::new()
    }
}

impl Mlp {
    /// One hidden layer of 100 units, `reg` 0.01, the bare risk, a tolerance of 1e-5, seed 0, one start.
    pub fn new() -> Self {
        Self {
            hidden: vec![100],
            reg: 0.01,
            variant: Variant::Risk,
            tol: 1e-5,
            max_iter: 1000,
            seed: 0,
            restarts: 1,
        }
    }

    /// How many units each hidden layer has.
    #[must_use]
    pub fn hidden(mut self, hidden: &[usize]) -> Self {
        self.hidden = hidden.to_vec();
        self
    }

    setters! {
        /// The weight of the penalty: $R_z + \text{reg} \cdot \|\text{weights}\|^2$.
        reg: f64 => reg;
        /// Which number is the depth: the risk or the objective.
        variant: Variant => variant;
        /// Training ends when five steps lower the objective by less than this share.
        tol: f64 => tol;
        /// The largest number of steps in the training of a query, from each starting point.
        max_iter: usize => max_iter;
        /// The seed of all random numbers.
        seed: u64 => seed;
        /// How often every query is trained, at most 1000 times; the network with the smallest objective is reported.
        restarts: usize => restarts;
    }

    fn check(&self) -> Result<()> {
        positive("reg", self.reg)?;
        positive("tol", self.tol)?;
        let counts =
            [("max_iter", self.max_iter), ("restarts", self.restarts), ("hidden", self.hidden.len())];
        for (name, got) in counts.into_iter().chain(self.hidden.iter().map(|&h| ("hidden", h))) {
            at_least_one(name, got)?;
        }
        if self.reg > MAX_REG {
            let expected = "at most 1e300 for a network";
            return Err(DepthError::Setting { name: "reg", expected, got: self.reg });
        }
        if self.restarts > MAX_RESTARTS {
            let (name, expected) = ("restarts", "at most 1000");
            return Err(DepthError::Setting { name, expected, got: self.restarts as f64 });
        }
        if let Some(&got) = self.hidden.iter().find(|h| **h > MAX_UNITS) {
            let (name, expected) = ("hidden", "at most 10000 units in a layer");
            return Err(DepthError::Setting { name, expected, got: got as f64 });
        }
        if matches!(self.variant, Variant::Constrained { .. }) {
            let what = "method `mlp` has no variant `constrained`";
            return Err(DepthError::Settings(what.into()));
        }
        Ok(())
    }

    /// Refuses more weights than fit into memory; one layer gets its units one by one.
    fn check_weights(&self, inputs: usize) -> Result<()> {
        let sizes = self.sizes(inputs);
        let products = sizes.windows(2).map(|pair| pair[0].saturating_mul(pair[1]));
        let weights = products.fold(0usize, usize::saturating_add);
        if self.hidden.len() == 1 || weights <= MAX_WEIGHTS {
            return Ok(());
        }
        Err(DepthError::Settings(format!(
            "`hidden` makes a network of {weights} weights, expected at most {MAX_WEIGHTS}: give fewer layers or units"
        )))
    }

    fn training_settings(&self) -> TrainingSettings {
        TrainingSettings { reg: self.reg, tol: self.tol, max_iter: self.max_iter, max_units: self.hidden[0] }
    }

    /// The layers of a network that takes `inputs` coordinates.
    fn sizes(&self, inputs: usize) -> Vec<usize> {
        std::iter::once(inputs).chain(self.hidden.iter().copied()).chain([1]).collect()
    }

    /// Trains a network for every query and returns what `make` makes of it.
    fn for_each_query<T: Send>(
        &self,
        prepared: &PreparedNetworks,
        queries: Rows<'_>,
        run: &Run<'_>,
        make: impl Fn(&TrainedNetwork, &[f64]) -> T + Sync,
    ) -> Result<Vec<T>> {
        Batch::new(queries, run).run(|mut ticket: Ticket<'_, '_, T>| {
            let mut descent = Descent::default();
            while let Some((first, rows)) = ticket.take(1, 1) {
                let query = prepared.features.locate(rows);
                let network = self.train(prepared, query.col(0), &mut descent, &|| ticket.cancelled());
                ticket.done(first, make(&network, rows.row(0)));
            }
        })
    }
}

/// The largest number of units in a layer.
const MAX_UNITS: usize = 10_000;

/// The largest number of weights of a network with several layers: training holds some thirty vectors of that length, 4 GB.
const MAX_WEIGHTS: usize = 1 << 24;

/// The largest number of restarts.
const MAX_RESTARTS: usize = 1000;

/// A larger penalty would overflow when multiplied by small numbers.
const MAX_REG: f64 = 1e300;

/// What all queries of a network depth share.
#[derive(Debug)]
pub struct PreparedNetworks {
    features: Features,
    /// The row of the features for every row of the reference.
    merged_row: Vec<Option<usize>>,
    /// The sample's standard deviation along each axis, or a tenth of the largest if that is more.
    scales: Vec<f64>,
    starting_points: StartingPoints,
}

impl Hypothesis for Mlp {
    type Prepared = PreparedNetworks;

    fn prepare(&self, sample: &Reference) -> Result<PreparedNetworks> {
        self.check()?;
        let (merged, merged_row) = sample.merged();
        let features = Features::new(&merged, true);
        self.check_weights(features.width() - 1)?;
        let roots: Vec<f64> = features.moments[1..].iter().map(|m| m.sqrt()).collect();
        let scales: Vec<f64> = roots.iter().map(|s| s.max(0.1 * roots[0])).collect();
        let starting_points = StartingPoints::new(self, &features, &scales);
        Ok(PreparedNetworks { features, merged_row, scales, starting_points })
    }

    fn isolate(&self, prepared: &PreparedNetworks, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.for_each_query(prepared, queries, run, |network, _| network.fit)
    }

    fn explain(
        &self,
        prepared: &PreparedNetworks,
        queries: Rows<'_>,
        run: &Run<'_>,
    ) -> Result<Vec<Explanation>> {
        self.for_each_query(prepared, queries, run, |network, query| {
            prepared.explanation(self.variant, network, query)
        })
    }
}

impl PreparedNetworks {
    fn explanation(&self, variant: Variant, network: &TrainedNetwork, query: &[f64]) -> Explanation {
        let features = &self.features;
        // After the constant. The coordinate outside the sample's span is missing if it is 0.
        let mut theta = vec![0.0; features.query_width()];
        theta[1..=network.gradient.len()].copy_from_slice(&network.gradient);
        let (slope, _) = features.classifier(&theta, query);
        // By the envelope theorem; for the risk the change of the network itself would be needed.
        let influence = (variant == Variant::Objective).then(|| {
            let mean = 2.0 * dot(&network.losses, &features.half_weights);
            self.merged_row.iter().map(|p| p.map_or(0.0, |i| 0.5 * (network.losses[i] - mean))).collect()
        });
        Explanation::network(network.fit, (network.value, network.baseline), slope, query, influence)
    }
}
