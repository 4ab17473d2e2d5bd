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
        let (merged, _) = sample.merged();
        let (rows, width) = (merged.rows(), merged.width());
        if rows.len() <= most {
            return Self { data: rows.as_slice().to_vec(), width, weights: merged.weights().to_vec() };
        }
        let (mut data, mut weights) = (Vec::new(), Vec::new());
        let (mut sum, mut taken) = (0.0, 0);
        for (row, weight) in rows.iter().zip(merged.weights()) {
            sum += weight;
            let levels = (taken..most).take_while(|j| (*j as f64 + 0.5) / (most as f64) < sum).count();
            if levels > 0 {
                taken += levels;
                data.extend_from_slice(row);
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
