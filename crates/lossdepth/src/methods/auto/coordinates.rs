//! The two coordinates of a number: in robust units, and by its rank.
//!
//! Each column is mapped by itself, so that columns with a meaning of their own may get a map of their own here.

use super::compared::Compared;
use crate::data::{Measure, quartile_unit};
use crate::numerics::special::normal_quantile;

/// The distribution of one column over the compared rows.
pub(super) struct Column {
    /// The different values, ascending.
    values: Vec<f64>,
    /// The mass up to and with each value.
    cumulative: Vec<f64>,
    observations: f64,
    deviation: f64,
}

impl Column {
    pub(super) fn new(compared: &Compared, column: usize) -> Self {
        let rows = compared.rows();
        let mut pairs: Vec<(f64, f64)> =
            rows.iter().map(|row| row[column]).zip(compared.masses.iter().copied()).collect();
        // Masses of equal values are added in one order, whatever the order of the rows was.
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (mut values, mut cumulative, mut sum) = (Vec::<f64>::new(), Vec::<f64>::new(), 0.0);
        for &(value, mass) in &pairs {
            sum += mass;
            match (values.last(), cumulative.last_mut()) {
                (Some(last), Some(total)) if *last == value => *total = sum,
                _ => {
                    values.push(value);
                    cumulative.push(sum);
                }
            }
        }
        let origin = values[0];
        let mean = origin + pairs.iter().map(|(x, m)| m * (x - origin)).sum::<f64>() / sum;
        let square = pairs.iter().map(|(x, m)| m * (x - mean) * (x - mean)).sum::<f64>() / sum;
        let deviation = if values.len() > 1 { square.sqrt() } else { 0.0 };
        Self { values, cumulative, observations: compared.observations, deviation }
    }

    /// The number in units of its quartiles.
    pub(super) fn linear(&self) -> Measure {
        Measure::linear(|level| self.quantile(level), self.deviation)
    }

    /// The logarithm of the number above `zero`, if the column has one.
    pub(super) fn logarithm(&self, zero: f64) -> Option<Measure> {
        let first = self.values.partition_point(|x| *x <= zero);
        let below = if first == 0 { 0.0 } else { self.cumulative[first - 1] };
        Measure::logarithm(zero, *self.values.get(first)?, below, |level| self.quantile(level))
    }

    /// The first value at which the cumulative mass is at least `level`.
    fn quantile(&self, level: f64) -> f64 {
        // Sums of masses have rounding errors.
        let at = self.cumulative.partition_point(|sum| *sum < level * (1.0 - 1e-9));
        self.values[at.min(self.values.len() - 1)]
    }

    /// $|q_{95} + q_5 - 2 q_{50}| / (q_{95} - q_5)$: 0 for a symmetric column, at most 1.
    pub(super) fn skewness(&self) -> f64 {
        let [low, middle, high] = [0.05, 0.5, 0.95].map(|level| self.quantile(level));
        if high > low { ((high - middle) - (middle - low)).abs() / (high - low) } else { 0.0 }
    }
}

/// What a coordinate of a query is read from.
pub(super) trait ColumnMap: Send + Sync {
    fn learn(column: &Column) -> Self;
    fn apply(&self, x: f64) -> f64;
}

/// The map of an encoded column: numbers have one that is learned, the coordinates of categories all have the same.
pub(super) enum Coordinate<M> {
    Number(M),
    Category,
}

impl<M: ColumnMap> Coordinate<M> {
    pub(super) fn learn(column: &Column, is_category: bool) -> Self {
        if is_category { Self::Category } else { Self::Number(M::learn(column)) }
    }

    pub(super) fn apply(&self, x: f64) -> f64 {
        match self {
            Self::Number(map) => map.apply(x),
            // (A2c): two levels differ in two coordinates, so each counts half.
            Self::Category => 0.5 * x.asinh(),
        }
    }
}

/// (A1): $\operatorname{arsinh}((x - m) / s)$ with the median $m$ and $s$ the interquartile range over 1.349; the standard
/// deviation where the quartiles are the same; 1 for a constant column.
pub(super) struct RobustMap {
    centre: f64,
    spread: f64,
}

impl ColumnMap for RobustMap {
    fn learn(column: &Column) -> Self {
        let [centre, spread] = quartile_unit(|level| column.quantile(level), column.deviation);
        Self { centre, spread }
    }

    fn apply(&self, x: f64) -> f64 {
        ((x - self.centre) / self.spread).asinh()
    }
}

/// (A2): the normal score of the rank, linear between the values of the sample. Beyond them it grows like a logarithm, so
/// that far values stay apart.
pub(super) struct RankMap {
    values: Vec<f64>,
    scores: Vec<f64>,
    /// The units of the distance below the smallest and above the largest value.
    units: [f64; 2],
}

impl ColumnMap for RankMap {
    fn learn(column: &Column) -> Self {
        let n = column.observations;
        let mut below = 0.0;
        let scores = column.cumulative.iter().map(|&sum| {
            let rank = (0.5 * n * (below + sum) + 0.5) / (n + 1.0);
            below = sum;
            normal_quantile(rank)
        });
        let scores = scores.collect();
        let middle = column.quantile(0.5);
        let range = column.values[column.values.len() - 1] - column.values[0];
        let first_positive = |a: f64, b: f64| {
            if a > 0.0 {
                a
            } else if b > 0.0 {
                b
            } else {
                1.0
            }
        };
        let units = [middle - column.quantile(0.05), column.quantile(0.95) - middle];
        Self { values: column.values.clone(), scores, units: units.map(|unit| first_positive(unit, range)) }
    }

    fn apply(&self, x: f64) -> f64 {
        let (values, scores) = (&self.values, &self.scores);
        let last = values.len() - 1;
        if x <= values[0] {
            return scores[0] - ((values[0] - x) / self.units[0]).ln_1p();
        }
        if x >= values[last] {
            return scores[last] + ((x - values[last]) / self.units[1]).ln_1p();
        }
        let above = values.partition_point(|v| *v <= x);
        let (a, b) = (values[above - 1], values[above]);
        // Halves keep the difference of huge numbers finite; at a value of the sample this is its score exactly.
        let share = (0.5 * x - 0.5 * a) / (0.5 * b - 0.5 * a);
        scores[above - 1] + share * (scores[above] - scores[above - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Reference;

    fn column(numbers: &[f64]) -> Column {
        let rows: Vec<Vec<f64>> = numbers.iter().map(|x| vec![*x]).collect();
        Column::new(&Compared::new(&Reference::new(&rows).unwrap(), 2000), 0)
    }

    #[test]
    fn ranks_of_the_sample_are_their_normal_scores() {
        let map = RankMap::learn(&column(&[3.0, 1.0, 2.0, 2.0, 9.0]));
        // One below and itself: rank 1 of 5; two that tie share the ranks 2 and 3.
        for (x, rank) in [(1.0, 1.0), (2.0, 2.5), (3.0, 4.0), (9.0, 5.0)] {
            assert!((map.apply(x) - normal_quantile(rank / 6.0)).abs() < 1e-12, "{x}");
        }
        assert!((map.apply(6.0) - 0.5 * (map.apply(3.0) + map.apply(9.0))).abs() < 1e-12);
    }

    #[test]
    fn both_maps_rise_everywhere() {
        let column = column(&[-2.0, 0.0, 0.1, 0.5, 0.5, 0.7, 3.0, 40.0]);
        let (robust, rank) = (RobustMap::learn(&column), RankMap::learn(&column));
        let mut last = [f64::NEG_INFINITY; 2];
        for x in
            [-1e100, -1e9, -50.0, -2.0, -1.0, 0.0, 0.05, 0.3, 0.5, 2.0, 3.0, 39.0, 40.0, 41.0, 1e6, 1e100]
        {
            let now = [robust.apply(x), rank.apply(x)];
            assert!(now[0] > last[0] && now[1] > last[1], "{x}: {now:?}");
            last = now;
        }
    }

    #[test]
    fn a_constant_column_is_a_column() {
        let column = column(&[7.0, 7.0, 7.0]);
        assert_eq!((column.skewness(), column.deviation), (0.0, 0.0));
        assert_eq!((RobustMap::learn(&column).apply(7.0), RankMap::learn(&column).apply(7.0)), (0.0, 0.0));
        assert!(RankMap::learn(&column).apply(8.0) > 0.0);
    }

    #[test]
    fn skewness_has_the_sign_of_nothing_and_knows_tails() {
        let even: Vec<f64> = (0..101).map(f64::from).collect();
        assert!(column(&even).skewness() < 0.02);
        let squares: Vec<f64> = (0..101).map(|i| f64::from(i).powi(4)).collect();
        assert!(column(&squares).skewness() > 0.5);
    }
}
