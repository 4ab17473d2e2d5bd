//! What a solver sees: the features, the task, the queue of queries, and what is reported of each.

mod batch;
mod error_budget;
pub(crate) mod features;
mod fit;
mod intercept;
mod outcome;
mod principal;
mod run;
mod stop;
mod task;
mod variant;

pub use batch::{Batch, Ticket};
pub(crate) use error_budget::ErrorBudget;
pub use features::Features;
pub use fit::Fit;
pub use intercept::Intercept;
pub(crate) use outcome::{Outcome, Queue};
pub use principal::PrincipalAxes;
pub use run::Run;
pub use stop::Stop;
pub(crate) use task::{Functional, Task};
pub use variant::{Reported, Variant};
