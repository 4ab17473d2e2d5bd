//! What a column is given the others: ridge regressions in three kinds of coordinates, (A9r).

use super::compared::Compared;
use super::coordinates::{Column, RobustMap};
use super::side::{CENSORED, Sides};
use super::space::Space;
use crate::data::{Layout, Measure, bounded_influence};
use crate::kernel::weighted_quantile;
use crate::numerics::linalg::{Cholesky, Matrix, dot, multiply_symmetric};

/// Added to the diagonal of the correlations of robust coordinates, besides the number of coordinates per observation.
const RIDGE: f64 = 0.01;

/// The same for the other kinds of coordinates, besides the square of that number. In these a sum or a product is exact, and stays so
/// to a thousandth. Heuristics.
const LEAST_RIDGE: f64 = 1e-6;

/// With more coordinates than these columns are not compared with each other: the time is cubic in their number. Up to here a
/// query takes less time for it than for its distances to the rows.
const MOST: usize = 1024;

/// A level of a category takes part in the regressions from this many observations on.
const LEAST_LEVEL: f64 = 10.0;

/// Spreads of coordinates and of residuals below this are rounding. Coordinates have no unit.
const RESOLUTION: f64 = 1e-9;

/// As [`CENSORED`] for residuals in these: an error in any column of a relation breaks it (heuristic).
const BROKEN: f64 = 0.05;

/// A column is predicted in other than robust coordinates if that leaves at most this share of what these leave (heuristic).
const NARROWER: f64 = 0.5;

/// The other kinds take part from so many observations a coordinate on: in smaller samples their smaller ridge follows the sample
/// (heuristic).
const OBSERVATIONS: f64 = 20.0;

/// The residuals of all number columns, each in the coordinates in which the others predict it best.
#[derive(Default)]
pub(super) struct Regressions {
    kinds: Vec<Kind>,
    residuals: Vec<Residual>,
}

/// One kind of coordinates.
struct Kind {
    /// How each encoded column is measured; `None` for the robust coordinate, which is known.
    measures: Vec<Option<Measure>>,
    /// The coordinates that take part: the encoded column, and its mean.
    predictors: Vec<(usize, f64)>,
}

/// What is left of a coordinate after its ridge regression on the others: $e = \sum_k b_k (v_k - \bar v_k)$.
struct Residual {
    kind: usize,
    coefficients: Vec<f64>,
    sides: Sides,
}

/// A coordinate that varies, over the compared rows.
struct Predictor {
    column: usize,
    points: Vec<f64>,
    mean: f64,
    deviation: f64,
}

/// A column predicted in one kind of coordinates.
struct Prediction {
    column: usize,
    coefficients: Vec<f64>,
    values: Vec<f64>,
    /// The distance of the 5 % and 95 % quantiles as a share of that of the column.
    width: f64,
}

impl Regressions {
    /// Learns the regressions, if there are columns to compare and not too many.
    pub(super) fn learn(
        zeros: &[Option<f64>],
        compared: &Compared,
        columns: &[Column],
        layout: &Layout,
        robust: &Space<RobustMap>,
        expected: f64,
    ) -> Self {
        let (n, masses) = (compared.observations, &compared.masses);
        let mut numbers = vec![false; columns.len()];
        layout.number_groups().for_each(|group| numbers[group.start] = true);
        let linear = |j: usize| columns[j].linear();
        let logarithm = |j: usize| zeros[j].and_then(|zero| columns[j].logarithm(zero)).unwrap_or(linear(j));
        let each = |measure: &dyn Fn(usize) -> Measure| -> Vec<Option<Measure>> {
            numbers.iter().enumerate().map(|(j, is_number)| is_number.then(|| measure(j))).collect()
        };
        let kinds = [vec![None; columns.len()], each(&linear), each(&logarithm)];
        let mut found = Self::default();
        let mut best: Vec<(usize, Prediction)> = Vec::new();
        for (kind, measures) in kinds.into_iter().enumerate() {
            if kind > 0 && n < OBSERVATIONS * best.len() as f64 {
                break;
            }
            // Without a positive column logarithms are the linear coordinates again.
            if kind == 2 && !measures.iter().flatten().any(Measure::is_logarithm) {
                break;
            }
            let points = |j: usize| -> Vec<f64> {
                let rows = compared.rows();
                let at = |(i, robust): (usize, &f64)| coordinate(measures[j], rows.row(i)[j], *robust);
                robust.column(j).iter().enumerate().map(at).collect()
            };
            // Gross errors bend robust coordinates little; in the others rows count less the farther out they are.
            let influence =
                if kind == 0 { masses.clone() } else { bounded_influence(masses, columns.len(), points) };
            let predictors = predictors(compared, layout, &influence, points);
            if !(2..=MOST).contains(&predictors.len()) {
                break;
            }
            let kept = predictors.iter().map(|p| (p.column, p.mean)).collect();
            let predictions = predict(kind, &predictors, masses, &influence, n, &numbers);
            found.kinds.push(Kind { measures, predictors: kept });
            if kind == 0 {
                best = predictions.into_iter().map(|prediction| (0, prediction)).collect();
                continue;
            }
            for prediction in predictions {
                let Some((of, now)) = best.iter_mut().find(|(_, now)| now.column == prediction.column) else {
                    continue;
                };
                let limit = if *of == 0 { NARROWER * now.width } else { now.width };
                if prediction.width < limit {
                    (*of, *now) = (kind, prediction);
                }
            }
        }
        found.residuals = best
            .into_iter()
            .map(|(kind, Prediction { coefficients, values, .. })| {
                let censored = if kind == 0 { CENSORED } else { BROKEN };
                let sides = Sides::learn(values.into_iter(), masses, n, expected, RESOLUTION, censored);
                Residual { kind, coefficients, sides }
            })
            .collect();
        // In the order of their kind, so that the coordinates of a query are found once.
        found.residuals.sort_by_key(|residual| residual.kind);
        found
    }

    /// Passes the excess of every residual of a query to `add`, with a bound on its rounding. `coordinates` are those of the
    /// query in robust units.
    pub(super) fn excesses(
        &self,
        query: &[f64],
        coordinates: &[f64],
        centred: &mut Vec<f64>,
        add: &mut impl FnMut((f64, f64)),
    ) {
        let mut last = None;
        for Residual { kind, coefficients, sides } in &self.residuals {
            if last != Some(kind) {
                let Kind { measures, predictors } = &self.kinds[*kind];
                centred.clear();
                let centre =
                    |&(j, mean): &(usize, f64)| coordinate(measures[j], query[j], coordinates[j]) - mean;
                centred.extend(predictors.iter().map(centre));
                last = Some(kind);
            }
            let unit = f64::EPSILON * (centred.len() as f64 + 2.0);
            let (mut sum, mut size) = (0.0, 0.0);
            for (b, v) in coefficients.iter().zip(&*centred) {
                sum += b * v;
                size += (b * v).abs();
            }
            add(sides.excess(sum, unit * size));
        }
    }
}

fn coordinate(measure: Option<Measure>, x: f64, robust: f64) -> f64 {
    measure.map_or(robust, |measure| measure.apply(x))
}

/// The coordinates that vary, without levels that few rows have.
fn predictors(
    compared: &Compared,
    layout: &Layout,
    influence: &[f64],
    points: impl Fn(usize) -> Vec<f64>,
) -> Vec<Predictor> {
    let (n, mass) = (compared.observations, influence.iter().sum::<f64>());
    let mut kept = Vec::new();
    for group in layout.groups() {
        for column in group.range() {
            let points = points(column);
            let mean = dot(&points, influence) / mass;
            let square: f64 = points.iter().zip(influence).map(|(x, m)| m * (x - mean) * (x - mean)).sum();
            let deviation = (square / mass).sqrt();
            let present: f64 =
                points.iter().zip(&compared.masses).filter(|(x, _)| **x != 0.0).map(|(_, m)| m).sum();
            let rare = group.is_category() && n * present < LEAST_LEVEL;
            if deviation > RESOLUTION && deviation.is_finite() && !rare {
                kept.push(Predictor { column, points, mean, deviation });
            }
        }
    }
    kept
}

/// The ridge regressions of each number on all other coordinates, from one factorisation.
fn predict(
    kind: usize,
    predictors: &[Predictor],
    masses: &[f64],
    influence: &[f64],
    n: f64,
    numbers: &[bool],
) -> Vec<Prediction> {
    let (order, mass) = (predictors.len(), influence.iter().sum::<f64>());
    let standardised = |weight: &dyn Fn(f64) -> f64| {
        Matrix::from_fn(masses.len(), order, |i, k| {
            let Predictor { points, mean, deviation, .. } = &predictors[k];
            weight(influence[i] / mass) * (points[i] - mean) / deviation
        })
    };
    let mut correlations = Matrix::zeros(order, order);
    let (weighted, plain) = (standardised(&|m| m), standardised(&|_| 1.0));
    multiply_symmetric(&mut correlations, &weighted, &plain);
    let ridge = if kind == 0 { RIDGE + order as f64 / n } else { LEAST_RIDGE + (order as f64 / n).powi(2) };
    for k in 0..order {
        correlations.set(k, k, correlations.at(k, k) + ridge);
    }
    // Positive definite by the ridge.
    let Some(factor) = Cholesky::scaled(&mut correlations) else { return Vec::new() };
    let precision = factor.inverse(order);
    let width = |values: &[f64]| {
        let mut pairs: Vec<(f64, f64)> = values.iter().copied().zip(masses.iter().copied()).collect();
        weighted_quantile(&mut pairs, 0.95) - weighted_quantile(&mut pairs, 0.05)
    };
    let targets = (0..order).filter(|k| numbers[predictors[*k].column]);
    targets
        .map(|t| {
            let scale = precision.at(t, t);
            let coefficients: Vec<f64> =
                (0..order).map(|k| precision.at(k, t) / (scale * predictors[k].deviation)).collect();
            let mut values = vec![0.0; masses.len()];
            for (Predictor { points, mean, .. }, b) in predictors.iter().zip(&coefficients) {
                values.iter_mut().zip(points).for_each(|(e, x)| *e += b * (x - mean));
            }
            let whole = width(&predictors[t].points);
            let width = if whole > RESOLUTION { width(&values) / whole } else { f64::INFINITY };
            Prediction { column: predictors[t].column, coefficients, values, width }
        })
        .collect()
}
