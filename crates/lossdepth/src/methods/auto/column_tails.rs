//! Single values that do not fit: beyond the tail of their own column, or of what the other columns let expect.

use super::compared::Compared;
use super::coordinates::RobustMap;
use super::side::Sides;
use super::space::Space;
use crate::data::{Group, Layout};
use crate::numerics::linalg::{Cholesky, Matrix, dot, multiply_symmetric};

/// The share of $\ln 2 n d$ from which on a value is in excess; heuristic, chosen on tables.
const EXPECTED: f64 = 0.7;

/// Added to the diagonal of the correlations, besides the number of coordinates per observation.
const RIDGE: f64 = 0.01;

/// With more coordinates than these columns are not compared with each other: the time is cubic in their number. Up to here a
/// query takes less time for it than for its distances to the rows.
const MOST: usize = 1024;

/// A level of a category takes part in the regressions from this many observations on.
const LEAST_LEVEL: f64 = 10.0;

/// Spreads of coordinates and of residuals below this are rounding. Coordinates have no unit.
const RESOLUTION: f64 = 1e-9;

/// The tails of all columns, and of the residuals of each given the others.
pub(super) struct ColumnTails {
    /// The encoded column of each number, with its tails.
    numbers: Vec<(usize, Sides)>,
    residuals: Vec<Residual>,
    /// The coordinates of the regressions: the encoded column, and its mean.
    predictors: Vec<(usize, f64)>,
    levels: Vec<Levels>,
}

/// What is left of a coordinate after its ridge regression on the others: $e = \sum_k b_k (v_k - \bar v_k)$.
struct Residual {
    coefficients: Vec<f64>,
    sides: Sides,
}

/// The excess of each level of a category.
struct Levels {
    group: Group,
    excess: Vec<f64>,
    /// That of a level that the sample lacks.
    unseen: f64,
}

impl ColumnTails {
    pub(super) fn new(compared: &Compared, layout: &Layout, robust: &Space<RobustMap>) -> Self {
        let n = compared.observations;
        let expected = EXPECTED * (2.0 * n * layout.groups().len() as f64).ln();
        let rows = compared.rows();
        let tails =
            |j: usize| Sides::learn(rows.iter().map(|row| row[j]), &compared.masses, n, expected, 0.0);
        let numbers = layout.number_groups().map(|group| (group.start, tails(group.start))).collect();
        let levels = layout.categories().map(|group| Levels::new(*group, compared, expected)).collect();
        let mut tails = Self { numbers, residuals: Vec::new(), predictors: Vec::new(), levels };
        tails.regress(compared, layout, robust, expected);
        tails
    }

    /// Learns the regressions, if there are columns to compare and not too many.
    fn regress(&mut self, compared: &Compared, layout: &Layout, robust: &Space<RobustMap>, expected: f64) {
        let (n, masses) = (compared.observations, &compared.masses);
        let mass: f64 = masses.iter().sum();
        let mut kept: Vec<(usize, f64, f64)> = Vec::new();
        for group in layout.groups() {
            for j in group.range() {
                let points = robust.column(j);
                let mean = dot(points, masses) / mass;
                let square: f64 = points.iter().zip(masses).map(|(x, m)| m * (x - mean) * (x - mean)).sum();
                let deviation = (square / mass).sqrt();
                let present: f64 =
                    points.iter().zip(masses).filter(|(x, _)| **x != 0.0).map(|(_, m)| m).sum();
                let rare = group.is_category() && n * present < LEAST_LEVEL;
                if deviation > RESOLUTION && !rare {
                    kept.push((j, mean, deviation));
                }
            }
        }
        let order = kept.len();
        if !(2..=MOST).contains(&order) {
            return;
        }
        let standardised = |weight: &dyn Fn(f64) -> f64| {
            Matrix::from_fn(masses.len(), order, |i, k| {
                let (j, mean, deviation) = kept[k];
                weight(masses[i] / mass) * (robust.column(j)[i] - mean) / deviation
            })
        };
        let mut correlations = Matrix::zeros(order, order);
        let (weighted, plain) = (standardised(&|m| m), standardised(&|_| 1.0));
        multiply_symmetric(&mut correlations, &weighted, &plain);
        let ridge = RIDGE + order as f64 / n;
        for k in 0..order {
            correlations.set(k, k, correlations.at(k, k) + ridge);
        }
        // Positive definite by the ridge.
        let Some(factor) = Cholesky::scaled(&mut correlations) else { return };
        let precision = factor.inverse(order);
        self.predictors = kept.iter().map(|&(j, mean, _)| (j, mean)).collect();
        let is_number = |j: usize| self.numbers.iter().any(|(number, _)| *number == j);
        let targets = (0..order).filter(|k| is_number(kept[*k].0));
        self.residuals = targets
            .map(|t| {
                let scale = precision.at(t, t);
                let coefficients: Vec<f64> =
                    (0..order).map(|k| precision.at(k, t) / (scale * kept[k].2)).collect();
                let mut values = vec![0.0; masses.len()];
                for (&(j, mean, _), b) in kept.iter().zip(&coefficients) {
                    values.iter_mut().zip(robust.column(j)).for_each(|(e, x)| *e += b * (x - mean));
                }
                let sides = Sides::learn(values.into_iter(), masses, n, expected, RESOLUTION);
                Residual { coefficients, sides }
            })
            .collect();
    }

    /// The largest excess of a value of the query, whose coordinates in robust units are given, with a bound on its
    /// rounding.
    pub(super) fn excess(&self, query: &[f64], coordinates: &[f64], centred: &mut Vec<f64>) -> (f64, f64) {
        let mut largest = (0.0f64, 0.0f64);
        let mut add = |(value, error): (f64, f64)| largest = (largest.0.max(value), largest.1.max(error));
        for (j, sides) in &self.numbers {
            add(sides.excess(query[*j], 0.0));
        }
        centred.clear();
        centred.extend(self.predictors.iter().map(|&(j, mean)| coordinates[j] - mean));
        let unit = f64::EPSILON * (centred.len() as f64 + 2.0);
        for Residual { coefficients, sides } in &self.residuals {
            let (mut sum, mut size) = (0.0, 0.0);
            for (b, v) in coefficients.iter().zip(&*centred) {
                sum += b * v;
                size += (b * v).abs();
            }
            add(sides.excess(sum, unit * size));
        }
        for levels in &self.levels {
            let seen = levels.group.level(query).map_or(levels.unseen, |level| levels.excess[level]);
            add((seen, 0.0));
        }
        largest
    }
}

impl Levels {
    /// A level is as odd as the share $p$ of the rows whose levels are at most as frequent is small, and as the next level is
    /// more frequent than all of these together: $-\ln p + \frac12 \ln (p_\text{next} / p)$. The half is a heuristic.
    fn new(group: Group, compared: &Compared, expected: f64) -> Self {
        let n = compared.observations;
        let mut shares = vec![0.0; group.width];
        for (row, mass) in compared.rows().iter().zip(&compared.masses) {
            if let Some(level) = group.level(row) {
                shares[level] += mass;
            }
        }
        let excess = |share: f64| {
            // Sums of masses have rounding errors.
            let (rarer, others): (Vec<f64>, Vec<f64>) =
                shares.iter().partition(|other| **other <= share * (1.0 + 1e-9));
            // A level that the sample lacks is as rare as if one more row had it.
            let together = rarer.iter().sum::<f64>().max(1.0 / (n + 1.0));
            let next = others.iter().fold(f64::INFINITY, |least, share| least.min(*share));
            let jump = if next.is_finite() { 0.5 * (next / together).ln().max(0.0) } else { 0.0 };
            (jump - together.ln() - expected).max(0.0)
        };
        let unseen = excess(0.0);
        Self { group, excess: shares.iter().map(|share| excess(*share)).collect(), unseen }
    }
}
