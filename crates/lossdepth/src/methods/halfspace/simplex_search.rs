//! Many dimensions: directions for the upper bound, disjoint simplices for the lower bound.
//!
//! Directions come from descent along great circles ([`GreatCircleDescent`]) and from hyperplanes that
//! separate the query from all points but a few. If the query lies in the simplex of some points, every
//! closed halfspace at it contains one of them; so every simplex of a disjoint family adds the least mass of
//! its points to the lower bound (H8). [Wolfe's algorithm](super::wolfe) finds a separating hyperplane or a
//! simplex. If the bounds still differ and few points decide, a search tree follows: one point of a simplex
//! must be inside; branch on which.
//!
//! The mass of a direction is exact. A simplex is accepted only if it contains the query for all rounding
//! errors (H9).

use super::expansions::ExactPredicates;
use super::great_circle_descent::{GreatCircleDescent, UnitVectors, scale_to_unit};
use super::weighted_points::{MassBounds, WeightedPoints};
use super::wolfe::WolfeResult;
use super::work_budget::WorkBudget;
use crate::numerics::linalg::{axpy, dot};

/// The search ends after this many new starts without a better direction (heuristic).
const MAX_IDLE_STARTS: u32 = 16;

/// The search tree is at most so deep (heuristic: it grows exponentially with its depth).
const MAX_TREE_DEPTH: u64 = 13;

/// From the coordinates of the unit vectors to the columns of the points.
pub(super) enum CoordinateFrame<'a> {
    /// Any matrix, one row a coordinate.
    Full(&'a [f64]),
    /// A factor for every column.
    Diagonal(&'a [f64]),
}

impl CoordinateFrame<'_> {
    fn direction(&self, c: &[f64]) -> Vec<f64> {
        let mut u = match self {
            Self::Full(rows) => {
                let mut u = vec![0.0; c.len()];
                rows.chunks_exact(c.len()).zip(c).for_each(|(row, c)| axpy(*c, row, &mut u));
                u
            }
            Self::Diagonal(factors) => c.iter().zip(*factors).map(|(c, f)| c * f).collect(),
        };
        scale_to_unit(&mut u);
        u
    }
}

/// Bounds on the least mass, as close as the budget allows.
///
/// `vectors` are the differences in the coordinates of `frame`, not yet scaled to unit length; `error` bounds
/// the error of each.
pub(super) fn solve(
    points: &WeightedPoints,
    mut vectors: UnitVectors,
    error: &[f64],
    frame: &CoordinateFrame<'_>,
    mass_tol: u64,
    work: &mut WorkBudget<'_>,
) -> MassBounds {
    let error = to_unit_length(&mut vectors, error);
    let mut search = SimplexSearch {
        points,
        vectors,
        error,
        frame,
        exact: ExactPredicates::default(),
        upper: u64::MAX,
        direction: Vec::new(),
        products: Vec::new(),
    };
    let lower = search.run(mass_tol, work);
    MassBounds { lower: lower.min(search.upper), upper: search.upper, direction: search.direction }
}

fn to_unit_length(vectors: &mut UnitVectors, error: &[f64]) -> Vec<f64> {
    let n = vectors.len;
    let mut lengths = vec![0.0; n];
    for column in vectors.columns.chunks_exact(n.max(1)) {
        lengths.iter_mut().zip(column).for_each(|(l, v)| *l += v * v);
    }
    for l in &mut lengths {
        *l = if *l > 0.0 { l.sqrt() } else { 1.0 };
    }
    for column in vectors.columns.chunks_exact_mut(n.max(1)) {
        column.iter_mut().zip(&lengths).for_each(|(v, l)| *v /= l);
    }
    error.iter().zip(&lengths).map(|(b, l)| b / l + 2.0 * f64::EPSILON).collect()
}

pub(super) struct SimplexSearch<'a> {
    points: &'a WeightedPoints,
    pub(super) vectors: UnitVectors,
    /// A bound on the error of each coordinate of a unit vector, for every point.
    pub(super) error: Vec<f64>,
    frame: &'a CoordinateFrame<'a>,
    exact: ExactPredicates,
    upper: u64,
    direction: Vec<f64>,
    pub(super) products: Vec<f64>,
}

impl SimplexSearch<'_> {
    fn run(&mut self, mass_tol: u64, work: &mut WorkBudget<'_>) -> u64 {
        let (n, d) = (self.vectors.len, self.vectors.dim);
        let masses = &self.points.masses;
        let real_masses: Vec<f64> = masses.iter().map(|m| *m as f64).collect();
        let mean: Vec<f64> =
            (0..d).map(|j| -dot(&real_masses, &self.vectors.columns[j * n..(j + 1) * n])).collect();
        let mut descent = GreatCircleDescent::default();
        let mut best = descent.descend(&self.vectors, masses, mean, 6, &mut work.spent, work.budget);
        self.evaluate(&best.u, work);
        if self.upper <= mass_tol {
            return 0;
        }
        // A quarter of the budget for simplices (heuristic).
        let full_limit = work.budget;
        work.budget = work.spent + (full_limit - work.spent.min(full_limit)) / 4;
        let available: Vec<u64> = masses.clone();
        let (mut lower, _) = self.pack_simplices(available.clone(), 0, u64::MAX, mass_tol, work);
        work.budget = full_limit;
        // Where few points decide, the tree may close the interval, with half of the budget; else the work is
        // for better directions (heuristic).
        if self.upper > lower.saturating_add(mass_tol) && self.is_tree_worthwhile(lower) {
            work.budget = work.spent + (full_limit - work.spent.min(full_limit)) / 2;
            if self.branch(&available, &mut vec![false; n], 0, mass_tol, work) {
                lower = lower.max(self.upper.saturating_sub(mass_tol));
            }
            work.budget = full_limit;
        }
        let mut seed = 0x9e37_79b9_7f4a_7c15u64;
        let mut idle_starts = 0;
        while idle_starts < MAX_IDLE_STARTS
            && self.upper > lower.saturating_add(mass_tol)
            && work.spent < work.budget
            && !(work.cancelled)()
        {
            // From the best direction, perturbed; about every fourth time by so much that the start is
            // random.
            let restart = (seed >> 40).is_multiple_of(4);
            let perturbation = if restart { 1e3 } else { 1.0 / (d as f64).sqrt() };
            let start: Vec<f64> =
                best.u.iter().map(|u| u + perturbation * pseudo_random(&mut seed)).collect();
            let next =
                descent.descend(&self.vectors, &self.points.masses, start, 3, &mut work.spent, work.budget);
            idle_starts += 1;
            if next.mass < best.mass {
                self.evaluate(&next.u, work);
                (best, idle_starts) = (next, 0);
            }
        }
        lower
    }

    /// Whether so few points decide that a tree is worthwhile (heuristic, cost only).
    fn is_tree_worthwhile(&self, lower: u64) -> bool {
        let least = self.points.masses.iter().copied().min().unwrap_or(1).max(1);
        (self.upper - lower) / least <= 4 && self.upper / least < MAX_TREE_DEPTH
    }

    /// Counts the masses of a direction and its opposite exactly, and updates the best direction.
    fn evaluate(&mut self, c: &[f64], work: &mut WorkBudget<'_>) {
        let u = self.frame.direction(c);
        if !u.iter().all(|u| u.is_finite()) {
            return;
        }
        let sides = self.points.side_masses(&u, &mut self.exact);
        work.spent += (2 * self.points.len() * self.points.dim) as u64;
        for (mass, sign) in [(sides.closed(), 1.0), (sides.opposite(), -1.0)] {
            if mass < self.upper || self.direction.is_empty() {
                self.upper = mass;
                self.direction = u.iter().map(|v| sign * v).collect();
            }
        }
    }

    /// Packs disjoint simplices into the masses left, until they and the mass `counted` reach the best upper
    /// bound. Returns the lower bound, and the first simplex.
    fn pack_simplices(
        &mut self,
        mut left: Vec<u64>,
        counted: u64,
        max_mass: u64,
        mass_tol: u64,
        work: &mut WorkBudget<'_>,
    ) -> (u64, Option<Vec<usize>>) {
        let (mut proven, mut first) = (counted, None);
        while proven.saturating_add(mass_tol) < self.upper.min(max_mass) {
            match self.nearest(&left, work) {
                WolfeResult::Separated(u) => {
                    self.evaluate(&u, work);
                    break;
                }
                WolfeResult::Simplex(points) => {
                    let least = points.iter().map(|&i| left[i]).min().unwrap_or(0);
                    for &i in &points {
                        left[i] -= least;
                    }
                    proven += least;
                    first = first.or(Some(points));
                }
                WolfeResult::Unknown => break,
            }
        }
        (proven, first)
    }

    /// Whether no direction has less than the best known, given that the mass `counted` is inside and the
    /// points marked `out` are outside.
    ///
    /// Every call counts a point of positive mass, and ends where `counted` reaches the upper bound: by
    /// [`is_tree_worthwhile`](Self::is_tree_worthwhile) that takes at most [`MAX_TREE_DEPTH`] calls within each other,
    /// whatever the budget.
    fn branch(
        &mut self,
        left: &[u64],
        out: &mut [bool],
        counted: u64,
        mass_tol: u64,
        work: &mut WorkBudget<'_>,
    ) -> bool {
        if counted.saturating_add(mass_tol) >= self.upper {
            return true;
        }
        let (proven, simplex) = self.pack_simplices(left.to_vec(), counted, u64::MAX, mass_tol, work);
        if proven.saturating_add(mass_tol) >= self.upper {
            return true;
        }
        let Some(simplex) = simplex else {
            // Separated: the direction was evaluated, and has at most the mass counted.
            return self.upper <= counted.saturating_add(mass_tol);
        };
        let mut done = Vec::new();
        let mut complete = true;
        for &i in &simplex {
            if out[i] {
                continue;
            }
            if work.spent >= work.budget || (work.cancelled)() {
                complete = false;
                break;
            }
            let mut rest = left.to_vec();
            let mass = std::mem::take(&mut rest[i]);
            if !self.branch(&rest, out, counted + mass, mass_tol, work) {
                complete = false;
                break;
            }
            out[i] = true;
            done.push(i);
        }
        for &i in &done {
            out[i] = false;
        }
        complete
    }
}

/// A pseudo-random number between -1 and 1.
fn pseudo_random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}
