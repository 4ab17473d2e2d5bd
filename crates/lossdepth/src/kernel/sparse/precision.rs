//! How exact the kernel values of sparse rows are: (K26) of `docs/math/kernel.md`.

use super::SparseSample;
use crate::kernel::Standard;

impl SparseSample {
    /// A bound on the error of a kernel value, as a multiple of the largest $k(x, x)$ of the sample and of the query.
    ///
    /// With $N$ the most indexed numbers of a row, a sum over them is within $(N + 3) u$ of its absolute terms. For a distance
    /// these are at most $2 (\|x\|^2 + \|z\|^2)$, and $\|z\|^2 \le 2 \|x\|^2 + 2 \|x - z\|^2$; for a product of centred
    /// rows they are at most $\|x\|^2 + \|z\|^2 + 4 \|m\|^2$, and $\|z\|^2 \le 2 \|z - m\|^2 + 2 \|m\|^2$. The dense
    /// columns add what [`Kernel::precision`](crate::kernel::Kernel::precision) says of them.
    pub(crate) fn precision(&self, kernel: &Standard) -> f64 {
        let largest = |of: fn(&super::Sums) -> f64| self.sums.iter().map(of).fold(0.0, f64::max);
        let (steps, dense) = (self.longest as f64 + 3.0, self.dense_zero.len() as f64 + 3.0);
        f64::EPSILON
            * match *kernel {
                Standard::Gaussian { gamma } => {
                    steps * (3.0 * gamma * largest(|x| x.square) + 0.8) + 0.4 * dense + 3.0
                }
                Standard::Laplacian { sigma } => {
                    steps * (2.0 * largest(|x| x.length) / sigma + 0.4) + 0.4 * dense + 3.0
                }
                Standard::Imq { c, beta } => {
                    -beta * steps * (3.0 * largest(|x| x.square) / (c * c) + 2.0) + (0.4 - beta) * dense + 5.0
                }
                Standard::Linear => self.product_precision(),
                Standard::Polynomial { degree, .. } => (self.product_precision() + 4.0) * f64::from(degree),
            }
    }

    /// Of a product, in units of [`f64::EPSILON`] and of the largest centred square.
    fn product_precision(&self) -> f64 {
        let largest = self.sums.iter().map(|x| x.square).fold(0.0, f64::max);
        let centred = |(i, x): (usize, &super::Sums)| {
            let dense = self
                .points
                .as_ref()
                .map_or(0.0, |points| points.point(i).iter().fold(0.0, |sum: f64, x| x.mul_add(*x, sum)));
            dense + self.centred(x.square, x, x)
        };
        let unit = self.sums.iter().enumerate().map(centred).fold(0.0, f64::max);
        let uncentred = largest + 6.0 * self.center_square;
        let ratio = if uncentred > 0.0 { uncentred / unit } else { 0.0 };
        (self.longest as f64 + 4.0) * (ratio + 2.0) + self.dense_zero.len() as f64 + 3.0
    }
}
