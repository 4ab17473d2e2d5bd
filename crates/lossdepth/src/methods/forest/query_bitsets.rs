//! On which side of the query every row lies, column by column, as bitsets.

use super::presorted::{Presorted, SortedColumns};
use crate::numerics::simd::vectorised;

/// A split next to the query: $2j$ separates the rows below the query in feature $j$, $2j + 1$ those above. Of a
/// category $2j$ separates the rows of other levels, and there is no $2j + 1$.
pub(super) type SplitId = u32;

/// The mass that a split keeps which there is not: more than any other keeps.
const NO_SPLIT: u64 = u64::MAX;

/// How the rows lie around the query in one feature.
#[derive(Clone, Copy, PartialEq)]
enum Sides {
    /// No row equals the query: what the lower split separates, the upper one keeps.
    Untied,
    /// Some rows equal the query, and are kept by both splits.
    Tied,
    /// A category: the only split keeps the rows of the query's level.
    Level,
}

/// For every split the rows it keeps with the query.
#[derive(Default)]
pub(super) struct QueryBitsets {
    words: usize,
    kept_rows: Vec<u64>,
    /// For every feature the mass that its two splits keep, below and above.
    kept_mass: Vec<[u64; 2]>,
    sides: Vec<Sides>,
}

impl QueryBitsets {
    pub(super) fn set(&mut self, sample: &Presorted, frame: &SortedColumns, query: &[f64]) {
        let (rows, words) = (sample.rows, sample.words);
        self.words = words;
        self.kept_rows.resize(2 * words * query.len(), 0);
        self.kept_mass.clear();
        self.sides.clear();
        for (j, (&z, kept_rows)) in query.iter().zip(self.kept_rows.chunks_exact_mut(2 * words)).enumerate() {
            let (below, upto) = frame.ranks(rows, j, z);
            let (below_bits, above_bits) = kept_rows.split_at_mut(words);
            frame.first(rows, j, below, below_bits);
            above_bits.copy_from_slice(below_bits);
            frame.add_ranks(rows, j, below..upto, above_bits);
            for word in below_bits.iter_mut() {
                *word = !*word;
            }
            if rows % 64 != 0 {
                below_bits[words - 1] &= (1 << (rows % 64)) - 1;
            }
            let mass = |rank| frame.mass_of_first(rows, j, rank);
            if sample.features.category(j).is_some() {
                below_bits.iter_mut().zip(above_bits).for_each(|(below, upto)| *below &= *upto);
                self.kept_mass.push([mass(upto) - mass(below), NO_SPLIT]);
                self.sides.push(Sides::Level);
                continue;
            }
            self.kept_mass.push([sample.total - mass(below), mass(upto)]);
            self.sides.push(if below == upto { Sides::Untied } else { Sides::Tied });
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

    /// Keeps those rows that equal the query in a feature.
    pub(super) fn retain_equal(&self, feature: usize, rows: &mut [u64]) {
        let (kept_rows, sides) = self.of(feature);
        let (below, above) = kept_rows.split_at(self.words);
        let other = if sides == Sides::Level { below } else { above };
        for ((row, below), other) in rows.iter_mut().zip(below).zip(other) {
            *row &= below & other;
        }
    }

    /// The mass of the whole sample that the two splits of each feature keep.
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

    /// The mass that the two splits of every feature keep of a box with the given rows and mass.
    pub(super) fn kept_mass_in(&self, sample: &Presorted, rows: &[u64], mass: u64, out: &mut Vec<[u64; 2]>) {
        out.clear();
        if let Some(masses) = &sample.masses {
            out.extend((0..self.sides.len()).map(|j| self.kept_mass_weighted(masses, rows, mass, j)));
        } else {
            vectorised(
                #[inline(always)]
                || {
                    for (kept_rows, &sides) in self.kept_rows.chunks_exact(2 * self.words).zip(&self.sides) {
                        out.push(sides.masses(kept_rows, mass, |bits| common(rows, bits)));
                    }
                },
            );
        }
    }

    /// The same for one feature.
    pub(super) fn kept_mass_of_feature(
        &self,
        sample: &Presorted,
        rows: &[u64],
        mass: u64,
        feature: usize,
    ) -> [u64; 2] {
        if let Some(masses) = &sample.masses {
            return self.kept_mass_weighted(masses, rows, mass, feature);
        }
        let (kept_rows, sides) = self.of(feature);
        vectorised(
            #[inline(always)]
            || sides.masses(kept_rows, mass, |bits| common(rows, bits)),
        )
    }

    fn kept_mass_weighted(&self, masses: &[u64], rows: &[u64], mass: u64, feature: usize) -> [u64; 2] {
        let (kept_rows, sides) = self.of(feature);
        sides.masses(kept_rows, mass, |split| {
            let mut sum = 0;
            for (w, (m, s)) in rows.iter().zip(split).enumerate() {
                each_bit(m & s, |bit| sum += masses[64 * w + bit]);
            }
            sum
        })
    }

    /// The rows that the two splits of a feature keep, and how rows lie around the query.
    fn of(&self, feature: usize) -> (&[u64], Sides) {
        (&self.kept_rows[2 * feature * self.words..2 * (feature + 1) * self.words], self.sides[feature])
    }
}

impl Sides {
    /// The mass that the two splits keep of a box, where `kept` sums over the rows of a bitset that are in it.
    #[inline(always)]
    fn masses(self, kept_rows: &[u64], mass: u64, kept: impl Fn(&[u64]) -> u64) -> [u64; 2] {
        let (below_bits, above_bits) = kept_rows.split_at(kept_rows.len() / 2);
        if self == Self::Level {
            return [kept(below_bits), NO_SPLIT];
        }
        let above = kept(above_bits);
        [if self == Self::Untied { mass - above } else { kept(below_bits) }, above]
    }
}

/// How many rows two bitsets have in common.
#[inline(always)]
fn common(a: &[u64], b: &[u64]) -> u64 {
    let words = a.len().min(b.len());
    let (a, b) = (&a[..words], &b[..words]);
    // A loop, not a sum of an iterator: that may become a call, which does not have the caller's instructions.
    let mut count = 0;
    for w in 0..words {
        count += u64::from((a[w] & b[w]).count_ones());
    }
    count
}

/// Calls `f` for every bit that is set.
#[inline(always)]
pub(super) fn each_bit(mut word: u64, mut f: impl FnMut(usize)) {
    while word != 0 {
        f(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}
