//! Random numbers that are a function of a seed and two indices.

use crate::numerics::random::{STEP, mix};

/// A random stream, one for each seed, kind and index.
pub(super) struct RandomStream(crate::numerics::Random);

impl RandomStream {
    /// The stream of this kind and index.
    pub(super) fn stream(seed: u64, kind: u64, index: u64) -> Self {
        let start = mix(seed.wrapping_add(STEP)) ^ mix(kind.wrapping_mul(STEP).wrapping_add(1));
        Self(crate::numerics::Random::at(mix(mix(start).wrapping_add(mix(index.wrapping_add(STEP))))))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// Uniform on 0, …, `end` - 1, without bias (Lemire 2019).
    pub(super) fn below(&mut self, end: u32) -> u32 {
        let wide = u64::from(end);
        loop {
            let product = (self.next() >> 32) * wide;
            let low = product & 0xffff_ffff;
            if low >= wide || low >= (1u64 << 32) % wide {
                return u32::try_from(product >> 32).unwrap_or(0);
            }
        }
    }

    /// Standard normal.
    pub(super) fn normal(&mut self) -> f64 {
        self.0.normal()
    }
}
