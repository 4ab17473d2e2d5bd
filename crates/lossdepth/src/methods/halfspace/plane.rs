//! Two dimensions: one turn of a line around the query.
//!
//! As a line through $z$ makes half a turn, every point is passed once: it changes from one side to the other. Between
//! two events nothing changes, so the least mass on one side is found by going through the events in angular order.
//! They need not be sorted. A histogram over the angle gives the mass at the borders of its buckets, hence an upper
//! bound, and the mass a bucket could lose at most, hence a lower bound; only buckets that could hold the minimum are
//! sorted. That is linear time on all but contrived data, and $O(n \log n)$ on those.
//!
//! Events are compared by the sign of a cross product, exact where it matters. Buckets whose border is too close to an
//! event to be told apart from it are joined.

use crate::numerics::simd::vectorised;
use std::cmp::Ordering;

/// Differences of positions below this are left to the exact comparison: the sum of all roundings in
/// $1 - a/(|a| + b)$, with room to spare.
const BLUR: f64 = 4e-15;
/// Shifts the borders of the buckets away from angles that whole numbers make.
const SHIFT: f64 = 0.381_966_011_25;

/// Where the least mass was found.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Gap {
    /// At a border between buckets: the position on the half circle, from 0 to 2.
    Border(f64),
    /// Between two events that follow each other.
    Between(usize, usize),
    /// Between the last event and the first.
    Wrap,
}

/// The least mass on one side of a line through the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Least {
    /// Points at the origin not included.
    pub(super) mass: u64,
    /// The mass at the origin.
    pub(super) origin: u64,
    gap: Gap,
    /// Whether it lies on the other side of the line.
    opposite: bool,
}

/// Scratch memory for a turn.
#[derive(Debug, Default)]
pub(super) struct Fan {
    /// Room for the caller's vectors.
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
    /// Positions on the half circle in units of a bucket; negative for points at the origin.
    at: Vec<f64>,
    /// Whether the point was turned by 180 degrees.
    flipped: Vec<bool>,
    bucket: Vec<u32>,
    /// For every bucket the mass that leaves and the mass that enters.
    change: Vec<[u64; 2]>,
    /// Whether the border in front of a bucket is not to be trusted.
    joined: Vec<bool>,
    open: Vec<bool>,
    events: Vec<u32>,
}

impl Fan {
    /// The least mass, for vectors $(a_i, b_i)$ with exact signs.
    ///
    /// `compare` orders two points by the angle of their vectors, those of the lower half plane turned around;
    /// it is asked only where the positions do not decide.
    pub(super) fn least(
        &mut self,
        a: &[f64],
        b: &[f64],
        masses: &[u64],
        compare: &mut impl FnMut(usize, usize) -> Ordering,
    ) -> Least {
        let n = a.len().min(b.len()).min(masses.len());
        let buckets = n.next_power_of_two().clamp(16, 1 << 20);
        self.locate(&a[..n], &b[..n], buckets);
        let (origin, start, total) = self.count(masses, buckets);

        let opposite = start > total - start;
        let mut best = Least { mass: start.min(total - start), origin, gap: Gap::Wrap, opposite };
        let consider = |best: &mut Least, mass: u64, gap: Gap| {
            for (mass, opposite) in [(mass, false), (total - mass, true)] {
                if mass < best.mass {
                    *best = Least { mass, origin, gap, opposite };
                }
            }
        };
        let scale = (buckets - 1) as f64 / 2.0;
        let mut mass = start;
        for k in 1..buckets {
            mass = mass + self.change[k - 1][1] - self.change[k - 1][0];
            if !self.joined[k] {
                consider(&mut best, mass, Gap::Border((k as f64 - SHIFT) / scale));
            }
        }

        // Which runs of joined buckets could do better than any border?
        self.open.clear();
        self.open.resize(buckets, false);
        let (mut first, mut mass) = (0, start);
        while first < buckets {
            let mut end = first + 1;
            let [mut loss, mut gain] = self.change[first];
            while end < buckets && self.joined[end] {
                loss += self.change[end][0];
                gain += self.change[end][1];
                end += 1;
            }
            if mass - loss < best.mass || total - mass - gain < best.mass {
                self.open[first..end].fill(true);
            }
            mass = mass + gain - loss;
            first = end;
        }
        self.events.clear();
        for (i, &k) in self.bucket.iter().enumerate() {
            if self.open.get(k as usize) == Some(&true) {
                self.events.push(u32::try_from(i).unwrap_or(u32::MAX));
            }
        }
        if !self.events.is_empty() {
            let at = &self.at;
            let blur = BLUR * buckets as f64;
            let mut order = |i: u32, j: u32| {
                let (i, j) = (i as usize, j as usize);
                if (at[i] - at[j]).abs() > blur { at[i].total_cmp(&at[j]) } else { compare(i, j) }
            };
            self.events.sort_unstable_by(|&i, &j| order(i, j));
            // Within a run the mass follows the events; between runs it is made up for by what lies between.
            let mut passed = 0;
            let mut mass = start;
            for (k, &event) in self.events.iter().enumerate() {
                let i = event as usize;
                let bucket = self.bucket[i] as usize;
                while passed < bucket {
                    if !self.open[passed] {
                        mass = mass + self.change[passed][1] - self.change[passed][0];
                    }
                    passed += 1;
                }
                mass = if self.flipped[i] { mass + masses[i] } else { mass - masses[i] };
                let Some(&next) = self.events.get(k + 1) else { break };
                let j = next as usize;
                // Only within a run do two events follow each other.
                let together = (bucket..self.bucket[j] as usize).all(|k| self.joined[k + 1]);
                if together && order(event, next) == Ordering::Less {
                    consider(&mut best, mass, Gap::Between(i, j));
                }
            }
        }
        best
    }

    /// A direction that has the least mass on its side, for the vectors it was found with.
    pub(super) fn direction(
        &self,
        least: Least,
        a: &[f64],
        b: &[f64],
        compare: &mut impl FnMut(usize, usize) -> Ordering,
    ) -> [f64; 2] {
        let unit = |i: usize| {
            let (x, y) = if self.flipped[i] { (-a[i], -b[i]) } else { (a[i], b[i]) };
            let length = x.hypot(y);
            [x / length, y / length]
        };
        let [x, y] = match least.gap {
            Gap::Border(position) => [1.0 - position, 1.0 - (1.0 - position).abs()],
            Gap::Between(i, j) => {
                let (f, g) = (unit(i), unit(j));
                [f[0] + g[0], f[1] + g[1]]
            }
            Gap::Wrap => {
                let events = (0..self.at.len()).filter(|&i| self.at[i] >= 0.0);
                let (first, last) =
                    (events.clone().min_by(|&i, &j| compare(i, j)), events.max_by(|&i, &j| compare(i, j)));
                match (first, last) {
                    (Some(first), Some(last)) => {
                        let (f, g) = (unit(first), unit(last));
                        // Nearly opposite vectors of one line: its normal.
                        let sum = [f[0] - g[0], f[1] - g[1]];
                        if compare(first, last) == Ordering::Equal { [f[1], -f[0]] } else { sum }
                    }
                    _ => [1.0, 0.0],
                }
            }
        };
        let length = x.hypot(y);
        let side = if least.opposite { -1.0 } else { 1.0 };
        [-side * y / length, side * x / length]
    }

    /// Positions and buckets.
    fn locate(&mut self, a: &[f64], b: &[f64], buckets: usize) {
        let n = a.len();
        self.at.resize(n, 0.0);
        self.flipped.resize(n, false);
        self.bucket.resize(n, 0);
        let (at, flipped, bucket) = (&mut self.at[..n], &mut self.flipped[..n], &mut self.bucket[..n]);
        let scale = (buckets - 1) as f64 / 2.0;
        vectorised(
            #[inline(always)]
            || {
                for i in 0..n {
                    let (x, y) = (a[i], b[i]);
                    let flip = y < 0.0 || y == 0.0 && x < 0.0;
                    let (x, y) = if flip { (-x, -y) } else { (x, y) };
                    let length = x.abs() + y;
                    let position = (1.0 - x / length) * scale + SHIFT;
                    let position = if length == 0.0 { -1.0 } else { position };
                    at[i] = position;
                    flipped[i] = flip;
                    // Below 2^20; the origin goes beyond the last bucket.
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "small, positive"
                    )]
                    {
                        bucket[i] = if position < 0.0 { u32::MAX } else { position as u32 };
                    }
                }
            },
        );
    }

    /// Fills the histogram; the mass at the origin, the mass counted before the first event, and of all events.
    fn count(&mut self, masses: &[u64], buckets: usize) -> (u64, u64, u64) {
        // One more bucket takes the points at the origin.
        self.change.clear();
        self.change.resize(buckets + 1, [0, 0]);
        self.joined.clear();
        self.joined.resize(buckets + 1, false);
        let blur = BLUR * buckets as f64;
        for (((&k, &at), &flip), &mass) in self.bucket.iter().zip(&self.at).zip(&self.flipped).zip(masses) {
            let k = (k as usize).min(buckets);
            self.change[k][usize::from(flip)] += mass;
            let part = at - k as f64;
            if part < blur && k < buckets {
                self.joined[k] = true;
            } else if part > 1.0 - blur {
                self.joined[k + 1] = true;
            }
        }
        let origin = self.change[buckets][0] + self.change[buckets][1];
        let sum = |side: usize| self.change[..buckets].iter().map(|c| c[side]).sum::<u64>();
        let (start, enters) = (sum(0), sum(1));
        (origin, start, start + enters)
    }
}

/// Whether the cross product of two vectors, each rounded once, surely has the sign it seems to have.
#[inline]
pub(super) fn clear_turn(a: [f64; 2], b: [f64; 2]) -> Option<Ordering> {
    let (p, q) = (a[0] * b[1], a[1] * b[0]);
    let cross = p - q;
    // Products that small are rounded by more than their size says.
    (cross.abs() > 4.0 * f64::EPSILON * (p.abs() + q.abs()) + f64::MIN_POSITIVE)
        .then(|| cross.total_cmp(&0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: the mass on each side of every line through a point, turned a little either way.
    fn by_definition(points: &[(i32, i32)], masses: &[u64]) -> u64 {
        let mut best = u64::MAX;
        for &(x, y) in points.iter().filter(|p| **p != (0, 0)) {
            let across = |&(a, b): &(i32, i32)| i64::from(x) * i64::from(b) - i64::from(y) * i64::from(a);
            let along = |&(a, b): &(i32, i32)| i64::from(x) * i64::from(a) + i64::from(y) * i64::from(b);
            for side in [1, -1] {
                for turn in [1, -1] {
                    let inside = |p: &(i32, i32)| {
                        let s = side * across(p);
                        s > 0 || s == 0 && (turn * along(p) > 0 || *p == (0, 0))
                    };
                    let mass = points.iter().zip(masses).filter(|(p, _)| inside(p)).map(|(_, m)| m).sum();
                    best = best.min(mass);
                }
            }
        }
        best
    }

    #[test]
    fn small_grids_against_the_definition() {
        let mut state = 7u64;
        let mut next = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        let small = |v: u64| i32::try_from(v).unwrap();
        let mut fan = Fan::default();
        for round in 0..4000 {
            let n = 1 + next(if round % 10 == 0 { 200 } else { 9 });
            let spread = if round % 10 == 0 { 21 } else { 5 };
            let points: Vec<(i32, i32)> =
                (0..n).map(|_| (small(next(spread)) - 2, small(next(spread)) - 2)).collect();
            let masses: Vec<u64> = (0..n).map(|_| 1 + next(3)).collect();
            let a: Vec<f64> = points.iter().map(|p| f64::from(p.0)).collect();
            let b: Vec<f64> = points.iter().map(|p| f64::from(p.1)).collect();
            let mut compare = |i: usize, j: usize| {
                let flip = |i: usize| if b[i] < 0.0 || b[i] == 0.0 && a[i] < 0.0 { -1.0 } else { 1.0 };
                (flip(i) * flip(j) * (a[j] * b[i] - a[i] * b[j])).partial_cmp(&0.0).unwrap()
            };
            let least = fan.least(&a, &b, &masses, &mut compare);
            if points.iter().all(|p| *p == (0, 0)) {
                continue;
            }
            assert_eq!(least.mass + least.origin, by_definition(&points, &masses), "{points:?} {masses:?}");
            let u = fan.direction(least, &a, &b, &mut compare);
            let attained: u64 =
                (0..a.len()).filter(|&i| u[0] * a[i] + u[1] * b[i] >= 0.0).map(|i| masses[i]).sum();
            assert_eq!(attained, least.mass + least.origin, "{points:?} {masses:?} {u:?}");
        }
    }
}
