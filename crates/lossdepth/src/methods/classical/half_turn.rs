//! How many triples of points of the plane lie in an open half plane at the origin, without sorting all points.
//!
//! As a directed line through the origin makes half a turn, every point passes from one of its sides to the other once. Let
//! $l$ and $r$ be the masses on its left and right. A point that leaves the left side has the rest of it less than half a turn
//! ahead, one that enters it the rest of the right side. So points of the mass $a$ that leave one after the other are the first
//! of $\binom l3 - \binom{l - a}3$ triples in an open half plane, whatever their order, and points of the mass $b$ that enter of
//! $\binom r3 - \binom{r - b}3$. Points that leave and points that enter on one line are not ahead of each other: both numbers
//! hold, with $l$ and $r$ from before. A histogram over the angle gives $l$ and $r$; only where points leave and enter in the
//! same bucket are they sorted.

use crate::methods::halfspace::circular_sweep::{BUCKET_OFFSET, POSITION_ERROR, certain_orientation};
use crate::methods::halfspace::expansions::ExactPredicates;
use crate::numerics::simd::{LANES, fold, vectorised};

/// The points of a plane and their counts, in an order that keeps neighbours together: seen from most queries they are in
/// neighbouring buckets, which then are in a cache.
#[derive(Debug, Clone)]
pub(super) struct CountedPlane {
    x: Vec<f64>,
    y: Vec<f64>,
    counts: Vec<u32>,
    total: i32,
}

/// Scratch memory of a half turn.
#[derive(Debug, Default)]
pub(super) struct HalfTurn {
    /// Positions on the half circle in units of a bucket.
    position: Vec<f64>,
    /// Twice the bucket, and one more for points of the lower half plane, whose opposite has the position.
    place: Vec<u32>,
    /// For every bucket the masses of the points that leave the left side, and [`ENTER`] times those that enter it.
    sides: Vec<u64>,
    /// The mass on the left before every bucket, and at the end.
    left: Vec<i32>,
    /// The buckets in which points leave and enter, and the points in them: for each the next one in its bucket plus 1.
    mixed: Vec<u32>,
    points: Vec<u32>,
    next: Vec<u32>,
    events: Vec<u32>,
    exact: ExactPredicates,
}

/// The place of the masses that enter in a word.
const ENTER: u32 = 32;

/// The masses of a bucket that leave and that enter.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "both halves are meant")]
fn leave_and_enter(sides: u64) -> [i32; 2] {
    [(sides as u32).cast_signed(), ((sides >> ENTER) as u32).cast_signed()]
}

/// Three times two: what the products below are divided by.
const ORDERS: f64 = 6.0;
/// Whole numbers up to the cube of this are exact; so are all sums here.
const LARGEST: f64 = 2e5;

/// $6 \binom x3$.
#[inline(always)]
fn ordered_triples(x: f64) -> f64 {
    x * (x - 1.0) * (x - 2.0)
}

/// Six times the triples whose first points all leave the left side, or all enter it.
#[inline(always)]
fn one_way(before: i32, after: i32, total: f64) -> f64 {
    let (before, after) = (f64::from(before), f64::from(after));
    let leave = after < before;
    let from = if leave { before } else { total - before };
    let to = if leave { after } else { total - after };
    ordered_triples(from) - ordered_triples(to)
}

/// The sum of [`one_way`] over all buckets, a multiple of [`LANES`].
fn all_one_way(left: &[i32], total: f64) -> f64 {
    vectorised!({
        let mut lanes = [0.0; LANES];
        for (before, after) in left.chunks_exact(LANES).zip(left[1..].chunks_exact(LANES)) {
            for k in 0..LANES {
                lanes[k] += one_way(before[k], after[k], total);
            }
        }
        fold(lanes)
    })
}

impl CountedPlane {
    /// `None` if there are too many observations for exact sums, or if the masses do not count.
    pub(super) fn new(points: &[f64], masses: &[f64]) -> Option<Self> {
        let fits = masses.iter().sum::<f64>() <= LARGEST && masses.iter().all(|m| m.fract() == 0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let counts: Vec<u32> = masses.iter().map(|m| *m as u32).collect();
        let total = counts.iter().sum::<u32>().cast_signed();
        let order = neighbours_together(points);
        let column = |at: usize| order.iter().map(|&i| points[2 * i + at]).collect();
        fits.then(|| Self {
            x: column(0),
            y: column(1),
            counts: order.iter().map(|&i| counts[i]).collect(),
            total,
        })
    }

    /// The number of triples in an open half plane at `z`; `None` where rounding decides in which bucket a point is.
    pub(super) fn open_triples(&self, z: [f64; 2], scratch: &mut HalfTurn) -> Option<f64> {
        let n = self.x.len();
        let number = (2 * n).next_multiple_of(LANES);
        let position_error = POSITION_ERROR * number as f64;
        if !self.locate(z, number, position_error, scratch) {
            return None;
        }
        let HalfTurn { position, place, sides, left, mixed, points, next, events, exact } = scratch;
        // The last one collects the point at `z`.
        sides.clear();
        sides.resize(number + 1, 0);
        for (place, count) in place.iter().zip(&self.counts) {
            sides[(place >> 1) as usize] += u64::from(*count) << (ENTER * (place & 1));
        }
        let [nowhere, _] = leave_and_enter(sides[number]);
        let total = self.total - nowhere;
        left.resize(number + 1, 0);
        mixed.resize(number + 1, 0);
        let (mut l, mut b, mut mixtures) = (0, 0, 0);
        for (sides, left) in sides[..number].iter().zip(left.iter_mut()) {
            *left = l;
            let [leave, enter] = leave_and_enter(*sides);
            l += enter - leave;
            mixed[mixtures] = b;
            mixtures += usize::from(leave.min(enter) > 0);
            b += 1;
        }
        left[number] = l;
        // After half a turn the sides have changed places: start + l = total - start.
        let start = (total - l) / 2;
        for l in left.iter_mut() {
            *l += start;
        }
        let total = f64::from(total);
        let mut sum = all_one_way(left, total);
        // The points of the mixed buckets, as lists that start in `sides`.
        points.resize(n + 1, 0);
        next.resize(n, 0);
        let (mut i, mut found) = (0, 0);
        for place in &*place {
            points[found] = i;
            let [leave, enter] = leave_and_enter(sides[(place >> 1) as usize]);
            found += usize::from(leave.min(enter) > 0);
            i += 1;
        }
        mixed[..mixtures].iter().for_each(|&b| sides[b as usize] = 0);
        for (at, (&i, next)) in (1u32..).zip(points[..found].iter().zip(next.iter_mut())) {
            let first = &mut sides[(place[i as usize] >> 1) as usize];
            (*next, *first) = (leave_and_enter(*first)[0].cast_unsigned(), u64::from(at));
        }
        for &b in &mixed[..mixtures] {
            let b = b as usize;
            sum -= one_way(left[b], left[b + 1], total);
            let mut l = f64::from(left[b]);
            let first = leave_and_enter(sides[b])[0].cast_unsigned() as usize - 1;
            let second = next[first] as usize - 1;
            let [p, q] = [first, second].map(|at| points[at] as usize);
            let apart = position[p] - position[q];
            if next[second] == 0 && apart.abs() > position_error {
                let (i, j) = if apart < 0.0 { (p, q) } else { (q, p) };
                let from = if place[i] & 1 == 0 { l } else { total - l };
                let [a, b] = [i, j].map(|i| f64::from(self.counts[i]));
                let other = total - from + a;
                sum += ordered_triples(from) - ordered_triples(from - a);
                sum += ordered_triples(other) - ordered_triples(other - b);
                continue;
            }
            events.clear();
            let mut at = first + 1;
            while at > 0 {
                events.push(points[at - 1]);
                at = next[at - 1] as usize;
            }
            let mut order = |i: u32, j: u32| {
                let (i, j) = (i as usize, j as usize);
                if (position[i] - position[j]).abs() > position_error {
                    return position[i].total_cmp(&position[j]);
                }
                let (p, q) = ([self.x[i], self.y[i]], [self.x[j], self.y[j]]);
                let apart = |p: [f64; 2]| [p[0] - z[0], p[1] - z[1]];
                let orientation =
                    certain_orientation(apart(p), apart(q)).unwrap_or_else(|| exact.orientation(p, q, z));
                // Counterclockwise is later; one of two points was replaced by its opposite if they are on different sides.
                if (place[i] ^ place[j]) & 1 == 1 { orientation } else { orientation.reverse() }
            };
            events.sort_unstable_by(|&i, &j| order(i, j));
            let mut at = 0;
            while at < events.len() {
                let (first, mut moved) = (events[at], [0.0; 2]);
                while at < events.len() && (events[at] == first || order(first, events[at]).is_eq()) {
                    let i = events[at] as usize;
                    moved[(place[i] & 1) as usize] += f64::from(self.counts[i]);
                    at += 1;
                }
                let (r, [leave, enter]) = (total - l, moved);
                sum += ordered_triples(l) - ordered_triples(l - leave);
                sum += ordered_triples(r) - ordered_triples(r - enter);
                l += enter - leave;
            }
        }
        Some(sum / ORDERS)
    }

    /// Computes positions and places; false if a border between buckets is within rounding of a point.
    fn locate(
        &self,
        z: [f64; 2],
        number: usize,
        position_error: f64,
        HalfTurn { position, place, .. }: &mut HalfTurn,
    ) -> bool {
        // Adding 2^52 rounds to an integer and leaves it in the low bits.
        const ROUND: f64 = 4_503_599_627_370_496.0;
        // Differences of huge numbers overflow.
        if z.iter().any(|z| z.abs() > 1e150) {
            return false;
        }
        let n = self.x.len();
        position.resize(n, 0.0);
        place.resize(n, 0);
        let (scale, nowhere) = ((number - 1) as f64 / 2.0, number as f64);
        let close = 0.5 - position_error;
        let (x, y, position, place) = (&self.x[..], &self.y[..], &mut position[..], &mut place[..]);
        vectorised!({
            for ((position, x), y) in position.iter_mut().zip(x).zip(y) {
                let (a, b) = (x - z[0], y - z[1]);
                let a = if is_lower(a, b) { -a } else { a };
                let length = a.abs() + b.abs();
                let along = (1.0 - a / length) * scale + BUCKET_OFFSET;
                *position = if length == 0.0 { nowhere } else { along };
            }
            let mut doubtful = 0;
            for (((place, position), x), y) in place.iter_mut().zip(position.iter()).zip(x).zip(y) {
                let rounded = position + ROUND;
                doubtful |= u64::from((position - (rounded - ROUND)).abs() > close);
                let lower = u64::from(is_lower(x - z[0], y - z[1]));
                #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
                {
                    *place = (rounded.to_bits() << 1 | lower) as u32;
                }
            }
            doubtful == 0
        })
    }
}

/// The numbers of points of a plane along a Z-curve through their ranks.
fn neighbours_together(points: &[f64]) -> Vec<usize> {
    let n = points.len() / 2;
    let mut codes = vec![0u64; n];
    for axis in 0..2 {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| points[2 * i + axis].total_cmp(&points[2 * j + axis]));
        for (rank, &i) in order.iter().enumerate() {
            let bits = (0..u64::BITS / 2).map(|bit| ((rank as u64 >> bit) & 1) << (2 * bit));
            codes[i] |= bits.sum::<u64>() << axis;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| codes[i]);
    order
}

/// Whether a vector is in the lower half plane, which has the negative half of the first axis.
#[inline(always)]
#[expect(clippy::needless_bitwise_bool, reason = "without branches loops are vectorised")]
fn is_lower(a: f64, b: f64) -> bool {
    (b < 0.0) | (b == 0.0) & (a < 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::sphere_counts::{Choose, in_plane, planar_rays};
    use super::*;

    /// By sorted rays.
    fn sorted(points: &[[f64; 2]], masses: &[f64], z: [f64; 2]) -> f64 {
        let mut exact = ExactPredicates::default();
        let rays = planar_rays(points, z, &mut exact);
        let mut of_ray = vec![0.0; rays.first.len()];
        let at_rays = rays.ray_of_point.iter().zip(masses);
        at_rays.for_each(|(ray, m)| ray.iter().for_each(|ray| of_ray[*ray] += m));
        let ahead =
            |i: usize, j: usize| exact.orientation(points[rays.first[i]], points[rays.first[j]], z).is_gt();
        in_plane(&of_ray, 3, Choose { counts: true }, ahead).number
    }

    #[test]
    fn triples_are_those_of_sorted_rays() {
        let mut state = 11u64;
        let mut next = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        let (mut scratch, mut counted) = (HalfTurn::default(), 0);
        for round in 0..3000 {
            // Small grids have ties, duplicates and opposite points; large ones have none.
            let spread = [3, 7, 30, 1 << 30][round % 4];
            let n = 1 + next(if round % 5 == 0 { 300 } else { 12 });
            let mut point = || [next(spread) as f64 - 2.0, next(spread) as f64 - 2.0];
            let mut points: Vec<[f64; 2]> = (0..n).map(|_| point()).collect();
            let z = if round % 3 == 0 { points[0] } else { point() };
            points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
            points.dedup();
            let masses: Vec<f64> = points.iter().map(|_| 1.0 + next(3) as f64).collect();
            let plane = CountedPlane::new(&points.concat(), &masses).unwrap();
            if let Some(found) = plane.open_triples(z, &mut scratch) {
                assert_eq!(found, sorted(&points, &masses, z), "{points:?} {masses:?} {z:?}");
                counted += 1;
            }
        }
        assert!(counted > 2900, "{counted}");
        assert!(CountedPlane::new(&[0.0, 1.0], &[0.5]).is_none());
    }
}
