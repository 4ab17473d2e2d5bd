//! How many triples of points of the plane lie in an open half plane at the origin, without sorting all points.
//!
//! As a directed line through the origin makes half a turn, every point passes from one of its sides to the other once. Let
//! $l$ and $r$ be the masses on its left and right. A point that leaves the left side has the rest of it less than half a turn
//! ahead, one that enters it the rest of the right side. So points of the mass $a$ that leave one after the other are the first
//! of $\binom l3 - \binom{l - a}3$ triples in an open half plane, whatever their order, and points of the mass $b$ that enter of
//! $\binom r3 - \binom{r - b}3$. Points that leave and points that enter on one line are not ahead of each other: both numbers
//! hold, with $l$ and $r$ from before.
//!
//! If every point changed $\binom r3$ as one that enters, these terms would add up to the difference between the start and the end
//! of the half turn. So what is left to add is, for every point that leaves, the decrease of $\binom l3 - \binom r3$: an odd
//! function of $l - r$. A histogram over the angle gives $l$ and $r$; only where points leave and enter in the same bucket are they
//! sorted.

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
///
/// The buckets are dealt to lanes: each lane has a part of the half circle, and a row has a bucket of every part. So the sums along
/// the half circle are sums of rows.
#[derive(Debug, Default)]
pub(super) struct HalfTurn {
    /// Twice the bucket, and one more for points of the lower half plane, whose opposite is in the bucket.
    place: Vec<u32>,
    /// For every bucket the masses of the points that leave the left side, and [`ENTER`] times those that enter it; later, the first
    /// of the points in a mixed bucket.
    sides: Vec<u32>,
    /// Left minus right before every bucket; last, at the end of every lane.
    surplus: Vec<f64>,
    decreases: Vec<f64>,
    /// The buckets in which points leave and enter, and the points in them: for each the next one in its bucket.
    mixed: Vec<u32>,
    points: Vec<u32>,
    next: Vec<u32>,
    events: Vec<u32>,
    exact: ExactPredicates,
}

/// The place of the masses that enter in a word.
const ENTER: u32 = 16;
/// The largest mass that leaves a bucket, half a word.
const LEAVE: u32 = (1 << ENTER) - 1;
/// A bucket that is mixed, of which no point is known yet; the end of the points of a bucket.
const LAST: u32 = u32::MAX;

/// The masses of a bucket that leave and that enter.
#[inline(always)]
fn leave_and_enter(sides: u32) -> [i32; 2] {
    [(sides & LEAVE).cast_signed(), (sides >> ENTER).cast_signed()]
}

/// Three times two: what the products below are divided by.
const ORDERS: f64 = 6.0;
/// Whole numbers up to the cube of this are exact; so are multiples of 8 up to eight times as much, hence all sums here.
const LARGEST: f64 = 2e5;

/// $6 \binom x3$.
#[inline(always)]
fn ordered_triples(x: f64) -> f64 {
    x * (x - 1.0) * (x - 2.0)
}

/// $24 (\binom l3 - \binom r3)$ for $u = l - r$: $u^3 + (3 N^2 - 12 N + 8) u$ with $N = l + r$.
#[derive(Debug, Clone, Copy)]
struct Imbalance {
    linear: f64,
}

impl Imbalance {
    fn new(total: f64) -> Self {
        Self { linear: 3.0 * total * total - 12.0 * total + 8.0 }
    }

    /// Its decrease from `u` to `v`.
    #[inline(always)]
    fn decrease(self, u: f64, v: f64) -> f64 {
        let at = |u: f64| u * (u * u + self.linear);
        at(u) - at(v)
    }
}

impl CountedPlane {
    /// `None` if there are too many observations for exact sums, or if the masses do not count.
    pub(super) fn new(points: &[f64], masses: &[f64]) -> Option<Self> {
        let fits = masses.iter().sum::<f64>() <= LARGEST
            && masses.iter().all(|m| m.fract() == 0.0 && *m <= f64::from(LEAVE));
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

    /// The number of triples in an open half plane at `z`; `None` where rounding decides in which bucket a point is, and where
    /// a bucket has too much mass for its half of a word.
    pub(super) fn open_triples(&self, z: [f64; 2], scratch: &mut HalfTurn) -> Option<f64> {
        let n = self.x.len();
        let number = (2 * n).next_multiple_of(LANES);
        if !self.locate(z, number, scratch) {
            return None;
        }
        // The last one has the point at `z`.
        scratch.sides.clear();
        scratch.sides.resize(number + 1, 0);
        for (place, count) in scratch.place.iter().zip(&self.counts) {
            let sides = &mut scratch.sides[(place >> 1) as usize];
            *sides = sides.wrapping_add(*count << (ENTER * (place & 1)));
        }
        let [nowhere, _] = leave_and_enter(scratch.sides[number]);
        scratch.sides[number] = 0;
        let total = self.total - nowhere;
        let ordered = scratch.sweep(number, total)? + self.mixed(z, f64::from(total), scratch);
        Some(ordered / (4.0 * ORDERS))
    }

    /// Four times what the points that leave add in the buckets in which points leave and enter.
    fn mixed(&self, z: [f64; 2], total: f64, scratch: &mut HalfTurn) -> f64 {
        let n = self.x.len();
        let HalfTurn { place, sides, surplus, mixed, points, next, events, exact, .. } = scratch;
        points.resize(n + 1, 0);
        next.resize(n, 0);
        mixed.resize(n + 1, 0);
        let (mut i, mut found, mut mixtures) = (0, 0, 0);
        for place in &*place {
            points[found] = i;
            found += usize::from(sides[(place >> 1) as usize] == LAST);
            i += 1;
        }
        for (at, (&i, next)) in (0u32..).zip(points[..found].iter().zip(next.iter_mut())) {
            let b = place[i as usize] >> 1;
            let first = &mut sides[b as usize];
            mixed[mixtures] = b;
            mixtures += usize::from(*first == LAST);
            (*next, *first) = (*first, at);
        }
        let (imbalance, mut sum) = (Imbalance::new(total), 0.0);
        let apart = |i: usize| [self.x[i] - z[0], self.y[i] - z[1]];
        for &b in &mixed[..mixtures] {
            let (u, first) = (surplus[b as usize], sides[b as usize]);
            let second = next[first as usize];
            if next[second as usize] == LAST {
                let [p, q] = [first, second].map(|at| points[at as usize] as usize);
                let (leave, enter) = if place[p] & 1 == 0 { (p, q) } else { (q, p) };
                if let Some(order) = certain_orientation(apart(leave), apart(enter)) {
                    let [a, b] = [leave, enter].map(|i| 2.0 * f64::from(self.counts[i]));
                    // Counterclockwise is later; the one that enters was replaced by its opposite.
                    let u = if order.is_gt() { u + b } else { u };
                    sum += imbalance.decrease(u, u - a);
                    continue;
                }
            }
            events.clear();
            let mut at = first;
            while at != LAST {
                events.push(points[at as usize]);
                at = next[at as usize];
            }
            let mut order = |i: u32, j: u32| {
                let (i, j) = (i as usize, j as usize);
                let (p, q) = ([self.x[i], self.y[i]], [self.x[j], self.y[j]]);
                let orientation =
                    certain_orientation(apart(i), apart(j)).unwrap_or_else(|| exact.orientation(p, q, z));
                // One of two points was replaced by its opposite if they are on different sides.
                if (place[i] ^ place[j]) & 1 == 1 { orientation } else { orientation.reverse() }
            };
            events.sort_unstable_by(|&i, &j| order(i, j));
            let (mut l, mut at) = (0.5 * (total + u), 0);
            while at < events.len() {
                let (first, mut moved) = (events[at], [0.0; 2]);
                while at < events.len() && (events[at] == first || order(first, events[at]).is_eq()) {
                    let i = events[at] as usize;
                    moved[(place[i] & 1) as usize] += f64::from(self.counts[i]);
                    at += 1;
                }
                let (r, [leave, enter]) = (total - l, moved);
                // What the points on this line add, less the difference of the triples on the right.
                sum += 4.0 * (ordered_triples(l) - ordered_triples(l - leave));
                sum += 4.0 * (ordered_triples(r + leave - enter) - ordered_triples(r - enter));
                l += enter - leave;
            }
        }
        sum
    }

    /// Finds the places; false if a border between buckets is within rounding of a point.
    fn locate(&self, z: [f64; 2], number: usize, HalfTurn { place, .. }: &mut HalfTurn) -> bool {
        // Adding 2^52 rounds to an integer and leaves it in the low bits; half as much again is for negative numbers.
        const ROUND: f64 = 4_503_599_627_370_496.0;
        const ROUND_SIGNED: f64 = 1.5 * ROUND;
        // Differences of huge numbers overflow.
        if z.iter().any(|z| z.abs() > 1e150) {
            return false;
        }
        place.resize(self.x.len(), 0);
        let (scale, nowhere) = ((number - 1) as f64 / 2.0, number as f64);
        let close = 0.5 - POSITION_ERROR * nowhere;
        // Bucket b has row and lane as remainder and quotient by the number of rows.
        let (lanes, rows) = (LANES as f64, (number / LANES) as f64);
        let (per_row, lane_step) = (rows.recip(), lanes * rows - 1.0);
        let (x, y, place) = (&self.x[..], &self.y[..], &mut place[..]);
        vectorised!({
            let mut doubtful = 0;
            for ((place, x), y) in place.iter_mut().zip(x).zip(y) {
                let (a, b) = (x - z[0], y - z[1]);
                let lower = is_lower(a, b);
                let a = if lower { -a } else { a };
                let length = a.abs() + b.abs();
                let position = (1.0 - a / length) * scale + BUCKET_OFFSET;
                let bucket = (position + ROUND) - ROUND;
                doubtful |= u64::from((position - bucket).abs() > close);
                // The quotient rounded down: half a bucket is far more than its rounding.
                let lane = (((bucket + 0.5) * per_row - 0.5) + ROUND_SIGNED) - ROUND_SIGNED;
                let dealt = bucket * lanes - lane * lane_step;
                let dealt = if length == 0.0 { nowhere } else { dealt };
                #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
                {
                    *place = ((dealt + ROUND).to_bits() << 1 | u64::from(lower)) as u32;
                }
            }
            doubtful == 0
        })
    }
}

impl HalfTurn {
    /// Fills in the surplus before every bucket, and marks the mixed buckets.
    ///
    /// Returns four times the ordered triples, but for what points add that leave in mixed buckets; `None` if a half of a word
    /// was too small.
    fn sweep(&mut self, number: usize, total: i32) -> Option<f64> {
        self.surplus.resize(number + LANES, 0.0);
        self.decreases.resize(number, 0.0);
        let sides = &mut self.sides[..number];
        let (surplus, decreases) = (&mut self.surplus[..number + LANES], &mut self.decreases[..number]);
        // What overflows a half of a word is missing here, less one for the carry.
        let mass =
            vectorised!(sides.iter().map(|sides| leave_and_enter(*sides).iter().sum::<i32>()).sum::<i32>());
        if mass != total {
            return None;
        }
        let mut change = [0; LANES];
        vectorised!({
            for row in sides.as_chunks::<LANES>().0 {
                for k in 0..LANES {
                    let [leave, enter] = leave_and_enter(row[k]);
                    change[k] += enter - leave;
                }
            }
        });
        // After half a turn the sides have changed places.
        let start = -change.iter().sum::<i32>();
        let (mut at, mut starts) = (start, [0; LANES]);
        for k in 0..LANES {
            starts[k] = at;
            at += 2 * change[k];
        }
        let ends = vectorised!({
            let mut now = starts;
            let rows = sides.as_chunks::<LANES>().0.iter().zip(surplus.as_chunks_mut::<LANES>().0);
            for (row, surplus) in rows {
                for k in 0..LANES {
                    surplus[k] = f64::from(now[k]);
                }
                for k in 0..LANES {
                    let [leave, enter] = leave_and_enter(row[k]);
                    now[k] += 2 * (enter - leave);
                }
            }
            now
        });
        surplus[number..].iter_mut().zip(ends).for_each(|(surplus, end)| *surplus = f64::from(end));
        let imbalance = Imbalance::new(f64::from(total));
        let by_leaving = vectorised!({
            let around = surplus.iter().zip(&surplus[LANES..]);
            for ((sides, decrease), (u, v)) in sides.iter_mut().zip(decreases.iter_mut()).zip(around) {
                let [leave, enter] = leave_and_enter(*sides);
                // Computed for all: without branches the loop is vectorised.
                let all = imbalance.decrease(*u, *v);
                *decrease = if *sides <= LEAVE { all } else { 0.0 };
                *sides = if leave.min(enter) > 0 { LAST } else { 0 };
            }
            let mut lanes = [0.0; LANES];
            for row in decreases.as_chunks::<LANES>().0 {
                for k in 0..LANES {
                    lanes[k] += row[k];
                }
            }
            fold(lanes)
        });
        let on_right = |surplus: i32| ordered_triples(0.5 * f64::from(total - surplus));
        Some(by_leaving + 4.0 * (on_right(start) - on_right(-start)))
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
    #[test]
    fn halves_of_a_word_that_overflow_are_noticed() {
        let points: Vec<[f64; 2]> = (0..9).map(|k| [f64::from(k % 3), f64::from(k / 3) + 0.1]).collect();
        let masses = [20_000.0; 9];
        let plane = CountedPlane::new(&points.concat(), &masses).unwrap();
        let mut scratch = HalfTurn::default();
        // From far away all points are in one bucket.
        assert_eq!(plane.open_triples([-1e9, 0.0], &mut scratch), None);
        for z in [[0.9, 1.2], [1.0, 1.1], [-0.5, 0.3]] {
            assert_eq!(plane.open_triples(z, &mut scratch), Some(sorted(&points, &masses, z)), "{z:?}");
        }
        assert!(CountedPlane::new(&[0.0, 1.0], &[70_000.0]).is_none());
    }
}
