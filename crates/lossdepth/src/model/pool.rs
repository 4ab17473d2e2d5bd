//! A bounded number of rows that stand for the reference.

use crate::data::{Reference, Rows};

/// Reference rows to compare with: a bounded number, whatever the order of the rows, copies counted as one.
#[derive(Debug, Clone)]
pub(in crate::model) struct Pool {
    pub(in crate::model) data: Vec<f64>,
    pub(in crate::model) width: usize,
    pub(in crate::model) weights: Vec<f64>,
}

impl Pool {
    /// All different rows or, of more than `most`, those at equal steps of the cumulative weight in lexicographic order.
    pub(in crate::model) fn new(sample: &Reference, most: usize) -> Self {
        let (distinct, width) = (sample.distinct(), sample.width());
        let (mut data, mut weights) = (Vec::new(), Vec::new());
        if distinct.first.len() <= most {
            distinct.first.iter().for_each(|&row| sample.extend_with(&mut data, row));
            return Self { data, width, weights: distinct.weights };
        }
        let (mut sum, mut taken) = (0.0, 0);
        for (&row, weight) in distinct.first.iter().zip(&distinct.weights) {
            sum += weight;
            let levels = (taken..most).take_while(|j| (*j as f64 + 0.5) / (most as f64) < sum).count();
            if levels > 0 {
                taken += levels;
                sample.extend_with(&mut data, row);
                weights.push(levels as f64);
            }
        }
        Self { data, width, weights }
    }

    /// Some of its rows.
    pub(in crate::model) fn of(&self, chosen: &[usize]) -> Self {
        let data = chosen.iter().flat_map(|&i| self.rows().row(i)).copied().collect();
        Self { data, width: self.width, weights: chosen.iter().map(|&i| self.weights[i]).collect() }
    }

    pub(in crate::model) fn rows(&self) -> Rows<'_> {
        Rows::new(&self.data, self.width).unwrap_or_else(|_| unreachable!("rows of a reference"))
    }

    pub(in crate::model) fn len(&self) -> usize {
        self.weights.len()
    }
}
