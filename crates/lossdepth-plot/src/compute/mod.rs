//! What a picture of a depth has to know: a plane through the data, lines of equal depth, round numbers.
//!
//! Nothing here draws. [`Plane`] says which rows to score, [`Field`] turns their depths into lines and regions,
//! [`ticks`] finds round numbers in a range, [`Ranked`] says where a number stands among others and [`Boxed`] sums them up.

mod boxes;
mod contour;
mod plane;
mod ranked;
mod ticks;

pub use boxes::Boxed;
pub use contour::{Field, Line};
pub use plane::Plane;
pub use ranked::Ranked;
pub use ticks::{log_ticks, ticks};
