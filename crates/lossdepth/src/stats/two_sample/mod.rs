//! Do two samples come from one distribution? Three permutation tests, and which columns moved.
//!
//! | test | what it compares | sees best |
//! |---|---|---|
//! | `rank` | depths of both samples in half of the first one (Liu and Singh 1993) | rows that are more outlying |
//! | `kernel` | mean embeddings: the maximum mean discrepancy that the `svm` depth contains | any difference |
//! | `classifier` | the risk of a classifier on rows that it was not trained on | a shift of means |
//!
//! The null hypothesis is that the rows are exchangeable. Whatever is learned beforehand is learned on both samples together,
//! or on rows that take no part in the test. So the p-values are valid for every sample size: the chance of
//! $p \le \alpha$ is at most $\alpha$. `docs/math/two-sample.md` has the equations.

mod classifier;
mod columns;
mod kernel;
mod permutation;
mod rank;

pub use columns::{ColumnShift, Shifted};

use crate::data::{Encoded, Encoding, EncodingOptions, Reference, Rows, Scale, Scaling, Table};
use crate::error::{DepthError, Result, named};
use crate::model::{Method, Settings};
use crate::numerics::random::Random;
use crate::problem::Run;

/// A test of whether two samples come from one distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TwoSampleTest {
    /// Depth ranks: the chance that a row of the first sample is less deep than one of the second.
    Rank,
    /// The maximum mean discrepancy with a Gaussian kernel.
    Kernel,
    /// The risk of logistic regression on held-out rows.
    Classifier,
}

named!(TwoSampleTest, "tests", Rank => "rank", Kernel => "kernel", Classifier => "classifier");

/// How two samples are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// The tests to do; all of them by default.
    pub tests: Vec<TwoSampleTest>,
    /// The depth of the rank test; `auto` by default.
    pub settings: Settings,
    /// How many random permutations to draw; 999 by default.
    pub permutations: usize,
    /// Where random choices start; 0 by default.
    pub seed: u64,
    /// How many rows of both samples together to use at most, chosen at random; 5000 by default.
    pub max_rows: usize,
}

impl Default for CompareOptions {
    fn default() -> Self {
        let (permutations, seed, max_rows) = (999, 0, 5000);
        Self {
            tests: TwoSampleTest::ALL.to_vec(),
            settings: Settings::new(Method::Auto),
            permutations,
            seed,
            max_rows,
        }
    }
}

/// The result of one test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestResult {
    /// Which test.
    pub test: TwoSampleTest,
    /// What it measured.
    ///
    /// | test | statistic | without a difference |
    /// |---|---|---|
    /// | `rank` | $P(D(x) < D(y)) + \frac12 P(D(x) = D(y))$; below a half, the second sample is more outlying | ½ |
    /// | `kernel` | the squared maximum mean discrepancy | close to 0 |
    /// | `classifier` | the risk on held-out rows | 1 or a little more |
    pub statistic: f64,
    /// The p-value of the test.
    pub p: f64,
    /// The p-value adjusted for the number of tests (Holm 1979).
    pub adjusted: f64,
}

/// What was found about two samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// How many rows the samples have.
    pub rows: [usize; 2],
    /// How many rows of each the tests used.
    pub used: [usize; 2],
    /// The tests, in the order asked for.
    pub tests: Vec<TestResult>,
    /// How each column moved, the least likely to be chance first.
    pub columns: Vec<ColumnShift>,
    /// Columns that only one of the tables has.
    pub left_out: Vec<String>,
}

impl Comparison {
    /// Compares two tables by the columns that both have.
    ///
    /// Rows are numbers under an encoding that is learned on both tables together. Weights are one for each row; rows are
    /// permuted with their weights.
    ///
    /// ```
    /// use lossdepth::Run;
    /// use lossdepth::data::{Column, EncodingOptions, Table, Values};
    /// use lossdepth::stats::two_sample::{CompareOptions, Comparison};
    /// let table = |from: usize| {
    ///     let values = (from..from + 60).map(|i| (i * 37 % 101) as f64 + from as f64).collect();
    ///     Table::new(vec![Column { name: "price".into(), values: Values::Numbers(values) }])
    /// };
    /// let (options, run) = (CompareOptions::default(), Run::default());
    /// let (moved, _) = Comparison::of_tables([&table(0)?, &table(200)?], [None, None], &EncodingOptions::default(), &options, &run)?;
    /// assert!(moved.tests.iter().all(|test| test.p <= 0.002) && moved.columns[0].p <= 0.002);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// No common column; fewer than eight rows in a sample; a setting out of its range; or as for [`Encoding::learn`].
    pub fn of_tables(
        tables: [&Table; 2],
        weights: [Option<&[f64]>; 2],
        encoding: &EncodingOptions,
        options: &CompareOptions,
        run: &Run<'_>,
    ) -> Result<(Self, Encoding)> {
        let Stacked { pooled, encoding, encoded, rows, left_out } =
            Stacked::new(tables, weights, encoding, options)?;
        let tests =
            options.tests.iter().map(|test| pooled.test(*test, options, run)).collect::<Result<Vec<_>>>()?;
        let p: Vec<f64> = tests.iter().map(|test| test.p).collect();
        let tests = tests.into_iter().zip(holm(&p)).map(|(test, adjusted)| TestResult { adjusted, ..test });
        let columns = columns::shifts(&pooled, &encoding, &encoded, options, run)?;
        let found = Self { rows, used: pooled.sizes(), tests: tests.collect(), columns, left_out };
        Ok((found, encoding))
    }
}

/// The depths of two samples in each other: the points of a DD-plot (Liu, Parelius and Singh 1999).
///
/// If both samples come from one distribution the points lie along the diagonal; a shift or another spread pulls them off it.
#[derive(Debug, Clone, PartialEq)]
pub struct DepthPairs {
    /// For each row of the first sample that is used, its depth in the first and in the second sample.
    pub first: Vec<[f64; 2]>,
    /// The same for the second sample.
    pub second: Vec<[f64; 2]>,
}

impl DepthPairs {
    /// The depths by `options.settings`, of the rows that [`Comparison::of_tables`] would use, in the same numbers.
    ///
    /// ```
    /// use lossdepth::Run;
    /// use lossdepth::data::{Column, EncodingOptions, Table, Values};
    /// use lossdepth::stats::two_sample::{CompareOptions, DepthPairs};
    /// let table = |from: f64| {
    ///     let values = (0..30).map(|i| from + f64::from(i * 7 % 30)).collect();
    ///     Table::new(vec![Column { name: "price".into(), values: Values::Numbers(values) }])
    /// };
    /// let (encoding, options) = (EncodingOptions::default(), CompareOptions::default());
    /// let tables = [&table(0.0)?, &table(100.0)?];
    /// let pairs = DepthPairs::of_tables(tables, [None, None], &encoding, &options, &Run::default())?;
    /// assert!(pairs.first.iter().all(|[own, other]| own > other));
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Comparison::of_tables`].
    pub fn of_tables(
        tables: [&Table; 2],
        weights: [Option<&[f64]>; 2],
        encoding: &EncodingOptions,
        options: &CompareOptions,
        run: &Run<'_>,
    ) -> Result<Self> {
        let pooled = Stacked::new(tables, weights, encoding, options)?.pooled;
        let run = Run { depths_only: true, progress: None, ..*run };
        let depths = |second: bool| {
            let places: Vec<usize> =
                (0..pooled.is_second.len()).filter(|&at| pooled.is_second[at] == second).collect();
            options.settings.fit(&pooled.some(&places)?)?.score(pooled.rows(), &run)
        };
        let (in_first, in_second) = (depths(false)?, depths(true)?);
        let pairs = in_first.iter().zip(&in_second).map(|(a, b)| [a.depth, b.depth]);
        let of = |second: bool| {
            let own = pairs.clone().zip(&pooled.is_second).filter(|(_, is)| **is == second);
            own.map(|(pair, _)| pair).collect()
        };
        Ok(Self { first: of(false), second: of(true) })
    }
}

/// Two tables as one, encoded.
struct Stacked {
    pooled: Pooled,
    encoding: Encoding,
    encoded: Encoded,
    rows: [usize; 2],
    /// Columns that only one of the tables has.
    left_out: Vec<String>,
}

impl Stacked {
    fn new(
        tables: [&Table; 2],
        weights: [Option<&[f64]>; 2],
        encoding: &EncodingOptions,
        options: &CompareOptions,
    ) -> Result<Self> {
        let (both, left_out) = tables[0].stacked(tables[1])?;
        let sizes = tables.map(Table::rows);
        let weights = stacked_weights(weights, sizes)?;
        let (encoding, encoded) = Encoding::learn(&both, weights.as_deref(), encoding)?;
        let second: Vec<bool> = encoded.rows.iter().map(|&row| row >= sizes[0]).collect();
        let weights: Option<Vec<f64>> =
            weights.map(|weights| encoded.rows.iter().map(|&row| weights[row]).collect());
        let pooled = Reference::from_vec(encoded.values.clone(), encoded.width, weights)?;
        let pooled = pooled.with_layout(encoding.layout().clone())?;
        let rows = [false, true].map(|which| second.iter().filter(|is| **is == which).count());
        Ok(Self { pooled: Pooled::new(&pooled, &second, options)?, encoding, encoded, rows, left_out })
    }
}

/// The weights of both tables, if one of them has some.
fn stacked_weights(weights: [Option<&[f64]>; 2], sizes: [usize; 2]) -> Result<Option<Vec<f64>>> {
    if weights.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut both = Vec::with_capacity(sizes[0] + sizes[1]);
    for (weights, rows) in weights.into_iter().zip(sizes) {
        match weights {
            None => both.resize(both.len() + rows, 1.0),
            Some(weights) if weights.len() != rows => {
                return Err(DepthError::WeightCount { expected: rows, got: weights.len() });
            }
            Some(weights) => both.extend_from_slice(weights),
        }
    }
    Ok(Some(both))
}

/// Fewer rows of a sample than this cannot be divided for training and testing.
const MIN_ROWS: usize = 8;

/// The rows of both samples that take part, and which sample they are from.
struct Pooled {
    /// Numbers standardised on both samples together; categories as they are encoded.
    sample: Reference,
    /// The rows as they were encoded.
    raw: Vec<f64>,
    /// For each row, its place among all encoded rows.
    places: Vec<usize>,
    is_second: Vec<bool>,
    /// Weights as given; 1 without.
    weights: Vec<f64>,
}

impl Pooled {
    fn new(all: &Reference, is_second: &[bool], options: &CompareOptions) -> Result<Self> {
        let (permutations, max_rows) = (options.permutations, options.max_rows);
        if !(19..=100_000).contains(&permutations) {
            let (name, expected) = ("permutations", "between 19 and 100000");
            return Err(DepthError::Setting { name, expected, got: permutations as f64 });
        }
        if !(4 * MIN_ROWS..=100_000).contains(&max_rows) {
            let (name, expected) = ("max_rows", "between 32 and 100000");
            return Err(DepthError::Setting { name, expected, got: max_rows as f64 });
        }
        let places = chosen(all, is_second, max_rows, options.seed)?;
        let width = all.width();
        let raw: Vec<f64> = places.iter().flat_map(|&at| all.rows().row(at)).copied().collect();
        let given = |at: usize| all.given_weights().map_or(1.0, |weights| weights[at]);
        let weights: Vec<f64> = places.iter().map(|&at| given(at)).collect();
        let is_second: Vec<bool> = places.iter().map(|&at| is_second[at]).collect();
        let sample = Reference::from_vec(raw.clone(), width, Some(weights.clone()))?;
        let sample = match all.layout() {
            Some(layout) => sample.with_layout(layout.clone())?,
            None => sample,
        };
        let (scaling, _) = Scaling::of(Scale::Standard, &sample, 0.75)?;
        Ok(Self { sample: sample.mapped(&scaling), raw, places, is_second, weights })
    }

    fn sizes(&self) -> [usize; 2] {
        let second = self.is_second.iter().filter(|is| **is).count();
        [self.is_second.len() - second, second]
    }

    fn rows(&self) -> Rows<'_> {
        self.sample.rows()
    }

    fn test(&self, test: TwoSampleTest, options: &CompareOptions, run: &Run<'_>) -> Result<TestResult> {
        let (statistic, p) = match test {
            TwoSampleTest::Rank => rank::test(self, options, run)?,
            TwoSampleTest::Kernel => kernel::test(self, options, run)?,
            TwoSampleTest::Classifier => classifier::test(self, options, run)?,
        };
        Ok(TestResult { test, statistic, p, adjusted: p })
    }

    /// The places of the rows of one sample, in random order.
    fn shuffled(&self, second: bool, random: &mut Random) -> Vec<usize> {
        let places: Vec<usize> = (0..self.is_second.len()).filter(|&i| self.is_second[i] == second).collect();
        random.choose(places.len(), places.len()).into_iter().map(|i| places[i]).collect()
    }

    /// Some of the standardised rows with their weights.
    fn some(&self, places: &[usize]) -> Result<Reference> {
        let weights = places.iter().map(|&at| self.weights[at]).collect();
        let sample = Reference::from_vec(self.some_rows(places), self.sample.width(), Some(weights))?;
        match self.sample.layout() {
            Some(layout) => sample.with_layout(layout.clone()),
            None => Ok(sample),
        }
    }

    /// Some of the standardised rows.
    fn some_rows(&self, places: &[usize]) -> Vec<f64> {
        places.iter().flat_map(|&at| self.rows().row(at)).copied().collect()
    }
}

/// The rows with a positive weight; if they are too many, some of each sample at random, in proportion.
fn chosen(all: &Reference, is_second: &[bool], max_rows: usize, seed: u64) -> Result<Vec<usize>> {
    let of = |second: bool| -> Vec<usize> {
        (0..all.len()).filter(|&i| is_second[i] == second && all.weights()[i] > 0.0).collect()
    };
    let groups = [of(false), of(true)];
    for (group, name) in groups.iter().zip(["first", "second"]) {
        if group.len() < MIN_ROWS {
            let (rows, plural) = (group.len(), if group.len() == 1 { "" } else { "s" });
            let text =
                format!("the {name} sample has {rows} row{plural}, a comparison needs at least {MIN_ROWS}");
            return Err(DepthError::Table(text));
        }
    }
    let total = groups[0].len() + groups[1].len();
    if total <= max_rows {
        return Ok(groups.concat());
    }
    // Both numbers are below 2^53.
    let first = groups[0].len() * max_rows / total;
    let first = first.clamp(MIN_ROWS, max_rows - MIN_ROWS);
    let mut places = Vec::with_capacity(max_rows);
    for (group, count) in groups.iter().zip([first, max_rows - first]) {
        let mut random = Random::stream(seed, permutation::SUBSAMPLE + u64::from(!places.is_empty()));
        let mut some: Vec<usize> = random.choose(count, group.len()).into_iter().map(|i| group[i]).collect();
        some.sort_unstable();
        places.append(&mut some);
    }
    Ok(places)
}

/// P-values adjusted for their number: the chance that any true null hypothesis is rejected stays below the level (Holm 1979).
fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let (mut adjusted, mut largest) = (vec![0.0; p.len()], 0.0f64);
    for (rank, &at) in order.iter().enumerate() {
        largest = largest.max(p[at] * (p.len() - rank) as f64).min(1.0);
        adjusted[at] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_is_the_textbook_example() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(adjusted.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{adjusted:?}");
    }
}
