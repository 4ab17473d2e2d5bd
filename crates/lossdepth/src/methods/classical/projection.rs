//! The projection depth.

use super::cloud::{Cloud, Distances};
use super::direction_cells::DirectionCells;
use super::frame::Scatter;
use super::planar_breakpoints::{BEYOND, Medians, Projected, breakpoints};
use super::{Answer, Asked, Notion, Why, hypothesis};
use crate::data::Reference;
use crate::error::Result;
use crate::methods::halfspace::sample::integer_masses;
use crate::methods::setters::{at_least_one, at_most_ten_million, setters};
use crate::numerics::linalg::dot;
use crate::numerics::random::Random;

/// The projection depth (N10): $1 / (1 + O)$ with the outlyingness of Stahel and Donoho
///
/// $$ O(z) = \sup_u \frac{|\langle u, z \rangle - \operatorname{med} \langle u, x_i \rangle|}{\operatorname{MAD} \langle u, x_i \rangle}. $$
///
/// The median of an even number of numbers is the mean of the two in the middle, and MAD the median distance from it. A direction
/// with MAD 0 makes everything off its median infinitely outlying: depth 0.
///
/// For a sample of rank 1 or 2 the supremum is exact up to rounding: in the plane all directions at which it can be attained are found
/// once. In more dimensions it is searched among [`num_directions`](Self::num_directions) random ones and in the neighbourhood of the best: the
/// depth is attained by a direction, so the true one is not larger. In three dimensions $5 \cdot$ `num_directions` cells that cover
/// all directions bound it from below, the better the more there are, and `error` is the distance of the bounds; in more dimensions
/// that would take too many cells: nothing is proven of the other end, and `error` is the depth itself.
///
/// `explain` shows $f(x) = -(\langle u, x \rangle - \operatorname{med}) / \operatorname{MAD}$ for the direction found, signed so that $f(z) = -O$. `stderr`
/// is a heuristic: that of median and MAD in this direction, as if they were independent.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::classical::Projection};
/// let sample = Reference::new(&[[0.0], [1.0], [2.0], [3.0], [9.0]])?;
/// let fits = Depth::new(Projection::new()).fit(&sample)?.score(&[[2.0], [5.0]])?;
/// assert_eq!((fits[0].depth, fits[1].depth), (1.0, 0.25));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projection {
    num_directions: usize,
    seed: u64,
    tol: f64,
}

impl Default for Projection {
    fn default() -> Self {
        Self { num_directions: Self::DIRECTIONS, seed: 0, tol: Self::TOL }
    }
}

impl Projection {
    pub(crate) const DIRECTIONS: usize = 1000;
    pub(crate) const TOL: f64 = 1.0;

    /// A thousand directions in more than two dimensions; any interval is accepted.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How many random directions all queries share, in more than two dimensions.
        num_directions: usize => num_directions;
        /// The seed of the random directions.
        seed: u64 => seed;
        /// The widest interval to accept.
        tol: f64 => tol;
    }
}

/// What all queries of a projection depth share.
#[derive(Debug, Clone)]
pub struct PreparedProjection {
    cloud: Cloud,
    columns: Vec<f64>,
    masses: Vec<u64>,
    total: u64,
    directions: Vec<Projected>,
    /// Whether the supremum is attained at one of the directions.
    complete: bool,
    /// What bounds the supremum where it is not, in few enough dimensions.
    cells: Option<DirectionCells>,
    /// The largest distance of a point from the mean.
    radius: f64,
}

/// How many of the shared directions local searches start from (heuristic).
const STARTS: usize = 4;

/// Cells for each of the shared directions, and the largest dimension in which they say something (heuristics).
const CELLS: usize = 5;
const COVERED: usize = 3;

/// Below this share of the spread of a sample of unit variance a deviation is 0 up to rounding.
const NO_DEVIATION: f64 = 1e-13;

/// A direction and how outlying it makes the query.
#[derive(Debug, Clone, Default)]
struct Best {
    u: Vec<f64>,
    median: f64,
    deviation: f64,
    outlyingness: f64,
}

impl PreparedProjection {
    fn outlyingness(&self, along: f64, median: f64, deviation: f64) -> f64 {
        let apart = (along - median).abs();
        let rounding = NO_DEVIATION * (1.0 + self.radius);
        if deviation > rounding {
            apart / deviation
        } else if apart > rounding {
            f64::INFINITY
        } else {
            0.0
        }
    }

    fn best(&self, at: &[f64]) -> Best {
        let mut best = Best { u: vec![0.0; at.len()], median: 0.0, deviation: 1.0, outlyingness: 0.0 };
        let mut chosen = None;
        for (k, d) in self.directions.iter().enumerate() {
            let outlyingness = self.outlyingness(dot(&d.u, at), d.median, d.deviation);
            if chosen.is_none() || outlyingness > best.outlyingness {
                best.outlyingness = outlyingness;
                chosen = Some(k);
            }
        }
        if let Some(d) = chosen.map(|k| &self.directions[k]) {
            (best.u, best.median, best.deviation) = (d.u.clone(), d.median, d.deviation);
        }
        best
    }

    /// Where local searches start: the best few of the shared directions, and the direction of the query.
    fn starts(&self, at: &[f64]) -> Vec<Vec<f64>> {
        let value = |d: &Projected| self.outlyingness(dot(&d.u, at), d.median, d.deviation);
        let mut order: Vec<(f64, usize)> =
            self.directions.iter().enumerate().map(|(k, d)| (value(d), k)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let best = order.iter().take(STARTS).map(|(_, k)| self.directions[*k].u.clone());
        best.chain([at.to_vec()]).collect()
    }

    /// Tries a direction, and keeps it if it is better.
    fn attempt(&self, best: &mut Best, mut u: Vec<f64>, at: &[f64], medians: &mut Medians) -> bool {
        let length = dot(&u, &u).sqrt();
        if !(length > 0.0 && length.is_finite()) {
            return false;
        }
        for u in &mut u {
            *u /= length;
        }
        let (median, deviation) = medians.project(&self.columns, &self.masses, self.total, &u);
        let outlyingness = self.outlyingness(dot(&u, at), median, deviation);
        let better = outlyingness > best.outlyingness;
        if better {
            *best = Best { u, median, deviation, outlyingness };
        }
        better
    }
}

impl Notion for Projection {
    const NAME: &'static str = "projection";
    type Prepared = PreparedProjection;
    type Scratch = (Distances, Medians);

    fn tol(&self) -> f64 {
        self.tol
    }

    fn prepare_sample(&self, sample: &Reference) -> Result<PreparedProjection> {
        at_least_one("num_directions", self.num_directions)?;
        at_most_ten_million("num_directions", self.num_directions)?;
        let cloud = Cloud::new(sample, Scatter::Moment, 0.75)?;
        let (masses, total, _) = integer_masses(&sample.merged().0);
        let (n, r) = (cloud.len(), cloud.frame.rank());
        let columns: Vec<f64> = (0..r).flat_map(|j| cloud.column(j).iter().copied()).collect();
        let square = |i: usize| (0..r).map(|j| columns[j * n + i] * columns[j * n + i]).sum::<f64>();
        let radius = (0..n).map(square).fold(0.0, f64::max).sqrt();
        let mut medians = Medians::default();
        let mut projected = |u: Vec<f64>| {
            let (median, deviation) = medians.project(&columns, &masses, total, &u);
            Projected { u, median, deviation }
        };
        let mut random = Random::of_purpose(self.seed, 0x70, 0);
        let mut drawn = |_| {
            let u: Vec<f64> = (0..r).map(|_| random.normal()).collect();
            let length = dot(&u, &u).sqrt();
            projected(u.iter().map(|u| u / length).collect())
        };
        let in_plane = if r == 2 { breakpoints(&columns, &masses) } else { None };
        let complete = r < 2 || in_plane.is_some();
        let directions = match (r, in_plane) {
            (0, _) => Vec::new(),
            (1, _) => vec![projected(vec![1.0])],
            (_, Some(directions)) => directions,
            _ => (0..self.num_directions).map(&mut drawn).collect(),
        };
        let covered = !complete && r <= COVERED;
        let cells = covered
            .then(|| DirectionCells::new(&columns, &masses, r, CELLS.saturating_mul(self.num_directions)));
        Ok(PreparedProjection { cloud, columns, masses, total, directions, complete, cells, radius })
    }

    fn answer(
        &self,
        prepared: &PreparedProjection,
        query: &[f64],
        asked: Asked,
        (distances, medians): &mut Self::Scratch,
    ) -> Answer {
        let PreparedProjection { cloud, complete, radius, .. } = prepared;
        let frame = &cloud.frame;
        if frame.is_outside(query) {
            let influence = None;
            return Answer {
                why: Why::Smooth { gradient: None, influence, at_mean: 1.0 },
                ..Answer::default()
            };
        }
        let r = frame.rank();
        distances.at.resize(r, 0.0);
        let noise = frame.apply(query, &mut distances.at);
        let at = &distances.at;
        let mut best = prepared.best(at);
        let mut work = prepared.directions.len();
        if !complete {
            let mut random = Random::of_purpose(self.seed, 0x71, 0);
            let attempts = 40 + self.num_directions / 20;
            for start in prepared.starts(at) {
                let mut local = Best { outlyingness: -1.0, ..Best::default() };
                prepared.attempt(&mut local, start, at, medians);
                let mut step = 0.5;
                for _ in 0..attempts {
                    let u = local.u.iter().map(|u| u + step * random.normal() / (r as f64).sqrt()).collect();
                    // Longer steps after success, shorter ones after failure (heuristic).
                    step *= if prepared.attempt(&mut local, u, at, medians) { 1.5 } else { 0.92 };
                    step = f64::max(step, 1e-4);
                }
                work += attempts;
                if local.outlyingness > best.outlyingness {
                    best = local;
                }
            }
        }
        let depth = 1.0 / (1.0 + best.outlyingness);
        let size = dot(at, at).sqrt() + radius;
        let off = (noise + (BEYOND + 16.0 * f64::EPSILON * (r as f64 + 2.0)) * size) / best.deviation
            * (1.0 + best.outlyingness);
        let error = match best.outlyingness {
            _ if frame.is_singular() => 1.0,
            o if o.is_infinite() => 0.0,
            _ if !complete => prepared.cells.as_ref().map_or(depth, |cells| {
                // A direction of a cell has coordinates of up to 1.
                let rounding = (r as f64).sqrt() * (noise + 16.0 * f64::EPSILON * (r as f64 + 2.0) * size);
                depth - 1.0 / (1.0 + cells.outlyingness(at, rounding))
                    + off * depth * depth
                    + 4.0 * f64::EPSILON
            }),
            _ if r == 0 => 0.0,
            _ => off * depth * depth + 4.0 * f64::EPSILON,
        };
        let mut answer = Answer { depth, error, work, ..Answer::default() };
        if asked.standard_error() && r > 0 && best.outlyingness.is_finite() {
            let observations = cloud.observations();
            let (centre, spread) = medians.spread(&prepared.columns, &prepared.masses, observations, &best.u);
            let squares = centre * centre + best.outlyingness * best.outlyingness * spread * spread;
            answer.stderr =
                if best.deviation > 0.0 { depth * depth * squares.sqrt() / best.deviation } else { 0.0 };
        }
        if asked.explanation() {
            let unit = if best.deviation > 0.0 { best.deviation } else { 1.0 };
            let side = if dot(&best.u, at) >= best.median { 1.0 } else { -1.0 };
            let scaled: Vec<f64> = best.u.iter().map(|u| -side * u / unit).collect();
            let weights = frame.pull_back(&scaled);
            let centre: f64 = weights.iter().zip(&frame.center()).map(|(w, m)| w * m).sum();
            let intercept = side * best.median / unit - centre;
            answer.why = Why::Linear { weights, intercept, influence: None };
        }
        answer
    }
}

hypothesis!(Projection, PreparedProjection);
