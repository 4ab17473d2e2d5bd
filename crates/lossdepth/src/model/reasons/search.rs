//! The search for the few columns that make a row ordinary when they are replaced, (E5)–(E7) of `docs/math/reasons.md`.

use super::columns::{Column, Distances, Pool};
use super::dependence::Dependence;
use super::scale::DepthScale;
use crate::data::Rows;
use crate::error::Result;
use crate::model::Model;
use crate::problem::Run;
use std::cell::Cell;

/// How many similar rows lend their values (heuristic).
const NEIGHBOURS: usize = 6;
/// The levels of a number that are tried beside those of similar rows (heuristic).
const LEVELS: [f64; 7] = [0.5, 0.1, 0.9, 0.3, 0.7, 0.02, 0.98];
/// How many replacements one step tries at most, over all columns.
const STEP: usize = 2048;
/// How many similar rows the search starts from if no single column makes a difference.
const STARTS: usize = 3;
/// How many values a refinement tries.
const SECTIONS: usize = 6;

/// What replacements are made of and judged by: shared by all rows.
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

    fn add(&mut self, j: usize) {
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

/// One value of one column, tried.
struct Trial {
    column: usize,
    values: Vec<f64>,
    depth: f64,
}

impl Ground<'_> {
    /// The depths of rows that lie one after the other.
    pub(super) fn depths(&self, data: &[f64]) -> Result<Vec<f64>> {
        let fits = self.model.score(Rows::new(data, self.pool.width)?, &self.run)?;
        self.evaluations.set(self.evaluations.get() + fits.len());
        Ok(fits.into_iter().map(|fit| fit.depth).collect())
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
        while best.bits > price && best.changed.len() < most {
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
        let free: Vec<usize> =
            (0..self.columns.len()).filter(|&j| !self.columns[j].is_constant() && !from.changes(j)).collect();
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

    /// A few rows of the pool like `row` whose depth satisfies a condition, the most similar first.
    pub(super) fn similar(&self, row: &[f64], accept: &impl Fn(f64) -> bool) -> Vec<usize> {
        let distances = Distances::new(self.columns, self.pool.rows(), row);
        let among: Vec<usize> = (0..self.pool.len()).filter(|&i| accept(self.pool_depths[i])).collect();
        distances.nearest_without(&distances.totals(), None, &among, STARTS)
    }

    /// Tries values of each of some columns.
    fn trials(&self, from: &Repair, columns: &[usize]) -> Result<Vec<Trial>> {
        let distances = Distances::new(self.columns, self.pool.rows(), &from.row);
        let totals = distances.totals();
        let count = (STEP / columns.len().max(1)).max(1);
        let mut trials = Vec::new();
        for &j in columns.iter().take(STEP) {
            for values in self.candidates(&distances, &totals, &from.row, j, count) {
                trials.push(Trial { column: j, values, depth: 0.0 });
            }
        }
        self.score_trials(from, &mut trials)?;
        Ok(trials)
    }

    fn score_trials(&self, from: &Repair, trials: &mut [Trial]) -> Result<()> {
        let mut data = Vec::with_capacity(trials.len() * from.row.len());
        for trial in trials.iter() {
            let start = data.len();
            data.extend_from_slice(&from.row);
            self.columns[trial.column].put(&mut data[start..], &trial.values);
        }
        for (trial, depth) in trials.iter_mut().zip(self.depths(&data)?) {
            trial.depth = depth;
        }
        Ok(())
    }

    /// Values of column `j` that rows like `row` have, and values across the reference.
    fn candidates(
        &self,
        distances: &Distances,
        totals: &[f64],
        row: &[f64],
        j: usize,
        count: usize,
    ) -> Vec<Vec<f64>> {
        let column = &self.columns[j];
        let similar = distances.nearest_without(totals, Some(j), self.ordinary, NEIGHBOURS);
        let of = |i: usize| column.take(self.pool.rows().row(i));
        let mut values: Vec<Vec<f64>> = Vec::new();
        if let (Some(at), Some(&first)) = (column.number, similar.first()) {
            let mut mean = of(first);
            let total: f64 =
                similar.iter().map(|&i| self.pool.rows().row(i)[at] / similar.len() as f64).sum();
            for (&encoded, value) in column.encoded.iter().zip(&mut mean) {
                if encoded == at {
                    *value = total;
                }
            }
            values.push(mean);
        }
        values.extend(similar.iter().map(|&i| of(i)));
        let mut order: Vec<usize> = self.ordinary.to_vec();
        if let Some(at) = column.number {
            order.sort_by(|&a, &b| {
                let value = |i: usize| self.pool.rows().row(i)[at];
                value(a).total_cmp(&value(b)).then(a.cmp(&b))
            });
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a length"
            )]
            values.extend(LEVELS.iter().map(|level| of(order[(level * (order.len() - 1) as f64) as usize])));
        } else {
            values.extend(self.frequent(column));
        }
        let now = column.take(row);
        let mut different: Vec<Vec<f64>> = Vec::new();
        for value in values {
            if value != now && !different.contains(&value) {
                different.push(value);
            }
        }
        different.truncate(count);
        different
    }

    /// The values of a category, the most frequent first.
    fn frequent(&self, column: &Column) -> Vec<Vec<f64>> {
        let mut levels: Vec<(f64, Vec<f64>)> = Vec::new();
        for &i in self.ordinary {
            let value = column.take(self.pool.rows().row(i));
            let weight = self.pool.weights[i];
            match levels.iter_mut().find(|(_, level)| *level == value) {
                Some((sum, _)) => *sum += weight,
                None => levels.push((weight, value)),
            }
        }
        levels.sort_by(|a, b| b.0.total_cmp(&a.0));
        levels.into_iter().take(LEVELS.len()).map(|(_, value)| value).collect()
    }

    /// Column `j` at the best value tried, refined between its neighbours if it is a number.
    fn refined(&self, from: &Repair, j: usize, tried: &[&Trial]) -> Result<Repair> {
        let column = &self.columns[j];
        let place = column.number.and_then(|at| column.encoded.iter().position(|&e| e == at));
        let mut known: Vec<(Vec<f64>, f64)> = tried.iter().map(|t| (t.values.clone(), t.depth)).collect();
        let rounds = if place.is_some() { 2 } else { 0 };
        for _ in 0..rounds {
            let Some(place) = place else { break };
            known.sort_by(|a, b| a.0[place].total_cmp(&b.0[place]));
            let Some(best) = deepest(&known) else { break };
            let middle = known[best].0[place];
            let low = if best == 0 { middle } else { known[best - 1].0[place] };
            let high = known.get(best + 1).map_or(middle, |next| next.0[place]);
            let half = SECTIONS / 2;
            let mut trials: Vec<Trial> = Vec::new();
            for k in 1..=half {
                let t = k as f64 / (half + 1) as f64;
                for end in [low, high] {
                    if end != middle {
                        let mut values = known[best].0.clone();
                        values[place] = middle + t * (end - middle);
                        trials.push(Trial { column: j, values, depth: 0.0 });
                    }
                }
            }
            self.score_trials(from, &mut trials)?;
            known.extend(trials.into_iter().map(|trial| (trial.values, trial.depth)));
        }
        let mut repair = from.clone();
        if let Some(best) = deepest(&known) {
            let (values, depth) = &known[best];
            column.put(&mut repair.row, values);
            repair.add(j);
            (repair.depth, repair.bits) = (*depth, self.scale.bits(*depth));
        }
        Ok(repair)
    }

    /// Starts from similar ordinary rows and puts the columns of `z` back, those first that leave the row deepest; the
    /// best repair on the way.
    fn backward(&self, z: &[f64], most: usize, price: f64) -> Result<Option<Repair>> {
        let distances = Distances::new(self.columns, self.pool.rows(), z);
        let similar = distances.nearest_without(&distances.totals(), None, self.ordinary, STARTS);
        let mut best: Option<Repair> = None;
        for i in similar {
            for repair in self.restore(z, self.pool.rows().row(i))? {
                if repair.changed.len() <= most
                    && best.as_ref().is_none_or(|best| repair.cost(price) < best.cost(price))
                {
                    best = Some(repair);
                }
            }
        }
        let Some(mut best) = best else { return Ok(None) };
        for j in best.changed.clone() {
            best = self.polished(&best, j)?;
        }
        Ok(Some(best))
    }

    /// The path from an ordinary row to `z`: a few columns a step while many are left, then one by one.
    pub(super) fn restore(&self, z: &[f64], ordinary: &[f64]) -> Result<Vec<Repair>> {
        let mut row = ordinary.to_vec();
        let same = |j: &usize| self.columns[*j].take(z) == self.columns[*j].take(ordinary);
        let (_, mut left): (Vec<usize>, Vec<usize>) = (0..self.columns.len()).partition(same);
        let mut path = Vec::new();
        while left.len() > 1 {
            let mut data = Vec::with_capacity(left.len() * z.len());
            for &j in &left {
                let start = data.len();
                data.extend_from_slice(&row);
                let column = &self.columns[j];
                column.put(&mut data[start..], &column.take(z));
            }
            let depths = self.depths(&data)?;
            let mut order: Vec<usize> = (0..left.len()).collect();
            order.sort_by(|&a, &b| depths[b].total_cmp(&depths[a]).then(a.cmp(&b)));
            let count = (left.len() / 8).max(1);
            let put_back: Vec<usize> = order[..count].iter().map(|&k| left[k]).collect();
            for &j in &put_back {
                self.columns[j].put(&mut row, &self.columns[j].take(z));
            }
            left.retain(|j| !put_back.contains(j));
            let depth = if count == 1 { depths[order[0]] } else { self.depths(&row)?[0] };
            let bits = self.scale.bits(depth);
            path.push(Repair { row: row.clone(), changed: left.clone(), depth, bits });
        }
        Ok(path)
    }

    /// The same with a better value of a column that was replaced, if there is one.
    fn polished(&self, from: &Repair, j: usize) -> Result<Repair> {
        let mut trials = self.trials(from, &[j])?;
        trials.push(Trial { column: j, values: self.columns[j].take(&from.row), depth: from.depth });
        let repair = self.refined(from, j, &trials.iter().collect::<Vec<_>>())?;
        Ok(if repair.depth > from.depth { repair } else { from.clone() })
    }

    /// Puts columns of `z` back one by one while that lowers the cost.
    fn eliminate(&self, z: &[f64], mut repair: Repair, price: f64) -> Result<Repair> {
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

fn deepest(known: &[(Vec<f64>, f64)]) -> Option<usize> {
    (0..known.len()).reduce(|best, i| if known[i].1 > known[best].1 { i } else { best })
}
