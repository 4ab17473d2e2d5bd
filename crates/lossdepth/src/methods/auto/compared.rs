//! The rows that queries are compared with.

use crate::data::{Reference, Rows};
use std::cmp::Ordering;

/// The different rows of the sample in lexicographic order with their masses, or a subsample of them.
pub(super) struct Compared {
    data: Vec<f64>,
    width: usize,
    /// The mass of each row; they sum to one.
    pub(super) masses: Vec<f64>,
    /// How many observations the masses stand for.
    pub(super) observations: f64,
}

impl Compared {
    /// Rows of the sample as they are.
    #[cfg(test)]
    pub(super) fn new(sample: &Reference, most: usize) -> Self {
        Self::mapped(sample, most, |_, x| x)
    }

    /// At most `most` of the rows that a map of each column makes of those of the sample: in lexicographic order, at equal steps
    /// of the cumulative weight. Only these are mapped and copied.
    pub(super) fn mapped(sample: &Reference, most: usize, map: impl Fn(usize, f64) -> f64) -> Self {
        let distinct = sample.distinct_as(&map);
        let (first, weights) = (distinct.first, distinct.weights);
        let (mut data, width) = (Vec::new(), sample.width());
        let observations = sample.observations();
        // Adding 0 makes -0 and 0 the same.
        let add = |data: &mut Vec<f64>, row: usize| {
            data.extend(sample.rows().row(row).iter().enumerate().map(|(j, x)| map(j, *x) + 0.0));
        };
        if weights.len() <= most {
            for &row in &first {
                add(&mut data, row);
            }
            return Self { data, width, masses: weights, observations };
        }
        let step = 1.0 / most as f64;
        let mut masses = Vec::<f64>::new();
        let (mut row, mut sum, mut last) = (0, weights[0], None);
        for j in 0..most {
            let level = (j as f64 + 0.5) * step;
            while sum < level && row + 1 < weights.len() {
                row += 1;
                sum += weights[row];
            }
            match masses.last_mut() {
                Some(mass) if last == Some(row) => *mass += step,
                _ => {
                    add(&mut data, first[row]);
                    masses.push(step);
                }
            }
            last = Some(row);
        }
        Self { data, width, masses, observations: observations.min(most as f64) }
    }

    pub(super) fn len(&self) -> usize {
        self.masses.len()
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        Rows::new(&self.data, self.width).unwrap_or_else(|_| unreachable!("whole rows of the sample"))
    }

    /// The mass of one observation.
    pub(super) fn unit(&self) -> f64 {
        1.0 / self.observations
    }

    /// Which row the query is, if it is one of them.
    pub(super) fn find(&self, query: &[f64]) -> Option<usize> {
        let rows = self.rows();
        let order = |row: &[f64]| {
            let mut each = row.iter().zip(query).map(|(x, z)| (x + 0.0).total_cmp(&(z + 0.0)));
            each.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        };
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match order(rows.row(middle)) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_and_no_other() {
        let rows: Vec<Vec<f64>> =
            (0..50_i32).map(|i| vec![f64::from(i % 7), f64::from(i * 13 % 11)]).collect();
        let compared = Compared::new(&Reference::new(&rows).unwrap(), 2000);
        for row in &rows {
            let found = compared.find(row).unwrap();
            assert_eq!(compared.rows().row(found), &row[..]);
        }
        assert_eq!(compared.find(&[0.5, 1.0]), None);
        assert_eq!(compared.find(&[99.0, 99.0]), None);
        assert!((compared.masses.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_subsample_does_not_depend_on_order_or_on_copies_written_as_weights() {
        let rows: Vec<Vec<f64>> = (0..300).map(|i| vec![f64::from(i) * 0.7 % 3.1, f64::from(i)]).collect();
        let weights: Vec<f64> = (0..300).map(|i| f64::from(1 + i % 3)).collect();
        let mut copies: Vec<Vec<f64>> = (0..300).flat_map(|i| vec![rows[i].clone(); 1 + i % 3]).collect();
        copies.reverse();
        let weighted = Compared::new(&Reference::weighted(&rows, &weights).unwrap(), 100);
        let copied = Compared::new(&Reference::new(&copies).unwrap(), 100);
        assert_eq!((&weighted.data, &weighted.masses), (&copied.data, &copied.masses));
        assert_eq!(weighted.observations, 100.0);
        assert!((weighted.masses.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
