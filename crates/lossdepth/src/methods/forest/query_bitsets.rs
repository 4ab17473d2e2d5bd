//! On which side of the query every row lies, column by column, as bitsets.

use super::presorted::{Presorted, SortedColumns};
use crate::numerics::simd::vectorised;

/// A split next to the query: $2j$ separates the rows below the query in column $j$, $2j + 1$ those above.
pub(super) type SplitId = u32;

/// For every split the rows it keeps with the query.
#[derive(Default)]
pub(super) struct QueryBitsets {
    words: usize,
    kept_rows: Vec<u64>,
    /// For every column the mass that its two splits keep, below and above.
    kept_mass: Vec<[u64; 2]>,
    /// For every column whether no row equals the query in it.
    untied: Vec<bool>,
}

impl QueryBitsets {
    pub(super) fn set(&mut self, sample: &Presorted, frame: &SortedColumns, query: &[f64]) {
        let (rows, words) = (sample.rows, sample.words);
        self.words = words;
        self.kept_rows.resize(2 * words * query.len(), 0);
        self.kept_mass.clear();
        self.untied.clear();
        for (j, (&z, kept_rows)) in query.iter().zip(self.kept_rows.chunks_exact_mut(2 * words)).enumerate() {
            let (below, upto) = frame.ranks(rows, j, z);
            let (below_bits, above_bits) = kept_rows.split_at_mut(words);
            frame.first(rows, j, below, below_bits);
            if below == upto {
                above_bits.copy_from_slice(below_bits);
            } else {
                frame.first(rows, j, upto, above_bits);
            }
            for word in below_bits.iter_mut() {
                *word = !*word;
            }
            if rows % 64 != 0 {
                below_bits[words - 1] &= (1 << (rows % 64)) - 1;
            }
            let mass = |rank| frame.mass_of_first(rows, j, rank);
            self.kept_mass.push([sample.total - mass(below), mass(upto)]);
            self.untied.push(below == upto);
        }
    }

    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// How many splits there are.
    pub(super) fn splits(&self) -> usize {
        2 * self.kept_mass.len()
    }

    /// The rows that a split keeps.
    pub(super) fn kept_rows(&self, split: SplitId) -> &[u64] {
        let at = split as usize * self.words;
        &self.kept_rows[at..at + self.words]
    }

    /// The mass of the whole sample that the two splits of each column keep.
    pub(super) fn kept_mass(&self) -> &[[u64; 2]] {
        &self.kept_mass
    }

    /// Writes the rows that all of these splits keep; there must be at least one split.
    pub(super) fn intersection(&self, splits: &[SplitId], out: &mut Vec<u64>) {
        out.clear();
        out.extend_from_slice(self.kept_rows(splits[0]));
        for &split in &splits[1..] {
            out.iter_mut().zip(self.kept_rows(split)).for_each(|(o, k)| *o &= k);
        }
    }

    /// The mass that the two splits of every column keep of a box with the given rows and mass.
    pub(super) fn kept_mass_in(&self, sample: &Presorted, rows: &[u64], mass: u64, out: &mut Vec<[u64; 2]>) {
        out.clear();
        if let Some(masses) = &sample.masses {
            out.extend((0..self.untied.len()).map(|j| self.kept_mass_weighted(masses, rows, mass, j)));
        } else {
            vectorised(
                #[inline(always)]
                || {
                    for (kept_rows, &untied) in self.kept_rows.chunks_exact(2 * self.words).zip(&self.untied)
                    {
                        let (below_bits, above_bits) = kept_rows.split_at(self.words);
                        let above = common(rows, above_bits);
                        out.push([if untied { mass - above } else { common(rows, below_bits) }, above]);
                    }
                },
            );
        }
    }

    /// The same for one column.
    pub(super) fn kept_mass_in_column(
        &self,
        sample: &Presorted,
        rows: &[u64],
        mass: u64,
        column: usize,
    ) -> [u64; 2] {
        if let Some(masses) = &sample.masses {
            return self.kept_mass_weighted(masses, rows, mass, column);
        }
        let kept_rows = &self.kept_rows[2 * column * self.words..2 * (column + 1) * self.words];
        let (below_bits, above_bits) = kept_rows.split_at(self.words);
        vectorised(
            #[inline(always)]
            || {
                let above = common(rows, above_bits);
                [if self.untied[column] { mass - above } else { common(rows, below_bits) }, above]
            },
        )
    }

    fn kept_mass_weighted(&self, masses: &[u64], rows: &[u64], mass: u64, column: usize) -> [u64; 2] {
        let kept_rows = &self.kept_rows[2 * column * self.words..2 * (column + 1) * self.words];
        let (below_bits, above_bits) = kept_rows.split_at(self.words);
        let sum = |split: &[u64]| {
            let mut sum = 0;
            for (w, (m, s)) in rows.iter().zip(split).enumerate() {
                each_bit(m & s, |bit| sum += masses[64 * w + bit]);
            }
            sum
        };
        let above = sum(above_bits);
        [if self.untied[column] { mass - above } else { sum(below_bits) }, above]
    }
}

/// How many rows two bitsets have in common.
#[inline(always)]
fn common(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

/// Calls `f` for every bit that is set.
#[inline(always)]
pub(super) fn each_bit(mut word: u64, mut f: impl FnMut(usize)) {
    while word != 0 {
        f(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}
