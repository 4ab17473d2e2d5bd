//! Sums over the rows in many boxes, sixty-four rows at a time.

use super::grow::Boxes;
use super::query_bitsets::{Around, Side};
use crate::numerics::simd::vectorised;

/// Boxes with something in them, laid out for the sums.
#[derive(Default)]
pub(super) struct Members {
    /// The first two cuts of each box, or no cut at all in their place.
    pairs: Vec<[Side; 2]>,
    /// The further cuts of each box, up to here.
    more: Vec<Side>,
    ends: Vec<usize>,
    /// Word by word, for each side the rows that its cut leaves, and last all rows.
    keep: Vec<u64>,
    stride: usize,
    sums: Vec<[f64; LANES]>,
}

const LANES: usize = 8;

impl Members {
    /// Boxes without a row of the sample are left out.
    pub(super) fn set(&mut self, around: &Around, boxes: &Boxes) {
        self.pairs.clear();
        self.more.clear();
        self.ends.clear();
        let (sides, words) = (around.sides(), around.words());
        let none = u32::try_from(sides).unwrap_or(u32::MAX);
        for at in (0..boxes.len()).filter(|&at| boxes.mass(at) > 0) {
            let cuts = boxes.sides(at);
            self.pairs.push([0, 1].map(|k| cuts.get(k).copied().unwrap_or(none)));
            self.more.extend(cuts.iter().skip(2));
            self.ends.push(self.more.len());
        }
        self.stride = sides + 1;
        self.keep.clear();
        self.keep.resize(words * self.stride, u64::MAX);
        for side in 0..none {
            for (w, word) in around.keep(side).iter().enumerate() {
                self.keep[w * self.stride + side as usize] = *word;
            }
        }
    }

    /// Calls `f` with the number of a box and which of 64 rows are in it, for the boxes that have one of them.
    #[inline(always)]
    fn each(&self, keep: &[u64], mut f: impl FnMut(usize, u64)) {
        if self.more.is_empty() {
            for (at, [a, b]) in self.pairs.iter().enumerate() {
                let word = keep[*a as usize] & keep[*b as usize];
                if word != 0 {
                    f(at, word);
                }
            }
            return;
        }
        let mut start = 0;
        for (at, ([a, b], end)) in self.pairs.iter().zip(&self.ends).enumerate() {
            let word = keep[*a as usize] & keep[*b as usize];
            let word = self.more[start..*end].iter().fold(word, |word, s| word & keep[*s as usize]);
            start = *end;
            if word != 0 {
                f(at, word);
            }
        }
    }

    /// Adds to each row the amounts of all boxes it is in; there are whole blocks of 64 rows.
    pub(super) fn spread(&self, amounts: &[f64], rows: &mut [f64]) {
        vectorised(
            #[inline(always)]
            || {
                for (keep, rows) in self.keep.chunks_exact(self.stride).zip(rows.as_chunks_mut::<64>().0) {
                    let mut block = *rows;
                    self.each(
                        keep,
                        #[inline(always)]
                        |at, word| {
                            let amount = amounts[at];
                            for (b, x) in block.iter_mut().enumerate() {
                                // Minus zero changes nothing, so this is one addition under a mask.
                                *x += if word & (1 << b) != 0 { amount } else { -0.0 };
                            }
                        },
                    );
                    *rows = block;
                }
            },
        );
    }

    /// The sum of each box over its rows; there are whole blocks of 64 rows.
    pub(super) fn gather(&mut self, rows: &[f64], out: &mut Vec<f64>) {
        let mut sums = std::mem::take(&mut self.sums);
        sums.clear();
        sums.resize(self.pairs.len(), [0.0; LANES]);
        vectorised(
            #[inline(always)]
            || {
                for (keep, rows) in self.keep.chunks_exact(self.stride).zip(rows.as_chunks::<64>().0) {
                    self.each(
                        keep,
                        #[inline(always)]
                        |at, word| {
                            let mut terms = [0.0; 64];
                            for (b, (term, x)) in terms.iter_mut().zip(rows).enumerate() {
                                *term = if word & (1 << b) != 0 { *x } else { 0.0 };
                            }
                            // Halves on halves: loops of a fixed length become vectors.
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
