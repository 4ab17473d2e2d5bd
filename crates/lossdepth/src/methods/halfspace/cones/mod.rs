//! Any dimension, exactly: branch and bound over cones of directions.
//!
//! The sphere of directions is cut into simplicial cones. A point whose inner products with all corners of a cone have
//! one sign lies on one side of *every* direction inside it; the mass of the points that are surely inside is a lower
//! bound for the whole cone, and every corner gives an upper bound. A cone that could still beat the best direction is
//! cut in two at the middle of its longest edge. Only the points it has not decided are looked at again, one inner
//! product each, and their number shrinks with the cone: the work goes where the mass is close to its minimum.
//! A cone and its opposite have the same undecided points and are treated as one.
//!
//! Corners are sums of earlier corners, formed without rounding, so the cones cover the sphere without a gap; the
//! signs at the corners are exact. Where many hyperplanes meet in one ray (ties, grids, collinear points) no cutting
//! separates them; there the undecided points span a space of lower dimension, and their own least mass, found by the
//! same means in that dimension, is added to the bound.

mod geometry;

pub(super) use self::geometry::rotation;
use self::geometry::{eliminate, longest_edge, middle, own_frame, spans};
use super::cloud::{Bounds, Cloud, Split};
use super::exact::{Exact, Span};
use super::packing::{Packed, Packing};
use super::search::{Found, Search, Sky, scale_to_unit};
use std::cmp::Ordering;
use std::collections::HashMap;

/// A point that a cone has not decided: at which corners it is above and below.
#[derive(Debug, Clone, Copy)]
struct Undecided {
    point: u32,
    above: u8,
    below: u8,
}

/// A cone on the stack; its undecided points are the last of the arena.
#[derive(Debug, Clone)]
struct Cone<const D: usize> {
    corners: [[f64; D]; D],
    first: usize,
    inside: u64,
    outside: u64,
    /// Cuts since the last point was decided.
    stuck: usize,
}

/// What is left to spend on a query.
pub(super) struct Purse<'a> {
    pub(super) spent: u64,
    pub(super) budget: u64,
    pub(super) cancelled: &'a dyn Fn() -> bool,
}

impl Purse<'_> {
    fn empty(&self) -> bool {
        self.spent >= self.budget
    }
}

/// Up to so many undecided points are packed into groups.
const MOST_PACKED: usize = 256;
/// And only where twice their mass is so many times what has to be proven.
const PACK_RATIO: u64 = 5;

/// The largest dimension that cones are used in.
pub(super) const WIDEST: usize = 6;

/// The least mass around the query: exact if the purse lasts.
///
/// `frame` turns and scales the space so that the points are round; its rows are read as exact numbers, so any
/// invertible one will do.
pub(super) fn solve(cloud: &Cloud, frame: &[f64], enough: u64, purse: &mut Purse<'_>) -> Bounds {
    match cloud.dim {
        0 => Bounds { lower: cloud.total(), upper: cloud.total(), direction: Vec::new() },
        1 => cloud.on_a_line(),
        2 => cloud.in_a_plane(),
        d => {
            let (cloud, always) = cloud.folded();
            purse.spent += (8 * cloud.len() * d) as u64;
            let mut bounds = match d {
                _ if cloud.len() == 0 => Bounds { lower: 0, upper: 0, direction: rotation(d)[..d].to_vec() },
                3 => Hunt::<3>::new(&cloud, frame).run(enough, purse),
                4 => Hunt::<4>::new(&cloud, frame).run(enough, purse),
                5 => Hunt::<5>::new(&cloud, frame).run(enough, purse),
                6 => Hunt::<6>::new(&cloud, frame).run(enough, purse),
                _ => unreachable!("cones are for few dimensions"),
            };
            bounds.lower += always;
            bounds.upper += always;
            bounds
        }
    }
}

/// What the undecided points of a stuck cone add.
#[derive(Debug, Clone)]
struct Knot {
    lower: u64,
    /// In the frame.
    way_out: Vec<f64>,
}

struct Hunt<'a, const D: usize> {
    cloud: &'a Cloud,
    frame: &'a [f64],
    /// The differences in the frame, scaled to unit length.
    t: Vec<[f64; D]>,
    /// How far an inner product with a vector of 1-norm 1 may be off.
    blur: Vec<f64>,
    exact: Exact,
    upper: u64,
    best: [f64; D],
    arena: Vec<Undecided>,
    spare: [Vec<Undecided>; 2],
    stack: Vec<Cone<D>>,
    knots: HashMap<Vec<u32>, Option<Knot>>,
    packing: Packing,
}

/// How far a pass over all cones has come.
enum Pass {
    /// Nothing below the limit is left.
    Complete,
    /// The purse is empty; this is proven.
    Stopped(u64),
}

impl<'a, const D: usize> Hunt<'a, D> {
    fn new(cloud: &'a Cloud, frame: &'a [f64]) -> Self {
        let n = cloud.len();
        let (mut t, mut blur) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n {
            let (mut row, mut size) = ([0.0; D], 0.0f64);
            let y: [f64; D] = std::array::from_fn(|k| cloud.x[i * D + k] - cloud.z[k]);
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
                blur.push((D as f64 + 4.0) * f64::EPSILON * (size / length + 1.0));
            } else {
                blur.push(f64::INFINITY);
            }
            t.push(row);
        }
        Self {
            cloud,
            frame,
            t,
            blur,
            exact: Exact::default(),
            upper: u64::MAX,
            best: [0.0; D],
            arena: Vec::new(),
            spare: [Vec::new(), Vec::new()],
            stack: Vec::new(),
            knots: HashMap::new(),
            packing: Packing::default(),
        }
    }

    fn run(mut self, enough: u64, purse: &mut Purse<'_>) -> Bounds {
        self.look_around(purse);
        // Most queries are done at the first go. For the others a lower bound is raised step by step.
        let whole = purse.budget;
        purse.budget = purse.spent + (whole - purse.spent.min(whole)) / 2;
        let first = self.pass(u64::MAX, enough, purse);
        purse.budget = whole;
        let mut lower = match first {
            Pass::Complete => self.upper,
            Pass::Stopped(proven) => proven,
        };
        let mut share = 1;
        while self.upper > lower.saturating_add(enough) && !purse.empty() && share < 16 {
            let limit = self.upper / 16 * share + self.upper % 16 * share / 16;
            if limit > lower {
                match self.pass(limit, enough, purse) {
                    Pass::Complete => lower = limit.min(self.upper),
                    Pass::Stopped(proven) => lower = lower.max(proven),
                }
            }
            share += if share < 8 { 2 } else { 1 };
        }
        Bounds { lower: lower.min(self.upper), upper: self.upper, direction: self.direction() }
    }

    /// The best direction in the columns of the cloud.
    fn direction(&self) -> Vec<f64> {
        let mut u: Vec<f64> =
            (0..D).map(|k| (0..D).map(|j| self.best[j] * self.frame[j * D + k]).sum()).collect();
        scale_to_unit(&mut u);
        u
    }

    /// A first upper bound: descent from the centre of the points.
    fn look_around(&mut self, purse: &mut Purse<'_>) {
        let n = self.t.len();
        let sky = Sky { len: n, dim: D, columns: (0..D * n).map(|k| self.t[k % n][k / n]).collect() };
        let mut mean = vec![0.0; D];
        for (t, mass) in self.t.iter().zip(&self.cloud.masses) {
            mean.iter_mut().zip(t).for_each(|(m, v)| *m -= *mass as f64 * v);
        }
        let Found { u, .. } =
            Search::default().descend(&sky, &self.cloud.masses, mean, 4, &mut purse.spent, u64::MAX);
        let c: [f64; D] = std::array::from_fn(|j| u[j]);
        self.evaluate(&c, purse);
    }

    /// The side of a point: by the error bound where that decides, exactly otherwise.
    #[inline]
    fn side(&mut self, i: usize, c: &[f64; D], reach: f64) -> Ordering {
        let t = &self.t[i];
        let value: f64 = (0..D).map(|j| c[j] * t[j]).sum();
        if value.abs() > self.blur[i] * reach {
            if value > 0.0 { Ordering::Greater } else { Ordering::Less }
        } else {
            self.exact.side_in_frame(c, self.frame, self.cloud.point(i), &self.cloud.z)
        }
    }

    /// Looks at all points from a direction and its opposite, and keeps what is better.
    fn evaluate(&mut self, c: &[f64; D], purse: &mut Purse<'_>) -> Split {
        let reach = c.iter().map(|v| v.abs()).sum();
        let mut split = Split::default();
        for i in 0..self.t.len() {
            split.add(self.side(i, c, reach), self.cloud.masses[i]);
        }
        purse.spent += (self.t.len() * D) as u64;
        for (mass, sign) in [(split.closed(), 1.0), (split.opposite(), -1.0)] {
            if mass < self.upper {
                self.upper = mass;
                self.best = c.map(|v| sign * v);
            }
        }
        split
    }

    /// Goes through all cones that could hold less than `limit`.
    fn pass(&mut self, limit: u64, enough: u64, purse: &mut Purse<'_>) -> Pass {
        let orthants = self.orthants(purse);
        let mut open = u64::MAX;
        for (k, orthant) in orthants.iter().enumerate() {
            if orthant.lower.saturating_add(enough) < self.upper.min(limit.saturating_add(enough)) {
                open = open.min(self.explore(orthant, limit, enough, purse));
            }
            if purse.empty() || (purse.cancelled)() {
                let rest = orthants[k + 1..].iter().map(|o| o.lower).min().unwrap_or(u64::MAX);
                return Pass::Stopped(open.min(rest));
            }
        }
        if open < limit.min(self.upper) { Pass::Stopped(open) } else { Pass::Complete }
    }

    /// The cones between the axes of the frame, one of every two opposites, the most promising first.
    fn orthants(&mut self, purse: &mut Purse<'_>) -> Vec<Orthant<D>> {
        let mut found: Vec<Orthant<D>> = (0..1u32 << (D - 1))
            .map(|pattern| {
                let signs: [f64; D] = std::array::from_fn(|j| if pattern >> j & 1 == 1 { -1.0 } else { 1.0 });
                let split = self.evaluate(&signs, purse);
                Orthant { signs, lower: 0, promise: split.closed().min(split.opposite()) }
            })
            .collect();
        found.sort_by_key(|o| o.promise);
        found
    }

    /// Searches one orthant and its opposite; what could not be decided there.
    fn explore(&mut self, orthant: &Orthant<D>, limit: u64, enough: u64, purse: &mut Purse<'_>) -> u64 {
        self.root(orthant);
        let (mut open, mut steps) = (u64::MAX, 0u32);
        while let Some(cone) = self.stack.pop() {
            let lower = cone.inside.min(cone.outside);
            // A cone is of interest if it may hold less than the limit and less than what is good enough.
            if lower >= limit || lower.saturating_add(enough) >= self.upper {
                if lower < self.upper && lower < limit {
                    open = open.min(lower);
                }
                self.arena.truncate(cone.first);
                continue;
            }
            steps += 1;
            if purse.empty() || steps % 256 == 0 && (purse.cancelled)() {
                let rest = self.stack.iter().map(|c| c.inside.min(c.outside)).min().unwrap_or(u64::MAX);
                self.stack.clear();
                self.arena.clear();
                return open.min(lower).min(rest);
            }
            if let Some(left) = self.cut(&cone, limit, enough, purse) {
                open = open.min(left);
            }
        }
        self.arena.clear();
        open
    }

    fn root(&mut self, orthant: &Orthant<D>) {
        self.arena.clear();
        self.stack.clear();
        let mut corners = [[0.0; D]; D];
        (0..D).for_each(|j| corners[j][j] = orthant.signs[j]);
        let mut cone = Cone { corners, first: 0, inside: 0, outside: 0, stuck: 0 };
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
                cone.inside += self.cloud.masses[i];
            } else if above == 0 {
                cone.outside += self.cloud.masses[i];
            } else {
                self.arena.push(Undecided { point: u32::try_from(i).unwrap_or(u32::MAX), above, below });
            }
        }
        self.stack.push(cone);
    }

    /// Cuts a cone in two; if that cannot be done, says what it proves.
    fn cut(&mut self, cone: &Cone<D>, limit: u64, enough: u64, purse: &mut Purse<'_>) -> Option<u64> {
        let count = self.arena.len() - cone.first;
        purse.spent += (count * (D + 4) + 4 * D * D) as u64;
        if count < D && cone.stuck == 0 || cone.stuck > 0 && cone.stuck.is_multiple_of(3 * D) {
            let added = self.untie(cone, purse);
            let lower = cone.inside.min(cone.outside) + added;
            if lower >= limit || lower.saturating_add(enough) >= self.upper {
                self.arena.truncate(cone.first);
                return (lower < limit && lower < self.upper).then_some(lower);
            }
        }
        if self.settled(cone, limit.min(self.upper.saturating_sub(enough)), purse) {
            let lower = limit.min(self.upper.saturating_sub(enough));
            self.arena.truncate(cone.first);
            return (lower < limit && lower < self.upper).then_some(lower);
        }
        let (a, b) = longest_edge(&cone.corners);
        let Some(middle) = middle(&cone.corners[a], &cone.corners[b]) else {
            // As narrow as floating-point numbers go.
            let lower = cone.inside.min(cone.outside) + self.untie(cone, purse);
            self.arena.truncate(cone.first);
            return Some(lower);
        };
        let reach = middle.iter().map(|v| v.abs()).sum();
        let (mut spare_a, mut spare_b) =
            (std::mem::take(&mut self.spare[0]), std::mem::take(&mut self.spare[1]));
        spare_a.clear();
        spare_b.clear();
        let mut halves: [Cone<D>; 2] = [cone.clone(), cone.clone()];
        halves[0].corners[a] = middle;
        halves[1].corners[b] = middle;
        let mut split = Split { positive: cone.inside, zero: 0, negative: cone.outside };
        for k in cone.first..self.arena.len() {
            let entry = self.arena[k];
            let i = entry.point as usize;
            let side = self.side(i, &middle, reach);
            let mass = self.cloud.masses[i];
            split.add(side, mass);
            let (above, below) = match side {
                Ordering::Greater => (u8::MAX, 0),
                Ordering::Less => (0, u8::MAX),
                Ordering::Equal => (0, 0),
            };
            for ((half, list), corner) in
                halves.iter_mut().zip([&mut spare_a, &mut spare_b]).zip([1u8 << a, 1 << b])
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
        if split.closed().min(split.opposite()) < self.upper {
            self.evaluate(&middle, purse);
        }
        self.arena.truncate(cone.first);
        let promise = |cone: &Cone<D>, left: usize| 2 * cone.inside.min(cone.outside) + left as u64;
        let [mut one, mut two] = halves;
        let (mut one_left, mut two_left) = (spare_a, spare_b);
        if promise(&one, one_left.len()) < promise(&two, two_left.len()) {
            std::mem::swap(&mut one, &mut two);
            std::mem::swap(&mut one_left, &mut two_left);
        }
        // The more promising half comes on top.
        for (half, left) in [(&mut one, &one_left), (&mut two, &two_left)] {
            half.first = self.arena.len();
            half.stuck = if left.len() == count { cone.stuck + 1 } else { 0 };
            self.arena.extend_from_slice(left);
        }
        self.stack.push(one);
        self.stack.push(two);
        self.spare = [one_left, two_left];
        None
    }

    /// Whether groups of undecided points prove that no direction of the cone, nor of its opposite, beats `goal`.
    fn settled(&mut self, cone: &Cone<D>, goal: u64, purse: &mut Purse<'_>) -> bool {
        let count = self.arena.len() - cone.first;
        if count > MOST_PACKED {
            return false;
        }
        let left: u64 = self.arena[cone.first..].iter().map(|e| self.cloud.masses[e.point as usize]).sum();
        let needs = [cone.inside, cone.outside].map(|mass| goal.saturating_sub(mass));
        if needs.iter().any(|need| PACK_RATIO * *need > 2 * left) {
            return false;
        }
        purse.spent += (count * D * (D + 4)) as u64;
        let reach: [f64; D] = std::array::from_fn(|j| cone.corners[j].iter().map(|v| v.abs()).sum());
        // The side with more to prove first: it fails sooner.
        let sides = if needs[0] >= needs[1] {
            [(needs[0], 1.0), (needs[1], -1.0)]
        } else {
            [(needs[1], -1.0), (needs[0], 1.0)]
        };
        for (need, sign) in sides {
            if need == 0 {
                continue;
            }
            self.packing.clear(D);
            for e in &self.arena[cone.first..] {
                let i = e.point as usize;
                let t = &self.t[i];
                for (corner, reach) in cone.corners.iter().zip(&reach) {
                    let value: f64 = (0..D).map(|j| corner[j] * t[j]).sum();
                    self.packing.values.push(sign * value / reach);
                }
                self.packing.blur.push(1.01 * self.blur[i]);
                self.packing.masses.push(self.cloud.masses[i]);
            }
            let (cloud, frame, exact, arena) =
                (self.cloud, self.frame, &mut self.exact, &self.arena[cone.first..]);
            let mut exacts = 0;
            let mut decide = |i: usize, k: usize| {
                exacts += 1;
                opposite(cloud, frame, &cone.corners, sign, [arena[i].point, arena[k].point], exact)
            };
            let packed = self.packing.pack(need, &mut purse.spent, &mut decide);
            purse.spent += (exacts * 100 * D * D) as u64;
            match packed {
                Packed::Proven(mass) if mass >= need => {}
                Packed::Proven(_) => return false,
                Packed::Escape(weights) => {
                    let mut c = [0.0; D];
                    for ((corner, w), reach) in cone.corners.iter().zip(&weights).zip(&reach) {
                        (0..D).for_each(|j| c[j] += sign * w * corner[j] / reach);
                    }
                    self.evaluate(&c, purse);
                    return false;
                }
            }
        }
        true
    }

    /// What the undecided points of a narrow cone add to any direction; also tries to slip through between them.
    fn untie(&mut self, cone: &Cone<D>, purse: &mut Purse<'_>) -> u64 {
        let left: Vec<u32> = self.arena[cone.first..].iter().map(|e| e.point).collect();
        if left.is_empty() {
            return 0;
        }
        if !self.knots.contains_key(&left) {
            let knot = self.knot(&left, purse);
            self.knots.insert(left.clone(), knot);
        }
        let Some(Some(knot)) = self.knots.get(&left) else { return 0 };
        let knot = knot.clone();
        if cone.inside.min(cone.outside) + knot.lower < self.upper {
            self.slip(cone, &left, &knot.way_out, purse);
        }
        knot.lower
    }

    /// Solves the problem of the undecided points alone, if they do not span the space.
    fn knot(&mut self, left: &[u32], purse: &mut Purse<'_>) -> Option<Knot> {
        let rows = || left.iter().map(|&i| i as usize);
        if left.len() >= D && spans(rows().map(|i| &self.t[i]), 1e-6) {
            return None;
        }
        let span = Span::new(rows().map(|i| self.cloud.point(i)), &self.cloud.z);
        purse.spent += (64 * left.len() * D) as u64;
        if span.rank() == D {
            return None;
        }
        let columns = span.columns();
        let part = self.cloud.part(rows(), &columns);
        let bounds = if part.len() == part.dim {
            // Independent: some direction has all of them below.
            let y = |i: usize, k: usize| part.point(i)[k] - part.z[k];
            let matrix = (0..part.dim).map(|i| (0..part.dim).map(|k| y(i, k)).collect()).collect();
            Bounds { lower: 0, upper: 0, direction: eliminate(matrix, vec![-1.0; part.dim]) }
        } else {
            solve(&part, &own_frame(&part), 0, purse)
        };
        let mut u = [0.0; D];
        columns.iter().zip(&bounds.direction).for_each(|(&k, v)| u[k] = *v);
        Some(Knot { lower: bounds.lower, way_out: self.in_frame(&u) })
    }

    /// $c$ with $\sum_j c_j b_j = u$.
    fn in_frame(&self, u: &[f64; D]) -> Vec<f64> {
        let transposed = (0..D).map(|k| (0..D).map(|j| self.frame[j * D + k]).collect()).collect();
        eliminate(transposed, u.to_vec())
    }

    /// Tries directions close to the ray in which the hyperplanes of the undecided points meet.
    fn slip(&mut self, cone: &Cone<D>, left: &[u32], way_out: &[f64], purse: &mut Purse<'_>) {
        let mut ray = [0.0; D];
        for corner in &cone.corners {
            let length = corner.iter().map(|v| v * v).sum::<f64>().sqrt();
            ray.iter_mut().zip(corner).for_each(|(r, v)| *r += v / length);
        }
        let mut basis: Vec<[f64; D]> = Vec::new();
        for &i in left {
            let mut t = self.t[i as usize];
            // Twice is enough for a right angle.
            for _ in 0..2 {
                for b in &basis {
                    let along: f64 = (0..D).map(|j| b[j] * t[j]).sum();
                    (0..D).for_each(|j| t[j] -= along * b[j]);
                }
            }
            if scale_to_unit(&mut t) > 1e-8 && basis.len() < D {
                basis.push(t);
            }
        }
        for b in &basis {
            let along: f64 = (0..D).map(|j| b[j] * ray[j]).sum();
            (0..D).for_each(|j| ray[j] -= along * b[j]);
        }
        if scale_to_unit(&mut ray) == 0.0 {
            return;
        }
        let mut way: [f64; D] = std::array::from_fn(|j| way_out[j]);
        scale_to_unit(&mut way);
        for step in [4, 10, 16, 24, 34] {
            let size = 0.5f64.powi(step);
            for sign in [1.0, -1.0] {
                let c: [f64; D] = std::array::from_fn(|j| sign * ray[j] + size * way[j]);
                self.evaluate(&c, purse);
            }
        }
    }
}

/// Whether one of two points that lie almost opposite each other is in the halfspace of every direction of a cone (or,
/// for the sign -1, of its opposite): exactly.
fn opposite<const D: usize>(
    cloud: &Cloud,
    frame: &[f64],
    corners: &[[f64; D]; D],
    sign: f64,
    points: [u32; 2],
    exact: &mut Exact,
) -> bool {
    let [x, y] = points.map(|i| cloud.point(i as usize));
    let (mut across, mut size, mut other) = (0.0, 0.0, 0.0);
    for k in 0..D {
        let (a, b) = (x[k] - cloud.z[k], y[k] - cloud.z[k]);
        across += a * b;
        size += b * b;
        other += a * a;
    }
    if across >= 0.0 || across * across < (1.0 - 1e-9) * size * other {
        return false;
    }
    let ratio = -across / size;
    let wrong = if sign > 0.0 { Ordering::Less } else { Ordering::Greater };
    corners.iter().all(|c| exact.pair_in_frame(c, frame, [x, y, &cloud.z], ratio) != wrong)
}

/// A cone between axes.
struct Orthant<const D: usize> {
    signs: [f64; D],
    lower: u64,
    promise: u64,
}
