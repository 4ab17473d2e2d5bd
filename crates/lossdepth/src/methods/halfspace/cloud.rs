//! The points as a query sees them: all but those equal to it, with whole masses.

use super::exact::Exact;
use super::plane::{Fan, clear_turn};
use std::cmp::Ordering;

/// Points $x_i \ne z$ of positive mass around a query $z$; their differences span the space.
#[derive(Debug, Clone, Default)]
pub(super) struct Cloud {
    pub(super) dim: usize,
    /// One point after the other.
    pub(super) x: Vec<f64>,
    pub(super) z: Vec<f64>,
    pub(super) masses: Vec<u64>,
}

/// Points on one line through the query.
struct Line {
    first: usize,
    flip: bool,
    same: u64,
    opposite: u64,
    /// One on the other side.
    other: Option<usize>,
}

/// What is known about the least mass of a closed halfspace whose border passes through the query.
#[derive(Debug, Clone, Default)]
pub(super) struct Bounds {
    pub(super) lower: u64,
    pub(super) upper: u64,
    /// Attains `upper`, or does so before it was rounded.
    pub(super) direction: Vec<f64>,
}

/// How the mass splits at a hyperplane through the query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) positive: u64,
    pub(super) zero: u64,
    pub(super) negative: u64,
}

impl Split {
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

impl Cloud {
    pub(super) fn len(&self) -> usize {
        self.masses.len()
    }

    pub(super) fn point(&self, i: usize) -> &[f64] {
        &self.x[i * self.dim..(i + 1) * self.dim]
    }

    pub(super) fn total(&self) -> u64 {
        self.masses.iter().sum()
    }

    /// The side of every point, exactly.
    pub(super) fn split(&self, u: &[f64], exact: &mut Exact) -> Split {
        let mut split = Split::default();
        for (i, mass) in self.masses.iter().enumerate() {
            split.add(side(u, self.point(i), &self.z, exact), *mass);
        }
        split
    }

    /// Some of the points, seen in some of the columns.
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

    /// The points with all of one line through the query merged into one, and the mass that is always counted.
    ///
    /// Of two points on opposite sides of the query one or the other is in every halfspace: the lighter side of a line
    /// always counts, and what the other side has more stays.
    pub(super) fn folded(&self) -> (Self, u64) {
        let mut exact = Exact::default();
        let mut headings: Vec<(u64, u32, bool)> = (0..self.len())
            .map(|i| {
                let (key, flip) = self.heading(i);
                (key, u32::try_from(i).unwrap_or(u32::MAX), flip)
            })
            .collect();
        headings.sort_unstable();
        let mut folded = Self { dim: self.dim, z: self.z.clone(), ..Self::default() };
        let mut always = 0;
        let mut lines: Vec<Line> = Vec::new();
        for bundle in headings.chunk_by(|a, b| a.0 == b.0) {
            lines.clear();
            for &(_, i, flip) in bundle {
                let (i, mass) = (i as usize, self.masses[i as usize]);
                let line = lines.iter().position(|line| self.parallel(line.first, i, &mut exact));
                let at = line.unwrap_or_else(|| {
                    lines.push(Line { first: i, flip, same: 0, opposite: 0, other: None });
                    lines.len() - 1
                });
                let line = &mut lines[at];
                if line.flip == flip {
                    line.same += mass;
                } else {
                    line.opposite += mass;
                    line.other = Some(i);
                }
            }
            for line in &lines {
                always += line.same.min(line.opposite);
                let heavier = if line.same > line.opposite { Some(line.first) } else { line.other };
                if let Some(i) = heavier.filter(|_| line.same != line.opposite) {
                    folded.x.extend_from_slice(self.point(i));
                    folded.masses.push(line.same.abs_diff(line.opposite));
                }
            }
        }
        (folded, always)
    }

    /// A rounded heading, the same for all points of a line through the query but for those at the edge of rounding,
    /// and whether it is that of the point or of its opposite.
    fn heading(&self, i: usize) -> (u64, bool) {
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
    fn parallel(&self, i: usize, j: usize, exact: &mut Exact) -> bool {
        let (a, b) = (self.point(i), self.point(j));
        let Some(p) = (0..self.dim).find(|&k| a[k] != self.z[k]) else { return false };
        (0..self.dim).all(|k| {
            k == p || exact.turn([a[p], a[k]], [b[p], b[k]], [self.z[p], self.z[k]]) == Ordering::Equal
        })
    }

    /// One dimension: the lighter side.
    pub(super) fn on_a_line(&self) -> Bounds {
        let mut split = Split::default();
        for (x, mass) in self.x.iter().zip(&self.masses) {
            split.add(x.total_cmp(&self.z[0]), *mass);
        }
        let (mass, u) =
            if split.positive <= split.negative { (split.positive, 1.0) } else { (split.negative, -1.0) };
        Bounds { lower: mass, upper: mass, direction: vec![u] }
    }

    /// Two dimensions: half a turn.
    pub(super) fn in_a_plane(&self) -> Bounds {
        let columns: [Vec<f64>; 2] = [0, 1].map(|k| self.x.iter().skip(k).step_by(2).copied().collect());
        let plane = Plane { columns: [&columns[0], &columns[1]], masses: &self.masses, stretch: 1.0 };
        let (bounds, _) = plane.least([self.z[0], self.z[1]], &mut Fan::default(), &mut Exact::default());
        bounds
    }
}

/// Points in the plane, column by column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane<'a> {
    pub(super) columns: [&'a [f64]; 2],
    pub(super) masses: &'a [u64],
    /// A power of two that brings the second column to the size of the first.
    pub(super) stretch: f64,
}

impl Plane<'_> {
    /// The least mass around `z`, points equal to `z` left out, and the mass of these.
    pub(super) fn least(&self, z: [f64; 2], fan: &mut Fan, exact: &mut Exact) -> (Bounds, u64) {
        let ([x, y], stretch) = (self.columns, self.stretch);
        let (mut a, mut b) = (std::mem::take(&mut fan.a), std::mem::take(&mut fan.b));
        a.clear();
        b.clear();
        a.extend(x.iter().map(|x| x - z[0]));
        b.extend(y.iter().map(|y| (y - z[1]) * stretch));
        let mut compare = |i: usize, j: usize| {
            let flip = |i: usize| b[i] < 0.0 || b[i] == 0.0 && a[i] < 0.0;
            let turn = clear_turn([a[i], b[i]], [a[j], b[j]])
                .unwrap_or_else(|| exact.turn([x[i], y[i]], [x[j], y[j]], z));
            if flip(i) == flip(j) { turn.reverse() } else { turn }
        };
        let least = fan.least(&a, &b, self.masses, &mut compare);
        let u = fan.direction(least, &a, &b, &mut compare);
        (fan.a, fan.b) = (a, b);
        let mass = least.mass;
        (Bounds { lower: mass, upper: mass, direction: vec![u[0], stretch * u[1]] }, least.origin)
    }
}

/// The sign of $\langle u, x - z \rangle$: by an error bound where that decides, exactly otherwise.
#[inline]
pub(super) fn side(u: &[f64], x: &[f64], z: &[f64], exact: &mut Exact) -> Ordering {
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
