//! Kernel values that the caller computed: a Gram matrix as the rows of the reference.

use super::space::Source;
use crate::data::Reference;
use crate::error::{DepthError, Result};
use crate::numerics::linalg::{Cholesky, Matrix};
use std::sync::Arc;

/// What a kernel may be off from one by rounding, as a share of its values with themselves.
const TRACE: f64 = 1e-8;
/// Matrices of so many rows are looked at as a whole; of larger ones every pair of rows.
const CHECKED: usize = 4096;

/// Why no kernel has this value for two points, whose values with themselves are given.
pub(super) fn no_kernel(value: f64, a: f64, b: f64) -> Option<String> {
    // What is no number, or negative on the diagonal, has errors of its own.
    let most = (a.sqrt() * b.sqrt()) * (1.0 + TRACE);
    (value.abs() > most && a <= 1e200 && b <= 1e200)
        .then(|| format!("more than the root of {a} times {b}, the kernels of both with themselves"))
}

/// A Gram matrix given as the rows of the reference.
pub(super) fn given(sample: &Reference, origin: Vec<usize>) -> Result<Source> {
    let (rows, n, width) = (sample.rows(), sample.len(), sample.width());
    if width != n && width != n + 1 {
        return Err(DepthError::Kernel(format!(
            "a precomputed kernel of {n} reference rows needs {n} columns (or {} with each row's kernel with \
             itself), got {width}",
            n + 1
        )));
    }
    let mut gram = Matrix::from_fn(origin.len(), origin.len(), |i, j| rows.row(origin[j])[origin[i]]);
    for (j, &row) in origin.iter().enumerate() {
        for (i, &column) in origin.iter().enumerate().take(j) {
            let (a, b) = (gram.at(i, j), gram.at(j, i));
            let size = gram.at(i, i).abs().max(gram.at(j, j).abs());
            if (a - b).abs() > 1e-8 * size {
                return Err(DepthError::Kernel(format!(
                    "a precomputed kernel must be symmetric: row {row}, column {column} is {a}, the other way {b}"
                )));
            }
            // The kernel is the mean of both.
            let mean = 0.5 * (a + b);
            if let Some(why) = no_kernel(mean, gram.at(i, i), gram.at(j, j)) {
                return Err(DepthError::Kernel(format!(
                    "a precomputed kernel must be positive semidefinite: row {row}, column {column} is {mean}, {why}"
                )));
            }
            gram.set(i, j, mean);
            gram.set(j, i, mean);
        }
    }
    let negative = (0..origin.len()).any(|i| gram.at(i, i).is_nan() || gram.at(i, i) < 0.0);
    // A diagonal that is no good is reported for what it is.
    if !negative && origin.len() <= CHECKED && Cholesky::damped(&mut gram.clone(), TRACE).is_none() {
        return Err(DepthError::Kernel(
            "a precomputed kernel must be positive semidefinite, and this matrix has a negative eigenvalue that is no \
             rounding: are these kernel values, and not distances?"
                .to_owned(),
        ));
    }
    let own = if width == n {
        let first = gram.at(0, 0);
        let odd = (0..origin.len()).find(|&i| (gram.at(i, i) - first).abs() > 1e-8 * first.abs());
        if let Some(i) = odd {
            return Err(DepthError::Kernel(format!(
                "a precomputed kernel of {n} columns needs a constant diagonal, but row {} has {} and row {} has \
                 {first}; give the kernel of each row with itself as one more column",
                origin[i],
                gram.at(i, i),
                origin[0]
            )));
        }
        Some(first)
    } else {
        for &row in &origin {
            let (a, b) = (rows.row(row)[row], rows.row(row)[n]);
            if (a - b).abs() > 1e-8 * a.abs() {
                return Err(DepthError::Kernel(format!(
                    "the last column of a precomputed kernel is each row's kernel with itself: row {row} has {b} \
                     there and {a} in column {row}"
                )));
            }
        }
        None
    };
    let without: Vec<usize> = (0..n).filter(|&i| sample.weights()[i] == 0.0).collect();
    let idle = Matrix::from_fn(origin.len(), without.len(), |i, j| rows.row(without[j])[origin[i]]);
    Ok(Source::Given { gram: Arc::new(gram), origin, own, idle: (idle, without) })
}
