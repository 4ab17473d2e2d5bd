//! Scalings of sparse samples: those that need no more than means and standard deviations of the columns.

use super::{Column, Scale, Scaling, Transform, check_spread, standard_of};
use crate::data::SparseReference;
use crate::error::{DepthError, Result};

impl Scaling {
    /// Learns [`Scale::Standard`] or [`Scale::None`] from a sparse sample, in time and memory of its numbers and columns.
    ///
    /// The zeros of a column count like its other numbers: mean and standard deviation are those of the dense column.
    ///
    /// # Errors
    /// Another scaling, or as for [`learn`](Self::learn).
    pub(crate) fn of_sparse(scale: Scale, sample: &SparseReference) -> Result<Self> {
        let width = sample.width();
        match scale {
            Scale::None => return Ok(Self { center: vec![0.0; width], transform: Transform::Identity }),
            Scale::Standard => {}
            Scale::Robust | Scale::Whiten | Scale::Mcd => {
                return Err(DepthError::Settings(format!(
                    "scale `{scale}` needs dense rows: sparse ones go with `standard` or `none`"
                )));
            }
        }
        let columns = columns(sample);
        check_spread(&columns)?;
        Ok(standard_of(&columns))
    }

    /// The mean of each column as a centre, without another scale.
    pub(crate) fn center_of_sparse(sample: &SparseReference) -> Self {
        let center = columns(sample).iter().map(|column| column.mean).collect();
        Self { center, transform: Transform::Identity }
    }
}

/// Mean and standard deviation of each column of a sparse sample.
fn columns(sample: &SparseReference) -> Vec<Column> {
    let (starts, entries) = sample.rows().by_column();
    let counted = sample.weights().iter().filter(|weight| **weight > 0.0).count();
    let mut numbers = Vec::new();
    starts
        .windows(2)
        .map(|range| {
            numbers.clear();
            let weighted = entries[range[0]..range[1]]
                .iter()
                .map(|&(row, value)| (value, sample.weights()[row as usize]));
            numbers.extend(weighted.filter(|(_, weight)| *weight > 0.0));
            if numbers.len() < counted {
                let rest = 1.0 - numbers.iter().map(|(_, weight)| weight).sum::<f64>();
                // Positive but for rounding: some weights are not in the sum.
                numbers.push((0.0, rest.max(f64::MIN_POSITIVE)));
            }
            Column::of(&numbers)
        })
        .collect()
}
