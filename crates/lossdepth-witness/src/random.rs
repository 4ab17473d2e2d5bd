//! Random numbers that are the same on every machine: integer arithmetic and exactly rounded operations only.

/// SplitMix64 (Steele, Lea & Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    /// The stream of one problem.
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut seeded = Self(seed);
        let start = seeded.next() ^ index.wrapping_mul(0xd134_2543_de82_ef95);
        let mut stream = Self(start);
        stream.next();
        stream
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Between 0 and 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// One of `0..count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let wide = u128::from(self.next()) * (count as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// One of `low..=high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// One of a list.
    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// About normal: the sum of twelve uniform numbers, less 6.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).fold(-6.0, |sum, _| sum + self.uniform())
    }

    /// Between $10^{\text{low}}$ and $10^{\text{high}}$, every power of ten as likely as another.
    pub(crate) fn magnitude(&mut self, low: i32, high: i32) -> f64 {
        let span = usize::try_from(high - low).unwrap_or(1);
        let power = low + i32::try_from(self.below(span)).unwrap_or(0);
        let mut value = 1.0 + 9.0 * self.uniform();
        for _ in 0..power.abs() {
            value = if power < 0 { value / 10.0 } else { value * 10.0 };
        }
        value
    }
}
