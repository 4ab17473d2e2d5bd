//! Sums over the rows in many boxes, 64 rows at a time.

use super::grow::Boxes;
use super::query_bitsets::{QueryBitsets, SplitId};
use crate::numerics::simd::vectorised;

/// The boxes that contain rows of the sample, laid out for sums.
#[derive(Default)]
pub(super) struct BoxMembership {
    /// The first two splits of each box; a split that keeps all rows where there are fewer.
    pairs: Vec<[SplitId; 2]>,
    /// The further splits of all boxes, and where those of each box end.
    further: Vec<SplitId>,
    ends: Vec<usize>,
    /// Word by word, for each split the rows it keeps, and last all rows.
    kept_rows: Vec<u64>,
    stride: usize,
    sums: Vec<[f64; LANES]>,
}

const LANES: usize = 8;

impl BoxMembership {
    /// Sets the boxes; those without a row of the sample are left out.
    pub(super) fn set(&mut self, bitsets: &QueryBitsets, boxes: &Boxes) {
        self.pairs.clear();
        self.further.clear();
        self.ends.clear();
        let (count, words) = (bitsets.splits(), bitsets.words());
        let no_split = u32::try_from(count).unwrap_or(u32::MAX);
        for at in (0..boxes.len()).filter(|&at| boxes.mass(at) > 0) {
            let splits = boxes.splits(at);
            self.pairs.push([0, 1].map(|k| splits.get(k).copied().unwrap_or(no_split)));
            self.further.extend(splits.iter().skip(2));
            self.ends.push(self.further.len());
        }
        self.stride = count + 1;
        self.kept_rows.clear();
        self.kept_rows.resize(words * self.stride, u64::MAX);
        for split in 0..no_split {
            for (w, word) in bitsets.kept_rows(split).iter().enumerate() {
                self.kept_rows[w * self.stride + split as usize] = *word;
            }
        }
    }

    /// Calls `f` with the index of a box and the bitset of those of 64 rows that are in it, for the boxes
    /// that contain any.
    #[inline(always)]
    fn for_each_nonempty(&self, kept_rows: &[u64], mut f: impl FnMut(usize, u64)) {
        // Loops by index, here and below: adapters of iterators may become calls, which do not have the vector
        // instructions of the caller.
        if self.further.is_empty() {
            for at in 0..self.pairs.len() {
                let [a, b] = self.pairs[at];
                let word = kept_rows[a as usize] & kept_rows[b as usize];
                if word != 0 {
                    f(at, word);
                }
            }
            return;
        }
        let mut start = 0;
        for at in 0..self.pairs.len() {
            let ([a, b], end) = (self.pairs[at], self.ends[at]);
            let mut word = kept_rows[a as usize] & kept_rows[b as usize];
            for &split in &self.further[start..end] {
                word &= kept_rows[split as usize];
            }
            start = end;
            if word != 0 {
                f(at, word);
            }
        }
    }

    /// Adds to each row the amounts of all boxes it is in; `rows` has whole blocks of 64.
    pub(super) fn scatter_add(&self, amounts: &[f64], rows: &mut [f64]) {
        vectorised(
            #[inline(always)]
            || {
                for (kept_rows, rows) in
                    self.kept_rows.chunks_exact(self.stride).zip(rows.as_chunks_mut::<64>().0)
                {
                    let mut block = *rows;
                    self.for_each_nonempty(
                        kept_rows,
                        #[inline(always)]
                        |at, word| {
                            let amount = amounts[at];
                            for b in 0..64 {
                                // Adding −0.0 changes nothing, so this is one masked addition.
                                block[b] += if word & (1 << b) != 0 { amount } else { -0.0 };
                            }
                        },
                    );
                    *rows = block;
                }
            },
        );
    }

    /// The sum of each box over its rows; `rows` has whole blocks of 64.
    pub(super) fn sum_rows(&mut self, rows: &[f64], out: &mut Vec<f64>) {
        let mut sums = std::mem::take(&mut self.sums);
        sums.clear();
        sums.resize(self.pairs.len(), [0.0; LANES]);
        vectorised(
            #[inline(always)]
            || {
                for (kept_rows, rows) in
                    self.kept_rows.chunks_exact(self.stride).zip(rows.as_chunks::<64>().0)
                {
                    self.for_each_nonempty(
                        kept_rows,
                        #[inline(always)]
                        |at, word| {
                            let mut terms = [0.0; 64];
                            for b in 0..64 {
                                terms[b] = if word & (1 << b) != 0 { rows[b] } else { 0.0 };
                            }
                            // Pairwise sums: loops of a fixed length become vector instructions.
                            for b in 0..32 {
                                terms[b] += terms[b + 32];
                            }
                            for b in 0..16 {
                                terms[b] += terms[b + 16];
                            }
                            let mut lanes = sums[at];
                            for b in 0..LANES {
                                lanes[b] += terms[b] + terms[b + LANES];
                            }
                            sums[at] = lanes;
                        },
                    );
                }
            },
        );
        out.clear();
        out.extend(sums.iter().map(|lanes| lanes.iter().sum::<f64>()));
        self.sums = sums;
    }
}
