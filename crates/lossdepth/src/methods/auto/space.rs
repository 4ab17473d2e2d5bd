//! The compared rows in one kind of coordinates, and what lies near a query there.

use super::compared::Compared;
use super::coordinates::{Column, ColumnMap, Coordinate};
use crate::kernel::weighted_quantile;
use crate::numerics::elementary::exp_neg;
use crate::numerics::simd::{LANES, fold, vectorised};

/// The compared rows after a map of each column; distances are sums over the columns.
pub(super) struct Space<M> {
    maps: Vec<Coordinate<M>>,
    /// Column by column.
    points: Vec<f64>,
    rows: usize,
}

impl<M: ColumnMap> Space<M> {
    /// `categories` says of each column whether it is a coordinate of a category.
    pub(super) fn new(compared: &Compared, columns: &[Column], categories: &[bool]) -> Self {
        let each = columns.iter().zip(categories);
        let maps: Vec<Coordinate<M>> =
            each.map(|(column, is_category)| Coordinate::learn(column, *is_category)).collect();
        let rows = compared.rows();
        let mut points = Vec::with_capacity(compared.len() * maps.len());
        for (j, map) in maps.iter().enumerate() {
            points.extend(rows.iter().map(|row| map.apply(row[j])));
        }
        Self { maps, points, rows: compared.len() }
    }

    /// One coordinate of all compared rows.
    pub(super) fn column(&self, j: usize) -> &[f64] {
        &self.points[j * self.rows..(j + 1) * self.rows]
    }

    /// The coordinates of a query.
    pub(super) fn coordinates(&self, query: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.maps.iter().zip(query).map(|(map, x)| map.apply(*x)));
    }

    /// The distances of the compared rows from a point with these coordinates.
    pub(super) fn distances(&self, coordinates: &[f64], out: &mut Vec<f64>) {
        out.resize(self.rows, 0.0);
        let (points, rows, out) = (&self.points[..], self.rows, &mut out[..self.rows]);
        vectorised!({
            let whole = rows - rows % LANES;
            for start in (0..whole).step_by(LANES) {
                let mut sums = [0.0; LANES];
                for (j, z) in coordinates.iter().enumerate() {
                    let column = &points[j * rows + start..][..LANES];
                    for k in 0..LANES {
                        sums[k] += (column[k] - z).abs();
                    }
                }
                out[start..start + LANES].copy_from_slice(&sums);
            }
            for row in whole..rows {
                out[row] = 0.0;
                for (j, z) in coordinates.iter().enumerate() {
                    out[row] += (points[j * rows + row] - z).abs();
                }
            }
        });
    }

    /// Calls `f` for every compared row with its distances from all of them and the `masses` without one observation of its
    /// own.
    pub(super) fn leave_one_out(
        &self,
        compared: &Compared,
        masses: &[f64],
        mut f: impl FnMut(usize, &[f64], &[f64]),
    ) {
        let (mut distances, mut coordinates, mut left) = (Vec::new(), Vec::new(), masses.to_vec());
        for row in 0..self.rows {
            coordinates.clear();
            coordinates.extend(self.points.chunks_exact(self.rows).map(|column| column[row]));
            self.distances(&coordinates, &mut distances);
            left[row] = without(masses[row], compared.unit());
            f(row, &distances, &left);
            left[row] = masses[row];
        }
    }

    /// The median over the rows of the distance to the neighbour of each of these numbers, ascending.
    pub(super) fn neighbour_distances<const K: usize>(
        &self,
        compared: &Compared,
        counts: [f64; K],
    ) -> [f64; K] {
        let mut found: [Vec<(f64, f64)>; K] = std::array::from_fn(|_| Vec::with_capacity(self.rows));
        let mut balls = Balls::new(compared, &compared.masses);
        self.leave_one_out(compared, &compared.masses, |row, distances, masses| {
            for (count, list) in counts.iter().zip(&mut found) {
                list.push((balls.radius(distances, masses, *count), compared.masses[row]));
            }
        });
        found.map(|mut list| {
            let median = weighted_quantile(&mut list, 0.5);
            if median > 0.0 {
                return median;
            }
            // More than half of the rows have that many copies.
            list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let mean: f64 = list.iter().map(|(distance, mass)| distance * mass).sum();
            if mean > 0.0 { mean } else { 1.0 }
        })
    }

    /// The masses without the rows that a kernel of this width finds oddest, up to a share `trim` of all mass. Rows as odd as
    /// the first that stays stay too.
    pub(super) fn trimmed(&self, compared: &Compared, width: f64, trim: f64) -> Vec<f64> {
        let mut masses = compared.masses.clone();
        let mut scores = Vec::with_capacity(self.rows);
        self.leave_one_out(compared, &compared.masses, |row, distances, left| {
            scores.push((log_kernel_mean(distances, left, width).0, row));
        });
        let mut order: Vec<(f64, f64)> =
            scores.iter().map(|&(score, row)| (score, compared.masses[row])).collect();
        let (mut sum, mut threshold) = (0.0, f64::NEG_INFINITY);
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for (score, mass) in order {
            sum += mass;
            threshold = score;
            if sum > trim * (1.0 + 1e-9) {
                break;
            }
        }
        for (score, row) in scores {
            if score < threshold {
                masses[row] = 0.0;
            }
        }
        masses
    }
}

/// A mass without one observation.
pub(super) fn without(mass: f64, unit: f64) -> f64 {
    // What rounding leaves of a mass of one observation is no mass.
    if mass > unit * (1.0 + 1e-9) { mass - unit } else { 0.0 }
}

/// $\ln \sum_i m_i e^{-D_i / h}$ without underflow, and the smallest $D_i$ of a positive mass.
pub(super) fn log_kernel_mean(distances: &[f64], masses: &[f64], width: f64) -> (f64, f64) {
    let rows = distances.len().min(masses.len());
    let (distances, masses) = (&distances[..rows], &masses[..rows]);
    let nearest = vectorised!({
        let mut least = [f64::INFINITY; LANES];
        smallest_of_classes(&mut least, rows, |i| distance_with_mass(distances[i], masses[i]));
        least.into_iter().fold(f64::INFINITY, f64::min)
    });
    if nearest == f64::INFINITY {
        // No mass at all: weights of importance that are all below one observation.
        return (0.0, 0.0);
    }
    let factor = 1.0 / width;
    let sum = vectorised!({
        let term = |distance: f64, mass: f64| {
            let exponent = (nearest - distance) * factor;
            mass * exp_neg(if exponent < 0.0 { exponent } else { 0.0 })
        };
        let ((distances, last), (masses, last_masses)) =
            (distances.as_chunks::<LANES>(), masses.as_chunks::<LANES>());
        let mut lanes = [0.0; LANES];
        for (distances, masses) in distances.iter().zip(masses) {
            let mut terms = [0.0; LANES];
            for k in 0..LANES {
                terms[k] = term(distances[k], masses[k]);
            }
            for k in 0..LANES {
                lanes[k] += terms[k];
            }
        }
        last.iter().zip(last_masses).fold(fold(lanes), |sum, (distance, mass)| sum + term(*distance, *mass))
    });
    (sum.ln() - nearest * factor, nearest)
}

/// Balls around a query that hold a number of observations.
pub(super) struct Balls {
    unit: f64,
    /// Whether every mass is that of one observation, or none.
    single: bool,
    /// The distances, infinite without mass.
    radii: Vec<f64>,
    near: Vec<f64>,
    pairs: Vec<(f64, f64)>,
}

/// Classes of rows, those whose numbers have the same remainder, for the smallest distance of each.
const CLASSES: usize = 8 * LANES;

/// The distance of a row, infinite if it has no mass.
#[inline(always)]
fn distance_with_mass(distance: f64, mass: f64) -> f64 {
    if mass > 0.0 { distance } else { f64::INFINITY }
}

/// Lowers each entry to the smallest value of the rows with that remainder.
#[inline(always)]
fn smallest_of_classes<const K: usize>(least: &mut [f64; K], rows: usize, value: impl Fn(usize) -> f64) {
    let whole = rows - rows % K;
    for start in (0..whole).step_by(K) {
        for k in 0..K {
            let value = value(start + k);
            least[k] = if value < least[k] { value } else { least[k] };
        }
    }
    for row in whole..rows {
        least[row - whole] = least[row - whole].min(value(row));
    }
}

impl Balls {
    pub(super) fn new(compared: &Compared, masses: &[f64]) -> Self {
        let unit = compared.unit();
        let single = masses.iter().all(|&mass| mass == 0.0 || mass == unit);
        Self { unit, single, radii: Vec::new(), near: Vec::new(), pairs: Vec::new() }
    }

    /// The radius of the smallest ball with this many observations; that of the largest if there are not so many.
    pub(super) fn radius(&mut self, distances: &[f64], masses: &[f64], count: f64) -> f64 {
        if self.single {
            return self.smallest(distances, masses, count);
        }
        let near = distances.iter().zip(masses).filter(|(_, mass)| **mass > 0.0);
        self.pairs.clear();
        self.pairs.extend(near.map(|(distance, mass)| (*distance, *mass)));
        if self.pairs.is_empty() { 0.0 } else { weighted_quantile(&mut self.pairs, count * self.unit) }
    }

    /// The distance of this rank among those with mass, or the largest.
    fn smallest(&mut self, distances: &[f64], masses: &[f64], rank: f64) -> f64 {
        let rows = distances.len().min(masses.len());
        let (distances, masses) = (&distances[..rows], &masses[..rows]);
        self.radii.resize(rows, 0.0);
        let radii = &mut self.radii[..rows];
        let mut least = [f64::INFINITY; CLASSES];
        let with_mass = vectorised!({
            let mut count = 0;
            for i in 0..rows {
                radii[i] = distance_with_mass(distances[i], masses[i]);
                count += usize::from(masses[i] > 0.0);
            }
            smallest_of_classes(&mut least, rows, |i| radii[i]);
            count
        });
        let Some(last) = with_mass.checked_sub(1) else { return 0.0 };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number, at least 1"
        )]
        let rank = (rank as usize - 1).min(last);
        if rank >= CLASSES {
            return *radii.select_nth_unstable_by(rank, f64::total_cmp).1;
        }
        // So many classes have a distance up to this bound, so the one of this rank is not above it.
        let bound = *least.select_nth_unstable_by(rank, f64::total_cmp).1;
        self.near.clear();
        vectorised!({
            for chunk in radii.chunks(LANES) {
                let mut any = false;
                for radius in chunk {
                    any |= *radius <= bound;
                }
                if any {
                    self.near.extend(chunk.iter().filter(|radius| **radius <= bound));
                }
            }
        });
        // Distances of rows that overflow are no numbers, and below no bound.
        let near = if rank < self.near.len() { &mut self.near[..] } else { radii };
        *near.select_nth_unstable_by(rank, f64::total_cmp).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Reference;

    #[test]
    fn the_kernel_mean_does_not_underflow() {
        let (value, nearest) = log_kernel_mean(&[3000.0, 4000.0], &[0.5, 0.5], 1.0);
        assert!((value - (0.5f64.ln() - 3000.0)).abs() < 1e-9, "{value}");
        assert_eq!(nearest, 3000.0);
        let direct = (0.25 * (-1.0f64).exp() + 0.75 * (-0.5f64).exp()).ln();
        assert!((log_kernel_mean(&[2.0, 1.0], &[0.25, 0.75], 2.0).0 - direct).abs() < 1e-14);
        // A row without mass is not there, however near.
        assert!((log_kernel_mean(&[0.0, 2.0, 1.0], &[0.0, 0.25, 0.75], 2.0).0 - direct).abs() < 1e-14);
    }

    #[test]
    fn balls_count_copies() {
        let rows = [[0.0], [1.0], [1.0], [4.0]];
        let compared = Compared::new(&Reference::new(&rows).unwrap(), 10);
        let mut balls = Balls::new(&compared, &compared.masses);
        let distances = [0.5, 1.5, 4.5];
        let radii = [1.0, 2.0, 3.0, 4.0, 9.0].map(|k| balls.radius(&distances, &compared.masses, k));
        assert_eq!(radii, [0.5, 1.5, 1.5, 4.5, 4.5]);
        let compared = Compared::new(&Reference::new(&[[0.0], [1.0], [4.0]]).unwrap(), 10);
        let mut balls = Balls::new(&compared, &compared.masses);
        let radii = [1.0, 2.0, 3.0, 9.0].map(|k| balls.radius(&[4.0, 2.0, 7.0], &compared.masses, k));
        assert_eq!(radii, [2.0, 4.0, 7.0, 7.0]);
        // Not a number is farther than any.
        assert_eq!(balls.radius(&[f64::NAN, 2.0, 7.0], &compared.masses, 2.0), 7.0);
        assert!(balls.radius(&[f64::NAN, 2.0, 7.0], &compared.masses, 3.0).is_nan());
    }

    #[test]
    fn balls_are_those_of_the_sorted_distances() {
        let rows: Vec<Vec<f64>> = (0..700).map(|i| vec![f64::from(i)]).collect();
        let compared = Compared::new(&Reference::new(&rows).unwrap(), 1000);
        let mut masses = compared.masses.clone();
        masses.iter_mut().step_by(7).for_each(|mass| *mass = 0.0);
        let mut balls = Balls::new(&compared, &masses);
        for seed in 0..20 {
            let distances: Vec<f64> = (0..700).map(|i| f64::from(i * 379 % (90 + 40 * seed)) * 0.3).collect();
            let with_mass = distances.iter().zip(&masses).filter(|(_, mass)| **mass > 0.0);
            let mut sorted: Vec<f64> = with_mass.map(|(distance, _)| *distance).collect();
            sorted.sort_by(f64::total_cmp);
            for count in [1, 2, 20, 127, 128, 129, 300, 600, 900] {
                let radius = balls.radius(&distances, &masses, count as f64);
                assert_eq!(radius, sorted[(count - 1).min(sorted.len() - 1)], "{seed} {count}");
            }
        }
    }
}
