//! Queries in the coordinates of the sample, and classifiers back in those of the columns.

use super::Features;
use crate::data::Rows;
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, axpy, dot, multiply, norm};

impl Features {
    /// The coordinates of queries, one column each; columns beyond the last query are zero.
    pub(crate) fn locate(&self, queries: Rows<'_>) -> Matrix {
        let (count, d, k) = (queries.len(), self.center.len(), self.axes.cols());
        let padded = count.next_multiple_of(COLUMN_GROUP);
        let centred =
            Matrix::from_fn(
                d,
                padded,
                |i, j| {
                    if j < count { queries.row(j)[i] - self.center[i] } else { 0.0 }
                },
            );
        let mut rotated = Matrix::zeros(k, padded);
        multiply(&mut rotated, &self.axes_transposed, &centred);
        let mut outside = centred.clone();
        if k < d {
            let mut inside = Matrix::zeros(d, padded);
            multiply(&mut inside, &self.axes, &rotated);
            for j in 0..padded {
                for (o, i) in outside.col_mut(j).iter_mut().zip(inside.col(j)) {
                    *o -= i;
                }
            }
        }
        let mut coordinates = Matrix::zeros(self.query_width(), padded);
        for j in 0..count {
            let beyond = norm(&rotated.col(j)[self.rank..]);
            let rho = if k < d { beyond.hypot(norm(outside.col(j))) } else { beyond };
            let noise = self.noise + 8.0 * f64::EPSILON * norm(centred.col(j));
            let out = coordinates.col_mut(j);
            out[..self.free].fill(1.0);
            out[self.free..self.free + self.rank].copy_from_slice(&rotated.col(j)[..self.rank]);
            out[self.free + self.rank] = if rho > noise { rho } else { 0.0 };
        }
        coordinates
    }

    /// The coordinates of queries given in those of [`of_points`](Self::of_points), one column each, with their
    /// distances from the span of the points.
    pub(crate) fn query_coordinates(&self, mut points: Matrix, beyond: &[f64]) -> Matrix {
        let (padded, lead) = (points.cols(), self.axes.cols());
        for j in 0..beyond.len() {
            points.col_mut(j).iter_mut().zip(&self.center).for_each(|(x, c)| *x -= c);
        }
        let leading = Matrix::from_fn(lead, padded, |i, j| points.at(i, j));
        let mut rotated = Matrix::zeros(lead, padded);
        multiply(&mut rotated, &self.axes_transposed, &leading);
        let mut coordinates = Matrix::zeros(self.query_width(), padded);
        for (j, rho) in beyond.iter().enumerate() {
            points.col_mut(j)[..lead].copy_from_slice(rotated.col(j));
            let (inside, dropped) = points.col(j).split_at(self.rank);
            let out = coordinates.col_mut(j);
            out[..self.free].fill(1.0);
            out[self.free..self.free + self.rank].copy_from_slice(inside);
            out[self.free + self.rank] = rho.hypot(norm(dropped));
        }
        coordinates
    }

    /// $b$ of $f(x) = \langle w, x \rangle + b$ in the coordinates of [`of_points`](Self::of_points).
    pub(crate) fn constant(&self, theta: &[f64]) -> f64 {
        if self.free == 0 {
            return 0.0;
        }
        let lead = self.axes.cols();
        let rotated =
            |j: usize| if j < lead { dot(self.axes.col(j), &self.center[..lead]) } else { self.center[j] };
        (0..self.rank).fold(theta[0], |sum, j| sum - theta[self.free + j] * rotated(j))
    }

    /// The classifier $f(x) = \langle w, x \rangle + b$ that `theta` stands for, in the coordinates
    /// the sample was given in; `query` gives the direction of ρ.
    pub(crate) fn classifier(&self, theta: &[f64], query: &[f64]) -> (Vec<f64>, f64) {
        let d = self.center.len();
        let inside = &theta[self.free..self.free + self.rank];
        let mut w: Vec<f64> = vec![0.0; d];
        for (j, u) in inside.iter().enumerate() {
            axpy(*u, self.axes.col(j), &mut w);
        }
        let off = theta[self.free + self.rank];
        if off != 0.0 {
            let mut outside: Vec<f64> = query.iter().zip(&self.center).map(|(z, c)| z - c).collect();
            for j in 0..self.rank {
                let along = dot(self.axes.col(j), &outside);
                axpy(-along, self.axes.col(j), &mut outside);
            }
            let length = norm(&outside);
            if length > 0.0 {
                axpy(off / length, &outside, &mut w);
            }
        }
        let constant = if self.free == 1 { theta[0] } else { 0.0 };
        let b = constant - dot(&w, &self.center);
        (w, b)
    }
}
