//! Random numbers from a seed, the same on every machine.

/// A stream of random numbers: SplitMix64 (Steele, Lea and Flood 2014).
///
/// For simulations, not for secrets. The same seed gives the same numbers in every version and on every machine (normal ones
/// up to the last digits of the machine's logarithm and cosine).
#[derive(Debug, Clone)]
pub struct Random(u64);

/// The increment of SplitMix64's state.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64.
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Random {
    /// The stream of a seed; streams of different seeds are independent.
    pub fn new(seed: u64) -> Self {
        Self(mix(mix(seed.wrapping_add(STEP)).wrapping_add(STEP)))
    }

    /// The stream of a seed and a place, such as the number of a run: as good as one of another seed.
    pub fn stream(seed: u64, place: u64) -> Self {
        Self::new(mix(seed.wrapping_add(STEP)) ^ mix(place.wrapping_mul(STEP).wrapping_add(1)))
    }

    /// The stream of one restart of a training.
    pub(crate) fn of_restart(seed: u64, restart: usize) -> Self {
        Self(mix(seed.wrapping_add(STEP)) ^ (restart as u64).wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// The stream of a seed, a purpose and an index within it.
    pub(crate) fn of_purpose(seed: u64, purpose: u64, index: u64) -> Self {
        let start = mix(seed.wrapping_add(STEP)) ^ mix(purpose.wrapping_mul(STEP).wrapping_add(1));
        Self(mix(mix(start).wrapping_add(mix(index.wrapping_add(STEP)))))
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Uniform in $(0, 1)$.
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Uniform in (`low`, `high`).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Uniform on 0, …, `end` - 1, to one part in $2^{64}$ / `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        // The high half of a 128-bit product.
        let high = (u128::from(self.next()) * end as u128) >> 64;
        usize::try_from(high).unwrap_or(0)
    }

    /// Uniform on 0, …, `end` - 1, without bias (Lemire 2019); uses the high half of each 64-bit output.
    pub(crate) fn unbiased_below(&mut self, end: u32) -> u32 {
        let wide = u64::from(end);
        loop {
            let product = (self.next() >> 32) * wide;
            let low = product & 0xffff_ffff;
            if low >= wide || low >= (1u64 << 32) % wide {
                return u32::try_from(product >> 32).unwrap_or(0);
            }
        }
    }

    /// `count` different numbers of 0, …, `end` - 1, in random order; all of them if there are no more.
    pub fn choose(&mut self, count: usize, end: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..end).collect();
        let count = count.min(end);
        for i in 0..count {
            all.swap(i, i + self.below(end - i));
        }
        all.truncate(count);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_the_bits_that_saved_seeds_stand_for() {
        assert_eq!(Random::new(7).next(), 0x9c01_4791_61bc_5d78);
        assert_eq!(Random::stream(7, 3).next(), 0xa945_62e6_5161_8184);
        assert_eq!(Random::of_restart(7, 3).next(), 0x67a7_b461_4602_3675);
        assert_eq!(Random::of_purpose(7, 3, 5).next(), 0x7e42_5845_46de_fbb0);
        let mut random = Random::of_purpose(7, 3, 5);
        assert_eq!([9, 9, 9, 9].map(|end| random.unbiased_below(end)), [4, 4, 1, 6]);
    }
}
