//! The update of $G = K \beta$ after a change of some variables.

use super::dual_point::QueryKernel;
use super::kernel_columns::KernelColumns;
use crate::numerics::linalg::axpy;
use crate::numerics::simd::vectorised;

/// Adds the kernel columns of the changed variables to `k_beta`, eight at a time.
pub(super) fn add_columns(
    k_beta: &mut [f64],
    changes: &[(f64, usize)],
    query: QueryKernel<'_>,
    columns: &KernelColumns<'_>,
) {
    let n = query.column.len();
    let column = |j: usize| if j == n { query.column } else { columns.column(j) };
    let at_query = |j: usize| if j == n { query.diagonal } else { query.column[j] };
    for (change, j) in changes {
        k_beta[n] += change * at_query(*j);
    }
    let k_beta = &mut k_beta[..n];
    let (eights, rest) = changes.as_chunks::<8>();
    for changes in eights {
        let columns = changes.map(|(_, j)| column(j));
        vectorised!(add_eight(k_beta, changes.map(|(change, _)| change), columns));
    }
    let (fours, rest) = rest.as_chunks::<4>();
    for changes in fours {
        let columns = changes.map(|(_, j)| column(j));
        vectorised!(add_four(k_beta, changes.map(|(change, _)| change), columns));
    }
    for (change, j) in rest {
        axpy(*change, column(*j), k_beta);
    }
}

/// `sum += Σ factors · columns`.
#[inline(always)]
fn add_eight(sum: &mut [f64], factors: [f64; 8], columns: [&[f64]; 8]) {
    let n = sum.len();
    let [a, b, c, d, e, f, g, h] = columns.map(|column| &column[..n]);
    let [p, q, r, s, t, u, v, w] = factors;
    for i in 0..n {
        let first = (p * a[i] + q * b[i]) + (r * c[i] + s * d[i]);
        let second = (t * e[i] + u * f[i]) + (v * g[i] + w * h[i]);
        sum[i] += first + second;
    }
}

/// `sum += Σ factors · columns`.
#[inline(always)]
fn add_four(sum: &mut [f64], factors: [f64; 4], columns: [&[f64]; 4]) {
    let ([p, q, r, s], [a, b, c, d]) = (factors, columns);
    let columns = a.iter().zip(b).zip(c.iter().zip(d));
    for (sum, ((a, b), (c, d))) in sum.iter_mut().zip(columns) {
        *sum += (p * a + q * b) + (r * c + s * d);
    }
}
