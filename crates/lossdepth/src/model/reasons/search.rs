//! The search for the few columns that make a row ordinary when they are replaced, (E5)–(E7) of `docs/math/reasons.md`.

use super::candidates::Trial;
use super::columns::Column;
use super::dependence::Dependence;
use super::scale::DepthScale;
use crate::data::Rows;
use crate::error::Result;
use crate::model::Model;
use crate::model::pool::Pool;
use crate::problem::Run;
use std::cell::Cell;

/// How many numbers the modified rows of one call hold at most.
const NUMBERS: usize = 1 << 21;

/// What replacements are made of and compared by: shared by all rows.
pub(super) struct Ground<'a> {
    pub(super) model: &'a Model,
    pub(super) columns: &'a [Column],
    pub(super) pool: &'a Pool,
    pub(super) pool_depths: &'a [f64],
    /// The rows of the pool that are deep enough to take values from.
    pub(super) ordinary: &'a [usize],
    pub(super) scale: &'a DepthScale,
    pub(super) dependence: &'a Dependence,
    pub(super) run: Run<'a>,
    /// How many rows were scored.
    pub(super) evaluations: Cell<usize>,
}

/// A row with some columns replaced.
#[derive(Debug, Clone)]
pub(super) struct Repair {
    pub(super) row: Vec<f64>,
    /// The original columns that were replaced, increasing.
    pub(super) changed: Vec<usize>,
    pub(super) depth: f64,
    pub(super) bits: f64,
}

impl Repair {
    /// The criterion (E5).
    pub(super) fn cost(&self, price: f64) -> f64 {
        self.bits + price * self.changed.len() as f64
    }

    fn changes(&self, j: usize) -> bool {
        self.changed.contains(&j)
    }

    pub(super) fn add(&mut self, j: usize) {
        if let Err(at) = self.changed.binary_search(&j) {
            self.changed.insert(at, j);
        }
    }
}

/// The bits left after the best replacement of one column alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Single {
    pub(super) column: usize,
    pub(super) bits: f64,
}

impl Ground<'_> {
    /// The depths of rows that lie one after the other.
    pub(super) fn depths(&self, data: &[f64]) -> Result<Vec<f64>> {
        let fits = self.model.score(Rows::new(data, self.pool.width)?, &self.run)?;
        self.evaluations.set(self.evaluations.get() + fits.len());
        Ok(fits.into_iter().map(|fit| fit.depth).collect())
    }

    /// The depths of copies of `row`, of which the k-th has a column replaced by values.
    pub(super) fn depths_with<'v>(
        &self,
        row: &[f64],
        replaced: impl ExactSizeIterator<Item = (usize, &'v [f64])>,
    ) -> Result<Vec<f64>> {
        let (mut data, mut depths) = (Vec::new(), Vec::with_capacity(replaced.len()));
        for (j, values) in replaced {
            let start = data.len();
            data.extend_from_slice(row);
            self.columns[j].put(&mut data[start..], values);
            if data.len() >= NUMBERS {
                depths.extend(self.depths(&data)?);
                data.clear();
            }
        }
        depths.extend(self.depths(&data)?);
        Ok(depths)
    }

    /// The row as it is.
    pub(super) fn unchanged(&self, z: &[f64]) -> Result<Repair> {
        let depth = self.depths(z)?[0];
        Ok(Repair { row: z.to_vec(), changed: Vec::new(), depth, bits: self.scale.bits(depth) })
    }

    /// The repair of at most `most` columns with the smallest cost that the search finds, and what the best columns do
    /// alone.
    pub(super) fn repair(
        &self,
        z: &[f64],
        start: &Repair,
        most: usize,
        price: f64,
    ) -> Result<(Repair, Vec<Single>)> {
        let (mut best, mut singles) = (start.clone(), Vec::new());
        // What is left after a single repair decides whether the search from the ordinary side is needed.
        let mut searched_backward = false;
        for _ in 0..2 * most {
            if best.bits <= price || best.changed.len() >= most {
                break;
            }
            let leaders = self.forward(&best)?;
            if best.changed.is_empty() && singles.is_empty() {
                singles
                    .extend(leaders.iter().map(|(column, one)| Single { column: *column, bits: one.bits }));
            }
            let next = leaders
                .into_iter()
                .map(|(_, one)| one)
                .reduce(|best, one| if one.depth > best.depth { one } else { best });
            let enough = next.as_ref().is_some_and(|next| next.bits <= 3.0 * price);
            let mut better = next.filter(|next| next.cost(price) < best.cost(price));
            if !enough && !searched_backward {
                searched_backward = true;
                let other = self.backward(z, most, price)?;
                let than = better.as_ref().unwrap_or(&best).cost(price);
                better = other.filter(|other| other.cost(price) < than).or(better);
            }
            let Some(better) = better else { break };
            best = self.eliminate(z, better, price)?;
        }
        Ok((best, singles))
    }

    /// The best replacements of one more column, each of another one.
    fn forward(&self, from: &Repair) -> Result<Vec<(usize, Repair)>> {
        // A column that the reference does not vary in can still be odd: if it is not as it always is.
        let replaceable = |column: &Column| {
            !column.is_constant() || column.take(&from.row) != column.take(self.pool.rows().row(0))
        };
        let free: Vec<usize> =
            (0..self.columns.len()).filter(|&j| !from.changes(j) && replaceable(&self.columns[j])).collect();
        let mut trials = self.trials(from, &free)?;
        trials.sort_by(|a, b| b.depth.total_cmp(&a.depth).then(a.column.cmp(&b.column)));
        // The three best columns are compared at refined values.
        let mut leaders: Vec<usize> = Vec::new();
        for trial in &trials {
            if leaders.len() < 3 && !leaders.contains(&trial.column) {
                leaders.push(trial.column);
            }
        }
        let refined = |j: usize| {
            let tried: Vec<&Trial> = trials.iter().filter(|trial| trial.column == j).collect();
            Ok((j, self.refined(from, j, &tried)?))
        };
        leaders.into_iter().map(refined).collect()
    }

    /// Puts columns of `z` back one by one while that lowers the cost.
    pub(super) fn eliminate(&self, z: &[f64], mut repair: Repair, price: f64) -> Result<Repair> {
        while repair.changed.len() > 1 {
            let fewer = self.without_one(z, &repair)?;
            let Some(best) = fewer.into_iter().min_by(|a, b| a.bits.total_cmp(&b.bits)) else { break };
            if best.cost(price) > repair.cost(price) {
                break;
            }
            repair = best;
        }
        Ok(repair)
    }

    /// The repairs with one column of `z` back.
    pub(super) fn without_one(&self, z: &[f64], repair: &Repair) -> Result<Vec<Repair>> {
        let mut fewer: Vec<Repair> = Vec::new();
        for &j in &repair.changed {
            let mut one = repair.clone();
            self.columns[j].put(&mut one.row, &self.columns[j].take(z));
            one.changed.retain(|&k| k != j);
            fewer.push(one);
        }
        let data: Vec<f64> = fewer.iter().flat_map(|one| one.row.iter().copied()).collect();
        if fewer.is_empty() {
            return Ok(fewer);
        }
        for (one, depth) in fewer.iter_mut().zip(self.depths(&data)?) {
            (one.depth, one.bits) = (depth, self.scale.bits(depth));
        }
        Ok(fewer)
    }
}
