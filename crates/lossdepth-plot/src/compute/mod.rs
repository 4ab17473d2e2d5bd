//! What a figure needs computed: which rows to score, contours of their depths, quantiles, axis ticks.
//!
//! [`Plane`] says which rows to score, [`Field`] turns their depths into contour lines and regions, [`ticks`] chooses
//! round numbers in a range, [`EmpiricalDistribution`] has ranks and quantiles and [`BoxStatistics`] the numbers of a box
//! plot.

mod box_statistics;
mod distribution;
mod field;
mod plane;
mod ticks;

pub use box_statistics::BoxStatistics;
pub use distribution::EmpiricalDistribution;
pub use field::{Field, Line};
pub use plane::Plane;
pub use ticks::{log_ticks, ticks};
