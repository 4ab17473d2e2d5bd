//! The estimator, every method and setting by name, and models as bytes.

pub mod archive;
mod depth;
pub mod method;
mod preset;
mod setting;
mod settings;

pub use depth::{Depth, FittedDepth};
pub use preset::Preset;
pub use setting::{Kind, Setting, Value};
pub use settings::Settings;
