//! Hashes of the rows of a table: 128 bits that depend on the content of a row and on a seed, on nothing else.

use super::cell::Cell;
use crate::data::{Column, Values};
use crate::numerics::random::mix;

/// The hash of a row, while its cells are added one after the other.
///
/// Two chains of SplitMix64's output function, which is a bijection: rows that differ in one word differ in both
/// chains there, and meet again with probability $2^{-128}$ if the function behaves as a random one.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowHash {
    a: u64,
    b: u64,
}

/// Odd constants that keep the two chains apart.
const CHAIN: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];

/// The kinds of cells, so that the number 1 and the text of the same bits differ.
const GAP: u64 = 1;
const NUMBER: u64 = 2;
const TEXT: u64 = 3;
const BOOLEAN: u64 = 4;
const TIME: u64 = 5;

impl RowHash {
    pub(super) fn new(seed: u64) -> Self {
        Self { a: mix(seed.wrapping_add(CHAIN[0])), b: mix(seed ^ CHAIN[1]) }
    }

    pub(super) fn word(&mut self, word: u64) {
        self.a = mix(self.a ^ word).wrapping_add(CHAIN[0]);
        self.b = mix(self.b.wrapping_add(word.wrapping_mul(CHAIN[1])));
    }

    fn cell(&mut self, kind: u64, content: [u64; 2]) {
        self.word(kind);
        self.word(content[0]);
        self.word(content[1]);
    }

    /// A number or a time; NaN is a gap, and -0 is 0.
    fn number(&mut self, kind: u64, value: f64) {
        if value.is_nan() {
            self.cell(GAP, [0; 2]);
        } else {
            self.cell(kind, [(value + 0.0).to_bits(), 0]);
        }
    }

    pub(super) fn finish(self) -> u128 {
        (u128::from(mix(self.a)) << 64) | u128::from(mix(self.b))
    }

    /// The hash of a row of cells with its weight.
    pub(super) fn of_cells<'a>(seed: u64, weight: f64, cells: impl Iterator<Item = &'a Cell>) -> u128 {
        let mut hash = Self::new(seed);
        hash.word(weight.to_bits());
        for cell in cells {
            match cell {
                Cell::Gap => hash.cell(GAP, [0; 2]),
                Cell::Number(value) => hash.number(NUMBER, *value),
                Cell::Time(value) => hash.number(TIME, *value),
                Cell::Boolean(value) => hash.cell(BOOLEAN, [u64::from(*value), 0]),
                Cell::Text(text) => hash.cell(TEXT, text_hash(text)),
            }
        }
        hash.finish()
    }
}

/// Two words for a text.
fn text_hash(text: &str) -> [u64; 2] {
    let mut hash = RowHash::new(text.len() as u64);
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash.word(u64::from_le_bytes(word));
    }
    [hash.a, hash.b]
}

/// A column whose cells are hashed row by row; each different text is hashed once.
pub(super) enum HashedColumn<'a> {
    Numbers(&'a [f64]),
    Times(&'a [f64]),
    Booleans(&'a [Option<bool>]),
    Texts(&'a [u32], Vec<[u64; 2]>),
}

impl<'a> HashedColumn<'a> {
    pub(super) fn new(column: &'a Column) -> Self {
        match &column.values {
            Values::Numbers(values) => Self::Numbers(values),
            Values::Times(values) => Self::Times(values),
            Values::Booleans(values) => Self::Booleans(values),
            Values::Texts(texts) => {
                Self::Texts(texts.codes(), texts.levels().iter().map(|level| text_hash(level)).collect())
            }
        }
    }

    pub(super) fn add_to(&self, hash: &mut RowHash, row: usize) {
        match self {
            Self::Numbers(values) => hash.number(NUMBER, values[row]),
            Self::Times(values) => hash.number(TIME, values[row]),
            Self::Booleans(values) => match values[row] {
                Some(value) => hash.cell(BOOLEAN, [u64::from(value), 0]),
                None => hash.cell(GAP, [0; 2]),
            },
            Self::Texts(codes, levels) => match levels.get(codes[row] as usize) {
                Some(&level) => hash.cell(TEXT, level),
                None => hash.cell(GAP, [0; 2]),
            },
        }
    }
}
