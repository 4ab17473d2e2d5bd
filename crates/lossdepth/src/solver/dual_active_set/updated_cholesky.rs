//! A Cholesky factor that is updated when a row and column are added or removed.

use crate::numerics::linalg::norm;

/// The factor $L$ of $M = L L^\top$: its lower triangle, row by row.
#[derive(Debug, Clone, Default)]
pub(crate) struct UpdatedCholesky {
    rows: Vec<f64>,
    stride: usize,
    len: usize,
}

impl UpdatedCholesky {
    /// The smallest squared diagonal entry of $L$: an estimate of the smallest eigenvalue of $M$, from above.
    pub(crate) fn smallest_pivot(&self) -> f64 {
        (0..self.len).map(|i| self.row(i)[i].powi(2)).fold(f64::INFINITY, f64::min)
    }

    /// An estimate of the smallest eigenvalue of $M$ by inverse iteration.
    pub(crate) fn smallest_eigenvalue_estimate(&self, iterations: usize) -> f64 {
        // A start that no simple structure of the eigenvectors is orthogonal to.
        let mut x: Vec<f64> = (0..self.len).map(|i| (1.0 + i as f64).sin()).collect();
        let mut estimate = f64::INFINITY;
        for _ in 0..iterations {
            let before = norm(&x);
            for x in &mut x {
                *x /= before;
            }
            self.solve(&mut x);
            estimate = 1.0 / norm(&x);
        }
        estimate
    }

    #[inline(always)]
    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.stride..=i * self.stride + i]
    }

    /// Solves $L x = b$ in place.
    #[inline(always)]
    fn forward(&self, x: &mut [f64]) {
        for i in 0..self.len {
            let row = self.row(i);
            let sum: f64 = dot(&row[..i], &x[..i]);
            x[i] = (x[i] - sum) / row[i];
        }
    }

    /// Solves $M x = b$ in place.
    #[inline(always)]
    pub(crate) fn solve(&self, x: &mut [f64]) {
        self.forward(x);
        for i in (0..self.len).rev() {
            let row = self.row(i);
            let value = x[i] / row[i];
            x[i] = value;
            for (x, l) in x[..i].iter_mut().zip(row) {
                *x -= value * l;
            }
        }
    }

    /// Appends a row and column to $M$ and returns the new pivot, the square of the diagonal entry of $L$. A pivot below
    /// `floor` is returned as it is and replaced by `floor` in the factor.
    #[inline(always)]
    pub(crate) fn push(&mut self, column: impl Iterator<Item = f64>, diagonal: f64, floor: f64) -> f64 {
        if self.len == self.stride {
            self.grow();
        }
        let (start, len) = (self.len * self.stride, self.len);
        let mut row = std::mem::take(&mut self.rows);
        let (above, new) = row.split_at_mut(start);
        for (x, value) in new[..len].iter_mut().zip(column) {
            *x = value;
        }
        for i in 0..len {
            let known = &above[i * self.stride..=i * self.stride + i];
            let sum = dot(&known[..i], &new[..i]);
            new[i] = (new[i] - sum) / known[i];
        }
        let pivot = diagonal - dot(&new[..len], &new[..len]);
        new[len] = if pivot > floor { pivot } else { floor }.sqrt();
        self.rows = row;
        self.len += 1;
        pivot
    }

    fn grow(&mut self) {
        let stride = (2 * self.stride).max(16);
        let mut rows = vec![0.0; stride * stride];
        for i in 0..self.len {
            rows[i * stride..=i * stride + i].copy_from_slice(self.row(i));
        }
        (self.rows, self.stride) = (rows, stride);
    }

    /// Removes row and column `k` of $M$.
    #[inline(always)]
    pub(crate) fn remove(&mut self, k: usize) {
        let stride = self.stride;
        for i in k + 1..self.len {
            self.rows.copy_within(i * stride..=i * stride + i, (i - 1) * stride);
        }
        self.len -= 1;
        // Row i ≥ k now has an entry in column i + 1; Givens rotations of adjacent columns eliminate it.
        for i in k..self.len {
            let (a, b) = (self.rows[i * stride + i], self.rows[i * stride + i + 1]);
            let length = a.hypot(b);
            let (c, s) = (a / length, b / length);
            self.rows[i * stride + i] = length;
            for below in i + 1..self.len {
                let at = below * stride + i;
                let (x, y) = (self.rows[at], self.rows[at + 1]);
                self.rows[at] = c * x + s * y;
                self.rows[at + 1] = c * y - s * x;
            }
        }
    }
}

/// Inner product over eight interleaved sums; the order of summation depends on the length alone.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a8, b8) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a8.0.iter().zip(b8.0) {
        for k in 0..8 {
            lanes[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a8.1.iter().zip(b8.1).map(|(a, b)| a * b).sum();
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7])) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_keep_the_factor_of_the_current_matrix() {
        let m = |i: usize, j: usize| {
            (-0.1 * (i as f64 - j as f64).powi(2)).exp() + if i == j { 0.1 } else { 0.0 }
        };
        let mut factor = UpdatedCholesky::default();
        let mut kept: Vec<usize> = Vec::new();
        let mut next = 0;
        for step in 0..200_usize {
            if kept.len() < 3 || (step * 7919) % 5 < 3 {
                factor.push(kept.iter().map(|&k| m(next, k)), m(next, next), 0.0);
                kept.push(next);
                next += 1;
            } else {
                let k = (step * 31) % kept.len();
                factor.remove(k);
                kept.remove(k);
            }
            let x: Vec<f64> = (0..kept.len()).map(|i| (i as f64).cos()).collect();
            let mut b: Vec<f64> =
                kept.iter().map(|&i| kept.iter().zip(&x).map(|(&j, x)| m(i, j) * x).sum()).collect();
            factor.solve(&mut b);
            assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-11), "step {step}");
        }
    }
}
