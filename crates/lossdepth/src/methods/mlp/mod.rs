//! Neural networks: multilayer perceptrons with rectified linear units.

mod certificate;
mod deep;
mod grow;
mod objective;

use super::Hypothesis;
use crate::data::Reference;
use crate::data::Rows;
use crate::error::positive;
use crate::error::{DepthError, Result};
use crate::loss::{Logistic, Loss};
use crate::methods::explanation::Explanation;
use crate::numerics::Random;
use crate::numerics::linalg::{Matrix, dot, multiply, norm};
use crate::problem::Features;
use crate::problem::Stop;
use crate::problem::Variant;
use crate::problem::{Batch, Ticket};
use crate::problem::{Fit, Run};
use crate::solver::descent::{Descent, Objective};
use deep::Deep;
use grow::Plan;
use objective::Cone;

/// The depth by neural networks: fully connected, ReLU, one logistic output.
///
/// A network with hidden layers of $h_1, \dots, h_L$ units computes $a_0 = x$, $a_l = \max(0, W_l^\top a_{l-1} + b_l)$ and
/// $f(x) = \langle w, a_L \rangle + c$. The depth of $z$ is $R_z(f)$, with the logistic loss in bits, for a network trained
/// to minimise
///
/// $$ F(f) = R_z(f) + \text{reg} \cdot \bigl( \sum_l \|W_l\|^2 + \|w\|^2 \bigr); $$
///
/// biases are not penalised. ([`Variant::Objective`] reports $F(f)$ instead.) `MLPClassifier` of scikit-learn minimises the same function if it gets $x_1, \dots, x_n$
/// with `sample_weight` $\frac12 \omega_i$, $z$ with $\frac12$, `solver="lbfgs"` and `alpha` = 2 ln 2 · `reg`; with $z$
/// repeated $n$ times in place of weights, `alpha` = 2 ln 2 · `reg` times the size of a batch.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::Mlp};
/// // A ring: its centre is easy to tell from it, but not for a linear classifier.
/// let ring: Vec<Vec<f64>> = (0..60).map(|i| f64::from(i) * 0.1047).map(|t| vec![4.0 * t.cos(), 4.0 * t.sin()]).collect();
/// let depth = Depth::new(Mlp::new()).fit(&Reference::new(&ring)?)?;
/// let fits = depth.score(&[[0.0, 0.0], [4.0, 0.0]])?;
/// assert!(fits[0].depth < 0.5 * fits[1].depth);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
///
/// # One hidden layer
///
/// is a convex problem in disguise, and is solved as one.
///
/// *Which networks can be best.* Scaling the weights into a unit up and the weight out of it down by the same factor
/// changes no output, so at a minimum both have the same length, and the penalty is
/// $2 \text{reg} \sum_k \|w_k\|$ with $w_k$ the product of both. Let $\alpha_i = -\frac12 \omega_i \ell'(f(x_i)) \ge 0$
/// and $\alpha_z$ likewise; the free $c$ makes $\sum_i \alpha_i = \alpha_z$. Move the kink of a unit with a positive weight
/// out of it: away from $z$ it turns off points of the sample that it lifts; beyond $z$ it lifts $z$ more than it lifts
/// the sample. So the kink passes through $z$. With a negative weight out of it, moving the kink until no point of the
/// sample is left on its flat side does good, and the unit is linear on the data; one such unit is enough. Therefore the
/// best network of unlimited width is
///
/// $$ f(x) = c + \langle v, x - z \rangle + \sum_k \max(0, \langle w_k, x - z \rangle), \qquad
///    F = R_z(f) + 2 \text{reg} \bigl( \|v\| + \sum_k \|w_k\| \bigr), $$
///
/// the value at $z$ plus a convex function that grows away from it. As a function of $f$ this is convex, so the depth
/// does not depend on where the training starts but for what it misses; and there is a dual problem, see `error` below.
///
/// *Training.* $c = 0$ and no unit; then in rounds:
///
/// 1. A unit in the direction $u$ helps if $s(u) = \sum_i \alpha_i \max(0, \langle u, x_i - z \rangle) > 2 \text{reg}$.
///    $s$ is evaluated for as many random directions as the layer has units. They are drawn from `seed` alone and the
///    sample is projected on them once: this is the part of the training that all queries share. (They are normal in the
///    principal axes of the sample with standard deviations $1$, $\sigma_j^{-1/2}$ and $\sigma_j^{-1}$ in turn.)
///    The seven best of them (with cosines below 0.8 to each other) and $\sum_i \alpha_i (x_i - z)$ climb to
///    $u \leftarrow \sum_{i: \langle u, x_i - z \rangle > 0} \alpha_i (x_i - z)$, scaled to length 1, which never makes $s$
///    smaller, ten times or until $s$ grows by less than a thousandth. The best becomes a unit if its $s$ exceeds
///    $2 \text{reg}$ by a thousandth, with the length that is best if only $c$ may follow; so does, while $v = 0$, the
///    linear unit. No more units than the layer has are born.
/// 2. All of $c, v, w_k$ are improved together by full-batch limited-memory quasi-Newton steps with a line search for the
///    weak Wolfe conditions, until five of them lower $F$ by less than the share $10^{-3}$.
/// 3. Units shorter than a fiftieth of the longest are removed where that does not raise $F$.
///
/// After a round in which no unit was born, or that lowered $F$ by less than a hundredth, steps 2 and 3 are done once more
/// with the share `tol` in place of $10^{-3}$. If the round has then lowered $F$ by less than the share
/// $10 \cdot \text{tol}$, the training is over.
///
/// *`error`* is proven, in spite of the search: `depth` is within `error` of the depth by the best networks of *any*
/// width, by weak duality. It is a bound, not an estimate: restarts differ by far less.
///
/// # More hidden layers
///
/// have no such structure, and the depth is what the training finds. Coordinates are measured from the query. Weights
/// start from Glorot's uniform distribution as in scikit-learn (the first layer divided by the sample's standard deviations
/// along its principal axes, at most ten times that of the largest), biases from 0. This start is trained once for
/// the mean of the sample as the query, and every query starts from there. Then the same quasi-Newton steps and the same
/// rule, first with the biases of hidden units held at 0 (every kink passes through the query), then with all of them
/// free. `error` says only what is certain: the risk of the best network is between 0 and $F$.
///
/// # Otherwise
///
/// With `restarts` > 1 the training is repeated with other random numbers, and the network with the smallest $F$ counts.
/// `stderr` is $\frac12$ the standard deviation of $\ell(f(x_i))$ over $\sqrt n$, the variation of the risk of the
/// network as it is: for the objective this is all there is to first order (the envelope theorem), for the risk it leaves
/// out what a change of the network adds. [`Stop::Converged`] says that the rule above was met.
///
/// The result does not depend, to the last bit, on the order of the rows, nor on whether copies are written as whole-number
/// weights.
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

    /// The weight of the penalty: $R_z + \text{reg} \cdot \|\text{weights}\|^2$.
    #[must_use]
    pub fn reg(mut self, reg: f64) -> Self {
        self.reg = reg;
        self
    }

    /// Which number is the depth: the risk or the objective.
    #[must_use]
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variant = variant;
        self
    }

    /// The decrease of the objective over five steps, as a share of it, at which the training ends.
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = tol;
        self
    }

    /// How many steps the training of a query takes at most, with each start.
    #[must_use]
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.max_iter = max_iter;
        self
    }

    /// Where all random numbers come from.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How often every query is trained, at most 1000 times; the best network counts.
    #[must_use]
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    fn check(&self) -> Result<()> {
        positive("reg", self.reg)?;
        positive("tol", self.tol)?;
        let counts =
            [("max_iter", self.max_iter), ("restarts", self.restarts), ("hidden", self.hidden.len())];
        for (name, got) in counts.into_iter().chain(self.hidden.iter().map(|&h| ("hidden", h))) {
            if got == 0 {
                return Err(DepthError::Setting { name, expected: "at least 1", got: 0.0 });
            }
        }
        if self.reg > MOST_REG {
            return Err(DepthError::Setting {
                name: "reg",
                expected: "at most 1e300 for a network",
                got: self.reg,
            });
        }
        if self.restarts > MOST_RESTARTS {
            let (name, expected) = ("restarts", "at most 1000");
            return Err(DepthError::Setting { name, expected, got: self.restarts as f64 });
        }
        if let Some(&got) = self.hidden.iter().find(|h| **h > MOST_UNITS) {
            let (name, expected) = ("hidden", "at most 10000 units in a layer");
            return Err(DepthError::Setting { name, expected, got: got as f64 });
        }
        if matches!(self.variant, Variant::Constrained { .. }) {
            let what = "method `mlp` has no variant `constrained`";
            return Err(DepthError::Settings(what.into()));
        }
        Ok(())
    }

    fn plan(&self) -> Plan {
        Plan { reg: self.reg, tol: self.tol, max_iter: self.max_iter, units: self.hidden[0] }
    }

    fn train(
        &self,
        prepared: &Prepared,
        at: &[f64],
        descent: &mut Descent,
        cancelled: &dyn Fn() -> bool,
    ) -> Outcome {
        match &prepared.starts {
            Starts::Directions(starts) => self.train_shallow(prepared, starts, at, descent, cancelled),
            Starts::Networks(starts) => self.train_deep(prepared, starts, at, descent, cancelled),
        }
    }

    fn train_shallow(
        &self,
        prepared: &Prepared,
        starts: &[Directions],
        at: &[f64],
        descent: &mut Descent,
        cancelled: &dyn Fn() -> bool,
    ) -> Outcome {
        let features = &prepared.features;
        let mut cone = Cone::new(seen_from(features, at, false), &features.half_weights, self.reg);
        let mut trained = grow::train(&mut cone, &starts[0], at, &self.plan(), descent, cancelled);
        for start in &starts[1..] {
            let other = grow::train(&mut cone, start, at, &self.plan(), descent, cancelled);
            let iterations = trained.iterations + other.iterations;
            if other.objective < trained.objective {
                trained = other;
            }
            trained.iterations = iterations;
        }
        if starts.len() > 1 {
            cone.evaluate(&trained.point, &mut vec![0.0; trained.point.len()]);
        }
        let bounds = certificate::prove(&cone, trained.objective, self.reg);
        let (q, x) = (cone.width(), &trained.point);
        let mut slope = x[1..=q].to_vec();
        for w in x[1 + q..].chunks_exact(q) {
            crate::numerics::linalg::axpy(0.5, w, &mut slope);
        }
        // The mean of the sample is the origin of the features.
        let mean: Vec<f64> = at[1..=q].iter().map(|t| -t).collect();
        let lifted: f64 = x[1 + q..].chunks_exact(q).map(|w| dot(w, &mean).max(0.0)).sum();
        let baseline = x[0] + dot(&x[1..=q], &mean) + lifted;
        let numbers = Numbers { objective: trained.objective, risk: trained.risk, bounds };
        self.outcome(
            prepared,
            numbers,
            (trained.iterations, trained.stop),
            &cone.margins,
            (x[0], baseline, slope),
        )
    }

    fn train_deep(
        &self,
        prepared: &Prepared,
        starts: &[Network],
        at: &[f64],
        descent: &mut Descent,
        cancelled: &dyn Fn() -> bool,
    ) -> Outcome {
        let features = &prepared.features;
        let seen = seen_from(features, at, true);
        let sizes = self.sizes(seen.cols());
        let mut deep = Deep::new(seen, &features.half_weights, self.reg, &sizes);
        let mut best: Option<(Vec<f64>, f64, usize, Stop)> = None;
        let mut iterations = 0;
        for start in starts {
            let point = start.widened(features.width() - 1, sizes[0], at[features.width()]);
            let found = deep::train(&mut deep, point, &self.plan(), descent, cancelled);
            iterations += found.2;
            if best.as_ref().is_none_or(|b| found.1 < b.1) {
                best = Some(found);
            }
        }
        let Some((point, objective, _, stop)) = best else { unreachable!("there is at least one start") };
        deep.evaluate(&point, &mut vec![0.0; point.len()]);
        let value = -deep.margins[features.len()];
        let bounds = certificate::Bounds { objective: 0.0, risk: (0.0, objective) };

        let q = sizes[0];
        let mut points = vec![at[1..=q].iter().map(|t| -t).collect::<Vec<f64>>()];
        let steps: Vec<f64> =
            (0..q).map(|j| 1e-3 * prepared.spread.get(j).copied().unwrap_or(at[q])).collect();
        for (j, step) in steps.iter().enumerate() {
            for sign in [1.0, -1.0] {
                let mut beside = vec![0.0; q];
                beside[j] = sign * step;
                points.push(beside);
            }
        }
        let said = deep::outputs(&sizes, &point, &points);
        let slope = (0..q).map(|j| (said[1 + 2 * j] - said[2 + 2 * j]) / (2.0 * steps[j])).collect();
        let numbers = Numbers { objective, risk: deep.risk, bounds };
        let margins = &deep.margins[..features.len()];
        self.outcome(prepared, numbers, (iterations, stop), margins, (value, said[0], slope))
    }

    fn outcome(
        &self,
        prepared: &Prepared,
        numbers: Numbers,
        (iterations, stop): (usize, Stop),
        margins: &[f64],
        (value, baseline, slope): (f64, f64, Vec<f64>),
    ) -> Outcome {
        let Numbers { objective, risk, bounds } = numbers;
        let (depth, error) = match self.variant {
            Variant::Objective => (objective, objective - bounds.objective),
            _ => (risk, (risk - bounds.risk.0).max(bounds.risk.1 - risk)),
        };
        let losses: Vec<f64> = margins.iter().map(|&m| Logistic.value(m)).collect();
        let none = vec![0.0; losses.len()];
        let stderr = prepared.features.standard_error(&mut losses.clone(), &none, &none);
        // The constant classifier has the risk 1; sums of many losses may be a rounding above it.
        let depth = depth.min(1.0);
        let fit = Fit { depth, error: error.max(0.0) + 1e-12, stderr, iterations, stop };
        Outcome { fit, value, baseline, slope, losses }
    }

    /// The layers of a network that takes `inputs` coordinates.
    fn sizes(&self, inputs: usize) -> Vec<usize> {
        std::iter::once(inputs).chain(self.hidden.iter().copied()).chain([1]).collect()
    }

    /// Trains a network for every query, and makes of it what is asked for.
    fn each<T: Send>(
        &self,
        prepared: &Prepared,
        queries: Rows<'_>,
        run: &Run<'_>,
        make: impl Fn(&Outcome, &[f64]) -> T + Sync,
    ) -> Result<Vec<T>> {
        Batch::new(queries, run).run(|mut ticket: Ticket<'_, '_, T>| {
            let mut descent = Descent::default();
            while let Some((first, rows)) = ticket.take(1, 1) {
                let at = prepared.features.locate(rows);
                let outcome = self.train(prepared, at.col(0), &mut descent, &|| ticket.cancelled());
                ticket.done(first, make(&outcome, rows.row(0)));
            }
        })
    }
}

/// No layer has more units than this.
const MOST_UNITS: usize = 10_000;

/// How often a network is trained at most.
const MOST_RESTARTS: usize = 1000;

/// A larger penalty, times a few, is no number.
const MOST_REG: f64 = 1e300;

/// What all queries of a network depth share.
#[derive(Debug)]
pub struct Prepared {
    features: Features,
    /// Which row of the features every row of the reference is.
    place: Vec<Option<usize>>,
    /// The sample's standard deviation along each axis, or a tenth of the largest if that is more.
    spread: Vec<f64>,
    starts: Starts,
}

/// Where the training starts, once for each restart.
#[derive(Debug)]
enum Starts {
    /// Of one hidden layer.
    Directions(Vec<Directions>),
    /// Of several.
    Networks(Vec<Network>),
}

/// A network that every query starts from.
#[derive(Debug)]
struct Network {
    /// For the coordinates of the sample.
    point: Vec<f64>,
    /// What the units of the first layer make of a query's distance from the sample's span, in units of it.
    beyond: Vec<f64>,
}

/// Directions that hidden units can start from.
#[derive(Debug)]
struct Directions {
    /// Coordinates × directions, of length 1.
    unit: Matrix,
    /// The sample along them.
    projected: Matrix,
}

#[derive(Clone, Copy)]
struct Numbers {
    objective: f64,
    risk: f64,
    bounds: certificate::Bounds,
}

/// One query's trained network, as far as anyone asks.
struct Outcome {
    fit: Fit,
    value: f64,
    baseline: f64,
    slope: Vec<f64>,
    losses: Vec<f64>,
}

/// The sample as a query at `at` sees it: $x_i - z$ in the coordinates of the features, one row each; with the query
/// itself as the last row, if wanted.
fn seen_from(features: &Features, at: &[f64], itself: bool) -> Matrix {
    let (n, rank) = (features.len(), features.width() - 1);
    let width = rank + usize::from(at[rank + 1] > 0.0 || rank == 0);
    let mut seen = Matrix::zeros(n + usize::from(itself), width);
    for (j, &t) in at[1..=width].iter().enumerate() {
        let out = &mut seen.col_mut(j)[..n];
        if j == rank {
            out.fill(-t);
        } else {
            for (o, x) in out.iter_mut().zip(features.tall.col(j + 1)) {
                *o = x - t;
            }
        }
    }
    seen
}

impl Network {
    fn new(
        mlp: &Mlp,
        features: &Features,
        spread: &[f64],
        random: &mut Random,
        descent: &mut Descent,
    ) -> Self {
        let (middle, rank) = (vec![0.0; features.query_width()], spread.len());
        let sizes = mlp.sizes(rank);
        let mut point = deep::initial(&sizes, spread, random);
        let beyond = deep::initial(&[1, mlp.hidden[0]], &[1.0], random);
        // In a sample of one point there is nothing to learn.
        if rank > 0 {
            let seen = seen_from(features, &middle, true);
            let mut deep = Deep::new(seen, &features.half_weights, mlp.reg, &sizes);
            point = deep::train(&mut deep, point, &mlp.plan(), descent, &|| false).0;
        }
        Self { point, beyond: beyond[..mlp.hidden[0]].to_vec() }
    }

    /// The network for `to` coordinates, where it was made for `from`; the last one is the distance `rho`.
    fn widened(&self, from: usize, to: usize, rho: f64) -> Vec<f64> {
        let units = self.beyond.len();
        let mut point = Vec::with_capacity(self.point.len() + (to - from) * units);
        for (k, beyond) in self.beyond.iter().enumerate() {
            point.extend_from_slice(&self.point[k * from..(k + 1) * from]);
            point.extend(std::iter::repeat_n(if rho > 0.0 { beyond / rho } else { 0.0 }, to - from));
        }
        point.extend_from_slice(&self.point[from * units..]);
        point
    }
}

impl Directions {
    fn new(features: &Features, units: usize, random: &mut Random) -> Self {
        let (n, rank) = (features.len(), features.width() - 1);
        // They are looked at in every round, so their projections are kept; not too many of them.
        let count = units.min((MOST_NUMBERS / n.max(1)).max(8));
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

/// How many projections are kept at most.
const MOST_NUMBERS: usize = 1 << 25;

impl Hypothesis for Mlp {
    type Prepared = Prepared;

    fn prepare(&self, sample: &Reference) -> Result<Prepared> {
        self.check()?;
        let (merged, place) = sample.merged();
        let features = Features::new(&merged, true);
        let roots: Vec<f64> = features.moments[1..].iter().map(|m| m.sqrt()).collect();
        let spread: Vec<f64> = roots.iter().map(|s| s.max(0.1 * roots[0])).collect();
        let streams = (0..self.restarts).map(|restart| Random::of_restart(self.seed, restart));
        let starts = if self.hidden.len() == 1 {
            Starts::Directions(
                streams.map(|mut r| Directions::new(&features, self.hidden[0], &mut r)).collect(),
            )
        } else {
            let mut descent = Descent::default();
            let network = |mut random| Network::new(self, &features, &spread, &mut random, &mut descent);
            Starts::Networks(streams.map(network).collect())
        };
        Ok(Prepared { features, place, spread, starts })
    }

    fn isolate(&self, prepared: &Prepared, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        self.each(prepared, queries, run, |outcome, _| outcome.fit)
    }

    fn explain(&self, prepared: &Prepared, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<Explanation>> {
        self.each(prepared, queries, run, |outcome, query| prepared.explanation(self.variant, outcome, query))
    }
}

impl Prepared {
    fn explanation(&self, variant: Variant, outcome: &Outcome, query: &[f64]) -> Explanation {
        let features = &self.features;
        // After the constant; what the network makes of the distance from the sample's span is missing if that is 0.
        let mut theta = vec![0.0; features.query_width()];
        theta[1..=outcome.slope.len()].copy_from_slice(&outcome.slope);
        let (slope, _) = features.classifier(&theta, query);
        // By the envelope theorem; for the bare risk the network's own change would have to be known.
        let influence = (variant == Variant::Objective).then(|| {
            let mean = 2.0 * dot(&outcome.losses, &features.half_weights);
            self.place.iter().map(|p| p.map_or(0.0, |i| 0.5 * (outcome.losses[i] - mean))).collect()
        });
        Explanation::network(outcome.fit, (outcome.value, outcome.baseline), slope, query, influence)
    }
}
