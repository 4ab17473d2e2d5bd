//! The rotation of points into the principal axes of their second moments.

use crate::numerics::linalg::{Matrix, eigen, multiply, multiply_symmetric};

pub(super) fn second_moment(column: &[f64], weights: &[f64]) -> f64 {
    column.iter().zip(weights).map(|(x, w)| w * x * x).sum()
}

/// Rotates the points into the principal axes of their weighted second moments, largest first, and
/// returns them with the axes.
///
/// Moments are squares: a direction with less than the root of the rounding unit of the largest standard deviation is
/// known only roughly, and one without any variance not at all. So what comes out small is rotated once more by
/// its own moments, up to three times.
pub(super) fn rotate(points: &Matrix, weights: &[f64]) -> (Matrix, Matrix) {
    let mut axes = principal_axes(points, weights);
    let mut rotated = product(points, &axes);
    let mut first = 0;
    for _ in 0..3 {
        let moments: Vec<f64> =
            (first..rotated.cols()).map(|j| second_moment(rotated.col(j), weights)).collect();
        let small = moments.iter().position(|m| *m < SMALL * moments[0]);
        let Some(small) = small.map(|s| first + s) else { break };
        let rotation = principal_axes(&tail(&rotated, small), weights);
        for m in [&mut rotated, &mut axes] {
            let again = product(&tail(m, small), &rotation);
            for j in small..m.cols() {
                m.col_mut(j).copy_from_slice(again.col(j - small));
            }
        }
        first = small;
    }
    (rotated, axes)
}

/// Second moments below this share of the largest are rotated again.
const SMALL: f64 = 1e-9;

/// The columns from `first` on.
fn tail(m: &Matrix, first: usize) -> Matrix {
    Matrix::from_fn(m.rows(), m.cols() - first, |i, j| m.at(i, j + first))
}

pub(super) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(a.rows(), b.cols());
    multiply(&mut out, a, b);
    out
}

/// The eigenvectors of the weighted second moments, largest first.
fn principal_axes(points: &Matrix, weights: &[f64]) -> Matrix {
    let (n, k) = (points.rows(), points.cols());
    let scale = points_scale(points);
    let weighted = Matrix::from_fn(n, k, |i, j| weights[i] * (points.at(i, j) / scale));
    let scaled = Matrix::from_fn(n, k, |i, j| points.at(i, j) / scale);
    let mut moments = Matrix::zeros(k, k);
    multiply_symmetric(&mut moments, &weighted, &scaled);
    match eigen(&moments) {
        // Entries far below rounding would only slow the products down, where they become subnormal.
        Some((_, v)) => Matrix::from_fn(k, k, |i, j| if v.at(i, j).abs() < 1e-30 { 0.0 } else { v.at(i, j) }),
        // The identity is a valid rotation too; only the preconditioner is then less good.
        None => Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j))),
    }
}

/// The largest entry, so that second moments neither overflow nor vanish.
fn points_scale(points: &Matrix) -> f64 {
    let largest = (0..points.cols()).flat_map(|j| points.col(j)).fold(0.0f64, |m, v| m.max(v.abs()));
    if largest > 0.0 { largest } else { 1.0 }
}
