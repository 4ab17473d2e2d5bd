//! The halfspace depth in the plane as a picture: regions, the median, the bagplot.
//!
//! The points of depth at least $k$ are those on the inner side of every line that has less than $k$ beyond it. Only
//! lines through two points of the sample matter, and going around every point in turn finds the mass on both sides
//! of all of them, in $O(n^2 \log n)$ with exact comparisons. The corners of a region are rounded; which lines bound it
//! is not.

use super::cloud::Plane;
use super::exact::Exact;
use super::plane::{Fan, clear_turn};
use super::sample::Sample;
use crate::data::Reference;
use crate::error::{DepthError, Result};
use std::cmp::Ordering;

/// The set of points of at least some depth: a convex polygon.
#[derive(Debug, Clone, PartialEq)]
pub struct Contour {
    /// The depth that every point inside has at least.
    pub depth: f64,
    /// The corners, counterclockwise; two for a segment, one for a point, none if no point is as deep.
    pub vertices: Vec<[f64; 2]>,
}

/// The deepest point.
#[derive(Debug, Clone, PartialEq)]
pub struct Median {
    /// The centre of mass of the deepest region.
    pub point: [f64; 2],
    /// The depth of that region.
    pub depth: f64,
    /// The deepest region.
    pub vertices: Vec<[f64; 2]>,
}

/// What a bagplot (Rousseeuw, Ruts and Tukey 1999) shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Bagplot {
    /// The deepest point.
    pub median: Median,
    /// A polygon with the inner half of the sample.
    pub bag: Vec<[f64; 2]>,
    /// The bag, blown up around the median: what lies beyond is outlying.
    pub fence: Vec<[f64; 2]>,
    /// The convex hull of the points within the fence.
    pub hull: Vec<[f64; 2]>,
    /// The rows beyond the fence.
    pub outliers: Vec<usize>,
    /// The depth of every row of the sample.
    pub depths: Vec<f64>,
}

/// Depth regions of a sample in the plane.
///
/// ```
/// use lossdepth::{Reference, methods::halfspace::Regions};
/// let sample = Reference::new(&[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0], [2.0, 2.0]])?;
/// let regions = Regions::new(&sample)?;
/// assert_eq!(regions.median().point, [2.0, 2.0]);
/// assert_eq!(regions.contour(0.2)?.vertices.len(), 4);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Regions {
    /// Distinct points, scaled by powers of two.
    points: Vec<[f64; 2]>,
    columns: [Vec<f64>; 2],
    masses: Vec<u64>,
    total: u64,
    scale: [f64; 2],
    origin: Vec<Option<u32>>,
    /// The mass that counts at every point.
    depths: Vec<u64>,
}

/// $\langle u, z \rangle \le c$.
#[derive(Debug, Clone, Copy)]
struct Side {
    u: [f64; 2],
    c: f64,
}

impl Regions {
    /// Takes the sample and finds the depth of its points.
    ///
    /// # Errors
    /// The sample does not have two columns.
    pub fn new(reference: &Reference) -> Result<Self> {
        if reference.width() != 2 {
            let got = reference.width();
            return Err(DepthError::Settings(format!("depth regions need two columns, got {got}")));
        }
        let sample = Sample::new(reference);
        let (points, scale) = (sample.in_the_plane(), [sample.scale()[0], sample.scale()[1]]);
        let (masses, origin) = (sample.masses().to_vec(), sample.origin().to_vec());
        let columns = [0, 1].map(|k| points.iter().map(|p| p[k]).collect::<Vec<f64>>());
        let mut regions =
            Self { total: masses.iter().sum(), columns, masses, scale, origin, depths: Vec::new(), points };
        let (mut fan, mut exact) = (Fan::default(), Exact::default());
        regions.depths = regions.points.iter().map(|p| regions.mass_at(*p, &mut fan, &mut exact)).collect();
        Ok(regions)
    }

    /// The points of at least this depth.
    ///
    /// # Errors
    /// `depth` is not above 0 and at most 1.
    pub fn contour(&self, depth: f64) -> Result<Contour> {
        if !(depth > 0.0 && depth <= 1.0) {
            return Err(DepthError::Setting { name: "depth", expected: "above 0 and at most 1", got: depth });
        }
        // The least mass that is worth the depth; rounding must not ask for one point more.
        let share = depth * self.total as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the total")]
        let mass = (share * (1.0 - 4.0 * f64::EPSILON)).ceil().max(1.0) as u64;
        Ok(Contour { depth, vertices: self.unscaled(&self.region(mass)) })
    }

    /// The deepest point: the centre of mass of the deepest region.
    ///
    /// The region is the deepest that has a point that floating-point numbers can show to be as deep.
    pub fn median(&self) -> Median {
        // Some point of the sample has depth `low`; half of all is the most, but for points at the median itself.
        let mut low = self.depths.iter().copied().max().unwrap_or(1).max(1);
        let mut high = self.total / 2 + self.masses.iter().copied().max().unwrap_or(0) + 1;
        let mut best = self.deepest(low);
        while high - low > 1 {
            let middle = low.midpoint(high);
            match self.deepest(middle) {
                Some(found) => (low, best) = (middle, Some(found)),
                None => high = middle,
            }
        }
        let (point, vertices) = best.unwrap_or_else(|| {
            let at = (0..self.points.len()).max_by_key(|&i| self.depths[i]).unwrap_or(0);
            (self.points[at], vec![self.points[at]])
        });
        Median {
            point: self.unscaled(&[point])[0],
            depth: low as f64 / self.total as f64,
            vertices: self.unscaled(&vertices),
        }
    }

    /// The bag with half of the sample, the fence `factor` times as far from the median (3 in the original), and what
    /// lies beyond it.
    ///
    /// # Errors
    /// `factor` is not at least 1.
    pub fn bagplot(&self, factor: f64) -> Result<Bagplot> {
        if !(factor >= 1.0 && factor.is_finite()) {
            return Err(DepthError::Setting { name: "factor", expected: "at least 1", got: factor });
        }
        let median = self.median();
        let centre = [median.point[0] * self.scale[0], median.point[1] * self.scale[1]];
        let held = |mass: u64| {
            (0..self.masses.len()).filter(|&i| self.depths[i] >= mass).map(|i| self.masses[i]).sum::<u64>()
        };
        // The last region with more than half of the sample, and the first with no more.
        let (mut outer, mut inner) = (1, self.total / 2 + 2);
        while inner - outer > 1 {
            let middle = outer.midpoint(inner);
            if 2 * held(middle) > self.total { outer = middle } else { inner = middle }
        }
        let (more, less) = (held(outer) as f64, held(inner) as f64);
        let share = if more > less {
            ((self.total as f64 / 2.0 - less) / (more - less)).clamp(0.0, 1.0)
        } else {
            1.0
        };
        let (wide, narrow) = (self.region(outer), self.region(inner));
        let narrow = if narrow.is_empty() { vec![centre] } else { narrow };
        let mut angles: Vec<f64> =
            wide.iter().chain(&narrow).map(|v| (v[1] - centre[1]).atan2(v[0] - centre[0])).collect();
        angles.sort_by(f64::total_cmp);
        angles.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
        let at =
            |angle: f64, radius: f64| [centre[0] + radius * angle.cos(), centre[1] + radius * angle.sin()];
        let radius = |angle: f64| {
            let (a, b) = (reach(&wide, centre, angle), reach(&narrow, centre, angle));
            share * a + (1.0 - share) * b
        };
        let bag: Vec<[f64; 2]> = angles.iter().map(|&a| at(a, radius(a))).collect();
        let fence: Vec<[f64; 2]> = angles.iter().map(|&a| at(a, factor * radius(a))).collect();
        // The fence surrounds the median, though it need not be convex.
        let within = |p: &[f64; 2]| {
            let (x, y) = (p[0] - centre[0], p[1] - centre[1]);
            x.hypot(y) <= factor * radius(y.atan2(x)) * (1.0 + 1e-12) + 1e-13
        };
        let inside: Vec<bool> = self.points.iter().map(within).collect();
        let outliers = (0..self.origin.len())
            .filter(|&row| self.origin[row].is_some_and(|i| !inside[i as usize]))
            .collect();
        let kept: Vec<[f64; 2]> =
            self.points.iter().zip(&inside).filter(|(_, inside)| **inside).map(|(p, _)| *p).collect();
        let depth =
            |o: &Option<u32>| o.map_or(f64::NAN, |i| self.depths[i as usize] as f64 / self.total as f64);
        Ok(Bagplot {
            median,
            bag: self.unscaled(&bag),
            fence: self.unscaled(&fence),
            hull: self.unscaled(&hull(kept)),
            outliers,
            depths: self.origin.iter().map(depth).collect(),
        })
    }

    fn unscaled(&self, vertices: &[[f64; 2]]) -> Vec<[f64; 2]> {
        vertices.iter().map(|v| [v[0] / self.scale[0], v[1] / self.scale[1]]).collect()
    }

    /// The exact mass that counts at a point.
    fn mass_at(&self, z: [f64; 2], fan: &mut Fan, exact: &mut Exact) -> u64 {
        let plane =
            Plane { columns: [&self.columns[0], &self.columns[1]], masses: &self.masses, stretch: 1.0 };
        let (bounds, here) = plane.least(z, fan, exact);
        bounds.upper + here
    }

    /// A region that is not empty, with its centre: one whose depth is confirmed at a point.
    fn deepest(&self, mass: u64) -> Option<([f64; 2], Vec<[f64; 2]>)> {
        let vertices = self.region(mass);
        let centre = centroid(&vertices)?;
        let (mut fan, mut exact) = (Fan::default(), Exact::default());
        let mut confirmed = |p: [f64; 2]| self.mass_at(p, &mut fan, &mut exact) >= mass;
        if confirmed(centre) {
            return Some((centre, vertices));
        }
        if let Some(&corner) = vertices.iter().find(|v| confirmed(**v)) {
            return Some((corner, vertices));
        }
        let row = (0..self.points.len()).find(|&i| self.depths[i] >= mass)?;
        Some((self.points[row], vec![self.points[row]]))
    }

    /// The region of the points at which at least this mass counts.
    fn region(&self, mass: u64) -> Vec<[f64; 2]> {
        let mut sides = self.sides(mass);
        // Extreme lines first: they cut away most.
        let spread = 1.0 + self.points.iter().fold(0.0f64, |m, p| m.max(p[0].abs()).max(p[1].abs()));
        let mut polygon = vec![[-spread, -spread], [spread, -spread], [spread, spread], [-spread, spread]];
        let key = |s: &Side| s.u[1].atan2(s.u[0]);
        sides.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.c.total_cmp(&b.c)));
        sides.dedup_by(|a, b| (key(a) - key(b)).abs() < 1e-15 && a.c >= b.c);
        let slack = 1e-13 * spread;
        for side in &sides {
            polygon = clip(&polygon, side, slack);
            if polygon.is_empty() {
                break;
            }
        }
        tidy(polygon, slack)
    }

    /// The lines through points that have less than `mass` strictly beyond them, and `mass` or more with those on them.
    fn sides(&self, mass: u64) -> Vec<Side> {
        let n = self.points.len();
        let mut exact = Exact::default();
        let mut sides = self.axes(mass);
        let mut order: Vec<usize> = Vec::with_capacity(n);
        let mut y = vec![[0.0; 2]; n];
        let mut flipped = vec![false; n];
        for i in 0..n {
            let z = self.points[i];
            order.clear();
            let mut before = 0;
            for j in 0..n {
                let d = [self.points[j][0] - z[0], self.points[j][1] - z[1]];
                flipped[j] = d[1] < 0.0 || d[1] == 0.0 && d[0] < 0.0;
                y[j] = if flipped[j] { [-d[0], -d[1]] } else { d };
                if j != i {
                    order.push(j);
                    before += if flipped[j] { 0 } else { self.masses[j] };
                }
            }
            let others = self.total - self.masses[i];
            let mut compare = |&a: &usize, &b: &usize| -> Ordering {
                let turn = clear_turn(y[a], y[b]).unwrap_or_else(|| {
                    let turn = exact.turn(self.points[a], self.points[b], z);
                    if flipped[a] == flipped[b] { turn } else { turn.reverse() }
                });
                turn.reverse()
            };
            order.sort_unstable_by(&mut compare);
            let mut first = 0;
            while first < order.len() {
                let mut end = first + 1;
                while end < order.len() && compare(&order[first], &order[end]).is_eq() {
                    end += 1;
                }
                let group = &order[first..end];
                let sum = |flip: bool| {
                    group.iter().filter(|&&j| flipped[j] == flip).map(|&j| self.masses[j]).sum::<u64>()
                };
                let (leaves, enters) = (sum(false), sum(true));
                let on = self.masses[i] + leaves + enters;
                // Every line once: from the first of its points.
                if group.iter().all(|&j| j > i) {
                    let f = y[group[0]];
                    let length = f[0].hypot(f[1]);
                    for (beyond, sign) in [(before - leaves, 1.0), (others - before - enters, -1.0)] {
                        if beyond < mass && beyond + on >= mass {
                            let u = [-sign * f[1] / length, sign * f[0] / length];
                            sides.push(Side { u, c: u[0] * z[0] + u[1] * z[1] });
                        }
                    }
                }
                before = before + enters - leaves;
                first = end;
            }
        }
        sides
    }

    /// Bounds along the axes, and along the line of a sample that has no more than one.
    fn axes(&self, mass: u64) -> Vec<Side> {
        let n = self.points.len();
        let (a, b) = (self.points[0], self.points[n - 1]);
        let along = [b[0] - a[0], b[1] - a[1]];
        let length = along[0].hypot(along[1]).max(f64::MIN_POSITIVE);
        let mut sides = Vec::new();
        for u in [[1.0, 0.0], [0.0, 1.0], [along[0] / length, along[1] / length]] {
            for sign in [1.0, -1.0] {
                let u = [sign * u[0], sign * u[1]];
                let mut order: Vec<(f64, u64)> = (0..n)
                    .map(|i| (u[0] * self.points[i][0] + u[1] * self.points[i][1], self.masses[i]))
                    .collect();
                order.sort_by(|a, b| b.0.total_cmp(&a.0));
                let mut sum = 0;
                let at = order.iter().find(|(_, m)| {
                    sum += m;
                    sum >= mass
                });
                if let Some(&(c, _)) = at {
                    sides.push(Side { u, c });
                } else {
                    // More than there is: nothing is as deep.
                    sides.push(Side { u, c: f64::NEG_INFINITY });
                }
            }
        }
        sides
    }
}

/// The part of a polygon on the inner side of a line, give or take `slack`.
fn clip(polygon: &[[f64; 2]], side: &Side, slack: f64) -> Vec<[f64; 2]> {
    let over = |v: &[f64; 2]| side.u[0] * v[0] + side.u[1] * v[1] - side.c;
    if polygon.iter().all(|v| over(v) <= slack) {
        return polygon.to_vec();
    }
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (k, v) in polygon.iter().enumerate() {
        let w = &polygon[(k + 1) % polygon.len()];
        let (a, b) = (over(v), over(w));
        if a <= slack {
            kept.push(*v);
        }
        if (a > slack && b < -slack) || (a < -slack && b > slack) {
            let t = a / (a - b);
            kept.push([v[0] + t * (w[0] - v[0]), v[1] + t * (w[1] - v[1])]);
        }
    }
    kept
}

/// Without corners that coincide or lie on an edge.
fn tidy(polygon: Vec<[f64; 2]>, slack: f64) -> Vec<[f64; 2]> {
    let mut corners: Vec<[f64; 2]> = Vec::with_capacity(polygon.len());
    let apart = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]) > 4.0 * slack;
    for v in polygon {
        if corners.last().is_none_or(|last| apart(last, &v)) {
            corners.push(v);
        }
    }
    while corners.len() > 1 && !apart(&corners[0], &corners[corners.len() - 1]) {
        corners.pop();
    }
    corners
}

/// The centre of mass of a polygon, a segment or a point.
fn centroid(vertices: &[[f64; 2]]) -> Option<[f64; 2]> {
    let first = *vertices.first()?;
    let (mut area, mut sum) = (0.0, [0.0; 2]);
    for pair in vertices.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let cross = (a[0] - first[0]) * (b[1] - first[1]) - (a[1] - first[1]) * (b[0] - first[0]);
        area += cross;
        (0..2).for_each(|k| sum[k] += cross * (a[k] + b[k] - 2.0 * first[k]));
    }
    if area > 1e-24 {
        return Some([0, 1].map(|k| first[k] + sum[k] / (3.0 * area)));
    }
    let n = vertices.len() as f64;
    Some([0, 1].map(|k| vertices.iter().map(|v| v[k] / n).sum()))
}

/// How far a polygon reaches from a point within, at some angle.
fn reach(polygon: &[[f64; 2]], centre: [f64; 2], angle: f64) -> f64 {
    let d = [angle.cos(), angle.sin()];
    let mut far = 0.0f64;
    for (k, v) in polygon.iter().enumerate() {
        let w = polygon[(k + 1) % polygon.len()];
        let (a, b) = ([v[0] - centre[0], v[1] - centre[1]], [w[0] - centre[0], w[1] - centre[1]]);
        let (p, q) = (d[0] * a[1] - d[1] * a[0], d[0] * b[1] - d[1] * b[0]);
        if p == q {
            if p.abs() <= 1e-15 {
                far = far.max(d[0] * a[0] + d[1] * a[1]).max(d[0] * b[0] + d[1] * b[1]);
            }
            continue;
        }
        let t = p / (p - q);
        if (-1e-12..=1.0 + 1e-12).contains(&t) {
            far = far.max(d[0] * (a[0] + t * (b[0] - a[0])) + d[1] * (a[1] + t * (b[1] - a[1])));
        }
    }
    far
}

/// The convex hull, counterclockwise (Andrew).
fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let mut exact = Exact::default();
    let mut half = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for p in points {
            while chain.len() > 1 && exact.turn(chain[chain.len() - 1], p, chain[chain.len() - 2]).is_le() {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut chain = half(&mut points.iter().copied());
    chain.extend(half(&mut points.iter().rev().copied()));
    chain
}
