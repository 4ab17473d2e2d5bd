//! All directions at which median or median absolute deviation of projections of a plane sample can bend.
//!
//! As a direction turns, the median is the projection of one point (or the mean of two) until another point passes it, and the
//! median absolute deviation that of one point (or two) until another passes. Between such events both are linear in the
//! direction, so the outlyingness of any query is a quotient of linear functions, which is monotone, and its supremum is
//! attained at an event (N11). The events do not depend on the query.

/// A direction with median and median absolute deviation of the projections.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Projected {
    pub(super) u: Vec<f64>,
    pub(super) median: f64,
    pub(super) deviation: f64,
}

/// How far beyond an event the order of the projections is looked at, in radians.
pub(super) const BEYOND: f64 = 1e-10;

/// Medians of weighted numbers; scratch memory.
#[derive(Debug, Default, Clone)]
pub(super) struct Medians {
    pairs: Vec<(f64, u64, usize)>,
    values: Vec<f64>,
}

impl Medians {
    /// The two points in the middle: the first at which the masses reach half of the total, and the first where they exceed it.
    fn middle(&mut self, masses: &[u64], total: u64, value: impl Fn(usize) -> f64) -> (usize, usize) {
        let order = |a: &(f64, u64, usize), b: &(f64, u64, usize)| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2));
        self.pairs.clear();
        self.pairs.extend(masses.iter().enumerate().map(|(i, m)| (value(i), *m, i)));
        let (mut first, mut end, mut before) = (0, self.pairs.len(), 0u64);
        // A half, rounded up: the sums are whole numbers.
        let half = total.div_ceil(2);
        while end - first > 1 {
            let middle = first + (end - first) / 2;
            self.pairs[first..end].select_nth_unstable_by(middle - first, order);
            let part: u64 = self.pairs[first..middle].iter().map(|p| p.1).sum();
            if before + part >= half { end = middle } else { (first, before) = (middle, before + part) }
        }
        let low = self.pairs[first];
        if 2 * (before + low.1) != total {
            return (low.2, low.2);
        }
        let high = self.pairs[first + 1..].iter().min_by(|a, b| order(a, b)).copied();
        (low.2, high.map_or(low.2, |high| high.2))
    }

    /// The median of weighted numbers.
    pub(super) fn median(&mut self, masses: &[u64], total: u64, value: impl Fn(usize) -> f64) -> f64 {
        let (low, high) = self.middle(masses, total, &value);
        0.5 * (value(low) + value(high))
    }

    /// Median and median absolute deviation of projections, with the points that they are made of.
    fn locate(&mut self, masses: &[u64], total: u64, projections: &[f64]) -> Located {
        let centre = self.middle(masses, total, |i| projections[i]);
        let median = 0.5 * (projections[centre.0] + projections[centre.1]);
        let spread = self.middle(masses, total, |i| (projections[i] - median).abs());
        let apart = |i: usize| (projections[i] - median).abs();
        let deviation = 0.5 * (apart(spread.0) + apart(spread.1));
        Located { centre, spread, median, deviation }
    }

    /// Median and median absolute deviation of the projections on `u` of points given column by column.
    pub(super) fn project(&mut self, columns: &[f64], masses: &[u64], total: u64, u: &[f64]) -> (f64, f64) {
        let mut values = std::mem::take(&mut self.values);
        project(columns, masses.len(), u, &mut values);
        let Located { median, deviation, .. } = self.locate(masses, total, &values);
        self.values = values;
        (median, deviation)
    }

    /// Rough standard errors of median and deviation: half the distance of the order statistics that are half a standard
    /// error of a share to either side of the middle (heuristic).
    pub(super) fn spread(
        &mut self,
        columns: &[f64],
        masses: &[u64],
        observations: f64,
        u: &[f64],
    ) -> (f64, f64) {
        let mut values = std::mem::take(&mut self.values);
        project(columns, masses.len(), u, &mut values);
        let total: u64 = masses.iter().sum();
        let median = self.locate(masses, total, &values).median;
        let half_width = 0.5 / observations.sqrt();
        let between = |value: &dyn Fn(usize) -> f64| {
            let mut sorted: Vec<(f64, u64)> = (0..masses.len()).map(|i| (value(i), masses[i])).collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let at = |share: f64| {
                let mut sum = 0.0;
                let found = sorted.iter().find(|(_, m)| {
                    sum += *m as f64 / total as f64;
                    sum >= share
                });
                found.or(sorted.last()).map_or(0.0, |p| p.0)
            };
            0.5 * (at(0.5 + half_width) - at(0.5 - half_width))
        };
        let found = (between(&|i| values[i]), between(&|i| (values[i] - median).abs()));
        self.values = values;
        found
    }
}

/// The projections on `u` of points given column by column.
pub(super) fn project(columns: &[f64], n: usize, u: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.resize(n, 0.0);
    for (j, u) in u.iter().enumerate() {
        crate::numerics::linalg::axpy(*u, &columns[j * n..(j + 1) * n], out);
    }
}

struct Located {
    centre: (usize, usize),
    spread: (usize, usize),
    median: f64,
    deviation: f64,
}

/// The directions of all events on half a circle, for points given column by column; `None` if there are too many.
pub(super) fn breakpoints(columns: &[f64], masses: &[u64]) -> Option<Vec<Projected>> {
    let n = masses.len();
    let total: u64 = masses.iter().sum();
    let mut medians = Medians::default();
    let mut found = Vec::new();
    let limit = 400 * n + 10_000;
    // An angle that no data has by design.
    let (start, mut turned) = (0.731_058_578_6f64, 0.0f64);
    let (mut p, mut q) = (Vec::new(), Vec::new());
    while turned < std::f64::consts::PI {
        let angle = start + turned;
        let (u, across) = ([angle.cos(), angle.sin()], [-angle.sin(), angle.cos()]);
        project(columns, n, &u, &mut p);
        project(columns, n, &across, &mut q);
        let Located { centre, spread, .. } = medians.locate(masses, total, &p);
        let mean = |v: &[f64], (a, b): (usize, usize)| 0.5 * (v[a] + v[b]);
        let (mp, mq) = (mean(&p, centre), mean(&q, centre));
        // The event ⟨u(t), e⟩ = 0 is at cot t = -⟨u⊥, e⟩ / ⟨u, e⟩: the next one has the largest.
        let mut next = f64::NEG_INFINITY;
        let mut consider = |ep: f64, eq: f64| {
            let cot = -eq / ep;
            // Events at the current direction are over.
            if ep != 0.0 && cot < 0.5 / BEYOND && cot > next {
                next = cot;
            }
        };
        for (a, both) in [(centre.0, true), (centre.1, centre.0 != centre.1)] {
            if both {
                let (ap, aq) = (p[a], q[a]);
                for i in 0..n {
                    consider(p[i] - ap, q[i] - aq);
                }
            }
        }
        for (b, both) in [(spread.0, true), (spread.1, spread.0 != spread.1)] {
            if both {
                let (bp, bq) = (p[b] - mp, q[b] - mq);
                for i in 0..n {
                    let (ip, iq) = (p[i] - mp, q[i] - mq);
                    consider(ip - bp, iq - bq);
                    consider(ip + bp, iq + bq);
                }
            }
        }
        let step = if next.is_finite() { 1f64.atan2(next) } else { std::f64::consts::PI };
        turned += step;
        let angle = start + turned.min(std::f64::consts::PI);
        let u = [angle.cos(), angle.sin()];
        let (median, deviation) = medians.project(columns, masses, total, &u);
        found.push(Projected { u: u.to_vec(), median, deviation });
        turned += BEYOND;
        if found.len() > limit {
            return None;
        }
    }
    Some(found)
}
