//! $\sum_i h_i t_i t_i^\top$ for many weightings $h$ of one sample at once.
//!
//! With few coordinates all of them together are one matrix product: the products $t_{ij} t_{ik}$ of a stretch of
//! rows are formed once and multiplied with every query's weights. With many coordinates each is a product of its
//! own, which then runs at full speed anyway.

use crate::numerics::linalg::{Matrix, accumulate_transposed, hadamard, multiply_symmetric};

/// Up to this many coordinates the products are shared.
const SHARED: usize = 40;
/// Rows in a stretch: its products stay in cache.
const STRETCH: usize = 128;

/// Room for the weighted second moments of several queries.
pub(crate) struct Gram {
    products: Matrix,
    sums: Matrix,
    weighted: Matrix,
}

impl Gram {
    pub(crate) fn new(tall: &Matrix, queries: usize) -> Self {
        let (n, q) = (tall.rows(), tall.cols());
        if q <= SHARED {
            let pairs = q * (q + 1) / 2;
            let (products, sums) = (Matrix::zeros(STRETCH, pairs), Matrix::zeros(pairs, queries));
            Self { products, sums, weighted: Matrix::zeros(0, 0) }
        } else {
            Self { products: Matrix::zeros(0, 0), sums: Matrix::zeros(0, 0), weighted: Matrix::zeros(n, q) }
        }
    }

    /// Takes the weights of the first `count` queries, one column each.
    pub(crate) fn load(&mut self, tall: &Matrix, weights: &Matrix, count: usize) {
        let (n, q) = (tall.rows(), tall.cols());
        if q > SHARED {
            return;
        }
        for k in 0..count {
            self.sums.col_mut(k).fill(0.0);
        }
        for start in (0..n).step_by(STRETCH) {
            let rows = STRETCH.min(n - start);
            let mut pair = 0;
            for j in 0..q {
                for i in j..q {
                    let (a, b) = (&tall.col(i)[start..start + rows], &tall.col(j)[start..start + rows]);
                    hadamard(a, b, &mut self.products.col_mut(pair)[..rows]);
                    pair += 1;
                }
            }
            accumulate_transposed(&mut self.sums, &self.products, weights, start, rows, count);
        }
    }

    /// The lower triangle for query `k`, whose weights were loaded.
    pub(crate) fn lower(&mut self, tall: &Matrix, weights: &Matrix, k: usize) -> Matrix {
        let q = tall.cols();
        let mut out = Matrix::zeros(q, q);
        if q > SHARED {
            for j in 0..q {
                hadamard(tall.col(j), weights.col(k), self.weighted.col_mut(j));
            }
            multiply_symmetric(&mut out, &self.weighted, tall);
            return out;
        }
        let mut pairs = self.sums.col(k).iter();
        for j in 0..q {
            for (x, pair) in out.col_mut(j)[j..].iter_mut().zip(&mut pairs) {
                *x = *pair;
            }
        }
        out
    }
}
