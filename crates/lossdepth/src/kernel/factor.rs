//! The sample as points in as many dimensions as its Gram matrix has: a pivoted Cholesky factor.
//!
//! $K = L L^\top + E$, where the rows of $L$ are coordinates of the points in the kernel's Hilbert space and the diagonal
//! of the positive semidefinite $E$ says how far each point is from the span of the pivots. A query has the
//! coordinates $L_P^{-1} k_z$, one forward substitution with the pivots' rows, and its own distance from the span. Both
//! are backward stable however fast the eigenvalues fall: no eigenvector of a tiny eigenvalue is ever needed.

use super::Space;
use crate::error::Result;
use crate::numerics::linalg::{Matrix, axpy, solve_lower, subtract_outer};

/// Columns eliminated together.
const PANEL: usize = 64;
/// A panel ends when its best candidate has less than this share of what the best point had when it began.
const STALE: f64 = 0.25;

/// A pivoted Cholesky factor of the Gram matrix.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    /// One row a point, one column a pivot.
    pub(crate) coordinates: Matrix,
    /// The points that were pivots, in order.
    pub(crate) pivots: Vec<usize>,
    /// The pivots' own rows: a lower triangle.
    pub(crate) triangle: Matrix,
    /// The squared distance of the farthest point from the span of the pivots.
    pub(crate) residual: f64,
}

impl Factor {
    /// Eliminates until every point is within `floor` (squared) of the span, or there are `most` pivots.
    pub(crate) fn new(space: &Space, floor: f64, most: usize) -> Result<Self> {
        let n = space.len();
        let most = most.min(n);
        let mut left: Vec<f64> = space.diagonal.clone();
        let mut lower = Matrix::zeros(n, most);
        let mut pivots: Vec<usize> = Vec::new();
        let mut block = Matrix::zeros(n, PANEL);
        while pivots.len() < most {
            let mut candidates: Vec<usize> = (0..n).filter(|&i| left[i] > floor).collect();
            if candidates.is_empty() {
                break;
            }
            let order = |a: &usize, b: &usize| left[*b].total_cmp(&left[*a]).then(a.cmp(b));
            let count = PANEL.min(most - pivots.len()).min(candidates.len());
            if count < candidates.len() {
                candidates.select_nth_unstable_by(count - 1, order);
                candidates.truncate(count);
            }
            candidates.sort_unstable_by(order);
            let best = left[candidates[0]];
            let (done, start) = (pivots.len(), pivots.len());
            space.columns(&candidates, &mut block)?;
            let rows = Matrix::from_fn(count, done, |i, j| lower.at(candidates[i], j));
            subtract_outer(&mut block, &lower, &rows, done, count);
            let mut open: Vec<usize> = (0..count).collect();
            while let Some(place) = (0..open.len()).max_by(|&a, &b| {
                let (a, b) = (candidates[open[a]], candidates[open[b]]);
                left[a].total_cmp(&left[b]).then(b.cmp(&a))
            }) {
                let column = open.swap_remove(place);
                let pivot = candidates[column];
                if left[pivot] <= floor || (pivots.len() > start && left[pivot] < STALE * best) {
                    break;
                }
                let root = left[pivot].sqrt();
                let out = lower.col_mut(pivots.len());
                out.iter_mut().zip(block.col(column)).for_each(|(o, x)| *o = x / root);
                // What is known exactly: nothing is left of earlier pivots, and the root of what was left of this one.
                for &p in &pivots {
                    out[p] = 0.0;
                }
                out[pivot] = root;
                for (l, x) in left.iter_mut().zip(&*out) {
                    *l = (*l - x * x).max(0.0);
                }
                left[pivot] = 0.0;
                for &other in &open {
                    let factor = out[candidates[other]];
                    axpy(-factor, out, block.col_mut(other));
                }
                pivots.push(pivot);
            }
        }
        let rank = pivots.len();
        let coordinates = if rank == most { lower } else { Matrix::from_fn(n, rank, |i, j| lower.at(i, j)) };
        let triangle =
            Matrix::from_fn(rank, rank, |i, j| if j <= i { coordinates.at(pivots[i], j) } else { 0.0 });
        let residual = left.iter().fold(0.0f64, |m, l| m.max(*l));
        Ok(Self { coordinates, pivots, triangle, residual })
    }

    /// The coordinates of queries, one column each, from their kernel values with all points.
    pub(crate) fn locate(&self, values: &Matrix) -> Matrix {
        let mut found =
            Matrix::from_fn(self.pivots.len(), values.cols(), |i, j| values.at(self.pivots[i], j));
        solve_lower(&self.triangle, &mut found);
        found
    }

    /// Squared distances of a query from the span below this are taken for rounding.
    pub(crate) fn floor(&self, space: &Space, own: f64) -> f64 {
        (SPAN * own).max(4.0 * self.blur(space, own))
    }

    /// What rounding in the factor makes of a kernel value, as a share of the largest.
    pub(crate) fn share(&self) -> f64 {
        0.5 * f64::EPSILON * (self.pivots.len() + 3) as f64
    }

    /// How far rounding may carry a kernel value of the coordinates off; `own` is that of the query with itself.
    pub(crate) fn blur(&self, space: &Space, own: f64) -> f64 {
        self.share() * space.largest.max(own) + space.rounding(own)
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
                let factor = Factor::new(&space, floor, n).unwrap();
                let l = &factor.coordinates;
                assert!(factor.residual <= floor);
                for i in 0..n {
                    for j in 0..n {
                        let ours: f64 = (0..l.cols()).map(|k| l.at(i, k) * l.at(j, k)).sum();
                        assert!((ours - gram.at(i, j)).abs() <= floor + 1e-14, "{n} {d} {i} {j}");
                    }
                }
            }
            // A point of the sample is found where it is.
            let factor = Factor::new(&space, 1e-14, n).unwrap();
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
        assert_eq!(Factor::new(&space(60, 3, KernelChoice::Linear), 1e-13, 60).unwrap().pivots.len(), 3);
    }
}
