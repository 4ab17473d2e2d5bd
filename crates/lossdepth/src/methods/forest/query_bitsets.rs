//! The sample seen from a query: on which side of it every row lies, column by column.

use super::presorted::{Frame, Presorted};
use crate::numerics::simd::vectorised;

/// A cut is a column and a side: $2j$ cuts away what is below the query in column $j$, $2j + 1$ what is above.
pub(super) type Side = u32;

/// For every side the rows that its cut leaves with the query.
#[derive(Default)]
pub(super) struct Around {
    words: usize,
    keep: Vec<u64>,
    /// The mass of these rows, below and above.
    kept: Vec<[u64; 2]>,
    /// Whether no row equals the query in a column.
    apart: Vec<bool>,
}

impl Around {
    pub(super) fn look(&mut self, sample: &Presorted, frame: &Frame, query: &[f64]) {
        let (rows, words) = (sample.rows, sample.words);
        self.words = words;
        self.keep.resize(2 * words * query.len(), 0);
        self.kept.clear();
        self.apart.clear();
        for (j, (&z, keep)) in query.iter().zip(self.keep.chunks_exact_mut(2 * words)).enumerate() {
            let (below, upto) = frame.ranks(rows, j, z);
            let (cut_below, cut_above) = keep.split_at_mut(words);
            frame.first(rows, j, below, cut_below);
            if below == upto {
                cut_above.copy_from_slice(cut_below);
            } else {
                frame.first(rows, j, upto, cut_above);
            }
            for word in cut_below.iter_mut() {
                *word = !*word;
            }
            if rows % 64 != 0 {
                cut_below[words - 1] &= (1 << (rows % 64)) - 1;
            }
            let mass = |rank| frame.mass_of_first(rows, j, rank);
            self.kept.push([sample.total - mass(below), mass(upto)]);
            self.apart.push(below == upto);
        }
    }

    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// How many sides there are.
    pub(super) fn sides(&self) -> usize {
        2 * self.kept.len()
    }

    /// The rows that a cut leaves.
    pub(super) fn keep(&self, side: Side) -> &[u64] {
        let at = side as usize * self.words;
        &self.keep[at..at + self.words]
    }

    /// The mass that the two cuts of a column leave of the whole sample.
    pub(super) fn kept(&self) -> &[[u64; 2]] {
        &self.kept
    }

    /// Writes the rows that all cuts leave; there must be one at least.
    pub(super) fn members(&self, sides: &[Side], out: &mut Vec<u64>) {
        out.clear();
        out.extend_from_slice(self.keep(sides[0]));
        for &side in &sides[1..] {
            out.iter_mut().zip(self.keep(side)).for_each(|(o, k)| *o &= k);
        }
    }

    /// The mass that the two cuts of every column leave of a box of the given rows and mass.
    pub(super) fn kept_in(&self, sample: &Presorted, members: &[u64], mass: u64, out: &mut Vec<[u64; 2]>) {
        out.clear();
        if let Some(masses) = &sample.masses {
            out.extend((0..self.apart.len()).map(|j| self.weigh(masses, members, mass, j)));
        } else {
            vectorised(
                #[inline(always)]
                || {
                    for (keep, &apart) in self.keep.chunks_exact(2 * self.words).zip(&self.apart) {
                        let (cut_below, cut_above) = keep.split_at(self.words);
                        let above = common(members, cut_above);
                        out.push([if apart { mass - above } else { common(members, cut_below) }, above]);
                    }
                },
            );
        }
    }

    /// The same for one column.
    pub(super) fn kept_in_column(
        &self,
        sample: &Presorted,
        members: &[u64],
        mass: u64,
        column: usize,
    ) -> [u64; 2] {
        if let Some(masses) = &sample.masses {
            return self.weigh(masses, members, mass, column);
        }
        let keep = &self.keep[2 * column * self.words..2 * (column + 1) * self.words];
        let (cut_below, cut_above) = keep.split_at(self.words);
        vectorised(
            #[inline(always)]
            || {
                let above = common(members, cut_above);
                [if self.apart[column] { mass - above } else { common(members, cut_below) }, above]
            },
        )
    }

    fn weigh(&self, masses: &[u64], members: &[u64], mass: u64, column: usize) -> [u64; 2] {
        let keep = &self.keep[2 * column * self.words..2 * (column + 1) * self.words];
        let (cut_below, cut_above) = keep.split_at(self.words);
        let sum = |side: &[u64]| {
            let mut sum = 0;
            for (w, (m, s)) in members.iter().zip(side).enumerate() {
                each_bit(m & s, |bit| sum += masses[64 * w + bit]);
            }
            sum
        };
        let above = sum(cut_above);
        [if self.apart[column] { mass - above } else { sum(cut_below) }, above]
    }
}

/// How many rows two sets have in common.
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
