//! A pivoted Cholesky factor of the Gram matrix: coordinates of the sample in the kernel's Hilbert space.
//!
//! $K = L L^\top + E$ (K11). The rows of $L$ are the coordinates; the diagonal of the positive semidefinite $E$ has the squared
//! distances of the points from the span of the pivots. A query has the coordinates $L_P^{-1} k_z$, one forward substitution
//! with the rows of the pivots, and a distance from the span (K12). Both are backward stable for any decay of the
//! eigenvalues: no eigenvector of a small eigenvalue is needed.

use super::Space;
use crate::error::Result;
use crate::numerics::linalg::{Matrix, axpy, solve_lower, subtract_outer};

/// Columns eliminated together.
const PANEL: usize = 64;
/// A panel ends when the largest remaining distance of its candidates is below this share of the largest at its start: a
/// new selection then finds better pivots (heuristic).
const STALE_PANEL: f64 = 0.25;

/// A pivoted Cholesky factor of the Gram matrix.
#[derive(Debug, Clone)]
pub(crate) struct PivotedCholesky {
    /// $L$: one row a point, one column a pivot.
    pub(crate) coordinates: Matrix,
    /// The pivots, in the order of their selection.
    pub(crate) pivots: Vec<usize>,
    /// $L_P$, the rows of the pivots: lower triangular.
    pub(crate) triangle: Matrix,
    /// The largest squared distance of a point from the span of the pivots.
    pub(crate) residual: f64,
}

impl PivotedCholesky {
    /// Factors until all squared distances from the span are at most `floor`, or there are `max_rank` pivots.
    pub(crate) fn new(space: &Space, floor: f64, max_rank: usize) -> Result<Self> {
        let n = space.len();
        let max_rank = max_rank.min(n);
        let mut distances: Vec<f64> = space.diagonal.clone();
        let mut lower = Matrix::zeros(n, max_rank);
        let mut pivots: Vec<usize> = Vec::new();
        let mut block = Matrix::zeros(n, PANEL);
        while pivots.len() < max_rank {
            let mut candidates: Vec<usize> = (0..n).filter(|&i| distances[i] > floor).collect();
            if candidates.is_empty() {
                break;
            }
            let farther = |a: &usize, b: &usize| distances[*b].total_cmp(&distances[*a]).then(a.cmp(b));
            let count = PANEL.min(max_rank - pivots.len()).min(candidates.len());
            if count < candidates.len() {
                candidates.select_nth_unstable_by(count - 1, farther);
                candidates.truncate(count);
            }
            candidates.sort_unstable_by(farther);
            let first_pivot = distances[candidates[0]];
            let (done, start) = (pivots.len(), pivots.len());
            space.columns(&candidates, &mut block)?;
            let rows = Matrix::from_fn(count, done, |i, j| lower.at(candidates[i], j));
            subtract_outer(&mut block, &lower, &rows, done, count);
            let mut remaining: Vec<usize> = (0..count).collect();
            while let Some(place) = (0..remaining.len()).max_by(|&a, &b| {
                let (a, b) = (candidates[remaining[a]], candidates[remaining[b]]);
                distances[a].total_cmp(&distances[b]).then(b.cmp(&a))
            }) {
                let column = remaining.swap_remove(place);
                let pivot = candidates[column];
                if distances[pivot] <= floor
                    || (pivots.len() > start && distances[pivot] < STALE_PANEL * first_pivot)
                {
                    break;
                }
                let root = distances[pivot].sqrt();
                let out = lower.col_mut(pivots.len());
                out.iter_mut().zip(block.col(column)).for_each(|(o, x)| *o = x / root);
                // Exact values: zero at earlier pivots, and the root of its own distance.
                for &p in &pivots {
                    out[p] = 0.0;
                }
                out[pivot] = root;
                for (l, x) in distances.iter_mut().zip(&*out) {
                    *l = (*l - x * x).max(0.0);
                }
                distances[pivot] = 0.0;
                for &other in &remaining {
                    let factor = out[candidates[other]];
                    axpy(-factor, out, block.col_mut(other));
                }
                pivots.push(pivot);
            }
        }
        let rank = pivots.len();
        let coordinates =
            if rank == max_rank { lower } else { Matrix::from_fn(n, rank, |i, j| lower.at(i, j)) };
        let triangle =
            Matrix::from_fn(rank, rank, |i, j| if j <= i { coordinates.at(pivots[i], j) } else { 0.0 });
        let residual = distances.iter().fold(0.0f64, |m, l| m.max(*l));
        Ok(Self { coordinates, pivots, triangle, residual })
    }

    /// The coordinates $\hat z$ of queries (K12), one column each, from their kernel values with all points.
    pub(crate) fn locate(&self, values: &Matrix) -> Matrix {
        let mut coordinates =
            Matrix::from_fn(self.pivots.len(), values.cols(), |i, j| values.at(self.pivots[i], j));
        solve_lower(&self.triangle, &mut coordinates);
        coordinates
    }

    /// A squared distance of a query from the span below this is taken for rounding; `diagonal` is $k(z, z)$.
    pub(crate) fn floor(&self, space: &Space, diagonal: f64) -> f64 {
        (SPAN * diagonal).max(4.0 * self.rounding(space, diagonal))
    }

    /// A bound on the rounding error of a product of coordinates, as a share of the largest kernel value: an inner product
    /// and a substitution of the length of the rank.
    pub(crate) fn share(&self) -> f64 {
        0.5 * f64::EPSILON * (self.pivots.len() + 3) as f64
    }

    /// A bound on the difference by rounding between the exact kernel and that of the coordinates; `diagonal` is $k(z, z)$.
    pub(crate) fn rounding(&self, space: &Space, diagonal: f64) -> f64 {
        self.share() * space.largest.max(diagonal) + space.rounding(diagonal)
    }
}

/// A squared distance from the span below this share of $k(z, z)$ is rounding.
const SPAN: f64 = 64.0 * f64::EPSILON;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Reference;
    use crate::kernel::{Gamma, KernelChoice, KernelSource};
    use crate::numerics::linalg::dot;

    fn space(n: usize, d: usize, kernel: KernelChoice) -> Space {
        let rows: Vec<Vec<f64>> =
            (0..n).map(|i| (0..d).map(|j| ((i * (j + 2)) as f64 * 0.7 + j as f64).sin()).collect()).collect();
        Space::new(&KernelSource::Choice(kernel), &Reference::new(&rows).unwrap(), false).unwrap()
    }

    #[test]
    fn the_factor_reproduces_the_gram_matrix() {
        let gaussian = |g| KernelChoice::Gaussian { gamma: Gamma::Value(g) };
        for (n, d, kernel) in [
            (5, 2, gaussian(1.0)),
            (90, 3, gaussian(0.5)),
            (200, 2, gaussian(30.0)),
            (80, 4, KernelChoice::Linear),
        ] {
            let space = space(n, d, kernel);
            let gram = space.gram().unwrap();
            for floor in [1e-14, 1e-6, 1e-2] {
                let factor = PivotedCholesky::new(&space, floor, n).unwrap();
                let l = &factor.coordinates;
                assert!(factor.residual <= floor);
                for i in 0..n {
                    for j in 0..n {
                        let ours: f64 = (0..l.cols()).map(|k| l.at(i, k) * l.at(j, k)).sum();
                        assert!((ours - gram.at(i, j)).abs() <= floor + 1e-14, "{n} {d} {i} {j}");
                    }
                }
            }
            // A query that equals a point of the sample has its coordinates.
            let factor = PivotedCholesky::new(&space, 1e-14, n).unwrap();
            let found = factor.locate(&gram);
            for i in 0..n {
                let l = &factor.coordinates;
                for j in 0..n {
                    let ours: f64 = (0..l.cols()).map(|k| l.at(i, k) * found.at(k, j)).sum();
                    assert!((ours - gram.at(i, j)).abs() <= 1e-13, "{n} {d} {i} {j} {ours}");
                }
                assert!(space.diagonal[i] - dot(found.col(i), found.col(i)) < 1e-12);
            }
        }
    }

    #[test]
    fn a_linear_kernel_has_the_rank_of_the_data() {
        assert_eq!(
            PivotedCholesky::new(&space(60, 3, KernelChoice::Linear), 1e-13, 60).unwrap().pivots.len(),
            3
        );
    }
}
