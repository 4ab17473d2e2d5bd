//! The points that differ from a query, with integer masses.

use super::circular_sweep::{CircularSweep, certain_orientation};
use super::expansions::ExactPredicates;
use std::cmp::Ordering;

/// Points $x_i \ne z$ of positive mass and the query $z$; the differences span the space.
#[derive(Debug, Clone, Default)]
pub(super) struct WeightedPoints {
    pub(super) dim: usize,
    /// The points, row by row.
    pub(super) x: Vec<f64>,
    pub(super) z: Vec<f64>,
    pub(super) masses: Vec<u64>,
}

/// The points on one line through the query.
struct CentralLine {
    first: usize,
    flipped: bool,
    same: u64,
    opposite: u64,
    /// A point on the other side of the query.
    other: Option<usize>,
}

/// Bounds on the least mass of a closed halfspace whose boundary passes through the query.
#[derive(Debug, Clone, Default)]
pub(super) struct MassBounds {
    pub(super) lower: u64,
    pub(super) upper: u64,
    /// Attains `upper`, at least before it was rounded.
    pub(super) direction: Vec<f64>,
}

/// The masses on either side of a hyperplane through the query, and on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SideMasses {
    pub(super) positive: u64,
    pub(super) zero: u64,
    pub(super) negative: u64,
}

impl SideMasses {
    pub(super) fn add(&mut self, side: Ordering, mass: u64) {
        match side {
            Ordering::Greater => self.positive += mass,
            Ordering::Equal => self.zero += mass,
            Ordering::Less => self.negative += mass,
        }
    }

    /// The mass of the closed halfspace on the positive side.
    pub(super) fn closed(&self) -> u64 {
        self.positive + self.zero
    }

    /// The same for the opposite direction.
    pub(super) fn opposite(&self) -> u64 {
        self.negative + self.zero
    }
}

impl WeightedPoints {
    pub(super) fn len(&self) -> usize {
        self.masses.len()
    }

    pub(super) fn point(&self, i: usize) -> &[f64] {
        &self.x[i * self.dim..(i + 1) * self.dim]
    }

    pub(super) fn total(&self) -> u64 {
        self.masses.iter().sum()
    }

    /// The masses on both sides of the hyperplane orthogonal to `u`, exactly.
    pub(super) fn side_masses(&self, u: &[f64], exact: &mut ExactPredicates) -> SideMasses {
        let mut sides = SideMasses::default();
        for (i, mass) in self.masses.iter().enumerate() {
            sides.add(side(u, self.point(i), &self.z, exact), *mass);
        }
        sides
    }

    /// Some of the points, in some of the columns.
    pub(super) fn part(&self, rows: impl Iterator<Item = usize>, columns: &[usize]) -> Self {
        let mut part =
            Self { dim: columns.len(), z: columns.iter().map(|&k| self.z[k]).collect(), ..Self::default() };
        for i in rows {
            let x = self.point(i);
            part.x.extend(columns.iter().map(|&k| x[k]));
            part.masses.push(self.masses[i]);
        }
        part
    }

    /// The points with those on a common line through the query merged into one, and the mass that every
    /// halfspace contains (H4).
    ///
    /// Of two points on opposite sides of the query one is in every closed halfspace: the lighter side of a
    /// line is always counted, and the difference of the masses remains on the heavier side.
    pub(super) fn with_lines_merged(&self) -> (Self, u64) {
        let mut exact = ExactPredicates::default();
        let mut keys: Vec<(u64, u32, bool)> = (0..self.len())
            .map(|i| {
                let (key, flipped) = self.line_key(i);
                (key, u32::try_from(i).unwrap_or(u32::MAX), flipped)
            })
            .collect();
        keys.sort_unstable();
        let mut merged = Self { dim: self.dim, z: self.z.clone(), ..Self::default() };
        let mut common = 0;
        let mut lines: Vec<CentralLine> = Vec::new();
        for candidates in keys.chunk_by(|a, b| a.0 == b.0) {
            lines.clear();
            for &(_, i, flipped) in candidates {
                let (i, mass) = (i as usize, self.masses[i as usize]);
                let line = lines.iter().position(|line| self.parallel(line.first, i, &mut exact));
                let at = line.unwrap_or_else(|| {
                    lines.push(CentralLine { first: i, flipped, same: 0, opposite: 0, other: None });
                    lines.len() - 1
                });
                let line = &mut lines[at];
                if line.flipped == flipped {
                    line.same += mass;
                } else {
                    line.opposite += mass;
                    line.other = Some(i);
                }
            }
            for line in &lines {
                common += line.same.min(line.opposite);
                let heavier = if line.same > line.opposite { Some(line.first) } else { line.other };
                if let Some(i) = heavier.filter(|_| line.same != line.opposite) {
                    merged.x.extend_from_slice(self.point(i));
                    merged.masses.push(line.same.abs_diff(line.opposite));
                }
            }
        }
        (merged, common)
    }

    /// A hash of the rounded direction of a point, equal for almost all points on a line through the query,
    /// and whether it is that of the opposite direction.
    fn line_key(&self, i: usize) -> (u64, bool) {
        let y = || self.point(i).iter().zip(&self.z).map(|(x, z)| x - z);
        let lead = y().fold(0.0f64, |lead, v| if v.abs() > lead.abs() { v } else { lead });
        // An odd multiplier mixes the columns.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^28 in size")]
        let key = y().fold(0u64, |key, v| {
            let part = (v / lead * 2f64.powi(28)).round() as i64 as u64;
            (key ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
        });
        (key, lead < 0.0)
    }

    /// Whether two points lie on one line through the query.
    fn parallel(&self, i: usize, j: usize, exact: &mut ExactPredicates) -> bool {
        let (a, b) = (self.point(i), self.point(j));
        let Some(p) = (0..self.dim).find(|&k| a[k] != self.z[k]) else { return false };
        (0..self.dim).all(|k| {
            k == p || exact.orientation([a[p], a[k]], [b[p], b[k]], [self.z[p], self.z[k]]) == Ordering::Equal
        })
    }

    /// One dimension: the lighter side.
    pub(super) fn on_line(&self) -> MassBounds {
        let mut sides = SideMasses::default();
        for (x, mass) in self.x.iter().zip(&self.masses) {
            sides.add(x.total_cmp(&self.z[0]), *mass);
        }
        let (mass, u) =
            if sides.positive <= sides.negative { (sides.positive, 1.0) } else { (sides.negative, -1.0) };
        MassBounds { lower: mass, upper: mass, direction: vec![u] }
    }

    /// Two dimensions: a circular sweep.
    pub(super) fn in_plane(&self) -> MassBounds {
        let columns: [Vec<f64>; 2] = [0, 1].map(|k| self.x.iter().skip(k).step_by(2).copied().collect());
        let plane =
            PlanarPoints { columns: [&columns[0], &columns[1]], masses: &self.masses, column_ratio: 1.0 };
        let (bounds, _) = plane.minimum(
            [self.z[0], self.z[1]],
            &mut CircularSweep::default(),
            &mut ExactPredicates::default(),
        );
        bounds
    }
}

/// Points in the plane, column by column.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlanarPoints<'a> {
    pub(super) columns: [&'a [f64]; 2],
    pub(super) masses: &'a [u64],
    /// A power of two that brings the second column to the size of the first.
    pub(super) column_ratio: f64,
}

impl PlanarPoints<'_> {
    /// The least mass of a halfplane at `z` without the points equal to `z`, and the mass of these.
    pub(super) fn minimum(
        &self,
        z: [f64; 2],
        sweep: &mut CircularSweep,
        exact: &mut ExactPredicates,
    ) -> (MassBounds, u64) {
        let ([x, y], column_ratio) = (self.columns, self.column_ratio);
        let (mut a, mut b) = (std::mem::take(&mut sweep.a), std::mem::take(&mut sweep.b));
        a.clear();
        b.clear();
        a.extend(x.iter().map(|x| x - z[0]));
        b.extend(y.iter().map(|y| (y - z[1]) * column_ratio));
        let mut compare = |i: usize, j: usize| {
            let flipped = |i: usize| b[i] < 0.0 || b[i] == 0.0 && a[i] < 0.0;
            let orientation = certain_orientation([a[i], b[i]], [a[j], b[j]])
                .unwrap_or_else(|| exact.orientation([x[i], y[i]], [x[j], y[j]], z));
            if flipped(i) == flipped(j) { orientation.reverse() } else { orientation }
        };
        let minimum = sweep.minimum(&a, &b, self.masses, &mut compare);
        let u = sweep.direction(minimum, &a, &b, &mut compare);
        (sweep.a, sweep.b) = (a, b);
        let mass = minimum.mass;
        (
            MassBounds { lower: mass, upper: mass, direction: vec![u[0], column_ratio * u[1]] },
            minimum.at_origin,
        )
    }
}

/// The sign of $\langle u, x - z \rangle$: by the rounding error bound where that decides, exactly otherwise.
#[inline]
pub(super) fn side(u: &[f64], x: &[f64], z: &[f64], exact: &mut ExactPredicates) -> Ordering {
    let (mut sum, mut size) = (0.0, 0.0);
    for ((u, x), z) in u.iter().zip(x).zip(z) {
        let term = u * (x - z);
        sum += term;
        size += term.abs();
    }
    if sum.abs() > (u.len() as f64 + 3.0) * f64::EPSILON * size {
        sum.total_cmp(&0.0)
    } else {
        exact.side(u, x, z)
    }
}
