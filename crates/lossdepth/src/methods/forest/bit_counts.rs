//! How many rows have a bit, for many columns of bits at once.

use crate::numerics::simd::vectorised;

/// Words read together: one AVX-512 register.
pub(super) const CHUNK: usize = 8;
pub(super) type Chunk = [u64; CHUNK];

/// Bits in a chunk.
pub(super) const BITS: usize = 64 * CHUNK;

/// Rows counted together.
pub(super) const GROUP: usize = 8;

/// Enough binary digits for any number of rows.
const DIGITS: usize = 33;

/// Counts bits; keeps its scratch memory.
#[derive(Default)]
pub(super) struct BitCounter {
    /// Binary digits of the counts: digit by digit, a bit for each column.
    digits: Vec<[Chunk; DIGITS]>,
}

impl BitCounter {
    /// Counts the bits of rows column by column, for 512 columns at a time: eight rows by adders without carry, then their sum in binary.
    ///
    /// `bits` has `stride` chunks for each row; the number of rows is a multiple of [`GROUP`].
    pub(super) fn count(&mut self, bits: &[Chunk], stride: usize, rows: &[u32], counts: &mut [u64]) {
        // The largest number is that of the rows.
        let used = (usize::BITS - rows.len().leading_zeros()) as usize;
        let used = used.clamp(4, DIGITS);
        self.digits.clear();
        self.digits.resize(stride, [[0; CHUNK]; DIGITS]);
        vectorised!({
            for (c, digits) in self.digits.iter_mut().enumerate() {
                for group in rows.as_chunks::<GROUP>().0 {
                    let row = |k: usize| &bits[group[k] as usize * stride + c];
                    let [ones, twos, fours, ..] = digits;
                    let a = add_two(ones, row(0), row(1));
                    let b = add_two(ones, row(2), row(3));
                    let e = add_two(twos, &a, &b);
                    let a = add_two(ones, row(4), row(5));
                    let b = add_two(ones, row(6), row(7));
                    let f = add_two(twos, &a, &b);
                    let mut carry = add_two(fours, &e, &f);
                    for digit in &mut digits[3..used] {
                        for w in 0..CHUNK {
                            let both = digit[w] & carry[w];
                            digit[w] ^= carry[w];
                            carry[w] = both;
                        }
                    }
                }
            }
            for (digits, counts) in self.digits.iter().zip(counts.chunks_exact_mut(BITS)) {
                for (w, counts) in counts.as_chunks_mut::<64>().0.iter_mut().enumerate() {
                    let mut tile = [0; 64];
                    for (number, digit) in tile.iter_mut().zip(&digits[..used]) {
                        *number = digit[w];
                    }
                    transpose(&mut tile);
                    *counts = tile;
                }
            }
        });
    }
}

/// Adds two bits to a digit, column by column, and returns what is carried.
#[inline(always)]
fn add_two(digit: &mut Chunk, a: &Chunk, b: &Chunk) -> Chunk {
    let mut carry = [0; CHUNK];
    for w in 0..CHUNK {
        let one = digit[w] ^ a[w];
        carry[w] = (digit[w] & a[w]) | (one & b[w]);
        digit[w] = one ^ b[w];
    }
    carry
}

/// Exchanges bit $j$ of word $i$ and bit $i$ of word $j$.
#[inline(always)]
pub(super) fn transpose(tile: &mut [u64; 64]) {
    exchange::<32>(tile, 0x0000_0000_ffff_ffff);
    exchange::<16>(tile, 0x0000_ffff_0000_ffff);
    exchange::<8>(tile, 0x00ff_00ff_00ff_00ff);
    exchange::<4>(tile, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<2>(tile, 0x3333_3333_3333_3333);
    exchange::<1>(tile, 0x5555_5555_5555_5555);
}

/// Exchanges the squares of a side of `SIDE` bits beside the diagonal.
#[inline(always)]
fn exchange<const SIDE: usize>(tile: &mut [u64; 64], mask: u64) {
    for pair in tile.chunks_exact_mut(2 * SIDE) {
        let (upper, lower) = pair.split_at_mut(SIDE);
        for k in 0..SIDE {
            let other = ((upper[k] >> SIDE) ^ lower[k]) & mask;
            upper[k] ^= other << SIDE;
            lower[k] ^= other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random() -> impl FnMut() -> u64 {
        let mut state = 1u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 33
        }
    }

    #[test]
    fn bits_are_counted() {
        let mut next = random();
        let (rows, stride) = (200, 2);
        let bits: Vec<Chunk> = (0..rows * stride).map(|_| std::array::from_fn(|_| next())).collect();
        for chosen in [8, 16, 96, 200] {
            let chosen: Vec<u32> = (0..chosen).map(|row| (7 * row) % 200).collect();
            let mut counts = vec![0; stride * BITS];
            BitCounter::default().count(&bits, stride, &chosen, &mut counts);
            for (column, count) in counts.iter().enumerate() {
                let bit = |row: &&u32| {
                    bits[**row as usize * stride + column / BITS][column % BITS / 64] >> (column % 64) & 1
                        == 1
                };
                assert_eq!(*count, chosen.iter().filter(bit).count() as u64, "{column}");
            }
        }
    }

    #[test]
    fn transposed_bits_change_places() {
        let mut next = random();
        let tile: [u64; 64] = std::array::from_fn(|_| next());
        let mut transposed = tile;
        transpose(&mut transposed);
        for i in 0..64 {
            for j in 0..64 {
                assert_eq!(tile[i] >> j & 1, transposed[j] >> i & 1, "{i} {j}");
            }
        }
    }
}
