//! Random simplices with corners in the sample.

use crate::numerics::random::Random;

/// Draws corners by mass: different observations where masses count them, with replacement otherwise.
pub(super) struct Corners<'a> {
    /// The mass up to and including every point.
    pub(super) cumulative: &'a [u64],
    pub(super) counts: bool,
}

impl Corners<'_> {
    /// Draws `k` corners; the first `kept` of them stay as they are.
    pub(super) fn draw(&self, random: &mut Random, k: usize, kept: usize, drawn: &mut Vec<u64>) {
        let total = self.cumulative.last().copied().unwrap_or(1);
        drawn.truncate(kept);
        while drawn.len() < k {
            let observation = random.below(usize::try_from(total).unwrap_or(usize::MAX)) as u64;
            if !self.counts || !drawn.contains(&observation) {
                drawn.push(observation);
            }
        }
    }

    /// The point that an observation is a copy of.
    pub(super) fn point(&self, observation: u64) -> usize {
        self.cumulative.partition_point(|sum| *sum <= observation)
    }
}

/// Whether the simplex of `r + 1` vectors in `r` dimensions contains the origin; `None` if rounding could decide.
///
/// Solves for the barycentric coordinates by elimination with pivoting.
pub(super) fn contains_origin(vectors: &mut [Vec<f64>], r: usize) -> Option<bool> {
    // A vector at the origin is a corner there.
    if vectors.iter().any(|v| v.iter().all(|x| *x == 0.0)) {
        return Some(true);
    }
    for v in vectors.iter_mut() {
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        v.iter_mut().for_each(|x| *x /= length);
    }
    // Σ λⱼ vⱼ = -v₀: all λ ≥ 0 if and only if the origin is inside.
    let at = |row: usize, column: usize, vectors: &[Vec<f64>]| vectors[column + 1][row];
    let mut a: Vec<Vec<f64>> = (0..r)
        .map(|row| {
            (0..r).map(|column| at(row, column, vectors)).chain([-vectors[0][row]]).collect::<Vec<f64>>()
        })
        .collect();
    let mut smallest = f64::INFINITY;
    for k in 0..r {
        let pivot = (k..r).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap_or(k);
        a.swap(k, pivot);
        smallest = smallest.min(a[k][k].abs());
        if smallest < 1e-9 {
            return None;
        }
        for i in k + 1..r {
            let factor = a[i][k] / a[k][k];
            for j in k..=r {
                let x = a[k][j];
                a[i][j] -= factor * x;
            }
        }
    }
    let mut solution = vec![0.0; r];
    for k in (0..r).rev() {
        let sum: f64 = (k + 1..r).map(|j| a[k][j] * solution[j]).sum();
        solution[k] = (a[k][r] - sum) / a[k][k];
    }
    let largest = solution.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    // A heuristic multiple of the rounding of a well-conditioned elimination.
    let doubt = 1e-12 * largest / smallest;
    let least = solution.iter().copied().fold(f64::INFINITY, f64::min);
    if least.abs() <= doubt { None } else { Some(least > 0.0) }
}
