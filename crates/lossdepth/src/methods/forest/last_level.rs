//! The last splits of many boxes, added to the rows at once instead of listed.
//!
//! In many dimensions nearly all work is in the last level: each of some hundred boxes is split by some hundred features. A box
//! has few of the rows. So the bits of the query's splits are stored row by row, and a box reads those of its own rows alone. It
//! counts them for all features together and ranks the best features. What two boxes of one split each have in common is added by
//! the one with fewer rows, for eight features at a time: a table has the sum for each combination of their bits.

use super::bit_counts::{BITS, BitCounter, CHUNK, Chunk, GROUP, transpose};
use super::feature_subsets::SplitProbabilities;
use super::grow::{Boxes, ImprobableSplits};
use super::presorted::Presorted;
use super::query_bitsets::{QueryBitsets, SplitId, each_bit};
use crate::numerics::simd::vectorised;

/// Masses up to this are sorted by counting (heuristic).
const MAX_COUNTED: u64 = 1 << 13;

/// Up to this many amounts, 64 MB, those of all boxes are held at a time (heuristic).
const MAX_AMOUNTS: usize = 1 << 22;

/// Where the rows that the splits of a feature keep are.
#[derive(Clone, Copy, PartialEq)]
enum Sides {
    /// One column: the upper split keeps the rows with a bit, the lower one the others.
    Complementary,
    /// Two columns: the rows that the lower split keeps, and those of the upper one.
    Separate,
    /// One column: the rows of the query's level. There is no upper split.
    Level,
}

/// Splits the boxes of the last level; keeps its scratch memory.
#[derive(Default)]
pub(super) struct LastLevel {
    /// The features, the best split of the whole sample first: the splits that boxes need most are next to each other.
    features: Vec<(u64, u32)>,
    /// For each of these places how its rows are stored, and the first column.
    sides: Vec<Sides>,
    first_column: Vec<u32>,
    /// The place of each feature.
    place: Vec<u32>,
    /// Row by row, a bit for each column; after the last row one without bits. Rows are padded to whole chunks.
    bits: Vec<Chunk>,
    /// How many chunks a row takes.
    stride: usize,
    /// The rows that equal the query in all features: they are in every box.
    equal: Vec<u64>,
    equal_mass: u64,
    inside: Vec<u64>,
    rows: Vec<u32>,
    counter: BitCounter,
    /// For each column the mass of the rows with a bit.
    masses: Vec<u64>,
    kept_mass: Vec<[u64; 2]>,
    starts: Vec<u32>,
    ranking: Vec<(u64, u32)>,
    /// The box that has a split and no other.
    box_of_split: Vec<Option<u32>>,
    /// Box by box, for each column what a row in the box receives if its bit is 0, and if it is 1; all 0 between queries.
    amounts: Vec<[f64; 2]>,
    /// Box by box, a bit for each group of eight columns with an amount.
    given: Vec<u64>,
    /// What every row in a box receives.
    common: Vec<f64>,
    /// The groups of eight columns with an amount, and for each the sum for every combination of bits.
    groups: Vec<usize>,
    tables: Vec<[f64; 256]>,
}

/// What the boxes of the last level add up to.
#[derive(Default)]
pub(super) struct LastSplits {
    /// The probability of the query's class at the query.
    pub(super) query: f64,
    /// The probability of the boxes that could have been split and were not.
    pub(super) unsplit_probability: f64,
    /// How many boxes were split.
    pub(super) split_count: usize,
    /// How many additions led to a probability, at most.
    pub(super) additions: usize,
}

impl LastLevel {
    /// Splits boxes once more and adds the probabilities of the query's class, times `share`, to the rows; `None` if cancelled.
    pub(super) fn split(
        &mut self,
        (split_probabilities, mut improbable): (&SplitProbabilities, ImprobableSplits),
        sample: &Presorted,
        bitsets: &QueryBitsets,
        boxes: &Boxes,
        (share, rows): (f64, &mut [f64]),
        cancelled: &dyn Fn() -> bool,
    ) -> Option<LastSplits> {
        self.set(sample, bitsets);
        let together = self.share_boxes(boxes, bitsets.splits());
        let mut sum = LastSplits::default();
        for at in 0..boxes.len() {
            if cancelled() {
                self.amounts.clear();
                return None;
            }
            self.split_box(
                split_probabilities,
                &mut improbable,
                sample,
                bitsets,
                (boxes, at),
                share,
                &mut sum,
            );
            if !together {
                self.add(0, rows);
            }
        }
        for at in (0..boxes.len()).filter(|_| together) {
            if cancelled() {
                self.amounts.clear();
                return None;
            }
            if boxes.mass(at) > 0 {
                self.gather(sample, bitsets, boxes.splits(at));
                self.add(at, rows);
            }
        }
        for (w, word) in self.equal.iter().enumerate() {
            each_bit(*word, |bit| rows[64 * w + bit] += sum.query);
        }
        // Over the boxes, and for one of them over its tables and within a table.
        sum.additions += boxes.len() + 16 * self.stride + 16;
        Some(sum)
    }

    /// Makes room for the amounts of all boxes, or of one if they are too many. Returns which.
    fn share_boxes(&mut self, boxes: &Boxes, splits: usize) -> bool {
        let columns = self.stride * BITS;
        let together = boxes.len().saturating_mul(columns) <= MAX_AMOUNTS;
        let held = if together { boxes.len() } else { 1 };
        if self.amounts.len() < held * columns {
            self.amounts.resize(held * columns, [0.0; 2]);
        }
        self.given.clear();
        self.given.resize(held * self.stride, 0);
        self.common.clear();
        self.common.resize(held, 0.0);
        self.box_of_split.clear();
        self.box_of_split.resize(splits, None);
        for at in (0..boxes.len()).filter(|_| together) {
            if let [split] = boxes.splits(at) {
                self.box_of_split[*split as usize] = u32::try_from(at).ok();
            }
        }
        together
    }

    /// Splits one box, and notes what its rows, or those of the boxes it has in common with others, receive.
    #[expect(clippy::too_many_arguments, reason = "one step of a loop")]
    fn split_box(
        &mut self,
        split_probabilities: &SplitProbabilities,
        improbable: &mut ImprobableSplits,
        sample: &Presorted,
        bitsets: &QueryBitsets,
        (boxes, at): (&Boxes, usize),
        share: f64,
        sum: &mut LastSplits,
    ) {
        let (p, mass, total) = (boxes.probability(at), boxes.mass(at), sample.total as f64);
        self.ranking.clear();
        self.rows.clear();
        let mut splittable = 0;
        if mass > 0 {
            self.gather(sample, bitsets, boxes.splits(at));
            self.count(sample, mass);
            splittable = self.kept_mass.iter().filter(|k| k[0].min(k[1]) < mass).count();
            let likely = improbable.likely(split_probabilities, p, splittable);
            if likely > 0 {
                self.rank(mass, likely);
            }
        }
        sum.split_count += usize::from(splittable > 0);
        let amount = |probability: f64, mass: u64| share * probability * (total / (total + mass as f64));
        let ranking = std::mem::take(&mut self.ranking);
        let left_out = split_probabilities.for_each_split(&ranking, splittable, |place, probability| {
            let [below, above] = self.kept_mass[place as usize];
            let amount = amount(p * probability, below.min(above));
            let split = 2 * self.features[place as usize].1 + u32::from(above < below);
            sum.query += amount;
            sum.additions += 1;
            if below.min(above) == 0 {
                // No row receives it.
            } else if below == above {
                self.give(boxes, at, split, 0.5 * amount);
                self.give(boxes, at, split + 1, 0.5 * amount);
            } else {
                self.give(boxes, at, split, amount);
            }
        });
        self.ranking = ranking;
        let unsplit = if splittable > 0 { p * left_out } else { p };
        if unsplit > 0.0 {
            let amount = amount(unsplit, mass);
            let held = at.min(self.common.len() - 1);
            self.common[held] += amount;
            sum.query += amount;
            sum.additions += 1;
            sum.unsplit_probability += if splittable > 0 { unsplit } else { 0.0 };
        }
    }

    /// Gives an amount to the rows of a box that a further split keeps, by the box with fewer rows if there are two.
    fn give(&mut self, boxes: &Boxes, at: usize, split: SplitId, amount: f64) {
        let other = self.box_of_split[split as usize].map(|other| other as usize);
        let (owner, split) = match (other, boxes.splits(at)) {
            (Some(other), [own]) if (boxes.mass(other), other) < (boxes.mass(at), at) => (other, *own),
            _ => (at, split),
        };
        let place = self.place[split as usize / 2] as usize;
        let (upper, first) = (split % 2 == 1, self.first_column[place] as usize);
        let (column, bit) = match self.sides[place] {
            Sides::Complementary => (first, usize::from(upper)),
            Sides::Separate => (first + usize::from(upper), 1),
            Sides::Level => (first, 1),
        };
        let held = owner.min(self.common.len() - 1);
        self.amounts[held * self.stride * BITS + column][bit] += amount;
        self.given[held * self.stride + column / BITS] |= 1 << (column % BITS / 8);
    }

    /// Stores the bits of a query's splits row by row.
    fn set(&mut self, sample: &Presorted, bitsets: &QueryBitsets) {
        let words = sample.words;
        let best = |masses: &[u64; 2]| masses[0].min(masses[1]);
        self.features.clear();
        self.features.extend(bitsets.kept_mass().iter().map(best).zip(0..));
        self.features.sort_unstable();
        self.equal.clear();
        self.equal.resize(words, u64::MAX);
        if !sample.rows.is_multiple_of(64) {
            self.equal[words - 1] = (1 << (sample.rows % 64)) - 1;
        }
        for feature in 0..sample.features.count {
            bitsets.retain_equal(feature, &mut self.equal);
        }
        self.equal_mass = 0;
        for (w, word) in self.equal.iter().enumerate() {
            let mass = |bit| sample.masses.as_ref().map_or(1, |masses| masses[64 * w + bit]);
            each_bit(*word, |bit| self.equal_mass += mass(bit));
        }
        let mut columns = Vec::with_capacity(self.features.len());
        self.sides.clear();
        self.first_column.clear();
        self.place.resize(self.features.len(), 0);
        for (place, &(_, feature)) in (0..).zip(&self.features) {
            self.place[feature as usize] = place;
            let [below, above] = bitsets.kept_mass()[feature as usize];
            self.first_column.push(u32::try_from(columns.len()).unwrap_or(u32::MAX));
            if sample.features.category(feature as usize).is_some() {
                self.sides.push(Sides::Level);
                columns.push(bitsets.kept_rows(2 * feature));
            } else if below + above == sample.total + self.equal_mass {
                // No other row equals the query here.
                self.sides.push(Sides::Complementary);
                columns.push(bitsets.kept_rows(2 * feature + 1));
            } else {
                self.sides.push(Sides::Separate);
                columns.extend([bitsets.kept_rows(2 * feature), bitsets.kept_rows(2 * feature + 1)]);
            }
        }
        self.stride = columns.len().div_ceil(BITS);
        self.bits.clear();
        self.bits.resize((sample.rows + 1) * self.stride, [0; CHUNK]);
        vectorised!({
            for (c, columns) in columns.chunks(64).enumerate() {
                for w in 0..words {
                    let mut tile = [0; 64];
                    for (bits, column) in tile.iter_mut().zip(columns) {
                        *bits = column[w];
                    }
                    transpose(&mut tile);
                    for (row, bits) in tile.iter().enumerate().take(sample.rows - 64 * w) {
                        self.bits[(64 * w + row) * self.stride + c / CHUNK][c % CHUNK] = *bits;
                    }
                }
            }
        });
    }

    /// Lists the rows of a box, without those that are in every box, and as many times the row without bits as are missing to
    /// whole groups.
    fn gather(&mut self, sample: &Presorted, bitsets: &QueryBitsets, splits: &[u32]) {
        // The sample was checked to have fewer rows.
        let number = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
        bitsets.intersection(splits, &mut self.inside);
        self.rows.clear();
        for (w, (word, equal)) in self.inside.iter().zip(&self.equal).enumerate() {
            each_bit(word & !equal, |bit| self.rows.push(number(64 * w + bit)));
        }
        self.rows.resize(self.rows.len().next_multiple_of(GROUP), number(sample.rows));
    }

    /// The mass that the splits of every feature keep of the rows.
    fn count(&mut self, sample: &Presorted, mass: u64) {
        self.masses.clear();
        self.masses.resize(self.stride * BITS, 0);
        if let Some(masses) = &sample.masses {
            vectorised!({
                for &row in &self.rows {
                    // The row without bits has no mass either.
                    let mass = masses.get(row as usize).copied().unwrap_or(0);
                    let bits = &self.bits[row as usize * self.stride..][..self.stride];
                    for (word, sums) in bits.as_flattened().iter().zip(self.masses.as_chunks_mut::<64>().0) {
                        for b in 0..64 {
                            sums[b] += if word & (1 << b) != 0 { mass } else { 0 };
                        }
                    }
                }
            });
        } else {
            self.counter.count(&self.bits, self.stride, &self.rows, &mut self.masses);
        }
        self.kept_mass.clear();
        let equal = self.equal_mass;
        self.kept_mass.extend(self.sides.iter().zip(&self.first_column).map(|(sides, &column)| {
            let first = self.masses[column as usize];
            match sides {
                Sides::Complementary => [mass - first, first + equal],
                Sides::Separate => [first + equal, self.masses[column as usize + 1] + equal],
                Sides::Level => [first + equal, u64::MAX],
            }
        }));
    }

    /// Lists the best features that are not constant in the box by their place among all: so many, at least one, and those as
    /// good as the last of them.
    #[expect(clippy::cast_possible_truncation, reason = "masses are cast up to a small number only")]
    fn rank(&mut self, mass: u64, count: usize) {
        let best = |k: &[u64; 2]| k[0].min(k[1]);
        let places = || self.kept_mass.iter().map(best).zip(0..).filter(|m| m.0 < mass);
        if mass > MAX_COUNTED {
            self.ranking.extend(places());
            let last = self.ranking.select_nth_unstable(count - 1).1.0;
            self.ranking.retain(|m| m.0 <= last);
            self.ranking.sort_unstable();
            return;
        }
        // Masses are small numbers: sort by counting.
        self.starts.clear();
        self.starts.resize(mass as usize + 1, 0);
        places().for_each(|(kept, _)| self.starts[kept as usize + 1] += 1);
        let (mut total, mut last) = (0, 0);
        for (kept, start) in (0..).zip(&mut self.starts) {
            total += *start;
            *start = total;
            if (total as usize) < count {
                last = kept;
            }
        }
        self.ranking.resize(self.starts[last as usize + 1] as usize, (0, 0));
        for (kept, place) in places().filter(|m| m.0 <= last) {
            let start = &mut self.starts[kept as usize];
            self.ranking[*start as usize] = (kept, place);
            *start += 1;
        }
    }

    /// Adds to each row of a box what is common to all and the amounts of its columns, and clears them.
    fn add(&mut self, held: usize, rows: &mut [f64]) {
        let columns = self.stride * BITS;
        let amounts = self.amounts[held * columns..(held + 1) * columns].as_chunks_mut::<8>().0;
        self.groups.clear();
        for (w, word) in self.given[held * self.stride..(held + 1) * self.stride].iter_mut().enumerate() {
            each_bit(std::mem::take(word), |bit| self.groups.push(64 * w + bit));
        }
        self.tables.clear();
        vectorised!({
            for &group in &self.groups {
                self.tables.push(sums(&amounts[group]));
                amounts[group] = [[0.0; 2]; 8];
            }
        });
        let common = std::mem::take(&mut self.common[held]);
        let (groups, tables) = (&self.groups[..], &self.tables[..]);
        for &row in &self.rows {
            let bits = self.bits[row as usize * self.stride..][..self.stride].as_flattened();
            let of = |k: usize| {
                let group = groups[k];
                tables[k][usize::from(bits[group / 8].to_le_bytes()[group % 8])]
            };
            let mut lanes = [0.0; 4];
            let whole = groups.len() - groups.len() % 4;
            for k in (0..whole).step_by(4) {
                for (lane, sum) in lanes.iter_mut().enumerate() {
                    *sum += of(k + lane);
                }
            }
            let sum = (whole..groups.len()).fold(lanes.iter().sum::<f64>(), |sum, k| sum + of(k));
            // Not the row without bits.
            if let Some(total) = rows.get_mut(row as usize) {
                *total += common + sum;
            }
        }
    }
}

/// For every combination of eight bits the sum of their amounts.
#[inline(always)]
fn sums(amounts: &[[f64; 2]; 8]) -> [f64; 256] {
    let mut table = [0.0; 256];
    for (bit, [clear, set]) in amounts.iter().enumerate() {
        let (lower, upper) = table.split_at_mut(1 << bit);
        for (low, high) in lower.iter_mut().zip(upper) {
            (*low, *high) = (*low + clear, *low + set);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_every_sum() {
        let amounts: [[f64; 2]; 8] = std::array::from_fn(|k| [k as f64, 10.0 * k as f64 + 1.0]);
        for (bits, sum) in sums(&amounts).iter().enumerate() {
            assert_eq!(*sum, (0..8).map(|k| amounts[k][bits >> k & 1]).sum::<f64>());
        }
    }
}
