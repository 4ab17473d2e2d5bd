//! The data: rows of numbers, the reference sample with its weights, and its scaling.

mod reference;
mod rows;
mod scaling;

pub(crate) use reference::Mass;
pub use reference::Reference;
pub use rows::{AsRows, Rows};
pub use scaling::{Scale, Scaling, ScalingWarning, Transform};
