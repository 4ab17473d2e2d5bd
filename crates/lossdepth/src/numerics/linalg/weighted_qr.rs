//! The triangular factor of a weighted least-squares problem.
//!
//! $\sum_i h_i u_i u_i^\top$ squares the range of the weights and of the columns, which costs half of the digits. The factor $R$
//! with $R^\top R$ equal to that sum comes from the rows $\sqrt{h_i} u_i$ themselves, by Householder's reflections.
//! With the rows sorted by size and the columns pivoted this is stable row by row, however far apart the weights
//! are (Cox and Higham, *Stability of Householder QR factorization for weighted least squares problems*, 1998).

use super::{Cholesky, Matrix, axpy, dot, norm};

/// $R$, its columns in the order of the pivots.
pub(crate) struct WeightedQr {
    /// Column by column, the diagonal last.
    upper: Vec<Vec<f64>>,
    order: Vec<usize>,
}

impl WeightedQr {
    /// For $\sum_i h_i t_i t_i^\top + k \hat z \hat z^\top + 2 \lambda I$ (no penalty on a free intercept), where the rows of
    /// `tall` lack the last coordinate of $\hat z$.
    pub(crate) fn of_hessian(
        tall: &Matrix,
        curvatures: &[f64],
        query: &[f64],
        query_curvature: f64,
        reg: f64,
        free: usize,
    ) -> Self {
        // A loss with a corner has no curvature at most of the rows.
        let rows: Vec<usize> = (0..tall.rows()).filter(|&i| curvatures[i] > 0.0).collect();
        let n = rows.len();
        let roots: Vec<f64> = rows.iter().map(|&i| curvatures[i].sqrt()).collect();
        let (at_query, ridge) = (query_curvature.sqrt(), (2.0 * reg).sqrt());
        let column = |j: usize| {
            let mut column = vec![0.0; n + 1 + query.len()];
            if j < tall.cols() {
                let from = tall.col(j);
                column.iter_mut().zip(&rows).zip(&roots).for_each(|((x, &i), r)| *x = r * from[i]);
            }
            column[n] = at_query * query[j];
            if j >= free {
                column[n + 1 + j] = ridge;
            }
            column
        };
        Self::new((0..query.len()).map(column).collect())
    }

    /// Factors a matrix given by its columns, which are overwritten.
    pub(crate) fn new(mut columns: Vec<Vec<f64>>) -> Self {
        sort_rows(&mut columns);
        let (rows, width) = (columns.first().map_or(0, Vec::len), columns.len());
        let mut order: Vec<usize> = (0..width).collect();
        let mut upper = Vec::with_capacity(width);
        for k in 0..width {
            let from = k.min(rows);
            let lengths: Vec<f64> = columns[k..].iter().map(|c| norm(&c[from..])).collect();
            let longest =
                (0..lengths.len()).fold(0, |best, j| if lengths[j] > lengths[best] { j } else { best });
            columns.swap(k, k + longest);
            order.swap(k, k + longest);
            let (done, rest) = columns.split_at_mut(k + 1);
            let pivot = &mut done[k];
            let length = lengths[longest];
            let head = pivot.get(k).copied().unwrap_or(0.0);
            let diagonal = if head > 0.0 { -length } else { length };
            // The reflection along v: x - 2 v ⟨v, x⟩ / ⟨v, v⟩, where ⟨v, v⟩ = 2 length (length + |head|).
            if length > 0.0 && length.is_finite() {
                let v = &mut pivot[k..];
                v[0] -= diagonal;
                // Divide by the length first: squares might overflow or underflow.
                for x in v.iter_mut() {
                    *x /= length;
                }
                let factor = length / (length + head.abs());
                for column in rest {
                    let along = dot(v, &column[k..]);
                    axpy(-factor * along, v, &mut column[k..]);
                }
            }
            let mut column: Vec<f64> = pivot[..from].to_vec();
            // With more columns than rows, the columns beyond the rows have no diagonal entry.
            column.resize(k, 0.0);
            column.push(diagonal);
            upper.push(column);
        }
        Self { upper, order }
    }

    /// Replaces `rhs` by the solution $x$ of $R^\top R x =$ `rhs`; 0 in directions outside of the span of the rows.
    pub(crate) fn solve(&self, rhs: &mut [f64]) {
        let mut x: Vec<f64> = self.order.iter().map(|&j| rhs[j]).collect();
        let over = |x: f64, by: f64| if by == 0.0 { 0.0 } else { x / by };
        for (k, column) in self.upper.iter().enumerate() {
            x[k] = over(x[k] - dot(&column[..k], &x[..k]), column[k]);
        }
        for (k, column) in self.upper.iter().enumerate().rev() {
            x[k] = over(x[k], column[k]);
            let at = x[k];
            axpy(-at, &column[..k], &mut x[..k]);
        }
        for (&j, x) in self.order.iter().zip(&x) {
            rhs[j] = *x;
        }
    }
}

/// Sorts the rows by their largest entries, largest first.
fn sort_rows(columns: &mut [Vec<f64>]) {
    let rows = columns.first().map_or(0, Vec::len);
    let largest: Vec<f64> =
        (0..rows).map(|i| columns.iter().fold(0.0f64, |m, c| m.max(c[i].abs()))).collect();
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by(|&a, &b| largest[b].total_cmp(&largest[a]));
    for column in columns {
        *column = order.iter().map(|&i| column[i]).collect();
    }
}

/// What solves equations with a Hessian.
pub(crate) enum HessianFactor {
    /// Of the second moments: fast, and good for a condition number up to about $10^{15}$.
    Square(Cholesky),
    /// Of the weighted rows themselves.
    Root(WeightedQr),
}

impl HessianFactor {
    pub(crate) fn solve(&self, rhs: &mut [f64]) {
        match self {
            Self::Square(factor) => factor.solve(rhs),
            Self::Root(factor) => factor.solve(rhs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_any_range_are_no_obstacle() {
        // Two heavy rows, two light ones: the light ones determine the direction that the heavy ones do not.
        let rows = [[1e9, 1e9, 0.0], [1e9, 1e9, 1e9], [1e-6, 0.0, 0.0], [0.0, 1e-6, 1e-6]];
        let columns: Vec<Vec<f64>> = (0..3).map(|j| rows.iter().map(|r| r[j]).collect()).collect();
        let truth = [1.0, -3.0, 0.5];
        let mut rhs = [0.0; 3];
        // The heavy rows are zero along (1, -1, 0); this is the component tested here.
        let seen = [truth[0] - truth[1], 0.0, 0.0];
        rhs[0] = 1e-12 * seen[0];
        rhs[1] = -1e-12 * seen[0];
        WeightedQr::new(columns).solve(&mut rhs);
        // Along (1, -1, 0) the light rows add 2e-12, and the right-hand side was chosen to match: 2 · 4 / 2.
        assert!((rhs[0] - 4.0).abs() < 1e-6 && (rhs[1] + 4.0).abs() < 1e-6 && rhs[2].abs() < 1e-6, "{rhs:?}");
    }
}
