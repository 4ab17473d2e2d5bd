//! The nearest rows of a sample: exact, in blocks, on all threads.
//!
//! Squared distances of the whole sample to a few queries at a time come from [`Points`], at the speed of a matrix product;
//! a scan keeps the `k` smallest. That is faster than a tree but for large samples of very few columns.

use lossdepth::kernel::Points;
use lossdepth::problem::{Batch, Ticket};
use lossdepth::{DepthError, Reference, Result, Rows, Run};

/// Queries that a worker takes at a time.
const BLOCK: usize = 32;

/// Distances compared with the threshold at a time.
const CHUNK: usize = 16;

/// A sample to search for neighbours.
#[derive(Debug, Clone)]
pub(super) struct NeighbourSearch {
    points: Points,
}

/// One query's neighbours, nearest first; of rows at the same distance the one with the lower number comes first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Nearest {
    /// Distance (not squared) and row number.
    pub(super) rows: Vec<(f64, usize)>,
}

impl Nearest {
    /// The distance of the farthest.
    pub(super) fn radius(&self) -> f64 {
        self.rows.last().map_or(0.0, |(distance, _)| *distance)
    }
}

impl NeighbourSearch {
    pub(super) fn new(rows: Rows<'_>) -> Self {
        Self { points: Points::new(rows) }
    }

    /// The `k` nearest rows of each query.
    pub(super) fn of(&self, queries: Rows<'_>, k: usize, run: &Run<'_>) -> Result<Vec<Nearest>> {
        self.search(queries, k, false, run)
    }

    /// The `k` nearest other rows of each row of the sample.
    pub(super) fn own(&self, k: usize, run: &Run<'_>) -> Result<Vec<Nearest>> {
        self.search(self.points.rows(), k, true, run)
    }

    fn search(&self, queries: Rows<'_>, k: usize, own: bool, run: &Run<'_>) -> Result<Vec<Nearest>> {
        Batch::new(queries, run).run(|mut ticket: Ticket<'_, '_, Nearest>| {
            while let Some((first, rows)) = ticket.take(BLOCK, 1) {
                self.points.for_each_query(rows, |j, squares| {
                    if own {
                        squares[first + j] = f64::INFINITY;
                    }
                    ticket.done(first + j, smallest(squares, k));
                });
            }
        })
    }
}

/// The `k` smallest of some squares, as roots.
fn smallest(squares: &[f64], k: usize) -> Nearest {
    let mut found: Vec<(f64, usize)> = Vec::with_capacity(k + 1);
    let mut threshold = if k > 0 { f64::INFINITY } else { f64::NEG_INFINITY };
    for (c, chunk) in squares.chunks(CHUNK).enumerate() {
        // The minimum of the chunk without branches first: few chunks have one below the threshold.
        let least = chunk.iter().fold(f64::INFINITY, |m, x| if *x < m { *x } else { m });
        if least < threshold {
            for (i, square) in chunk.iter().enumerate() {
                if *square < threshold {
                    let place = found.partition_point(|(s, _)| s <= square);
                    found.insert(place, (*square, c * CHUNK + i));
                    found.truncate(k);
                    threshold = if found.len() == k { found[k - 1].0 } else { f64::INFINITY };
                }
            }
        }
    }
    for (square, _) in &mut found {
        *square = square.sqrt();
    }
    Nearest { rows: found }
}

/// The number of neighbours of a row: `k`, or all others if they are fewer. Only for samples without weights.
pub(super) fn neighbour_count(k: usize, sample: &Reference) -> Result<usize> {
    if k == 0 {
        return Err(DepthError::Setting { name: "k", expected: "at least 1", got: 0.0 });
    }
    let weights = sample.weights();
    if weights.iter().any(|w| *w != weights[0]) {
        return Err(DepthError::Settings("`lof` and `knn` take no weights".to_owned()));
    }
    Ok(k.min(sample.len() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_the_first_of_all_in_order() {
        let data: Vec<f64> = (0..3 * 157_usize).map(|i| ((i * 7919) % 23) as f64).collect();
        let rows = Rows::new(&data, 3).unwrap();
        let neighbours = NeighbourSearch::new(rows);
        for (k, threads) in [(1, 1), (7, 2), (156, 3)] {
            let run = Run { threads: Some(threads), ..Run::default() };
            for (own, all) in [(false, neighbours.of(rows, k, &run)), (true, neighbours.own(k, &run))] {
                for (i, nearest) in all.unwrap().into_iter().enumerate() {
                    let distance = |j: usize| {
                        let pairs = rows.row(i).iter().zip(rows.row(j));
                        pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
                    };
                    let mut listed: Vec<(f64, usize)> =
                        (0..rows.len()).filter(|j| !own || *j != i).map(|j| (distance(j), j)).collect();
                    listed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    listed.truncate(k);
                    assert_eq!(nearest.rows, listed, "row {i}, k {k}");
                }
            }
        }
    }
}
