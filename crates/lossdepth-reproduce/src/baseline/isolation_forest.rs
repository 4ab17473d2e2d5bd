//! The isolation forest.

use lossdepth::numerics::Random;
use lossdepth::problem::{Batch, Ticket};
use lossdepth::{DepthError, Reference, Result, Rows, Run};

/// Minus the anomaly score of an isolation forest (Liu, Ting and Zhou 2008), as scikit-learn's
/// `IsolationForest.score_samples`.
///
/// Trees split small random parts of the reference at random values of random columns until rows are alone; rows that are
/// alone early are outlying. With $h(x)$ the mean depth at which $x$ ends, the score is $-2^{-h(x) / c}$, where $c$ is the mean
/// depth of an unsuccessful search in a tree of as many rows. Its random numbers are not scikit-learn's: scores agree in
/// distribution. Weights are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsolationForest {
    /// How many trees.
    pub trees: usize,
    /// How many rows each tree is grown on; at most as many as there are.
    pub max_samples: usize,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Default for IsolationForest {
    /// 100 trees of 256 rows each.
    fn default() -> Self {
        Self { trees: 100, max_samples: 256, seed: 0 }
    }
}

/// [`IsolationForest`] fitted to a sample.
#[derive(Debug)]
pub(super) struct FittedIsolationForest {
    trees: Vec<Vec<Node>>,
    sample: Reference,
    /// The mean depth of an unsuccessful search among the rows of a tree.
    mean_depth: f64,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    /// Where the search ends, at this depth on average.
    Leaf { depth: f64 },
    /// Rows with a smaller or equal value go on at the next node, others at `right`.
    Split { column: u32, value: f64, right: u32 },
}

impl IsolationForest {
    pub(super) fn fit(self, sample: &Reference) -> Result<FittedIsolationForest> {
        if sample.given_weights().is_some() {
            let message = "`iforest` takes no weights: its trees are grown on rows drawn alike";
            return Err(DepthError::Settings(message.to_owned()));
        }
        let range = |name, expected, got: usize| DepthError::Setting { name, expected, got: got as f64 };
        if !(1..=100_000).contains(&self.trees) {
            return Err(range("trees", "between 1 and 100000", self.trees));
        }
        if self.max_samples == 0 {
            return Err(range("max_samples", "at least 1", 0));
        }
        let size = self.max_samples.min(sample.len());
        let limit = usize::try_from((size.max(2) - 1).ilog2() + 1).unwrap_or(usize::MAX);
        let tree = |number: usize| {
            let mut random = Random::stream(self.seed, number as u64);
            // The first `size` of a random order.
            let mut rows: Vec<usize> = (0..sample.len()).collect();
            for i in 0..size {
                let other = i + random.below(rows.len() - i);
                rows.swap(i, other);
            }
            rows.truncate(size);
            let mut nodes = Vec::new();
            grow(sample.rows(), &mut rows, 0, limit, &mut random, &mut nodes);
            nodes
        };
        let trees = (0..self.trees).map(tree).collect();
        Ok(FittedIsolationForest { trees, sample: sample.clone(), mean_depth: mean_depth(size) })
    }
}

/// Adds the nodes of a tree for some rows.
fn grow(
    all: Rows<'_>,
    rows: &mut [usize],
    depth: usize,
    limit: usize,
    random: &mut Random,
    nodes: &mut Vec<Node>,
) {
    let range = |column: usize| {
        let values = rows.iter().map(|&i| all.row(i)[column]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    };
    let leaf = Node::Leaf { depth: depth as f64 + mean_depth(rows.len()) };
    if depth >= limit || rows.len() <= 1 {
        nodes.push(leaf);
        return;
    }
    // A column that is constant here cannot be split: others are tried in random order.
    let mut columns: Vec<usize> = (0..all.width()).collect();
    let mut split = None;
    while split.is_none() && !columns.is_empty() {
        let column = columns.swap_remove(random.below(columns.len()));
        let (low, high) = range(column);
        if low < high {
            // Below the largest value, so that both sides have rows.
            let value = random.between(low, high);
            split = Some((column, if value < high { value } else { low }));
        }
    }
    let Some((column, value)) = split else {
        nodes.push(leaf);
        return;
    };
    let mut left = 0;
    for i in 0..rows.len() {
        if all.row(rows[i])[column] <= value {
            rows.swap(i, left);
            left += 1;
        }
    }
    let at = nodes.len();
    nodes.push(leaf);
    let (below, above) = rows.split_at_mut(left);
    grow(all, below, depth + 1, limit, random, nodes);
    let right = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    grow(all, above, depth + 1, limit, random, nodes);
    nodes[at] = Node::Split { column: u32::try_from(column).unwrap_or(u32::MAX), value, right };
}

/// The mean depth of an unsuccessful search in a binary search tree of `n` rows.
fn mean_depth(n: usize) -> f64 {
    /// The constant of Euler and Mascheroni.
    const EULER: f64 = 0.577_215_664_901_532_9;
    match n {
        0 | 1 => 0.0,
        2 => 1.0,
        n => {
            let n = n as f64;
            2.0 * ((n - 1.0).ln() + EULER) - 2.0 * (n - 1.0) / n
        }
    }
}

impl FittedIsolationForest {
    pub(super) fn score(&self, queries: Rows<'_>, run: &Run<'_>) -> Result<Vec<f64>> {
        Batch::new(queries, run).run(|mut ticket: Ticket<'_, '_, f64>| {
            while let Some((first, rows)) = ticket.take(64, 1) {
                for (at, row) in rows.iter().enumerate() {
                    ticket.done(first + at, self.score_one(row));
                }
            }
        })
    }

    pub(super) fn own(&self, run: &Run<'_>) -> Result<Vec<f64>> {
        self.score(self.sample.rows(), run)
    }

    fn score_one(&self, row: &[f64]) -> f64 {
        let depth: f64 = self.trees.iter().map(|nodes| depth_of(nodes, row)).sum();
        let mean = depth / self.trees.len() as f64;
        if self.mean_depth > 0.0 { -(-mean / self.mean_depth).exp2() } else { -0.5 }
    }
}

/// The depth at which a row ends in a tree.
fn depth_of(nodes: &[Node], row: &[f64]) -> f64 {
    let mut at = 0;
    loop {
        match nodes[at] {
            Node::Leaf { depth } => return depth,
            Node::Split { column, value, right } => {
                at = if row[column as usize] <= value { at + 1 } else { right as usize };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a small grid with one row far away.
    fn sample() -> Reference {
        let mut rows: Vec<[f64; 2]> = (0..99).map(|i| [f64::from(i % 10), f64::from(i / 10)]).collect();
        rows.push([40.0, -30.0]);
        Reference::new(rows.as_slice()).unwrap()
    }

    #[test]
    fn a_row_far_away_has_the_lowest_score_and_scores_are_between_minus_one_and_zero() {
        let fitted = IsolationForest::default().fit(&sample()).unwrap();
        let own = fitted.own(&Run::default()).unwrap();
        assert!(own.iter().all(|score| (-1.0..0.0).contains(score)));
        assert!(own[..99].iter().all(|score| *score > own[99]));
    }

    #[test]
    fn scores_do_not_depend_on_threads_and_depend_on_the_seed() {
        let sample = sample();
        let score = |seed, threads| {
            let run = Run { threads: Some(threads), ..Run::default() };
            IsolationForest { seed, ..IsolationForest::default() }.fit(&sample).unwrap().own(&run).unwrap()
        };
        assert_eq!(score(0, 1), score(0, 3));
        assert_ne!(score(0, 1), score(1, 1));
    }

    #[test]
    fn the_mean_depth_of_a_search_is_that_of_the_harmonic_numbers() {
        // c(n) = 2 H(n - 1) - 2 (n - 1) / n, with ln(n - 1) + 0.577… for the harmonic number.
        let harmonic: f64 = (1..256).map(|k| 1.0 / f64::from(k)).sum();
        assert!((mean_depth(256) - (2.0 * harmonic - 2.0 * 255.0 / 256.0)).abs() < 1.0 / 255.0);
        assert_eq!((mean_depth(1), mean_depth(2)), (0.0, 1.0));
    }

    #[test]
    fn path_lengths_are_those_of_the_definition() {
        // The first cut is uniform on [0, 3]: it sets 0 apart in a third of the trees, and 3 in the others. So the mean path
        // lengths of the rows 0, 1, 3 are 1/3 + 2 · 2/3, 2 and 2/3 + 2 · 1/3.
        let sample = Reference::new(&[[0.0], [1.0], [3.0]]).unwrap();
        let trees = 50_000;
        let fitted = IsolationForest { trees, ..Default::default() }.fit(&sample).unwrap();
        let own = fitted.own(&Run::default()).unwrap();
        // Five standard deviations of a mean of so many lengths 1 and 2.
        let chance = 5.0 * (2.0f64 / 9.0 / trees as f64).sqrt();
        for (score, expected) in own.iter().zip([5.0 / 3.0, 2.0, 4.0 / 3.0]) {
            let length = -(-score).log2() * mean_depth(3);
            assert!((length - expected).abs() <= chance + 1e-9, "{length} {expected}");
        }
    }

    #[test]
    fn identical_rows_and_bad_settings_are_answered() {
        let same = Reference::new(&[[1.0], [1.0], [1.0]]).unwrap();
        let own = IsolationForest::default().fit(&same).unwrap().own(&Run::default()).unwrap();
        assert!(own.iter().all(|score| *score == own[0]));
        for wrong in [
            IsolationForest { trees: 0, ..Default::default() },
            IsolationForest { max_samples: 0, ..Default::default() },
        ] {
            assert!(wrong.fit(&same).is_err());
        }
        let weighted = Reference::weighted(&[[1.0], [2.0]], &[1.0, 2.0]).unwrap();
        assert!(IsolationForest::default().fit(&weighted).is_err());
    }
}
