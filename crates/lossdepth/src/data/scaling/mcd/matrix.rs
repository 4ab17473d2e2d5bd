//! The few matrix operations that scaling needs, on row-major slices.

use crate::numerics::linalg::{self, Matrix, multiply, multiply_symmetric};

/// `a` ($n \times k$) times `b` ($k \times k$).
pub(crate) fn product(a: &[f64], b: &[f64], k: usize, out: &mut [f64]) {
    // Row-major is column-major of the transpose, so the product is taken the other way round.
    let n = a.len() / k;
    let mut transposed = Matrix::zeros(k, n);
    multiply(
        &mut transposed,
        &Matrix::from_fn(k, k, |i, j| b[j * k + i]),
        &Matrix::from_fn(k, n, |i, j| a[j * k + i]),
    );
    for (j, row) in out.chunks_exact_mut(k).enumerate() {
        row.copy_from_slice(transposed.col(j));
    }
}

/// Adds $B^\top B$ to `out`, for rows $B$ of width `d`.
pub(crate) fn add_gram(b: &[f64], d: usize, out: &mut [f64]) {
    let b = Matrix::from_fn(b.len() / d, d, |i, j| b[i * d + j]);
    let mut gram = Matrix::zeros(d, d);
    multiply_symmetric(&mut gram, &b, &b);
    for i in 0..d {
        for j in 0..d {
            out[i * d + j] += gram.at(i.max(j), i.min(j));
        }
    }
}

/// Eigenvalues in descending order, eigenvectors as the columns of a row-major matrix.
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Vec<f64>,
}

/// The eigenvalues and eigenvectors of a symmetric `d` × `d` matrix, of which the lower half is read.
/// `None` if the iteration does not converge.
pub(crate) fn eigen(matrix: &[f64], d: usize) -> Option<Eigen> {
    let (values, vectors) = linalg::eigen(&Matrix::from_fn(d, d, |i, j| matrix[i * d + j]))?;
    Some(Eigen { values, vectors: (0..d * d).map(|at| vectors.at(at / d, at % d)).collect() })
}

/// What the Cholesky factor $L$ of $S = L L^\top$ is good for.
pub(crate) struct Root {
    /// $L^{-\top}$, upper triangular: $|x^\top L^{-\top}|^2 = x^\top S^{-1} x$.
    pub(crate) inverse: Vec<f64>,
    /// $\ln \det S$.
    pub(crate) log_det: f64,
}

/// Factors a symmetric positive definite matrix of order `d`.
///
/// `None` if it is singular: some column keeps less than $10^{-12}$ of its variance once the columns before
/// it are known, or has (nearly) no variance to begin with. The variances are meant to be of the order of 1.
pub(crate) fn root(s: &[f64], d: usize) -> Option<Root> {
    let mut l = vec![0.0; d * d];
    let mut log_det = 0.0;
    for i in 0..d {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| l[i * d + k] * l[j * d + k]).sum();
            let left = s[i * d + j] - known;
            l[i * d + j] = if j < i { left / l[j * d + j] } else { left };
        }
        let variance = l[i * d + i];
        if variance.is_nan() || variance <= 1e-12 * s[i * d + i].max(1e-8) {
            return None;
        }
        l[i * d + i] = variance.sqrt();
        log_det += variance.ln();
    }
    Some(Root { inverse: inverse_transposed(&l, d), log_det })
}

/// $L^{-\top}$ by forward substitution, one unit vector after the other.
fn inverse_transposed(l: &[f64], d: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; d * d];
    for j in 0..d {
        for i in j..d {
            let known: f64 = (j..i).map(|k| l[i * d + k] * inverse[j * d + k]).sum();
            inverse[j * d + i] = (f64::from(u8::from(i == j)) - known) / l[i * d + i];
        }
    }
    inverse
}

/// $R^{-1/2} = V \Lambda^{-1/2} V^\top$ for a correlation matrix $R = V \Lambda V^\top$ of order `d`.
///
/// Eigenvalues are floored at $64 d \varepsilon \lambda_{\max}$, just above the rounding noise of a null
/// direction: standard deviations below about $10^{-7} \sqrt d$ of the largest count as that much. `None`
/// if the eigenvalues cannot be found.
pub(crate) fn inverse_square_root(r: &[f64], d: usize) -> Option<Vec<f64>> {
    let Eigen { values, vectors } = eigen(r, d)?;
    let largest = values.first().copied()?;
    let floor = 64.0 * d as f64 * f64::EPSILON * largest;
    // With the rows of B the scaled eigenvectors, B^T B is symmetric to the last bit.
    let mut scaled = vec![0.0; d * d];
    for (k, value) in values.iter().enumerate() {
        let factor = value.max(floor).sqrt().sqrt().recip();
        for i in 0..d {
            scaled[k * d + i] = vectors[i * d + k] * factor;
        }
    }
    let mut out = vec![0.0; d * d];
    add_gram(&scaled, d, &mut out);
    Some(out)
}
