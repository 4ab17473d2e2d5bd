//! Bandwidths of kernels: given, or estimated from the distances within the sample (K3).

use super::neighbour_distance::{first_value, median_squared_distance};
use super::points::{Columns, Points};
use crate::data::{Mass, Reference};
use crate::error::{DepthError, Result, positive};
use crate::numerics::linalg::Matrix;
use crate::numerics::whole_count;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::str::FromStr;

/// The $\gamma$ of a Gaussian or polynomial kernel.
///
/// `auto` and `quartile` use the distances of **all pairs** of reference rows, each row with itself included, a pair
/// weighted by the product of its weights; so a row of weight $k$ is the same as $k$ copies, and with equal weights the
/// rules are `1 / numpy.median(cdist(X, X)**2)` and `0.5 / numpy.quantile(cdist(X, X), 0.25)**2`. A quantile of 0 (many
/// equal rows) is replaced by that of the positive distances; if there are
/// none, $\gamma = 1$.
///
/// With more than 2048 different rows the distances are those of 2048 of them: the rows in lexicographic order, taken at
/// the levels $(j + \frac12) / 2048$ of the cumulative weight. The choice does not depend on the order of the rows. (For
/// `neighbours` these are the rows whose neighbours are searched, among all rows or 32768 of them chosen alike.)
///
/// ```
/// use lossdepth::kernel::Gamma;
/// assert_eq!("auto".parse(), Ok(Gamma::Auto));
/// assert_eq!("0.5".parse(), Ok(Gamma::Value(0.5)));
/// assert_eq!("5/median".parse(), Ok(Gamma::Median(5.0)));
/// assert!("wide".parse::<Gamma>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gamma {
    /// One over the median squared distance.
    #[default]
    Auto,
    /// A multiple of `auto`, written as `5/median`: a narrower kernel for factors above 1.
    Median(f64),
    /// One half over the square of the first quartile of the distances.
    Quartile,
    /// One over the median over the rows of the squared distance to the $\lceil \sqrt n \rceil$-th nearest other row. As $n$
    /// grows the number of rows within the bandwidth grows and their share falls; the median is robust to outliers.
    Neighbours,
    /// This number.
    Value(f64),
}

impl Gamma {
    /// The values that are names.
    pub const NAMES: [&str; 3] = ["auto", "quartile", "neighbours"];
}

/// The $\sigma$ of a Laplacian kernel.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sigma {
    /// The median of the distances $\|x_i - x_j\|_1$, over the same pairs as for [`Gamma`].
    #[default]
    Auto,
    /// This number.
    Value(f64),
}

impl std::fmt::Display for Gamma {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Median(factor) => write!(f, "{factor}/median"),
            Self::Quartile => f.write_str("quartile"),
            Self::Neighbours => f.write_str("neighbours"),
            Self::Value(x) => write!(f, "{x}"),
        }
    }
}

impl std::fmt::Display for Sigma {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Value(x) => write!(f, "{x}"),
        }
    }
}

impl FromStr for Gamma {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        match s {
            "auto" => Ok(Self::Auto),
            "quartile" => Ok(Self::Quartile),
            "neighbours" => Ok(Self::Neighbours),
            _ => {
                let expected = "auto, quartile, neighbours, a positive number, or one as in 5/median";
                let number = |s| number("gamma", expected, s);
                match s.strip_suffix("/median") {
                    Some(factor) => number(factor).map(Self::Median),
                    None => number(s).map(Self::Value),
                }
            }
        }
    }
}

impl FromStr for Sigma {
    type Err = DepthError;

    fn from_str(s: &str) -> Result<Self> {
        match s {
            "auto" => Ok(Self::Auto),
            _ => number("sigma", "auto, a positive number", s).map(Self::Value),
        }
    }
}

fn number(name: &'static str, expected: &str, s: &str) -> Result<f64> {
    let wrong = || DepthError::Name { name, expected: expected.to_owned(), got: s.to_owned() };
    let value = s.trim().parse().map_err(|_| wrong())?;
    positive(name, value)?;
    Ok(value)
}

impl Gamma {
    /// Its value for this sample.
    ///
    /// # Errors
    /// A value that is not positive and finite.
    pub fn learn(self, sample: &Reference) -> Result<f64> {
        let pairs = || PairDistances::new(sample, Points::squared_distances);
        self.learn_by(pairs, || median_squared_distance(sample))
    }

    /// Its value, from the squared distances of pairs or the median squared distance to neighbours.
    pub(super) fn learn_by(
        self,
        pairs: impl FnOnce() -> PairDistances,
        neighbours: impl FnOnce() -> f64,
    ) -> Result<f64> {
        match self {
            Self::Value(gamma) => positive("gamma", gamma).map(|()| gamma),
            Self::Auto => Self::Median(1.0).learn_by(pairs, neighbours),
            Self::Median(factor) => {
                positive("gamma", factor)?;
                Ok(inverse(pairs().quantile(0.5), factor))
            }
            Self::Neighbours => Ok(inverse(neighbours(), 1.0)),
            Self::Quartile => {
                let mut pairs = pairs();
                pairs.distances.iter_mut().for_each(|r| *r = r.sqrt());
                let quartile = pairs.quantile(0.25);
                Ok(inverse(quartile * quartile, 0.5))
            }
        }
    }
}

impl Sigma {
    /// Its value for this sample.
    ///
    /// # Errors
    /// A value that is not positive and finite.
    pub fn learn(self, sample: &Reference) -> Result<f64> {
        self.learn_by(|| PairDistances::new(sample, Points::manhattan_distances))
    }

    /// Its value, from the distances of pairs.
    pub(super) fn learn_by(self, pairs: impl FnOnce() -> PairDistances) -> Result<f64> {
        match self {
            Self::Value(sigma) => positive("sigma", sigma).map(|()| sigma),
            Self::Auto => {
                let median = pairs().quantile(0.5);
                Ok(if median > 0.0 { median } else { 1.0 })
            }
        }
    }
}

/// `scale / x`, or 1 where that is no positive, finite number.
fn inverse(x: f64, scale: f64) -> f64 {
    let gamma = scale / x;
    if gamma > 0.0 && gamma.is_finite() { gamma } else { 1.0 }
}

/// Rows whose pairs are used, at most.
pub(super) const MAX_ROWS: usize = 2048;

/// The distances of all pairs, with their masses.
pub(super) struct PairDistances {
    /// Of pairs of distinct rows, each pair once.
    distances: Vec<f64>,
    /// Their masses (of both orders together), or empty if all are equal.
    masses: Vec<f64>,
    /// The mass of a pair if all are equal.
    common: f64,
    /// The mass of rows with themselves.
    diagonal: f64,
    /// The number of pairs of observations; infinite for weights that are no counts.
    count: f64,
}

impl PairDistances {
    fn new(sample: &Reference, measure: impl Fn(&Points, crate::Rows<'_>, &mut Columns<'_>)) -> Self {
        let (points, weights) = subsample(sample, MAX_ROWS);
        Self::of(&weights, sample.mass(), |first, last, block| {
            let queries = points.rows().range(first, last);
            measure(&points, queries, &mut Columns::new(block, 0, last - first));
        })
    }

    /// From distinct rows with these weights; `measure` fills in the distances of all rows from some of them, one column each.
    pub(super) fn of(weights: &[f64], mass: Mass, measure: impl Fn(usize, usize, &mut Matrix)) -> Self {
        const BLOCK: usize = 32;
        let n = weights.len();
        let same = weights.iter().all(|w| *w == weights[0]);
        let pairs = n * (n - 1) / 2;
        let (mut distances, mut masses) = (Vec::with_capacity(pairs), Vec::new());
        let mut block = Matrix::zeros(n, BLOCK);
        for first in (0..n).step_by(BLOCK) {
            let last = (first + BLOCK).min(n);
            measure(first, last, &mut block);
            for j in first..last {
                distances.extend_from_slice(&block.col(j - first)[j + 1..]);
                if !same {
                    masses.extend(weights[j + 1..].iter().map(|w| 2.0 * w * weights[j]));
                }
            }
        }
        let count = match mass {
            Mass::Counts(n) | Mass::Effective(n) => n * n,
            Mass::Importance => f64::INFINITY,
        };
        let common = 2.0 * weights[0] * weights[0];
        Self { distances, masses, common, diagonal: weights.iter().map(|w| w * w).sum(), count }
    }

    /// The quantile at a level, by numpy's linear rule; that of the positive distances if it is 0.
    fn quantile(mut self, level: f64) -> f64 {
        let quantile = self.interpolated(level);
        if quantile > 0.0 {
            return quantile;
        }
        let positive = self.distances.iter().map(|r| *r > 0.0).collect::<Vec<bool>>();
        let keep = |list: &mut Vec<f64>| {
            let mut k = positive.iter();
            list.retain(|_| *k.next().unwrap_or(&false));
        };
        keep(&mut self.masses);
        keep(&mut self.distances);
        let mass = if self.masses.is_empty() {
            self.common * self.distances.len() as f64
        } else {
            self.masses.iter().sum()
        };
        self.masses.iter_mut().for_each(|m| *m /= mass);
        self.common /= mass;
        (self.diagonal, self.count) = (0.0, f64::INFINITY);
        self.interpolated(level)
    }

    /// The quantile of the distribution with mass `diagonal` at 0 and the masses at the distances, taken as `count` sorted
    /// numbers with linear interpolation.
    fn interpolated(&mut self, level: f64) -> f64 {
        // Sums of masses have rounding errors; ranks differ by 1 / count.
        let slack = (0.25 / self.count).max(1e-12);
        let (low, high, share) = if self.count.is_finite() {
            // The numbers of rank ⌊p⌋ and ⌈p⌉ for p = (count - 1) level: their cumulative mass exceeds rank / count.
            let p = (self.count - 1.0) * level;
            (p.floor() / self.count, p.ceil() / self.count, p.fract())
        } else {
            // Without counts: the mean of both values where the level is at a step.
            (level - 2.0 * slack, level, 0.5)
        };
        let [a, b] = [low, high].map(|target| self.value_above(target + slack));
        a + share * (b - a)
    }

    /// The first value at which the cumulative mass exceeds `target`.
    fn value_above(&mut self, target: f64) -> f64 {
        let beyond = target - self.diagonal;
        if beyond < 0.0 || self.distances.is_empty() {
            return 0.0;
        }
        let last = self.distances.len() - 1;
        if self.masses.is_empty() {
            // Equal masses: a rank.
            let rank = whole_count(beyond / self.common).min(last);
            return *self.distances.select_nth_unstable_by(rank, f64::total_cmp).1;
        }
        let pairs = self.distances.iter().copied().zip(self.masses.iter().copied());
        first_value(&mut pairs.collect::<Vec<_>>(), |mass| mass > beyond)
    }
}

/// The distinct rows with their weights, or a subsample of at most `max_rows`; weights sum to one.
pub(super) fn subsample(sample: &Reference, max_rows: usize) -> (Points, Vec<f64>) {
    let rows = sample.rows();
    let compare = |a: usize, b: usize| {
        let pairs = rows.row(a).iter().zip(rows.row(b));
        pairs.map(|(x, y)| (x + 0.0).total_cmp(&(y + 0.0))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    };
    let groups = representatives(sample.weights(), compare, max_rows);
    let data: Vec<f64> = groups.iter().flat_map(|(i, _)| rows.row(*i)).copied().collect();
    let points = match crate::Rows::new(&data, rows.width()) {
        Ok(rows) => Points::new(rows),
        Err(_) => unreachable!("whole rows of the sample"),
    };
    (points, groups.into_iter().map(|(_, w)| w).collect())
}

/// The first of each of the distinct rows with a weight, in order, with the weight of its copies; of more than `max_rows`
/// those at equal steps of the cumulative weight.
pub(crate) fn representatives(
    weights: &[f64],
    compare: impl Fn(usize, usize) -> Ordering,
    max_rows: usize,
) -> Vec<(usize, f64)> {
    let mut order: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    order.sort_by(|a, b| compare(*a, *b));
    let mut groups: Vec<(usize, f64)> = Vec::new();
    for i in order {
        match groups.last_mut() {
            Some((row, weight)) if compare(*row, i).is_eq() => *weight += weights[i],
            _ => groups.push((i, weights[i])),
        }
    }
    if groups.len() > max_rows {
        let (mut chosen, mut sum, mut group) = (Vec::with_capacity(max_rows), groups[0].1, 0);
        for j in 0..max_rows {
            let level = (j as f64 + 0.5) / max_rows as f64;
            while sum < level && group + 1 < groups.len() {
                group += 1;
                sum += groups[group].1;
            }
            match chosen.last_mut() {
                Some((row, weight)) if *row == groups[group].0 => *weight += 1.0 / max_rows as f64,
                _ => chosen.push((groups[group].0, 1.0 / max_rows as f64)),
            }
        }
        groups = chosen;
    }
    groups
}
