//! Values that a column could have instead, and the best of them.

use super::columns::{Column, Distances};
use super::search::{Ground, Repair};
use crate::error::Result;

/// How many similar rows lend their values (heuristic).
pub(super) const NEIGHBOURS: usize = 6;
/// The levels of a number that are tried beside those of similar rows (heuristic).
const LEVELS: [f64; 7] = [0.5, 0.1, 0.9, 0.3, 0.7, 0.02, 0.98];
/// How many replacements one step tries at most, over all columns; fewer in tables of more columns than these, where scoring
/// a row takes longer (heuristics).
const STEP: usize = 2048;
const NARROW: usize = 64;
/// At least so many are tried.
const LEAST_STEP: usize = 128;
/// At least so many values of a column are tried.
const LEAST_VALUES: usize = 4;
/// How many values a refinement tries.
const SECTIONS: usize = 6;

/// One value of one column, tried.
pub(super) struct Trial {
    pub(super) column: usize,
    pub(super) values: Vec<f64>,
    pub(super) depth: f64,
}

impl Ground<'_> {
    /// How many replacements a step tries at most.
    fn step(&self) -> usize {
        (STEP * NARROW / self.columns.len().max(1)).clamp(LEAST_STEP, STEP)
    }

    /// How many columns a step considers at most.
    pub(super) fn searched_columns(&self) -> usize {
        self.step() / LEAST_VALUES
    }

    /// Sorts columns by how much a row differs in them from others, the most first.
    pub(super) fn sort_by_difference(&self, columns: &mut [usize], row: &[f64], others: &[&[f64]]) {
        let apart = |j: usize| others.iter().map(|other| self.columns[j].difference(row, other)).sum::<f64>();
        let mut keyed: Vec<(f64, usize)> = columns.iter().map(|&j| (apart(j), j)).collect();
        keyed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        columns.iter_mut().zip(keyed).for_each(|(column, (_, j))| *column = j);
    }

    /// Tries values of each of some columns.
    pub(super) fn trials(&self, from: &Repair, columns: &[usize]) -> Result<Vec<Trial>> {
        let distances = Distances::new(self.columns, self.pool.rows(), &from.row);
        let totals = distances.totals();
        let mut columns = columns.to_vec();
        let most = self.searched_columns();
        if columns.len() > most {
            let similar = distances.nearest(&totals, &[], self.ordinary, NEIGHBOURS);
            let similar: Vec<&[f64]> = similar.iter().map(|&i| self.pool.rows().row(i)).collect();
            self.sort_by_difference(&mut columns, &from.row, &similar);
            columns.truncate(most);
        }
        let count = (self.step() / columns.len().max(1)).max(1);
        let mut trials = Vec::new();
        for j in columns {
            for values in self.candidates(&distances, &totals, &from.row, j, count) {
                trials.push(Trial { column: j, values, depth: 0.0 });
            }
        }
        self.score_trials(from, &mut trials)?;
        Ok(trials)
    }

    fn score_trials(&self, from: &Repair, trials: &mut [Trial]) -> Result<()> {
        let values = trials.iter().map(|trial| (trial.column, trial.values.as_slice()));
        let depths = self.depths_with(&from.row, values)?;
        for (trial, depth) in trials.iter_mut().zip(depths) {
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
        let similar = distances.nearest(totals, &[j], self.ordinary, NEIGHBOURS);
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
            if let Some(expected) = self.dependence.expected(j, row) {
                let mut value = of(first);
                column
                    .encoded
                    .iter()
                    .zip(&mut value)
                    .filter(|(e, _)| **e == at)
                    .for_each(|(_, v)| *v = expected);
                values.insert(0, value);
            }
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
    pub(super) fn refined(&self, from: &Repair, j: usize, tried: &[&Trial]) -> Result<Repair> {
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
}

fn deepest(known: &[(Vec<f64>, f64)]) -> Option<usize> {
    (0..known.len()).reduce(|best, i| if known[i].1 > known[best].1 { i } else { best })
}
