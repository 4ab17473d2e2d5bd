//! What the turn into the principal axes may have done to a depth.
//!
//! The solvers certify the problem in the axes, where a row is off by a drift $e_i$ (see [`Features::drift`]). At the minimiser $w$
//! found there the margins of the rows as they were given differ by $\langle w, e_i \rangle$, and the gradient by
//! $\sum_i c_i \ell'(m_i) e_i$. The multipliers that were optimal in the axes prove that $w$ has a gap of
//!
//! $$ \frac{1}{4 \lambda} \Big\| \sum_i c_i \ell'(m_i) e_i \Big\|^2 + \text{terms of second order in } \langle w, e_i \rangle, $$
//!
//! and from there on it is as in [`certificate`](crate::certify::gap). With a bound on the drift that is known beforehand
//! this costs nothing; where that is too coarse, it is done with the drift as it was measured.

use crate::certify::gap::{Point, risk_error, second_order};
use crate::loss::{Dual, Hinge, Loss, Smooth};
use crate::numerics::linalg::{dot, norm};
use crate::problem::Outcome;
use crate::problem::Task;
use crate::problem::Variant;
use crate::problem::features::{Drift, Features};
use crate::solver::interior_point;
use crate::solver::newton::{Newton, project};

/// A depth in the principal axes.
pub(super) struct Turn<'a, L> {
    pub(super) loss: &'a L,
    pub(super) features: &'a Features,
    pub(super) task: &'a Task,
    pub(super) outcome: &'a Outcome,
}

/// Losses for which it is known what a turn does.
pub(super) trait Turned: Loss + Sized {
    /// A bound on the change of the depth, given how far sample and query may be off.
    fn bounded(turn: &Turn<'_, Self>, drift: (f64, f64)) -> f64;
    /// The same, given how far they are off.
    fn measured(turn: &Turn<'_, Self>, drift: &Drift<'_>) -> f64;
    /// The depth in coordinates that are corrected by what they are off.
    fn corrected<'a>(turn: &Turn<'a, Self>, query: &[f64], drift: Drift<'a>) -> Outcome;
}

/// The change of every margin of the sample, of the query's value, and what they may be beyond that.
struct Shifts {
    margins: Vec<f64>,
    sample: Vec<f64>,
    slack: Vec<f64>,
    query: f64,
    query_slack: f64,
}

impl<L> Turn<'_, L> {
    /// The classifier without its intercept.
    fn w(&self) -> &[f64] {
        &self.outcome.theta[self.features.free..]
    }

    fn shifts(&self, drift: &Drift<'_>) -> Shifts {
        let (n, theta) = (self.features.len(), &self.outcome.theta);
        let (inside, along) = self.w().split_at(drift.query.len());
        let (mut margins, mut sample) = (vec![0.0; n], vec![0.0; n]);
        project(&self.features.tall, &theta[..self.features.width()], &mut margins);
        project(drift.sample, inside, &mut sample);
        // The sample may be off in the direction of the query's own coordinate.
        let slack = drift.sample_beyond.iter().map(|beyond| along[0].abs() * beyond).collect();
        let (query, query_slack) = (dot(&drift.query, inside), along[0].abs() * drift.query_beyond);
        Shifts { margins, sample, slack, query, query_slack }
    }

    /// $\|\sum_i s_i e_i + s_z e_z\|$ for these slopes.
    fn gradient(drift: &Drift<'_>, slopes: &[f64], at_query: f64) -> f64 {
        norm(&drift.sum(slopes, at_query)) + drift.beyond(slopes.iter().copied(), at_query)
    }
}

impl<L: Smooth> Turn<'_, L> {
    /// The error of a depth with such a gap.
    fn error_of_gap(&self, gap: f64) -> f64 {
        let &Outcome { ref theta, value, pull, .. } = self.outcome;
        let Features { free, reach, .. } = *self.features;
        let (gradient, query, count): (&[f64], &[f64], _) = (&[], &[], self.features.len());
        let (drift, blur) = ((0.0, 0.0), (0.0, 0.0));
        let point = Point { theta, gradient, query, value, free, count, reach, drift, pull, blur };
        point.error_of_gap(self.loss, self.task.reg, self.task, gap)
    }
}

impl<L: Smooth + Dual> Turned for L {
    fn bounded(turn: &Turn<'_, Self>, drift: (f64, f64)) -> f64 {
        let Turn { task, outcome, .. } = turn;
        let pulls = (outcome.pull, 0.5 * turn.loss.grad(-outcome.value).abs());
        let length = norm(turn.w());
        let (sample, query) = (length * drift.0, length * drift.1);
        let gradient = pulls.0 * drift.0 + pulls.1 * drift.1;
        let beyond = (second_order(0.5, pulls.0, sample), second_order(0.5, pulls.1, query));
        let gap = gradient / (4.0 * task.reg) * gradient + beyond.0 + beyond.1;
        let losses = task.shares.sample * (pulls.0 * sample + beyond.0)
            + task.shares.query * (pulls.1 * query + beyond.1);
        limited(losses + turn.error_of_gap(gap), task)
    }

    fn measured(turn: &Turn<'_, Self>, drift: &Drift<'_>) -> f64 {
        let Turn { loss, features, task, outcome, .. } = turn;
        let (shifts, weights) = (turn.shifts(drift), &features.half_weights);
        let mut slopes = vec![0.0; features.len()];
        loss.walk(&shifts.margins, &shifts.margins, 0.0, weights, &mut slopes);
        let at_query = -0.5 * loss.grad(-outcome.value);
        let (mut first, mut beyond) = (0.0, 0.0);
        for i in 0..features.len() {
            let (slope, shift, slack) = (slopes[i], shifts.sample[i], shifts.slack[i]);
            first += slope * shift;
            beyond += slope.abs() * slack + second_order(weights[i], slope, shift.abs() + slack);
        }
        let shift = shifts.query.abs() + shifts.query_slack;
        let at_beyond = at_query.abs() * shifts.query_slack + second_order(0.5, at_query, shift);
        let gradient = Turn::<Self>::gradient(drift, &slopes, at_query);
        let gap = gradient / (4.0 * task.reg) * gradient + beyond + at_beyond;
        let losses = (task.shares.sample * first + task.shares.query * (at_query * shifts.query)).abs()
            + task.shares.sample * beyond
            + task.shares.query * at_beyond;
        limited(losses + turn.error_of_gap(gap), task)
    }

    fn corrected<'a>(turn: &Turn<'a, Self>, query: &[f64], drift: Drift<'a>) -> Outcome {
        let Turn { loss, features, task, outcome, .. } = *turn;
        Newton::new(loss, features, task).correct(query, outcome.theta.clone(), drift, outcome.iterations)
    }
}

/// How near to 1 a margin is taken to be on the kink of the hinge.
const KINK: f64 = 1e-3;

/// What changes for the hinge.
struct Changes {
    /// The losses, by so much at most,
    losses: f64,
    /// those of rows on the kink,
    on_kink: f64,
    /// and the gradient.
    gradient: f64,
}

impl Turned for Hinge {
    fn bounded(turn: &Turn<'_, Self>, drift: (f64, f64)) -> f64 {
        // All slopes are 1 at most, half of the mass is on either side, and all of it may be on the kink.
        let gradient = 0.5 * (drift.0 + drift.1);
        let losses = norm(turn.w()) * gradient;
        turn.change(&Changes { losses, on_kink: losses, gradient })
    }

    fn measured(turn: &Turn<'_, Self>, drift: &Drift<'_>) -> f64 {
        let (shifts, weights) = (turn.shifts(drift), &turn.features.half_weights);
        // Below the kink the slope is -1, on it between that and 0; a row that may get there is on it.
        let slope = |margin: f64, reach: f64| if margin < 1.0 - KINK - reach { -1.0 } else { 0.0 };
        let on_kink = |margin: f64, reach: f64| if (margin - 1.0).abs() <= KINK + reach { 1.0 } else { 0.0 };
        let reach = |i: usize| shifts.sample[i].abs() + shifts.slack[i];
        let rows = || shifts.margins.iter().enumerate();
        let slopes: Vec<f64> = rows().map(|(i, m)| weights[i] * slope(*m, reach(i))).collect();
        let (margin, query) = (-turn.outcome.value, shifts.query.abs() + shifts.query_slack);
        let (at_query, query_on_kink) = (-0.5 * slope(margin, query), 0.5 * on_kink(margin, query));
        let gradient = Turn::<Self>::gradient(drift, &slopes, at_query)
            + query_on_kink * (norm(&drift.query) + drift.query_beyond);
        let mut changes =
            Changes { losses: (at_query + query_on_kink) * query, on_kink: query_on_kink * query, gradient };
        for (i, margin) in rows() {
            let kink = weights[i] * on_kink(*margin, reach(i));
            changes.losses += (slopes[i].abs() + kink) * reach(i);
            if kink > 0.0 {
                let row: Vec<f64> = (0..drift.query.len()).map(|j| drift.sample.at(i, j)).collect();
                changes.on_kink += kink * reach(i);
                changes.gradient += kink * (norm(&row) + drift.sample_beyond[i]);
            }
        }
        turn.change(&changes)
    }

    fn corrected<'a>(turn: &Turn<'a, Self>, query: &[f64], drift: Drift<'a>) -> Outcome {
        interior_point::correct(turn.features, turn.task, query, drift)
    }
}

impl Turn<'_, Hinge> {
    /// The change of the depth. Multipliers between 0 and 1 are optimal on the kink only, so that a row that leaves it adds to the gap
    /// in the first order.
    fn change(&self, changes: &Changes) -> f64 {
        let &Changes { losses, on_kink, gradient } = changes;
        let gap = gradient / (4.0 * self.task.reg) * gradient + on_kink;
        let error = match self.task.variant {
            Variant::Risk => risk_error(gap, self.task.reg, norm(self.w())),
            _ => gap,
        };
        limited(losses + error, self.task)
    }
}

/// Allows for what a first order leaves out, where the minimiser is known up to its own error; and a depth is between 0 and what it
/// is at the origin.
fn limited(change: f64, task: &Task) -> f64 {
    let (change, most) = (1.25 * change, task.shares.sample.max(task.shares.query));
    if change < most { change } else { most }
}
