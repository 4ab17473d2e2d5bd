//! An upper bound on the outlyingness over all directions, from a cover of the sphere.
//!
//! Up to its length and sign every direction is on a face of the cube: one coordinate is 1, the others are at most 1 in size. A face is
//! divided into cubes of half width $h$. For all $u$ in one of them with the centre $c$ (N16)
//!
//! $$ |\langle u - c, x \rangle| \le h \sum_{j \ne k} |x_j|, $$
//!
//! where $k$ is the axis of the face. So every projection is in a known interval; medians do not decrease with any number that they
//! are taken of, and neither do distances from an interval. This bounds the median from both sides and the median absolute deviation
//! from below (N17), whatever the query.

use super::planar_breakpoints::{Medians, project};

/// Cells that cover all directions, for points given column by column.
#[derive(Debug, Clone)]
pub(super) struct DirectionCells {
    half_width: f64,
    cells: Vec<Cell>,
}

/// A cube of directions.
#[derive(Debug, Clone)]
struct Cell {
    axis: usize,
    centre: Vec<f64>,
    /// Bounds on the median of the projections.
    median: [f64; 2],
    /// A lower bound on their median absolute deviation.
    deviation: f64,
}

impl DirectionCells {
    /// At most so many cells, at least two for each of the axes.
    pub(super) fn new(columns: &[f64], masses: &[u64], rank: usize, most: usize) -> Self {
        let (n, total) = (masses.len(), masses.iter().sum());
        let sides = rank - 1;
        let exponent = u32::try_from(sides).unwrap_or(u32::MAX);
        let mut per_side = 2usize;
        while rank.saturating_mul((per_side + 1).saturating_pow(exponent)) <= most {
            per_side += 1;
        }
        let half_width = 1.0 / per_side as f64;
        let (mut medians, mut middle) = (Medians::default(), Vec::new());
        let mut cells = Vec::with_capacity(rank * per_side.pow(exponent));
        for axis in 0..rank {
            let spread = |i: usize| half_width * l1_norm((0..rank).map(|j| columns[j * n + i]), axis);
            let spreads: Vec<f64> = (0..n).map(spread).collect();
            for index in 0..per_side.pow(exponent) {
                let mut left = index;
                let mut centre = vec![1.0; rank];
                for (_, c) in centre.iter_mut().enumerate().filter(|(j, _)| *j != axis) {
                    *c = half_width * (2 * (left % per_side) + 1) as f64 - 1.0;
                    left /= per_side;
                }
                project(columns, n, &centre, &mut middle);
                let low = medians.median(masses, total, |i| middle[i] - spreads[i]);
                let high = medians.median(masses, total, |i| middle[i] + spreads[i]);
                let apart = |i: usize| (middle[i] - high).max(low - middle[i]) - spreads[i];
                let deviation = medians.median(masses, total, apart);
                cells.push(Cell { axis, centre, median: [low, high], deviation });
            }
        }
        Self { half_width, cells }
    }

    /// A bound on the outlyingness of a query at `at`, where all projections are known up to `rounding`.
    pub(super) fn outlyingness(&self, at: &[f64], rounding: f64) -> f64 {
        let bound = |cell: &Cell| {
            let middle: f64 = cell.centre.iter().zip(at).map(|(c, t)| c * t).sum();
            let spread = self.half_width * l1_norm(at.iter().copied(), cell.axis) + rounding;
            let apart = (middle - cell.median[0]).max(cell.median[1] - middle) + spread + rounding;
            let deviation = cell.deviation - 2.0 * rounding;
            if deviation > 0.0 { apart / deviation } else { f64::INFINITY }
        };
        self.cells.iter().map(bound).fold(0.0, f64::max)
    }
}

/// The sum of the sizes of all coordinates but one.
fn l1_norm(coordinates: impl Iterator<Item = f64>, but: usize) -> f64 {
    coordinates.enumerate().filter(|(j, _)| *j != but).map(|(_, x)| x.abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::Random;

    #[test]
    fn bounds_hold_for_every_direction_of_a_cell() {
        let mut random = Random::of_purpose(1, 2, 3);
        for (rank, n, most) in [(2, 9, 12), (3, 40, 300), (4, 31, 500)] {
            let columns: Vec<f64> = (0..rank * n).map(|_| random.normal().powi(3)).collect();
            let masses: Vec<u64> = (0..n).map(|i| 1 + (i % 3) as u64).collect();
            let total = masses.iter().sum();
            let cells = DirectionCells::new(&columns, &masses, rank, most);
            assert!(cells.cells.len() <= most && cells.cells.len() > most / 4);
            let mut medians = Medians::default();
            for _ in 0..3000 {
                let mut u: Vec<f64> = (0..rank).map(|_| random.normal()).collect();
                let largest = u.iter().copied().fold(0.0, |m: f64, u| if u.abs() > m.abs() { u } else { m });
                for u in &mut u {
                    *u /= largest;
                }
                let inside = |cell: &&Cell| {
                    let apart = u.iter().zip(&cell.centre).map(|(u, c)| (u - c).abs());
                    u[cell.axis] == 1.0 && apart.fold(0.0, f64::max) <= cells.half_width + 1e-15
                };
                let cell = cells.cells.iter().find(inside).expect("the cells cover the sphere");
                let (median, deviation) = medians.project(&columns, &masses, total, &u);
                let [low, high] = cell.median;
                assert!(low - 1e-12 <= median && median <= high + 1e-12, "{low} {median} {high}");
                assert!(cell.deviation <= deviation + 1e-12, "{} {deviation}", cell.deviation);
                let at: Vec<f64> = (0..rank).map(|_| 3.0 * random.normal()).collect();
                let along: f64 = u.iter().zip(&at).map(|(u, t)| u * t).sum();
                let outlying = (along - median).abs() / deviation;
                assert!(outlying <= cells.outlyingness(&at, 1e-12));
            }
        }
    }
}
