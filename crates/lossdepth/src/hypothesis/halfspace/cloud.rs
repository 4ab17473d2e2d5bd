//! The points as a query sees them: all but those equal to it, with whole masses.

use super::exact::Exact;
use super::plane::{Fan, clear_turn};
use std::cmp::Ordering;
use std::collections::HashMap;

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
        let mut part = Self {
            dim: columns.len(),
            z: columns.iter().map(|&k| self.z[k]).collect(),
            ..Self::default()
        };
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
        let mut lines: HashMap<Vec<i32>, Vec<Line>> = HashMap::with_capacity(self.len());
        let mut order: Vec<Vec<i32>> = Vec::with_capacity(self.len());
        for (i, &mass) in self.masses.iter().enumerate() {
            let (key, flip) = self.heading(i);
            let bundle = lines.entry(key).or_insert_with_key(|key| {
                order.push(key.clone());
                Vec::new()
            });
            let line = bundle.iter().position(|line| self.parallel(line.first, i, &mut exact));
            let at = line.unwrap_or_else(|| {
                bundle.push(Line { first: i, flip, same: 0, opposite: 0, other: None });
                bundle.len() - 1
            });
            let line = &mut bundle[at];
            if line.flip == flip {
                line.same += mass;
            } else {
                line.opposite += mass;
                line.other = Some(i);
            }
        }
        let mut folded = Self { dim: self.dim, z: self.z.clone(), ..Self::default() };
        let mut always = 0;
        for line in order.iter().flat_map(|key| &lines[key]) {
            always += line.same.min(line.opposite);
            let heavier = if line.same > line.opposite { Some(line.first) } else { line.other };
            if let Some(i) = heavier.filter(|_| line.same != line.opposite) {
                folded.x.extend_from_slice(self.point(i));
                folded.masses.push(line.same.abs_diff(line.opposite));
            }
        }
        (folded, always)
    }

    /// A rounded heading, the same for all points of a line through the query but for those at the edge of rounding,
    /// and whether it is that of the point or of its opposite.
    fn heading(&self, i: usize) -> (Vec<i32>, bool) {
        let y: Vec<f64> = self.point(i).iter().zip(&self.z).map(|(x, z)| x - z).collect();
        let lead = y.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(1.0);
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^28 in size")]
        let key = y.iter().map(|v| (v / lead * 2f64.powi(28)).round() as i32).collect();
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
    pub(super) fn in_a_plane(&self, stretch: f64, fan: &mut Fan, exact: &mut Exact) -> Bounds {
        let z = [self.z[0], self.z[1]];
        let at = |i: usize| [self.x[2 * i], self.x[2 * i + 1]];
        let a: Vec<f64> = (0..self.len()).map(|i| self.x[2 * i] - z[0]).collect();
        let b: Vec<f64> = (0..self.len()).map(|i| (self.x[2 * i + 1] - z[1]) * stretch).collect();
        let mut compare = |i: usize, j: usize| {
            let flip = |i: usize| b[i] < 0.0 || b[i] == 0.0 && a[i] < 0.0;
            let turn = clear_turn([a[i], b[i]], [a[j], b[j]]).unwrap_or_else(|| exact.turn(at(i), at(j), z));
            if flip(i) == flip(j) { turn.reverse() } else { turn }
        };
        let least = fan.least(&a, &b, &self.masses, &mut compare);
        let u = fan.direction(least, &a, &b, &mut compare);
        Bounds { lower: least.mass, upper: least.mass, direction: vec![u[0], stretch * u[1]] }
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
