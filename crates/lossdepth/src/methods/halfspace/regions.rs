//! Depth regions in the plane, the median and the bagplot.
//!
//! The points of depth at least $k$ are those in every half plane whose complement has a mass below $k$. Only
//! lines through two points of the sample matter, and a circular sweep at every point gives the mass on both
//! sides of all of them, in $O(n^2 \log n)$ with exact comparisons. The vertices of a region are rounded;
//! which lines bound it is exact.

use super::circular_sweep::{CircularSweep, certain_orientation};
use super::expansions::ExactPredicates;
use super::polygon::{HalfPlane, centroid, clip, hull, radius_at, without_duplicates};
use super::sample::PreparedSample;
use super::weighted_points::PlanarPoints;
use crate::data::Reference;
use crate::error::{DepthError, Result};
use crate::numerics::whole_part;
use std::cmp::Ordering;

/// The rounding of vertices, relative to the size of the data (heuristic).
const ROUNDING: f64 = 1e-13;

/// The set of points of at least some depth: a convex polygon.
#[derive(Debug, Clone, PartialEq)]
pub struct Contour {
    /// Every point inside has at least this depth.
    pub depth: f64,
    /// The vertices, counterclockwise; two for a segment, one for a point, none if no point is as deep.
    pub vertices: Vec<[f64; 2]>,
}

/// The deepest point.
#[derive(Debug, Clone, PartialEq)]
pub struct Median {
    /// The centroid of the deepest region.
    pub point: [f64; 2],
    /// The depth of that region.
    pub depth: f64,
    /// The deepest region.
    pub vertices: Vec<[f64; 2]>,
}

/// The parts of a bagplot (Rousseeuw, Ruts and Tukey 1999).
#[derive(Debug, Clone, PartialEq)]
pub struct Bagplot {
    /// The deepest point.
    pub median: Median,
    /// A polygon with the inner half of the sample.
    pub bag: Vec<[f64; 2]>,
    /// The bag, scaled from the median: points outside are outliers.
    pub fence: Vec<[f64; 2]>,
    /// The convex hull of the points within the fence.
    pub hull: Vec<[f64; 2]>,
    /// The rows outside the fence.
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
    point_of_row: Vec<Option<u32>>,
    /// The mass that counts at every point.
    depths: Vec<u64>,
}

impl Regions {
    /// From a sample; computes the depth of its points.
    ///
    /// # Errors
    /// The sample does not have two columns, or they are not both numbers.
    pub fn new(reference: &Reference) -> Result<Self> {
        reference.layout().map_or(Ok(()), |layout| layout.check_numeric("halfspace"))?;
        if reference.width() != 2 {
            let got = reference.width();
            return Err(DepthError::Settings(format!("depth regions need two columns, got {got}")));
        }
        let sample = PreparedSample::new(reference);
        let (points, scale) = (sample.planar_points(), [sample.scale()[0], sample.scale()[1]]);
        let (masses, point_of_row) = (sample.masses().to_vec(), sample.point_of_row().to_vec());
        let columns = [0, 1].map(|k| points.iter().map(|p| p[k]).collect::<Vec<f64>>());
        let mut regions = Self {
            total: masses.iter().sum(),
            columns,
            masses,
            scale,
            point_of_row,
            depths: Vec::new(),
            points,
        };
        let (mut sweep, mut exact) = (CircularSweep::default(), ExactPredicates::default());
        regions.depths = regions.points.iter().map(|p| regions.mass_at(*p, &mut sweep, &mut exact)).collect();
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
        // The least mass that has this depth; rounding must not require one point more.
        let share = depth * self.total as f64;
        let mass = whole_part((share * (1.0 - 4.0 * f64::EPSILON)).ceil().max(1.0));
        Ok(Contour { depth, vertices: self.unscaled(&self.region(mass)) })
    }

    /// The deepest point: the centroid of the deepest region.
    ///
    /// The region is the deepest with a point whose depth can be confirmed in floating-point coordinates.
    pub fn median(&self) -> Median {
        // Some point of the sample has depth `low`; no point has more than half of the mass, except for
        // points equal to it.
        let mut low = self.depths.iter().copied().max().unwrap_or(1).max(1);
        let mut high = self.total / 2 + self.masses.iter().copied().max().unwrap_or(0) + 1;
        let mut best = self.confirmed_region(low);
        while high - low > 1 {
            let middle = low.midpoint(high);
            match self.confirmed_region(middle) {
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

    /// The bag with half of the sample, the fence `factor` times as far from the median (3 in the original),
    /// and the outliers.
    ///
    /// # Errors
    /// `factor` is not at least 1.
    pub fn bagplot(&self, factor: f64) -> Result<Bagplot> {
        if !(factor >= 1.0 && factor.is_finite()) {
            return Err(DepthError::Setting { name: "factor", expected: "at least 1", got: factor });
        }
        let median = self.median();
        let centre = [median.point[0] * self.scale[0], median.point[1] * self.scale[1]];
        let mass_within = |mass: u64| {
            (0..self.masses.len()).filter(|&i| self.depths[i] >= mass).map(|i| self.masses[i]).sum::<u64>()
        };
        // The innermost region with more than half of the sample, and the next one.
        let (mut outer, mut inner) = (1, self.total / 2 + 2);
        while inner - outer > 1 {
            let middle = outer.midpoint(inner);
            if 2 * mass_within(middle) > self.total { outer = middle } else { inner = middle }
        }
        let (more, less) = (mass_within(outer) as f64, mass_within(inner) as f64);
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
            let (a, b) = (radius_at(&wide, centre, angle), radius_at(&narrow, centre, angle));
            share * a + (1.0 - share) * b
        };
        let bag: Vec<[f64; 2]> = angles.iter().map(|&a| at(a, radius(a))).collect();
        let fence: Vec<[f64; 2]> = angles.iter().map(|&a| at(a, factor * radius(a))).collect();
        // The fence is star-shaped about the median, but need not be convex.
        let within = |p: &[f64; 2]| {
            let (x, y) = (p[0] - centre[0], p[1] - centre[1]);
            x.hypot(y) <= factor * radius(y.atan2(x)) * (1.0 + 1e-12) + 1e-13
        };
        let inside: Vec<bool> = self.points.iter().map(within).collect();
        let outliers = (0..self.point_of_row.len())
            .filter(|&row| self.point_of_row[row].is_some_and(|i| !inside[i as usize]))
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
            depths: self.point_of_row.iter().map(depth).collect(),
        })
    }

    fn unscaled(&self, vertices: &[[f64; 2]]) -> Vec<[f64; 2]> {
        vertices.iter().map(|v| [v[0] / self.scale[0], v[1] / self.scale[1]]).collect()
    }

    /// The depth of a point as a mass, exactly.
    fn mass_at(&self, z: [f64; 2], sweep: &mut CircularSweep, exact: &mut ExactPredicates) -> u64 {
        let plane = PlanarPoints {
            columns: [&self.columns[0], &self.columns[1]],
            masses: &self.masses,
            column_ratio: 1.0,
        };
        let (bounds, at_query) = plane.minimum(z, sweep, exact);
        bounds.upper + at_query
    }

    /// The region of this mass with its centroid, if its depth is confirmed at a point.
    fn confirmed_region(&self, mass: u64) -> Option<([f64; 2], Vec<[f64; 2]>)> {
        let vertices = self.region(mass);
        let centre = centroid(&vertices)?;
        let (mut sweep, mut exact) = (CircularSweep::default(), ExactPredicates::default());
        let mut confirmed = |p: [f64; 2]| self.mass_at(p, &mut sweep, &mut exact) >= mass;
        if confirmed(centre) {
            return Some((centre, vertices));
        }
        if let Some(&corner) = vertices.iter().find(|v| confirmed(**v)) {
            return Some((corner, vertices));
        }
        let row = (0..self.points.len()).find(|&i| self.depths[i] >= mass)?;
        Some((self.points[row], vec![self.points[row]]))
    }

    /// The region of the points whose depth is at least this mass.
    fn region(&self, mass: u64) -> Vec<[f64; 2]> {
        let mut half_planes = self.half_planes(mass);
        // Sorted by angle, the tightest of each direction first.
        let spread = 1.0 + self.points.iter().fold(0.0f64, |m, p| m.max(p[0].abs()).max(p[1].abs()));
        let mut polygon = vec![[-spread, -spread], [spread, -spread], [spread, spread], [-spread, spread]];
        let key = |s: &HalfPlane| s.u[1].atan2(s.u[0]);
        half_planes.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.c.total_cmp(&b.c)));
        half_planes.dedup_by(|a, b| (key(a) - key(b)).abs() < 1e-15 && a.c >= b.c);
        let tolerance = ROUNDING * spread;
        for half_plane in &half_planes {
            polygon = clip(&polygon, half_plane, tolerance);
            if polygon.is_empty() {
                break;
            }
        }
        without_duplicates(polygon, tolerance)
    }

    /// The half planes of the lines through points with less than `mass` strictly outside, and `mass` or more
    /// with the points on the line.
    fn half_planes(&self, mass: u64) -> Vec<HalfPlane> {
        let n = self.points.len();
        let mut exact = ExactPredicates::default();
        let mut half_planes = self.axes(mass);
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
                let orientation = certain_orientation(y[a], y[b]).unwrap_or_else(|| {
                    let orientation = exact.orientation(self.points[a], self.points[b], z);
                    if flipped[a] == flipped[b] { orientation } else { orientation.reverse() }
                });
                orientation.reverse()
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
                // Every line once: at the first of its points.
                if group.iter().all(|&j| j > i) {
                    let f = y[group[0]];
                    let length = f[0].hypot(f[1]);
                    for (beyond, sign) in [(before - leaves, 1.0), (others - before - enters, -1.0)] {
                        if beyond < mass && beyond + on >= mass {
                            let u = [-sign * f[1] / length, sign * f[0] / length];
                            half_planes.push(HalfPlane { u, c: u[0] * z[0] + u[1] * z[1] });
                        }
                    }
                }
                before = before + enters - leaves;
                first = end;
            }
        }
        half_planes
    }

    /// Half planes along the axes, and along the line of a sample that lies on one.
    fn axes(&self, mass: u64) -> Vec<HalfPlane> {
        let n = self.points.len();
        let (a, b) = (self.points[0], self.points[n - 1]);
        let along = [b[0] - a[0], b[1] - a[1]];
        let length = along[0].hypot(along[1]).max(f64::MIN_POSITIVE);
        let mut half_planes = Vec::new();
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
                    half_planes.push(HalfPlane { u, c });
                } else {
                    // More than the total: the region is empty.
                    half_planes.push(HalfPlane { u, c: f64::NEG_INFINITY });
                }
            }
        }
        half_planes
    }
}
