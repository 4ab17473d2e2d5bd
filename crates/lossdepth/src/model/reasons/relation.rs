//! Sums and products that determine a column, (E11): ridge regressions on numbers in their units and on their logarithms.

use super::dependence::NAMED;
use crate::data::{Measure, bounded_influence};
use crate::model::pool::Pool;
use crate::numerics::linalg::{Cholesky, Matrix, dot, multiply_symmetric};

/// A relation is close if it leaves at most this share of the variance that a regression on normal scores leaves, and of all
/// variance: half of the width (heuristic).
const CLOSE: f64 = 0.25;

/// A column belongs to a relation if without it so many times as much of the variance is left (heuristic).
const NEEDED: f64 = 2.0;

/// A value is expected if at most this share of the variance is left (heuristic).
const EXPECTED: f64 = 0.5;

/// The regressions of all columns on all others, in two kinds of units.
#[derive(Debug, Clone)]
pub(super) struct Relations {
    kinds: Vec<Kind>,
    /// The share of the variance of each column that is left after a regression on the normal scores of the others.
    left: Vec<f64>,
}

/// The columns in one kind of units.
#[derive(Debug, Clone)]
struct Kind {
    coordinates: Vec<Coordinate>,
    /// The inverse of their correlations.
    precision: Precision,
}

#[derive(Debug, Clone)]
struct Coordinate {
    encoded: usize,
    measure: Measure,
    mean: f64,
    deviation: f64,
}

impl Coordinate {
    fn standardised(&self, x: f64) -> f64 {
        (self.measure.apply(x) - self.mean) / self.deviation
    }
}

/// The inverse of a correlation matrix with a small ridge.
#[derive(Debug, Clone)]
struct Precision {
    entries: Vec<f64>,
    order: usize,
}

impl Precision {
    fn new(mut correlations: Matrix, rows: usize) -> Option<Self> {
        let order = correlations.rows();
        // A heuristic: next to nothing for few columns, so that exact relations stay exact.
        let ridge = 1e-9 + (order as f64 / rows as f64).powi(2);
        for k in 0..order {
            correlations.set(k, k, correlations.at(k, k) + ridge);
        }
        let inverse = Cholesky::scaled(&mut correlations)?.inverse(order);
        let entries = (0..order).flat_map(|k| inverse.col(k).to_vec()).collect();
        Some(Self { entries, order })
    }

    fn at(&self, a: usize, b: usize) -> f64 {
        self.entries[a * self.order + b]
    }

    /// The share of the variance of a column that the others leave.
    fn left(&self, target: usize) -> f64 {
        1.0 / self.at(target, target)
    }

    /// By how much the precision of `target` falls without column `k`.
    fn loss(&self, target: usize, k: usize) -> f64 {
        self.at(target, k).powi(2) / self.at(k, k)
    }

    /// Takes a column out.
    fn without(&mut self, k: usize) {
        let pivot: Vec<f64> = (0..self.order).map(|a| self.at(a, k)).collect();
        for a in 0..self.order {
            for b in 0..self.order {
                self.entries[a * self.order + b] -= pivot[a] * pivot[b] / pivot[k];
            }
        }
    }
}

impl Relations {
    /// Of some encoded columns over the rows of a pool, whose normal scores have these correlations.
    pub(super) fn new(encoded: &[usize], pool: &Pool, correlations: &[f64]) -> Self {
        let order = encoded.len();
        if order < 2 || pool.len() <= order {
            return Self { kinds: Vec::new(), left: Vec::new() };
        }
        let of_scores = Matrix::from_fn(order, order, |a, b| correlations[a * order + b]);
        let left = Precision::new(of_scores, pool.len())
            .map_or(vec![1.0; order], |precision| (0..order).map(|t| precision.left(t)).collect());
        let measures: Vec<[Measure; 2]> = encoded.iter().map(|&at| measures(pool, at)).collect();
        let kinds = (0..2).filter_map(|kind| {
            let of_kind: Vec<(usize, Measure)> =
                encoded.iter().zip(&measures).map(|(&at, both)| (at, both[kind])).collect();
            Kind::new(&of_kind, pool)
        });
        Self { kinds: kinds.collect(), left }
    }

    /// The kind in which the others leave least of a column, and how much.
    fn best(&self, target: usize) -> Option<(&Kind, f64)> {
        let each = self.kinds.iter().map(|kind| (kind, kind.precision.left(target)));
        each.reduce(|best, next| if next.1 < best.1 { next } else { best })
    }

    /// The number that the others let expect in a column of an encoded row.
    pub(super) fn expected(&self, target: usize, row: &[f64]) -> Option<f64> {
        let (Kind { coordinates, precision }, _) = self.best(target).filter(|(_, left)| *left <= EXPECTED)?;
        let others = (0..precision.order).filter(|k| *k != target);
        let sum: f64 = others
            .map(|k| precision.at(target, k) * coordinates[k].standardised(row[coordinates[k].encoded]))
            .sum();
        let own = &coordinates[target];
        let value = own.measure.invert(own.mean - own.deviation * sum * precision.left(target));
        value.is_finite().then_some(value)
    }

    /// The columns of a close relation, the most important first, by backward elimination; `None` if there is no close one.
    pub(super) fn terms(&self, target: usize) -> Option<Vec<usize>> {
        let close = CLOSE * self.left.get(target)?.min(1.0);
        let (kind, left) = self.best(target).filter(|(_, left)| *left <= close)?;
        let mut precision = kind.precision.clone();
        let mut terms: Vec<usize> = (0..precision.order).filter(|k| *k != target).collect();
        while terms.len() > 1 {
            let least = (0..terms.len())
                .reduce(|a, b| {
                    let loss = |at: usize| precision.loss(target, terms[at]);
                    if loss(b) < loss(a) { b } else { a }
                })
                .unwrap_or(0);
            let after = precision.at(target, target) - precision.loss(target, terms[least]);
            if terms.len() <= NAMED && after * NEEDED * left < 1.0 {
                break;
            }
            precision.without(terms[least]);
            terms.remove(least);
        }
        terms.sort_by(|&a, &b| precision.loss(target, b).total_cmp(&precision.loss(target, a)));
        (precision.left(target) <= EXPECTED).then_some(terms)
    }
}

impl Kind {
    fn new(columns: &[(usize, Measure)], pool: &Pool) -> Option<Self> {
        let total: f64 = pool.weights.iter().sum();
        let masses: Vec<f64> = pool.weights.iter().map(|weight| weight / total).collect();
        let points: Vec<Vec<f64>> = columns
            .iter()
            .map(|(at, measure)| pool.rows().iter().map(|row| measure.apply(row[*at])).collect())
            .collect();
        let mut influence = bounded_influence(&masses, columns.len(), |k| points[k].clone());
        let mass: f64 = influence.iter().sum();
        for m in &mut influence {
            *m /= mass;
        }
        let coordinate = |(&(encoded, measure), points): (&(usize, Measure), &Vec<f64>)| {
            let mean = dot(points, &influence);
            let square: f64 = points.iter().zip(&influence).map(|(x, m)| m * (x - mean) * (x - mean)).sum();
            let deviation = if square > 0.0 { square.sqrt() } else { 1.0 };
            Coordinate { encoded, measure, mean, deviation }
        };
        let coordinates: Vec<Coordinate> = columns.iter().zip(&points).map(coordinate).collect();
        let standardised = |weight: &dyn Fn(f64) -> f64| {
            Matrix::from_fn(masses.len(), columns.len(), |i, k| {
                let Coordinate { mean, deviation, .. } = coordinates[k];
                weight(influence[i]) * (points[k][i] - mean) / deviation
            })
        };
        let mut correlations = Matrix::zeros(columns.len(), columns.len());
        multiply_symmetric(&mut correlations, &standardised(&|m| m), &standardised(&|_| 1.0));
        let precision = Precision::new(correlations, masses.len())?;
        Some(Self { coordinates, precision })
    }
}

/// A column in units of its quartiles, and its logarithm if it has one.
fn measures(pool: &Pool, at: usize) -> [Measure; 2] {
    let total: f64 = pool.weights.iter().sum();
    let mut pairs: Vec<(f64, f64)> =
        pool.rows().iter().zip(&pool.weights).map(|(row, weight)| (row[at], weight / total)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let quantile = |level: f64| {
        let mut sum = 0.0;
        let reached = pairs.iter().find(|(_, mass)| {
            sum += mass;
            sum >= level * (1.0 - 1e-9)
        });
        reached.or(pairs.last()).map_or(0.0, |pair| pair.0)
    };
    let mean: f64 = pairs.iter().map(|(x, mass)| mass * x).sum();
    let square: f64 = pairs.iter().map(|(x, mass)| mass * (x - mean) * (x - mean)).sum();
    let linear = Measure::linear(quantile, square.sqrt());
    let below = pairs.iter().take_while(|(x, _)| *x <= 0.0).map(|(_, mass)| mass).sum();
    let smallest = pairs.iter().find(|(x, _)| *x > 0.0);
    let logarithm = smallest.and_then(|(x, _)| Measure::logarithm(0.0, *x, below, quantile));
    [linear, logarithm.unwrap_or(linear)]
}
