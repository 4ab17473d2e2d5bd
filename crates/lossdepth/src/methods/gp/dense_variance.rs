//! The variances from all of the Gram matrix, for samples that are too small to be split.
//!
//! With $B = I + W^{1/2} K W^{1/2}$ over the points and the query the posterior covariance is
//!
//! $$ C = (K^{-1} + W)^{-1} = W^{-1/2} (I - B^{-1}) W^{-1/2}, \qquad v_i = \frac{1 - (B^{-1})_{ii}}{w_i}, $$
//!
//! and the diagonal of $B^{-1}$ needs no more than the inverse of a Cholesky factor: $\frac23 n^3$ operations. Where the
//! eigenvalues of $K$ fall slowly, that is less than the corrections by a small rest take. Nothing is left out, so that only
//! rounding is between the bounds; it is divided by $w_i$, and points that hardly count have wide ones.

use super::laplace_mode::Walker;
use super::posterior::Variances;
use crate::numerics::linalg::{InverseRoot, Matrix, Real};
use crate::numerics::simd::{sum_of, vectorised};

/// Samples up to this size may be treated as a whole.
const MOST: usize = 512;
/// Directions that the mode is then found in, with corrections for all others.
pub(super) const DIRECTIONS: usize = 16;

/// Whether that is less work than splitting off this many directions, by counts of operations on machines of today: products
/// run half as fast again as factorisations.
pub(super) fn is_less_work(points: usize, directions: usize) -> bool {
    points <= MOST && points * points < 11 * directions * directions + points * directions
}

/// Room for one query after the other.
pub(super) struct Whole {
    root: InverseRoot,
    /// The roots of the curvatures, the query's last.
    roots: Vec<f64>,
}

impl Whole {
    pub(super) fn new(points: usize) -> Self {
        Self { root: InverseRoot::new(points + 1), roots: vec![0.0; points + 1] }
    }

    /// The variances at a mode; `None` if the matrix could not be factored.
    pub(super) fn variances(&mut self, gram: &Matrix, walker: &Walker) -> Option<Variances> {
        let n = gram.rows();
        self.roots
            .iter_mut()
            .zip(walker.curvatures.iter().chain([&walker.bend]))
            .for_each(|(r, w)| *r = w.sqrt());
        let (query, roots) = (self.roots[n], &self.roots[..n]);
        let weights = walker.curvatures.iter().sum::<f64>() + walker.bend;
        let mut trace = query.mul_add(query * walker.place.square, 1.0);
        for j in 0..n {
            let (out, kernel, root) = (self.root.column(j), &gram.col(j)[j..], roots[j]);
            let (points, last) = out.split_at_mut(n - j);
            vectorised(
                #[inline(always)]
                || {
                    for ((out, k), r) in points.iter_mut().zip(kernel).zip(&roots[j..]) {
                        *out = root * r * k;
                    }
                },
            );
            points[0] += 1.0;
            trace += points[0];
            last[0] = root * query * walker.place.values[j];
        }
        self.root.column(n)[0] = query.mul_add(query * walker.place.square, 1.0);
        // Kernel values that are off by so much move B by that times the sum of the curvatures.
        let off = InverseRoot::rounding(n + 1, trace) + 2.0 * walker.place.slack * weights;
        if !self.root.find() || off.is_nan() {
            return None;
        }
        let bounds = |j: usize, most: f64| {
            let (left, weight) = (self.root.diagonal(j), self.roots[j] * self.roots[j]);
            let (low, high) = ((1.0 - left - off * left) / weight, (1.0 - left + off * left) / weight);
            // In this order the comparisons take what is no number for nothing known.
            (low.max(0.0).min(most), high.min(most).max(0.0))
        };
        let most = walker.place.square * (1.0 + 4.0 * f64::EPSILON);
        let query = bounds(n, most);
        Some(Variances::between((0..n).map(|j| bounds(j, gram.at(j, j) * (1.0 + 4.0 * f64::EPSILON))), query))
    }

    /// The lower triangle of the posterior covariance of the points and the query, the diagonal being given.
    pub(super) fn covariance(&self, variances: &Variances) -> Matrix<f32> {
        let mut out = self.root.inverse();
        let n = out.rows();
        for j in 0..n {
            let (column, roots) = (&mut out.col_mut(j)[j..], &self.roots[j..]);
            for (c, r) in column.iter_mut().zip(roots) {
                *c = f32::rounded(-c.widened() / (r * roots[0]));
            }
            column[0] = f32::rounded(variances.middle(j));
        }
        out
    }
}

/// $\sum_j C_{ij} x_j$ for every row of a symmetric matrix, given by its lower triangle; or $\sum_j C_{ij}^2 x_j$.
pub(super) fn apply(lower: &Matrix<f32>, x: &[f64], squared: bool) -> Vec<f64> {
    let n = lower.rows();
    let mut out = vec![0.0; n];
    for j in 0..n {
        let column = &lower.col(j)[j + 1..];
        let (here, below) = out.split_at_mut(j + 1);
        let (own, rest) = (x[j], &x[j + 1..]);
        here[j] += value(lower.at(j, j), squared) * own;
        here[j] += sum_of(
            column.len(),
            #[inline(always)]
            |i| value(column[i], squared) * rest[i],
        );
        vectorised(
            #[inline(always)]
            || below.iter_mut().zip(column).for_each(|(o, c)| *o += value(*c, squared) * own),
        );
    }
    out
}

#[inline(always)]
fn value(c: f32, squared: bool) -> f64 {
    let c = c.widened();
    if squared { c * c } else { c }
}
