//! Random numbers from a seed and a place, the same everywhere.

/// SplitMix64 (Steele, Lea and Flood 2014).
pub(super) struct Random(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Random {
    /// A stream of its own for each place.
    pub(super) fn stream(seed: u64, kind: u64, place: u64) -> Self {
        let start = mix(seed.wrapping_add(STEP)) ^ mix(kind.wrapping_mul(STEP).wrapping_add(1));
        Self(mix(mix(start).wrapping_add(mix(place.wrapping_add(STEP)))))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
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

    /// Uniform on $(0, 1)$.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub(super) fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}
