//! Random numbers from a seed, the same on every machine.

pub(crate) mod random;

pub use random::Random;
