//! Arrays of Arrow as numbers, texts and times: the same reading for files and for batches in memory.

mod kinds;
mod values;

pub use kinds::{describe, is_duration, is_known, is_number, is_text, is_time};
pub use values::{numbers, seconds, texts, through_keys, values};
