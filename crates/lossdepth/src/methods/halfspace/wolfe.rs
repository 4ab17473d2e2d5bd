//! Wolfe's algorithm (1976): the point of a convex hull nearest to the query gives a simplex around the
//! query, or a separating direction.

use super::simplex_search::SimplexSearch;
use super::work_budget::WorkBudget;
use crate::numerics::linalg::{axpy, dot};

// All of these are heuristics: a simplex is accepted by (H9) only, and the mass on a direction is counted exactly.

/// Weights that count as zero.
const NO_WEIGHT: f64 = 1e-14;
/// Squared distances of the nearest point at which the hull is taken to contain the query: at once, and once no point is
/// nearer.
const AT_ORIGIN: f64 = 1e-18;
const NEAR_ORIGIN: f64 = 1e-14;
/// The products of points on one side, and the least gain of a step; points have length 1.
const OUTSIDE: f64 = 1e-13;
const NO_PROGRESS: f64 = 1e-14;
/// Pivots of affinely dependent points, and of a matrix that is not inverted.
const DEPENDENT: f64 = 1e-13;
const SINGULAR: f64 = 1e-12;

/// What the algorithm found.
pub(super) enum WolfeResult {
    /// A direction with all points outside, up to rounding.
    Separated(Vec<f64>),
    /// A simplex that contains the query, proven by (H9).
    Simplex(Vec<usize>),
    /// Rounding could decide, or the budget is exhausted.
    Unknown,
}

impl SimplexSearch<'_> {
    fn row(&self, i: usize) -> Vec<f64> {
        (0..self.vectors.dim).map(|j| self.vectors.columns[j * self.vectors.len + i]).collect()
    }

    /// Searches the point nearest to the origin in the convex hull of the points with mass left.
    pub(super) fn nearest(&mut self, left: &[u64], work: &mut WorkBudget<'_>) -> WolfeResult {
        let (n, d) = (self.vectors.len, self.vectors.dim);
        let Some(start) = left.iter().position(|m| *m > 0) else { return WolfeResult::Unknown };
        let mut members = vec![start];
        let mut rows = vec![self.row(start)];
        let mut weights = vec![1.0];
        let mut x = rows[0].clone();
        self.products.resize(n, 0.0);
        for _ in 0..20 * (d + 2) {
            if work.spent >= work.budget || (work.cancelled)() {
                return WolfeResult::Unknown;
            }
            let size = dot(&x, &x);
            if size < AT_ORIGIN {
                return self.certified(members, &rows, &weights, work);
            }
            self.products.fill(0.0);
            for (j, v) in x.iter().enumerate() {
                axpy(*v, &self.vectors.columns[j * n..(j + 1) * n], &mut self.products);
            }
            work.spent += (n * d) as u64;
            let entering = (0..n)
                .filter(|&i| left[i] > 0)
                .min_by(|&i, &j| self.products[i].total_cmp(&self.products[j]))
                .unwrap_or(start);
            let least = self.products[entering];
            // All points are on one side: the nearest point itself is not needed.
            if least > OUTSIDE {
                return WolfeResult::Separated(x.iter().map(|v| -v).collect());
            }
            if members.contains(&entering) || least > size - NO_PROGRESS {
                return if size < NEAR_ORIGIN {
                    self.certified(members, &rows, &weights, work)
                } else {
                    WolfeResult::Unknown
                };
            }
            members.push(entering);
            rows.push(self.row(entering));
            weights.push(0.0);
            // Move towards the nearest point of the affine hull, dropping members whose weight would become
            // negative.
            loop {
                let Some(target) = nearest_affine(&rows) else {
                    return self.certified(members, &rows, &weights, work);
                };
                work.spent += (rows.len() * rows.len() * (rows.len() / 3 + d) / 2) as u64;
                if target.iter().all(|w| *w > NO_WEIGHT) {
                    weights = target;
                    break;
                }
                let step = weights
                    .iter()
                    .zip(&target)
                    .filter(|(_, t)| **t <= NO_WEIGHT)
                    .map(|(w, t)| w / (w - t).max(f64::MIN_POSITIVE))
                    .fold(1.0f64, f64::min);
                for (w, t) in weights.iter_mut().zip(&target) {
                    *w += step * (t - *w);
                }
                let keep: Vec<bool> = weights.iter().map(|w| *w > NO_WEIGHT).collect();
                let (mut of_members, mut of_rows) = (keep.iter(), keep.iter());
                members.retain(|_| of_members.next() == Some(&true));
                rows.retain(|_| of_rows.next() == Some(&true));
                weights.retain(|w| *w > NO_WEIGHT);
                if members.is_empty() {
                    return WolfeResult::Unknown;
                }
            }
            x.fill(0.0);
            rows.iter().zip(&weights).for_each(|(row, w)| axpy(*w, row, &mut x));
        }
        WolfeResult::Unknown
    }

    /// Accepts a simplex if it certainly contains the query: with $M$ the points over a row of ones, $M
    /// \lambda = (0, 1)$ has a positive solution. For an approximate inverse $R$ and weights $\tilde\lambda$,
    /// $|\lambda - \tilde\lambda| \le \|R\| \|(0, 1) - M \tilde\lambda\| / (1 - \|I - R M\|)$ in the maximum
    /// norm (H9).
    fn certified(
        &self,
        members: Vec<usize>,
        rows: &[Vec<f64>],
        weights: &[f64],
        work: &mut WorkBudget<'_>,
    ) -> WolfeResult {
        let d = self.vectors.dim;
        let size = members.len();
        if size != d + 1 {
            return WolfeResult::Unknown;
        }
        let m: Vec<Vec<f64>> =
            (0..size).map(|j| rows.iter().map(|row| if j < d { row[j] } else { 1.0 }).collect()).collect();
        work.spent += (2 * size * size * size) as u64;
        let Some(inverse) = invert(&m) else { return WolfeResult::Unknown };
        let error = members.iter().map(|&i| self.error[i]).sum::<f64>();
        let rounding = 4.0 * size as f64 * f64::EPSILON;
        let mut inverse_norm = 0.0f64;
        let mut defect = 0.0f64;
        for (i, r) in inverse.iter().enumerate() {
            let sum: f64 = r.iter().map(|v| v.abs()).sum();
            inverse_norm = inverse_norm.max(sum);
            // A row of I - R M.
            let mut product = vec![0.0; size];
            r.iter().zip(&m).for_each(|(r, row)| axpy(*r, row, &mut product));
            product[i] -= 1.0;
            defect = defect.max(
                product.iter().map(|v| v.abs()).sum::<f64>() + size as f64 * sum * rounding + sum * error,
            );
        }
        let residual = m
            .iter()
            .enumerate()
            .map(|(j, row)| {
                let target = if j < d { 0.0 } else { 1.0 };
                (target - dot(row, weights)).abs() + rounding
            })
            .fold(0.0f64, f64::max)
            + error;
        let weight_error = 1.01 * inverse_norm * residual / (1.0 - defect);
        let finite = inverse_norm.is_finite() && inverse.iter().flatten().all(|v| v.is_finite());
        if finite && defect < 0.5 && weights.iter().all(|w| *w > weight_error) {
            WolfeResult::Simplex(members)
        } else {
            WolfeResult::Unknown
        }
    }
}

/// The weights, summing to 1, of the point nearest to the origin in the affine hull of the rows; `None` if
/// they are affinely dependent.
fn nearest_affine(rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let s = rows.len();
    // (G + 1) a = 1, then scaled: G + 1 is positive definite if the rows are affinely independent.
    let mut l = vec![0.0; s * s];
    for i in 0..s {
        for j in 0..=i {
            l[i * s + j] = dot(&rows[i], &rows[j]) + 1.0;
        }
    }
    for j in 0..s {
        let (head, tail) = l.split_at_mut((j + 1) * s);
        let row = &mut head[j * s..];
        let pivot = row[j] - dot(&row[..j], &row[..j]);
        if pivot < DEPENDENT {
            return None;
        }
        let pivot = pivot.sqrt();
        row[j] = pivot;
        for other in tail.chunks_exact_mut(s) {
            other[j] = (other[j] - dot(&other[..j], &row[..j])) / pivot;
        }
    }
    let mut a = vec![1.0; s];
    for i in 0..s {
        a[i] = (a[i] - dot(&l[i * s..i * s + i], &a[..i])) / l[i * s + i];
    }
    for i in (0..s).rev() {
        let below: f64 = (i + 1..s).map(|k| l[k * s + i] * a[k]).sum();
        a[i] = (a[i] - below) / l[i * s + i];
    }
    let sum: f64 = a.iter().sum();
    (sum > 0.0 && sum.is_finite()).then(|| a.iter().map(|v| v / sum).collect())
}

/// The inverse by elimination with row exchanges; `None` if nearly singular.
fn invert(m: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let s = m.len();
    let mut a = m.to_vec();
    let mut inverse: Vec<Vec<f64>> =
        (0..s).map(|i| (0..s).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    for p in 0..s {
        let best = (p..s).max_by(|&i, &j| a[i][p].abs().total_cmp(&a[j][p].abs()))?;
        a.swap(p, best);
        inverse.swap(p, best);
        let pivot = a[p][p];
        if pivot.abs() < SINGULAR {
            return None;
        }
        a[p].iter_mut().for_each(|v| *v /= pivot);
        inverse[p].iter_mut().for_each(|v| *v /= pivot);
        let (row, unit) = (a[p].clone(), inverse[p].clone());
        for i in 0..s {
            if i != p && a[i][p] != 0.0 {
                let factor = a[i][p];
                axpy(-factor, &row, &mut a[i]);
                axpy(-factor, &unit, &mut inverse[i]);
            }
        }
    }
    Some(inverse)
}
