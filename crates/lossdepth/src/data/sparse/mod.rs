//! Rows of which most numbers are 0, and a reference sample of such rows.

mod reference;
mod rows;

pub use reference::SparseReference;
pub use rows::SparseRows;
