//! What the command line and the Python package both need of the operating system: files that are written completely or
//! not at all ([`AtomicFile`]), and how much memory this process may use ([`memory`]).
//!
//! The library `lossdepth` does no input or output; this crate does no mathematics.

mod atomic;
pub mod memory;
mod signals;
mod stdout;

pub use atomic::AtomicFile;
pub use signals::remove_temporaries_on_signals;
pub use stdout::is_stdout_discarded;
