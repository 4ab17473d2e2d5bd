//! Sums over sample and query with twice the digits, for certificates whose square is divided by a small penalty.

use crate::numerics::double_double::{Twofold, TwofoldVector, dot_twofold};
use crate::numerics::linalg::{axpy, norm};
use crate::problem::features::{Drift, Features};

/// $\sum_i (a_i + b_i) t_i + (a_z + b_z) \hat z + \mu w$: two parts of each coefficient, the sample's and the query's, and `penalty`
/// $\mu$. Where a drift is given, in coordinates that are corrected by it.
pub(crate) fn sum(
    features: &Features,
    query: &[f64],
    sample: [&[f64]; 2],
    at_query: [f64; 2],
    at: &TwofoldVector,
    penalty: f64,
    drift: Option<&Drift<'_>>,
) -> Vec<f64> {
    let lacking = drift.map_or_else(Vec::new, |drift| {
        let mut more = drift.sum(sample[0], at_query[0] + at_query[1]);
        if !sample[1].is_empty() {
            axpy(1.0, &drift.sum(sample[1], 0.0), &mut more);
        }
        more
    });
    let entry = |j: usize| {
        let mut sum = Twofold::default();
        if j < features.width() {
            let column = features.tall.col(j);
            sum = dot_twofold(column, sample[0]);
            let (high, low) = dot_twofold(column, sample[1]).parts();
            sum.add(high);
            sum.add(low);
        }
        for a in at_query {
            sum.add_product(a, query[j]);
        }
        if j >= features.free {
            sum.add_product(penalty, at.high[j]);
            sum.add_product(penalty, at.low[j]);
        }
        if j >= features.free {
            sum.add(lacking.get(j - features.free).copied().unwrap_or(0.0));
        }
        sum.value()
    };
    (0..query.len()).map(entry).collect()
}

/// A bound on the norm of such a sum in the penalised coordinates, which was found to be `left` after `bias` times the query was
/// taken off; its terms have these `sizes` together.
pub(crate) fn length(features: &Features, query: &[f64], left: &[f64], bias: f64, sizes: f64) -> f64 {
    // A sum with twice the digits is off by this share of the sizes of its terms, and once more when it is rounded.
    let twofold = (0.5 * f64::EPSILON * (features.len() + 16) as f64).powi(2);
    (1.0 + 8.0 * f64::EPSILON) * norm(&left[features.free..])
        + twofold * sizes
        + 2.0 * f64::EPSILON * bias.abs() * norm(query)
}
