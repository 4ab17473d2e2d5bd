//! The Arrow scorer: record batches in, a record batch of scores out, by the Arrow C data interface.

mod capsule;
mod nulls;
mod on_demand;
mod prepared;
mod rows;

pub(crate) use capsule::ArrowBatch;
pub(crate) use prepared::Prepared;
