//! The parts, prepared on a sample and evaluated at queries.

use super::column_tails::ColumnTails;
use super::compared::Compared;
use super::coordinates::{Column, RankMap, RobustMap};
use super::space::{Balls, Space, log_kernel_mean, without};
use super::tail::Tail;
use crate::data::Layout;
use crate::methods::explanation::{Explanation, Part, Reason};
use crate::problem::{Fit, Stop};

/// Rows in a ball; fewer in a sample of less than 80.
const BALL: f64 = 20.0;

/// Added to the radius of a ball, whose logarithm is the score: a ball of copies has radius 0. Coordinates have no unit.
const SMALLEST_RADIUS: f64 = 1e-9;

/// The weights of the narrow kernel and the ball.
const NARROW: f64 = 1.0;
const BALLS: f64 = 2.0;

/// The weight of the wide kernel for symmetric columns, and for skewed ones.
const RANKS: [f64; 2] = [0.5, 3.0];

/// The mean skewness of the columns up to which they count as symmetric, and from which as skewed.
const SKEWNESS: [f64; 2] = [0.1, 0.4];

const NAMES: [&str; 3] = ["narrow kernel", "ball", "wide kernel"];

/// The name and the weight of the part for gross errors, which comes on top of the others' mean; heuristic, chosen on tables.
const TAILS: (&str, f64) = ("column tails", 8.0);

/// A sample prepared for [`Auto`](super::Auto).
pub struct PreparedAuto {
    compared: Compared,
    robust: Space<RobustMap>,
    ranks: Space<RankMap>,
    /// The masses that the ball sees.
    robust_kept: Vec<f64>,
    /// The masses that the wide kernel sees.
    ranks_kept: Vec<f64>,
    narrow: f64,
    wide: f64,
    ball: f64,
    weights: [f64; 3],
    tails: [Tail; 3],
    column_tails: ColumnTails,
    /// The mean of ln D over the compared rows.
    baseline: f64,
    tol: f64,
}

/// Of each encoded column, whether it is a coordinate of a category.
fn categories(layout: &Layout) -> Vec<bool> {
    let mut categories = vec![false; layout.width()];
    for group in layout.groups() {
        categories[group.range()].fill(group.is_category());
    }
    categories
}

/// A score with a bound on its rounding.
#[derive(Clone, Copy, Default)]
struct Score {
    value: f64,
    error: f64,
}

/// The depth of a query, and the probability that each part gives it.
#[derive(Clone, Copy)]
pub(super) struct Solved {
    pub(super) fit: Fit,
    probabilities: [f64; 3],
    /// $p_4$: that of the column tails.
    tail: f64,
}

impl PreparedAuto {
    /// `zeros` are where the zero of each column is, if that is known.
    pub(super) fn new(
        compared: Compared,
        layout: Option<&Layout>,
        zeros: &[Option<f64>],
        trim: f64,
        tol: f64,
    ) -> Self {
        let (n, width) = (compared.observations, compared.rows().width());
        let columns: Vec<Column> = (0..width).map(|j| Column::new(&compared, j)).collect();
        let layout = layout.cloned().unwrap_or_else(|| Layout::numbers(width));
        let categories = categories(&layout);
        let numbers = columns.iter().zip(&categories).filter(|(_, is_category)| !**is_category);
        let (count, sum) =
            numbers.fold((0.0, 0.0), |(n, sum), (column, _)| (n + 1.0, sum + column.skewness()));
        let skewness = if count > 0.0 { sum / count } else { 0.0 };
        let robust = Space::new(&compared, &columns, &categories);
        let ranks = Space::new(&compared, &columns, &categories);
        let (root, tenth) = (n.sqrt().floor().clamp(1.0, n - 1.0), (n / 10.0).floor().max(5.0).min(n - 1.0));
        let [narrow, middle] = robust.neighbour_distances(&compared, [1.0, root]);
        let robust_kept = robust.trimmed(&compared, middle, trim);
        let [middle, wide] = ranks.neighbour_distances(&compared, [root, tenth]);
        let ranks_kept = ranks.trimmed(&compared, middle, trim);
        let share = ((skewness - SKEWNESS[0]) / (SKEWNESS[1] - SKEWNESS[0])).clamp(0.0, 1.0);
        let weights = [NARROW, BALLS, RANKS[0] + share * (RANKS[1] - RANKS[0])];
        let total: f64 = weights.iter().sum();
        let mut prepared = Self {
            column_tails: ColumnTails::new(zeros, &compared, &columns, &layout, &robust),
            robust,
            ranks,
            robust_kept,
            ranks_kept,
            narrow,
            wide,
            ball: BALL.min((n / 4.0).ceil()),
            weights: weights.map(|w| w / total),
            tails: std::array::from_fn(|_| Tail::new(&[0.0], &[1.0], 1.0)),
            baseline: 0.0,
            tol,
            compared,
        };
        prepared.calibrate();
        prepared
    }

    /// Finds the scores of the compared rows, each among the others.
    fn calibrate(&mut self) {
        let (compared, width) = (&self.compared, self.compared.rows().width());
        let (mut narrow, mut ball, mut wide) = (Vec::new(), Vec::new(), Vec::new());
        let mut balls = Balls::new(compared, &self.robust_kept);
        let mut kept = self.robust_kept.clone();
        self.robust.leave_one_out(compared, &compared.masses, |row, distances, masses| {
            narrow.push(kernel_score(distances, masses, self.narrow, width).value);
            kept[row] = without(self.robust_kept[row], compared.unit());
            ball.push(ball_score(balls.radius(distances, &kept, self.ball), width).value);
            kept[row] = self.robust_kept[row];
        });
        self.ranks.leave_one_out(compared, &self.ranks_kept, |_, distances, masses| {
            wide.push(kernel_score(distances, masses, self.wide, width).value);
        });
        let scores = [narrow, ball, wide];
        let tail = |scores: &Vec<f64>| Tail::new(scores, &compared.masses, compared.observations);
        self.tails = [tail(&scores[0]), tail(&scores[1]), tail(&scores[2])];
        let (mut coordinates, mut scratch) = (Vec::new(), Vec::new());
        let mut log_depth = |row: usize| -> f64 {
            let query = compared.rows().row(row);
            self.robust.coordinates(query, &mut coordinates);
            let (excess, _) = self.column_tails.excess(query, &coordinates, &mut scratch);
            let parts = (0..3).map(|k| self.weights[k] * self.tails[k].probability(scores[k][row]).ln());
            parts.sum::<f64>() - TAILS.1 * excess.ln_1p()
        };
        self.baseline = (0..compared.len()).map(|row| compared.masses[row] * log_depth(row)).sum();
    }

    /// The parts behind a depth.
    pub(super) fn explanation(&self, solved: Solved) -> Explanation {
        let part =
            |k: usize| Part { name: NAMES[k], probability: solved.probabilities[k], weight: self.weights[k] };
        let tails = Part { name: TAILS.0, probability: solved.tail, weight: TAILS.1 };
        let parts: Vec<Part> = (0..3).map(part).chain([tails]).collect();
        let value = parts.iter().map(|part| part.weight * part.probability.ln()).sum();
        let reason = Reason::Combined { parts };
        Explanation { fit: solved.fit, value, baseline: self.baseline, influence: None, reason }
    }
}

/// (A3): the logarithm of the kernel's mean, of which the depth of a support vector machine is a rising function.
///
/// Rounding, counted for doubles of relative precision ε/2: a distance is off by $(d + 1) \varepsilon / 2$ of itself. Terms whose
/// exponent is 710 below the largest do not matter, so the exponents that do are off by $(d + 4) \varepsilon$ of at most
/// $D_{\min} / h + 710$ together with their own rounding; the sum of positive terms is off by less than a unit of ε a term.
fn kernel_score(distances: &[f64], masses: &[f64], width: f64, columns: usize) -> Score {
    let (value, nearest) = log_kernel_mean(distances, masses, width);
    let exponents = (columns as f64 + 4.0) * (nearest / width + 710.0);
    let error = f64::EPSILON * (exponents + distances.len() as f64 + 16.0 + 4.0 * value.abs());
    Score { value, error }
}

/// (A4): minus the logarithm of the radius.
fn ball_score(radius: f64, columns: usize) -> Score {
    let value = -(radius + SMALLEST_RADIUS).ln();
    Score { value, error: f64::EPSILON * (columns as f64 + 8.0 + 4.0 * value.abs()) }
}

/// One worker's memory.
pub(super) struct Worker<'a> {
    prepared: &'a PreparedAuto,
    /// The coordinates of the query in robust units, and by ranks.
    coordinates: Vec<f64>,
    ranks: Vec<f64>,
    centred: Vec<f64>,
    distances: Vec<f64>,
    balls: Balls,
    all: Vec<f64>,
    robust_kept: Vec<f64>,
    ranks_kept: Vec<f64>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(prepared: &'a PreparedAuto) -> Self {
        Self {
            prepared,
            coordinates: Vec::new(),
            ranks: Vec::new(),
            centred: Vec::new(),
            distances: Vec::new(),
            balls: Balls::new(&prepared.compared, &prepared.robust_kept),
            all: prepared.compared.masses.clone(),
            robust_kept: prepared.robust_kept.clone(),
            ranks_kept: prepared.ranks_kept.clone(),
        }
    }

    fn scores(&mut self, query: &[f64]) -> [Score; 3] {
        let prepared = self.prepared;
        let own = prepared.compared.find(query);
        if let Some(row) = own {
            for masses in [&mut self.all, &mut self.robust_kept, &mut self.ranks_kept] {
                masses[row] = without(masses[row], prepared.compared.unit());
            }
        }
        let width = query.len();
        prepared.robust.coordinates(query, &mut self.coordinates);
        prepared.robust.distances(&self.coordinates, &mut self.distances);
        let narrow = kernel_score(&self.distances, &self.all, prepared.narrow, width);
        let radius = self.balls.radius(&self.distances, &self.robust_kept, prepared.ball);
        prepared.ranks.coordinates(query, &mut self.ranks);
        prepared.ranks.distances(&self.ranks, &mut self.distances);
        let wide = kernel_score(&self.distances, &self.ranks_kept, prepared.wide, width);
        if let Some(row) = own {
            self.all[row] = prepared.compared.masses[row];
            self.robust_kept[row] = prepared.robust_kept[row];
            self.ranks_kept[row] = prepared.ranks_kept[row];
        }
        [narrow, ball_score(radius, width), wide]
    }

    pub(super) fn solve(&mut self, query: &[f64]) -> Solved {
        let scores = self.scores(query);
        let prepared = self.prepared;
        let (mut log_depth, mut log_error, mut probabilities) = (0.0, 8.0 * f64::EPSILON, [0.0; 3]);
        for k in 0..3 {
            let Score { value, error } = scores[k];
            let p = prepared.tails[k].probability(value);
            // The probability rises with the score, so its ends are at those of the score.
            let [low, high] = [value - error, value + error].map(|s| prepared.tails[k].probability(s));
            let off = (p / low).ln().max((high / p).ln());
            log_error += prepared.weights[k] * (off + f64::EPSILON * (16.0 + 4.0 * p.ln().abs()));
            log_depth += prepared.weights[k] * p.ln();
            probabilities[k] = p;
        }
        let (excess, off) = prepared.column_tails.excess(query, &self.coordinates, &mut self.centred);
        // ln p changes by at most as much as the excess.
        log_error += TAILS.1 * (off + 4.0 * f64::EPSILON * excess.ln_1p());
        let tail = 1.0 / (1.0 + excess);
        log_depth += TAILS.1 * tail.ln();
        let depth = log_depth.exp();
        let error = depth * log_error.exp_m1();
        let stop = Stop::Converged.for_error(error, prepared.tol);
        Solved { fit: Fit { depth, error, stderr: f64::NAN, iterations: 0, stop }, probabilities, tail }
    }
}
