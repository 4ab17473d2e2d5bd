//! Contour lines and superlevel sets of a function on a grid, by marching squares.

use lossdepth::{DepthError, Result};

/// A function on a rectangular grid, bilinear between the nodes.
///
/// ```
/// use lossdepth_plot::Field;
/// let side = [-1.0, 0.0, 1.0];
/// let hill: Vec<f64> = side.iter().flat_map(|y: &f64| side.map(|x: f64| 1.0 - x.abs() - y.abs())).collect();
/// let field = Field::new(side.to_vec(), side.to_vec(), hill)?;
/// let lines = field.lines(0.5);
/// assert_eq!(lines.len(), 1);
/// assert!(lines[0].closed && lines[0].points.len() == 4 && lines[0].points.contains(&[0.5, 0.0]));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    xs: Vec<f64>,
    ys: Vec<f64>,
    /// Row by row, from the smallest y.
    values: Vec<f64>,
}

/// A contour line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its vertices in order.
    pub points: Vec<[f64; 2]>,
    /// Whether it returns to its first vertex; otherwise it ends at the border of the grid.
    pub closed: bool,
}

/// Stands for no edge.
const NONE: usize = usize::MAX;

impl Field {
    /// Values at the nodes of a grid: `values[j * xs.len() + i]` belongs to `(xs[i], ys[j])`.
    ///
    /// # Errors
    /// Fewer than two grid lines in a direction, grid lines that do not ascend, a value that is not finite, or not one value
    /// per node.
    pub fn new(xs: Vec<f64>, ys: Vec<f64>, values: Vec<f64>) -> Result<Self> {
        let ascends = |side: &[f64]| side.len() > 1 && side.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascends(&xs) || !ascends(&ys) {
            return Err(DepthError::Settings(
                "the lines of a grid must be at least two and ascend".to_owned(),
            ));
        }
        if values.len() != xs.len() * ys.len() || !values.iter().all(|value| value.is_finite()) {
            return Err(DepthError::Settings(format!(
                "a grid of {} by {} needs as many finite values, got {}",
                xs.len(),
                ys.len(),
                values.len()
            )));
        }
        Ok(Self { xs, ys, values })
    }

    /// The x coordinates of the grid.
    pub fn xs(&self) -> &[f64] {
        &self.xs
    }

    /// The y coordinates of the grid.
    pub fn ys(&self) -> &[f64] {
        &self.ys
    }

    /// The value at a node.
    pub fn node(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.xs.len() + i]
    }

    /// Another function of the values at the nodes.
    #[must_use]
    pub fn mapped(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { values: self.values.iter().map(|value| f(*value)).collect(), ..self.clone() }
    }

    /// The smallest and the largest value.
    pub fn range(&self) -> (f64, f64) {
        self.values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
    }

    /// The value at a point, bilinear between the nodes; outside the grid the value at the nearest point of it.
    pub fn at(&self, [x, y]: [f64; 2]) -> f64 {
        let (i, s) = within(&self.xs, x);
        let (j, t) = within(&self.ys, y);
        let across = |j: usize| self.node(i, j) + s * (self.node(i + 1, j) - self.node(i, j));
        across(j) + t * (across(j + 1) - across(j))
    }

    /// The function on a grid `times` as fine, by cubic convolution (Keys 1981): exact at the nodes and for quadratic
    /// functions on an even grid, and clamped to the range of the values.
    #[must_use]
    pub fn refined(&self, times: usize) -> Self {
        let times = times.max(1);
        let (low, high) = self.range();
        let fine = |side: &[f64]| -> Vec<f64> {
            let count = times * (side.len() - 1);
            let at = |k: usize| {
                let (cell, t) = (k / times, (k % times) as f64 / times as f64);
                if t == 0.0 { side[cell] } else { side[cell] + t * (side[cell + 1] - side[cell]) }
            };
            (0..=count).map(at).collect()
        };
        let (xs, ys) = (fine(&self.xs), fine(&self.ys));
        let wide: Vec<Vec<f64>> =
            self.values.chunks_exact(self.xs.len()).map(|line| refine(line, times)).collect();
        let columns: Vec<Vec<f64>> = (0..xs.len())
            .map(|i| refine(&wide.iter().map(|line| line[i]).collect::<Vec<f64>>(), times))
            .collect();
        let values = (0..ys.len()).flat_map(|j| columns.iter().map(move |column| column[j]));
        Self { values: values.map(|value| value.clamp(low, high)).collect(), xs, ys }
    }

    /// The contour lines between nodes of at least `level` and nodes below it. Every vertex is on an edge of the grid,
    /// where the interpolated value is `level`.
    pub fn lines(&self, level: f64) -> Vec<Line> {
        let links = self.links(level);
        let mut seen = vec![false; links.len()];
        let crossing = |edge: &usize| links[*edge] != [NONE; 2];
        let ends = (0..links.len()).filter(|edge| links[*edge][0] != NONE && links[*edge][1] == NONE);
        let mut lines = Vec::new();
        // Open lines first, each from one of its ends; the lines that remain are closed.
        for edge in ends.chain((0..links.len()).filter(crossing)) {
            if seen[edge] {
                continue;
            }
            let closed = links[edge][1] != NONE;
            let (mut points, mut here, mut from) = (Vec::new(), edge, NONE);
            while here != NONE && !seen[here] {
                seen[here] = true;
                points.push(self.crossing(here, level));
                let [a, b] = links[here];
                (here, from) = (if a == from { b } else { a }, here);
            }
            // A node exactly at the level is a crossing of several edges.
            points.dedup();
            if closed && points.len() > 1 && points.first() == points.last() {
                points.pop();
            }
            if points.len() > 1 {
                lines.push(Line { points, closed });
            }
        }
        lines
    }

    /// The superlevel set of `level` as closed polygons, which may follow the border; a point is inside if it is inside an
    /// odd number of them.
    pub fn regions(&self, level: f64) -> Vec<Vec<[f64; 2]>> {
        // A border of zero width and values below the level closes every line that would end at the border.
        let extended = |side: &[f64]| -> Vec<f64> {
            let ends = (side[0], side[side.len() - 1]);
            [ends.0].into_iter().chain(side.iter().copied()).chain([ends.1]).collect()
        };
        let (xs, ys) = (extended(&self.xs), extended(&self.ys));
        let low = level - 1.0 - level.abs();
        let inner = |k: usize, count: usize| (k > 0 && k <= count).then(|| k - 1);
        let value = |i: usize, j: usize| match (inner(i, self.xs.len()), inner(j, self.ys.len())) {
            (Some(i), Some(j)) => self.node(i, j),
            _ => low,
        };
        let values = (0..ys.len()).flat_map(|j| (0..xs.len()).map(move |i| (i, j))).map(|(i, j)| value(i, j));
        let bordered = Self { values: values.collect(), xs, ys };
        bordered.lines(level).into_iter().map(|line| line.points).filter(|ring| ring.len() > 2).collect()
    }

    /// For each edge of the grid that a line crosses, the edges at which the line leaves the two adjacent cells.
    ///
    /// Edge 2k goes from node k to the right, 2k + 1 up.
    fn links(&self, level: f64) -> Vec<[usize; 2]> {
        let (nx, ny) = (self.xs.len(), self.ys.len());
        let mut links = vec![[NONE; 2]; 2 * nx * ny];
        let mut link = |a: usize, b: usize| {
            for (from, to) in [(a, b), (b, a)] {
                let free = usize::from(links[from][0] != NONE);
                links[from][free] = to;
            }
        };
        for j in 0..ny - 1 {
            for i in 0..nx - 1 {
                let k = j * nx + i;
                let corners = [k, k + 1, k + 1 + nx, k + nx].map(|node| self.values[node]);
                let above = corners.map(|value| value >= level);
                let [bottom, right, top, left] = [2 * k, 2 * (k + 1) + 1, 2 * (k + nx), 2 * k + 1];
                let case = (0..4).fold(0, |case, corner| case | usize::from(above[corner]) << corner);
                match case {
                    1 | 14 => link(left, bottom),
                    2 | 13 => link(bottom, right),
                    4 | 11 => link(right, top),
                    8 | 7 => link(top, left),
                    3 | 12 => link(left, right),
                    6 | 9 => link(bottom, top),
                    5 | 10 => {
                        // A saddle: the mean decides which of the two pairs of corners is connected.
                        let middle = corners.iter().sum::<f64>() / 4.0 >= level;
                        if middle == above[0] {
                            link(bottom, right);
                            link(top, left);
                        } else {
                            link(left, bottom);
                            link(right, top);
                        }
                    }
                    _ => {}
                }
            }
        }
        links
    }

    /// The point of an edge at which the value is `level`.
    fn crossing(&self, edge: usize, level: f64) -> [f64; 2] {
        let (nx, node) = (self.xs.len(), edge / 2);
        let next = if edge.is_multiple_of(2) { node + 1 } else { node + nx };
        let at = |node: usize| [self.xs[node % nx], self.ys[node / nx]];
        let (from, to, low, high) = (at(node), at(next), self.values[node], self.values[next]);
        let t = ((level - low) / (high - low)).clamp(0.0, 1.0);
        [0, 1].map(|k| if from[k] == to[k] { from[k] } else { from[k] + t * (to[k] - from[k]) })
    }
}

/// Cubic convolution with `times` steps per interval; beyond the ends the values are extrapolated quadratically.
fn refine(values: &[f64], times: usize) -> Vec<f64> {
    let last = values.len() - 1;
    let at = |k: usize| values[k.min(last)];
    let extrapolated = |a: f64, b: f64, c: Option<f64>| c.map_or(2.0 * a - b, |c| 3.0 * (a - b) + c);
    let node = |k: usize| match k {
        // Index 0 is one before the first value.
        0 => extrapolated(at(0), at(1), values.get(2).copied()),
        k if k > last + 1 => extrapolated(at(last), at(last - 1), last.checked_sub(2).map(at)),
        k => at(k - 1),
    };
    let between = |cell: usize, t: f64| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| node(cell + k));
        b + 0.5 * t * ((c - a) + t * ((2.0 * a - 5.0 * b + 4.0 * c - d) + t * (3.0 * (b - c) + d - a)))
    };
    let inner = (0..last).flat_map(|cell| (0..times).map(move |k| (cell, k as f64 / times as f64)));
    inner.map(|(cell, t)| between(cell, t)).chain([values[last]]).collect()
}

/// The interval that contains a number, and the relative position in it.
fn within(side: &[f64], x: f64) -> (usize, f64) {
    let cell = side.partition_point(|line| *line <= x).clamp(1, side.len() - 1) - 1;
    (cell, ((x - side[cell]) / (side[cell + 1] - side[cell])).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sampled(n: usize, f: impl Fn(f64, f64) -> f64) -> Field {
        let side: Vec<f64> = (0..n).map(|i| -2.0 + 4.0 * i as f64 / (n - 1) as f64).collect();
        let values = side.iter().flat_map(|y| side.iter().map(|x| f(*x, *y)).collect::<Vec<_>>()).collect();
        Field::new(side.clone(), side, values).unwrap()
    }

    /// Whether a point is inside by the even-odd rule.
    fn inside(rings: &[Vec<[f64; 2]>], [x, y]: [f64; 2]) -> bool {
        let crosses = |a: [f64; 2], b: [f64; 2]| {
            (a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
        };
        let crossings =
            rings.iter().flat_map(|ring| (0..ring.len()).map(move |i| (ring[i], ring[(i + 1) % ring.len()])));
        crossings.filter(|(a, b)| crosses(*a, *b)).count() % 2 == 1
    }

    proptest! {
        #[test]
        fn the_value_on_a_line_is_its_level(values in prop::collection::vec(0.0..1.0f64, 42), level in 0.0..1.0f64) {
            let field = Field::new((0..7).map(f64::from).collect(), (0..6).map(f64::from).collect(), values).unwrap();
            for line in field.lines(level) {
                for point in &line.points {
                    prop_assert!((field.at(*point) - level).abs() < 1e-12);
                }
                if !line.closed {
                    for [x, y] in [line.points[0], line.points[line.points.len() - 1]] {
                        prop_assert!(x == 0.0 || x == 6.0 || y == 0.0 || y == 5.0);
                    }
                }
            }
        }

        #[test]
        fn regions_hold_the_nodes_above_and_no_other(values in prop::collection::vec(0.0..1.0f64, 42), level in 0.01..0.99f64) {
            let field = Field::new((0..7).map(f64::from).collect(), (0..6).map(f64::from).collect(), values).unwrap();
            let rings = field.regions(level);
            for j in 0..6 {
                for i in 0..7 {
                    // Nodes on the border are moved inwards a little: a polygon may run through them.
                    let (x, y) = (i as f64, j as f64);
                    let point = [x.clamp(1e-9, 6.0 - 1e-9), y.clamp(1e-9, 5.0 - 1e-9)];
                    prop_assert_eq!(inside(&rings, point), field.node(i, j) >= level);
                }
            }
        }
    }

    #[test]
    fn a_finer_grid_has_the_same_nodes_and_quadratics_between_them() {
        let f = |x: f64, y: f64| 1.0 + x - 2.0 * y + x * y - 0.5 * x * x + y * y;
        let (coarse, times) = (sampled(7, f), 4);
        let fine = coarse.refined(times);
        assert_eq!((fine.xs().len(), fine.ys().len()), (25, 25));
        for j in 0..7 {
            for i in 0..7 {
                assert!((fine.node(times * i, times * j) - coarse.node(i, j)).abs() < 1e-12);
            }
        }
        let (low, high) = coarse.range();
        for (j, y) in fine.ys().iter().enumerate() {
            for (i, x) in fine.xs().iter().enumerate() {
                assert!((fine.node(i, j) - f(*x, *y).clamp(low, high)).abs() < 1e-12, "{x} {y}");
            }
        }
        // Two lines are enough.
        let line = Field::new(vec![0.0, 1.0], vec![0.0, 1.0], vec![0.0, 1.0, 2.0, 3.0]).unwrap().refined(2);
        assert_eq!(line.node(1, 1), 1.5);
    }

    #[test]
    fn a_circle_is_round() {
        let field = sampled(81, |x, y| 4.0 - x * x - y * y);
        let lines = field.lines(3.0);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].closed);
        // Linear interpolation on a cell of width h is off by h²/8 times the second derivative.
        for [x, y] in &lines[0].points {
            assert!((x.hypot(*y) - 1.0).abs() < 0.05f64.powi(2));
        }
    }

    #[test]
    fn lines_end_at_the_border_and_regions_close_there() {
        let field = sampled(9, |x, _| x);
        let lines = field.lines(0.25);
        assert_eq!(lines.len(), 1);
        assert!(!lines[0].closed && lines[0].points.iter().all(|p| (p[0] - 0.25).abs() < 1e-12));
        let area = |ring: &Vec<[f64; 2]>| {
            let twice: f64 = (0..ring.len())
                .map(|i| (ring[i], ring[(i + 1) % ring.len()]))
                .map(|(a, b)| a[0] * b[1] - a[1] * b[0])
                .sum();
            twice.abs() / 2.0
        };
        assert!((field.regions(0.25).iter().map(area).sum::<f64>() - 1.75 * 4.0).abs() < 1e-12);
        assert!((field.regions(-9.0).iter().map(area).sum::<f64>() - 16.0).abs() < 1e-12);
    }

    #[test]
    fn two_hills_have_two_rings_and_a_saddle_joins_them() {
        let field = sampled(61, |x, y| {
            (-4.0 * ((x - 1.0).powi(2) + y * y)).exp() + (-4.0 * ((x + 1.0).powi(2) + y * y)).exp()
        });
        assert_eq!(field.lines(0.5).len(), 2);
        assert_eq!(field.lines(0.02).len(), 1);
        // All equal: nothing to draw.
        assert!(sampled(5, |_, _| 0.5).lines(0.5).is_empty());
        assert!(sampled(5, |_, _| 0.5).lines(0.4).is_empty());
    }

    #[test]
    fn a_grid_must_be_one() {
        assert!(Field::new(vec![0.0], vec![0.0, 1.0], vec![0.0; 2]).is_err());
        assert!(Field::new(vec![0.0, 0.0], vec![0.0, 1.0], vec![0.0; 4]).is_err());
        assert!(Field::new(vec![0.0, 1.0], vec![0.0, 1.0], vec![0.0; 3]).is_err());
        assert!(Field::new(vec![0.0, 1.0], vec![0.0, 1.0], vec![0.0, 0.0, f64::NAN, 0.0]).is_err());
    }
}
