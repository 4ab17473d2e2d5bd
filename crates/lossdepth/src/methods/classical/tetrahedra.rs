//! How many tetrahedra with corners in the sample do not contain the query, in $O(n^2 \log n)$ with exact signs.
//!
//! A plane through the query that meets no other point divides the points into red and blue. Seen from the query every line
//! is a point of the projective plane, with the masses of red and of blue points on it. A tetrahedron contains the query if and
//! only if (N14)
//!
//! - it has three red corners and a blue one, and the blue one is in the closed triangle of the others, or the reverse;
//! - it has two of each, and the closed segment of the red ones meets that of the blue ones.
//!
//! Triangles around a point are counted by angles (`sphere_counts`). Segments that do not meet have exactly one inner tangent with
//! the red ones on its left and the blue ones on its right; where more than two of the corners are on it, its red and its blue
//! point are those nearest to each other.

use super::sphere_counts::{Choose, in_plane};
use crate::methods::halfspace::expansions::ExactPredicates;
use std::cmp::Ordering;

/// The points other than the query, with their masses.
pub(super) struct Surroundings<'a> {
    pub(super) points: &'a [[f64; 3]],
    pub(super) masses: &'a [f64],
    pub(super) z: [f64; 3],
    pub(super) choose: Choose,
}

/// Signs of determinants of the points as seen from the query, the blue ones replaced by their opposites.
struct Chart<'a> {
    points: &'a [[f64; 3]],
    z: [f64; 3],
    y: Vec<[f64; 3]>,
    blue: Vec<bool>,
    exact: ExactPredicates,
}

impl Chart<'_> {
    /// The orientation of three points of the chart.
    fn orientation(&mut self, i: usize, j: usize, k: usize) -> Ordering {
        let (a, b, c) = (self.y[i], self.y[j], self.y[k]);
        let (mut value, mut size) = (0.0, 0.0);
        for [p, q, r] in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
            let (s, t) = (b[q] * c[r], b[r] * c[q]);
            value += a[p] * (s - t);
            size += a[p].abs() * (s.abs() + t.abs());
        }
        let sign = if value.abs() > 16.0 * f64::EPSILON * size + f64::MIN_POSITIVE {
            value.total_cmp(&0.0)
        } else {
            self.exact.determinant([self.points[i], self.points[j], self.points[k]], self.z)
        };
        if self.blue[i] ^ self.blue[j] ^ self.blue[k] { sign.reverse() } else { sign }
    }

    /// The sign of a minor of two points: of the coordinates without `drop`.
    fn minor(&mut self, i: usize, j: usize, drop: usize) -> Ordering {
        let (p, q) = ((drop + 1) % 3, (drop + 2) % 3);
        let pair = |x: &[f64; 3]| [x[p], x[q]];
        let sign = self.exact.orientation(pair(&self.points[i]), pair(&self.points[j]), pair(&self.z));
        if self.blue[i] ^ self.blue[j] { sign.reverse() } else { sign }
    }

    /// A coordinate to drop so that the minor of two points is not 0, and its sign; `None` if they are the same in the chart.
    fn independent(&mut self, i: usize, j: usize) -> Option<(usize, Ordering)> {
        (0..3).map(|drop| (drop, self.minor(i, j, drop))).find(|(_, sign)| sign.is_ne())
    }
}

/// A plane through the query that meets no other point: its normal, and which points are behind it.
fn divide(points: &[[f64; 3]], z: [f64; 3], exact: &mut ExactPredicates) -> Vec<bool> {
    for k in 0u32.. {
        // Directions without a pattern; almost every one will do.
        let k = f64::from(k);
        let v = [(1.3 + k).sin(), (2.1 + 1.7 * k).cos(), 1.0 + (0.7 + 2.3 * k).sin()];
        let sides: Vec<Ordering> = points.iter().map(|x| exact.side(&v, x, &z)).collect();
        if sides.iter().all(|side| side.is_ne()) {
            return sides.iter().map(|side| side.is_lt()).collect();
        }
    }
    unreachable!("finitely many points are on finitely many planes")
}

/// The number of subsets of four points in an open halfspace.
pub(super) fn open_subsets(around: &Surroundings<'_>) -> f64 {
    let Surroundings { points, masses, z, choose } = *around;
    let n = points.len();
    let mut exact = ExactPredicates::default();
    let blue = divide(points, z, &mut exact);
    let y = points.iter().map(|x| std::array::from_fn(|k| x[k] - z[k])).collect();
    let mut chart = Chart { points, z, y, blue, exact };
    let mass = |chart: &Chart<'_>, i: usize, blue: bool| if chart.blue[i] == blue { masses[i] } else { 0.0 };
    let all = [false, true].map(|colour| (0..n).map(|i| mass(&chart, i, colour)).sum::<f64>());
    let mut number = choose.of(all[0], 4) + choose.of(all[1], 4);
    let mut done = vec![false; n];
    for p in 0..n {
        if done[p] {
            continue;
        }
        // Points of the same place in the chart count together.
        let mut here = [0.0; 2];
        let mut others = Vec::with_capacity(n);
        for i in 0..n {
            if i == p || !is_clearly_apart(chart.y[p], chart.y[i]) && chart.independent(p, i).is_none() {
                here[usize::from(chart.blue[i])] += masses[i];
                done[i] = true;
            } else {
                others.push(i);
            }
        }
        let rays = Rays::around(&mut chart, p, others);
        let red = rays.masses(&chart, masses, false);
        let blue = rays.masses(&chart, masses, true);
        let count = |masses: &[f64], k: usize| {
            in_plane(masses, k, choose, |i, j| rays.is_ahead(i, j)).number
        };
        if here[1] > 0.0 {
            number += here[1] * count(&red, 3);
        }
        if here[0] > 0.0 {
            number += here[0] * count(&blue, 3);
            number += tangents(&mut chart, &rays, (&red, &blue), here[0], masses, choose);
        }
    }
    number
}

/// Whether two vectors are not parallel, by a margin that rounding cannot explain.
fn is_clearly_apart(a: [f64; 3], b: [f64; 3]) -> bool {
    [[0, 1], [1, 2], [2, 0]].into_iter().any(|[p, q]| {
        let (s, t) = (a[p] * b[q], a[q] * b[p]);
        (s - t).abs() > 8.0 * f64::EPSILON * (s.abs() + t.abs()) + f64::MIN_POSITIVE
    })
}

/// The other points of the chart in angular order around one of them.
struct Rays {
    /// The points of each ray, the nearest first.
    points: Vec<Vec<usize>>,
    /// The last ray that is less than half a turn ahead, counted on beyond the last one; and the ray that is exactly half a turn
    /// ahead.
    ahead: Vec<usize>,
    opposite: Vec<Option<usize>>,
}

impl Rays {
    fn around(chart: &mut Chart<'_>, p: usize, mut others: Vec<usize>) -> Self {
        let Some(&reference) = others.first() else {
            return Self { points: Vec::new(), ahead: Vec::new(), opposite: Vec::new() };
        };
        // Less than half a turn from the reference, or not; on its line by the side.
        let mut behind = vec![false; chart.points.len()];
        for &i in &others {
            behind[i] = match chart.orientation(p, reference, i) {
                Ordering::Greater => false,
                Ordering::Less => true,
                Ordering::Equal => !is_same_side(chart, p, reference, i),
            };
        }
        others.sort_by(|&i, &j| {
            behind[i].cmp(&behind[j]).then_with(|| chart.orientation(p, i, j).reverse())
        });
        let mut points: Vec<Vec<usize>> = Vec::new();
        for &i in &others {
            match points.last_mut() {
                Some(ray)
                    if behind[ray[0]] == behind[i] && chart.orientation(p, ray[0], i).is_eq() =>
                {
                    ray.push(i);
                }
                _ => points.push(vec![i]),
            }
        }
        for ray in points.iter_mut().filter(|ray| ray.len() > 1) {
            ray.sort_by(|&i, &j| nearer(chart, p, i, j));
        }
        let g = points.len();
        let (mut ahead, mut opposite) = (vec![0; g], vec![None; g]);
        let mut end = 1;
        for i in 0..g {
            end = end.max(i + 1);
            let mut side = Ordering::Less;
            while end < i + g {
                side = chart.orientation(p, points[i][0], points[end % g][0]);
                if side.is_le() {
                    break;
                }
                end += 1;
            }
            ahead[i] = end;
            if end < i + g && side.is_eq() {
                opposite[i] = Some(end % g);
            }
        }
        Self { points, ahead, opposite }
    }

    fn masses(&self, chart: &Chart<'_>, masses: &[f64], blue: bool) -> Vec<f64> {
        let own = |ray: &Vec<usize>| ray.iter().filter(|i| chart.blue[**i] == blue).map(|i| masses[*i]).sum();
        self.points.iter().map(own).collect()
    }

    fn is_ahead(&self, i: usize, j: usize) -> bool {
        let j = if j <= i { j + self.points.len() } else { j };
        j < self.ahead[i]
    }
}

/// Whether two points on a line through `p` are on the same side of it.
fn is_same_side(chart: &mut Chart<'_>, p: usize, i: usize, j: usize) -> bool {
    let Some((drop, sign)) = chart.independent(p, i) else { return true };
    chart.minor(p, j, drop) == sign
}

/// The order of two points on a ray from `p` by their distance from it.
fn nearer(chart: &mut Chart<'_>, p: usize, i: usize, j: usize) -> Ordering {
    let Some((drop, sign)) = chart.independent(p, j) else { return Ordering::Equal };
    match chart.minor(i, j, drop) {
        Ordering::Equal => Ordering::Equal,
        same if same == sign => Ordering::Less,
        _ => Ordering::Greater,
    }
}

/// The pairs of a red and a blue segment that do not meet and whose inner tangent has its red point at `p`.
fn tangents(
    chart: &mut Chart<'_>,
    rays: &Rays,
    (red, blue): (&[f64], &[f64]),
    at_p: f64,
    masses: &[f64],
    choose: Choose,
) -> f64 {
    let g = rays.points.len();
    let p_pairs = |left: f64| choose.of(at_p + left, 2) - choose.of(left, 2);
    let whole: f64 = blue.iter().sum();
    let mut number = 0.0;
    // Masses strictly ahead, by a sliding window.
    let (mut end, mut red_ahead, mut blue_ahead) = (0, 0.0, 0.0);
    for i in 0..g {
        if end < i + 1 {
            (end, red_ahead, blue_ahead) = (i + 1, 0.0, 0.0);
        } else if i > 0 {
            red_ahead -= red[i];
            blue_ahead -= blue[i];
        }
        while end < rays.ahead[i] {
            red_ahead += red[end % g];
            blue_ahead += blue[end % g];
            end += 1;
        }
        if blue[i] > 0.0 {
            let across = rays.opposite[i];
            let (red_across, blue_across) = across.map_or((0.0, 0.0), |o| (red[o], blue[o]));
            // Whole numbers are exact here; shares of mass may leave a rounding error.
            let right = (whole - blue[i] - blue_across - blue_ahead).max(0.0);
            let left = red_ahead.max(0.0) + red_across;
            let pairs = p_pairs(left);
            // From the farthest place on the ray to the nearest.
            let mut beyond = right;
            let ray = &rays.points[i];
            let mut last = ray.len();
            while last > 0 {
                let mut first = last - 1;
                while first > 0 && chart.independent(ray[first - 1], ray[last - 1]).is_none() {
                    first -= 1;
                }
                let here: f64 =
                    ray[first..last].iter().filter(|i| chart.blue[**i]).map(|i| masses[*i]).sum();
                number += pairs * (choose.of(here + beyond, 2) - choose.of(beyond, 2));
                beyond += here;
                last = first;
            }
        }
    }
    number
}
