//! The search from the ordinary side, which also works where the depth no longer falls, (E7).

use super::candidates::{NEIGHBOURS, Trial};
use super::columns::Distances;
use super::search::{Ground, Repair};
use crate::error::Result;

/// How many similar rows the search starts from if no single column makes a difference.
const STARTS: usize = 3;

impl Ground<'_> {
    /// Starts from similar ordinary rows and puts the columns of `z` back, those first that leave the row deepest. The
    /// columns that are left on the way are replaced by values that fit the others; the best of these repairs.
    pub(super) fn backward(&self, z: &[f64], most: usize, price: f64) -> Result<Option<Repair>> {
        let distances = Distances::new(self.columns, self.pool.rows(), z);
        let totals = distances.totals();
        let mut paths: Vec<Repair> = Vec::new();
        for i in distances.nearest(&totals, &[], self.ordinary, STARTS) {
            let path = self.restore(z, i)?;
            paths.extend(path.into_iter().filter(|repair| repair.changed.len() <= most));
        }
        paths.sort_by(|a, b| a.cost(price).total_cmp(&b.cost(price)));
        let mut sets: Vec<Repair> = Vec::new();
        for repair in paths {
            if sets.len() < STARTS && sets.iter().all(|other| other.changed != repair.changed) {
                sets.push(repair);
            }
        }
        let mut best: Option<Repair> = None;
        for set in sets {
            let mut repair = self.jointly(&set, &distances, &totals)?;
            for j in set.changed {
                repair = self.polished(&repair, j)?;
            }
            if best.as_ref().is_none_or(|best| repair.cost(price) < best.cost(price)) {
                best = Some(repair);
            }
        }
        Ok(best)
    }

    /// The row replaced by a similar ordinary one, less what can go back, if they differ in at most `most` columns: for rows in
    /// which so many columns are odd that none can be put back into an ordinary row.
    pub(super) fn replaced(&self, z: &[f64], most: usize, price: f64) -> Result<Option<Repair>> {
        let distances = Distances::new(self.columns, self.pool.rows(), z);
        let similar = distances.nearest(&distances.totals(), &[], self.ordinary, STARTS);
        let Some(i) =
            similar.into_iter().max_by(|&a, &b| self.pool_depths[a].total_cmp(&self.pool_depths[b]))
        else {
            return Ok(None);
        };
        let (row, depth) = (self.pool.rows().row(i), self.pool_depths[i]);
        let differs = |j: &usize| self.columns[*j].take(z) != self.columns[*j].take(row);
        let changed: Vec<usize> = (0..self.columns.len()).filter(differs).collect();
        if changed.len() > most {
            return Ok(None);
        }
        let repair = Repair { row: row.to_vec(), changed, depth, bits: self.scale.bits(depth) };
        self.eliminate(z, repair, price).map(Some)
    }

    /// The replaced columns as they are in one of the rows that are most similar in the other columns, if that is deeper.
    fn jointly(&self, repair: &Repair, distances: &Distances, totals: &[f64]) -> Result<Repair> {
        let mut data = Vec::new();
        for i in distances.nearest(totals, &repair.changed, self.ordinary, NEIGHBOURS) {
            let start = data.len();
            data.extend_from_slice(&repair.row);
            for &j in &repair.changed {
                self.columns[j].put(&mut data[start..], &self.columns[j].take(self.pool.rows().row(i)));
            }
        }
        let mut best = repair.clone();
        for (row, depth) in data.chunks_exact(repair.row.len()).zip(self.depths(&data)?) {
            if depth > best.depth {
                (best.row, best.depth, best.bits) = (row.to_vec(), depth, self.scale.bits(depth));
            }
        }
        Ok(best)
    }

    /// The path from row `i` of the pool to `z`: a few columns a step while many are left, then one by one. In wide tables it
    /// begins with the columns put back in which the two rows differ least.
    pub(super) fn restore(&self, z: &[f64], i: usize) -> Result<Vec<Repair>> {
        let ordinary = self.pool.rows().row(i);
        let mut row = ordinary.to_vec();
        let differs = |j: &usize| self.columns[*j].take(z) != self.columns[*j].take(ordinary);
        let mut left: Vec<usize> = (0..self.columns.len()).filter(differs).collect();
        let most = self.searched_columns();
        if left.len() > most {
            self.sort_by_difference(&mut left, z, &[ordinary]);
            for j in left.split_off(most) {
                self.columns[j].put(&mut row, &self.columns[j].take(z));
            }
            left.sort_unstable();
        }
        let mut path = Vec::new();
        while left.len() > 1 {
            let values: Vec<Vec<f64>> = left.iter().map(|&j| self.columns[j].take(z)).collect();
            let depths =
                self.depths_with(&row, left.iter().zip(&values).map(|(j, values)| (*j, values.as_slice())))?;
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

    /// A few rows of the pool like `row` whose depth satisfies a condition, the most similar first.
    pub(super) fn similar(&self, row: &[f64], accept: &impl Fn(f64) -> bool) -> Vec<usize> {
        let distances = Distances::new(self.columns, self.pool.rows(), row);
        let among: Vec<usize> = (0..self.pool.len()).filter(|&i| accept(self.pool_depths[i])).collect();
        distances.nearest(&distances.totals(), &[], &among, STARTS)
    }
}
