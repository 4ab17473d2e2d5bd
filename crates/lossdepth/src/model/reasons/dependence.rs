//! Which columns of the reference determine a column, and which value they let expect, (E11).

use super::columns::Column;
use super::relation::Relations;
use crate::model::pool::Pool;
use crate::numerics::special::normal_quantile;

/// How much of the variance another column must add, and all together must explain, to be named (heuristics).
const GAIN: f64 = 0.05;
const EXPLAINED: f64 = 0.5;
/// At most this many columns are named, and considered.
pub(super) const NAMED: usize = 3;
const CONSIDERED: usize = 200;

/// How the number columns depend on each other.
#[derive(Debug, Clone)]
pub(super) struct Dependence {
    columns: Vec<usize>,
    /// The correlations of their normal scores.
    correlations: Vec<f64>,
    relations: Relations,
}

impl Dependence {
    /// `ordinary` are the rows of the pool that are deep: what is odd must not bend a relation.
    pub(super) fn new(columns: &[Column], pool: &Pool, ordinary: &[usize]) -> Self {
        let numbers =
            (0..columns.len()).filter(|&j| columns[j].number.is_some() && !columns[j].is_constant());
        let chosen: Vec<usize> = numbers.take(CONSIDERED).collect();
        let encoded: Vec<usize> = chosen.iter().filter_map(|&j| columns[j].number).collect();
        let scores: Vec<Vec<f64>> = encoded.iter().map(|&at| normal_scores(pool, at)).collect();
        let mut correlations = Vec::with_capacity(chosen.len().pow(2));
        for a in &scores {
            for b in &scores {
                correlations.push(a.iter().zip(b).map(|(a, b)| a * b).sum());
            }
        }
        let relations = Relations::new(&encoded, &pool.of(ordinary), &correlations);
        Self { columns: chosen, correlations, relations }
    }

    /// The number that the others let expect in column `j` of an encoded row, if they determine it by a sum or a product.
    pub(super) fn expected(&self, j: usize, row: &[f64]) -> Option<f64> {
        self.relations.expected(self.place(j)?, row)
    }

    /// The columns that determine column `j`: those of a sum or a product if there is a close one, else by forward selection.
    pub(super) fn of(&self, j: usize) -> Vec<usize> {
        let Some(target) = self.place(j) else { return Vec::new() };
        match self.relations.terms(target) {
            Some(terms) => terms.into_iter().map(|k| self.columns[k]).collect(),
            None => self.selected(target),
        }
    }

    fn place(&self, j: usize) -> Option<usize> {
        self.columns.iter().position(|&k| k == j)
    }

    /// Forward selection by partial correlation.
    fn selected(&self, target: usize) -> Vec<usize> {
        let d = self.columns.len();
        // The correlations after the columns selected so far were projected out.
        let mut partial = self.correlations.clone();
        let (mut named, mut explained) = (Vec::new(), 0.0);
        while named.len() < NAMED {
            let gain = |k: usize| {
                let own = partial[k * d + k];
                // A column that is a combination of those selected adds rounding only.
                if k == target || own < 1e-3 { 0.0 } else { partial[target * d + k].powi(2) / own }
            };
            let Some(best) = (0..d).reduce(|best, k| if gain(k) > gain(best) { k } else { best }) else {
                break;
            };
            if gain(best) < GAIN {
                break;
            }
            explained += gain(best);
            named.push(self.columns[best]);
            let pivot: Vec<f64> = (0..d).map(|k| partial[best * d + k]).collect();
            for a in 0..d {
                for b in 0..d {
                    partial[a * d + b] -= pivot[a] * pivot[b] / pivot[best];
                }
            }
        }
        if explained < EXPLAINED { Vec::new() } else { named }
    }
}
/// The normal scores of a column, with mean 0 and sum of squares 1; equal values get the same.
fn normal_scores(pool: &Pool, at: usize) -> Vec<f64> {
    let rows = pool.rows();
    let mut order: Vec<usize> = (0..pool.len()).collect();
    order.sort_by(|&a, &b| rows.row(a)[at].total_cmp(&rows.row(b)[at]));
    let (mut scores, n) = (vec![0.0; order.len()], order.len() as f64);
    let mut start = 0;
    while start < order.len() {
        let value = rows.row(order[start])[at];
        let end = start + order[start..].iter().take_while(|&&i| rows.row(i)[at] == value).count();
        let score = normal_quantile(0.5 * (start + end) as f64 / n);
        for &i in &order[start..end] {
            scores[i] = score;
        }
        start = end;
    }
    let mean = scores.iter().sum::<f64>() / n;
    let size = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>().sqrt();
    scores.iter().map(|s| if size > 0.0 { (s - mean) / size } else { 0.0 }).collect()
}
