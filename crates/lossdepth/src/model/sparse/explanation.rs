//! Why a sparse row has the depth it has: the classifier in the original columns.

use super::SparseModel;
use crate::data::Transform;
use crate::methods::explanation::Explanation;

/// The classifier behind the depth of a sparse query.
///
/// Of a linear method, the columns that matter most are in [`columns`](Self::columns), and with the mean $\bar x$ of the sample
///
/// $$ f(z) = \text{baseline} + \sum_j w_j (z_j - \bar x_j) + \text{rest}, $$
///
/// where the sum runs over these columns and the rest is that of all others.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseExplanation {
    /// The classifier in the Hilbert space of the kernel: depth, values, influence and witness of the reference rows.
    pub explanation: Explanation,
    /// $b$ in $f(x) = \langle w, x \rangle + b$; 0 for a method with another kernel.
    pub intercept: f64,
    /// The columns with the largest contributions in either direction, in the order of the columns; none for a method with another
    /// kernel, or where the multiplier of a constraint is 0.
    pub columns: Vec<ColumnWeight>,
    /// The contributions of all other columns together.
    pub rest: f64,
}

/// What a column does in a linear classifier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnWeight {
    /// The column, from 0.
    pub column: usize,
    /// $w_j$.
    pub weight: f64,
    /// $w_j (z_j - \bar x_j)$.
    pub contribution: f64,
}

impl SparseExplanation {
    /// Of a classifier that is no function of single columns.
    pub(super) fn without_columns(explanation: Explanation) -> Self {
        Self { explanation, intercept: 0.0, columns: Vec::new(), rest: 0.0 }
    }
}

impl SparseModel {
    /// $w = \sum_i \beta_i \tilde x_i + \beta_z \tilde z$ with the scaled rows, taken back to the original columns.
    pub(super) fn by_columns(
        &self,
        (columns, values): (&[u32], &[f64]),
        mean: &[f64],
        most: usize,
        explanation: Explanation,
    ) -> SparseExplanation {
        let Some(expansion) = explanation.expansion() else {
            return SparseExplanation::without_columns(explanation);
        };
        let mut weights = vec![0.0; self.width()];
        let rows = self.reference().rows().iter().zip(&expansion.rows);
        let total = expansion.query + expansion.rows.iter().sum::<f64>();
        for ((columns, values), beta) in rows.chain([((columns, values), &expansion.query)]) {
            for (column, value) in columns.iter().zip(values).filter(|_| *beta != 0.0) {
                weights[*column as usize] += beta * value;
            }
        }
        for ((w, center), column) in weights.iter_mut().zip(self.scaling.center()).zip(0..) {
            let factor = match self.scaling.transform() {
                Transform::Diagonal(factors) => factors[column],
                Transform::Identity | Transform::Full(_) => 1.0,
            };
            *w = (*w - total * center) * (factor * factor);
        }
        let mut contributions: Vec<f64> = weights.iter().zip(mean).map(|(w, m)| -w * m).collect();
        for (column, value) in columns.iter().zip(values) {
            let column = *column as usize;
            contributions[column] = weights[column] * (value - mean[column]);
        }
        let mut order: Vec<usize> = (0..contributions.len()).filter(|&j| contributions[j] != 0.0).collect();
        let larger =
            |a: &usize, b: &usize| contributions[*b].abs().total_cmp(&contributions[*a].abs()).then(a.cmp(b));
        if most < order.len() {
            if most > 0 {
                order.select_nth_unstable_by(most - 1, larger);
            }
            order.truncate(most);
        }
        order.sort_unstable();
        let kept = order.iter().map(|&column| ColumnWeight {
            column,
            weight: weights[column],
            contribution: contributions[column],
        });
        let kept: Vec<ColumnWeight> = kept.collect();
        let along: f64 = columns.iter().zip(values).map(|(j, z)| weights[*j as usize] * z).sum();
        let named: f64 = kept.iter().map(|column| column.contribution).sum();
        SparseExplanation {
            intercept: explanation.value - along,
            rest: explanation.value - explanation.baseline - named,
            columns: kept,
            explanation,
        }
    }
}
