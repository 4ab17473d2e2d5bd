//! The simplicial depth.

use super::half_turn::{CountedPlane, HalfTurn};
use super::piecewise_linear::HingeProgram;
use super::sampled_simplices::{Corners, contains_origin};
use super::sphere_counts::{Choose, OpenSubsets, in_plane, on_line, planar_rays};
use super::tetrahedra::{Surroundings, open_subsets};
use super::{Answer, Asked, Notion, Why, hypothesis};
use crate::data::{Mass, Reference};
use crate::error::Result;
use crate::methods::halfspace::circular_sweep::certain_orientation;
use crate::methods::halfspace::expansions::ExactPredicates;
use crate::methods::halfspace::modular_rank::ExactSpan;
use crate::methods::halfspace::sample::integer_masses;
use crate::methods::setters::{at_least_one, at_most_ten_million, setters};
use crate::numerics::random::Random;
use std::sync::OnceLock;

/// The simplicial depth of Liu (N12): the share of the closed simplices with corners in the sample that contain the query.
///
/// A simplex has $d + 1$ corners in $d$ columns, different observations of the sample; a row of weight $k$ is $k$ observations.
/// Weights that are not whole numbers are shares of a distribution, from which corners are drawn independently. Degenerate
/// simplices count by the same rule: they contain what is in the convex hull of their corners. A sample of fewer than $d + 1$
/// observations has one simplex, with all of them as corners.
///
/// Where the sample has rank 1, 2, or 3 in three columns, the simplices are counted with exact signs, in $O(\log n)$, $O(n \log n)$ and
/// $O(n^2 \log n)$ operations a query. Otherwise `samples` random simplices give an unbiased estimate; `error` then holds with a
/// probability of $1 - 10^{-9}$ over the random numbers (Hoeffding).
///
/// `stderr` is the first order of a U-statistic; from three dimensions on it is estimated from random simplices. It is not
/// a number where few rows decide.
///
/// ```
/// use lossdepth::{Depth, Reference, methods::classical::Simplicial};
/// let sample = Reference::new(&[[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 3.0]])?;
/// let fits = Depth::new(Simplicial::new()).fit(&sample)?.score(&[[1.0, 0.5], [0.0, 0.0], [4.0, 0.0]])?;
/// assert_eq!([fits[0].depth, fits[1].depth, fits[2].depth], [0.5, 0.75, 0.0]);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simplicial {
    samples: usize,
    seed: u64,
    tol: f64,
}

impl Default for Simplicial {
    fn default() -> Self {
        Self { samples: Self::SAMPLES, seed: 0, tol: Self::TOL }
    }
}

impl Simplicial {
    pub(crate) const SAMPLES: usize = 20_000;
    pub(crate) const TOL: f64 = 0.05;

    /// Twenty thousand random simplices where they cannot all be counted, and a tolerance of 0.05.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How many random simplices to draw for a query, where they are not counted.
        samples: usize => samples;
        /// The seed of the random simplices.
        seed: u64 => seed;
        /// The largest error bound to accept.
        tol: f64 => tol;
    }
}

/// Pairs of random simplices for the standard error in three dimensions.
const PAIRS: usize = 1000;
/// How rarely the error of an estimate may be exceeded.
const RARELY: f64 = 1e-9;

/// What all queries of a simplicial depth share.
#[derive(Debug, Clone)]
pub struct PreparedSimplicial {
    span: ExactSpan,
    columns: Vec<usize>,
    /// Powers of two that scale the columns to about 1.
    scale: Vec<f64>,
    /// Different rows in the columns of full rank, scaled.
    points: Vec<f64>,
    /// Observations or shares.
    masses: Vec<f64>,
    /// For triangles of few enough observations.
    plane: Option<CountedPlane>,
    cumulative: Vec<u64>,
    total: f64,
    choose: Choose,
    /// The number of corners of a simplex.
    corners: usize,
    place: Vec<Option<usize>>,
    /// The sum of squared shares of the observations: what a variance is divided by.
    concentration: f64,
    mean: Vec<f64>,
    at_mean: OnceLock<f64>,
}

/// Subsets that do not contain the query, by point.
struct Counted {
    /// The share of all subsets.
    depth: f64,
    error: f64,
    /// For every point, the share of the simplices with it as a corner that contain the query.
    with_point: Option<Vec<f64>>,
}

impl PreparedSimplicial {
    fn new(sample: &Reference) -> Self {
        let (merged, place) = sample.merged();
        let (rows, width) = (merged.rows(), merged.width());
        let (units, whole, _) = integer_masses(&merged);
        let counts = matches!(merged.mass(), Mass::Counts(_));
        let most = usize::try_from(whole).unwrap_or(usize::MAX);
        let corners = if counts { (width + 1).min(most) } else { width + 1 };
        let span = ExactSpan::new(rows.iter().skip(1), rows.row(0));
        let columns = span.columns();
        let scale: Vec<f64> = columns
            .iter()
            .map(|&k| rows.iter().fold(0.0f64, |m, x| m.max(x[k].abs())))
            .map(|largest| largest.log2().floor().max(-1000.0).exp2().recip())
            .collect();
        let points: Vec<f64> = rows
            .iter()
            .flat_map(|x| columns.iter().zip(&scale).map(|(&k, s)| x[k] * s + 0.0).collect::<Vec<_>>())
            .collect();
        let total = if counts { whole as f64 } else { 1.0 };
        let mass = |u: &u64| if counts { *u as f64 } else { *u as f64 / whole as f64 };
        let masses: Vec<f64> = units.iter().map(mass).collect();
        let triangles = counts && columns.len() == 2 && corners == 3;
        let plane = if triangles { CountedPlane::new(&points, &masses) } else { None };
        let mut sum = 0;
        let cumulative = units
            .iter()
            .map(|u| {
                sum += u;
                sum
            })
            .collect();
        let concentration = match merged.mass() {
            Mass::Counts(n) | Mass::Effective(n) => 1.0 / n,
            Mass::Importance => merged.weights().iter().map(|w| w * w).sum(),
        };
        Self {
            span,
            columns,
            scale,
            points,
            masses,
            plane,
            cumulative,
            total,
            choose: Choose { counts },
            corners,
            place,
            concentration,
            mean: merged.mean(),
            at_mean: OnceLock::new(),
        }
    }

    fn len(&self) -> usize {
        self.masses.len()
    }

    fn rank(&self) -> usize {
        self.columns.len()
    }

    fn is_counted(&self) -> bool {
        self.rank() <= 2 || self.rank() == 3 && self.corners == 4
    }

    /// Counts the simplices that contain a query in the span; `with_point` is for all but [`Asked::Depth`].
    fn count(&self, z: &[f64], asked: Asked, half_turn: &mut HalfTurn) -> Counted {
        let (k, choose, n) = (self.corners, self.choose, self.len());
        let all = choose.of(self.total, k);
        // Whole numbers below 2^53 are exact.
        let exact = choose.counts && self.total.powi(i32::try_from(k).unwrap_or(i32::MAX)) < 9e15;
        let terms = if self.rank() == 3 { (n * n) as f64 } else { n as f64 };
        let error = f64::EPSILON * if exact { 4.0 } else { 64.0 * terms * k as f64 };
        if let (Asked::Depth, Some(plane), &[x, y]) = (asked, &self.plane, z)
            && let Some(open) = plane.open_triples([x, y], half_turn)
        {
            return Counted { depth: 1.0 - open / all, error, with_point: None };
        }
        let shares = |open: &OpenSubsets, group: &[Option<usize>]| {
            let with = choose.of(choose.less(self.total), k - 1);
            group.iter().map(|g| g.map_or(1.0, |g| 1.0 - open.with_group[g] / with)).collect()
        };
        let (open, with_point) = match self.rank() {
            0 => (0.0, Some(vec![1.0; n])),
            1 => {
                let side = |x: &f64| match x.total_cmp(&z[0]) {
                    std::cmp::Ordering::Less => Some(0),
                    std::cmp::Ordering::Equal => None,
                    std::cmp::Ordering::Greater => Some(1),
                };
                let sides: Vec<Option<usize>> = self.points.iter().map(side).collect();
                let mut masses = [0.0; 2];
                for (side, m) in sides.iter().zip(&self.masses) {
                    if let Some(side) = side {
                        masses[*side] += m;
                    }
                }
                let open = on_line(masses, k, choose);
                (open.number, Some(shares(&open, &sides)))
            }
            2 => {
                let points: Vec<[f64; 2]> = self.points.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
                let (z, mut exact) = ([z[0], z[1]], ExactPredicates::default());
                let rays = planar_rays(&points, z, &mut exact);
                let mut masses = vec![0.0; rays.first.len()];
                for (ray, m) in rays.ray_of_point.iter().zip(&self.masses) {
                    if let Some(ray) = ray {
                        masses[*ray] += m;
                    }
                }
                let open = in_plane(&masses, k, choose, |i, j| {
                    let (a, b) = (points[rays.first[i]], points[rays.first[j]]);
                    let apart = |p: [f64; 2]| [p[0] - z[0], p[1] - z[1]];
                    certain_orientation(apart(a), apart(b))
                        .unwrap_or_else(|| exact.orientation(a, b, z))
                        .is_gt()
                });
                (open.number, Some(shares(&open, &rays.ray_of_point)))
            }
            _ => {
                let z = [z[0], z[1], z[2]];
                let all = self.points.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).zip(&self.masses);
                let (points, masses): (Vec<[f64; 3]>, Vec<f64>) = all.filter(|(p, _)| *p != z).unzip();
                let around = Surroundings { points: &points, masses: &masses, z, choose };
                (open_subsets(&around), None)
            }
        };
        Counted { depth: 1.0 - open / all, error, with_point }
    }

    /// Draws pairs of simplices with one corner in common: the share that contains the query, the share where rounding could
    /// decide, and the covariance of a pair.
    fn sample(&self, z: &[f64], pairs: usize, seed: u64) -> (f64, f64, f64) {
        let (r, k) = (self.rank(), self.corners);
        let corners = Corners { cumulative: &self.cumulative, counts: self.choose.counts };
        let mut random = Random::of_purpose(seed, 0x51, 0);
        let mut drawn = Vec::new();
        let (mut sum, mut doubtful, mut both) = (0.0, 0.0, 0.0);
        let mut program = HingeProgram::default();
        let mut vectors = vec![vec![0.0; r]; k];
        for _ in 0..pairs {
            let mut inside = [0.0; 2];
            for (at, share) in inside.iter_mut().enumerate() {
                corners.draw(&mut random, k, at, &mut drawn);
                for (v, o) in vectors.iter_mut().zip(&drawn) {
                    let point = &self.points[corners.point(*o) * r..][..r];
                    v.iter_mut().zip(point.iter().zip(z)).for_each(|(v, (x, z))| *v = x - z);
                }
                let found = if k == r + 1 {
                    contains_origin(&mut vectors, r)
                } else {
                    in_hull(&vectors, &mut program)
                };
                doubtful += f64::from(u8::from(found.is_none()));
                *share = found.map_or(0.5, |inside| f64::from(u8::from(inside)));
            }
            sum += inside[0] + inside[1];
            both += inside[0] * inside[1];
        }
        let (pairs, draws) = (pairs as f64, 2.0 * pairs as f64);
        let mean = sum / draws;
        (mean, doubtful / draws, both / pairs - mean * mean)
    }
}

/// Whether the origin is in the convex hull of vectors; `None` if rounding could decide.
fn in_hull(vectors: &[Vec<f64>], program: &mut HingeProgram) -> Option<bool> {
    let (k, r) = (vectors.len(), vectors[0].len());
    program.columns = (0..r * k).map(|at| vectors[at % k][at / k]).collect();
    let found = program.minimise(&vec![1.0 / k as f64; k], r);
    match found.lower {
        l if l > 1e-9 => Some(true),
        _ if program.values().iter().all(|v| *v > 1e-9) => Some(false),
        _ => None,
    }
}

impl Notion for Simplicial {
    const NAME: &'static str = "simplicial";
    type Prepared = PreparedSimplicial;
    type Scratch = HalfTurn;

    fn tol(&self) -> f64 {
        self.tol
    }

    fn prepare_sample(&self, sample: &Reference) -> Result<PreparedSimplicial> {
        at_least_one("samples", self.samples)?;
        at_most_ten_million("samples", self.samples)?;
        Ok(PreparedSimplicial::new(sample))
    }

    fn answer(
        &self,
        prepared: &PreparedSimplicial,
        query: &[f64],
        asked: Asked,
        scratch: &mut HalfTurn,
    ) -> Answer {
        let mut answer = self.depth(prepared, query, asked, scratch);
        if let Why::Smooth { at_mean, .. } = &mut answer.why {
            *at_mean = *prepared
                .at_mean
                .get_or_init(|| self.depth(prepared, &prepared.mean, Asked::Depth, scratch).depth);
        }
        answer
    }
}

impl Simplicial {
    fn depth(
        &self,
        prepared: &PreparedSimplicial,
        query: &[f64],
        asked: Asked,
        scratch: &mut HalfTurn,
    ) -> Answer {
        let outside = prepared.span.outside(query).is_some();
        // Far outside is outside: no product leaves the range of the numbers.
        let scaled = |(&k, s): (&usize, &f64)| (query[k] * s).clamp(-1e100, 1e100) + 0.0;
        let z: Vec<f64> = prepared.columns.iter().zip(&prepared.scale).map(scaled).collect();
        let (k, mut answer) = (prepared.corners as f64, Answer::default());
        let mut influence = None;
        if outside {
            influence = Some(vec![0.0; prepared.len()]);
        } else if prepared.is_counted() {
            let counted = prepared.count(&z, asked, scratch);
            (answer.depth, answer.error) = (counted.depth, counted.error);
            if let Some(shares) = counted.with_point {
                let by_point: Vec<f64> = shares.iter().map(|share| k * (share - counted.depth)).collect();
                let square = |(y, m): (&f64, &f64)| {
                    let share = if prepared.choose.counts { 1.0 } else { m / prepared.concentration };
                    m * y * y * share
                };
                let squares: f64 = by_point.iter().zip(&prepared.masses).map(square).sum();
                let share = if prepared.choose.counts { prepared.total } else { 1.0 };
                answer.stderr = (squares / share * prepared.concentration).sqrt();
                influence = Some(by_point);
            } else if asked.standard_error() {
                let (.., covariance) = prepared.sample(&z, PAIRS, self.seed);
                answer.stderr = k * (covariance.max(0.0) * prepared.concentration).sqrt();
            }
        } else {
            let pairs = self.samples.div_ceil(2);
            let (mean, doubtful, covariance) = prepared.sample(&z, pairs, self.seed);
            answer.depth = mean;
            answer.error = ((2.0 / RARELY).ln() / (2.0 * pairs as f64)).sqrt() + 0.5 * doubtful;
            answer.stderr = k * (covariance.max(0.0) * prepared.concentration).sqrt();
            answer.work = 2 * pairs;
        }
        if asked.standard_error() && !outside {
            answer.withhold_stderr_of_few_rows();
        }
        if asked.explanation() {
            let by_row = |y: Vec<f64>| prepared.place.iter().map(|p| p.map_or(0.0, |i| y[i])).collect();
            answer.why = Why::Smooth { gradient: None, influence: influence.map(by_row), at_mean: 0.0 };
        }
        answer
    }
}

hypothesis!(Simplicial, PreparedSimplicial);
