//! Precomputed kernels: the Gram matrix is given as the rows of the reference.

use super::space::Source;
use crate::data::Reference;
use crate::error::{DepthError, Result};
use crate::numerics::linalg::{Cholesky, Matrix};
use std::sync::Arc;

/// Asymmetry and negative eigenvalues below this share of the diagonal are taken for rounding.
const ROUNDING: f64 = 1e-8;
/// Up to this many rows the whole matrix is checked; beyond, every pair of rows.
const MAX_CHECKED: usize = 4096;

/// Why no kernel has this value for two points with the given diagonal values (Cauchy–Schwarz), if so.
pub(super) fn cauchy_schwarz_violation(value: f64, a: f64, b: f64) -> Option<String> {
    // Values that are no numbers, or negative on the diagonal, have their own messages.
    let most = (a.sqrt() * b.sqrt()) * (1.0 + ROUNDING);
    (value.abs() > most && a <= 1e200 && b <= 1e200)
        .then(|| format!("more than the root of {a} times {b}, the kernels of both with themselves"))
}

/// A Gram matrix given as the rows of the reference; `definite` says that it is known to be positive semidefinite.
pub(super) fn precomputed(sample: &Reference, origin: Vec<usize>, definite: bool) -> Result<Source> {
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
            if (a - b).abs() > ROUNDING * size {
                return Err(DepthError::Kernel(format!(
                    "a precomputed kernel must be symmetric: row {row}, column {column} is {a}, the other way {b}"
                )));
            }
            // The kernel is the mean of both.
            let mean = 0.5 * (a + b);
            let violation = cauchy_schwarz_violation(mean, gram.at(i, i), gram.at(j, j));
            if let Some(why) = violation.filter(|_| !definite) {
                return Err(DepthError::Kernel(format!(
                    "a precomputed kernel must be positive semidefinite: row {row}, column {column} is {mean}, {why}"
                )));
            }
            gram.set(i, j, mean);
            gram.set(j, i, mean);
        }
    }
    let negative = (0..origin.len()).any(|i| gram.at(i, i).is_nan() || gram.at(i, i) < 0.0);
    // An invalid diagonal is reported by the caller.
    let checked = !definite && !negative && origin.len() <= MAX_CHECKED;
    if checked && Cholesky::damped(&mut gram.clone(), ROUNDING).is_none() {
        return Err(DepthError::Kernel(
            "a precomputed kernel must be positive semidefinite, and this matrix has a negative eigenvalue that is no \
             rounding: are these kernel values, and not distances?"
                .to_owned(),
        ));
    }
    let own = if width == n {
        let first = gram.at(0, 0);
        let odd = (0..origin.len()).find(|&i| (gram.at(i, i) - first).abs() > ROUNDING * first.abs());
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
            if (a - b).abs() > ROUNDING * a.abs() {
                return Err(DepthError::Kernel(format!(
                    "the last column of a precomputed kernel is each row's kernel with itself: row {row} has {b} \
                     there and {a} in column {row}"
                )));
            }
        }
        None
    };
    let without: Vec<usize> = (0..n).filter(|&i| sample.weights()[i] == 0.0).collect();
    let values = Matrix::from_fn(origin.len(), without.len(), |i, j| rows.row(without[j])[origin[i]]);
    Ok(Source::Precomputed {
        gram: Arc::new(gram),
        definite,
        rows: origin,
        diagonal: own,
        unweighted: (values, without),
    })
}
