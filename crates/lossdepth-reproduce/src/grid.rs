//! Depths on a rectangular grid, and their contours.

use crate::error::Result;
use lossdepth_plot::{Field, Line, ticks};

/// The nodes of a grid over a window.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    xs: Vec<f64>,
    ys: Vec<f64>,
}

impl Grid {
    /// A grid of `columns` × `rows` nodes over the ranges of x and y.
    pub(crate) fn new([(left, right), (low, high)]: [(f64, f64); 2], columns: usize, rows: usize) -> Self {
        let side = |from: f64, to: f64, count: usize| -> Vec<f64> {
            (0..count).map(|i| from + (to - from) * i as f64 / (count.max(2) - 1) as f64).collect()
        };
        Self { xs: side(left, right, columns), ys: side(low, high, rows) }
    }

    /// The coordinates of all nodes, row by row.
    pub(crate) fn rows(&self) -> Vec<f64> {
        self.ys.iter().flat_map(|y| self.xs.iter().flat_map(|x| [*x, *y])).collect()
    }

    /// The function with these values at the nodes.
    pub(crate) fn field(&self, values: &[f64]) -> Result<Field> {
        Ok(Field::new(self.xs.clone(), self.ys.clone(), values.to_vec())?)
    }
}

/// Contours at round levels strictly within the range of a field.
pub(crate) fn contours(field: &Field, count: usize) -> Vec<(f64, Vec<Line>)> {
    let (low, high) = field.range();
    let inside = |level: &f64| *level > low + 1e-9 && *level < high - 1e-9;
    ticks(low, high, count).into_iter().filter(inside).map(|level| (level, field.lines(level))).collect()
}

/// Rows of two columns as points.
pub(crate) fn points(rows: &[f64]) -> Vec<[f64; 2]> {
    rows.chunks_exact(2).map(|row| [row[0], row[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_includes_the_ends_of_its_window() {
        let grid = Grid::new([(-1.0, 1.0), (0.0, 4.0)], 3, 2);
        assert_eq!(grid.rows(), [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 4.0, 0.0, 4.0, 1.0, 4.0]);
        assert_eq!(grid.field(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap().at([1.0, 4.0]), 5.0);
    }
}
