//! A symmetric positive definite system, by Cholesky.

use crate::real::Real;

/// A symmetric matrix, of which the lower triangle is stored by rows; after [`factor`](Self::factor) its Cholesky factor.
#[derive(Debug, Clone)]
pub(crate) struct Symmetric<T> {
    size: usize,
    lower: Vec<T>,
}

impl<T: Real> Symmetric<T> {
    /// All zero.
    pub(crate) fn zero(size: usize) -> Self {
        Self { size, lower: vec![T::zero(); size * (size + 1) / 2] }
    }

    fn start(row: usize) -> usize {
        row * (row + 1) / 2
    }

    /// Adds to a diagonal entry.
    pub(crate) fn add_diagonal(&mut self, k: usize, by: T) {
        self.lower[Self::start(k) + k] += by;
    }

    /// Adds $c x x^\top$; `x` may be shorter than the matrix, and is then continued with zeros.
    pub(crate) fn add_outer(&mut self, c: T, x: &[T]) {
        for (i, &xi) in x.iter().enumerate() {
            let (scaled, start) = (c * xi, Self::start(i));
            for (entry, &xj) in self.lower[start..=start + i].iter_mut().zip(x) {
                *entry += scaled * xj;
            }
        }
    }

    /// Replaces the matrix by its factor. A pivot that is lost in rounding is replaced by what rounding leaves of it, so
    /// that a solve gives a direction in any case.
    pub(crate) fn factor(&mut self) {
        for i in 0..self.size {
            let row = Self::start(i);
            let size = self.lower[row + i];
            for j in 0..=i {
                let other = Self::start(j);
                let mut sum = self.lower[row + j];
                for k in 0..j {
                    sum -= self.lower[row + k] * self.lower[other + k];
                }
                if j < i {
                    self.lower[row + j] = sum / self.lower[other + j];
                } else {
                    let least = size.abs() * T::from_f64(T::EPSILON) + T::from_f64(1e-300);
                    self.lower[row + i] = if sum > least { sum } else { least }.sqrt();
                }
            }
        }
    }

    /// Solves with the factor, in place.
    pub(crate) fn solve(&self, x: &mut [T]) {
        for i in 0..self.size {
            let row = Self::start(i);
            let mut sum = x[i];
            for k in 0..i {
                sum -= self.lower[row + k] * x[k];
            }
            x[i] = sum / self.lower[row + i];
        }
        for i in (0..self.size).rev() {
            let mut sum = x[i];
            for k in i + 1..self.size {
                sum -= self.lower[Self::start(k) + i] * x[k];
            }
            x[i] = sum / self.lower[Self::start(i) + i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wide::Wide;

    #[test]
    fn solves_a_system() {
        let rows = [[2.0, 1.0, -3.0], [0.5, 4.0, 1.0], [1.0, 1.0, 1.0], [7.0, -2.0, 5.0]];
        let truth = [1.0, -2.0, 0.25].map(Wide::from_f64);
        let mut matrix = Symmetric::zero(3);
        let mut right = [Wide::zero(); 3];
        for row in rows.map(|row| row.map(Wide::from_f64)) {
            matrix.add_outer(Wide::from_f64(3.0), &row);
            let product = crate::real::dot(&row, &truth) * Wide::from_f64(3.0);
            for (r, x) in right.iter_mut().zip(row) {
                *r += product * x;
            }
        }
        matrix.factor();
        matrix.solve(&mut right);
        for (x, t) in right.into_iter().zip(truth) {
            assert!((x - t).abs().to_f64() < 1e-70);
        }
    }
}
