//! The kernel test: the maximum mean discrepancy of Gretton et al. (2012).

use super::permutation::{KERNEL, Statistic, TIE, divisions, p_value};
use super::{CompareOptions, Pooled};
use crate::error::Result;
use crate::kernel::{Columns, Gamma, Kernel, Points, Standard};
use crate::numerics::linalg::{Matrix, multiply_first};
use crate::problem::{Batch, Run, Ticket};

/// How many rows a worker takes at a time.
const BLOCK: usize = 32;

/// The squared maximum mean discrepancy (TS3) with a Gaussian kernel, and the p-value.
///
/// With $s_b$ the vector of weights of division $b$, positive in the first group and negative in the second, it is
/// $s_b^\top K s_b$. A block of columns of $K$ serves all divisions by one matrix product.
pub(super) fn test(pooled: &Pooled, options: &CompareOptions, run: &Run<'_>) -> Result<(f64, f64)> {
    let kernel = Standard::Gaussian { gamma: Gamma::Auto.learn(&pooled.sample)? };
    let divisions = divisions(&pooled.is_second, options.permutations, options.seed, KERNEL);
    let signed: Vec<Vec<f64>> =
        divisions.iter().map(|division| signed_weights(&pooled.weights, division)).collect();
    let points = Points::new(pooled.rows());
    let (rows, count) = (points.len(), signed.len());
    let all = Matrix::from_fn(count, rows, |b, i| signed[b][i]);
    let run = Run { progress: None, ..*run };
    let parts = Batch::new(pooled.rows(), &run).run(|mut ticket: Ticket<'_, '_, Vec<f64>>| {
        let mut values = Matrix::zeros(rows, BLOCK);
        let mut products = Matrix::zeros(count, BLOCK);
        while let Some((first, queries)) = ticket.take(BLOCK, 1) {
            kernel.block(&points, queries, &mut Columns::new(&mut values, 0, queries.len()));
            multiply_first(&mut products, &all, &values, queries.len());
            for j in 0..queries.len() {
                let part = products.col(j).iter().zip(&signed).map(|(product, s)| product * s[first + j]);
                ticket.done(first + j, part.collect());
            }
        }
    })?;
    let mut discrepancies = vec![0.0; count];
    for part in &parts {
        discrepancies.iter_mut().zip(part).for_each(|(sum, term)| *sum += term);
    }
    // The terms of a discrepancy add up to at most 4 in size, so what is much smaller than that is rounding: of equal samples, of a constant.
    for discrepancy in &mut discrepancies {
        if *discrepancy < TIE {
            *discrepancy = 0.0;
        }
    }
    let statistics: Vec<Statistic> = discrepancies.iter().copied().map(Statistic::plain).collect();
    Ok((discrepancies[0], p_value(&statistics)))
}

/// Weights that sum to 1 in the first group and to -1 in the second.
fn signed_weights(weights: &[f64], division: &[bool]) -> Vec<f64> {
    let mut masses = [0.0; 2];
    for (weight, is_second) in weights.iter().zip(division) {
        masses[usize::from(*is_second)] += weight;
    }
    let signed = |(weight, is_second): (&f64, &bool)| {
        if *is_second { -weight / masses[1] } else { weight / masses[0] }
    };
    weights.iter().zip(division).map(signed).collect()
}
