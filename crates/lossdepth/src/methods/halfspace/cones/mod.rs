//! Branch and bound over cones of directions, for three to six dimensions.
//!
//! The sphere of directions is divided into simplicial cones. A point whose inner products with all corners
//! of a cone have one sign lies on one side of *every* direction inside it; the mass of the points that are
//! certainly inside is a lower bound for the whole cone (H5), and every corner gives an upper bound. A cone
//! whose lower bound is below the best upper bound is bisected at the midpoint of its longest edge. Only its
//! undecided points are evaluated again, one inner product each, and their number shrinks with the cone. A
//! cone and its opposite have the same undecided points and are treated as one.
//!
//! Corners are sums of earlier corners, formed without rounding, so the cones cover the sphere; the signs at
//! the corners are exact. Where many hyperplanes meet in one ray (ties, grids, collinear points) no bisection
//! separates them; there the undecided points span a space of lower dimension, and their own least mass,
//! computed by the same method in that dimension, is added to the bound.

mod degenerate;
mod geometry;
mod packing_bound;

use self::degenerate::DegenerateBound;
pub(super) use self::geometry::generic_rotation;
use self::geometry::{exact_midpoint, longest_edge};
use super::expansions::ExactPredicates;
use super::farkas_packing::FarkasPacking;
use super::great_circle_descent::{DirectionMass, GreatCircleDescent, UnitVectors, scale_to_unit};
use super::weighted_points::{MassBounds, SideMasses, WeightedPoints};
use super::work_budget::WorkBudget;
use std::cmp::Ordering;
use std::collections::HashMap;

/// An undecided point of a cone: bitmasks of the corners where it is inside (`above`) and outside (`below`).
#[derive(Debug, Clone, Copy)]
struct Undecided {
    point: u32,
    above: u8,
    below: u8,
}

/// A cone on the stack; its undecided points are the arena's from `first` on.
#[derive(Debug, Clone)]
struct SimplicialCone<const D: usize> {
    corners: [[f64; D]; D],
    first: usize,
    inside: u64,
    outside: u64,
    /// Bisections since a point was last decided.
    idle_cuts: usize,
}

/// The largest dimension that cones are used in (heuristic: their number grows exponentially).
pub(super) const MAX_CONE_DIMENSION: usize = 6;

/// Bounds on the least mass of a closed halfspace at the query: equal if the budget suffices.
///
/// `frame` transforms the space so that the points are round; its entries are read as exact numbers, so any
/// invertible matrix is valid.
pub(super) fn solve(
    points: &WeightedPoints,
    frame: &[f64],
    mass_tol: u64,
    work: &mut WorkBudget<'_>,
) -> MassBounds {
    match points.dim {
        0 => MassBounds { lower: points.total(), upper: points.total(), direction: Vec::new() },
        1 => points.on_line(),
        2 => points.in_plane(),
        d => {
            let (points, common) = points.with_lines_merged();
            work.spent += (8 * points.len() * d) as u64;
            let mut bounds = match d {
                _ if points.len() == 0 => {
                    MassBounds { lower: 0, upper: 0, direction: generic_rotation(d)[..d].to_vec() }
                }
                3 => ConeSearch::<3>::new(&points, frame).run(mass_tol, work),
                4 => ConeSearch::<4>::new(&points, frame).run(mass_tol, work),
                5 => ConeSearch::<5>::new(&points, frame).run(mass_tol, work),
                6 => ConeSearch::<6>::new(&points, frame).run(mass_tol, work),
                _ => unreachable!("cones are for few dimensions"),
            };
            bounds.lower += common;
            bounds.upper += common;
            bounds
        }
    }
}

struct ConeSearch<'a, const D: usize> {
    points: &'a WeightedPoints,
    frame: &'a [f64],
    /// The differences in the frame, scaled to unit length.
    t: Vec<[f64; D]>,
    /// A bound on the rounding error of an inner product with a vector of 1-norm 1, for every point.
    error: Vec<f64>,
    exact: ExactPredicates,
    upper: u64,
    best: [f64; D],
    arena: Vec<Undecided>,
    scratch: [Vec<Undecided>; 2],
    stack: Vec<SimplicialCone<D>>,
    degenerate_bounds: HashMap<Vec<u32>, Option<DegenerateBound>>,
    packing: FarkasPacking,
}

/// The result of a pass over all cones.
enum PassResult {
    /// No direction has less than the limit.
    Complete,
    /// The budget is exhausted; this lower bound is proven.
    Stopped(u64),
}

impl<'a, const D: usize> ConeSearch<'a, D> {
    fn new(points: &'a WeightedPoints, frame: &'a [f64]) -> Self {
        let n = points.len();
        let (mut t, mut error) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n {
            let (mut row, mut size) = ([0.0; D], 0.0f64);
            let y: [f64; D] = std::array::from_fn(|k| points.x[i * D + k] - points.z[k]);
            for (j, out) in row.iter_mut().enumerate() {
                let mut terms = 0.0;
                for k in 0..D {
                    let term = frame[j * D + k] * y[k];
                    *out += term;
                    terms += term.abs();
                }
                size = size.max(terms);
            }
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            if length > 1e-140 {
                row = row.map(|v| v / length);
                error.push((D as f64 + 4.0) * f64::EPSILON * (size / length + 1.0));
            } else {
                error.push(f64::INFINITY);
            }
            t.push(row);
        }
        Self {
            points,
            frame,
            t,
            error,
            exact: ExactPredicates::default(),
            upper: u64::MAX,
            best: [0.0; D],
            arena: Vec::new(),
            scratch: [Vec::new(), Vec::new()],
            stack: Vec::new(),
            degenerate_bounds: HashMap::new(),
            packing: FarkasPacking::default(),
        }
    }

    fn run(mut self, mass_tol: u64, work: &mut WorkBudget<'_>) -> MassBounds {
        self.initial_direction(work);
        // Most queries are done after the first pass, which gets half of the budget. For the others the lower
        // bound is raised step by step.
        let full = work.budget;
        work.budget = work.spent + (full - work.spent.min(full)) / 2;
        let first = self.pass(u64::MAX, mass_tol, work);
        work.budget = full;
        let mut lower = match first {
            PassResult::Complete => self.upper,
            PassResult::Stopped(proven) => proven,
        };
        let mut share = 1;
        while self.upper > lower.saturating_add(mass_tol) && !work.is_exhausted() && share < 16 {
            let limit = self.upper / 16 * share + self.upper % 16 * share / 16;
            if limit > lower {
                match self.pass(limit, mass_tol, work) {
                    PassResult::Complete => lower = limit.min(self.upper),
                    PassResult::Stopped(proven) => lower = lower.max(proven),
                }
            }
            share += if share < 8 { 2 } else { 1 };
        }
        MassBounds { lower: lower.min(self.upper), upper: self.upper, direction: self.direction() }
    }

    /// The best direction in the columns of the points.
    fn direction(&self) -> Vec<f64> {
        let mut u: Vec<f64> =
            (0..D).map(|k| (0..D).map(|j| self.best[j] * self.frame[j * D + k]).sum()).collect();
        scale_to_unit(&mut u);
        u
    }

    /// A first upper bound: descent from the mean of the points.
    fn initial_direction(&mut self, work: &mut WorkBudget<'_>) {
        let n = self.t.len();
        let vectors =
            UnitVectors { len: n, dim: D, columns: (0..D * n).map(|k| self.t[k % n][k / n]).collect() };
        let mut mean = vec![0.0; D];
        for (t, mass) in self.t.iter().zip(&self.points.masses) {
            mean.iter_mut().zip(t).for_each(|(m, v)| *m -= *mass as f64 * v);
        }
        let DirectionMass { u, .. } = GreatCircleDescent::default().descend(
            &vectors,
            &self.points.masses,
            mean,
            4,
            &mut work.spent,
            u64::MAX,
        );
        let c: [f64; D] = std::array::from_fn(|j| u[j]);
        self.evaluate(&c, work);
    }

    /// The side of a point: by the rounding error bound where that decides, exactly otherwise.
    #[inline]
    fn side(&mut self, i: usize, c: &[f64; D], norm1: f64) -> Ordering {
        let t = &self.t[i];
        let value: f64 = (0..D).map(|j| c[j] * t[j]).sum();
        if value.abs() > self.error[i] * norm1 {
            if value > 0.0 { Ordering::Greater } else { Ordering::Less }
        } else {
            self.exact.side_in_frame(c, self.frame, self.points.point(i), &self.points.z)
        }
    }

    /// Counts the masses of a direction and its opposite exactly, and updates the best direction.
    fn evaluate(&mut self, c: &[f64; D], work: &mut WorkBudget<'_>) -> SideMasses {
        let norm1 = c.iter().map(|v| v.abs()).sum();
        let mut sides = SideMasses::default();
        for i in 0..self.t.len() {
            sides.add(self.side(i, c, norm1), self.points.masses[i]);
        }
        work.spent += (self.t.len() * D) as u64;
        for (mass, sign) in [(sides.closed(), 1.0), (sides.opposite(), -1.0)] {
            if mass < self.upper {
                self.upper = mass;
                self.best = c.map(|v| sign * v);
            }
        }
        sides
    }

    /// Searches all cones that could contain a direction with less than `limit`.
    fn pass(&mut self, limit: u64, mass_tol: u64, work: &mut WorkBudget<'_>) -> PassResult {
        let orthants = self.orthants(work);
        let mut open = u64::MAX;
        for (k, orthant) in orthants.iter().enumerate() {
            if orthant.lower.saturating_add(mass_tol) < self.upper.min(limit.saturating_add(mass_tol)) {
                open = open.min(self.search_orthant(orthant, limit, mass_tol, work));
            }
            if work.is_exhausted() || (work.cancelled)() {
                let rest = orthants[k + 1..].iter().map(|o| o.lower).min().unwrap_or(u64::MAX);
                return PassResult::Stopped(open.min(rest));
            }
        }
        if open < limit.min(self.upper) { PassResult::Stopped(open) } else { PassResult::Complete }
    }

    /// The orthants of the frame, one of every two opposites, the smallest mass at its diagonal first.
    fn orthants(&mut self, work: &mut WorkBudget<'_>) -> Vec<Orthant<D>> {
        let mut orthants: Vec<Orthant<D>> = (0..1u32 << (D - 1))
            .map(|pattern| {
                let signs: [f64; D] = std::array::from_fn(|j| if pattern >> j & 1 == 1 { -1.0 } else { 1.0 });
                let sides = self.evaluate(&signs, work);
                Orthant { signs, lower: 0, priority: sides.closed().min(sides.opposite()) }
            })
            .collect();
        orthants.sort_by_key(|o| o.priority);
        orthants
    }

    /// Searches one orthant and its opposite; returns a lower bound for the cones that stay open.
    fn search_orthant(
        &mut self,
        orthant: &Orthant<D>,
        limit: u64,
        mass_tol: u64,
        work: &mut WorkBudget<'_>,
    ) -> u64 {
        self.push_root(orthant);
        let (mut open, mut steps) = (u64::MAX, 0u32);
        while let Some(cone) = self.stack.pop() {
            let lower = cone.inside.min(cone.outside);
            // A cone is pruned unless it could have less than the limit, and less than the best by more than
            // the tolerance.
            if lower >= limit || lower.saturating_add(mass_tol) >= self.upper {
                if lower < self.upper && lower < limit {
                    open = open.min(lower);
                }
                self.arena.truncate(cone.first);
                continue;
            }
            steps += 1;
            if work.is_exhausted() || steps % 256 == 0 && (work.cancelled)() {
                let rest = self.stack.iter().map(|c| c.inside.min(c.outside)).min().unwrap_or(u64::MAX);
                self.stack.clear();
                self.arena.clear();
                return open.min(lower).min(rest);
            }
            if let Some(undecided) = self.bisect(&cone, limit, mass_tol, work) {
                open = open.min(undecided);
            }
        }
        self.arena.clear();
        open
    }

    fn push_root(&mut self, orthant: &Orthant<D>) {
        self.arena.clear();
        self.stack.clear();
        let mut corners = [[0.0; D]; D];
        (0..D).for_each(|j| corners[j][j] = orthant.signs[j]);
        let mut cone = SimplicialCone { corners, first: 0, inside: 0, outside: 0, idle_cuts: 0 };
        for i in 0..self.t.len() {
            let (mut above, mut below) = (0u8, 0u8);
            for j in 0..D {
                match self.side(i, &corners[j], 1.0) {
                    Ordering::Greater => above |= 1 << j,
                    Ordering::Less => below |= 1 << j,
                    Ordering::Equal => {}
                }
            }
            if below == 0 {
                cone.inside += self.points.masses[i];
            } else if above == 0 {
                cone.outside += self.points.masses[i];
            } else {
                self.arena.push(Undecided { point: u32::try_from(i).unwrap_or(u32::MAX), above, below });
            }
        }
        self.stack.push(cone);
    }

    /// Bisects a cone; where that is not possible or not necessary, returns its lower bound if the cone stays
    /// open.
    fn bisect(
        &mut self,
        cone: &SimplicialCone<D>,
        limit: u64,
        mass_tol: u64,
        work: &mut WorkBudget<'_>,
    ) -> Option<u64> {
        let count = self.arena.len() - cone.first;
        work.spent += (count * (D + 4) + 4 * D * D) as u64;
        if count < D && cone.idle_cuts == 0 || cone.idle_cuts > 0 && cone.idle_cuts.is_multiple_of(3 * D) {
            let added = self.degenerate_bound(cone, work);
            let lower = cone.inside.min(cone.outside) + added;
            if lower >= limit || lower.saturating_add(mass_tol) >= self.upper {
                self.arena.truncate(cone.first);
                return (lower < limit && lower < self.upper).then_some(lower);
            }
        }
        if self.packing_proves(cone, limit.min(self.upper.saturating_sub(mass_tol)), work) {
            let lower = limit.min(self.upper.saturating_sub(mass_tol));
            self.arena.truncate(cone.first);
            return (lower < limit && lower < self.upper).then_some(lower);
        }
        let (a, b) = longest_edge(&cone.corners);
        let Some(midpoint) = exact_midpoint(&cone.corners[a], &cone.corners[b]) else {
            // The midpoint is not representable.
            let lower = cone.inside.min(cone.outside) + self.degenerate_bound(cone, work);
            self.arena.truncate(cone.first);
            return Some(lower);
        };
        let norm1 = midpoint.iter().map(|v| v.abs()).sum();
        let (mut scratch_a, mut scratch_b) =
            (std::mem::take(&mut self.scratch[0]), std::mem::take(&mut self.scratch[1]));
        scratch_a.clear();
        scratch_b.clear();
        let mut halves: [SimplicialCone<D>; 2] = [cone.clone(), cone.clone()];
        halves[0].corners[a] = midpoint;
        halves[1].corners[b] = midpoint;
        let mut sides = SideMasses { positive: cone.inside, zero: 0, negative: cone.outside };
        for k in cone.first..self.arena.len() {
            let entry = self.arena[k];
            let i = entry.point as usize;
            let side = self.side(i, &midpoint, norm1);
            let mass = self.points.masses[i];
            sides.add(side, mass);
            let (above, below) = match side {
                Ordering::Greater => (u8::MAX, 0),
                Ordering::Less => (0, u8::MAX),
                Ordering::Equal => (0, 0),
            };
            for ((half, list), corner) in
                halves.iter_mut().zip([&mut scratch_a, &mut scratch_b]).zip([1u8 << a, 1 << b])
            {
                let above = entry.above & !corner | above & corner;
                let below = entry.below & !corner | below & corner;
                if below == 0 {
                    half.inside += mass;
                } else if above == 0 {
                    half.outside += mass;
                } else {
                    list.push(Undecided { above, below, ..entry });
                }
            }
        }
        if sides.closed().min(sides.opposite()) < self.upper {
            self.evaluate(&midpoint, work);
        }
        self.arena.truncate(cone.first);
        let priority =
            |cone: &SimplicialCone<D>, undecided: usize| 2 * cone.inside.min(cone.outside) + undecided as u64;
        let [mut one, mut two] = halves;
        let (mut one_undecided, mut two_undecided) = (scratch_a, scratch_b);
        if priority(&one, one_undecided.len()) < priority(&two, two_undecided.len()) {
            std::mem::swap(&mut one, &mut two);
            std::mem::swap(&mut one_undecided, &mut two_undecided);
        }
        // The half with the smaller lower bound is searched first.
        for (half, undecided) in [(&mut one, &one_undecided), (&mut two, &two_undecided)] {
            half.first = self.arena.len();
            half.idle_cuts = if undecided.len() == count { cone.idle_cuts + 1 } else { 0 };
            self.arena.extend_from_slice(undecided);
        }
        self.stack.push(one);
        self.stack.push(two);
        self.scratch = [one_undecided, two_undecided];
        None
    }
}

/// A cone between axes of the frame.
struct Orthant<const D: usize> {
    signs: [f64; D],
    lower: u64,
    priority: u64,
}
