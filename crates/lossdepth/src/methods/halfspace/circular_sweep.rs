//! Two dimensions: a circular sweep of a line through the query.
//!
//! As a line through $z$ makes half a rotation, every point changes sides once: an event. Between two events
//! nothing changes, so the least mass on one side is found by visiting the events in angular order. They need
//! not all be sorted. A histogram over the angle gives the mass at the borders of its buckets, hence an upper
//! bound, and the largest mass a bucket could lose, hence a lower bound; only buckets that could contain the
//! minimum are sorted. That is linear time on usual data, and $O(n \log n)$ at worst.
//!
//! Events are compared by the sign of a cross product, exactly where necessary. Buckets whose common border
//! is within rounding of an event are merged.

use crate::numerics::simd::vectorised;
use std::cmp::Ordering;

/// Positions that differ by less than this, in units of the number of buckets, are compared exactly. A
/// position is off by at most $4.5 \cdot 2^{-53}$ in these units: the roundings of $x$, $y$, $|x| + y$, the
/// quotient, the difference from 1, the scaling and the offset. Two of them need 1e-15; this is four times as
/// much.
pub(in crate::methods) const POSITION_ERROR: f64 = 4e-15;
/// Moves the borders of the buckets away from the angles of integer vectors.
pub(in crate::methods) const BUCKET_OFFSET: f64 = 0.381_966_011_25;

/// Between which events the minimum is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SweepGap {
    /// At a border between buckets: the position on the half circle, from 0 to 2.
    Border(f64),
    /// Between two consecutive events.
    Between(usize, usize),
    /// Between the last event and the first.
    Wrap,
}

/// The least mass on one side of a line through the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SweepMinimum {
    /// Without the points at the origin.
    pub(super) mass: u64,
    /// The mass at the origin.
    pub(super) at_origin: u64,
    gap: SweepGap,
    /// Whether it is on the other side of the line.
    opposite: bool,
}

/// A circular sweep; its scratch memory.
#[derive(Debug, Default)]
pub(super) struct CircularSweep {
    /// Scratch memory for the caller's vectors.
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
    /// Positions on the half circle in units of a bucket; negative for points at the origin.
    position: Vec<f64>,
    /// Whether the vector was replaced by its opposite.
    flipped: Vec<bool>,
    bucket: Vec<u32>,
    /// For every bucket the mass that leaves and the mass that enters the positive side.
    change: Vec<[u64; 2]>,
    /// Whether the border before a bucket is within rounding of an event.
    merged: Vec<bool>,
    candidate: Vec<bool>,
    events: Vec<u32>,
}

impl CircularSweep {
    /// The least mass, for vectors $(a_i, b_i)$ whose signs are exact.
    ///
    /// `compare` orders two points by the angle of their vectors, those of the lower half plane replaced by
    /// their opposites; it is called only where the positions do not decide.
    pub(super) fn minimum(
        &mut self,
        a: &[f64],
        b: &[f64],
        masses: &[u64],
        compare: &mut impl FnMut(usize, usize) -> Ordering,
    ) -> SweepMinimum {
        let n = a.len().min(b.len()).min(masses.len());
        let buckets = n.next_power_of_two().clamp(16, 1 << 20);
        self.locate(&a[..n], &b[..n], buckets);
        let (at_origin, start, total) = self.count(masses, buckets);

        let opposite = start > total - start;
        let mut best =
            SweepMinimum { mass: start.min(total - start), at_origin, gap: SweepGap::Wrap, opposite };
        let consider = |best: &mut SweepMinimum, mass: u64, gap: SweepGap| {
            for (mass, opposite) in [(mass, false), (total - mass, true)] {
                if mass < best.mass {
                    *best = SweepMinimum { mass, at_origin, gap, opposite };
                }
            }
        };
        let scale = (buckets - 1) as f64 / 2.0;
        let mut mass = start;
        for k in 1..buckets {
            mass = mass + self.change[k - 1][1] - self.change[k - 1][0];
            if !self.merged[k] {
                consider(&mut best, mass, SweepGap::Border((k as f64 - BUCKET_OFFSET) / scale));
            }
        }

        // The runs of merged buckets that could contain less than any border.
        self.candidate.clear();
        self.candidate.resize(buckets, false);
        let (mut first, mut mass) = (0, start);
        while first < buckets {
            let mut end = first + 1;
            let [mut loss, mut gain] = self.change[first];
            while end < buckets && self.merged[end] {
                loss += self.change[end][0];
                gain += self.change[end][1];
                end += 1;
            }
            if mass - loss < best.mass || total - mass - gain < best.mass {
                self.candidate[first..end].fill(true);
            }
            mass = mass + gain - loss;
            first = end;
        }
        self.events.clear();
        for (i, &k) in self.bucket.iter().enumerate() {
            if self.candidate.get(k as usize) == Some(&true) {
                self.events.push(u32::try_from(i).unwrap_or(u32::MAX));
            }
        }
        if !self.events.is_empty() {
            let position = &self.position;
            let position_error = POSITION_ERROR * buckets as f64;
            let mut order = |i: u32, j: u32| {
                let (i, j) = (i as usize, j as usize);
                if (position[i] - position[j]).abs() > position_error {
                    position[i].total_cmp(&position[j])
                } else {
                    compare(i, j)
                }
            };
            self.events.sort_unstable_by(|&i, &j| order(i, j));
            // Within a run the mass follows the events; buckets between runs are added as a whole.
            let mut next_bucket = 0;
            let mut mass = start;
            for (k, &event) in self.events.iter().enumerate() {
                let i = event as usize;
                let bucket = self.bucket[i] as usize;
                while next_bucket < bucket {
                    if !self.candidate[next_bucket] {
                        mass = mass + self.change[next_bucket][1] - self.change[next_bucket][0];
                    }
                    next_bucket += 1;
                }
                mass = if self.flipped[i] { mass + masses[i] } else { mass - masses[i] };
                let Some(&next) = self.events.get(k + 1) else { break };
                let j = next as usize;
                // Two events are consecutive only within a run.
                let adjacent = (bucket..self.bucket[j] as usize).all(|k| self.merged[k + 1]);
                if adjacent && order(event, next) == Ordering::Less {
                    consider(&mut best, mass, SweepGap::Between(i, j));
                }
            }
        }
        best
    }

    /// A direction whose halfplane has the least mass, for the vectors of the last sweep.
    pub(super) fn direction(
        &self,
        minimum: SweepMinimum,
        a: &[f64],
        b: &[f64],
        compare: &mut impl FnMut(usize, usize) -> Ordering,
    ) -> [f64; 2] {
        let unit = |i: usize| {
            let (x, y) = if self.flipped[i] { (-a[i], -b[i]) } else { (a[i], b[i]) };
            let length = x.hypot(y);
            [x / length, y / length]
        };
        let [x, y] = match minimum.gap {
            SweepGap::Border(position) => [1.0 - position, 1.0 - (1.0 - position).abs()],
            SweepGap::Between(i, j) => {
                let (f, g) = (unit(i), unit(j));
                [f[0] + g[0], f[1] + g[1]]
            }
            SweepGap::Wrap => {
                let events = (0..self.position.len()).filter(|&i| self.position[i] >= 0.0);
                let (first, last) =
                    (events.clone().min_by(|&i, &j| compare(i, j)), events.max_by(|&i, &j| compare(i, j)));
                match (first, last) {
                    (Some(first), Some(last)) => {
                        let (f, g) = (unit(first), unit(last));
                        // All events on one line: its normal.
                        let sum = [f[0] - g[0], f[1] - g[1]];
                        if compare(first, last) == Ordering::Equal { [f[1], -f[0]] } else { sum }
                    }
                    _ => [1.0, 0.0],
                }
            }
        };
        let length = x.hypot(y);
        let side = if minimum.opposite { -1.0 } else { 1.0 };
        [-side * y / length, side * x / length]
    }

    /// Computes positions and buckets.
    fn locate(&mut self, a: &[f64], b: &[f64], buckets: usize) {
        let n = a.len();
        self.position.resize(n, 0.0);
        self.flipped.resize(n, false);
        self.bucket.resize(n, 0);
        let (positions, flipped, bucket) =
            (&mut self.position[..n], &mut self.flipped[..n], &mut self.bucket[..n]);
        let scale = (buckets - 1) as f64 / 2.0;
        vectorised!({
            for i in 0..n {
                let (x, y) = (a[i], b[i]);
                let flip = y < 0.0 || y == 0.0 && x < 0.0;
                let (x, y) = if flip { (-x, -y) } else { (x, y) };
                let length = x.abs() + y;
                let position = (1.0 - x / length) * scale + BUCKET_OFFSET;
                let position = if length == 0.0 { -1.0 } else { position };
                positions[i] = position;
                flipped[i] = flip;
                // Below 2^20; points at the origin get no bucket.
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "small, positive"
                )]
                {
                    bucket[i] = if position < 0.0 { u32::MAX } else { position as u32 };
                }
            }
        });
    }

    /// Fills the histogram; returns the mass at the origin, the mass on the positive side before the first
    /// event, and the mass of all events.
    fn count(&mut self, masses: &[u64], buckets: usize) -> (u64, u64, u64) {
        // An additional bucket collects the points at the origin.
        self.change.clear();
        self.change.resize(buckets + 1, [0, 0]);
        self.merged.clear();
        self.merged.resize(buckets + 1, false);
        let position_error = POSITION_ERROR * buckets as f64;
        for (((&k, &position), &flip), &mass) in
            self.bucket.iter().zip(&self.position).zip(&self.flipped).zip(masses)
        {
            let k = (k as usize).min(buckets);
            self.change[k][usize::from(flip)] += mass;
            let part = position - k as f64;
            if part < position_error && k < buckets {
                self.merged[k] = true;
            } else if part > 1.0 - position_error {
                self.merged[k + 1] = true;
            }
        }
        let at_origin = self.change[buckets][0] + self.change[buckets][1];
        let sum = |side: usize| self.change[..buckets].iter().map(|c| c[side]).sum::<u64>();
        let (start, enters) = (sum(0), sum(1));
        (at_origin, start, start + enters)
    }
}

/// The sign of the cross product of two vectors, each entry rounded once; `None` if rounding could change it.
#[inline]
pub(in crate::methods) fn certain_orientation(a: [f64; 2], b: [f64; 2]) -> Option<Ordering> {
    let (p, q) = (a[0] * b[1], a[1] * b[0]);
    let cross = p - q;
    // Products this small have an absolute rounding error.
    (cross.abs() > 4.0 * f64::EPSILON * (p.abs() + q.abs()) + f64::MIN_POSITIVE)
        .then(|| cross.total_cmp(&0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: the mass on each side of every line through a point, rotated a little either way.
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
    fn minimum_on_small_grids_equals_the_definition() {
        let mut state = 7u64;
        let mut next = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        let small = |v: u64| i32::try_from(v).unwrap();
        let mut sweep = CircularSweep::default();
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
            let minimum = sweep.minimum(&a, &b, &masses, &mut compare);
            if points.iter().all(|p| *p == (0, 0)) {
                continue;
            }
            assert_eq!(
                minimum.mass + minimum.at_origin,
                by_definition(&points, &masses),
                "{points:?} {masses:?}"
            );
            let u = sweep.direction(minimum, &a, &b, &mut compare);
            let attained: u64 =
                (0..a.len()).filter(|&i| u[0] * a[i] + u[1] * b[i] >= 0.0).map(|i| masses[i]).sum();
            assert_eq!(attained, minimum.mass + minimum.at_origin, "{points:?} {masses:?} {u:?}");
        }
    }
}
