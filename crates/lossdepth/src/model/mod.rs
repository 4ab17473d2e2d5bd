//! The estimator, the tables of methods and settings, and models as bytes.

pub mod archive;
mod by_name;
mod declaration;
mod depth;
mod fitted;
mod method;
mod on_demand;
mod passes;
mod percentiles;
mod pool;
mod preset;
pub mod reasons;
mod resampling;
mod sample_size;
mod setting;
mod settings;
pub mod sparse;
mod spreads;
mod value;

pub use depth::{Depth, FittedDepth};
pub use fitted::Model;
pub use method::Method;
pub use passes::{PassProgress, Passes};
pub use percentiles::Percentiles;
pub use preset::Preset;
pub use reasons::{Explainer, ReasonOptions, Reasons};
pub use setting::{Kind, Range, Setting};
pub use settings::Settings;
pub use sparse::SparseModel;
pub use spreads::UnequalSpreads;
pub use value::Value;
